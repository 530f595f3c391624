/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: a line for each, "process;outer;inner WEIGHT", as the scripts of FlameGraph and inferno read
 * them. A semicolon in a name becomes a colon. Inlined functions end in "_[i]", as stackcollapse-perf.pl
 * marks them.
 */
#include "base/alloc.h"
#include "export/formats/profile.h"
#include "stacks/tree.h"

/* Appends a label: nothing in it may end it, or the line. */
static void put_folded(const struct profile *p, const struct stack_label *label, struct text *out)
{
	const struct stack_frame frame = {
		.function = label->name,
		.function_id = { label->function },
		.module = label->module,
	};
	struct text name = { 0 };
	size_t start = out->n;

	if (label->kind == STACK_LABEL_FUNCTION)
		profile_put_frame_name(p, &frame, &name);
	else
		text_str(&name, label->name);
	text_char(&name, '\0');
	put_printable(out, name.bytes);
	for (size_t i = start; i < out->n; i++)
		if (out->bytes[i] == ';')
			out->bytes[i] = ':';
	if (label->is_inlined)
		text_str(out, "_[i]");
	text_release(&name);
}

static void folded_write(struct profile *p)
{
	struct text *out = &p->out->text, path = { 0 };
	VEC_OF(size_t) ends = { 0 }; /* of the path, by depth of the node */
	struct stack_tree tree;

	stack_tree_init(&tree, p->stacks,
			&(struct stack_tree_wish){ .event = p->event,
						   .value = p->value,
						   .is_inverted = p->options->is_inverted,
						   .by_process = true });
	vec_reserve(&ends, (size_t)tree.depth + 1);
	for (uint32_t node = stack_tree_next(&tree, 0); node != STACK_TREE_END;
	     node = stack_tree_next(&tree, node)) {
		const struct stack_node *n = &tree.nodes.items[node];

		path.n = ends.items[n->depth - 1];
		if (path.n > 0)
			text_char(&path, ';');
		put_folded(p, stack_tree_label(&tree, node), &path);
		ends.items[n->depth] = path.n;
		if (n->self == 0)
			continue;
		text_add(out, path.bytes, path.n);
		text_char(out, ' ');
		text_u64(out, n->self);
		text_char(out, '\n');
		profile_writer_step(p->out);
	}
	stack_tree_release(&tree);
	vec_release(&ends);
	text_release(&path);
}

const struct profile_format profile_folded = {
	.name = "folded",
	.meaning = "a line for each call stack, for flamegraph.pl and inferno",
	.can_invert = true,
	.depth = SYMBOLS_INLINED,
	.write = folded_write,
};
