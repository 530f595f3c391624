/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an instruction walks through memory, as far as samples tell. Samples are many
 * operations apart, so a stride is not seen itself: what is seen is that all addresses are a
 * multiple of it apart, and that they ascend.
 */
#ifndef CYCLOPS_ADDR_PATTERN_H
#define CYCLOPS_ADDR_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "batch/batch.h"

/* What is added up for one instruction of one thread; the order of adding does not matter. */
struct addr_pattern {
	uint64_t n;		       /* samples */
	uint64_t any;		       /* one of the addresses: the least */
	uint64_t most;		       /* the greatest */
	uint64_t divisor;	       /* of all differences; 0: they are all the same address */
	uint64_t n_pairs;	       /* of samples that follow each other, in one batch */
	uint64_t n_same, n_up, n_down; /* of those */
	uint64_t n_near;	       /* of those: within a page, but not the same */
	double distance;	       /* sum of their distances */
};

enum addr_walk {
	ADDR_WALK_UNKNOWN, /* too few samples */
	ADDR_WALK_CONSTANT,
	ADDR_WALK_STRIDE,    /* up or down in steps */
	ADDR_WALK_LOCAL,     /* here and there within a page or so */
	ADDR_WALK_SCATTERED, /* random, or sweeps that are over before the next sample */
	ADDR_WALK_CHASE,     /* each address was loaded by the instruction before */
	ADDR_WALK_MIXED,
	N_ADDR_WALKS,
};

extern const char *const addr_walk_names[N_ADDR_WALKS];

/* Adds an address; `pattern` may be empty. */
void addr_pattern_add(struct addr_pattern *, uint64_t address);

/* Adds two that follow each other. */
void addr_pattern_add_pair(struct addr_pattern *, uint64_t before, uint64_t after);

/* Of the same thread: both walk through the same memory. */
void addr_pattern_merge(struct addr_pattern *, const struct addr_pattern *from);

/* Of another thread: how it walks counts, where does not. */
void addr_pattern_merge_other(struct addr_pattern *, const struct addr_pattern *from);

/* What it looks like; `is_chase`: each address comes out of the load before (access/chase.h). */
enum addr_walk addr_pattern_walk(const struct addr_pattern *, bool is_chase);

/* The last address of each instruction and thread, forgotten with each batch. */
struct addr_last;

struct addr_last *addr_last_new(void);
void addr_last_free(struct addr_last *);
void addr_last_reset(struct addr_last *);

/* Remembers the address of a group; true and the one before if there was one. */
bool addr_last_put(struct addr_last *, uint32_t group, uint64_t address, uint64_t *out_before);

#endif
