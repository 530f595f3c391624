/* SPDX-License-Identifier: Apache-2.0 */
/* Heap maps: what is at an address, and what is said of lines that cannot be read. */
#include "variables/heap_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

static const char whole[] = "# a comment\n"
			    "pid 4711\n"
			    "time 2026-11-23T14:50:07Z\n"
			    "\n"
			    "field 24 8 long a.Counters.misses\n"
			    "field 16 8 long a.Counters.hits\n"
			    "element 16 8 long[]\n"
			    "7f5a80000040 40 long[]\n"
			    "0x7f5a80000020 32 a.Counters\n"
			    "7f5a80000068 16 java.lang.Object\n"
			    "7f5a80000078 16 long[]\n"
			    "ffffffffffffffff 1 last\n";

static const struct {
	uint64_t address;
	const char *class, *path; /* NULL: there is no object, no member */
} places[] = {
	{ 0x7f5a8000001f, NULL, NULL },
	{ 0x7f5a80000020, "a.Counters", "(padding)" },
	{ 0x7f5a80000030, "a.Counters", "hits" },
	{ 0x7f5a80000038, "a.Counters", "misses" },
	{ 0x7f5a8000003f, "a.Counters", "misses" },
	{ 0x7f5a80000040, "long[]", "(padding)" },
	{ 0x7f5a80000050, "long[]", "[0]" },
	{ 0x7f5a80000067, "long[]", "[2]" },
	{ 0x7f5a80000068, "java.lang.Object", NULL },
	{ 0x7f5a80000078, "long[]", NULL },
	{ 0x7f5a80000088, NULL, NULL },
	{ 0xfffffffffffffffe, NULL, NULL },
	{ 0xffffffffffffffff, "last", NULL },
};

static void addresses_have_objects(void **state)
{
	struct heap_map map;
	struct err err;

	(void)state;
	assert_int_equal(heap_map_read(&map, whole, strlen(whole), &err), 0);
	assert_int_equal(map.pid, 4711);
	assert_string_equal(strings_get(&map.strings, map.time), "2026-11-23T14:50:07Z");
	assert_int_equal(map.objects.n, 5);
	for (size_t i = 0; i < COUNT(places); i++) {
		const struct heap_object *object = heap_map_find(&map, places[i].address);
		struct text path = { 0 };
		bool has_path;

		assert_int_equal(object != NULL, places[i].class != NULL);
		if (object == NULL)
			continue;
		assert_string_equal(
			strings_get(&map.strings, types_get(&map.types, object->type)->name),
			places[i].class);
		has_path = types_path(&map.types, object->type, places[i].address - object->address,
				      1, &path, NULL);
		assert_int_equal(has_path, places[i].path != NULL);
		text_char(&path, '\0');
		assert_string_equal(path.bytes, has_path ? places[i].path : "");
		text_release(&path);
	}
	heap_map_release(&map);
}

/* What is wrong, and where: at which byte of the text. */
static const struct {
	const char *text;
	uint64_t at;
	const char *says;
} wrong[] = {
	{ "1000 16 A\n1010 0 B\n", 10, "line 2: found \"0\", wanted the size of an object" },
	{ "1000 16 \n", 0, "found \"\", wanted the name of a class" },
	{ "1000 16 A\x1b[2J\n", 0, "wanted the name of a class" },
	{ "size 16 A\n", 0, "found \"size\", wanted the hexadecimal address" },
	{ "1000 4294967296 A\n", 0, "found \"4294967296\", wanted the size" },
	{ "ffffffffffffffff 2 A\n", 0, "found \"2\", wanted the size" },
	{ "pid 0\n", 0, "found \"0\", wanted the number of a process" },
	{ "pid\n", 0, "found \"\", wanted the number of a process" },
	{ "time\n", 0, "wanted when it was" },
	{ "field x 8 long A.a\n", 0, "found \"x\", wanted the offset of a field" },
	{ "field 8 0 long A.a\n", 0, "found \"0\", wanted the size of a field" },
	{ "field 8 8\n", 0, "wanted the type of a field" },
	{ "field 8 8 long a\n", 0, "found \"a\", wanted CLASS.FIELD" },
	{ "field 8 8 long .a\n", 0, "found \".a\", wanted CLASS.FIELD" },
	{ "field 8 8 long A.\n", 0, "found \"A.\", wanted CLASS.FIELD" },
	{ "element 16 8 long\n", 0, "found \"long\", wanted the name of a class of arrays" },
	{ "element 16 0 long[]\n", 0, "found \"0\", wanted the size of an element" },
	{ "field 8 8 long A.a\n1000 12 A\n", ERR_NOWHERE, "line 1: found a field at 8 of 8 bytes" },
	{ "1000 17 A\n1010 8 B\n", ERR_NOWHERE, "found an object at 0x1010, wanted none within" },
	{ "1000 16 A\n1010 16 B", 10, "the file ends within it" },
};

static void errors_have_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct heap_map map;
		struct err err = { 0 };

		print_message("%s", wrong[i].text);
		assert_int_equal(heap_map_read(&map, wrong[i].text, strlen(wrong[i].text), &err),
				 -1);
		assert_int_equal(err.at, wrong[i].at);
		assert_non_null(strstr(err.text, wrong[i].says));
		heap_map_release(&map);
	}
}

/* Cut at each byte: an error, but at the end of a line. Nothing is read past the end. */
static void is_cut_anywhere(void **state)
{
	(void)state;
	for (size_t n = 0; n < strlen(whole); n++) {
		char *cut = mem_alloc(n > 0 ? n : 1, 1);
		struct heap_map map;
		struct err err = { 0 };
		bool is_whole = n == 0 || whole[n - 1] == '\n';

		memcpy(cut, whole, n);
		assert_int_equal(heap_map_read(&map, cut, n, &err), is_whole ? 0 : -1);
		heap_map_release(&map);
		free(cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_have_objects),
		cmocka_unit_test(errors_have_places),
		cmocka_unit_test(is_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
