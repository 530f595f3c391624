/* SPDX-License-Identifier: Apache-2.0 */
#include "session/tip.h"

#include <inttypes.h>

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
	const char *out;

	text_format(&line, "cyclops %s", command);
	if (s->raw.is_raw)
		text_str(&line, " --raw");
	add_option(&line, "midr", s->raw.midr);
	add_option(&line, "symfs", o->symfs);
	for (const char *const *dir = o->debug_dirs; dir != NULL && *dir != NULL; dir++)
		add_option(&line, "debug-dir", *dir);
	add_option(&line, "kallsyms", o->kallsyms);
	add_option(&line, "vmlinux", o->vmlinux);
	add_option(&line, "catalog", s->catalog_path);
	add_option(&line, "cpu", s->cpu_is_given ? cpu_id(s->cpu) : NULL);
	if (o->use_debuginfod)
		text_str(&line, " --debuginfod");
	if (s->interval_given != 0)
		text_format(&line, " --interval %" PRIu64, s->interval_given);
	add_option(&line, "counts", s->counts_path);
	add_option(&line, "select", s->select);
	text_shell_word(&line, s->path);
	text_char(&line, '\0');
	out = table_text(t, line.bytes);
	text_release(&line);
	return out;
}
