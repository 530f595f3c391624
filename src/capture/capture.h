/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A perf.data capture: file, directory or pipe stream. Opening reads the header and nothing
 * else; capture_scan() is pass 1, units are pass 2 (docs/design.md).
 */
#ifndef CYCLOPS_CAPTURE_CAPTURE_H
#define CYCLOPS_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/strings.h"
#include "batch/batch.h"
#include "capture/format/attr.h"
#include "capture/format/info.h"
#include "capture/format/record.h"
#include "spe/wanted.h"

struct capture;

/*
 * Opens the capture at `path`: a file, a directory of `perf record --threads`, or "-" for standard
 * input. Fails if it is no perf.data, or a big-endian one.
 */
int capture_open(const char *path, struct capture **out, struct err *);
void capture_free(struct capture *);

/*
 * The same for the bytes of a file, which are borrowed until capture_free(). `name` is for
 * messages.
 */
int capture_open_bytes(const char *name, const void *bytes, size_t size, struct capture **out,
		       struct err *);

const char *capture_path(const struct capture *); /* or "standard input" */
uint64_t capture_size(const struct capture *);	  /* bytes on disk */
bool capture_is_pipe(const struct capture *);

/* Strings of events and info. Frozen after capture_scan(). */
const struct strings *capture_strings(const struct capture *);

/*
 * Pass 1. Walks all records once in file order and calls `visit` (may be NULL) for each but
 * samples, which are only counted and put into units. COMPRESSED records are replaced by their
 * contents. `id` is the record's sample_id; all fields are absent if it has none. Damage is counted
 * in capture_diags(); a segment is left where it cannot be read any further. Returns -1 only if
 * nothing could be read, or if there is no disk space for decompressed records. Call it once,
 * before the functions below.
 */
typedef void capture_visit(void *context, const struct record *, const struct sample_id *id);
int capture_scan(struct capture *, capture_visit *visit, void *context, struct err *);

/*
 * The same walk, with samples; their `id` is read from their body. After capture_scan(), any number
 * of times, by several threads.
 */
void capture_walk(const struct capture *, capture_visit *visit, void *context);

/* All below: after capture_scan(). */

const struct info *capture_info(const struct capture *);
size_t capture_n_events(const struct capture *);
const struct event *capture_event(const struct capture *, size_t index);
const char *capture_event_name(const struct capture *, size_t index);

/* The event a sample or trailer id belongs to, or -1 if no event has it. Id 0: event 0. */
int capture_event_of_id(const struct capture *, uint64_t id);

/* The event of a sample record, by the id inside its body; -1 if unknown. */
int capture_event_of_sample(const struct capture *, const struct record *);

/* Damage and losses found so far. */
const struct diags *capture_diags(const struct capture *);

/* Totals of pass 1. */
struct capture_totals {
	uint64_t n_records, n_samples, n_auxtrace, aux_bytes;
	uint64_t n_lost_events;	 /* by LOST records: the ring buffer was full */
	uint64_t n_lost_samples; /* LOST_SAMPLES records */
	uint64_t n_aux, n_aux_truncated, n_aux_partial, n_aux_collision;
	uint64_t n_throttled;
	uint64_t first_ns, last_ns; /* of records and samples with a time that is not 0 (perf's
				       own records have time 0), without SPE data; 0, 0: none */
	uint64_t by_type[N_RECORD_TYPES];
	uint64_t missing_bytes; /* of records, that a file which was cut off should have */

	/*
	 * Account of all bytes: after capture_scan(), these three plus the bytes of capture_diags()
	 * are capture_size(). Damage that units find later is inside of record_bytes. Bytes that a
	 * cut file should have are only in the text of a diagnostic.
	 */
	uint64_t header_bytes;	/* in front of the records: header, events, ids */
	uint64_t record_bytes;	/* records, and the trace data behind AUXTRACE ones */
	uint64_t feature_bytes; /* header features, behind the records */
};
const struct capture_totals *capture_totals(const struct capture *);

/* Bytes of trace data of other kinds than Arm SPE. They are not read. */
uint64_t capture_other_trace_bytes(const struct capture *);

/* The name of a kind of trace ("Intel PT") by perf's number: see spe_info.auxtrace_type. */
const char *auxtrace_name(uint32_t type);

/* SPE metadata of a CPU, from AUXTRACE_INFO. */
struct spe_cpu {
	uint32_t cpu;
	uint64_t midr;
	uint32_t pmu_type; /* UINT32_MAX: this CPU has no SPE */
	uint64_t min_interval;
	uint64_t event_filter; /* capability mask; 0 if not recorded */
};
struct spe_info {
	bool is_present;	/* AUXTRACE_INFO says Arm SPE */
	uint32_t auxtrace_type; /* of the AUXTRACE_INFO record, 0: none */
	unsigned version;	/* 1 or 2 */
	uint32_t pmu_type;
	bool is_per_thread;	     /* buffers belong to threads, not CPUs */
	VEC_OF(struct spe_cpu) cpus; /* version 2 */
	int event;		     /* index of the SPE event, or -1 */
	bool has_time;		     /* `time` is valid */
	struct record_time_conv time;
	bool is_modelled; /* made by a machine model, not by hardware */
};
const struct spe_info *capture_spe(const struct capture *);

/* Is this attr.type that of an SPE PMU? */
bool capture_is_spe_type(const struct capture *, uint32_t type);

/* MIDR_EL1 of a CPU; UINT32_MAX: the common one, if all CPUs are alike. 0: not known. */
uint64_t capture_midr(const struct capture *, uint32_t cpu);

/*
 * A buffer of SPE data as it stands in the file (one AUXTRACE record), in file order.
 * `bytes` may be shorter than the record says if the file was cut.
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
 * An offset in the chunk, from `at` on, between two SPE records: where it can be split. The chunk's
 * size if none is found nearby.
 */
uint64_t aux_chunk_split(const struct aux_chunk *, uint64_t at);

/*
 * Pass 2. Samples and SPE data are cut into units, which can be decoded independently and in any
 * order. They are numbered in file order. Units of SPE data begin and end between records.
 */
size_t capture_n_units(const struct capture *);

struct unit_reader; /* one for each worker */

struct unit_reader *unit_reader_new(const struct capture *);
void unit_reader_free(struct unit_reader *);

/* The same as spe_decoder_want(), for SPE records. Samples are not dropped. */
void unit_reader_want_spe(struct unit_reader *, struct spe_wanted);

/* From now on batches have the registers of samples (HAS_REGISTERS). */
void unit_reader_want_registers(struct unit_reader *);

/* The same for copied stacks, with the registers that belong to them (HAS_USER_STACK). */
void unit_reader_want_stacks(struct unit_reader *);

/* Goes to the start of a unit. */
void unit_reader_start(struct unit_reader *, size_t unit);

/*
 * Fills the batch with the next rows of the unit; false when there are none left. Damage is
 * counted in unit_reader_diags(), that of SPE data when the unit ends.
 *
 * SPE records: what the record says, and what its buffer says. cpu is the CPU that the buffer
 * belongs to, tid the thread that it belongs to (HAS_CPU, HAS_TID: usually one of the two);
 * the context packet and switch records, which know the thread better, are left to
 * attribution. time_ns is there where ticks can be converted.
 *
 * Samples: one row for each record, with the recorded values. The period of an event that
 * does not record it is sample_period of its attr, as in perf, even where that is a frequency
 * (HAS_PERIOD is always set). READ values are not used: perf makes a row and a period of each
 * of them. Addresses are there (HAS_VA) if the event records them, and 0 where the CPU had
 * none; a physical address of 0 is absent, and so are pids and tids of -1 (of a thread that
 * is exiting). Samples of no known event are damage. Registers are those at the pc: of the
 * moment of the sample, or of user code if that is where the pc is. Of 32-bit code they are
 * left out.
 */
bool unit_reader_next(struct unit_reader *, struct batch *);

/* Damage found in all units of this reader: for capture_add_diags(). */
const struct diags *unit_reader_diags(const struct unit_reader *);

/* Adds diagnostics of a unit reader to those of the capture. */
void capture_add_diags(struct capture *, const struct diags *);

#endif
