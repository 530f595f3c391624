/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills in the thread, process, place and call chain of each row of a batch. Each worker has one,
 * with caches and with frame numbers of its own. Place numbers are shared by all workers.
 */
#ifndef CYCLOPS_PROCESS_ATTRIBUTION_H
#define CYCLOPS_PROCESS_ATTRIBUTION_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "batch/batch.h"
#include "capture/format/record.h"
#include "process/place_numbers.h"
#include "process/timeline.h"

/* How many rows got their thread from where, and how many lack something. */
struct attribution_totals {
	uint64_t n_rows;
	uint64_t n_by_context, n_by_switch, n_by_buffer, n_by_record; /* source of the tid */
	uint64_t n_without_tid, n_without_process, n_without_place, n_without_time;
};

struct attribution;
struct place_cache;

/* Borrows both. The timeline must be frozen. Other threads may add places at the same time. */
struct attribution *attribution_new(const struct timeline *, struct place_numbers *);
void attribution_free(struct attribution *);

/*
 * Fills tid, pid, process, place (HAS_TID, HAS_PID, HAS_PROCESS, HAS_PLACE) and, for samples with
 * call chains, frame. The thread of an SPE record comes from its context packet, else from switch
 * records, else from its buffer; that of a sample from the sample. A context packet with an unknown
 * tid is used last. Rows without an address have place 0. The place of an address outside all
 * modules is (0, address).
 */
void attribution_apply(struct attribution *, struct batch *);

/*
 * Unwinds the copied stack of a row with HAS_USER_STACK: fills `out` with at most `max` user
 * addresses, innermost first, and returns how many. `cache`, `process` and `time_ns` are for
 * place_cache_look_up().
 */
typedef size_t attribution_unwind(void *context, struct place_cache *cache, const struct batch *,
				  size_t row, uint32_t process, uint64_t time_ns, uint64_t *out,
				  size_t max);
void attribution_set_unwind(struct attribution *, attribution_unwind *, void *context);

#define ATTRIBUTION_NO_CALLERS UINT32_MAX

/*
 * Callers of SPE records, which have no call chains of their own. `find` returns the frame of the callers of a
 * row whose thread and place are known, in `frames`, which are as attribution_frames(); 0: it has none;
 * ATTRIBUTION_NO_CALLERS: they are not known. All borrowed; several workers ask at the same time.
 */
struct attribution_callers {
	uint32_t (*find)(const void *context, const struct batch *, size_t row);
	void *context;
	const struct tuples *frames;
};

/* From now on SPE rows get a frame (HAS_STACK), if their callers are known. */
void attribution_set_callers(struct attribution *, const struct attribution_callers *);

/* From now on places and call chains are not looked up, and n_without_place is not counted. */
void attribution_skip_places(struct attribution *);

/* From now on rows outside of this code get place 0, as if nothing were known of it; HAS_PLACE is as without this. */
void attribution_number_only(struct attribution *, const struct code_span *);

/* From now on samples, or SPE records, get no frames. */
void attribution_skip_frames(struct attribution *, bool of_samples, bool of_spe);

const struct attribution_totals *attribution_totals(const struct attribution *);

/*
 * Call chains as a tree: frame id → (id of the caller's frame, place). Frame 0 is the root. A row
 * has the id of its innermost frame, or 0 without a call chain. A caller's place is inside its call
 * instruction: one byte below the recorded return address.
 */
const struct tuples *attribution_frames(const struct attribution *);

/* May equal frames have several ids, as they hardly ever come twice? Then they are no result: to be forgotten at the end. */
bool attribution_has_loose_frames(const struct attribution *);

/* Forgets all frames: their ids begin anew. */
void attribution_forget_frames(struct attribution *);

/* Moves the frames out. Afterwards the attribution may only be freed. */
void attribution_take(struct attribution *, struct tuples *out_frames);

/*
 * Arguments for place_cache_look_up(), of a row after attribution_apply(): the time, and to whom an
 * address belongs. `is_by_position` is timeline_is_by_position().
 */

/* Later than all records. */
#define ATTRIBUTION_END (UINT64_MAX - 1)

/*
 * The time of a row for the timeline; ATTRIBUTION_END if it has none. If time is the position in
 * the file, that of a sample is its own; SPE data has none, because it is written later than it was
 * recorded.
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

/* PLACE_OF_KERNEL for the upper half of the address space. Branch-free. */
static inline uint32_t attribution_whose_address(const struct batch *b, size_t row,
						 uint64_t address)
{
	static_assert(PLACE_OF_KERNEL == 0, "all bits are cleared");

	return attribution_whose_user_address_(b, row) & ((uint32_t)(address >> 63) - 1);
}

/* Of other code than the kernel's and that of users. */
uint32_t attribution_whose_rare_pc_(const struct batch *, size_t row);

static inline uint32_t attribution_whose_sample_pc_(const struct batch *b, size_t row)
{
	uint8_t mode = b->mode[row] & MISC_CPUMODE;

	static_assert(PLACE_OF_KERNEL == 0, "no bit is set");
	if (mode != CPUMODE_KERNEL && mode != CPUMODE_USER)
		return attribution_whose_rare_pc_(b, row);
	return attribution_whose_user_address_(b, row) & -(uint32_t)(mode == CPUMODE_USER);
}

/* Is it a sample of a virtual machine? Its addresses are not of the process that it ran as. */
static inline bool attribution_is_of_guest(const struct batch *b, size_t row)
{
	return b->kind == BATCH_SAMPLES && place_is_of_guest(attribution_whose_sample_pc_(b, row));
}

/* Without branches: user and kernel code alternate too often for branch prediction. */
static inline uint32_t attribution_whose_spe_pc_(const struct batch *b, size_t row)
{
	static_assert(PLACE_OF_KERNEL == 0, "levels 1 and 2, of which no bit is set");
	const unsigned level = batch_pc_level(b, row);

	return (attribution_whose_user_address_(b, row) & -(uint32_t)(level == 0)) |
	       ((uint32_t)PLACE_OF_NOBODY & -(uint32_t)(level == 3));
}

static inline uint32_t attribution_whose_pc(const struct batch *b, size_t row)
{
	return b->kind == BATCH_SPE ? attribution_whose_spe_pc_(b, row)
				    : attribution_whose_sample_pc_(b, row);
}

#endif
