/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct perf_event_attr as a capture holds it, whatever its size, and the names of events.
 * Format: include/uapi/linux/perf_event.h; docs/reference/perf-data.md sections 1.1, 1.1a.
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

/* Fields as in perf_event.h; those the file's attr was too short for are zero. */
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

/* Values of attr.type. Others are numbers the kernel gives to PMUs. */
enum attr_type {
	ATTR_TYPE_HARDWARE = 0,
	ATTR_TYPE_SOFTWARE = 1,
	ATTR_TYPE_TRACEPOINT = 2,
	ATTR_TYPE_HW_CACHE = 3,
	ATTR_TYPE_RAW = 4,
	ATTR_TYPE_BREAKPOINT = 5,
};

/* Values of attr.config of software events that mean something special. */
enum software_event {
	SOFTWARE_CPU_CLOCK = 0,
	SOFTWARE_TASK_CLOCK = 1,
	SOFTWARE_DUMMY = 9,
};

/* Sizes that perf_event_attr had or has. */
enum {
	ATTR_SIZE_MIN = 64,   /* the first one; also meant by size 0 */
	ATTR_SIZE_PERF = 128, /* what perf 6.1 accepts at most */
	ATTR_SIZE_MAX = 144,  /* what we know */
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
	/* the others by number in docs/reference/perf-data.md */
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

/* Are its periods nanoseconds? */
static inline bool attr_is_clock(const struct attr *a)
{
	return a->type == ATTR_TYPE_SOFTWARE &&
	       (a->config == SOFTWARE_CPU_CLOCK || a->config == SOFTWARE_TASK_CLOCK);
}

/* Is it there for its side-band records only, and never has a sample? */
static inline bool attr_is_dummy(const struct attr *a)
{
	return a->type == ATTR_TYPE_SOFTWARE && a->config == SOFTWARE_DUMMY;
}

/*
 * Reads the attr that `bytes` hold: all of them, or fewer if its own size field says so.
 * Unknown trailing bytes are ignored. Fails if the size field says less than the smallest
 * attr or more than there are bytes. `at` is its position, for messages.
 */
int attr_read(struct cursor bytes, uint64_t at, struct attr *out, struct err *);

/*
 * Writes the attr as on disk. The bytes in use are the first attr.size (0: ATTR_SIZE_MIN) of
 * them; fields behind are lost.
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

/* An event of the capture: one attr with its ids and its name. */
struct event {
	struct attr attr;
	VEC_OF(uint64_t) ids;
	struct str_id name; /* as typed by the user, or made up as perf 6.1 does */
};

/*
 * Appends the name that perf 6.1 makes up for an event without one. `pmu` is the name of the
 * PMU with number attr.type if the capture tells it, or NULL; perf itself does not look
 * there, nor does it know bpf-output.
 */
void attr_name(const struct attr *, const char *pmu, struct text *);

#endif
