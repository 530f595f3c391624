/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of --by: how they are read, what they need, and what they make of records. */
#include "keys/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "keys/dimension.h"

#define DIM(name) (1u << DIM_##name)

static const struct {
	const char *text;
	size_t n; /* 0: an error */
	enum key keys[3];
	uint32_t dimensions;
	bool has_time, is_time;
} cases[] = {
	{ "process", 1, { KEY_PROCESS }, DIM(PROCESS) },
	{ "thread", 1, { KEY_THREAD }, DIM(TID) },
	{ "cpu", 1, { KEY_CPU }, DIM(CPU) },
	{ "module", 1, { KEY_MODULE }, DIM(PLACE) },
	{ "function", 1, { KEY_FUNCTION }, DIM(PLACE) },
	{ "line", 1, { KEY_LINE }, DIM(PLACE) },
	{ "instruction", 1, { KEY_INSTRUCTION }, DIM(PLACE) },
	{ "place", 1, { KEY_PLACE }, DIM(PLACE) },
	{ "operation", 1, { KEY_OPERATION }, DIM(OPERATION) },
	{ "source", 1, { KEY_SOURCE }, DIM(SOURCE) },
	{ "time", 1, { KEY_TIME }, DIM(SLICE), true, true },
	{ "function,cpu", 2, { KEY_FUNCTION, KEY_CPU }, DIM(PLACE) | DIM(CPU) },
	{ "time,process,source",
	  3,
	  { KEY_TIME, KEY_PROCESS, KEY_SOURCE },
	  DIM(SLICE) | DIM(PROCESS) | DIM(SOURCE),
	  true,
	  false },
	{ "" },
	{ "," },
	{ "cpu," },
	{ ",cpu" },
	{ "cpus" },
	{ "cp" },
	{ "CPU" },
	{ "cpu cpu" },
	{ "cpu,function,cpu", 2, { KEY_CPU, KEY_FUNCTION }, DIM(CPU) | DIM(PLACE) },
};

static void lists_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct keys keys = { 0 };
		struct err err = { 0 };

		print_message("%s\n", cases[i].text);
		assert_int_equal(keys_parse(cases[i].text, &keys, &err), cases[i].n == 0 ? -1 : 0);
		if (cases[i].n == 0) {
			assert_int_equal(err.code, ERR_USAGE);
			continue;
		}
		assert_int_equal(keys.n, cases[i].n);
		for (size_t k = 0; k < keys.n; k++)
			assert_int_equal(keys.keys[k], cases[i].keys[k]);
		/* The event is told apart always, as periods of different ones do not add up. */
		assert_int_equal(keys_dimensions(&keys) | DIM(EVENT),
				 cases[i].dimensions | DIM(EVENT));
		assert_int_equal(keys_have_time(&keys), cases[i].has_time);
		assert_int_equal(keys_are_time(&keys), cases[i].is_time);
	}
}

/* What the table says of each key fits in what users of it make room for. */
static void classes_are_whole(void **state)
{
	(void)state;
	for (int i = 0; i < N_KEYS; i++) {
		const struct key_class *c = &key_classes[i];
		struct keys keys;
		struct err err;

		assert_int_equal(keys_parse(c->name, &keys, &err), 0);
		assert_int_equal(keys.keys[0], i);
		assert_true(c->n_words > 0 && c->n_words <= KEY_MAX_WORDS);
		assert_true(c->n_columns > 0 && c->n_columns <= KEY_MAX_COLUMNS);
		assert_true(c->make != NULL && c->show != NULL && c->dimensions != 0);
		assert_true(!c->needs_lines || c->needs_names);
		assert_true(!c->is_code || c->dimensions == DIM(PLACE));
	}
}

/* Words of keys that are made of one dimension are that of the record. */
static void words_are_those_of_records(void **state)
{
	static const struct {
		enum key key;
		enum dimension dimension;
	} list[] = {
		{ KEY_PROCESS, DIM_PROCESS }, { KEY_THREAD, DIM_TID },	  { KEY_CPU, DIM_CPU },
		{ KEY_TIME, DIM_SLICE },      { KEY_SOURCE, DIM_SOURCE },
	};
	uint64_t raw[N_DIMENSIONS];

	(void)state;
	for (uint64_t i = 0; i < N_DIMENSIONS; i++)
		raw[i] = 1000 + i;
	for (size_t i = 0; i < COUNT(list); i++) {
		uint64_t words[KEY_MAX_WORDS] = { 0 };

		key_classes[list[i].key].make(NULL, raw, words);
		assert_int_equal(words[0], 1000 + list[i].dimension);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read),
		cmocka_unit_test(classes_are_whole),
		cmocka_unit_test(words_are_those_of_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
