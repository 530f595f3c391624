/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct perf_event_attr as captures have it, in any of its sizes, and event names. Format:
 * include/uapi/linux/perf_event.h; docs/reference/perf-data.md sections 1.1, 1.1a.
 */
#ifndef CYCLOPS_CAPTURE_FORMAT_ATTR_H
#define CYCLOPS_CAPTURE_FORMAT_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/err.h"
#include "base/strings.h"
#include "base/text.h"
#include "base/vec.h"

/* Fields as in perf_event.h. Fields that the file's attr is too short for are zero. */
struct attr {
	uint32_t type;
	uint32_t size; /* as recorded */
	uint64_t config;
	uint64_t sample_period; /* or frequency in Hz, if flag FREQ */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags; /* the bit-field at offset 40 */
	uint32_t wakeup;
	uint32_t bp_type;
	uint64_t config1, config2, config3, config4;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint32_t aux_sample_size;
	uint64_t sig_data;
};

/* Values of attr.type. Others are types of dynamic PMUs. */
enum attr_type {
	ATTR_TYPE_HARDWARE = 0,
	ATTR_TYPE_SOFTWARE = 1,
	ATTR_TYPE_TRACEPOINT = 2,
	ATTR_TYPE_HW_CACHE = 3,
	ATTR_TYPE_RAW = 4,
	ATTR_TYPE_BREAKPOINT = 5,
};

/* Software events (attr.config) that need special treatment. */
enum software_event {
	SOFTWARE_CPU_CLOCK = 0,
	SOFTWARE_TASK_CLOCK = 1,
	SOFTWARE_DUMMY = 9,
};

/* Sizes of perf_event_attr. */
enum {
	ATTR_SIZE_MIN = 64,   /* the first version; size 0 means it, too */
	ATTR_SIZE_PERF = 128, /* the largest that perf 6.1 accepts */
	ATTR_SIZE_MAX = 144,  /* the largest that is known here */
};

/* Bits of attr.flags. */
enum attr_flag {
	ATTR_DISABLED = 0,
	ATTR_INHERIT = 1,
	ATTR_PINNED = 2,
	ATTR_EXCLUSIVE = 3,
	ATTR_EXCLUDE_USER = 4,
	ATTR_EXCLUDE_KERNEL = 5,
	ATTR_EXCLUDE_HV = 6,
	ATTR_EXCLUDE_IDLE = 7,
	ATTR_MMAP = 8,
	ATTR_COMM = 9,
	ATTR_FREQ = 10,
	ATTR_ENABLE_ON_EXEC = 12,
	ATTR_TASK = 13,
	ATTR_WATERMARK = 14,
	ATTR_PRECISE_IP = 15, /* two bits */
	ATTR_MMAP_DATA = 17,
	ATTR_SAMPLE_ID_ALL = 18,
	ATTR_EXCLUDE_HOST = 19,
	ATTR_EXCLUDE_GUEST = 20,
	ATTR_MMAP2 = 23,
	ATTR_COMM_EXEC = 24,
	ATTR_USE_CLOCKID = 25,
	ATTR_CONTEXT_SWITCH = 26,
	ATTR_NAMESPACES = 28,
	ATTR_KSYMBOL = 29,
	ATTR_BPF_EVENT = 30,
	ATTR_BUILD_ID = 34,
	/* other flags: docs/reference/perf-data.md */
};

static inline bool attr_has(const struct attr *a, enum attr_flag flag)
{
	return a->flags >> flag & 1;
}

static inline void attr_set(struct attr *a, enum attr_flag flag)
{
	a->flags |= (uint64_t)1 << flag;
}

static inline void attr_clear(struct attr *a, enum attr_flag flag)
{
	a->flags &= ~((uint64_t)1 << flag);
}

/* Are the event's periods nanoseconds? */
static inline bool attr_is_clock(const struct attr *a)
{
	return a->type == ATTR_TYPE_SOFTWARE &&
	       (a->config == SOFTWARE_CPU_CLOCK || a->config == SOFTWARE_TASK_CLOCK);
}

/*
 * The smallest factor of a fixed sampling period, up to 1000: loops whose length it divides are sampled
 * in step. 0: none, as of a prime, or the kernel varies the period.
 */
uint64_t attr_period_factor(const struct attr *);

/* Does the event never sample, and exists for side-band records only? */
static inline bool attr_is_dummy(const struct attr *a)
{
	return a->type == ATTR_TYPE_SOFTWARE && a->config == SOFTWARE_DUMMY;
}

/*
 * Reads an attr from `bytes`: all of them, or as many as its own size field says. Unknown bytes at
 * the end are ignored. Fails if the size is below the smallest attr or above the bytes there are.
 * `at`: position in the file, for messages.
 */
int attr_read(struct cursor bytes, uint64_t at, struct attr *out, struct err *);

/*
 * Writes an attr as on disk. The first attr.size bytes are valid (0: ATTR_SIZE_MIN); fields behind
 * them are lost.
 */
void attr_write(const struct attr *, uint8_t out[ATTR_SIZE_MAX]);

/* Bits of attr.read_format. */
enum read_bit {
	READ_TIME_ENABLED,
	READ_TIME_RUNNING,
	READ_ID,
	READ_GROUP,
	READ_LOST,
};

/* An event of a capture: attr, ids and name. */
struct event {
	struct attr attr;
	VEC_OF(uint64_t) ids;
	struct str_id name; /* as typed by the user, else the name that perf 6.1 makes up */
};

/*
 * Appends the name that perf 6.1 makes up for an event. `pmu`: name of the PMU with number
 * attr.type, NULL if the capture has none. Unlike here, perf ignores the PMU and does not know
 * bpf-output.
 */
void attr_name(const struct attr *, const char *pmu, struct text *);

#endif
