/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes an access reaches over: what the record says, and its instruction. */
#ifndef CYCLOPS_C2C_ACCESSES_EXTENT_H
#define CYCLOPS_C2C_ACCESSES_EXTENT_H

#include "c2c/accesses/result.h"

struct c2c_extent c2c_extent(const struct c2c *, const struct c2c_touch_key *);

/*
 * Names the places of the accesses to `n` lines, and reads what their instructions do. What is known of other lines' places
 * stays.
 */
void c2c_name_accesses(struct c2c *, const struct c2c_subject *lines, size_t n);

#endif
