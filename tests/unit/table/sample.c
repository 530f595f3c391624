/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the fixtures and a table of hostile texts in a format: for check_read_back.py. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "fixture.h"

static void fill_texts(struct table *t)
{
	static const struct column columns[] = {
		{ "text", NULL, "", CELL_TEXT, 0, "any bytes but NUL" },
		{ "number", NULL, "", CELL_NUMBER, COLUMN_TRUST, "a third" },
	};
	char text[8] = "";

	table_init(t, "texts", "Texts", columns, COUNT(columns));
	/* Each byte in front of another that may or may not complete a character. */
	for (unsigned byte = 1; byte < 256; byte++) {
		struct cell *c = table_add_row(t);

		snprintf(text, sizeof(text), "%c\xa9,\"", (char)byte);
		c[0] = cell_text(table_text(t, text));
		c[1] = cell_number(byte / 3.0);
	}
	table_note(t, "quotes \" and \\ and \n and \xff");
}

int main(int argc, char **argv)
{
	const struct document d = { .command = "sample", .version = "1", .is_plural = true };
	struct table hot, calls, lines, accesses, facts, texts;
	struct table *const list[] = { &hot, &calls, &lines, &facts, &texts };
	char *out;

	if (argc != 2)
		return 2;
	fixture_hot(&hot);
	fixture_calls(&calls);
	fixture_lines(&lines, &accesses);
	fixture_facts(&facts);
	fill_texts(&texts);
	out = fixture_render(argv[1], &d, list, COUNT(list));
	fputs(out, stdout);
	free(out);
	for (size_t i = 0; i < COUNT(list); i++)
		table_release(list[i]);
	table_release(&accesses);
	return 0;
}
