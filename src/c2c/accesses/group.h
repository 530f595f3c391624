/* SPDX-License-Identifier: Apache-2.0 */
/* From what was touched to lines and accesses. */
#ifndef CYCLOPS_C2C_ACCESSES_GROUP_H
#define CYCLOPS_C2C_ACCESSES_GROUP_H

#include "c2c/accesses/result.h"

/* Makes lines and accesses of the touches of the second pass. */
void c2c_group_accesses(struct c2c *);

#endif
