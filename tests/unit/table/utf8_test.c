/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "table/format.h"
#include "table/utf8.h"

static void decodes_what_is_utf8(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		uint32_t code;
	} cases[] = {
		{ "a", 1, 'a' },
		{ "\x7f", 1, 0x7f },
		{ "\xc2\x80", 2, 0x80 },
		{ "\xc3\xa9", 2, 0xe9 },
		{ "\xdf\xbf", 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 0x800 },
		{ "\xef\xbf\xbf", 3, 0xffff },
		{ "\xf0\x90\x80\x80", 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
		/* Stray and missing continuations, overlong forms, surrogates, too large. */
		{ "\x80", 0, 0 },
		{ "\xbf", 0, 0 },
		{ "\xc0\x80", 0, 0 },
		{ "\xc1\xbf", 0, 0 },
		{ "\xc3", 0, 0 },
		{ "\xc3(", 0, 0 },
		{ "\xe0\x9f\xbf", 0, 0 },
		{ "\xe2\x82", 0, 0 },
		{ "\xed\xa0\x80", 0, 0 },
		{ "\xed\xbf\xbf", 0, 0 },
		{ "\xf0\x8f\xbf\xbf", 0, 0 },
		{ "\xf0\x90\x80", 0, 0 },
		{ "\xf4\x90\x80\x80", 0, 0 },
		{ "\xf8\x88\x80\x80\x80", 0, 0 },
		{ "\xff", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t code = 0;

		assert_int_equal(utf8_decode(cases[i].bytes, &code), cases[i].size);
		assert_int_equal(code, cases[i].code);
	}
}

static void widths(void **state)
{
	static const struct {
		const char *text;
		size_t width;
	} cases[] = {
		{ "", 0 },	   { "abc", 3 },
		{ "µs", 2 },	   { "e\xcc\x81tude", 5 }, /* a combining accent */
		{ "日本", 4 },	   { "한글", 4 },
		{ "ｆｕｌｌ", 8 }, { "├ └", 3 },
		{ "█▏", 2 },	   { "😀", 2 },
		{ "a\u200bb", 2 }, /* zero-width space */
		{ "\x1b[31m", 8 }, /* shown as \x1b[31m */
		{ "\xff\xfe", 8 }, { "\u202e", 12 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(display_width(cases[i].text), cases[i].width);
}

static void shows_text_from_outside(void **state)
{
	static const struct {
		const char *text, *unicode, *ascii;
	} cases[] = {
		{ "", "", "" },
		{ "plain text", "plain text", "plain text" },
		{ "a\tb\nc", "a\\x09b\\x0ac", "a\\x09b\\x0ac" },
		{ "\x1b[2J\x07", "\\x1b[2J\\x07", "\\x1b[2J\\x07" },
		{ "del\x7f", "del\\x7f", "del\\x7f" },
		{ "cut \xe2\x82", "cut \\xe2\\x82", "cut \\xe2\\x82" },
		{ "c1 \xc2\x9b", "c1 \\xc2\\x9b", "c1 \\xc2\\x9b" },
		{ "\u202egpj", "\\xe2\\x80\\xaegpj", "\\xe2\\x80\\xaegpj" },
		{ "é", "é", "\\xc3\\xa9" },
		{ "± 2 µs ≥ 1 …", "± 2 µs ≥ 1 …", "+- 2 us >= 1 ..." },
		{ "a → b", "a → b", "a -> b" },
	};
	struct arena memory = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct span wide = span_of(&memory, cases[i].text, true);
		struct span ascii = span_of(&memory, cases[i].text, false);

		assert_int_equal(wide.size, strlen(cases[i].unicode));
		assert_memory_equal(wide.bytes, cases[i].unicode, wide.size);
		assert_int_equal(wide.width, display_width(cases[i].unicode));
		assert_int_equal(ascii.size, strlen(cases[i].ascii));
		assert_memory_equal(ascii.bytes, cases[i].ascii, ascii.size);
		assert_int_equal(ascii.width, ascii.size);
	}
	arena_release(&memory);
}

/* Any bytes, cut anywhere: never more than what was given, never a raw control character. */
static void any_bytes_can_be_shown(void **state)
{
	static const char all[] =
		"x\xe6\x97\xa5\x1b\xff\xf0\x9f\x98\x80\xc2\x9b\xe2\x80\xae\xed\xa0\x80y";
	char cut[sizeof(all)];

	(void)state;
	for (size_t from = 0; from < sizeof(all); from++) {
		for (size_t size = 0; size < sizeof(all) - from; size++) {
			struct arena memory = { 0 };
			struct span s;

			memcpy(cut, all + from, size);
			cut[size] = '\0';
			s = span_of(&memory, cut, true);
			for (size_t i = 0; i < s.size;) {
				uint32_t code = 0;
				size_t step = utf8_decode(s.bytes + i, &code);

				assert_true(step > 0);
				assert_false(utf8_is_unsafe(code));
				i += step;
			}
			assert_int_equal(span_head(s, SIZE_MAX / 2).width, s.width);
			arena_release(&memory);
		}
	}
}

static void cuts_between_characters(void **state)
{
	static const struct {
		const char *text;
		size_t width;
		const char *head, *tail;
	} cases[] = {
		{ "abcdef", 4, "abcd", "cdef" },
		{ "abcdef", 0, "", "" },
		{ "abc", 9, "abc", "abc" },
		{ "日本語", 4, "日本", "本語" },
		{ "日本語", 5, "日本", "本語" },
		{ "日本語", 1, "", "" },
		{ "e\xcc\x81x", 1, "e\xcc\x81", "x" },
	};
	struct arena memory = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct span whole = span_of(&memory, cases[i].text, true);
		struct span head = span_head(whole, cases[i].width);
		struct span tail = span_tail(whole, cases[i].width);

		assert_int_equal(head.size, strlen(cases[i].head));
		assert_memory_equal(head.bytes, cases[i].head, head.size);
		assert_int_equal(tail.size, strlen(cases[i].tail));
		assert_memory_equal(tail.bytes, cases[i].tail, tail.size);
		assert_true(head.width <= cases[i].width && tail.width <= cases[i].width);
	}
	arena_release(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_what_is_utf8),	   cmocka_unit_test(widths),
		cmocka_unit_test(shows_text_from_outside), cmocka_unit_test(any_bytes_can_be_shown),
		cmocka_unit_test(cuts_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
