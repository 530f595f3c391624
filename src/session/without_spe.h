/* SPDX-License-Identifier: Apache-2.0 */
/* Why an answer from SPE records is empty, in one sentence. */
#ifndef CYCLOPS_SESSION_WITHOUT_SPE_H
#define CYCLOPS_SESSION_WITHOUT_SPE_H

#include <stdbool.h>

#include "session/session.h"
#include "table/table.h"

/*
 * If the capture has no SPE events, notes it on the table with what its samples do tell, and
 * returns true.
 */
bool note_without_spe(const struct session *, struct table *);

/* The same for what samples with data sources tell as well, of a capture that has none of them. */
void note_without_memory(const struct session *, struct table *);

#endif
