/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that show more, ready to be pasted. */
#ifndef CYCLOPS_SESSION_TIP_H
#define CYCLOPS_SESSION_TIP_H

#include "session/session.h"
#include "table/table.h"

/*
 * "cyclops mem --by instruction --symfs root demo.data": `command` with the capture and the options
 * that the user gave for it (files, --select, --interval …), so that it shows the same numbers.
 * Lives as long as the table.
 */
const char *tip(struct table *, const struct session *, const char *command);

#endif
