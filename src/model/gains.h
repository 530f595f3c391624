/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled cycles of a program as it is, and with idealisations: by block of code. */
#ifndef CYCLOPS_MODEL_GAINS_H
#define CYCLOPS_MODEL_GAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/tuples.h"
#include "base/vec.h"

struct gains_run {
	char *name;		 /* what_if_item.name, or "now" */
	uint32_t bits;		 /* enum ideal_bit */
	uint64_t cycles;	 /* from the program's start to its end */
	uint64_t cpu_cycles;	 /* without idle ones, over all CPUs */
	VEC_OF(uint64_t) blocks; /* cycles, by index into `pcs`; blocks behind the end have 0 */
};

struct gains {
	VEC_OF(struct gains_run) runs;
	struct tuples pcs; /* first addresses of blocks */
	bool is_parallel;  /* the program has several threads or processes */
	bool has_capture;  /* the capture of the program as it is, … */
	uint64_t capture;  /* … by the XXH64 of its file */
};

void gains_init(struct gains *);
void gains_release(struct gains *);

/* Adds the runs in a json file of the model (results_write_gains()). */
int gains_read(struct gains *, const char *path, struct err *);

/* Writes the runs as json in the same form, and of which capture they are. */
int gains_write(const struct gains *, const char *path, const char *capture, struct err *);

/* What a file of them is called beside the capture. */
#define GAINS_FILE "gains.json"

/*
 * Reads the file beside a capture; false: there is none, or it is of another capture. `out` is to be released in any
 * case.
 */
bool gains_read_beside(struct gains *out, const char *capture);

/* The run of that name, or NULL. */
const struct gains_run *gains_find(const struct gains *, const char *name);

/* Cycles of a block; 0 if it did not run. */
static inline uint64_t gains_block(const struct gains_run *run, uint32_t block)
{
	return block < run->blocks.n ? run->blocks.items[block] : 0;
}

#endif
