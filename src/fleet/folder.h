/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a dataset in a folder: TABLE/day=DAY/host=HOST/part-HASH.parquet (docs/fleet.md). */
#ifndef CYCLOPS_FLEET_FOLDER_H
#define CYCLOPS_FLEET_FOLDER_H

#include <dirent.h>
#include <stdbool.h>

#include "base/err.h"

/* DATASET/TABLE/day=DAY/REST, to be freed. */
char *dataset_file_path(const char *dataset, const char *table, const char *day, const char *rest);

bool path_is_there(const char *path);

/* Makes the folder, unless it is there. */
int folder_make(const char *path, struct err *);

/* What entries of folders are: for folder_names(). */
int folder_is_day(const struct dirent *);
int folder_is_host(const struct dirent *);
int folder_is_part(const struct dirent *);

/*
 * Names in a folder, in order, and how many there are; a folder that is not there has none. folder_names_free() releases
 * them.
 */
int folder_names(const char *folder, int (*is_wanted)(const struct dirent *), struct dirent ***out,
		 struct err *);
void folder_names_free(struct dirent **names, int n);

/* Fails with ERR_NO_DATA unless the dataset has the table captures. */
int dataset_check(const char *dataset, struct err *);

/* The lock of the dataset against others who merge or copy its files; -1 and an error: it is held. close() gives it back. */
int dataset_lock(const char *dataset, struct err *);

#endif
