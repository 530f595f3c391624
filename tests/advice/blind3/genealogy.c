/* SPDX-License-Identifier: Apache-2.0 */

/* A register of births as a binary tree by number, whose nodes lie in the order in which they were entered. For each
 * question the tree is walked down from its root. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PEOPLE = 1 << 17, QUESTIONS = 40000, AT_ONCE = 8 };

#if defined(FIXED) &&                                                                              \
	FIXED == 2     /* what the walks need is together: written after the answers were known */
typedef uint32_t link; /* of people[]; 0: none */

struct person {
	uint32_t number;
	link children[2];
};

struct rest {
	uint32_t year;
	char name[40];
};

static struct person people[PEOPLE + 1];
static struct rest rests[PEOPLE + 1];
#else
struct person {
	uint32_t number, year;
	struct person *children[2];
	char name[40];
};
#endif

static uint64_t state = 1789;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

#if defined(FIXED) && FIXED == 2
static void enter(link *root, link person)
{
	while (*root)
		root = &people[*root].children[people[person].number > people[*root].number];
	*root = person;
}

/* The years of birth of those with these numbers, added up. */
static __attribute__((noinline)) uint64_t ask(link root, const uint32_t *numbers, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++) {
		link at = root, last = root;

		while (at) {
			last = people[at].number <= numbers[i] ? at : last;
			at = people[at].children[numbers[i] > people[at].number];
		}
		sum += rests[last].year;
	}
	return sum;
}
#else
static void enter(struct person **root, struct person *person)
{
	while (*root)
		root = &(*root)->children[person->number > (*root)->number];
	*root = person;
}

/* The years of birth of those with these numbers, added up. */
static __attribute__((noinline)) uint64_t ask(const struct person *root, const uint32_t *numbers,
					      int n)
{
	uint64_t sum = 0;

#ifdef FIXED
	for (int i = 0; i < n; i += AT_ONCE) {
		const struct person *at[AT_ONCE], *last[AT_ONCE];
		int under_way = AT_ONCE;

		for (int k = 0; k < AT_ONCE; k++)
			at[k] = last[k] = root;
		while (under_way > 0) {
			under_way = 0;
			for (int k = 0; k < AT_ONCE; k++)
				if (at[k]) {
					last[k] = at[k]->number <= numbers[i + k] ? at[k] : last[k];
					at[k] = at[k]->children[numbers[i + k] > at[k]->number];
					__builtin_prefetch(at[k]);
					under_way++;
				}
		}
		for (int k = 0; k < AT_ONCE; k++)
			sum += last[k]->year;
	}
#else
	for (int i = 0; i < n; i++) {
		const struct person *at = root, *last = root;

		while (at) {
			last = at->number <= numbers[i] ? at : last;
			at = at->children[numbers[i] > at->number];
		}
		sum += last->year;
	}
#endif
	return sum;
}
#endif

int main(void)
{
#if defined(FIXED) && FIXED == 2
	link root = 0;
#else
	struct person *people = calloc(PEOPLE, sizeof *people), *root = NULL;

	if (!people)
		return 1;
#endif
	uint32_t *numbers = malloc(QUESTIONS * sizeof *numbers);

	if (!numbers)
		return 1;
	for (int i = 0; i < PEOPLE; i++) {
#if defined(FIXED) && FIXED == 2
		people[i + 1].number = draw();
		rests[i + 1].year = 1700 + draw() % 300;
		enter(&root, (link)i + 1);
#else
		people[i].number = draw();
		people[i].year = 1700 + draw() % 300;
		enter(&root, &people[i]);
#endif
	}
	for (int i = 0; i < QUESTIONS; i++)
		numbers[i] = draw();
	printf("%llu\n",
	       (unsigned long long)(ask(root, numbers, QUESTIONS) + ask(root, numbers, QUESTIONS) +
				    ask(root, numbers, QUESTIONS) + ask(root, numbers, QUESTIONS)));
	return 0;
}
