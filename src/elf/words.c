/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/words.h"

#include <string.h>

static bool elf_words_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct word skip(struct word word, size_t n)
{
	return (struct word){ .text = word.text + n, .n = word.n - n };
}

bool words_next_line(struct word *rest, struct word *out)
{
	const char *newline = rest->n == 0 ? NULL : memchr(rest->text, '\n', rest->n);

	if (rest->n == 0)
		return false;
	out->text = rest->text;
	out->n = newline == NULL ? rest->n : (size_t)(newline - rest->text);
	*rest = skip(*rest, newline == NULL ? rest->n : out->n + 1);
	return true;
}

static struct word elf_words_skip_blanks(struct word word)
{
	while (word.n > 0 && elf_words_is_blank(word.text[0]))
		word = skip(word, 1);
	return word;
}

struct word words_next(struct word *line)
{
	struct word word = elf_words_skip_blanks(*line);
	size_t n = 0;

	while (n < word.n && !elf_words_is_blank(word.text[n]))
		n++;
	*line = skip(word, n);
	return (struct word){ .text = word.text, .n = n };
}

struct word words_rest(struct word line)
{
	line = elf_words_skip_blanks(line);
	while (line.n > 0 && elf_words_is_blank(line.text[line.n - 1]))
		line.n--;
	return line;
}

bool word_equals(struct word word, const char *text)
{
	return strlen(text) == word.n && memcmp(word.text, text, word.n) == 0;
}

static int hex_digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool word_to_hex(struct word word, uint64_t *out)
{
	uint64_t value = 0;

	if (word.n > 2 && word.text[0] == '0' && (word.text[1] == 'x' || word.text[1] == 'X'))
		word = skip(word, 2);
	if (word.n == 0 || word.n > 16)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		int digit = hex_digit_of(word.text[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*out = value;
	return true;
}

bool word_to_decimal(struct word word, uint64_t *out)
{
	uint64_t value = 0;

	if (word.n == 0 || word.n > 18)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		int digit = hex_digit_of(word.text[i]);

		if (digit < 0 || digit > 9)
			return false;
		value = value * 10 + (uint64_t)digit;
	}
	*out = value;
	return true;
}
