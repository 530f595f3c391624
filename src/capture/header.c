/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/header.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "capture/format/attr.h"
#include "capture/state.h"

static const char counts_of_perf_stat[] =
	"counts of perf stat, not a perf.data file; cyclops stat --import reads them";

/* First bytes of other files, and of captures that are not supported, for messages. */
static const struct magic {
	const char *bytes;
	uint8_t size;
	enum err_code code;
	const char *text;
} magics[] = {
	{ "2ELIFREP", 8, ERR_UNSUPPORTED,
	  "recorded on a big-endian machine; only captures of little-endian ones can be read" },
	{ "ELIFFREP", 8, ERR_UNSUPPORTED,
	  "recorded on a big-endian machine; only captures of little-endian ones can be read" },
	{ "\177ELF", 4, ERR_FORMAT,
	  "an ELF program or library, not a perf.data file; name the file that perf record wrote" },
	{ "# captured on", 13, ERR_FORMAT,
	  "text made by perf, not a perf.data file; name the file that it was made from" },
	{ "# started on", 12, ERR_FORMAT, counts_of_perf_stat },
	{ "\n Performance counter stats", 27, ERR_FORMAT, counts_of_perf_stat },
	{ "{\"counter-value\"", 16, ERR_FORMAT, counts_of_perf_stat },
	{ "\x28\xb5\x2f\xfd", 4, ERR_FORMAT,
	  "compressed more than once; unpack it first: zstd -d" },
	{ "\x1f\x8b", 2, ERR_FORMAT, "compressed more than once; unpack it first: gzip -d" },
	{ "\xfd\x37zXZ", 5, ERR_FORMAT, "compressed more than once; unpack it first: xz -d" },
	{ "\x04\x22\x4d\x18", 4, ERR_FORMAT, "compressed by lz4; unpack it first: lz4 -d FILE" },
	{ "BZh", 3, ERR_FORMAT, "compressed by bzip2; unpack it first: bzip2 -d FILE" },
	{ "PK\3\4", 4, ERR_FORMAT, "a zip archive; unpack it first" },
	{ "QPERFSTREAM", 11, ERR_FORMAT,
	  "what hotspot saved (.perfparser), not a perf.data file; name the file that it was made "
	  "from" },
};

static bool begins_with(const struct cursor *c, const void *bytes, size_t size)
{
	return cur_left(c) >= size && memcmp(c->pos, bytes, size) == 0;
}

/* POSIX says what it is in the middle of its first header. */
static bool is_tar(const struct cursor *c)
{
	enum { MAGIC_AT = 257 };

	return cur_left(c) >= MAGIC_AT + 5 && memcmp(c->pos + MAGIC_AT, "ustar", 5) == 0;
}

bool header_is_perf_data(struct cursor c)
{
	static const char *const begins[] = { "PERFILE2", "PERFFILE", "2ELIFREP", "ELIFFREP" };

	for (size_t i = 0; i < COUNT(begins); i++)
		if (begins_with(&c, begins[i], 8))
			return true;
	return false;
}

/* Appends printable characters unchanged, others escaped as in C. */
static void describe_bytes(const struct cursor *c, struct text *out)
{
	for (size_t i = 0; i < 8 && i < cur_left(c); i++) {
		uint8_t byte = c->pos[i];

		if (isprint(byte) && byte != '"' && byte != '\\') {
			text_char(out, (char)byte);
			continue;
		}
		text_str(out, "\\x");
		text_hex_padded(out, byte, 2);
	}
}

static int header_refuse(const struct cursor *c, const char *name, struct err *err)
{
	struct text found = { 0 };

	if (cur_left(c) == 0)
		return err_set(err, ERR_FORMAT, 0, "%s: empty, not a perf.data file", name);
	for (size_t i = 0; i < COUNT(magics); i++)
		if (begins_with(c, magics[i].bytes, magics[i].size))
			return err_set(err, magics[i].code, 0, "%s: %s", name, magics[i].text);
	if (is_tar(c))
		return err_set(err, ERR_FORMAT, 0,
			       "%s: an archive of tar, not a perf.data file; unpack it first: tar "
			       "-xf FILE",
			       name);
	if (raw_is_likely(c->pos, cur_left(c)))
		return err_set(
			err, ERR_FORMAT, 0,
			"%s: not a perf.data file, but its bytes are packets of SPE; --raw reads a "
			"raw SPE buffer",
			name);
	describe_bytes(c, &found);
	err_set(err, ERR_FORMAT, 0,
		"%s: not a perf.data file: begins with \"%.*s\", wanted \"PERFILE2\"", name,
		(int)found.n, found.bytes);
	text_release(&found);
	return -1;
}

static struct extent read_extent(struct cursor *c)
{
	struct extent s = { 0 };

	s.offset = cur_u64(c);
	s.size = cur_u64(c);
	return s;
}

static int read_file_header(struct cursor c, uint64_t size, const char *name, struct header *out,
			    struct err *err)
{
	struct header h = { 0 };

	h.entry_size = cur_u64(&c);
	h.attrs = read_extent(&c);
	h.data = read_extent(&c);
	(void)read_extent(&c); /* event types: replaced by EVENT_DESC */
	for (unsigned i = 0; i < FEATURE_WORDS && size == FILE_HEADER_BYTES; i++)
		h.features[i] = cur_u64(&c);
	if (!cur_ok(&c))
		return err_set(err, ERR_FORMAT, 0,
			       "%s: cut off inside its header of %" PRIu64 " bytes", name, size);
	if (h.entry_size < ATTR_SIZE_MIN + sizeof(struct extent))
		return err_set(err, ERR_FORMAT, 16,
			       "%s: entries of %" PRIu64 " bytes for events, smallest known is %zu",
			       name, h.entry_size, ATTR_SIZE_MIN + sizeof(struct extent));
	*out = h;
	return 0;
}

int header_read(struct cursor c, const char *name, struct header *out, struct err *err)
{
	bool is_version_1 = begins_with(&c, "PERFFILE", 8);
	uint64_t size;

	if (!is_version_1 && !begins_with(&c, "PERFILE2", 8))
		return header_refuse(&c, name, err);
	cur_skip(&c, 8);
	size = cur_u64(&c);
	if (!cur_ok(&c))
		return err_set(err, ERR_FORMAT, 8, "%s: cut off inside its header", name);
	if (size == FILE_HEADER_BYTES || (is_version_1 && size == OLD_HEADER_BYTES))
		return read_file_header(c, size, name, out, err);
	if (size != PIPE_HEADER_BYTES)
		return err_set(err, ERR_FORMAT, 8,
			       "%s: header of %" PRIu64 " bytes, wanted %d (file) or %d (stream)",
			       name, size, FILE_HEADER_BYTES, PIPE_HEADER_BYTES);
	*out = (struct header){ .is_pipe = true };
	return 0;
}

struct extent extent_clamp(struct extent s, uint64_t file_size)
{
	if (s.offset > file_size)
		return (struct extent){ .offset = file_size };
	if (s.size > file_size - s.offset)
		s.size = file_size - s.offset;
	return s;
}
