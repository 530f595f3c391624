/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/select_lex.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Limit of numbers with a point, an exponent or a unit, so that they fit into 64 bits. */
#define MAX_NUMBER 18e18

/* Longer signs come before those they begin with. */
static const struct sign {
	const char *text;
	enum token_kind kind;
} signs[] = {
	{ "==", TOKEN_EQUAL },	  { "=~", TOKEN_MATCH },      { "!=", TOKEN_NOT_EQUAL },
	{ "!~", TOKEN_NO_MATCH }, { "<=", TOKEN_LESS_EQUAL }, { ">=", TOKEN_GREATER_EQUAL },
	{ "&&", TOKEN_AND },	  { "||", TOKEN_OR },	      { "..", TOKEN_RANGE },
	{ "=", TOKEN_EQUAL },	  { "<", TOKEN_LESS },	      { ">", TOKEN_GREATER },
	{ "!", TOKEN_NOT },	  { "(", TOKEN_OPEN },	      { ")", TOKEN_CLOSE },
};

static const struct unit {
	const char *name;
	double nanoseconds;
} units[] = {
	{ "s", 1e9 },
	{ "ms", 1e6 },
	{ "us", 1e3 },
	{ "ns", 1 },
};

/* What names and unquoted values are made of: "l1d-refill", "cycles:ppp", "libc.so.6". */
static int is_word_char(char c)
{
	return isalnum((unsigned char)c) || strchr("_-:./@+", c) != NULL;
}

/* A word ends before a ".." so that ranges of words can be written. */
static size_t select_word_length(const char *text)
{
	size_t n = 0;

	while (text[n] != '\0' && is_word_char(text[n]) && strncmp(text + n, "..", 2) != 0)
		n++;
	return n;
}

static int token_set_unit(struct token *t, const char *unit, size_t len, double value)
{
	for (size_t i = 0; i < COUNT(units); i++) {
		if (strlen(units[i].name) != len || strncmp(units[i].name, unit, len) != 0)
			continue;
		value *= units[i].nanoseconds;
		if (!(value < MAX_NUMBER))
			return -1;
		t->number = (uint64_t)llround(value);
		t->is_time = 1;
		return 0;
	}
	return -1;
}

/*
 * A word that begins with a digit is a number if all of it reads as one, whole and not too large.
 */
static int read_number(struct token *t)
{
	char copy[64];
	bool is_hex = t->len > 2 && t->text[0] == '0' && (t->text[1] | 0x20) == 'x';
	double value;
	char *end;

	if (t->len >= sizeof(copy))
		return -1;
	memcpy(copy, t->text, t->len);
	copy[t->len] = '\0';
	errno = 0;
	t->number = strtoull(copy, &end, is_hex ? 16 : 10);
	if (*end == '\0' || is_hex)
		return *end == '\0' && errno == 0 ? 0 : -1;
	value = strtod(copy, &end);
	if (*end != '\0')
		return token_set_unit(t, end, strlen(end), value);
	if (!(value < MAX_NUMBER) || value != floor(value))
		return -1;
	t->number = (uint64_t)value;
	return 0;
}

static int read_string(const char *text, size_t *pos, struct token *out, struct err *err)
{
	const char *start = text + *pos + 1;
	const char *end = strchr(start, text[*pos]);

	if (end == NULL)
		return err_set(err, ERR_USAGE, *pos, "the quote at column %zu has no end",
			       *pos + 1);
	*out = (struct token){
		.kind = TOKEN_STRING,
		.at = *pos,
		.text = start,
		.len = (size_t)(end - start),
	};
	*pos += out->len + 2;
	return 0;
}

static int read_word(const char *text, size_t *pos, struct token *out)
{
	struct token t = {
		.kind = TOKEN_WORD,
		.at = *pos,
		.text = text + *pos,
		.len = select_word_length(text + *pos),
	};

	if (isdigit((unsigned char)*t.text) && read_number(&t) == 0)
		t.kind = TOKEN_NUMBER;
	*pos += t.len;
	*out = t;
	return 0;
}

int token_read(const char *text, size_t *pos, struct token *out, struct err *err)
{
	while (isspace((unsigned char)text[*pos]))
		++*pos;
	if (text[*pos] == '\0') {
		*out = (struct token){ .kind = TOKEN_END, .at = *pos };
		return 0;
	}
	for (size_t i = 0; i < COUNT(signs); i++) {
		size_t len = strlen(signs[i].text);

		if (strncmp(text + *pos, signs[i].text, len) != 0)
			continue;
		*out = (struct token){ .kind = signs[i].kind, .at = *pos };
		*pos += len;
		return 0;
	}
	if (text[*pos] == '"' || text[*pos] == '\'')
		return read_string(text, pos, out, err);
	if (select_word_length(text + *pos) > 0)
		return read_word(text, pos, out);
	return err_set(err, ERR_USAGE, *pos, "'%c' at column %zu means nothing here", text[*pos],
		       *pos + 1);
}
