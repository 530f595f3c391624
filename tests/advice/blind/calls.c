/* SPDX-License-Identifier: Apache-2.0 */

/* Telephone calls, sorted into time slots. A report has a slot length (nanoseconds) and a number of slots after
 * which the clock face begins again; every call adds its seconds to its slot, and the time since the slot began to
 * the report's total delay. One log is reported under many slot lengths. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 4096, REPORTS = 150, MOST_SLOTS = 1024 };

struct face {
	uint64_t length; /* of a slot */
	uint64_t slots;
};

static uint64_t log_of_calls[CALLS];
static uint64_t seconds[MOST_SLOTS];
static uint64_t state = 808017;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

#ifdef FIXED

struct ratio {
	uint64_t whole;
	uint64_t rest;
};

/* "inverse" is (2^64 - 1) / by: the first guess is right or one too small. */
static struct ratio share_out(uint64_t value, uint64_t by, uint64_t inverse)
{
	uint64_t whole = (uint64_t)((unsigned __int128)value * inverse >> 64);
	uint64_t rest = value - whole * by;
	uint64_t more = rest >= by;

	return (struct ratio){ whole + more, rest - (by & -more) };
}

static uint64_t report(const struct face *face, const uint64_t *calls, size_t count)
{
	uint64_t per_length = UINT64_MAX / face->length;
	uint64_t per_slots = UINT64_MAX / face->slots;
	uint64_t delay = 0;

	for (size_t i = 0; i < count; i++) {
		struct ratio slot = share_out(calls[i], face->length, per_length);

		delay += slot.rest;
		seconds[share_out(slot.whole, face->slots, per_slots).rest] += calls[i] & 255;
	}
	return delay;
}

#else

static uint64_t report(const struct face *face, const uint64_t *calls, size_t count)
{
	uint64_t delay = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t slot = calls[i] / face->length;

		delay += calls[i] % face->length;
		seconds[slot % face->slots] += calls[i] & 255;
	}
	return delay;
}

#endif

int main(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < CALLS; i++)
		log_of_calls[i] = (UINT64_C(17) << 56) + (draw() >> 6);
	for (int n = 0; n < REPORTS; n++) {
		struct face face = { 1000 + (draw() >> 40), MOST_SLOTS - 1 - (draw() >> 56) };

		sum = sum * 31 + report(&face, log_of_calls, CALLS);
	}
	for (int slot = 0; slot < MOST_SLOTS; slot++)
		sum = sum * 31 + seconds[slot];
	printf("calls %016llx\n", (unsigned long long)sum);
	return 0;
}
