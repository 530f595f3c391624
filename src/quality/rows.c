/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of shares of functions, by the number of records or samples. */
#include <stdlib.h>

#include "base/alloc.h"
#include "estimate/estimate.h"
#include "quality/parts.h"

static const struct column row_columns[] = {
	{ "function", NULL, "", CELL_TEXT, COLUMN_GROW, "function, demangled" },
	{ "module", NULL, "", CELL_TEXT, COLUMN_GROW, "file that the code is in" },
	{ "records", NULL, "records", CELL_COUNT, 0, "SPE records, or samples" },
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
	  "part of all SPE records, or of all samples of the event" },
	{ "share_low", "from", "", CELL_NUMBER, COLUMN_SHARE, "lower limit of it (95 %)" },
	{ "share_high", "to", "", CELL_NUMBER, COLUMN_SHARE, "upper limit of it (95 %)" },
	{ "event", NULL, "", CELL_TEXT, 0,
	  "if there are several: event that was sampled, or arm_spe" },
};

static void quality_rows_show_row(const struct hot *hot, const uint64_t *words, uint64_t n,
				  uint64_t n_all, struct table *out)
{
	const struct lost_samples none = { 0 }, *lost = &hot->session->lost;
	struct estimate e = estimate_share(n, n_all, hot_is_spe(hot, words[2]) ? lost : &none);
	struct cell *row = table_add_row(out);

	row[0] = cell_text(words[0] == 0 ? "[unknown]"
					 : strings_get(symbols_strings(hot->session->symbols),
						       (struct str_id){ (uint32_t)words[0] }));
	row[1] = cell_text(names_module(hot->session, (struct module_id){ (uint32_t)words[1] }));
	row[2] = cell_count(n);
	row[3] = cell_number(e.total);
	row[4] = cell_number(e.low);
	row[5] = cell_number(e.high);
	if (out->n_columns > 6)
		row[6] = cell_text(hot_event_name(hot, words[2]));
}

void quality_rows(const struct hot *hot, const struct names *names, size_t top, struct table *out)
{
	size_t n_columns = COUNT(row_columns) - (hot_n_events(hot) > 1 ? 0 : 1);
	struct hot_cost *totals = hot_totals(hot);
	struct tuples keys;
	VEC_OF(uint64_t) counts = { 0 };

	tuples_init(&keys, 3);
	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		uint64_t key[N_DIMENSIONS], words[3];
		uint32_t number;

		hot_key(hot, i, key);
		words[0] = names->symbols[key[DIM_PLACE]].function.v;
		words[1] = session_place(hot->session, (uint32_t)key[DIM_PLACE]).module.v;
		words[2] = key[DIM_EVENT];
		number = tuples_add(&keys, words);
		if (number == counts.n)
			vec_add(&counts);
		counts.items[number] += hot_cost(hot, i).n;
	}
	table_init(out, "rows", "Confidence intervals of the largest rows", row_columns, n_columns);
	for (uint32_t i = 0; i < keys.n; i++) {
		const uint64_t *words = tuples_get(&keys, i);

		quality_rows_show_row(hot, words, counts.items[i], totals[words[2]].n, out);
	}
	table_sort(out, 2, false);
	table_keep_top(out, top);
	tuples_release(&keys);
	vec_release(&counts);
	free(totals);
}
