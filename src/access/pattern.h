/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access patterns of instructions. Samples are many operations apart, so consecutive strides are
 * not visible. Visible is that addresses differ by multiples of the stride, and that they ascend.
 */
#ifndef CYCLOPS_ACCESS_PATTERN_H
#define CYCLOPS_ACCESS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "batch/batch.h"

/* Sums over the accesses of one instruction of one thread. The order of adding does not matter. */
struct addr_pattern {
	uint64_t n;	  /* samples */
	uint64_t any;	  /* lowest address */
	uint64_t most;	  /* highest address */
	uint64_t divisor; /* greatest common divisor of all differences; 0: all equal */
	uint64_t n_pairs; /* pairs of consecutive samples, within a batch; of SPE, of a CPU */
	uint64_t n_same, n_up, n_down; /* pairs with equal, ascending, descending addresses */
	uint64_t n_near;	       /* pairs less than a page apart, but not equal */
	double distance;	       /* sum of the distances of all pairs, bytes */
};

enum addr_walk {
	ADDR_WALK_UNKNOWN, /* too few samples */
	ADDR_WALK_CONSTANT,
	ADDR_WALK_STRIDE,    /* ascends or descends by a constant */
	ADDR_WALK_LOCAL,     /* irregular, but neighbours are within about a page */
	ADDR_WALK_SCATTERED, /* random, or sweeps shorter than the sampling interval */
	ADDR_WALK_CHASE,     /* pointer chase: each address was loaded by the access before */
	ADDR_WALK_MIXED,     /* none of these */
	N_ADDR_WALKS,
};

extern const char *const addr_walk_names[N_ADDR_WALKS];

/* Adds an access. A zeroed pattern is empty. */
void addr_pattern_add(struct addr_pattern *, uint64_t address);

/* Adds a pair of consecutive accesses. */
void addr_pattern_add_pair(struct addr_pattern *, uint64_t before, uint64_t after);

/* Adds the sums of another part of the same thread's samples: addresses are compared. */
void addr_pattern_merge(struct addr_pattern *, const struct addr_pattern *from);

/* Adds the sums of another thread, which has its own memory: only differences are compared. */
void addr_pattern_merge_other(struct addr_pattern *, const struct addr_pattern *from);

/* The kind of pattern. `is_chase`: the code says that it is a pointer chase (access/chase.h). */
enum addr_walk addr_pattern_walk(const struct addr_pattern *, bool is_chase);

/* The last address of each instruction and thread (a group). Reset at the start of each batch. */
struct addr_last;

struct addr_last *addr_last_new(void);
void addr_last_free(struct addr_last *);
void addr_last_reset(struct addr_last *);

/* Sets the last address of a group. True if there was one before: *out_before. */
bool addr_last_put(struct addr_last *, uint32_t group, uint64_t address, uint64_t *out_before);

#endif
