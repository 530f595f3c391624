/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/import.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

enum { MOST_LISTS = 64 };

/* Beyond these, sums and products could overflow. */
static const uint64_t most_time = (uint64_t)1 << 48, most_loads = (uint64_t)1 << 40;

/* A line, copied to be ended by a NUL; what does not fit is a drawing. */
struct import_line {
	char text[256];
	uint64_t at; /* its offset in the file */
};

static int wrong_line(const struct import_line *line, const char *wanted, struct err *err)
{
	return err_set(err, ERR_FORMAT, line->at, "found '%.40s', wanted %s", line->text, wanted);
}

/* A number that ends at a blank or at the end. */
static bool take_number(const char **at, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;

	while (isblank((unsigned char)**at))
		++*at;
	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); ++*at) {
		value = value * 10 + (uint64_t)(**at - '0');
		if (value > most)
			return false;
	}
	*out = value;
	return **at == '\0' || isspace((unsigned char)**at);
}

static struct imported_times *current_list(struct imported *out)
{
	return out->list.n == 0 ? vec_add(&out->list) : &out->list.items[out->list.n - 1];
}

/* Is it a comment that begins with the word? Moves behind it. */
static bool take_word(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n) != 0 || !isblank((unsigned char)(*at)[n]))
		return false;
	for (*at += n; isblank((unsigned char)**at); ++*at)
		;
	return true;
}

static int read_comment(struct imported *out, const struct import_line *line, struct err *err)
{
	const char *at = line->text;
	uint64_t size;

	while (*at == '#' || isblank((unsigned char)*at))
		at++;
	if (take_word(&at, "cpu")) {
		size_t n = strcspn(at, "\r");

		while (n > 0 && isspace((unsigned char)at[n - 1]))
			n--;
		if (n == 0 || n >= sizeof(out->cpu))
			return wrong_line(line, "the name of a CPU", err);
		memcpy(out->cpu, at, n);
		out->cpu[n] = '\0';
	} else if (take_word(&at, "size")) {
		if (size_parse(&at, &size) < 0 || (*at != '\0' && !isspace((unsigned char)*at)))
			return wrong_line(line, "a size such as '# size 64K'", err);
		if (out->list.n >= MOST_LISTS)
			return err_set(err, ERR_LIMIT, line->at, "more than %d sizes", MOST_LISTS);
		vec_add(&out->list)->size_bytes = size;
	}
	return 0;
}

static int read_times_line(struct imported *out, const struct import_line *line, struct err *err)
{
	const char *at = line->text;
	uint64_t value, n = 1;
	struct times *times;

	while (isspace((unsigned char)*at))
		at++;
	if (*at == '\0')
		return 0;
	if (*at == '#')
		return read_comment(out, line, err);
	if (!take_number(&at, most_time, &value))
		return wrong_line(line, "a time in cycles, or a time and how many loads took it",
				  err);
	while (isspace((unsigned char)*at))
		at++;
	if (isdigit((unsigned char)*at) && !take_number(&at, most_loads, &n))
		return wrong_line(line, "a time in cycles and how many loads took it", err);
	while (isspace((unsigned char)*at))
		at++;
	/* behind both there may be a drawing, but no number */
	if (isalnum((unsigned char)*at) || *at == '-' || *at == '.')
		return wrong_line(line, "a time in cycles, or a time and how many loads took it",
				  err);
	times = &current_list(out)->times;
	if (n == 0)
		return 0;
	if (n > most_loads - times->n)
		return err_set(err, ERR_LIMIT, line->at, "more loads than can be counted");
	times_add(times, value, n);
	return 0;
}

int imported_read(struct imported *out, const char *bytes, size_t size, struct err *err)
{
	size_t first = out->list.n;
	struct import_line line;

	if (size > 0 && first > 0) /* another file begins a list of its own */
		(void)vec_add(&out->list);
	for (size_t at = 0; at < size;) {
		const char *end = memchr(bytes + at, '\n', size - at);
		size_t n = end == NULL ? size - at : (size_t)(end - (bytes + at));
		size_t kept = n < sizeof(line.text) ? n : sizeof(line.text) - 1;

		if (memchr(bytes + at, '\0', n) != NULL)
			return err_set(err, ERR_FORMAT, at, "binary, wanted lines of text");
		memcpy(line.text, bytes + at, kept);
		line.text[kept] = '\0';
		line.at = at;
		if (read_times_line(out, &line, err) < 0)
			return -1;
		at += n + 1;
	}
	for (size_t i = first, n = out->list.n; i < n; i++)
		times_sort(&out->list.items[i].times);
	/* lists without a load: a size that nothing follows, or lines that only say what CPU it is */
	for (size_t i = first; i < out->list.n;) {
		struct imported_times *list = &out->list.items[i];

		if (list->times.n > 0) {
			i++;
			continue;
		}
		times_release(&list->times);
		memmove(list, list + 1, (out->list.n - i - 1) * sizeof(*list));
		out->list.n--;
	}
	if (out->list.n == first)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "no times in it");
	return 0;
}

void imported_release(struct imported *i)
{
	for (size_t k = 0; k < i->list.n; k++)
		times_release(&i->list.items[k].times);
	vec_release(&i->list);
}
