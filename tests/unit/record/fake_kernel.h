/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel made of memory: tests put bytes into its rings and decide what it refuses. */
#ifndef CYCLOPS_TESTS_COLLECT_FAKE_KERNEL_H
#define CYCLOPS_TESTS_COLLECT_FAKE_KERNEL_H

#include "pmu/kernel.h"

struct perf_event_mmap_page;

enum { FAKE_EVENTS = 32, FAKE_FIRST_FD = 100 };

struct fake_event {
	struct attr attr;
	pid_t pid;
	int cpu, group, output; /* output: descriptor whose ring is shared; -1: its own */
	bool is_enabled, is_closed;
	struct perf_event_mmap_page *page; /* with the ring behind it */
	size_t ring_size, aux_size;
	uint8_t *aux;
	bool is_aux_writable;
	uint64_t n_lost, enabled_ns, running_ns;
};

/* Zeroed refuses nothing. */
struct fake_kernel {
	struct kernel kernel; /* what the code under test gets */
	struct fake_event events[FAKE_EVENTS];
	int n_events;

	/* open() of an attr with any of these fails; with none of them: for this thread. */
	struct {
		int error;
		uint64_t flags, read_format, precise;
		int32_t pid; /* 0: any */
	} refusals[4];
	size_t max_ring, max_aux; /* larger ones are EPERM; 0: all fit */
	int map_error;		  /* of all map(); 0: none */
	bool fails_id, fails_output, fails_read;
	uint64_t now_ns;
	short revents[FAKE_EVENTS]; /* of poll(), by event */
};

void fake_kernel_init(struct fake_kernel *);
void fake_kernel_release(struct fake_kernel *);

/* Appends bytes to a ring or an AUX buffer, as the kernel does, wherever it wraps. */
void fake_ring_put(struct fake_event *, const void *bytes, size_t size);
void fake_aux_put(struct fake_event *, const void *bytes, size_t size);

#endif
