/* SPDX-License-Identifier: Apache-2.0 */
/* Format: System V ABI, "Object Files", program headers and notes. */
#include "model/build_id.h"

#include <elf.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mapped.h"

static size_t align_note(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Reads the next note. Is it a build-id? */
static bool is_build_id(struct cursor *notes, struct build_id *out)
{
	uint32_t name_size = cur_u32(notes);
	uint32_t size = cur_u32(notes);
	uint32_t type = cur_u32(notes);
	const uint8_t *name = cur_take(notes, align_note(name_size));
	const uint8_t *id = cur_take(notes, align_note(size));

	if (!cur_ok(notes) || type != NT_GNU_BUILD_ID || name_size != sizeof("GNU") ||
	    memcmp(name, "GNU", sizeof("GNU")) != 0 || size == 0 || size > BUILD_ID_MAX)
		return false;
	*out = (struct build_id){ .size = (uint8_t)size };
	memcpy(out->bytes, id, size);
	return true;
}

static bool search_notes(struct cursor file, uint64_t offset, uint64_t size, struct build_id *out)
{
	struct cursor notes;

	cur_skip(&file, offset);
	notes = cur_split(&file, size);
	while (cur_ok(&notes) && cur_left(&notes) > 0)
		if (is_build_id(&notes, out))
			return true;
	return false;
}

bool build_id_find(const void *bytes, size_t size, struct build_id *out)
{
	enum { SEGMENTS_AT = 32, N_SEGMENTS_AT = 56, HEADER_SIZE = 64, SEGMENT_SIZE = 56 };
	const uint8_t *header = bytes;
	struct cursor file = cur_of(bytes, size), segments = file;
	unsigned n;

	if (size < HEADER_SIZE || memcmp(header, ELFMAG, SELFMAG) != 0 ||
	    header[EI_CLASS] != ELFCLASS64)
		return false;
	cur_skip(&segments, load_u64(header + SEGMENTS_AT));
	n = load_u16(header + N_SEGMENTS_AT);
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *segment = cur_take(&segments, SEGMENT_SIZE);

		if (segment == NULL)
			return false;
		if (load_u32(segment) == PT_NOTE &&
		    search_notes(file, load_u64(segment + 8), load_u64(segment + 32), out))
			return true;
	}
	return false;
}

bool build_id_read(const char *path, struct build_id *out)
{
	struct mapped file = { 0 };
	struct err ignored;
	bool found;

	if (mapped_open(&file, path, &ignored) < 0)
		return false;
	found = build_id_find(file.bytes, file.size, out);
	mapped_release(&file);
	return found;
}
