/* SPDX-License-Identifier: Apache-2.0 */

/* A stock exchange's gateway. One thread takes the price feed, and publishes the last price and how many ticks came;
 * two threads check orders against the limits of the day, which the supervisor may change at any moment. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DESKS = 2, ORDERS = 2048, ORDER_ROUNDS = 130, TICKS = 4096, TICK_ROUNDS = 90 };

struct board {
	_Atomic uint64_t ticks;
	_Atomic uint32_t last_price;
#ifdef FIXED
	_Alignas(128)
#endif
		_Atomic uint32_t lowest;
	_Atomic uint32_t highest;
	_Atomic uint32_t most_shares;
};

struct order {
	uint32_t price;
	uint32_t shares;
};

struct desk {
	struct order orders[ORDERS];
	uint64_t value;
	uint64_t refused;
};

static _Alignas(128) struct board board;
static _Alignas(128) struct desk desks[DESKS];
static _Alignas(128) int16_t moves[TICKS];
static uint64_t state = 140897;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static void *take_feed(void *arg)
{
	struct board *to = arg;
	uint64_t ticks = 0;
	uint32_t price = 50000;

	for (int round = 0; round < TICK_ROUNDS; round++)
		for (int t = 0; t < TICKS; t++) {
			price += (uint32_t)moves[t] + (round & 1);
			atomic_store_explicit(&to->last_price, price, memory_order_relaxed);
			atomic_store_explicit(&to->ticks, ++ticks, memory_order_relaxed);
		}
	return NULL;
}

static int within_limits(const struct order *order)
{
	uint32_t lowest = atomic_load_explicit(&board.lowest, memory_order_relaxed);
	uint32_t highest = atomic_load_explicit(&board.highest, memory_order_relaxed);
	uint32_t most_shares = atomic_load_explicit(&board.most_shares, memory_order_relaxed);

	return (order->price >= lowest) & (order->price <= highest) &
	       (order->shares <= most_shares);
}

static void *check_orders(void *arg)
{
	struct desk *desk = arg;
	uint64_t value = 0;
	uint64_t refused = 0;

	for (int round = 0; round < ORDER_ROUNDS; round++)
		for (int o = 0; o < ORDERS; o++) {
			const struct order *order = &desk->orders[o];
			uint32_t right = (uint32_t)within_limits(order);

			value += (uint64_t)(order->price & -right) * order->shares;
			refused += 1 - right;
		}
	desk->value = value;
	desk->refused = refused;
	return NULL;
}

int main(void)
{
	pthread_t feed;
	pthread_t threads[DESKS];
	uint64_t sum = 0;

	atomic_store(&board.lowest, 1000);
	atomic_store(&board.highest, 60000);
	atomic_store(&board.most_shares, 900);
	for (int t = 0; t < TICKS; t++)
		moves[t] = (int16_t)((draw() >> 56) - 127);
	for (int d = 0; d < DESKS; d++)
		for (int o = 0; o < ORDERS; o++) {
			uint64_t word = draw();

			desks[d].orders[o] = (struct order){ word >> 48, word >> 32 & 1023 };
		}
	if (pthread_create(&feed, NULL, take_feed, &board) != 0)
		return 1;
	for (int d = 0; d < DESKS; d++)
		if (pthread_create(&threads[d], NULL, check_orders, &desks[d]) != 0)
			return 1;
	for (int d = 0; d < DESKS; d++)
		pthread_join(threads[d], NULL);
	pthread_join(feed, NULL);
	for (int d = 0; d < DESKS; d++)
		sum = sum * 31 + desks[d].value * 7 + desks[d].refused;
	printf("feed %016llx %llu %u\n", (unsigned long long)sum,
	       (unsigned long long)atomic_load(&board.ticks),
	       (unsigned)atomic_load(&board.last_price));
	return 0;
}
