/* SPDX-License-Identifier: Apache-2.0 */
#include "record/amounts.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/size.h"

#define AMOUNT_MAX 1e18

struct unit {
	const char *name;
	double factor;
};

static const struct unit times[] = {
	{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "m", 60e9 }, { "h", 3600e9 },
};

static int wrong_amount(const char *option, const char *text, const char *example, struct err *err)
{
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: found '%s', wanted a value such as %s",
		       option, text, example);
}

int read_bytes(const char *option, const char *text, uint64_t *out, struct err *err)
{
	const char *end = text;
	uint64_t bytes;

	if (text == NULL)
		return 0;
	if (size_parse(&end, &bytes) < 0 || *end != '\0')
		return wrong_amount(option, text, "512K, 64M or 2G", err);
	*out = bytes;
	return 0;
}

int read_time_ns(const char *option, const char *text, uint64_t *out, struct err *err)
{
	double amount;
	char *end;

	if (text == NULL)
		return 0;
	amount = strtod(text, &end);
	for (size_t i = 0; i < COUNT(times) && isdigit((unsigned char)text[0]); i++) {
		double ns = amount * times[i].factor;

		if (strcasecmp(times[i].name, end) != 0 || ns < 1 || ns >= AMOUNT_MAX)
			continue;
		*out = (uint64_t)ns;
		return 0;
	}
	return wrong_amount(option, text, "500ms, 10s or 2m", err);
}

int read_count(const char *option, const char *text, uint64_t *out, struct err *err)
{
	char *end;
	uint64_t count;

	if (text == NULL)
		return 0;
	errno = 0;
	count = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || count == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--%s: found '%s', wanted a whole number above 0", option, text);
	*out = count;
	return 0;
}
