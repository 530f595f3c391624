/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in what is in order. */
#ifndef CYCLOPS_BASE_BISECT_H
#define CYCLOPS_BASE_BISECT_H

#include <stddef.h>

/*
 * The first index in from … to - 1 for which `is_before` is false; `to` if there is none. `is_before` is an
 * expression of the index, which is called `i` in it: true up to some index, false from there on.
 *
 *	size_t first = bisect(0, list.n, i, list.items[i].offset < offset);
 */
#define bisect(from, to, i, is_before)                                                             \
	__extension__({                                                                            \
		size_t low_ = (from), high_ = (to);                                                \
                                                                                                   \
		while (low_ < high_) {                                                             \
			size_t i = low_ + (high_ - low_) / 2;                                      \
                                                                                                   \
			if (is_before)                                                             \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

/* The same, in fewer steps if the index is near `from`. */
#define bisect_near(from, to, i, is_before)                                                        \
	__extension__({                                                                            \
		size_t near_ = (from), end_ = (to), step_ = 1;                                     \
                                                                                                   \
		while (step_ <= end_ - near_) {                                                    \
			size_t i = near_ + (step_ - 1);                                            \
                                                                                                   \
			if (!(is_before))                                                          \
				break;                                                             \
			near_ += step_;                                                            \
			step_ *= 2;                                                                \
		}                                                                                  \
		bisect(near_, step_ <= end_ - near_ ? near_ + step_ - 1 : end_, i, is_before);     \
	})

#endif
