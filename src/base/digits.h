/* SPDX-License-Identifier: Apache-2.0 */
/* Eight digits of a number at once, inline: for those who write many numbers. text.h writes whole ones. */
#ifndef CYCLOPS_BASE_DIGITS_H
#define CYCLOPS_BASE_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { DIGITS_DECIMAL = 100000000 }; /* 10^8 */

/* '0' in each of eight bytes. */
#define DIGITS_ZEROS ((uint64_t)0x3030303030303030)

/* The decimal digits of a value below 10^8, as numbers, the first in the lowest byte: halves, pairs, then single digits. */
static inline uint64_t digits_decimal(uint32_t value)
{
	uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
	uint64_t hundreds = fours * 10486 >> 20 & 0x0000007f0000007f;
	uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
	uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000f;

	return tens | (twos - tens * 10) << 8;
}

/* Writes eight characters that are in a word, the first in its lowest byte. */
static inline void digits_put(char *out, uint64_t characters)
{
	characters = htole64(characters);
	memcpy(out, &characters, sizeof(characters));
}

/* A value below 10^8 with leading zeros. */
static inline void digits_put_all(char *out, uint32_t value)
{
	digits_put(out, digits_decimal(value) | DIGITS_ZEROS);
}

/* The same without leading zeros. Writes eight bytes; returns how many are digits. */
static inline unsigned digits_put_some(char *out, uint32_t value)
{
	uint64_t digits = digits_decimal(value);
	unsigned n_zeros = (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8;

	digits_put(out, (digits | DIGITS_ZEROS) >> 8 * n_zeros);
	return 8 - n_zeros;
}

/* The hexadecimal digits of a value, as characters in the order of memory: first each to a byte, then to a character. */
static inline uint64_t digits_hex(uint32_t value)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t digits = value, letters;

	digits = (digits | digits << 16) & 0x0000ffff0000ffff;
	digits = (digits | digits << 8) & 0x00ff00ff00ff00ff;
	digits = (digits | digits << 4) & 15 * ones;
	letters = (digits + 6 * ones) >> 4 & ones;
	return htobe64(digits + DIGITS_ZEROS + ('a' - '0' - 10) * letters);
}

/* All of them. */
static inline void digits_put_all_hex(char *out, uint32_t value)
{
	uint64_t digits = digits_hex(value);

	memcpy(out, &digits, sizeof(digits));
}

/* The same without leading zeros. Writes eight bytes; returns how many are digits. */
static inline unsigned digits_put_some_hex(char *out, uint32_t value)
{
	unsigned n_zeros = (unsigned)__builtin_clz(value | 1) / 4;

	digits_put_all_hex(out, value << 4 * n_zeros);
	return 8 - n_zeros;
}

#endif
