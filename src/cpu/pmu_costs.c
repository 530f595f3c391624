/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads penalties and the kernel's event names of a CPU file. A --catalog file may replace the
 * events; entries for an event that is gone are skipped.
 */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cpu/json_read.h"
#include "cpu/pmu_read.h"

static const char *const side_names[] = {
	[SIDE_FRONTEND] = "frontend",
	[SIDE_BACKEND] = "backend",
	[SIDE_BAD_SPECULATION] = "bad_speculation",
};

const char *cpu_side_name(enum cpu_side side)
{
	return side_names[side];
}

bool cpu_metric_is_of_side(const struct cpu_metric *m, enum cpu_side side)
{
	return strncmp(m->name, side_names[side], strlen(side_names[side])) == 0;
}

static int read_side(const json_t *object, enum cpu_side *out, struct err *err)
{
	const json_t *kind = json_object_get(object, "kind");

	for (size_t i = 0; json_is_string(kind) && i < COUNT(side_names); i++) {
		if (strcmp(json_string_value(kind), side_names[i]) != 0)
			continue;
		*out = (enum cpu_side)i;
		return 0;
	}
	return json_wrong("kind", kind, "frontend, backend or bad_speculation", err);
}

static int read_penalty(struct cpu_pmu *pmu, const json_t *object, struct cpu_penalty *out,
			struct err *err)
{
	const json_t *cycles = json_object_get(object, "cycles");
	const char *event;

	if (json_read_text(&pmu->memory, object, "event", &event, err) < 0 ||
	    json_read_text(&pmu->memory, object, "issue", &out->issue, err) < 0 ||
	    json_read_text(&pmu->memory, object, "source", &out->source, err) < 0 ||
	    read_side(object, &out->side, err) < 0)
		return -1;
	if (!json_is_number(cycles) || json_number_value(cycles) <= 0)
		return json_wrong("cycles", cycles, "a number above 0", err);
	out->event = cpu_event_find(pmu, event);
	out->cycles = json_number_value(cycles);
	out->is_estimate = json_is_true(json_object_get(object, "estimate"));
	out->is_upper_bound = json_is_true(json_object_get(object, "upper_bound"));
	return 0;
}

static bool has_issue(const struct cpu_pmu *pmu, size_t n, const char *issue)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(pmu->penalties[i].issue, issue) == 0)
			return true;
	return false;
}

/* Reads penalties, except for issues that an earlier list has. */
static int read_penalties(struct cpu_pmu *pmu, const json_t *list, struct err *err)
{
	size_t n_own = pmu->n_penalties;

	for (size_t i = 0; i < json_array_size(list); i++) {
		struct cpu_penalty penalty = { 0 };

		if (read_penalty(pmu, json_array_get(list, i), &penalty, err) < 0)
			return err_within(err, "penalties[%zu]", i);
		if (penalty.event != NULL && !has_issue(pmu, n_own, penalty.issue))
			pmu->penalties[pmu->n_penalties++] = penalty;
	}
	return 0;
}

static bool has_word(const struct cpu_pmu *pmu, const char *word)
{
	for (size_t i = 0; i < pmu->n_kernel_events; i++)
		if (strcasecmp(pmu->kernel_events[i].word, word) == 0)
			return true;
	return false;
}

static int read_kernel_events(struct cpu_pmu *pmu, json_t *object, struct err *err)
{
	const char *word;
	json_t *event;

	json_object_foreach(object, word, event)
	{
		const struct cpu_event *found;

		if (!json_is_string(event))
			return json_wrong("kernel_events", event, "names of events", err);
		found = cpu_event_find(pmu, json_string_value(event));
		if (found == NULL || has_word(pmu, word))
			continue;
		pmu->kernel_events[pmu->n_kernel_events++] = (struct kernel_event){
			.word = arena_strndup(&pmu->memory, word, strlen(word)),
			.event = found,
		};
	}
	return 0;
}

int cpu_pmu_read_costs(struct cpu_pmu *pmu, const json_t *own, const json_t *base, struct err *err)
{
	const json_t *files[] = { own, base };
	const json_t *penalties[COUNT(files)] = { NULL };
	json_t *words[COUNT(files)] = { NULL };
	size_t n_penalties = 0, n_words = 0;

	for (size_t i = 0; i < COUNT(files); i++) {
		if (json_read_list(files[i], "penalties", &penalties[i], err) < 0)
			return -1;
		words[i] = json_object_get(files[i], "kernel_events");
		n_penalties += json_array_size(penalties[i]);
		n_words += json_object_size(words[i]);
	}
	pmu->penalties = json_array_memory(&pmu->memory, n_penalties, sizeof(*pmu->penalties));
	pmu->kernel_events = json_array_memory(&pmu->memory, n_words, sizeof(*pmu->kernel_events));
	for (size_t i = 0; i < COUNT(files); i++)
		if (read_penalties(pmu, penalties[i], err) < 0 ||
		    read_kernel_events(pmu, words[i], err) < 0)
			return -1;
	return 0;
}

const struct cpu_penalty *cpu_penalty_of(const struct cpu_pmu *pmu, const struct cpu_event *event)
{
	for (size_t i = 0; i < pmu->n_penalties; i++)
		if (pmu->penalties[i].event == event)
			return &pmu->penalties[i];
	return NULL;
}

double cpu_penalty_cycles(const struct cpu_pmu *pmu, const char *issue)
{
	for (size_t i = 0; i < pmu->n_penalties; i++)
		if (strcmp(pmu->penalties[i].issue, issue) == 0)
			return pmu->penalties[i].cycles;
	return 0;
}
