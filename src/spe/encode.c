/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes records as bytes: the inverse of decode.c. */
#include "spe/encode.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

/*
 * Neoverse N1: 64-byte records with a fixed place for each packet; absent packets leave padding.
 * The branch target uses the place of the virtual address. The core has no previous target: a
 * record with one becomes longer.
 */
static const uint8_t n1_order[] = {
	SPE_SLOT_PC,	SPE_SLOT_CONTEXT, SPE_SLOT_OP,	   SPE_SLOT_EVENTS,
	SPE_SLOT_ISSUE, SPE_SLOT_TOTAL,	  SPE_SLOT_TARGET, SPE_SLOT_VA,
	SPE_SLOT_XLAT,	SPE_SLOT_PA,	  SPE_SLOT_SOURCE, SPE_SLOT_PREV_TARGET,
};
static const uint8_t n1_places[] = { 0, 14, 19, 21, 24, 27, 30, 30, 39, 42, 51, 53 };

const struct spe_layout spe_layout_n1 = {
	.order = n1_order,
	.n_order = COUNT(n1_order),
	.places = n1_places,
	.record_size = 64,
	.events_size = 2,
	.source_size = 1,
};

/* By kind: the header for index 0 and size 0. */
static const struct form {
	uint8_t header;
	uint8_t size;	   /* of the payload; 0 with is_sized: given by the packet */
	uint8_t is_sized;  /* bits 5:4 of the header are log2 of the payload size */
	uint8_t max_index; /* largest index of the short header */
} forms[] = {
	[SPE_PAD] = { 0x00, 0, 0, 0 },	     [SPE_END] = { 0x01, 0, 0, 0 },
	[SPE_TIMESTAMP] = { 0x71, 8, 0, 0 }, [SPE_EVENTS] = { 0x42, 0, 1, 0 },
	[SPE_SOURCE] = { 0x43, 0, 1, 0 },    [SPE_CONTEXT] = { 0x64, 4, 0, 3 },
	[SPE_OP] = { 0x48, 1, 0, 3 },	     [SPE_ADDRESS] = { 0xb0, 8, 0, 7 },
	[SPE_COUNTER] = { 0x98, 2, 0, 7 },
};

static size_t put_payload(uint8_t *out, uint64_t payload, size_t size)
{
	for (size_t i = 0; i < size; i++)
		out[i] = (uint8_t)(payload >> (8 * i));
	return size;
}

/* The extended header is a byte with the upper bits of the index, then the short header. */
static size_t write_packet(const struct spe_packet *p, bool is_extended, uint8_t *out)
{
	const struct form *form = &forms[p->kind];
	size_t size = form->is_sized ? p->size : form->size;
	size_t n = 0;

	if (is_extended)
		out[n++] = (uint8_t)(0x20 | p->index >> 3);
	out[n] = (uint8_t)(form->header | (p->index & form->max_index));
	if (form->is_sized)
		out[n] |= (uint8_t)(__builtin_ctz(p->size) << 4);
	n++;
	return n + put_payload(out + n, p->payload, size);
}

static bool can_extend(enum spe_kind kind)
{
	return kind == SPE_ADDRESS || kind == SPE_COUNTER;
}

size_t spe_packet_write(const struct spe_packet *p, uint8_t *out)
{
	assert(p->kind != SPE_BAD);
	if (p->kind == SPE_ALIGNMENT) {
		out[0] = (uint8_t)(0x20 | p->index);
		out[1] = 0;
		return 2;
	}
	return write_packet(p, can_extend(p->kind) && p->index > 7, out);
}

static const uint64_t low_56 = UINT64_MAX >> 8;
static const uint64_t non_secure = UINT64_C(1) << 63;

static struct spe_packet code_address(unsigned index, uint64_t address, unsigned level)
{
	return (struct spe_packet){
		.kind = SPE_ADDRESS,
		.index = (uint8_t)index,
		.payload = (address & low_56) | (uint64_t)(level & 3) << 61 | non_secure,
	};
}

static struct spe_packet counter_packet(unsigned index, uint64_t cycles)
{
	return (struct spe_packet){ .kind = SPE_COUNTER,
				    .index = (uint8_t)index,
				    .payload = cycles };
}

/* The smallest payload size (1, 2, 4, 8) of at least `least` that holds the value. */
static uint8_t least_payload_size(uint64_t value, uint8_t least)
{
	uint8_t size = least > 0 ? least : 1;

	while (size < 8 && value >> (8 * size) != 0)
		size *= 2;
	return size;
}

/* The HAS_x bit of each slot. */
static const uint32_t slot_has[SPE_N_SLOTS] = {
	[SPE_SLOT_PC] = HAS_PC,
	[SPE_SLOT_CONTEXT] = HAS_CONTEXT,
	[SPE_SLOT_OP] = HAS_OP,
	[SPE_SLOT_EVENTS] = HAS_EVENTS,
	[SPE_SLOT_ISSUE] = HAS_ISSUE,
	[SPE_SLOT_TOTAL] = HAS_TOTAL,
	[SPE_SLOT_VA] = HAS_VA,
	[SPE_SLOT_TARGET] = HAS_TARGET,
	[SPE_SLOT_PREV_TARGET] = HAS_PREV_TARGET,
	[SPE_SLOT_XLAT] = HAS_XLAT,
	[SPE_SLOT_PA] = HAS_PA,
	[SPE_SLOT_SOURCE] = HAS_SOURCE,
};

static struct spe_packet slot_packet(const struct spe_record *r, const struct spe_layout *layout,
				     enum spe_slot slot)
{
	switch (slot) {
	case SPE_SLOT_PC:
		return code_address(SPE_ADDR_PC, r->pc, r->pc_level);
	case SPE_SLOT_TARGET:
		return code_address(SPE_ADDR_TARGET, r->target, r->target_level);
	case SPE_SLOT_PREV_TARGET:
		return code_address(SPE_ADDR_PREV_TARGET, r->prev_target, r->prev_target_level);
	case SPE_SLOT_VA:
		return (struct spe_packet){ .kind = SPE_ADDRESS,
					    .index = SPE_ADDR_VA,
					    .payload = r->va };
	case SPE_SLOT_PA:
		return code_address(SPE_ADDR_PA, r->pa, 0);
	case SPE_SLOT_ISSUE:
		return counter_packet(SPE_COUNT_ISSUE, r->issue);
	case SPE_SLOT_TOTAL:
		return counter_packet(SPE_COUNT_TOTAL, r->total);
	case SPE_SLOT_XLAT:
		return counter_packet(SPE_COUNT_XLAT, r->xlat);
	case SPE_SLOT_CONTEXT:
		return (struct spe_packet){ .kind = SPE_CONTEXT,
					    .index = (uint8_t)(r->context_level - 1) & 3,
					    .payload = r->context };
	case SPE_SLOT_OP:
		return (struct spe_packet){ .kind = SPE_OP,
					    .index = r->op_class,
					    .payload = r->op };
	case SPE_SLOT_EVENTS:
		return (struct spe_packet){ .kind = SPE_EVENTS,
					    .size = least_payload_size(r->events,
								       layout->events_size),
					    .payload = r->events };
	case SPE_SLOT_SOURCE:
		return (struct spe_packet){ .kind = SPE_SOURCE,
					    .size = least_payload_size(r->source,
								       layout->source_size),
					    .payload = r->source };
	case SPE_N_SLOTS:
		break;
	}
	assert(slot < SPE_N_SLOTS);
	return (struct spe_packet){ .kind = SPE_PAD };
}

static size_t pad_to(uint8_t *out, size_t n, size_t size)
{
	if (n >= size)
		return n;
	memset(out + n, 0, size - n);
	return size;
}

static size_t round_up_to(size_t n, size_t unit)
{
	return unit <= 1 ? n : (n + unit - 1) / unit * unit;
}

size_t spe_encode(const struct spe_record *r, const struct spe_layout *layout, uint8_t *out)
{
	struct spe_packet last = { .kind = r->has & HAS_TICKS ? SPE_TIMESTAMP : SPE_END,
				   .payload = r->ticks };
	size_t last_size = r->has & HAS_TICKS ? 9 : 1;
	size_t n = 0;

	for (size_t i = 0; i < layout->n_order; i++) {
		enum spe_slot slot = (enum spe_slot)layout->order[i];
		struct spe_packet p;

		if (!(r->has & slot_has[slot]))
			continue;
		p = slot_packet(r, layout, slot);
		if (layout->places != NULL)
			n = pad_to(out, n, layout->places[i]);
		n += write_packet(&p, layout->extended && can_extend(p.kind), out + n);
	}
	assert(round_up_to(n + last_size, layout->record_size) <= SPE_RECORD_MAX);
	n = pad_to(out, n, round_up_to(n + last_size, layout->record_size) - last_size);
	return n + write_packet(&last, false, out + n);
}
