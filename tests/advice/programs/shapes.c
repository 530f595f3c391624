/* SPDX-License-Identifier: Apache-2.0 */

/* Calls a function for each of many shapes through a pointer. The kinds come in random order, so the target of the call
 * is guessed wrong most of the time. The twin has sorted the shapes by kind. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHAPES = 3000, ROUNDS = 130 };

struct shape {
	uint32_t (*area)(const struct shape *);
	uint32_t a, b;
};

#define SHAPE(name, expression)                                                                    \
	static uint32_t name(const struct shape *s)                                                \
	{                                                                                          \
		return expression;                                                                 \
	}

SHAPE(square, s->a * s->a)
SHAPE(rectangle, s->a * s->b)
SHAPE(triangle, s->a * s->b / 2)
SHAPE(frame, s->a * s->b - 4)
SHAPE(cross, s->a * 2 + s->b * 2)
SHAPE(ring, s->a * s->a - s->b)
SHAPE(star, s->a * 5 + s->b)
SHAPE(line, s->a ^ s->b)

static uint32_t (*const kinds[])(const struct shape *) = { square, rectangle, triangle, frame,
							   cross,  ring,      star,	line };
static struct shape shapes[SHAPES];

static uint32_t add_areas(void)
{
	uint32_t sum = 0;

	for (int i = 0; i < SHAPES; i++)
		sum += shapes[i].area(&shapes[i]);
	return sum;
}

#ifdef FIXED
static int compare(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return (x->area > y->area) - (x->area < y->area);
}
#endif

int main(void)
{
	uint32_t state = 17, sum = 0;

	for (int i = 0; i < SHAPES; i++) {
		state = state * 1664525 + 1013904223;
		shapes[i] =
			(struct shape){ kinds[state >> 29], state >> 12 & 255, state >> 20 & 255 };
	}
#ifdef FIXED
	qsort(shapes, SHAPES, sizeof(shapes[0]), compare);
#endif
	for (int round = 0; round < ROUNDS; round++)
		sum = sum * 7 + add_areas();
	printf("%x\n", sum);
	return 0;
}
