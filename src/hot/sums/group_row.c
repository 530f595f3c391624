/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/sums/group.h"

const struct column hot_inlined_column = {
	"inlined",
	NULL,
	"",
	CELL_TEXT,
	COLUMN_MACHINE_ONLY,
	"function that the code is of, if that was inlined into the one before",
};

void hot_table_set(struct table *t, struct cell *row, const char *column, struct cell cell)
{
	int at = table_column(t, column);

	if (at >= 0)
		row[at] = cell;
}

static const char *inlined_name(const struct hot_grouping *g, uint64_t id)
{
	return strings_get(symbols_strings(g->hot->session->symbols),
			   (struct str_id){ (uint32_t)id });
}

void hot_show_keys(const struct hot_grouping *g, const uint64_t *words, struct table *t,
		   struct cell *row)
{
	for (size_t i = 0; i < g->view->keys.n; i++) {
		const struct key_class *class = &key_classes[g->view->keys.keys[i]];
		struct cell cells[KEY_MAX_COLUMNS] = { 0 };

		class->show(g->names, words, t, cells);
		for (size_t c = 0; c < class->n_columns; c++)
			hot_table_set(t, row, class->columns[c].name, cells[c]);
		if (g->view->keys.keys[i] == KEY_FUNCTION && words[KEY_INLINED] != 0)
			hot_table_set(t, row, hot_inlined_column.name,
				      cell_text(inlined_name(g, words[KEY_INLINED])));
		words += class->n_words;
	}
}
