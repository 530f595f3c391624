/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp: which system calls may be made. */
#ifndef CYCLOPS_SANDBOX_FILTER_H
#define CYCLOPS_SANDBOX_FILTER_H

#include <stdbool.h>

/* Is there a filter for this architecture, and does the kernel take filters? */
bool filter_is_there(void);

/*
 * Installs it for all threads. False: it cannot be done. Files that are there cannot be opened for writing then, unless
 * `writes_in_place`.
 */
bool filter_install(bool writes_in_place);

#endif
