/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When nothing may be concluded, and what to count then. That nothing stands out is said only if
 * every root and something of each branch below it was counted, and can be.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "stat/causes/causes.h"

/* Events of metrics, each once. */
struct event_names {
	VEC_OF(const struct cpu_event *) list;
};

static void add_events_of(struct event_names *names, const struct cpu_metric *m)
{
	for (size_t i = 0; i < m->events.n; i++) {
		const struct cpu_event *event = m->events.items[i];
		bool is_there = false;

		for (size_t k = 0; k < names->list.n; k++)
			is_there |= names->list.items[k] == event;
		if (!is_there)
			*vec_add(&names->list) = event;
	}
}

static bool is_lost(const struct stat *s, const struct cpu_event *event, bool refused)
{
	const struct stat_total *t = stat_totals_find(&s->totals, event->name);
	bool is_refused = t != NULL && (t->state == COUNT_NOT_SUPPORTED ||
					t->state == COUNT_FORBIDDEN || t->reads_zero);

	return refused ? is_refused : !is_refused && stat_counted(s, event) == NULL;
}

static const char *silences_text(struct findings *out, struct text *text)
{
	const char *copy = text->n == 0 ? NULL : arena_strndup(&out->memory, text->bytes, text->n);

	text_release(text);
	return copy;
}

/* "STALL_FRONTEND, STALL_BACKEND": those that were not counted, or that cannot be; NULL: none. */
static const char *lost_names(const struct stat *s, const struct event_names *names, bool refused,
			      struct findings *out)
{
	enum { SHOWN = 6 };
	struct text text = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < names->list.n; i++) {
		const struct cpu_event *event = names->list.items[i];

		if (!is_lost(s, event, refused) || n++ >= SHOWN)
			continue;
		text_str(&text, n > 1 ? ", " : "");
		text_str(&text, event->linux_name != NULL ? event->linux_name : event->name);
	}
	if (n > SHOWN)
		text_format(&text, " and %zu more", n - SHOWN);
	return silences_text(out, &text);
}

/* As perf takes it: the kernel's word, or the number. */
static void put_perf_event(const struct cpu_event *event, struct text *out)
{
	if (event->linux_name != NULL)
		text_str(out, event->linux_name);
	else
		text_format(out, "r%llx", (unsigned long long)event->code);
}

/* A list of events that is longer goes on with another -e, so that a line can end between them. */
enum { LIST_LETTERS = 60 };

/* Whoever counted before counts again: perf, or else cyclops, which follows the method by itself. */
static const char *counting_command(const struct stat *s, const struct event_names *names,
				    struct findings *out)
{
	const struct counts *c = s->counts;
	const char *program = c->command != NULL ? c->command : "COMMAND";
	struct text text = { 0 };

	if (c->is_modelled)
		return NULL;
	if (c->source == NULL || strncmp(c->source, "perf", 4) != 0) {
		text_format(&text, "cyclops stat -- %s", program);
		return silences_text(out, &text);
	}
	text_str(&text, "perf stat");
	for (size_t i = 0, start = 0; i < names->list.n; i++) {
		if (i == 0 || text.n - start > LIST_LETTERS) {
			text_str(&text, " -e ");
			start = text.n;
		} else {
			text_char(&text, ',');
		}
		put_perf_event(names->list.items[i], &text);
	}
	text_format(&text, " -- %s", program);
	return silences_text(out, &text);
}

static void silences_add(struct findings *out, struct silence silence)
{
	*vec_add(&out->silences) = silence;
}

/* What they were taken for: "a Neoverse N1". */
static const char *cpu_words(const struct stat *s, struct findings *out)
{
	struct text text = { 0 };

	if (s->pmu->is_generic || strcmp(cpu_id(s->pmu->cpu), CPU_ANY_ARM) == 0)
		return "any CPU";
	text_format(&text, "%s %s", strchr("AEIOU", cpu_name(s->pmu->cpu)[0]) ? "an" : "a",
		    cpu_name(s->pmu->cpu));
	return silences_text(out, &text);
}

void stat_find_contradictions(const struct stat *s, struct findings *out)
{
	size_t size = s->contradictions.n * sizeof(*s->contradictions.items);
	struct contradiction *copy;

	if (s->contradictions.n == 0)
		return;
	copy = arena_alloc(&out->memory, size);
	memcpy(copy, s->contradictions.items, size);
	silences_add(out, (struct silence){ .kind = SILENCE_IMPLAUSIBLE,
					    .n = s->contradictions.n,
					    .contradictions = copy,
					    .cpu = cpu_words(s, out) });
}

static bool has_cpu_events(const struct stat *s)
{
	for (size_t i = 0; i < s->totals.list.n; i++)
		if (stat_counted(s, cpu_event_find(s->pmu, s->totals.list.items[i].event)) != NULL)
			return true;
	for (size_t i = 0; i < s->pmu->n_metrics; i++)
		if (s->values[i].is_known)
			return true;
	return false;
}

/* Roots that were counted, but too seldom, or that cannot be. */
static size_t count_roots(const struct stat *s, const struct stat_lacking *l, enum cell_mark mark)
{
	size_t n = 0;

	for (size_t i = 0; i < l->roots.n; i++) {
		const struct stat_value *v = stat_value_of(s, l->roots.items[i]);

		n += v->is_known && v->mark == mark;
	}
	return n;
}

/* All that should be counted: cycles, instructions, the roots, something of each branch. */
static void collect_events(const struct stat *s, const struct stat_lacking *l,
			   struct event_names *roots, struct event_names *all)
{
	const struct cpu_metric *ipc = cpu_metric_find(s->pmu, "ipc");

	if (ipc != NULL)
		add_events_of(all, ipc);
	for (size_t i = 0; i < l->roots.n; i++) {
		add_events_of(roots, l->roots.items[i]);
		add_events_of(all, l->roots.items[i]);
	}
	for (size_t i = 0; i < l->below.n; i++)
		add_events_of(all, l->below.items[i]);
}

static void add_lack_of_roots(const struct stat *s, const struct event_names *roots,
			      const char *command, struct findings *out)
{
	const char *lacks = lost_names(s, roots, false, out);
	const char *refused = lost_names(s, roots, true, out);

	if (lacks == NULL && refused != NULL)
		silences_add(out,
			     (struct silence){ .kind = SILENCE_REFUSED_ROOTS, .text = refused });
	else
		silences_add(out, (struct silence){ .kind = SILENCE_NO_ROOTS,
						    .text = lacks != NULL ? lacks : CPU_SLOTS,
						    .command = lacks != NULL ? command : NULL });
}

/* What is missing matters most where nothing was found. */
static void add_lack(const struct stat *s, const struct stat_lacking *l, struct findings *out)
{
	struct event_names roots = { 0 }, all = { 0 }, below = { 0 };
	const char *command;

	collect_events(s, l, &roots, &all);
	for (size_t i = 0; i < l->below.n; i++)
		add_events_of(&below, l->below.items[i]);
	command = counting_command(s, &all, out);
	if (!has_cpu_events(s) && s->counts->has_no_pmu)
		silences_add(out, (struct silence){ .kind = SILENCE_NO_PMU });
	else if (!has_cpu_events(s))
		silences_add(out,
			     (struct silence){ .kind = SILENCE_NO_CPU_EVENTS, .command = command });
	else if (count_roots(s, l, MARK_IMPLAUSIBLE) > 0)
		; /* said already */
	else if (count_roots(s, l, MARK_SPARSE) > 0)
		silences_add(out, (struct silence){ .kind = SILENCE_COVERAGE,
						    .percent = 100 * s->least_coverage });
	else if (l->roots.n > 0)
		add_lack_of_roots(s, &roots, command, out);
	else if (out->list.n > 0)
		; /* what was found is the answer */
	else if (!l->has_roots)
		silences_add(out, (struct silence){ .kind = SILENCE_NO_STALLS,
						    .text = cpu_name(s->pmu->cpu),
						    .command = l->below.n > 0 ? command : NULL });
	else if (l->below.n > 0)
		silences_add(out, (struct silence){ .kind = SILENCE_NOT_EXPLORED,
						    .text = lost_names(s, &below, false, out),
						    .command = command });
	else
		silences_add(out, (struct silence){ .kind = SILENCE_NO_METRIC });
	vec_release(&roots.list);
	vec_release(&all.list);
	vec_release(&below.list);
}

const char *stat_find_counting(const struct stat *s, struct findings *out)
{
	struct stat_lacking lacking = { 0 };
	struct event_names roots = { 0 }, all = { 0 };
	const char *command = NULL;

	stat_find_lacking(s, &lacking);
	collect_events(s, &lacking, &roots, &all);
	if (lacking.below.n > 0)
		command = counting_command(s, &all, out);
	vec_release(&roots.list);
	vec_release(&all.list);
	stat_lacking_release(&lacking);
	return command;
}

void stat_find_silences(const struct stat *s, struct findings *out)
{
	struct stat_lacking lacking = { 0 };

	stat_find_contradictions(s, out);
	stat_find_lacking(s, &lacking);
	add_lack(s, &lacking, out);
	stat_lacking_release(&lacking);
}
