/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes SPE bytes to batches. */
#ifndef CYCLOPS_SPE_DECODE_H
#define CYCLOPS_SPE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "spe/wanted.h"

/*
 * What became of the bytes. Positions are those of spe_decode(). After spe_decoder_finish() bad +
 * dropped + record + padding bytes are all bytes of the stream.
 */
struct spe_damage {
	uint64_t bad_bytes;	/* bytes that are no packet */
	uint64_t first_bad;	/* position of the first such byte */
	uint64_t dropped_bytes; /* packets dropped with a damaged or split record */
	uint64_t first_dropped;
	uint64_t n_dropped;  /* records dropped: damaged, or without an end */
	uint64_t n_bad_runs; /* runs of bad bytes */

	/* Not damage: */
	uint64_t record_bytes;	/* packets of the records that became rows */
	uint64_t padding_bytes; /* padding and alignment packets, anywhere */
};

struct spe_decoder; /* for one stream of contiguous buffers; not for two threads at once */

struct spe_decoder *spe_decoder_new(void);
void spe_decoder_free(struct spe_decoder *);

/* Prepares for a new stream: clears the counts of damage, keeps known layouts. */
void spe_decoder_reset(struct spe_decoder *);

/*
 * Decodes until the batch is full or the bytes end, and returns the number of bytes consumed: all,
 * unless the batch is full. Appends rows of kind BATCH_SPE with all that the records contain,
 * addresses in canonical form; cpu, pid, tid and time_ns are left to the caller. `position` is that
 * of bytes[0] in the file. Alignment packets count from `address`, the offset of bytes[0] in the
 * buffer. A record split at the end of the bytes continues in the next call, which must bring the
 * bytes that follow, or else spe_decoder_finish() is to be called.
 *
 * Bytes that are no packet are skipped one by one. The record that contains them is dropped. So is
 * the rest of it, unless it has a PC: each record has one, so such a rest is taken as the next
 * record.
 *
 * Packets that hardware never repeats in a record are accepted: events are ORed, as are operations
 * of one class; otherwise the last packet counts. Operations of the reserved class are kept.
 * Addresses and counters without a column are ignored.
 */
size_t spe_decode(struct spe_decoder *, const uint8_t *bytes, size_t size, uint64_t position,
		  uint64_t address, struct batch *out);

/* From now on unwanted records may be left out. Some may still come. */
void spe_decoder_want(struct spe_decoder *, struct spe_wanted);

/* Ends the stream: an unfinished record is dropped and counted. */
void spe_decoder_finish(struct spe_decoder *);

/* Counts since the last reset. */
struct spe_damage spe_decoder_damage(const struct spe_decoder *);

/*
 * On (default): records of known layouts are decoded by spe/shape.h. Off: all records are parsed,
 * for tests and measurements. Results are the same.
 */
void spe_decoder_use_shapes(struct spe_decoder *, bool on);

#endif
