/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

#include "capture/state.h"

void put_u8(struct text *t, uint8_t value)
{
	text_char(t, (char)value);
}

void put_u16(struct text *t, uint16_t value)
{
	put_u8(t, (uint8_t)value);
	put_u8(t, (uint8_t)(value >> 8));
}

void put_u32(struct text *t, uint32_t value)
{
	put_u16(t, (uint16_t)value);
	put_u16(t, (uint16_t)(value >> 16));
}

void put_word(struct text *t, uint64_t value)
{
	put_u32(t, (uint32_t)value);
	put_u32(t, (uint32_t)(value >> 32));
}

void put_u64s(struct text *t, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_word(t, values[i]);
}

void put_zeros(struct text *t, size_t n)
{
	while (n-- > 0)
		put_u8(t, 0);
}

void put_padded(struct text *t, const char *string)
{
	size_t len = strlen(string);

	text_add(t, string, len);
	put_zeros(t, 8 - len % 8);
}

void patch_u16(struct text *t, size_t at, uint16_t value)
{
	t->bytes[at] = (char)value;
	t->bytes[at + 1] = (char)(value >> 8);
}

void patch_u64(struct text *t, size_t at, uint64_t value)
{
	for (size_t i = 0; i < 4; i++)
		patch_u16(t, at + 2 * i, (uint16_t)(value >> 16 * i));
}

size_t record_begin(struct text *t, uint32_t type, uint16_t misc)
{
	size_t begin = t->n;

	put_u32(t, type);
	put_u16(t, misc);
	put_u16(t, 0);
	return begin;
}

void record_end(struct text *t, size_t begin)
{
	patch_u16(t, begin + 6, (uint16_t)(t->n - begin));
}

void put_record(struct text *t, uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	size_t begin = record_begin(t, type, misc);

	put_u64s(t, words, n);
	record_end(t, begin);
}

void put_auxtrace(struct text *t, const struct record_auxtrace *a, const void *data, size_t size)
{
	size_t begin = record_begin(t, RECORD_AUXTRACE, 0);

	put_word(t, a->size);
	put_word(t, a->offset);
	put_word(t, a->reference);
	put_u32(t, a->idx);
	put_u32(t, a->tid);
	put_u32(t, a->cpu);
	put_u32(t, 0);
	record_end(t, begin);
	text_add(t, data, size);
}

void put_stream_header(struct text *t)
{
	text_str(t, "PERFILE2");
	put_word(t, 16);
}

static void put_attr_bytes(struct text *t, const struct attr *attr)
{
	uint8_t bytes[ATTR_SIZE_MAX];

	attr_write(attr, bytes);
	text_add(t, (const char *)bytes, attr->size);
}

void put_attr(struct text *t, const struct attr *attr, const uint64_t *ids, size_t n_ids)
{
	size_t begin = record_begin(t, RECORD_HEADER_ATTR, 0);

	put_attr_bytes(t, attr);
	put_u64s(t, ids, n_ids);
	record_end(t, begin);
}

void put_file_header(struct text *t, const struct attr *attr, const uint64_t *ids, size_t n_ids)
{
	const uint64_t header = 104, ids_size = 8 * (uint64_t)n_ids;
	const uint64_t entry_size = attr->size + 16u, attrs = header + ids_size;
	const uint64_t fields[] = {
		header, entry_size, attrs, entry_size, attrs + entry_size, 0, 0, 0, 0, 0, 0, 0,
	};

	text_str(t, "PERFILE2");
	put_u64s(t, fields, 12);
	put_u64s(t, ids, n_ids);
	put_attr_bytes(t, attr);
	put_word(t, header);
	put_word(t, ids_size);
}

void end_data(struct text *t)
{
	uint64_t start = load_u64((const uint8_t *)t->bytes + IMAGE_DATA_SIZE_AT - 8);

	patch_u64(t, IMAGE_DATA_SIZE_AT, t->n - start);
}

struct capture *open_image(const struct text *t)
{
	struct capture *c = NULL;
	struct err err = { 0 };

	if (capture_open_bytes("image", t->bytes, t->n, &c, &err) < 0 ||
	    capture_scan(c, NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

const struct diag *find_diag(const struct diags *d, const char *words)
{
	for (size_t i = 0; i < d->list.n; i++)
		if (strstr(d->list.items[i].text, words) != NULL)
			return &d->list.items[i];
	return NULL;
}

void assert_all_accounted_for(const struct capture *c)
{
	const struct capture_totals *t = capture_totals(c);

	assert_int_equal(t->header_bytes + t->record_bytes + t->feature_bytes +
				 diags_bytes(capture_diags(c), DIAG_NOTE),
			 capture_size(c));
}

size_t count_streams(const struct capture *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->pieces.n; i++)
		n += c->pieces.items[i].begins_stream;
	return n;
}
