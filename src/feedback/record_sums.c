/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/record_sums.h"

#include <string.h>

#include "base/sorter.h"
#include "branch_stacks/counts.h"

/* Of a key in memory, with its slots; and what goes to the file at once. */
enum {
	KEY_BYTES = FLOW_RECORD_WORDS * sizeof(uint64_t) + sizeof(struct flow_record_sum) +
		    2 * sizeof(uint32_t),
	PIECE_BYTES = 64 << 10,
};

void record_sums_init(struct record_sums *s, size_t limit_bytes, unsigned n_workers)
{
	*s = (struct record_sums){ .most = limit_bytes / n_workers / KEY_BYTES };
	tuples_init(&s->keys, FLOW_RECORD_WORDS);
}

void record_sums_release(struct record_sums *s)
{
	tuples_release(&s->keys);
	vec_release(&s->sums);
	spool_release(&s->spool);
}

static void add_sum(struct record_sums *s, const uint64_t *key, const struct flow_record_sum *sum)
{
	uint32_t number = tuples_add(&s->keys, key);
	struct flow_record_sum *to;

	if (number == s->sums.n)
		*vec_add(&s->sums) = (struct flow_record_sum){ 0 };
	to = &s->sums.items[number];
	to->n += sum->n;
	to->n_mispredicted += sum->n_mispredicted;
	to->operations = stack_weights_add(to->operations, sum->operations); /* or periods */
}

/* Sends all to the file, and begins anew. */
static void write_sums(struct record_sums *s)
{
	struct text *to = &s->spool.written;

	for (uint32_t i = 0; i < s->keys.n; i++) {
		const struct flow_record_sum *sum = &s->sums.items[i];

		for (size_t word = 0; word < FLOW_RECORD_WORDS; word++)
			sort_value_put(to, tuples_get(&s->keys, i)[word]);
		sort_value_put(to, sum->n);
		sort_value_put(to, sum->n_mispredicted);
		sort_value_put(to, sum->operations);
		spool_flush(&s->spool, PIECE_BYTES);
	}
	spool_flush(&s->spool, 0);
	tuples_reset(&s->keys);
	s->sums.n = 0;
}

void record_sums_add(struct record_sums *s, const uint64_t key[FLOW_RECORD_WORDS],
		     const struct flow_record_sum *sum)
{
	add_sum(s, key, sum);
	if (s->keys.n > s->most)
		write_sums(s);
}

static bool is_in_file(const struct record_sums *s)
{
	return s->spool.file != NULL || s->spool.rc < 0;
}

void record_sums_finish(struct record_sums *s)
{
	if (!is_in_file(s))
		return;
	write_sums(s);
	spool_finish(&s->spool);
}

void record_sums_merge(struct record_sums *into, const struct record_sums *from)
{
	spool_merge(&into->spool, &from->spool);
	for (uint32_t i = 0; i < from->keys.n; i++)
		add_sum(into, tuples_get(&from->keys, i), &from->sums.items[i]);
}

bool record_sums_next(const struct record_sums *s, struct record_sums_position *at,
		      uint64_t key[FLOW_RECORD_WORDS], struct flow_record_sum *out)
{
	const uint8_t *bytes = spool_next(&s->spool, &at->spool);

	if (bytes == NULL) {
		if (at->number >= s->keys.n)
			return false;
		memcpy(key, tuples_get(&s->keys, at->number), FLOW_RECORD_WORDS * sizeof(*key));
		*out = s->sums.items[at->number++];
		return true;
	}
	for (size_t word = 0; word < FLOW_RECORD_WORDS; word++)
		key[word] = sort_value_get(&bytes);
	out->n = sort_value_get(&bytes);
	out->n_mispredicted = sort_value_get(&bytes);
	out->operations = sort_value_get(&bytes);
	spool_move(&s->spool, &at->spool, bytes);
	return true;
}
