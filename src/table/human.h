/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How numbers are written for people. Programs get csv and json, where they are raw.
 *
 *	unit			looks like		rule
 *	a share, "%"		71.9 %			one decimal; "<0.1 %" is more than nothing
 *	"ns"			93.9 ns, 1.24 ms, 16.9 s	scaled
 *	"Hz", "bytes/s"		2.80 GHz, 9.50 GB/s	scaled
 *	"bytes"			448 B, 2 MiB, 97.7 KiB	scaled by 1024, exact multiples stay exact
 *	none, whole numbers	12345			as is: it names something (pid, cpu, line)
 *	others, whole numbers	11 245, 36.8 G		scaled from ten million on
 *	others, fractions	0.22, 106.5, 43 810	decimals by the largest in the column
 *
 * Scaled values have two decimals below ten and one above.
 * Thousands are set apart by a blank, and so is what follows the digits.
 */
#ifndef CYCLOPS_TABLE_HUMAN_H
#define CYCLOPS_TABLE_HUMAN_H

#include <stdbool.h>

#include "base/text.h"
#include "table/table.h"

/* A number in three pieces that can be lined up below each other. */
struct human {
	char whole[32];	   /* sign and digits before the point */
	char fraction[12]; /* from the point on, or "" */
	char suffix[8];	   /* with the blank before it, or "" */
};

/*
 * A number cell (not absent, not HEX, TEXT or BOOL) in readable form. `decimals` are those of
 * fractions the table above gives no fixed number of digits: human_decimals() of the largest.
 */
void human_number(const struct cell *, const char *unit, bool is_share, int decimals,
		  struct human *out);

/* How many decimals to give numbers up to this size, so that three or four digits show. */
int human_decimals(double largest);

/* Does the suffix say the unit already? */
bool human_names_unit(const char *unit, bool is_share);

/* Appends any cell and its unit, as in a sentence: "36.8 G cycles", "1.24 ms", "0x1f", "yes". */
void human_words(struct text *, const struct cell *, const char *unit);

#endif
