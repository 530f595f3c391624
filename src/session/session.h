/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened capture with everything that answers need: the process timeline, the CPU
 * catalog, symbols and workers. Opening is pass 1 (docs/design.md).
 */
#ifndef CYCLOPS_SESSION_SESSION_H
#define CYCLOPS_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/tuples.h"
#include "capture/capture.h"
#include "cpu/cpu.h"
#include "process/attribution.h"
#include "process/timeline.h"
#include "session/interval.h"
#include "session/slices.h"
#include "symbol/symbols.h"

/* How to open; all borrowed for the life of the session. */
struct session_options {
	const char *path;  /* of the capture; "-" is standard input */
	const void *bytes; /* not NULL: the capture itself; `path` is for messages then */
	size_t n_bytes;
	const char *cpu_name;	  /* --cpu, or NULL: what the capture says */
	const char *catalog_path; /* --catalog, or NULL */
	unsigned n_workers;	  /* 0: one for each CPU */
	const char *select;	  /* --select, or NULL; select_compile() puts it to use */
	uint64_t interval; /* --interval: operations between SPE samples, or 0: as recorded */
	struct symbols_options symbols;
};

/* Cores with numbers from here on are looked up one by one. */
enum { SESSION_CPUS = 512 };

struct session {
	struct capture *capture;
	struct timeline *timeline;
	struct catalog *catalog;
	struct symbols *symbols;
	struct pool *pool;
	struct symbols_options symbols_options;
	const struct cpu *cpu; /* --cpu's, else that of the whole capture; NULL if unknown */
	const char *path, *catalog_path;      /* of the capture, and of --catalog, as given */
	const char *select;		      /* --select as given, or NULL: for tip() */
	uint64_t interval_given;	      /* --interval, or 0 */
	bool cpu_is_given;		      /* by --cpu: holds for every core */
	const struct cpu *cpus[SESSION_CPUS]; /* by number of the core; NULL if unknown */

	/* What an SPE record stands for, by number of the core; the last: all others. */
	struct spe_interval intervals[SESSION_CPUS + 1];

	struct slices slices; /* --time-slices, or none */

	/* Ids of pass 2, of all workers. Each scan begins with places of its own. */
	struct place_numbers *places; /* 0: nothing known */
	struct tuples frames;	      /* (caller's frame, place); 0: no caller */
	struct attribution_totals attribution;
	struct {
		uint64_t n,
			n_records; /* SPE records that no filter of the capture lets pass, of all */
	} unfiltered;		   /* in the scan that found most of them */
	uint64_t first_ns, last_ns; /* of the records that were scanned; 0, 0 if none has a time */
	unsigned n_scans;	    /* how often the capture was decoded, as a whole or in part */
	bool has_unwind_notes;	    /* so is which call chains of copied stacks end early */
	bool has_unit_damage; /* what units could not read is among the capture's diagnostics */
};

/* Opens the capture and runs pass 1. `out` is to be released also after a failure. */
int session_open(struct session *out, const struct session_options *, struct err *);
void session_release(struct session *);

/* The CPU that core `cpu` is, NULL if not known. UINT32_MAX: a core that is not known. */
const struct cpu *session_cpu_of(const struct session *, uint32_t cpu);

/* The data source of a row, in the CPU's words, or NULL: absent or not known. */
const struct cpu_source *session_source(const struct session *, uint32_t cpu, uint16_t value);

/* A global place as (module, offset). */
static inline struct place session_place(const struct session *s, uint32_t place)
{
	return place_numbers_get(s->places, place);
}

#endif
