/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are counted at the same moments: what is dropped, what fits together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "metrics/inside.h"

enum { MAX_SETS = 6, MAX_TEXT = 128 };

static const struct cpu_event cycles = { .name = "CPU_CYCLES", .code = 0x11 };

/* Events are letters; C is that of cycles, which has a counter of its own or has not. */
static const struct {
	const char *name;
	const char *sets[MAX_SETS], *packed[MAX_SETS]; /* end with NULL */
	size_t n_counters;
	bool has_cycle_counter;
} cases[] = {
	{ "none", { NULL }, { NULL }, 4, true },
	{ "two that fit", { "ab", "cd" }, { "abCcd" }, 4, true },
	{ "two that do not", { "ab", "cd" }, { "abC", "cdC" }, 3, true },
	{ "what they share counts once", { "ab", "bc" }, { "abCc" }, 3, true },
	{ "one that another has", { "abc", "ca" }, { "abcC" }, 3, true },
	{ "the first with room", { "abc", "de", "f" }, { "abcCf", "deC" }, 4, true },
	{ "one that is too large is left alone", { "abcde", "f" }, { "abcdeC", "fC" }, 4, true },
	{ "whatever the case", { "ab", "AB" }, { "abC" }, 2, true },
	{ "cycles are free, and in each", { "Ca", "bc" }, { "Ca", "bcC" }, 2, true },
	{ "… free, so that there is room", { "Cab", "C" }, { "Cab" }, 2, true },
	{ "cycles that take a counter", { "Ca", "b", "c" }, { "Ca", "bC", "cC" }, 2, false },
	{ "… in each set that has room", { "ab", "cd" }, { "abC", "cdC" }, 4, false },
	{ "… and not where there is none", { "Ca", "bc" }, { "Ca", "bc" }, 2, false },
};

static void add_set(struct event_sets *sets, const char *letters, char names[26][2])
{
	struct event_set set = { .what = letters, .n = strlen(letters) };

	set.events = event_sets_new(sets, set.n);
	for (size_t i = 0; i < set.n; i++) {
		char *name = names[letters[i] % 26];

		name[0] = letters[i];
		set.events[i] = letters[i] == 'C' ? (struct wanted_event){ cycles.name, &cycles }
						  : (struct wanted_event){ name, NULL };
	}
	*vec_add(&sets->list) = set;
}

static const char *letters_of(const struct event_set *set, char out[MAX_TEXT])
{
	size_t n = 0;

	for (; n < set->n; n++)
		out[n] = set->events[n].event == &cycles ? 'C' : set->events[n].name[0];
	out[n] = '\0';
	return out;
}

static void sets_are_put_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cpu_pmu pmu = { .cycles = &cycles,
					     .n_fixed_cycles = cases[i].has_cycle_counter };
		struct event_sets sets = { 0 }, packed = { 0 };
		char names[26][2] = { 0 }, large[26][2] = { 0 }, text[MAX_TEXT];
		size_t n = 0;

		print_message("%s\n", cases[i].name);
		for (size_t k = 0; k < MAX_SETS && cases[i].sets[k] != NULL; k++)
			add_set(&sets, cases[i].sets[k],
				cases[i].sets[k][0] == 'A' ? large : names);
		event_sets_pack(&pmu, &sets, cases[i].n_counters, &packed);
		for (; n < MAX_SETS && cases[i].packed[n] != NULL; n++) {
			assert_true(n < packed.list.n);
			assert_string_equal(letters_of(&packed.list.items[n], text),
					    cases[i].packed[n]);
		}
		assert_int_equal(packed.list.n, n);
		event_sets_release(&packed);
		event_sets_release(&sets);
	}
}

static bool is_before_m(void *context, const struct wanted_event *event)
{
	(*(unsigned *)context)++;
	return event->name[0] < 'm';
}

/* A set that lacks an event goes as a whole; what is missing is told once. */
static void sets_without_an_event_are_dropped(void **state)
{
	static const struct {
		const char *sets[MAX_SETS], *kept[MAX_SETS], *missing[MAX_SETS];
	} list[] = {
		{ { "ab", "cd" }, { "ab", "cd" }, { NULL } },
		{ { "ax", "cd" }, { "cd" }, { "x" } },
		{ { "ax", "xb", "yx" }, { NULL }, { "x", "y" } },
		{ { "x" }, { NULL }, { "x" } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		struct event_sets sets = { 0 }, missing = { 0 };
		char names[26][2] = { 0 }, text[MAX_TEXT];
		unsigned n_asked = 0;
		size_t n = 0;

		for (size_t k = 0; k < MAX_SETS && list[i].sets[k] != NULL; k++)
			add_set(&sets, list[i].sets[k], names);
		event_sets_drop(&sets, is_before_m, &n_asked, &missing);
		assert_true(n_asked > 0);
		for (; n < MAX_SETS && list[i].kept[n] != NULL; n++)
			assert_string_equal(letters_of(&sets.list.items[n], text), list[i].kept[n]);
		assert_int_equal(sets.list.n, n);
		for (n = 0; n < MAX_SETS && list[i].missing[n] != NULL; n++)
			assert_string_equal(letters_of(&missing.list.items[n], text),
					    list[i].missing[n]);
		assert_int_equal(missing.list.n, n);
		event_sets_release(&missing);
		event_sets_release(&sets);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_put_together),
		cmocka_unit_test(sets_without_an_event_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
