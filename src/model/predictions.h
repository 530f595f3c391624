/* SPDX-License-Identifier: Apache-2.0 */
/* What the model says to the causes that were found: what the program would gain without them. */
#ifndef CYCLOPS_MODEL_PREDICTIONS_H
#define CYCLOPS_MODEL_PREDICTIONS_H

#include "findings/finding.h"
#include "session/session.h"

/*
 * Adds to findings of the whole capture what `run --model` or `model --gains` has left beside it: to those whose cause
 * was simulated. Gains of another capture are not looked at.
 */
void predictions_add(struct session *, struct findings *);

#endif
