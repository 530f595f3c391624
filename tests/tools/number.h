/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of command lines. */
#ifndef CYCLOPS_TESTS_NUMBER_H
#define CYCLOPS_TESTS_NUMBER_H

#include <stdint.h>

/* A number that may end in K, M or G: powers of 1024. -1: it is none, or too large. */
int make_number(const char *text, uint64_t *out);

#endif
