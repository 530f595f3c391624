/* SPDX-License-Identifier: Apache-2.0 */

/* A drawing program after a long session. Each layer has its shapes in the order in which they are painted; a shape
 * was placed in memory where there was room. For each view, the program finds how many shapes of each layer the view
 * shows, and the smallest box around all shapes of the layer. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHAPES = 49152, LAYERS = 12, VIEWS = 18 };

struct box {
	int32_t left, top, right, bottom;
};

struct shape {
	struct shape *above;
	struct box box;
	uint32_t colour;
	uint32_t pen;
	char label[32];
};

struct layer {
	struct shape *lowest;
	uint32_t shapes;
};

struct sight {
	struct box around;
	uint32_t shown;
	uint32_t colours;
};

static struct layer layers[LAYERS];
static uint32_t places[SHAPES];
static uint64_t state = 31991;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state ^ state >> 31;
}

static void shuffle(uint32_t *numbers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = (uint32_t)((draw() & 0xffffffff) * (i + 1) >> 32);

		numbers[i] = numbers[other];
		numbers[other] = i;
	}
}

static void paint(struct shape *shapes)
{
	uint32_t used = 0;

	for (uint32_t l = 0; l < LAYERS; l++) {
		struct shape **link = &layers[l].lowest;

		layers[l].shapes = (SHAPES / LAYERS - 1100) + 200 * l;
		for (uint32_t i = 0; i < layers[l].shapes; i++) {
			struct shape *shape = &shapes[places[used++]];
			uint64_t word = draw();
			int32_t x = word >> 48 & 8191;
			int32_t y = word >> 32 & 8191;

			shape->box = (struct box){ x, y, x + (word & 63), y + (word >> 8 & 63) };
			shape->colour = (uint32_t)(word >> 16);
			*link = shape;
			link = &shape->above;
		}
		*link = NULL;
	}
}

static int32_t smaller(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

static int32_t larger(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static void look_at(struct sight *sight, const struct shape *shape, const struct box *view)
{
	const struct box *box = &shape->box;

	sight->around.left = smaller(sight->around.left, box->left);
	sight->around.top = smaller(sight->around.top, box->top);
	sight->around.right = larger(sight->around.right, box->right);
	sight->around.bottom = larger(sight->around.bottom, box->bottom);
	sight->shown += (box->left < view->right) & (box->right > view->left) &
			(box->top < view->bottom) & (box->bottom > view->top);
	sight->colours ^= shape->colour;
}

#ifdef FIXED

/* Puts the shapes of each layer next to each other, in the order of painting. */
static int tidy(void)
{
	struct shape *next = aligned_alloc(64, SHAPES * sizeof *next);

	if (!next)
		return 0;
	for (int l = 0; l < LAYERS; l++) {
		struct shape *shape = layers[l].lowest;

		layers[l].lowest = next;
		for (; shape; shape = shape->above)
			*next++ = *shape;
	}
	return 1;
}

static struct sight look(const struct layer *layer, const struct box *view)
{
	struct sight sight = { { INT32_MAX, INT32_MAX, 0, 0 }, 0, 0 };

	for (uint32_t i = 0; i < layer->shapes; i++)
		look_at(&sight, &layer->lowest[i], view);
	return sight;
}

#else

static struct sight look(const struct layer *layer, const struct box *view)
{
	struct sight sight = { { INT32_MAX, INT32_MAX, 0, 0 }, 0, 0 };

	for (const struct shape *shape = layer->lowest; shape; shape = shape->above)
		look_at(&sight, shape, view);
	return sight;
}

#endif

int main(void)
{
	struct shape *shapes = aligned_alloc(64, SHAPES * sizeof *shapes);
	uint64_t sum = 0;

	if (!shapes)
		return 1;
	shuffle(places, SHAPES);
	paint(shapes);
#ifdef FIXED
	if (!tidy())
		return 1;
#endif
	for (int v = 0; v < VIEWS; v++) {
		struct box view = { 50 * v, 70 * v, 4000 + 90 * v, 3000 + 80 * v };

		for (int l = 0; l < LAYERS; l++) {
			struct sight sight = look(&layers[l], &view);

			sum = sum * 31 + sight.shown + sight.colours;
			sum += (uint64_t)sight.around.left * 3 + (uint64_t)sight.around.right * 5 +
			       (uint64_t)sight.around.top * 7 + (uint64_t)sight.around.bottom;
		}
	}
	printf("drawing %016llx\n", (unsigned long long)sum);
	return 0;
}
