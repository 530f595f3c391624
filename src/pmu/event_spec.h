/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as users name them, parsed for the kernel:
 *
 *   page-faults, cycles, LLC-load-misses      generic events of the kernel
 *   CPU_CYCLES, l1d_cache                     of the CPU's catalog entry, or of sysfs
 *   r11                                       a raw number, hexadecimal
 *   armv8_pmuv3_0/event=0x11,long/            terms of a PMU, or an event that it names
 *   sched:sched_switch                        a tracepoint
 *   {a,b,c}                                   a group: counted at the same time
 *
 * Modifiers follow a colon: u (user), k (kernel), h (hypervisor), H (host), G (guest), p (precise;
 * pp, ppp more so), D (pinned to the PMU).
 */
#ifndef CYCLOPS_PMU_EVENT_SPEC_H
#define CYCLOPS_PMU_EVENT_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "capture/format/attr.h"
#include "pmu/pmu.h"

/* One event on one PMU. */
struct event_spec {
	const char *name;      /* as asked for, without modifiers */
	const struct pmu *pmu; /* NULL: a generic event, the kernel chooses */
	/* type, config words, exclusions; sample_period if the event gives one */
	struct attr attr;
	const char *unit;   /* NULL: events */
	double scale;	    /* a count times this is in `unit` */
	uint32_t group;	    /* the same number for all events of a group; 0: none */
	bool is_pinned;	    /* modifier D */
	bool has_privilege; /* a modifier chooses among user, kernel and hypervisor */
};

/* A list of parsed events. Zeroed is empty. PMUs are borrowed. */
struct event_specs {
	struct arena memory;
	VEC_OF(struct event_spec) list;
	uint32_t n_groups;
};

/* Finds the number of a core PMU's event by its name in the catalog. False if there is none. */
struct event_finder {
	bool (*find)(const void *context, const struct pmu *, const char *name, uint64_t *code);
	const void *context;
};

/*
 * Parses a list and appends its events. An event that several PMUs have is appended for each of
 * them: core PMUs on mixed cores, arm_cmn_0, arm_cmn_1 … for "arm_cmn". `finder` may be NULL. On
 * failure a part of the list may have been appended.
 */
int event_specs_parse(struct event_specs *, const char *text, struct pmus *,
		      const struct event_finder *, struct err *);

/* Appends an event of a core PMU by its number. */
struct event_spec *event_specs_add_code(struct event_specs *, const char *name, const struct pmu *,
					uint64_t code);

/* Does the event need a counter of a core PMU, whether or not this machine has one? */
bool event_takes_counter(const struct event_spec *);

/* The length of the first event of a list: up to a comma or brace outside of slashes. */
size_t event_text_length(const char *text);

void event_specs_release(struct event_specs *);

/* The names of generic events, by index; NULL behind the last. */
const char *event_generic_name(size_t index);

#endif
