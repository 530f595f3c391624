/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: the catalog in memory. */
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

/* What decides about a CPU in MIDR_EL1. */
struct midr_part {
	uint8_t implementer;
	uint16_t part; /* 12 bits */
};

/* A part by name: of a CPU that goes by another name there, or without a CPU. */
struct named_part {
	struct midr_part key;
	const char *name; /* NULL: the CPU's own name */
};

/* An encoding of the data-source packet. */
struct encoding {
	const char *id;
	struct cpu_source *values;
	size_t n_values;
	const struct cpu_source **by_value; /* NULL where a value means nothing */
	size_t n_by_value;
};

struct spe_event {
	unsigned bit;
	const char *name;
};

/* Texts and arrays belong to the catalog's memory. */
struct cpu {
	const char *id, *name;
	const char **aliases;
	struct named_part *parts;
	const struct encoding *encoding; /* NULL: not known */
	struct spe_event *spe_events;
	struct cpu_erratum *errata;
	size_t n_aliases, n_parts, n_spe_events, n_errata;
	unsigned cache_line, own_cache_lines; /* 0: not known */
	int spe_ernd;			      /* + 1; 0: not known */
	bool lacks_spe;
};

struct implementer {
	uint8_t code;
	const char *name;
	bool has_other_pmu; /* than PMUv3 */
};

/* What is known of a part. */
struct part_facts {
	const struct cpu *cpu; /* NULL: only its name */
	const char *name;
};

/* What a file of --catalog says of a CPU; cpu_cpu_pmu_open() reads the long lists in it. */
struct cpu_change {
	const char *id;
	json_t *object;
};

/* In each list the last entry that fits counts, so that files read later win. */
struct catalog {
	struct arena memory;
	VEC_OF(const struct cpu *) cpus;
	VEC_OF(const struct encoding *) encodings;
	VEC_OF(struct named_part) names;
	VEC_OF(struct implementer) implementers;
	VEC_OF(struct cpu_maker) makers;
	VEC_OF(struct cpu_change) changes; /* oldest first */
	struct threshold_list thresholds;  /* the usual ones */
	struct tuples parts;		   /* midr_part_word() of every part, and … */
	VEC_OF(struct part_facts) by_part; /* … by its number, made when all is read */
};

/* The embedded files: "index.json" and "<id>.json" of each CPU. */
extern const struct embedded_file catalog_files[];

/*
 * Adds what a catalog file says (catalog/schema.md) to the catalog. `file` is its name, for
 * messages. On failure parts of it may have been added.
 */
int catalog_read(struct catalog *, const char *text, size_t size, const char *file, struct err *);

/*
 * Puts what an object of thresholds says into a list, in new memory: names that are there get the new
 * value, others come behind. Nothing happens if it is missing or null.
 */
int thresholds_read(struct arena *, json_t *object, struct threshold_list *, struct err *);

/* The list of errata in a CPU file; it replaces what the CPU had. */
int errata_read(struct arena *, const json_t *object, struct cpu *, struct err *);

/* Adds an entry of the list of makers. */
int maker_read(struct catalog *, const json_t *object, struct err *);

/* The encoding of that id, or NULL. */
const struct encoding *catalog_encoding_find(const struct catalog *, const char *id);

static inline struct midr_part midr_part_of(uint64_t midr)
{
	return (struct midr_part){ .implementer = (uint8_t)(midr >> 24),
				   .part = (uint16_t)(midr >> 4 & 0xfff) };
}

static inline uint64_t midr_part_word(struct midr_part part)
{
	return (uint64_t)part.implementer << 12 | part.part;
}

#endif
