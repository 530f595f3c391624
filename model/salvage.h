/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes the files of a run that ended before the model could. */
#ifndef CYCLOPS_MODEL_SALVAGE_H
#define CYCLOPS_MODEL_SALVAGE_H

#include "base/err.h"
#include "base/text.h"
#include "model/journal.h"

/*
 * Completes the capture with what the journal holds, and writes the counts if they were asked for.
 * `settings` are those that the model got; the bytes are taken over. What only the model's own
 * memory held is lost: the truth. The process of the run must be gone.
 */
int salvage(struct text *settings, struct journal *, struct err *);

#endif
