/* SPDX-License-Identifier: Apache-2.0 */
/* The report as pages for a browser: its answer first, then what other commands know of the capture. */
#include "findings/words.h"
#include "html/pages/pages.h"
#include "report/report.h"
#include "table/answer.h"

static bool is_among(const struct tables *tables, const struct table *t)
{
	for (size_t i = 0; i < tables->list.n; i++)
		if (tables->list.items[i] == t)
			return true;
	return false;
}

/*
 * The tables of the answer: those of the screen, the findings in full, and what programs get. Run time stands
 * before functions where it is known of most, as findings are shares of it.
 */
static void add_answer(const struct session *s, struct report *r, struct html *h)
{
	const struct report_detail detail = { true, true };
	struct tables tables = { 0 };
	struct table *const first[] = { &r->answer,	 &r->summary,	  &r->findings,
					&r->next,	 &r->evidence,	  &r->loops,
					&r->unexplained, &r->brief_facts, &r->addresses };
	const struct table *last = is_among(&r->shown, &r->elapsed) ? NULL : &r->elapsed;

	report_screen(s, &detail, r);
	if (s->select != NULL)
		answer_say_of(&r->answer, "the selected records");
	if (r->found.list.n > 0)
		findings_brief_table(&r->found, s, &r->summary);
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (first[i]->columns != NULL)
			*vec_add(&tables.list) = first[i];
	for (size_t i = 0; i < r->shown.list.n; i++)
		if (r->shown.list.items[i] != last && !is_among(&tables, r->shown.list.items[i]))
			*vec_add(&tables.list) = r->shown.list.items[i];
	if (last != NULL && last->columns != NULL)
		*vec_add(&tables.list) = &r->elapsed;
	html_add(h, "answer", NULL, &tables);
	vec_release(&tables.list);
}

int report_html(struct session *s, const struct select *select, const struct printer *printer,
		const char *path, struct err *err)
{
	struct report report = { 0 };
	struct html html = { 0 };
	int rc = report_make(s, select, 0, &report, err);

	if (rc == 0)
		add_answer(s, &report, &html);
	report_release(&report);
	if (rc == 0)
		rc = html_add_pages(&html, s, select, err);
	if (rc == 0)
		rc = printer_html(printer, &html, path, s->path, err);
	html_release(&html);
	return rc;
}
