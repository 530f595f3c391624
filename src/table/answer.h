/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a screen begins with: what is wrong, where, how much it costs, what to do. At most three lines, for
 * people: only formats for people have it. Programs read the tables that it is made of.
 * An answer without sentences is not shown.
 */
#ifndef CYCLOPS_TABLE_ANSWER_H
#define CYCLOPS_TABLE_ANSWER_H

#include "table/table.h"

/* An empty answer: table "answer". Release it with table_release(). */
void answer_init(struct table *);

/* Appends a sentence, or several. It begins a line of its own. */
void answer_say(struct table *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends words as a sentence: with a capital letter in front, and a full stop behind unless there is one. */
void answer_say_sentence(struct table *, const char *words);

/*
 * Says of an answer what its shares are of: "Of the selected records: " in front of the first sentence. Does nothing
 * to a table that is no answer, or has no sentence.
 */
void answer_say_of(struct table *, const char *whole);

/* Appends what to type next, which is not broken where it could not be pasted. The text is borrowed. */
void answer_next(struct table *, const char *command);

#endif
