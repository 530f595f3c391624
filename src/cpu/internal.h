/* SPDX-License-Identifier: Apache-2.0 */
/* Data structures of the catalog, for this folder only. */
#ifndef CYCLOPS_CPU_INTERNAL_H
#define CYCLOPS_CPU_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/embedded.h"
#include "base/err.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "cpu/cpu.h"
#include "cpu/errata.h"
#include "cpu/makers.h"
#include "cpu/pmu.h"

/* Entries of a list that are looked up one after the other: many times what there is. */
enum { CATALOG_LIST_MOST = 4096 };

/* The fields of MIDR_EL1 that identify a CPU. */
struct midr_part {
	uint8_t implementer;
	uint16_t part; /* 12 bits */
};

/* A part with a name of its own, or of a CPU that is not in the catalog. */
struct named_part {
	struct midr_part key;
	const char *name; /* NULL: the name of the CPU */
};

/* An encoding of the data source packet. */
struct encoding {
	const char *id;
	const struct cpu_source *values;
	size_t n_values;
	const struct cpu_source *const *by_value; /* by value; NULL: the value is reserved */
	size_t n_by_value;
};

struct spe_event {
	unsigned bit;
	const char *name;
};

/* A CPU. Texts and arrays are memory of the catalog, or constants. */
struct cpu {
	const char *id, *name;
	const char *const *aliases;
	const struct named_part *parts;
	const struct encoding *encoding; /* NULL: not known */
	const struct spe_event *spe_events;
	const struct cpu_erratum *errata;
	size_t n_aliases, n_parts, n_spe_events, n_errata;
	unsigned cache_line, own_cache_lines, load_to_use; /* 0: not known */
	int spe_ernd;					   /* plus 1; 0: not known */
	struct cpu_counts counts;			   /* unit NULL: not known */
	bool lacks_spe;
};

struct implementer {
	uint8_t code;
	const char *name;
	bool has_other_pmu; /* not PMUv3 */
};

/* What is known of a part. */
struct part_facts {
	const struct cpu *cpu; /* NULL: only the name is known */
	const char *name;
};

/* What a --catalog file has about a CPU. cpu_pmu_open() reads the long lists in it. */
struct cpu_change {
	const char *id;
	json_t *object;
};

/*
 * The catalog. Of several entries for a CPU the last one counts, so later files replace earlier
 * ones.
 */
struct catalog {
	struct arena memory;
	VEC_OF(const struct cpu *) cpus;
	VEC_OF(const struct encoding *) encodings;
	VEC_OF(struct named_part) names;
	VEC_OF(struct implementer) implementers;
	VEC_OF(struct cpu_maker) makers;
	VEC_OF(struct cpu_change) changes; /* in order of reading */
	struct threshold_list thresholds;  /* defaults */
	json_t *descriptions;		   /* of events: name -> text, beside the embedded ones */
	struct tuples parts;		   /* midr_part_word() of every part → number … */
	VEC_OF(struct part_facts) by_part; /* … → facts; made after all is read */
};

/* What the catalog begins with: all CPUs, without their long lists. Made by scripts/catalog-index.py. */
struct catalog_index {
	const struct encoding *encodings;
	const struct cpu *cpus;
	const struct named_part *names;
	const struct implementer *implementers;
	const struct cpu_maker *makers;
	const struct cpu_threshold *thresholds;
	size_t n_encodings, n_cpus, n_names, n_implementers, n_makers, n_thresholds;
};

extern const struct catalog_index catalog_index;

/* The embedded files: "events.json", and "<id>.json" and "<id>.costs.json" for each CPU. */
extern const struct embedded_file catalog_files[];

/*
 * Reads a catalog file (catalog/schema.md) into the catalog. `file`: its name, for messages. On
 * failure a part of it may have been added.
 */
int catalog_read(struct catalog *, const char *text, size_t size, const char *file, struct err *);

/*
 * Reads an object of thresholds into a list, in new memory: known names get the new value, others
 * are appended. A missing object or null changes nothing.
 */
int thresholds_read(struct arena *, json_t *object, struct threshold_list *, struct err *);

/* Reads the errata of a CPU file. They replace those that the CPU had. */
int errata_read(struct arena *, const json_t *object, struct cpu *, struct err *);

/* Reads an entry of the list of makers. */
int maker_read(struct catalog *, const json_t *object, struct err *);

/* The encoding with that id, or NULL. */
const struct encoding *catalog_encoding_find(const struct catalog *, const char *id);

static inline struct midr_part midr_part_of(uint64_t midr)
{
	return (struct midr_part){ .implementer = (uint8_t)(midr >> 24),
				   .part = (uint16_t)(midr >> 4 & 0xfff) };
}

/* `revision`: variant << 4 | revision. */
static inline uint64_t midr_of_revision(struct midr_part part, unsigned revision)
{
	return (uint64_t)part.implementer << 24 | (uint64_t)(revision >> 4) << 20 | 0xf << 16 |
	       (uint64_t)part.part << 4 | (revision & 15);
}

/* Of "r4p1", 0x41: variant, then revision. -1: it is none. */
int cpu_revision_of_text(const char *text);

static inline uint64_t midr_part_word(struct midr_part part)
{
	return (uint64_t)part.implementer << 12 | part.part;
}

#endif
