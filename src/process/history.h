/* SPDX-License-Identifier: Apache-2.0 */
/* Values over time by key: which process had a pid, which thread ran on a CPU. */
#ifndef CYCLOPS_PROCESS_HISTORY_H
#define CYCLOPS_PROCESS_HISTORY_H

#include <stdint.h>

#include "base/vec.h"

/* No value: before the first change of a key, or set by a change. */
#define HISTORY_NONE UINT32_MAX

/* From this time on, this key has this value. */
struct change {
	uint64_t from_ns;
	uint32_t key, value;
};

/* Zeroed is empty and ready to use. */
struct history {
	VEC_OF(struct change) changes; /* frozen: by key, then by time */
	uint32_t *first;	       /* frozen: where each key's changes begin; n_keys + 1 */
	uint32_t n_keys;
};

/* A value, and when it holds: [from_ns, to_ns). UINT64_MAX is the end of time. */
struct span {
	uint64_t from_ns, to_ns;
	uint32_t value;
};

void history_release(struct history *);

/* In any order of time; of changes at the same time the one added last counts. */
void history_add(struct history *, uint32_t key, uint64_t from_ns, uint32_t value);

/* Sorts the changes, for history_find(). No more may be added. All keys must be below `n_keys`. */
void history_freeze(struct history *, uint32_t n_keys);

/* The value of a key at a time, HISTORY_NONE for keys from n_keys on. After history_freeze(). */
struct span history_find(const struct history *, uint32_t key, uint64_t time_ns);

#endif
