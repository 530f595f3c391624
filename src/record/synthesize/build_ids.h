/* SPDX-License-Identifier: Apache-2.0 */
/* Build-ids of files and of the running kernel, read from their ELF notes. */
#ifndef CYCLOPS_RECORD_SYNTHESIZE_BUILD_IDS_H
#define CYCLOPS_RECORD_SYNTHESIZE_BUILD_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "capture/format/info.h"

/* Build-ids by device and inode, each file read once. */
struct build_id_cache;

struct build_id_cache *build_id_cache_new(void);
void build_id_cache_free(struct build_id_cache *);

/*
 * The build-id of the ELF file at `path`; size 0 if it has none. Files are the same if device and
 * inode are; inode 0 is never cached.
 */
struct build_id build_id_cache_get(struct build_id_cache *, const char *path, uint64_t device,
				   uint64_t inode);

/* Finds the build-id among the notes of an ELF image; false if there is none. */
bool build_id_of_notes(struct cursor notes, struct build_id *out);

#endif
