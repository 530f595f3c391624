/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samples.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "collect/dataset.h"
#include "hot/sums/sums.h"
#include "scan/scan.h"
#include "spe/names.h"

enum samples_column {
	SAMPLES_COL_PART,
	SAMPLES_COL_PLACE,
	SAMPLES_COL_TIME,
	SAMPLES_COL_COMM,
	SAMPLES_COL_EVENT,
	SAMPLES_COL_OPERATION,
	SAMPLES_COL_SOURCE,
	SAMPLES_COL_LATENCY,
	SAMPLES_COL_N,
	SAMPLES_COL_WEIGHT,
	SAMPLES_COL_WALKS,
	SAMPLES_COL_BRANCHES,
	SAMPLES_COL_MISPREDICTED,
	SAMPLES_N_COLS,
};

static const struct parquet_column columns[SAMPLES_N_COLS] = {
	[SAMPLES_COL_PART] = { .name = "part", .type = PARQUET_INT64 },
	[SAMPLES_COL_PLACE] = { .name = "place", .type = PARQUET_INT64 },
	[SAMPLES_COL_TIME] = { .name = "time_ns", .type = PARQUET_INT64 },
	[SAMPLES_COL_COMM] = { .name = "comm", .type = PARQUET_TEXT },
	[SAMPLES_COL_EVENT] = { .name = "event", .type = PARQUET_TEXT },
	[SAMPLES_COL_OPERATION] = { .name = "operation", .type = PARQUET_TEXT },
	[SAMPLES_COL_SOURCE] = { .name = "source", .type = PARQUET_TEXT },
	[SAMPLES_COL_LATENCY] = { .name = "latency", .type = PARQUET_INT64 },
	[SAMPLES_COL_N] = { .name = "n", .type = PARQUET_INT64 },
	[SAMPLES_COL_WEIGHT] = { .name = "weight", .type = PARQUET_INT64 },
	[SAMPLES_COL_WALKS] = { .name = "walks", .type = PARQUET_INT64 },
	[SAMPLES_COL_BRANCHES] = { .name = "branches", .type = PARQUET_INT64 },
	[SAMPLES_COL_MISPREDICTED] = { .name = "mispredicted", .type = PARQUET_INT64 },
};

/* What SPE records are called in the column event. */
static const char spe_records[] = "spe";

/* More different rows than these are written before the scan goes on. */
enum { MOST_GROUPS = 1 << 17 };

/* Time is told in slices of about a minute. */
enum { SLICE_NS_LOG = 36 };

/* A scan that writes what it has summed up. */
struct samples_job {
	const struct place_keys *keys;
	const struct identity *who;
	struct dataset_file file;
	struct hot_options options;
	struct samples_totals *totals;
	bool *is_sampled;
	struct text scratch;
	int rc;
};

/* The analysis: sums so far, and where they go. */
struct samples_sums {
	const struct session *session;
	struct samples_job *job;
	struct hot *hot;
};

static void put_source(struct samples_job *job, struct parquet_values *v, uint64_t word)
{
	const struct cpu_source *source = key_source(word);

	text_reset(&job->scratch);
	if (source != NULL) {
		dataset_put_text(v, source->name);
	} else if (word != DIM_ABSENT) {
		text_hex(&job->scratch, word);
		parquet_put_text(v, job->scratch.bytes, job->scratch.n);
	} else {
		parquet_put_null(v);
	}
}

static void put_operation(struct samples_job *job, struct parquet_values *v, uint64_t word)
{
	text_reset(&job->scratch);
	if (word == DIM_ABSENT) {
		parquet_put_null(v);
		return;
	}
	spe_op_text((uint8_t)(word >> 8), (uint8_t)word, &job->scratch);
	parquet_put_text(v, job->scratch.bytes, job->scratch.n);
}

static void put_group(struct samples_job *job, const struct hot *hot, uint32_t group)
{
	const struct session *s = hot->session;
	struct parquet_values *v = parquet_values(job->file.writer);
	const struct hot_cost cost = hot_cost(hot, group);
	uint64_t key[N_DIMENSIONS];
	bool is_spe;

	hot_key(hot, group, key);
	is_spe = hot_is_spe(hot, key[DIM_EVENT]);
	parquet_put(&v[SAMPLES_COL_PART], (uint64_t)job->who->part);
	parquet_put(&v[SAMPLES_COL_PLACE],
		    (uint64_t)place_key(job->keys, (uint32_t)key[DIM_PLACE]));
	parquet_put(&v[SAMPLES_COL_TIME], (uint64_t)identity_slice_ns(job->who, s, key[DIM_SLICE]));
	dataset_put_comm(s, &v[SAMPLES_COL_COMM], key[DIM_PROCESS]);
	dataset_put_text(&v[SAMPLES_COL_EVENT],
			 is_spe ? spe_records : capture_event_name(s->capture, key[DIM_EVENT]));
	put_operation(job, &v[SAMPLES_COL_OPERATION], key[DIM_OPERATION]);
	put_source(job, &v[SAMPLES_COL_SOURCE], key[DIM_SOURCE]);
	if (key[DIM_LATENCY] == DIM_ABSENT)
		parquet_put_null(&v[SAMPLES_COL_LATENCY]);
	else
		parquet_put(&v[SAMPLES_COL_LATENCY], key[DIM_LATENCY]);
	parquet_put(&v[SAMPLES_COL_N], cost.n);
	parquet_put(&v[SAMPLES_COL_WEIGHT], hot_event_weight(hot, key[DIM_EVENT], &cost));
	parquet_put(&v[SAMPLES_COL_WALKS], is_spe ? cost.n_walks : 0);
	parquet_put(&v[SAMPLES_COL_BRANCHES], is_spe ? cost.n_branches : 0);
	parquet_put(&v[SAMPLES_COL_MISPREDICTED], is_spe ? cost.n_mispredicted : 0);
	job->is_sampled[session_place(s, (uint32_t)key[DIM_PLACE]).module.v] = true;
	job->totals->n_rows++;
	job->totals->n_records += cost.n;
	job->totals->n_spe += is_spe ? cost.n : 0;
}

/* Writes the groups by place, so that equal values stand together. */
static void put_groups(struct samples_job *job, const struct hot *hot)
{
	uint32_t *order = mem_alloc(hot_end(hot) + 1, sizeof(*order));
	uint64_t *keys = mem_alloc(hot_end(hot) + 1, sizeof(*keys));
	size_t n = 0;

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		uint64_t place = hot_key_word(hot, i, DIM_PLACE);

		keys[i] = (uint64_t)place_key(job->keys, (uint32_t)place);
		order[n++] = i;
	}
	radix_sort(order, n, keys);
	for (size_t i = 0; i < n && job->rc == 0; i++) {
		put_group(job, hot, order[i]);
		job->rc = parquet_end_row(job->file.writer);
	}
	free(keys);
	free(order);
}

static void *samples_new(const struct session *s, const void *options)
{
	struct samples_sums *sums = mem_zalloc(1, sizeof(*sums));

	sums->session = s;
	sums->job = *(struct samples_job *const *)options;
	sums->hot = hot_class.new(s, &sums->job->options);
	return sums;
}

static void samples_free(void *partial)
{
	struct samples_sums *sums = partial;

	if (sums == NULL)
		return;
	hot_class.free(sums->hot);
	free(sums);
}

static void samples_consume(void *partial, const struct batch *b)
{
	struct samples_sums *sums = partial;

	hot_class.consume(sums->hot, b);
	if (hot_end(sums->hot) < MOST_GROUPS)
		return;
	put_groups(sums->job, sums->hot);
	hot_class.free(sums->hot);
	sums->hot = hot_class.new(sums->session, &sums->job->options);
}

static void samples_finish(void *partial)
{
	struct samples_sums *sums = partial;

	put_groups(sums->job, sums->hot);
}

/* There is one worker. */
static void samples_merge(void *into, const void *from, const struct id_map *map)
{
	(void)into;
	(void)from;
	(void)map;
}

static const struct analysis_class samples_class = {
	.new = samples_new,
	.free = samples_free,
	.consume = samples_consume,
	.finish = samples_finish,
	.merge = samples_merge,
};

/*
 * Cuts the time of a long capture. The slices are exact before the scan, which would otherwise be done again, though its
 * first rows are written.
 */
static int choose_slices(struct session *s, const struct identity *who, struct err *err)
{
	uint64_t n = (uint64_t)who->duration_ns >> SLICE_NS_LOG;
	const struct slices_span *span;

	if (n < 2)
		return 0;
	scan_part(s, NULL, &(struct scan_wish){ .without_places = true }, NULL, 0);
	span = &(struct slices_span){ .start_ns = capture_totals(s->capture)->first_ns,
				      .first_ns = s->first_ns,
				      .last_ns = s->last_ns };
	if (span->first_ns >= span->last_ns)
		return 0;
	return slices_init(span, n < SLICES_MAX ? (uint32_t)n : SLICES_MAX, &s->slices, err);
}

int samples_write(struct session *s, const struct place_keys *keys, const char *root,
		  const struct identity *who, struct samples_totals *totals, bool *is_sampled,
		  struct err *err)
{
	struct samples_job job = {
		.keys = keys,
		.who = who,
		.options = { .dimensions = 1u << DIM_PROCESS | 1u << DIM_PLACE |
					   1u << DIM_OPERATION | 1u << DIM_SOURCE |
					   1u << DIM_LATENCY | 1u << DIM_SLICE,
			     .event = -1,
			     .branches_of = -1 },
		.totals = totals,
		.is_sampled = is_sampled,
	};
	struct samples_job *const pointer = &job;
	struct analysis analysis = { .class = &samples_class, .options = &pointer };
	int rc = choose_slices(s, who, err);

	if (rc == 0)
		rc = dataset_begin(&job.file, root, "samples", who, columns, COUNT(columns), err);
	if (rc < 0)
		return -1;
	scan(s, NULL, &analysis, 1);
	samples_free(analysis.result);
	text_release(&job.scratch);
	return dataset_end(&job.file, job.rc, err);
}
