/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and lines that a just-in-time compiler dumped with its code: jit-PID.dump. */
#include "capture/format/jitdump.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "elf/regular_file.h"
#include "symbol/binary_load.h"
#include "symbol/lines.h"

int symbols_jit_dump(const struct symbols_options *options, const char *path, struct mapped *out,
		     struct err *err)
{
	char *where;
	int rc;

	if (options->jit_map_dir != NULL)
		where = path_in_root(options->jit_map_dir, path_base(path));
	else if (options->symfs != NULL)
		where = path_in_root(options->symfs, path);
	else if (options->use_this_machine)
		where = mem_strndup(path, strlen(path));
	else
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: of another machine", path);
	if (where == NULL)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: not below --symfs", path);
	rc = regular_file_map(out, where, err);
	free(where);
	return rc;
}

/* Orders by address; of one address in the order of the dump, which `to` holds while they are read. */
static int compare_jit_lines(const void *left, const void *right)
{
	const struct jit_line *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* Each line reaches to the next one, the last to the end of the function. Of one address the last counts. */
static void set_ends(struct jit_lines *l, size_t first, uint64_t end)
{
	size_t n = first;

	qsort(l->list.items + first, l->list.n - first, sizeof(*l->list.items), compare_jit_lines);
	for (size_t i = first; i < l->list.n; i++) {
		struct jit_line line = l->list.items[i];

		line.to = i + 1 < l->list.n ? l->list.items[i + 1].from : end;
		if (line.from < line.to)
			l->list.items[n++] = line;
	}
	l->list.n = n;
}

static void read_function(struct jit_lines *l, const struct jitdump_code *code, uint64_t shift)
{
	struct jitdump_lines lines = jitdump_lines_of(code, shift);
	struct jitdump_line line;
	size_t first = l->list.n;

	while (jitdump_lines_next(&lines, &line))
		*vec_add(&l->list) = (struct jit_line){
			.from = code->file_at + line.offset,
			.to = l->list.n,
			.line = line.line,
			.file = strings_add(&l->files, line.file, line.n_file),
		};
	if (l->list.n > first)
		set_ends(l, first, code->file_at + code->size);
}

void jit_lines_read(struct jit_lines *out, const struct jitdump *dump)
{
	uint64_t shift = jitdump_line_shift(dump);
	struct jitdump d = *dump;
	struct jitdump_code code;

	strings_init(&out->files);
	while (jitdump_next(&d, &code))
		if (!code.is_move)
			read_function(out, &code, shift);
}

void jit_lines_release(struct jit_lines *l)
{
	strings_release(&l->files);
	vec_release(&l->list);
	*l = (struct jit_lines){ 0 };
}

void jit_lines_ask(const struct jit_lines *l, const struct lines_question *question,
		   struct lines_answer *answer)
{
	size_t at = 0;

	strings_init(&answer->strings);
	answer->chains = mem_zalloc(question->n, sizeof(*answer->chains));
	for (size_t i = 0; i < question->n && !question->without_lines; i++) {
		const struct jit_line *line;

		while (at < l->list.n && l->list.items[at].to <= question->addresses[i])
			at++;
		if (at == l->list.n)
			return;
		line = &l->list.items[at];
		if (line->from > question->addresses[i])
			continue;
		answer->chains[i] = (struct line_chain){ (uint32_t)answer->frames.n, 1 };
		*vec_add(&answer->frames) = (struct symbol_frame){
			.file = strings_addz(&answer->strings, strings_get(&l->files, line->file)),
			.line = line->line,
		};
	}
}

void jit_lines_each(const struct jit_lines *l, lines_visit *visit, void *context)
{
	for (size_t i = 0; i < l->list.n; i++) {
		const struct jit_line *line = &l->list.items[i];

		visit(context, strings_get(&l->files, line->file), line->line, line->from,
		      line->to);
	}
}

static void add_functions(struct functions *functions, struct jitdump *dump)
{
	struct jitdump_code code;

	while (jitdump_next(dump, &code)) {
		if (code.is_move)
			continue;
		functions_add(functions, &(struct function){
						 .start = code.file_at,
						 .size = code.size,
						 .limit = code.file_at + code.size,
						 .name = arena_strndup(&functions->text, code.name,
								       strlen(code.name)),
						 .binding = FUNCTION_GLOBAL,
					 });
	}
}

bool load_jit_dump(struct loading *l)
{
	const char *path = strings_get(l->sources->strings, l->module->path);
	struct binary *b = l->binary;
	struct mapped file = { 0 };
	struct jitdump dump;
	struct err err;
	bool is_read = jitdump_is_path(path) &&
		       symbols_jit_dump(l->sources->search->options, path, &file, &err) == 0 &&
		       jitdump_open(file.bytes, file.size, path, &dump, &err) == 0;

	if (!is_read) {
		mapped_release(&file);
		return false;
	}
	jit_lines_read(&b->dump_lines, &dump);
	add_functions(&b->own, &dump);
	functions_build(&b->own);
	b->functions = &b->own;
	b->dump = file;
	b->dump_machine = (uint16_t)dump.machine;
	return true;
}
