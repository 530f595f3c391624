/* SPDX-License-Identifier: Apache-2.0 */
/* The program's instructions as the walk comes to them: decoded once, with what records say of them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "commit_time/inside.h"
#include "variables/code.h"

enum { WORD = 4 };

/* By the order of places, then by distance: not by numbers, which depend on who came first. */
static int compare_branches(const void *left, const void *right)
{
	const struct branch *a = left, *b = right;

	if (a->place != b->place)
		return (a->place > b->place) - (a->place < b->place);
	return (a->distance > b->distance) - (a->distance < b->distance);
}

/* Where records say that branches went, by place. */
static void read_branches(struct program *p)
{
	const struct commit_records *r = p->records;
	uint32_t place = 0;

	for (uint32_t i = 0; i < r->targets.n; i++) {
		const uint64_t *key = tuples_get(&r->targets, i);

		*vec_add(&p->branches) = (struct branch){
			.place = (uint32_t)key[0],
			.distance = (int64_t)key[1],
			.node = NO_NODE,
			.n = r->n_targets.items[i],
		};
	}
	if (p->branches.n > 1)
		qsort(p->branches.items, p->branches.n, sizeof(*p->branches.items),
		      compare_branches);
	for (uint32_t i = 0; i < p->branches.n; i++) {
		struct branch *b = &p->branches.items[i];

		if (i > 0 && b->place == b[-1].place)
			b->n += b[-1].n;
		while (place <= b->place)
			p->first_branch[place++] = i;
	}
	while (place <= p->n_places)
		p->first_branch[place++] = (uint32_t)p->branches.n;
}

static uint32_t decode(struct program *p, struct place at)
{
	struct code code;
	struct node *node;
	struct flow flow;
	uint32_t number = (uint32_t)p->nodes.n;

	node = vec_add(&p->nodes);
	*node = (struct node){ .at = at, .next = NO_NODE, .target = NO_NODE };
	if (at.module.v == 0 || at.offset % WORD != 0 ||
	    !symbols_code(p->session->symbols, at, WORD, &code) || code.isa != ISA_A64 ||
	    code.size < WORD)
		return number;
	node->is_code = true;
	flow = isa_flow(ISA_A64, code.bytes, WORD, at.offset);
	node->kind = flow.kind;
	node->goes_to = flow.has_target ? flow.target : at.offset;
	if (isa_registers_of(load_u32(code.bytes), &node->registers))
		node->is_store = isa_registers_are_store(&node->registers);
	return number;
}

uint32_t program_node(struct program *p, struct place at)
{
	const uint64_t key[] = { at.module.v, at.offset };
	uint32_t number = tuples_add(&p->keys, key);

	if (number == p->nodes.n)
		decode(p, at);
	return p->nodes.items[number].is_code ? number : NO_NODE;
}

static void add_place(struct program *p, uint32_t place, struct place at)
{
	const struct record_sums *sums = &p->records->places.items[place];
	uint32_t number = program_node(p, at);
	struct node *node;

	p->nodes_of[place] = number;
	if (number == NO_NODE)
		return;
	node = &p->nodes.items[number];
	node->sums = sums;
	node->first_branch = p->first_branch[place];
	node->n_branches = p->first_branch[place + 1] - node->first_branch;
	p->n_records += sums->n;
	p->starts[p->n_starts] = number;
	p->up_to[p->n_starts++] = p->n_records;
}

void program_init(struct program *p, struct session *s, const struct commit_records *records,
		  const struct commit_cpu *cpu)
{
	uint32_t n = place_numbers_n(s->places), *numbers = mem_alloc(n + 1, sizeof(*numbers));
	struct place *places = mem_alloc(n + 1, sizeof(*places));

	*p = (struct program){ .session = s, .records = records, .cpu = *cpu, .n_places = n };
	tuples_init(&p->keys, 2);
	p->first_branch = mem_zalloc(n + 1, sizeof(*p->first_branch));
	p->nodes_of = mem_alloc(n + 1, sizeof(*p->nodes_of));
	memset(p->nodes_of, 0xff, (n + 1) * sizeof(*p->nodes_of));
	p->starts = mem_alloc(n + 1, sizeof(*p->starts));
	p->up_to = mem_alloc(n + 1, sizeof(*p->up_to));
	read_branches(p);
	place_numbers_sorted(s->places, s->pool, numbers, places);
	for (uint32_t i = 0; i < n; i++)
		if (numbers[i] < records->places.n && records->places.items[numbers[i]].n > 0)
			add_place(p, numbers[i], places[i]);
	p->order = numbers;
	free(places);
}

void program_release(struct program *p)
{
	tuples_release(&p->keys);
	vec_release(&p->nodes);
	vec_release(&p->branches);
	free(p->first_branch);
	free(p->nodes_of);
	free(p->order);
	free(p->starts);
	free(p->up_to);
	*p = (struct program){ 0 };
}
