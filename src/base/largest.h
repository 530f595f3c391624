/* SPDX-License-Identifier: Apache-2.0 */
/* The few largest of many numbers: which rows can be among the first, before any are put in order. */
#ifndef CYCLOPS_BASE_LARGEST_H
#define CYCLOPS_BASE_LARGEST_H

#include <stddef.h>
#include <stdint.h>

/* The `top` largest so far, descending, zeroed at first; `top` is at least 1. Enters another one. */
static inline void largest_enter(uint64_t *largest, size_t top, uint64_t number)
{
	size_t at = top - 1;

	if (number <= largest[at])
		return;
	for (; at > 0 && largest[at - 1] < number; at--)
		largest[at] = largest[at - 1];
	largest[at] = number;
}

#endif
