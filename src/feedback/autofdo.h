/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles for compilers (AutoFDO): LLVM's sample profile as text, which clang -fprofile-sample-use reads. Executions by function and
 * line, counted from the line where the function is declared, with the discriminator of code that shares a line;
 * within them the same of what was inlined, and targets of calls.
 */
#ifndef CYCLOPS_FEEDBACK_AUTOFDO_H
#define CYCLOPS_FEEDBACK_AUTOFDO_H

#include "feedback/bolt.h"

/* Returns -1 if the sink stopped it. Functions without debug information are left out, and counted. */
int autofdo_write(const struct edge_profile *, feedback_sink *, void *context,
		  struct feedback_written *out);

/*
 * A discriminator of clang has several parts: which code of a line it is, and how many copies of that the code stands
 * for (of an unrolled or vectorised loop). This is the first, and the number of copies, at least 1.
 */
uint32_t autofdo_base_discriminator(uint32_t discriminator, uint32_t *out_copies);

#endif
