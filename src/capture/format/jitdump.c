/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/format/jitdump.h"

#include <inttypes.h>
#include <string.h>

#include "base/path.h"
#include "base/utf8_decode.h"

enum {
	HEADER_BYTES = 40,
	PREFIX_BYTES = 16, /* id, size, time */
	FLAG_TICKS = 1 << 0,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	DEBUG_INFO = 2,
	ELF_HEADER_BYTES = 64,
	V8_DAMAGED_BYTES = 16, /* of a file's name, which V8 11 writes after it freed it */
};

static const uint32_t magic = 0x4a695444, foreign_magic = 0x4454694a;

int jitdump_open(const void *bytes, size_t size, const char *name, struct jitdump *out,
		 struct err *err)
{
	struct cursor c = cur_of(bytes, size);
	struct jitdump d = { .bytes = bytes };
	uint32_t found = cur_u32(&c);
	uint32_t version = cur_u32(&c);
	uint32_t header = cur_u32(&c);

	d.machine = cur_u32(&c);
	cur_skip(&c, sizeof(uint32_t));
	d.pid = cur_u32(&c);
	cur_skip(&c, sizeof(uint64_t));
	d.has_ticks = cur_u64(&c) & FLAG_TICKS;
	if (size >= sizeof(magic) && found != magic)
		return err_set(err, found == foreign_magic ? ERR_UNSUPPORTED : ERR_FORMAT, 0,
			       found == foreign_magic
				       ? "%s: of a big-endian machine; only those of little-endian "
					 "ones can be read"
				       : "%s: no dump of a JIT compiler: begins with 0x%08" PRIx32
					 ", wanted 0x4a695444",
			       name, found);
	if (!cur_ok(&c))
		return err_set(err, ERR_FORMAT, 0, "%s: cut off inside its header of %d bytes",
			       name, HEADER_BYTES);
	if (version != 1 || header < HEADER_BYTES || header > size)
		return err_set(err, ERR_FORMAT, 4,
			       "%s: version %" PRIu32 " with a header of %" PRIu32
			       " bytes, wanted version 1 and at least %d",
			       name, version, header, HEADER_BYTES);
	d.rest = cur_of(d.bytes + header, size - header);
	*out = d;
	return 0;
}

static bool read_load(const struct jitdump *d, struct cursor body, struct jitdump_code *out)
{
	const uint8_t *code;

	out->pid = cur_u32(&body);
	out->tid = cur_u32(&body);
	cur_skip(&body, sizeof(uint64_t)); /* virtual address: that of the code in all recorders */
	out->address = cur_u64(&body);
	out->size = cur_u64(&body);
	out->index = cur_u64(&body);
	out->name = cur_string(&body);
	code = cur_take(&body, out->size);
	if (!cur_ok(&body) || out->name == NULL)
		return false;
	out->file_at = (uint64_t)(code - d->bytes);
	if (d->lines_of == out->address)
		out->lines = d->lines;
	return true;
}

static bool read_move(struct cursor body, struct jitdump_code *out)
{
	out->is_move = true;
	out->pid = cur_u32(&body);
	out->tid = cur_u32(&body);
	cur_skip(&body, 2 * sizeof(uint64_t)); /* virtual and old address */
	out->address = cur_u64(&body);
	out->size = cur_u64(&body);
	out->index = cur_u64(&body);
	return cur_ok(&body);
}

/* Lines stand before the code that they are of. */
static void keep_lines(struct jitdump *d, struct cursor body)
{
	d->lines_of = cur_u64(&body);
	cur_skip(&body, sizeof(uint64_t)); /* how many: the record's size tells */
	d->lines = cur_ok(&body) ? body : cur_of(d->bytes, 0);
}

static bool has_range(const struct jitdump_code *c)
{
	return c->size > 0 && c->size <= UINT64_MAX - c->address;
}

bool jitdump_next(struct jitdump *d, struct jitdump_code *out)
{
	while (cur_left(&d->rest) > 0) {
		struct cursor c = d->rest;
		struct jitdump_code code = { 0 };
		uint32_t id = cur_u32(&c);
		uint32_t size = cur_u32(&c);
		struct cursor body;
		bool is_read = false;

		code.time = cur_u64(&c);
		if (!cur_ok(&c) || size < PREFIX_BYTES || size > cur_left(&d->rest)) {
			d->is_cut = true;
			d->rest = cur_of(d->bytes, 0);
			return false;
		}
		body = cur_split(&c, size - PREFIX_BYTES);
		d->rest = c;
		if (id == DEBUG_INFO)
			keep_lines(d, body);
		else if (id == CODE_LOAD)
			is_read = read_load(d, body, &code);
		else if (id == CODE_MOVE)
			is_read = read_move(body, &code);
		if (id == CODE_LOAD)
			d->lines = cur_of(d->bytes, 0);
		if (is_read && has_range(&code)) {
			*out = code;
			return true;
		}
	}
	return false;
}

uint64_t jitdump_line_shift(const struct jitdump *dump)
{
	static const char of_v8[] = "JS:";
	struct jitdump d = *dump;
	struct jitdump_code code;
	bool is_of_v8 = false;

	while (jitdump_next(&d, &code)) {
		uint64_t first = cur_u64(&code.lines);

		if (!cur_ok(&code.lines))
			continue;
		if (first - code.address < ELF_HEADER_BYTES)
			return 0;
		is_of_v8 |= strncmp(code.name, of_v8, sizeof(of_v8) - 1) == 0;
	}
	return is_of_v8 ? ELF_HEADER_BYTES : 0;
}

struct jitdump_lines jitdump_lines_of(const struct jitdump_code *code, uint64_t shift)
{
	return (struct jitdump_lines){ .code = *code, .rest = code->lines, .shift = shift };
}

static bool is_text(const char *text)
{
	while (*text != '\0') {
		uint32_t code;
		size_t n = utf8_decode(text, &code);

		if (n == 0 || code < ' ' || code == 0x7f)
			return false;
		text += n;
	}
	return true;
}

/* The file in a function's name, as V8 writes it: "JS:*name FILE:LINE:COLUMN". Its size; 0: there is none. */
static size_t find_v8_file(const char *name, const char **out)
{
	const char *file = strchr(name, ' ');
	size_t n;

	if (file == NULL)
		return 0;
	n = strlen(++file);
	for (int part = 0; part < 2; part++) {
		while (n > 0 && file[n - 1] >= '0' && file[n - 1] <= '9')
			n--;
		if (n == 0 || file[--n] != ':')
			return 0;
	}
	*out = file;
	return n;
}

/*
 * Does the name of the function's own file stand here, with its beginning damaged? Moves on behind it.
 */
static bool take_damaged_file(struct jitdump_lines *lines)
{
	const char *file;
	size_t n = find_v8_file(lines->code.name, &file);
	struct cursor c = lines->rest;
	const uint8_t *found = cur_take(&c, n + 1);

	if (n <= V8_DAMAGED_BYTES || !cur_ok(&c) || found[n] != '\0' ||
	    memcmp(found + V8_DAMAGED_BYTES, file + V8_DAMAGED_BYTES, n - V8_DAMAGED_BYTES) != 0 ||
	    (strlen((const char *)found) == n && is_text((const char *)found)))
		return false;
	lines->rest = c;
	lines->file = file;
	lines->n_file = n;
	return true;
}

/* Reads the name of a file; "\xff" stands for the one before it. False: it is damaged. */
static bool take_file(struct jitdump_lines *lines)
{
	static const char same[] = "\xff";
	const char *name;

	if (lines->shift != 0 && take_damaged_file(lines))
		return true;
	name = cur_string(&lines->rest);
	if (name == NULL)
		return false;
	if (strcmp(name, same) == 0)
		return lines->n_file > 0;
	lines->file = name;
	lines->n_file = is_text(name) ? strlen(name) : 0;
	return lines->n_file > 0;
}

bool jitdump_lines_next(struct jitdump_lines *lines, struct jitdump_line *out)
{
	while (cur_left(&lines->rest) > 0) {
		uint64_t address = cur_u64(&lines->rest);
		uint32_t line = cur_u32(&lines->rest);
		bool has_file;

		cur_skip(&lines->rest, sizeof(uint32_t)); /* a discriminator, or a column */
		if (!cur_ok(&lines->rest))
			return false;
		has_file = take_file(lines);
		address -= lines->code.address + lines->shift;
		if (has_file && address < lines->code.size && line > 0 && line <= INT32_MAX) {
			*out = (struct jitdump_line){ address, line, lines->file, lines->n_file };
			return true;
		}
	}
	return false;
}

bool jitdump_is_path(const char *path)
{
	static const char begin[] = "jit-";
	const char *base = path_base(path);
	size_t n;

	if (strncmp(base, begin, sizeof(begin) - 1) != 0)
		return false;
	base += sizeof(begin) - 1;
	n = strspn(base, "0123456789");
	return n > 0 && strcmp(base + n, ".dump") == 0;
}
