/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "table/pen.h"
#include "table/shown_text.h"

enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 40, MOST_WIDTH = 10000 };

static const char speaker[] = "cyclops: ";

/* 0 if COLUMNS is not set to a number of columns. */
static unsigned width_of_environment(void)
{
	const char *value = getenv("COLUMNS");
	char *end;
	unsigned long width;

	if (value == NULL || *value < '0' || *value > '9')
		return 0;
	width = strtoul(value, &end, 10);
	return *end != '\0' || width > MOST_WIDTH ? 0 : (unsigned)width;
}

static unsigned width_of_terminal(FILE *stream)
{
	struct winsize size;

	if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

unsigned output_width(FILE *stream)
{
	unsigned width = width_of_environment();

	if (width == 0 && stream != NULL)
		width = width_of_terminal(stream);
	if (width == 0)
		return DEFAULT_WIDTH;
	return width < LEAST_WIDTH ? LEAST_WIDTH : width;
}

/* Replaces runs of blanks and newlines by one blank. */
static const char *one_line(const char *words, struct arena *memory)
{
	char *line = arena_alloc(memory, strlen(words) + 1), *end = line;

	for (; *words != '\0'; words++) {
		bool is_blank = *words == ' ' || *words == '\n';

		if (!is_blank || (end > line && end[-1] != ' '))
			*end++ = is_blank ? ' ' : *words;
	}
	*end = '\0';
	return line;
}

void put_words(struct text *out, const char *words, size_t column, size_t indent, size_t width)
{
	struct pen pen = {
		.out = out,
		.width = width,
		.inked = column,
		.column = column < indent ? indent : column + 1,
		.has_unicode = true,
	};
	struct arena memory = { 0 };

	if (column == 0)
		pen.column = indent;
	pen_wrap(&pen, PEN_PLAIN, span_of(&memory, one_line(words, &memory), true), indent, width);
	pen_newline(&pen);
	arena_release(&memory);
}

/* Appends the lines of a message, each wrapped. */
static void wrap_message(const char *message, size_t width, struct text *out)
{
	size_t indent = sizeof(speaker) - 1;
	struct arena memory = { 0 };

	text_add(out, speaker, indent - 1);
	for (const char *end = message, *at = message; *end != '\0'; at = end + 1) {
		end = at + strcspn(at, "\n");
		put_words(out, arena_strndup(&memory, at, (size_t)(end - at)),
			  at == message ? indent - 1 : 0, indent, width);
	}
	arena_release(&memory);
}

/* The same where nothing is wrapped; names from outside are no control characters here, either. */
static void put_safe(const char *message, struct text *out)
{
	struct arena memory = { 0 };

	text_str(out, speaker);
	for (const char *end = message, *at = message; *end != '\0'; at = end + 1) {
		end = at + strcspn(at, "\n");
		text_shown(out, arena_strndup(&memory, at, (size_t)(end - at)));
		text_char(out, '\n');
	}
	arena_release(&memory);
}

void message_print(const char *format, ...)
{
	struct text out = { 0 };
	char *message = NULL;
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vasprintf(&message, format, arguments);
	va_end(arguments);
	if (size < 0)
		return;
	if (isatty(STDERR_FILENO))
		wrap_message(message, output_width(stderr), &out);
	else
		put_safe(message, &out);
	fflush(stdout);
	fwrite(out.bytes, 1, out.n, stderr);
	text_release(&out);
	free(message);
}
