/* SPDX-License-Identifier: Apache-2.0 */
/* The vdso: code that the kernel maps into each process. It is in no file. */
#ifndef CYCLOPS_SYMBOL_VDSO_H
#define CYCLOPS_SYMBOL_VDSO_H

#include "elf/elf_file.h"
#include "symbol/locate.h"

/*
 * Opens the vdso of this build-id: from perf's cache, or this process's own. Without a
 * recorded build-id only on the machine that recorded. Returns -1 if there is none.
 */
int vdso_open(struct elf_file *, const struct search *, const struct build_id *recorded);

#endif
