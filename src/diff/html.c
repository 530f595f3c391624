/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs beside each other as pages for a browser: what changed, functions by thread and time of both, and flame
 * graphs of both, where both have call chains.
 */
#include "cli/command.h"
#include "diff/html.h"
#include "html/pages/pages.h"

/* Pages of a run; nothing where it is no capture. */
static int add_run(struct html *h, const struct input_options *input, const char *path,
		   const char *run, struct err *err)
{
	const struct arguments arguments = { .items = (const char *[]){ path }, .n = 1 };
	struct session session;
	struct select *select;
	int rc;

	if (path == NULL)
		return 0;
	rc = open_input(input, &arguments, &session, &select, err);
	if (rc == 0)
		rc = html_add_timeline_of(h, &session, select, run, err);
	if (rc == 0)
		rc = html_add_flame_of(h, &session, select, run, err);
	close_input(&session, select, rc < 0 ? EXIT_FAILED : EXIT_DONE);
	return rc;
}

int diff_html(const struct diff *d, const struct diff_gate *gates, size_t n_gates,
	      const struct input_options *input, const struct printer *out, const char *path,
	      struct err *err)
{
	struct diff_tables tables = { .is_for_screen = true };
	struct text subject = { 0 };
	struct gates results;
	struct html h = { 0 };
	int rc;

	gates_init(&results);
	rc = diff_tables(d, gates, n_gates, 0, &tables, &results, err);
	if (rc == 0)
		html_add(&h, "diff", NULL, &tables.shown);
	if (rc == 0)
		rc = add_run(&h, input, d->a->capture_path, "a", err);
	if (rc == 0)
		rc = add_run(&h, input, d->b->capture_path, "b", err);
	text_format(&subject, "%s, %s", d->a->origin, d->b->origin);
	text_char(&subject, '\0');
	if (rc == 0)
		rc = printer_html(out, &h, path, subject.bytes, err);
	text_release(&subject);
	html_release(&h);
	diff_tables_release(&tables);
	gates_release(&results);
	return rc;
}
