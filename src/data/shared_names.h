/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names by number, of which equal ones take room once: most of what is asked about is memory without a
 * variable, or the same variable again. A name that comes long after its equal may be kept twice.
 */
#ifndef CYCLOPS_DATA_SHARED_NAMES_H
#define CYCLOPS_DATA_SHARED_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "data/data_name.h"

enum { SHARED_NAMES_RECENT = 1024 };

struct shared_names {
	VEC_OF(struct data_name) list;
	uint32_t *numbers; /* in `list`, by number of what is named */
	uint32_t recent
		[SHARED_NAMES_RECENT]; /* in `list`: what was added last, by some of its bits */
};

/* `n` empty names. */
void shared_names_init(struct shared_names *, size_t n);
void shared_names_release(struct shared_names *);

/* Valid until the next shared_names_set(). */
static inline const struct data_name *shared_names_get(const struct shared_names *s, size_t number)
{
	return &s->list.items[s->numbers[number]];
}

/* Gives it the name of another number. */
static inline void shared_names_repeat(struct shared_names *s, size_t number, size_t of)
{
	s->numbers[number] = s->numbers[of];
}

/* Is any of this kind? Perhaps of one that was set to another since. */
bool shared_names_have(const struct shared_names *, enum data_kind);

void shared_names_set(struct shared_names *, size_t number, const struct data_name *);

#endif
