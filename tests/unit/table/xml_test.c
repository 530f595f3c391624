/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "table/utf8.h"
#include "table/xml.h"

static void escapes_what_xml_reads_otherwise(void **state)
{
	static const struct {
		const char *words, *xml;
	} cases[] = {
		{ "", "" },
		{ "chase walk.c:8", "chase walk.c:8" },
		{ "a < b && c > d", "a &lt; b &amp;&amp; c &gt; d" },
		{ "\"it's\"", "&quot;it&#39;s&quot;" },
		{ "]]>", "]]&gt;" },
		{ "a\tb\nc\x1b[1m\x7f", "a\\x09b\\x0ac\\x1b[1m\\x7f" },
		{ "caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80",
		  "caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80" },
		{ "\xff<\xc0\x80", "\\xff&lt;\\xc0\\x80" },
		{ "\xe2\x80\xaeleft", "\\xe2\\x80\\xaeleft" },
		{ "\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xef\xbf", "\\xef\\xbf" },
	};
	struct text out = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		text_reset(&out);
		xml_put(&out, cases[i].words);
		text_char(&out, '\0');
		assert_string_equal(out.bytes, cases[i].xml);
	}
	text_release(&out);
}

/* The characters that XML 1.0 has, without those that mean something in it. */
static bool is_plain_xml(uint32_t code)
{
	return code >= 0x20 && code != '<' && code != '>' && code != '"' && code != '\'' &&
	       code != 0xfffe && code != 0xffff;
}

static void is_xml_whatever_the_bytes(void **state)
{
	struct text out = { 0 };

	(void)state;
	for (unsigned first = 1; first < 256; first++) {
		for (unsigned second = 1; second < 256; second++) {
			const char words[] = { 'f', (char)first, (char)second, 'g', '\0' };

			text_reset(&out);
			xml_put(&out, words);
			text_char(&out, '\0');
			for (const char *at = out.bytes; *at != '\0';) {
				uint32_t code = 0;
				size_t size = utf8_decode(at, &code);

				assert_true(size > 0 && is_plain_xml(code));
				assert_true(code != '&' || strchr(at, ';') != NULL);
				at += size;
			}
		}
	}
	text_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_what_xml_reads_otherwise),
		cmocka_unit_test(is_xml_whatever_the_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
