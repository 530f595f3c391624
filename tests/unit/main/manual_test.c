/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of `cyclops help`: that they are there, and fit a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "main/manual.h"

enum { TEXT_WIDTH = 78 };

static void finds_pages(void **state)
{
	static const struct {
		const char *command, *heading; /* NULL: no page */
	} cases[] = {
		{ NULL, "CYCLOPS(1) " },
		{ "", "CYCLOPS(1) " },
		{ "report", "CYCLOPS-REPORT(1) " },
		{ "hot", "CYCLOPS-HOT(1) " },
		{ "dump", "CYCLOPS-DUMP(1) " },
		{ "export", "CYCLOPS-EXPORT(1) " },
		{ "cyclops", NULL },
		{ "no-such-command", NULL },
		{ "a-command-whose-name-is-longer-than-any-command-that-there-will-ever-be", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *page = manual_page(cases[i].command);

		if (cases[i].heading == NULL) {
			assert_null(page);
			continue;
		}
		assert_non_null(page);
		assert_memory_equal(page, cases[i].heading, strlen(cases[i].heading));
		assert_non_null(strstr(page, "\nSYNOPSIS\n"));
	}
}

/* `cyclops help terms` is no page of a command. */
static void has_the_terms(void **state)
{
	const char *page = manual_page("terms");

	(void)state;
	assert_non_null(page);
	assert_memory_equal(page, "TERMS\n", 6);
	assert_non_null(strstr(page, "\n  false sharing\n"));
}

/* Prose is as wide as a narrow terminal; examples may be wider, where output is. */
static void is_plain_text(void **state)
{
	const char *page = manual_page(NULL);

	(void)state;
	assert_int_equal(page[strlen(page) - 1], '\n');
	for (const char *line = page; *line != '\0';) {
		size_t width = strcspn(line, "\n");

		assert_true(width <= TEXT_WIDTH);
		for (size_t i = 0; i < width; i++)
			assert_in_range((unsigned char)line[i], 0x20, 0x7e);
		line += width + 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_pages),
		cmocka_unit_test(has_the_terms),
		cmocka_unit_test(is_plain_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
