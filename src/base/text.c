/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/output_file.h"

void text_release(struct text *t)
{
	free(t->bytes);
	*t = (struct text){ 0 };
}

char *text_room_slow_(struct text *t, size_t extra)
{
	size_t grown = 2 * t->cap + 256;

	if (grown < t->n + extra)
		grown = t->n + extra;
	t->bytes = mem_resize(t->bytes, grown, 1);
	t->cap = grown;
	return t->bytes + t->n;
}

bool text_has(const struct text *t, const char *words)
{
	return t->n > 0 && memmem(t->bytes, t->n, words, strlen(words)) != NULL;
}

void text_str(struct text *t, const char *string)
{
	text_add(t, string, strlen(string));
}

void text_repeat(struct text *t, char c, size_t times)
{
	if (times == 0)
		return;
	memset(text_room(t, times), c, times);
	t->n += times;
}

static size_t put_with_eight(char *out, size_t n, uint32_t rest)
{
	digits_put_all(out + n, rest);
	return n + 8;
}

size_t put_u64(char *out, uint64_t value)
{
	const uint32_t e8 = DIGITS_DECIMAL;
	uint64_t high = value / e8;

	if (high == 0)
		return digits_put_some(out, (uint32_t)value);
	if (high < e8)
		return put_with_eight(out, digits_put_some(out, (uint32_t)high),
				      (uint32_t)(value % e8));
	return put_with_eight(out,
			      put_with_eight(out, digits_put_some(out, (uint32_t)(high / e8)),
					     (uint32_t)(high % e8)),
			      (uint32_t)(value % e8));
}

const char *grouped_u64(uint64_t value, char out[GROUPED_BYTES])
{
	char digits[20];
	size_t n = put_u64(digits, value), at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			out[at++] = ' ';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

/* Up to seven digits, no byte behind them: two pieces that may overlap. */
static void put_few_hex(char *out, uint32_t value, unsigned n)
{
	uint64_t digits = digits_hex(value << 4 * (8 - n));
	const char *from = (const char *)&digits;

	if (n >= 4) {
		memcpy(out, from, 4);
		memcpy(out + n - 4, from + n - 4, 4);
	} else if (n >= 2) {
		memcpy(out, from, 2);
		memcpy(out + n - 2, from + n - 2, 2);
	} else
		*out = *from;
}

size_t put_hex_digits(char *out, uint64_t value, unsigned width)
{
	unsigned digits = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;

	if (digits < width)
		digits = width;
	if (digits >= 8) {
		digits_put_all_hex(out, (uint32_t)(value >> 4 * (digits - 8)));
		digits_put_all_hex(out + digits - 8, (uint32_t)value);
	} else
		put_few_hex(out, (uint32_t)value, digits);
	return digits;
}

size_t put_hex(char *out, uint64_t value)
{
	memcpy(out, "0x", 2);
	return 2 + put_hex_digits(out + 2, value, 1);
}

void text_u64(struct text *t, uint64_t value)
{
	t->n += put_u64(text_room(t, 20), value);
}

void text_i64(struct text *t, int64_t value)
{
	if (value < 0)
		text_char(t, '-');
	text_u64(t, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void text_hex(struct text *t, uint64_t value)
{
	t->n += put_hex(text_room(t, 18), value);
}

void text_hex_padded(struct text *t, uint64_t value, unsigned width)
{
	t->n += put_hex_digits(text_room(t, 16), value, width);
}

/*
 * Writes numbers with few decimals many times faster than printf(). A double has 15 significant
 * decimal digits, and dividing exact numbers rounds correctly. So a whole number / 10^k that equals
 * the value is its shortest decimal.
 */
static bool add_short_decimal(struct text *t, double value)
{
	static const uint32_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };
	double magnitude = fabs(value), scaled = 0;
	unsigned n_decimals = 0;

	if (magnitude >= 1e15 || (magnitude < 1e-4 && magnitude > 0))
		return false;
	for (; n_decimals < COUNT(powers); n_decimals++) {
		scaled = nearbyint(magnitude * powers[n_decimals]);
		if (scaled / powers[n_decimals] == magnitude)
			break;
	}
	if (n_decimals == COUNT(powers) || scaled >= 1e15)
		return false;
	if (value < 0)
		text_char(t, '-');
	text_u64(t, (uint64_t)scaled / powers[n_decimals]);
	if (n_decimals > 0)
		text_char(t, '.');
	for (uint64_t rest = (uint64_t)scaled; n_decimals > 0; n_decimals--)
		text_char(t, (char)('0' + rest / powers[n_decimals - 1] % 10));
	return true;
}

void text_f64(struct text *t, double value)
{
	char digits[48];

	if (!isfinite(value) || add_short_decimal(t, value))
		return;
	/* %.15g finds any shorter decimal. Denormals have fewer digits. */
	for (int n = fabs(value) < DBL_MIN ? 1 : 15; n <= 17; n++) {
		snprintf(digits, sizeof(digits), "%.*g", n, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	text_str(t, digits);
}

/* Would a shell change the word? */
static bool needs_quotes(const char *word)
{
	return word[0] == '\0' || strpbrk(word, " \t\n\"'\\$`*?[]#~<>|&;()!{}") != NULL;
}

void text_shell_word(struct text *t, const char *word)
{
	if (t->n > 0)
		text_char(t, ' ');
	if (!needs_quotes(word)) {
		text_str(t, word);
		return;
	}
	text_char(t, '\'');
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			text_str(t, "'\\'");
		text_char(t, *word);
	}
	text_char(t, '\'');
}

void text_part(struct text *t)
{
	if (t->n > 0)
		text_str(t, ", ");
}

void text_things(struct text *t, uint64_t n, const char *things)
{
	static const char *const with_e[] = { "sses", "ches", "shes", "xes" };
	size_t len = strlen(things), cut = len > 1 && things[len - 1] == 's' ? 1 : 0;

	for (size_t i = 0; i < COUNT(with_e); i++) {
		size_t end = strlen(with_e[i]);

		if (len > end && strcmp(things + len - end, with_e[i]) == 0)
			cut = 2;
	}
	text_add(t, things, n == 1 ? len - cut : len);
}

void text_format(struct text *t, const char *format, ...)
{
	va_list args, again;
	int size;

	va_start(args, format);
	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (size > 0) {
		vsnprintf(text_room(t, (size_t)size + 1), (size_t)size + 1, format, again);
		t->n += (size_t)size;
	}
	va_end(again);
}

int text_save(const struct text *t, const char *path, struct err *err)
{
	struct output_file file;

	if (output_file_open(&file, path, err) < 0)
		return -1;
	fwrite(t->bytes, 1, t->n, file.stream);
	return output_file_close(&file, 0, err);
}
