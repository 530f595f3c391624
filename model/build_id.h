/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the GNU build-id of a program or library. */
#ifndef CYCLOPS_MODEL_BUILD_ID_H
#define CYCLOPS_MODEL_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/format/info.h"

/* Reads the build-id out of a 64-bit ELF file; false if it has none. */
bool build_id_find(const void *bytes, size_t size, struct build_id *out);

/* The same for the file at `path`; false also if it cannot be read. */
bool build_id_read(const char *path, struct build_id *out);

#endif
