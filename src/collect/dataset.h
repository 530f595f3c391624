/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dataset: a folder of tables, each of which is many Parquet files (docs/fleet.md). A file is there as a whole or not
 * at all, and what a capture gave counts once its file in the table captures is there, which is written last.
 */
#ifndef CYCLOPS_COLLECT_DATASET_H
#define CYCLOPS_COLLECT_DATASET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/output_file.h"
#include "collect/identity.h"
#include "parquet/parquet.h"

/*
 * The version of the tables: raised when columns are added. Columns never change their meaning.
 * 2: the table shared_lines; load_cycles and load_interval of captures. 3: the table counts.
 */
enum { DATASET_SCHEMA = 3 };

/* Was the capture collected as this part? */
bool dataset_has(const char *root, const struct identity *);

/* A file that is being written. Zeroed: none. */
struct dataset_file {
	struct output_file file;
	struct parquet_writer *writer;
	struct err *err;
};

/* Begins the file of a part in a table; the columns are copied. On failure nothing is left to be ended. */
int dataset_begin(struct dataset_file *, const char *root, const char *table,
		  const struct identity *, const struct parquet_column *, size_t n_columns,
		  struct err *);

/*
 * Ends it: it is on the disk and has its name if `rc` is 0, else there is nothing of it. Returns `rc`, or -1 and an
 * error if writing fails.
 */
int dataset_end(struct dataset_file *, int rc, struct err *);

/* Values of a row, in order of the columns. NULL: absent. */
static inline void dataset_put_text(struct parquet_values *v, const char *text)
{
	if (text == NULL)
		parquet_put_null(v);
	else
		parquet_put_text(v, text, strlen(text));
}

/* The name of a process of the session's timeline; absent for 0. */
void dataset_put_comm(const struct session *, struct parquet_values *, uint64_t process);

/* Removes the file of a part in a table, if there is one. */
void dataset_remove(const char *root, const char *table, const struct identity *);

/* The file of a part in a table. To be freed. */
char *dataset_path(const char *root, const char *table, const struct identity *);

#endif
