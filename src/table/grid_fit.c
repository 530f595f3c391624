/* SPDX-License-Identifier: Apache-2.0 */
/* Fits the lanes of a grid into a line. */
#include "table/grid.h"

/* Widths in columns. */
enum {
	LEAST_BAR = 10,
	MOST_BAR = 40,
	LEAST_TEXT = 12,
	LEAST_YIELD = 10,
};

/* Ways to save width, in order, before columns are left out. */
enum thrift {
	THRIFT_NONE,
	THRIFT_HEADINGS, /* headings may take several lines */
	THRIFT_BARS,	 /* no bars */
	THRIFT_TEXTS,	 /* texts that should stay whole are cut, too */
	N_THRIFTS,
};

static size_t max_of(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t min_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool lane_has_flag(const struct lane *lane, enum column_flags flag)
{
	return (lane->how.column->flags & flag) != 0;
}

static size_t least_bar(const struct lane *lane, enum thrift thrift)
{
	return lane_has_flag(lane, COLUMN_BAR) && thrift < THRIFT_BARS ? LEAST_BAR : 0;
}

/* The width that the heading needs. It may extend over the bar. */
static size_t heading_width(const struct lane *lane, enum thrift thrift)
{
	size_t width = thrift >= THRIFT_HEADINGS ? lane->heading_word : lane->heading.width;
	size_t bar = least_bar(lane, thrift);

	if (bar == 0)
		return width;
	return width > bar + GRID_GAP ? width - bar - GRID_GAP : 0;
}

/* The least width of a lane. Wide texts keep their share of the line, others yield. A sparkline is never cut. */
static size_t least_width(const struct grid *g, const struct lane *lane, enum thrift thrift)
{
	bool is_cut = lane->is_text && !lane_has_flag(lane, COLUMN_SPARK) &&
		      !lane_has_flag(lane, COLUMN_WHOLE) &&
		      (lane_has_flag(lane, COLUMN_GROW) || thrift >= THRIFT_TEXTS);
	bool is_wide = lane_has_flag(lane, COLUMN_WIDE);
	size_t share =
		is_wide ? g->line_width * 2 / 5 : g->line_width / (thrift < THRIFT_TEXTS ? 4 : 6);
	size_t least = lane_has_flag(lane, COLUMN_YIELD) ? LEAST_YIELD : max_of(share, LEAST_TEXT);
	size_t content = lane->content;

	if (is_cut)
		content = min_of(content, least);
	return max_of(content, heading_width(lane, thrift));
}

/* Sets all lanes to their least width. Returns their total. */
static size_t shrink_lanes(struct grid *g, enum thrift thrift)
{
	size_t total = g->indent;

	for (size_t i = 0; i < g->n_lanes; i++) {
		struct lane *lane = &g->lanes[i];

		if (lane->is_left_out)
			continue;
		lane->width = least_width(g, lane, thrift);
		lane->bar = least_bar(lane, thrift);
		total += (i > 0 ? GRID_GAP : 0) + lane->width;
		total += lane->bar > 0 ? lane->bar + GRID_GAP : 0;
	}
	return total;
}

/* Gives spare columns to texts that were cut, in turn, so that the shortest are whole first. */
static size_t grow_texts(struct grid *g, size_t spare)
{
	bool is_growing = true;

	while (spare > 0 && is_growing) {
		is_growing = false;
		for (size_t i = 0; i < g->n_lanes && spare > 0; i++) {
			struct lane *lane = &g->lanes[i];

			if (lane->is_left_out || lane->width >= lane->content)
				continue;
			lane->width++;
			spare--;
			is_growing = true;
		}
	}
	return spare;
}

static void grow_bars(struct grid *g, size_t spare)
{
	for (size_t i = 0; i < g->n_lanes; i++) {
		struct lane *lane = &g->lanes[i];
		size_t more = lane->bar > 0 && !lane->is_left_out
				      ? min_of(spare, MOST_BAR - lane->bar)
				      : 0;

		lane->bar += more;
		spare -= more;
	}
}

/*
 * Leaves out the last lane, but never the first. Sparklines, which the user asked for, go last.
 * False if nothing can be left out.
 */
static bool leave_one_out(struct grid *g)
{
	for (int keeps_sparks = 1; keeps_sparks >= 0; keeps_sparks--) {
		for (size_t i = g->n_lanes; i-- > 1;) {
			struct lane *lane = &g->lanes[i];

			if (lane->is_left_out ||
			    (keeps_sparks && lane_has_flag(lane, COLUMN_SPARK)))
				continue;
			lane->is_left_out = true;
			return true;
		}
	}
	return false;
}

/* Is a name cut, beside bars that take its room? */
static bool has_bars_for_texts(const struct grid *g)
{
	bool has_bar = false, has_cut = false;

	for (size_t i = 0; i < g->n_lanes; i++) {
		const struct lane *lane = &g->lanes[i];

		has_bar |= !lane->is_left_out && lane->bar > 0;
		has_cut |= !lane->is_left_out && lane->is_text && lane->width < lane->content;
	}
	return has_bar && has_cut;
}

void grid_fit(struct grid *g)
{
	enum thrift thrift = THRIFT_NONE;
	size_t total = 0, spare;

	if (g->n_lanes == 0)
		return;
	while ((total = shrink_lanes(g, thrift)) > g->line_width) {
		if (thrift + 1 < N_THRIFTS)
			thrift++;
		else if (!leave_one_out(g))
			break;
	}
	if (total > g->line_width) {
		g->lanes[0].width = g->line_width - g->indent;
		return;
	}
	spare = grow_texts(g, g->line_width - total);
	if (has_bars_for_texts(g))
		spare = grow_texts(g, g->line_width - shrink_lanes(g, THRIFT_BARS));
	grow_bars(g, spare);
}
