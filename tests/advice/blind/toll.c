/* SPDX-License-Identifier: Apache-2.0 */

/* Charges a day of motorway passages, and keeps the books: fees for each class of vehicle, the part that was
 * earned in peak hours, and how many drivers paid in cash. The day is charged again under each of a season's
 * tariffs. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PASSAGES = 32768, TARIFFS = 16, CLASSES = 4 };

struct passage {
	uint8_t vehicle;
	uint8_t peak;
	uint8_t cash;
	uint8_t plaza;
	uint32_t km;
};

struct tariff {
	uint32_t per_km[CLASSES];
	uint32_t entry[CLASSES];
	uint32_t handling;
};

struct books {
	uint64_t fees[CLASSES];
	uint64_t peak_fees;
	uint64_t cash_payers;
	uint64_t total;
};

static uint64_t state = 20231;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

static void charge_day(struct books *books, const struct tariff *tariff, const struct passage *day,
		       size_t passages)
{
	for (size_t i = 0; i < passages; i++) {
		const struct passage *passage = &day[i];
#ifdef FIXED
		uint32_t vehicle = passage->vehicle;
		uint32_t peak = -(uint32_t)passage->peak;
		uint32_t fee = passage->km * tariff->per_km[vehicle] + tariff->entry[vehicle];

		books->fees[vehicle] += fee;
		fee += (fee >> 2) & peak;
		books->peak_fees += fee & peak;
		fee += tariff->handling & -(uint32_t)passage->cash;
		books->cash_payers += passage->cash;
		books->total += fee;
#else
		uint32_t fee;

		if (passage->vehicle == 0) {
			fee = passage->km * tariff->per_km[0] + tariff->entry[0];
			books->fees[0] += fee;
		} else if (passage->vehicle == 1) {
			fee = passage->km * tariff->per_km[1] + tariff->entry[1];
			books->fees[1] += fee;
		} else if (passage->vehicle == 2) {
			fee = passage->km * tariff->per_km[2] + tariff->entry[2];
			books->fees[2] += fee;
		} else {
			fee = passage->km * tariff->per_km[3] + tariff->entry[3];
			books->fees[3] += fee;
		}
		if (passage->peak) {
			fee += fee >> 2;
			books->peak_fees += fee;
		}
		if (passage->cash) {
			fee += tariff->handling;
			books->cash_payers++;
		}
		books->total += fee;
#endif
	}
}

int main(void)
{
	struct passage *day = malloc(PASSAGES * sizeof *day);
	struct books books = { 0 };
	uint64_t sum = 0;

	if (!day)
		return 1;
	for (size_t i = 0; i < PASSAGES; i++) {
		uint32_t word = draw();

		day[i] = (struct passage){ word & 3, word >> 8 & 1, word >> 13 & 1, word >> 16 & 31,
					   2 + (word >> 25) };
	}
	for (uint32_t season = 0; season < TARIFFS; season++) {
		struct tariff tariff = { { 7 + season, 9 + season, 15 + season, 12 + season },
					 { 0, 20, 80, 40 },
					 150 - season };

		charge_day(&books, &tariff, day, PASSAGES);
	}
	for (int vehicle = 0; vehicle < CLASSES; vehicle++)
		sum = sum * 31 + books.fees[vehicle];
	sum = ((sum * 31 + books.peak_fees) * 31 + books.cash_payers) * 31 + books.total;
	printf("toll %016llx\n", (unsigned long long)sum);
	free(day);
	return 0;
}
