/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was measured in a run, as named numbers with their errors: what two runs are compared by. A
 * capture has the costs of its functions, a file of counts has events and metrics. A baseline is a
 * file with either.
 */
#ifndef CYCLOPS_DIFF_MEASURES_H
#define CYCLOPS_DIFF_MEASURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"
#include "c2c/c2c.h"
#include "count/counts.h"
#include "cpu/pmu.h"
#include "cycles/options.h"
#include "scan/shared_scan.h"
#include "session/session.h"

enum measure_kind {
	MEASURE_TOTAL,	/* of an event of a capture; also the time of the run */
	MEASURE_METRIC, /* of the CPU, such as "ipc" */
	MEASURE_EVENT,	/* a counted event */
	MEASURE_FUNCTION,
	MEASURE_LINE,
	MEASURE_INSTRUCTION,
	MEASURE_SOURCE, /* a data source */
	MEASURE_SHARED, /* the data on contended cache lines */
	MEASURE_CYCLES, /* a node of the tree of cycle accounting, of the whole run */
	MEASURE_REGION, /* what a region of libcyclops came to: "solve:cycles"; always with counts, never asked for */
	N_MEASURE_KINDS,
};

/* One number. */
struct measure {
	uint8_t kind;	/* enum measure_kind */
	bool is_scaled; /* by multiplexing, so the error is not known */
	/* the sampled event; "": counted. MEASURE_CYCLES: the name of the measure of all cycles */
	const char *event;
	const char *name;   /* "chase", "walk.c:8", "chase+0x4", "DRAM", "ipc" */
	const char *module; /* of the code; "" for everything that is no code */
	const char *unit;   /* "cycles", "ns", "events"; "": a ratio */
	double value;
	double error;	  /* standard error; NAN: not known */
	uint64_t samples; /* behind the value; 0: counted */
	double saturated; /* the part of the value from saturated latency counters: a lower bound */
	uint64_t n_saturated; /* samples with a saturated latency counter */
};

/* All numbers of a run. Zeroed is empty. */
struct measures {
	struct arena memory; /* holds the texts, which are valid UTF-8: measures_text() */
	VEC_OF(struct measure) list;
	uint32_t kinds;		  /* bit n: kind n was looked for, whether or not found */
	const char *origin;	  /* the file that it was read from */
	const char *capture_path; /* its capture, which can be read again; NULL: there is none */
	const char *command;	  /* that was measured; NULL: not known */
	const char *cpu;	  /* its name; NULL: not known */
	uint64_t elapsed_ns;	  /* 0: not known */
	bool is_modelled;
	/* SPE records with an unknown interval: costs of the sampled operations alone */
	bool is_unscaled;
};

void measures_release(struct measures *);

/*
 * Copies a text from outside. Bytes that are not UTF-8 become \xNN: a baseline cannot hold them,
 * and its names must equal those of the capture. NULL stays NULL.
 */
const char *measures_text(struct measures *, const char *text);

/* "function" …: also the names of the kinds in baselines. */
const char *measure_kind_name(enum measure_kind);
int measure_kind_find(const char *name); /* -1: there is no such kind */

/*
 * Measures a capture: totals, and costs by each kind whose bit is set in `kinds`. The cost of an
 * SPE record is its total latency times the sampling interval. Runs the scan `first`, to which
 * other analyses may have been added.
 */
void measures_of_session(struct session *, const struct select *, uint32_t kinds,
			 struct shared_scan *first, struct measures *out);

/*
 * Adds the elapsed time as a measure, unless it has been added. `spread`: its standard error as a
 * share of it; 0: not known.
 */
void measures_add_time(struct measures *, double spread);

/* The request for c2c_begin(), which goes before the first scan. */
extern const struct c2c_request measures_shared_request;

/*
 * Adds how long loads waited for data of other cores. Measures have the name of the data
 * ("account"), or "data of f" after the function that accesses it most. "all lines" is their sum.
 * Runs a second scan.
 */
int measures_add_shared(struct c2c *, const struct select *, struct measures *out, struct err *);

/*
 * Adds the nodes of the tree of cycle accounting of the options, else of the CPU, in its order. Fails with ERR_NO_DATA if there is
 * no tree, or none of its events. Runs a scan of its own.
 */
int measures_add_cycles(struct session *, const struct select *, const struct cycle_options *,
			struct measures *out, struct err *);
int measures_add_cycles_of_counts(const struct counts *, const struct cpu_pmu *,
				  const struct cycle_options *, struct measures *out, struct err *);

/*
 * Adds events, and the metrics that can be computed from them. `pmu` NULL: events only. Of each region: its
 * events, "ipc", "calls", and "time".
 */
void measures_of_counts(const struct counts *, const struct cpu_pmu *, struct measures *out);

/* Appends a baseline file. Equal measures give equal bytes. */
void measures_write(const struct measures *, struct text *out);

/*
 * Reads a baseline file and adds to `out`, which is to be released also after a failure. `name` is
 * for messages.
 */
int measures_read(const char *bytes, size_t size, const char *name, struct measures *out,
		  struct err *);

/* Does the file begin like a baseline? */
bool measures_is_baseline(const char *bytes, size_t size);

#endif
