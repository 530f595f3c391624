/* SPDX-License-Identifier: Apache-2.0 */
/* What `cyclops annotate` says first: the instruction that has most of the function's latency or samples. */
#include <inttypes.h>

#include "annotate/view.h"
#include "base/alloc.h"
#include "estimate/shares.h"
#include "keys/keys.h"
#include "session/names.h"
#include "table/answer.h"

/* Sources of a smaller part of the loads are not named. */
static const double least_source = 0.1;

/* The instruction with most of what is counted, the first of equals; list.n: none has any. */
static size_t heaviest(const struct annotation *a, bool is_spe, uint64_t *out_weight,
		       uint64_t *out_all)
{
	size_t best = a->list.n;

	*out_weight = *out_all = 0;
	for (size_t i = 0; i < a->list.n; i++) {
		uint64_t weight = is_spe ? annotated_latency(a, i, COUNT_TOTAL).cycles
					 : annotated_count(a, i, COUNT_SAMPLES);

		*out_all += weight;
		if (weight > *out_weight) {
			*out_weight = weight;
			best = i;
		}
	}
	return best;
}

/* "`ldr x0, [x0]`, chase.c:36" or "0x1d8" */
static const char *where_words(const struct annotation *a, size_t i, struct table *t)
{
	const struct annotated *line = &a->list.items[i];
	const struct symbol *s = &line->symbol;
	const char *text = table_format(t, "0x%" PRIx64, line->text.address);
	const struct symbol_frame *frame;
	const struct strings *strings = symbols_strings(a->session->symbols);

	if (line->text.mnemonic[0] != '\0')
		text = table_format(t, "`%s%s%s` (%s)", line->text.mnemonic,
				    line->text.operands[0] == '\0' ? "" : " ", line->text.operands,
				    text);
	if (s->n_frames == 0)
		return text;
	frame = &symbols_frames(a->session->symbols)[s->first_frame];
	if (frame->file.v == 0 || frame->line == 0)
		return text;
	return table_format(t, "%s at %s:%" PRIu32, text,
			    path_base(strings_get(strings, frame->file)), frame->line);
}

/* The farthest source that many of an instruction's loads come from; NULL: none is known. */
static const struct annotate_value *far_source(const struct annotation *a, size_t i,
					       uint64_t *out_n)
{
	const struct annotated *line = &a->list.items[i];
	const struct annotate_value *far = NULL;

	*out_n = annotated_count(a, i, COUNT_SOURCE);
	for (uint32_t k = line->first[COUNT_SOURCE]; k < line->first[COUNT_SOURCE + 1]; k++) {
		const struct annotate_value *v = &a->values.items[k];
		const struct cpu_source *source = key_source(v->value);

		if (source == NULL || ratio(v->n, *out_n) < least_source)
			continue;
		if (far == NULL || source->level > key_source(far->value)->level)
			far = v;
	}
	return far;
}

/* ": 100 % of its loads from DRAM, mean 265 cycles"; "" where that is not known. */
static const char *latency_words(const struct annotation *a, size_t i, struct table *t)
{
	struct annotated_latency l = annotated_latency(a, i, COUNT_TOTAL);
	uint64_t n;
	const struct annotate_value *far = far_source(a, i, &n);
	const char *from = "";

	if (l.n_all == 0)
		return "";
	if (far != NULL)
		from = table_format(t, "%.0f %% of its loads from %s, ", 100 * ratio(far->n, n),
				    key_source(far->value)->name);
	return table_format(t, ": %smean %s%s", from, l.n_usable < l.n_all ? "\xe2\x89\xa5 " : "",
			    table_human(t, cell_count(l.cycles / l.n_all), "cycles"));
}

/* The load beyond the L1D with most latency; list.n: none is known. */
static size_t slowest_load(const struct annotation *a)
{
	uint64_t most = 0;
	size_t best = a->list.n;

	for (size_t i = 0; i < a->list.n; i++) {
		uint64_t cycles = annotated_latency(a, i, COUNT_TOTAL).cycles, n;
		const struct annotate_value *far = far_source(a, i, &n);

		if (far == NULL || key_source(far->value)->level <= SOURCE_L1 || cycles <= most)
			continue;
		most = cycles;
		best = i;
	}
	return best;
}

/* An instruction that waits for its operands is not what to change: says which load is slow. */
static void say_cause(const struct annotation *a, size_t i, struct table *answer)
{
	uint64_t total = annotated_latency(a, i, COUNT_TOTAL).cycles;
	uint64_t issue = annotated_latency(a, i, COUNT_ISSUE).cycles;
	size_t load = slowest_load(a);

	if (issue < total / 2 || load == i)
		return;
	if (load == a->list.n)
		answer_say(answer, "Most of it is before issue: it waits for its operands.");
	else
		answer_say(answer,
			   "Most of it is before issue: it waits for its operands. The slowest "
			   "load is %s%s.",
			   where_words(a, load, answer), latency_words(a, load, answer));
}

void annotate_summary(const struct annotation *a, struct table *answer)
{
	const struct annotate_region *r = a->region;
	bool is_spe = annotation_count(a, COUNT_RECORDS) > 0;
	uint64_t weight, all;
	size_t i = heaviest(a, is_spe, &weight, &all);
	uint64_t n;

	if (i == a->list.n)
		return;
	n = annotated_count(a, i, is_spe ? COUNT_RECORDS : COUNT_SAMPLES);
	answer_say(answer, "%.1f %% of the %s of %s %s in %s%s%s.", 100 * ratio(weight, all),
		   is_spe ? "latency" : "samples",
		   r->has_name ? r->name
			       : table_format(answer, "this code in %s",
					      names_module(a->session, r->module)),
		   is_spe ? "is" : "are", where_words(a, i, answer),
		   is_spe ? latency_words(a, i, answer) : "",
		   n < SPARSE_BELOW ? " (too few samples)" : "");
	if (is_spe)
		say_cause(a, i, answer);
}
