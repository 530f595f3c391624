/* SPDX-License-Identifier: Apache-2.0 */

/* Follows replies through 5000 threads of a forum. Each thread has a page of 4 KiB, of which only one line is used: the
 * lines fit in the L2, the pages do not fit in the TLBs. The twin keeps those lines together; huge pages help as well. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 5000, READS = 400000, PAGE = 4096, LINE = 64 };
#ifdef FIXED
enum { STEP = LINE };
#else
enum { STEP = PAGE + LINE };
#endif

struct head {
	uint32_t reply, readers;
};

static struct head *head_of(char *memory, uint32_t thread)
{
	return (struct head *)(memory + (size_t)thread * STEP);
}

static uint64_t read_replies(char *memory)
{
	uint32_t thread = 0;
	uint64_t sum = 0;

	for (int i = 0; i < READS; i++) {
		struct head *head = head_of(memory, thread);

		head->readers++;
		sum += thread;
		thread = head->reply;
	}
	return sum;
}

int main(void)
{
	char *memory = aligned_alloc(1 << 21, ((size_t)THREADS * STEP + (1 << 21)) >> 21 << 21);

	if (memory == NULL)
		return 1;
	for (uint32_t i = 0; i < THREADS; i++)
		*head_of(memory, i) = (struct head){ (i * 2001 + 77) % THREADS, 0 };
	printf("%llu\n", (unsigned long long)read_replies(memory));
	free(memory);
	return 0;
}
