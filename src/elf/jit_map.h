/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that a just-in-time compiler wrote down in a perf-PID.map file. */
#ifndef CYCLOPS_ELF_JIT_MAP_H
#define CYCLOPS_ELF_JIT_MAP_H

#include "base/err.h"
#include "elf/functions.h"

/*
 * Adds the functions of the file at `path`, at their addresses; functions_build() is up to
 * the caller. Lines that are not functions are passed over. Where code was replaced by other
 * code, the later line wins.
 */
int jit_map_read(struct functions *, const char *path, struct err *err);

#endif
