/* SPDX-License-Identifier: Apache-2.0 */
/* Values of registers in a function, by following its code (isa/follow.h): caches one function. */
#ifndef CYCLOPS_VARIABLES_FUNCTION_CODE_H
#define CYCLOPS_VARIABLES_FUNCTION_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/follow.h"
#include "symbol/symbols.h"

/* The function that was asked for last. Zeroed is empty. */
struct function_code {
	struct module_id module;
	uint64_t start, size;
	struct isa_followed *followed;
};

/*
 * The followed code of the function around an address of the module's file; the module must be
 * loaded. NULL if there is none, or if it cannot be followed. Borrowed until the next call.
 */
const struct isa_followed *function_code_at(struct function_code *, struct symbols *,
					    struct module_id, uint64_t address, enum isa);

void function_code_release(struct function_code *);

#endif
