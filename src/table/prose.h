/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as sentences: the facts and findings styles of the text format. */
#ifndef CYCLOPS_TABLE_PROSE_H
#define CYCLOPS_TABLE_PROSE_H

#include "table/pen.h"
#include "table/table.h"

/*
 * Label and value, long values wrapped. Returns the marks used, bit n for mark n.
 *
 *	walk  (pid 5000, 1 thread)   Neoverse N1
 *	SPE   11 245 records, every 2175 operations
 */
unsigned facts_write(const struct table *, size_t indent, struct pen *);

/*
 * Numbered claims with what supports them. Absent cells have no line; a column whose title
 * is "" has a line without a label, one whose title is " " goes on below the value before.
 * Returns the marks used.
 *
 *	1. 83.9 % of cycles stalled in the back end             36.8 G of 43.8 G cycles
 *	   memory: 99.9 % of last-level reads miss
 *	   where:  main+0x30  stride.c:38
 */
unsigned findings_write(const struct table *, struct pen *);

#endif
