/* SPDX-License-Identifier: Apache-2.0 */
/* The build-id of a program or library. */
#ifndef CYCLOPS_MODEL_BUILD_ID_H
#define CYCLOPS_MODEL_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/format/info.h"

/* Reads it from the bytes of an ELF file of 64 bits; false if there is none. */
bool build_id_find(const void *bytes, size_t size, struct build_id *out);

/* The same of the file at `path`. */
bool build_id_read(const char *path, struct build_id *out);

#endif
