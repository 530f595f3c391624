/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes an access reaches over: what the record says, and its instruction. */
#ifndef CYCLOPS_C2C_ACCESSES_EXTENT_H
#define CYCLOPS_C2C_ACCESSES_EXTENT_H

#include "c2c/accesses/result.h"

struct sharing_extent sharing_extent(const struct sharing *, const struct sharing_touch_key *);

/* Names the places of all accesses, and reads what their instructions do. */
void sharing_name_accesses(struct sharing *);

#endif
