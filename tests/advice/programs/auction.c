/* SPDX-License-Identifier: Apache-2.0 */

/* Puts bids on 65536 lots whose records are a cache line each (4 MiB), in the order in which the bids came: nearly each
 * bid takes a line from the last-level cache, and the price of a bid depends on the lot before. The twin keeps what is
 * used of each lot together (512 KiB). */

#include <stdint.h>
#include <stdio.h>

enum { LOTS = 1 << 16, BIDS = 400000 };

struct lot {
	uint32_t price, bidder;
#ifndef FIXED
	char text[56];
#endif
};

static _Alignas(64) struct lot lots[LOTS];

static uint32_t sell(int bids)
{
	uint32_t price = 1;

	for (int bid = 0; bid < bids; bid++) {
		struct lot *lot = &lots[(price ^ (uint32_t)bid * 40503) % LOTS];

		price = price * 5 + lot->price;
		lot->price += 3;
		lot->bidder = (uint32_t)bid;
	}
	return price;
}

int main(void)
{
	for (uint32_t i = 0; i < LOTS; i++)
		lots[i].price = i * 2654435761u >> 7;
	printf("%x\n", sell(BIDS));
	return 0;
}
