/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a dataset from a folder to a store, such as S3, by the engine's own client for it. */
#ifndef CYCLOPS_FLEET_PUSH_H
#define CYCLOPS_FLEET_PUSH_H

#include "fleet/ask.h"

struct pushed_table {
	uint64_t n_copied, n_bytes; /* files that were copied, and their size */
	uint64_t n_there;	    /* files that the store has already, of equal size */
};

struct push {
	const char *dataset; /* a folder */
	const char *store;   /* s3://… */
	struct fleet_engine_options by;
	struct pushed_table tables[N_DATASET_TABLES];
};

/*
 * Copies each file that the store has not, or has in another size; those of captures last, so that what was not copied to its
 * end does not count. It may be killed at any time: the next one goes on. The engine is DuckDB.
 */
int push(struct push *, struct err *);

#endif
