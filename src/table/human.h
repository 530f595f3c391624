/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people read them. csv and json have raw numbers.
 *
 *  unit                  looks like             rule
 *  a share, "%"          71.9 %                 one decimal; "<0.1 %" is more than 0
 *  "ns"                  93.9 ns, 1.24 ms       scaled
 *  "Hz", "bytes/s"       2.80 GHz, 9.50 GB/s    scaled
 *  "bytes"               448 B, 2 MiB, 97.7 KiB scaled by 1024; exact multiples stay exact
 *  none, whole numbers   12345                  unchanged: an id (pid, cpu, line)
 *  others, whole numbers 11 245, 36.8 G         scaled from ten million on
 *  others, fractions     0.22, 106.5, 43 810    decimals by the largest in the column
 *
 * Scaled values have two decimals below ten and one above. A blank separates thousands, and the
 * number from its suffix.
 */
#ifndef CYCLOPS_TABLE_HUMAN_H
#define CYCLOPS_TABLE_HUMAN_H

#include <stdbool.h>

#include "base/text.h"
#include "table/table.h"

/* A number in three parts, which are aligned in a column. */
struct human {
	char whole[32];	   /* sign and digits before the point */
	char fraction[12]; /* with the point, or "" */
	char suffix[8];	   /* with the blank before it, or "" */
};

/*
 * Formats a number (not absent, HEX, TEXT or BOOL). `decimals`: for fractions without a fixed
 * number of digits, human_decimals() of the largest one.
 */
void human_number(const struct cell *, const char *unit, bool is_share, int decimals,
		  struct human *out);

/* Decimals for numbers up to this size, so that they have three or four digits. */
int human_decimals(double largest);

/* Does the suffix contain the unit? */
bool human_names_unit(const char *unit, bool is_share);

/* Appends a cell with its unit: "36.8 G cycles", "1.24 ms", "0x1f", "yes". */
void human_words(struct text *, const struct cell *, const char *unit);

#endif
