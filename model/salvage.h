/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the files of a run whose plugin ended early. */
#ifndef CYCLOPS_MODEL_SALVAGE_H
#define CYCLOPS_MODEL_SALVAGE_H

#include "base/err.h"
#include "base/text.h"
#include "model/journal.h"

/*
 * Completes the capture with the journal, and writes the counts if the settings ask for them.
 * `settings` are those of the plugin; their bytes are taken over. The truth is lost, because it was
 * in the plugin's memory. The first process of the run must have ended.
 */
int salvage(struct text *settings, struct journal *, struct err *);

#endif
