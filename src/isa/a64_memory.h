/* SPDX-License-Identifier: Apache-2.0 */
/* The table that the build generates from a64_memory.enc. For access.c only. */
#ifndef CYCLOPS_ISA_A64_MEMORY_H
#define CYCLOPS_ISA_A64_MEMORY_H

#include <stdint.h>

#include "isa/access.h"

/* Instruction words with these bits access memory. */
struct a64_form {
	uint32_t mask, match;
	uint16_t bytes;
	uint16_t flags; /* enum isa_access_flag */
};

extern const struct a64_form a64_forms[];

/* The forms of words with highest byte B: [a64_form_starts[B], a64_form_starts[B + 1]). */
extern const uint16_t a64_form_starts[256 + 1];

#endif
