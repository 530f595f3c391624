/* SPDX-License-Identifier: Apache-2.0 */
/* Opens captures and gives access to what scan.c found. */
#include "capture/capture.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/memory_group.h"
#include "base/pool.h"
#include "base/xxhash64.h"
#include "capture/state.h"
#include "capture/unpack.h"

void capture_note(struct capture *c, enum diag_level level, uint64_t at, uint64_t bytes,
		  const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	diags_add(&c->diags, level, at, bytes, text);
}

void capture_unread_bytes(struct capture *c, enum diag_level level, uint64_t at, uint64_t bytes,
			  const char *text)
{
	assert(bytes <= c->totals.record_bytes);
	c->totals.record_bytes -= bytes;
	diags_add(&c->diags, level, at, bytes, text);
}

/* Bytes of decompressed records are not counted: they are not in the file. */
void capture_unread(struct capture *c, enum diag_level level, const struct record *r,
		    const char *text)
{
	capture_unread_bytes(c, level, r->position, r->was_compressed ? 0 : r->size, text);
}

void capture_move_unread(struct capture *c, uint64_t before)
{
	uint64_t bytes = diags_bytes(&c->diags, DIAG_NOTE) - before;

	assert(bytes <= c->totals.record_bytes);
	c->totals.record_bytes -= bytes;
}

/*
 * Pages of a capture that takes no more than a quarter of memory stay: mapping them again costs more. The kernel's tables of so many
 * pages take a five hundredth of it, hence the most.
 */
void capture_choose_kept(struct capture *c)
{
	const uint64_t always = UINT64_C(256) << 20, most = UINT64_C(4) << 30;
	uint64_t size = 0;

	for (size_t i = 0; i < c->segments.n; i++)
		size += c->segments.items[i].size;
	c->stays_mapped = size <= always || (size <= most && size <= memory_size() / 4);
}

void capture_forget(const struct capture *c, uint64_t from, uint64_t to)
{
	if (c->stays_mapped)
		return;
	for (size_t i = 0; i < c->segments.n; i++) {
		const struct segment *s = &c->segments.items[i];

		if (from >= s->base && to <= s->base + s->size)
			mapped_forget(&s->file, from - s->base, to - s->base);
	}
}

static void unmap_piece(void *context, size_t job, unsigned worker)
{
	const struct capture *c = context;

	(void)worker;
	mapped_drop_piece(&c->segments.items[job / MAPPED_PIECES].file, job % MAPPED_PIECES);
}

void capture_drop(struct capture *c)
{
	if (c->pool == NULL)
		return;
	pool_stop_idle(c->pool);
	pool_run_idle(c->pool, c->segments.n * MAPPED_PIECES, unmap_piece, c);
}

static struct capture *new_capture(const char *path)
{
	struct capture *c = mem_zalloc(1, sizeof(*c));

	c->path = mem_strndup(path, strlen(path));
	strings_init(&c->strings);
	events_init(&c->events);
	return c;
}

void capture_free(struct capture *c)
{
	if (c == NULL)
		return;
	if (c->pool != NULL)
		pool_stop_idle(c->pool);
	for (size_t i = 0; i < c->segments.n; i++) {
		mapped_drop_all(&c->segments.items[i].file, c->pool);
		segment_release(&c->segments.items[i]);
	}
	vec_release(&c->segments);
	events_release(&c->events);
	info_release(&c->info);
	vec_release(&c->spe.cpus);
	strings_release(&c->strings);
	diags_release(&c->diags);
	vec_release(&c->chunks);
	vec_release(&c->others);
	vec_release(&c->buffer_events);
	vec_release(&c->pieces);
	vec_release(&c->units);
	free(c->path);
	free(c);
}

/* Adds a file of the capture. Its records are [start, end), at first the whole file. */
static struct segment *add_segment(struct capture *c, const uint8_t *bytes, uint64_t size)
{
	struct segment *s = vec_add(&c->segments);

	s->bytes = bytes;
	s->size = size;
	s->base = s->start = c->size;
	s->end = c->size + size;
	c->size += size;
	return s;
}

/* Reads the header of the first segment and finds the range of its records. */
static int capture_read_header(struct capture *c, const char *name, struct err *err)
{
	struct segment *s = &c->segments.items[0];
	struct extent data;

	if (header_read(cur_of(s->bytes, s->size), name, &c->header, err) < 0)
		return -1;
	if (c->header.is_pipe) {
		s->start = PIPE_HEADER_BYTES;
		return 0;
	}
	data = extent_clamp(c->header.data, s->size);
	s->start = data.offset;
	s->end = c->header.data.size == 0 ? s->size : data.offset + data.size;
	s->missing = c->header.data.size - data.size;
	return 0;
}

/* Puts the contents of a file that is compressed as a whole in its place. `name` is for messages. */
static int unpack_file(struct capture *c, const char *name, struct mapped *file, struct err *err)
{
	struct mapped packed = *file;
	char why[UNPACK_ERROR_BYTES] = "";

	if (!is_packed(packed.bytes, packed.size))
		return 0;
	*file = (struct mapped){ 0 };
	if (unpack(packed.bytes, packed.size, file, why, err) < 0)
		return err_within(err, "%s", name);
	if (why[0] != '\0' && file->size == 0)
		return err_set(err, ERR_FORMAT, 0, "%s: cannot decompress: %s", name, why);
	if (why[0] != '\0')
		capture_note(c, DIAG_DAMAGE, c->size + file->size, 0,
			     "only a part of the compressed file could be read: %s", why);
	return 0;
}

static int capture_open_file(struct capture *c, const char *path, struct err *err)
{
	bool is_input = strcmp(path, "-") == 0;
	const char *name = is_input ? "standard input" : path;
	struct mapped read = { 0 }, file;
	int rc = is_input ? mapped_from_fd(&read, STDIN_FILENO, name, err)
			  : mapped_open(&read, path, err);

	if (rc < 0)
		return -1;
	file = read;
	rc = unpack_file(c, name, &file, err);
	if (file.bytes != read.bytes)
		mapped_release(&read);
	if (rc < 0) {
		mapped_release(&file);
		return -1;
	}
	add_segment(c, file.bytes, file.size)->file = file;
	return 0;
}

/* N of a file name "data.N", or -1. */
static int64_t data_number(const char *name)
{
	char *end = NULL;
	unsigned long n;

	if (strncmp(name, "data.", 5) != 0 || name[5] < '0' || name[5] > '9')
		return -1;
	n = strtoul(name + 5, &end, 10);
	return *end == '\0' && n <= INT32_MAX ? (int64_t)n : -1;
}

static int capture_compare_numbers(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

typedef VEC_OF(uint32_t) numbers;

static int list_data_files(const char *path, numbers *out, struct err *err)
{
	DIR *dir = opendir(path);

	if (dir == NULL)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno));
	for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
		int64_t n = data_number(e->d_name);

		if (n >= 0)
			*vec_add(out) = (uint32_t)n;
	}
	closedir(dir);
	if (out->n > 1)
		qsort(out->items, out->n, sizeof(*out->items), capture_compare_numbers);
	return 0;
}

static int open_member(struct capture *c, const char *path, const char *name, struct err *err)
{
	char *member = NULL;
	int rc;

	if (asprintf(&member, "%s/%s", path, name) < 0)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "%s: no memory for its name", path);
	rc = capture_open_file(c, member, err);
	free(member);
	return rc;
}

/* `data` is a complete file; data.0, data.1 … contain records only. */
static int open_directory(struct capture *c, const char *path, struct err *err)
{
	numbers files = { 0 };
	char name[32];
	int rc = -1;

	if (open_member(c, path, "data", err) < 0) {
		err_within(err, "%s: a directory, but not a capture", path);
		goto out;
	}
	if (list_data_files(path, &files, err) < 0)
		goto out;
	for (size_t i = 0; i < files.n; i++) {
		snprintf(name, sizeof(name), "data.%" PRIu32, files.items[i]);
		if (open_member(c, path, name, err) < 0)
			goto out;
	}
	rc = 0;
out:
	vec_release(&files);
	return rc;
}

static int finish_open(struct capture *c, int rc, struct capture **out, struct err *err)
{
	if (rc == 0)
		rc = c->is_raw ? raw_check(c, err) : capture_read_header(c, c->path, err);
	if (rc < 0) {
		capture_free(c);
		return -1;
	}
	*out = c;
	return 0;
}

static int open_path(const char *path, struct capture *c, struct capture **out, struct err *err)
{
	struct stat st;
	bool is_directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !c->is_raw;

	return finish_open(
		c, is_directory ? open_directory(c, path, err) : capture_open_file(c, path, err),
		out, err);
}

static int open_bytes(const void *bytes, size_t size, struct capture *c, struct capture **out,
		      struct err *err)
{
	struct mapped file = { .bytes = bytes, .size = size };
	int rc = unpack_file(c, c->path, &file, err);
	struct segment *s = add_segment(c, file.bytes, file.size);

	if (file.bytes != bytes)
		s->file = file;
	return finish_open(c, rc, out, err);
}

static const char *name_of_path(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

static struct capture *new_raw(const char *name, uint64_t midr)
{
	struct capture *c = new_capture(name);

	c->is_raw = true;
	raw_describe(c, midr);
	return c;
}

int capture_open(const char *path, struct capture **out, struct err *err)
{
	return open_path(path, new_capture(name_of_path(path)), out, err);
}

int capture_open_bytes(const char *name, const void *bytes, size_t size, struct capture **out,
		       struct err *err)
{
	return open_bytes(bytes, size, new_capture(name), out, err);
}

int capture_open_raw(const char *path, uint64_t midr, struct capture **out, struct err *err)
{
	return open_path(path, new_raw(name_of_path(path), midr), out, err);
}

int capture_open_raw_bytes(const char *name, const void *bytes, size_t size, uint64_t midr,
			   struct capture **out, struct err *err)
{
	return open_bytes(bytes, size, new_raw(name, midr), out, err);
}

bool capture_begins(const void *bytes, size_t size)
{
	return is_packed(bytes, size) || header_is_perf_data(cur_of(bytes, size));
}

const char *capture_path(const struct capture *c)
{
	return c->path;
}

uint64_t capture_size(const struct capture *c)
{
	return c->size;
}

uint64_t capture_hash(const struct capture *c)
{
	VEC_OF(uint64_t) hashes = { 0 };
	uint64_t hash;

	for (size_t i = 0; i < c->segments.n; i++)
		*vec_add(&hashes) = xxhash64(c->segments.items[i].bytes, c->segments.items[i].size);
	hash = hashes.n == 1 ? hashes.items[0]
			     : xxhash64(hashes.items, hashes.n * sizeof(*hashes.items));
	vec_release(&hashes);
	return hash;
}

bool capture_is_pipe(const struct capture *c)
{
	return c->header.is_pipe;
}

bool capture_is_raw(const struct capture *c)
{
	return c->is_raw;
}

const struct strings *capture_strings(const struct capture *c)
{
	return &c->strings;
}

const struct info *capture_info(const struct capture *c)
{
	return &c->info;
}

size_t capture_n_events(const struct capture *c)
{
	return c->events.list.n;
}

const struct event *capture_event(const struct capture *c, size_t index)
{
	return &c->events.list.items[index];
}

const char *capture_event_name(const struct capture *c, size_t index)
{
	return strings_get(&c->strings, c->events.list.items[index].name);
}

int capture_event_of_id(const struct capture *c, uint64_t id)
{
	return events_of_id(&c->events, id);
}

int capture_event_of_sample(const struct capture *c, const struct record *r)
{
	return events_of_sample(&c->events, r->body.pos, cur_left(&r->body));
}

const struct diags *capture_diags(const struct capture *c)
{
	return &c->diags;
}

void capture_add_diags(struct capture *c, const struct diags *from)
{
	diags_merge(&c->diags, from);
}

const struct capture_totals *capture_totals(const struct capture *c)
{
	return &c->totals;
}

const struct spe_info *capture_spe(const struct capture *c)
{
	return &c->spe;
}

size_t capture_n_chunks(const struct capture *c)
{
	return c->chunks.n;
}

const struct aux_chunk *capture_chunk(const struct capture *c, size_t index)
{
	return &c->chunks.items[index];
}

uint64_t capture_unit_bytes(const struct capture *c, size_t unit)
{
	const struct unit *u = &c->units.items[unit];
	uint64_t sum = u->to - u->from;

	for (size_t i = 0; i < u->n_pieces; i++) {
		const struct aux_piece *piece = &c->pieces.items[u->first_piece + i];

		sum += piece->to - piece->from;
	}
	return sum;
}

size_t capture_n_units(const struct capture *c)
{
	return c->units.n;
}
