/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files whose names come from a capture, safely: only regular files. */
#ifndef CYCLOPS_ELF_REGULAR_FILE_H
#define CYCLOPS_ELF_REGULAR_FILE_H

#include "base/err.h"
#include "base/mapped.h"

/* Larger files have no symbols: those of the largest programs, with all debug information, have a tenth of it. */
#define REGULAR_FILE_MOST (INT64_C(64) << 30)

/*
 * Maps the regular file at `path`. Devices and pipes are refused before they are opened:
 * opening alone can do things, or wait forever. So are files larger than REGULAR_FILE_MOST.
 */
int regular_file_map(struct mapped *, const char *path, struct err *);

#endif
