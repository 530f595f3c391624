/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions of a stack are called. */
#include "stacks/stacks.h"

static const char unknown[] = "[unknown]";

uint32_t stacks_n_levels(const struct stacks *s, uint32_t place)
{
	uint32_t n = s->names.symbols[place].n_frames;

	return n == 0 ? 1 : n;
}

/* The outermost function has the name of the symbol table, as in `hot`, not that of the debug information. */
void stacks_frame(const struct stacks *s, uint32_t place, uint32_t level, struct stack_frame *out)
{
	const struct symbol *symbol = &s->names.symbols[place];
	const struct modules *modules = timeline_modules(s->session->timeline);
	const struct strings *strings = symbols_strings(s->session->symbols);
	struct module_id module = session_place(s->session, place).module;
	enum module_kind kind = modules_get(modules, module)->kind;

	*out = (struct stack_frame){
		.function_id = symbol->function,
		.module = module,
		.place = place,
		.level = level,
		.is_inlined = level + 1 < symbol->n_frames,
		.is_kernel = kind == MODULE_KERNEL || kind == MODULE_KERNEL_MODULE,
	};
	if (symbol->n_frames > 0) {
		const struct symbol_frame *f =
			&symbols_frames(s->session->symbols)[symbol->first_frame + level];

		if (out->is_inlined)
			out->function_id = f->function;
		out->line = f->line;
		out->file = f->file.v == 0 ? NULL : strings_get(strings, f->file);
	}
	out->function = out->function_id.v == 0 ? unknown : strings_get(strings, out->function_id);
}

void stack_walk_init(struct stack_walk *w, const struct stacks *s, const struct stack *stack)
{
	*w = (struct stack_walk){
		.stacks = s,
		.place = stack->place,
		.callers = stack->callers,
		.n_callers = stack->n_callers,
		.is_leaf = true,
	};
}

bool stack_walk_next(struct stack_walk *w, struct stack_frame *out)
{
	if (w->level == stacks_n_levels(w->stacks, w->place)) {
		if (w->n_callers == 0)
			return false;
		w->place = stack_caller(w->stacks, w->callers, --w->n_callers);
		w->level = 0;
		w->is_leaf = false;
	}
	stacks_frame(w->stacks, w->place, w->level++, out);
	out->is_leaf = w->is_leaf;
	return true;
}

const char *stacks_process_name(const struct stacks *s, uint32_t process)
{
	const struct timeline *timeline = s->session->timeline;
	struct str_id comm = timeline_process(timeline, process)->comm;

	return process == 0 || comm.v == 0 ? unknown
					   : strings_get(timeline_strings(timeline), comm);
}

const char *stacks_thread_name(const struct stacks *s, uint64_t tid)
{
	const struct timeline *timeline = s->session->timeline;
	struct str_id comm = { 0 };

	if (tid != DIM_ABSENT)
		comm = timeline_comm(timeline, (uint32_t)tid, TIMELINE_NO_TIME);
	return comm.v == 0 ? unknown : strings_get(timeline_strings(timeline), comm);
}
