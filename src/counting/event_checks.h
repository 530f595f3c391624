/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of cyclops kernel --validate and doctor --events: which events of this machine read 0, are off,
 * or count what they must not, for loops of known counts. They are kept in $XDG_STATE_HOME/cyclops/events.json, or below ~/.local/state, by
 * CPU and kernel version. An event that reads 0 is treated as one that the machine does not have.
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
	EVENT_READS_0,	       /* though the loop makes it count */
	EVENT_IS_OFF,	       /* the count is outside of the expected range */
	EVENT_FIRES_ELSEWHERE, /* it counts in loops in which it must not */
	N_EVENT_VERDICTS,
};

struct event_check {
	const char *event; /* the catalog's name */
	enum event_verdict verdict;
	double factor; /* EVENT_IS_OFF: the count divided by the nearest expected one; else 1 */
};

/* Zeroed is empty. */
struct event_checks {
	struct arena memory;
	VEC_OF(struct event_check) list;
};

void event_checks_release(struct event_checks *);
void event_checks_add(struct event_checks *, const char *event, enum event_verdict, double factor);
const struct event_check *event_checks_find(const struct event_checks *, const char *event);

/* "ok", "reads 0", "off", "fires elsewhere". */
const char *event_verdict_name(enum event_verdict);

/*
 * The key of this machine in the file: MIDR and kernel version, "0x413fd0c1 6.1.0-13-arm64". A MIDR
 * of 0 is replaced by the CPU's name, which may be NULL. The text is in the arena.
 */
const char *event_checks_key(struct arena *, uint64_t midr, const char *cpu_name);

/* The same for a machine that ran the kernel `kernel_release`: one that recorded a capture. */
const char *event_checks_key_of(struct arena *, uint64_t midr, const char *cpu_name,
				const char *kernel_release);

/* Adds the checks under the key. Adds nothing if the file has none or cannot be read. */
void event_checks_load(const char *key, struct event_checks *out);

/*
 * Writes checks under the key; they replace older checks of the same events. Only this user can
 * read the file. Fails if it cannot be written, or if the environment names no folder for it.
 */
int event_checks_save(const char *key, const struct event_checks *, struct err *);

/* Counts of 0 become COUNT_NOT_SUPPORTED for events that read 0 here. */
void event_checks_apply(const struct event_checks *, struct counts *);

#endif
