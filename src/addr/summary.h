/* SPDX-License-Identifier: Apache-2.0 */
/* What `cyclops addr` says first (table/answer.h): the costliest object, why it is, and what would help. */
#ifndef CYCLOPS_ADDR_SUMMARY_H
#define CYCLOPS_ADDR_SUMMARY_H

#include "addr/huge.h"
#include "addr/rows.h"

/* Of rows by object: the one with most latency. Nothing if there are no accesses. */
void addr_summary_object(const struct addr_rows *, struct table *answer);

/* Of rows by instruction: the one with most latency, and how it walks through memory. Nothing if there are no accesses. */
void addr_summary_instruction(const struct addr_rows *, struct table *answer);

/* How many huge pages avoid most page table walks, if there are many walks. */
void addr_summary_walks(const struct addr_walks *, struct table *answer);

#endif
