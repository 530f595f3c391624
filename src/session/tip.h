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

/*
 * "cyclops model --what-if l1d -- ./walk 7": `command` of the program that was recorded, by the path that it has here, on
 * the machine that was modelled. "-- COMMAND" where the capture does not tell the program, or it was not found (`session`
 * may be NULL, too). Lives as long as the table.
 */
const char *tip_of_program(struct table *, const struct session *, const char *command);

/*
 * The program with its arguments in a line that recorded it, behind "--"; NULL: there is none, or a shell would read it
 * otherwise. The line has lost which blanks were part of an argument.
 */
const char *recorded_program(const char *line);

#endif
