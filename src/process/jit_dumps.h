/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of just-in-time compilers that they dumped with the times when it came (capture/format/jitdump.h). A
 * compiler maps its dump as code, so that the recorder sees where it is. Each function of it becomes a mapping
 * of that file: offsets are those in the file, so equal addresses at other times are other functions.
 */
#ifndef CYCLOPS_PROCESS_JIT_DUMPS_H
#define CYCLOPS_PROCESS_JIT_DUMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"

struct notes;

/* A dump that was mapped. */
struct jit_dump {
	uint32_t pid, tid;
	struct str_id path;
	uint64_t time_ns; /* or position, as in struct note */
	bool has_time;
};

/* One of the functions in it. */
struct jit_code {
	uint64_t address, size; /* size > 0, and address + size does not overflow */
	uint64_t file_at;	/* of its bytes in the dump */
	uint64_t time_ns;	/* when it came; before the dump's mapping: at that */
};

/* The dumps in the notes, each process's once, in file order. To be freed; NULL if there is none. */
struct jit_dump *jit_dumps_find(const struct notes *, size_t *out_n);

/*
 * Adds mappings of code, in order. What the process maps without a file is mapped before all of it: compilers change
 * the rights of such memory again and again, which says nothing about what is in it.
 */
void jit_dumps_map(struct notes *, const struct jit_dump *, const struct jit_code *, size_t n);

#endif
