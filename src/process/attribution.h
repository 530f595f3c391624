/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives each row of a batch its thread, process and place. One for each worker: it remembers
 * what it looked up, and numbers call chains for itself. Places have one number for all.
 */
#ifndef CYCLOPS_PROCESS_ATTRIBUTION_H
#define CYCLOPS_PROCESS_ATTRIBUTION_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "batch/batch.h"
#include "process/place_numbers.h"
#include "process/timeline.h"

/* How records got their thread; unknown stays unknown and is counted. */
struct attribution_totals {
	uint64_t n_rows;
	uint64_t n_by_context, n_by_switch, n_by_buffer, n_by_record; /* tid came from there */
	uint64_t n_without_tid, n_without_process, n_without_place, n_without_time;
};

struct attribution;
struct place_cache;

/* Borrows the timeline, which must be frozen, and the places, to which others may add, too. */
struct attribution *attribution_new(const struct timeline *, struct place_numbers *);
void attribution_free(struct attribution *);

/*
 * Fills tid, pid, process, place (HAS_TID, HAS_PID, HAS_PROCESS, HAS_PLACE) and, for samples
 * with call chains, frame. The thread of an SPE record comes from its context packet, else
 * from switch records, else from its buffer; that of a sample from the sample. A context
 * packet that names a thread nobody has heard of counts only if there is nothing else. Rows
 * without an address have place 0; addresses outside all modules are at (0, address).
 */
void attribution_apply(struct attribution *, struct batch *);

/*
 * Makes call chains of rows with HAS_USER_STACK: fills `out`, at most `max` user addresses,
 * innermost first, and returns how many. `process` and `time_ns` are as for
 * place_cache_look_up(), which may be asked with `cache`.
 */
typedef size_t attribution_unwind(void *context, struct place_cache *cache, const struct batch *,
				  size_t row, uint32_t process, uint64_t time_ns, uint64_t *out,
				  size_t max);
void attribution_set_unwind(struct attribution *, attribution_unwind *, void *context);

/*
 * From now on no places and call chains are looked up: for those who want nothing but the
 * records. Nothing is counted in n_without_place then.
 */
void attribution_skip_places(struct attribution *);

const struct attribution_totals *attribution_totals(const struct attribution *);

/*
 * Call chains as a tree: tuples of (id of the caller's frame, place), frame 0 being the root,
 * which is no place. A row's frame is the innermost; walking up until 0 gives its callers. The
 * place of a caller is in its call, one byte below the address recorded, which is the one it
 * returns to. A row without call chain has frame 0.
 */
const struct tuples *attribution_frames(const struct attribution *);

/* The same, moved out so that others can be added. The attribution can only be freed then. */
void attribution_take(struct attribution *, struct tuples *out_frames);

/*
 * The id of (module, offset) for an address other than the pc, in a row's context: of the
 * kernel if it lies in the upper half of the address space, else of the row's process. The
 * row must have been through attribution_apply(). Every distinct address becomes a place:
 * round data addresses to what is of interest before asking for many.
 */
uint32_t attribution_place_of(struct attribution *, const struct batch *, size_t row,
			      uint64_t address);

/*
 * For those who ask a place_cache of their own (process/place_cache.h): the time to ask for,
 * and whose an address is, of a row that went through attribution_apply(). `is_by_position` is
 * timeline_is_by_position().
 */

/* Behind all times of records. */
#define ATTRIBUTION_END (UINT64_MAX - 1)

/*
 * The time to look at the timeline with; the end of the capture if the row has none. Samples
 * stand among the records that are in order by position, SPE data is written when it comes.
 */
static inline uint64_t attribution_row_time(bool is_by_position, const struct batch *b, size_t row)
{
	if (is_by_position)
		return b->kind == BATCH_SPE ? ATTRIBUTION_END : b->position[row];
	if (!(b->has[row] & HAS_TIME) || b->time_ns[row] == UINT64_MAX)
		return ATTRIBUTION_END;
	return b->time_ns[row];
}

static inline uint32_t attribution_whose_user_address_(const struct batch *b, size_t row)
{
	return b->process[row] == 0 ? PLACE_OF_NOBODY : b->process[row];
}

/* The upper half of the address space is the kernel's: PLACE_OF_KERNEL, without a decision. */
static inline uint32_t attribution_whose_address(const struct batch *b, size_t row,
						 uint64_t address)
{
	static_assert(PLACE_OF_KERNEL == 0, "all bits are cleared");

	return attribution_whose_user_address_(b, row) & ((uint32_t)(address >> 63) - 1);
}

uint32_t attribution_whose_sample_pc_(const struct batch *, size_t row);

/* By a table: whether code is the kernel's changes too often to be guessed. */
static inline uint32_t attribution_whose_pc(const struct batch *b, size_t row)
{
	const uint32_t by_level[] = { attribution_whose_user_address_(b, row), PLACE_OF_KERNEL,
				      PLACE_OF_KERNEL, PLACE_OF_NOBODY };

	return b->kind == BATCH_SPE ? by_level[batch_pc_level(b, row)]
				    : attribution_whose_sample_pc_(b, row);
}

#endif
