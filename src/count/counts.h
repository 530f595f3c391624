/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was counted: event counts of one run or of several, counted here, read from the output
 * of another tool, or by the machine model. Whoever counts fills it, whoever explains reads it.
 */
#ifndef CYCLOPS_COUNT_COUNTS_H
#define CYCLOPS_COUNT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

enum count_state {
	COUNT_COUNTED,
	COUNT_NOT_COUNTED,   /* opened, but never on a counter: running_ns is 0 */
	COUNT_NOT_SUPPORTED, /* this machine cannot count it */
	COUNT_FORBIDDEN,     /* the user may not count it */
};

enum { COUNT_ANY = -1 };

/* One event, over one span of time, on one thread or CPU or all of them. */
struct count {
	const char *event; /* as the catalog or the kernel calls it: "CPU_CYCLES", "page-faults" */
	const char *pmu;   /* "armv8_pmuv3_0"; NULL: not told */
	const char *unit;  /* of `value`: "ns", "MiB"; NULL: events */
	double value;	   /* scaled to the whole time if running_ns < enabled_ns */
	uint64_t raw;	   /* as read from the counter; 0 if only `value` is known */
	uint64_t enabled_ns, running_ns; /* both 0: not told */
	double spread;	    /* standard deviation over `n_runs`, as a share of the value */
	uint32_t n_runs;    /* that were averaged; 0 is 1 */
	uint32_t n_periods; /* of a tool that lets events take turns; 0: not told */
	uint32_t group;	    /* counted at the same moments as others of that number; 0: not told */
	const char
		*where; /* a part of the machine: "S0-D0-C3", a cgroup, a thread's name; or NULL */
	int32_t cpu;	/* COUNT_ANY: all */
	int32_t tid;	/* COUNT_ANY: all */
	uint32_t interval; /* index into counts.intervals; 0 if there are none */
	uint8_t state;	   /* enum count_state */
	bool is_user_only; /* the kernel's share is left out */
};

/* One tick of -I. */
struct count_interval {
	uint64_t end_ns; /* since the start */
};

/* A metric that another tool worked out; its events may be lost. */
struct count_metric {
	const char *name;
	const char *unit; /* NULL: not told */
	double value;
	uint32_t interval;
};

/* What is known of the cores of one type, where there are several. */
struct count_pmu {
	const char *name;    /* of their PMU: "armv8_cortex_a53" */
	const char *cpu;     /* as below */
	uint64_t midr;	     /* 0: not told */
	uint32_t n_counters; /* as below */
	uint32_t slots;
};

/* All counts of a run, or of the runs that were put together. Zeroed is empty. */
struct counts {
	struct arena memory;	    /* holds the texts */
	VEC_OF(struct count) items; /* in order of intervals */
	VEC_OF(struct count_metric) metrics;
	VEC_OF(struct count_interval) intervals;
	VEC_OF(struct count_pmu) pmus; /* empty: cores of one type, or not told */
	const char *command;	       /* that was counted; NULL: not told */
	const char *date;	       /* when, as told; NULL: not told */
	const char *source;    /* where they are from: "perf stat -j", "cyclops stat"; NULL: here */
	const char *cpu;       /* the catalog's id; NULL: not told */
	uint64_t midr;	       /* 0: not told */
	uint64_t elapsed_ns;   /* of one run; 0: not told */
	double elapsed_spread; /* standard error of their mean over several runs, as a share */
	uint32_t n_counters;   /* programmable ones that were free; 0: not told */
	uint32_t slots;	       /* in a cycle, as the kernel tells; 0: not told */
	uint32_t n_runs;       /* of the command, for all of them; 0: not told */
	uint64_t n_gave_up;    /* times that threads left a CPU to wait for something, in n_runs */
	uint64_t n_put_off;    /* times that they left it for another task; both 0: not told */
	bool is_modelled;      /* by the machine model: simulated, not measured */
	bool has_no_pmu;       /* counted where there is none: the kernel's own events alone */
	bool has_own_times; /* enabled − running is multiplexing only, never time on cores of another type */
};

/* Frees what it holds and empties it. */
void counts_release(struct counts *);

/* Appends a count of that event, on any CPU and thread; the name is copied. Valid until the next. */
struct count *counts_add(struct counts *, const char *event);

/*
 * The count of the event over everything, whatever the case of its name, or NULL. Where there
 * are several (by cpu, by thread, by interval), the first.
 */
const struct count *counts_find(const struct counts *, const char *event);

/* The time of one run: as told, or of perf's event duration_time; 0: not known. */
double counts_elapsed_ns(const struct counts *);

/* The part of the time in which it was on a counter: 1 if not told. */
double count_coverage(const struct count *);

#endif
