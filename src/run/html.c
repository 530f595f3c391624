/* SPDX-License-Identifier: Apache-2.0 */
/* What a run came to as pages for a browser: the answer of counts and samples, then all that the capture has. */
#include "html/pages/pages.h"
#include "run/html.h"

static void add_once(struct tables *tables, struct table *t)
{
	for (size_t i = 0; i < tables->list.n; i++)
		if (tables->list.items[i] == t)
			return;
	if (t->columns != NULL)
		*vec_add(&tables->list) = t;
}

int run_html(struct session *s, struct method *m, const struct tables *what_if,
	     const struct printer *out, const char *path, struct err *err)
{
	struct tables tables = { 0 };
	struct html h = { 0 };
	int rc;

	if (m->screen.list.n == 0) /* nobody was shown it */
		method_screen(s, what_if, false, m);
	for (size_t i = 0; i < m->screen.list.n; i++)
		add_once(&tables, m->screen.list.items[i]);
	for (size_t i = 0; i < m->shown.list.n; i++)
		add_once(&tables, m->shown.list.items[i]);
	add_once(&tables, &m->summary);
	add_once(&tables, &m->next);
	html_add(&h, "answer", NULL, &tables);
	vec_release(&tables.list);
	rc = html_add_pages(&h, s, NULL, err);
	if (rc == 0)
		rc = printer_html(out, &h, path, s->path, err);
	html_release(&h);
	return rc;
}
