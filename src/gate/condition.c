/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* What may follow the number. */
static const struct suffix {
	const char *word;
	enum condition_unit unit;
	double factor;
} suffixes[] = {
	{ "", CONDITION_PLAIN, 1 },    { "%", CONDITION_PERCENT, 1 }, { "ns", CONDITION_TIME, 1 },
	{ "us", CONDITION_TIME, 1e3 }, { "ms", CONDITION_TIME, 1e6 }, { "s", CONDITION_TIME, 1e9 },
};

static const char *skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static int bad_condition(const char *text, const char *what, struct err *err)
{
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--fail-if '%s': %s; a condition is NAME < NUMBER or NAME > NUMBER, with or "
		       "without %%, ns, us, ms or s, such as 'ipc < 1.5'",
		       text, what);
}

static const char *find_sign(const char *text)
{
	const char *sign = NULL;

	for (const char *at = strpbrk(text, "<>"); at != NULL; at = strpbrk(at + 1, "<>"))
		sign = at;
	return sign;
}

/* Reads the unit; false: it is none. */
static bool read_suffix(const char *at, struct condition *out)
{
	size_t size = strlen(at);

	while (size > 0 && isspace((unsigned char)at[size - 1]))
		size--;
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		const struct suffix *s = &suffixes[i];

		if (strlen(s->word) != size || memcmp(s->word, at, size) != 0)
			continue;
		out->unit = s->unit;
		if (s->unit == CONDITION_PERCENT)
			out->limit /= 100;
		else
			out->limit *= s->factor;
		return true;
	}
	return false;
}

int condition_parse(const char *text, struct condition *out, struct err *err)
{
	const char *sign = find_sign(text), *at;
	struct condition c = { .text = text, .name = skip_blanks(text) };
	char *end;

	if (sign == NULL)
		return bad_condition(text, "there is no < or >", err);
	c.is_less = *sign == '<';
	c.or_equal = sign[1] == '=';
	for (at = sign; at > c.name && isspace((unsigned char)at[-1]);)
		at--;
	if (at <= c.name)
		return bad_condition(text, "there is no name", err);
	c.name_size = (size_t)(at - c.name);
	at = skip_blanks(sign + 1 + c.or_equal);
	c.limit = strtod(at, &end);
	if (end == at || !isfinite(c.limit))
		return bad_condition(text, "there is no number", err);
	if (!read_suffix(skip_blanks(end), &c))
		return bad_condition(text, "something follows the number", err);
	*out = c;
	return 0;
}

bool condition_is_met(const struct condition *c, double value)
{
	if (value == c->limit)
		return c->or_equal;
	return c->is_less ? value < c->limit : value > c->limit;
}
