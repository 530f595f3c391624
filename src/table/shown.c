/* SPDX-License-Identifier: Apache-2.0 */
#include "table/shown.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "table/human.h"
#include "table/sort.h"

/* Signs of marks: before the value if it is a bound, else behind it. */
static const struct sign {
	const char *before, *before_ascii, *behind;
	const char *meaning;
} signs[N_MARKS] = {
	[MARK_EXACT] = { "", "", "", "" },
	[MARK_SCALED] = { "", "", "~", "~ scaled up from a part" },
	[MARK_SPARSE] = { "", "", "?", "? too few samples" },
	[MARK_SATURATED] = { "≥ ", ">= ", "", "≥ saturated: at least this" },
	[MARK_NOISE] = { "", "", "=", "= not significant" },
	[MARK_AT_MOST] = { "≤ ", "<= ", "", "≤ others saturated: at most this" },
	[MARK_UNCERTAIN] = { "≈ ", "~= ", "", "≈ saturated: more or less" },
	[MARK_AT_LEAST] = { "≥ ", ">= ", "", "≥ at least this many: not all are sampled" },
	[MARK_BIASED] = { "", "", "*", "* biased: the samples prefer some of the code" },
	[MARK_INCOMPLETE] = { "≥ ", ">= ", "", "≥ a part was not collected: at least this" },
	[MARK_IMPLAUSIBLE] = { "", "", "!", "! impossible: counts contradict each other" },
};

const char *mark_sign(enum cell_mark mark)
{
	return signs[mark].behind;
}

const char *mark_meaning(enum cell_mark mark)
{
	return signs[mark].meaning;
}

/* Decimals of a column, by its largest unscaled fraction. */
static int decimals_of(const struct table *t, size_t column)
{
	double largest = 0;

	for (size_t row = 0; row < table_n_rows(t); row++) {
		const struct cell *c = table_cell(t, row, column);

		if (c->type == CELL_NUMBER && fabs(c->number) < 1e7 && fabs(c->number) > largest)
			largest = fabs(c->number);
	}
	return human_decimals(largest);
}

struct showing showing_of(const struct table *t, size_t column, bool has_unicode)
{
	return (struct showing){
		.column = &t->columns[column],
		.decimals = decimals_of(t, column),
		.has_unicode = has_unicode,
	};
}

static struct span shown_join(struct arena *memory, const char *first, const char *second,
			      bool has_unicode)
{
	size_t first_len = strlen(first), second_len = strlen(second);
	char *whole = arena_alloc(memory, first_len + second_len + 1);

	memcpy(whole, first, first_len);
	memcpy(whole + first_len, second, second_len + 1);
	return span_of(memory, whole, has_unicode);
}

static void show_number(const struct showing *how, const struct cell *cell, const char *before,
			struct arena *memory, struct shown *out)
{
	const struct column *column = how->column;
	bool is_share = (column->flags & COLUMN_SHARE) != 0;
	struct human h;

	human_number(cell, column->unit, is_share, how->decimals, &h);
	if (cell->mark == MARK_AT_MOST && h.whole[0] == '<') { /* "<0.1 %" says so */
		before = "";
		out->mark = MARK_EXACT;
	}
	out->parts[PART_WHOLE] = shown_join(memory, before, h.whole, how->has_unicode);
	out->parts[PART_FRACTION] = shown_join(memory, h.fraction, "", how->has_unicode);
	out->parts[PART_SUFFIX] = shown_join(memory, h.suffix, "", how->has_unicode);
}

/* Sparklines by digit: 0 is nothing, 8 the most. */
static const char *const bars[] = { ".", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char bars_ascii[] = ".:-=+*#%@";

static struct span show_spark(const char *digits, bool has_unicode, struct arena *memory)
{
	struct text words = { 0 };
	struct span span;

	for (; *digits >= '0' && *digits <= '8'; digits++)
		if (has_unicode)
			text_str(&words, bars[*digits - '0']);
		else
			text_char(&words, bars_ascii[*digits - '0']);
	span = span_of(memory, arena_strndup(memory, words.bytes, words.n), has_unicode);
	text_release(&words);
	return span;
}

struct shown show_cell(const struct showing *how, const struct cell *cell, struct arena *memory)
{
	struct shown out = { .is_absent = cell_is_absent(cell), .mark = cell->mark };
	const struct sign *sign = &signs[out.mark];
	const char *before = how->has_unicode ? sign->before : sign->before_ascii;
	struct text words = { 0 };

	out.is_dim = out.is_absent || cell->mark == MARK_SPARSE || cell->mark == MARK_NOISE;
	for (int part = 0; part < N_PARTS; part++)
		out.parts[part].bytes = "";
	switch (out.is_absent ? CELL_NONE : cell->type) {
	case CELL_NONE:
		if (how->column->flags & COLUMN_SOURCE)
			out.parts[PART_WHOLE] = span_of(memory, "no data source", true);
		else if (how->column->type != CELL_TEXT && !(how->column->flags & COLUMN_BLANK))
			out.parts[PART_WHOLE] = span_of(memory, "-", true);
		return out;
	case CELL_COUNT:
	case CELL_SIGNED:
	case CELL_NUMBER:
		show_number(how, cell, before, memory, &out);
		break;
	case CELL_TEXT:
		if (how->column->flags & COLUMN_SPARK) {
			out.parts[PART_WHOLE] = show_spark(cell->text, how->has_unicode, memory);
			return out;
		}
		out.parts[PART_WHOLE] =
			before[0] == '\0'
				? span_of(memory, cell->text, how->has_unicode)
				: shown_join(memory, before, cell->text, how->has_unicode);
		break;
	default:
		human_words(&words, cell, "");
		out.parts[PART_WHOLE] =
			shown_join(memory, before, arena_strndup(memory, words.bytes, words.n),
				   how->has_unicode);
		text_release(&words);
	}
	out.parts[PART_MARK] = span_of(memory, sign->behind, how->has_unicode);
	return out;
}

struct span show_words(const struct column *c, const struct cell *cell, bool has_unicode,
		       struct arena *memory)
{
	bool is_share = (c->flags & COLUMN_SHARE) != 0;
	bool is_number = !cell_is_absent(cell) && cell->type != CELL_TEXT;
	int decimals = cell->type == CELL_NUMBER ? human_decimals(fabs(cell->number)) : 0;
	struct showing how = { .column = c, .decimals = decimals, .has_unicode = has_unicode };
	struct shown shown = show_cell(&how, cell, memory);
	struct text words = { 0 };
	struct span span;

	for (int part = 0; part < N_PARTS; part++)
		text_add(&words, shown.parts[part].bytes, shown.parts[part].size);
	if (is_number && c->unit[0] != '\0' && !human_names_unit(c->unit, is_share))
		text_format(&words, " %s", c->unit);
	span = span_of(memory, arena_strndup(memory, words.bytes, words.n), has_unicode);
	text_release(&words);
	return span;
}

size_t shown_width(const struct shown *shown)
{
	size_t width = 0;

	for (int part = 0; part < N_PARTS; part++)
		width += shown->parts[part].width;
	return width;
}

/* Marks that say which way a value may be off: together they are one kind. */
enum {
	OF_SATURATED = 1u << MARK_SATURATED | 1u << MARK_AT_MOST | 1u << MARK_UNCERTAIN,
	BOUNDS = OF_SATURATED | 1u << MARK_AT_LEAST,
};

/* "≥ ≤ bounds: some latencies are saturated" */
static void put_bounds(unsigned marks, struct text *out)
{
	static const enum cell_mark order[] = { MARK_SATURATED, MARK_AT_MOST, MARK_UNCERTAIN };
	bool is_at_least = marks >> MARK_AT_LEAST & 1;

	if (is_at_least)
		marks |= 1u << MARK_SATURATED; /* the same sign */
	for (size_t i = 0; i < COUNT(order); i++)
		if (marks >> order[i] & 1)
			text_str(out, signs[order[i]].before);
	text_format(out, "bounds: some latencies are saturated%s",
		    is_at_least ? ", and not all is sampled" : "");
}

/* Those of the marks that mean something else in this table. */
static unsigned own_marks(const struct table *t, unsigned marks)
{
	unsigned own = 0;

	for (unsigned mark = 0; t->meanings != NULL && mark < N_MARKS; mark++)
		own |= (t->meanings[mark] != NULL ? 1u << mark : 0) & marks;
	return own;
}

struct span show_legend(const struct table *t, unsigned marks, bool has_unicode,
			struct arena *memory)
{
	unsigned own = own_marks(t, marks), bounds = marks & BOUNDS & ~own;
	struct text legend = { 0 };
	struct span span;

	if ((bounds & (bounds - 1)) != 0) { /* several */
		put_bounds(bounds, &legend);
		marks &= ~bounds;
	}
	for (unsigned mark = 0; mark < N_MARKS; mark++) {
		if ((marks & 1u << mark) == 0 || signs[mark].meaning[0] == '\0')
			continue;
		text_str(&legend, legend.n > 0 ? "   " : "");
		text_str(&legend, own >> mark & 1 ? t->meanings[mark] : signs[mark].meaning);
	}
	text_char(&legend, '\0');
	span = shown_join(memory, legend.bytes, "", has_unicode);
	text_release(&legend);
	return span;
}
