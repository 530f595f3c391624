/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and words of the small text files that name code: kallsyms, modules, JIT maps. */
#ifndef CYCLOPS_ELF_WORDS_H
#define CYCLOPS_ELF_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Some characters of a text; borrowed, not NUL-terminated. */
struct word {
	const char *text;
	size_t n;
};

/* Takes the next line from the front of `rest`, without its end; false if there is none. */
bool words_next_line(struct word *rest, struct word *out_line);

/* Takes the next word, up to a blank or tab; empty if there is none. */
struct word words_next(struct word *line);

/* What is left of a line, without blanks at either end. */
struct word words_rest(struct word line);

bool word_equals(struct word, const char *text);

/* Hexadecimal digits, "0x" before them or not; false if it is anything else. */
bool word_to_hex(struct word, uint64_t *out);

/* Decimal digits; false if it is anything else, or too large. */
bool word_to_decimal(struct word, uint64_t *out);

#endif
