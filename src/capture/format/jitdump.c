/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/format/jitdump.h"

#include <inttypes.h>
#include <string.h>

#include "base/path.h"

enum {
	HEADER_BYTES = 40,
	PREFIX_BYTES = 16, /* id, size, time */
	FLAG_TICKS = 1 << 0,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
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
		if (id == CODE_LOAD)
			is_read = read_load(d, body, &code);
		else if (id == CODE_MOVE)
			is_read = read_move(body, &code);
		if (is_read && has_range(&code)) {
			*out = code;
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
