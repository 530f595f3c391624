/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The selection language of --select: which records an answer is about. One language for
 * every command.
 *
 *	expression:  or-ed  =  and-ed { "||" and-ed }      and-ed  =  term { "&&" term }
 *	term:        "!" term  |  "(" or-ed ")"  |  test
 *	test:        FIELD ( == != < <= > >= ) VALUE       ("=" means "==")
 *	             FIELD ( =~ !~ ) "regular expression"  (POSIX extended)
 *	             FIELD "in" VALUE ".." VALUE           (both ends included)
 *	values:      12  0x1f  1.5s  20ms  3us  7ns  word  "text"
 *
 * A record that lacks the field of a test does not pass it, whatever the operator.
 */
#ifndef CYCLOPS_SCAN_SELECT_H
#define CYCLOPS_SCAN_SELECT_H

#include "base/err.h"
#include "base/tuples.h"
#include "batch/batch.h"
#include "session/session.h"

struct select;

/*
 * The expression for records of a region that also match `text` (NULL: all). A region is the
 * name of a function, or "0x1000..0x1fff": code from one address to another. To be freed.
 */
char *select_region(const char *text, const char *region);

/*
 * Compiles `text` for the records of an opened session, which is borrowed. Patterns on
 * symbols are looked up here, once. A mistake names its place in the text; an unknown field
 * lists the fields.
 */
int select_compile(struct session *, const char *text, struct select **out, struct err *);
void select_free(struct select *);

/*
 * Does it test the outcome of operations (latency, events, data source)? Then matching records are
 * not all operations of their code, so counts by code are incomplete. NULL: no.
 */
bool select_thins(const struct select *);

/* Does it test the kind of operation? NULL: no. */
bool select_hides_kinds(const struct select *);

/* Does this row match? Thread-safe, as below. */
bool select_matches(const struct select *, const struct batch *, size_t row);

/*
 * Keeps the rows of the batch that match. Thread-safe: the compiled selection is only read.
 */
void select_apply(const struct select *, struct batch *);

#endif
