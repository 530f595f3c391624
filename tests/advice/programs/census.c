/* SPDX-License-Identifier: Apache-2.0 */

/* Asks a chained hash table of 96 MiB: a bucket names a person, the person's record says what is wanted, two DRAM
 * accesses one after the other, and what was found decides what is done with the next. The twin reads the
 * buckets of a batch of questions first, then prefetches their persons, then reads those. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 1 << 19, QUESTIONS = 60000, BATCH = 20 };

struct person {
	uint64_t key, age, rest[6];
};

struct bucket {
	uint32_t first, n, rest[14];
};

static uint32_t bucket_of(uint32_t question)
{
	uint32_t mixed = question * 2654435761u;

	return (mixed ^ mixed >> 15) % BUCKETS;
}

static uint64_t count(uint64_t sum, uint32_t question, const struct person *person)
{
	sum += person->age + question;
	for (int i = 0; i < 24; i++)
		sum = (sum ^ sum >> 7) + (sum << 3);
	return sum;
}

static uint64_t ask(const struct bucket *buckets, const struct person *people)
{
	uint64_t sum = 1;

	for (uint32_t q = 0; q < QUESTIONS; q += BATCH) {
#ifdef FIXED
		for (uint32_t i = q; i < q + BATCH; i++)
			__builtin_prefetch(&buckets[bucket_of(i)]);
		for (uint32_t i = q; i < q + BATCH; i++)
			__builtin_prefetch(&people[buckets[bucket_of(i)].first ^ bucket_of(i)]);
#endif
		for (uint32_t i = q; i < q + BATCH; i++)
			sum = count(sum, i, &people[buckets[bucket_of(i)].first ^ bucket_of(i)]);
	}
	return sum;
}

int main(void)
{
	struct bucket *buckets = calloc(BUCKETS, sizeof(*buckets));
	struct person *people = calloc(BUCKETS * 2, sizeof(*people));

	if (buckets == NULL || people == NULL)
		return 1;
	printf("%llx\n", (unsigned long long)ask(buckets, people));
	return 0;
}
