/* SPDX-License-Identifier: Apache-2.0 */
/* Format: the schema of the Jenkins xUnit plugin, junit-10.xsd: the part that all readers take. */
#include "gate/junit.h"

#include "base/alloc.h"
#include "table/xml.h"

static void put_case(struct text *out, const struct gate_result *r, const char *command)
{
	text_format(out, "    <testcase classname=\"cyclops.%s\" name=\"", command);
	xml_put(out, r->text);
	text_str(out, "\">\n");
	text_str(out, r->is_failed  ? "      <failure message=\""
		      : r->is_error ? "      <error message=\""
				    : "      <system-out>");
	xml_put(out, r->sentence);
	text_str(out, r->is_failed || r->is_error ? "\" type=\"gate\"/>\n" : "</system-out>\n");
	text_str(out, "    </testcase>\n");
}

static void put_property(const char *name, const char *value, struct text *out)
{
	text_format(out, "      <property name=\"%s\" value=\"", name);
	xml_put(out, value);
	text_str(out, "\"/>\n");
}

static void put_properties(const struct gates *g, struct text *out)
{
	text_str(out, "    <properties>\n");
	for (size_t i = 0; i < COUNT(g->files); i++)
		if (g->files[i] != NULL)
			put_property(i == 0 && g->files[1] == NULL ? "file"
				     : i == 0			   ? "a"
								   : "b",
				     g->files[i], out);
	put_property("modelled", g->is_modelled ? "true" : "false", out);
	text_str(out, "    </properties>\n");
}

void junit_put(const struct gates *gates, const char *command, struct text *out)
{
	const struct gate_result *results = gates->results.items;
	size_t n = gates->results.n, n_failed = 0, n_errors = 0;

	for (size_t i = 0; i < n; i++) {
		n_failed += results[i].is_failed;
		n_errors += results[i].is_error;
	}
	text_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	text_format(out,
		    "  <testsuite name=\"cyclops %s\" tests=\"%zu\" failures=\"%zu\" "
		    "errors=\"%zu\">\n",
		    command, n, n_failed, n_errors);
	put_properties(gates, out);
	for (size_t i = 0; i < n; i++)
		put_case(out, &results[i], command);
	text_str(out, "  </testsuite>\n</testsuites>\n");
}

int junit_write(const struct gates *gates, const char *command, const char *path, struct err *err)
{
	struct text text = { 0 };
	int rc;

	junit_put(gates, command, &text);
	rc = text_save(&text, path, err);
	text_release(&text);
	return rc == 0 ? 0 : err_within(err, "--junit");
}
