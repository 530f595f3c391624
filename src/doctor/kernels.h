/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small loops with known counts, to check the events of this machine. Each step of a loop makes an
 * event count a number from a known range. Counts are of user mode.
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
	size_t memory_bytes; /* 0: it needs none */
	bool is_code;	     /* the memory holds instructions */

	void (*prepare)(void *memory, size_t size);  /* fills the memory, once */
	void (*run)(uint64_t n_steps, void *memory); /* NULL: not on this architecture */
};

/* The range of counts of an event for a step of a kernel. */
struct doctor_expectation {
	const char *event; /* the catalog's name */
	const struct doctor_kernel *kernel;
	double least, most; /* counts for each step */
};

/* The expectation of an event; NULL: no kernel on this architecture has a known count of it. */
const struct doctor_expectation *doctor_expectation_find(const char *event);

/* All expectations by index, those of a kernel together; NULL behind the last. */
const struct doctor_expectation *doctor_expectation_at(size_t i);

/* The verdict on the count of one run. `event` of the result is borrowed from the expectation. */
struct event_check doctor_verdict(const struct doctor_expectation *, double count);

#endif
