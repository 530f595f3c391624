/* SPDX-License-Identifier: Apache-2.0 */
/*
 * False or true sharing, or none: judged by who accessed which bytes, and when. What it comes to is
 * struct c2c_judgement of c2c/accesses/result.h.
 */
#ifndef CYCLOPS_C2C_VERDICT_VERDICT_H
#define CYCLOPS_C2C_VERDICT_VERDICT_H

#include "c2c/accesses/result.h"

/* "false-sharing" … */
const char *c2c_verdict_name(enum c2c_verdict);

/*
 * How likely a thread finds a line gone, if its accesses and the stores of others come in any order:
 * so many come right behind such a store as there are stores among all.
 */
static inline double c2c_chance_gone(double own_accesses, double stores_of_others)
{
	return stores_of_others > 0 ? stores_of_others / (own_accesses + stores_of_others) : 0;
}

/* What judging needs, for one judgement after the other. */
struct c2c_judging_tables *c2c_judging_tables_new(void);
void c2c_judging_tables_free(struct c2c_judging_tables *);

/* Judges `n` lines, by number among the subjects, that are used alike. */
struct c2c_judgement c2c_judge(const struct c2c *, const uint32_t *lines, size_t n);
struct c2c_judgement c2c_judge_with(struct c2c_judging_tables *, const struct c2c *,
				    const uint32_t *lines, size_t n);

#endif
