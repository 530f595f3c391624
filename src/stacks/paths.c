/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { LABEL_WORDS = 4, RANK_BYTES = 4 };

static uint32_t label_of(struct stack_paths *t, const struct stack_label *label, uint64_t id)
{
	const uint64_t words[LABEL_WORDS] = { label->kind, id, label->module.v, label->is_inlined };
	uint32_t number = tuples_add(&t->label_numbers, words);

	if (number == t->labels.n)
		*vec_add(&t->labels) = *label;
	return number;
}

static uint32_t label_of_frame(struct stack_paths *t, const struct stack_frame *f)
{
	const struct stack_label label = {
		.kind = STACK_LABEL_FUNCTION,
		.name = f->function,
		.module = f->module,
		.function = f->function_id.v,
		.is_inlined = f->is_inlined,
		.is_kernel = f->is_kernel,
		.id = -1,
	};

	return label_of(t, &label, f->function_id.v);
}

static uint32_t label_of_process(struct stack_paths *t, const struct stack *stack)
{
	const struct process *p = timeline_process(t->stacks->session->timeline, stack->process);
	const struct stack_label label = {
		.kind = STACK_LABEL_PROCESS,
		.name = stacks_process_name(t->stacks, stack->process),
		.id = stack->process == 0 ? -1 : (int32_t)p->pid,
	};

	return label_of(t, &label, stack->process);
}

static uint32_t label_of_thread(struct stack_paths *t, const struct stack *stack)
{
	const struct stack_label label = {
		.kind = STACK_LABEL_THREAD,
		.name = stacks_thread_name(t->stacks, stack->tid),
		.id = stack->tid == DIM_ABSENT ? -1 : (int32_t)stack->tid,
	};

	return label_of(t, &label, stack->tid);
}

/* The labels of a stack, the function that was sampled first. */
struct path_labels {
	VEC_OF(uint32_t) list;
};

static void labels_of_stack(struct stack_paths *t, const struct stack *stack,
			    struct path_labels *out)
{
	struct stack_walk walk;
	struct stack_frame frame;

	out->list.n = 0;
	for (stack_walk_init(&walk, t->stacks, stack); stack_walk_next(&walk, &frame);)
		*vec_add(&out->list) = label_of_frame(t, &frame);
	if (t->wish.by_thread)
		*vec_add(&out->list) = label_of_thread(t, stack);
	if (t->wish.by_process)
		*vec_add(&out->list) = label_of_process(t, stack);
}

static int compare_labels(const void *left, const void *right, void *context)
{
	const struct stack_paths *t = context;
	const struct stack_label *a = &t->labels.items[*(const uint32_t *)left];
	const struct stack_label *b = &t->labels.items[*(const uint32_t *)right];
	int order = strcmp(a->name, b->name);

	if (order != 0)
		return order;
	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	if (a->module.v != b->module.v)
		return (a->module.v > b->module.v) - (a->module.v < b->module.v);
	if (a->is_inlined != b->is_inlined)
		return a->is_inlined ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

/* The next stack that has the event and the value. */
static bool next_wanted(const struct stack_paths *t, uint64_t *at, struct stack *out)
{
	while (stacks_next(t->stacks, at, out))
		if (out->event == t->wish.event && out->values[t->wish.value] > 0)
			return true;
	return false;
}

/* Orders the labels by name. Returns their ranks, to be freed. */
static uint32_t *rank_labels(struct stack_paths *t)
{
	uint32_t n = (uint32_t)t->labels.n;
	uint32_t *ranks = mem_alloc(n, sizeof(*ranks));

	t->by_rank = mem_alloc(n, sizeof(*t->by_rank));
	for (uint32_t i = 0; i < n; i++)
		t->by_rank[i] = i;
	qsort_r(t->by_rank, n, sizeof(*t->by_rank), compare_labels, t);
	for (uint32_t i = 0; i < n; i++)
		ranks[t->by_rank[i]] = i;
	return ranks;
}

int stack_paths_init(struct stack_paths *t, const struct stacks *stacks,
		     const struct stack_paths_wish *wish, struct err *err)
{
	const struct stack_label root = { .kind = STACK_LABEL_ROOT, .name = "all", .id = -1 };
	struct path_labels labels = { 0 };
	struct text key = { 0 }, value = { 0 };
	uint32_t *ranks;
	struct stack stack;
	int rc;

	*t = (struct stack_paths){ .stacks = stacks, .wish = *wish };
	tuples_init(&t->label_numbers, LABEL_WORDS);
	sorter_init(&t->sorted, stacks->memory_bytes);
	label_of(t, &root, 0);
	for (uint64_t at = 0; next_wanted(t, &at, &stack);)
		labels_of_stack(t, &stack, &labels);
	ranks = rank_labels(t);
	for (uint64_t at = 0; next_wanted(t, &at, &stack);) {
		labels_of_stack(t, &stack, &labels);
		text_reset(&key);
		text_reset(&value);
		for (size_t i = 0; i < labels.list.n; i++)
			sort_key_u32(
				&key,
				ranks[labels.list.items
					      [wish->is_inverted ? i : labels.list.n - 1 - i]]);
		sort_value_put(&value, stack.values[wish->value]);
		t->total += stack.values[wish->value];
		t->depth = labels.list.n > t->depth ? (uint32_t)labels.list.n : t->depth;
		sorter_add(&t->sorted, &key, &value);
	}
	rc = sorter_finish(&t->sorted, err);
	free(ranks);
	text_release(&key);
	text_release(&value);
	vec_release(&labels.list);
	if (rc < 0)
		stack_paths_release(t);
	return rc;
}

void stack_paths_release(struct stack_paths *t)
{
	tuples_release(&t->label_numbers);
	vec_release(&t->labels);
	sorter_release(&t->sorted);
	free(t->by_rank);
	*t = (struct stack_paths){ 0 };
}

bool stack_paths_next(const struct stack_paths *t, uint64_t *at, struct stack_path *out)
{
	struct sorter_record first, record;

	if (!sorter_next(&t->sorted, at, &first))
		return false;
	*out = (struct stack_path){ .ranks = first.key, .n = first.key_size / RANK_BYTES };
	record = first;
	for (uint64_t next = *at;; *at = next) {
		const uint8_t *value = record.value;

		out->weight += sort_value_get(&value);
		if (!sorter_next(&t->sorted, &next, &record) || !sorter_keys_equal(&first, &record))
			return true;
	}
}

uint32_t stack_path_label(const struct stack_paths *t, const struct stack_path *path, uint32_t i)
{
	return t->by_rank[sort_key_get_u32(path->ranks + (size_t)i * RANK_BYTES)];
}

uint32_t stack_paths_common(const struct stack_path *a, const struct stack_path *b)
{
	uint32_t n = 0, most = a->n < b->n ? a->n : b->n;

	while (n < most && memcmp(a->ranks + (size_t)n * RANK_BYTES,
				  b->ranks + (size_t)n * RANK_BYTES, RANK_BYTES) == 0)
		n++;
	return n;
}
