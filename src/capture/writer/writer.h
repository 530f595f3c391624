/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes perf.data files, which perf can read, too: for the recorder, the machine model and tests.
 * File mode, little-endian. Records are written through a buffer of a few MiB. Features and the
 * index of AUX buffers are written at the end.
 *
 * The first error is kept, nothing is written after it, and writer_close() returns it. The file can
 * be read whenever the program stops: after each write of the buffer the header has the end of the
 * last whole record. What is in the buffer is then missing, and the features, except with
 * writer_checkpoint(). After an error (a full disk) writer_close() truncates the file behind the
 * last whole record and adds the features if there is room.
 *
 * Not for two threads at a time.
 */
#ifndef CYCLOPS_CAPTURE_WRITER_WRITER_H
#define CYCLOPS_CAPTURE_WRITER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "capture/format/attr.h"
#include "capture/format/info.h"
#include "capture/format/record.h"
#include "capture/format/sample.h"

struct writer;

/*
 * An event of the file. perf requires attrs of the same size: all get the largest, where attr.size
 * 0 means ATTR_SIZE_PERF. Without a name the event gets that of attr_name().
 */
struct writer_event {
	struct attr attr;
	const uint64_t *ids;
	size_t n_ids;
	const char *name;
};

/*
 * Creates the file and writes header and attrs. Only the owner may read it, as in perf, because it
 * contains addresses. At least one event. Everything is copied.
 */
int writer_open(const char *path, const struct writer_event *events, size_t n_events,
		struct writer **out, struct err *);

/*
 * Opens a file that an interrupted writer of the same events left, to append behind its last whole
 * record. Features and build-ids have to be set again. Fails if it is another file.
 */
int writer_resume(const char *path, const struct writer_event *events, size_t n_events,
		  struct writer **out, struct err *);

/* The size of the file, with the buffer. */
uint64_t writer_size(const struct writer *);

/* Has there been an error? Writing on has no effect then. */
bool writer_has_failed(const struct writer *);

/* Appends a record; `size` is without the 8-byte header. */
void writer_record(struct writer *, uint32_t type, uint16_t misc, const void *body, size_t size);

/* Appends whole records. */
void writer_records(struct writer *, const void *records, size_t size);

/*
 * The same for bytes of a kernel ring, in two parts if it wraps: a record may be split between
 * them. Only these bytes are compressed.
 */
void writer_ring(struct writer *, const void *bytes, size_t size, const void *rest, size_t n_rest);

/*
 * Compresses what writer_ring() writes from now on, as one zstd stream of level 1 to 22. First
 * writes a record that says so, as the features may be missing later.
 */
int writer_compress(struct writer *, int level, struct err *);

/* Appends an AUXTRACE record with its data, padded to 8 bytes, and adds it to the index. */
void writer_auxtrace(struct writer *, const struct record_auxtrace *, const void *data);

/* The same for data in two parts, as in a ring: `size` bytes at `data`, then `rest`. */
void writer_auxtrace_pieces(struct writer *, const struct record_auxtrace *, const void *data,
			    size_t size, const void *rest);

/*
 * Kernel records. Each ends with a sample_id trailer, laid out by the attr of the event with the id
 * sample_id.id, or of event 0. Values that are not in sample_id.has are written as 0. NULL: all of
 * them, as in records that perf makes up.
 */
void writer_mmap2(struct writer *, const struct record_mmap *, uint16_t misc,
		  const struct sample_id *);
void writer_mmap(struct writer *, const struct record_mmap *, uint16_t misc,
		 const struct sample_id *); /* the old format, for the kernel and its modules */
void writer_comm(struct writer *, const struct record_comm *, const struct sample_id *);
void writer_task(struct writer *, uint32_t type, const struct record_task *,
		 const struct sample_id *);
void writer_namespaces(struct writer *, const struct record_namespaces *, const struct sample_id *);
void writer_switch(struct writer *, const struct record_switch *, const struct sample_id *);
void writer_aux(struct writer *, const struct record_aux *, const struct sample_id *);
void writer_itrace_start(struct writer *, uint32_t pid, uint32_t tid, const struct sample_id *);
void writer_lost(struct writer *, const struct record_lost *, const struct sample_id *);
void writer_lost_samples(struct writer *, uint64_t n, const struct sample_id *);
void writer_ksymbol(struct writer *, const struct record_ksymbol *, const struct sample_id *);

/*
 * Writes a sample of event number `event`, with the fields of its attr (sample.sample_type is
 * ignored). The words of `read` must match its read_format. Raw data is padded to end at a multiple
 * of 8 bytes, as in the kernel.
 */
void writer_sample(struct writer *, size_t event, uint16_t misc, const struct sample *);

/* Appends the record that writer_sample() writes: for who keeps it until writer_records(). */
void writer_make_sample(const struct writer *, size_t event, uint16_t misc, const struct sample *,
			struct text *out);

/* Records of perf, without trailer. */
void writer_time_conv(struct writer *, const struct record_time_conv *);
void writer_finished_round(struct writer *); /* records so far may be sorted and used */
void writer_finished_init(struct writer *);  /* the initial state has been described */

/* AUXTRACE_INFO of Arm SPE. perf expects it behind TIME_CONV. */
struct writer_spe_cpu {
	uint32_t cpu;
	uint64_t midr;
	uint64_t pmu_type; /* UINT64_MAX: this CPU has no SPE */
	uint64_t min_interval;
	uint64_t event_filter; /* capability mask */
};
void writer_spe_info_v1(struct writer *, uint32_t pmu_type, bool is_per_cpu);
void writer_spe_info_v2(struct writer *, uint32_t pmu_type, const struct writer_spe_cpu *cpus,
			size_t n_cpus);

/*
 * Header features, written at the end. Setting one again replaces it. EVENT_DESC, AUXTRACE and
 * BUILD_ID are added automatically.
 */
void writer_feature(struct writer *, unsigned feature, const void *bytes, size_t size);
void writer_feature_string(struct writer *, unsigned feature, const char *text);
void writer_feature_u64(struct writer *, unsigned feature, uint64_t value);

void writer_n_cpus(struct writer *, uint32_t available, uint32_t online);
void writer_command_line(struct writer *, size_t n_args, const char *const *args);
void writer_sample_time(struct writer *, uint64_t first_ns, uint64_t last_ns);
void writer_clock_data(struct writer *, uint32_t clock_id, uint64_t clock_time_ns,
		       uint64_t wall_clock_ns);

/* Adds a build-id to the list. `misc`: the cpumode, as in record.misc. */
void writer_build_id(struct writer *, const struct build_id *, const char *path, int32_t pid,
		     uint16_t misc);

struct writer_pmu {
	uint32_t type;
	const char *name;
};
void writer_pmus(struct writer *, const struct writer_pmu *pmus, size_t n_pmus);

/* Lists of CPUs such as "0-3", one for each set of siblings. `places` is indexed by CPU. */
struct writer_cpu_topology {
	const char *const *core_siblings, *const *thread_siblings, *const *die_siblings;
	size_t n_core_siblings, n_thread_siblings, n_die_siblings;
	const struct cpu_place *places;
	size_t n_places; /* must be the number of available CPUs */
};
void writer_cpu_topology(struct writer *, const struct writer_cpu_topology *);

struct writer_numa_node {
	uint32_t node;
	uint64_t total_kb, free_kb;
	const char *cpus;
};
void writer_numa_topology(struct writer *, const struct writer_numa_node *nodes, size_t n_nodes);

struct writer_memory_node {
	uint64_t node;
	const uint64_t *blocks; /* bit i: memory block i belongs to the node */
	uint64_t n_blocks;	/* bits */
};
void writer_memory_topology(struct writer *, uint64_t block_bytes,
			    const struct writer_memory_node *nodes, size_t n_nodes);

struct writer_cache {
	uint32_t level, line_bytes, sets, ways;
	const char *type, *size, *cpus; /* "Data", "64K", "0" */
};
void writer_caches(struct writer *, const struct writer_cache *caches, size_t n_caches);

/* A group of events. `leader` is the number of its first event. */
struct writer_group {
	const char *name;
	uint32_t leader, n_members;
};
void writer_groups(struct writer *, const struct writer_group *groups, size_t n_groups);

/* A capability of a PMU: "slots" is "0x8". */
struct writer_capability {
	const char *name, *value;
};
void writer_pmu_capabilities(struct writer *, const char *pmu,
			     const struct writer_capability *capabilities, size_t n);

/* Writes all records to disk. */
void writer_flush(struct writer *);

/*
 * Writes all records to disk, and the features behind them, so that the file is complete if the
 * program is killed now. The next records overwrite the features.
 */
void writer_checkpoint(struct writer *);

/* Writes features and header, closes and frees. Returns the first error. */
int writer_close(struct writer *, struct err *);

/* Closes and removes the file, and frees. NULL does nothing. */
void writer_abandon(struct writer *);

#endif
