/* SPDX-License-Identifier: Apache-2.0 */
/* Small tables with known contents, and their rendering, for the tests of this folder. */
#ifndef CYCLOPS_TESTS_TABLE_FIXTURE_H
#define CYCLOPS_TESTS_TABLE_FIXTURE_H

#include "table/format.h"

/* Functions and where their time goes: bars, shares, marks, absent cells, all kinds of numbers. */
void fixture_hot(struct table *);

/* A tree of calls; children are not next to their parents. */
void fixture_calls(struct table *);

/* Cache lines, keyed by address, and the accesses to them, for nesting. */
void fixture_lines(struct table *lines, struct table *accesses);

/* Names and values. */
void fixture_facts(struct table *);

void fixture_findings(struct table *);

/* One document of these tables, NUL-terminated; the caller frees. */
char *fixture_render(const char *format, const struct document *, struct table *const *list,
		     size_t n);

/* The same of one table, for text of a width. */
char *fixture_text(struct table *, unsigned width, bool has_unicode);

#endif
