/* SPDX-License-Identifier: Apache-2.0 */
/* The events of the PMU that the model knows: names of catalog/cpu/neoverse-n1.json. */
#ifndef CYCLOPS_MODEL_EVENTS_H
#define CYCLOPS_MODEL_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "model/counts.h"

enum { MOST_PARTS = 4 };

/* An event is the sum of some counts; of none: it never happens on this machine. */
struct modelled_event {
	const char *name;
	uint16_t parts[MOST_PARTS + 1]; /* enum count; N_COUNTS ends them */
};

extern const struct modelled_event modelled_events[];
extern const size_t n_modelled_events;

/* How often the event happened. */
uint64_t modelled_event_sum(const struct modelled_event *, const struct counts *);

/* The event of that name, or NULL. */
const struct modelled_event *modelled_event_find(const char *name);

#endif
