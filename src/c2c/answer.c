/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/answer.h"

#include "base/alloc.h"
#include "base/pool.h"
#include "table/answer.h"

/* Most tables of an answer. */
enum { MOST_TABLES = 10 };

/* A table in its place, unless it is empty and the answer is to be short. */
static void c2c_report_show(struct c2c_report *r, struct table *t, bool is_brief)
{
	if (!is_brief || table_n_rows(t) > 0)
		*vec_add(&r->shown.list) = t;
}

/* Tables that are made at once. */
struct making {
	const struct c2c *s;
	const struct c2c_labels *labels;
	enum c2c_detail detail;
	struct c2c_report *out;
};

static void make_summary(const struct making *m)
{
	c2c_summary_table(m->s, m->labels, m->detail == C2C_FOR_PROGRAMS ? NULL : &m->out->first,
			  &m->out->summary);
}

static void make_sharing(const struct making *m)
{
	c2c_sharing_table(m->s, m->labels, &m->out->sharing);
}

static void make_findings(const struct making *m)
{
	c2c_findings_table(m->s, m->labels, &m->out->findings);
}

static void make_lines(const struct making *m)
{
	if (m->detail != C2C_BRIEF)
		c2c_lines_tables(m->s, m->labels, &m->out->lines, &m->out->accesses);
}

/* Those that take longest first. */
static void (*const makers[])(const struct making *) = {
	make_lines,
	make_findings,
	make_summary,
	make_sharing,
};

static void make_table(void *context, size_t number, unsigned worker)
{
	(void)worker;
	makers[number](context);
}

void c2c_report_make(const struct c2c *s, struct c2c_labels *labels, enum c2c_detail detail,
		     struct c2c_report *out)
{
	struct table *const brief[MOST_TABLES] = { &out->first, &out->findings, &out->summary };
	struct table *const full[MOST_TABLES] = { &out->first, &out->findings, &out->summary,
						  &out->pairs, &out->trace,    &out->shared,
						  &out->lines };
	struct table *const for_programs[MOST_TABLES] = { &out->summary,  &out->sharing,
							  &out->findings, &out->pairs,
							  &out->trace,	  &out->shared,
							  &out->lines,	  &labels->layouts };
	struct table *const for_pages[MOST_TABLES] = {
		&out->first, &out->findings, &out->summary, &out->sharing,   &out->pairs,
		&out->trace, &out->shared,   &out->lines,   &labels->layouts
	};
	struct table *const *const shown[] = {
		[C2C_BRIEF] = brief,
		[C2C_FULL] = full,
		[C2C_FOR_PROGRAMS] = for_programs,
		[C2C_FOR_PAGES] = for_pages,
	};

	answer_init(&out->first);
	pool_run(s->session->pool, COUNT(makers), make_table,
		 &(struct making){ s, labels, detail, out });
	c2c_pairs_table(s, labels, &out->pairs);
	c2c_trace_table(s, &out->trace);
	c2c_shared_table(s, &out->shared);
	for (size_t i = 0; shown[detail][i] != NULL; i++)
		c2c_report_show(out, shown[detail][i], detail == C2C_BRIEF);
	/* A pair of a single finding is what the finding says. */
	if (detail == C2C_BRIEF && table_n_rows(&out->pairs) > 1)
		c2c_report_show(out, &out->pairs, true);
}

void c2c_report_release(struct c2c_report *r)
{
	struct table *const tables[] = {
		&r->first, &r->summary, &r->sharing, &r->findings, &r->pairs,
		&r->trace, &r->shared,	&r->lines,   &r->accesses,
	};

	for (size_t i = 0; i < COUNT(tables); i++)
		table_release(tables[i]);
	vec_release(&r->shown.list);
}
