/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMUs that the kernel has: their numbers, CPUs, formats, named events and capabilities.
 * Format: docs/reference/counting.md section 5; Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-{format,events} of the kernel.
 */
#ifndef CYCLOPS_PMU_PMU_H
#define CYCLOPS_PMU_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "pmu/system.h"

enum { PMU_CONFIG_WORDS = 5 }; /* config, config1 … config4 */

/* Where a term goes: these bits of a config word, filled from its lowest bit on. */
struct pmu_format {
	const char *name;
	uint8_t word;
	uint64_t bits;
};

/* An event that the kernel names, as terms: "event=0x11". */
struct pmu_alias {
	const char *name;
	const char *terms;
	const char *unit; /* NULL: events */
	double scale;	  /* a count times this is in that unit */
};

/* A number, or a text if it is none, that a PMU tells of itself. */
struct pmu_cap {
	const char *name, *value;
};

struct pmu {
	const char *name;
	uint32_t type;	      /* for attr.type */
	struct cpu_list cpus; /* it is on these; none: told nowhere, so on all */
	bool is_core;	      /* counts what the instructions of a core do */
	bool is_uncore;	      /* to be opened on the CPUs of `cpus` only, and for no task */
	bool is_arm;	      /* of core PMUs: Armv7, Armv8 or later */
	bool is_loaded;	      /* the following are known */
	struct pmu_format *formats;
	struct pmu_alias *aliases;
	struct pmu_cap *caps;
	size_t n_formats, n_aliases, n_caps;
	const uint64_t *dead; /* events that never count here, whatever the PMU says */
	size_t n_dead;
};

/* All PMUs of a machine, by name. Zeroed is empty. */
struct pmus {
	struct arena memory;
	VEC_OF(struct pmu) list;
	const char *root; /* borrowed */
};

/*
 * Finds the PMUs below `root`, their numbers and CPUs; what else they tell is read when a PMU
 * is asked for, as there may be thousands of files. What cannot be understood is left out; a
 * machine without any PMU gives an empty list.
 */
void pmus_read(struct pmus *, const char *root);
void pmus_release(struct pmus *);

/* The PMU of that name, or NULL. Valid until pmus_release(). */
const struct pmu *pmus_find(struct pmus *, const char *name);

/* All PMUs, and the core PMUs, in order; NULL behind the last. Mixed cores have several. */
const struct pmu *pmus_at(struct pmus *, size_t index);
const struct pmu *pmus_core(struct pmus *, size_t index);

/* The core PMU whose CPUs include this one, or NULL. */
const struct pmu *pmus_core_of_cpu(struct pmus *, uint32_t cpu);

const struct pmu_format *pmu_format_find(const struct pmu *, const char *name);

/* By name, whatever its case; NULL if there is none. */
const struct pmu_alias *pmu_alias_find(const struct pmu *, const char *name);

/* What the PMU says of itself, or NULL. */
const char *pmu_cap_find(const struct pmu *, const char *name);

/* The same as a number, decimal or with 0x; `otherwise` if it does not say. */
uint64_t pmu_cap_number(const struct pmu *, const char *name, uint64_t otherwise);

/* Puts a value into the bits of a format; the value's lowest bit goes to the lowest of them. */
uint64_t pmu_format_place(const struct pmu_format *, uint64_t value);

/* The largest value that fits. */
uint64_t pmu_format_max(const struct pmu_format *);

/* Reads a format such as "config:0-7,32-35", as sysfs has it. False: not understood. */
bool pmu_format_parse(const char *text, struct pmu_format *out);

/*
 * Can an Arm core PMU count this event at all? Of the events that the architecture defines
 * it names those it has; of other numbers nobody knows, and it answers true.
 */
bool pmu_has_event(const struct pmu *, uint64_t code);

/* Takes the events of these codes for absent from now on. The PMU is of these. */
void pmu_forget_events(struct pmus *, const struct pmu *, const uint64_t *codes, size_t n);

/* Does it say whether it has the event? */
bool pmu_tells(const struct pmu *, uint64_t code);

#endif
