/* SPDX-License-Identifier: Apache-2.0 */
/* False or true sharing, or none: judged by who accessed which bytes, and when. */
#ifndef CYCLOPS_C2C_VERDICT_VERDICT_H
#define CYCLOPS_C2C_VERDICT_VERDICT_H

#include "c2c/accesses/result.h"

/* "false-sharing" … */
const char *sharing_verdict_name(enum sharing_verdict);

/* Judges `n` lines, by number among the subjects, that are used alike. */
struct sharing_judgement sharing_judge(const struct sharing *, const uint32_t *lines, size_t n);

#endif
