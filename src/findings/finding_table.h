/* SPDX-License-Identifier: Apache-2.0 */
/* The table that all findings stand in, be they of samples, of counts or of both. */
#ifndef CYCLOPS_FINDINGS_FINDING_TABLE_H
#define CYCLOPS_FINDINGS_FINDING_TABLE_H

#include <stdbool.h>

#include "table/table.h"

enum finding_column {
	FINDING_CLAIM,
	FINDING_SIZE,
	FINDING_EVIDENCE,
	FINDING_WHERE,
	FINDING_TRY,
	FINDING_NEXT,
	FINDING_SURE,
	FINDING_KIND,
	FINDING_SHARE,
	FINDING_FROM,
	FINDING_FUNCTION,
	FINDING_MODULE,
	FINDING_WRITER,
	FINDING_N_COLUMNS,
};

/* An empty table of them: "findings". */
void finding_table_init(struct table *);

/* The text of a cell, or NULL. */
const char *finding_text(const struct table *, size_t row, enum finding_column);

/* Is it about code of this function, of this module? Both may be NULL: then it is not. */
bool finding_is_in(const struct table *, size_t row, const char *function, const char *module);

/* More that speaks for a finding, or that might change it, behind what it has. */
void finding_append(struct table *, size_t row, enum finding_column, const char *more);

#endif
