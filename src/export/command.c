/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops export: every record, for other tools. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/output_file.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/message.h"
#include "cli/printer.h"
#include "export/export.h"
#include "export/export_feedback.h"
#include "export/formats/profile.h"
#include "export/spe_parser.h"
#include "hot/event.h"

static const struct usage usage = {
	"export",
	"[--table spe|samples|branches] [--format NAME] [OPTIONS] [FILE]",
	"Writes every record as a row, in file order, or a profile for another tool.",
};

/* The one format that is not a table: three files as Arm's spe-parser writes them. */
static const char spe_parser_format[] = "spe-parser";

/* Types of these files, which are the ends of their names, too. */
static const char csv_type[] = "csv", parquet_type[] = "parquet";

enum { LEAST_MEMORY = 1 << 10, MOST_MEMORY = 1 << 30 };

struct export_options {
	struct output_options output;
	struct option_list events;
	const char *module;
	const char *value, *fields;
	bool is_inverted;
	unsigned n_slices;
	const char *ghz;
	const char *type; /* of the files of spe-parser */
	bool with_symbols;
};

static const struct option writing[] = {
	{ "table", 0, OPTION_TEXT, offsetof(struct export_options, output.table), "NAME",
	  "spe (the default where there are SPE records), samples,\n"
	  "                          branches: entries of branch stacks, or\n"
	  "                          counts: readings of counters" },
	{ "format", 0, OPTION_TEXT, offsetof(struct export_options, output.format), "NAME",
	  "csv (the default), json, parquet, spe-parser: the files of\n"
	  "                          Arm's tool; or a profile: " PROFILE_FORMATS ",\n"
	  "                          bolt, bolt-pre-aggregated, autofdo, prefetch" },
	{ "output", 'o', OPTION_PLACE, offsetof(struct export_options, output.path), "PATH",
	  "write there instead of standard output; for spe-parser:\n                          the "
	  "beginning of the file names (default spe)" },
};

static const struct option of_spe_parser[] = {
	{ "type", 't', OPTION_TEXT, offsetof(struct export_options, type), "NAME",
	  "csv (the default) or parquet" },
	{ "symbols", 's', OPTION_FLAG, offsetof(struct export_options, with_symbols), NULL,
	  "a last column with the function" },
};

static const struct option profiling[] = {
	{ "event", 'e', OPTION_LIST, offsetof(struct export_options, events), "NAME",
	  "a sampled event, or 'l1d-refill && load', as in hot" },
	{ "module", 0, OPTION_TEXT, offsetof(struct export_options, module), "NAME",
	  "of bolt, autofdo, prefetch: the program or library (default: with\n"
	  "                          most branches, or loads)" },
	{ "value", 0, OPTION_TEXT, offsetof(struct export_options, value), "NAME",
	  "samples, period, scaled, cycles, operations, l1d-misses,\n"
	  "                          llc-misses, walks, mispredicted (as hot: period or cycles)" },
	{ "inverted", 0, OPTION_FLAG, offsetof(struct export_options, is_inverted), NULL,
	  "callers above the functions that were sampled (svg, folded)" },
	{ "fields", 'F', OPTION_TEXT, offsetof(struct export_options, fields), "A,B",
	  "of perf-script: comm, pid, tid, cpu, time, period, event, addr,\n"
	  "                          ip, sym, symoff, dso (all but addr)" },
	{ "ghz", 0, OPTION_TEXT, offsetof(struct export_options, ghz), "F",
	  "of prefetch: the core frequency (default: derived from samples)" },
	{ "time-slices", 0, OPTION_COUNT, offsetof(struct export_options, n_slices), "N",
	  "divide the time into this many slices (at most 200)" },
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

/* Rows are of SPE records if there are any. */
static void note_samples_left_out(const struct session *s)
{
	uint64_t n = capture_totals(s->capture)->n_samples;

	if (capture_n_chunks(s->capture) > 0 && n > 0)
		message_print("%" PRIu64 " samples are left out: --table samples has them", n);
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
	if (rc == 0 && options->table == NULL)
		note_samples_left_out(s);
	return rc;
}

/* The files of spe-parser, opened with their first rows. */
struct parser_files {
	const char *prefix, *extension;
	struct output_file files[SPE_PARSER_N_FILES];
	struct err *err;
};

static int write_parser_piece(void *context, enum spe_parser_file file, const struct text *text)
{
	struct parser_files *files = context;
	struct output_file *out = &files->files[file];
	struct text path = { 0 };
	int rc = 0;

	text_format(&path, "%s-%s.%s%c", files->prefix, spe_parser_names[file], files->extension,
		    0);
	if (out->stream == NULL)
		rc = output_file_open(out, path.bytes, files->err);
	if (rc == 0 && fwrite(text->bytes, 1, text->n, out->stream) != text->n)
		rc = err_set(files->err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", path.bytes,
			     strerror(errno));
	text_release(&path);
	return rc;
}

static int export_spe_parser(struct session *s, const struct select *select,
			     const struct export_options *o, bool *out_has_data, struct err *err)
{
	const struct spe_parser_options asked = {
		.is_parquet = o->type != NULL && strcmp(o->type, parquet_type) == 0,
		.with_symbols = o->with_symbols,
	};
	struct parser_files files = {
		.prefix = o->output.path,
		.extension = asked.is_parquet ? parquet_type : csv_type,
		.err = err,
	};
	int rc = spe_parser_run(s, select, &asked, write_parser_piece, &files);

	*out_has_data = capture_n_chunks(s->capture) > 0;
	if (rc == 0)
		note_samples_left_out(s);
	for (int i = 0; i < SPE_PARSER_N_FILES; i++) {
		if (files.files[i].stream == NULL && rc == 0)
			message_print("%s-%s.%s not written: no such records", files.prefix,
				      spe_parser_names[i], files.extension);
		rc = output_file_close(&files.files[i], rc, err);
	}
	return rc;
}

static int write_profile_piece(void *context, const struct text *text)
{
	return export_write_piece(context, text);
}

/* CYCLOPS_EXPORT_MEMORY: bytes that stacks, or branches, may take before they go to temporary files. 0: as many as usual. */
static int find_memory(size_t *out, struct err *err)
{
	static const char variable[] = "CYCLOPS_EXPORT_MEMORY";
	const char *given = getenv(variable), *rest = given;
	uint64_t bytes = 0;

	if (given != NULL && given[0] != '\0' &&
	    (size_parse(&rest, &bytes) < 0 || *rest != '\0' || bytes < LEAST_MEMORY ||
	     bytes > MOST_MEMORY))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "%s: found '%s', wanted a size from 1K to 1G", variable, given);
	*out = (size_t)bytes;
	return 0;
}

/* Profiles for other tools. What was left out is said behind them. */
static int export_profile(const struct profile_format *format, struct session *s,
			  const struct select *select, const struct export_options *options,
			  bool *out_has_data, struct err *err)
{
	const struct output_options where = { .path = options->output.path,
					      .inputs = options->output.inputs };
	struct profile_options asked = {
		.value = options->value,
		.fields = options->fields,
		.is_inverted = options->is_inverted,
		.n_slices = options->n_slices,
	};
	struct hot_event event = { .sampled = -1 };
	struct profile_writer writer;
	struct printer out = { 0 };
	struct sink sink = { .out = &out, .err = err };
	int rc = hot_event_choose(s, options->events.items, options->events.n, NULL, &event, err);

	if (rc == 0)
		rc = find_memory(&asked.memory_bytes, err);
	if (rc == 0)
		rc = printer_open(&out, &where, "csv", usage.command, s, err);
	if (rc == 0)
		rc = printer_need_file(&out, err);
	if (rc == 0 && format->is_binary)
		rc = printer_need_no_terminal(&out, format->name, err);
	asked.records = hot_event_options(&event, 0);
	asked.records.without_samples |= event.is_spe; /* that `hot` compares with */
	profile_writer_init(&writer, format->is_gzip, write_profile_piece, &sink);
	if (rc == 0)
		rc = profile_write(format, s, select, &asked, &writer, out_has_data, err);
	rc = printer_close(&out, rc, err);
	for (size_t i = 0; i < writer.notes.n && rc == 0; i++)
		message_print("%s: %s", format->name, writer.notes.items[i]);
	if (rc == 0 && !*out_has_data && select == NULL)
		message_print("%s: no samples or SPE records to make a profile of",
			      capture_path(s->capture));
	*out_has_data |= select != NULL; /* a selection may match nothing */
	profile_writer_release(&writer);
	hot_event_release(&event);
	return rc;
}

static bool wants_spe_parser(const struct output_options *options)
{
	return options->format != NULL && strcmp(options->format, spe_parser_format) == 0;
}

/* The names of all formats, for messages. */
static const char *format_name_at(const void *context, size_t i)
{
	static const char *const others[] = { "csv", "json", "parquet", spe_parser_format };

	(void)context;
	if (i < COUNT(others))
		return others[i];
	i -= COUNT(others);
	for (size_t n = 0; profile_format_at(n) != NULL; n++)
		if (i-- == 0)
			return profile_format_at(n)->name;
	return feedback_format_name(i);
}

/* Options of profiles alone. */
static const char *profile_option(const struct export_options *o)
{
	return o->events.n > 0	   ? "--event"
	       : o->module != NULL ? "--module"
	       : o->value != NULL  ? "--value"
	       : o->is_inverted	   ? "--inverted"
	       : o->n_slices > 0   ? "--time-slices"
	       : o->ghz != NULL	   ? "--ghz"
				   : NULL;
}

static const struct feedback_format *feedback_format(const struct output_options *options)
{
	return options->format != NULL ? feedback_format_find(options->format) : NULL;
}

/* Profiles for compilers: of what options there are, only --module, and --event or --ghz. */
static int check_feedback(const struct export_options *o, struct err *err)
{
	bool is_of_loads = feedback_is_of_loads(feedback_format_find(o->output.format));

	if (o->value != NULL || o->is_inverted || o->n_slices > 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--format %s is of %s: --value, --inverted and "
			       "--time-slices are not for it",
			       o->output.format, is_of_loads ? "loads" : "executions");
	if (is_of_loads ? o->events.n > 0 : o->ghz != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "%s is not for --format %s",
			       is_of_loads ? "--event" : "--ghz", o->output.format);
	if (o->events.n > 1)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--event: %s is of the branch stacks of one event",
			       o->output.format);
	return 0;
}

static int export_executions(struct session *s, const struct select *select,
			     const struct export_options *o, struct err *err)
{
	struct feedback_request request = {
		.format = feedback_format(&o->output),
		.module = o->module,
		.event = o->events.n > 0 ? o->events.items[0] : NULL,
	};

	if (find_memory(&request.memory_bytes, err) < 0 ||
	    (o->ghz != NULL && core_clock_parse(o->ghz, &request.clock, err) < 0))
		return -1;
	return export_feedback(s, select, &request, &o->output, err);
}

/* --type and --symbols are of spe-parser's files. */
static int check_spe_parser(const struct export_options *o, struct err *err)
{
	if (!wants_spe_parser(&o->output) && (o->type != NULL || o->with_symbols))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "%s is of --format %s alone",
			       o->type != NULL ? "--type" : "--symbols", spe_parser_format);
	if (o->type != NULL && strcmp(o->type, csv_type) != 0 && strcmp(o->type, parquet_type) != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--type: found '%s', wanted %s or %s",
			       o->type, csv_type, parquet_type);
	return 0;
}

/* `out_profile`: the format of a profile; NULL: of rows. */
static int check_format(const struct export_options *o, const struct profile_format **out_profile,
			struct err *err)
{
	const char *name = o->output.format != NULL ? o->output.format : "csv";
	const struct format *format = format_find(name);
	const struct profile_format *profile = profile_format_find(name);
	const struct feedback_format *feedback = feedback_format_find(name);
	const struct profile_options asked = {
		.value = o->value,
		.fields = o->fields,
		.is_inverted = o->is_inverted,
		.n_slices = o->n_slices,
	};
	char names[256];

	*out_profile = profile;
	if (check_spe_parser(o, err) < 0)
		return -1;
	if ((profile != NULL || feedback != NULL) && o->output.table != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--table: %s is no table", name);
	if (feedback != NULL)
		return check_feedback(o, err);
	if (profile != NULL && o->module != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--module is of bolt, autofdo and prefetch: --select "
			       "'module==\"%s\"' is for %s",
			       o->module, name);
	if (profile != NULL && o->ghz != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--ghz is of prefetch alone");
	if (profile != NULL)
		return profile_check(profile, &asked, err);
	if (!wants_spe_parser(&o->output) &&
	    (format == NULL || !(format->can_stream || format->is_binary)))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--format: found '%s', wanted %s", name,
			       list_words(format_name_at, NULL, names, sizeof(names)));
	if (profile_option(o) != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "%s is of profiles: not with --format %s", profile_option(o), name);
	return 0;
}

static int export_command(int argc, char **argv)
{
	struct input_options input = { 0 };
	struct export_options options = { 0 };
	const struct output_options *output = &options.output;
	const struct option_set sets[] = {
		{ "Profiles:", profiling, COUNT(profiling), &options },
		{ "The files of spe-parser:", of_spe_parser, COUNT(of_spe_parser), &options },
		input_option_set(&input),
		{ "Output:", writing, COUNT(writing), &options },
	};
	const struct profile_format *profile;
	struct session session = { 0 };
	struct select *select = NULL;
	struct arguments arguments;
	bool has_data = true;
	struct err err;
	int rc;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), 1, &input.wants_help,
				   &arguments);

	options.output.inputs = &arguments;
	if (status >= 0)
		return status;
	if (wants_spe_parser(output) && output->path == NULL)
		options.output.path = "spe";
	enter_sandbox(sets, COUNT(sets), &arguments);
	rc = check_format(&options, &profile, &err);
	if (rc == 0)
		rc = open_input(&input, &arguments, &session, &select, &err);
	if (rc == 0 && feedback_format(output) != NULL)
		rc = export_executions(&session, select, &options, &err);
	else if (rc == 0 && profile != NULL)
		rc = export_profile(profile, &session, select, &options, &has_data, &err);
	else if (rc == 0 && wants_spe_parser(output))
		rc = export_spe_parser(&session, select, &options, &has_data, &err);
	else if (rc == 0)
		rc = export_table(&session, select, output, &has_data, &err);
	status = rc < 0 ? fail(&err) : has_data ? EXIT_DONE : EXIT_NO_DATA;
	return close_input(&session, select, status);
}

const struct command command_export = {
	.usage = &usage,
	.purpose = "every record, or a profile, for other tools",
	.reads = COMMAND_READS_CAPTURE,
	.run = export_command,
};
