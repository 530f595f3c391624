/* SPDX-License-Identifier: Apache-2.0 */
/* export --format bolt and its like: profiles for compilers and optimisers. */
#ifndef CYCLOPS_EXPORT_EXPORT_FEEDBACK_H
#define CYCLOPS_EXPORT_EXPORT_FEEDBACK_H

#include "cli/printer.h"
#include "feedback/feedback.h"

/*
 * Writes the profile to the output of the options, whose format is not looked at, and says what it is made of.
 */
int export_feedback(struct session *, const struct select *, const struct feedback_request *,
		    const struct output_options *, struct err *);

#endif
