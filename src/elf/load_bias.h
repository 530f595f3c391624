/* SPDX-License-Identifier: Apache-2.0 */
/* The load bias of a file: where it was loaded, by its mappings. */
#ifndef CYCLOPS_ELF_LOAD_BIAS_H
#define CYCLOPS_ELF_LOAD_BIAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* Bytes first … last of a process are those of a file from `offset` on. */
struct data_mapping {
	uint64_t first, last, offset;
	bool is_data; /* mapped, but not executable */
};

enum load_bias {
	LOAD_BIAS_NONE,	     /* no mapping is that of a segment */
	LOAD_BIAS_FOUND,     /* there is one answer */
	LOAD_BIAS_AMBIGUOUS, /* the mappings may be those of several segments */
};

/*
 * The load bias: address in memory - address in the file. `mappings` are those of the file, sorted
 * by distance from the address of interest. Mappings that contradict nearer ones are ignored: the
 * file may be loaded twice. Works for pages of 4, 16 and 64 KiB.
 */
enum load_bias load_bias_find(const struct elf_file *, const struct data_mapping *mappings,
			      size_t n, uint64_t *out_bias);

#endif
