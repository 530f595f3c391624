/* SPDX-License-Identifier: Apache-2.0 */
/* The looks of answers that want lines that loads waited for alone (struct c2c_request.only_waiting). */
#ifndef CYCLOPS_C2C_SIEVED_H
#define CYCLOPS_C2C_SIEVED_H

#include "c2c/accesses/result.h"
#include "scan/select.h"

/* Adds the subjects to the choice; accesses to some lines are told apart by thread alone: see c2c_choice_add_whole(). */
void c2c_choose_subjects(struct c2c *);

/*
 * After the first look, whose table has contended loads alone: that is all that lines cost whose reloads do not count. Looks at lines on
 * which they may, if there are any. Where what is done to these is not too much, it is kept at once, and so is what is done to lines with
 * contended loads: then the subjects are chosen, and `out` has their accesses. Else all of it is added to the table, and `out` is NULL.
 */
void c2c_look_at_sieved(struct c2c *, const struct select *, struct c2c_accesses **out);

#endif
