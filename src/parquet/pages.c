/* SPDX-License-Identifier: Apache-2.0 */
/* Pages: levels, which say where values are absent, and values. Format: docs/reference/parquet.md sections 3 and 4. */
#include <assert.h>
#include <string.h>

#include "base/prefetch.h"
#include "parquet/bits.h"
#include "parquet/delta.h"
#include "parquet/inside.h"
#include "parquet/packed.h"
#include "parquet/thrift.h"

enum {
	/* A page of plain texts is not larger than this, unless a single row is; of others, than 8 bytes a row. */
	PAGE_BYTES = 1 << 18,
	PAGE_ROWS = PAGE_BYTES / 8,
	AHEAD_BYTES = 1024,
	/* Pages that compress to more than this part of their size stay as they are. */
	WORTH_NUMERATOR = 4,
	WORTH_DENOMINATOR = 5,
};

void plain_put(struct text *out, enum parquet_type type, uint64_t value)
{
	static const size_t sizes[] = { [PHYSICAL_BOOLEAN] = 1,
					[PHYSICAL_INT32] = 4,
					[PHYSICAL_INT64] = 8,
					[PHYSICAL_DOUBLE] = 8 };

	text_add(out, (const char *)&value, sizes[parquet_physical(type)]);
}

/* The lower halves. */
static void put_narrowed(struct text *out, const struct numbers *v, size_t first, size_t n)
{
	uint64_t room[NUMBERS_BLOCK];

	for (size_t done = 0, some; done < n; done += some) {
		const uint64_t *values;
		char *at = text_room(out, NUMBERS_BLOCK * sizeof(uint32_t));

		some = n - done < NUMBERS_BLOCK ? n - done : NUMBERS_BLOCK;
		values = numbers_load(v, first + done, some, room);
		for (size_t i = 0; i < some; i++) {
			uint32_t value = (uint32_t)values[i];

			memcpy(at + i * sizeof(value), &value, sizeof(value));
		}
		out->n += some * sizeof(uint32_t);
	}
}

static void put_widened(struct text *out, const struct numbers *v, size_t first, size_t n)
{
	uint64_t room[NUMBERS_BLOCK];

	for (size_t done = 0, some; done < n; done += some) {
		some = n - done < NUMBERS_BLOCK ? n - done : NUMBERS_BLOCK;
		text_add(out, (const char *)numbers_load(v, first + done, some, room),
			 some * sizeof(*room));
	}
}

static void put_truths(struct text *out, const struct numbers *v, size_t first, size_t n)
{
	uint64_t room[NUMBERS_BLOCK];

	if (v->width == 1) {
		bits_pack_flags(out, v->at + first, n);
		return;
	}
	for (size_t done = 0, some; done < n; done += some) { /* whole bytes, but for the last */
		some = n - done < NUMBERS_BLOCK ? n - done : NUMBERS_BLOCK;
		bits_pack(out, numbers_load(v, first + done, some, room), some, 1);
	}
}

void plain_put_all(struct text *out, enum parquet_type type, const struct numbers *v, size_t first,
		   size_t n)
{
	enum parquet_physical physical = parquet_physical(type);

	if (n == 0)
		return;
	if (physical == PHYSICAL_BOOLEAN)
		put_truths(out, v, first, n);
	else if (v->width == (physical == PHYSICAL_INT32 ? sizeof(uint32_t) : sizeof(uint64_t)))
		text_add(out, v->at + first * v->width, n * v->width);
	else if (physical == PHYSICAL_INT32)
		put_narrowed(out, v, first, n);
	else
		put_widened(out, v, first, n);
}

/* Levels come after their size: begins them, and fills the size in. */
static size_t levels_begin(struct text *out)
{
	const uint32_t size = 0;

	text_add(out, (const char *)&size, sizeof(size));
	return out->n;
}

static void levels_end(struct text *out, size_t begin)
{
	uint32_t size = (uint32_t)(out->n - begin);

	memcpy(out->bytes + begin - sizeof(size), &size, sizeof(size));
}

/* `largest`: the largest level there may be. */
static void put_levels(struct text *out, const uint16_t *levels, size_t n, uint64_t largest)
{
	size_t begin = levels_begin(out);

	bits_put_runs(out, levels, n, bits_of(largest));
	levels_end(out, begin);
}

/* The same, of equal levels. */
static void put_equal_levels(struct text *out, uint64_t level, size_t n, uint64_t largest)
{
	size_t begin = levels_begin(out);

	if (n > 0)
		bits_put_run(out, level, n, bits_of(largest));
	levels_end(out, begin);
}

/* Is there a value in that row? */
static bool has_value(const struct column_values *v, size_t row)
{
	return v->present == NULL || v->present[row];
}

/* The levels of rows without lists: 1 where there is a value. `present` NULL: everywhere. */
static void put_presence(const char *present, size_t row, size_t n, struct text *out)
{
	size_t begin;

	if (present == NULL) {
		put_equal_levels(out, 1, n, 1);
		return;
	}
	begin = levels_begin(out);
	bits_put_flags(out, present + row, n);
	levels_end(out, begin);
}

/*
 * The levels of lists. Repetition: 0 begins a row. Definition: 0 no list, 1 a list without elements, 2 an
 * element. Returns how many there are.
 */
static size_t put_list_levels(struct encoder *e, const struct column_values *v, size_t first,
			      size_t end, const char *lists, struct text *out)
{
	e->levels.n = 0;
	text_reset(&e->repeats);
	for (size_t row = first; row < end; row++) {
		size_t n_levels;
		uint32_t n = 0;
		char *repeats;

		if (has_value(v, row)) {
			lists = list_begin(lists, &n);
			lists = list_end(v, lists, n);
		}
		n_levels = n > 0 ? n : 1;
		repeats = memset(text_room(&e->repeats, n_levels), 1, n_levels);
		repeats[0] = 0;
		e->repeats.n += n_levels;
		vec_reserve(&e->levels, n_levels);
		for (size_t i = 0; i < n_levels; i++)
			e->levels.items[e->levels.n++] = n > 0 ? 2 : has_value(v, row);
	}
	put_presence(e->repeats.bytes, 0, e->repeats.n, out);
	put_levels(out, e->levels.items, e->levels.n, 2);
	return e->levels.n;
}

/* Numbers of a page's header. */
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

static void put_page_header(struct text *out, int kind, size_t size, size_t compressed_size,
			    size_t n_values, enum parquet_encoding encoding)
{
	struct thrift t = thrift_begin(out);

	thrift_int(&t, 1, kind);
	thrift_int(&t, 2, (int32_t)size);
	thrift_int(&t, 3, (int32_t)compressed_size);
	thrift_struct(&t, kind == PAGE_DATA ? 5 : 7);
	thrift_int(&t, 1, (int32_t)n_values);
	thrift_int(&t, 2, encoding);
	if (kind == PAGE_DATA) {
		thrift_int(&t, 3, ENCODING_RUNS);
		thrift_int(&t, 4, ENCODING_RUNS);
	}
	thrift_end(&t);
	thrift_end(&t);
}

/*
 * Level 1; for numbers with a smaller table, which is in the nearest cache, and as numbers repeat what is near, finds
 * as much.
 */
static void set_compression(ZSTD_CCtx *zstd, bool is_text)
{
	enum { LEVEL = 1, HASH_BITS = 10, MIN_MATCH = 5 };

	ZSTD_CCtx_reset(zstd, ZSTD_reset_parameters);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
	if (is_text)
		return;
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_strategy, ZSTD_fast);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, HASH_BITS);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, MIN_MATCH);
}

/* Compresses e->page to e->compressed. Returns whether it is much smaller then. */
static bool compress(struct encoder *e)
{
	size_t bound = ZSTD_compressBound(e->page.n);
	size_t size;

	text_reset(&e->compressed);
	size = ZSTD_compress2(e->zstd, text_room(&e->compressed, bound), bound, e->page.bytes,
			      e->page.n);
	assert(!ZSTD_isError(size));
	e->compressed.n = size;
	return size < e->page.n / WORTH_DENOMINATOR * WORTH_NUMERATOR;
}

/* Appends e->page with its header to `out`. Returns how many bytes both have uncompressed. */
static size_t put_page(const struct encoder *e, enum parquet_codec codec, int kind, size_t n_values,
		       enum parquet_encoding encoding, struct text *out)
{
	const struct text *page = codec == CODEC_ZSTD ? &e->compressed : &e->page;
	size_t before = out->n, n_bytes;

	put_page_header(out, kind, e->page.n, page->n, n_values, encoding);
	n_bytes = out->n - before + e->page.n;
	text_add(out, page->bytes, page->n);
	return n_bytes;
}

static void put_dictionary_page(struct encoder *e, struct chunk *c, const struct column_values *v)
{
	const struct dictionary *d = dictionary_of(e, v);
	const struct numbers numbers = dictionary_numbers(d);

	text_reset(&e->page);
	if (v->is_text)
		text_add(&e->page, d->texts.bytes, d->texts.n);
	else
		plain_put_all(&e->page, v->column->type, &numbers, 0, numbers.n);
	if (c->codec == CODEC_ZSTD)
		compress(e);
	c->uncompressed_bytes += put_page(e, c->codec, PAGE_DICTIONARY, dictionary_size(d),
					  ENCODING_PLAIN, &c->pages);
	c->dictionary_bytes = c->pages.n;
}

/* Compresses e->page if the chunk is compressed, which its first page decides. */
static void compress_data(struct encoder *e, struct chunk *c, bool is_first)
{
	if (is_first)
		c->codec = compress(e) ? CODEC_ZSTD : CODEC_NONE;
	else if (c->codec == CODEC_ZSTD)
		compress(e);
}

/* Appends e->page, a data page with so many levels, to the chunk. The dictionary stands in front of the first one. */
static void put_data_page(struct encoder *e, struct chunk *c, const struct column_values *v,
			  size_t n_levels)
{
	bool is_first = c->n_values == 0;

	c->n_values += n_levels;
	compress_data(e, c, is_first);
	if (!is_first || c->encoding != ENCODING_DICTIONARY) {
		c->uncompressed_bytes +=
			put_page(e, c->codec, PAGE_DATA, n_levels, c->encoding, &c->pages);
		return;
	}
	text_reset(&e->data);
	c->uncompressed_bytes += put_page(e, c->codec, PAGE_DATA, n_levels, c->encoding, &e->data);
	put_dictionary_page(e, c, v);
	text_add(&c->pages, e->data.bytes, e->data.n);
}

/* Appends `n` values from the one with number `first` on to e->page. */
static void put_some_values(struct encoder *e, struct chunk *c, const struct column_values *v,
			    size_t first, size_t n)
{
	if (c->encoding == ENCODING_DICTIONARY) {
		const struct dictionary *d = dictionary_of(e, v);
		unsigned width = bits_of(dictionary_size(d) > 0 ? dictionary_size(d) - 1 : 0);

		text_char(&e->page, (char)width);
		if (n > 0)
			bits_put_runs(&e->page, e->ids.items + first, n, width);
	} else if (c->encoding == ENCODING_DELTA) {
		delta_put(&e->page, &v->numbers, first, n,
			  parquet_physical(v->column->type) == PHYSICAL_INT32);
	} else if (n > 0) {
		plain_put_all(&e->page, v->column->type, &v->numbers, first, n);
	}
}

/* The next text page, with the memory that it had. */
static struct text_page *add_text_page(struct chunk *c)
{
	if (c->n_text_pages == c->text_pages.n)
		vec_add(&c->text_pages);
	return &c->text_pages.items[c->n_text_pages++];
}

size_t text_pages_divide(struct chunk *c, const struct column_values *v)
{
	const char *at = v->texts;

	for (size_t row = 0, end; row < v->n_rows; row = end) {
		struct text_page *page = add_text_page(c);

		page->row = row;
		page->texts = at;
		for (end = row; end < v->n_rows && at - page->texts < PAGE_BYTES; end++) {
			if (!has_value(v, end))
				continue;
			at = packed_next(at);
			prefetch(at + AHEAD_BYTES); /* the next one is known late */
		}
		page->n_rows = end - row;
		page->n_bytes = (size_t)(at - page->texts);
	}
	return (size_t)(at - v->texts);
}

void chunk_encode_page(struct chunk *c, struct encoder *e, size_t i)
{
	struct text_page *page = &c->text_pages.items[i];

	set_compression(e->zstd, true);
	text_reset(&e->page);
	put_presence(c->present, page->row, page->n_rows, &e->page);
	text_add(&e->page, page->texts, page->n_bytes);
	compress_data(e, c, i == 0);
	text_reset(&page->encoded);
	page->uncompressed_bytes =
		put_page(e, c->codec, PAGE_DATA, page->n_rows, ENCODING_PLAIN, &page->encoded);
}

void chunk_join(struct chunk *c)
{
	for (size_t i = 0; i < c->n_text_pages; i++) {
		const struct text_page *page = &c->text_pages.items[i];

		text_add(&c->pages, page->encoded.bytes, page->encoded.n);
		c->uncompressed_bytes += page->uncompressed_bytes;
	}
}

/* Texts without a dictionary. Spelled ones are in the encoder's memory; of others, whoever has time encodes the rest. */
static void put_plain_texts(struct encoder *e, struct chunk *c, const struct column_values *v)
{
	size_t n = 1;

	if (v->column->spell != NULL) {
		text_pages_divide(c, v);
		n = c->n_text_pages;
	}
	c->present = v->present;
	c->n_values = v->n_rows;
	for (; c->n_encoded < n; c->n_encoded++)
		chunk_encode_page(c, e, c->n_encoded);
}

/*
 * The row behind the page of lists that begins with a row, and what is behind its lists: it has no more elements and
 * bytes of them than that, unless a single row has.
 */
static size_t end_of_lists(const struct column_values *v, size_t row, size_t most,
			   size_t most_bytes, const char **lists, size_t *out_n)
{
	const char *first = *lists;

	*out_n = 0;
	for (; row < v->n_rows && *out_n < most && (size_t)(*lists - first) < most_bytes; row++) {
		uint32_t n;

		if (!has_value(v, row))
			continue;
		*lists = list_begin(*lists, &n);
		*lists = list_end(v, *lists, n);
		*out_n += n;
	}
	return row;
}

/* No row has a list: a page of levels. */
static void put_no_lists(struct encoder *e, struct chunk *c, const struct column_values *v)
{
	text_reset(&e->page);
	put_equal_levels(&e->page, 0, v->n_rows, 1);
	put_equal_levels(&e->page, 0, v->n_rows, 2);
	put_data_page(e, c, v, v->n_rows);
}

/* Lists. Those of texts without a dictionary are in e->listed as in the file. */
static void put_lists(struct encoder *e, struct chunk *c, const struct column_values *v,
		      const char *lists)
{
	bool is_plain_text = v->is_text && c->encoding != ENCODING_DICTIONARY;
	const char *texts = v->texts;
	size_t first = 0; /* element of the page */

	for (size_t row = 0, end; row < v->n_rows; row = end) {
		const char *page = lists;
		size_t n, n_levels;

		end = end_of_lists(v, row, is_plain_text ? SIZE_MAX : PAGE_ROWS,
				   is_plain_text ? PAGE_BYTES : SIZE_MAX, &lists, &n);
		text_reset(&e->page);
		n_levels = put_list_levels(e, v, row, end, page, &e->page);
		if (is_plain_text) {
			const char *texts_end = list_end(v, texts, (uint32_t)n);

			text_add(&e->page, texts, (size_t)(texts_end - texts));
			texts = texts_end;
		} else {
			put_some_values(e, c, v, first, n);
		}
		put_data_page(e, c, v, n_levels);
		first += n;
	}
}

/* Numbers, or texts with a dictionary. */
static void put_numbered(struct encoder *e, struct chunk *c, const struct column_values *v)
{
	size_t first = 0; /* value of the page */

	for (size_t row = 0, end; row < v->n_rows; row = end) {
		size_t n;

		end = v->n_rows - row < PAGE_ROWS ? v->n_rows : row + PAGE_ROWS;
		n = v->present != NULL ? count_flags(v->present + row, end - row) : end - row;
		text_reset(&e->page);
		put_presence(v->present, row, end - row, &e->page);
		put_some_values(e, c, v, first, n);
		put_data_page(e, c, v, end - row);
		first += n;
	}
}

void pages_put(struct encoder *e, struct chunk *c, const struct column_values *v,
	       const char *values)
{
	set_compression(e->zstd, v->is_text);
	if (parquet_is_list(v->column->type) && v->n_present == 0)
		put_no_lists(e, c, v);
	else if (parquet_is_list(v->column->type))
		put_lists(e, c, v, values);
	else if (!v->is_text || c->encoding == ENCODING_DICTIONARY)
		put_numbered(e, c, v);
	else
		put_plain_texts(e, c, v);
}
