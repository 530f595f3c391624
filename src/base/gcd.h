/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CYCLOPS_BASE_GCD_H
#define CYCLOPS_BASE_GCD_H

#include <stdint.h>

/* The greatest common divisor; gcd(0, n) is n. */
static inline uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

#endif
