/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin's heap, in memory that a process shares with those it makes by fork: they are one
 * modelled machine. The build sends the plugin's calls of calloc(), reallocarray(),
 * aligned_alloc() and free() here (the linker's --wrap). malloc() stays what it is: memory that
 * a child gets a copy of.
 */
#ifndef CYCLOPS_MODEL_SHARED_MEMORY_H
#define CYCLOPS_MODEL_SHARED_MEMORY_H

#include "base/err.h"

/* Before anything is allocated. Nothing is given back: it ends with the last process. */
int shared_memory_open(struct err *);

#endif
