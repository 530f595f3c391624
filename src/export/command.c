/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops export: every record, for other tools. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/output_file.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/message.h"
#include "cli/printer.h"
#include "export/export.h"
#include "export/spe_parser.h"

static const struct usage usage = {
	"export",
	"[--table spe|samples|branches] [--format csv|json|spe-parser] [OPTIONS] [FILE]",
	"Writes every record as a row, in file order.",
};

/* The one format that is not a table: three files as Arm's spe-parser writes them. */
static const char spe_parser_format[] = "spe-parser";

static const struct option writing[] = {
	{ "table", 0, OPTION_TEXT, offsetof(struct output_options, table), "NAME",
	  "spe (the default where there are SPE records), samples or\n"
	  "                          branches: entries of branch stacks" },
	{ "format", 0, OPTION_TEXT, offsetof(struct output_options, format), "NAME",
	  "csv (the default), json, or spe-parser: the files of Arm's tool" },
	{ "output", 'o', OPTION_TEXT, offsetof(struct output_options, path), "PATH",
	  "write there instead of standard output; for spe-parser:\n                          the "
	  "beginning of the file names (default spe)" },
};

struct sink {
	struct printer *out;
	struct err *err;
};

static int export_write_piece(void *context, const struct text *text)
{
	struct sink *sink = context;

	return printer_write(sink->out, text, sink->err);
}

static int export_table(struct session *s, const struct select *select,
			const struct output_options *options, bool *out_has_data, struct err *err)
{
	const struct export_table *table = export_table_default(s);
	const char *name = options->format != NULL ? options->format : "csv";
	struct printer out = { 0 };
	struct sink sink = { .out = &out, .err = err };
	int rc;

	if (options->table != NULL)
		table = export_table_find(options->table, err);
	if (table == NULL)
		return -1;
	*out_has_data = export_table_has_data(table, s);
	if (!*out_has_data && options->table != NULL)
		message_print("%s: %s", capture_path(s->capture), export_table_shortage(table));
	if (printer_open(&out, options, name, usage.command, s, err) < 0)
		return -1;
	rc = printer_need_file(&out, err);
	if (rc == 0)
		rc = export_run(s, select, table, out.format, &out.document, export_write_piece,
				&sink);
	rc = printer_close(&out, rc, err);
	return rc;
}

/* The files of spe-parser, opened with their first rows. */
struct parser_files {
	const char *prefix;
	struct output_file files[SPE_PARSER_N_FILES];
	struct err *err;
};

static int write_parser_piece(void *context, enum spe_parser_file file, const struct text *text)
{
	struct parser_files *files = context;
	struct output_file *out = &files->files[file];
	struct text path = { 0 };
	int rc = 0;

	text_format(&path, "%s-%s.csv%c", files->prefix, spe_parser_names[file], 0);
	if (out->stream == NULL)
		rc = output_file_open(out, path.bytes, files->err);
	if (rc == 0 && fwrite(text->bytes, 1, text->n, out->stream) != text->n)
		rc = err_set(files->err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", path.bytes,
			     strerror(errno));
	text_release(&path);
	return rc;
}

static int export_spe_parser(struct session *s, const struct select *select,
			     const struct output_options *options, bool *out_has_data,
			     struct err *err)
{
	struct parser_files files = {
		.prefix = options->path != NULL ? options->path : "spe",
		.err = err,
	};
	int rc = spe_parser_run(s, select, write_parser_piece, &files);

	*out_has_data = capture_n_chunks(s->capture) > 0;
	for (int i = 0; i < SPE_PARSER_N_FILES; i++) {
		if (files.files[i].stream == NULL && rc == 0)
			message_print("%s-%s.csv not written: no such records", files.prefix,
				      spe_parser_names[i]);
		rc = output_file_close(&files.files[i], rc, err);
	}
	return rc;
}

static bool wants_spe_parser(const struct output_options *options)
{
	return options->format != NULL && strcmp(options->format, spe_parser_format) == 0;
}

static int check_format(const struct output_options *options, struct err *err)
{
	const struct format *format = options->format != NULL ? format_find(options->format) : NULL;

	if (options->format == NULL || wants_spe_parser(options) ||
	    (format != NULL && format->can_stream))
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--format: found '%s', wanted csv, json or %s",
		       options->format, spe_parser_format);
}

static int export_command(int argc, char **argv)
{
	struct input_options input = { 0 };
	struct output_options output = { 0 };
	const struct option_set sets[] = {
		input_option_set(&input),
		{ "Output:", writing, COUNT(writing), &output },
	};
	struct session session = { 0 };
	struct select *select = NULL;
	struct arguments arguments;
	bool has_data = true;
	struct err err;
	int rc;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), 1, &input.wants_help,
				   &arguments);

	if (status >= 0)
		return status;
	rc = check_format(&output, &err);
	if (rc == 0)
		rc = open_input(&input, &arguments, &session, &select, &err);
	if (rc == 0 && wants_spe_parser(&output))
		rc = export_spe_parser(&session, select, &output, &has_data, &err);
	else if (rc == 0)
		rc = export_table(&session, select, &output, &has_data, &err);
	status = rc < 0 ? fail(&err) : has_data ? EXIT_DONE : EXIT_NO_DATA;
	return close_input(&session, select, status);
}

const struct command command_export = {
	.usage = &usage,
	.purpose = "every record, for other tools",
	.reads = COMMAND_READS_CAPTURE,
	.run = export_command,
};
