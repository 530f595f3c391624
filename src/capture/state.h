/* SPDX-License-Identifier: Apache-2.0 */
/* struct capture. For this folder only. */
#ifndef CYCLOPS_CAPTURE_STATE_H
#define CYCLOPS_CAPTURE_STATE_H

#include "base/pool.h"
#include "base/progress.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "capture/events.h"
#include "capture/header.h"
#include "capture/segment.h"

/* A part of a chunk. */
struct aux_piece {
	size_t chunk;	    /* index of the chunk */
	uint64_t from, to;  /* bytes of the chunk */
	bool begins_stream; /* no record reaches into it from the piece before */
};

/* A part of the capture that is decoded on its own. */
struct unit {
	enum batch_kind kind;
	uint64_t position; /* in the file: units are ordered by it */
	/* Samples: the records in [from, to), which may include other records. */
	size_t segment;
	bool is_plain; /* from and to are offsets in segment.plain, not positions */
	uint64_t from, to;
	/* SPE: parts of one stream after the other. They stand in the file in this order. */
	size_t first_piece, n_pieces;
};

/* Kinds of traces, with perf's numbers; 0 is one that is not known. */
enum { TRACE_ARM_SPE = 4, N_TRACE_KINDS = 8 };

/* Trace data that is not of SPE. */
struct other_trace {
	uint32_t kind;
	uint64_t position, size; /* in the file */
};

/* An event id, and which buffer (record_auxtrace.idx) the event's data goes to. */
struct buffer_event {
	uint64_t id, idx;
};

struct capture {
	char *path;
	struct header header; /* of the first segment */
	VEC_OF(struct segment) segments;
	uint64_t size;
	struct progress *progress; /* of pass 1; borrowed, or NULL */
	struct pool *pool;	   /* of pass 1 and of capture_free(); borrowed, or NULL */
	bool stays_mapped;	   /* capture_forget() forgets nothing */
	bool is_raw;		   /* the segment is one SPE buffer, no perf.data */

	bool has_old_features; /* records of types RECORD_OLD_FEATURES … are features */

	struct strings strings;
	struct events events;
	struct info info;
	struct spe_info spe;
	struct capture_totals totals;
	struct diags diags;

	VEC_OF(struct aux_chunk) chunks; /* of SPE; of all kinds until traces_finish() */
	VEC_OF(struct other_trace) others;
	VEC_OF(struct buffer_event) buffer_events; /* of ID_INDEX */
	uint32_t traces_told; /* kinds that AUXTRACE_INFO records name, as bits */
	VEC_OF(struct aux_piece) pieces;
	VEC_OF(struct unit) units;
};

/* Adds a formatted diagnostic. */
void capture_note(struct capture *, enum diag_level, uint64_t at, uint64_t bytes,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds a diagnostic for bytes counted in record_bytes, and subtracts them there. */
void capture_unread_bytes(struct capture *, enum diag_level, uint64_t at, uint64_t bytes,
			  const char *text);

/* The same for the bytes of a record, without the data behind it. */
void capture_unread(struct capture *, enum diag_level, const struct record *, const char *text);

/* Subtracts from record_bytes the bytes that capture_diags() has gained since it was `before`. */
void capture_move_unread(struct capture *, uint64_t before);

/* Chooses whether capture_forget() does anything: not where mapping pages again costs more than keeping them. */
void capture_choose_kept(struct capture *);

/* Tells the kernel that these bytes of one file are not needed soon (madvise). */
void capture_forget(const struct capture *, uint64_t from, uint64_t to);

/* Widens a span of times; a time of 0 was made up by perf, and is none. */
static inline void see_time(uint64_t time_ns, uint64_t *first_ns, uint64_t *last_ns)
{
	if (time_ns == 0)
		return;
	if (*first_ns == 0 || time_ns < *first_ns)
		*first_ns = time_ns;
	if (time_ns > *last_ns)
		*last_ns = time_ns;
}

/* By the header of a sample. */
static inline bool misc_is_of_guest(uint16_t misc)
{
	return (misc & MISC_CPUMODE) == CPUMODE_GUEST_KERNEL ||
	       (misc & MISC_CPUMODE) == CPUMODE_GUEST_USER;
}

/* ahead.c: stretches of a segment that are walked, by several threads, before the walk comes there. */

struct stretch {
	uint64_t from, to; /* positions: of its first record, and behind its last one */
	uint64_t n_samples, n_guest_samples, sample_bytes;
	uint64_t first_ns, last_ns; /* of samples; 0: none has a time */
	VEC_OF(struct unit) units;
	VEC_OF(uint64_t) others; /* positions of records that are no samples */
	bool has_run;		 /* the last unit may grow */
};

enum { AHEAD_STRETCHES = 32 };

struct ahead {
	const struct capture *capture;
	size_t segment;
	uint64_t due; /* the walk asks for a stretch where it comes here, or further */
	uint64_t start;
	size_t n, n_passed; /* stretches that were walked; those of them that are behind the walk */
	size_t n_events;    /* of the capture then */
	uint64_t n_records; /* that the walk had met when it asked last */
	struct stretch items[AHEAD_STRETCHES];
};

/* For one segment; a zeroed one may be used for one after the other, and released in the end. */
void ahead_start(struct ahead *, const struct capture *, size_t segment);
void ahead_release(struct ahead *);

/*
 * The walk is at `at`, which is due, behind a payload of so many bytes, and has met so many records: the stretch that begins
 * there, or NULL. Valid until the next call. If there are none any more, the next ones are walked; not where records are
 * few, as there are data behind them.
 */
const struct stretch *ahead_take(struct ahead *, uint64_t at, uint64_t payload, uint64_t n_records);

/* meta.c: events and features. */

/* Reads the attrs section of a file. */
void meta_attrs(struct capture *);

/* Reads the features behind the records of a file. */
void meta_features(struct capture *);

/* Records with the same information in a stream. */
void meta_attr_record(struct capture *, const struct record *);
void meta_update_record(struct capture *, const struct record *);
void meta_feature_record(struct capture *, const struct record *);
void meta_build_id_record(struct capture *, const struct record *);

/* A feature of an old stream (RECORD_OLD_FEATURES). False: the record is something else. */
bool meta_old_feature_record(struct capture *, const struct record *);

/* Names all events, after everything was read. */
void meta_name_events(struct capture *);

/* side_band.c: evaluates records about the capture itself, ignores others. */

void side_band_read(struct capture *, const struct record *);

/* Counts a record whose body cannot be read. Its bytes count as not read. */
void side_band_damaged(struct capture *, const struct record *);

/* spe_info.c */

void spe_info_record(struct capture *, const struct record *auxtrace_info);

/*
 * Reads what an AUXTRACE_INFO record says of SPE, behind its type: version, PMU, CPUs. False if it ends before its end; what was
 * read till then is there. `cpus` is added to, and to be released by vec_release().
 */
bool spe_info_read(struct cursor, struct spe_info *);

/* After everything was read: finds the SPE event and the owner of buffers. */
void spe_info_finish(struct capture *);

/* traces.c */

void traces_index_record(struct capture *, const struct record *id_index);

/* After everything was read: leaves the chunks that are of SPE, and puts the rest into `others`. */
void traces_finish(struct capture *);

/* Counts the bytes of other traces as not read. */
void traces_account(struct capture *);

/* raw.c */

/* Says what is known of the machine that wrote an SPE buffer. */
void raw_describe(struct capture *, uint64_t midr);

/* Are these packets of SPE, with the beginning and the end of a record? */
bool raw_is_likely(const uint8_t *bytes, size_t size);

/* Fails if the bytes cannot be an SPE buffer without a file around it. */
int raw_check(const struct capture *, struct err *);

/* Its pass 1. */
void raw_scan(struct capture *);

/* units.c */

/* Makes units of the SPE chunks, and sorts all units in file order. */
void units_finish(struct capture *);

#endif
