/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile for callgrind_annotate and KCachegrind: the format is "Callgrind Format Specification" of Valgrind's
 * manual. Costs are by function and source line; the costs of a call are those of all stacks that it is in. How
 * often functions were called is not known: where the format wants that, the number of samples stands.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorter.h"
#include "export/formats/frames.h"

struct callgrind_function {
	struct stack_frame frame;
	struct str_id outer; /* what it is inlined into; 0: nothing */
};

/* Costs of lines and calls that are summed up before they are sorted. */
enum { MOST_COSTS = 16384 };

/* Costs of a line, or of a call in it. */
struct callgrind_cost {
	uint32_t function, line;
	uint32_t callee; /* + 1; 0: the line's own */
	uint32_t last;	 /* number + 1 of the stack that was added last */
	uint64_t values[N_STACK_VALUES];
};

struct callgrind {
	struct profile *profile;
	struct text *out;
	struct tuples function_keys, cost_keys;
	VEC_OF(struct callgrind_function) functions;
	VEC_OF(struct callgrind_cost) costs;
	struct sorter sorted;			 /* those that were too many */
	enum stack_value values[N_STACK_VALUES]; /* those that are written */
	size_t n_values;
	struct tuples names; /* ids that have been written with their names: kind, id */
	uint32_t n_stacks;
};

static uint32_t callgrind_function_of(struct callgrind *c, const struct stack_frame *f)
{
	const struct symbol *symbol = &c->profile->stacks->names.symbols[f->place];
	const struct callgrind_function made = { *f, f->is_inlined ? symbol->function
								   : (struct str_id){ 0 } };
	const uint64_t key[] = { f->function_id.v, f->module.v, made.outer.v, f->is_inlined };
	uint32_t number = tuples_add(&c->function_keys, key);

	if (number == c->functions.n)
		*vec_add(&c->functions) = made;
	return number;
}

static void callgrind_add(struct callgrind *c, uint32_t function, uint32_t line, uint32_t callee,
			  const struct stack *stack)
{
	const uint64_t key[] = { function, line, callee };
	uint32_t number = tuples_add(&c->cost_keys, key);
	struct callgrind_cost *cost;

	if (number == c->costs.n)
		*vec_add(&c->costs) = (struct callgrind_cost){ function, line, callee, 0, { 0 } };
	cost = &c->costs.items[number];
	if (cost->last == c->n_stacks) /* recursion: a stack counts once for each call in it */
		return;
	cost->last = c->n_stacks;
	for (int i = 0; i < N_STACK_VALUES; i++)
		cost->values[i] += stack->values[i];
}

/* Sends the costs on to be sorted by function, callee and line. */
static void sort_costs(struct callgrind *c)
{
	struct text key = { 0 }, value = { 0 };

	for (size_t i = 0; i < c->costs.n; i++) {
		const struct callgrind_cost *cost = &c->costs.items[i];

		text_reset(&key);
		text_reset(&value);
		sort_key_u32(&key, cost->function);
		sort_key_u32(&key, cost->callee);
		sort_key_u32(&key, cost->line);
		for (int v = 0; v < N_STACK_VALUES; v++)
			sort_value_put(&value, cost->values[v]);
		sorter_add(&c->sorted, &key, &value);
	}
	tuples_reset(&c->cost_keys);
	c->costs.n = 0;
	text_release(&key);
	text_release(&value);
}

static void callgrind_add_stack(struct callgrind *c, const struct stack *stack)
{
	uint32_t callee = 0;
	struct stack_walk walk;
	struct stack_frame f;

	c->n_stacks++;
	for (stack_walk_init(&walk, c->profile->stacks, stack); stack_walk_next(&walk, &f);) {
		uint32_t function = callgrind_function_of(c, &f);

		callgrind_add(c, function, f.line, callee, stack);
		callee = function + 1;
	}
	if (c->costs.n >= MOST_COSTS)
		sort_costs(c);
}

/* "fn=(3) name", with the name where it is first. */
static void put_id(struct callgrind *c, const char *key, char kind, uint32_t id, const char *name)
{
	const uint64_t words[] = { (uint64_t)kind, id };
	uint32_t n = c->names.n;

	text_format(c->out, "%s=(%u)", key, id + 1);
	if (tuples_add(&c->names, words) == n) {
		text_char(c->out, ' ');
		put_printable(c->out, name);
	}
	text_char(c->out, '\n');
}

/* The lines that say which function follows: of the costs ("", "fl"), or of a call ("c", "cfi"). */
static void put_function(struct callgrind *c, const char *prefix, const char *file_key,
			 uint32_t number)
{
	const struct callgrind_function *f = &c->functions.items[number];
	const struct strings *strings = symbols_strings(c->profile->session->symbols);
	struct text name = { 0 }, key = { 0 };

	text_format(&key, "%sob%c", prefix, 0);
	put_id(c, key.bytes, 'o', f->frame.module.v,
	       names_module(c->profile->session, f->frame.module));
	put_id(c, file_key, 'f', number, f->frame.file != NULL ? f->frame.file : "???");
	profile_put_frame_name(c->profile, &f->frame, &name);
	if (f->frame.is_inlined)
		text_format(&name, " (inlined into %s)",
			    f->outer.v != 0 ? strings_get(strings, f->outer) : "[unknown]");
	text_char(&name, '\0');
	text_reset(&key);
	text_format(&key, "%sfn%c", prefix, 0);
	put_id(c, key.bytes, 'n', number, name.bytes);
	text_release(&name);
	text_release(&key);
}

static void put_costs(struct callgrind *c, const struct callgrind_cost *cost)
{
	text_u64(c->out, cost->line);
	for (size_t i = 0; i < c->n_values; i++) {
		text_char(c->out, ' ');
		text_u64(c->out, cost->values[c->values[i]]);
	}
	text_char(c->out, '\n');
}

/* By function; in it the lines' own costs come first. */
/* The next line or call, with all its costs. */
static bool next_cost(const struct callgrind *c, uint64_t *at, struct callgrind_cost *out)
{
	struct sorter_record first, record;

	if (!sorter_next(&c->sorted, at, &first))
		return false;
	*out = (struct callgrind_cost){
		.function = sort_key_get_u32(first.key),
		.callee = sort_key_get_u32(first.key + 4),
		.line = sort_key_get_u32(first.key + 8),
	};
	record = first;
	for (uint64_t next = *at;; *at = next) {
		for (int i = 0; i < N_STACK_VALUES; i++)
			out->values[i] += sort_value_get(&record.value);
		if (!sorter_next(&c->sorted, &next, &record) || !sorter_keys_equal(&first, &record))
			return true;
	}
}

static void put_functions(struct callgrind *c)
{
	uint32_t last = UINT32_MAX;
	struct callgrind_cost cost;

	for (uint64_t at = 0; next_cost(c, &at, &cost); last = cost.function) {
		if (cost.function != last) {
			text_char(c->out, '\n');
			put_function(c, "", "fl", cost.function);
		}
		if (cost.callee != 0) {
			put_function(c, "c", "cfi", cost.callee - 1);
			text_format(c->out, "calls=%llu 0\n",
				    (unsigned long long)cost.values[STACK_RECORDS]);
		}
		put_costs(c, &cost);
		profile_writer_step(c->profile->out);
	}
}

static void put_caveat(struct profile *p, const char *caveat)
{
	struct callgrind *c = p->format_state;

	text_format(c->out, "desc: Note: %s\n", caveat);
}

static void put_head(struct callgrind *c)
{
	const struct profile *p = c->profile;

	text_str(c->out, "# callgrind format\nversion: 1\ncreator: cyclops\n");
	profile_each_caveat(p, put_caveat);
	text_str(c->out,
		 "desc: Note: calls are not counted: their number is that of the samples\n");
	text_str(c->out, "positions: line\n");
	for (int value = 0; value < N_STACK_VALUES; value++)
		if (profile_has_value(p, p->event, value))
			c->values[c->n_values++] = value;
	for (size_t i = 0; i < c->n_values; i++)
		text_format(c->out, "event: %s : %s\n", stack_value_name(c->values[i]),
			    stack_value_meaning(c->values[i]));
	text_str(c->out, "events:");
	for (size_t i = 0; i < c->n_values; i++)
		text_format(c->out, " %s", stack_value_name(c->values[i]));
	text_str(c->out, "\nsummary:");
	for (size_t i = 0; i < c->n_values; i++)
		text_format(c->out, " %llu",
			    (unsigned long long)p->stacks->totals[p->event][c->values[i]]);
	text_char(c->out, '\n');
}

static int callgrind_write(struct profile *profile, struct err *err)
{
	struct callgrind c = { .profile = profile, .out = &profile->out->text };
	struct stack stack;
	int rc;

	sorter_init(&c.sorted, profile->stacks->memory_bytes);
	tuples_init(&c.function_keys, 4);
	tuples_init(&c.cost_keys, 3);
	tuples_init(&c.names, 2);
	profile->format_state = &c;
	for (uint64_t at = 0; stacks_next(profile->stacks, &at, &stack);)
		if (stack.event == profile->event)
			callgrind_add_stack(&c, &stack);
	sort_costs(&c);
	rc = sorter_finish(&c.sorted, err);
	if (rc == 0) {
		put_head(&c);
		put_functions(&c);
	}
	sorter_release(&c.sorted);
	tuples_release(&c.function_keys);
	tuples_release(&c.cost_keys);
	tuples_release(&c.names);
	vec_release(&c.functions);
	vec_release(&c.costs);
	return rc;
}

const struct profile_format profile_callgrind = {
	.name = "callgrind",
	.meaning = "for callgrind_annotate and KCachegrind: costs by line and call",
	.has_values = true,
	.depth = SYMBOLS_LINES,
	.write = callgrind_write,
};
