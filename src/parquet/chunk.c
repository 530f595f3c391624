/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the values of a column and chooses how they are encoded. */
#include "parquet/chunk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "parquet/bits.h"
#include "parquet/delta.h"
#include "parquet/inside.h"
#include "parquet/packed.h"

enum {
	/* With so few distinct numbers a dictionary is taken without trying anything else. */
	FEW_DISTINCT = 64,
	PLAIN_SHRINKS = 3,
};

enum parquet_physical parquet_physical(enum parquet_type type)
{
	static const enum parquet_physical physical[] = {
		[PARQUET_BOOL] = PHYSICAL_BOOLEAN,	[PARQUET_INT32] = PHYSICAL_INT32,
		[PARQUET_UINT32] = PHYSICAL_INT32,	[PARQUET_INT64] = PHYSICAL_INT64,
		[PARQUET_UINT64] = PHYSICAL_INT64,	[PARQUET_DOUBLE] = PHYSICAL_DOUBLE,
		[PARQUET_TEXT] = PHYSICAL_BYTES,	[PARQUET_TEXT_LIST] = PHYSICAL_BYTES,
		[PARQUET_TIME_US] = PHYSICAL_INT64,	[PARQUET_TIME_NS] = PHYSICAL_INT64,
		[PARQUET_UINT64_LIST] = PHYSICAL_INT64,
	};

	return physical[type];
}

struct encoder *encoder_new(void)
{
	struct encoder *e = mem_zalloc(1, sizeof(*e));

	e->zstd = ZSTD_createCCtx();
	assert(e->zstd != NULL);
	return e;
}

void encoder_free(struct encoder *e)
{
	if (e == NULL)
		return;
	ZSTD_freeCCtx(e->zstd);
	vec_release(&e->ids);
	vec_release(&e->words);
	vec_release(&e->levels);
	text_release(&e->repeats);
	dictionary_release(&e->numbers_seen);
	dictionary_release(&e->texts_seen);
	parquet_values_release(&e->spelled);
	text_release(&e->word);
	text_release(&e->page);
	text_release(&e->data);
	text_release(&e->listed);
	text_release(&e->compressed);
	free(e);
}

void chunk_release(struct chunk *c)
{
	for (size_t i = 0; i < c->text_pages.n; i++)
		text_release(&c->text_pages.items[i].encoded);
	vec_release(&c->text_pages);
	text_release(&c->pages);
	text_release(&c->least);
	text_release(&c->largest);
	text_release(&c->bloom);
}

static struct numbers numbers_at(const struct parquet_column *column, const char *at, size_t n)
{
	return (struct numbers){
		.at = at,
		.n = n,
		.width = parquet_width(column),
		.is_signed = type_is_signed(column->type),
	};
}

static uint16_t *room_for_ids(struct encoder *e, size_t n)
{
	e->ids.n = 0;
	vec_reserve(&e->ids, n);
	e->ids.n = n;
	return e->ids.items;
}

static void spell(struct encoder *e, const struct parquet_column *column, uint64_t code)
{
	text_reset(&e->word);
	column->spell(column->context, code, &e->word);
	parquet_put_item(&e->spelled, e->word.bytes, e->word.n);
}

/* Spells the texts of codes: of the distinct ones if these are few, else of all. */
static void spell_codes(struct encoder *e, struct column_values *v)
{
	uint16_t *ids = room_for_ids(e, v->n_values);
	bool is_short = dictionary_of_numbers(&e->numbers_seen, &v->numbers, ids);
	size_t n_words = is_short ? dictionary_size(&e->numbers_seen) : v->n_values;

	text_reset(&e->spelled.values);
	for (size_t i = 0; i < n_words; i++) {
		uint64_t room;

		spell(e, v->column,
		      is_short ? e->numbers_seen.numbers.items[i]
			       : *numbers_load(&v->numbers, i, 1, &room));
	}
	v->texts = e->spelled.values.bytes;
	if (!is_short) {
		v->has_dictionary =
			dictionary_of_texts(&e->texts_seen, v->texts, n_words, false, ids);
		return;
	}
	e->words.n = 0;
	vec_reserve(&e->words, n_words);
	dictionary_of_texts(&e->texts_seen, v->texts, n_words, true, e->words.items);
	v->has_dictionary = true;
	if (dictionary_size(&e->texts_seen) == n_words)
		return;				 /* the ids are those of the codes */
	for (size_t i = 0; i < v->n_values; i++) /* different codes are spelled alike */
		ids[i] = e->words.items[ids[i]];
}

/* The elements of lists, one behind the other without the lengths of the lists, to e->listed. Returns how many bytes they had. */
static size_t read_lists(struct encoder *e, struct column_values *v, const char *values)
{
	const char *at = values;

	text_reset(&e->listed);
	v->n_values = 0;
	for (size_t row = 0; row < v->n_present; row++) {
		uint32_t n;
		const char *first;

		at = list_begin(at, &n);
		first = at;
		at = list_end(v, first, n);
		text_add(&e->listed, first, (size_t)(at - first));
		v->n_values += n;
	}
	v->texts = e->listed.bytes;
	v->numbers = (struct numbers){ .at = e->listed.bytes,
				       .n = v->n_values,
				       .width = sizeof(uint64_t) };
	return (size_t)(at - values);
}

static size_t size_of_texts(const char *values, size_t n)
{
	const char *at = values;

	for (size_t i = 0; i < n; i++)
		at = packed_next(at);
	return (size_t)(at - values);
}

/* Reads the values, and looks whether a dictionary pays. Returns how many bytes they have. */
static size_t read_values(struct encoder *e, struct chunk *c, struct column_values *v,
			  const char *values)
{
	enum parquet_type type = v->column->type;
	size_t size;

	v->n_values = v->n_present;
	if (parquet_is_list(type)) {
		size = read_lists(e, v, values);
	} else if (type == PARQUET_TEXT && v->column->spell == NULL) {
		v->texts = values;
		size = text_pages_divide(c, v);
	} else {
		v->numbers = numbers_at(v->column, values, v->n_values);
		if (v->column->spell != NULL)
			spell_codes(e, v);
		else if (type != PARQUET_BOOL)
			v->has_dictionary = dictionary_of_numbers(&e->numbers_seen, &v->numbers,
								  room_for_ids(e, v->n_values));
		return v->n_values * v->numbers.width;
	}
	v->has_dictionary = v->is_text ? dictionary_of_texts(&e->texts_seen, v->texts, v->n_values,
							     false, room_for_ids(e, v->n_values))
				       : dictionary_of_numbers(&e->numbers_seen, &v->numbers,
							       room_for_ids(e, v->n_values));
	return size;
}

/* Bytes of the values with a dictionary, which are not far from those that are written. */
static size_t dictionary_cost(const struct dictionary *d, size_t value_bytes, size_t n)
{
	return value_bytes + n * bits_of(dictionary_size(d)) / 8;
}

static enum parquet_encoding choose_for_numbers(struct encoder *e, const struct column_values *v)
{
	size_t value_size = parquet_physical(v->column->type) == PHYSICAL_INT32 ? 4 : 8;
	size_t n_distinct = dictionary_size(&e->numbers_seen);
	size_t best = v->n_values * value_size;
	enum parquet_encoding choice = ENCODING_PLAIN;
	size_t cost;

	if (v->column->type == PARQUET_BOOL)
		return ENCODING_PLAIN;
	cost = dictionary_cost(&e->numbers_seen, n_distinct * value_size, v->n_values);
	if (v->has_dictionary && cost < best) {
		choice = ENCODING_DICTIONARY;
		best = cost;
		if (n_distinct <= FEW_DISTINCT)
			return choice;
	}
	if (v->column->type == PARQUET_DOUBLE)
		return choice;
	cost = delta_estimate(&v->numbers, value_size == 4, &e->page);
	return cost < best / (choice == ENCODING_PLAIN ? PLAIN_SHRINKS : 1) * 3 / 4 ? ENCODING_DELTA
										    : choice;
}

static enum parquet_encoding choose_for_texts(const struct encoder *e,
					      const struct column_values *v)
{
	if (!v->has_dictionary || v->n_values == 0)
		return ENCODING_PLAIN;
	/* The plain texts are needed where codes were spelled only once each. */
	if (v->column->spell != NULL)
		return ENCODING_DICTIONARY;
	return dictionary_cost(&e->texts_seen, e->texts_seen.texts.n, v->n_values) <
			       size_of_texts(v->texts, v->n_values)
		       ? ENCODING_DICTIONARY
		       : ENCODING_PLAIN;
}

static void chunk_reset(struct chunk *c)
{
	text_reset(&c->pages);
	text_reset(&c->least);
	text_reset(&c->largest);
	text_reset(&c->bloom);
	c->dictionary_bytes = c->uncompressed_bytes = 0;
	c->n_values = c->n_nulls = 0;
	c->n_text_pages = c->n_encoded = 0;
	c->has_bounds = false;
}

size_t chunk_encode(struct chunk *c, struct encoder *e, const struct parquet_column *column,
		    const char *present, const char *values, size_t n_rows)
{
	struct column_values v = {
		.column = column,
		.present = present,
		.n_rows = n_rows,
		.n_present = present != NULL ? count_flags(present, n_rows) : n_rows,
		.is_text = parquet_physical(column->type) == PHYSICAL_BYTES,
	};
	size_t size;

	if (v.n_present == n_rows)
		v.present = NULL;
	chunk_reset(c);
	size = read_values(e, c, &v, values);
	c->encoding = v.is_text ? choose_for_texts(e, &v) : choose_for_numbers(e, &v);
	if (c->encoding == ENCODING_DICTIONARY)
		c->n_text_pages = 0;
	pages_put(e, c, &v, values);
	chunk_describe(e, c, &v);
	return size;
}
