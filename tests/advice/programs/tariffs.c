/* SPDX-License-Identifier: Apache-2.0 */

/* 1536 small functions, one for each kind of tariff, called in turn. Each has code for a rare case in its middle, so that
 * what runs is spread over 300 KiB, which the L1I does not hold. In the twin the rare code is elsewhere, and what
 * runs is dense. */

#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 200 };

typedef uint32_t word;

/* Repairs a sum that is too large: 40 instructions that never run. */
#define REPAIR(sum, n)                                                                             \
	__asm__ volatile(".rept 20\n\teor %w0, %w0, %w0, lsr 3\n\tadd %w0, %w0, %1\n\t.endr"       \
			 : "+r"(sum)                                                               \
			 : "i"((n)&255))

#ifdef FIXED
static __attribute__((cold, noinline)) word repair(word sum)
{
	REPAIR(sum, 1);
	return sum;
}
#define RARE(sum, n) return repair(sum)
#else
#define RARE(sum, n) REPAIR(sum, n)
#endif

#define TARIFF(n)                                                                                  \
	static __attribute__((noinline)) word tariff_##n(word sum)                                 \
	{                                                                                          \
		sum += sum >> 5;                                                                   \
		if (__builtin_expect_with_probability(sum == 1##n, 1, 0.5)) {                      \
			RARE(sum, 1##n);                                                           \
		}                                                                                  \
		return sum ^ 1##n;                                                                 \
	}

#define EACH_8(what, n)                                                                            \
	what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7)
#define EACH_64(what, n)                                                                           \
	EACH_8(what, n##0)                                                                         \
	EACH_8(what, n##1)                                                                         \
	EACH_8(what, n##2)                                                                         \
	EACH_8(what, n##3)                                                                         \
	EACH_8(what, n##4) EACH_8(what, n##5) EACH_8(what, n##6) EACH_8(what, n##7)
#define EACH_512(what, n)                                                                          \
	EACH_64(what, n##0)                                                                        \
	EACH_64(what, n##1)                                                                        \
	EACH_64(what, n##2)                                                                        \
	EACH_64(what, n##3)                                                                        \
	EACH_64(what, n##4) EACH_64(what, n##5) EACH_64(what, n##6) EACH_64(what, n##7)
#define EACH(what) EACH_512(what, 0) EACH_512(what, 1) EACH_512(what, 2)

EACH(TARIFF)

#define CALL(n) sum = tariff_##n(sum);

int main(void)
{
	word sum = 1;

	for (int round = 0; round < ROUNDS; round++) {
		EACH(CALL)
	}
	printf("%x\n", sum);
	return 0;
}
