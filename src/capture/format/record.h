/* SPDX-License-Identifier: Apache-2.0 */
/* Records of perf.data files, except samples. Format: docs/reference/perf-data.md section 3. */
#ifndef CYCLOPS_CAPTURE_FORMAT_RECORD_H
#define CYCLOPS_CAPTURE_FORMAT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/err.h"
#include "capture/format/attr.h"
#include "capture/format/info.h"

enum record_type {
	RECORD_MMAP = 1,
	RECORD_LOST,
	RECORD_COMM,
	RECORD_EXIT,
	RECORD_THROTTLE,
	RECORD_UNTHROTTLE,
	RECORD_FORK,
	RECORD_READ,
	RECORD_SAMPLE,
	RECORD_MMAP2,
	RECORD_AUX,
	RECORD_ITRACE_START,
	RECORD_LOST_SAMPLES,
	RECORD_SWITCH,
	RECORD_SWITCH_CPU_WIDE,
	RECORD_NAMESPACES,
	RECORD_KSYMBOL,
	RECORD_BPF_EVENT,
	RECORD_CGROUP,
	RECORD_TEXT_POKE,
	RECORD_AUX_OUTPUT_HW_ID,
	RECORD_CALLCHAIN_DEFERRED,
	RECORD_HEADER_ATTR = 64,
	RECORD_EVENT_TYPE,
	RECORD_TRACING_DATA,
	RECORD_BUILD_ID,
	RECORD_FINISHED_ROUND,
	RECORD_ID_INDEX,
	RECORD_AUXTRACE_INFO,
	RECORD_AUXTRACE,
	RECORD_AUXTRACE_ERROR,
	RECORD_THREAD_MAP,
	RECORD_CPU_MAP,
	RECORD_STAT_CONFIG,
	RECORD_STAT,
	RECORD_STAT_ROUND,
	RECORD_EVENT_UPDATE,
	RECORD_TIME_CONV,
	RECORD_HEADER_FEATURE,
	RECORD_COMPRESSED,
	RECORD_FINISHED_INIT,
	RECORD_COMPRESSED2,
	RECORD_BPF_METADATA,
	RECORD_SCHEDSTAT_CPU,
	RECORD_SCHEDSTAT_DOMAIN,
	N_RECORD_TYPES,
};

/*
 * Streams of a perf 3.x of ChromeOS and Google have the header's features 3 (HOSTNAME) to 14
 * (NUMA_TOPOLOGY) as records of types 69 to 80, which perf used for other records later. They stand in
 * front of all others.
 */
enum {
	RECORD_OLD_FEATURES = 69,
	RECORD_OLD_FEATURES_END = 81,
	AUXTRACE_RECORD_SIZE = 48, /* with header */
};

/* Bits of record.misc. */
enum record_misc {
	MISC_CPUMODE = 7, /* mask of CPUMODE_x; 3: hypervisor */
	CPUMODE_KERNEL = 1,
	CPUMODE_USER = 2,
	CPUMODE_GUEST_KERNEL = 4,
	CPUMODE_GUEST_USER = 5,
	MISC_MMAP_DATA = 1 << 13,
	MISC_COMM_EXEC = 1 << 13,
	MISC_FORK_EXEC = 1 << 13, /* a fork that a recorder made up from /proc */
	MISC_SWITCH_OUT = 1 << 13,
	MISC_MMAP_BUILD_ID = 1 << 14,
	MISC_SWITCH_OUT_PREEMPT = 1 << 14,
	MISC_EXACT_IP = 1 << 14,
};

/* Flags of an AUX record. */
enum aux_flag {
	AUX_TRUNCATED = 1,
	AUX_OVERWRITE = 2,
	AUX_PARTIAL = 4,
	AUX_COLLISION = 8,
};

/* A record in the capture. */
struct record {
	uint32_t type;
	uint16_t misc;
	/* bytes with header; of AUXTRACE and TRACING_DATA without the data behind them */
	uint64_t size;
	uint64_t position;   /* in the file; of a decompressed record: of its COMPRESSED record */
	struct cursor body;  /* behind the 8-byte header, trailer included */
	bool was_compressed; /* from a COMPRESSED record */
};

/* "MMAP2" …; NULL for an unknown type. */
const char *record_type_name(uint32_t type);

/* The sample_id trailer, or the same fields of a sample. */
struct sample_id {
	/* bits HAS_PID, HAS_TID, HAS_TIME, HAS_CPU of batch.h: fields that are present */
	uint32_t has;
	uint32_t pid, tid, cpu;
	uint64_t time_ns;
	uint64_t id, stream_id; /* 0 if absent */
};

/*
 * Reads the sample_id trailer at the end of a kernel record. `attr` is that of its event. All
 * fields are absent without ATTR_SAMPLE_ID_ALL.
 */
struct sample_id sample_id_read(const struct record *, const struct attr *attr);

struct record_mmap { /* MMAP and MMAP2 */
	uint32_t pid, tid;
	uint64_t start, length, page_offset;
	uint32_t major, minor; /* MMAP2 without build-id */
	uint64_t inode, inode_generation;
	struct build_id build_id; /* MMAP2 with MISC_MMAP_BUILD_ID */
	uint32_t protection, flags;
	bool is_data;	  /* not executable */
	const char *path; /* borrowed from the record */
};

struct record_comm {
	uint32_t pid, tid;
	bool is_exec;
	const char *comm; /* borrowed */
};

struct record_task { /* FORK and EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
	bool lists_maps; /* made up from /proc: its mappings are listed, not inherited */
};

enum { N_NAMESPACES = 7 };

struct record_namespaces {
	uint32_t pid, tid;
	struct {
		uint64_t device, inode;
	} links[N_NAMESPACES]; /* net, uts, ipc, pid, user, mnt, cgroup */
};

struct record_switch { /* SWITCH and SWITCH_CPU_WIDE */
	bool is_out, is_preempted;
	bool has_other; /* SWITCH_CPU_WIDE: */
	/* the next thread on switch-out, the previous one on switch-in */
	uint32_t other_pid, other_tid;
};

struct record_aux {
	uint64_t offset, size, flags;
};

struct record_auxtrace {
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu; /* UINT32_MAX: none */
};

struct record_ksymbol {
	uint64_t address;
	uint32_t length;
	uint16_t type, flags; /* flags bit 0: unregister */
	const char *name;     /* borrowed */
};

struct record_time_conv {
	uint64_t shift, mult, zero, cycles, mask;
	bool has_short; /* `cycles` and `mask` are present */
};

/*
 * No more is lost between two records: at 100 000 samples a second, which the kernel allows a CPU, it would take 127 days.
 * What says so is damaged, and would be most of what a fleet has lost.
 */
#define RECORD_LOST_MOST ((uint64_t)1 << 40)

struct record_lost {
	uint64_t id, n;
};

/*
 * Each reads the body of a record into `out`. On failure the error names the record and its
 * position, and `out` is unchanged.
 */
int record_mmap_read(const struct record *, struct record_mmap *out, struct err *);
int record_comm_read(const struct record *, struct record_comm *out, struct err *);
int record_task_read(const struct record *, struct record_task *out, struct err *);
int record_switch_read(const struct record *, struct record_switch *out, struct err *);
int record_aux_read(const struct record *, struct record_aux *out, struct err *);
int record_auxtrace_read(const struct record *, struct record_auxtrace *out, struct err *);
int record_ksymbol_read(const struct record *, struct record_ksymbol *out, struct err *);
int record_time_conv_read(const struct record *, struct record_time_conv *out, struct err *);
int record_lost_read(const struct record *, struct record_lost *out, struct err *);

/* Converts timer ticks to nanoseconds of the perf clock, and back. Wraps as in the kernel. */
static inline uint64_t time_from_ticks(const struct record_time_conv *t, uint64_t ticks)
{
	if (t->has_short)
		ticks = t->cycles + ((ticks - t->cycles) & t->mask);
	uint64_t quotient = ticks >> t->shift;
	uint64_t rest = ticks & (((uint64_t)1 << t->shift) - 1);

	return t->zero + quotient * t->mult + (rest * t->mult >> t->shift);
}

uint64_t time_to_ticks(const struct record_time_conv *, uint64_t time_ns);

#endif
