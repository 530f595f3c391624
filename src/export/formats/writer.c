/* SPDX-License-Identifier: Apache-2.0 */
#include "export/formats/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/formats/gzip.h"
#include "table/utf8.h"

enum { PIECE_BYTES = 64 << 10, NOTE_BYTES = 512 };

void profile_writer_init(struct profile_writer *w, bool is_gzip, profile_sink *sink, void *context)
{
	*w = (struct profile_writer){ .sink = sink, .context = context };
	if (is_gzip)
		w->gzip = gzip_new();
}

void profile_writer_release(struct profile_writer *w)
{
	for (size_t i = 0; i < w->notes.n; i++)
		free(w->notes.items[i]);
	vec_release(&w->notes);
	text_release(&w->text);
	gzip_free(w->gzip);
}

/* Sends on what there is. */
static void send(struct profile_writer *w, bool is_last)
{
	struct text compressed = { 0 };
	const struct text *piece = &w->text;

	if (w->gzip != NULL) {
		gzip_add(w->gzip, &w->text, is_last, &compressed);
		piece = &compressed;
	}
	if (w->rc == 0 && piece->n > 0)
		w->rc = w->sink(w->context, piece);
	text_reset(&w->text);
	text_release(&compressed);
}

void profile_writer_step(struct profile_writer *w)
{
	if (w->text.n >= PIECE_BYTES)
		send(w, false);
}

int profile_writer_finish(struct profile_writer *w)
{
	send(w, true);
	return w->rc;
}

void profile_writer_note(struct profile_writer *w, const char *format, ...)
{
	char note[NOTE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(note, sizeof(note), format, arguments);
	va_end(arguments);
	*vec_add(&w->notes) = mem_strndup(note, strlen(note));
}

/* Appends a character, or U+FFFD if it cannot be shown. Returns its size. */
static size_t put_character(struct text *out, const char *at)
{
	uint32_t code;
	size_t size = utf8_decode(at, &code);

	if (size > 0 && !utf8_is_unsafe(code))
		text_add(out, at, size);
	else
		text_str(out, "\xef\xbf\xbd");
	return size > 0 ? size : 1;
}

void put_printable(struct text *out, const char *name)
{
	while (*name != '\0')
		name += put_character(out, name);
}
