/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/lines/paces.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "base/widen.h"

enum {
	FIRST_SHIFT = 12, /* some microseconds */
	MOST_PACES = 4096,
	SHIFT_MAX = 63,
	ROWS_AT_ONCE = 16,
};

static const uint32_t needed = HAS_TIME | HAS_TID;

void c2c_paces_init(struct c2c_paces *p)
{
	*p = (struct c2c_paces){ .shift = FIRST_SHIFT };
	tuples_init(&p->keys, 2);
}

void c2c_paces_release(struct c2c_paces *p)
{
	tuples_release(&p->keys);
	vec_release(&p->list);
	*p = (struct c2c_paces){ 0 };
}

static struct c2c_pace *pace_of(struct c2c_paces *p, const uint64_t *key)
{
	size_t at = (key[0] ^ key[1]) % C2C_PACES_KNOWN;
	uint32_t number;

	if (p->known[at].number > 0 && p->known[at].key[0] == key[0] &&
	    p->known[at].key[1] == key[1])
		return &p->list.items[p->known[at].number - 1];
	number = tuples_add(&p->keys, key);
	if (number == p->list.n)
		vec_add(&p->list)->first_ns = UINT64_MAX;
	p->known[at].key[0] = key[0];
	p->known[at].key[1] = key[1];
	p->known[at].number = number + 1;
	return &p->list.items[number];
}

void c2c_pace_join(struct c2c_pace *to, const struct c2c_pace *from)
{
	widen_times(&to->first_ns, &to->last_ns, from->first_ns, from->last_ns);
	to->n += from->n;
	to->waited += from->waited;
	to->n_waited += from->n_waited;
}

/*
 * Adds those of `keys`, whose slices are 2^`shorter` times shorter. They may be those that `to` had before it was emptied: each is read before
 * its place, or one in front of it, is written.
 */
static void add_paces(struct c2c_paces *to, const uint64_t *keys, const struct c2c_pace *list,
		      size_t n, unsigned shorter)
{
	for (size_t i = 0; i < n; i++, keys += 2) {
		const uint64_t wide[] = { keys[0], keys[1] >> shorter };
		const struct c2c_pace pace = list[i];

		c2c_pace_join(pace_of(to, wide), &pace);
	}
}

static void lengthen_to(struct c2c_paces *p, unsigned shift)
{
	size_t n = p->list.n;
	unsigned shorter = shift - p->shift;

	tuples_reset(&p->keys);
	p->list.n = 0;
	memset(p->known, 0, sizeof(p->known));
	p->shift = shift;
	add_paces(p, p->keys.words, p->list.items, n, shorter);
}

/* By thread, and those of a thread by slice. */
static struct radix_pair key_of_pace(const void *paces, size_t i)
{
	const uint64_t *key = tuples_get(&((const struct c2c_paces *)paces)->keys, (uint32_t)i);

	return (struct radix_pair){ key[0], key[1] };
}

/* The shift with which few enough are left. Neighbours become one slice where the highest bit in which they differ is shifted away. */
static unsigned sufficient_shift(const struct c2c_paces *p)
{
	uint32_t *order = radix_order(p, p->keys.n, key_of_pace);
	uint32_t n_joined[65] = { 0 }; /* by that bit + 1 */
	uint32_t n = p->keys.n;
	unsigned more = 0;

	for (size_t i = 1; i < p->keys.n; i++) {
		const uint64_t *before = tuples_get(&p->keys, order[i - 1]);
		const uint64_t *key = tuples_get(&p->keys, order[i]);

		if (key[0] == before[0])
			n_joined[64 - __builtin_clzll(key[1] ^ before[1])]++;
	}
	free(order);
	while (n > MOST_PACES && p->shift + more < SHIFT_MAX)
		n -= n_joined[++more];
	return p->shift + more;
}

/*
 * Slices become as long as they have to, and no longer, so that their length is the same for any number of workers. Mostly it
 * is enough that they are twice as long; of more threads than that they never are few enough.
 */
static void hold_to_most(struct c2c_paces *p)
{
	if (p->keys.n > MOST_PACES && p->shift < SHIFT_MAX)
		lengthen_to(p, p->shift + 1);
	if (p->keys.n > MOST_PACES && p->shift < SHIFT_MAX)
		lengthen_to(p, sufficient_shift(p));
}

/* Rows in a row of the same thread and slice. */
struct run {
	uint32_t has, tid, process;
	uint64_t slice;
};

static const uint32_t same = needed | HAS_PROCESS;

static struct run run_of(const struct c2c_paces *p, const struct batch *b, size_t row)
{
	return (struct run){
		.has = b->has[row] & same,
		.tid = b->tid[row],
		.process = b->process[row],
		.slice = b->time_ns[row] >> p->shift,
	};
}

/* Bits in which a row differs, but for its time. */
static inline uint32_t differing(const struct run *r, const struct batch *b, size_t row)
{
	return ((b->has[row] & same) ^ r->has) | (b->tid[row] ^ r->tid) |
	       (b->process[row] ^ r->process);
}

static inline bool is_of_run(const struct run *r, unsigned shift, const struct batch *b, size_t row)
{
	return (differing(r, b, row) | (b->time_ns[row] >> shift ^ r->slice)) == 0;
}

/* What rows add to a pace. */
struct rows_sum {
	uint64_t first_ns, last_ns;
	uint64_t waits;
};

static inline void sum_row(struct rows_sum *s, const struct batch *b, const uint64_t *waits,
			   size_t row)
{
	uint64_t time_ns = b->time_ns[row];

	widen_times(&s->first_ns, &s->last_ns, time_ns, time_ns);
	s->waits += waits[row];
}

/* Adds ROWS_AT_ONCE rows, if all of them are of the run. */
static inline bool sum_rows(struct rows_sum *s, const struct run *r, unsigned shift,
			    const struct batch *b, const uint64_t *waits, size_t row)
{
	struct rows_sum sum = *s;
	uint32_t differs = 0;

	for (size_t i = row; i < row + ROWS_AT_ONCE; i++) {
		differs |= differing(r, b, i);
		sum_row(&sum, b, waits, i);
	}
	if (differs != 0 || sum.first_ns >> shift != r->slice || sum.last_ns >> shift != r->slice)
		return false;
	*s = sum;
	return true;
}

/* Adds the row and those behind it of the same thread and slice; returns the first of another one. */
static size_t add_run(struct c2c_paces *p, const struct batch *b, const uint64_t *waits, size_t row)
{
	const struct run r = run_of(p, b, row);
	const uint64_t thread = (uint64_t)(r.has & HAS_PROCESS ? r.process : 0) << 32 | r.tid;
	struct c2c_pace *pace = pace_of(p, (const uint64_t[]){ thread, r.slice });
	struct rows_sum sum = { pace->first_ns, pace->last_ns, 0 };
	unsigned shift = p->shift;
	size_t from = row;

	while (b->n - row >= ROWS_AT_ONCE && is_of_run(&r, shift, b, row + ROWS_AT_ONCE - 1) &&
	       sum_rows(&sum, &r, shift, b, waits, row))
		row += ROWS_AT_ONCE;
	for (; row < b->n && is_of_run(&r, shift, b, row); row++)
		sum_row(&sum, b, waits, row);
	pace->first_ns = sum.first_ns;
	pace->last_ns = sum.last_ns;
	pace->n += row - from;
	pace->waited += (uint32_t)sum.waits;
	pace->n_waited += sum.waits >> 32;
	return row;
}

void c2c_paces_add(struct c2c_paces *p, const struct batch *b, const uint64_t *waits)
{
	for (size_t row = 0; row < b->n;)
		row = (b->has[row] & needed) == needed ? add_run(p, b, waits, row) : row + 1;
	hold_to_most(p);
}

void c2c_paces_merge(struct c2c_paces *to, const struct c2c_paces *from)
{
	if (to->shift < from->shift)
		lengthen_to(to, from->shift);
	add_paces(to, from->keys.words, from->list.items, from->list.n, to->shift - from->shift);
	hold_to_most(to);
}

void c2c_paces_order(struct c2c_paces *p)
{
	uint32_t *order = radix_order(p, p->keys.n, key_of_pace);
	struct c2c_pace *list = mem_alloc(p->list.n + 1, sizeof(*list));

	for (size_t i = 0; i < p->list.n; i++)
		list[i] = p->list.items[order[i]];
	tuples_reorder(&p->keys, order);
	free(p->list.items);
	p->list.items = list;
	p->list.cap = p->list.n + 1;
	memset(p->known, 0, sizeof(p->known));
	free(order);
}
