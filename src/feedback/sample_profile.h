/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLVM's sample profile as text: numbers by function and line, counted from the line where the function is declared, with
 * the discriminator of code that shares a line; within them the same of what was inlined, and names with numbers, which
 * are targets of calls, or prefetches.
 */
#ifndef CYCLOPS_FEEDBACK_SAMPLE_PROFILE_H
#define CYCLOPS_FEEDBACK_SAMPLE_PROFILE_H

#include "base/strings.h"
#include "base/text.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "feedback/bolt.h"
#include "symbol/lines.h"

#define SAMPLE_PROFILE_NONE UINT32_MAX

/* A function, or a call of one that was inlined. Keys: parent, name, location of the call. */
struct sample_node {
	double total; /* of its lines, and of what was inlined */
	double head;  /* calls of the function */
};

/* All are numbered as their keys. */
struct sample_profile {
	struct strings names;
	struct tuples node_keys;
	VEC_OF(struct sample_node) nodes;
	struct tuples line_keys; /* node, location */
	VEC_OF(double) lines;
	struct tuples call_keys; /* node, location, name */
	VEC_OF(double) calls;

	/* of the output */
	uint32_t *order; /* nodes: parent, then location, then name; */
	uint32_t *line_order, *call_order;
	struct text text;
};

void sample_profile_init(struct sample_profile *);
void sample_profile_release(struct sample_profile *);

/* The node of the innermost frame of a chain; SAMPLE_PROFILE_NONE if a frame has no function or line. */
uint32_t sample_profile_node(struct sample_profile *, const struct lines_answer *,
			     struct line_chain);

/* The function that a node is in. */
uint32_t sample_profile_root(const struct sample_profile *, uint32_t node);

/*
 * The location of a frame's line in its function: what stands before and behind the point. `out_copies`: how many
 * copies of its code the instruction stands for.
 */
uint64_t sample_profile_location(const struct symbol_frame *, const struct line_detail *,
				 uint32_t *out_copies);

/* Adds to the number of a line, and to that of a name there. */
void sample_profile_add_line(struct sample_profile *, uint32_t node, uint64_t location, double n);
void sample_profile_add_call(struct sample_profile *, uint32_t node, uint64_t location,
			     const char *name, double n);

/* Writes it, functions with most first; -1 if the sink stopped it. Negative numbers are written as 64 bits. */
int sample_profile_write(struct sample_profile *, feedback_sink *, void *context,
			 struct feedback_written *);

#endif
