/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/verdict/objects.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "base/radix.h"

enum {
	PAGE_BYTES = 4096,
};

static uint64_t time_of(const struct c2c *s, const struct c2c_access *a)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < a->n_touches; i++) {
		uint64_t time_ns = c2c_touch_first_ns(s->accesses_seen, a->first_touch + i);

		first = time_ns < first ? time_ns : first;
	}
	return first;
}

/* The thread of the accesses, if all are of one; else 0. */
static uint32_t only_thread(const struct c2c *s, const struct c2c_access *a)
{
	uint32_t tid = c2c_touch_key(s->accesses_seen, a->first_touch).tid;

	return a->n_threads == 1 && tid != UINT32_MAX ? tid : 0;
}

/* Whose memory an access is in, and where the line is there. */
static uint32_t process_of(const struct c2c *s, uint32_t line, const struct c2c_access *a,
			   uint64_t *out_address)
{
	const struct c2c_subject *subject = c2c_line_at(s, line);
	uint32_t process = c2c_touch_key(s->accesses_seen, a->first_touch).process;

	*out_address = subject->address;
	if (subject->space == C2C_KERNEL)
		return 0;
	if (subject->space != C2C_PHYSICAL)
		return subject->space;
	*out_address = c2c_accesses_view(s->accesses_seen, subject->line, process);
	return process;
}

struct asking {
	struct c2c_objects *objects;
	struct data_query *queries;
};

/* What a line's accesses are asked for. */
static void ask(void *context, size_t line, unsigned worker)
{
	const struct asking *asking = context;
	struct c2c_objects *o = asking->objects;
	const struct c2c *s = o->sharing;
	const struct c2c_subject *subject = c2c_line_at(s, line);

	(void)worker;
	for (uint32_t k = 0; k < subject->n_accesses; k++) {
		uint32_t number = subject->first_access + k;
		const struct c2c_access *a = &s->accesses.items[number];
		uint64_t address;
		uint32_t process = process_of(s, (uint32_t)line, a, &address);

		o->lines[number] = (uint32_t)line;
		asking->queries[number] = (struct data_query){
			.process = process,
			.time_ns = time_of(s, a),
			.address = address + a->offset,
			.size = a->size,
			.code = session_place(s->session, a->place),
			.tid = only_thread(s, a),
		};
	}
}

static struct radix_pair key_of_line(const void *sharing, size_t number)
{
	const struct c2c_subject *line = c2c_line_at(sharing, number);

	return (struct radix_pair){ line->space == C2C_KERNEL ? 0 : line->space, line->address };
}

/* Those of a line are in order, so only lines are sorted. Accesses to physical memory are where each process has it. */
static void name_accesses(struct c2c_objects *o, const struct data_query *queries)
{
	const struct c2c *s = o->sharing;
	size_t n_lines = s->subjects.n + s->around.n, n = 0;
	uint32_t *lines, *order;

	if (s->options.by_physical) {
		data_names_init(&o->names, s->session, queries, s->accesses.n);
		return;
	}
	lines = radix_order(s, n_lines, key_of_line);
	order = mem_alloc(s->accesses.n + 1, sizeof(*order));
	for (size_t i = 0; i < n_lines; i++) {
		const struct c2c_subject *line = c2c_line_at(s, lines[i]);

		for (uint32_t k = 0; k < line->n_accesses; k++)
			order[n++] = line->first_access + k;
	}
	assert(n == s->accesses.n);
	data_names_init_ordered(&o->names, s->session, queries, n, order);
	free(order);
	free(lines);
}

/* Names are those of addresses in processes. From here on they are where the line is, which may be in physical memory. */
static void move_to_line(struct c2c_objects *o, uint32_t number)
{
	const struct c2c *s = o->sharing;
	struct data_name name;
	uint64_t from, to;

	if (data_names_get(&o->names, number)->object.v == 0)
		return;
	name = *data_names_get(&o->names, number);
	to = c2c_line_at(s, o->lines[number])->address;
	process_of(s, o->lines[number], &s->accesses.items[number], &from);
	if (from == to)
		return;
	name.object_address += to - from;
	data_names_set(&o->names, number, &name);
}

static uint32_t verdict_objects_number_of(struct c2c_objects *o, uint32_t access)
{
	const struct data_name *name = data_names_get(&o->names, access);

	if (name->object.v == 0)
		return TUPLES_NONE;
	return tuples_add(&o->keys,
			  (const uint64_t[]){ c2c_line_at(o->sharing, o->lines[access])->space,
					      name->object.v, name->object_address });
}

/* Sorts the accesses by object. */
static void index_objects(struct c2c_objects *o)
{
	size_t n = o->sharing->accesses.n;

	tuples_init(&o->keys, 3);
	o->numbers = mem_alloc(n + 1, sizeof(*o->numbers));
	o->order = mem_alloc(n + 1, sizeof(*o->order));
	for (uint32_t i = 0; i < n; i++)
		o->numbers[i] = verdict_objects_number_of(o, i);
	o->first = mem_zalloc((size_t)o->keys.n + 2, sizeof(*o->first));
	for (size_t i = 0; i < n; i++)
		if (o->numbers[i] != TUPLES_NONE)
			o->first[o->numbers[i] + 2]++;
	for (uint32_t i = 0; i < o->keys.n; i++)
		o->first[i + 2] += o->first[i + 1];
	for (uint32_t i = 0; i < n; i++)
		if (o->numbers[i] != TUPLES_NONE)
			o->order[o->first[o->numbers[i] + 1]++] = i;
}

struct data_query c2c_objects_query(const struct c2c_objects *o, uint32_t access)
{
	const struct c2c_access *a = &o->sharing->accesses.items[access];

	return (struct data_query){
		.address = c2c_line_at(o->sharing, o->lines[access])->address + a->offset,
		.size = a->size,
	};
}

void c2c_objects_init(struct c2c_objects *o, const struct c2c *s)
{
	struct data_query *queries = mem_huge(s->accesses.n, sizeof(*queries));

	*o = (struct c2c_objects){ .sharing = s };
	o->lines = mem_zalloc(s->accesses.n + 1, sizeof(*o->lines));
	pool_run(s->session->pool, s->subjects.n + s->around.n, ask,
		 &(struct asking){ o, queries });
	name_accesses(o, queries);
	mem_huge_free(queries, s->accesses.n, sizeof(*queries));
	for (size_t i = 0; i < s->accesses.n && s->options.by_physical; i++)
		move_to_line(o, (uint32_t)i);
	c2c_objects_join(o);
	index_objects(o);
}

void c2c_objects_release(struct c2c_objects *o)
{
	data_names_release(&o->names);
	tuples_release(&o->keys);
	free(o->lines);
	free(o->numbers);
	free(o->order);
	free(o->first);
	*o = (struct c2c_objects){ 0 };
}

/* The part of an object that an access is about: of an array the element. */
static void part_of(const struct c2c_objects *o, uint32_t access, uint64_t *first, uint64_t *size)
{
	const struct data_name *name = data_names_get(&o->names, access);
	const struct types *types = symbols_types(o->sharing->session->symbols);
	const struct type *type = types_get(types, types_plain(types, name->type));
	uint64_t address = c2c_objects_query(o, access).address;

	*first = name->object_address;
	*size = name->object_size;
	if (type->kind != TYPE_ARRAY || types_get(types, type->inner)->size == 0)
		return;
	*size = types_get(types, type->inner)->size;
	*first += (address - *first) / *size * *size;
}

/* The bytes whose lines are of interest: those of the object, and some around what is unsure. */
static void verdict_objects_extent_of(const struct c2c_objects *o, uint32_t access, uint64_t *first,
				      uint64_t *last)
{
	const struct data_name *name = data_names_get(&o->names, access);
	uint64_t line_bytes = o->sharing->options.line_bytes, size = 0;
	uint64_t address = c2c_objects_query(o, access).address;

	*first = address;
	if (name->object.v != 0)
		part_of(o, access, first, &size);
	*last = size > 0 ? *first + size - 1 : *first;
	if (name->is_by_type || (name->object.v == 0 && name->kind != DATA_STATIC)) {
		*first -= C2C_NEAR_LINES * line_bytes;
		*last += C2C_NEAR_LINES * line_bytes;
	}
	if (address - *first > C2C_REACH_BYTES)
		*first = address - C2C_REACH_BYTES;
	if (*last - address > C2C_REACH_BYTES)
		*last = address + C2C_REACH_BYTES;
}

/* What is next to a page in a process may be anywhere in physical memory. */
static bool is_reached(const struct c2c_subject *from, uint64_t line)
{
	return from->space != C2C_PHYSICAL || from->address / PAGE_BYTES == line / PAGE_BYTES;
}

/* Lines of a space, both ends included. */
struct line_range {
	const struct c2c_subject *from;
	uint64_t first, last;
};

static void add_lines(const struct c2c *s, const struct line_range *r, struct tuples *out)
{
	uint64_t line_bytes = s->options.line_bytes;

	for (uint64_t n = 0; n <= (r->last - r->first) / line_bytes; n++) {
		const uint64_t key[] = { r->from->space, r->first + n * line_bytes };

		/* TUPLES_NONE is more than there are. */
		if (is_reached(r->from, key[1]) &&
		    tuples_find(&s->choice.keys, key) >= s->choice.n_shown)
			tuples_add(out, key);
	}
}

/* Accesses to a line come one after the other, and most reach over the same lines. */
void c2c_objects_lines(const struct c2c_objects *o, const bool *wanted, struct tuples *out)
{
	const struct c2c *s = o->sharing;
	uint64_t line_bytes = s->options.line_bytes;
	struct line_range before = { 0 };

	for (uint32_t i = 0; i < s->accesses.n; i++) {
		struct line_range r = { .from = c2c_line_at(s, o->lines[i]) };

		if (!wanted[o->lines[i]])
			continue;
		verdict_objects_extent_of(o, i, &r.first, &r.last);
		r.first -= r.first % line_bytes;
		r.last -= r.last % line_bytes;
		if (r.from == before.from && r.first == before.first && r.last == before.last)
			continue;
		add_lines(s, &r, out);
		before = r;
	}
}
