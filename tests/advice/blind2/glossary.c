/* SPDX-License-Identifier: Apache-2.0 */

/* Weighs the words of documents for a search: how often the word is in the document, times how rare it is anywhere,
 * divided by the length of the document. The weights are made anew for a number of dampings of the length. */

#include <stdint.h>
#include <stdio.h>

enum { WORDS = 1024, ENTRIES = 3000, DOCUMENTS = 40, DAMPINGS = 600 };

struct entry {
	uint16_t word;
	uint16_t times;
};

struct document {
	int first; /* entry */
	int entries;
	int length; /* in words */
};

static double rarity[WORDS];
static struct entry entries[ENTRIES];
static double weights[ENTRIES];
static struct document documents[DOCUMENTS];
static uint64_t state = 5417;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

static void collect(void)
{
	int first = 0;

	for (int w = 0; w < WORDS; w++)
		rarity[w] = 1 + (double)(draw() >> 8) / (1 << 21);
	for (int d = 0; d < DOCUMENTS; d++) {
		int end = d + 1 < DOCUMENTS ? 7 + ENTRIES * (d + 1) / DOCUMENTS - d * 13 % 31
					    : ENTRIES;

		documents[d] = (struct document){ first, end - first, 0 };
		for (; first < end; first++) {
			uint32_t word = draw();

			entries[first] = (struct entry){ word % WORDS, 1 + (word >> 28) };
			documents[d].length += entries[first].times;
		}
	}
}

static void weigh(const struct document *document, double damping)
{
	const struct entry *entry = entries + document->first;
	double *weight = weights + document->first;
	double length = damping + document->length;

#ifdef FIXED
	double part = 1 / length;

	for (int i = 0; i < document->entries; i++)
		weight[i] = entry[i].times * rarity[entry[i].word] * part;
#else
	for (int i = 0; i < document->entries; i++)
		weight[i] = entry[i].times * rarity[entry[i].word] / length;
#endif
}

int main(void)
{
	double sum = 0;

	collect();
	for (int damping = 0; damping < DAMPINGS; damping++) {
		for (int d = 0; d < DOCUMENTS; d++)
			weigh(&documents[d], 0.37 * (damping + 1));
		sum += weights[damping] * (1 + damping % 5);
	}
	for (int i = 0; i < ENTRIES; i++)
		sum += weights[i];
	printf("glossary %.8f\n", sum);
	return 0;
}
