/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU catalog: facts about CPUs as JSON files of catalog/, embedded in the program.
 * A new CPU is a new file, not new code.
 */
#ifndef CYCLOPS_CPU_CPU_H
#define CYCLOPS_CPU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct catalog;

/*
 * Loads the embedded catalog, and the file `extra_path` on top of it if not NULL (form:
 * catalog/schema.md). Afterwards the catalog is read-only and may be shared by threads.
 */
int catalog_open(const char *extra_path, struct catalog **out, struct err *);
void catalog_free(struct catalog *);

/* Levels of the memory hierarchy that data sources map to, ordered by distance. */
enum source_level {
	SOURCE_UNKNOWN,
	SOURCE_L1,
	SOURCE_L2,
	SOURCE_PEER_CORE,
	SOURCE_LOCAL_CLUSTER,
	SOURCE_SYSTEM_CACHE,
	SOURCE_PEER_CLUSTER,
	SOURCE_REMOTE,
	SOURCE_DRAM,
	SOURCE_REMOTE_DRAM,
	SOURCE_DEVICE,
	N_SOURCE_LEVELS,
};

/* One value of the data-source packet on some CPU. */
struct cpu_source {
	uint16_t value;
	const char *name; /* the CPU's own word: "PEER_CORE", "SLC" */
	enum source_level level;
	bool is_modified; /* the data had been modified there */
	int spe_parser;	  /* not used for anything but that tool's format: 1 if it knows it */
	const char *spe_parser_name; /* its word for it ("PEER-CPU"), NULL if it has none */
};

/* A CPU of the catalog, valid as long as the catalog. */
struct cpu;

/* The CPU with this MIDR_EL1 (implementer and part decide), or NULL. */
const struct cpu *catalog_cpu_of_midr(const struct catalog *, uint64_t midr);

/* Ids of the files that stand for CPUs without one of their own: of Arm; of any maker. */
#define CPU_ANY_ARM "generic-pmuv3"
#define CPU_ANY "linux-generic"

/* Of these, the one for a CPU with this MIDR_EL1 that the catalog does not know; 0: not told. */
const struct cpu *catalog_cpu_stand_in(const struct catalog *, uint64_t midr);

/*
 * By id, name or product ("Graviton4", "kunpeng 920"): case, spaces and hyphens do not matter, and a
 * first word that is a maker or a family may be left out. NULL if there is none.
 */
const struct cpu *catalog_cpu_find(const struct catalog *, const char *name);

/* The same for what --cpu names; without such a CPU NULL, and an error that says which is like it. */
const struct cpu *catalog_cpu_named(const struct catalog *, const char *name, struct err *);

/* All CPUs, in order of id as far as they are embedded; those of the extra file come last. */
size_t catalog_n_cpus(const struct catalog *);
const struct cpu *catalog_cpu_at(const struct catalog *, size_t index);

const char *cpu_id(const struct cpu *);	  /* "neoverse-n1" */
const char *cpu_name(const struct cpu *); /* "Neoverse N1" */

/* What else it is called, products among it, by number ("AWS Graviton2"); NULL behind the last. */
const char *cpu_alias_at(const struct cpu *, size_t i);

/*
 * What to call a MIDR, into a buffer: the name of its CPU or of the product ("Cortex-A78AE"),
 * also where nothing else is known of it, or else its numbers ("Arm 0xd0c").
 */
void midr_describe(const struct catalog *, uint64_t midr, char *out, size_t size);

/* What a data-source value means on this CPU; NULL if the CPU or value is not known. */
const struct cpu_source *cpu_source(const struct cpu *, uint16_t value);

/* Is it known what the data sources of this CPU mean? No for NULL. */
bool cpu_has_sources(const struct cpu *);

/* The CPU's own name of an SPE event bit ("LATE-PREFETCH" is bit 12 of the N1), or NULL. */
const char *cpu_spe_event(const struct cpu *, unsigned bit);

/* The name of a level, for people and for csv alike: "L1", "DRAM" … */
const char *source_level_name(enum source_level);

/* The level of that name, ignoring case; -1: no such. */
int source_level_find(const char *name);

/*
 * How the CPU's SPE adds jitter (PMSIDR_EL1.ERnd): 0 to the interval, 1 without making it
 * longer on average; -1 if not known.
 */
int cpu_spe_ernd(const struct cpu *);

/* Bytes in a data cache line; 0 if not known. */
unsigned cpu_cache_line(const struct cpu *);

/*
 * The least that a core can keep in caches that are its own, in lines: the CPU's, or what is assumed
 * of any. NULL: a CPU that is not known.
 */
unsigned catalog_own_cache_lines(const struct catalog *, const struct cpu *);

/* May this CPU have SPE? Where it is an option of the silicon, or not known: yes. */
bool cpu_may_have_spe(const struct cpu *);

#endif
