/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/spe_filters.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "spe/names.h"

/* Bits of the SPE event's config that choose operations. */
static const struct {
	unsigned bit;
	const char *name;
} kinds[] = {
	{ 32, "branches" }, { 33, "loads" },	      { 34, "stores" },
	{ 39, "SIMD" },	    { 41, "floating point" },
};

bool spe_filters_hide_kinds(const struct attr *a)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (a->config >> kinds[i].bit & 1)
			return true;
	return false;
}

bool spe_filters_hide_outcomes(const struct attr *a)
{
	return a->config1 != 0 || a->config2 != 0 || a->config3 != 0 || a->config4 != 0;
}

/* Returns whether there is such a filter. */
static bool add_kinds(const struct attr *a, struct text *out)
{
	bool has_filter = false;

	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (!(a->config >> kinds[i].bit & 1))
			continue;
		text_str(out, has_filter ? " + " : ", only ");
		text_str(out, kinds[i].name);
		has_filter = true;
	}
	return has_filter;
}

static void add_outcomes(const struct attr *a, struct text *out)
{
	if (a->config1 != 0) {
		text_str(out, ", only with ");
		spe_events_text(a->config1, '+', out);
	}
	if (a->config3 != 0) {
		text_str(out, ", none with ");
		spe_events_text(a->config3, '+', out);
	}
	if (a->config4 != 0)
		text_format(out, ", not from data sources 0x%" PRIx64 " (bits)", a->config4);
	if (a->config2 != 0)
		text_format(out, ", latency from %" PRIu64 " cycles", a->config2);
}

void spe_filters_text(const struct attr *a, struct text *out)
{
	if (!add_kinds(a, out))
		text_str(out, ", all operations");
	add_outcomes(a, out);
	if (a->flags >> ATTR_EXCLUDE_KERNEL & 1)
		text_str(out, ", user only");
	if (a->flags >> ATTR_EXCLUDE_USER & 1)
		text_str(out, ", kernel only");
}

bool spe_filters_hide(const struct session *s)
{
	int event = capture_spe(s->capture)->event;
	const struct attr *a = event < 0 ? NULL : &capture_event(s->capture, (size_t)event)->attr;

	return a != NULL && (spe_filters_hide_kinds(a) || spe_filters_hide_outcomes(a));
}

void spe_filters_note(const struct session *s, struct table *t)
{
	struct text text = { 0 };
	const struct attr *a;

	if (!spe_filters_hide(s))
		return;
	a = &capture_event(s->capture, (size_t)capture_spe(s->capture)->event)->attr;
	add_kinds(a, &text);
	add_outcomes(a, &text);
	text_char(&text, '\0');
	table_note(t, "filtered when recorded (%s): totals, means and shares are of what passed",
		   text.bytes + 2);
	text_release(&text);
}

void spe_filters_name_estimates(const struct session *s, struct table *t)
{
	int estimated = table_column(t, "estimated_operations");
	struct column *columns;

	if (estimated < 0 || !spe_filters_hide(s))
		return;
	columns = arena_alloc(&t->memory, t->n_columns * sizeof(*columns));
	memcpy(columns, t->columns, t->n_columns * sizeof(*columns));
	columns[estimated].title = "passed filter";
	t->columns = columns;
}
