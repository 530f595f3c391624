/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware prefetchers of a core: they are trained by its accesses and predict further
 * addresses.
 *
 * The stride prefetcher follows the accesses of one instruction. The stream prefetcher follows
 * lines that are used one after the other, up or down, by any instructions. Each stays `distance`
 * steps ahead.
 */
#ifndef CYCLOPS_MODEL_PREFETCH_H
#define CYCLOPS_MODEL_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

enum { STRIDE_ENTRIES = 64, STREAMS = 16, PREFETCH_MAX = 16 };

/* The accesses of an instruction. */
struct stride_entry {
	uint64_t pc;
	uint64_t va;	  /* of the last access */
	int64_t stride;	  /* bytes */
	unsigned n_same;  /* times in a row that the stride was the same again */
	unsigned n_ahead; /* steps from `va` that have been prefetched */
};

struct stream {
	uint64_t line;	  /* the last one: va >> LINE_SHIFT */
	uint64_t used;	  /* value of n_lines at that time; 0: the stream is free */
	int64_t step;	  /* 1, -1; 0: not known yet */
	unsigned n_same;  /* steps in a row */
	unsigned n_ahead; /* lines that have been prefetched */
};

struct prefetcher {
	struct stride_entry entries[STRIDE_ENTRIES];
	struct stream streams[STREAMS];
	uint64_t n_lines;	 /* lines that trained streams */
	uint32_t longest_stride; /* bytes: longer ones are not followed */
	unsigned distance;	 /* steps of a line, or of a longer stride; 0: switched off */
};

/*
 * Trains the stride prefetcher with an access. Stores the addresses to prefetch, at most
 * PREFETCH_MAX; returns their number.
 */
size_t prefetcher_train_stride(struct prefetcher *, uint64_t pc, uint64_t va, uint64_t *out_vas);

/* The same for the stream prefetcher: with the first use of a line since it was requested. */
size_t prefetcher_train_stream(struct prefetcher *, uint64_t va, uint64_t *out_vas);

#endif
