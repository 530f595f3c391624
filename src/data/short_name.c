/* SPDX-License-Identifier: Apache-2.0 */
#include "data/short_name.h"

#include <stdbool.h>
#include <string.h>

#include "table/format.h"

static const char omitted[] = "…";

/* "operator<", "operator<<", "operator->" … are no brackets. */
static bool is_operator(const struct text *before)
{
	static const char word[] = "operator";
	size_t n = before->n;

	while (n > 0 && strchr("<>-=", before->bytes[n - 1]) != NULL)
		n--;
	return n >= strlen(word) &&
	       memcmp(before->bytes + n - strlen(word), word, strlen(word)) == 0;
}

/*
 * Appends the name with "<…>" for the outermost template arguments; false if brackets do not match.
 */
static bool without_arguments(const char *name, size_t len, struct text *out)
{
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		bool is_bracket =
			(name[i] == '<' || name[i] == '>') && (depth > 0 || !is_operator(out));

		/* "->" is part of an operator, or of a signature in an argument. */
		if (name[i] == '>' && i > 0 && name[i - 1] == '-')
			is_bracket = false;
		if (is_bracket && name[i] == '>' && depth == 0)
			return false;
		if (is_bracket && name[i] == '<' && depth++ == 0) {
			text_str(out, "<");
			text_str(out, omitted);
		}
		if (is_bracket && name[i] == '>')
			depth--;
		if (depth == 0)
			text_char(out, name[i]);
	}
	return depth == 0;
}

static size_t short_name_width_of(struct text *text)
{
	size_t width;

	text_char(text, '\0');
	width = display_width(text->bytes);
	text->n--;
	return width;
}

static bool is_inside(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* A third of it from the start, the rest from the end, in whole characters. */
static void cut_middle(const struct text *name, size_t most, struct text *out)
{
	size_t room = most > 1 ? most - 1 : 0, head = room / 3, tail = name->n, n = 0;

	for (; n < name->n && head > 0; head--)
		for (n++; n < name->n && is_inside(name->bytes[n]);)
			n++;
	for (head = room - room / 3; tail > n && head > 0; head--)
		for (tail--; tail > n && is_inside(name->bytes[tail]);)
			tail--;
	text_add(out, name->bytes, n);
	text_str(out, omitted);
	text_add(out, name->bytes + tail, name->n - tail);
}

void short_name(const char *name, size_t len, size_t most, struct text *out)
{
	struct text full = { 0 }, brief = { 0 };
	const struct text *best = &full;

	text_add(&full, name, len);
	if (short_name_width_of(&full) > most && without_arguments(name, len, &brief))
		best = &brief;
	if (short_name_width_of(best == &full ? &full : &brief) > most)
		cut_middle(best, most, out);
	else
		text_add(out, best->bytes, best->n);
	text_release(&full);
	text_release(&brief);
}
