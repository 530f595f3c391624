/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that could be split, by which of their members are used how much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "../table/expect.h"
#include "addr/rows.h"
#include "base/alloc.h"

enum { N_MEMBERS = 8, MEMBER_BYTES = 8, SIZE = N_MEMBERS * MEMBER_BYTES, CYCLES = 10 };

static const struct {
	const char *name;
	unsigned n[N_MEMBERS]; /* records of each member */
	uint64_t object_bytes;
	bool is_listed;
	double hot, untouched, records, share; /* share: elsewhere are 100 records */
} cases[] = {
	{ "two of eight", { 50, 0, 50, 0, 0, 0, 0, 0 }, 10 * SIZE, true, 16, 48, 100, 0.5 },
	{ "one struct alone", { 50, 0, 50, 0, 0, 0, 0, 0 }, SIZE, false },
	{ "two of them", { 50, 0, 50, 0, 0, 0, 0, 0 }, 2 * SIZE, true, 16, 48, 100, 0.5 },
	{ "few records", { 25, 0, 24, 0, 0, 0, 0, 0 }, 10 * SIZE, false },
	{ "enough records", { 25, 0, 25, 0, 0, 0, 0, 0 }, 10 * SIZE, true, 16, 48, 50, 1. / 3 },
	{ "half of it is hot", { 25, 25, 25, 25, 0, 0, 0, 0 }, 10 * SIZE, true, 32, 32, 100, 0.5 },
	{ "more is hot", { 20, 20, 20, 20, 20, 0, 0, 0 }, 10 * SIZE, false },
	{ "all is used", { 93, 1, 1, 1, 1, 1, 1, 1 }, 10 * SIZE, false },
	{ "cold, but used", { 90, 4, 4, 2, 0, 0, 0, 0 }, 10 * SIZE, true, 8, 32, 100, 0.5 },
	{ "one in twenty is hot", { 90, 5, 5, 0, 0, 0, 0, 0 }, 10 * SIZE, true, 24, 40, 100, 0.5 },
};

/* What objects, groups and types are made of. */
struct world {
	struct session session;
	struct addr addr;
	struct addr_options options;
	struct addr_objects objects;
	struct addr_source source;
	struct strings strings;
};

/* The types of a session without debug information have room for ours. */
static struct type_id add_struct(struct world *w)
{
	struct types *types = (struct types *)(uintptr_t)symbols_types(w->session.symbols);
	struct type_member members[N_MEMBERS];
	struct type_id number = types_add(
		types, &(struct type){ .kind = TYPE_BASE, .size = MEMBER_BYTES }, NULL, 0);

	for (uint32_t i = 0; i < N_MEMBERS; i++)
		members[i] = (struct type_member){
			.type = number,
			.offset = (uint64_t)i * MEMBER_BYTES,
			.size = MEMBER_BYTES,
		};
	return types_add(types, &(struct type){ .kind = TYPE_STRUCT, .size = SIZE }, members,
			 N_MEMBERS);
}

static void add_group(struct world *w, uint32_t object, uint64_t offset, unsigned n)
{
	const uint64_t key[ADDR_KEY_WORDS] = { object, offset };
	const struct access access = {
		.kind = MEMORY_LOAD,
		.has_cycles = true,
		.cycles = CYCLES,
	};
	const struct addr_record record = addr_record_of(&access);
	uint32_t group;

	if (n == 0)
		return;
	group = tuples_add(&w->addr.keys, key);
	addr_briefs_reach(&w->addr.sums, w->addr.keys.n);
	for (unsigned i = 0; i < n; i++)
		addr_briefs_add(&w->addr.sums, group, &record);
}

static void world_init(struct world *w, size_t i)
{
	uint32_t array, elsewhere;
	struct type_id type;

	*w = (struct world){ .options.grain = ADDR_FIELDS };
	open_fixture(&(struct contents){ 0 }, 1, &w->session);
	strings_init(&w->strings);
	type = add_struct(w);
	w->addr = (struct addr){ .session = &w->session, .options = &w->options };
	tuples_init(&w->addr.keys, ADDR_KEY_WORDS);
	w->objects.session = &w->session;
	tuples_init(&w->objects.keys, 7);
	array = addr_objects_add(&w->objects, &(struct addr_object){
						      .kind = DATA_STATIC,
						      .type = type,
						      .element = type,
						      .element_size = SIZE,
						      .size = cases[i].object_bytes,
					      });
	elsewhere = addr_objects_add(&w->objects, &(struct addr_object){ .kind = DATA_HEAP });
	/* In the middle of a member, too. */
	for (uint64_t m = 0; m < N_MEMBERS; m++) {
		add_group(w, array, m * MEMBER_BYTES, cases[i].n[m] / 2);
		add_group(w, array, m * MEMBER_BYTES + 4, cases[i].n[m] - cases[i].n[m] / 2);
	}
	add_group(w, elsewhere, 0, 100);
	w->source = (struct addr_source){
		.addr = &w->addr,
		.objects = &w->objects,
		.strings = &w->strings,
	};
}

static void world_release(struct world *w)
{
	tuples_release(&w->addr.keys);
	addr_briefs_release(&w->addr.sums);
	addr_objects_release(&w->objects);
	strings_release(&w->strings);
	close_fixture(&w->session);
}

static void structs_are_listed_or_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct expected_cell cells[] = {
			{ "splits", 0, "size", SIZE, MARK_EXACT },
			{ "splits", 0, "hot_bytes", cases[i].hot, MARK_EXACT },
			{ "splits", 0, "untouched_bytes", cases[i].untouched, MARK_EXACT },
			{ "splits", 0, "records", cases[i].records, MARK_EXACT },
			{ "splits", 0, "share", cases[i].share, MARK_EXACT },
		};
		struct tables answer = { 0 };
		struct addr_rows rows;
		struct table splits;
		struct world w;

		print_message("%s\n", cases[i].name);
		world_init(&w, i);
		addr_rows_init(&rows, &w.source, ADDR_BY_FIELD);
		addr_splits_table(&rows, &splits);
		*vec_add(&answer.list) = &splits;
		assert_int_equal(table_n_rows(&splits), cases[i].is_listed);
		if (cases[i].is_listed)
			expect_cells(&answer, cells, COUNT(cells));
		vec_release(&answer.list);
		table_release(&splits);
		addr_rows_release(&rows);
		world_release(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structs_are_listed_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
