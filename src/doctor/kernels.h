/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small loops of which it is known what they make events count: so many in each step. With them
 * events are checked on the machine at hand. Counts are of user mode.
 */
#ifndef CYCLOPS_DOCTOR_KERNELS_H
#define CYCLOPS_DOCTOR_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/event_checks.h"

/* A loop. */
struct doctor_kernel {
	const char *name;    /* "chain" */
	const char *what;    /* what a step does */
	uint64_t n_steps;    /* of one run */
	size_t memory_bytes; /* that it wants */
	bool is_code;	     /* the memory holds instructions */

	/* Prepares the memory once, then runs the steps. */
	void (*prepare)(void *memory, size_t size);
	void (*run)(uint64_t n_steps, void *memory);
};

/* What a step of a kernel makes an event count. */
struct doctor_expectation {
	const char *event; /* the catalog's name */
	const struct doctor_kernel *kernel;
	double least, most; /* of a step */
};

/* What is expected of an event; NULL: no kernel here makes it count for certain. */
const struct doctor_expectation *doctor_expect(const char *event);

/* All of them, in the order of kernels; NULL behind the last. */
const struct doctor_expectation *doctor_expectation_at(size_t i);

/* Judges a count of a run. */
struct event_check doctor_judge(const struct doctor_expectation *, double count);

#endif
