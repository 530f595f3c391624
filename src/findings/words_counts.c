/* SPDX-License-Identifier: Apache-2.0 */
/* What findings of counts say, after docs/reference/methodology.md, steps 3 and 5. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "findings/words_inside.h"
#include "metrics/metric_words.h"

/* What a root of the tree says, behind its share. */
static const struct claim {
	const char *metric, *words;
} claims[] = {
	{ "frontend_stalled_cycles", "stalled in the front end" },
	{ "backend_stalled_cycles", "stalled in the back end" },
	{ "frontend_bound", "empty because the front end delivered too little" },
	{ "backend_bound", "empty because the back end took no more" },
	{ "bad_speculation", "lost to work on wrong paths" },
	{ "retiring", "did work that was kept: fewer instructions is what is left" },
};

static const char *const cause_words[] = {
	[CAUSE_NOT_KNOWN] = "",
	[CAUSE_MEMORY] = ", on memory",
	[CAUSE_CORE] = ", in the core",
};

/* "83.9 % of cycles stalled in the back end" */
static const char *share_words(struct table *t, const struct cpu_metric *m, double value)
{
	const char *whole = m->unit + strlen("percent of ");

	for (size_t i = 0; i < COUNT(claims); i++)
		if (strcmp(claims[i].metric, m->name) == 0)
			return table_format(t, "%.1f %% of %s %s", value, whole, claims[i].words);
	return table_format(t, "%.1f %% of %s: %s", value, whole, m->label);
}

const char *counts_claim(struct table *t, const struct finding *f, bool with_cause)
{
	if (f->kind == FINDING_WAITING)
		return table_format(t, "it mostly waited%s: %.1f %% of one CPU was used",
				    f->is_probable ? ", probably for a CPU" : "", f->value);
	if (metric_whole(f->metric)[0] == '\0')
		return table_format(t, "%s %s", metric_value_words(t, f->metric, f->value),
				    f->metric->label);
	return table_format(t, "%s%s", share_words(t, f->metric, f->value),
			    with_cause ? cause_words[f->cause] : "");
}

/* "36.8 G of 43.8 G cycles" */
const char *counts_size(struct table *t, const struct finding *f)
{
	const struct finding_size *size = &f->size;
	const char *part, *all;

	if (size->unit == NULL)
		return NULL;
	part = table_human(t, cell_count((uint64_t)size->part), size->unit);
	all = table_human(t, cell_count((uint64_t)size->all), size->unit);
	if (f->kind == FINDING_WAITING)
		return table_format(t, "%s of %s", part, all);
	return table_format(t, "%.*s of %s", (int)(strlen(part) - strlen(size->unit) - 1), part,
			    all);
}

const char *counts_confidence(struct table *t, const struct finding_coverage *c)
{
	struct text text = { 0 };

	if (c->is_imported)
		text_str(&text, "as told by the tool that counted; its coverage is not known");
	else if (c->mark == MARK_EXACT)
		text_str(&text, "counted all of the time");
	else if (c->mark == MARK_SATURATED)
		text_str(&text, "a counter was full: a lower bound");
	else
		text_format(&text, "counted %.0f %% of the time, scaled to all of it",
			    100 * c->coverage);
	if (c->least_coverage < c->coverage && c->least_coverage < 0.999)
		text_format(&text, ", what explains it %.0f %% (scaled)", 100 * c->least_coverage);
	if (c->spread > 0)
		text_format(&text, "; runs differ by %.1f %%", 100 * c->spread);
	return words_take(t, &text);
}
