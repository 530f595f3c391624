/* SPDX-License-Identifier: Apache-2.0 */
/* Build-ids of files and of the running kernel, read from their ELF notes. */
#ifndef CYCLOPS_RECORD_SYNTHESIZE_BUILD_IDS_H
#define CYCLOPS_RECORD_SYNTHESIZE_BUILD_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "capture/format/info.h"

/* Those looked up so far, by device and inode. */
struct build_id_cache;

struct build_id_cache *build_id_cache_new(void);
void build_id_cache_free(struct build_id_cache *);

/*
 * The build-id of the ELF file at `path`, size 0 if it has none. `device` and `inode` tell
 * whether it was asked for before; inode 0 never was.
 */
struct build_id build_id_cache_get(struct build_id_cache *, const char *path, uint64_t device,
				   uint64_t inode);

/* The build-id among the notes of an ELF image. False if there is none. */
bool build_id_of_notes(struct cursor notes, struct build_id *out);

#endif
