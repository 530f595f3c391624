/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the stubs of the procedure linkage table, through which a program calls into
 * shared libraries: "memcpy@plt". No symbol table has them.
 */
#ifndef CYCLOPS_ELF_PLT_H
#define CYCLOPS_ELF_PLT_H

#include <stddef.h>

#include "elf/elf_file.h"
#include "elf/functions.h"

/*
 * Adds the stubs of .plt, .plt.sec, .plt.got and the like to built functions, for AArch64, 32-bit
 * Arm, x86-64 and i386. Stubs of ifuncs get the names of these. Returns how many were added.
 */
size_t plt_add(struct functions *, const struct elf_file *);

#endif
