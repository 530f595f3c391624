/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that tell more, as they can be pasted. */
#ifndef CYCLOPS_ANALYSIS_TIP_H
#define CYCLOPS_ANALYSIS_TIP_H

#include "analysis/session.h"
#include "table/table.h"

/*
 * "cyclops mem --by instruction --symfs root demo.data": a command and its options with the
 * capture as the user named it and what was said of where its files are. Belongs to the table.
 */
const char *tip(struct table *, const struct session *, const char *command);

#endif
