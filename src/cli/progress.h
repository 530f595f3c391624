/* SPDX-License-Identifier: Apache-2.0 */
/* Shows how far long work has come: a line on standard error, on a terminal only, erased at its end. */
#ifndef CYCLOPS_CLI_PROGRESS_H
#define CYCLOPS_CLI_PROGRESS_H

#include "base/progress.h"
#include "base/text.h"

/* What the line says. */
struct progress_state {
	const char *doing;
	uint64_t done, total;
	uint64_t elapsed_ns; /* since it began */
};

/*
 * Appends the line, of at most `width` columns: "reading  [#####.....]  50 %  12 s left". The time that is
 * left is told from a hundredth on.
 */
void progress_line(const struct progress_state *, unsigned width, struct text *out);

/* Shows work that takes longer than half a second. NULL where standard error is no terminal. */
struct progress *progress_show(void);

/* Ends that, and frees it. */
void progress_close(struct progress *);

#endif
