/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A word has how far it is from the record before, and the highest bits of the address's hash. If it is farther than the word can say, the
 * distance is in two words behind it.
 */
#include "base/address_index.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { HASH_BITS = 20, FAR = (1 << (32 - HASH_BITS)) - 1, WORDS_MAX = 3, FIRST_BLOCK = 32 << 10 };

struct part {
	uint32_t *words; /* NULL: it is not indexed */
	size_t n;
};

/* What parts have their words from. */
struct block {
	uint32_t *words;
	size_t n; /* for mem_huge_free() */
};

struct address_index {
	struct address_filter filter; /* how addresses are hashed; no bits */
	pthread_mutex_t mutex;	      /* of all below, while parts are kept */
	struct part *parts;
	size_t n_parts;
	VEC_OF(struct block) blocks;
	size_t n_used; /* words of the last block */
	size_t most_bytes, n_bytes;
};

struct address_index *address_index_new(size_t n_parts, uint64_t piece_bytes, size_t most_bytes)
{
	struct address_index *x = mem_zalloc(1, sizeof(*x));

	x->filter = (struct address_filter){ .mask = ~(piece_bytes - 1), .shift = 64 - HASH_BITS };
	pthread_mutex_init(&x->mutex, NULL);
	x->parts = mem_zalloc(n_parts + 1, sizeof(*x->parts));
	x->n_parts = n_parts;
	x->most_bytes = most_bytes;
	return x;
}

static void drop_parts(struct address_index *x)
{
	memset(x->parts, 0, x->n_parts * sizeof(*x->parts));
	for (size_t i = 0; i < x->blocks.n; i++)
		mem_huge_free(x->blocks.items[i].words, x->blocks.items[i].n, sizeof(uint32_t));
	vec_release(&x->blocks);
	x->n_bytes = 0;
}

/* Room for so many words. */
static uint32_t *take_words(struct address_index *x, size_t n)
{
	struct block *last = x->blocks.n == 0 ? NULL : &x->blocks.items[x->blocks.n - 1];

	if (last == NULL || n > last->n - x->n_used) {
		size_t usual = (last == NULL ? FIRST_BLOCK : MEM_HUGE) / sizeof(uint32_t);
		size_t most = (x->most_bytes - x->n_bytes) / sizeof(uint32_t);
		size_t n_block = usual < most ? usual : most;

		n_block = n > n_block ? n : n_block;
		last = vec_add(&x->blocks);
		*last = (struct block){ mem_huge(n_block, sizeof(uint32_t)), n_block };
		x->n_used = 0;
	}
	x->n_used += n;
	return last->words + (x->n_used - n);
}

void address_index_free(struct address_index *x)
{
	if (x == NULL)
		return;
	drop_parts(x);
	free(x->parts);
	pthread_mutex_destroy(&x->mutex);
	free(x);
}

void address_index_give_up(struct address_index *x)
{
	pthread_mutex_lock(&x->mutex);
	if (x->blocks.n > 0)
		drop_parts(x);
	x->most_bytes = 0;
	pthread_mutex_unlock(&x->mutex);
}

void address_list_add(struct address_list *l, const struct address_index *x,
		      const uint64_t *positions, const uint64_t *addresses, const uint16_t *numbers,
		      size_t n)
{
	const struct address_filter filter = x->filter;
	uint64_t last = l->last;
	uint32_t *out;

	if (n == 0)
		return;
	vec_reserve(&l->words, WORDS_MAX * n);
	out = l->words.items + l->words.n;
	for (size_t i = 0; i < n; i++) {
		uint64_t position = positions[numbers[i]], step = position - last;
		uint32_t hash = (uint32_t)address_filter_bit(&filter, addresses[numbers[i]]);

		*out++ = (uint32_t)step << HASH_BITS | hash;
		if (step >= FAR) {
			l->is_out_of_order |= position < last;
			out[-1] = (uint32_t)FAR << HASH_BITS | hash;
			*out++ = (uint32_t)step;
			*out++ = (uint32_t)(step >> 32);
		}
		last = position + 1;
	}
	l->words.n = (size_t)(out - l->words.items);
	l->last = last;
}

static void address_list_reset(struct address_list *l)
{
	l->words.n = 0;
	l->last = 0;
	l->is_out_of_order = false;
}

void address_list_release(struct address_list *l)
{
	vec_release(&l->words);
	*l = (struct address_list){ 0 };
}

void address_index_keep(struct address_index *x, size_t part, struct address_list *l)
{
	struct part *p = &x->parts[part];
	size_t n = l->words.n, bytes = n * sizeof(uint32_t);
	bool was_there;

	pthread_mutex_lock(&x->mutex);
	was_there = p->words != NULL && n <= p->n; /* in a scan that is done again */
	if (l->is_out_of_order || (!was_there && bytes >= x->most_bytes - x->n_bytes)) {
		p->words = NULL;
	} else {
		x->n_bytes += was_there ? 0 : bytes;
		p->words = was_there ? p->words : take_words(x, n);
		p->n = n;
		if (n > 0)
			memcpy(p->words, l->words.items, bytes);
	}
	pthread_mutex_unlock(&x->mutex);
	address_list_reset(l);
}

bool address_cursor_start(struct address_cursor *c, const struct address_index *x, size_t part,
			  const struct address_filter *filter)
{
	const struct part *p = &x->parts[part];

	if (p->words == NULL || filter->shift < x->filter.shift || filter->mask != x->filter.mask)
		return false;
	*c = (struct address_cursor){
		.filter = filter,
		.shift = filter->shift - x->filter.shift,
		.word = p->words,
		.end = p->words + p->n,
	};
	return true;
}

/* The next records, ADDRESS_HITS if there are so many. Which these are nobody can predict, so there is no decision. */
static unsigned find_hits(struct address_cursor *c, uint64_t *positions)
{
	const uint32_t *word = c->word;
	uint64_t last = c->last;
	unsigned n = 0;

	while (word < c->end && n < ADDRESS_HITS) {
		uint32_t hash = *word & ((1u << HASH_BITS) - 1), bit = hash >> c->shift;
		uint64_t step = *word++ >> HASH_BITS;

		if (step == FAR) {
			step = word[0] | (uint64_t)word[1] << 32;
			word += 2;
		}
		positions[n] = last + step;
		last += step + 1;
		n += c->filter->bits[bit >> 6] >> (bit & 63) & 1;
	}
	c->word = word;
	c->last = last;
	return n;
}

bool address_cursor_refill(struct address_cursor *c)
{
	memcpy(c->positions, c->positions + c->n, c->n_ahead * sizeof(*c->positions));
	c->n = c->n_ahead > 0 ? c->n_ahead : find_hits(c, c->positions);
	c->n_ahead = find_hits(c, c->positions + c->n);
	c->next = 0;
	return c->n > 0;
}
