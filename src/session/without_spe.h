/* SPDX-License-Identifier: Apache-2.0 */
/* Notes for empty tables: the capture has no SPE records, or no data sources. */
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

/* The same if neither SPE records nor samples with data sources are there. */
void note_without_memory(const struct session *, struct table *);

#endif
