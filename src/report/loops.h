/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of what hot loops wait for, and of all code. */
#ifndef CYCLOPS_REPORT_LOOPS_H
#define CYCLOPS_REPORT_LOOPS_H

#include "bottleneck/bottleneck.h"
#include "findings/finding.h"
#include "report/user_code.h"
#include "session/names.h"

/*
 * Adds those of at least a part `least` of the time, at most `most`, the largest first. Returns how
 * many. The bottlenecks may be NULL, and what is the program's own code.
 */
size_t report_add_loops(const struct bottlenecks *, const struct names *, const struct user_code *,
			double least, size_t most, struct findings *out);

/* Where there is no finding: the cause with the largest limit. Not on the list; NULL: none was weighed. */
const struct finding *report_largest_left(const struct bottlenecks *, const struct names *,
					  struct findings *out);

/* … and the loop with at least a part `least` of the time that nothing explains; NULL: none. */
const struct finding *report_unexplained(const struct bottlenecks *, const struct names *,
					 double least, struct findings *out);

/*
 * Adds that the front end does not keep up, if that is much of the time and the code is large. Else, if
 * it is much, adds a silence: something has the time, and was not sampled. True if it added either.
 */
bool report_add_code(const struct bottlenecks *, struct findings *out);

/* The function of a place, or what it lies in where functions have no names. */
const char *subject_name(const struct names *, uint32_t place, struct findings *out);

#endif
