/* SPDX-License-Identifier: Apache-2.0 */
/* Where names of kernel code come from: one set of sources for the kernel and its modules. */
#ifndef CYCLOPS_SYMBOL_KERNEL_H
#define CYCLOPS_SYMBOL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "elf/kallsyms.h"
#include "process/module.h"
#include "symbol/locate.h"

/* A loadable module, by the list that stands beside a kallsyms file. */
struct kernel_module_base {
	const char *name;
	uint64_t address, size;
};

/* Zeroed is empty. */
struct kernel_names {
	struct kallsyms kallsyms;
	char *source; /* path of the kallsyms file; NULL if there is none */
	VEC_OF(struct kernel_module_base) bases;
	struct arena text;
	bool is_other_boot; /* this machine's kernel, but not the recorded one */
};

/*
 * Reads the kallsyms that fits: the given file, the one in perf's cache with the build-id of
 * `kernel`, or this machine's, if it is the one that recorded and runs the same kernel.
 * `kernel` is the capture's kernel, NULL if it has none. Finding nothing is no error.
 */
void kernel_names_read(struct kernel_names *, const struct search *, const struct module *kernel);

void kernel_names_release(struct kernel_names *);

/* A module by its name in brackets ("[nf_tables]"); NULL if it is not in the list. */
const struct kernel_module_base *kernel_names_find_base(const struct kernel_names *,
							const char *name);

#endif
