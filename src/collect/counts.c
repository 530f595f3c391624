/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/counts.h"

#include <math.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "collect/dataset.h"
#include "cpu/event_name.h"
#include "estimate/readings.h"

enum counts_column {
	COUNTS_COL_PART,
	COUNTS_COL_TIME,
	COUNTS_COL_COMM,
	COUNTS_COL_EVENT,
	COUNTS_COL_COUNTER,
	COUNTS_COL_KIND,
	COUNTS_COL_MODE,
	COUNTS_COL_N,
	COUNTS_COL_COUNTED,
	COUNTS_COL_SCALED,
	COUNTS_COL_ENABLED,
	COUNTS_COL_RUNNING,
	COUNTS_N_COLS,
};

static const struct parquet_column columns[COUNTS_N_COLS] = {
	[COUNTS_COL_PART] = { .name = "part", .type = PARQUET_INT64 },
	[COUNTS_COL_TIME] = { .name = "time_ns", .type = PARQUET_INT64 },
	[COUNTS_COL_COMM] = { .name = "comm", .type = PARQUET_TEXT },
	[COUNTS_COL_EVENT] = { .name = "event", .type = PARQUET_TEXT },
	[COUNTS_COL_COUNTER] = { .name = "counter", .type = PARQUET_INT64 },
	[COUNTS_COL_KIND] = { .name = "kind", .type = PARQUET_TEXT },
	[COUNTS_COL_MODE] = { .name = "mode", .type = PARQUET_TEXT },
	[COUNTS_COL_N] = { .name = "n", .type = PARQUET_INT64 },
	[COUNTS_COL_COUNTED] = { .name = "counted", .type = PARQUET_INT64 },
	[COUNTS_COL_SCALED] = { .name = "scaled", .type = PARQUET_INT64 },
	[COUNTS_COL_ENABLED] = { .name = "enabled_ns", .type = PARQUET_INT64 },
	[COUNTS_COL_RUNNING] = { .name = "running_ns", .type = PARQUET_INT64 },
};

/* What rates are relative to: names of the kernel, of Arm and of Intel. */
static const struct {
	const char *event, *kind;
} base_events[] = {
	{ "cycles", "cycles" },
	{ "cpu_cycles", "cycles" },
	{ "cpu_clk_unhalted.thread", "cycles" },
	{ "instructions", "instructions" },
	{ "inst_retired", "instructions" },
	{ "inst_retired.any", "instructions" },
};

enum counts_key { KEY_EVENT, KEY_PROCESS, KEY_SLICE, COUNTS_KEYS };

struct count_sum {
	uint64_t n, counted, enabled_ns, running_ns;
	double scaled;
	bool is_scaled; /* some of it was on a counter */
};

struct counts_job {
	const struct session *session;
	struct tuples keys;
	VEC_OF(struct count_sum) sums;
};

static void add_reading(void *context, const struct reading *r)
{
	struct counts_job *job = context;
	const struct session *s = job->session;
	const uint64_t key[COUNTS_KEYS] = {
		[KEY_EVENT] = r->event,
		[KEY_PROCESS] = r->pid != READING_UNKNOWN
					? timeline_process_of_pid(s->timeline, r->pid, r->time_ns)
				: r->tid != READING_UNKNOWN
					? timeline_process_of_tid(s->timeline, r->tid, r->time_ns)
					: 0,
		[KEY_SLICE] =
			s->slices.n > 0 && r->time_ns > 0 ? slices_find(&s->slices, r->time_ns) : 0,
	};
	uint32_t number = tuples_add(&job->keys, key);
	struct count_sum *sum;

	if (number == job->sums.n)
		*vec_add(&job->sums) = (struct count_sum){ 0 };
	sum = &job->sums.items[number];
	sum->n++;
	sum->counted += r->counted;
	/* A thread's counter on a CPU is enabled while the thread runs elsewhere: its times say nothing of multiplexing. */
	if (r->kind != READING_STAT) {
		sum->scaled += (double)r->counted;
		sum->is_scaled = true;
		return;
	}
	sum->enabled_ns += r->enabled_ns;
	sum->running_ns += r->running_ns;
	if (r->running_ns == 0 && r->enabled_ns > 0)
		return; /* it was not on a counter */
	sum->is_scaled = true;
	sum->scaled += r->running_ns < r->enabled_ns
			       ? (double)r->counted * (double)r->enabled_ns / (double)r->running_ns
			       : (double)r->counted;
}

static const char *kind_of(const char *name)
{
	struct event_name parts;

	event_name_split(name, &parts);
	for (size_t i = 0; i < COUNT(base_events) && cpu_is_core_pmu(parts.pmu); i++)
		if (cpu_word_is_same(parts.event, base_events[i].event))
			return base_events[i].kind;
	return NULL;
}

static const char *mode_of(const struct attr *attr)
{
	return attr_has(attr, ATTR_EXCLUDE_KERNEL) ? "user"
	       : attr_has(attr, ATTR_EXCLUDE_USER) ? "kernel"
						   : "all";
}

static void put_sum(const struct session *s, const struct identity *who, const uint64_t *key,
		    const struct count_sum *sum, struct parquet_values *v)
{
	const char *name = capture_event_name(s->capture, key[KEY_EVENT]);

	parquet_put(&v[COUNTS_COL_PART], (uint64_t)who->part);
	parquet_put(&v[COUNTS_COL_TIME], (uint64_t)identity_slice_ns(who, s, key[KEY_SLICE]));
	dataset_put_comm(s, &v[COUNTS_COL_COMM], key[KEY_PROCESS]);
	dataset_put_text(&v[COUNTS_COL_EVENT], name);
	parquet_put(&v[COUNTS_COL_COUNTER], key[KEY_EVENT]);
	dataset_put_text(&v[COUNTS_COL_KIND], kind_of(name));
	dataset_put_text(&v[COUNTS_COL_MODE],
			 mode_of(&capture_event(s->capture, key[KEY_EVENT])->attr));
	parquet_put(&v[COUNTS_COL_N], sum->n);
	parquet_put(&v[COUNTS_COL_COUNTED], sum->counted);
	if (sum->is_scaled && sum->scaled < 0x1p63)
		parquet_put(&v[COUNTS_COL_SCALED], (uint64_t)llround(sum->scaled));
	else
		parquet_put_null(&v[COUNTS_COL_SCALED]);
	parquet_put(&v[COUNTS_COL_ENABLED], sum->enabled_ns);
	parquet_put(&v[COUNTS_COL_RUNNING], sum->running_ns);
}

int counts_write(const struct session *s, const char *root, const struct identity *who,
		 struct err *err)
{
	struct counts_job job = { .session = s };
	struct dataset_file file = { 0 };
	int rc = 0;

	tuples_init(&job.keys, COUNTS_KEYS);
	if (readings_are_there(s->capture))
		readings_walk(s->capture, add_reading, &job);
	if (job.sums.n > 0)
		rc = dataset_begin(&file, root, "counts", who, columns, COUNT(columns), err);
	else
		dataset_remove(root, "counts", who); /* another version may have found some */
	for (size_t i = 0; i < job.sums.n && rc == 0; i++) {
		put_sum(s, who, tuples_get(&job.keys, (uint32_t)i), &job.sums.items[i],
			parquet_values(file.writer));
		rc = parquet_end_row(file.writer);
	}
	rc = dataset_end(&file, rc, err);
	vec_release(&job.sums);
	tuples_release(&job.keys);
	return rc;
}
