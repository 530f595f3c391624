/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of the viewer's pages, out of the same tables as the commands print, all rows and columns. One
 * file for each page. Each asks the capture once more: scans are quick, and commands stay apart.
 */
#ifndef CYCLOPS_HTML_PAGES_PAGES_H
#define CYCLOPS_HTML_PAGES_PAGES_H

#include "base/err.h"
#include "html/html.h"
#include "scan/select.h"
#include "session/session.h"

/* All pages that this capture has data for. */
int html_add_pages(struct html *, struct session *, const struct select *, struct err *);

/* Hotspots by function, line, module and thread: the tables of `cyclops hot`. */
int html_add_functions(struct html *, struct session *, const struct select *, struct err *);

/*
 * Latencies, data sources, levels, bandwidth and objects: the tables of `cyclops mem` and `cyclops addr`. Nothing
 * where no access to memory was sampled.
 */
int html_add_memory(struct html *, struct session *, const struct select *, struct err *);

/* Source, instructions and control flow of the hottest functions: the tables of `cyclops annotate --blocks` and `cyclops blocks`. */
int html_add_code(struct html *, struct session *, const struct select *, struct err *);

/* Cycle accounting by function: the tables of `cyclops cycles`. Nothing where the capture has no two events of a tree. */
int html_add_cycles(struct html *, struct session *, const struct select *, struct err *);

/* Call stacks as trees, by each event and what it can be weighed by. Nothing where no record has callers. */
int html_add_flame(struct html *, struct session *, const struct select *, struct err *);

/*
 * Cache lines that threads contend for: the tables of `cyclops c2c`. Nothing where no line was accessed by several
 * threads.
 */
int html_add_sharing(struct html *, struct session *, const struct select *, struct err *);

/* The same of one of two runs, by the name that it has: "a". */
int html_add_flame_of(struct html *, struct session *, const struct select *, const char *run,
		      struct err *);

/*
 * Threads, functions and data sources by slices of time, and functions by thread, of the records that `cyclops hot`
 * counts. Nothing where records have no times.
 */
int html_add_timeline(struct html *, struct session *, const struct select *, struct err *);

/* The same of one of two runs; NULL: there is only one. */
int html_add_timeline_of(struct html *, struct session *, const struct select *, const char *run,
			 struct err *);

/* Whether the capture can be trusted: the tables of `cyclops quality`. */
int html_add_quality(struct html *, struct session *, const struct select *, struct err *);

#endif
