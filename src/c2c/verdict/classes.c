/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/verdict/classes.h"

/* Of contended loads; see also C2C_LEAST_SHARE. */
static const double least_part = 0.01;

/* If none of so many loads waited, less than 5 % of all did, with 95 % confidence. */
static const uint32_t enough_loads = 60;

const char *c2c_latency_words(const struct c2c *s)
{
	return s->lines->has_issue && !s->lines->lacks_issue ? "load latency"
							     : "total load latency";
}

static double part_of(uint64_t n, uint64_t all)
{
	return all == 0 ? 0 : (double)n / (double)all;
}

double c2c_contended_part(const struct c2c *s, const struct c2c_subject *subject)
{
	return part_of(c2c_contended(&subject->counts, s->options.mode),
		       c2c_contended(&s->total, s->options.mode));
}

/* Do loads wait here, enough for a finding? */
static bool is_waited_for(const struct c2c *s, const struct c2c_subject *subject)
{
	if (subject->judgement.n_waited == 0)
		return false;
	if (s->lines->loads.cycles > 0)
		return subject->share >= C2C_LEAST_SHARE;
	return c2c_contended_part(s, subject) >= least_part;
}

/* Where enough loads of a line were sampled, and none waited, stores do not wait either. */
static bool is_of_stores(const struct c2c *s, const struct c2c_subject *subject)
{
	const struct c2c_judgement *j = &subject->judgement;

	return j->n_writers > 1 && j->verdict == C2C_FALSE && j->n_waited == 0 &&
	       subject->counts.n[C2C_LOADS] < enough_loads &&
	       part_of(subject->counts.n[C2C_STORES], s->total.n[C2C_STORES]) >= C2C_LEAST_STORES;
}

enum c2c_class c2c_class_of(const struct c2c *s, const struct c2c_subject *subject)
{
	const struct c2c_judgement *j = &subject->judgement;

	if (j->verdict == C2C_READ_ONLY || j->verdict == C2C_SINGLE_THREAD)
		return C2C_NOT_CONTENDED;
	if (!is_waited_for(s, subject))
		return is_of_stores(s, subject) ? C2C_STORES_ONLY : C2C_NOT_CONTENDED;
	if (j->reason == C2C_FEW_SAMPLES && j->n_writes == 0 && j->n_waited == 1)
		return C2C_NOT_CONTENDED; /* whatever was loaded from there once is no cause */
	if (j->verdict == C2C_UNKNOWN &&
	    (j->reason == C2C_FEW_SAMPLES || j->reason == C2C_NO_STORES ||
	     j->reason == C2C_STORES_LEFT_OUT))
		return C2C_SUSPECTED;
	return C2C_CONTENDED;
}

/* Atomics write, too, but they are loads in the record: where there are any, they are counted by line. */
bool c2c_has_writes(const struct c2c *s)
{
	bool any = s->total.n[C2C_STORES] > 0;

	for (size_t i = 0; i < s->subjects.n && !any; i++)
		any = s->subjects.items[i].judgement.n_writes > 0;
	return any;
}

/* Do many lines wait, none of them enough for a finding? */
static bool is_spread(const struct c2c *s)
{
	enum { LEAST_LOADS = 100, LEAST_PART = 50 }; /* one in so many */
	uint64_t n = c2c_contended(&s->total, s->options.mode);

	return n >= LEAST_LOADS && n >= s->total.n[C2C_LOADS] / LEAST_PART;
}

enum c2c_silence c2c_silence_of(const struct c2c *s)
{
	const struct c2c_counts *c = &s->total;

	if (c->n[C2C_RECORDS] <= c->n[C2C_LOAD_NO_ADDRESS] + c->n[C2C_STORE_NO_ADDRESS])
		return C2C_NO_DATA_ADDRESSES;
	if (!c2c_has_writes(s))
		return C2C_NO_WRITES;
	return is_spread(s) ? C2C_SPREAD : C2C_NONE_CONTENDED;
}
