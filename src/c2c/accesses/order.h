/* SPDX-License-Identifier: Apache-2.0 */
/* Touches by line, and by what rows of a line's breakdown differ by. */
#ifndef CYCLOPS_C2C_ACCESSES_ORDER_H
#define CYCLOPS_C2C_ACCESSES_ORDER_H

#include "c2c/accesses/result.h"

/*
 * Puts what a scan found in order and makes one touch of those with the same key. Finds from which line near by on
 * there are too many.
 */
void c2c_order_touches(const struct c2c *, struct c2c_accesses *);

#endif
