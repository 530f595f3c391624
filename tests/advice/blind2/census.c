/* SPDX-License-Identifier: Apache-2.0 */

/* Reads a census: a line for each household, with answers of eight digits each, and after them a remark of any
 * length. For each question it finds the sum and the largest of the answers, and how many are odd. The
 * argument is the number of questions, at most 20. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_QUESTIONS = 20, DIGITS = 8, HOUSEHOLDS = 24000, MOST_REMARK = 64 };

struct result {
	uint64_t sum;
	uint32_t largest;
	uint32_t odd;
};

static uint32_t lines[HOUSEHOLDS]; /* where the line begins in the text */
static uint64_t state = 18013;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static void ask(char *text, size_t questions)
{
	uint32_t at = 0;

	for (int h = 0; h < HOUSEHOLDS; h++) {
		lines[h] = at;
		for (size_t q = 0; q < questions; q++) {
			uint64_t digits = (draw() >> 4 & 0x0707070707070707) + 0x3030303030303030;

			memcpy(text + at, &digits, DIGITS);
			at += DIGITS;
		}
		at += 1 + (draw() >> 40) % MOST_REMARK;
	}
}

static uint32_t answer(const char *digits)
{
	uint32_t value = 0;

	for (int i = 0; i < DIGITS; i++)
		value = value * 10 + (uint32_t)(digits[i] - '0');
	return value;
}

static void add_answer(struct result *result, uint32_t value)
{
	result->sum += value;
	result->largest = value > result->largest ? value : result->largest;
	result->odd += value & 1;
}

static void evaluate(struct result *results, const char *text, size_t questions)
{
#ifdef FIXED
	for (int h = 0; h < HOUSEHOLDS; h++) {
		const char *line = text + lines[h];

		for (size_t q = 0; q < questions; q++)
			add_answer(&results[q], answer(line + q * DIGITS));
	}
#else
	for (size_t q = 0; q < questions; q++) {
		struct result result = { 0, 0, 0 };

		for (int h = 0; h < HOUSEHOLDS; h++)
			add_answer(&result, answer(text + lines[h] + q * DIGITS));
		results[q] = result;
	}
#endif
}

int main(int argc, char **argv)
{
	size_t questions = argc > 1 ? (size_t)atoi(argv[1]) : MOST_QUESTIONS;
	struct result results[MOST_QUESTIONS] = { 0 };
	uint64_t sum = 0;
	char *text;

	if (questions < 1 || questions > MOST_QUESTIONS)
		return 2;
	text = malloc((size_t)HOUSEHOLDS * (MOST_QUESTIONS * DIGITS + MOST_REMARK));
	if (!text)
		return 1;
	ask(text, questions);
	evaluate(results, text, questions);
	for (size_t q = 0; q < questions; q++)
		sum = ((sum * 31 + results[q].sum) * 31 + results[q].largest) * 31 + results[q].odd;
	printf("census %016llx\n", (unsigned long long)sum);
	free(text);
	return 0;
}
