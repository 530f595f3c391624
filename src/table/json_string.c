/* SPDX-License-Identifier: Apache-2.0 */
#include "table/json_string.h"

#include "table/utf8.h"

/* The length of the leading text that needs no escape. */
static size_t json_plain_size(const char *s)
{
	size_t n = 0;

	while ((uint8_t)s[n] >= 0x20 && (uint8_t)s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

/*
 * Appends one character, escaped if needed, or a replacement for invalid bytes. Returns its size.
 */
static size_t json_add_character(struct text *out, const char *s)
{
	uint32_t code = 0;
	size_t size = utf8_decode(s, &code);

	if (size == 0)
		code = 0xfffd;
	if (code == '"' || code == '\\')
		text_char(out, '\\');
	if (size == 0 || utf8_is_unsafe(code)) {
		text_str(out, "\\u");
		text_hex_padded(out, code, 4);
	} else {
		text_add(out, s, size);
	}
	return size > 0 ? size : 1;
}

void json_put_string(struct text *out, const char *s)
{
	text_char(out, '"');
	while (*s != '\0') {
		size_t n = json_plain_size(s);

		text_add(out, s, n);
		s += n;
		if (*s != '\0')
			s += json_add_character(out, s);
	}
	text_char(out, '"');
}
