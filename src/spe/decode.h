/* SPDX-License-Identifier: Apache-2.0 */
/* SPE bytes into batches. */
#ifndef CYCLOPS_SPE_DECODE_H
#define CYCLOPS_SPE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "spe/wanted.h"

/*
 * Account of the decoded bytes. Positions are those of spe_decode(). After spe_decoder_finish(),
 * bad + dropped + record + padding bytes are all bytes of the stream.
 */
struct spe_damage {
	uint64_t bad_bytes;	/* bytes that were no packet */
	uint64_t first_bad;	/* position of the first such byte */
	uint64_t dropped_bytes; /* bytes of packets thrown away with a damaged or cut record */
	uint64_t first_dropped;
	uint64_t n_dropped;  /* records given up: damaged, or without an end */
	uint64_t n_bad_runs; /* stretches of bad bytes */

	/* Not damage: the rest of the account. */
	uint64_t record_bytes;	/* bytes of the packets of delivered records */
	uint64_t padding_bytes; /* padding and alignment packets, wherever they stood */
};

struct spe_decoder; /* one for each stream of contiguous buffers; not shared by threads */

struct spe_decoder *spe_decoder_new(void);
void spe_decoder_free(struct spe_decoder *);

/* Ready for a new stream; forgets the damage counted. Keeps what it learned about layouts. */
void spe_decoder_reset(struct spe_decoder *);

/*
 * Decodes until the batch is full or the bytes end, and returns how many bytes were consumed
 * (all of them unless the batch is full). Appends rows of kind BATCH_SPE: position, pc … as
 * recorded, with canonical addresses; cpu, pid, tid and time_ns are left to others. `position`
 * is that of bytes[0] in the file; alignment packets count from `address` + offset.
 * A record or packet that the end of the bytes cuts in two goes on in the next call, which
 * must bring the bytes that follow; spe_decoder_finish() if there are none.
 *
 * Bytes that are no packet are skipped one by one, and the record they lie in is dropped:
 * what was read of it, and its rest if that has no PC (the packet every record has; a rest
 * with a PC is taken for the next record, whose predecessor lost its end in the damage).
 *
 * Packets that hardware does not send twice in a record: events are ORed, and so are
 * operations of one class; of anything else the last one counts. An operation of the
 * reserved class is kept as it is. Addresses and counters that have no column are ignored.
 */
size_t spe_decode(struct spe_decoder *, const uint8_t *bytes, size_t size, uint64_t position,
		  uint64_t address, struct batch *out);

/* From now on the decoder may drop records that are not wanted. It need not drop all of them. */
void spe_decoder_want(struct spe_decoder *, struct spe_wanted);

/* The stream ends here: an unfinished record is dropped and counted. */
void spe_decoder_finish(struct spe_decoder *);

/* What was lost since the last reset. */
struct spe_damage spe_decoder_damage(const struct spe_decoder *);

/*
 * On (the default): records are decoded by known layouts (spe/shape.h). Off: every record is
 * parsed, for tests and measurements. The result is the same.
 */
void spe_decoder_use_shapes(struct spe_decoder *, bool on);

#endif
