/* SPDX-License-Identifier: Apache-2.0 */
/* struct capture. Private to this folder. */
#ifndef CYCLOPS_CAPTURE_STATE_H
#define CYCLOPS_CAPTURE_STATE_H

#include "base/vec.h"
#include "capture/capture.h"
#include "capture/events.h"
#include "capture/header.h"
#include "capture/segment.h"

/* A part of an AUX chunk. */
struct aux_piece {
	size_t chunk;	   /* index */
	uint64_t from, to; /* bytes of the chunk */
};

/* A part of the capture that is decoded on its own. */
struct unit {
	enum batch_kind kind;
	uint64_t position; /* in the file, for the order of units */
	/* Samples: records in [from, to), other ones between them. */
	size_t segment;
	bool is_plain; /* from and to are places in segment.plain, else positions */
	uint64_t from, to;
	/* SPE: pieces of one stream that follow each other. */
	size_t first_piece, n_pieces;
};

struct capture {
	char *path;
	struct header header; /* of the first segment's file */
	VEC_OF(struct segment) segments;
	uint64_t size;

	struct strings strings;
	struct events events;
	struct info info;
	struct spe_info spe;
	struct capture_totals totals;
	struct diags diags;

	VEC_OF(struct aux_chunk) chunks;
	VEC_OF(struct aux_piece) pieces;
	VEC_OF(struct unit) units;
};

/* Adds a diagnostic with a formatted text. */
void capture_note(struct capture *, enum diag_level, uint64_t at, uint64_t bytes,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same for bytes that were counted in record_bytes: subtracts them there. */
void capture_unread_bytes(struct capture *, enum diag_level, uint64_t at, uint64_t bytes,
			  const char *text);

/* The same for all bytes of a record, without the data behind it. */
void capture_unread(struct capture *, enum diag_level, const struct record *, const char *text);

/* Subtracts from record_bytes what the bytes of capture_diags() have grown by since `before`. */
void capture_move_unread(struct capture *, uint64_t before);

/* Tells the kernel that these bytes of one file are not needed soon (madvise). */
void capture_forget(const struct capture *, uint64_t from, uint64_t to);

/* meta.c: what the capture says of its events and of the machine. */

/* The events of the attrs section of a file. */
void meta_attrs(struct capture *);

/* The features behind the data section of a file. */
void meta_features(struct capture *);

/* The records that say the same in a stream. */
void meta_attr_record(struct capture *, const struct record *);
void meta_update_record(struct capture *, const struct record *);
void meta_feature_record(struct capture *, const struct record *);
void meta_build_id_record(struct capture *, const struct record *);

/* Gives every event its name, when all has been read. */
void meta_name_events(struct capture *);

/* side_band.c: records that tell about the capture itself. Others are left alone. */

void side_band_read(struct capture *, const struct record *);

/* Counts a record of a known type whose body cannot be read; its bytes count as not read. */
void side_band_damaged(struct capture *, const struct record *);

/* spe_info.c */

void spe_info_record(struct capture *, const struct record *auxtrace_info);

/* When all has been read: which event is SPE, whose are the buffers. */
void spe_info_finish(struct capture *);

/* units.c */

/* Makes the units of SPE data out of the chunks, and puts all units into the order of the file. */
void units_finish(struct capture *);

#endif
