/* SPDX-License-Identifier: Apache-2.0 */
/* Binary heaps in arrays: the children of i are 2i + 1 and 2i + 2, and neither is before it. */
#ifndef CYCLOPS_BASE_HEAP_H
#define CYCLOPS_BASE_HEAP_H

#include <stddef.h>

/*
 * Lets the item with index `from` sink to where it belongs, in a heap of `n` items which is one but for it. `is_before` is an
 * expression of two items, to which `a` and `b` point in it.
 *
 *	heap_sink(lines, n, 0, a, b, a->address < b->address);
 */
#define heap_sink(heap, n, from, a, b, is_before)                                                  \
	do {                                                                                       \
		__typeof__(&(heap)[0]) heap_ = (heap);                                             \
		size_t n_ = (n), at_ = (from), child_;                                             \
		__typeof__(heap_[0]) moved_ = heap_[at_];                                          \
                                                                                                   \
		for (; (child_ = 2 * at_ + 1) < n_; at_ = child_) {                                \
			if (child_ + 1 < n_) {                                                     \
				__typeof__(heap_) a = &heap_[child_ + 1], b = &heap_[child_];      \
                                                                                                   \
				child_ += (is_before) ? 1 : 0;                                     \
			}                                                                          \
			__typeof__(heap_) a = &heap_[child_], b = &moved_;                         \
                                                                                                   \
			if (!(is_before))                                                          \
				break;                                                             \
			heap_[at_] = heap_[child_];                                                \
		}                                                                                  \
		heap_[at_] = moved_;                                                               \
	} while (0)

#endif
