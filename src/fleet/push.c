/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DuckDB lists what the store has and copies files as they are: their bytes as a value of a table, which it writes as
 * the format "blob".
 */
#include "fleet/push.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "fleet/folder.h"

/* In a store: files of a table. */
static void put_pattern(const struct push *p, int table, struct text *out)
{
	struct text pattern = { 0 };

	text_format(&pattern, "%s/%s/*/*/part-*.parquet%c", p->store, dataset_table_names[table],
		    0);
	dialect_literal(&dialect_duckdb, pattern.bytes, out);
	text_release(&pattern);
}

/* Runs statements behind the setup; the table gets their answer, unless it is NULL. */
static int run_sql(const struct push *p, const struct text *statements, struct table *t,
		   struct err *err)
{
	const struct engine *engine = engine_find("duckdb", err);
	struct text script = { 0 }, answer = { 0 };
	int rc = fleet_setup(p->by.setup, &script, err);

	text_add(&script, statements->bytes, statements->n);
	if (rc == 0)
		rc = engine_run(engine, p->by.program, NULL, &script, &answer, err);
	if (rc == 0 && t != NULL)
		rc = result_read_rows(engine, &answer, t, err);
	text_release(&answer);
	text_release(&script);
	return rc;
}

/* Which tables the store has: no pattern without files may be asked for sizes. */
static int find_tables(const struct push *p, bool is_there[N_DATASET_TABLES], struct err *err)
{
	static const struct column columns[] = {
		{ .name = "number", .type = CELL_COUNT },
		{ .name = "files", .type = CELL_COUNT },
	};
	struct text sql = { 0 };
	struct table t;
	int rc;

	table_init(&t, "tables", NULL, columns, COUNT(columns));
	for (int i = 0; i < N_DATASET_TABLES; i++) {
		text_format(&sql, "%sSELECT %d AS number, count(*) AS files FROM glob(",
			    i > 0 ? "\nUNION ALL " : "", i);
		put_pattern(p, i, &sql);
		text_char(&sql, ')');
	}
	text_str(&sql, ";\n");
	rc = run_sql(p, &sql, &t, err);
	for (size_t row = 0; rc == 0 && row < table_n_rows(&t); row++) {
		uint64_t number = table_cell(&t, row, 0)->count;

		if (number < N_DATASET_TABLES)
			is_there[number] = table_cell(&t, row, 1)->count > 0;
	}
	table_release(&t);
	text_release(&sql);
	return rc;
}

/* The part of a path that is the same in the folder and the store: TABLE/day=…; NULL: it has none. */
static const char *common_path(const char *path)
{
	const char *at = NULL, *next = path;

	while ((next = strstr(next, "/day=")) != NULL)
		at = next++;
	while (at != NULL && at > path && at[-1] != '/')
		at--;
	return at;
}

/* Under which a file of the store is kept: equal ones need no copy. */
static void stored_name(uint64_t size, const char *path, struct text *out)
{
	text_reset(out);
	text_u64(out, size);
	text_char(out, ' ');
	text_str(out, path);
	text_char(out, '\0');
}

static int list_stored(const struct push *p, struct strings *out, struct err *err)
{
	static const struct column columns[] = {
		{ .name = "filename", .type = CELL_TEXT },
		{ .name = "size", .type = CELL_COUNT },
	};
	bool is_there[N_DATASET_TABLES] = { false };
	struct text sql = { 0 }, name = { 0 };
	struct table t;
	int rc = find_tables(p, is_there, err);

	table_init(&t, "files", NULL, columns, COUNT(columns));
	for (int i = 0; i < N_DATASET_TABLES && rc == 0; i++) {
		if (!is_there[i])
			continue;
		text_str(&sql, sql.n > 0 ? "\nUNION ALL " : "");
		text_str(&sql, "SELECT filename, size FROM read_blob(");
		put_pattern(p, i, &sql);
		text_char(&sql, ')');
	}
	if (rc == 0 && sql.n > 0) {
		text_str(&sql, ";\n");
		rc = run_sql(p, &sql, &t, err);
	}
	for (size_t row = 0; rc == 0 && row < table_n_rows(&t); row++) {
		const struct cell *file = table_cell(&t, row, 0);
		const char *path = file->type == CELL_TEXT ? common_path(file->text) : NULL;

		if (path == NULL)
			continue;
		stored_name(table_cell(&t, row, 1)->count, path, &name);
		strings_addz(out, name.bytes);
	}
	table_release(&t);
	text_release(&name);
	text_release(&sql);
	return rc;
}

/* The files of a table in the folder, one after the other. */
struct push_job {
	struct push *push;
	struct strings *stored;
	int table;
	struct text sql, scratch;
};

static void push_file(struct push_job *job, const char *folder, const char *name)
{
	struct pushed_table *counts = &job->push->tables[job->table];
	struct text path = { 0 }, target = { 0 };
	size_t known = job->stored->texts.n;
	const char *common;
	struct stat found;

	text_format(&path, "%s/%s%c", folder, name, 0);
	common = common_path(path.bytes);
	if (stat(path.bytes, &found) == 0 && common != NULL) {
		stored_name((uint64_t)found.st_size, common, &job->scratch);
		strings_addz(job->stored, job->scratch.bytes);
		if (job->stored->texts.n == known) {
			counts->n_there++;
		} else {
			text_format(&target, "%s/%s%c", job->push->store, common, 0);
			text_str(&job->sql, "COPY (SELECT content FROM read_blob(");
			dialect_literal(&dialect_duckdb, path.bytes, &job->sql);
			text_str(&job->sql, ")) TO ");
			dialect_literal(&dialect_duckdb, target.bytes, &job->sql);
			text_str(&job->sql, " (FORMAT blob);\n");
			counts->n_copied++;
			counts->n_bytes += (uint64_t)found.st_size;
		}
	}
	text_release(&target);
	text_release(&path);
}

typedef int visit_folder(struct push_job *, const char *folder, struct err *);

static int push_parts(struct push_job *job, const char *folder, struct err *err)
{
	struct dirent **names = NULL;
	int n = folder_names(folder, folder_is_part, &names, err);

	for (int i = 0; i < n; i++)
		push_file(job, folder, names[i]->d_name);
	folder_names_free(names, n);
	return n < 0 ? -1 : 0;
}

static int visit_folders(struct push_job *job, const char *folder,
			 int (*is_wanted)(const struct dirent *), visit_folder *visit,
			 struct err *err)
{
	struct dirent **names = NULL;
	int n = folder_names(folder, is_wanted, &names, err), rc = n < 0 ? -1 : 0;

	for (int i = 0; i < n && rc == 0; i++) {
		struct text path = { 0 };

		text_format(&path, "%s/%s%c", folder, names[i]->d_name, 0);
		rc = visit(job, path.bytes, err);
		text_release(&path);
	}
	folder_names_free(names, n);
	return rc;
}

static int push_day(struct push_job *job, const char *folder, struct err *err)
{
	return visit_folders(job, folder, folder_is_host, push_parts, err);
}

static int push_table(struct push_job *job, enum dataset_table table, struct err *err)
{
	struct text folder = { 0 };
	int rc;

	job->table = (int)table;
	text_format(&folder, "%s/%s%c", job->push->dataset, dataset_table_names[table], 0);
	rc = visit_folders(job, folder.bytes, folder_is_day, push_day, err);
	text_release(&folder);
	return rc;
}

int push(struct push *p, struct err *err)
{
	struct strings stored;
	struct push_job job = { .push = p, .stored = &stored };
	int lock, rc = dataset_check(p->dataset, err);

	if (rc < 0)
		return -1;
	lock = dataset_lock(p->dataset, err);
	if (lock < 0)
		return -1;
	strings_init(&stored);
	rc = list_stored(p, &stored, err);
	for (int i = 0; i < N_DATASET_TABLES && rc == 0; i++)
		if (i != DATASET_CAPTURES)
			rc = push_table(&job, (enum dataset_table)i, err);
	if (rc == 0)
		rc = push_table(&job, DATASET_CAPTURES, err);
	if (rc == 0 && job.sql.n > 0)
		rc = run_sql(p, &job.sql, NULL, err);
	strings_release(&stored);
	text_release(&job.scratch);
	text_release(&job.sql);
	close(lock);
	return rc;
}
