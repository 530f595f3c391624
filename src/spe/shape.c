/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes records by layout: see shape.h. */
#include "spe/shape.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"
#include "base/prefetch.h"
#include "spe/fields.h"
#include "spe/header.h"

enum {
	/*
	 * Hardware prefetchers stop at the end of a page, so records ahead are prefetched in
	 * software.
	 */
	FETCH_AHEAD = 1024,
	/*
	 * Learning costs more than parsing. After n misses the next attempt comes n / PATIENCE
	 * misses later: rarely in streams with many layouts.
	 */
	PATIENCE = 16,
};

/* Adds the packet at record[at] to the shape. False if such a record has no fixed layout. */
static bool add_packet(struct spe_shape *s, const struct spe_packet *p, const uint8_t *record,
		       size_t at)
{
	enum spe_field field = spe_field_of(record + at, p);

	if (p->kind == SPE_BAD || p->kind == SPE_ALIGNMENT)
		return false; /* its length depends on the address */
	if (p->kind == SPE_PAD)
		s->padding++;
	if (field == SPE_FIELD_NONE)
		return true;
	if (s->has & 1u << field)
		return false; /* a repeated field: to be parsed */
	s->has |= 1u << field;
	s->place[field] = (uint8_t)(at + p->length - p->size);
	if (field == SPE_FIELD_OP)
		s->op_class = p->index;
	if (field == SPE_FIELD_CONTEXT)
		s->context_level = spe_context_level(p->index);
	s->payload_mask[field] = spe_payload_mask(p->size);
	return true;
}

/* Fills an empty shape with the layout of a record. False if it has no fixed layout. */
static bool read_shape(struct spe_shape *s, const uint8_t *record, size_t size)
{
	if (size > SPE_SHAPE_SIZE)
		return false;
	for (size_t at = 0; at < size;) {
		struct spe_packet p = spe_packet_read(record + at, size - at, 0);
		size_t header_size = (size_t)(p.length - p.size);

		if (!add_packet(s, &p, record, at))
			return false;
		memset(s->mask + at, 0xff, header_size);
		memcpy(s->value + at, record + at, header_size);
		at += p.length;
	}
	s->length = (uint8_t)size;
	return true;
}

/* Do records of the one differ from those of the other in the header at `place`? */
static bool differ_at(const struct spe_shape *a, const struct spe_shape *b, size_t place)
{
	return a->mask[place] != 0 && b->mask[place] != 0 && a->value[place] != b->value[place];
}

/*
 * Pairs of shapes that no probe distinguishes yet: bit j of pairs[i]. Takes out those that the byte at `place` does, and returns how many
 * records seen so far are of them.
 */
static uint64_t tell_apart(const struct spe_shapes *all, uint16_t pairs[SPE_N_SHAPES], size_t place)
{
	uint64_t n_records = 0;

	for (size_t i = 0; i < all->n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct spe_shape *a = &all->items[i], *b = &all->items[j];

			if (!(pairs[i] >> j & 1) || !differ_at(a, b, place))
				continue;
			pairs[i] &= (uint16_t) ~(1u << j);
			n_records += a->n_hits + b->n_hits + 1;
		}
	return n_records;
}

/* The place that tells most records apart. */
static uint8_t best_place(const struct spe_shapes *all, const uint16_t pairs[SPE_N_SHAPES])
{
	uint64_t most = 0;
	size_t best = 0;

	for (size_t place = 0; place < SPE_SHAPE_SIZE; place++) {
		uint16_t left[SPE_N_SHAPES];
		uint64_t n_records;

		memcpy(left, pairs, sizeof(left));
		n_records = tell_apart(all, left, place);
		if (n_records > most) {
			most = n_records;
			best = place;
		}
	}
	return (uint8_t)best;
}

/* A shape with a payload at `place` is possible for any byte there. */
static void fill_possible(const struct spe_shapes *all, size_t place, uint16_t possible[256])
{
	uint16_t always = 0;

	for (size_t i = 0; i < all->n; i++)
		always |= (uint16_t)((all->items[i].mask[place] == 0) << i);
	for (size_t byte = 0; byte < 256; byte++)
		possible[byte] = always;
	for (size_t i = 0; i < all->n; i++)
		possible[all->items[i].value[place]] |=
			(uint16_t)((all->items[i].mask[place] != 0) << i);
}

/* A payload is read with eight bytes, which may extend past the end of the record. */
static size_t reach_of(const struct spe_shape *s)
{
	size_t reach = SPE_SHAPE_SIZE;

	for (size_t i = 0; i < SPE_N_FIELDS; i++)
		if (s->place[i] + sizeof(uint64_t) > reach)
			reach = s->place[i] + sizeof(uint64_t);
	return reach;
}

/* Chooses the probes and fills the tables. */
static void learn_to_guess(struct spe_shapes *all)
{
	uint16_t pairs[SPE_N_SHAPES];

	memset(pairs, 0xff, sizeof(pairs));
	for (size_t i = 0; i < SPE_N_PROBES; i++) {
		all->probes[i] = best_place(all, pairs);
		tell_apart(all, pairs, all->probes[i]);
		fill_possible(all, all->probes[i], all->possible[i]);
	}
	all->memory = 0;
	all->reach = SPE_SHAPE_SIZE;
	for (size_t i = 0; i < all->n; i++) {
		bool is_memory =
			all->items[i].has & HAS_OP && all->items[i].op_class == SPE_OP_LDST;
		size_t reach = reach_of(&all->items[i]);

		all->reach = reach > all->reach ? reach : all->reach;
		all->lengths[i] = all->items[i].length;
		all->memory |= (uint32_t)is_memory << i;
	}
}

/* Makes room for a shape, in place of the least used one if necessary. */
static struct spe_shape *shapes_make_room(struct spe_shapes *all)
{
	struct spe_shape *rarest = &all->items[0];

	if (all->n < SPE_N_SHAPES)
		return &all->items[all->n++];
	for (size_t i = 0; i < all->n; i++) {
		if (all->items[i].n_hits < rarest->n_hits)
			rarest = &all->items[i];
		all->items[i].n_hits /= 2;
	}
	return rarest;
}

/* The length of all shapes, or 0. Hardware pads records, so most cores have one length. */
static size_t common_length(const struct spe_shapes *all)
{
	for (size_t i = 1; i < all->n; i++)
		if (all->items[i].length != all->items[0].length)
			return 0;
	return all->items[0].length;
}

static bool shape_is_known(const struct spe_shapes *all, const struct spe_shape *s)
{
	for (size_t i = 0; i < all->n; i++)
		if (memcmp(all->items[i].mask, s->mask, sizeof(s->mask)) == 0 &&
		    memcmp(all->items[i].value, s->value, sizeof(s->value)) == 0)
			return true;
	return false;
}

void spe_shapes_learn(struct spe_shapes *all, const uint8_t *record, size_t size)
{
	struct spe_shape s = { 0 };

	if (++all->n_misses < all->next_lesson)
		return;
	all->next_lesson = all->n_misses + all->n_misses / PATIENCE;
	if (!read_shape(&s, record, size) || shape_is_known(all, &s))
		return;
	*shapes_make_room(all) = s;
	learn_to_guess(all);
	all->length = common_length(all);
}

/* The bytes that are compared at once. */
typedef uint64_t piece __attribute__((vector_size(16)));

static inline piece load_piece(const uint8_t *bytes)
{
	piece p;

	memcpy(&p, bytes, sizeof(p));
	return p;
}

static inline piece load_aligned_piece(const uint8_t *bytes)
{
	return load_piece(__builtin_assume_aligned(bytes, sizeof(piece)));
}

/* The masked bits in which a record differs from the shape. */
static inline piece differing_bits(const struct spe_shape *s, const uint8_t *bytes, size_t at)
{
	return (load_piece(bytes + at) ^ load_aligned_piece(s->value + at)) &
	       load_aligned_piece(s->mask + at);
}

/* Unrolled: the exit branch of a loop would be as expensive as the comparison. */
static inline bool shape_matches(const struct spe_shape *s, const uint8_t *bytes)
{
	piece all = differing_bits(s, bytes, 0) | differing_bits(s, bytes, 16) |
		    differing_bits(s, bytes, 32) | differing_bits(s, bytes, 48);

	static_assert(SPE_SHAPE_SIZE == 64, "all of it is compared");
	return (all[0] | all[1]) == 0;
}

/* The shapes that the record at `bytes` may have, as bits. All others have another header somewhere. */
static inline uint32_t possible_shapes(const struct spe_shapes *all, const uint8_t *bytes)
{
	static_assert(SPE_N_PROBES == 4, "all of them");

	return ((1u << SPE_N_SHAPES) - 1) & all->possible[0][bytes[all->probes[0]]] &
	       all->possible[1][bytes[all->probes[1]]] & all->possible[2][bytes[all->probes[2]]] &
	       all->possible[3][bytes[all->probes[3]]];
}

/* The number of the record's shape, or SPE_N_SHAPES. */
static inline unsigned find_shape(const struct spe_shapes *all, const uint8_t *bytes)
{
	for (uint32_t left = possible_shapes(all, bytes); left != 0; left &= left - 1) {
		unsigned number = (unsigned)__builtin_ctz(left);

		if (shape_matches(&all->items[number], bytes))
			return number;
	}
	return SPE_N_SHAPES;
}

/* Reads absent fields, too (offset 0, mask 0), so that there is no branch. */
static inline uint64_t shape_payload(const struct spe_shape *s, const uint8_t *bytes,
				     enum spe_field field)
{
	return load_u64(bytes + s->place[field]) & s->payload_mask[field];
}

/* A record of a known shape. */
struct shaped {
	const struct spe_shape *shape;
	const uint8_t *bytes;
};

__attribute__((always_inline)) static inline uint64_t payload_of_shaped(const void *record,
									enum spe_field field)
{
	const struct shaped *r = record;

	return shape_payload(r->shape, r->bytes, field);
}

__attribute__((always_inline)) static inline void deliver_as(const struct shaped *r,
							     uint64_t position,
							     enum spe_without without,
							     bool has_targets, struct batch *out)
{
	const struct spe_shape *s = r->shape;
	const struct spe_row_head head = { s->has, s->op_class, s->context_level, position };

	spe_deliver(head, payload_of_shaped, r, without, has_targets, out);
}

/* A record that is to become a row: its shape's number, and its offset in the bytes. */
struct found {
	size_t at;
	unsigned shape;
};

/* Records are found before they are delivered: what the one needs in registers is not saved for the other. */
enum { FOUND_AT_ONCE = 64 };

/* Where records were found. */
struct source {
	const struct spe_shapes *all;
	const uint8_t *bytes;
	uint64_t position; /* of the bytes in the file */
};

static inline struct shaped shaped_at(const struct source *from, const struct found *f)
{
	return (struct shaped){ &from->all->items[f->shape], from->bytes + f->at };
}

__attribute__((noinline)) static void deliver_without_addresses(const struct source *from,
								const struct found *list, size_t n,
								struct batch *out)
{
	for (size_t i = 0; i < n; i++) {
		struct shaped r = shaped_at(from, &list[i]);

		deliver_as(&r, from->position + list[i].at, SPE_WITHOUT_ADDRESSES, false, out);
	}
}

__attribute__((noinline)) static void deliver_without_targets(const struct source *from,
							      const struct found *list, size_t n,
							      struct batch *out)
{
	for (size_t i = 0; i < n; i++) {
		struct shaped r = shaped_at(from, &list[i]);

		deliver_as(&r, from->position + list[i].at, SPE_WITHOUT_TARGETS, false, out);
	}
}

__attribute__((noinline)) static void deliver_without_translation(const struct source *from,
								  const struct found *list,
								  size_t n, struct batch *out)
{
	for (size_t i = 0; i < n; i++) {
		struct shaped r = shaped_at(from, &list[i]);

		deliver_as(&r, from->position + list[i].at, SPE_WITHOUT_TRANSLATION, false, out);
	}
}

/* Branch targets are a third of the work, so they are skipped for other records. */
__attribute__((noinline)) static void deliver_all(const struct source *from,
						  const struct found *list, size_t n,
						  struct batch *out)
{
	for (size_t i = 0; i < n; i++) {
		struct shaped r = shaped_at(from, &list[i]);
		uint64_t position = from->position + list[i].at;

		if (r.shape->has & (HAS_TARGET | HAS_PREV_TARGET))
			deliver_as(&r, position, SPE_WITHOUT_NOTHING, true, out);
		else
			deliver_as(&r, position, SPE_WITHOUT_NOTHING, false, out);
	}
}

/* Appends rows. */
static inline void deliver_rows(const struct source *from, const struct found *list, size_t n,
				const struct spe_wanted *wanted, struct batch *out)
{
	if (wanted->without_addresses)
		deliver_without_addresses(from, list, n, out);
	else if (wanted->without_translation)
		deliver_without_translation(from, list, n, out);
	else if (wanted->without_targets)
		deliver_without_targets(from, list, n, out);
	else
		deliver_all(from, list, n, out);
}

/* Loads and stores come among others as they like, so nothing is decided before all is known. */
static inline bool is_wanted_record(const struct spe_shapes *all, unsigned number,
				    const uint8_t *bytes, const struct spe_wanted *wanted)
{
	const struct spe_shape *s = &all->items[number];
	uint32_t shapes = wanted->only_memory ? all->memory : UINT32_MAX;
	bool is_of_kind = shapes >> number & 1;
	uint64_t address;

	if (wanted->addresses == NULL)
		return is_of_kind;
	address = spe_data_address(shape_payload(s, bytes, SPE_FIELD_VA));
	return is_of_kind & ((s->has & HAS_VA) != 0) &
	       address_filter_may_have(wanted->addresses, address);
}

/* Those of the cursor's records that are in these bytes. */
static void fetch_records(const struct address_cursor *c, const uint8_t *bytes, size_t size,
			  uint64_t position)
{
	for (unsigned i = 0; i < c->n + c->n_ahead && c->positions[i] - position < size; i++) {
		const uint8_t *record = bytes + (c->positions[i] - position);

		prefetch(record);
		prefetch(record + SPE_SHAPE_SIZE - 1);
	}
}

/* The offset of the cursor's next record at or behind `at`; `size` if it is not in these bytes. */
static inline size_t next_record(struct address_cursor *c, const uint8_t *bytes, size_t size,
				 uint64_t position, size_t at)
{
	for (;; c->next++) {
		if (c->next == c->n) {
			if (!address_cursor_refill(c))
				return size;
			fetch_records(c, bytes, size, position);
		}
		if (c->positions[c->next] >= position + at)
			break;
	}
	return c->positions[c->next] - position < size ? c->positions[c->next] - position : size;
}

/*
 * `length` is that of all shapes, or 0: then it is only known after the look-up, so the next record
 * cannot be examined in parallel. `wants_all`: no record is to be skipped. `by_cursor`: only those of the wanted cursor are looked at, and
 * what is between them is not counted as padding. Each caller gets its own copy of the loop.
 * Which records are wanted is random, so each is written to the list, and the next one to the same place if it is not.
 */
__attribute__((always_inline)) static inline size_t spe_decode_shapes(
	struct spe_shapes *all, size_t length, bool wants_all, bool by_cursor, const uint8_t *bytes,
	size_t size, uint64_t position, const struct spe_wanted *wanted, struct batch *out,
	uint64_t *padding)
{
	const struct spe_wanted w = *wanted; /* a copy, which the compiler knows to be constant */
	const struct source source = { all, bytes, position };
	const size_t reach = all->reach;
	size_t n_padding = 0;
	size_t at = 0;
	bool is_end = false;

	while (!batch_is_full(out) && !is_end) {
		size_t room = BATCH_ROWS - out->n, n = 0;
		size_t most = room < FOUND_AT_ONCE ? room : FOUND_AT_ONCE;
		struct found list[FOUND_AT_ONCE];

		while (n < most) {
			struct spe_shape *s;
			unsigned number;

			if (by_cursor) {
				at = next_record(w.records, bytes, size, position, at);
			} else if (at < size && bytes[at] == 0) {
				size_t skipped = spe_padding_size(bytes + at, size - at);

				at += skipped;
				n_padding += skipped;
			}
			is_end = size - at < reach;
			if (is_end)
				break;
			if (!by_cursor)
				prefetch(bytes + at + FETCH_AHEAD);
			number = find_shape(all, bytes + at);
			is_end = number == SPE_N_SHAPES;
			if (is_end)
				break;
			s = &all->items[number];
			list[n] = (struct found){ at, number };
			n += wants_all || is_wanted_record(all, number, bytes + at, &w);
			s->n_hits++;
			at += length != 0 ? length : all->lengths[number];
			n_padding += by_cursor ? 0 : s->padding;
		}
		deliver_rows(&source, list, n, &w, out);
	}
	*padding += n_padding;
	return at;
}

size_t spe_shapes_decode(struct spe_shapes *all, const uint8_t *bytes, size_t size,
			 uint64_t position, const struct spe_wanted *wanted, struct batch *out,
			 uint64_t *padding)
{
	bool wants_all = wanted->addresses == NULL && !wanted->only_memory;
	bool are_padded = all->length == SPE_SHAPE_SIZE;

	if (all->n == 0)
		return 0;
	if (wanted->records != NULL)
		return spe_decode_shapes(all, 0, false, true, bytes, size, position, wanted, out,
					 padding);
	if (wants_all && are_padded)
		return spe_decode_shapes(all, SPE_SHAPE_SIZE, true, false, bytes, size, position,
					 wanted, out, padding);
	if (wants_all)
		return spe_decode_shapes(all, 0, true, false, bytes, size, position, wanted, out,
					 padding);
	return are_padded ? spe_decode_shapes(all, SPE_SHAPE_SIZE, false, false, bytes, size,
					      position, wanted, out, padding)
			  : spe_decode_shapes(all, 0, false, false, bytes, size, position, wanted,
					      out, padding);
}
