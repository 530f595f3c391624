/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: a line for each, "process;outer;inner WEIGHT", as the scripts of FlameGraph and inferno read
 * them. A semicolon in a name becomes a colon. Inlined functions end in "_[i]", as stackcollapse-perf.pl
 * marks them.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "export/formats/profile.h"
#include "stacks/paths.h"

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

static int folded_write(struct profile *p, struct err *err)
{
	const struct stack_paths_wish wish = {
		.event = p->event,
		.value = p->value,
		.is_inverted = p->options->is_inverted,
		.by_process = true,
	};
	struct text *out = &p->out->text, line = { 0 };
	struct stack_path path, last = { 0 };
	struct stack_paths paths;
	size_t *ends; /* of the line, by depth */

	if (stack_paths_init(&paths, p->stacks, &wish, err) < 0)
		return -1;
	ends = mem_zalloc((size_t)paths.depth + 1, sizeof(*ends));
	for (uint64_t at = 0; stack_paths_next(&paths, &at, &path); last = path) {
		uint32_t depth = stack_paths_common(&last, &path);

		for (line.n = ends[depth]; depth < path.n; ends[++depth] = line.n) {
			if (line.n > 0)
				text_char(&line, ';');
			put_folded(p, &paths.labels.items[stack_path_label(&paths, &path, depth)],
				   &line);
		}
		text_add(out, line.bytes, line.n);
		text_char(out, ' ');
		text_u64(out, path.weight);
		text_char(out, '\n');
		profile_writer_step(p->out);
	}
	stack_paths_release(&paths);
	text_release(&line);
	free(ends);
	return 0;
}

const struct profile_format profile_folded = {
	.name = "folded",
	.meaning = "a line for each call stack, for flamegraph.pl and inferno",
	.can_invert = true,
	.depth = SYMBOLS_INLINED,
	.write = folded_write,
};
