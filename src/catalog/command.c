/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops catalog: newer facts about CPUs, kept for this user. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/path.h"
#include "catalog/changes.h"
#include "cli/command.h"
#include "cli/printer.h"
#include "cpu/cpu.h"
#include "cpu/pmu.h"
#include "table/answer.h"

static const struct usage usage = {
	"catalog",
	"[update FILE | remove CPU] [OPTIONS]",
	"Keeps newer facts about CPUs, such as the telemetry files that Arm publishes: checks one, "
	"says what it "
	"changes, and uses it from then on. Without a word it lists what is kept.",
};

struct catalog_command {
	bool dry_run, wants_help;
};

static const struct option options[] = {
	{ "dry-run", 0, OPTION_FLAG, offsetof(struct catalog_command, dry_run), NULL,
	  "update: check the file and say what it changes, but keep nothing" },
	{ "help", 'h', OPTION_FLAG, offsetof(struct catalog_command, wants_help), NULL,
	  "this text" },
};

/* Telemetry files have about a megabyte. */
#define CATALOG_FILE_MOST (INT64_C(64) << 20)

/* An answer while it is made. */
struct catalog_answer {
	struct table answer, table;
	const struct row_options *rows;
};

static int no_folder(struct err *err)
{
	return err_set(err, ERR_IO, ERR_NOWHERE,
		       "no folder for the catalog: neither XDG_DATA_HOME nor HOME is set");
}

/* Ids become names of files, and some are from outside. */
static bool is_file_name(const char *id)
{
	return id[0] != '\0' && id[0] != '.' &&
	       id[strspn(id,
			 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] ==
		       '\0';
}

/* The file of a CPU, with a NUL. */
static int path_of(const char *id, struct text *out, struct err *err)
{
	if (!is_file_name(id))
		return err_set(
			err, ERR_FORMAT, ERR_NOWHERE,
			"cpu '%s': found an id with other than letters, digits, dots and hyphens",
			id);
	if (!catalog_user_folder(out))
		return no_folder(err);
	text_format(out, "/%s.json%c", id, 0);
	return 0;
}

static int keep(const struct mapped *file, const char *id, struct text *path, struct err *err)
{
	struct text folder = { 0 }, contents = { 0 };
	int rc = catalog_user_folder(&folder) ? 0 : no_folder(err);

	text_char(&folder, '\0');
	if (rc == 0)
		rc = path_make_folders(folder.bytes, 0700, err);
	if (rc == 0)
		rc = path_of(id, path, err);
	text_add(&contents, (const char *)file->bytes, file->size);
	if (rc == 0)
		rc = text_save(&contents, path->bytes, err);
	text_release(&folder);
	text_release(&contents);
	return rc;
}

/* Numbers of events of an Arm PMU have 16 bits. */
static int check_codes(const struct cpu_pmu *pmu, struct err *err)
{
	for (size_t i = 0; pmu->is_arm && i < pmu->n_events; i++)
		if (pmu->events[i].code > UINT16_MAX)
			return err_set(err, ERR_FORMAT, ERR_NOWHERE,
				       "event %s: code: found 0x%" PRIx64 ", wanted at most 0xffff",
				       pmu->events[i].name, pmu->events[i].code);
	return 0;
}

/* Adds what changes of one CPU. Opening its facts checks them: formulas, names, the tree. */
static int compare_cpu(const struct catalog *before, const struct catalog *after, const char *id,
		       struct table *changes, struct change_counts *counts, struct err *err)
{
	const struct cpu *old = catalog_cpu_of_id(before, id), *new = catalog_cpu_of_id(after, id);
	struct cpu_pmu *old_pmu = NULL, *new_pmu = NULL;
	int rc = cpu_pmu_open(after, new, 0, &new_pmu, err);

	if (rc == 0 && new_pmu->n_events == 0)
		rc = err_set(err, ERR_FORMAT, ERR_NOWHERE, "%s: it has no events", id);
	if (rc == 0)
		rc = check_codes(new_pmu, err);
	if (rc == 0 && old != NULL)
		rc = cpu_pmu_open(before, old, 0, &old_pmu, err);
	if (rc == 0)
		changes_add(changes, old_pmu, new_pmu, counts);
	cpu_pmu_free(old_pmu);
	cpu_pmu_free(new_pmu);
	return rc;
}

static void say_changes(const struct cpu *cpu, const struct change_counts *counts, bool is_known,
			struct table *answer)
{
	const size_t *of = counts->of;

	if (of[CHANGE_ADDED] + of[CHANGE_REMOVED] + of[CHANGE_OTHER] == 0)
		answer_say(answer, "%s: the file says what the catalog has; nothing changes.",
			   cpu_name(cpu));
	else
		answer_say(answer, "%s%s: %zu added, %zu removed, %zu changed.", cpu_name(cpu),
			   is_known ? "" : " is new", of[CHANGE_ADDED], of[CHANGE_REMOVED],
			   of[CHANGE_OTHER]);
}

static int read_file(const char *path, struct mapped *out, struct err *err)
{
	struct stat found;

	if (stat(path, &found) == 0 &&
	    (!S_ISREG(found.st_mode) || found.st_size > CATALOG_FILE_MOST))
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "%s: wanted a file of facts about a CPU, of 64 MiB at the most",
			       path);
	return mapped_open(out, path, err);
}

static int update(const char *path, bool is_dry, struct catalog_answer *a, struct err *err)
{
	struct catalog *before = NULL, *after = NULL;
	struct change_counts counts = { 0 };
	struct text kept = { 0 };
	struct mapped file = { 0 };
	const char *id = NULL;
	int rc = read_file(path, &file, err);

	if (rc == 0)
		rc = catalog_open(NULL, &before, err);
	if (rc == 0)
		rc = catalog_open(path, &after, err);
	if (rc == 0 && (id = catalog_changed_last(after, before)) == NULL)
		rc = err_set(
			err, ERR_FORMAT, ERR_NOWHERE,
			"%s: it is not of one CPU: wanted a telemetry file of Arm's, or a CPU file",
			path);
	if (rc == 0 && compare_cpu(before, after, id, &a->table, &counts, err) < 0)
		rc = err_within(err, "%s", path);
	if (rc == 0) {
		say_changes(catalog_cpu_of_id(after, id), &counts,
			    catalog_cpu_of_id(before, id) != NULL, &a->answer);
		if (table_n_rows(&a->table) > 0 && !is_dry) {
			rc = keep(&file, id, &kept, err);
			if (rc == 0)
				answer_say(&a->answer, "Kept as %s, and used from now on.",
					   kept.bytes);
		}
	}
	table_show_top(&a->table, rows_to_show(a->rows));
	text_release(&kept);
	mapped_release(&file);
	catalog_free(before);
	catalog_free(after);
	return rc;
}

static int remove_kept(const char *name, struct catalog_answer *a, struct err *err)
{
	struct catalog *catalog = NULL;
	const struct cpu *cpu;
	struct text path = { 0 };
	int rc = catalog_open(NULL, &catalog, err);

	cpu = rc == 0 ? catalog_cpu_find(catalog, name) : NULL;
	/* By its id, too, where a file cannot be read: that is when it has to go. */
	rc = path_of(cpu != NULL ? cpu_id(cpu) : name, &path, err);
	if (rc == 0 && unlink(path.bytes) < 0)
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
			     "remove: nothing is kept of '%s' (cyclops catalog lists what is)",
			     name);
	if (rc == 0)
		answer_say(&a->answer, "Removed %s.", path.bytes);
	text_release(&path);
	catalog_free(catalog);
	return rc;
}

enum { KEPT_FILE, KEPT_CPU, KEPT_NAME, KEPT_EVENTS, KEPT_METRICS, N_KEPT };

static const struct column kept_columns[N_KEPT] = {
	[KEPT_FILE] = { "file", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_PATH,
			"path of the file" },
	[KEPT_CPU] = { "cpu", NULL, "", CELL_TEXT, 0, "id of the CPU" },
	[KEPT_NAME] = { "name", NULL, "", CELL_TEXT, 0, "of the CPU" },
	[KEPT_EVENTS] = { "events", NULL, "events", CELL_COUNT, 0, "that it has" },
	[KEPT_METRICS] = { "metrics", NULL, "metrics", CELL_COUNT, 0, "that it has" },
};

static int list_kept(struct catalog_answer *a, struct err *err)
{
	struct catalog *catalog = NULL;
	struct text folder = { 0 };
	int rc = catalog_open(NULL, &catalog, err);

	for (size_t i = 0; rc == 0 && i < catalog_n_changed(catalog); i++) {
		const struct cpu *cpu = catalog_cpu_of_id(catalog, catalog_changed_at(catalog, i));
		struct cell *row = table_add_row(&a->table);
		struct cpu_pmu *pmu = NULL;
		struct text path = { 0 };

		rc = path_of(cpu_id(cpu), &path, err);
		if (rc == 0)
			rc = cpu_pmu_open(catalog, cpu, 0, &pmu, err);
		if (rc == 0) {
			row[KEPT_FILE] = cell_text(table_text(&a->table, path.bytes));
			row[KEPT_CPU] = cell_text(table_text(&a->table, cpu_id(cpu)));
			row[KEPT_NAME] = cell_text(table_text(&a->table, cpu_name(cpu)));
			row[KEPT_EVENTS] = cell_count(pmu->n_events);
			row[KEPT_METRICS] = cell_count(pmu->n_metrics - pmu->n_spe_ratios);
		}
		cpu_pmu_free(pmu);
		text_release(&path);
	}
	if (rc == 0 && !catalog_user_folder(&folder))
		text_str(&folder, "no folder");
	text_char(&folder, '\0');
	if (rc == 0)
		answer_say(&a->answer,
			   table_n_rows(&a->table) > 0
				   ? "Kept in %s, beside what the program has."
				   : "Nothing is kept in %s: the program's own facts are used.",
			   folder.bytes);
	text_release(&folder);
	catalog_free(catalog);
	return rc;
}

static int check_words(const struct arguments *a, struct err *err)
{
	const char *word = a->n > 0 ? a->items[0] : NULL;

	if (word == NULL)
		return 0;
	if (strcmp(word, "update") != 0 && strcmp(word, "remove") != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "catalog: found '%s', wanted update FILE or remove CPU", word);
	if (a->n < 2)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "catalog %s: no %s given", word,
			       word[0] == 'u' ? "file" : "CPU");
	return 0;
}

static int do_words(const struct arguments *words, const struct catalog_command *command,
		    struct catalog_answer *a, struct err *err)
{
	if (words->n == 0) {
		table_init(&a->table, "kept", NULL, kept_columns, COUNT(kept_columns));
		return list_kept(a, err);
	}
	changes_init(&a->table);
	return words->items[0][0] == 'u' ? update(words->items[1], command->dry_run, a, err)
					 : remove_kept(words->items[1], a, err);
}

static int catalog_command(int argc, char **argv)
{
	struct catalog_command command = { 0 };
	struct output_options output = { 0 };
	struct row_options rows = { 0 };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &command },
		unsorted_row_option_set(&rows),
		output_option_set(&output),
	};
	struct catalog_answer a = { .rows = &rows };
	struct tables tables = { 0 };
	struct printer out = { 0 };
	struct arguments arguments;
	struct err err;
	int rc, status = start_command(&usage, argc, argv, sets, COUNT(sets), 2,
				       &command.wants_help, &arguments);

	if (status >= 0)
		return status;
	output.inputs = &arguments;
	answer_init(&a.answer);
	rc = check_words(&arguments, &err);
	if (rc == 0)
		rc = do_words(&arguments, &command, &a, &err);
	if (rc == 0)
		rc = printer_open(&out, &output, "text", usage.command, NULL, &err);
	*vec_add(&tables.list) = &a.answer;
	*vec_add(&tables.list) = &a.table;
	if (rc == 0)
		rc = printer_finish(&out, &output, &tables, rc, &err);
	status = rc < 0 ? fail(&err) : EXIT_DONE;
	vec_release(&tables.list);
	table_release(&a.table);
	table_release(&a.answer);
	return status;
}

const struct command command_catalog = {
	.usage = &usage,
	.purpose = "newer facts about CPUs: Arm's telemetry files, checked and kept",
	.reads = COMMAND_READS_NOTHING,
	.run = catalog_command,
};
