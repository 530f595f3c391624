/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/common.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "cli/tell.h"

enum { DEFAULT_TOP = 20, SHOWN_MISSING = 5 };

#define IN(field) offsetof(struct input_options, field)
#define OUT(field) offsetof(struct output_options, field)
#define ROWS(field) offsetof(struct row_options, field)

static const struct option input_list[] = {
	{ "input", 'i', OPTION_TEXT, IN(path), "FILE",
	  "the capture (default perf.data; - is a pipe)" },
	{ "select", 0, OPTION_TEXT, IN(select), "EXPR",
	  "only records that match, such as 'op=load && tot>100'" },
	{ "cpu", 0, OPTION_TEXT, IN(cpu), "NAME", "take the CPU to be this one" },
	{ "catalog", 0, OPTION_TEXT, IN(catalog), "FILE", "more facts about CPUs" },
	{ "symfs", 0, OPTION_TEXT, IN(symfs), "DIR", "where the recorded machine's files are" },
	{ "debug-dir", 0, OPTION_LIST, IN(debug_dirs), "DIR",
	  "where separate debug files are; may be repeated" },
	{ "kallsyms", 0, OPTION_TEXT, IN(kallsyms), "FILE",
	  "kernel symbols: a copy of its /proc/kallsyms" },
	{ "vmlinux", 0, OPTION_TEXT, IN(vmlinux), "FILE", "kernel symbols and lines: its vmlinux" },
	{ "debuginfod", 0, OPTION_FLAG, IN(use_debuginfod), NULL,
	  "ask the servers of DEBUGINFOD_URLS for what is missing" },
	{ "no-debuginfod", 0, OPTION_FLAG, IN(no_debuginfod), NULL, "do not (the default)" },
	{ "interval", 0, OPTION_COUNT, IN(interval), "N",
	  "operations between SPE samples (default: as recorded)" },
	{ "jobs", 'j', OPTION_NUMBER, IN(n_workers), "N", "threads (default: one for each CPU)" },
	{ "help", 'h', OPTION_FLAG, IN(wants_help), NULL, "this text" },
};

static const struct option output_list[] = {
	{ "format", 0, OPTION_TEXT, OUT(format), "NAME", "text, csv or json" },
	{ "output", 'o', OPTION_TEXT, OUT(path), "PATH", "write there instead of standard output" },
	{ "table", 0, OPTION_TEXT, OUT(table), "NAME", "only this table" },
};

static const struct option row_list[] = {
	{ "top", 0, OPTION_COUNT, ROWS(top), "N", "rows to show (default 20, in reports fewer)" },
	{ "all", 0, OPTION_FLAG, ROWS(all), NULL, "show all rows" },
	{ "sort", 0, OPTION_TEXT, ROWS(sort), "COLUMN", "order by this column" },
};

/* The last of them is for single tables. */
enum { N_UNSORTED = COUNT(row_list) - 1 };

struct option_set input_option_set(struct input_options *into)
{
	return (struct option_set){ "Input:", input_list, COUNT(input_list), into };
}

struct option_set output_option_set(struct output_options *into)
{
	return (struct option_set){ "Output:", output_list, COUNT(output_list), into };
}

struct option_set row_option_set(struct row_options *into)
{
	return (struct option_set){ "Rows:", row_list, COUNT(row_list), into };
}

struct option_set unsorted_row_option_set(struct row_options *into)
{
	return (struct option_set){ "Rows:", row_list, N_UNSORTED, into };
}

int fail(const struct err *err)
{
	/* That a file begins at its first byte goes without saying. */
	if (err->at == ERR_NOWHERE || err->at == 0 || err->code == ERR_USAGE)
		tell("%s", err->text);
	else
		tell("%s (at 0x%" PRIx64 ")", err->text, err->at);
	return err->code == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

/* Help is for reading: no wider than a page, however wide the terminal is. */
static size_t help_width(void)
{
	enum { PAGE = 100 };
	unsigned width = output_width(stdout);

	return width < PAGE ? width : PAGE;
}

static void print_help(const struct usage *usage, const struct option_set *sets, size_t n_sets)
{
	size_t width = help_width();
	struct text text = { 0 };

	text_format(&text, "usage: cyclops %s", usage->command);
	put_words(&text, usage->synopsis, text.n, text.n + 1, width);
	put_words(&text, usage->summary, 0, 0, width);
	options_help(sets, n_sets, width, &text);
	text_format(&text, "\nThe manual page: cyclops help %s\n", usage->command);
	fwrite(text.bytes, 1, text.n, stdout);
	text_release(&text);
}

int start_command(const struct usage *usage, int argc, char **argv, const struct option_set *sets,
		  size_t n_sets, size_t max_arguments, const bool *wants_help,
		  struct arguments *out)
{
	struct err err;

	if (options_parse(argc, argv, sets, n_sets, out, &err) < 0)
		return fail(&err);
	if (*wants_help) {
		print_help(usage, sets, n_sets);
		return EXIT_DONE;
	}
	if (out->n > max_arguments && strstr(usage->synopsis, " -- ") != NULL) {
		err_set(&err, ERR_USAGE, ERR_NOWHERE,
			"'%s': the program stands behind --: cyclops %s [OPTIONS] -- %s",
			out->items[max_arguments], usage->command, out->items[max_arguments]);
		return fail(&err);
	}
	if (out->n > max_arguments) {
		err_set(&err, ERR_USAGE, ERR_NOWHERE,
			"too many arguments: '%s' (usage: cyclops %s %s)",
			out->items[max_arguments], usage->command, usage->synopsis);
		return fail(&err);
	}
	return -1;
}

int need_program(const struct usage *usage, int argc, int end, struct err *err)
{
	if (end < argc - 1)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "no program given (usage: cyclops %s %s)",
		       usage->command, usage->synopsis);
}

int check_capture_output(const char *path, struct err *err)
{
	if (strcmp(path, "-") != 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--output -: a capture cannot go to standard output, its beginning is "
		       "written last; give --output FILE, then name FILE to what reads it");
}

int choose_path(const char *input, const struct arguments *arguments, const char **out,
		struct err *err)
{
	static const char standard[] = "perf.data";

	if (input != NULL && arguments->n > 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "two captures given: '%s' by --input and '%s'", input,
			       arguments->items[0]);
	if (input == NULL && arguments->n == 0 && access(standard, F_OK) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "no capture given, and there is no %s in this folder; "
			       "name one, or make one with `cyclops record`",
			       standard);
	*out = input != NULL ? input : arguments->n > 0 ? arguments->items[0] : standard;
	return 0;
}

static int check_path(const char *option, const char *path, bool is_folder, struct err *err)
{
	struct stat found;

	if (path == NULL)
		return 0;
	if (stat(path, &found) < 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: %s: %s", option, path,
			       strerror(errno));
	if ((S_ISDIR(found.st_mode) != 0) != is_folder)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: %s is %s folder", option, path,
			       is_folder ? "no" : "a");
	return 0;
}

/* Files for names that are not there would only mean that nothing has a name. */
static int check_paths(const struct input_options *o, struct err *err)
{
	for (const char *const *dir = o->debug_dirs.items; dir != NULL && *dir != NULL; dir++)
		if (check_path("debug-dir", *dir, true, err) < 0)
			return -1;
	if (check_path("symfs", o->symfs, true, err) < 0 ||
	    check_path("vmlinux", o->vmlinux, false, err) < 0)
		return -1;
	return check_path("kallsyms", o->kallsyms, false, err);
}

int open_input(const struct input_options *input, const struct arguments *arguments,
	       struct session *session, struct select **out_select, struct err *err)
{
	struct session_options options = {
		.cpu_name = input->cpu,
		.catalog_path = input->catalog,
		.n_workers = input->n_workers,
		.select = input->select,
		.interval = input->interval,
		.symbols = {
			.symfs = input->symfs,
			.debug_dirs = input->debug_dirs.items,
			.use_debuginfod = input->use_debuginfod && !input->no_debuginfod,
			.kallsyms = input->kallsyms,
			.vmlinux = input->vmlinux,
		},
	};

	*session = (struct session){ 0 };
	*out_select = NULL;
	if (check_paths(input, err) < 0 ||
	    choose_path(input->path, arguments, &options.path, err) < 0)
		return -1;
	if (session_open(session, &options, err) < 0)
		return -1;
	if (input->select != NULL && select_compile(session, input->select, out_select, err) < 0)
		return err_within(err, "--select");
	return 0;
}

size_t rows_to_show(const struct row_options *o)
{
	if (o->all)
		return 0;
	return o->top > 0 ? o->top : DEFAULT_TOP;
}

/* What the user's terminal says of its character set; programs' output must not change. */
static bool terminal_is_unicode(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < COUNT(names); i++) {
		const char *value = getenv(names[i]);

		if (value != NULL && value[0] != '\0')
			return strcasestr(value, "utf-8") != NULL ||
			       strcasestr(value, "utf8") != NULL;
	}
	return false;
}

static bool wants_colour(FILE *stream)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(fileno(stream)) && (no_colour == NULL || no_colour[0] == '\0') &&
	       term != NULL && strcmp(term, "dumb") != 0;
}

/* Opening for writing would cut the capture short under our eyes. */
static bool is_capture(const char *path, const struct session *session)
{
	struct stat output, capture;

	return stat(path, &output) == 0 && stat(capture_path(session->capture), &capture) == 0 &&
	       output.st_dev == capture.st_dev && output.st_ino == capture.st_ino;
}

int printer_open(struct printer *out, const struct output_options *o, const char *default_format,
		 const char *command, const struct session *session, struct err *err)
{
	const char *name = o->format != NULL ? o->format : default_format;

	*out = (struct printer){ .stream = stdout, .path = o->path };
	out->format = format_find(name);
	if (out->format == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--format: there is no format '%s'; there are %s", name,
			       format_names());
	if (o->path != NULL && strcmp(o->path, "-") != 0) {
		if (session != NULL && is_capture(o->path, session))
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--output: '%s' is the capture itself", o->path);
		out->stream = fopen(o->path, "we");
		if (out->stream == NULL)
			return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", o->path,
				       strerror(errno));
	}
	out->document = (struct document){
		.command = command,
		.version = CYCLOPS_VERSION,
		.is_modelled = session != NULL && capture_spe(session->capture)->is_modelled,
		.width = output_width(out->stream),
		.has_colour = wants_colour(out->stream),
		.has_unicode = terminal_is_unicode(),
	};
	return 0;
}

int printer_write(struct printer *out, const struct text *text, struct err *err)
{
	if (text->n == 0 || fwrite(text->bytes, 1, text->n, out->stream) == text->n)
		return 0;
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s",
		       out->path != NULL ? out->path : "standard output", strerror(errno));
}

int printer_close(struct printer *out, int rc, struct err *err)
{
	FILE *stream = out->stream;
	int failed;

	out->stream = NULL;
	if (stream == NULL)
		return rc;
	failed = stream == stdout ? fflush(stream) : fclose(stream);
	if (failed == 0 || rc < 0)
		return rc;
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s",
		       out->path != NULL ? out->path : "standard output", strerror(errno));
}

static const char *table_name_at(const void *context, size_t i)
{
	const struct tables *tables = context;

	return i < tables->list.n ? tables->list.items[i]->name : NULL;
}

/* The table that --table names, alone. */
static int pick_table(const char *name, const struct tables *tables, struct tables *out,
		      struct err *err)
{
	struct table *found = tables_find(tables, name);
	char names[256];

	if (found != NULL) {
		*vec_add(&out->list) = found;
		return 0;
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--table: there is no table '%s'; there are %s",
		       name, list_words(table_name_at, tables, names, sizeof(names)));
}

int printer_tables(struct printer *out, const struct output_options *o, const struct tables *tables,
		   struct err *err)
{
	struct tables picked = { 0 };
	struct text text = { 0 };
	int rc = 0;

	if (o->table != NULL)
		rc = pick_table(o->table, tables, &picked, err);
	out->document.is_plural = o->table == NULL && tables->list.n > 1;
	if (rc == 0) {
		format_document(out->format, &out->document, o->table != NULL ? &picked : tables,
				&text);
		rc = printer_write(out, &text, err);
	}
	vec_release(&picked.list);
	text_release(&text);
	return rc;
}

int printer_finish(struct printer *out, const struct output_options *o, const struct tables *tables,
		   int rc, struct err *err)
{
	if (rc == 0)
		rc = printer_tables(out, o, tables, err);
	return printer_close(out, rc, err);
}

static void print_diag(const char *path, const struct diag *d)
{
	struct text text = { 0 };

	text_str(&text, d->text);
	if (d->n > 1)
		text_format(&text, " (%" PRIu64 " times)", d->n);
	if (d->first != ERR_NOWHERE)
		text_format(&text, " %s 0x%" PRIx64, d->n > 1 ? "first at" : "at", d->first);
	if (d->bytes > 0)
		text_format(&text, ", %" PRIu64 " byte%s%s", d->bytes, plural(d->bytes),
			    d->level == DIAG_NOTE ? "" : " not read");
	text_char(&text, '\0');
	tell("%s: %s", path, text.bytes);
	text_release(&text);
}

/* Modules that only lack lines come last; they are not worth a warning. */
static void print_missing(const struct session *s)
{
	const struct modules *modules = timeline_modules(s->timeline);
	size_t n = 0;

	while (n < symbols_n_missing(s->symbols) && symbols_missing_at(s->symbols, n)->n_places > 0)
		n++;
	for (size_t i = 0; i < n && i < SHOWN_MISSING; i++) {
		const struct symbols_missing *m = symbols_missing_at(s->symbols, i);

		tell("no names for %" PRIu64 " place%s in %s: %s%s%s", m->n_places,
		     plural(m->n_places),
		     strings_get(modules->strings, modules_get(modules, m->module)->path),
		     m->reason, m->remedy[0] != '\0' ? "; " : "", m->remedy);
	}
	if (n > SHOWN_MISSING)
		tell("and %zu more module%s without names", n - SHOWN_MISSING,
		     plural(n - SHOWN_MISSING));
}

void print_diagnostics(const struct session *s, int status)
{
	struct diags all = { 0 };

	if (s->capture == NULL)
		return;
	diags_merge(&all, capture_diags(s->capture));
	if (s->timeline != NULL)
		diags_merge(&all, timeline_diags(s->timeline));
	if (s->symbols != NULL)
		diags_merge(&all, symbols_diags(s->symbols));
	diags_sort(&all);
	for (size_t i = 0; i < all.list.n; i++)
		print_diag(capture_path(s->capture), &all.list.items[i]);
	if (s->symbols != NULL && status == EXIT_DONE)
		print_missing(s);
	diags_release(&all);
}

int close_input(struct session *session, struct select *select, int status)
{
	print_diagnostics(session, status);
	select_free(select);
	session_release(session);
	return status;
}
