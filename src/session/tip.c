/* SPDX-License-Identifier: Apache-2.0 */
#include "session/tip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"

static void add_option(struct text *line, const char *option, const char *value)
{
	if (value == NULL)
		return;
	text_format(line, " --%s", option);
	text_shell_word(line, value);
}

const char *tip(struct table *t, const struct session *s, const char *command)
{
	const struct symbols_options *o = &s->symbols_options;
	struct text line = { 0 };

	text_format(&line, "cyclops %s", command);
	if (s->raw.is_raw)
		text_str(&line, " --raw");
	add_option(&line, "midr", s->raw.midr);
	add_option(&line, "symfs", o->symfs);
	for (const char *const *dir = o->debug_dirs; dir != NULL && *dir != NULL; dir++)
		add_option(&line, "debug-dir", *dir);
	add_option(&line, "kallsyms", o->kallsyms);
	add_option(&line, "vmlinux", o->vmlinux);
	add_option(&line, "guestkallsyms", o->guest_kallsyms);
	add_option(&line, "guestmount", o->guest_mount);
	add_option(&line, "catalog", s->catalog_path);
	add_option(&line, "cpu", s->cpu_is_given ? cpu_id(s->cpu) : NULL);
	if (o->use_debuginfod)
		text_str(&line, " --debuginfod");
	if (s->interval_given != 0)
		text_format(&line, " --interval %" PRIu64, s->interval_given);
	add_option(&line, "counts", s->counts_path);
	add_option(&line, "select", s->select);
	text_shell_word(&line, s->path);
	return table_take_text(t, &line);
}

const char *recorded_program(const char *line)
{
	const char *dashes = strstr(line, " -- ");
	const char *program = dashes != NULL ? dashes + strlen(" -- ") : "";

	return program[0] == '\0' || strpbrk(program, "\t\n\"'\\$`*?[]#~<>|&;(){}!") != NULL
		       ? NULL
		       : program;
}

/* Which machine a line modelled: " --set dram_cycles=200". */
static void add_machine(struct text *out, const char *line, const char *end)
{
	static const char *const options[] = { " --model ", " --set " };

	if (strncmp(line, "cyclops model ", strlen("cyclops model ")) != 0)
		return;
	for (size_t i = 0; i < COUNT(options); i++)
		for (const char *at = strstr(line, options[i]); at != NULL && at < end;
		     at = strstr(at + 1, options[i]))
			text_add(out, at,
				 strlen(options[i]) + strcspn(at + strlen(options[i]), " "));
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * The program as it is found here: who recorded it may have been in another folder, or on another machine. NULL: it is
 * not here. `word` is what it was called there.
 */
static const char *program_here(const struct session *s, const char *word)
{
	uint32_t n = s->symbols == NULL ? 0 : (uint32_t)timeline_n_processes(s->timeline);

	for (uint32_t i = 0; i < n; i++) {
		struct module_id module = timeline_process(s->timeline, i)->program;
		const char *file = module.v == 0 ? NULL : symbols_file_of(s->symbols, module);

		if (file != NULL && strcmp(path_base(file), path_base(word)) == 0)
			return is_same_file(file, word) ? word : file;
	}
	return NULL;
}

/* " ./walk 7" of what was recorded, with the path that it has here. False: it is not here. */
static bool add_program(const struct session *s, const char *program, struct text *out)
{
	size_t n = strcspn(program, " ");
	char *word = mem_strndup(program, n);
	const char *here = program_here(s, word);

	if (here != NULL) {
		text_shell_word(out, here);
		text_str(out, program + n);
	}
	free(word);
	return here != NULL;
}

const char *tip_of_program(struct table *t, const struct session *s, const char *command)
{
	const struct info *info = s != NULL && s->capture != NULL ? capture_info(s->capture) : NULL;
	const char *line = info != NULL && info->command_line.v != 0
				   ? strings_get(capture_strings(s->capture), info->command_line)
				   : "";
	const char *program = recorded_program(line);
	struct text text = { 0 };

	text_str(&text, command);
	if (program != NULL)
		add_machine(&text, line, program);
	text_str(&text, " --");
	if (program == NULL || !add_program(s, program, &text))
		text_str(&text, " COMMAND");
	return table_take_text(t, &text);
}
