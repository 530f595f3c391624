/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metric_words.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/*
 * Deeper nodes are published as "percent of cycles", but what their formulas divide by are
 * stalled cycles of the node above.
 */
static bool is_of_stalls(const struct cpu_metric *m)
{
	for (size_t i = 0; i < m->events.n; i++)
		if (strcmp(m->events.items[i]->class, "cycles") == 0)
			return false;
	return true;
}

const char *metric_whole(const struct cpu_metric *m)
{
	static const char percent_of[] = "percent of ";

	const char *whole;

	if (strncmp(m->unit, percent_of, sizeof(percent_of) - 1) != 0)
		return "";
	whole = m->unit + sizeof(percent_of) - 1;
	return strcmp(whole, "cycles") == 0 && is_of_stalls(m) ? "stalls" : whole;
}

/* How parts of names are written out. */
static const struct word {
	const char *from, *to;
} words[] = {
	{ "mem", "memory" }, { "stalled", "stalled" }, { "cycles", "" }, { "l1d", "L1D" },
	{ "l1i", "L1I" },    { "l2d", "L2D" },	       { "l2i", "L2I" }, { "tlb", "TLB" },
	{ "cme", "CME" },    { "bad", "bad" },	       { "l2", "L2" },	 { "l3", "L3" },
};

static const char *metric_words_word_of(const char *from, size_t len)
{
	for (size_t i = 0; i < COUNT(words); i++)
		if (strlen(words[i].from) == len && strncmp(words[i].from, from, len) == 0)
			return words[i].to;
	return NULL;
}

const char *metric_node_words(struct table *t, const struct cpu_metric *m)
{
	struct text text = { 0 };

	for (const char *at = m->name; *at != '\0';) {
		size_t len = strcspn(at, "_");
		const char *word = metric_words_word_of(at, len);
		size_t n = word != NULL ? strlen(word) : len;

		if (text.n > 0 && n > 0)
			text_char(&text, ' ');
		text_add(&text, word != NULL ? word : at, n);
		at += len;
		at += *at == '_';
	}
	return table_take_text(t, &text);
}

const char *metric_value_words(struct table *t, const struct cpu_metric *m, double value)
{
	const char *whole = metric_whole(m);

	if (whole[0] != '\0')
		return table_format(t, "%.1f %% of %s", value, whole);
	if (m->scale == 1 && strncmp(m->unit, "per ", 4) == 0 && value <= 1)
		return table_format(t, "%.1f %%", 100 * value);
	return table_format(t, value < 10 ? "%.2f" : "%.1f", value);
}
