/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What known kernels told of the events of this machine (cyclops doctor --events). It is remembered
 * in $XDG_STATE_HOME/cyclops/events.json, or below ~/.local/state, by CPU and kernel version: an event
 * that reads 0 whatever runs is as good as absent.
 */
#ifndef CYCLOPS_COUNTING_EVENT_CHECKS_H
#define CYCLOPS_COUNTING_EVENT_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "count/counts.h"

enum event_verdict {
	EVENT_OK,
	EVENT_READS_0, /* where it had to count */
	EVENT_IS_OFF,  /* by a factor */
	N_EVENT_VERDICTS,
};

struct event_check {
	const char *event; /* the catalog's name */
	enum event_verdict verdict;
	double factor; /* counted by expected, where it is off; else 1 */
};

/* Zeroed is empty. */
struct event_checks {
	struct arena memory;
	VEC_OF(struct event_check) list;
};

void event_checks_release(struct event_checks *);
void event_checks_add(struct event_checks *, const char *event, enum event_verdict, double factor);
const struct event_check *event_checks_find(const struct event_checks *, const char *event);

/* "ok", "reads 0", "off". */
const char *event_verdict_name(enum event_verdict);

/* By what checks are remembered: "0x413fd0c1 6.1.0-13-arm64". 0: by the CPU's name. */
const char *event_checks_key(struct arena *, uint64_t midr, const char *cpu_name);

/* Adds what is remembered under the key; nothing if there is nothing, or it cannot be read. */
void event_checks_load(const char *key, struct event_checks *out);

/* Remembers them, in place of what was known of these events. The file is for this user alone. */
int event_checks_save(const char *key, const struct event_checks *, struct err *);

/* Counts of 0 of events that read 0 here become counts of what this machine does not have. */
void event_checks_apply(const struct event_checks *, struct counts *);

#endif
