/* SPDX-License-Identifier: Apache-2.0 */
/* What paths and their histograms come to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/inside.h"

double measure_estimate(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	if (enabled_ns == running_ns)
		return (double)value;
	if (running_ns == 0)
		return 0;
	return (double)((long double)value * enabled_ns / running_ns);
}

double path_bias(const struct cyclops *c, const struct path_set *s, unsigned event)
{
	if (s->by_read == 0 && s->by_user == 0)
		return c->bias[HOW_NONE][event];
	if (s->by_user == 0)
		return c->bias[HOW_READ][event];
	if (s->by_read == 0)
		return c->bias[HOW_USER][event];
	return (c->bias[HOW_READ][event] * (double)s->by_read +
		c->bias[HOW_USER][event] * (double)s->by_user) /
	       (double)(s->by_read + s->by_user);
}

/* Sums while threads are gone through. */
struct sums {
	struct cyclops_count out;
	double bias; /* of all calls */
	uint64_t *histogram;
};

static void add_path(const struct cyclops *c, const struct path *p, unsigned event,
		     struct sums *sums)
{
	const struct path_event *e = &p->events[event];
	const struct path_set *s = &p->sets[c->events.items[event].set];
	bool is_duration = event == MEASURE_DURATION;
	/* On mixed cores the rest of the time may have been on another type, where nothing is counted. */
	bool is_scaled = !is_duration && !c->pmu.is_mixed;
	uint64_t calls = is_duration ? e->n : s->calls;
	struct cyclops_count *out = &sums->out;

	out->calls += calls;
	sums->bias += path_bias(c, s, event) * (double)calls;
	out->exclusive_raw += e->sum - e->inside;
	out->exclusive += is_scaled ? measure_estimate(e->sum - e->inside,
						       s->enabled_ns - s->inside_enabled_ns,
						       s->running_ns - s->inside_running_ns)
				    : (double)(e->sum - e->inside);
	if (p->is_recursive)
		return; /* the outermost call has it */
	out->raw += e->sum;
	out->count +=
		is_scaled ? measure_estimate(e->sum, s->enabled_ns, s->running_ns) : (double)e->sum;
	out->enabled_ns += is_duration ? e->sum : s->enabled_ns;
	out->running_ns += is_duration ? e->sum : s->running_ns;
	out->counted_calls += e->n;
	if (e->n > 0 && e->min < out->min)
		out->min = e->min;
	if (e->max > out->max)
		out->max = e->max;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		sums->histogram[i] += LOAD(e->histogram[i]);
}

static void add_thread(const struct cyclops *c, const struct caliper_thread *t, int region,
		       unsigned event, struct sums *sums)
{
	unsigned n = __atomic_load_n(&t->n_paths, __ATOMIC_ACQUIRE);
	struct path copy;

	for (unsigned i = 0; i < n; i++)
		if (path_copy(c, t, &t->paths[i], &copy) && copy.region == region)
			add_path(c, &copy, event, sums);
}

static uint64_t quantile_of(const struct sums *s, double part)
{
	uint64_t value = histogram_upper_quantile(s->histogram, s->out.counted_calls, part);

	return value < s->out.max ? value : s->out.max;
}

int cyclops_count_of(struct cyclops *c, int region, int event, struct cyclops_count *out)
{
	struct sums sums = { .out = { .min = UINT64_MAX } };
	struct cyclops_count *o = &sums.out;
	int cancel_state;

	if (c == NULL || out == NULL || region <= 0 ||
	    (unsigned)region > __atomic_load_n(&c->n_regions, __ATOMIC_ACQUIRE) || event < 0 ||
	    (unsigned)event >= c->events.n)
		return -EINVAL;
	if (!measure_is_usable(c))
		return -ECHILD;
	sums.histogram = calloc(HISTOGRAM_BUCKETS, sizeof(*sums.histogram));
	if (sums.histogram == NULL)
		return -ENOMEM;
	cancel_state = measure_lock(c);
	for (unsigned i = 0; i < c->n_threads; i++)
		add_thread(c, c->threads[i], region, (unsigned)event, &sums);
	measure_unlock(c, cancel_state);
	o->sz = sizeof(*o);
	o->coverage = o->enabled_ns == o->running_ns ? o->counted_calls > 0
		      : o->enabled_ns == 0	     ? 0
					   : (double)o->running_ns / (double)o->enabled_ns;
	o->bias = o->calls == 0 ? 0 : sums.bias / (double)o->calls;
	if (o->counted_calls == 0)
		o->min = 0;
	o->p50 = quantile_of(&sums, 0.5);
	o->p90 = quantile_of(&sums, 0.9);
	o->p99 = quantile_of(&sums, 0.99);
	free(sums.histogram);
	memcpy(out, o, out->sz < sizeof(*o) ? out->sz : sizeof(*o));
	return 0;
}
