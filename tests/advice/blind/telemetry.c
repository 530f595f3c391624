/* SPDX-License-Identifier: Apache-2.0 */

/* Looks over the log of a wind farm. The channels are sampled together, and each moment is one line of the log: the
 * samples, and after them a remark, which may be empty. For each channel it adds up how far the signal travelled, up
 * and down. The argument is the number of channels, at most 56. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHANNELS = 56, MOMENTS = 24000, REMARK_WORDS = 16 };

static const int16_t *lines[MOMENTS];
static uint64_t state = 50503;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static void record(int16_t *log, size_t channels)
{
	for (size_t moment = 0; moment < MOMENTS; moment++) {
		for (size_t c = 0; c < channels; c += 4) {
			uint64_t word = draw();

			memcpy(log + c, &word, sizeof word);
		}
		lines[moment] = log;
		log += (channels + 3) / 4 * 4 + (draw() >> 60) * 4;
	}
}

static void survey(uint32_t *travel, size_t channels)
{
#ifdef FIXED
	for (size_t moment = 1; moment < MOMENTS; moment++) {
		const int16_t *before = lines[moment - 1];
		const int16_t *now = lines[moment];

		for (size_t c = 0; c < channels; c++)
			travel[c] += (uint32_t)abs(now[c] - before[c]);
	}
#else
	for (size_t c = 0; c < channels; c++) {
		uint32_t sum = 0;
		int32_t before = lines[0][c];

		for (size_t moment = 1; moment < MOMENTS; moment++) {
			int32_t now = lines[moment][c];

			sum += (uint32_t)abs(now - before);
			before = now;
		}
		travel[c] += sum;
	}
#endif
}

int main(int argc, char **argv)
{
	size_t channels = argc > 1 ? (size_t)atoi(argv[1]) : MOST_CHANNELS;
	uint32_t travel[MOST_CHANNELS] = { 0 };
	uint64_t sum = 0;
	int16_t *log;

	if (channels < 1 || channels > MOST_CHANNELS)
		return 2;
	log = malloc(MOMENTS * (MOST_CHANNELS + REMARK_WORDS * 4) * sizeof *log);
	if (!log)
		return 1;
	record(log, channels);
	survey(travel, channels);
	for (size_t c = 0; c < channels; c++)
		sum = sum * 31 + travel[c];
	printf("telemetry %016llx\n", (unsigned long long)sum);
	free(log);
	return 0;
}
