/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a split (.dwo) file may be. libdw looks for it where the file says, at any path, so it is asked only if all
 * paths that it would look at are allowed.
 */
#ifndef CYCLOPS_DWARF_SPLIT_H
#define CYCLOPS_DWARF_SPLIT_H

#include <stdbool.h>

#include <elfutils/libdw.h>

struct split_places;

/* Of an open file; `root`: see dwarf_file_open(). To be freed. */
struct split_places *split_places_new(int fd, const char *root);

void split_places_free(struct split_places *);

/* May libdw look for the split file of this skeleton? */
bool split_may_be_opened(const struct split_places *, Dwarf_Die *skeleton);

#endif
