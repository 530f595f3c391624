/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernel code: kallsyms and the addresses of modules, for the kernel and all its modules.
 */
#ifndef CYCLOPS_SYMBOL_KERNEL_H
#define CYCLOPS_SYMBOL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "elf/kallsyms.h"
#include "process/module.h"
#include "symbol/locate.h"

/* A loaded module, from /proc/modules or the copy beside a kallsyms file. */
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
 * Reads kallsyms: the file of --kallsyms, else the one in perf's cache with the build-id of
 * `kernel`, else this machine's if it recorded the capture and still runs that kernel. `kernel` is
 * the capture's kernel, NULL if it has none. Finding none is no error.
 */
void kernel_names_read(struct kernel_names *, const struct search *, const struct module *kernel);

/*
 * Reads that of the guest of process `pid`: PID/proc/kallsyms below --guestmount, else the file of --guestkallsyms. Finding none
 * is no error.
 */
void kernel_names_read_guest(struct kernel_names *, const struct symbols_options *, uint32_t pid);

/* Reads modules alone: of the file `modules` beside this one, if it is there. */
void kernel_names_read_bases(struct kernel_names *, const char *kallsyms);

void kernel_names_release(struct kernel_names *);

/* A module by its name in brackets ("[nf_tables]"); NULL if it is not in the list. */
const struct kernel_module_base *kernel_names_find_base(const struct kernel_names *,
							const char *name);

#endif
