/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's own code, and what libraries and the kernel do for it: each sample counts for the
 * first place of its call chain that is neither. Functions that are inlined are rows of their own.
 */
#ifndef CYCLOPS_REPORT_USER_CODE_H
#define CYCLOPS_REPORT_USER_CODE_H

#include <stdbool.h>

#include "hot/sums/sums.h"
#include "session/names.h"
#include "table/table.h"

struct user_code;

/*
 * Of a result that tells places, call chains and events apart. What it is made of is borrowed, until
 * user_code_free(), which takes NULL.
 */
struct user_code *user_code_new(const struct hot *, const struct names *);
void user_code_free(struct user_code *);

/* Do samples have call chains? */
bool user_code_has_chains(const struct user_code *);

/* Is it code of a library, of the kernel, or linked in without source lines where others have some? */
bool user_code_is_library(const struct user_code *, uint32_t place);

/*
 * The place of the program's own code that calls the library function of a place most, for samples of
 * an event, and the part of the function's weight that it has there; false if no call chain tells.
 * SPE has no call chains: for its records those of the first event that has some are taken.
 */
bool user_code_caller(const struct user_code *, uint64_t event, uint32_t place,
		      uint32_t *out_caller, double *out_share);

/* Its time in page faults, of the first event that has call chains; NULL: none has. */
struct page_faults;
const struct page_faults *user_code_faults(const struct user_code *, uint64_t *out_event);

/* Rows of the first event that has call chains; empty if nothing is called or inlined. */
void user_code_table(const struct user_code *, size_t top, struct table *out);

#endif
