/* SPDX-License-Identifier: Apache-2.0 */
/* The terms of a PMU's events, "event=0x11,long", and where their values go. */
#ifndef CYCLOPS_PMU_EVENT_TERMS_H
#define CYCLOPS_PMU_EVENT_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "pmu/event_spec.h"

/* Fills attr of an event of spec->pmu with what the terms of a user say, "" being none. */
int event_terms_place(struct event_spec *, const char *terms, struct err *);

/* The same with an event that the PMU names. Fails if that leaves a term to the user. */
int event_alias_place(struct event_spec *, const struct pmu_alias *, struct err *);

/* A whole text as a number; base 0 takes decimal, 0x and octal. */
bool event_number(const char *text, int base, uint64_t *out);

#endif
