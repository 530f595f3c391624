/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that the cgroups of this process leave it, such as those of a container. Who takes more is ended by the
 * kernel without a word.
 */
#ifndef CYCLOPS_BASE_MEMORY_GROUP_H
#define CYCLOPS_BASE_MEMORY_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Of the group that leaves least; `limit` UINT64_MAX: none has a limit, or it is not known. */
struct memory_group {
	uint64_t limit_bytes;
	uint64_t
		used_bytes; /* by all processes in it; without pages of files, which the kernel takes back */
};

/* Paths are below a root directory: "" is this machine, tests use others. */
struct memory_group memory_group_read(const char *root);

/* Bytes of memory of this machine, or that the group leaves of it; 0: not known. */
uint64_t memory_size(void);

/*
 * May this process have so many bytes more, and little things beside them? Costs as much as some system calls, so only
 * large memory is asked for. False and an error if not.
 */
bool memory_group_allows(size_t more_bytes, struct err *);

/* Was little left when memory was asked for last? Then large arrays grow in small steps. */
bool memory_is_scarce(void);

#endif
