/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as in RFC 3629, without memory of its own: for libcyclops, too. */
#include "base/utf8_decode.h"

#include "base/alloc.h"

/* First bytes, the length that they mean, and the least code that needs this length. */
static const struct form {
	uint8_t mask, match, size;
	uint32_t least;
} forms[] = {
	{ 0x80, 0x00, 1, 0 },
	{ 0xe0, 0xc0, 2, 0x80 },
	{ 0xf0, 0xe0, 3, 0x800 },
	{ 0xf8, 0xf0, 4, 0x10000 },
};

static size_t decode_as(const struct form *form, const uint8_t *at, uint32_t *out_code)
{
	uint32_t code = at[0] & (uint8_t)~form->mask;

	for (unsigned i = 1; i < form->size; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3fu);
	}
	if (code < form->least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*out_code = code;
	return form->size;
}

size_t utf8_decode(const char *text, uint32_t *out_code)
{
	const uint8_t *at = (const uint8_t *)text;

	for (size_t i = 0; i < COUNT(forms); i++)
		if ((at[0] & forms[i].mask) == forms[i].match)
			return decode_as(&forms[i], at, out_code);
	return 0;
}

static const struct {
	uint32_t first, last;
} unsafe[] = {
	{ 0x0000, 0x001f }, { 0x007f, 0x009f }, { 0x061c, 0x061c }, { 0x200e, 0x200f },
	{ 0x2028, 0x202e }, { 0x2066, 0x206f }, { 0xfff9, 0xfffb },
};

bool utf8_is_unsafe(uint32_t code)
{
	for (size_t i = 0; i < COUNT(unsafe); i++)
		if (code >= unsafe[i].first && code <= unsafe[i].last)
			return true;
	return false;
}
