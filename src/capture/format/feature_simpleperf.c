/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features of simpleperf: functions by file, which it looks up on the recording machine, and names of
 * events. Format: docs/reference/perf-data.md section 1.3.
 */
#include "capture/format/feature.h"

#include <stdlib.h>
#include <string.h>

static void add_function(struct section *s, struct info *draft, uint64_t address, uint32_t size,
			 const char *name, size_t n)
{
	*vec_add(&draft->stored_functions) = (struct stored_function){
		.address = address,
		.size = size,
		.name = strings_add(s->strings, name, n),
	};
	draft->stored_files.items[draft->stored_files.n - 1].n++;
}

static struct stored_file *add_file(struct info *draft)
{
	struct stored_file *file = vec_add(&draft->stored_files);

	file->first = draft->stored_functions.n;
	file->min_offset = OFFSET_UNKNOWN;
	return file;
}

/* A file of FILE: fields one behind the other, texts with a NUL. */
static bool read_fields(struct section *s, struct cursor c, struct info *draft)
{
	struct stored_file *file = add_file(draft);
	const char *text = cur_string(&c);
	uint32_t n_functions, n_offsets;

	file->path = strings_addz(s->strings, text != NULL ? text : "");
	file->kind = cur_u32(&c);
	file->min_address = cur_u64(&c);
	n_functions = cur_u32(&c);
	for (uint32_t i = 0; i < n_functions && cur_ok(&c); i++) {
		uint64_t address = cur_u64(&c);
		uint32_t size = cur_u32(&c);

		text = cur_string(&c);
		if (text != NULL)
			add_function(s, draft, address, size, text, strlen(text));
	}
	if (file->kind == STORED_DEX) {
		n_offsets = cur_u32(&c);
		cur_skip(&c, (uint64_t)n_offsets * sizeof(uint64_t));
	}
	/* since 2021 */
	if ((file->kind == STORED_ELF || file->kind == STORED_KERNEL_MODULE) && cur_left(&c) > 0)
		file->min_offset = cur_u64(&c);
	return cur_ok(&c);
}

/* A protocol buffer's number: 7 bits in each byte, the lowest first. */
static uint64_t cur_varint(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cur_u8(c);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

/* A field of a protocol buffer message: a number, or bytes. */
struct field {
	uint64_t number; /* its name in the message */
	uint64_t value;
	struct cursor bytes;
};

/* The next field; false at the end, or if it cannot be read. */
static bool field_next(struct cursor *message, struct field *out)
{
	enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };
	uint64_t tag;

	if (cur_left(message) == 0)
		return false;
	tag = cur_varint(message);
	*out = (struct field){ .number = tag >> 3 };
	switch (tag & 7) {
	case VARINT:
		out->value = cur_varint(message);
		break;
	case FIXED64:
		out->value = cur_u64(message);
		break;
	case BYTES:
		out->bytes = cur_split(message, cur_varint(message));
		break;
	case FIXED32:
		out->value = cur_u32(message);
		break;
	default:
		message->bad = true;
	}
	return cur_ok(message);
}

static bool read_symbol_message(struct section *s, struct cursor message, struct info *draft)
{
	enum { ADDRESS = 1, SIZE, NAME };
	struct cursor name = { 0 };
	uint64_t address = 0, size = 0;
	struct field f;

	while (field_next(&message, &f)) {
		if (f.number == ADDRESS)
			address = f.value;
		else if (f.number == SIZE)
			size = f.value;
		else if (f.number == NAME)
			name = f.bytes;
	}
	if (cur_left(&name) > 0)
		add_function(s, draft, address, (uint32_t)size, (const char *)name.pos,
			     cur_left(&name));
	return cur_ok(&message);
}

/* A file of FILE2: a protocol buffer message. */
static bool read_file_message(struct section *s, struct cursor message, struct info *draft)
{
	enum { PATH = 1, KIND, MIN_ADDRESS, FUNCTION, ELF = 6, KERNEL_MODULE };
	struct stored_file *file = add_file(draft);
	struct field f, inner;
	bool is_good = true;

	while (field_next(&message, &f) && is_good) {
		if (f.number == PATH)
			file->path = strings_add(s->strings, (const char *)f.bytes.pos,
						 cur_left(&f.bytes));
		else if (f.number == KIND)
			file->kind = (uint32_t)f.value;
		else if (f.number == MIN_ADDRESS)
			file->min_address = f.value;
		else if (f.number == FUNCTION)
			is_good = read_symbol_message(s, f.bytes, draft);
		else if (f.number == ELF || f.number == KERNEL_MODULE)
			file->min_offset = field_next(&f.bytes, &inner) ? inner.value : 0;
	}
	return is_good && cur_ok(&message);
}

static bool read_files(struct section *s, struct info *draft,
		       bool (*read)(struct section *, struct cursor, struct info *))
{
	LIST_FORGET(draft->stored_files);
	LIST_FORGET(draft->stored_functions);
	while (cur_left(&s->c) > 0) {
		uint32_t size = cur_u32(&s->c);

		if (size == 0) /* padding */
			return cur_ok(&s->c);
		if (!read(s, cur_split(&s->c, size), draft) || !cur_ok(&s->c))
			return false;
	}
	return true;
}

bool read_stored_files(struct section *s, struct info *draft)
{
	return read_files(s, draft, read_fields);
}

bool read_stored_files_2(struct section *s, struct info *draft)
{
	return read_files(s, draft, read_file_message);
}

/* Lines "NAME,TYPE,CONFIG". */
static void read_event_names(struct section *s, struct info *draft, const char *at)
{
	for (const char *end; *at != '\0'; at = *end == '\0' ? end : end + 1) {
		const char *comma = memchr(at, ',', strcspn(at, "\n"));
		char *behind;

		end = at + strcspn(at, "\n");
		if (comma == NULL)
			continue;
		*vec_add(&draft->event_names) = (struct event_name_entry){
			.name = strings_add(s->strings, at, (size_t)(comma - at)),
			.type = (uint32_t)strtoul(comma + 1, &behind, 10),
			.config = *behind == ',' ? strtoull(behind + 1, NULL, 10) : 0,
		};
	}
}

/* META_INFO: pairs of texts with a NUL. */
bool read_meta_info(struct section *s, struct info *draft)
{
	LIST_FORGET(draft->event_names);
	while (cur_left(&s->c) > 0) {
		const char *key = cur_string(&s->c), *value;

		if (key != NULL && key[0] == '\0') /* padding */
			break;
		value = cur_string(&s->c);
		if (key == NULL || value == NULL)
			return false;
		if (strcmp(key, "event_type_info") == 0)
			read_event_names(s, draft, value);
	}
	return true;
}
