/* SPDX-License-Identifier: Apache-2.0 */
#include "record/amounts.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define AMOUNT_MAX 1e18

struct unit {
	const char *name;
	double factor;
};

static const struct unit sizes[] = {
	{ "", 1 },	  { "B", 1 },	     { "K", 1 << 10 }, { "KB", 1 << 10 },
	{ "M", 1 << 20 }, { "MB", 1 << 20 }, { "G", 1 << 30 }, { "GB", 1 << 30 },
};

static const struct unit times[] = {
	{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "m", 60e9 }, { "h", 3600e9 },
};

static const struct unit *find_unit(const struct unit *units, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

static int read_amount(const char *option, const char *text, const struct unit *units, size_t n,
		       const char *example, uint64_t *out, struct err *err)
{
	const struct unit *unit;
	double amount;
	char *end;

	if (text == NULL)
		return 0;
	amount = strtod(text, &end);
	unit = end != text ? find_unit(units, n, end) : NULL;
	if (unit != NULL && isdigit((unsigned char)text[0]) && amount * unit->factor >= 1 &&
	    amount * unit->factor < AMOUNT_MAX) {
		*out = (uint64_t)(amount * unit->factor);
		return 0;
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: found '%s', wanted a value such as %s",
		       option, text, example);
}

int read_bytes(const char *option, const char *text, uint64_t *out, struct err *err)
{
	return read_amount(option, text, sizes, COUNT(sizes), "512K, 64M or 2G", out, err);
}

int read_time_ns(const char *option, const char *text, uint64_t *out, struct err *err)
{
	return read_amount(option, text, times, COUNT(times), "500ms, 10s or 2m", out, err);
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
