/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that a just-in-time compiler dumped with its code: jit-PID.dump. */
#include "capture/format/jitdump.h"

#include <string.h>

#include "base/path.h"
#include "elf/regular_file.h"
#include "symbol/binary_load.h"

int symbols_jit_dump(const struct symbols_options *options, const char *path, struct mapped *out,
		     struct err *err)
{
	struct text where = { 0 };
	int rc;

	if (options->jit_map_dir != NULL)
		text_format(&where, "%s/%s", options->jit_map_dir, path_base(path));
	else if (options->symfs != NULL)
		text_format(&where, "%s%s", options->symfs, path);
	else if (options->use_this_machine)
		text_str(&where, path);
	else
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: of another machine", path);
	text_char(&where, '\0');
	rc = regular_file_map(out, where.bytes, err);
	text_release(&where);
	return rc;
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
	add_functions(&b->own, &dump);
	functions_build(&b->own);
	b->functions = &b->own;
	b->dump = file;
	b->dump_machine = (uint16_t)dump.machine;
	return true;
}
