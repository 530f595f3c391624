/* SPDX-License-Identifier: Apache-2.0 */

/* 256 functions of 4160 bytes, called in turn; only the first instructions of each run. Their lines fit in the L1I, their
 * pages do not fit in the instruction TLB. In the twin the code that does not run is elsewhere. */

#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 1500 };

#ifdef FIXED
static __attribute__((cold, noinline)) uint32_t fail(uint32_t sum)
{
	__asm__ volatile(".rept 1024\n\tadd %w0, %w0, 1\n\t.endr" : "+r"(sum));
	return sum;
}
#define FAIL(sum) sum = fail(sum)
#else
#define FAIL(sum) __asm__ volatile(".rept 1024\n\tadd %w0, %w0, 1\n\t.endr" : "+r"(sum))
#endif

#define PLUGIN(n)                                                                                  \
	static __attribute__((noinline, aligned(64))) uint32_t plugin_##n(uint32_t sum)            \
	{                                                                                          \
		sum = (sum ^ 1##n) + (sum >> 3);                                                   \
		if (__builtin_expect_with_probability(sum == 4000000000u + 1##n, 1, 0.5))          \
			FAIL(sum);                                                                 \
		return sum;                                                                        \
	}

#define EACH_4(what, n) what(n##0) what(n##1) what(n##2) what(n##3)
#define EACH_16(what, n) EACH_4(what, n##0) EACH_4(what, n##1) EACH_4(what, n##2) EACH_4(what, n##3)
#define EACH_64(what, n)                                                                           \
	EACH_16(what, n##0) EACH_16(what, n##1) EACH_16(what, n##2) EACH_16(what, n##3)
#define EACH(what) EACH_64(what, 0) EACH_64(what, 1) EACH_64(what, 2) EACH_64(what, 3)

EACH(PLUGIN)

#define CALL(n) sum = plugin_##n(sum);

int main(void)
{
	uint32_t sum = 1;

	for (int round = 0; round < ROUNDS; round++) {
		EACH(CALL)
	}
	printf("%x\n", sum);
	return 0;
}
