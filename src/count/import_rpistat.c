/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpistat.txt, the report of rpistat on the ARM1176 of the first Raspberry Pi:
 *
 *	rpistat: ./naive
 *	Thu Jun 27 09:58:08 2013
 *	  Total periods:      169
 *	  Cycles:             11,759,598,287
 *	  Instructions:       315,810,640  [1,241,209,259]
 *	  IBUF stall cycles:  65,981,902  [259,324,219]
 *	  Instr periods:      43
 *
 * Pairs of events take turns of 100 ms. The first number is as counted, that in brackets is scaled to
 * all periods. Rates and ratios are worked out again.
 */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "count/import_inside.h"

static const uint64_t period_ns = 100000000;

static const struct {
	const char *label, *event;
	uint32_t group; /* 0: counted all of the time */
} events[] = {
	{ "Cycles", "CPU_CYCLES", 0 },
	{ "Instructions", "INSTR_EXEC", 1 },
	{ "IBUF stall cycles", "IBUF_STALL", 1 },
	{ "DC cached accesses", "DCACHE_CACHED_ACCESS", 2 },
	{ "DC misses", "DCACHE_MISS", 2 },
	{ "MicroTLB misses", "DTLB_MISS", 3 },
	{ "Main TLB misses", "MAIN_TLB_MISS", 3 },
	{ "Branches", "BR_EXEC", 4 },
	{ "Mispredicted BR", "BR_MISPREDICT", 4 },
};

/* Labels and their events. "TLB periods" is the number of periods of group 3; 0: of all. */
static const struct {
	const char *label;
	uint32_t group;
} periods[] = {
	{ "Total periods", 0 }, { "Instr periods", 1 }, { "DC periods", 2 },
	{ "TLB periods", 3 },	{ "BR periods", 4 },
};

enum { N_GROUPS = 5, PERIODS_MAX = 1 << 24 };

struct rpistat {
	struct counts *out;
	uint64_t n_periods[N_GROUPS];
	bool expects_date; /* the next line is the date */
};

/* Reads digits with commas between thousands. */
static bool take_grouped_u64(struct slice *s, uint64_t *out)
{
	char digits[32];
	size_t n = 0, i = 0;

	*s = slice_trim(*s);
	for (; i < s->n && (isdigit((unsigned char)s->at[i]) || s->at[i] == ','); i++)
		if (s->at[i] != ',') {
			if (n == sizeof(digits))
				return false;
			digits[n++] = s->at[i];
		}
	s->at += i;
	s->n -= i;
	return slice_u64((struct slice){ digits, n }, out);
}

static void read_rpistat_event(struct rpistat *r, size_t i, struct slice value)
{
	uint64_t raw, scaled;
	struct count *c;

	if (!take_grouped_u64(&value, &raw))
		return;
	value = slice_trim(value);
	if (value.n == 0 || value.at[0] != '[')
		scaled = raw;
	else if (value.at++, value.n--, !take_grouped_u64(&value, &scaled))
		return;
	c = counts_add(r->out, events[i].event);
	c->value = (double)scaled;
	c->raw = raw;
	c->group = events[i].group;
}

static void read_rpistat_member(struct rpistat *r, struct slice label, struct slice value)
{
	uint64_t n;

	for (size_t i = 0; i < COUNT(events); i++)
		if (slice_is(label, events[i].label))
			read_rpistat_event(r, i, value);
	for (size_t i = 0; i < COUNT(periods); i++)
		if (slice_is(label, periods[i].label) && take_grouped_u64(&value, &n) &&
		    n <= PERIODS_MAX)
			r->n_periods[periods[i].group] = n;
}

static void set_periods(struct rpistat *r)
{
	for (size_t i = 0; i < r->out->items.n; i++) {
		struct count *c = &r->out->items.items[i];
		uint64_t n = r->n_periods[c->group];

		if (n == 0 || n > r->n_periods[0])
			continue;
		c->n_periods = (uint32_t)n;
		c->running_ns = n * period_ns;
		c->enabled_ns = r->n_periods[0] * period_ns;
	}
}

static int read_rpistat(const char *text, size_t size, struct counts *out, struct err *err)
{
	static const char program[] = "rpistat:";
	struct lines lines = { text, text, text + size };
	struct rpistat r = { .out = out };
	struct slice line;

	(void)err;
	out->cpu = "arm1176";
	while (lines_next(&lines, &line)) {
		const char *colon;

		line = slice_trim(line);
		colon = line.n == 0 ? NULL : memchr(line.at, ':', line.n);
		if (slice_begins(line, program)) {
			struct slice command = { line.at + sizeof(program) - 1,
						 line.n - (sizeof(program) - 1) };

			out->command = slice_copy(&out->memory, slice_trim(command));
			r.expects_date = true;
			continue;
		}
		if (r.expects_date && line.n > 0 && line.at[0] != '*')
			out->date = slice_copy(&out->memory, line);
		else if (colon != NULL)
			read_rpistat_member(
				&r, (struct slice){ line.at, (size_t)(colon - line.at) },
				(struct slice){ colon + 1,
						line.n - (size_t)(colon + 1 - line.at) });
		r.expects_date = false;
	}
	set_periods(&r);
	return 0;
}

static bool is_rpistat(const char *text, size_t size)
{
	struct slice all = { text, size };

	return slice_has(all, "rpistat:") && slice_has(all, "Total periods:");
}

const struct import_format import_rpistat = { "rpistat", is_rpistat, read_rpistat };
