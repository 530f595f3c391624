/* SPDX-License-Identifier: Apache-2.0 */

/* Four threads take work, one ticket at a time, from one counter under one spinlock: they fight for its line more than
 * they work. In the twin a thread takes 32 tickets at once;
 * FIXED=2 puts lock and counter on lines of their own. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4, TICKETS = 60000 };
#if FIXED == 1
enum { TAKE = 32 };
#else
enum { TAKE = 1 };
#endif

static _Alignas(128) struct {
	atomic_int is_locked;
#if FIXED == 2
	char rest[124];
#endif
	uint32_t next;
	char behind[120];
} office;
static atomic_ullong result;

static uint32_t take(void)
{
	uint32_t first;

	while (atomic_exchange_explicit(&office.is_locked, 1, memory_order_acquire))
		while (atomic_load_explicit(&office.is_locked, memory_order_relaxed))
			;
	first = office.next;
	office.next = first + TAKE;
	atomic_store_explicit(&office.is_locked, 0, memory_order_release);
	return first;
}

static uint64_t serve(uint32_t ticket)
{
	uint64_t value = ticket;

	for (int i = 0; i < 8; i++)
		value = (value ^ value >> 5) * 9 + 1;
	return value;
}

static void *work(void *argument)
{
	uint64_t sum = 0;

	for (uint32_t first = take(); first < TICKETS; first = take())
		for (uint32_t ticket = first; ticket < first + TAKE && ticket < TICKETS; ticket++)
			sum += serve(ticket);
	atomic_fetch_add(&result, sum);
	return argument;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int t = 0; t < THREADS; t++)
		if (pthread_create(&threads[t], NULL, work, NULL) != 0)
			return 1;
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	printf("%llx\n", (unsigned long long)result);
	return 0;
}
