/* SPDX-License-Identifier: Apache-2.0 */
/* Names of events as perf and the kernel write them, and what the catalog calls them. */
#ifndef CYCLOPS_CPU_EVENT_NAME_H
#define CYCLOPS_CPU_EVENT_NAME_H

#include <stdbool.h>

#include "count/counts.h"
#include "cpu/pmu.h"

/* "armv8_pmuv3_0/l1d_cache/u" or "cycles:u" in parts. What is too long is cut. */
struct event_name {
	char pmu[64];	 /* "" if not told */
	char event[192]; /* without PMU and modifiers; may be terms: "event=0x11" */
	bool is_user_only, is_kernel_only;
};

/* Equal but for case, and for '-' or ' ' in place of '_'. */
bool cpu_word_is_same(const char *a, const char *b);

/*
 * Is it a PMU of cores, whose events the catalog has? Others have the same words for other things.
 * "" is: events without a PMU are of the cores'.
 */
bool cpu_is_core_pmu(const char *name);

void event_name_split(const char *text, struct event_name *out);

/*
 * The catalog's event of a name in any of these ways: its own name, ignoring case and whether
 * words are joined by '-' or '_'; one of the kernel's words ("cycles", "L1-dcache-loads"); a
 * number ("r11", "event=0x11"); each with the name of a core's PMU, and modifiers. NULL if it has
 * none, or if what the kernel counts under that word depends on its version ("branches" on Arm).
 */
const struct cpu_event *cpu_event_of_name(const struct cpu_pmu *, const char *text);

/*
 * Gives the counts the catalog's names, and takes PMUs and modifiers out of them. Others keep
 * what they are called.
 */
void counts_name(struct counts *, const struct cpu_pmu *);

#endif
