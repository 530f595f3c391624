/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An estimate of the time that a program spends on each instruction, from SPE records.
 *
 * Time is that of the commit stage, as TIP defines it (Gottschall and others, MICRO 2021): a cycle
 * belongs to the instruction that the stage waits for; a cycle in which it takes instructions, to
 * all of them in equal parts; a cycle with an empty window after a misprediction, to the branch.
 * Latencies of SPE records are no such time: an operation's latency has waits for others in it, and
 * latencies of operations overlap.
 *
 *	first scan     by place: records, latencies from issue to the end, refills of the L1D,
 *	               targets of branches, mispredictions
 *	walk           through the program's code as the sampled branches went, with those latencies:
 *	               cycles for each execution of each instruction
 *	second scan    time between records that follow each other, by their two functions
 *	result         time of a function out of the second scan, shared among its instructions by
 *	               records x cycles for each execution
 *
 * The walk (walk.c) is an out-of-order core in a few lines. Instructions are dispatched in order, as
 * many in a cycle as the CPU can, into a window of the size of its reorder buffer. Each begins when
 * the registers that it reads are there, takes what records of it say from issue to the end, and
 * leaves the window in order. A load misses the L1D as often as in its records; hits and misses have
 * their mean latencies; lines from outside of the core come one after the other, so far apart that
 * the CPU has no more of them outstanding than it can. A store ends at once, but has a place in the
 * store buffer until its line is there. After a misprediction nothing is dispatched until the branch
 * has ended and the pipeline is filled again. Numbers of the CPU are the catalog's.
 *
 * Functions. SPE records are equally many operations apart, so the time between two of them is that
 * of the operations between. Of which functions these were is not recorded: they are taken to be of
 * the functions that records next to records of the same two functions are of. How long they took is
 * in the ratio that the walk says. Where records have no times, a function's time is that of the walk
 * alone.
 *
 * What it cannot see: waits for instructions from memory, for the order of memory accesses (locks),
 * for execution units. Such time goes to the wrong instructions, and, where functions alternate
 * within a sampling interval, to the wrong functions. docs/model.md has the error, measured on the
 * machine model.
 *
 * The code has to be there, and be A64. The result is the same for any number of threads; memory
 * grows with places and branches that have records.
 */
#ifndef CYCLOPS_COMMIT_TIME_COMMIT_TIME_H
#define CYCLOPS_COMMIT_TIME_COMMIT_TIME_H

#include <stdint.h>

#include "scan/select.h"
#include "session/analysis.h"
#include "session/names.h"
#include "table/table.h"

struct commit_time;

/*
 * To be freed. NULL: this capture tells nothing of it, for the reason *out_obstacle, a clause for
 * messages.
 */
struct commit_time *commit_time_new(struct session *, const struct select *,
				    const char **out_obstacle);
void commit_time_free(struct commit_time *);

/*
 * The analyses of the first and the second scan, which the caller adds to its own; the second one
 * keeps places (scan_wish.keeps_places). All SPE records must come to both. Their results go to
 * the functions below, which free them.
 */
struct analysis commit_time_first(const struct commit_time *);
struct analysis commit_time_second(const struct commit_time *);

/* After the first scan; `names` has the functions of its places, and is borrowed for the call. */
void commit_time_walk(struct commit_time *, const struct names *, void *first_result);

/* After the second scan. NULL; or why there is no estimate after all, as above. */
const char *commit_time_finish(struct commit_time *, void *second_result);

/* Shares of time are whole numbers, so that sums do not depend on their order: of this. */
#define COMMIT_TIME_WHOLE ((uint64_t)1 << 60)

/*
 * The share that `n` of the SPE records of a place (its number) have of the time of all code. Over
 * all records it adds up to COMMIT_TIME_WHOLE, but for rounding.
 */
uint64_t commit_time_share(const struct commit_time *, uint32_t place, uint64_t n);

/* Adds a note on how far the estimate can be leant on; of an obstacle that there is none. */
void commit_time_note(const struct commit_time *, const char *obstacle, struct table *);

#endif
