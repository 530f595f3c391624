/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU catalog: facts about CPUs. They are JSON files in catalog/, embedded in the program, so a
 * new CPU needs no new code.
 */
#ifndef CYCLOPS_CPU_CPU_H
#define CYCLOPS_CPU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct catalog;

/*
 * Loads the embedded catalog, then the files that the user keeps (catalog_user_folder()), then the file
 * `extra_path` (NULL: none; form: catalog/schema.md). The catalog is then constant and may be shared by threads.
 */
int catalog_open(const char *extra_path, struct catalog **out, struct err *);
void catalog_free(struct catalog *);

struct text;

/*
 * Appends the folder with the user's own files: $XDG_DATA_HOME/cyclops/catalog, or that below ~/.local/share. False: neither
 * variable is set.
 */
bool catalog_user_folder(struct text *);

/* Levels of the memory hierarchy, which data sources are mapped to. Ordered by distance. */
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
	const char *name; /* the name in the CPU's documentation: "PEER_CORE", "SLC" */
	enum source_level level;
	bool is_modified;	     /* the line was modified in another cache */
	int spe_parser;		     /* known to Arm's spe-parser? For that output format only */
	const char *spe_parser_name; /* its name there ("PEER-CPU"); NULL if it has none */
};

/* A CPU of the catalog; valid until catalog_free(). */
struct cpu;

/* The CPU with the implementer and part of this MIDR_EL1, or NULL. */
const struct cpu *catalog_cpu_of_midr(const struct catalog *, uint64_t midr);

/* Ids of the generic entries: for any Arm CPU, and for any CPU. */
#define CPU_ANY_ARM "generic-pmuv3"
#define CPU_ANY "linux-generic"

/* The generic entry for a CPU with this MIDR_EL1 that is not in the catalog; 0: MIDR not known. */
const struct cpu *catalog_cpu_stand_in(const struct catalog *, uint64_t midr);

/*
 * Finds a CPU by id, name or product ("Graviton4", "kunpeng 920"). Case, spaces and hyphens are
 * ignored, and a first word (maker or family) may be missing. NULL if there is none.
 */
const struct cpu *catalog_cpu_find(const struct catalog *, const char *name);

/*
 * The same for --cpu, which may add a revision ("neoverse-n2:r0p2") or be a MIDR_EL1 ("0x410fd490").
 * Then *midr becomes that of the revision. NULL and an error that names similar CPUs. `midr` may be NULL.
 */
const struct cpu *catalog_cpu_named(const struct catalog *, const char *name, uint64_t *midr,
				    struct err *);

/* The CPU of exactly that id, or NULL. */
const struct cpu *catalog_cpu_of_id(const struct catalog *, const char *id);

/* Ids of CPUs that files beside the embedded ones change, in order of reading; a CPU may be there twice. */
size_t catalog_n_changed(const struct catalog *);
const char *catalog_changed_at(const struct catalog *, size_t i);

/* The id that `after` has beyond those of `before`; NULL: none, or several. */
const char *catalog_changed_last(const struct catalog *after, const struct catalog *before);

/* All CPUs: the embedded ones in order of id, then those of the extra file. */
size_t catalog_n_cpus(const struct catalog *);
const struct cpu *catalog_cpu_at(const struct catalog *, size_t index);

const char *cpu_id(const struct cpu *);	  /* "neoverse-n1" */
const char *cpu_name(const struct cpu *); /* "Neoverse N1" */

/* Other name number `i`, products included ("AWS Graviton2"); NULL behind the last. */
const char *cpu_alias_at(const struct cpu *, size_t i);

/*
 * Writes a name for a MIDR: that of its CPU, of a product without an entry of its own
 * ("Cortex-A78AE"), or its numbers ("Arm 0xd0c").
 */
void midr_describe(const struct catalog *, uint64_t midr, char *out, size_t size);

/* A MIDR_EL1 in hexadecimal ("0x410fd0c1"), without blanks; false: the text is something else. */
bool midr_of_text(const char *text, uint64_t *out);

/* The meaning of a data source value on this CPU; NULL if the CPU or the value is unknown. */
const struct cpu_source *cpu_source(const struct cpu *, uint16_t value);

/* All meanings by value, for loops; NULL: such a value is unknown. Of NULL there are none. */
struct cpu_sources {
	const struct cpu_source *const *by_value;
	size_t n;
};

struct cpu_sources cpu_sources(const struct cpu *);

static inline enum source_level cpu_sources_level(const struct cpu_sources *sources, uint16_t value)
{
	const struct cpu_source *source = value < sources->n ? sources->by_value[value] : NULL;

	return source != NULL ? source->level : SOURCE_UNKNOWN;
}

/* Are the data sources of this CPU known? False for NULL. */
bool cpu_has_sources(const struct cpu *);

/*
 * The CPU's own name for a bit of the SPE events packet ("LATE-PREFETCH": bit 12 of the N1), or
 * NULL.
 */
const char *cpu_spe_event(const struct cpu *, unsigned bit);

/* The name of a level in text and csv: "L1", "DRAM" … */
const char *source_level_name(enum source_level);

/* The level of that name, ignoring case; -1 if there is none. */
int source_level_find(const char *name);

/*
 * How SPE randomises its interval (PMSIDR_EL1.ERnd). 0: jitter is added to it. 1: its mean stays
 * the same. -1: not known.
 */
int cpu_spe_ernd(const struct cpu *);

/* Bytes of a data cache line; 0 if not known. */
unsigned cpu_cache_line(const struct cpu *);

/* Cycles from a load that hits the L1D to the use of what it read; 0 if not known. */
unsigned cpu_load_to_use(const struct cpu *);

/* A lower bound of the lines that the private caches of a core hold. NULL: for any CPU. */
unsigned catalog_own_cache_lines(const struct catalog *, const struct cpu *);

/* May this CPU have SPE? True if it is optional or not known. */
bool cpu_may_have_spe(const struct cpu *);

#endif
