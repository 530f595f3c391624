/* SPDX-License-Identifier: Apache-2.0 */
#include "count/import_inside.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/tuples.h"

bool lines_next(struct lines *l, struct slice *out)
{
	const char *newline;

	if (l->at >= l->end)
		return false;
	newline = memchr(l->at, '\n', (size_t)(l->end - l->at));
	out->at = l->at;
	out->n = (size_t)((newline != NULL ? newline : l->end) - l->at);
	l->at = newline != NULL ? newline + 1 : l->end;
	if (out->n > 0 && out->at[out->n - 1] == '\r')
		out->n--;
	return true;
}

struct slice slice_trim(struct slice s)
{
	while (s.n > 0 && isspace((unsigned char)s.at[0])) {
		s.at++;
		s.n--;
	}
	while (s.n > 0 && isspace((unsigned char)s.at[s.n - 1]))
		s.n--;
	return s;
}

bool slice_is(struct slice s, const char *text)
{
	return s.n == strlen(text) && memcmp(s.at, text, s.n) == 0;
}

bool slice_begins(struct slice s, const char *text)
{
	return s.n >= strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

bool slice_has(struct slice s, const char *text)
{
	return memmem(s.at, s.n, text, strlen(text)) != NULL;
}

const char *slice_copy(struct arena *memory, struct slice s)
{
	return arena_strndup(memory, s.at, s.n);
}

bool slice_u64(struct slice s, uint64_t *out)
{
	uint64_t value = 0;

	if (s.n == 0 || s.n > 20)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		uint64_t digit = (uint64_t)(s.at[i] - '0');

		if (!isdigit((unsigned char)s.at[i]) || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*out = value;
	return true;
}

bool slice_number(struct slice s, double *out)
{
	char text[64];
	char *end;
	size_t n_points = 0;

	if (s.n == 0 || s.n >= sizeof(text))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.at[i] == ',' ? '.' : s.at[i];

		n_points += c == '.';
		if (!isdigit((unsigned char)c) && c != '.' && !(c == '-' && i == 0))
			return false;
		text[i] = c;
	}
	text[s.n] = '\0';
	if (n_points > 1 || !isdigit((unsigned char)text[s.n - 1]))
		return false;
	*out = strtod(text, &end);
	return *end == '\0' && isfinite(*out);
}

bool slice_is_cpu(struct slice s, int32_t *out)
{
	uint64_t number;

	if (!slice_begins(s, "CPU") || !slice_u64((struct slice){ s.at + 3, s.n - 3 }, &number) ||
	    number > INT32_MAX)
		return false;
	*out = (int32_t)number;
	return true;
}

/* Letters and digits joined by '-', as in "S0-D0-L3-ID0". It begins with S or N and a digit. */
bool slice_is_part(struct slice s)
{
	if (s.n < 2 || (s.at[0] != 'S' && s.at[0] != 'N') || !isdigit((unsigned char)s.at[1]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!isupper((unsigned char)s.at[i]) && !isdigit((unsigned char)s.at[i]) &&
		    s.at[i] != '-')
			return false;
	return true;
}

bool slice_is_state(struct slice s, uint8_t *out)
{
	if (slice_is(s, "<not counted>"))
		*out = COUNT_NOT_COUNTED;
	else if (slice_is(s, "<not supported>"))
		*out = COUNT_NOT_SUPPORTED;
	else
		return false;
	return true;
}

bool slice_is_thread(struct slice s, int32_t *out_tid)
{
	const char *dash = s.n == 0 ? NULL : memrchr(s.at, '-', s.n);
	uint64_t tid;

	if (dash == NULL ||
	    !slice_u64((struct slice){ dash + 1, (size_t)(s.at + s.n - dash - 1) }, &tid) ||
	    tid > INT32_MAX)
		return false;
	*out_tid = (int32_t)tid;
	return true;
}

uint32_t import_interval(struct counts *c, double seconds)
{
	double ns = seconds * 1e9;
	uint64_t end_ns = ns > 0 && ns < 0x1p63 ? (uint64_t)llround(ns) : 0;

	if (c->intervals.n == 0 || c->intervals.items[c->intervals.n - 1].end_ns != end_ns)
		vec_add(&c->intervals)->end_ns = end_ns;
	return (uint32_t)(c->intervals.n - 1);
}

enum { TARGET_CPU, TARGET_TID, TARGET_INTERVAL, TARGET_WHERE, N_TARGET };

/* The longest running time at each place in each interval. */
struct longest {
	struct strings names;
	struct tuples targets;
	VEC_OF(uint64_t) running_ns;
};

static uint64_t *longest_at(struct longest *l, const struct count *c)
{
	uint64_t target[N_TARGET] = {
		[TARGET_CPU] = (uint32_t)c->cpu,
		[TARGET_TID] = (uint32_t)c->tid,
		[TARGET_INTERVAL] = c->interval,
	};
	uint32_t number;

	if (c->where != NULL)
		target[TARGET_WHERE] = strings_addz(&l->names, c->where).v;
	number = tuples_add(&l->targets, target);
	if (number == l->running_ns.n)
		*vec_add(&l->running_ns) = 0;
	return &l->running_ns.items[number];
}

static void set_enabled(struct count *c, double percent, uint64_t longest_ns)
{
	double part = longest_ns == 0 ? 0 : 100 * (double)c->running_ns / (double)longest_ns;

	if (c->state != COUNT_COUNTED || c->running_ns == 0) {
		c->enabled_ns = c->running_ns = 0;
		return;
	}
	if (percent >= 100)
		c->enabled_ns = c->running_ns;
	else if (floor(part) == floor(percent) || fabs(part - percent) < 0.01)
		c->enabled_ns = longest_ns;
	else if (percent > 0)
		c->enabled_ns = (uint64_t)((double)c->running_ns * 100 / percent);
	else
		c->enabled_ns = longest_ns > c->running_ns ? longest_ns : c->running_ns * 200;
}

/*
 * Events in a row with exactly the same running time were a group. If all were counted all of the
 * time, groups do not matter.
 */
static void set_groups_by_times(struct counts *c, const struct import_times *times)
{
	uint32_t group = 0;

	for (size_t i = 1; i < c->items.n; i++) {
		struct count *a = &c->items.items[i - 1], *b = &c->items.items[i];

		if (a->cpu != b->cpu || a->tid != b->tid || a->interval != b->interval)
			group = 0;
		if (times->percent.items[i] >= 100 || a->running_ns != b->running_ns ||
		    b->running_ns == 0)
			continue;
		if (a->group == 0)
			a->group = ++group;
		b->group = a->group;
	}
}

void import_times_finish(struct import_times *times, struct counts *c)
{
	struct longest longest = { 0 };

	strings_init(&longest.names);
	tuples_init(&longest.targets, N_TARGET);
	for (size_t i = 0; i < c->items.n; i++) {
		uint64_t *ns = longest_at(&longest, &c->items.items[i]);

		if (times->percent.items[i] >= 100 && c->items.items[i].running_ns > *ns)
			*ns = c->items.items[i].running_ns;
	}
	set_groups_by_times(c, times);
	for (size_t i = 0; i < c->items.n; i++)
		set_enabled(&c->items.items[i], times->percent.items[i],
			    *longest_at(&longest, &c->items.items[i]));
	tuples_release(&longest.targets);
	strings_release(&longest.names);
	vec_release(&longest.running_ns);
	vec_release(&times->percent);
}
