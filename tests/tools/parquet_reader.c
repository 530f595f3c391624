/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet_reader.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/cursor.h"

enum {
	T_STOP = 0,
	T_TRUE = 1,
	T_FALSE = 2,
	T_I8 = 3,
	T_I16 = 4,
	T_I32 = 5,
	T_I64 = 6,
	T_DOUBLE = 7,
	T_BYTES = 8,
	T_LIST = 9,
	T_STRUCT = 12
};

enum { P_BOOLEAN = 0, P_INT32 = 1, P_INT64 = 2, P_DOUBLE = 5, P_BYTES = 6 };
enum { L_TEXT = 1, L_LIST = 3, L_TIME = 8, L_INTEGER = 10 };
enum { E_PLAIN = 0, E_DELTA = 5, E_DICTIONARY = 8 };
enum { MAX_DEPTH = 8, MAX_COLUMNS = 4096 };

static int bad(struct err *err, const char *what)
{
	return err_set(err, ERR_FORMAT, ERR_NOWHERE, "parquet: %s", what);
}

static uint64_t varint(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cur_u8(c);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	c->bad = true;
	return 0;
}

static int64_t zigzag(struct cursor *c)
{
	uint64_t value = varint(c);

	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* A field of a struct. */
struct field {
	int id, type;
};

static bool next_field(struct cursor *c, struct field *f)
{
	uint8_t byte = cur_u8(c);

	if (!cur_ok(c) || byte == T_STOP)
		return false;
	f->type = byte & 15;
	if (byte >> 4 == 0)
		f->id = (int)zigzag(c);
	else
		f->id += byte >> 4;
	return cur_ok(c);
}

/* The number of elements, at least a byte each, and their type. */
static uint64_t list_of(struct cursor *c, int *type)
{
	uint8_t byte = cur_u8(c);
	uint64_t n = byte >> 4 == 15 ? varint(c) : byte >> 4;

	*type = byte & 15;
	if (!cur_holds(c, n, 1)) {
		c->bad = true;
		return 0;
	}
	return n;
}

static void skip_value(struct cursor *c, int type, int depth)
{
	struct field f = { 0 };
	int element;

	if (depth > MAX_DEPTH)
		c->bad = true;
	if (!cur_ok(c))
		return;
	switch (type) {
	case T_TRUE:
	case T_FALSE:
		break;
	case T_I8:
		cur_skip(c, 1);
		break;
	case T_DOUBLE:
		cur_skip(c, 8);
		break;
	case T_I16:
	case T_I32:
	case T_I64:
		varint(c);
		break;
	case T_BYTES:
		cur_skip(c, varint(c));
		break;
	case T_LIST:
		for (uint64_t n = list_of(c, &element); n > 0 && cur_ok(c); n--)
			skip_value(c, element, depth + 1);
		break;
	case T_STRUCT:
		while (next_field(c, &f))
			skip_value(c, f.type, depth + 1);
		break;
	default:
		c->bad = true;
	}
}

static const char *string_of(struct cursor *c, struct arena *memory)
{
	uint64_t size = varint(c);
	const uint8_t *at = cur_take(c, size);

	return at == NULL ? "" : arena_strndup(memory, (const char *)at, (size_t)size);
}

static void bytes_of(struct cursor *c, struct text *out)
{
	uint64_t size = varint(c);
	const uint8_t *at = cur_take(c, size);

	text_reset(out);
	if (at != NULL)
		text_add(out, (const char *)at, (size_t)size);
}

static void read_integer_type(struct cursor *c, struct reader_column *out)
{
	for (struct field f = { 0 }; next_field(c, &f);) {
		if (f.id == 1 && f.type == T_I8)
			out->bits = cur_u8(c);
		else if (f.id == 2)
			out->is_signed = f.type == T_TRUE;
		else
			skip_value(c, f.type, 0);
	}
}

static void read_time_type(struct cursor *c, struct reader_column *out)
{
	for (struct field f = { 0 }; next_field(c, &f);) {
		if (f.id != 2 || f.type != T_STRUCT) {
			skip_value(c, f.type, 0);
			continue;
		}
		for (struct field unit = { 0 }; next_field(c, &unit); skip_value(c, unit.type, 0))
			out->unit = unit.id;
	}
}

static void read_logical_type(struct cursor *c, struct reader_column *out)
{
	for (struct field f = { 0 }; next_field(c, &f);) {
		out->logical = f.id;
		if (f.id == L_INTEGER && f.type == T_STRUCT)
			read_integer_type(c, out);
		else if (f.id == L_TIME && f.type == T_STRUCT)
			read_time_type(c, out);
		else
			skip_value(c, f.type, 0);
	}
}

/* An element of the schema. */
struct element {
	struct reader_column column;
	int64_t repetition, n_children;
};

static void read_element(struct cursor *c, struct arena *memory, struct element *out)
{
	*out = (struct element){ .column = { .name = "", .physical = -1 } };
	for (struct field f = { 0 }; next_field(c, &f);) {
		if (f.id == 1 && f.type == T_I32)
			out->column.physical = (int)zigzag(c);
		else if (f.id == 3 && f.type == T_I32)
			out->repetition = zigzag(c);
		else if (f.id == 4 && f.type == T_BYTES)
			out->column.name = string_of(c, memory);
		else if (f.id == 5 && f.type == T_I32)
			out->n_children = zigzag(c);
		else if (f.id == 10 && f.type == T_STRUCT)
			read_logical_type(c, &out->column);
		else
			skip_value(c, f.type, 0);
	}
}

/* The elements of a list: texts, numbers, or structs of numbers, which are a column each. Takes them from `n`. */
static int read_list_element(struct cursor *c, struct reader_file *file, struct reader_column list,
			     uint64_t *n, struct err *err)
{
	struct element element;
	int64_t n_parts;

	read_element(c, &file->memory, &element);
	n_parts = element.n_children;
	if (element.repetition != 0 || n_parts < 0 || (uint64_t)n_parts > *n)
		return bad(err, "a list whose elements may be absent");
	*n -= (uint64_t)n_parts;
	list.is_list = true;
	for (int64_t i = 0; i < n_parts || i == 0; i++) {
		struct reader_column *out = vec_add(&file->columns);

		*out = list;
		if (n_parts > 0) {
			read_element(c, &file->memory, &element);
			out->part = element.column.name;
		}
		out->physical = element.column.physical;
		if (element.repetition != 0 || element.n_children != 0 ||
		    (out->physical != P_BYTES && out->physical != P_INT64))
			return bad(err, "a list whose elements are neither texts nor numbers");
		if (out->physical == P_INT64) {
			out->logical = element.column.logical;
			out->bits = element.column.bits;
			out->is_signed = element.column.is_signed;
		}
	}
	return 0;
}

/* The root, then columns: optional values, or lists. */
static int read_schema(struct cursor *c, struct reader_file *file, struct err *err)
{
	struct element element;
	int type;
	uint64_t n = list_of(c, &type);

	if (type != T_STRUCT || n == 0 || n > MAX_COLUMNS)
		return bad(err, "no schema");
	read_element(c, &file->memory, &element);
	for (n--; n > 0 && cur_ok(c); n--) {
		struct reader_column column;

		read_element(c, &file->memory, &element);
		column = element.column;
		if (element.repetition != 1)
			return bad(err, "a column that is not optional");
		if (element.n_children == 0) {
			*vec_add(&file->columns) = column;
			continue;
		}
		if (column.logical != L_LIST || element.n_children != 1 || n < 3)
			return bad(err, "a group that is no list");
		read_element(c, &file->memory, &element);
		if (element.repetition != 2 || element.n_children != 1)
			return bad(err, "a list that is not repeated");
		n -= 2;
		if (read_list_element(c, file, column, &n, err) < 0)
			return -1;
	}
	return 0;
}

static void read_statistics(struct cursor *c, struct reader_chunk *out)
{
	unsigned n_bounds = 0;

	for (struct field f = { 0 }; next_field(c, &f);) {
		if (f.id == 3 && f.type == T_I64) {
			out->n_nulls = (uint64_t)zigzag(c);
		} else if ((f.id == 5 || f.id == 6) && f.type == T_BYTES) {
			bytes_of(c, f.id == 5 ? &out->largest : &out->least);
			n_bounds++;
		} else {
			skip_value(c, f.type, 0);
		}
	}
	out->has_bounds = n_bounds == 2;
}

static void read_encodings(struct cursor *c, struct reader_chunk *out)
{
	int type;

	for (uint64_t n = list_of(c, &type); n > 0 && cur_ok(c); n--)
		out->encodings |= 1u << (zigzag(c) & 31);
}

static void read_chunk_meta(struct cursor *c, struct reader_chunk *out)
{
	for (struct field f = { 0 }; next_field(c, &f);) {
		if (f.id == 2 && f.type == T_LIST)
			read_encodings(c, out);
		else if (f.id == 4 && f.type == T_I32)
			out->codec = (int)zigzag(c);
		else if (f.id == 5 && f.type == T_I64)
			out->n_values = (uint64_t)zigzag(c);
		else if (f.id == 7 && f.type == T_I64)
			out->n_bytes = (uint64_t)zigzag(c);
		else if (f.id == 9 && f.type == T_I64)
			out->data_offset = (uint64_t)zigzag(c);
		else if (f.id == 11 && f.type == T_I64)
			out->dictionary_offset = (uint64_t)zigzag(c);
		else if (f.id == 12 && f.type == T_STRUCT)
			read_statistics(c, out);
		else if (f.id == 14 && f.type == T_I64)
			out->bloom_offset = (uint64_t)zigzag(c);
		else
			skip_value(c, f.type, 0);
	}
}

static void read_chunks(struct cursor *c, struct reader_group *group)
{
	int type;

	for (uint64_t n = list_of(c, &type); n > 0 && cur_ok(c); n--) {
		struct reader_chunk *chunk = vec_add(&group->chunks);

		for (struct field f = { 0 }; next_field(c, &f);) {
			if (f.id == 3 && f.type == T_STRUCT)
				read_chunk_meta(c, chunk);
			else
				skip_value(c, f.type, 0);
		}
	}
}

static void read_groups(struct cursor *c, struct reader_file *file)
{
	int type;

	for (uint64_t n = list_of(c, &type); n > 0 && cur_ok(c); n--) {
		struct reader_group *group = vec_add(&file->groups);

		for (struct field f = { 0 }; next_field(c, &f);) {
			if (f.id == 1 && f.type == T_LIST && group->chunks.n == 0)
				read_chunks(c, group);
			else if (f.id == 3 && f.type == T_I64)
				group->n_rows = (uint64_t)zigzag(c);
			else
				skip_value(c, f.type, 0);
		}
	}
}

static void read_metas(struct cursor *c, struct reader_file *file)
{
	int type;

	for (uint64_t n = list_of(c, &type); n > 0 && cur_ok(c); n--) {
		const char *pair[2] = { "", "" };

		for (struct field f = { 0 }; next_field(c, &f);) {
			if ((f.id == 1 || f.id == 2) && f.type == T_BYTES)
				pair[f.id - 1] = string_of(c, &file->memory);
			else
				skip_value(c, f.type, 0);
		}
		*vec_add(&file->metas) = pair[0];
		*vec_add(&file->metas) = pair[1];
	}
}

static int check_file(const struct reader_file *file, struct err *err)
{
	uint64_t n_rows = 0;

	for (size_t i = 0; i < file->groups.n; i++) {
		const struct reader_group *group = &file->groups.items[i];

		if (group->chunks.n != file->columns.n)
			return bad(err, "a row group without some column");
		if (group->n_rows > READER_MAX_ROWS)
			return bad(err, "too many rows");
		n_rows += group->n_rows;
	}
	if (n_rows != file->n_rows || n_rows > READER_MAX_ROWS)
		return bad(err, "row groups do not have as many rows as the file");
	return 0;
}

int reader_open(const void *bytes, size_t size, struct reader_file *file, struct err *err)
{
	const uint8_t *at = bytes;
	struct cursor c;
	uint32_t footer;
	bool has_schema = false;

	*file = (struct reader_file){ .bytes = at, .size = size };
	if (size < 12 || memcmp(at, "PAR1", 4) != 0 || memcmp(at + size - 4, "PAR1", 4) != 0)
		return bad(err, "no mark at both ends");
	footer = load_u32(at + size - 8);
	if (footer > size - 12)
		return bad(err, "a footer that is larger than the file");
	c = cur_of(at + size - 8 - footer, footer);
	for (struct field f = { 0 }; next_field(&c, &f);) {
		if (f.id == 2 && f.type == T_LIST && !has_schema) {
			has_schema = true;
			if (read_schema(&c, file, err) < 0)
				return -1;
		} else if (f.id == 3 && f.type == T_I64) {
			file->n_rows = (uint64_t)zigzag(&c);
		} else if (f.id == 4 && f.type == T_LIST && file->groups.n == 0) {
			read_groups(&c, file);
		} else if (f.id == 5 && f.type == T_LIST) {
			read_metas(&c, file);
		} else {
			skip_value(&c, f.type, 0);
		}
	}
	if (!cur_ok(&c) || cur_left(&c) > 0 || file->columns.n == 0)
		return bad(err, "a footer that cannot be read");
	return check_file(file, err);
}

void reader_close(struct reader_file *file)
{
	for (size_t i = 0; i < file->groups.n; i++) {
		for (size_t k = 0; k < file->groups.items[i].chunks.n; k++) {
			text_release(&file->groups.items[i].chunks.items[k].least);
			text_release(&file->groups.items[i].chunks.items[k].largest);
		}
		vec_release(&file->groups.items[i].chunks);
	}
	vec_release(&file->groups);
	vec_release(&file->columns);
	vec_release(&file->metas);
	arena_release(&file->memory);
}

const char *reader_meta(const struct reader_file *file, const char *key)
{
	for (size_t i = 0; i + 1 < file->metas.n; i += 2)
		if (strcmp(file->metas.items[i], key) == 0)
			return file->metas.items[i + 1];
	return NULL;
}

struct page {
	int64_t kind, size, compressed_size, n_values, encoding;
};

static void read_page_inner(struct cursor *c, struct page *p)
{
	for (struct field f = { 0 }; next_field(c, &f);) {
		if (f.id == 1 && f.type == T_I32)
			p->n_values = zigzag(c);
		else if (f.id == 2 && f.type == T_I32)
			p->encoding = zigzag(c);
		else
			skip_value(c, f.type, 0);
	}
}

static struct page read_page_header(struct cursor *c)
{
	struct page p = { -1, -1, -1, -1, -1 };

	for (struct field f = { 0 }; next_field(c, &f);) {
		if (f.id == 1 && f.type == T_I32)
			p.kind = zigzag(c);
		else if (f.id == 2 && f.type == T_I32)
			p.size = zigzag(c);
		else if (f.id == 3 && f.type == T_I32)
			p.compressed_size = zigzag(c);
		else if ((f.id == 5 || f.id == 7) && f.type == T_STRUCT)
			read_page_inner(c, &p);
		else
			skip_value(c, f.type, 0);
	}
	return p;
}

/* `n` values of `width` bits. */
static void read_packed(struct cursor *c, unsigned width, uint64_t n, uint64_t *out)
{
	const uint8_t *at = cur_take(c, (n * width + 7) / 8);

	for (uint64_t i = 0; i < n; i++) {
		out[i] = 0;
		for (unsigned bit = 0; bit < width && at != NULL; bit++) {
			uint64_t k = i * width + bit;

			out[i] |= (uint64_t)(at[k / 8] >> k % 8 & 1) << bit;
		}
	}
}

/* Runs: exactly `n` values. */
static void read_runs(struct cursor *c, unsigned width, uint64_t n, uint64_t *out)
{
	uint64_t *group = mem_alloc(n + 8, sizeof(*group));

	for (uint64_t i = 0; i < n && cur_ok(c);) {
		uint64_t head = varint(c);
		uint64_t count = head >> 1;

		if (head & 1 && count <= (n - i + 7) / 8) {
			count *= 8;
			read_packed(c, width, count, group);
			count = count < n - i ? count : n - i;
			memcpy(out + i, group, count * sizeof(*out));
		} else if (!(head & 1) && count <= n - i) {
			const uint8_t *at = cur_take(c, (width + 7) / 8);
			uint64_t value = 0;

			if (at != NULL)
				memcpy(&value, at, (width + 7) / 8);
			for (uint64_t k = 0; k < count; k++)
				out[i + k] = value;
		} else {
			c->bad = true;
		}
		if (count == 0)
			c->bad = true;
		i += count;
	}
	free(group);
}

static void read_delta(struct cursor *c, bool is_narrow, uint64_t n, uint64_t *out)
{
	uint64_t block = varint(c), n_mini = varint(c), count = varint(c);
	uint64_t last = (uint64_t)zigzag(c), values[32], i = 1;

	if (block != 128 || n_mini != 4 || count != n) {
		c->bad = true;
		return;
	}
	if (n > 0)
		out[0] = last;
	while (i < n && cur_ok(c)) {
		uint64_t least = (uint64_t)zigzag(c);
		const uint8_t *widths = cur_take(c, 4);

		for (unsigned k = 0; k < 4 && widths != NULL && i < n; k++) {
			if (widths[k] > 64) {
				c->bad = true;
				return;
			}
			read_packed(c, widths[k], 32, values);
			for (unsigned m = 0; m < 32 && i < n; m++)
				out[i++] = last += least + values[m];
		}
	}
	for (uint64_t k = 0; k < n && is_narrow; k++)
		out[k] = (uint32_t)out[k];
}

/* Values of a kind that is not bound to rows: of a dictionary, or of a page. */
struct plain {
	VEC_OF(uint64_t) numbers; /* of texts: where they begin */
	VEC_OF(uint32_t) sizes;
	struct text texts;
};

static void plain_release(struct plain *p)
{
	vec_release(&p->numbers);
	vec_release(&p->sizes);
	text_release(&p->texts);
}

static void read_plain(struct cursor *c, int physical, uint64_t n, struct plain *out)
{
	const uint8_t *bits = physical == P_BOOLEAN ? cur_take(c, (n + 7) / 8) : NULL;

	for (uint64_t i = 0; i < n && cur_ok(c); i++) {
		uint64_t value = 0;

		if (physical == P_BOOLEAN) {
			value = bits[i / 8] >> i % 8 & 1;
		} else if (physical == P_INT32) {
			value = cur_u32(c);
		} else if (physical != P_BYTES) {
			value = cur_u64(c);
		} else {
			uint32_t size = cur_u32(c);
			const uint8_t *at = cur_take(c, size);

			if (at == NULL)
				return;
			value = out->texts.n;
			text_add(&out->texts, (const char *)at, size);
			*vec_add(&out->sizes) = size;
		}
		*vec_add(&out->numbers) = value;
	}
}

/* A chunk being read. */
struct chunk_state {
	const struct reader_column *column;
	const struct reader_chunk *chunk;
	struct plain dictionary;
	bool has_dictionary;
	uint64_t n_levels, n_rows;
	struct reader_values *out;
};

static void add_value(struct reader_values *out, int physical, const struct plain *from, uint64_t i)
{
	if (physical == P_BYTES) {
		*vec_add(&out->numbers) = out->texts.n;
		*vec_add(&out->sizes) = from->sizes.items[i];
		if (from->sizes.items[i] > 0)
			text_add(&out->texts, from->texts.bytes + from->numbers.items[i],
				 from->sizes.items[i]);
	} else {
		*vec_add(&out->numbers) = from->numbers.items[i];
	}
}

static int read_data_values(struct chunk_state *s, struct cursor *c, int64_t encoding, uint64_t n,
			    struct err *err)
{
	int physical = s->column->physical;
	struct plain values = { 0 };
	uint64_t *numbers = mem_alloc(n + 1, sizeof(*numbers));
	int rc = 0;

	if (encoding == E_DICTIONARY && s->has_dictionary) {
		unsigned width = cur_u8(c);

		if (width > 32)
			c->bad = true;
		else
			read_runs(c, width, n, numbers);
		for (uint64_t i = 0; i < n && cur_ok(c) && rc == 0; i++) {
			if (numbers[i] >= s->dictionary.numbers.n)
				rc = bad(err, "an id that the dictionary does not have");
			else
				add_value(s->out, physical, &s->dictionary, numbers[i]);
		}
	} else if (encoding == E_DELTA && (physical == P_INT32 || physical == P_INT64)) {
		read_delta(c, physical == P_INT32, n, numbers);
		for (uint64_t i = 0; i < n && cur_ok(c); i++)
			*vec_add(&s->out->numbers) = numbers[i];
	} else if (encoding == E_PLAIN) {
		read_plain(c, physical, n, &values);
		for (uint64_t i = 0; i < n && cur_ok(c); i++)
			add_value(s->out, physical, &values, i);
	} else {
		rc = bad(err, "an encoding that is not known");
	}
	if (rc == 0 && (!cur_ok(c) || cur_left(c) > 0))
		rc = bad(err, "values that do not fill their page");
	if (!(s->chunk->encodings >> encoding & 1) && rc == 0)
		rc = bad(err, "an encoding that the footer does not name");
	plain_release(&values);
	free(numbers);
	return rc;
}

static void read_levels(struct cursor *c, unsigned width, uint64_t n, uint64_t *out)
{
	struct cursor levels = cur_split(c, cur_u32(c));

	read_runs(&levels, width, n, out);
	if (!cur_ok(&levels) || cur_left(&levels) > 0)
		c->bad = true;
}

/* Rows of a page, by its levels. Returns how many values there are. */
static uint64_t add_rows(struct chunk_state *s, struct cursor *c, uint64_t n,
			 const uint64_t *repeats, const uint64_t *levels)
{
	bool is_list = s->column->is_list;
	uint64_t n_values = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (levels[i] > (is_list ? 2 : 1) ||
		    (is_list && repeats[i] == 1 && (s->n_rows == 0 || levels[i] != 2)))
			c->bad = true;
		if (!cur_ok(c))
			return 0;
		n_values += levels[i] == (is_list ? 2 : 1);
		if (is_list && repeats[i] == 1) {
			if (s->out->lengths.n == 0)
				c->bad = true;
			else
				s->out->lengths.items[s->out->lengths.n - 1]++;
			continue;
		}
		s->n_rows++;
		*vec_add(&s->out->present) = levels[i] > 0;
		if (is_list && levels[i] > 0)
			*vec_add(&s->out->lengths) = levels[i] == 2;
	}
	return n_values;
}

static int read_data_page(struct chunk_state *s, struct cursor *c, const struct page *p,
			  struct err *err)
{
	uint64_t n = (uint64_t)p->n_values, n_values;
	uint64_t *repeats = mem_zalloc(n + 1, sizeof(*repeats)),
		 *levels = mem_zalloc(n + 1, sizeof(*levels));
	int rc = -1;

	if (s->column->is_list)
		read_levels(c, 1, n, repeats);
	read_levels(c, s->column->is_list ? 2 : 1, n, levels);
	n_values = add_rows(s, c, n, repeats, levels);
	s->n_levels += n;
	if (cur_ok(c))
		rc = read_data_values(s, c, p->encoding, n_values, err);
	else
		bad(err, "levels that cannot be read");
	free(repeats);
	free(levels);
	return rc;
}

static int read_page(struct chunk_state *s, struct cursor *c, struct err *err)
{
	struct page p = read_page_header(c);
	struct text plain = { 0 };
	struct cursor body;
	int rc = 0;

	if (!cur_ok(c) || p.size < 0 || p.size > READER_MAX_PAGE || p.compressed_size < 0 ||
	    p.n_values < 0 || p.n_values > READER_MAX_ROWS ||
	    (s->chunk->codec == 0 && p.size != p.compressed_size))
		return bad(err, "a page's header that cannot be");
	body = cur_split(c, (uint64_t)p.compressed_size);
	if (s->chunk->codec == 6 && cur_ok(&body)) {
		size_t size = ZSTD_decompress(text_room(&plain, (size_t)p.size + 1), (size_t)p.size,
					      body.pos, cur_left(&body));

		if (ZSTD_isError(size) || size != (size_t)p.size)
			rc = bad(err, "a page that cannot be decompressed");
		body = cur_of(plain.bytes, (size_t)p.size);
	} else if (s->chunk->codec != 0 || !cur_ok(&body)) {
		rc = bad(err, "a page that is cut");
	}
	if (rc == 0 && p.kind == 2 && !s->has_dictionary && s->n_levels == 0) {
		read_plain(&body, s->column->physical, (uint64_t)p.n_values, &s->dictionary);
		s->has_dictionary = true;
		if (!cur_ok(&body) || cur_left(&body) > 0)
			rc = bad(err, "a dictionary that cannot be read");
	} else if (rc == 0 && p.kind == 0) {
		rc = read_data_page(s, &body, &p, err);
	} else if (rc == 0) {
		rc = bad(err, "a page of an unknown kind");
	}
	text_release(&plain);
	return rc;
}

/* Of the bits of two values: −1, 0, 1. Values that are no numbers are equal to all. */
static int compare_numbers(const struct reader_column *column, uint64_t a, uint64_t b)
{
	double x, y;

	if (column->physical == P_DOUBLE) {
		memcpy(&x, &a, sizeof(x));
		memcpy(&y, &b, sizeof(y));
		return (x > y) - (x < y);
	}
	if (column->physical == P_BOOLEAN || (column->logical == L_INTEGER && !column->is_signed))
		return (a > b) - (a < b);
	if (column->physical == P_INT32)
		return ((int32_t)a > (int32_t)b) - ((int32_t)a < (int32_t)b);
	return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

static int compare_value(const struct reader_column *column, const struct reader_values *v,
			 size_t i, const struct text *bound)
{
	uint64_t number = 0;
	size_t common;
	int order;

	if (column->physical != P_BYTES) {
		memcpy(&number, bound->bytes,
		       bound->n < sizeof(number) ? bound->n : sizeof(number));
		return compare_numbers(column, v->numbers.items[i], number);
	}
	common = v->sizes.items[i] < bound->n ? v->sizes.items[i] : bound->n;
	order = common > 0 ? memcmp(v->texts.bytes + v->numbers.items[i], bound->bytes, common) : 0;
	return order != 0 ? order : (v->sizes.items[i] > bound->n) - (v->sizes.items[i] < bound->n);
}

/* Bounds are met, and not passed. */
static int check_chunk(const struct chunk_state *s, size_t first_value, uint64_t n_rows,
		       struct err *err)
{
	const struct reader_values *v = s->out;
	bool meets_least = false, meets_largest = false;

	if (s->n_rows != n_rows || s->n_levels != s->chunk->n_values)
		return bad(err, "a chunk with another number of rows than its group");
	if (s->chunk->n_nulls != s->n_levels - (v->numbers.n - first_value))
		return bad(err, "a wrong number of absent values");
	if (!s->chunk->has_bounds)
		return 0;
	for (size_t i = first_value; i < v->numbers.n; i++) {
		int least = compare_value(s->column, v, i, &s->chunk->least);
		int largest = compare_value(s->column, v, i, &s->chunk->largest);

		if (least < 0 || largest > 0)
			return bad(err, "a value beyond its bounds");
		meets_least |= least == 0;
		meets_largest |= largest == 0;
	}
	return meets_least && meets_largest ? 0 : bad(err, "bounds that no value has");
}

static int read_chunk(const struct reader_file *file, size_t column, size_t group,
		      struct reader_values *out, struct err *err)
{
	const struct reader_chunk *chunk = &file->groups.items[group].chunks.items[column];
	struct chunk_state s = { .column = &file->columns.items[column],
				 .chunk = chunk,
				 .out = out };
	uint64_t offset =
		chunk->dictionary_offset > 0 ? chunk->dictionary_offset : chunk->data_offset;
	size_t first_value = out->numbers.n;
	struct cursor c;
	int rc = 0;

	if (offset > file->size || chunk->n_bytes > file->size - offset)
		return bad(err, "a chunk behind the end of the file");
	c = cur_of(file->bytes + offset, chunk->n_bytes);
	while (cur_left(&c) > 0 && rc == 0 && out->present.n <= READER_MAX_ROWS)
		rc = read_page(&s, &c, err);
	if (rc == 0)
		rc = check_chunk(&s, first_value, file->groups.items[group].n_rows, err);
	plain_release(&s.dictionary);
	return rc;
}

int reader_read(const struct reader_file *file, size_t column, struct reader_values *out,
		struct err *err)
{
	*out = (struct reader_values){ 0 };
	for (size_t i = 0; i < file->groups.n; i++)
		if (read_chunk(file, column, i, out, err) < 0)
			return -1;
	return 0;
}

void reader_values_release(struct reader_values *v)
{
	vec_release(&v->present);
	vec_release(&v->lengths);
	vec_release(&v->numbers);
	vec_release(&v->sizes);
	text_release(&v->texts);
}

int reader_may_have(const struct reader_file *file, size_t group, size_t column, uint64_t hash,
		    struct err *err)
{
	static const uint32_t salts[8] = { 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
					   0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31 };
	const struct reader_chunk *chunk = &file->groups.items[group].chunks.items[column];
	struct cursor c;
	int64_t size = 0;
	const uint8_t *bits;

	if (chunk->bloom_offset == 0)
		return 1;
	if (chunk->bloom_offset > file->size)
		return bad(err, "a filter behind the end of the file");
	c = cur_of(file->bytes + chunk->bloom_offset, file->size - chunk->bloom_offset);
	for (struct field f = { 0 }; next_field(&c, &f);) {
		if (f.id == 1 && f.type == T_I32)
			size = zigzag(&c);
		else
			skip_value(&c, f.type, 0);
	}
	bits = size >= 32 && size % 32 == 0 ? cur_take(&c, (uint64_t)size) : NULL;
	if (bits == NULL)
		return bad(err, "a filter that cannot be read");
	bits += (hash >> 32) * (uint64_t)(size / 32) / (UINT64_C(1) << 32) * 32;
	for (size_t i = 0; i < 8; i++)
		if (!(load_u32(bits + 4 * i) >> ((uint32_t)hash * salts[i] >> 27) & 1))
			return 0;
	return 1;
}
