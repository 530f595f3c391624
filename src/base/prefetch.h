/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches a cache line that will be wanted soon. Any address may be given.
 *
 * gcc takes a function of nothing but __builtin_prefetch() for one without effects and leaves out its calls, unless it
 * was put into its caller before that. The empty asm is an effect that costs nothing.
 */
#ifndef CYCLOPS_BASE_PREFETCH_H
#define CYCLOPS_BASE_PREFETCH_H

__attribute__((always_inline)) static inline void prefetch(const void *at)
{
	__builtin_prefetch(at);
	__asm__ volatile("");
}

/* For a line that will be written. */
__attribute__((always_inline)) static inline void prefetch_to_write(const void *at)
{
	__builtin_prefetch(at, 1);
	__asm__ volatile("");
}

#endif
