/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of a PMU's events, such as "event=0x11,long", and the attr fields they set. */
#ifndef CYCLOPS_PMU_EVENT_TERMS_H
#define CYCLOPS_PMU_EVENT_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "pmu/event_spec.h"

/* Sets the attr of an event of spec->pmu by the user's terms, which may be "". */
int event_terms_place(struct event_spec *, const char *terms, struct err *);

/* Sets the attr by an event that the PMU names. Fails if the event leaves a term to the user. */
int event_alias_place(struct event_spec *, const struct pmu_alias *, struct err *);

/* Reads a whole text as a number. Base 0: decimal, 0x or octal. */
bool event_number(const char *text, int base, uint64_t *out);

#endif
