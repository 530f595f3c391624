/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes perf.data files that perf reads as well: for the recorder, the machine model and
 * tests. File mode, little-endian. Records stream to disk through a buffer of a few MiB; the
 * features, with the index of AUX buffers, come at the end.
 *
 * The first error is kept, nothing is written after it, and writer_close() reports it. The
 * file is readable whenever the program stops: each time the buffer goes out, the header is
 * told where the last whole record ends. What is then missing are the records still in the
 * buffer and, but for writer_checkpoint(), the features. After an error (a full disk) writer_close() cuts the file behind
 * the last whole record and adds the features if they find room.
 *
 * A writer is for one thread at a time.
 */
#ifndef CYCLOPS_CAPTURE_WRITER_WRITER_H
#define CYCLOPS_CAPTURE_WRITER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "capture/format/attr.h"
#include "capture/format/info.h"
#include "capture/format/record.h"
#include "capture/format/sample.h"

struct writer;

/*
 * An event to declare. perf wants attrs of one size in a file: all are written with that of
 * the largest, where attr.size 0 stands for ATTR_SIZE_PERF. Without a name it gets the one
 * that attr_name() makes up.
 */
struct writer_event {
	struct attr attr;
	const uint64_t *ids;
	size_t n_ids;
	const char *name;
};

/*
 * Creates the file (readable by its owner only, as perf does: it holds addresses) and writes
 * header and attrs. At least one event. Everything is copied.
 */
int writer_open(const char *path, const struct writer_event *events, size_t n_events,
		struct writer **out, struct err *);

/*
 * Opens a file that a writer of the same events began and did not live to finish, to go on
 * behind the last whole record in it. Features are to be set again, and build-ids. Fails if the
 * file is another one.
 */
int writer_resume(const char *path, const struct writer_event *events, size_t n_events,
		  struct writer **out, struct err *);

/* Bytes of the file so far, those in the buffer included. */
uint64_t writer_size(const struct writer *);

/* There was an error: it makes no sense to go on, but does no harm. */
bool writer_has_failed(const struct writer *);

/* Appends one record; `size` excludes the 8-byte header. */
void writer_record(struct writer *, uint32_t type, uint16_t misc, const void *body, size_t size);

/* Appends whole records as they stand. */
void writer_records(struct writer *, const void *records, size_t size);

/*
 * The same for the bytes of a kernel ring, in two pieces where it wraps: records may go from
 * one into the other. This is what is compressed, if anything is.
 */
void writer_ring(struct writer *, const void *bytes, size_t size, const void *rest, size_t n_rest);

/*
 * Compresses what writer_ring() gets from now on, as one zstd stream. Level 1 to 22. Begins with a
 * record that says so, for files that have no features yet.
 */
int writer_compress(struct writer *, int level, struct err *);

/* Appends an AUXTRACE record and its data (padded to 8 bytes), and notes it in the index. */
void writer_auxtrace(struct writer *, const struct record_auxtrace *, const void *data);

/* The same with the data in two pieces, as a ring has it: `size` bytes at `data`, then `rest`. */
void writer_auxtrace_pieces(struct writer *, const struct record_auxtrace *, const void *data,
			    size_t size, const void *rest);

/*
 * Kernel records. Each ends with a sample_id trailer laid out by the attr of the event whose
 * id is in sample_id.id, or of event 0 if none has it. Values that sample_id.has lacks are
 * written as 0; NULL means all of them, as in records that perf makes up itself.
 */
void writer_mmap2(struct writer *, const struct record_mmap *, uint16_t misc,
		  const struct sample_id *);
void writer_mmap(struct writer *, const struct record_mmap *, uint16_t misc,
		 const struct sample_id *); /* the old kind, for the kernel and its modules */
void writer_comm(struct writer *, const struct record_comm *, const struct sample_id *);
void writer_task(struct writer *, uint32_t type, const struct record_task *,
		 const struct sample_id *);
void writer_namespaces(struct writer *, const struct record_namespaces *, const struct sample_id *);
void writer_switch(struct writer *, const struct record_switch *, const struct sample_id *);
void writer_aux(struct writer *, const struct record_aux *, const struct sample_id *);
void writer_itrace_start(struct writer *, uint32_t pid, uint32_t tid, const struct sample_id *);
void writer_lost(struct writer *, const struct record_lost *, const struct sample_id *);
void writer_ksymbol(struct writer *, const struct record_ksymbol *, const struct sample_id *);

/*
 * A sample of event number `event`: the fields that its sample_type names, whatever
 * sample.sample_type says. The words of `read` must be those that its read_format asks for.
 * Raw data is padded, as the kernel does it, to end at a multiple of 8 bytes.
 */
void writer_sample(struct writer *, size_t event, uint16_t misc, const struct sample *);

/* Records of perf itself, without trailer. */
void writer_time_conv(struct writer *, const struct record_time_conv *);
void writer_finished_round(struct writer *); /* all before may be sorted by time and used */
void writer_finished_init(struct writer *);  /* the state at the start has been described */

/* AUXTRACE_INFO for Arm SPE. perf wants it behind TIME_CONV. */
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
 * Header features, written at close. Setting one again replaces it. EVENT_DESC, AUXTRACE (if
 * there was any) and BUILD_ID (if there is any) are made without being asked for.
 */
void writer_feature(struct writer *, unsigned feature, const void *bytes, size_t size);
void writer_feature_string(struct writer *, unsigned feature, const char *text);
void writer_feature_u64(struct writer *, unsigned feature, uint64_t value);

void writer_n_cpus(struct writer *, uint32_t available, uint32_t online);
void writer_command_line(struct writer *, size_t n_args, const char *const *args);
void writer_sample_time(struct writer *, uint64_t first_ns, uint64_t last_ns);
void writer_clock_data(struct writer *, uint32_t clock_id, uint64_t clock_time_ns,
		       uint64_t wall_clock_ns);

/* Adds one to the list of build-ids. `misc` as in record.misc: the cpumode. */
void writer_build_id(struct writer *, const struct build_id *, const char *path, int32_t pid,
		     uint16_t misc);

struct writer_pmu {
	uint32_t type;
	const char *name;
};
void writer_pmus(struct writer *, const struct writer_pmu *pmus, size_t n_pmus);

/* Lists of CPUs such as "0-3": one for each set of siblings. `places` is by CPU. */
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

/* Events that were scheduled together. `leader` counts events as they were declared. */
struct writer_group {
	const char *name;
	uint32_t leader, n_members;
};
void writer_groups(struct writer *, const struct writer_group *groups, size_t n_groups);

/* What the PMU says of itself: "slots" is "0x8". */
struct writer_capability {
	const char *name, *value;
};
void writer_pmu_capabilities(struct writer *, const char *pmu,
			     const struct writer_capability *capabilities, size_t n);

/* Brings all records to disk. */
void writer_flush(struct writer *);

/*
 * Brings everything to disk, the features as they are set so far behind the records, so that
 * the file is complete if the program is stopped now. The next records take their place.
 */
void writer_checkpoint(struct writer *);

/* Writes the features, finishes the header, closes, frees. Reports the first error. */
int writer_close(struct writer *, struct err *);

/* Closes and removes the file, frees. NULL does nothing. */
void writer_abandon(struct writer *);

#endif
