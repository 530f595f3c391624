/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole method: what the counts of a program say is put to the places where a capture of
 * the same program says it happens. One list of findings, and the tables behind it.
 */
#ifndef CYCLOPS_RUN_METHOD_H
#define CYCLOPS_RUN_METHOD_H

#include "cpu/pmu.h"
#include "report/report.h"
#include "session/session.h"
#include "stat/stat.h"
#include "table/table.h"

/* The metric of the largest finding, or NULL: nothing stands out. */
const struct cpu_metric *method_first(const struct stat_answer *);

/* The tables of the answer; counts and report belong to it. Zeroed is empty. */
struct method {
	struct stat_answer stat;
	struct report report;
	struct table findings, evidence, loops;
	struct findings found; /* of counts and samples: those of `stat` and `report` */
	struct tables shown;   /* for programs */
	struct table answer, summary, next;
	struct tables screen; /* for people, the answer first; see method_screen() */
};

/*
 * Finds what stands out. `pmu` and `counts` may be NULL: nothing was counted; `s` may be NULL:
 * nothing was sampled. Counts must outlive the answer.
 */
int method_find(struct session *s, const struct cpu_pmu *pmu, struct counts *counts,
		struct method *out, struct err *);

/* Makes the tables of it. */
void method_make_tables(struct session *s, struct method *);

/* Makes the screen. `more`: tables behind the findings; `is_verbose`: the long form, and all facts. */
void method_screen(const struct session *, const struct tables *more, bool is_verbose,
		   struct method *);
void method_release(struct method *);

#endif
