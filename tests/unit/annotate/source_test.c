/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source files, with their indentation and without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate/source.h"
#include "base/alloc.h"

static const char file_text[] = "first\n\tone tab\n  \t two, tab  \r\na\tb\n\n\t\tlast";

static const struct {
	uint32_t line;
	const char *bare, *indented; /* NULL: there is none */
} lines[] = {
	{ 0, "", NULL },
	{ 1, "first", "first" },
	{ 2, "one tab", "        one tab" },
	{ 3, "two, tab", "         two, tab" },
	{ 4, "a b", "a       b" },
	{ 5, "", "" },
	{ 6, "last", "                last" },
	{ 7, "", NULL },
};

static void lines_of_a_file(void **state)
{
	char path[] = "/tmp/cyclops-source-XXXXXX";
	int file = mkstemp(path);
	struct sources sources = { 0 };

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(write(file, file_text, strlen(file_text)), (ssize_t)strlen(file_text));
	close(file);
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct text bare = { 0 }, indented = { 0 };

		sources_line(&sources, path, lines[i].line, &bare);
		assert_int_equal(bare.n, strlen(lines[i].bare));
		assert_memory_equal(bare.bytes != NULL ? bare.bytes : "", lines[i].bare, bare.n);
		assert_int_equal(sources_indented_line(&sources, path, lines[i].line, &indented),
				 lines[i].indented != NULL);
		text_char(&indented, '\0');
		assert_string_equal(indented.bytes,
				    lines[i].indented != NULL ? lines[i].indented : "");
		text_release(&bare);
		text_release(&indented);
	}
	sources_release(&sources);
	unlink(path);
}

static void no_file(void **state)
{
	struct sources sources = { 0 };
	struct text text = { 0 };

	(void)state;
	assert_false(sources_indented_line(&sources, "/nonexistent/a.c", 1, &text));
	assert_false(sources_indented_line(&sources, "relative.c", 1, &text));
	assert_int_equal(text.n, 0);
	sources_release(&sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_file),
		cmocka_unit_test(no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
