/* SPDX-License-Identifier: Apache-2.0 */
#include "annotate/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "elf/regular_file.h"

/* Larger files are not read as sources. */
enum { MAX_SOURCE = 64 << 20 };

void sources_release(struct sources *s)
{
	for (size_t i = 0; i < s->files.n; i++) {
		mapped_release(&s->files.items[i].bytes);
		vec_release(&s->files.items[i].starts);
	}
	vec_release(&s->files);
}

static void open_source(const struct sources *s, struct source_file *file)
{
	struct err err;
	int rc = -1;

	if (file->path[0] != '/')
		return;
	if (s->symfs != NULL) {
		char *path = path_in_root(s->symfs, file->path);

		if (path != NULL)
			rc = regular_file_map(&file->bytes, path, &err);
		free(path);
	}
	if (rc < 0)
		rc = regular_file_map(&file->bytes, file->path, &err);
	if (rc == 0 && file->bytes.size > MAX_SOURCE)
		mapped_release(&file->bytes);
}

static void source_find_lines(struct source_file *file)
{
	const uint8_t *bytes = file->bytes.bytes;

	if (file->bytes.size == 0)
		return;
	*vec_add(&file->starts) = 0;
	for (size_t i = 0; i + 1 < file->bytes.size; i++)
		if (bytes[i] == '\n')
			*vec_add(&file->starts) = (uint32_t)(i + 1);
}

static const struct source_file *sources_find(struct sources *s, const char *path)
{
	struct source_file *file;

	for (size_t i = 0; i < s->files.n; i++)
		if (strcmp(s->files.items[i].path, path) == 0)
			return &s->files.items[i];
	file = vec_add(&s->files);
	file->path = path;
	open_source(s, file);
	source_find_lines(file);
	return file;
}

/* A line without trailing blanks; false: there is none. */
static bool find_line(struct sources *s, const char *path, uint32_t line, const char **out_at,
		      const char **out_end)
{
	const struct source_file *file = sources_find(s, path);
	const char *bytes = (const char *)file->bytes.bytes, *end;

	if (line == 0 || line > file->starts.n)
		return false;
	*out_at = bytes + file->starts.items[line - 1];
	end = bytes + (line < file->starts.n ? file->starts.items[line] : file->bytes.size);
	while (end > *out_at && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	*out_end = end;
	return true;
}

void sources_line(struct sources *s, const char *path, uint32_t line, struct text *out)
{
	const char *at, *end;

	if (!find_line(s, path, line, &at, &end))
		return;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (; at < end; at++)
		text_char(out, *at == '\t' ? ' ' : *at);
}

bool sources_indented_line(struct sources *s, const char *path, uint32_t line, struct text *out)
{
	const char *at, *end;
	size_t first = out->n;

	if (!find_line(s, path, line, &at, &end))
		return false;
	for (; at < end; at++)
		if (*at == '\t')
			text_repeat(out, ' ', 8 - (out->n - first) % 8);
		else
			text_char(out, *at);
	return true;
}
