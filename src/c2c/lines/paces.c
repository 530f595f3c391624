/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/lines/paces.h"

#include "c2c/lines/lines.h"

enum {
	FIRST_SHIFT = 12, /* some microseconds */
	MOST_PACES = 4096,
};

static const uint32_t needed = HAS_TIME | HAS_TID;

void c2c_paces_init(struct c2c_paces *p, enum c2c_mode mode)
{
	*p = (struct c2c_paces){ .mode = mode, .shift = FIRST_SHIFT };
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
	to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
	to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
	to->n += from->n;
	to->waited += from->waited;
	to->n_waited += from->n_waited;
}

/* Adds those of the other, whose slices are not longer. */
static void join_paces(struct c2c_paces *to, const struct c2c_paces *from)
{
	for (uint32_t i = 0; i < from->keys.n; i++) {
		const uint64_t *key = tuples_get(&from->keys, i);
		const uint64_t wide[] = { key[0], key[1] >> (to->shift - from->shift) };

		c2c_pace_join(pace_of(to, wide), &from->list.items[i]);
	}
}

static void lengthen_to(struct c2c_paces *p, unsigned shift)
{
	struct c2c_paces old = *p;

	c2c_paces_init(p, old.mode);
	p->shift = shift;
	join_paces(p, &old);
	c2c_paces_release(&old);
}

/* Slices become as long as they have to, and no longer, so that their length is the same for any number of workers. */
static void hold_to_most(struct c2c_paces *p)
{
	while (p->keys.n > MOST_PACES && p->shift < 63)
		lengthen_to(p, p->shift + 1);
}

static void add_wait(struct c2c_pace *pace, const struct batch *b, size_t row)
{
	uint64_t total;

	if (!c2c_row_total(b, row, &total))
		return;
	total = c2c_row_access(b, row, total);
	pace->waited += total < C2C_LATENCY_MAX ? total : C2C_LATENCY_MAX;
	pace->n_waited++;
}

/* Adds the row and those behind it of the same thread and slice; returns the first of another one. */
static size_t add_run(struct c2c_paces *p, const struct batch *b, const uint32_t *masks, size_t row)
{
	const uint32_t contended = c2c_mode_masks[p->mode], same = needed | HAS_PROCESS;
	uint32_t has = b->has[row] & same, tid = b->tid[row], process = b->process[row];
	uint64_t slice = b->time_ns[row] >> p->shift, start_ns = slice << p->shift;
	uint64_t length_ns = UINT64_C(1) << p->shift;
	const uint64_t key[] = { (uint64_t)(has & HAS_PROCESS ? process : 0) << 32 | tid, slice };
	struct c2c_pace *pace = pace_of(p, key);
	uint64_t first_ns = pace->first_ns, last_ns = pace->last_ns;
	size_t from = row;

	for (; row < b->n && b->time_ns[row] - start_ns < length_ns && b->tid[row] == tid &&
	       (b->has[row] & same) == has && b->process[row] == process;
	     row++) {
		uint64_t time_ns = b->time_ns[row];

		first_ns = time_ns < first_ns ? time_ns : first_ns;
		last_ns = time_ns > last_ns ? time_ns : last_ns;
		if (masks[row] & contended)
			add_wait(pace, b, row);
	}
	pace->first_ns = first_ns;
	pace->last_ns = last_ns;
	pace->n += row - from;
	return row;
}

void c2c_paces_add(struct c2c_paces *p, const struct batch *b, const uint32_t *masks)
{
	for (size_t row = 0; row < b->n;)
		row = (b->has[row] & needed) == needed ? add_run(p, b, masks, row) : row + 1;
	hold_to_most(p);
}

void c2c_paces_merge(struct c2c_paces *to, const struct c2c_paces *from)
{
	if (to->shift < from->shift)
		lengthen_to(to, from->shift);
	join_paces(to, from);
	hold_to_most(to);
}
