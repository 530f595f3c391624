/* SPDX-License-Identifier: Apache-2.0 */
/* What formats write to: a text that goes on to the output in pieces, compressed if that is asked for. */
#ifndef CYCLOPS_EXPORT_FORMATS_WRITER_H
#define CYCLOPS_EXPORT_FORMATS_WRITER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

/* Takes a piece of the output; -1 and an error if it cannot. */
typedef int profile_sink(void *context, const struct text *);

struct profile_writer {
	struct text text; /* to append to; then call profile_writer_step() */
	profile_sink *sink;
	void *context;
	int rc; /* -1: the sink failed, and nothing is written any more */
	struct gzip *gzip;
	VEC_OF(char *) notes; /* what was left out, and why */
};

/* `is_gzip`: what is written is compressed. */
void profile_writer_init(struct profile_writer *, bool is_gzip, profile_sink *, void *context);
void profile_writer_release(struct profile_writer *);

/* Sends the text on if it is long: call it wherever a text may be cut. */
void profile_writer_step(struct profile_writer *);

/* Sends on what is left, and ends the compressed stream. Returns rc. */
int profile_writer_finish(struct profile_writer *);

/* Adds a note for the user: a whole sentence without a full stop. */
void profile_writer_note(struct profile_writer *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends text from outside: invalid bytes and control characters become U+FFFD. */
void put_printable(struct text *, const char *name);

#endif
