/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pmu_sampler.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/random.h"

enum { EVENT_NAME_MOST = 64 };

int sample_event_read(const char *text, struct sample_event *out, struct err *err)
{
	size_t length = strcspn(text, ":");
	char name[EVENT_NAME_MOST] = { 0 };
	uint64_t numbers[4];
	const char *at = text + length;

	memcpy(name, text, length < sizeof(name) ? length : sizeof(name) - 1);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		char *end;

		errno = 0;
		numbers[i] = *at == ':' && at[1] >= '0' && at[1] <= '9' ? strtoull(at + 1, &end, 10)
									: (end = NULL, 0);
		if (end == NULL || errno != 0)
			return err_set(
				err, ERR_USAGE, ERR_NOWHERE,
				"sample: found '%.80s', wanted NAME:CODE:PERIOD:SKID:PRECISE",
				text);
		at = end;
	}
	*out = (struct sample_event){
		.event = modelled_event_find(name),
		.code = numbers[0],
		.period = numbers[1],
		.skid = (uint32_t)numbers[2],
		.is_precise = numbers[3] != 0,
	};
	if (*at != '\0' || out->period == 0 || numbers[2] > UINT32_MAX || numbers[3] > 1)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "sample: '%.80s' is out of range",
			       text);
	if (out->event == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "the model does not count '%s'", name);
	return 0;
}

/* Cycles have the cycle counter. */
static bool is_shared(const struct pmu_sampler *s, uint32_t event)
{
	return s->sampling->n_counters > 0 &&
	       s->sampling->events.items[event].event->parts[0] != COUNT_CPU_CYCLES;
}

/* Decides which events count. */
static void schedule_counters(struct pmu_sampler *s, uint64_t cycle)
{
	uint32_t place = 0;

	s->scheduled_at = cycle;
	for (uint32_t i = 0; i < s->sampling->events.n; i++) {
		struct pmu_counter *c = &s->counters[i];

		c->is_counting = true;
		if (is_shared(s, i))
			c->is_counting = (place++ + s->n_shared - s->first_shared) % s->n_shared <
					 s->sampling->n_counters;
	}
}

static void stop_counters(struct pmu_sampler *s, uint64_t cycle)
{
	for (uint32_t i = 0; i < s->sampling->events.n; i++)
		if (s->counters[i].is_counting)
			s->counters[i].running += cycle - s->scheduled_at;
	if (s->n_shared > 0)
		s->first_shared = (s->first_shared + 1) % s->n_shared;
}

static uint64_t mux_cycles(const struct pmu_sampler *s)
{
	return (uint64_t)s->params->mux_interval_us * s->params->core_mhz;
}

/* Occurrences from one overflow to the next. */
static uint64_t next_period(struct pmu_sampler *s, uint32_t event)
{
	uint64_t period = s->sampling->events.items[event].period;

	return s->params->random_periods ? random_exponential(&s->random, period) : period;
}

void pmu_sampler_init(struct pmu_sampler *s, const struct pmu_sampling *sampling,
		      const struct params *params, uint64_t seed)
{
	*s = (struct pmu_sampler){ .sampling = sampling, .params = params, .random = seed };
	for (uint32_t i = 0; i < sampling->events.n; i++) {
		uint64_t period = next_period(s, i);

		s->counters[i].left =
			params->random_periods ? period : 1 + random_next(&s->random) % period;
		s->n_shared += is_shared(s, i);
	}
	s->rotates_at = s->n_shared > sampling->n_counters ? mux_cycles(s) : UINT64_MAX;
	schedule_counters(s, 0);
}

void pmu_sampler_release(struct pmu_sampler *s)
{
	vec_release(&s->interrupts);
}

/* The counter overflowed with the count number `passed`. */
static void interrupt(struct pmu_sampler *s, uint32_t event, const struct pmu_count *count,
		      uint64_t passed)
{
	const struct sample_event *e = &s->sampling->events.items[event];
	struct pmu_interrupt *i = vec_add(&s->interrupts);

	*i = (struct pmu_interrupt){
		.event = event,
		.number = count->number,
		.value = s->counters[event].value - count->n + passed,
	};
	if (e->is_precise)
		return;
	if (s->params->skid_cycles == 0) {
		i->number += e->skid;
		return;
	}
	i->number = UINT64_MAX;
	i->cycle = count->cycle + (count->is_time ? passed : 0) + s->params->skid_cycles;
}

void pmu_sampler_count(struct pmu_sampler *s, uint32_t event, const struct pmu_count *count)
{
	struct pmu_counter *c = &s->counters[event];
	uint64_t left = count->n;

	if (!c->is_counting || left == 0)
		return;
	c->value += left;
	while (left >= c->left) {
		left -= c->left;
		c->left = next_period(s, event);
		interrupt(s, event, count, count->n - left);
	}
	c->left -= left;
}

uint64_t pmu_sampler_least_left(const struct pmu_sampler *s)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < s->sampling->events.n; i++)
		if (s->counters[i].left < least)
			least = s->counters[i].left;
	return least;
}

void pmu_sampler_rotate(struct pmu_sampler *s, uint64_t cycle)
{
	if (cycle < s->rotates_at)
		return;
	stop_counters(s, cycle);
	schedule_counters(s, cycle);
	s->rotates_at += ((cycle - s->rotates_at) / mux_cycles(s) + 1) * mux_cycles(s);
}

void pmu_sampler_idle(struct pmu_sampler *s, uint64_t cycle)
{
	while (s->rotates_at <= cycle) {
		stop_counters(s, s->rotates_at);
		schedule_counters(s, s->rotates_at);
		s->rotates_at += mux_cycles(s);
	}
}

uint64_t pmu_sampler_running(const struct pmu_sampler *s, uint32_t event, uint64_t cycle)
{
	const struct pmu_counter *c = &s->counters[event];

	return c->running + (c->is_counting ? cycle - s->scheduled_at : 0);
}
