/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMUs that the kernel has: their numbers, CPUs, formats, named events and capabilities.
 * Format: the kernel's Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}.
 */
#ifndef CYCLOPS_PMU_PMU_H
#define CYCLOPS_PMU_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "system/system.h"

enum { PMU_CONFIG_WORDS = 5 }; /* config, config1 … config4 */

/* A term's bits in a config word. The value's lowest bit goes to the lowest of them. */
struct pmu_format {
	const char *name;
	uint8_t word;
	uint64_t bits;
};

/* A named event, with its terms: "event=0x11". */
struct pmu_alias {
	const char *name;
	const char *terms;
	const char *unit; /* NULL: events */
	double scale;	  /* a count times this is in `unit` */
};

/* A capability file of a PMU: a number or a text. */
struct pmu_cap {
	const char *name, *value;
};

struct pmu {
	const char *name;
	uint32_t type;	      /* for attr.type */
	struct cpu_list cpus; /* empty: the kernel does not say, so all */
	bool is_core;	      /* a core PMU */
	bool is_uncore;	      /* opened on `cpus` only, and never for a task */
	bool is_arm;	      /* of core PMUs: Armv7, Armv8 or later */
	bool is_loaded;	      /* the members below are read */
	struct pmu_format *formats;
	struct pmu_alias *aliases;
	struct pmu_cap *caps;
	size_t n_formats, n_aliases, n_caps;
	const uint64_t *dead; /* codes of events that never count here, whatever sysfs says */
	size_t n_dead;
};

/* All PMUs of a machine. Zeroed is empty. */
struct pmus {
	struct arena memory;
	VEC_OF(struct pmu) list;
	const char *root; /* borrowed */
};

/*
 * Finds the PMUs below `root`, with their numbers and CPUs. Formats and events are read when a PMU
 * is asked for, as there may be thousands of files. What cannot be parsed is left out. No PMU is no
 * error.
 */
void pmus_read(struct pmus *, const char *root);
void pmus_release(struct pmus *);

/* Is it the name of a core PMU, and is that Arm's? `out_is_arm` is only set if it is. */
bool pmu_is_core(const char *name, bool *out_is_arm);

/* The PMU of that name, or NULL. Valid until pmus_release(). */
const struct pmu *pmus_find(struct pmus *, const char *name);

/*
 * PMU number `index`, and core PMU number `index`; NULL behind the last. Mixed cores have several
 * core PMUs.
 */
const struct pmu *pmus_at(struct pmus *, size_t index);
const struct pmu *pmus_core(struct pmus *, size_t index);

/* The core PMU of a CPU, or NULL. */
const struct pmu *pmus_core_of_cpu(struct pmus *, uint32_t cpu);

const struct pmu_format *pmu_format_find(const struct pmu *, const char *name);

/* A named event, ignoring case; NULL if there is none. */
const struct pmu_alias *pmu_alias_find(const struct pmu *, const char *name);

/* The value of a capability, or NULL. */
const char *pmu_cap_find(const struct pmu *, const char *name);

/* The value of a capability as a number, decimal or with 0x; `otherwise` if there is none. */
uint64_t pmu_cap_number(const struct pmu *, const char *name, uint64_t otherwise);

/* Puts a value into the bits of a format. */
uint64_t pmu_format_place(const struct pmu_format *, uint64_t value);

/* The largest value that fits a format. */
uint64_t pmu_format_max(const struct pmu_format *);

/* Parses a format such as "config:0-7,32-35". False if it is not understood. */
bool pmu_format_parse(const char *text, struct pmu_format *out);

/*
 * Can an Arm core PMU count the event? Sysfs lists the architectural events that it has. Of other
 * numbers nothing is known: true.
 */
bool pmu_has_event(const struct pmu *, uint64_t code);

/* Marks events as absent from now on. `pmu` is one of these PMUs. */
void pmu_forget_events(struct pmus *, const struct pmu *, const uint64_t *codes, size_t n);

/* Does the PMU say whether it has the event? */
bool pmu_lists_event(const struct pmu *, uint64_t code);

#endif
