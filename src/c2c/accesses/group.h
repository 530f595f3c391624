/* SPDX-License-Identifier: Apache-2.0 */
/* From what was touched to lines and accesses. */
#ifndef CYCLOPS_C2C_ACCESSES_GROUP_H
#define CYCLOPS_C2C_ACCESSES_GROUP_H

#include "c2c/accesses/result.h"

/* Makes lines and accesses of what was done to the subjects. Touches are in order. */
void c2c_group_accesses(struct c2c *);

/* The same of the lines around; false if nothing was done to any of them. */
bool c2c_group_around(struct c2c *);

#endif
