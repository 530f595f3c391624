/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls for counting and recording as a table of functions. Tests replace it: with rings
 * that wrap, buffers that overflow, PMUs that this machine does not have.
 *
 * On failure the functions return a negative errno.
 */
#ifndef CYCLOPS_PMU_KERNEL_H
#define CYCLOPS_PMU_KERNEL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "pmu/perf_event.h"

/* Requests for an open event, and their argument. */
enum kernel_request {
	KERNEL_ENABLE,	   /* 0; PERF_IOC_FLAG_GROUP for the whole group */
	KERNEL_DISABLE,	   /* the same */
	KERNEL_SET_OUTPUT, /* the descriptor whose ring takes the records */
	KERNEL_SET_FILTER, /* the address of the filter's text */
};

struct kernel {
	void *context;

	/* Returns the descriptor of the event. */
	int (*open)(void *context, const struct event_request *);
	int (*close)(void *context, int fd);
	int (*control)(void *context, int fd, enum kernel_request, uint64_t argument);
	int (*id)(void *context, int fd, uint64_t *out_id);

	/* Reads an event's counts; returns the bytes read. */
	int64_t (*read)(void *context, int fd, void *buffer, size_t size);

	/* mmap(). An AUX buffer mapped read-only is overwritten by the kernel. */
	int (*map)(void *context, int fd, uint64_t offset, size_t size, bool is_writable,
		   void **out);
	void (*unmap)(void *context, void *memory, size_t size);

	/* bpf(): `attr` is a union bpf_attr. */
	int (*bpf)(void *context, int command, void *attr, size_t size);

	int (*poll)(void *context, struct pollfd *, size_t n, int timeout_ms);
	uint64_t (*clock_ns)(void *context, clockid_t);
};

/* The kernel this program runs on. */
extern const struct kernel kernel_linux;

#endif
