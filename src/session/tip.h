/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that tell more, as they can be pasted. */
#ifndef CYCLOPS_SESSION_TIP_H
#define CYCLOPS_SESSION_TIP_H

#include "session/session.h"
#include "table/table.h"

/*
 * "cyclops mem --by instruction --symfs root demo.data": a command and its options with the
 * capture as the user named it and what was said of it: where its files are, which records are
 * looked at, what they stand for. So it is of the same numbers. Belongs to the table.
 */
const char *tip(struct table *, const struct session *, const char *command);

#endif
