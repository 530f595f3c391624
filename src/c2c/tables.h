/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of c2c/accesses/result.h's answer. Each fills an empty table, to be released by the caller. */
#ifndef CYCLOPS_C2C_TABLES_H
#define CYCLOPS_C2C_TABLES_H

#include "c2c/c2c.h"
#include "c2c/fix/labels.h"
#include "findings/finding.h"
#include "table/table.h"

/*
 * How much there is in a sentence or two: "sharing". With an `answer` (table/answer.h) it is for people:
 * what it would say first is said there, by c2c_answer_findings() if lines are contended.
 */
void c2c_summary_table(const struct c2c *, const struct c2c_labels *, struct table *answer,
		       struct table *out);

/* The same as typed columns, for programs: "sharing". What the numbers need to be understood are notes. */
void c2c_sharing_table(const struct c2c *, const struct c2c_labels *, struct table *out);

/* Says the costliest contended line and its fix; nothing if no line is contended. */
void c2c_answer_findings(const struct c2c *, const struct c2c_labels *, struct table *answer);

/* What to say if there is no finding; the text may be one of the table's. */
const char *c2c_nothing_found(const struct c2c *, struct table *);

/* The contended lines, in words, those that cost most first: "findings". */
void c2c_findings_table(const struct c2c *, const struct c2c_labels *, struct table *out);

/*
 * Adds them to the findings of a report, and orders these by share. What says no more than that a
 * function waits for such a line becomes evidence.
 */
void c2c_add_findings(const struct c2c *, const struct c2c_labels *, struct findings *);

/* Whose loads wait for whose stores, those that wait longest first: "pairs". By all workers: no job of a pool may call it. */
void c2c_pairs_table(const struct c2c *, const struct c2c_labels *, struct table *out);

/* What all accesses of the capture met: "trace"; and those to shared lines: "shared". */
void c2c_trace_table(const struct c2c *, struct table *out);
void c2c_shared_table(const struct c2c *, struct table *out);

/* The lines with their counters, "lines", and what they are accessed by, "accesses", nested. */
void c2c_lines_tables(const struct c2c *, const struct c2c_labels *, struct table *out_lines,
		      struct table *out_accesses);

/* A mean of latencies, absent for none, marked if counters were full. */
struct cell c2c_mean_cell(uint64_t cycles, uint64_t n, uint64_t n_saturated);

/* What was done to a line, by kinds. */
struct memory_counts c2c_line_kinds(const struct c2c *, const struct c2c_subject *);

/* "load", "store", "atomic", "load-exclusive" … */
const char *c2c_kind_name(unsigned kind);

#endif
