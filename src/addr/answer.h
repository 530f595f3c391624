/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of `cyclops addr`. */
#ifndef CYCLOPS_ADDR_ANSWER_H
#define CYCLOPS_ADDR_ANSWER_H

#include "addr/addr.h"
#include "base/err.h"
#include "scan/select.h"
#include "table/table.h"

enum addr_by {
	ADDR_BY_OBJECT,
	ADDR_BY_TYPE,
	ADDR_BY_FIELD,
	ADDR_BY_LINE,
	ADDR_BY_PAGE,
	ADDR_BY_HUGEPAGE,
	ADDR_BY_NODE,
	ADDR_BY_INSTRUCTION,
	ADDR_BY_OFFSET, /* offsets in the elements of a window */
	N_ADDR_BYS,
};

/*
 * Reads the value of --by, such as "object". An unknown word is an error that lists the known ones.
 */
int addr_by_parse(const char *text, enum addr_by *out, struct err *);

struct addr_request {
	enum addr_by by;
	size_t top;	  /* rows; 0: all */
	const char *sort; /* name of a column, or NULL */

	/*
	 * ADDR_BY_OFFSET needs a window: either `object`, or `type` and `base`. ADDR_BY_FIELD with
	 * a `type` alone shows all objects of that type.
	 */
	const char *object; /* name of a variable, or NULL */
	const char *type;   /* name of a type, or bytes as a number; or NULL */
	const char *base;   /* "ADDR" or "ADDR,COUNT", or NULL */
};

/* The tables, the answer (of rows by object) first; to be released with addr_report_release(). Zeroed is empty. */
struct addr_report {
	struct table answer, rows, splits, coverage;
	struct tables shown;
};

int addr_report_make(struct session *, const struct select *, const struct addr_request *,
		     struct addr_report *out, struct err *);
void addr_report_release(struct addr_report *);

#endif
