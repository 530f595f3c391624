/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A perf.data capture: a file, a directory or a pipe stream. Opening reads only the header.
 * capture_scan() is pass 1; units are pass 2 (docs/design.md).
 */
#ifndef CYCLOPS_CAPTURE_CAPTURE_H
#define CYCLOPS_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "base/progress.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/strings.h"
#include "base/text.h"
#include "batch/batch.h"
#include "capture/format/attr.h"
#include "capture/format/info.h"
#include "capture/format/record.h"
#include "spe/wanted.h"

struct capture;

/*
 * Opens the capture at `path`: a file, a directory of `perf record --threads`, or "-" for standard
 * input. A file that zstd, gzip or xz compressed as a whole is decompressed to a temporary file. Fails if it is
 * no perf.data, or big-endian.
 */
int capture_open(const char *path, struct capture **out, struct err *);
void capture_free(struct capture *);

/* The same for bytes in memory, borrowed until capture_free(). `name` is for messages. */
int capture_open_bytes(const char *name, const void *bytes, size_t size, struct capture **out,
		       struct err *);

/*
 * The same for a file that is one SPE buffer from its first byte to its last, with nothing about it:
 * no thread but in context packets, no CPU, no time base, no mappings. `midr` is MIDR_EL1 of the CPU
 * that wrote it; 0: not known. Fails for perf.data.
 */
int capture_open_raw(const char *path, uint64_t midr, struct capture **out, struct err *);
int capture_open_raw_bytes(const char *name, const void *bytes, size_t size, uint64_t midr,
			   struct capture **out, struct err *);

/* Do these bytes begin perf.data of any kind, or what zstd compressed? */
bool capture_begins(const void *bytes, size_t size);

const char *capture_path(const struct capture *); /* or "standard input" */
uint64_t capture_size(
	const struct capture *); /* bytes, of compressed files the decompressed ones */

/*
 * XXH64 of these bytes, as xxhsum prints it; of a directory that of the hashes of its files. Reads all of it.
 */
uint64_t capture_hash(const struct capture *);

bool capture_is_pipe(const struct capture *);
bool capture_is_raw(const struct capture *); /* by capture_open_raw() */

/* Texts of events and info. Constant after capture_scan(). */
const struct strings *capture_strings(const struct capture *);

/* Pass 1 will say how far it has come; NULL: nobody asks. */
void capture_set_progress(struct capture *, struct progress *);

/* Pass 1 is done by these threads, and capture_free() unmaps by them, so they end later. Borrowed; NULL: the caller alone. */
void capture_set_pool(struct capture *, struct pool *);

/* Little is read from here on: threads of the pool that have nothing else to do unmap the file. What is read is mapped again. */
void capture_drop(struct capture *);

/*
 * Pass 1. Walks all records once in file order and calls `visit` (NULL: nothing) for each record
 * except samples, which are counted and put into units. COMPRESSED records are replaced by their
 * contents. `id` is the record's sample_id trailer; without one all its fields are absent.
 *
 * Damage is counted in capture_diags(), and a segment ends where it cannot be read any further.
 * Returns -1 only if nothing could be read, or there is no disk space for decompressed records. To
 * be called once, before the functions below.
 */
typedef void capture_visit(void *context, const struct record *, const struct sample_id *id);
int capture_scan(struct capture *, capture_visit *visit, void *context, struct err *);

/*
 * The same walk, samples included; their `id` is read from the body. Valid after capture_scan(),
 * repeatedly and by several threads.
 */
void capture_walk(const struct capture *, capture_visit *visit, void *context);

/* All below: after capture_scan(). */

const struct info *capture_info(const struct capture *);
size_t capture_n_events(const struct capture *);
const struct event *capture_event(const struct capture *, size_t index);
const char *capture_event_name(const struct capture *, size_t index);

/* The event of an id in a sample or trailer; -1 if there is none. Id 0 is event 0. */
int capture_event_of_id(const struct capture *, uint64_t id);

/* The event of a sample, by the id in its body; -1 if there is none. */
int capture_event_of_sample(const struct capture *, const struct record *);

/* Damage and losses found so far. */
const struct diags *capture_diags(const struct capture *);

/* Totals of pass 1. */
struct capture_totals {
	uint64_t n_records, n_samples, n_auxtrace, aux_bytes;
	uint64_t n_guest_samples; /* of n_samples: of virtual machines on the host that recorded */
	uint64_t n_lost_events;	  /* in LOST records: the ring buffer was full */
	uint64_t n_lost_samples;  /* in LOST_SAMPLES records */
	/* of these, in records without a time: what a recorder was told at the end, which LOST records may have told, too */
	uint64_t n_lost_in_all;
	uint64_t n_aux, n_aux_truncated, n_aux_partial, n_aux_collision;
	uint64_t n_throttled;
	/*
	 * of records and samples with a time other than 0 (records made up by perf have 0), without
	 * SPE data; 0, 0: none
	 */
	uint64_t first_ns, last_ns;
	uint64_t first_sample_ns, last_sample_ns; /* of samples alone */
	uint64_t by_type[N_RECORD_TYPES];
	uint64_t missing_bytes; /* of records that a truncated file should have */

	/*
	 * All bytes are accounted for: after capture_scan() these three plus the bytes in
	 * capture_diags() are capture_size(). Damage that units find later is a part of
	 * record_bytes. Bytes missing in a truncated file are only mentioned in a diagnostic.
	 */
	uint64_t header_bytes;	/* before the records: header, events, ids */
	uint64_t record_bytes;	/* records, and the data behind AUXTRACE records */
	uint64_t feature_bytes; /* header features, behind the records */
};

/* Records and samples that the kernel lost: at least so many. */
static inline uint64_t capture_lost(const struct capture_totals *t)
{
	uint64_t told_twice =
		t->n_lost_events < t->n_lost_in_all ? t->n_lost_events : t->n_lost_in_all;

	return t->n_lost_events + t->n_lost_samples - told_twice;
}
const struct capture_totals *capture_totals(const struct capture *);

/* Bytes of trace data other than Arm SPE, which are not read. */
uint64_t capture_other_trace_bytes(const struct capture *);

/*
 * Appends what these are of: "Intel PT", "CoreSight ETM and an unknown kind"; also of kinds that the capture names, and
 * has no bytes of. Nothing if there are none.
 */
void capture_other_trace_names(const struct capture *, struct text *);

/* Does event `index` write a trace, of SPE or another, rather than samples? */
bool capture_is_trace(const struct capture *, size_t index);

/*
 * Is what the event writes to an AUX buffer a trace that is not Arm SPE? Of an event whose PMU is not known, or -1,
 * the capture's only kind of trace tells.
 */
bool capture_is_other_trace(const struct capture *, int event);

/*
 * The first and the last time of samples and of the SPE records at both ends of each buffer. These are nearly
 * always the first and the last time of all, found without decoding the capture. False: none was found.
 */
bool capture_end_times(const struct capture *, uint64_t *first_ns, uint64_t *last_ns);

/* SPE metadata of a CPU, from AUXTRACE_INFO. */
struct spe_cpu {
	uint32_t cpu;
	uint64_t midr;
	uint32_t pmu_type; /* UINT32_MAX: this CPU has no SPE */
	uint64_t min_interval;
	uint64_t event_filter; /* capability mask; 0 if not recorded */
};
struct spe_info {
	bool is_present;  /* AUXTRACE_INFO says Arm SPE, or there is SPE data */
	unsigned version; /* 1 or 2; 0: not known */
	uint32_t pmu_type;
	bool is_per_thread;	     /* buffers belong to threads, not CPUs */
	VEC_OF(struct spe_cpu) cpus; /* version 2 */
	int event;		     /* index of the SPE event, or -1 */
	bool has_time;		     /* `time` is valid */
	struct record_time_conv time;
	bool is_modelled; /* recorded by a machine model, not by hardware */
};
const struct spe_info *capture_spe(const struct capture *);

/* Is attr.type that of an SPE PMU? */
bool capture_is_spe_type(const struct capture *, uint32_t type);

/* MIDR_EL1 of a CPU. UINT32_MAX: that of all CPUs, if they are equal. 0: not known. */
uint64_t capture_midr(const struct capture *, uint32_t cpu);

/*
 * The SPE data of one AUXTRACE record. `bytes` is shorter than the record says if the file is
 * truncated. Chunks are in file order.
 */
struct aux_chunk {
	struct record_auxtrace header;
	uint64_t position; /* of the data in the file */
	const uint8_t *bytes;
	uint64_t size;
};
size_t capture_n_chunks(const struct capture *);
const struct aux_chunk *capture_chunk(const struct capture *, size_t index);

/*
 * An offset at or after `at` that is between two SPE records, where the chunk can be split; the
 * size of the chunk if none is near.
 */
uint64_t aux_chunk_split(const struct aux_chunk *, uint64_t at);

/*
 * Pass 2. Samples and SPE data are cut into units, which can be decoded independently, in any
 * order. They are numbered in file order. Units of SPE data begin and end between records.
 */
size_t capture_n_units(const struct capture *);

/* Bytes of a unit's records or trace data. */
uint64_t capture_unit_bytes(const struct capture *, size_t unit);

struct unit_reader; /* one for each worker */

struct unit_reader *unit_reader_new(const struct capture *);
void unit_reader_free(struct unit_reader *);

/* As spe_decoder_want(), for SPE records. Samples are never left out. */
void unit_reader_want_spe(struct unit_reader *, struct spe_wanted);

/*
 * Of SPE units that are parts of the index, only those records whose addresses may be in spe_wanted's filter, and perhaps some
 * others; damage in between is not found. The index is borrowed. After unit_reader_want_spe().
 */
void unit_reader_want_records(struct unit_reader *, const struct address_index *);

/* Batches get the registers of samples (HAS_REGISTERS) from now on. */
void unit_reader_want_registers(struct unit_reader *);

/* Batches get copied stacks and their registers (HAS_USER_STACK) from now on. */
void unit_reader_want_stacks(struct unit_reader *);

/* Batches get branch stacks (HAS_BRANCHES) from now on. */
void unit_reader_want_branches(struct unit_reader *);

/* Moves to the start of a unit. */
void unit_reader_start(struct unit_reader *, size_t unit);

/*
 * Fills the batch with the next rows of the unit; false if there are none left. Damage is counted
 * in unit_reader_diags(), that of SPE data at the end of the unit.
 *
 * SPE records: `cpu` is the CPU and `tid` the thread that the buffer belongs to (HAS_CPU, HAS_TID:
 * usually one of the two). The context packet and switch records know the thread better;
 * attribution evaluates them. `time_ns` is present if ticks can be converted.
 *
 * Samples: one row each, with values as recorded. HAS_PERIOD is always set: the period of an event
 * that does not record it is attr.sample_period, even if that is a frequency, as in perf. READ
 * values are not used, though perf makes a row and a period of each. HAS_VA is set if the event
 * records addresses; the address is 0 if the CPU had none. A physical address of 0 is absent, as
 * are pid and tid -1 (exiting threads). Samples of an unknown event are damage. Registers are those
 * at the pc: at the sample itself, or of user code if the pc is user code. Registers of 32-bit code
 * are left out.
 */
bool unit_reader_next(struct unit_reader *, struct batch *);

/* Damage in all units of this reader, for capture_add_diags(). */
const struct diags *unit_reader_diags(const struct unit_reader *);

/* Adds the diagnostics of a unit reader to those of the capture. */
void capture_add_diags(struct capture *, const struct diags *);

#endif
