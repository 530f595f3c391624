/* SPDX-License-Identifier: Apache-2.0 */
/* Maps event names of perf and the kernel to those of the catalog. */
#ifndef CYCLOPS_CPU_EVENT_NAME_H
#define CYCLOPS_CPU_EVENT_NAME_H

#include <stdbool.h>

#include "count/counts.h"
#include "cpu/pmu.h"

/* The parts of "armv8_pmuv3_0/l1d_cache/u" or "cycles:u". What is too long is cut. */
struct event_name {
	char pmu[64];	 /* "" if there is none */
	char event[192]; /* without PMU and modifiers; may be terms: "event=0x11" */
	bool is_user_only, is_kernel_only;
};

/* Equal, ignoring case and '-' or ' ' in place of '_'? */
bool cpu_word_is_same(const char *a, const char *b);

/*
 * Is it the name of a core PMU? The catalog has events of core PMUs only; other PMUs use the same
 * names for other events. True for "", as an event without a PMU is one of the core.
 */
bool cpu_is_core_pmu(const char *name);

void event_name_split(const char *text, struct event_name *out);

/*
 * Finds an event of the catalog. The text is its name (ignoring case, and '-' for '_'), a name of
 * the kernel ("cycles", "L1-dcache-loads") or a number ("r11", "event=0x11"), with or without a
 * core PMU and modifiers. NULL if there is none, or if the event behind the kernel's name depends
 * on its version ("branches" on Arm).
 */
const struct cpu_event *cpu_event_of_name(const struct cpu_pmu *, const char *text);

/*
 * Renames events to their catalog names and removes PMUs and modifiers. Unknown events keep their
 * names.
 */
void counts_name(struct counts *, const struct cpu_pmu *);

#endif
