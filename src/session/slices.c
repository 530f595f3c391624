/* SPDX-License-Identifier: Apache-2.0 */
#include "session/slices.h"

#include <inttypes.h>
#include <string.h>

int slices_init(const struct slices_span *span, uint32_t n, struct slices *out, struct err *err)
{
	uint64_t length = span->last_ns - span->first_ns;

	if (n == 0 || n > SLICES_MAX)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--time-slices: found %" PRIu32 ", wanted 1 to %d", n, SLICES_MAX);
	if (span->last_ns <= span->first_ns)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "--time-slices: the records of this capture have no times");
	*out = (struct slices){
		.first_ns = span->first_ns,
		.last_ns = span->last_ns,
		.width_ns = length / n + 1,
		.n = n,
	};
	if (span->start_ns != 0 && span->start_ns < span->first_ns)
		out->offset_ns = span->first_ns - span->start_ns;
	return 0;
}

bool slices_settle(struct slices *s, const struct slices_span *span)
{
	struct err err;

	if (!s->is_provisional)
		return true;
	s->is_provisional = false;
	if (span->first_ns == s->first_ns && span->last_ns == s->last_ns)
		return true;
	return slices_init(span, s->n, s, &err) < 0;
}

uint32_t slices_find(const struct slices *s, uint64_t time_ns)
{
	uint64_t slice;

	if (time_ns <= s->first_ns)
		return 0;
	slice = (time_ns - s->first_ns) / s->width_ns;
	return slice < s->n ? (uint32_t)slice : s->n - 1;
}

uint64_t slices_start_ns(const struct slices *s, uint32_t slice)
{
	return s->offset_ns + slice * s->width_ns;
}

/* Slices that share a bar. */
static uint32_t slices_of_bar(uint32_t n)
{
	return (n + SLICES_BARS - 1) / SLICES_BARS;
}

/* The amounts of a bar: of one slice, or of several neighbours. */
static uint64_t bar_amount(const uint64_t *amounts, uint32_t n, uint32_t bar, uint32_t each)
{
	uint64_t sum = 0;

	for (uint32_t i = bar * each; i < n && i < (bar + 1) * each; i++)
		sum += amounts[i];
	return sum;
}

const char *slices_spark(struct table *t, const uint64_t *amounts, uint32_t n)
{
	uint32_t each = slices_of_bar(n);
	uint32_t n_bars = n == 0 ? 0 : (n + each - 1) / each;
	char *out = arena_alloc(&t->memory, n_bars + 1);
	uint64_t largest = 1;

	for (uint32_t i = 0; i < n_bars; i++) {
		uint64_t amount = bar_amount(amounts, n, i, each);

		largest = amount > largest ? amount : largest;
	}
	for (uint32_t i = 0; i < n_bars; i++) {
		uint64_t amount = bar_amount(amounts, n, i, each);
		double part = (double)amount / (double)largest;

		out[i] = amount == 0 ? '0' : (char)('1' + (int)(part * 7 + 0.5));
	}
	out[n_bars] = '\0';
	return out;
}

void slices_note(const struct slices *s, struct table *t)
{
	uint32_t each = slices_of_bar(s->n);

	if (each > 1)
		table_note(t, "time: each bar is %" PRIu32 " slices (csv and json have every one)",
			   each);
}

void slices_add_columns(const struct slices *s, const char *unit, const char *meaning,
			struct table *t)
{
	size_t n = t->n_columns;
	struct column *own;

	if (s->n == 0)
		return;
	own = table_own_columns(t, 1 + s->n);
	own[n] = (struct column){
		"time", SLICES_TITLE, "", CELL_TEXT, COLUMN_SPARK | COLUMN_TEXT_ONLY | COLUMN_BLANK,
		meaning
	};
	for (uint32_t i = 0; i < s->n; i++)
		own[n + 1 + i] = (struct column){
			table_format(t, "slice_%" PRIu32, i),
			NULL,
			unit,
			CELL_COUNT,
			COLUMN_MACHINE_ONLY,
			meaning,
		};
	slices_note(s, t);
	t->n_columns = n + 1 + s->n;
}

void slices_show(const struct slices *s, const uint64_t *amounts, struct table *t, struct cell *row)
{
	size_t first = t->n_columns - s->n - 1;

	if (s->n == 0)
		return;
	row[first] = cell_text(slices_spark(t, amounts, s->n));
	for (uint32_t i = 0; i < s->n; i++)
		row[first + 1 + i] = cell_count(amounts[i]);
}
