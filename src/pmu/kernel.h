/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's side of counting and recording as a table of functions, so that everything above it can be
 * tested against a kernel that is not there: rings that wrap at will, buffers that overflow,
 * PMUs that this machine does not have.
 *
 * What fails returns a negative errno value.
 */
#ifndef CYCLOPS_PMU_KERNEL_H
#define CYCLOPS_PMU_KERNEL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "pmu/perf_event.h"

/* Requests for an open event. The argument is … */
enum kernel_request {
	KERNEL_ENABLE,	   /* … 0, or PERF_IOC_FLAG_GROUP for all of the group */
	KERNEL_DISABLE,	   /* … the same */
	KERNEL_SET_OUTPUT, /* … the descriptor whose ring takes the records */
	KERNEL_SET_FILTER, /* … the address of a filter's text */
};

struct kernel {
	void *context;

	/* Returns the descriptor of the event. */
	int (*open)(void *context, const struct event_request *);
	int (*close)(void *context, int fd);
	int (*control)(void *context, int fd, enum kernel_request, uint64_t argument);
	int (*id)(void *context, int fd, uint64_t *out_id);

	/* read() of an event's counts; returns the bytes read. */
	int64_t (*read)(void *context, int fd, void *buffer, size_t size);

	/* Memory shared with the kernel. An AUX buffer that is not writable is overwritten. */
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
