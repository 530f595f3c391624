/* SPDX-License-Identifier: Apache-2.0 */
/* The second look: at the lines that are to be shown, and then at those around them. */
#include <stdlib.h>

#include "analysis/sharing_cost.h"
#include "analysis/sharing_fight.h"
#include "analysis/sharing_steps.h"
#include "base/alloc.h"

static void look_at_lines(struct sharing *s, const struct select *select)
{
	struct analysis second = { .class = &sharing_accesses_class, .options = &s->choice };
	size_t n = s->subjects.n + s->around.n;
	struct scan_wish wish;

	sharing_choice_init(&s->choice, &s->options, n, s->first_ns, s->last_ns);
	for (size_t i = 0; i < n; i++)
		sharing_choice_add(&s->choice, sharing_line_at(s, i)->space,
				   sharing_line_at(s, i)->address);
	wish = sharing_accesses_wish(&s->choice);
	scan_part(s->session, select, &wish, &second, 1);
	s->accesses_seen = second.result;
}

/*
 * By what they are found to cost in the end: of what the first look took to be reloads some are not;
 * and what was handed over is behind what is fought over.
 */
static int compare_subjects(const void *left, const void *right)
{
	const struct sharing_subject *a = left, *b = right;
	bool is_over_a = sharing_is_in_phases(&a->judgement);
	bool is_over_b = sharing_is_in_phases(&b->judgement);

	if (is_over_a != is_over_b)
		return is_over_a ? 1 : -1;
	if (a->excess_cycles != b->excess_cycles)
		return (a->excess_cycles < b->excess_cycles) -
		       (a->excess_cycles > b->excess_cycles);
	return (a->line > b->line) - (a->line < b->line);
}

void sharing_rate_subjects(struct sharing *s)
{
	for (uint32_t i = 0; i < s->subjects.n; i++) {
		struct sharing_subject *subject = &s->subjects.items[i];

		sharing_rate(s, subject);
		subject->judgement = sharing_judge(s, &i, 1);
	}
}

void sharing_order_subjects(struct sharing *s)
{
	if (s->request.sort == SHARING_SORT_COST && s->subjects.n > 1)
		qsort(s->subjects.items, s->subjects.n, sizeof(*s->subjects.items),
		      compare_subjects);
}

void sharing_look_closely(struct sharing *s, const struct select *select)
{
	look_at_lines(s, select);
	sharing_group_accesses(s);
	sharing_name_accesses(s);
}

void sharing_forget_accesses(struct sharing *s)
{
	sharing_accesses_class.free(s->accesses_seen);
	s->accesses_seen = NULL;
	sharing_choice_release(&s->choice);
	names_release(&s->names);
	vec_release(&s->accesses);
	free(s->order);
	s->order = NULL;
	free(s->instructions);
	s->instructions = NULL;
}

static struct sharing_subject line_of(const uint64_t *key)
{
	return (struct sharing_subject){ .space = (uint32_t)key[0], .address = key[1] };
}

/* The other lines of objects on lines of fights that are worth a word. */
static void find_lines(const struct sharing *s, struct tuples *out)
{
	bool *wanted = mem_zalloc(s->subjects.n + 1, sizeof(*wanted));
	struct sharing_objects objects;
	struct sharing_instances instances;
	struct sharing_fights fights;

	sharing_objects_init(&objects, s);
	sharing_instances_init(&instances, &objects);
	sharing_fights_init(&fights, &objects, &instances);
	for (size_t i = 0; i < s->subjects.n; i++)
		wanted[i] = fights.list.items[fights.of_line[i]].worth != SHARING_WORTH_NOTHING;
	sharing_objects_lines(&objects, wanted, out);
	sharing_fights_release(&fights);
	sharing_instances_release(&instances);
	sharing_objects_release(&objects);
	free(wanted);
}

void sharing_look_around(struct sharing *s, const struct select *select)
{
	struct tuples lines;

	tuples_init(&lines, 2);
	find_lines(s, &lines);
	for (uint32_t i = 0; i < lines.n; i++)
		*vec_add(&s->around) = line_of(tuples_get(&lines, i));
	if (lines.n > 0) {
		for (size_t i = 0; i < s->subjects.n; i++)
			s->subjects.items[i] = line_of((const uint64_t[]){
				s->subjects.items[i].space, s->subjects.items[i].address });
		sharing_forget_accesses(s);
		sharing_look_closely(s, select);
		sharing_rate_subjects(s);
	}
	tuples_release(&lines);
}
