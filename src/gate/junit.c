/* SPDX-License-Identifier: Apache-2.0 */
/* Format: the schema of the Jenkins xUnit plugin, junit-10.xsd: the part that all readers take. */
#include "gate/junit.h"

#include <string.h>

#include "table/utf8.h"

/* What means something in XML. */
static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

/* XML has no character for these two, though UTF-8 does. */
static bool is_no_character(const char *bytes)
{
	return memcmp(bytes, "\xef\xbf", 2) == 0 && ((uint8_t)bytes[2] & 0xfe) == 0xbe;
}

/* Appends text. Bytes that are not UTF-8, and control characters, become \xNN (utf8.h). */
static void put_escaped(struct text *out, const char *words)
{
	struct arena memory = { 0 };
	struct span span = span_of(&memory, words, true);

	for (size_t i = 0; i < span.size; i++) {
		const char *entity = entity_of(span.bytes[i]);

		if (entity != NULL) {
			text_str(out, entity);
		} else if (span.size - i >= 3 && is_no_character(span.bytes + i)) {
			text_str(out, "\xef\xbf\xbd");
			i += 2;
		} else {
			text_char(out, span.bytes[i]);
		}
	}
	arena_release(&memory);
}

static void put_case(struct text *out, const struct gate_result *r, const char *command)
{
	text_format(out, "    <testcase classname=\"cyclops.%s\" name=\"", command);
	put_escaped(out, r->text);
	text_str(out, "\">\n");
	text_str(out, r->is_failed  ? "      <failure message=\""
		      : r->is_error ? "      <error message=\""
				    : "      <system-out>");
	put_escaped(out, r->sentence);
	text_str(out, r->is_failed || r->is_error ? "\" type=\"gate\"/>\n" : "</system-out>\n");
	text_str(out, "    </testcase>\n");
}

void junit_put(const struct gate_result *results, size_t n, const char *command, struct text *out)
{
	size_t n_failed = 0, n_errors = 0;

	for (size_t i = 0; i < n; i++) {
		n_failed += results[i].is_failed;
		n_errors += results[i].is_error;
	}
	text_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	text_format(out,
		    "  <testsuite name=\"cyclops %s\" tests=\"%zu\" failures=\"%zu\" "
		    "errors=\"%zu\">\n",
		    command, n, n_failed, n_errors);
	for (size_t i = 0; i < n; i++)
		put_case(out, &results[i], command);
	text_str(out, "  </testsuite>\n</testsuites>\n");
}

int junit_write(const struct gates *gates, const char *command, const char *path, struct err *err)
{
	struct text text = { 0 };
	int rc;

	junit_put(gates->results.items, gates->results.n, command, &text);
	rc = text_save(&text, path, err);
	text_release(&text);
	return rc == 0 ? 0 : err_within(err, "--junit");
}
