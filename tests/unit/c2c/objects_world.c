/* SPDX-License-Identifier: Apache-2.0 */
#include "objects_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "c2c/verdict/verdict.h"

enum { LARGE_MEMBERS = 16 };

const uint64_t world_sizes[N_WHATS] = { 0, 16, 32, 32, 2 * LINE_BYTES };

static const char *const type_names[N_WHATS] = { "", "struct inner", "struct outer", "struct other",
						 "struct large" };

static void add_struct(struct world *w, struct types *t, enum what what,
		       const struct type_member *members, size_t n)
{
	struct str_id name = strings_addz(t->strings, type_names[what]);

	w->names[what] = name;
	w->types[what] = types_add(
		t, &(struct type){ .kind = TYPE_STRUCT, .name = name, .size = world_sizes[what] },
		members, n);
}

/* The types of a session without debug information have room for ours. */
static void add_types(struct world *w)
{
	struct types *t = (struct types *)(uintptr_t)symbols_types(w->session.symbols);
	struct type_id number = types_add(t,
					  &(struct type){ .kind = TYPE_BASE,
							  .name = strings_addz(t->strings, "long"),
							  .size = LONG },
					  NULL, 0);
	const struct type_member inner[] = {
		{ strings_addz(t->strings, "a"), .type = number, .offset = 0, .size = LONG },
		{ strings_addz(t->strings, "b"), .type = number, .offset = LONG, .size = LONG },
	};
	struct type_member outer[] = {
		{ strings_addz(t->strings, "head"), .type = number, .offset = 0, .size = LONG },
		{ strings_addz(t->strings, "in"), .offset = LONG, .size = 2 * LONG },
		{ strings_addz(t->strings, "tail"), .type = number, .offset = 3 * LONG,
		  .size = LONG },
	};
	struct type_member large[LARGE_MEMBERS];

	for (size_t i = 0; i < LARGE_MEMBERS; i++) {
		const char name[] = { 'm', (char)('0' + i / 10), (char)('0' + i % 10), '\0' };

		large[i] = (struct type_member){ .name = strings_addz(t->strings, name),
						 .type = number,
						 .offset = LONG * i,
						 .size = LONG };
	}
	add_struct(w, t, INNER, inner, COUNT(inner));
	outer[1].type = w->types[INNER];
	add_struct(w, t, OUTER, outer, COUNT(outer));
	add_struct(w, t, OTHER, inner, COUNT(inner));
	add_struct(w, t, LARGE, large, COUNT(large));
}

void world_init(struct world *w)
{
	*w = (struct world){ 0 };
	open_fixture(&(struct contents){ 0 }, 1, &w->session);
	add_types(w);
	tuples_init(&w->seen.keys, C2C_TOUCH_WORDS);
	w->sharing.session = &w->session;
	w->sharing.lines = &w->lines;
	w->sharing.accesses_seen = &w->seen;
	w->sharing.options.line_bytes = LINE_BYTES;
	w->sharing.options.mode = C2C_BY_PEER;
	w->sharing.instructions = w->instructions;
	w->sharing.total.n[C2C_STORES] = 1;
	w->lines.loads.cycles = 1000;
	w->objects.sharing = &w->sharing;
	w->objects.lines = mem_zalloc(4 * MAX_LINES, sizeof(*w->objects.lines));
	w->objects.numbers = mem_zalloc(4 * MAX_LINES, sizeof(*w->objects.numbers));
	w->objects.names.session = &w->session;
	shared_names_init(&w->objects.names.names, 4 * MAX_LINES);
	strings_init(&w->objects.names.strings);
	tuples_init(&w->objects.keys, 3);
}

void world_release(struct world *w)
{
	c2c_objects_release(&w->objects);
	tuples_release(&w->seen.keys);
	vec_release(&w->seen.kept);
	vec_release(&w->seen.many);
	vec_release(&w->sharing.subjects);
	vec_release(&w->sharing.accesses);
	close_fixture(&w->session);
}

void world_add_name(struct world *w, const struct known *k, uint32_t line)
{
	size_t number = w->objects.names.n++;
	struct c2c_subject *s = &w->sharing.subjects.items[line];
	struct data_name name = { .kind = k->kind };

	if (s->address == 0)
		s->address = k->address;
	w->objects.lines[number] = line;
	*vec_add(&w->sharing.accesses) = (struct c2c_access){
		.offset = (uint16_t)(k->address - s->address),
		.size = LONG,
	};
	data_names_set(&w->objects.names, number, &name);
	if (k->what == NOTHING)
		return;
	name = (struct data_name){
		.kind = k->kind,
		.object = w->names[k->what],
		.is_by_type = true,
		.is_by_code = true,
		.object_address = k->start,
		.object_size = world_sizes[k->what],
		.type = w->types[k->what],
	};
	data_names_set(&w->objects.names, number, &name);
}

struct data_name world_name_at(const struct world *w, size_t number)
{
	return *data_names_get(&w->objects.names, number);
}

static void add_touch(struct world *w, uint32_t line, uint16_t offset, uint64_t place_and_tid,
		      bool is_store, uint32_t n)
{
	const uint64_t key[C2C_TOUCH_WORDS] = {
		(uint64_t)line << 32 | (uint64_t)offset << 8 | (is_store ? C2C_KIND_STORE : 0u),
		place_and_tid,
	};
	struct c2c_subject *subject = &w->sharing.subjects.items[line];
	struct c2c_touch touch = { .first_ns = UINT64_MAX };

	touch.counts.n[C2C_RECORDS] = n;
	touch.counts.n[is_store ? C2C_STORES : C2C_LOADS] = n;
	touch.counts.n[C2C_LOCAL_PEER] = is_store ? 0 : n;
	assert_int_equal(tuples_add(&w->seen.keys, key), w->seen.kept.n);
	*vec_add(&w->seen.kept) =
		(struct c2c_kept_touch){ .many = (uint32_t)w->seen.many.n, .flags = C2C_KEPT_MANY };
	*vec_add(&w->seen.many) = touch;
	c2c_counts_add(&subject->counts, &touch.counts);
	subject->n_touches++;
}

static void add_contended_line(struct world *w, const struct contended_line *f)
{
	uint32_t line = (uint32_t)w->sharing.subjects.n;
	struct c2c_subject *s = vec_add(&w->sharing.subjects);

	*s = (struct c2c_subject){
		.space = 1,
		.address = f->start + f->in_object,
		.line = line,
		.first_access = (uint32_t)w->objects.names.n,
		.n_accesses = 2,
		.first_touch = w->seen.keys.n,
		.excess_cycles = f->excess,
		.share = (double)f->excess / 1000,
		.error = 0.001,
	};
	for (int i = 0; i < 2; i++) {
		bool is_beside = i == 1 && f->beside != NOTHING;
		uint64_t start = f->start + (is_beside ? world_sizes[f->what] : 0);
		const struct known known = { 1, is_beside ? f->beside : f->what, start,
					     s->address + (i == 0 ? 0 : f->offset), DATA_HEAP };
		const uint64_t key[] = { 1, 1, start };
		size_t number = w->objects.names.n;

		struct data_name name;

		world_add_name(w, &known, line);
		name = world_name_at(w, number);
		name.n_elements = f->n_elements;
		name.is_by_type = !f->is_variable;
		data_names_set(&w->objects.names, number, &name);
		w->objects.numbers[number] =
			f->what == NOTHING ? TUPLES_NONE : tuples_add(&w->objects.keys, key);
		w->sharing.accesses.items[number].first_touch = w->seen.keys.n + (uint32_t)i;
		w->sharing.accesses.items[number].n_touches = 1;
	}
	add_touch(w, line, 0, (uint64_t)f->places[0] << 32 | (f->first_tid + 1), true, f->n_stores);
	add_touch(w, line, f->offset, (uint64_t)f->places[1] << 32 | (f->first_tid + 2), false, 5);
}

void world_add_lines(struct world *w, const struct contended_line *contended)
{
	for (size_t i = 0; i < MAX_PLACES; i++)
		w->instructions[i] = (struct c2c_instruction){
			.bytes = LONG,
			.is_load = true,
			.is_store = true,
		};
	for (size_t i = 0; i < MAX_LINES && contended[i].excess > 0; i++)
		add_contended_line(w, &contended[i]);
	for (uint32_t i = 0; i < w->sharing.subjects.n; i++)
		w->sharing.subjects.items[i].judgement = c2c_judge(&w->sharing, &i, 1);
}
