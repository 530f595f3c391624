/* SPDX-License-Identifier: Apache-2.0 */
#include "table/xml.h"

#include <string.h>

#include "base/alloc.h"
#include "table/utf8.h"

static const char *const entities[] = {
	['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
};

/* U+FFFE or U+FFFF */
static bool is_no_character(const char *bytes)
{
	return memcmp(bytes, "\xef\xbf", 2) == 0 && ((uint8_t)bytes[2] & 0xfe) == 0xbe;
}

void xml_put(struct text *out, const char *words)
{
	struct arena memory = { 0 };
	struct span span = span_of(&memory, words, true);

	for (size_t i = 0; i < span.size; i++) {
		uint8_t c = (uint8_t)span.bytes[i];

		if (c < COUNT(entities) && entities[c] != NULL) {
			text_str(out, entities[c]);
		} else if (span.size - i >= 3 && is_no_character(span.bytes + i)) {
			text_str(out, "\xef\xbf\xbd");
			i += 2;
		} else {
			text_char(out, span.bytes[i]);
		}
	}
	arena_release(&memory);
}
