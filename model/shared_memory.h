/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin's heap, in memory that a process shares with its children of fork, because they run on
 * one modelled machine. The linker's --wrap redirects the plugin's calls of calloc(),
 * reallocarray(), aligned_alloc(), malloc_usable_size() and free(). Memory of malloc() stays private: a
 * child gets a copy. Nothing in the plugin may give memory to other functions of the C library that know
 * how it was allocated, such as realloc().
 */
#ifndef CYCLOPS_MODEL_SHARED_MEMORY_H
#define CYCLOPS_MODEL_SHARED_MEMORY_H

#include "base/err.h"

/* To be called before the first allocation. The memory is released when the last process ends. */
int shared_memory_open(struct err *);

#endif
