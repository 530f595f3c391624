/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/sizes.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

/* A list of less has no line to go to. */
enum { LEAST_LINES = 8 };

static const uint64_t largest = (uint64_t)1 << 44;

static void add_size(struct sizes *s, uint64_t size, uint64_t line)
{
	size -= size % line;
	if (s->n < SIZES_MAX && (s->n == 0 || size > s->items[s->n - 1]))
		s->items[s->n++] = size;
}

void sizes_between(struct sizes *out, uint64_t first, uint64_t last, uint64_t line)
{
	out->n = 0;
	for (uint64_t size = first; size < last; size *= 2) {
		add_size(out, size, line);
		if (size + size / 2 < last)
			add_size(out, size + size / 2, line);
	}
	add_size(out, last, line);
}

static int wrong_sizes(const char *text, const char *wanted, struct err *err)
{
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--sizes: found '%s', wanted %s", text, wanted);
}

static int compare_sizes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int sizes_parse(const char *text, uint64_t line, struct sizes *out, struct err *err)
{
	static const char wanted[] = "a range such as 4K..64M, or sizes such as 16K,1M,64M";
	uint64_t list[SIZES_MAX];
	const char *at = text;
	size_t n = 0;

	for (;; at++) {
		if (n == SIZES_MAX || size_parse(&at, &list[n]) < 0)
			return wrong_sizes(text, wanted, err);
		if (list[n] < LEAST_LINES * line || list[n] > largest)
			return wrong_sizes(
				text, "sizes of at least eight cache lines, and at most 16 TiB",
				err);
		n++;
		if (strncmp(at, "..", 2) == 0 && n == 1) {
			at += 2;
			if (size_parse(&at, &list[1]) < 0 || *at != '\0')
				return wrong_sizes(text, wanted, err);
			if (list[1] < list[0] || list[1] > largest)
				return wrong_sizes(
					text, "the smaller size first, and at most 16 TiB", err);
			sizes_between(out, list[0], list[1], line);
			return 0;
		}
		if (*at == '\0')
			break;
		if (*at != ',')
			return wrong_sizes(text, wanted, err);
	}
	qsort(list, n, sizeof(*list), compare_sizes);
	out->n = 0;
	for (size_t i = 0; i < n; i++)
		add_size(out, list[i], line);
	return 0;
}
