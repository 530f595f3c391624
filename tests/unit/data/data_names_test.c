/* SPDX-License-Identifier: Apache-2.0 */
/* What data addresses of the fixture's processes are said to be. */
#include "data/data_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/writer/writer.h"
#include "variables/heap_map.h"
#include "../session/fixture.h"

static const struct {
	uint64_t address;
	enum data_kind kind;
	const char *text;
} cases[] = {
	{ TEXT_START + 0x100, DATA_FILE, "alpha" }, /* its file is not there */
	{ 0x500000000000, DATA_UNKNOWN, "[unknown]" },
	{ 0xffff800000001000, DATA_KERNEL, "[kernel]" },
	{ 0, DATA_UNKNOWN, "[unknown]" },
	{ UINT64_MAX, DATA_KERNEL, "[kernel]" },
};

static void addresses_have_kinds(void **state)
{
	struct contents contents = { 0 };
	struct data_query queries[COUNT(cases)];
	struct session session;
	struct data_names names;
	struct text text = { 0 };

	(void)state;
	open_fixture(&contents, 1, &session);
	for (size_t i = 0; i < COUNT(cases); i++)
		queries[i] = (struct data_query){
			.process = timeline_process_of_pid(session.timeline, ALPHA, START_NS),
			.time_ns = START_NS,
			.address = cases[i].address,
			.size = 8,
		};
	data_names_init(&names, &session, queries, COUNT(cases));
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(data_names_get(&names, i)->kind, cases[i].kind);
		text_reset(&text);
		data_name_text(&names, &queries[i], data_names_get(&names, i), &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, cases[i].text);
	}
	text_release(&text);
	data_names_release(&names);
	close_fixture(&session);
}

/* A heap map names what is in its objects, of its own process only. */
static void heap_maps_name_objects(void **state)
{
	static const char map_of_alpha[] = "pid %d\n"
					   "field 16 8 long a.Counters.hits\n"
					   "500000000000 24 a.Counters\n"
					   "500000000018 8 java.lang.Object\n";
	static const struct {
		uint32_t pid;
		uint64_t address;
		const char *text;
	} named[] = {
		{ ALPHA, 0x500000000010, "a.Counters.hits" },
		{ ALPHA, 0x500000000004, "a.Counters.(padding)" },
		{ ALPHA, 0x50000000001c, "java.lang.Object+0x4" },
		{ ALPHA, 0x500000000020, "[unknown]" },
		{ BETA, 0x500000000010, "[unknown]" },
	};
	struct contents contents = { 0 };
	struct data_query queries[COUNT(named)];
	struct heap_map map;
	struct session session;
	struct data_names names;
	struct text text = { 0 };
	struct err err;

	(void)state;
	text_format(&text, map_of_alpha, ALPHA);
	assert_int_equal(heap_map_read(&map, text.bytes, text.n, &err), 0);
	open_fixture(&contents, 1, &session);
	session.heap = &map;
	for (size_t i = 0; i < COUNT(named); i++)
		queries[i] = (struct data_query){
			.process =
				timeline_process_of_pid(session.timeline, named[i].pid, START_NS),
			.time_ns = START_NS,
			.address = named[i].address,
			.size = 4,
		};
	data_names_init(&names, &session, queries, COUNT(named));
	for (size_t i = 0; i < COUNT(named); i++) {
		text_reset(&text);
		data_name_text(&names, &queries[i], data_names_get(&names, i), &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, named[i].text);
	}
	text_reset(&text);
	data_heap_text(&session, &text);
	text_char(&text, '\0');
	assert_string_equal(text.bytes, "2 objects of one moment: what the collector moved before "
					"or after it has a wrong name, or none");
	text_release(&text);
	data_names_release(&names);
	close_fixture(&session);
	heap_map_release(&map);
}

enum { HALF_PAGE = 2048, LATER_NS = START_NS + 1000 };

static void map_anonymous(struct writer *w, uint32_t pid, uint64_t start, uint64_t length,
			  uint64_t time_ns)
{
	const struct record_mmap map = {
		.pid = pid,
		.tid = pid,
		.start = start,
		.length = length,
		.is_data = true,
		.path = "//anon",
	};
	const struct sample_id id = { .has = HAS_TIME, .time_ns = time_ns };

	writer_mmap2(w, &map, 2, &id);
}

/* There from the start; from some time on; and a part of a page. */
static void map_more(struct writer *w)
{
	map_anonymous(w, ALPHA, 0x600000000000, 0x2000, 1);
	map_anonymous(w, BETA, 0x600000010000, 0x2000, LATER_NS);
	map_anonymous(w, ALPHA, 0x600000020000, HALF_PAGE, 1);
}

static void pages_have_one_name(void **state)
{
	static const struct {
		uint32_t pid;
		uint64_t address;
		bool has_one;
	} pages[] = {
		{ ALPHA, 0x600000000008, true },     { ALPHA, 0x600000001fff, true },
		{ BETA, 0x600000010008, false }, /* it had none before */
		{ ALPHA, 0x600000020008, false },    { ALPHA, 0x600000020ff8, false },
		{ ALPHA, 0x500000000000, true }, /* nothing is known to be there */
		{ ALPHA, 0xffff800000001000, true },
	};
	struct contents contents = { .write_more = map_more };
	struct data_query queries[COUNT(pages)] = { 0 };
	struct heap_map map = { 0 };
	struct data_names names;
	struct session session;

	(void)state;
	open_fixture(&contents, 1, &session);
	assert_true(data_names_are_of_mappings(&session));
	for (size_t i = 0; i < COUNT(pages); i++) {
		queries[i] = (struct data_query){
			.process =
				timeline_process_of_pid(session.timeline, pages[i].pid, START_NS),
			.address = pages[i].address,
			.time_ns = START_NS,
		};
		/* not yet: the programs may be there, and are not looked for */
		assert_int_equal(data_page_has_one_name(&session, queries[i].process,
							pages[i].address, START_NS),
				 pages[i].address >> 63);
	}
	data_names_init(&names, &session, queries, COUNT(pages));
	data_names_release(&names);
	for (size_t i = 0; i < COUNT(pages); i++) {
		print_message("%zu\n", i);
		assert_int_equal(data_page_has_one_name(&session, queries[i].process,
							pages[i].address, START_NS),
				 pages[i].has_one);
	}
	session.heap = &map;
	assert_false(data_names_are_of_mappings(&session));
	close_fixture(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heap_maps_name_objects),
		cmocka_unit_test(addresses_have_kinds),
		cmocka_unit_test(pages_have_one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
