/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/text.h"

/* A host's name has up to 64 bytes (Linux); that of a damaged capture may have more than a folder's can. */
enum { HOST_BYTES = 200 };

/* Tells names apart whose folders would be the same. Any number, but always this one: it is in paths. */
#define HOST_SEED 0x686f73746e616d65u

/* Letters of a folder's name that mean nothing to file systems, shells and engines. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '-' || c == '_';
}

/* A host's name as a folder's. What is no such name gets a hash, as a second host may look like it: "a/b" and "a?b". */
static void put_host(struct text *path, const char *host)
{
	size_t n = strlen(host), n_kept = n < HOST_BYTES ? n : HOST_BYTES;
	/* Folders with a line in front are not a host's: those of merged files. Two points are no part of a path. */
	bool is_name = n_kept == n && host[0] != '_';

	for (size_t i = 0; i < n_kept; i++) {
		bool is_kept = is_plain(host[i]) && (host[i] != '.' || host[i + 1] != '.');

		text_char(path, is_kept ? host[i] : '_');
		is_name = is_name && is_kept;
	}
	if (!is_name)
		text_format(path, "-%08" PRIx32, (uint32_t)hash_bytes(host, n, HOST_SEED));
}

char *dataset_path(const char *root, const char *table, const struct identity *who)
{
	struct text path = { 0 };

	text_format(&path, "%s/%s/day=%s/host=", root, table, who->day);
	put_host(&path, who->host);
	text_format(&path, "/part-%s.parquet%c", who->capture, 0);
	return path.bytes;
}

/* Is there a line in the file that ends in these words? */
static bool has_line(const char *path, const char *words)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0, n_words = strlen(words);
	ssize_t n;
	bool has = false;

	while (file != NULL && !has && (n = getline(&line, &size, file)) > 0) {
		n -= line[n - 1] == '\n';
		has = (size_t)n >= n_words && memcmp(line + n - n_words, words, n_words) == 0;
	}
	free(line);
	if (file != NULL)
		fclose(file);
	return has;
}

/* Is the part in a list of those that were merged into others? Lists name parts as "host=H/part-HASH.parquet". */
static bool is_merged(const char *root, const struct identity *who, const char *path)
{
	struct text folder = { 0 };
	const char *words = strstr(path, "/host=");
	struct dirent *entry;
	bool is_it = false;
	DIR *lists;

	text_format(&folder, "%s/merged/day=%s%c", root, who->day, 0);
	lists = opendir(folder.bytes);
	while (lists != NULL && !is_it && (entry = readdir(lists)) != NULL) {
		struct text list = { 0 };

		text_format(&list, "%s/%s%c", folder.bytes, entry->d_name, 0);
		is_it = entry->d_name[0] != '.' && has_line(list.bytes, words + 1);
		text_release(&list);
	}
	if (lists != NULL)
		closedir(lists);
	text_release(&folder);
	return is_it;
}

bool dataset_has(const char *root, const struct identity *who)
{
	char *path = dataset_path(root, "captures", who);
	bool has = access(path, F_OK) == 0 || is_merged(root, who, path + strlen(root));

	free(path);
	return has;
}

void dataset_remove(const char *root, const char *table, const struct identity *who)
{
	char *path = dataset_path(root, table, who);

	unlink(path);
	free(path);
}

/* Makes the folders of a file. */
static int make_folders(const char *path, struct err *err)
{
	char *folder = mem_strndup(path, (size_t)(path_base(path) - path - 1));
	int rc = path_make_folders(folder, 0777, err);

	free(folder);
	return rc;
}

static int write_bytes(void *context, const struct text *bytes)
{
	struct dataset_file *f = context;

	if (fwrite(bytes->bytes, 1, bytes->n, f->file.stream) == bytes->n)
		return 0;
	return err_set(f->err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", f->file.path,
		       strerror(errno));
}

int dataset_begin(struct dataset_file *f, const char *root, const char *table,
		  const struct identity *who, const struct parquet_column *columns,
		  size_t n_columns, struct err *err)
{
	char *path = dataset_path(root, table, who);
	int rc = make_folders(path, err);
	char version[16];

	*f = (struct dataset_file){ .err = err };
	if (rc == 0)
		rc = output_file_open(&f->file, path, err);
	free(path);
	if (rc < 0)
		return -1;
	f->writer = parquet_new(columns, n_columns, NULL, write_bytes, f);
	snprintf(version, sizeof(version), "%d", DATASET_SCHEMA);
	parquet_set_meta(f->writer, "cyclops.schema", version);
	parquet_set_meta(f->writer, "cyclops.table", table);
	parquet_set_meta(f->writer, "cyclops.capture", who->capture);
	parquet_set_meta(f->writer, "cyclops.host", who->host);
	return 0;
}

int dataset_end(struct dataset_file *f, int rc, struct err *err)
{
	if (f->writer == NULL)
		return rc;
	f->err = err;
	if (rc == 0)
		rc = parquet_finish(f->writer);
	parquet_free(f->writer);
	f->writer = NULL;
	/* A name must not be on the disk before what it names. */
	if (rc == 0 && (fflush(f->file.stream) != 0 || fdatasync(fileno(f->file.stream)) < 0))
		rc = err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", f->file.path,
			     strerror(errno));
	return output_file_close(&f->file, rc, err);
}

void dataset_put_comm(const struct session *s, struct parquet_values *v, uint64_t process)
{
	if (process == 0)
		parquet_put_null(v);
	else
		dataset_put_text(
			v, strings_get(timeline_strings(s->timeline),
				       timeline_process(s->timeline, (uint32_t)process)->comm));
}
