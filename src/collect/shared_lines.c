/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/shared_lines.h"

#include <stdio.h>

#include "base/alloc.h"
#include "c2c/c2c.h"
#include "c2c/fix/labels.h"
#include "c2c/ranking.h"
#include "c2c/tables.h"
#include "c2c/verdict/verdict.h"
#include "collect/dataset.h"

/* A finding has at least a thousandth of the latency of all loads, so there are no more. */
enum { MOST_LINES = 1000 };

enum shared_lines_column {
	SHARED_COL_PART,
	SHARED_COL_ADDRESS,
	SHARED_COL_LINES,
	SHARED_COL_OBJECT,
	SHARED_COL_TYPE,
	SHARED_COL_MEMBER,
	SHARED_COL_VERDICT,
	SHARED_COL_FALSE_PART,
	SHARED_COL_RECORDS,
	SHARED_COL_LOADS,
	SHARED_COL_STORES,
	SHARED_COL_ATOMICS,
	SHARED_COL_PEER,
	SHARED_COL_HITM,
	SHARED_COL_RELOADS,
	SHARED_COL_SATURATED,
	SHARED_COL_EXCESS,
	SHARED_COL_THREADS,
	SHARED_COL_WRITER,
	SHARED_COL_WRITER_MODULE,
	SHARED_COL_READER,
	SHARED_COL_READER_MODULE,
	SHARED_N_COLS,
};

static const struct parquet_column columns[SHARED_N_COLS] = {
	[SHARED_COL_PART] = { .name = "part", .type = PARQUET_INT64 },
	[SHARED_COL_ADDRESS] = { .name = "address", .type = PARQUET_TEXT },
	[SHARED_COL_LINES] = { .name = "lines", .type = PARQUET_INT64 },
	[SHARED_COL_OBJECT] = { .name = "object", .type = PARQUET_TEXT },
	[SHARED_COL_TYPE] = { .name = "type", .type = PARQUET_TEXT },
	[SHARED_COL_MEMBER] = { .name = "member", .type = PARQUET_TEXT },
	[SHARED_COL_VERDICT] = { .name = "verdict", .type = PARQUET_TEXT },
	[SHARED_COL_FALSE_PART] = { .name = "false_part", .type = PARQUET_DOUBLE },
	[SHARED_COL_RECORDS] = { .name = "records", .type = PARQUET_INT64 },
	[SHARED_COL_LOADS] = { .name = "loads", .type = PARQUET_INT64 },
	[SHARED_COL_STORES] = { .name = "stores", .type = PARQUET_INT64 },
	[SHARED_COL_ATOMICS] = { .name = "atomics", .type = PARQUET_INT64 },
	[SHARED_COL_PEER] = { .name = "peer", .type = PARQUET_INT64 },
	[SHARED_COL_HITM] = { .name = "hitm", .type = PARQUET_INT64 },
	[SHARED_COL_RELOADS] = { .name = "reloads", .type = PARQUET_INT64 },
	[SHARED_COL_SATURATED] = { .name = "saturated", .type = PARQUET_INT64 },
	[SHARED_COL_EXCESS] = { .name = "excess_cycles", .type = PARQUET_INT64 },
	[SHARED_COL_THREADS] = { .name = "threads", .type = PARQUET_INT64 },
	[SHARED_COL_WRITER] = { .name = "writer", .type = PARQUET_TEXT },
	[SHARED_COL_WRITER_MODULE] = { .name = "writer_module", .type = PARQUET_TEXT },
	[SHARED_COL_READER] = { .name = "reader", .type = PARQUET_TEXT },
	[SHARED_COL_READER_MODULE] = { .name = "reader_module", .type = PARQUET_TEXT },
};

/* The member that those accesses touch that matter most; NULL: not known. */
static const char *member_of(const struct c2c *s, const struct c2c_labels *labels,
			     const struct c2c_cause *cause)
{
	const char *member = NULL;

	for (int writers = 0; writers < 2 && member == NULL; writers++) {
		struct c2c_ranking all = c2c_rank_accesses(s, cause, writers != 0);

		if (all.n > 0)
			member = labels->fields_of_any[all.items[0].number];
		vec_release(&all);
	}
	return member;
}

static void put_function(const struct c2c *s, uint32_t place, struct parquet_values *function,
			 struct parquet_values *module)
{
	if (place == UINT32_MAX) {
		parquet_put_null(function);
		parquet_put_null(module);
		return;
	}
	dataset_put_text(function, names_function(&s->names, place));
	dataset_put_text(module, names_module(s->session, session_place(s->session, place).module));
}

static void put_counts(const struct c2c *s, const struct c2c_cause *cause, struct parquet_values *v)
{
	const uint32_t *n = cause->sum.counts.n;
	struct memory_counts kinds = { 0 };

	for (size_t i = 0; i < cause->lines.n; i++) {
		const struct memory_counts one =
			c2c_line_kinds(s, &s->subjects.items[cause->lines.items[i]]);

		memory_counts_merge(&kinds, &one);
	}
	parquet_put(&v[SHARED_COL_RECORDS], n[C2C_RECORDS]);
	parquet_put(&v[SHARED_COL_LOADS], kinds.loads);
	parquet_put(&v[SHARED_COL_STORES], kinds.stores);
	parquet_put(&v[SHARED_COL_ATOMICS], kinds.atomics);
	parquet_put(&v[SHARED_COL_PEER], (uint64_t)n[C2C_LOCAL_PEER] + n[C2C_REMOTE_PEER]);
	parquet_put(&v[SHARED_COL_HITM], (uint64_t)n[C2C_LOCAL_HITM] + n[C2C_REMOTE_HITM]);
	parquet_put(&v[SHARED_COL_RELOADS], cause->sum.reloads.n);
	parquet_put(&v[SHARED_COL_SATURATED],
		    (uint64_t)cause->sum.contended.n_saturated + cause->sum.reloads.n_saturated);
}

static void put_cause(const struct c2c *s, const struct c2c_labels *labels,
		      const struct c2c_cause *cause, const struct identity *who,
		      struct parquet_values *v)
{
	const struct c2c_subject *sum = &cause->sum;
	const struct c2c_judgement *j = &sum->judgement;
	uint32_t first = cause->lines.items[0];
	char address[24];

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)sum->address);
	parquet_put(&v[SHARED_COL_PART], (uint64_t)who->part);
	dataset_put_text(&v[SHARED_COL_ADDRESS], address);
	parquet_put(&v[SHARED_COL_LINES], cause->lines.n);
	dataset_put_text(&v[SHARED_COL_OBJECT], labels->names[first]);
	dataset_put_text(&v[SHARED_COL_TYPE], labels->details[first].type);
	dataset_put_text(&v[SHARED_COL_MEMBER], member_of(s, labels, cause));
	dataset_put_text(&v[SHARED_COL_VERDICT], c2c_verdict_name(j->verdict));
	if (j->verdict == C2C_FALSE || j->verdict == C2C_TRUE)
		parquet_put_double(&v[SHARED_COL_FALSE_PART], j->false_part);
	else
		parquet_put_null(&v[SHARED_COL_FALSE_PART]);
	put_counts(s, cause, v);
	parquet_put(&v[SHARED_COL_EXCESS],
		    (uint64_t)(sum->excess_cycles > 0 ? sum->excess_cycles : 0));
	parquet_put(&v[SHARED_COL_THREADS], j->n_threads);
	put_function(s, c2c_first_place(s, cause, true), &v[SHARED_COL_WRITER],
		     &v[SHARED_COL_WRITER_MODULE]);
	put_function(s, c2c_first_place(s, cause, false), &v[SHARED_COL_READER],
		     &v[SHARED_COL_READER_MODULE]);
}

static int write_causes(const struct c2c *s, const struct c2c_labels *labels, const char *root,
			const struct identity *who, struct err *err)
{
	const struct c2c_causes *causes = labels->causes;
	struct dataset_file file = { 0 };
	int rc = 0;

	for (size_t i = 0; i < causes->list.n && rc == 0; i++) {
		const struct c2c_cause *cause = &causes->list.items[i];

		if (cause->finding == 0)
			continue;
		if (file.writer == NULL)
			rc = dataset_begin(&file, root, "shared_lines", who, columns,
					   COUNT(columns), err);
		if (rc < 0)
			break;
		put_cause(s, labels, cause, who, parquet_values(file.writer));
		rc = parquet_end_row(file.writer);
	}
	if (file.writer == NULL && rc == 0)
		dataset_remove(root, "shared_lines", who); /* another version may have found some */
	return dataset_end(&file, rc, err);
}

int shared_lines_write(struct session *s, const char *root, const struct identity *who,
		       struct loads_total *out, struct err *err)
{
	const struct c2c_request request = { .mode = -1, .top = MOST_LINES, .with_objects = true };
	struct c2c sharing = { 0 };
	struct c2c_labels labels = { 0 };
	int rc = c2c_run(s, NULL, &request, &sharing, err);

	if (rc == 0) {
		*out = (struct loads_total){ sharing.lines->loads.cycles, sharing.interval };
		c2c_labels_init(&labels, &sharing);
		rc = write_causes(&sharing, &labels, root, who, err);
	}
	c2c_labels_release(&labels);
	c2c_release(&sharing);
	return rc;
}
