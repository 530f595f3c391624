/* SPDX-License-Identifier: Apache-2.0 */
#include "table/raw.h"

#include <assert.h>

#include "base/alloc.h"

static const char *const words[] = {
	[MARK_EXACT] = "exact",
	[MARK_SCALED] = "scaled",
	[MARK_SPARSE] = "sparse",
	[MARK_SATURATED] = "saturated",
	[MARK_NOISE] = "noise",
	[MARK_AT_MOST] = "at-most",
	[MARK_UNCERTAIN] = "uncertain",
	[MARK_AT_LEAST] = "at-least",
	[MARK_BIASED] = "biased",
	[MARK_INCOMPLETE] = "incomplete",
	[MARK_IMPLAUSIBLE] = "implausible",
};

void text_raw(struct text *out, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_COUNT:
		text_u64(out, cell->count);
		break;
	case CELL_SIGNED:
		text_i64(out, cell->number_signed);
		break;
	case CELL_NUMBER:
		text_f64(out, cell->number);
		break;
	case CELL_HEX:
		text_hex(out, cell->count);
		break;
	case CELL_BOOL:
		text_str(out, cell->count != 0 ? "true" : "false");
		break;
	case CELL_NONE:
	case CELL_TEXT:
		break;
	}
}

const char *mark_word(enum cell_mark mark)
{
	assert((size_t)mark < COUNT(words));
	return words[mark];
}
