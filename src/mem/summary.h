/* SPDX-License-Identifier: Apache-2.0 */
/* What `cyclops mem` says first (table/answer.h): the costliest data source of loads, and where. */
#ifndef CYCLOPS_MEM_SUMMARY_H
#define CYCLOPS_MEM_SUMMARY_H

#include "mem/rows.h"

/* Says which data source has most of the load latency. The rows are by source, with distributions. */
void mem_summary_sources(const struct mem_rows *, struct table *answer);

/* The same of rows by any keys. */
void mem_summary_keys(const struct mem_rows *, struct table *answer);

/* Says which function has most of it, and what page table walks and saturated counters add. */
void mem_summary_functions(const struct mem_rows *, struct table *answer);

#endif
