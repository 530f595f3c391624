/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

#define G FUNCTION_GLOBAL
#define W FUNCTION_WEAK
#define L FUNCTION_LOCAL

enum { LIMIT = 0x1000 };

/* Two names for one address; the first one must win, whichever was added first. */
static const struct duel {
	const char *why;
	struct function winner, loser;
} duels[] = {
	{ "has a size", { 16, 8, LIMIT, "a", L }, { 16, 0, LIMIT, "longer", G } },
	{ "global before local", { 16, 8, LIMIT, "a", G }, { 16, 8, LIMIT, "longer", L } },
	{ "global before weak", { 16, 8, LIMIT, "a", G }, { 16, 8, LIMIT, "longer", W } },
	{ "local before weak", { 16, 8, LIMIT, "a", L }, { 16, 8, LIMIT, "longer", W } },
	{ "fewer underscores", { 16, 8, LIMIT, "free", G }, { 16, 8, LIMIT, "__libc_free", G } },
	{ "longer", { 16, 8, LIMIT, "memmove", G }, { 16, 8, LIMIT, "memcpy", G } },
	{ "no old version", { 16, 8, LIMIT, "free", G }, { 16, 8, LIMIT, "cfree@GLIBC_2.2.5", G } },
	{ "default version", { 16, 8, LIMIT, "f@@V2", G }, { 16, 8, LIMIT, "longer@V1", G } },
	{ "smaller text", { 16, 8, LIMIT, "aa", G }, { 16, 8, LIMIT, "ab", G } },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * COUNT(duels); i++) {
		const struct duel *d = &duels[i / 2];
		struct functions f = { 0 };

		functions_add(&f, i % 2 ? &d->winner : &d->loser);
		functions_add(&f, i % 2 ? &d->loser : &d->winner);
		functions_build(&f);
		assert_int_equal(f.list.n, 1);
		if (strcmp(functions_find(&f, 16)->name, d->winner.name) != 0)
			fail_msg("%s: \"%s\" lost", d->why, d->winner.name);
		functions_release(&f);
	}
}

/* Who holds which address. */
static const struct layout {
	const char *why;
	struct function functions[4];
	struct {
		uint64_t address;
		const char *name; /* NULL: nobody */
	} expected[5];
} layouts[] = {
	{ "sizes leave gaps",
	  { { 16, 8, LIMIT, "a", G }, { 32, 8, LIMIT, "b", G } },
	  { { 15, NULL }, { 16, "a" }, { 23, "a" }, { 24, NULL }, { 39, "b" } } },
	{ "without a size up to the next",
	  { { 16, 0, LIMIT, "a", G }, { 32, 8, LIMIT, "b", G } },
	  { { 16, "a" }, { 31, "a" }, { 32, "b" }, { 39, "b" }, { 40, NULL } } },
	{ "without a size up to the section's end",
	  { { 16, 0, 64, "a", G }, { 96, 0, 128, "b", G } },
	  { { 63, "a" }, { 64, NULL }, { 96, "b" }, { 127, "b" }, { 128, NULL } } },
	{ "labels inside",
	  { { 16, 32, LIMIT, "a", G }, { 24, 0, LIMIT, "label", G } },
	  { { 16, "a" }, { 24, "a" }, { 47, "a" }, { 48, NULL }, { 0, NULL } } },
	{ "a function inside",
	  { { 16, 32, LIMIT, "a", G }, { 24, 8, LIMIT, "inner", L } },
	  { { 16, "a" }, { 24, "inner" }, { 31, "inner" }, { 32, "a" }, { 47, "a" } } },
	{ "a size beyond the section",
	  { { 16, UINT64_MAX, 64, "a", G } },
	  { { 16, "a" }, { 63, "a" }, { 64, NULL }, { UINT64_MAX, NULL }, { 0, NULL } } },
	{ "outside of its section", { { 64, 8, 64, "a", G } }, { { 64, NULL }, { 0, NULL } } },
	{ "no name", { { 16, 8, LIMIT, "", G } }, { { 16, NULL } } },
};

static void test_layouts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(layouts); i++) {
		const struct layout *l = &layouts[i];
		struct functions f = { 0 };

		for (size_t k = 0; k < COUNT(l->functions) && l->functions[k].name != NULL; k++)
			functions_add(&f, &l->functions[k]);
		functions_build(&f);
		for (size_t k = 0; k < COUNT(l->expected); k++) {
			const struct function *found = functions_find(&f, l->expected[k].address);
			const char *expected = l->expected[k].name;

			if ((found == NULL) != (expected == NULL) ||
			    (found != NULL && strcmp(found->name, expected) != 0))
				fail_msg("%s: %#llx is in %s", l->why,
					 (unsigned long long)l->expected[k].address,
					 found == NULL ? "nothing" : found->name);
		}
		functions_release(&f);
	}
}

static void test_size_is_known_afterwards(void **state)
{
	struct functions f = { 0 };

	(void)state;
	functions_add(&f, &(struct function){ 16, 0, 64, "a", G });
	functions_add(&f, &(struct function){ 32, 0, 64, "b", G });
	functions_build(&f);
	assert_int_equal(functions_find(&f, 20)->size, 16);
	assert_int_equal(functions_find(&f, 40)->size, 32);
	functions_release(&f);
}

/* Names that lost, also where more was added later. */
static void test_aliases(void **state)
{
	static const struct function first[] = {
		{ 16, 8, LIMIT, "__lock", G }, { 16, 8, LIMIT, "lock@@V2", W },
		{ 16, 8, LIMIT, "__lock", G }, { 32, 8, LIMIT, "alone", G },
		{ 48, 8, LIMIT, "_ZN1aC1Ev", G }, { 48, 8, LIMIT, "_ZN1aC2Ev", G },
	}, later[] = { { 16, 8, LIMIT, "lock", G }, { 16, 8, LIMIT, "lock@@V2", W } };
	static const struct {
		uint64_t start;
		const char *names; /* each behind a blank */
	} expected[] = { { 16, " __lock lock" }, { 17, "" }, { 32, "" }, { 48, " a::a" } };
	struct functions f = { 0 };
	struct text names = { 0 };
	size_t n;

	(void)state;
	for (size_t i = 0; i < COUNT(first); i++)
		functions_add(&f, &first[i]);
	functions_build(&f);
	assert_string_equal(functions_find(&f, 16)->name, "__lock");
	assert_string_equal(functions_aliases(&f, 16, &n)->name, "lock@@V2");
	assert_int_equal(n, 1);
	for (size_t i = 0; i < COUNT(later); i++)
		functions_add(&f, &later[i]);
	functions_build(&f);
	assert_string_equal(functions_find(&f, 16)->name, "lock");
	for (size_t i = 0; i < COUNT(expected); i++) {
		const struct function_alias *aliases = functions_aliases(&f, expected[i].start, &n);

		text_reset(&names);
		for (size_t k = 0; k < n; k++) {
			text_char(&names, ' ');
			function_alias_name(&aliases[k], DEMANGLE_SHORT, &names);
		}
		text_char(&names, '\0');
		assert_string_equal(names.bytes, expected[i].names);
	}
	text_release(&names);
	functions_release(&f);
}

/* A million characters, used from each of their middles: no quadratic work. */
static void test_endless_names(void **state)
{
	enum { LENGTH = 1 << 20, N = 20000 };
	char *text = mem_alloc(LENGTH + 1, 1);
	struct functions f = { 0 };

	(void)state;
	memset(text, 'a', LENGTH);
	text[LENGTH] = '\0';
	for (size_t i = 0; i < N; i++)
		functions_add(&f, &(struct function){ 16, 8, LIMIT, text + i, G });
	functions_build(&f);
	assert_int_equal(f.list.n, 1);
	functions_release(&f);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_size_is_known_afterwards),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_endless_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
