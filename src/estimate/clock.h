/* SPDX-License-Identifier: Apache-2.0 */
/* The frequency of the cores, for latencies in nanoseconds: given, or derived from samples. */
#ifndef CYCLOPS_ESTIMATE_CLOCK_H
#define CYCLOPS_ESTIMATE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "session/analysis.h"

struct attr;

enum clock_basis { CLOCK_UNKNOWN, CLOCK_GIVEN, CLOCK_DERIVED };

struct core_clock {
	enum clock_basis basis;
	double hz;	/* 0: not known */
	uint64_t n, of; /* derived: pairs of samples that agree, of all pairs */
};

/* Reads what --ghz says. */
int core_clock_parse(const char *text, struct core_clock *out, struct err *);

/* Does the event count cycles of the core? */
bool clock_counts_cycles(const struct attr *);

/*
 * Sampled cycles against time: the rate between consecutive samples of an event of cycles on
 * one CPU. Idle time and time in modes that are not counted make a rate smaller, so what
 * counts is the rate that most pairs agree on within 2 %. Result: struct clock_pairs.
 */
extern const struct analysis_class clock_pairs_class;

struct clock_pairs;

/* What the pairs say; unknown if there are too few, or they do not agree. */
struct core_clock core_clock_derived(const struct clock_pairs *);

/* Appends "at 2.80 GHz (given)" or "(derived from 120 of 130 pairs of samples)". */
void core_clock_text(const struct core_clock *, struct text *);

#endif
