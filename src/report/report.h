/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report: what a colleague would say first of a capture. What ran, where, when, how
 * long, what was recorded and lost; then which code is hot; then findings.
 */
#ifndef CYCLOPS_REPORT_REPORT_H
#define CYCLOPS_REPORT_REPORT_H

#include "bottleneck/bottleneck.h"
#include "cli/printer.h"
#include "findings/finding.h"
#include "hot/sums/sums.h"
#include "report/user_code.h"
#include "running/running.h"
#include "scan/select.h"
#include "session/analysis.h"
#include "session/session.h"
#include "table/table.h"

/* The dimensions of hot.h that all but the table of processes need. */
extern const struct hot_options report_hot_options;

/* The tables of a report, to be released with report_release(). Zeroed is empty. */
struct report {
	struct table capture, sampled; /* the facts, for programs */
	struct table facts, elapsed, functions, user_code, lines, modules, processes, findings,
		evidence, loops, unexplained;
	struct running_tables threads; /* empty without records of switches */
	struct tables shown; /* those that have something to say, in order: for programs */
	struct table answer, summary, addresses, brief_facts, next; /* for people */
	struct tables screen; /* for people, the answer first; see report_screen() */
	bool is_timed;	      /* nearly all of the run time is known by function */
	double explained; /* part of the SPE records in loops of which it is known what limits them */
	struct findings found; /* those of the table, as data */
};

/* As many rows as can be read at a glance; `cyclops hot` shows more. */
#define REPORT_BRIEF SIZE_MAX
/* The same for a brief screen, which has no lines, modules and processes: these tables stay empty. */
#define REPORT_SCREEN (SIZE_MAX - 1)

/* Scans the selected records (NULL: all) and fills the tables; `top` rows each, 0 for all. */
int report_make(struct session *, const struct select *, size_t top, struct report *out,
		struct err *);

/* The same, with another analysis in the first scan; its places keep their ids, its frames do not. */
int report_make_beside(struct session *, const struct select *, size_t top, struct analysis *,
		       struct report *out, struct err *);
void report_release(struct report *);

/* How much of a report people are shown. */
struct report_detail {
	bool is_long;	 /* all sections, and what findings rest on */
	bool is_verbose; /* all facts of the capture */
};

/* Makes the screen of a report. */
void report_screen(const struct session *, const struct report_detail *, struct report *);

/* Facts of the capture in a line, as a note: how many records, what was lost, how long. */
void facts_brief_table(const struct session *, const struct hot *, struct table *out);

/* What the capture lost, of the table's memory; NULL: nothing. */
const char *facts_lost(const struct session *, struct table *);

/* The same facts and more for programs (report/capture.c): a row, and one for each event that was sampled. */
void capture_table(const struct session *, const struct hot *, struct table *out);
void sampled_table(const struct session *, struct table *out);

/* How many processes of programs there are; one of them, NULL if there is none. */
const struct process *facts_only_process(const struct timeline *, size_t *out_n);

/*
 * From the first event to the last, those that are no samples included; of --select's records from the first
 * to the last of them. 0, 0: none has a time.
 */
struct facts_span {
	uint64_t first_ns, last_ns;
};
struct facts_span facts_span(const struct session *);

/* Are SPE records of less than a hundredth of that time? */
bool facts_are_of_little(const struct session *);

/* What the CPU of the capture is called; "" if that is not known. */
void facts_cpu(const struct session *, char *out, size_t size);

/* The head of the report (report/header.c). */
void facts_table(const struct session *, const struct hot *, struct table *out);

/* Writes the pages of this capture for a browser (report/html.c). */
int report_html(struct session *, const struct select *, const struct printer *, const char *path,
		struct err *);

/*
 * Findings of functions (report/findings.c), largest first; a silence says so if there are none. The
 * bottlenecks and the user's code may be NULL.
 */
void report_find(const struct hot *, const struct names *, const struct bottlenecks *,
		 const struct user_code *, struct findings *out);

#endif
