/* SPDX-License-Identifier: Apache-2.0 */
#include "process/marks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

void marks_init(struct marks *m, size_t limit)
{
	size_t n_words[MARKS_LEVELS], total = 0, n = limit;

	assert(limit <= (uint64_t)1 << 36);
	for (unsigned level = 0; level < MARKS_LEVELS; level++) {
		n = n / 64 + 1;
		n_words[level] = n;
		total += n;
	}
	m->limit = limit;
	m->levels[0] = mem_zalloc(total, sizeof(uint64_t));
	for (unsigned level = 1; level < MARKS_LEVELS; level++)
		m->levels[level] = m->levels[level - 1] + n_words[level - 1];
}

void marks_release(struct marks *m)
{
	free(m->levels[0]);
	*m = (struct marks){ 0 };
}

void marks_set(struct marks *m, size_t number)
{
	assert(number < m->limit);
	for (unsigned level = 0; level < MARKS_LEVELS; level++, number /= 64)
		m->levels[level][number / 64] |= (uint64_t)1 << number % 64;
}

void marks_clear(struct marks *m, size_t number)
{
	assert(number < m->limit);
	for (unsigned level = 0; level < MARKS_LEVELS; level++, number /= 64) {
		m->levels[level][number / 64] &= ~((uint64_t)1 << number % 64);
		if (m->levels[level][number / 64] != 0)
			return;
	}
}

static unsigned lowest_bit(uint64_t word)
{
	return (unsigned)__builtin_ctzll(word);
}

static unsigned highest_bit(uint64_t word)
{
	return 63 - (unsigned)__builtin_clzll(word);
}

size_t marks_at_or_before(const struct marks *m, size_t number)
{
	unsigned level = 0;
	uint64_t word;

	assert(number < m->limit);
	for (;;) {
		word = m->levels[level][number / 64] & UINT64_MAX >> (63 - number % 64);
		if (word != 0)
			break;
		number /= 64;
		if (number == 0 || ++level == MARKS_LEVELS)
			return MARKS_NONE;
		number--;
	}
	number = number / 64 * 64 + highest_bit(word);
	while (level-- > 0)
		number = number * 64 + highest_bit(m->levels[level][number]);
	return number;
}

size_t marks_after(const struct marks *m, size_t number)
{
	unsigned level = 0;
	uint64_t word;

	assert(number < m->limit);
	for (;;) {
		word = m->levels[level][number / 64] & ~(uint64_t)1 << number % 64;
		if (word != 0)
			break;
		number /= 64;
		if (++level == MARKS_LEVELS)
			return MARKS_NONE;
	}
	number = number / 64 * 64 + lowest_bit(word);
	while (level-- > 0)
		number = number * 64 + lowest_bit(m->levels[level][number]);
	return number;
}
