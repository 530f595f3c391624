/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder: opens events, drains their rings into a perf.data file until the program ends,
 * somebody asks for the end, or a limit is reached.
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

enum record_stacks {
	RECORD_NO_STACKS,
	RECORD_FRAME_POINTERS, /* the kernel follows frame pointers */
	RECORD_DWARF,	       /* registers and a copy of the stack, to be unwound later */
	RECORD_LBR,	       /* the CPU's record of branches */
};

enum {
	RECORD_DEFAULT_FREQUENCY = 4000, /* Hz, that of perf */
	RECORD_DEFAULT_STACK = 8192,	 /* bytes of the stack to copy, as perf */
	RECORD_STACK_MAX = 65528,
};

/* Zero, false or NULL is the default of all of them. */
struct record_options {
	char *const *program;		 /* and its arguments; NULL ends it; NULL: none */
	const char *const *command_line; /* for the capture; NULL ends it */
	const char *version;		 /* of cyclops, for the capture */
	const char *output;		 /* path of the file */

	/* What is watched. None of them: the program; without one, everything. */
	const char *pids, *tids; /* "17,18" */
	const char *cpus;	 /* "0-3": only while on these CPUs */
	const char *cgroup;	 /* its path below the cgroup file system; without pids and tids */
	bool is_system_wide;
	bool without_children; /* nor threads that are made later */

	/* What is recorded, and how often. */
	const char *const *events; /* lists of events; NULL ends it */
	size_t n_events;
	const char *spe;    /* filters, "" for none; NULL: no SPE */
	uint64_t period;    /* 0: by frequency */
	uint64_t frequency; /* Hz, UINT64_MAX: the highest allowed */

	/* What a sample tells. */
	enum record_stacks stacks;
	uint32_t stack_bytes;
	uint64_t branch_filter; /* of branch_sample_type; 0: no branch stacks */
	bool with_addresses;	/* of data, with their source; and mappings of data */
	bool with_physical;
	bool with_weight;
	bool with_registers; /* those of the interrupted code */
	uint64_t registers;  /* which, by the kernel's numbers; 0: all of them */
	bool with_switches;  /* a record for each time a thread gets or leaves a CPU */
	const char *clock;   /* "mono", "boottime" …; NULL: perf's own */

	/* Limits and sizes, in bytes and ns. */
	uint64_t max_bytes, duration_ns, delay_ns;
	uint64_t ring_bytes, aux_bytes; /* of each CPU; 0: as much as seems right */
	int compression;		/* level of zstd; 0: none */
	bool is_snapshot;		/* SPE: keep the last aux_bytes, write them on SIGUSR2 */
};

/* What came of it. */
struct record_summary {
	uint64_t n_bytes;	 /* of the file */
	uint64_t n_samples;	 /* in it, but for those of SPE */
	uint64_t n_samples_lost; /* that found no room in their ring */
	uint64_t n_records_lost; /* of any kind, as far as rings tell */
	uint64_t n_wakeups;
	uint64_t aux_bytes;
	uint64_t n_aux; /* reports of SPE data, of them … */
	uint64_t n_aux_truncated, n_aux_collided;
	uint64_t spe_interval; /* operations between samples; 0: no SPE */
	bool reached_size, reached_time;
	int status; /* of the program, as a shell has it; 0 if it was ended by a limit of ours */
};

/*
 * Appends what came of it in one sentence: "perf.data: 1.2 MiB, 40 123 samples". With a second
 * sentence if anything was lost, or a limit reached.
 */
void record_sum_up(const struct record_options *, const struct record_summary *, struct text *);

/* Is there something that should have been recorded, and was not? */
bool record_has_losses(const struct record_summary *);

/*
 * Records. Fails if nothing can be recorded or the file cannot be written on; what was
 * recorded until then is in the file. What is worth telling goes to the diagnostics.
 */
int record(const struct record_options *, const struct kernel *, struct record_summary *out,
	   struct diags *, struct err *);

#endif
