/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
	MHZ_MAX = 10000,
	LEAST_PAIRS = 20,
	LEAST_SHARE = 5,   /* one in so many pairs must agree */
	TOLERANCE = 50,	   /* one part in 50: 2 % */
	N_LAST = 64,	   /* cpus looked at side by side in a batch */
	CPU_CYCLES = 0x11, /* Arm PMU */
	HARDWARE_CYCLES = 0,
};

struct clock_pairs {
	const struct session *session;
	uint64_t n, counts[MHZ_MAX]; /* by MHz */
};

int core_clock_parse(const char *text, struct core_clock *out, struct err *err)
{
	char *end;
	double ghz = strtod(text, &end);

	if (end == text || *end != '\0' || !(ghz > 0.01 && ghz < 100))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--ghz: found '%s', wanted a frequency in GHz such as 2.8", text);
	*out = (struct core_clock){ .basis = CLOCK_GIVEN, .hz = ghz * 1e9 };
	return 0;
}

static void *pairs_new(const struct session *session, const void *options)
{
	struct clock_pairs *p = mem_zalloc(1, sizeof(*p));

	(void)options;
	p->session = session;
	return p;
}

static void pairs_free(void *partial)
{
	free(partial);
}

bool clock_counts_cycles(const struct attr *a)
{
	return (a->type == ATTR_TYPE_HARDWARE && a->config == HARDWARE_CYCLES) ||
	       (a->type == ATTR_TYPE_RAW && a->config == CPU_CYCLES);
}

static void add_pair(struct clock_pairs *p, uint64_t cycles, uint64_t ns)
{
	uint64_t mhz = ns == 0 || cycles > UINT64_MAX / 1000 ? MHZ_MAX : cycles * 1000 / ns;

	if (mhz == 0 || mhz >= MHZ_MAX)
		return;
	p->n++;
	p->counts[mhz]++;
}

/* Pairs within a batch only: what batches hold does not depend on who decodes them. */
static void pairs_consume(void *partial, const struct batch *b)
{
	const uint32_t need = HAS_TIME | HAS_CPU | HAS_PERIOD;
	struct clock_pairs *p = partial;
	struct {
		bool is_there;
		uint32_t cpu, event;
		uint64_t time_ns;
	} last[N_LAST] = { 0 };

	if (b->kind != BATCH_SAMPLES)
		return;
	for (size_t row = 0; row < b->n; row++) {
		size_t at = b->cpu[row] % N_LAST;

		if ((b->has[row] & need) != need ||
		    !clock_counts_cycles(&capture_event(p->session->capture, b->event[row])->attr))
			continue;
		if (last[at].is_there && last[at].cpu == b->cpu[row] &&
		    last[at].event == b->event[row] && b->time_ns[row] > last[at].time_ns)
			add_pair(p, b->period[row], b->time_ns[row] - last[at].time_ns);
		last[at].is_there = true;
		last[at].cpu = b->cpu[row];
		last[at].event = b->event[row];
		last[at].time_ns = b->time_ns[row];
	}
}

static void pairs_merge(void *into, const void *from, const struct id_map *map)
{
	struct clock_pairs *p = into;
	const struct clock_pairs *part = from;

	(void)map;
	p->n += part->n;
	for (size_t i = 0; i < MHZ_MAX; i++)
		p->counts[i] += part->counts[i];
}

const struct analysis_class clock_pairs_class = {
	.new = pairs_new,
	.free = pairs_free,
	.consume = pairs_consume,
	.merge = pairs_merge,
};

struct core_clock core_clock_derived(const struct clock_pairs *p)
{
	struct core_clock c = { .basis = CLOCK_DERIVED, .of = p->n };
	uint64_t n = 0, sum = 0; /* of pairs from `low` MHz to 2 % above */

	for (uint64_t low = 1, end = 1; low < MHZ_MAX && p->n >= LEAST_PAIRS; low++) {
		for (; end <= low + low / TOLERANCE && end < MHZ_MAX; end++) {
			n += p->counts[end];
			sum += p->counts[end] * end;
		}
		if (n > c.n) {
			c.n = n;
			c.hz = ((double)sum / (double)n + 0.5) * 1e6;
		}
		n -= p->counts[low];
		sum -= p->counts[low] * low;
	}
	if (c.n < LEAST_PAIRS || c.n < c.of / LEAST_SHARE)
		return (struct core_clock){ .basis = CLOCK_UNKNOWN };
	return c;
}

void core_clock_text(const struct core_clock *c, struct text *out)
{
	if (c->basis == CLOCK_UNKNOWN) {
		text_str(out, "core frequency unknown: no nanoseconds (--ghz)");
		return;
	}
	text_format(out, "at %.3g GHz ", c->hz / 1e9);
	if (c->basis == CLOCK_GIVEN)
		text_str(out, "(given)");
	else
		text_format(out, "(derived: %" PRIu64 " of %" PRIu64 " pairs of samples agree)",
			    c->n, c->of);
}
