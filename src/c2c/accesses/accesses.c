/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/accesses/accesses.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "spe/names.h"
#include "spe/packet.h"

enum {
	PAGE_SHIFT = 12,
	N_SLOTS = 64,

	/* The effective vector length in a load or store of SVE: 32 << field bits. */
	VECTOR_LENGTH_SHIFT = 4,
	VECTOR_LENGTH_MASK = 7,
};

void c2c_choice_init(struct c2c_choice *c, const struct c2c_options *options, size_t n_lines,
		     uint64_t first_ns, uint64_t last_ns)
{
	*c = (struct c2c_choice){ .options = options, .first_ns = first_ns };
	while (last_ns > first_ns && (last_ns - first_ns) >> c->slot_shift >= N_SLOTS)
		c->slot_shift++;
	address_filter_init(&c->filter, options->line_bytes, n_lines);
	tuples_init(&c->keys, 2);
}

void c2c_choice_add_near(struct c2c_choice *c, uint32_t space, uint64_t address)
{
	const uint64_t key[] = { space, address };

	tuples_add(&c->keys, key);
	address_filter_add(&c->filter, address);
}

void c2c_choice_add(struct c2c_choice *c, uint32_t space, uint64_t address)
{
	assert(c->n_shown == c->keys.n);
	c2c_choice_add_near(c, space, address);
	c->n_shown = c->keys.n;
}

void c2c_choice_release(struct c2c_choice *c)
{
	tuples_release(&c->keys);
	address_filter_release(&c->filter);
	*c = (struct c2c_choice){ 0 };
}

struct scan_wish c2c_accesses_wish(const struct c2c_choice *choice)
{
	return (struct scan_wish){
		.addresses = &choice->filter,
		.with_physical = choice->options->by_physical,
	};
}

static const uint64_t partial_events =
	(uint64_t)1 << SPE_EV_PARTIAL_PREDICATE | (uint64_t)1 << SPE_EV_EMPTY_PREDICATE;

static unsigned kind_of_spe(const struct batch *b, size_t row)
{
	struct spe_op op = spe_op_of(b->op_class[row], b->op[row]);
	unsigned kind = b->op[row] & 1 ? C2C_KIND_STORE : 0;

	kind |= op.is_atomic ? C2C_KIND_ATOMIC : 0;
	kind |= op.is_exclusive ? C2C_KIND_EXCLUSIVE : 0;
	kind |= op.is_acquire_release ? C2C_KIND_ORDERED : 0;
	if (op.is_sve && b->has[row] & HAS_EVENTS && b->events[row] & partial_events)
		kind |= C2C_KIND_PARTIAL;
	return kind | (op.is_simd || op.is_sve || op.is_sme ? C2C_KIND_VECTOR : 0);
}

static unsigned vector_of(const struct batch *b, size_t row)
{
	if (b->kind != BATCH_SPE || !spe_op_of(b->op_class[row], b->op[row]).is_sve)
		return 0;
	return (b->op[row] >> VECTOR_LENGTH_SHIFT & VECTOR_LENGTH_MASK) + 1u;
}

unsigned c2c_row_kind(const struct batch *b, size_t row)
{
	uint32_t mask;

	if (b->kind == BATCH_SPE)
		return kind_of_spe(b, row);
	mask = c2c_classify_data_src(b->data_src[row], true);
	return (mask & C2C_BIT(STORES) ? C2C_KIND_STORE : 0u) |
	       (mask & C2C_BIT(LOCKED) ? C2C_KIND_ATOMIC : 0u);
}

/* Those of all lines that are to be shown. */
static size_t n_slices(const struct c2c_accesses *a)
{
	return (size_t)a->choice->n_shown * a->session->slices.n;
}

static void *accesses_new(const struct session *session, const void *options)
{
	struct c2c_accesses *a = mem_zalloc(1, sizeof(*a));

	a->session = session;
	a->choice = options;
	a->n_lines = a->choice->keys.n;
	a->classifier = c2c_classifier_new(session);
	tuples_init(&a->keys, C2C_TOUCH_WORDS);
	tuples_init(&a->pages, 2);
	a->slices = mem_zalloc(n_slices(a) + 1, sizeof(*a->slices));
	tuples_init(&a->views, 2);
	return a;
}

static void accesses_free(void *partial)
{
	struct c2c_accesses *a = partial;

	if (a == NULL)
		return;
	c2c_classifier_free(a->classifier);
	tuples_release(&a->keys);
	tuples_release(&a->pages);
	tuples_release(&a->views);
	vec_release(&a->viewed);
	vec_release(&a->touches);
	free(a->slices);
	free(a);
}

/*
 * The words of a key.
 *
 *	0	line (32), vector length (8), offset (16), kind (8)
 *	1	place, tid
 *	2	process, cpu
 *	3	pc
 */
struct c2c_touch_key c2c_touch_key(const struct c2c_accesses *a, uint32_t number)
{
	const uint64_t *words = tuples_get(&a->keys, number);

	return (struct c2c_touch_key){
		.line = (uint32_t)(words[0] >> 32),
		.offset = (uint16_t)(words[0] >> 8),
		.kind = (uint8_t)words[0],
		.vector = (uint8_t)(words[0] >> 24),
		.place = (uint32_t)(words[1] >> 32),
		.tid = (uint32_t)words[1],
		.process = (uint32_t)(words[2] >> 32),
		.cpu = (uint32_t)words[2],
		.pc = words[3],
	};
}

static uint64_t pair(uint64_t high, uint64_t low)
{
	return high << 32 | low;
}

static bool is_near(const struct c2c_accesses *a, uint64_t line)
{
	return line >= a->choice->n_shown;
}

static struct c2c_touch *touch_of(struct c2c_accesses *a, const uint64_t *words)
{
	uint32_t number = tuples_add(&a->keys, words);
	struct c2c_touch *touch;

	if (number < a->touches.n)
		return &a->touches.items[number];
	a->n_near += is_near(a, words[0] >> 32);
	a->is_near_full |= a->choice->most_near > 0 && a->n_near > a->choice->most_near;
	touch = vec_add(&a->touches);
	touch->first_ns = touch->first_reload_ns = UINT64_MAX;
	return touch;
}

static void widen_times(uint64_t *first_ns, uint64_t *last_ns, uint64_t from_ns, uint64_t to_ns)
{
	*first_ns = from_ns < *first_ns ? from_ns : *first_ns;
	*last_ns = to_ns > *last_ns ? to_ns : *last_ns;
}

/* What a load met decides where its latency counts; first match wins. */
static const uint32_t met_masks[C2C_N_MET] = {
	[C2C_MET_REMOTE_HITM] = C2C_BIT(REMOTE_HITM),
	[C2C_MET_LOCAL_HITM] = C2C_BIT(LOCAL_HITM),
	[C2C_MET_REMOTE_PEER] = C2C_BIT(REMOTE_PEER),
	[C2C_MET_LOCAL_PEER] = C2C_BIT(LOCAL_PEER),
	[C2C_MET_NONE] = C2C_BIT(LOADS),
};

static void add_reload(struct c2c_touch *touch, const struct batch *b, size_t row, uint64_t cycles,
		       bool is_saturated)
{
	c2c_latency_add(&touch->reloads, cycles, is_saturated);
	if (b->has[row] & HAS_TIME)
		widen_times(&touch->first_reload_ns, &touch->last_reload_ns, b->time_ns[row],
			    b->time_ns[row]);
}

static void touch_add_latency(enum c2c_mode mode, struct c2c_touch *touch, const struct batch *b,
			      size_t row, uint32_t mask)
{
	struct c2c_mean *mean = touch->met;
	uint64_t cycles, access;

	if (!(mask & C2C_BIT(LOADS)) || !c2c_row_total(b, row, &cycles))
		return;
	for (size_t i = 0; !(mask & met_masks[i]); i++)
		mean++;
	mean->n++;
	mean->cycles += cycles;
	mean->n_saturated += c2c_is_saturated(b, cycles);
	access = c2c_row_access(b, row, cycles);
	if (mask & c2c_mode_masks[mode])
		c2c_latency_add(&touch->contended, access, c2c_is_saturated(b, cycles));
	else if (c2c_is_reload(mask, 0))
		add_reload(touch, b, row, access, c2c_is_saturated(b, cycles));
}

static void add_page(struct c2c_accesses *a, struct c2c_touch *touch, uint32_t line,
		     uint64_t physical)
{
	const uint64_t page[] = { line, physical >> PAGE_SHIFT };
	int node = info_memory_node(capture_info(a->session->capture), physical);

	if (!is_near(a, line))
		tuples_add(&a->pages, page);
	if (node >= 0)
		touch->nodes |= (uint64_t)1 << node;
}

static void add_slice(struct c2c_accesses *a, uint32_t line, uint64_t time_ns)
{
	const struct slices *s = &a->session->slices;

	if (s->n > 0 && !is_near(a, line))
		a->slices[(size_t)line * s->n + slices_find(s, time_ns)]++;
}

/* As a bit. */
static uint64_t c2c_accesses_slot_of(const struct c2c_choice *c, uint64_t time_ns)
{
	uint64_t slot = time_ns > c->first_ns ? (time_ns - c->first_ns) >> c->slot_shift : 0;

	return UINT64_C(1) << (slot < N_SLOTS ? slot : N_SLOTS - 1);
}

static void add_view(struct c2c_accesses *a, uint32_t line, uint32_t process, uint64_t address)
{
	const uint64_t key[] = { line, process };
	uint32_t number = tuples_add(&a->views, key);

	if (number == a->viewed.n)
		*vec_add(&a->viewed) = address;
	if (address < a->viewed.items[number])
		a->viewed.items[number] = address;
}

uint64_t c2c_accesses_view(const struct c2c_accesses *a, uint32_t line, uint32_t process)
{
	const uint64_t key[] = { line, process };
	uint32_t number = tuples_find(&a->views, key);

	return number == TUPLES_NONE ? 0 : a->viewed.items[number];
}

static void c2c_accesses_add_row(struct c2c_accesses *a, const struct batch *b, size_t row,
				 uint32_t line, const struct c2c_spot *spot, uint32_t mask)
{
	uint32_t has = b->has[row];
	const uint64_t words[C2C_TOUCH_WORDS] = {
		pair(line, (uint64_t)vector_of(b, row) << 24 | (uint64_t)spot->offset << 8 |
				   c2c_row_kind(b, row)),
		pair(has & HAS_PC ? b->place[row] : 0, has & HAS_TID ? b->tid[row] : UINT32_MAX),
		pair(has & HAS_PROCESS ? b->process[row] : 0,
		     has & HAS_CPU ? b->cpu[row] : UINT32_MAX),
		has & HAS_PC ? b->pc[row] : 0,
	};
	struct c2c_touch *touch = touch_of(a, words);

	c2c_count_in(&touch->counts, mask);
	touch_add_latency(a->choice->options->mode, touch, b, row, mask);
	if (has & HAS_TIME) {
		widen_times(&touch->first_ns, &touch->last_ns, b->time_ns[row], b->time_ns[row]);
		add_slice(a, line, b->time_ns[row]);
		touch->slots |= c2c_accesses_slot_of(a->choice, b->time_ns[row]);
	}
	if (has & HAS_PA)
		add_page(a, touch, line, b->pa[row]);
	if (spot->space == C2C_PHYSICAL)
		add_view(a, line, has & HAS_PROCESS ? b->process[row] : 0,
			 b->va[row] - spot->offset);
}

/* The rows that may be of the lines, which are few where other analyses share the scan. */
static size_t find_rows(const struct c2c_choice *choice, const struct batch *b, uint16_t *out)
{
	size_t n = 0;

	for (size_t row = 0; row < b->n; row++) {
		struct c2c_spot spot = c2c_spot(choice->options, b, row);

		out[n] = (uint16_t)row;
		n += ((b->has[row] & HAS_VA) != 0) &
		     address_filter_may_have(&choice->filter, spot.address);
	}
	return n;
}

static void accesses_consume(void *partial, const struct batch *b)
{
	struct c2c_accesses *a = partial;
	uint16_t rows[BATCH_ROWS];
	size_t n = find_rows(a->choice, b, rows);

	for (size_t i = 0; i < n; i++) {
		size_t row = rows[i];
		struct c2c_spot spot = c2c_spot(a->choice->options, b, row);
		const uint64_t key[] = { spot.space, spot.address };
		uint32_t line = tuples_find(&a->choice->keys, key), mask;

		if (line == TUPLES_NONE || (a->is_near_full && is_near(a, line)))
			continue;
		mask = c2c_classify_row(a->classifier, b, row);
		if (c2c_is_of_line(mask))
			c2c_accesses_add_row(a, b, row, line, &spot, mask);
	}
}

void c2c_touch_merge(struct c2c_touch *to, const struct c2c_touch *from)
{
	c2c_counts_add(&to->counts, &from->counts);
	for (size_t i = 0; i < C2C_N_MET; i++) {
		to->met[i].n += from->met[i].n;
		to->met[i].n_saturated += from->met[i].n_saturated;
		to->met[i].cycles += from->met[i].cycles;
	}
	c2c_latency_merge(&to->contended, &from->contended);
	c2c_latency_merge(&to->reloads, &from->reloads);
	widen_times(&to->first_ns, &to->last_ns, from->first_ns, from->last_ns);
	widen_times(&to->first_reload_ns, &to->last_reload_ns, from->first_reload_ns,
		    from->last_reload_ns);
	to->slots |= from->slots;
	to->nodes |= from->nodes;
}

static void accesses_merge(void *into, const void *from, const struct id_map *map)
{
	struct c2c_accesses *to = into;
	const struct c2c_accesses *part = from;

	(void)map;
	to->is_near_full |= part->is_near_full; /* too much of a part is too much of the whole */
	for (uint32_t i = 0; i < part->keys.n; i++) {
		const uint64_t *words = tuples_get(&part->keys, i);

		if (!to->is_near_full || !is_near(to, words[0] >> 32))
			c2c_touch_merge(touch_of(to, words), &part->touches.items[i]);
	}
	for (uint32_t i = 0; i < part->pages.n; i++)
		tuples_add(&to->pages, tuples_get(&part->pages, i));
	for (size_t i = 0; i < n_slices(to); i++)
		to->slices[i] += part->slices[i];
	for (uint32_t i = 0; i < part->views.n; i++) {
		const uint64_t *key = tuples_get(&part->views, i);

		add_view(to, (uint32_t)key[0], (uint32_t)key[1], part->viewed.items[i]);
	}
}

void c2c_accesses_take(struct c2c_accesses *to, const struct c2c_accesses *from)
{
	uint32_t first = to->n_lines;

	to->n_lines += from->n_lines;
	for (uint32_t i = 0; i < from->keys.n; i++) {
		uint64_t words[C2C_TOUCH_WORDS];

		memcpy(words, tuples_get(&from->keys, i), sizeof(words));
		words[0] = pair(first + (words[0] >> 32), (uint32_t)words[0]);
		c2c_touch_merge(touch_of(to, words), &from->touches.items[i]);
	}
	for (uint32_t i = 0; i < from->views.n; i++) {
		const uint64_t *key = tuples_get(&from->views, i);

		add_view(to, first + (uint32_t)key[0], (uint32_t)key[1], from->viewed.items[i]);
	}
}

const struct analysis_class c2c_accesses_class = {
	.new = accesses_new,
	.free = accesses_free,
	.consume = accesses_consume,
	.merge = accesses_merge,
};
