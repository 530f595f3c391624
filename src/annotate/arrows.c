/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows from branches to their targets, left of the instructions. */
#include <stdlib.h>
#include <string.h>

#include "annotate/lanes.h"
#include "annotate/view.h"
#include "base/alloc.h"

enum {
	MAX_LANES = 5,
	MAX_ARROWS = 64, /* those with the most records are kept */
};

static size_t arrow_length(const struct lane_arrow *a)
{
	return a->from > a->to ? a->from - a->to : a->to - a->from;
}

static int arrows_compare(const void *left, const void *right)
{
	const struct lane_arrow *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (arrow_length(a) != arrow_length(b))
		return arrow_length(a) > arrow_length(b) ? 1 : -1;
	return (a->from > b->from) - (a->from < b->from);
}

/* Lists the branches whose both ends are shown. */
static void find_arrows(lane_arrows *arrows, const struct annotation *a, const size_t *rows,
			size_t n_rows)
{
	size_t *row_of = mem_alloc(a->list.n + 1, sizeof(*row_of));

	memset(row_of, 0xff, (a->list.n + 1) * sizeof(*row_of));
	for (size_t i = 0; i < n_rows; i++)
		if (rows[i] < a->list.n)
			row_of[rows[i]] = i;
	for (size_t i = 0; i < n_rows; i++) {
		size_t to = rows[i] < a->list.n ? annotated_target(a, rows[i]) : a->list.n;

		if (to < a->list.n && row_of[to] != SIZE_MAX)
			*vec_add(arrows) = (struct lane_arrow){
				.from = i,
				.to = row_of[to],
				.group = i,
				.weight = (double)(annotated_count(a, rows[i], COUNT_RECORDS) +
						   annotated_count(a, rows[i], COUNT_SAMPLES)),
				.style = LANE_LIGHT,
			};
	}
	free(row_of);
	if (arrows->n > 1)
		qsort(arrows->items, arrows->n, sizeof(*arrows->items), arrows_compare);
	if (arrows->n > MAX_ARROWS)
		arrows->n = MAX_ARROWS;
}

const char **annotate_arrows(const struct annotation *a, const size_t *rows, size_t n_rows,
			     bool has_unicode, struct arena *memory)
{
	lane_arrows arrows = { 0 };
	const char **out;

	find_arrows(&arrows, a, rows, n_rows);
	out = lanes_draw(&arrows, n_rows, MAX_LANES, has_unicode, memory);
	vec_release(&arrows);
	return out;
}
