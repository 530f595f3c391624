/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/printer.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "cli/message.h"
#include "cli/pager.h"

enum { DEFAULT_TOP = 20 };

#define OUT(field) offsetof(struct output_options, field)
#define ROWS(field) offsetof(struct row_options, field)

static const struct option output_list[] = {
	{ "format", 0, OPTION_TEXT, OUT(format), "NAME", "text, csv, json, parquet or markdown" },
	{ "output", 'o', OPTION_OUTPUT, OUT(path), "PATH",
	  "write to this file, or into this folder (PATH/)" },
	{ "table", 0, OPTION_TEXT, OUT(table), "NAME", "only this table" },
	{ "color", 0, OPTION_TEXT, OUT(colour), "WHEN",
	  "auto (on a terminal, unless NO_COLOR is set), always or never" },
	{ "columns", 0, OPTION_TEXT, OUT(columns), "NAMES", "only these columns, in this order" },
	{ "wide", 0, OPTION_FLAG, OUT(is_wide), NULL,
	  "show all columns, however long lines become" },
	{ "width", 0, OPTION_COUNT, OUT(width), "N",
	  "columns of text (default COLUMNS, or those of the terminal, or 100)" },
	{ "pager", 0, OPTION_TEXT, OUT(pager), "COMMAND",
	  "the pager on a terminal (default PAGER, or less)" },
	{ "no-pager", 0, OPTION_FLAG, OUT(no_pager), NULL, "no pager" },
};

static const struct option row_list[] = {
	{ "top", 0, OPTION_COUNT, ROWS(top), "N", "rows to show (default 20, in reports fewer)" },
	{ "all", 0, OPTION_FLAG, ROWS(all), NULL, "show all rows" },
	{ "sort", 0, OPTION_TEXT, ROWS(sort), "COLUMN", "order by this column" },
};

/* All but the last, --sort */
enum { N_UNSORTED = COUNT(row_list) - 1 };

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

size_t rows_to_show(const struct row_options *o)
{
	if (o->all)
		return 0;
	return o->top > 0 ? o->top : DEFAULT_TOP;
}

/*
 * Does the locale of the terminal use UTF-8? Only for output to a terminal, so that files do not
 * depend on it.
 */
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

/* NULL: files in a folder. */
static bool colours_by_itself(FILE *stream)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return stream != NULL && isatty(fileno(stream)) &&
	       (no_colour == NULL || no_colour[0] == '\0') && term != NULL &&
	       strcmp(term, "dumb") != 0;
}

/* Decides by --color. */
static int choose_colour(const struct output_options *o, FILE *stream, bool *out, struct err *err)
{
	const char *when = o->colour != NULL ? o->colour : "auto";

	*out = strcmp(when, "always") == 0;
	if (strcmp(when, "auto") == 0)
		*out = colours_by_itself(stream);
	else if (!*out && strcmp(when, "never") != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--color: found '%s', wanted auto, always or never", when);
	return 0;
}

/*
 * Fails if the path that an option names is that of the capture, or of another input: options know neither
 * the capture that is asked for want of a name, nor the files of a folder.
 */
static int spare_inputs(const char *option, const char *path, const struct printer *p,
			struct err *err)
{
	if (p->session != NULL && output_file_replaces(path, capture_path(p->session->capture)))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: '%s' is the capture itself",
			       option, path);
	return p->inputs != NULL ? arguments_spare_inputs(p->inputs, option, path, err) : 0;
}

bool printer_is_for_people(const struct output_options *o)
{
	const struct format *format = format_find(o->format != NULL ? o->format : "text");

	return format == NULL || format->is_for_people;
}

/* Does the path say that it is a folder, or is it one? */
static bool names_folder(const char *path)
{
	size_t n = strlen(path);
	struct stat st;

	return (n > 0 && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Opens the file of -o; of a folder makes sure that it is there. */
static int printer_open_path(struct printer *out, const char *path, struct err *err)
{
	struct stat st;

	if (names_folder(path)) {
		out->stream = NULL;
		out->is_folder = true;
		if (mkdir(path, 0777) == 0 || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
			return 0;
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot make the folder: %s", path,
			       strerror(errno));
	}
	if (spare_inputs("output", path, out, err) < 0)
		return -1;
	if (output_file_open(&out->file, path, err) < 0)
		return -1;
	out->stream = out->file.stream;
	return 0;
}

/* What a file tells of the capture that it is made of. */
static void describe_capture(struct printer *out)
{
	const struct capture *c = out->session->capture;

	if (capture_info(c)->hostname.v != 0)
		out->document.host = strings_get(capture_strings(c), capture_info(c)->hostname);
	snprintf(out->hash, sizeof(out->hash), "%016" PRIx64, capture_hash(c));
	out->document.capture_hash = out->hash;
}

int printer_need_no_terminal(const struct printer *out, const char *format, struct err *err)
{
	if (out->stream == NULL || !isatty(fileno(out->stream)))
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--format %s is not for a terminal: name a file with -o", format);
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
	out->session = session;
	out->inputs = o->inputs;
	if (o->path != NULL && strcmp(o->path, "-") != 0 &&
	    printer_open_path(out, o->path, err) < 0)
		return -1;
	out->document = (struct document){
		.command = command,
		.version = CYCLOPS_VERSION,
		.is_modelled = session != NULL && capture_spe(session->capture)->is_modelled,
		.width = o->width > 0 ? o->width : output_width(out->stream),
		.is_wide = o->is_wide,
		.has_unicode = terminal_is_unicode(),
	};
	if (out->format->is_binary && printer_need_no_terminal(out, name, err) < 0)
		return -1;
	if (out->format->is_binary && session != NULL)
		describe_capture(out);
	return choose_colour(o, out->stream, &out->document.has_colour, err);
}

void printer_page(struct printer *out, const struct output_options *o)
{
	if (out->stream != stdout || o->no_pager || !out->format->is_for_people ||
	    !isatty(STDOUT_FILENO))
		return;
	out->pager = pager_start(o->pager, &out->stream);
}

int printer_write(struct printer *out, const struct text *text, struct err *err)
{
	if (text->n == 0 || fwrite(text->bytes, 1, text->n, out->stream) == text->n)
		return 0;
	if (out->pager > 0 && errno == EPIPE) /* the person has seen enough */
		return 0;
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s",
		       out->path != NULL ? out->path : "standard output", strerror(errno));
}

int printer_close(struct printer *out, int rc, struct err *err)
{
	FILE *stream = out->stream;

	out->stream = NULL;
	if (stream == NULL)
		return rc;
	if (out->pager > 0)
		return pager_end(stream, out->pager, rc);
	if (stream != stdout)
		return output_file_close(&out->file, rc, err);
	if (fflush(stream) == 0 || rc < 0)
		return rc;
	return err_set(err, ERR_IO, ERR_NOWHERE, "standard output: cannot write: %s",
		       strerror(errno));
}

static const char *table_name_at(const void *context, size_t i)
{
	const struct tables *tables = context;

	return i < tables->list.n ? tables->list.items[i]->name : NULL;
}

/* Leaves the table that --table names. */
static int pick_table(const char *name, struct tables *tables, struct err *err)
{
	struct table *found = tables_find(tables, name);
	char names[256];

	if (found != NULL) {
		tables->list.n = 0;
		*vec_add(&tables->list) = found;
		return 0;
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--table: there is no table '%s'; there are %s",
		       name, list_words(table_name_at, tables, names, sizeof(names)));
}

int printer_need_file(const struct printer *out, struct err *err)
{
	if (!out->is_folder)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--output: '%s' is a folder, and this answer is written while it is made: "
		       "name a file",
		       out->path);
}

int printer_publish(struct printer *out, struct err *err)
{
	return output_file_publish(&out->file, err);
}

/* A name from outside must not lead out of the folder. */
static void put_file_name(struct text *out, const char *name, const char *extension)
{
	size_t first = out->n;

	text_str(out, name);
	for (size_t i = first; i < out->n; i++)
		if (out->bytes[i] == '/' || (i == first && out->bytes[i] == '.') ||
		    (unsigned char)out->bytes[i] < 0x20)
			out->bytes[i] = '_';
	text_str(out, extension);
}

/* Writes a document to a file of the folder, over one that is there. */
static int write_file(struct printer *out, const char *name, const struct tables *tables,
		      struct err *err)
{
	struct text path = { 0 }, text = { 0 };
	struct printer file = { .session = out->session, .inputs = out->inputs };
	int rc;

	text_format(&path, "%s/", out->path);
	put_file_name(&path, name, out->format->extension);
	text_char(&path, '\0');
	file.path = path.bytes;
	rc = printer_open_path(&file, path.bytes, err);
	if (rc == 0)
		rc = printer_need_file(&file, err);
	if (rc == 0) {
		format_document(out->format, &out->document, tables, &text);
		rc = printer_write(&file, &text, err);
	}
	rc = printer_close(&file, rc, err);
	text_release(&text);
	text_release(&path);
	return rc;
}

/* Writes a file of its own for a table and each that is nested in it, which json has within the rows. */
static int write_table(struct printer *out, struct table *t, struct err *err)
{
	struct tables one = { 0 };
	int rc;

	*vec_add(&one.list) = t;
	rc = write_file(out, t->name, &one, err);
	for (size_t i = 0; i < t->nested.n && rc == 0 && out->format != &format_json; i++) {
		one.list.items[0] = t->nested.items[i];
		rc = write_file(out, t->nested.items[i]->name, &one, err);
	}
	vec_release(&one.list);
	return rc;
}

static int write_folder(struct printer *out, const struct tables *shown, struct err *err)
{
	out->document.is_plural = false;
	for (size_t i = 0; i < shown->list.n; i++)
		if (write_table(out, shown->list.items[i], err) < 0)
			return -1;
	return 0;
}

/* A binary file holds one table; those that are nested in it are others. */
static int check_one_table(const struct printer *out, const struct output_options *o,
			   const struct tables *shown, struct err *err)
{
	size_t n = shown->list.n;
	char names[256];

	for (size_t i = 0; i < shown->list.n && o->table == NULL; i++)
		n += shown->list.items[i]->nested.n;
	if (!out->format->is_binary || out->is_folder || n == 1)
		return 0;
	if (n == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "--format %s: there is no table to write", out->format->name);
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--format %s: a file holds one table, and there are %zu: choose with "
		       "--table from %s, or name "
		       "a folder with -o PATH/",
		       out->format->name, n,
		       list_words(table_name_at, shown, names, sizeof(names)));
}

int printer_tables(struct printer *out, const struct output_options *o, const struct tables *tables,
		   struct err *err)
{
	struct tables shown = format_tables(out->format, tables);
	struct text text = { 0 };
	int rc = 0;

	if (o->table != NULL)
		rc = pick_table(o->table, &shown, err);
	if (rc == 0 && o->columns != NULL)
		rc = tables_keep_columns(&shown, o->columns, err);
	if (rc == 0)
		rc = check_one_table(out, o, &shown, err);
	out->document.is_plural = o->table == NULL && shown.list.n > 1;
	if (rc == 0 && out->is_folder) {
		rc = write_folder(out, &shown, err);
	} else if (rc == 0) {
		format_document(out->format, &out->document, &shown, &text);
		rc = printer_write(out, &text, err);
	}
	vec_release(&shown.list);
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

int printer_finish_work(struct printer *out, const struct output_options *o,
			const struct row_options *rows, struct table *answer, struct table *table,
			int rc, struct err *err)
{
	struct tables tables = { 0 };

	table_show_top(table, rows_to_show(rows));
	*vec_add(&tables.list) = answer;
	*vec_add(&tables.list) = table;
	rc = printer_finish(out, o, &tables, rc, err);
	vec_release(&tables.list);
	table_release(table);
	table_release(answer);
	return rc;
}

bool printer_shows_screen(const struct printer *p, const struct output_options *o)
{
	return p->format->is_for_people && o->table == NULL && o->columns == NULL;
}

int printer_html(const struct printer *p, const struct html *h, const char *path,
		 const char *subject, struct err *err)
{
	const struct html_about about = {
		.command = p->document.command,
		.version = p->document.version,
		.subject = subject,
		.is_modelled = p->document.is_modelled,
	};
	struct text text = { 0 };
	int rc = spare_inputs("html", path, p, err);

	if (rc == 0)
		rc = html_write(h, html_viewer(), &about, &text, err);
	if (rc == 0)
		rc = text_save(&text, path, err);
	text_release(&text);
	return rc;
}
