/* SPDX-License-Identifier: Apache-2.0 */
/* What the instructions are that access shared lines, and how far they reach. */
#include <stdlib.h>

#include "access/vector_length.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "c2c/accesses/extent.h"
#include "variables/code.h"
#include "variables/heap_map.h"

enum {
	SCALAR_MAX = 16,    /* bytes of an access whose instruction is not known: a pair … */
	VECTOR_MAX = 64,    /* … of registers; a group of vectors */
	SVE_UNIT_BITS = 16, /* see struct c2c_touch_key */
};

static const struct {
	unsigned flag, kind;
} access_kinds[] = {
	{ ACCESS_ATOMIC, C2C_KIND_ATOMIC },   { ACCESS_EXCLUSIVE, C2C_KIND_EXCLUSIVE },
	{ ACCESS_ACQUIRE, C2C_KIND_ORDERED }, { ACCESS_RELEASE, C2C_KIND_ORDERED },
	{ ACCESS_VECTOR, C2C_KIND_VECTOR },
};

/*
 * What the instruction at a place does that records do not say. Of elements that lie apart, no
 * size is known.
 */
static struct c2c_instruction decode_place(struct c2c *s, struct place place)
{
	struct c2c_instruction out = { 0 };
	struct isa_access access;

	if (!symbols_access(s->session->symbols, place, &access))
		return out;
	out.is_load = access.flags & ACCESS_LOAD;
	out.is_store = access.flags & ACCESS_STORE;
	for (size_t i = 0; i < COUNT(access_kinds); i++)
		if (access.flags & access_kinds[i].flag)
			out.kind |= (uint8_t)access_kinds[i].kind;
	out.is_scattered = access.flags & ACCESS_STRIDED;
	if (out.is_scattered || access.bytes > C2C_LINE_BYTES_MAX)
		return out;
	if (access.flags & ACCESS_SCALABLE)
		out.scalable = (uint16_t)access.bytes;
	else
		out.bytes = (uint16_t)access.bytes;
	return out;
}

static uint16_t vector_bytes(uint32_t bytes, uint32_t bits)
{
	bytes = bytes * bits / VECTOR_LEAST_BITS;
	return (uint16_t)(bytes > 0 ? bytes : 1);
}

/*
 * Of an instruction that accesses whole vectors a record says how long they are. If it accesses a
 * part of each, as with elements that are shorter in memory, the record may say how long that part
 * is instead.
 */
static void stretch(uint32_t bytes, uint32_t said_bits, uint32_t given_bits, struct c2c_extent *out)
{
	bool is_whole = bytes >= VECTOR_LEAST_BITS / 8;

	out->least = 1;
	out->most = vector_bytes(bytes, VECTOR_MOST_BITS);
	out->lacks_length = said_bits == 0 && given_bits == 0;
	if (said_bits == 0 && given_bits != 0) {
		out->least = out->most = vector_bytes(bytes, given_bits);
	} else if (said_bits >= VECTOR_LEAST_BITS || (said_bits != 0 && !is_whole)) {
		out->least = vector_bytes(bytes, said_bits);
		out->most = is_whole ? out->least : (uint16_t)(said_bits / 8);
	}
}

/* Code that is not known accesses no more than the rest of the field: 0 if that is not known. */
static uint64_t field_room(const struct c2c *s, const struct c2c_touch_key *k)
{
	const struct heap_map *map = s->session->heap;
	const uint64_t *line;

	if (!heap_map_is_of(map, timeline_process(s->session->timeline, k->process)->pid) ||
	    k->line >= s->choice.keys.n)
		return 0;
	line = tuples_get(&s->choice.keys, k->line);
	return line[0] == k->process ? heap_map_room(map, line[1] + k->offset) : 0;
}

struct c2c_extent c2c_extent(const struct c2c *s, const struct c2c_touch_key *k)
{
	const struct c2c_instruction *i = &s->instructions[k->place];
	bool fits = k->kind & C2C_KIND_STORE ? i->is_store : i->is_load;

	struct c2c_extent out = { .least = 1, .kind = k->kind };
	uint64_t room = 0;

	if (fits)
		out.kind |= i->kind;
	out.most = out.kind & C2C_KIND_VECTOR ? VECTOR_MAX : SCALAR_MAX;
	if (fits && i->is_scattered) {
		out.is_scattered = true;
		out.most = C2C_LINE_BYTES_MAX;
	}
	if (fits && i->scalable > 0)
		stretch(i->scalable, k->vector > 0 ? SVE_UNIT_BITS << k->vector : 0,
			s->request.vector_bits, &out);
	else if (fits && i->bytes > 0)
		out.least = out.most = i->bytes;
	else if (!out.is_scattered && s->session->heap != NULL)
		room = field_room(s, k);
	if (room > 0 && room < out.most)
		out.most = (uint16_t)room;
	if (out.kind & C2C_KIND_PARTIAL)
		out.least = 1;
	return out;
}

/* The size that all touches of a row have. */
static void set_extent(const struct c2c *s, struct c2c_access *a)
{
	for (uint32_t i = 0; i < a->n_touches; i++) {
		struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, a->first_touch + i);
		struct c2c_extent e = c2c_extent(s, &k);

		uint16_t bytes = c2c_extent_bytes(&e);

		a->size = i == 0 || a->size == bytes ? bytes : 0;
		a->kind |= e.kind;
	}
}

/* Accesses to lines, and what is wanted of their places. */
struct naming {
	struct c2c *s;
	const struct c2c_subject *lines;
};

static void set_extents(void *context, size_t line, unsigned worker)
{
	const struct naming *n = context;
	struct c2c_access *accesses = n->s->accesses.items + n->lines[line].first_access;

	(void)worker;
	for (uint32_t i = 0; i < n->lines[line].n_accesses; i++)
		set_extent(n->s, &accesses[i]);
}

/* Room for the places that the session has now. */
static void make_room(struct c2c *s)
{
	uint32_t n = place_numbers_n(s->session->places), n_before = s->names.n;

	if (n <= n_before)
		return;
	s->instructions = mem_grow_zeroed(s->instructions, n_before, n, sizeof(*s->instructions));
	s->is_named = mem_grow_zeroed(s->is_named, n_before, n, sizeof(*s->is_named));
}

/* The places of a line that have no name yet. */
static void want_places(const struct c2c *s, const struct c2c_subject *line, bool *wanted)
{
	for (uint32_t i = 0; i < line->n_touches; i++) {
		uint32_t place = c2c_touch_key(s->accesses_seen, line->first_touch + i).place;

		wanted[place] = !s->is_named[place];
	}
}

/* What the instructions at these places do, where there is code; most are of the module of the one before. */
static void decode_places(struct c2c *s, const bool *wanted, uint32_t n)
{
	struct module_id module = { 0 };
	bool has_code = false;

	for (uint32_t i = 0; i < n; i++) {
		struct place place;

		if (!wanted[i])
			continue;
		s->is_named[i] = true;
		place = session_place(s->session, i);
		if (place.module.v != module.v) {
			module = place.module;
			has_code = module.v != 0 && symbols_has_code(s->session->symbols, module);
		}
		if (has_code)
			s->instructions[i] = decode_place(s, place);
	}
}

void c2c_name_accesses(struct c2c *s, const struct c2c_subject *lines, size_t n)
{
	uint32_t n_places = place_numbers_n(s->session->places);
	bool *wanted = mem_zalloc((size_t)n_places + 1, sizeof(*wanted));

	make_room(s);
	for (size_t i = 0; i < n; i++)
		want_places(s, &lines[i], wanted);
	if (s->names.session == NULL)
		names_init_few(&s->names, s->session, wanted, SYMBOLS_LINES, s->known);
	else
		names_add_few(&s->names, wanted, s->known);
	decode_places(s, wanted, n_places);
	free(wanted);
	pool_run(s->session->pool, n, set_extents, &(struct naming){ s, lines });
}
