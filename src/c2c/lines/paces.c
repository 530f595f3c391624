/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/lines/paces.h"

#include "c2c/lines/lines.h"

enum {
	FIRST_SHIFT = 12, /* some microseconds */
	MOST_PACES = 8192,
	NO_NUMBER = UINT32_MAX,
};

void c2c_paces_init(struct c2c_paces *p, enum c2c_mode mode)
{
	*p = (struct c2c_paces){ .mode = mode, .shift = FIRST_SHIFT, .number = NO_NUMBER };
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
	uint32_t number = tuples_add(&p->keys, key);

	if (number == p->list.n)
		vec_add(&p->list)->first_ns = UINT64_MAX;
	p->number = number;
	p->key[0] = key[0];
	p->key[1] = key[1];
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

void c2c_paces_add(struct c2c_paces *p, const struct batch *b, const uint32_t *masks)
{
	const uint32_t contended = c2c_mode_masks[p->mode], needed = HAS_TIME | HAS_TID;
	struct c2c_pace *pace = NULL;

	for (size_t row = 0; row < b->n; row++) {
		uint32_t process = b->has[row] & HAS_PROCESS ? b->process[row] : 0;
		const uint64_t key[] = { (uint64_t)process << 32 | b->tid[row],
					 b->time_ns[row] >> p->shift };
		uint64_t total;

		if ((b->has[row] & needed) != needed)
			continue;
		if (pace == NULL || key[0] != p->key[0] || key[1] != p->key[1])
			pace = pace_of(p, key);
		pace->n++;
		pace->first_ns =
			b->time_ns[row] < pace->first_ns ? b->time_ns[row] : pace->first_ns;
		pace->last_ns = b->time_ns[row] > pace->last_ns ? b->time_ns[row] : pace->last_ns;
		if ((masks[row] & contended) == 0 || !c2c_row_total(b, row, &total))
			continue;
		total = c2c_row_access(b, row, total);
		total = total < C2C_LATENCY_MAX ? total : C2C_LATENCY_MAX;
		pace->waited += total;
		pace->n_waited++;
	}
	hold_to_most(p);
}

void c2c_paces_merge(struct c2c_paces *to, const struct c2c_paces *from)
{
	if (to->shift < from->shift)
		lengthen_to(to, from->shift);
	join_paces(to, from);
	hold_to_most(to);
}
