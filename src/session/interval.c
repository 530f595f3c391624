/* SPDX-License-Identifier: Apache-2.0 */
#include "session/interval.h"

#include <inttypes.h>
#include <math.h>

#include "session/session.h"

enum {
	CONFIG_JITTER = 16, /* bit of the event's config */
	PER_INTERVAL = 1,   /* operations between running out and starting again */
	MEAN_JITTER = 128,  /* 0 … 255, and the one above */
};

/* PMSIRR_EL1.INTERVAL counts in steps of 256, in 24 bits. */
static const uint64_t interval_mask = 0xffffff00;

static const struct spe_cpu *interval_find_cpu(const struct spe_info *spe, uint32_t number)
{
	for (size_t i = 0; i < spe->cpus.n; i++)
		if (spe->cpus.items[i].cpu == number)
			return &spe->cpus.items[i];
	return spe->cpus.n > 0 && number == UINT32_MAX ? &spe->cpus.items[0] : NULL;
}

/* Different kinds of CPUs have a PMU and so an event each. */
static const struct attr *event_of(const struct capture *c, const struct spe_cpu *cpu)
{
	const struct spe_info *spe = capture_spe(c);

	for (size_t i = 0; cpu != NULL && i < capture_n_events(c); i++)
		if (capture_event(c, i)->attr.type == cpu->pmu_type)
			return &capture_event(c, i)->attr;
	return spe->event < 0 ? NULL : &capture_event(c, (size_t)spe->event)->attr;
}

/* The interval that the driver programs for the requested period. */
static uint64_t programmed(const struct attr *a, uint64_t minimum)
{
	if (a->sample_period < minimum)
		return minimum;
	return a->sample_period > interval_mask ? interval_mask : a->sample_period & interval_mask;
}

static void set_jitter(struct spe_interval *i, int ernd)
{
	if (ernd != 1)
		i->most = i->base + MEAN_JITTER;
	if (ernd == 0)
		i->least = i->most;
	if (ernd < 0)
		i->basis = INTERVAL_ASSUMED;
	i->mean = i->most;
	i->has_jitter = true;
}

struct spe_interval spe_interval_recorded(const struct capture *c, uint32_t cpu_number,
					  const struct cpu *model)
{
	const struct spe_cpu *cpu = interval_find_cpu(capture_spe(c), cpu_number);
	const struct attr *a = event_of(c, cpu);
	struct spe_interval i = { .basis = INTERVAL_RECORDED };

	if (a == NULL || attr_has(a, ATTR_FREQ))
		return (struct spe_interval){ .basis = INTERVAL_UNKNOWN };
	i.base = programmed(a, cpu == NULL ? 0 : cpu->min_interval);
	if (i.base == 0)
		return (struct spe_interval){ .basis = INTERVAL_UNKNOWN };
	i.mean = i.least = i.most = i.base + PER_INTERVAL;
	if (a->config >> CONFIG_JITTER & 1)
		set_jitter(&i, cpu_spe_ernd(model));
	return i;
}

/* Does the CPU have SPE data in this capture? The last number stands for all others. */
static bool has_data(const struct capture *c, uint32_t cpu_number)
{
	for (size_t i = 0; i < capture_n_chunks(c); i++) {
		uint32_t its = capture_chunk(c, i)->header.cpu;

		if ((its < SESSION_CPUS ? its : SESSION_CPUS) == cpu_number)
			return true;
	}
	return false;
}

/* The common interval of all CPUs with data; NULL if they differ. */
static const struct spe_interval *common_one(const struct session *s)
{
	const struct spe_interval *first = NULL;

	for (uint32_t cpu = 0; cpu <= SESSION_CPUS; cpu++) {
		const struct spe_interval *i = &s->intervals[cpu];

		if (first != NULL && i->mean == first->mean)
			continue;
		if (!has_data(s->capture, cpu))
			continue;
		if (first != NULL)
			return NULL;
		first = i;
	}
	return first != NULL ? first : &s->intervals[SESSION_CPUS];
}

struct spe_interval spe_interval_common(const struct session *s)
{
	const struct spe_interval *one = common_one(s);

	return one != NULL ? *one : (struct spe_interval){ .basis = INTERVAL_UNKNOWN };
}

bool spe_interval_varies(const struct session *s)
{
	return common_one(s) == NULL;
}

uint64_t spe_longest_gap_ns(const struct spe_interval *i)
{
	enum {
		NS_PER_OPERATION = 1000, /* no code is slower: a far memory access per operation */
		UNKNOWN_INTERVAL = 4096, /* operations between records, if not known */
	};

	return (i->mean == 0 ? UNKNOWN_INTERVAL : i->mean) * NS_PER_OPERATION;
}

bool spe_record_follows(const struct session *s, const struct batch *b, size_t row)
{
	const uint32_t need = HAS_TIME | HAS_TID, has = b->has[row] & b->has[row - 1];
	uint32_t cpu = batch_cpu(b, row);

	return (has & need) == need && b->tid[row] == b->tid[row - 1] &&
	       (!(has & HAS_CPU) || b->cpu[row] == b->cpu[row - 1]) &&
	       b->time_ns[row] >= b->time_ns[row - 1] &&
	       b->time_ns[row] - b->time_ns[row - 1] <= spe_longest_gap_ns(spe_interval(s, cpu));
}

/* Widens the range by one interval, which is known. */
static void range_add(struct spe_interval_range *r, const struct spe_interval *i)
{
	double mean = (double)i->mean;

	r->longest = i->mean > r->longest ? i->mean : r->longest;
	r->least = fmin(r->least, (double)i->least / mean);
	r->most = fmax(r->most, (double)i->most / mean);
}

struct spe_interval_range spe_interval_range(const struct session *s)
{
	const struct spe_interval_range unknown = {
		.least = 1,
		.most = 1,
		.lost = s->lost,
	};
	const struct spe_interval *one = common_one(s);
	struct spe_interval_range r = unknown;

	if (one != NULL && one->mean > 0)
		range_add(&r, one);
	for (uint32_t cpu = 0; one == NULL && cpu <= SESSION_CPUS; cpu++) {
		if (!has_data(s->capture, cpu))
			continue;
		if (s->intervals[cpu].mean == 0)
			return unknown;
		range_add(&r, &s->intervals[cpu]);
	}
	return r;
}

void spe_interval_text(const struct spe_interval *i, struct text *out)
{
	if (i->mean == 0) {
		text_str(out, "one in an unknown number of operations");
		return;
	}
	text_format(out, "one in %" PRIu64 " operations", i->mean);
	if (i->basis == INTERVAL_GIVEN)
		text_str(out, " (given)");
	else if (i->has_jitter)
		text_format(out, " (%" PRIu64 " and jitter%s)", i->base,
			    i->basis == INTERVAL_ASSUMED ? ", assumed to lengthen it" : "");
}

void spe_intervals_text(const struct session *s, struct text *out)
{
	const struct spe_interval *one = common_one(s);

	if (one != NULL)
		spe_interval_text(one, out);
	else if (spe_interval_range(s).longest > 0)
		text_str(out, "intervals differ between CPUs, each record counts with its own");
	else
		text_str(out, "intervals differ between CPUs, and not all are known");
}

bool spe_lacks_jitter(const struct capture *c)
{
	for (size_t i = 0; i < capture_n_events(c); i++) {
		const struct attr *a = &capture_event(c, i)->attr;

		if (((int)i == capture_spe(c)->event || capture_is_spe_type(c, a->type)) &&
		    !(a->config >> CONFIG_JITTER & 1))
			return true;
	}
	return false;
}

double spe_timer_hz(const struct capture *c)
{
	const struct spe_info *spe = capture_spe(c);

	if (!spe->has_time || spe->time.mult == 0 || spe->time.shift > 63)
		return 0;
	return ldexp(1e9 / (double)spe->time.mult, (int)spe->time.shift);
}
