/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was measured in a run, as numbers with names and their error: what two runs are compared
 * by. A capture gives the cost of its functions, a file of counts gives events and metrics, a
 * baseline is either of them written to a file.
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
#include "scan/shared_scan.h"
#include "session/session.h"

enum measure_kind {
	MEASURE_TOTAL,	/* of an event of a capture, and the time it ran */
	MEASURE_METRIC, /* of the CPU: "ipc" */
	MEASURE_EVENT,	/* counted */
	MEASURE_FUNCTION,
	MEASURE_LINE,
	MEASURE_INSTRUCTION,
	MEASURE_SOURCE, /* of data */
	MEASURE_SHARED, /* data on cache lines that threads fight over */
	N_MEASURE_KINDS,
};

/* One number. */
struct measure {
	uint8_t kind;	    /* enum measure_kind */
	bool is_scaled;	    /* by multiplexing: how far it is off is not known */
	const char *event;  /* what was sampled; "": counted */
	const char *name;   /* "chase", "walk.c:8", "chase+0x4", "DRAM", "ipc" */
	const char *module; /* of code; "" else */
	const char *unit;   /* "cycles", "ns", "events"; "": a ratio */
	double value;
	double error;	  /* standard error; NAN: not known */
	uint64_t samples; /* that it rests on; 0: counted */
	double full;	  /* of the value, what full latency counters show: it is at least that */
	uint64_t n_full;  /* samples with such a counter */
};

/* All numbers of a run. Zeroed is empty. */
struct measures {
	struct arena memory; /* holds the texts, which are valid UTF-8: measures_text() */
	VEC_OF(struct measure) list;
	uint32_t kinds;	     /* bits of those that were looked for, whether found or not */
	const char *origin;  /* the file it is from */
	const char *command; /* that ran; NULL: not told */
	const char *cpu;     /* name; NULL: not told */
	uint64_t elapsed_ns; /* 0: not told */
	bool is_modelled;
	bool is_unscaled; /* SPE records with an unknown interval: costs are of the samples alone */
};

void measures_release(struct measures *);

/*
 * A copy of a text from outside, for a measure: bytes that are not UTF-8, which a baseline cannot
 * hold, become \xNN, so that a capture has the names of its baseline. NULL stays NULL.
 */
const char *measures_text(struct measures *, const char *text);

/* "function" …; these words are also the names of tables and of kinds in files. */
const char *measure_kind_name(enum measure_kind);
int measure_kind_find(const char *name); /* -1: no such */

/*
 * What a capture holds: totals, and the costs by each of the kinds whose bit is set. SPE records
 * cost the cycles that their operation took, each for as many as the sampling interval says. The
 * scan that it takes is `first`, which may have other analyses.
 */
void measures_of_session(struct session *, const struct select *, uint32_t kinds,
			 struct shared_scan *first, struct measures *out);

/* The time that the run took, unless it is there; `spread` is its standard error as a share, 0: not known. */
void measures_add_time(struct measures *, double spread);

/* For c2c_begin(), before the first scan. */
extern const struct c2c_request measures_shared_request;

/*
 * Adds what loads waited for data of other cores, by the name of the data: "account"; "data of
 * f" where it has none and f accesses it most; and "all lines".
 */
int measures_add_shared(struct c2c *, const struct select *, struct measures *out, struct err *);

/* Events and the metrics that can be made of them. `pmu` may be NULL: events alone. */
void measures_of_counts(const struct counts *, const struct cpu_pmu *, struct measures *out);

/* Appends the file form of a baseline. Equal measures give equal bytes. */
void measures_write(const struct measures *, struct text *out);

/* Reads that form; adds to `out`, to be released also after a failure. `name` is for messages. */
int measures_read(const char *bytes, size_t size, const char *name, struct measures *out,
		  struct err *);

/* Does the file begin like a baseline? */
bool measures_is_baseline(const char *bytes, size_t size);

#endif
