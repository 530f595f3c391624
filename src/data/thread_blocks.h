/* SPDX-License-Identifier: Apache-2.0 */
/* TLS blocks of threads: addresses of thread-local variables, as far as sampled code shows them. */
#ifndef CYCLOPS_DATA_THREAD_BLOCKS_H
#define CYCLOPS_DATA_THREAD_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "process/module.h"

/* The TLS block of a thread for a module, or a part of the block. */
struct thread_block {
	uint32_t process;
	uint32_t tid; /* 0: not known */
	struct module_id module;
	uint64_t start;	      /* of the whole block, in the process */
	uint64_t first, size; /* of the part, from there */
	bool is_doubtful;     /* another block overlaps it: at least one of them is wrong */
};

/* Zeroed is empty. */
struct thread_blocks {
	VEC_OF(struct thread_block) list;
};

/* Call after adding to the list, before thread_blocks_find(). */
void thread_blocks_build(struct thread_blocks *);
void thread_blocks_release(struct thread_blocks *);

/* The block with an address that is not doubtful, or NULL. */
const struct thread_block *thread_blocks_find(const struct thread_blocks *, uint32_t process,
					      uint64_t address);

#endif
