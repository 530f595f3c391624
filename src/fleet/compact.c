/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In this order, so that what questions see is right at any moment: the merged files of all tables, that of captures last; then
 * the list of what they replace, in DATASET/merged/; then, after a while, the files in that list, those of captures first.
 */
#include "fleet/compact.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/mapped.h"
#include "base/output_file.h"
#include "base/strings.h"
#include "base/text.h"
#include "fleet/dialect.h"
#include "fleet/engine.h"
#include "fleet/folder.h"

/* The host of merged files, in their paths. */
#define MERGED_FOLDER "host=_merged"

/* Fewer small files of a day are left as they are; so many merged ones are merged once more. */
enum { LEAST_FILES = 2, MOST_MERGED = 8 };

/* Numbers of merged parts and names of their files. They make a merge that is done again the same. */
static const uint64_t merge_seeds[2] = { 0x6d65726765642121u, 0x636f6d7061637421u };

/* The tables, in the order in which merged files get their names. */
static const struct {
	const char *name;
	bool has_parts; /* a column `part`; else rows that are alike are one */
} merged_tables[] = {
	{ "symbols", false }, { "samples", true },  { "shared_lines", true },
	{ "counts", true },   { "captures", true },
};

/* A list of small files: its lines are "MODIFIED_NS host=H/part-HASH.parquet". */
struct part_list {
	VEC_OF(char *) lines;
};

static void part_list_release(struct part_list *l)
{
	for (size_t i = 0; i < l->lines.n; i++)
		free(l->lines.items[i]);
	vec_release(&l->lines);
}

/* The path in a line. */
static const char *line_path(const char *line)
{
	const char *space = strchr(line, ' ');

	return space != NULL ? space + 1 : line;
}

static int is_list(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end != NULL && strcmp(end, ".list") == 0;
}

/* The line of a small file; NULL: it is gone. */
static char *part_line(const char *day_folder, const char *host, const char *name)
{
	struct text path = { 0 }, line = { 0 };
	struct stat found;

	text_format(&path, "%s/%s/%s%c", day_folder, host, name, 0);
	if (stat(path.bytes, &found) == 0)
		text_format(&line, "%" PRId64 " %s/%s%c",
			    (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec,
			    host, name, 0);
	text_release(&path);
	return line.bytes;
}

static int list_host(const char *day_folder, const char *host, struct part_list *out,
		     struct err *err)
{
	struct text folder = { 0 };
	struct dirent **names = NULL;
	int n;

	text_format(&folder, "%s/%s%c", day_folder, host, 0);
	n = folder_names(folder.bytes, folder_is_part, &names, err);
	for (int i = 0; i < n; i++) {
		char *line = part_line(day_folder, host, names[i]->d_name);

		if (line != NULL)
			*vec_add(&out->lines) = line;
	}
	folder_names_free(names, n);
	text_release(&folder);
	return n < 0 ? -1 : 0;
}

/* The files of a day in captures: of hosts, and merged ones. */
static int list_parts(const char *dataset, const char *day, struct part_list *small,
		      struct part_list *merged, struct err *err)
{
	char *folder = dataset_file_path(dataset, "captures", day, "");
	struct dirent **hosts = NULL;
	int n = folder_names(folder, folder_is_host, &hosts, err), rc = n < 0 ? -1 : 0;

	for (int i = 0; i < n && rc == 0; i++)
		rc = list_host(folder, hosts[i]->d_name,
			       strcmp(hosts[i]->d_name, MERGED_FOLDER) == 0 ? merged : small, err);
	folder_names_free(hosts, n);
	free(folder);
	return rc;
}

static int read_list(const char *path, struct part_list *out, struct err *err)
{
	struct mapped file = { 0 };
	const char *at, *end;

	if (mapped_open(&file, path, err) < 0)
		return -1;
	at = file.size > 0 ? (const char *)file.bytes : "";
	end = at + file.size;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = newline != NULL ? (size_t)(newline - at) : (size_t)(end - at);

		/* what is not a small file of captures is not ours to remove */
		if (size > 0 && memmem(at, size, "..", 2) == NULL &&
		    memmem(at, size, " host=", 6) != NULL)
			*vec_add(&out->lines) = mem_strndup(at, size);
		at += size + (newline != NULL);
	}
	mapped_release(&file);
	return 0;
}

/* Calls for each list of a day whose files are not all removed yet. */
typedef int visit_list(void *context, const char *day, const char *path, struct part_list *,
		       struct err *);

static int visit_lists(const char *dataset, const char *day, visit_list *visit, void *context,
		       struct err *err)
{
	char *folder = dataset_file_path(dataset, "merged", day, "");
	struct dirent **names = NULL;
	int n = folder_names(folder, is_list, &names, err), rc = n < 0 ? -1 : 0;

	for (int i = 0; i < n && rc == 0; i++) {
		char *path = dataset_file_path(dataset, "merged", day, names[i]->d_name);
		struct part_list list = { 0 };

		rc = read_list(path, &list, err);
		if (rc == 0)
			rc = visit(context, day, path, &list, err);
		part_list_release(&list);
		free(path);
	}
	folder_names_free(names, n);
	free(folder);
	return rc;
}

static int add_merged(void *context, const char *day, const char *path, struct part_list *list,
		      struct err *err)
{
	struct strings *merged = context;

	(void)day;
	(void)path;
	(void)err;
	for (size_t i = 0; i < list->lines.n; i++)
		strings_addz(merged, list->lines.items[i]);
	return 0;
}

/* Leaves those that are merged already. */
static int leave_merged(const char *dataset, const char *day, struct part_list *parts,
			struct err *err)
{
	struct strings merged;
	size_t n = 0;
	int rc;

	strings_init(&merged);
	rc = visit_lists(dataset, day, add_merged, &merged, err);
	for (size_t i = 0; i < parts->lines.n; i++) {
		size_t known = merged.texts.n;

		strings_addz(&merged, parts->lines.items[i]);
		if (merged.texts.n > known)
			parts->lines.items[n++] = parts->lines.items[i];
		else
			free(parts->lines.items[i]);
	}
	parts->lines.n = n;
	strings_release(&merged);
	return rc;
}

/* A merge: of these parts of a day. */
struct merge {
	const char *dataset, *day;
	const struct part_list *parts;
	uint64_t key;  /* changes their numbers */
	char id[33];   /* in names of files */
	char name[64]; /* of the files */
	bool is_made[COUNT(merged_tables)];
};

static void merge_init(struct merge *m, const char *dataset, const char *day,
		       const struct part_list *parts)
{
	uint64_t hash[2] = { merge_seeds[0], merge_seeds[1] };

	*m = (struct merge){ .dataset = dataset, .day = day, .parts = parts };
	for (size_t i = 0; i < parts->lines.n; i++)
		for (int k = 0; k < 2; k++)
			hash[k] = hash_bytes(parts->lines.items[i], strlen(parts->lines.items[i]),
					     hash[k]);
	for (int k = 0; k < 2; k++)
		put_hex_digits(m->id + 16 * k, hash[k], 16);
	m->key = hash[0] >> 1;
	snprintf(m->name, sizeof(m->name), MERGED_FOLDER "/part-%s.parquet", m->id);
}

/* A name that engines do not look at, of the file that is being written. */
static char *unnamed_path(const struct merge *m, const char *table)
{
	struct text path = { 0 };

	text_format(&path, "%s/%s/day=%s/" MERGED_FOLDER "/.cyclops-%d%c", m->dataset, table,
		    m->day, (int)getpid(), 0);
	return path.bytes;
}

/* Appends the files of a table that are merged, as the argument of read_parquet(). How many there are. */
static size_t put_files(const struct merge *m, const char *table, struct text *out)
{
	size_t n = 0;

	text_char(out, '[');
	for (size_t i = 0; i < m->parts->lines.n; i++) {
		char *path = dataset_file_path(m->dataset, table, m->day,
					       line_path(m->parts->lines.items[i]));

		if (path_is_there(path)) {
			text_str(out, n++ > 0 ? ",\n" : "");
			dialect_literal(&dialect_duckdb, path, out);
		}
		free(path);
	}
	text_str(out, "], union_by_name = true, hive_partitioning = false");
	return n;
}

/* Appends the table of parts that are taken: each capture once, as questions count it. */
static void put_chosen(const struct merge *m, struct text *out)
{
	text_str(out,
		 "CREATE TEMPORARY TABLE chosen AS SELECT part FROM (SELECT part, "
		 "row_number() OVER (PARTITION BY capture ORDER BY collected_ns, part) AS turn "
		 "FROM read_parquet(");
	put_files(m, "captures", out);
	text_str(out, ")) WHERE turn = 1;\n");
}

/* Appends the statement that writes the merged file of a table; nothing if no part has such a file. */
static void put_copy(struct merge *m, size_t table, struct text *out)
{
	const char *name = merged_tables[table].name;
	bool has_parts = merged_tables[table].has_parts;
	char *target = unnamed_path(m, name);
	struct text files = { 0 };

	m->is_made[table] = put_files(m, name, &files) > 0;
	if (m->is_made[table]) {
		text_str(out, "COPY (SELECT ");
		if (has_parts)
			text_format(out, "* REPLACE (xor(part, %" PRIu64 ") AS part)", m->key);
		else
			text_str(out, "DISTINCT *");
		text_str(out, " FROM read_parquet(");
		text_add(out, files.bytes, files.n);
		text_str(out,
			 has_parts ? ") WHERE part IN (SELECT part FROM chosen)) TO " : ")) TO ");
		dialect_literal(&dialect_duckdb, target, out);
		text_str(out, " (FORMAT parquet, COMPRESSION zstd);\n");
	}
	text_release(&files);
	free(target);
}

static int make_merge_folders(const struct merge *m, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < COUNT(merged_tables) && rc == 0; i++) {
		char *folder =
			dataset_file_path(m->dataset, merged_tables[i].name, m->day, MERGED_FOLDER);

		if (m->is_made[i])
			rc = folder_make(folder, err);
		free(folder);
	}
	return rc;
}

/* The file is on the disk before it has its name. */
static int name_merged(const struct merge *m, const char *table, struct err *err)
{
	char *from = unnamed_path(m, table),
	     *to = dataset_file_path(m->dataset, table, m->day, m->name);
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	int rc = fd >= 0 && fdatasync(fd) == 0 && rename(from, to) == 0 ? 0 : -1;

	if (rc < 0)
		err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", to, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(from);
	free(to);
	return rc;
}

/* What the merged files stand for, from now on: "ID.list". */
static int write_list(const struct merge *m, struct err *err)
{
	struct output_file file = { 0 };
	struct text name = { 0 };
	char *folder = dataset_file_path(m->dataset, "merged", m->day, ""), *path;
	int rc = folder_make(folder, err);

	text_format(&name, "%s.list%c", m->id, 0);
	path = dataset_file_path(m->dataset, "merged", m->day, name.bytes);
	if (rc == 0)
		rc = output_file_open(&file, path, err);
	if (rc == 0) {
		for (size_t i = 0; i < m->parts->lines.n; i++)
			fprintf(file.stream, "%s\n", m->parts->lines.items[i]);
		rc = output_file_close(&file, 0, err);
	}
	text_release(&name);
	free(path);
	free(folder);
	return rc;
}

static int merge_run(struct merge *m, const char *program, struct err *err)
{
	const struct engine *engine = engine_find("duckdb", err);
	struct text script = { 0 }, answer = { 0 };
	int rc;

	put_chosen(m, &script);
	for (size_t i = 0; i < COUNT(merged_tables); i++)
		put_copy(m, i, &script);
	rc = make_merge_folders(m, err);
	if (rc == 0)
		rc = engine_run(engine, program, NULL, &script, &answer, err);
	for (size_t i = 0; i < COUNT(merged_tables) && rc == 0; i++)
		if (m->is_made[i])
			rc = name_merged(m, merged_tables[i].name, err);
	for (size_t i = 0; i < COUNT(merged_tables) && rc < 0; i++) {
		char *path = unnamed_path(m, merged_tables[i].name);

		unlink(path);
		free(path);
	}
	text_release(&answer);
	text_release(&script);
	return rc < 0 ? -1 : write_list(m, err);
}

/* Small files, and those merged before if they are many, become one file in each table. */
static int merge_day(struct compaction *c, struct compacted *day, struct err *err)
{
	struct part_list parts = { 0 }, merged = { 0 };
	size_t n_small, n_again;
	struct merge m;
	int rc = list_parts(c->dataset, day->day, &parts, &merged, err);

	if (rc == 0)
		rc = leave_merged(c->dataset, day->day, &parts, err);
	if (rc == 0)
		rc = leave_merged(c->dataset, day->day, &merged, err);
	n_small = parts.lines.n;
	n_again = merged.lines.n >= MOST_MERGED ? merged.lines.n : 0;
	if (rc == 0 && n_small + n_again >= LEAST_FILES) {
		for (size_t i = 0; i < n_again; i++)
			*vec_add(&parts.lines) = merged.lines.items[i];
		merged.lines.n -= n_again;
		merge_init(&m, c->dataset, day->day, &parts);
		rc = merge_run(&m, c->program, err);
		day->n_merged = rc == 0 ? n_small : 0;
		day->n_again = rc == 0 ? n_again : 0;
	}
	part_list_release(&parts);
	part_list_release(&merged);
	return rc;
}

/* Removes the files of a part in all tables, that in captures first. */
static uint64_t remove_part(const char *dataset, const char *day, const char *line)
{
	const char *rest = line_path(line), *slash = strchr(rest, '/');
	char *folder = dataset_file_path(dataset, "captures", day, "");
	struct text host = { 0 };
	char *now;
	uint64_t n = 0;

	text_format(&host, "%.*s%c", (int)(slash != NULL ? slash - rest : 0), rest, 0);
	now = slash != NULL ? part_line(folder, host.bytes, slash + 1) : NULL;
	/* collected again since: it is another one */
	if (now == NULL || strcmp(now, line) == 0)
		for (size_t i = COUNT(merged_tables); slash != NULL && i-- > 0;) {
			char *path = dataset_file_path(dataset, merged_tables[i].name, day, rest);

			n += unlink(path) == 0;
			free(path);
		}
	free(now);
	text_release(&host);
	free(folder);
	return n;
}

struct removal {
	const struct compaction *c;
	struct compacted *day;
};

/* Waits until the list is so old; whatever the clock says, no longer than that. */
static void wait_until_old(const char *path, unsigned keep_s)
{
	struct stat found;
	time_t left;

	if (stat(path, &found) < 0)
		return;
	left = found.st_mtim.tv_sec + (time_t)keep_s - time(NULL);
	if (left > (time_t)keep_s)
		left = (time_t)keep_s;
	if (left > 0)
		nanosleep(&(struct timespec){ .tv_sec = left }, NULL);
}

static int remove_listed(void *context, const char *day, const char *path, struct part_list *list,
			 struct err *err)
{
	struct removal *r = context;
	struct text done = { 0 };
	int rc = 0;

	wait_until_old(path, r->c->keep_s);
	for (size_t i = 0; i < list->lines.n; i++)
		r->day->n_removed += remove_part(r->c->dataset, day, list->lines.items[i]);
	text_format(&done, "%.*s.done%c", (int)(strlen(path) - strlen(".list")), path, 0);
	if (rename(path, done.bytes) < 0)
		rc = err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno));
	text_release(&done);
	return rc;
}

static int list_days(struct compaction *c, struct err *err)
{
	struct text folder = { 0 };
	struct dirent **names = NULL;
	int n = dataset_check(c->dataset, err);

	text_format(&folder, "%s/captures%c", c->dataset, 0);
	if (n == 0)
		n = folder_names(folder.bytes, folder_is_day, &names, err);
	for (int i = 0; i < n; i++)
		snprintf(vec_add(&c->days)->day, sizeof(c->days.items[0].day), "%.10s",
			 names[i]->d_name + strlen("day="));
	folder_names_free(names, n);
	text_release(&folder);
	return n < 0 ? -1 : 0;
}

int compact(struct compaction *c, struct err *err)
{
	int rc = list_days(c, err);
	int lock = rc == 0 ? dataset_lock(c->dataset, err) : -1;

	if (lock < 0)
		return -1;
	for (size_t i = 0; i < c->days.n && rc == 0; i++)
		rc = merge_day(c, &c->days.items[i], err);
	for (size_t i = 0; i < c->days.n && rc == 0; i++) {
		struct removal removal = { c, &c->days.items[i] };

		rc = visit_lists(c->dataset, removal.day->day, remove_listed, &removal, err);
	}
	close(lock);
	return rc;
}

void compaction_release(struct compaction *c)
{
	vec_release(&c->days);
}
