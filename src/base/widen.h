/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CYCLOPS_BASE_WIDEN_H
#define CYCLOPS_BASE_WIDEN_H

#include <stdint.h>

/* Makes a span of times contain another one. A span of no times is UINT64_MAX, 0. */
static inline void widen_times(uint64_t *first_ns, uint64_t *last_ns, uint64_t from_ns,
			       uint64_t to_ns)
{
	*first_ns = from_ns < *first_ns ? from_ns : *first_ns;
	*last_ns = to_ns > *last_ns ? to_ns : *last_ns;
}

#endif
