/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/verdict/worth.h"

#include "data/data_names.h"

/* Of contended loads; see also SHARING_LEAST_SHARE. */
static const double least_part = 0.01;

/* As many loads of which none waited tell that hardly any did: 95 % of them, at 95 %. */
static const uint32_t enough_loads = 60;

/* Of all stores, for lines that only stores meet on. */
static const double least_stores = 0.01;

const char *sharing_latency_words(const struct sharing *s)
{
	return s->lines->has_issue && !s->lines->lacks_issue ? "load access latency"
							     : "load latency";
}

static double part_of(uint64_t n, uint64_t all)
{
	return all == 0 ? 0 : (double)n / (double)all;
}

double sharing_contended_part(const struct sharing *s, const struct sharing_subject *subject)
{
	return part_of(sharing_contended(&subject->counts, s->options.mode),
		       sharing_contended(&s->total, s->options.mode));
}

/* Do loads wait here, enough to be worth a word? */
static bool is_waited_for(const struct sharing *s, const struct sharing_subject *subject)
{
	if (subject->judgement.n_waited == 0)
		return false;
	if (s->lines->loads.cycles > 0)
		return subject->share >= SHARING_LEAST_SHARE;
	return sharing_contended_part(s, subject) >= least_part;
}

/* Where enough loads of a line were sampled, and none waited, stores do not wait either. */
static bool is_of_stores(const struct sharing *s, const struct sharing_subject *subject)
{
	const struct sharing_judgement *j = &subject->judgement;

	return j->n_writers > 1 && j->verdict == SHARING_FALSE && j->n_waited == 0 &&
	       subject->counts.n[SHARING_LOADS] < enough_loads &&
	       part_of(subject->counts.n[SHARING_STORES], s->total.n[SHARING_STORES]) >=
		       least_stores;
}

enum sharing_worth sharing_worth_of(const struct sharing *s, const struct sharing_subject *subject)
{
	const struct sharing_judgement *j = &subject->judgement;

	if (j->verdict == SHARING_READ_ONLY || j->verdict == SHARING_SINGLE_THREAD)
		return SHARING_WORTH_NOTHING;
	if (!is_waited_for(s, subject))
		return is_of_stores(s, subject) ? SHARING_WORTH_STORES : SHARING_WORTH_NOTHING;
	if (j->reason == SHARING_FEW_SAMPLES && j->n_writes == 0 && j->n_waited == 1)
		return SHARING_WORTH_NOTHING; /* whatever was loaded from there once is no fight */
	if (j->verdict == SHARING_UNKNOWN &&
	    (j->reason == SHARING_FEW_SAMPLES || j->reason == SHARING_NO_STORES ||
	     j->reason == SHARING_STORES_LEFT_OUT))
		return SHARING_WORTH_SUSPECT;
	return SHARING_WORTH_FIGHT;
}

/* Atomics write, too, but they are loads in the record: where there are any, lines tell. */
bool sharing_has_writes(const struct sharing *s)
{
	bool any = s->total.n[SHARING_STORES] > 0;

	for (size_t i = 0; i < s->subjects.n && !any; i++)
		any = s->subjects.items[i].judgement.n_writes > 0;
	return any;
}

/* Do many lines wait that are worth no word one by one? */
static bool is_spread(const struct sharing *s)
{
	enum { LEAST_LOADS = 100, LEAST_PART = 50 }; /* one in so many */
	uint64_t n = sharing_contended(&s->total, s->options.mode);

	return n >= LEAST_LOADS && n >= s->total.n[SHARING_LOADS] / LEAST_PART;
}

/* Only addresses of data can tell that there is none. */
const char *sharing_nothing_found(const struct sharing *s)
{
	const struct sharing_counts *c = &s->total;

	if (c->n[SHARING_RECORDS] <= c->n[SHARING_LOAD_NO_ADDRESS] + c->n[SHARING_STORE_NO_ADDRESS])
		return no_data_addresses;
	if (!sharing_has_writes(s))
		return "no line is seen to be fought over: stores were not recorded";
	return is_spread(s) ? "no line stands out; what waits for other cores is spread over many"
			    : "no line is fought over";
}
