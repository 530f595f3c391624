/* SPDX-License-Identifier: Apache-2.0 */
#include "model/random.h"

#include <stdbool.h>

uint64_t random_exponential(uint64_t *state, uint64_t mean)
{
	const double unit = 0x1p-64;

	for (uint64_t whole = 0;; whole++) {
		uint64_t first = random_next(state), last = first, next;
		bool is_odd = true; /* the length of the run of falling numbers */

		while ((next = random_next(state)) < last) {
			last = next;
			is_odd = !is_odd;
		}
		if (is_odd) {
			double n = ((double)whole + (double)first * unit) * (double)mean;

			return n < 1 ? 1 : (uint64_t)(n + 0.5);
		}
	}
}
