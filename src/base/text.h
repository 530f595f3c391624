/* SPDX-License-Identifier: Apache-2.0 */
/* A growing output text, with number formatting fast enough for a billion lines. */
#ifndef CYCLOPS_BASE_TEXT_H
#define CYCLOPS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

/* Zeroed is empty and ready to use. Not NUL-terminated. */
struct text {
	char *bytes;
	size_t n, cap;
};

void text_release(struct text *);

/* Empties the text, keeps the memory. */
static inline void text_reset(struct text *t)
{
	t->n = 0;
}

/* Returns where to write up to `extra` more bytes; the caller then adds to `n`. */
char *text_room_slow_(struct text *, size_t extra);
static inline char *text_room(struct text *t, size_t extra)
{
	return extra <= t->cap - t->n ? t->bytes + t->n : text_room_slow_(t, extra);
}

static inline void text_add(struct text *t, const char *bytes, size_t size)
{
	if (size == 0)
		return;
	memcpy(text_room(t, size), bytes, size);
	t->n += size;
}

static inline void text_char(struct text *t, char c)
{
	*text_room(t, 1) = c;
	t->n++;
}

/* Does the text contain `words`? */
bool text_has(const struct text *, const char *words);

void text_str(struct text *, const char *string);
void text_repeat(struct text *, char c, size_t times);
void text_u64(struct text *, uint64_t value);
void text_i64(struct text *, int64_t value);

/* "0x" and lower-case digits, no padding. */
void text_hex(struct text *, uint64_t value);

/* Lower-case digits, padded with zeros to `width` (at most 16). No "0x". */
void text_hex_padded(struct text *, uint64_t value, unsigned width);

/* The shortest decimal that reads back as the same double; "" when not finite. */
void text_f64(struct text *, double value);

/* Appends ", " unless the text is empty. */
void text_part(struct text *);

/* Appends a word of a shell command, quoted if needed. A blank precedes all words but the first. */
void text_shell_word(struct text *, const char *word);

/* The plural ending for `n` things: "" for one, else "s". */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/*
 * Appends a noun, given in its plural, in the form for `n` things: "latency cycle", "miss",
 * "samples".
 */
void text_things(struct text *, uint64_t n, const char *things);

void text_format(struct text *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the text to a file, which it creates or replaces as a whole (output_file.h). */
int text_save(const struct text *, const char *path, struct err *);

/* Digits in groups of three, as people read them: "11 245". For sentences. Returns `out`. */
enum { GROUPED_BYTES = 28 };
const char *grouped_u64(uint64_t value, char out[GROUPED_BYTES]);

/* The same formatting to a buffer. Returns the number of bytes written. */
size_t put_u64(char *out, uint64_t value); /* at most 20, which the buffer has */
size_t put_hex(char *out, uint64_t value); /* at most 18, with "0x" */
size_t put_hex_digits(char *out, uint64_t value, unsigned width); /* at least width, at most 16 */

#endif
