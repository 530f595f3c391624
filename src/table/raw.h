/* SPDX-License-Identifier: Apache-2.0 */
/* Values for programs, the same in csv and json. */
#ifndef CYCLOPS_TABLE_RAW_H
#define CYCLOPS_TABLE_RAW_H

#include "base/text.h"
#include "table/table.h"

/*
 * Appends a number, address or truth value: in base units, without a locale. Fractions read back as
 * the same double. Appends nothing for absent cells. Not for CELL_TEXT.
 */
void text_raw(struct text *, const struct cell *);

/* The word for a mark: "exact", "scaled", "sparse", "saturated" … */
const char *mark_word(enum cell_mark);

#endif
