/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes SPE packet by packet. Records of a known layout are decoded by shape.c. */
#include "spe/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "spe/fields.h"
#include "spe/header.h"
#include "spe/shape.h"

/* The longest packet; with so many bytes a packet can be recognised, or damage. */
enum { PACKET_MAX = 16 };

/* The start of a packet that is split at the end of the bytes, with the position of each byte. */
struct carry {
	size_t n; /* less than PACKET_MAX between calls */
	uint8_t bytes[2 * PACKET_MAX];
	uint64_t position[2 * PACKET_MAX];
	uint64_t address[2 * PACKET_MAX];
};

struct spe_decoder {
	struct spe_fields fields; /* the record being read */
	uint64_t record_bytes;	  /* size of its packets so far; 0: no packet yet */
	uint64_t position;	  /* of its first packet */
	bool after_damage;	  /* bytes before its first packet were no packet … */
	bool is_counted;	  /* … and the record lost there has been counted */
	bool in_bad_run;	  /* the previous byte was no packet */
	bool use_shapes;
	struct spe_wanted wanted;
	struct carry carry;
	struct spe_damage damage;
	struct spe_shapes shapes;
};

/* The bytes of one call. */
struct input {
	const uint8_t *bytes;
	size_t size;
	uint64_t position, address;
};

struct spe_decoder *spe_decoder_new(void)
{
	struct spe_decoder *d = mem_aligned(1, sizeof(*d)); /* as the shapes are */

	*d = (struct spe_decoder){ 0 };
	d->use_shapes = true;
	return d;
}

void spe_decoder_free(struct spe_decoder *d)
{
	free(d);
}

static void begin_record(struct spe_decoder *d)
{
	d->fields = (struct spe_fields){ 0 };
	d->record_bytes = 0;
}

void spe_decoder_reset(struct spe_decoder *d)
{
	begin_record(d);
	d->after_damage = d->is_counted = d->in_bad_run = false;
	d->carry.n = 0;
	d->damage = (struct spe_damage){ 0 };
}

void spe_decoder_want(struct spe_decoder *d, struct spe_wanted wanted)
{
	d->wanted = wanted;
}

void spe_decoder_use_shapes(struct spe_decoder *d, bool on)
{
	d->use_shapes = on;
}

struct spe_damage spe_decoder_damage(const struct spe_decoder *d)
{
	return d->damage;
}

/*
 * The value of a field that comes twice: events are ORed, and so are operations of the same class.
 */
static uint64_t repeated_value(const struct spe_fields *f, enum spe_field field, uint8_t index)
{
	if (field == SPE_FIELD_EVENTS || (field == SPE_FIELD_OP && f->op_class == index))
		return f->value[field];
	return 0;
}

static void take_payload(struct spe_fields *f, enum spe_field field, uint8_t index,
			 uint64_t payload)
{
	f->value[field] = payload | repeated_value(f, field, index);
	f->has |= 1u << field;
	if (field == SPE_FIELD_OP)
		f->op_class = index;
	if (field == SPE_FIELD_CONTEXT)
		f->context_level = spe_context_level(index);
}

/* Drops the record read so far and counts it. */
static void drop_record(struct spe_decoder *d, uint64_t n_bytes)
{
	if (n_bytes == 0)
		return;
	if (d->damage.dropped_bytes == 0)
		d->damage.first_dropped = d->position;
	d->damage.dropped_bytes += n_bytes;
	d->damage.n_dropped += !d->is_counted;
	d->is_counted = true;
	begin_record(d);
}

static void take_bad_byte(struct spe_decoder *d, uint64_t position)
{
	if (d->damage.bad_bytes++ == 0)
		d->damage.first_bad = position;
	d->damage.n_bad_runs += !d->in_bad_run;
	d->in_bad_run = true;
	d->after_damage = true;
	drop_record(d, d->record_bytes);
}

static inline uint64_t payload_of_fields(const void *record, enum spe_field field)
{
	return ((const struct spe_fields *)record)->value[field];
}

static bool fields_are_wanted(const struct spe_fields *f, const struct spe_wanted *wanted)
{
	return !wanted->only_memory || (f->has & HAS_OP && f->op_class == SPE_OP_LDST);
}

static void deliver_fields(const struct spe_fields *f, uint64_t position,
			   const struct spe_wanted *wanted, struct batch *out)
{
	const struct spe_row_head head = { f->has, f->op_class, f->context_level, position };

	if (wanted->without_addresses)
		spe_deliver(head, payload_of_fields, f, SPE_WITHOUT_ADDRESSES, false, out);
	else if (wanted->without_translation)
		spe_deliver(head, payload_of_fields, f, SPE_WITHOUT_TRANSLATION, false, out);
	else if (wanted->without_targets)
		spe_deliver(head, payload_of_fields, f, SPE_WITHOUT_TARGETS, false, out);
	else
		spe_deliver(head, payload_of_fields, f, SPE_WITHOUT_NOTHING, true, out);
}

/* Ends the record, which becomes a row if it is wanted. False if it is dropped. */
static bool end_record(struct spe_decoder *d, struct batch *out)
{
	bool is_rest = d->after_damage && !(d->fields.has & HAS_PC);

	if (is_rest) {
		drop_record(d, d->record_bytes);
	} else {
		if (fields_are_wanted(&d->fields, &d->wanted))
			deliver_fields(&d->fields, d->position, &d->wanted, out);
		d->damage.record_bytes += d->record_bytes;
	}
	begin_record(d);
	d->after_damage = d->is_counted = false;
	return !is_rest;
}

static void take_padding(struct spe_decoder *d, size_t n)
{
	d->damage.padding_bytes += n;
	d->in_bad_run = false;
}

/* Counts `n` bytes of packets, the first one at `position`. */
static void count_packets(struct spe_decoder *d, uint64_t position, size_t n)
{
	if (d->record_bytes == 0)
		d->position = position;
	d->record_bytes += n;
	d->in_bad_run = false;
}

/* Adds a packet, whose bytes are `bytes`, to the record. Returns whether that ended one. */
static bool accept_packet(struct spe_decoder *d, const struct spe_packet *p, const uint8_t *bytes,
			  uint64_t position, struct batch *out)
{
	switch (p->kind) {
	case SPE_BAD:
		take_bad_byte(d, position);
		return false;
	case SPE_PAD:
	case SPE_ALIGNMENT:
		take_padding(d, p->length);
		return false;
	default:
		count_packets(d, position, p->length);
		take_payload(&d->fields, spe_field_of(bytes, p), p->index, p->payload);
		if (p->kind != SPE_TIMESTAMP && p->kind != SPE_END)
			return false;
		return end_record(d, out);
	}
}

static void carry_add(struct carry *c, const struct input *in, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++, c->n++) {
		c->bytes[c->n] = in->bytes[at + i];
		c->position[c->n] = in->position + at + i;
		c->address[c->n] = in->address + at + i;
	}
}

static void carry_keep(struct carry *c, size_t from, size_t to)
{
	c->n = to - from;
	memmove(c->bytes, c->bytes + from, c->n * sizeof(c->bytes[0]));
	memmove(c->position, c->position + from, c->n * sizeof(c->position[0]));
	memmove(c->address, c->address + from, c->n * sizeof(c->address[0]));
}

/*
 * Completes a packet that was split at the end of an earlier call. Returns the number of new bytes
 * used. The carry is then empty, unless the batch is full or the bytes ended.
 */
static size_t finish_carry(struct spe_decoder *d, const struct input *in, struct batch *out)
{
	struct carry *c = &d->carry;
	size_t n_old = c->n;
	size_t at = 0;

	carry_add(c, in, 0, in->size < PACKET_MAX ? in->size : PACKET_MAX);
	while (at < n_old && !batch_is_full(out)) {
		struct spe_packet p = spe_packet_read(c->bytes + at, c->n - at, c->address[at]);

		if (p.is_cut) {
			carry_keep(c, at, c->n);
			return in->size;
		}
		accept_packet(d, &p, c->bytes + at, c->position[at], out);
		at += p.length;
	}
	if (at < n_old) {
		carry_keep(c, at, n_old);
		return 0;
	}
	c->n = 0;
	return at - n_old;
}

/* Fields that are ORed if they are repeated. */
static const uint32_t adding_fields = HAS_EVENTS | HAS_OP;

/*
 * Fast path for packets with a short header and a payload: most packets. Stops before any other
 * packet, and before a repeated field. Returns where it stopped.
 */
static size_t take_plain_packets(struct spe_fields *f, const uint8_t *bytes, size_t at, size_t size)
{
	uint32_t has = f->has;

	while (size - at >= PACKET_MAX) {
		struct spe_header h = spe_headers[bytes[at]];

		if (h.kind <= SPE_TIMESTAMP || (has & 1u << h.field & adding_fields))
			break;
		f->value[h.field] = load_u64(bytes + at + 1) & spe_payload_mask(h.size);
		if (h.kind == SPE_OP)
			f->op_class = bytes[at] & h.index_mask;
		if (h.kind == SPE_CONTEXT)
			f->context_level = spe_context_level(bytes[at] & h.index_mask);
		has |= 1u << h.field;
		at += 1u + h.size;
	}
	f->has = has;
	return at;
}

/*
 * Learns the layout of the record at bytes[from … to - 1]. Padding behind it that makes it as long as a shape can be is part of
 * the layout: records of that length all begin where they are expected, so several are examined at the same time. Where
 * the bytes end in the padding it is not known how long that is, and nothing is learned.
 */
static void learn_record(struct spe_decoder *d, const struct input *in, size_t from, size_t to)
{
	size_t end = to + spe_padding_size(in->bytes + to, in->size - to);

	if (end - from >= SPE_SHAPE_SIZE && to - from < SPE_SHAPE_SIZE)
		spe_shapes_learn(&d->shapes, in->bytes + from, SPE_SHAPE_SIZE);
	else if (end < in->size)
		spe_shapes_learn(&d->shapes, in->bytes + from, to - from);
}

/*
 * Parses until a record has ended or the bytes end. A split packet is carried over. Returns where it
 * stopped.
 */
static size_t parse_record(struct spe_decoder *d, const struct input *in, size_t at,
			   struct batch *out)
{
	bool begins_here = d->record_bytes == 0;

	while (at < in->size) {
		size_t next = take_plain_packets(&d->fields, in->bytes, at, in->size);
		struct spe_packet p;

		if (next > at)
			count_packets(d, in->position + at, next - at);
		at = next;
		next += spe_padding_size(in->bytes + at, in->size - at);
		if (next > at) {
			take_padding(d, next - at);
			at = next;
			continue;
		}
		if (at == in->size)
			break;
		p = spe_packet_read(in->bytes + at, in->size - at, in->address + at);
		if (p.is_cut) {
			carry_add(&d->carry, in, at, in->size - at);
			return in->size;
		}
		at += p.length;
		if (!accept_packet(d, &p, in->bytes + at - p.length, in->position + at - p.length,
				   out))
			continue;
		if (begins_here && d->use_shapes)
			learn_record(d, in, d->position - in->position, at);
		break;
	}
	return at;
}

/* Decodes records by their layout. Returns where it stopped. */
static size_t match_records(struct spe_decoder *d, const struct input *in, size_t at,
			    struct batch *out)
{
	uint64_t padding = 0;
	size_t n = spe_shapes_decode(&d->shapes, in->bytes + at, in->size - at, in->position + at,
				     &d->wanted, out, &padding);

	d->damage.record_bytes += n - padding;
	d->damage.padding_bytes += padding;
	return at + n;
}

size_t spe_decode(struct spe_decoder *d, const uint8_t *bytes, size_t size, uint64_t position,
		  uint64_t address, struct batch *out)
{
	struct input in = {
		.bytes = bytes, .size = size, .position = position, .address = address
	};
	size_t at = d->carry.n > 0 ? finish_carry(d, &in, out) : 0;

	if (d->carry.n > 0)
		return at;
	while (at < size && !batch_is_full(out)) {
		if (d->use_shapes && d->record_bytes == 0 && !d->after_damage)
			at = match_records(d, &in, at, out);
		if (at < size && !batch_is_full(out))
			at = parse_record(d, &in, at, out);
	}
	return at;
}

void spe_decoder_finish(struct spe_decoder *d)
{
	if (d->record_bytes == 0 && d->carry.n > 0)
		d->position = d->carry.position[0];
	drop_record(d, d->record_bytes + d->carry.n);
	d->carry.n = 0;
	d->after_damage = d->is_counted = d->in_bad_run = false;
}
