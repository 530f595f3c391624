/* SPDX-License-Identifier: Apache-2.0 */
#include "export/formats/path_numbers.h"

#include <string.h>

enum { LABEL_BYTES = 4 };

void path_numbers_init(struct path_numbers *p, bool by_node, size_t memory_bytes)
{
	*p = (struct path_numbers){ .by_node = by_node };
	sorter_init(&p->paths, memory_bytes / 2);
	sorter_init(&p->samples, memory_bytes / 2);
}

void path_numbers_release(struct path_numbers *p)
{
	sorter_release(&p->paths);
	sorter_release(&p->samples);
	text_release(&p->key);
	text_release(&p->value);
}

void path_numbers_add(struct path_numbers *p, const uint32_t *labels, size_t n)
{
	text_reset(&p->key);
	text_reset(&p->value);
	for (size_t i = n; i-- > 0;)
		sort_key_u32(&p->key, labels[i]);
	sort_value_put(&p->value, p->n_samples++);
	sorter_add(&p->paths, &p->key, &p->value);
}

static uint32_t n_labels(const struct sorter_record *r)
{
	return r->key_size / LABEL_BYTES;
}

static uint32_t label_at(const struct sorter_record *r, uint32_t i)
{
	return sort_key_get_u32(r->key + (size_t)i * LABEL_BYTES);
}

/* How many labels both begin with. */
static uint32_t n_common(const struct sorter_record *a, const struct sorter_record *b)
{
	uint32_t n = 0;

	while (n < n_labels(a) && n < n_labels(b) && label_at(a, n) == label_at(b, n))
		n++;
	return n;
}

static void add_sample(struct path_numbers *p, uint64_t sample, uint32_t number)
{
	text_reset(&p->key);
	text_reset(&p->value);
	sort_key_u64(&p->key, sample);
	sort_value_put(&p->value, number);
	sorter_add(&p->samples, &p->key, &p->value);
}

/*
 * Numbers follow the order of paths, in which parents stand before their children: so the last node of a path that is
 * no end of another one has the highest number.
 */
int path_numbers_finish(struct path_numbers *p, struct err *err)
{
	struct sorter_record last = { 0 }, record;

	if (sorter_finish(&p->paths, err) < 0)
		return -1;
	for (uint64_t at = 0; sorter_next(&p->paths, &at, &record); last = record) {
		const uint8_t *value = record.value;

		if (p->n == 0 || !sorter_keys_equal(&last, &record))
			p->n += p->by_node ? n_labels(&record) - n_common(&last, &record) : 1;
		add_sample(p, sort_value_get(&value), p->n - 1);
	}
	return sorter_finish(&p->samples, err);
}

uint32_t path_numbers_of_sample(const struct path_numbers *p, uint64_t *at)
{
	struct sorter_record record;

	if (!sorter_next(&p->samples, at, &record))
		return PATH_NONE;
	return (uint32_t)sort_value_get(&record.value);
}

void path_row_init(struct path_row *row)
{
	*row = (struct path_row){ .number = PATH_NONE };
}

void path_row_release(struct path_row *row)
{
	vec_release(&row->labels);
	vec_release(&row->open);
}

/* Goes to the next path that is another one. */
static bool next_path(const struct path_numbers *p, struct path_row *row)
{
	struct sorter_record last = row->record;

	do {
		if (!sorter_next(&p->paths, &row->at, &row->record))
			return false;
	} while (row->has_begun && sorter_keys_equal(&last, &row->record));
	row->depth = row->has_begun ? n_common(&last, &row->record) : 0;
	row->has_begun = true;
	return true;
}

static bool next_node(const struct path_numbers *p, struct path_row *row)
{
	if ((!row->has_begun || row->depth == n_labels(&row->record)) && !next_path(p, row))
		return false;
	row->number++;
	row->parent = row->depth > 0 ? row->open.items[row->depth - 1] : PATH_NONE;
	row->label = label_at(&row->record, row->depth);
	row->open.n = row->depth++;
	*vec_add(&row->open) = row->number;
	return true;
}

bool path_numbers_next(const struct path_numbers *p, struct path_row *row)
{
	if (p->by_node)
		return next_node(p, row);
	if (!next_path(p, row))
		return false;
	row->number++;
	row->labels.n = 0;
	for (uint32_t i = 0; i < n_labels(&row->record); i++)
		*vec_add(&row->labels) = label_at(&row->record, i);
	return true;
}
