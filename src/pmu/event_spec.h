/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as users name them, and what the kernel is to be asked for:
 *
 *	page-faults, cycles, LLC-load-misses	of the kernel, whatever the PMU
 *	CPU_CYCLES, l1d_cache			of the CPU's catalog entry, or of sysfs
 *	r11					a raw number, hexadecimal
 *	armv8_pmuv3_0/event=0x11,long/		a PMU's terms, or an event it names
 *	sched:sched_switch			a tracepoint
 *	{a,b,c}					counted at the same moments
 *
 * with modifiers behind a colon: u (user), k (kernel), h (hypervisor), H (host), G (guest),
 * p (precise; pp, ppp more so), D (pinned to the PMU).
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
	const struct pmu *pmu; /* NULL: none, or whatever the kernel takes */
	struct attr attr;      /* type, config words, exclusions; sample_period if told */
	const char *unit;      /* NULL: events */
	double scale;	       /* a count times this is in that unit */
	uint32_t group;	       /* the same number as others between its braces; 0: none */
	bool is_pinned;	       /* modifier D */
	bool has_privilege;    /* a modifier chose among user, kernel and hypervisor */
};

/* Zeroed is empty. Borrows from the PMUs. */
struct event_specs {
	struct arena memory;
	VEC_OF(struct event_spec) list;
	uint32_t n_groups;
};

/* Looks an event of a core PMU up by name, as the catalog does: its number, or false. */
struct event_finder {
	bool (*find)(const void *context, const struct pmu *, const char *name, uint64_t *code);
	const void *context;
};

/*
 * Appends the events of a list. What core PMUs have is appended once for each of them that
 * has it (mixed cores); so is an event of "arm_cmn" for arm_cmn_0, arm_cmn_1 …. `finder` may
 * be NULL. On failure parts of the list may have been added.
 */
int event_specs_parse(struct event_specs *, const char *text, struct pmus *,
		      const struct event_finder *, struct err *);

/* Appends the event with this number of a core PMU, as the catalog has it. */
struct event_spec *event_specs_add_code(struct event_specs *, const char *name, const struct pmu *,
					uint64_t code);

/* Does the event need a counter of a core, whether or not there is one here? */
bool event_takes_counter(const struct event_spec *);

/* How long the first event of a list is: up to a comma or brace that is not between slashes. */
size_t event_text_length(const char *text);

void event_specs_release(struct event_specs *);

/* The names the kernel knows of itself, by number; NULL behind the last. */
const char *event_generic_name(size_t index);

#endif
