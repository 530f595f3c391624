/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `cyclops c2c`: which of its tables, in which order. */
#ifndef CYCLOPS_C2C_ANSWER_H
#define CYCLOPS_C2C_ANSWER_H

#include "c2c/tables.h"

enum c2c_detail {
	C2C_BRIEF,	  /* the findings, with their drawings */
	C2C_FULL,	  /* all counters, too */
	C2C_FOR_PROGRAMS, /* rows in place of sentences and drawings */
	C2C_FOR_PAGES,	  /* both: findings with their drawings, and all rows */
};

/* The tables, to be released with c2c_report_release(). Zeroed is empty. */
struct c2c_report {
	struct table first, summary, sharing, findings, pairs, trace, shared, lines, accesses;
	struct tables shown;
};

/* `labels` are borrowed: their layouts are among the tables for programs and pages. */
void c2c_report_make(const struct c2c *, struct c2c_labels *labels, enum c2c_detail,
		     struct c2c_report *out);
void c2c_report_release(struct c2c_report *);

#endif
