/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/sums.h"

#include <math.h>

static uint64_t difference(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

struct reading reading_since(const struct reading *now, const struct reading *before)
{
	return (struct reading){
		.value = difference(now->value, before->value),
		.enabled_ns = difference(now->enabled_ns, before->enabled_ns),
		.running_ns = difference(now->running_ns, before->running_ns),
	};
}

void sum_add(struct sum *s, const struct reading *r)
{
	s->n_readings++;
	s->raw += r->value;
	s->enabled_ns += r->enabled_ns;
	s->running_ns += r->running_ns;
	if (r->running_ns == 0)
		return;
	s->seen_ns += r->enabled_ns;
	s->scaled += r->running_ns >= r->enabled_ns
			     ? (double)r->value
			     : (double)r->value * ((double)r->enabled_ns / (double)r->running_ns);
}

void sum_merge(struct sum *s, const struct sum *from)
{
	s->n_readings += from->n_readings;
	s->raw += from->raw;
	s->enabled_ns += from->enabled_ns;
	s->running_ns += from->running_ns;
	s->seen_ns += from->seen_ns;
	s->scaled += from->scaled;
	s->group = from->group;
	s->is_unscaled = from->is_unscaled;
}

double sum_value(const struct sum *s)
{
	if (s->is_unscaled || s->running_ns >= s->enabled_ns)
		return (double)s->raw;
	if (s->seen_ns == 0)
		return 0;
	return s->scaled * ((double)s->enabled_ns / (double)s->seen_ns);
}

void runs_add(struct runs *r, const struct sum *s)
{
	double value = sum_value(s);
	double before = value - r->mean;

	r->n++;
	r->mean += before / r->n;
	r->squares += before * (value - r->mean);
	r->raw += (double)s->raw;
	r->enabled_ns += (double)s->enabled_ns;
	r->running_ns += (double)(s->is_unscaled ? s->enabled_ns : s->running_ns);
	r->group = s->group;
	r->n_readings += s->n_readings;
}

double runs_spread(const struct runs *r)
{
	if (r->n < 2 || r->mean == 0)
		return 0;
	return sqrt(r->squares / (r->n - 1)) / fabs(r->mean);
}

bool runs_are_counted(const struct runs *r)
{
	return r->n_readings > 0 && (r->enabled_ns == 0 || r->running_ns > 0);
}
