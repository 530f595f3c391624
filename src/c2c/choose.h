/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines the second pass looks at. */
#ifndef CYCLOPS_C2C_CHOOSE_H
#define CYCLOPS_C2C_CHOOSE_H

#include "c2c/accesses/result.h"

/* Makes subjects of the lines that the first pass puts first. */
void c2c_choose_lines(struct c2c *);

/* The same of these lines, where more is known of them. */
void c2c_choose_of(struct c2c *, const struct c2c_line *, size_t n);

#endif
