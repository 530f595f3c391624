/* SPDX-License-Identifier: Apache-2.0 */
/* Without multiplexing: which groups of events are counted in which run of the command. */
#include <stdlib.h>

#include "base/alloc.h"
#include "counting/counting_inside.h"

void assign_batches(struct counting_state *s)
{
	const struct pmu *pmu;

	s->n_batches = 1;
	for (size_t i = 0; i < s->n_specs; i++)
		s->batches[i] = EVERY_BATCH;
	if (!s->c->no_mux)
		return;
	for (size_t p = 0; (pmu = pmus_core(s->c->pmus, p)) != NULL; p++) {
		uint32_t n = 0;

		for (size_t i = 0; i < s->n_specs; i++) {
			const struct event_spec *spec = &s->specs[i];

			if (spec->pmu != pmu || s->states[i] != COUNT_COUNTED)
				continue;
			s->batches[i] = n;
			for (size_t k = 0; spec->group != 0 && k < i; k++)
				if (s->specs[k].pmu == pmu && s->specs[k].group == spec->group &&
				    s->states[k] == COUNT_COUNTED)
					s->batches[i] = s->batches[k];
			n += s->batches[i] == n;
		}
		s->n_batches = n > s->n_batches ? n : s->n_batches;
	}
}

unsigned counting_n_batches(const struct counting *c)
{
	struct counting_state s = { .c = c,
				    .specs = c->specs->list.items,
				    .n_specs = c->specs->list.n };

	s.batches = mem_zalloc(s.n_specs + 1, sizeof(*s.batches));
	s.states = mem_zalloc(s.n_specs + 1, sizeof(*s.states));
	for (size_t i = 0; i < s.n_specs; i++)
		s.states[i] = state_before_open(&s, &s.specs[i]);
	assign_batches(&s);
	free(s.batches);
	free(s.states);
	return s.n_batches;
}

/*
 * On mixed cores an event of a task is off its counter for two reasons: other groups have the
 * counter, or the task runs on cores of another type. Which of the two is not known, so
 * counts cannot be scaled.
 */
bool multiplexing_is_ambiguous(const struct counting_state *s)
{
	if (!s->is_mixed || target_is_cpus(s->c->target) || s->c->no_mux)
		return false;
	for (size_t i = 0; i < s->n_specs; i++)
		for (size_t k = 0; k < i; k++)
			if (is_core_spec(&s->specs[i]) && s->specs[i].pmu == s->specs[k].pmu &&
			    s->states[i] == COUNT_COUNTED && s->states[k] == COUNT_COUNTED &&
			    (s->specs[i].group == 0 || s->specs[i].group != s->specs[k].group))
				return true;
	return false;
}
