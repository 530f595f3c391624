/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/lost_samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "capture/format/sample.h"
#include "estimate/stat_record.h"
#include "cpu/event_name.h"
#include "scan/scan.h"
#include "scan/spe_filters.h"

/* The PMU's events of sampling, from number FIRST_EVENT on. */
enum sampling_event {
	POPULATION, /* operations that might have been sampled */
	FEED,	    /* samples taken */
	FILTRATE,   /* … and let pass by the filters */
	COLLISION,  /* samples lost because the one before was not finished */
	N_SAMPLING_EVENTS,
};

enum { FIRST_EVENT = 0x4000 };

static const char *const event_names[N_SAMPLING_EVENTS] = {
	[POPULATION] = "SAMPLE_POP",
	[FEED] = "SAMPLE_FEED",
	[FILTRATE] = "SAMPLE_FILTRATE",
	[COLLISION] = "SAMPLE_COLLISION",
};

/* How often an event was: between `n` and `most`. */
struct sampling_count {
	bool is_there;
	double n, most;
};

struct sampling_counts {
	struct sampling_count of[N_SAMPLING_EVENTS];
};

/* By name, or as perf writes its number; -1: it is none of them. */
static int event_of_name(const char *text)
{
	struct event_name name;

	event_name_split(text, &name);
	if (!cpu_is_core_pmu(name.pmu))
		return -1;
	for (int i = 0; i < N_SAMPLING_EVENTS; i++) {
		char raw[16], term[24];

		snprintf(raw, sizeof(raw), "r%x", FIRST_EVENT + i);
		snprintf(term, sizeof(term), "event=0x%x", FIRST_EVENT + i);
		if (cpu_word_is_same(name.event, event_names[i]) ||
		    strcasecmp(name.event, raw) == 0 || strcasecmp(name.event, term) == 0)
			return i;
	}
	return -1;
}

static int event_of_capture(const struct capture *c, size_t index)
{
	const struct attr *a = &capture_event(c, index)->attr;
	int event = (int)(a->config & 0xffff) - FIRST_EVENT;
	struct event_name name;

	if (capture_is_spe_type(c, a->type) || (int)index == capture_spe(c)->event || event < 0 ||
	    event >= N_SAMPLING_EVENTS)
		return -1;
	event_name_split(capture_event_name(c, index), &name);
	return a->type == ATTR_TYPE_RAW || (name.pmu[0] != '\0' && cpu_is_core_pmu(name.pmu))
		       ? event
		       : event_of_name(capture_event_name(c, index));
}

/* Sums over the samples of the events of sampling. */
struct counting {
	const struct capture *capture;
	const int *events; /* by event of the capture */
	struct {
		double sum, longest; /* of periods */
	} * periods;		     /* by event of the capture */
};

static void count_sample(void *context, const struct record *r, const struct sample_id *id)
{
	struct counting *counting = context;
	int index = r->type == RECORD_SAMPLE ? capture_event_of_sample(counting->capture, r) : -1;
	const struct attr *a;
	struct sample sample;
	struct err err;
	double period;

	(void)id;
	if (index < 0 || counting->events[index] < 0)
		return;
	a = &capture_event(counting->capture, (size_t)index)->attr;
	if (sample_read(r, a, &sample, &err) < 0)
		return;
	period = a->sample_type >> SAMPLE_PERIOD & 1 ? (double)sample.period
						     : (double)a->sample_period;
	counting->periods[index].sum += period;
	counting->periods[index].longest = fmax(counting->periods[index].longest, period);
}

/*
 * Each sample stands for its period. What came behind the last sample of each counter is not told, so
 * there may be a period more for each. Without a sample and a period nothing is known.
 */
static void take_sampled(const struct capture *c, size_t index, double sum, double longest,
			 struct sampling_count *out)
{
	const struct event *event = capture_event(c, index);
	double n_counters = event->ids.n > 0 ? (double)event->ids.n : 1;

	if (!attr_has(&event->attr, ATTR_FREQ))
		longest = fmax(longest, (double)event->attr.sample_period);
	if (longest == 0)
		return;
	out->is_there = true;
	out->n += sum;
	out->most += sum + longest * n_counters;
}

/* Counts in the capture itself. */
static void count_in_capture(const struct capture *c, struct sampling_counts *out)
{
	size_t n = capture_n_events(c);
	int *events = mem_alloc(n + 1, sizeof(*events));
	struct counting counting = { .capture = c, .events = events };
	bool has_any = false;

	counting.periods = mem_zalloc(n + 1, sizeof(*counting.periods));
	for (size_t i = 0; i < n; i++) {
		events[i] = event_of_capture(c, i);
		has_any |= events[i] >= 0;
	}
	if (has_any)
		capture_walk(c, count_sample, &counting);
	for (size_t i = 0; i < n; i++)
		if (events[i] >= 0)
			take_sampled(c, i, counting.periods[i].sum, counting.periods[i].longest,
				     &out->of[events[i]]);
	free(counting.periods);
	free(events);
}

/* Counts of a part of the time are scaled: as much as they were scaled by they may be off. */
static void take_count(const struct count *c, struct sampling_count *out)
{
	if (c->state != COUNT_COUNTED)
		return;
	out->is_there = true;
	out->n += c->value;
	out->most += c->value * (2 - count_coverage(c));
}

static int count_in_file(const char *path, struct sampling_counts *out, struct err *err)
{
	struct counts counts = { 0 };
	struct mapped file = { 0 };
	bool has_any = false;
	int rc;

	if (mapped_open(&file, path, err) < 0)
		return err_within(err, "--counts");
	rc = counts_read(file.bytes, file.size, path, &counts, err);
	for (size_t i = 0; rc == 0 && i < counts.items.n; i++) {
		int event = event_of_name(counts.items.items[i].event);

		if (event < 0)
			continue;
		take_count(&counts.items.items[i], &out->of[event]);
		has_any |= out->of[event].is_there;
	}
	counts_release(&counts);
	mapped_release(&file);
	if (rc < 0)
		return err_within(err, "--counts: %s", path);
	if (!has_any)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--counts: %s: has none of SAMPLE_COLLISION, SAMPLE_FEED, "
			       "SAMPLE_FILTRATE and SAMPLE_POP",
			       path);
	return 0;
}

/* Counts SPE records. Result: its number. */
static void *number_new(const struct session *session, const void *options)
{
	(void)session;
	(void)options;
	return mem_zalloc(1, sizeof(uint64_t));
}

static void number_consume(void *partial, const struct batch *b)
{
	uint64_t *n = partial;

	*n += b->kind == BATCH_SPE ? b->n : 0;
}

static void number_merge(void *into, const void *from, const struct id_map *map)
{
	uint64_t *n = into;
	const uint64_t *part = from;

	(void)map;
	*n += *part;
}

static const struct analysis_class number_class = {
	.new = number_new,
	.free = free,
	.consume = number_consume,
	.merge = number_merge,
};

static double count_records(struct session *s)
{
	struct analysis number = { .class = &number_class };
	const uint64_t *n;
	double out;

	scan_part(s, NULL, &(struct scan_wish){ .without_places = true }, &number, 1);
	n = number.result;
	out = (double)*n;
	free(number.result);
	return out;
}

/* Collisions out of the operations that were counted, where these were not. */
static void derive_collisions(const struct session *s, double taken, struct sampling_counts *counts)
{
	double interval = (double)spe_interval_common(s).mean;
	struct sampling_count *out = &counts->of[COLLISION];
	const struct sampling_count *population = &counts->of[POPULATION];

	if (out->is_there || !population->is_there || interval == 0 || taken == 0)
		return;
	out->is_there = true;
	out->n = fmax(0, population->n / interval - taken);
	/* Jitter: the sum of so many intervals varies by less than the root of their number. */
	out->most = fmax(0, population->most / interval - taken) + sqrt(taken);
}

/* What the counts come to, for `n` records in the capture. */
static void work_out(const struct session *s, struct sampling_counts *counts, double n,
		     struct lost_samples *out)
{
	const struct capture_totals *totals = capture_totals(s->capture);
	bool is_filtered = spe_filters_hide(s);
	const struct sampling_count *feed = &counts->of[FEED], *collision = &counts->of[COLLISION];
	const struct sampling_count *passed = is_filtered ? &counts->of[FILTRATE] : feed;
	double taken = feed->is_there ? feed->n : is_filtered ? 0 : n;
	double unread = passed->is_there ? fmax(0, passed->n - n) : 0, times = 1;

	derive_collisions(s, taken, counts);
	if ((!collision->is_there && totals->n_aux_collision > 0) ||
	    (!passed->is_there && totals->n_aux_truncated > 0) ||
	    (collision->most == 0 && totals->n_aux_collision > 0))
		return;
	if (!is_filtered && feed->is_there && feed->n > 0 && feed->n < n) {
		taken = n;
		if (feed->most < n) /* counted for a part of the time, or in another run */
			times = n / feed->n;
	}
	out->is_unknown = false;
	out->is_counted = collision->is_there || passed->is_there;
	out->n = collision->n * times + unread;
	out->most = collision->most * times + unread +
		    (passed->is_there ? passed->most - passed->n : 0);
	if (taken > 0)
		out->share = 1 - taken / (taken + collision->n * times) *
					 (n + unread > 0 ? n / (n + unread) : 1);
}

int lost_samples_find(struct session *s, const char *counts_path, struct err *err)
{
	struct sampling_counts counts = { 0 };
	bool has_counts = false;

	s->counts_path = counts_path;
	if (counts_path != NULL && count_in_file(counts_path, &counts, err) < 0)
		return -1;
	if (!capture_spe(s->capture)->is_present || capture_totals(s->capture)->n_auxtrace == 0)
		return 0;
	if (counts_path == NULL)
		count_in_capture(s->capture, &counts);
	for (int i = 0; i < N_SAMPLING_EVENTS; i++)
		has_counts |= counts.of[i].is_there;
	if (has_counts)
		work_out(s, &counts, count_records(s), &s->lost);
	return 0;
}

/* "collisions in 3 of 12 buffers, 2 full buffers" */
static void put_where(const struct capture_totals *t, struct text *out)
{
	if (t->n_aux_collision > 0)
		text_format(out, "collisions in %" PRIu64 " of %" PRIu64 " buffers",
			    t->n_aux_collision, t->n_aux);
	if (t->n_aux_truncated > 0)
		text_format(out, "%s%" PRIu64 " full buffer%s", t->n_aux_collision > 0 ? ", " : "",
			    t->n_aux_truncated, plural(t->n_aux_truncated));
}

bool lost_samples_sentence(const struct session *s, struct text *out)
{
	const struct lost_samples *lost = &s->lost;

	if (lost->is_unknown) {
		text_str(out, "SPE samples were lost (");
		put_where(capture_totals(s->capture), out);
		text_str(out, "), how many was not counted: estimates of operations and bytes are "
			      "lower bounds, and slow code has too small a share; count "
			      "SAMPLE_COLLISION and SAMPLE_FEED in the same run (--counts FILE), "
			      "or take a longer interval (--spe interval=N)");
		return true;
	}
	if (!lost->is_counted || lost->n < 0.5)
		return false;
	text_format(out, "%.0f SPE samples were lost", lost->n);
	if (lost->share > 0)
		text_format(out, " (%.1f %%): estimates are scaled by %.3g, but all",
			    100 * lost->share, 1 / (1 - lost->share));
	else
		text_str(out, ": all");
	text_str(out, " of them may be of one row, as upper limits take them to be");
	return true;
}
