/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole numbers of 128 bits, on 32-bit machines, too: sums of squares that are exact, so that the order of adding does
 * not matter. They wrap around.
 */
#ifndef CYCLOPS_BASE_UINT128_H
#define CYCLOPS_BASE_UINT128_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct uint128 {
	uint64_t low, high;
};

/* uint128_product() by products of halves. */
static inline struct uint128 uint128_product_of_halves(uint64_t a, uint64_t b)
{
	uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
	uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32);
	uint64_t other = a_low * b_high + (uint32_t)middle;

	return (struct uint128){ other << 32 | (uint32_t)low,
				 a_high * b_high + (middle >> 32) + (other >> 32) };
}

static inline struct uint128 uint128_product(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (struct uint128){ (uint64_t)product, (uint64_t)(product >> 64) };
#else
	return uint128_product_of_halves(a, b);
#endif
}

static inline struct uint128 uint128_times(struct uint128 x, uint64_t n)
{
	struct uint128 product = uint128_product(x.low, n);

	product.high += x.high * n;
	return product;
}

/* Says whether the sum did not fit. */
static inline bool uint128_add(struct uint128 *to, struct uint128 more)
{
	uint64_t carry = 0;
	bool is_carried;

	to->low += more.low;
	carry = to->low < more.low;
	is_carried = __builtin_add_overflow(to->high, more.high, &to->high);
	return __builtin_add_overflow(to->high, carry, &to->high) || is_carried;
}

static inline struct uint128 uint128_negative(struct uint128 x)
{
	return (struct uint128){ -x.low, ~x.high + (x.low == 0) };
}

static inline int uint128_compare(struct uint128 a, struct uint128 b)
{
	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	return a.low != b.low ? (a.low < b.low ? -1 : 1) : 0;
}

/* The nearest floating-point number. */
static inline double uint128_to_double(struct uint128 x)
{
	int shift;
	uint64_t top;

	if (x.high == 0)
		return (double)x.low;
	shift = __builtin_clzll(x.high);
	top = shift > 0 ? x.high << shift | x.low >> (64 - shift) : x.high;
	top |= x.low << shift != 0; /* below what is rounded: only whether it is 0 matters */
	return ldexp((double)top, 64 - shift);
}

/* The same of a number that may be negative. */
static inline double uint128_signed_to_double(struct uint128 x)
{
	return x.high >> 63 ? -uint128_to_double(uint128_negative(x)) : uint128_to_double(x);
}

#endif
