/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microbenchmarks: loops of which it is known what they make each event count. `cyclops kernel` runs
 * them, `cyclops doctor --events` checks events with them. They need nothing but this room and base/,
 * so cyclops-kernel has the same code for the machine model and for other machines.
 *
 * Only run() is measured. Loops are assembly, or code that prepare() writes, so that the number of
 * instructions of an iteration is known.
 */
#ifndef CYCLOPS_KERNEL_LOOPS_MICROBENCHMARK_H
#define CYCLOPS_KERNEL_LOOPS_MICROBENCHMARK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* What can be chosen; each microbenchmark has some of them. microbenchmark_parameters names them. */
enum parameter {
	ITERATIONS,
	LINES,
	STRIDE,
	BLOCK,
	HUGE_PAGES,
	BRANCHES,
	SPACING,
	TARGETS,
	DEPTH,
	TAKEN,
	RANDOM,
	OVERLAP,
	DENORMAL,
	MODIFIED,
	PADDING,
	BUSY,
	N_PARAMETERS,
};

struct parameter_text {
	const char *name; /* in options and formulas: "iterations" */
	const char *help;
};

extern const struct parameter_text microbenchmark_parameters[N_PARAMETERS];

/* The values of a parameter that a microbenchmark takes. It does not have it if `most` is 0. */
struct parameter_range {
	uint64_t usual, least, most;
	uint64_t step; /* values are multiples of it; 0 means 1 */
};

/* Instruction sets; a set of them. */
enum {
	ON_AARCH64 = 1,
	ON_X86_64 = 2,
	ON_ARM = 4, /* 32 bits */
	ON_ALL = ON_AARCH64 | ON_X86_64 | ON_ARM,
};

/* That of this program; 0: another one. */
#if defined(__aarch64__)
enum { MICROBENCHMARK_ARCHITECTURE = ON_AARCH64 };
#elif defined(__x86_64__)
enum { MICROBENCHMARK_ARCHITECTURE = ON_X86_64 };
#elif defined(__arm__) && defined(__ARM_FP)
enum { MICROBENCHMARK_ARCHITECTURE = ON_ARM };
#else
enum { MICROBENCHMARK_ARCHITECTURE = 0 };
#endif

/* "aarch64", "x86_64", "arm". */
const char *microbenchmark_architecture_name(unsigned one);

enum { MICROBENCHMARK_LINE = 64, ANY_CPU = -1 };

struct microbenchmark;

/* A microbenchmark that is prepared, or being so. */
struct microbenchmark_run {
	const struct microbenchmark *what;
	uint64_t values[N_PARAMETERS];
	void *memory; /* NULL: it needs none */
	size_t memory_bytes;
	void *position; /* where the next run goes on */
	bool has_huge_pages;

	/* The CPU of the second thread, of those that have one; ANY_CPU: any. */
	int peer_cpu;
	int first_cpu; /* that of the first thread when the second one began */
	pthread_t peer;
	bool has_peer; /* the thread runs, between prepare and release */
	void *shared;  /* what both threads use, inside of the memory */
};

struct microbenchmark {
	const char *name;
	const char *iteration; /* what one does: "a load that waits for the one before" */
	const char *proves;    /* what a comparison of counts with expectations shows */
	struct parameter_range parameters[N_PARAMETERS];
	unsigned n_arrays; /* of `lines` lines each, that share a cache level; 0: it has no level */
	unsigned architectures; /* on which it can run */
	unsigned n_threads;	/* 0 means 1 */
	bool sleeps;		/* so that an iteration takes more time than CPU time */

	/* Fills r->memory, which is NULL before. May be NULL. Fails if the system refuses something. */
	int (*prepare)(struct microbenchmark_run *r, struct err *);

	/* The measured part. May be repeated. */
	void (*run)(struct microbenchmark_run *r);

	/* Iterations after which everything was touched once; NULL: 1. */
	uint64_t (*round)(const uint64_t values[N_PARAMETERS]);

	/* Ends what prepare() began, beside the memory. May be NULL. */
	void (*finish)(struct microbenchmark_run *r);
};

/* All of them, by index; NULL behind the last. Those of other architectures, too. */
const struct microbenchmark *microbenchmark_at(size_t i);

/* NULL: there is none of this name. */
const struct microbenchmark *microbenchmark_find(const char *name);

/* Can this program run it? */
bool microbenchmark_is_here(const struct microbenchmark *);

/* Does it have the parameter? */
bool microbenchmark_takes(const struct microbenchmark *, enum parameter);

/* The values that are used if nothing is said. */
void microbenchmark_set_usual(const struct microbenchmark *, uint64_t values[N_PARAMETERS]);

/* Sets a parameter by its name. Fails if there is none, or if the value is out of its limits. */
int microbenchmark_set(const struct microbenchmark *, const char *name, uint64_t value,
		       uint64_t values[N_PARAMETERS], struct err *);

/* The caches and TLBs of a machine. 0: not known. */
struct cache_sizes {
	uint64_t l1d_bytes, l2_bytes, llc_bytes;
	uint64_t dtlb_pages, l2tlb_pages; /* of 4096 bytes */
};

/* The names of levels, by index; NULL behind the last. */
const char *microbenchmark_level_name(size_t i);

/*
 * Sets `lines`, and for TLBs `stride`, so that the data is at a level: "l1", "l2", "llc", "dram"; in
 * the first cache levels but on so many pages that it needs the second TLB ("tlb2") or walks ("walk").
 */
int microbenchmark_set_level(const struct microbenchmark *, const char *level,
			     const struct cache_sizes *, uint64_t values[N_PARAMETERS],
			     struct err *);

/*
 * Prepares a run with these values, and warms it up: all of its data has been touched in the order
 * of the run. To be released, also after an error.
 */
int microbenchmark_prepare(const struct microbenchmark *, const uint64_t values[N_PARAMETERS],
			   int peer_cpu, struct microbenchmark_run *out, struct err *);
void microbenchmark_release(struct microbenchmark_run *);

#endif
