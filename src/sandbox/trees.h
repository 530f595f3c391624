/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: which trees of files may be read and written. */
#ifndef CYCLOPS_SANDBOX_TREES_H
#define CYCLOPS_SANDBOX_TREES_H

#include "sandbox/sandbox.h"

/* Version of the kernel's interface; 0: none. */
int trees_version(void);

/* Allows these places, beside what all may read, and nothing else. False: it cannot be done. */
bool trees_restrict(int version, const struct sandbox_places *);

#endif
