/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefetchers of a core: they see its accesses and say which addresses come next.
 *
 * One learns by how many bytes the accesses of an instruction advance. One follows streams:
 * lines that are used one after the other, up or down, by whatever instructions. Each keeps a
 * given number of steps ahead.
 */
#ifndef CYCLOPS_MODEL_PREFETCH_H
#define CYCLOPS_MODEL_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

enum { STRIDE_ENTRIES = 64, STREAMS = 16, PREFETCH_MAX = 16 };

/* What is known of an instruction. */
struct stride_entry {
	uint64_t pc;
	uint64_t va;	  /* of its last access */
	int64_t stride;	  /* bytes */
	unsigned n_same;  /* times in a row that the stride was seen again */
	unsigned n_ahead; /* steps from `va` that have been asked for */
};

/* Lines in a row. */
struct stream {
	uint64_t line;	  /* that was used last: va >> LINE_SHIFT */
	uint64_t seen;	  /* when: number of the line that any stream saw; 0: none yet */
	int64_t step;	  /* 1, -1; 0: not known yet */
	unsigned n_same;  /* steps in a row */
	unsigned n_ahead; /* lines that have been asked for */
};

struct prefetcher {
	struct stride_entry entries[STRIDE_ENTRIES];
	struct stream streams[STREAMS];
	uint64_t n_lines;	 /* that streams have seen */
	uint32_t longest_stride; /* bytes: longer ones are not followed */
	unsigned distance;	 /* steps, of a line or of a longer stride; 0: switched off */
};

/*
 * Sees an access. Stores the addresses whose lines it calls for, at most PREFETCH_MAX; returns
 * how many.
 */
size_t prefetcher_see(struct prefetcher *, uint64_t pc, uint64_t va, uint64_t *out_vas);

/* The same of a line that is used for the first time since it came, or had to come. */
size_t prefetcher_see_line(struct prefetcher *, uint64_t va, uint64_t *out_vas);

#endif
