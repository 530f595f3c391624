/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder: opens events and writes what their rings hold to a perf.data file. It ends with the
 * program, on a signal, or at a limit.
 */
#ifndef CYCLOPS_RECORD_RECORD_H
#define CYCLOPS_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/text.h"
#include "pmu/kernel.h"
#include "record/accounting.h"

enum record_stacks {
	RECORD_NO_STACKS,
	RECORD_FRAME_POINTERS, /* the kernel follows frame pointers */
	RECORD_DWARF,	       /* a copy of the stack and registers, for unwinding later */
	RECORD_LBR,	       /* the CPU's branch records as call stack */
};

enum {
	RECORD_DEFAULT_FREQUENCY = 4000, /* Hz, that of perf */
	RECORD_CALLERS_FREQUENCY = 199,	 /* Hz, of stacks beside SPE; a prime */
	RECORD_DEFAULT_STACK = 8192,	 /* bytes of the stack to copy, as perf */
	RECORD_STACK_MAX = 65528,
};

/* Options. Zero, false or NULL is the default of all of them. */
struct record_options {
	/* argv of the program to start, ended by NULL; NULL: none */
	char *const *program;
	const char *const *command_line; /* of cyclops, written to the capture; ended by NULL */
	const char *version;		 /* of cyclops, for the capture */
	const char *output;		 /* path of the file */

	/* What is recorded. If none is given: the program, else the whole system. */
	const char *pids, *tids; /* "17,18" */
	const char *cpus;	 /* "0-3": only on these CPUs */
	const char *cgroup;	 /* its path below the cgroup file system; excludes pids and tids */
	bool is_system_wide;
	bool without_children; /* also no threads that are created later */

	/* What is recorded, and how often. */
	const char *const *events; /* lists of events; NULL ends it */
	size_t n_events;
	const char *
		cycles; /* events of cycle accounting: "" those that are needed, "all"; NULL: none */
	const char *spe;    /* filters, "" for none; NULL: no SPE */
	uint64_t period;    /* 0: by frequency */
	uint64_t frequency; /* Hz, UINT64_MAX: the highest allowed */

	/* What a sample contains. */
	enum record_stacks stacks;
	bool without_callers; /* no stacks beside SPE */
	uint32_t stack_bytes;
	uint64_t branch_filter; /* bits of branch_sample_type; 0: no branch stacks */
	bool with_addresses;	/* data addresses and sources, and mappings of data */
	bool with_physical;
	bool with_weight;
	bool with_registers; /* registers at the sampled instruction */
	uint64_t registers;  /* a bit for each, by the kernel's numbers; 0: all */
	bool with_switches;  /* a record for each context switch */
	const char *clock;   /* "mono", "boottime" …; NULL: perf's own */

	/* Limits and sizes, in bytes and ns. */
	uint64_t max_bytes, duration_ns, delay_ns;
	uint64_t ring_bytes, aux_bytes; /* for each CPU; 0: chosen by the recorder */
	int compression;		/* level of zstd; 0: none */
	bool is_snapshot;		/* SPE: keep the last aux_bytes, write them on SIGUSR2 */
};

/* The summary of a recording. */
struct record_summary {
	struct accounting_plan account;	    /* n_events 0: none */
	double least_counted, most_counted; /* parts of the time that its events were counted */
	uint64_t n_bytes;		    /* of the file */
	uint64_t n_samples;		    /* in the file, without SPE records */
	uint64_t n_samples_lost;	    /* dropped because their ring was full */
	uint64_t n_records_lost;	    /* records of any kind, by LOST records */
	uint64_t n_wakeups;
	uint64_t aux_bytes;
	uint64_t n_aux; /* AUX records, of them … */
	uint64_t n_aux_truncated, n_aux_collided;
	uint64_t spe_interval; /* operations between samples; 0: no SPE */
	bool reached_size, reached_time;
	int status; /* of the program, as a shell gives it; 0 if a limit ended it */
};

/*
 * Appends the summary in one sentence: "perf.data: 1.2 MiB, 40 123 samples". A second sentence says
 * what was lost or which limit was reached.
 */
void record_sum_up(const struct record_options *, const struct record_summary *, struct text *);

/* Was something lost that should have been recorded? */
bool record_has_losses(const struct record_summary *);

/*
 * Records. Fails if nothing can be recorded, or if the file cannot be written any further; it then
 * has what was recorded until then. Notes for the user go to the diagnostics.
 */
int record(const struct record_options *, const struct kernel *, struct record_summary *out,
	   struct diags *, struct err *);

#endif
