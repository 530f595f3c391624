/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened capture with the process timeline, the CPU catalog, symbols and workers. Opening it is
 * pass 1 (docs/design.md).
 */
#ifndef CYCLOPS_SESSION_SESSION_H
#define CYCLOPS_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/tuples.h"
#include "capture/capture.h"
#include "cpu/cpu.h"
#include "process/attribution.h"
#include "process/timeline.h"
#include "session/interval.h"
#include "session/slices.h"
#include "symbol/symbols.h"

/* --raw: the file is one SPE buffer, and --midr (or NULL) is MIDR_EL1 of the CPU that wrote it. */
struct raw_options {
	bool is_raw;
	const char *midr;
};

/* Opens a capture, or a buffer. */
int raw_options_open(const struct raw_options *, const char *path, struct capture **out,
		     struct err *);

/* How to open; all borrowed for the life of the session. */
struct session_options {
	const char *path;  /* of the capture; "-" is standard input */
	const void *bytes; /* not NULL: the capture itself; `path` is for messages then */
	size_t n_bytes;
	struct raw_options raw;
	const char *cpu_name;	  /* --cpu, or NULL: what the capture says */
	const char *catalog_path; /* --catalog, or NULL */
	unsigned n_workers;	  /* 0: one for each CPU */
	unsigned n_at_once;	  /* so many sessions share these; 0 is as 1 */
	const char *select;	  /* --select, or NULL; kept for tip(), compiled elsewhere */
	uint64_t interval; /* --interval: operations between SPE samples, or 0: as recorded */
	struct symbols_options symbols;
	struct progress *progress; /* to be told how far scans have come; NULL: nobody asks */
};

/* CPUs with higher numbers are not cached in struct session. */
enum { SESSION_CPUS = 512 };

struct heap_map;

struct session {
	struct capture *capture;
	struct timeline *timeline;
	struct catalog *catalog;
	struct symbols *symbols;
	struct pool *pool;
	unsigned
		n_scanners; /* workers of its scans: one of a small capture, if nobody says how many */
	struct progress *progress; /* borrowed, or NULL */
	struct symbols_options symbols_options;
	const struct cpu *cpu;		 /* by --cpu, else that of the capture; NULL: not known */
	const char *path, *catalog_path; /* of the capture, and of --catalog, as given */
	const char *select;		 /* --select as given, or NULL: for tip() */
	const char *counts_path;	 /* --counts as given, or NULL: for tip() */
	uint64_t interval_given;	 /* --interval, or 0 */
	struct raw_options raw;		 /* as given, for tip() */
	bool cpu_is_given;		 /* by --cpu: it is the model of every core */
	const struct cpu *cpus[SESSION_CPUS]; /* by number of the core; NULL: not known */

	/* SPE sampling interval by number of the core; the last one is for all others. */
	struct spe_interval intervals[SESSION_CPUS + 1];

	struct lost_samples lost; /* of SPE */

	struct slices slices; /* --time-slices, or none */

	/* Callers of SPE records (callers/callers.h); of.find NULL: they have none. */
	struct {
		struct attribution_callers of;
		void (*free)(void *context);
		bool is_asked;
	} callers;

	const struct heap_map *heap; /* --heap-map: borrowed from the command; NULL: none */

	/* Results of the last scan. A scan with scan_wish.keeps_places keeps the places. */
	struct place_numbers *places; /* place 0: unknown */
	struct tuples frames;	      /* call chains: see attribution_frames() */
	struct attribution_totals attribution;
	struct {
		uint64_t n,
			n_records;  /* n of n_records SPE records contradict the event's filters */
	} unfiltered;		    /* of the scan that found most of them */
	uint64_t first_ns, last_ns; /* times of the scanned records; 0, 0: none has a time */
	unsigned n_scans;	    /* how often the capture was decoded, in whole or in part */
	bool has_unwind_notes;	    /* diagnostics of unwinding are in the capture's, once */
	bool has_branch_notes;	    /* diagnostics of branch stacks are in the capture's, once */
	bool has_unit_damage;	    /* diagnostics of units are in the capture's, once */
};

/* Opens the capture and runs pass 1. `out` is to be released also after a failure. */
int session_open(struct session *out, const struct session_options *, struct err *);
void session_release(struct session *);

/* For session_cpu_of(): of the CPUs that have no place in `cpus`. */
const struct cpu *session_look_up_cpu_(const struct session *, uint32_t cpu);

/* The model of core `cpu` (UINT32_MAX: core not known). NULL if it is not known. */
static inline const struct cpu *session_cpu_of(const struct session *s, uint32_t cpu)
{
	return cpu < SESSION_CPUS ? s->cpus[cpu] : session_look_up_cpu_(s, cpu);
}

/* The meaning of a data source value on core `cpu`; NULL if its model does not have it. */
static inline const struct cpu_source *session_source(const struct session *s, uint32_t cpu,
						      uint16_t value)
{
	return cpu_source(session_cpu_of(s, cpu), value);
}

/* The interval of a CPU in this session: --interval, or as recorded. */
static inline const struct spe_interval *spe_interval(const struct session *s, uint32_t cpu_number)
{
	return &s->intervals[cpu_number < SESSION_CPUS ? cpu_number : SESSION_CPUS];
}

/* A global place as (module, offset). */
static inline struct place session_place(const struct session *s, uint32_t place)
{
	return place_numbers_get(s->places, place);
}

#endif
