/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event counts of one run or several. Counted here, imported from another tool, or made by the
 * machine model.
 */
#ifndef CYCLOPS_COUNT_COUNTS_H
#define CYCLOPS_COUNT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

enum count_state {
	COUNT_COUNTED,
	COUNT_NOT_COUNTED,   /* opened, but never on a counter: running_ns is 0 */
	COUNT_NOT_SUPPORTED, /* this machine cannot count it */
	COUNT_FORBIDDEN,     /* this user may not count it */
	N_COUNT_STATES,
};

enum { COUNT_ANY = -1 };

/* The count of one event on one thread, one CPU or all of them, in one interval. */
struct count {
	const char *event; /* the name in the catalog or the kernel: "CPU_CYCLES", "page-faults" */
	const char *pmu;   /* "armv8_pmuv3_0"; NULL: not known */
	const char *unit;  /* of `value`: "ns", "MiB"; NULL: events */
	double value;	   /* scaled to the whole time if running_ns < enabled_ns (multiplexing) */
	uint64_t raw;	   /* as read from the counter; 0 if only `value` is known */
	uint64_t enabled_ns, running_ns; /* both 0: not known */
	double spread;	    /* standard deviation over `n_runs`, as a share of the value */
	uint32_t n_runs;    /* runs that were averaged; 0 means 1 */
	uint32_t n_periods; /* times that a tool's rotation counted the event; 0: not known */
	uint32_t group;	    /* equal for events that were counted at the same time; 0: not known */
	const char
		/* a part of the machine ("S0-D0-C3"), a cgroup, the name of a thread; NULL: none */
		*where;
	int32_t cpu;	   /* COUNT_ANY: all */
	int32_t tid;	   /* COUNT_ANY: all */
	uint32_t interval; /* index into counts.intervals; 0 if there are none */
	uint8_t state;	   /* enum count_state */
	bool is_user_only; /* kernel code is excluded */
};

/* An interval of -I. */
struct count_interval {
	uint64_t end_ns; /* since the start */
};

/* A metric that another tool printed. Its events may be missing. */
struct count_metric {
	const char *name;
	const char *unit; /* NULL: not known */
	double value;
	uint32_t interval;
};

/* The cores of one type, on machines with several. */
struct count_pmu {
	const char *name;    /* of their PMU: "armv8_cortex_a53" */
	const char *cpu;     /* as below */
	uint64_t midr;	     /* 0: not known */
	uint32_t n_counters; /* as below */
	uint32_t slots;
};

/* A region that a program measured itself (libcyclops), with all threads and all regions around it. */
struct count_region {
	const char *name;
	uint64_t calls;
	uint64_t time_ns;      /* summed over calls and threads */
	uint64_t exclusive_ns; /* without the regions inside of it */
	uint32_t n_threads;
	VEC_OF(struct count) items; /* by thread and set, as `group` */
};

/* The counts of a run, or of several that were joined. Zeroed is empty. */
struct counts {
	struct arena memory;	    /* holds the texts */
	VEC_OF(struct count) items; /* in order of intervals */
	VEC_OF(struct count_metric) metrics;
	VEC_OF(struct count_interval) intervals;
	VEC_OF(struct count_pmu) pmus; /* empty: cores of one type, or not known */
	/* those of libcyclops, in the order of their first call; `items` are of what is not inside another */
	VEC_OF(struct count_region) regions;
	const char *command; /* that was measured; NULL: not known */
	const char *date;    /* as the tool wrote it; NULL: not known */
	const char *source;  /* the tool: "perf stat -j", "cyclops stat"; NULL: counted here */
	const char *cpu;     /* id in the catalog; NULL: not known */
	uint64_t midr;	     /* 0: not known */
	uint64_t elapsed_ns; /* of one run; 0: not known */
	/* standard error of elapsed_ns over several runs, as a share of it */
	double elapsed_spread;
	uint32_t n_counters; /* free programmable counters; 0: not known */
	uint32_t slots;	     /* per cycle, from the kernel; 0: not known */
	uint32_t n_runs;     /* of the command, in all counts; 0: not known */
	uint64_t n_gave_up;  /* voluntary context switches in all runs */
	uint64_t n_put_off;  /* involuntary context switches; both 0: not known */
	int status;	     /* exit status of the command; 0 also if that is not known */
	bool is_modelled;    /* simulated by the machine model */
	bool has_no_pmu;     /* without a PMU: generic events of the kernel only */
	/* enabled - running is multiplexing only, never time on cores of another type */
	bool has_own_times;
};

/* Frees the contents and empties it. */
void counts_release(struct counts *);

/*
 * Appends a count for all CPUs and threads; the name is copied. The result is valid until the next
 * call.
 */
struct count *counts_add(struct counts *, const char *event);

/*
 * Gives a count the unit that a tool wrote, `n` bytes: milliseconds and seconds become nanoseconds, other
 * units stay.
 */
void counts_set_unit(struct counts *, struct count *, const char *unit, size_t n);

/*
 * The count of an event over everything, ignoring case; NULL if there is none. The first one, if
 * there are counts by CPU, thread or interval.
 */
const struct count *counts_find(const struct counts *, const char *event);

/*
 * Makes `items` those of the region of that name. Fails if there are no regions, or none of that name:
 * the error names the nearest.
 */
int counts_take_region(struct counts *, const char *name, struct err *);

/* The time of one run: elapsed_ns, or perf's event duration_time. 0: not known. */
double counts_elapsed_ns(const struct counts *);

/* How long an interval lasted. */
uint64_t counts_interval_ns(const struct counts *, uint32_t interval);

/* The share of the time that the event was on a counter; 1 if not known. */
double count_coverage(const struct count *);

#endif
