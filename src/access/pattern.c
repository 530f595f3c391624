/* SPDX-License-Identifier: Apache-2.0 */
#include "access/pattern.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/gcd.h"
#include "base/tuples.h"

enum {
	LEAST_SAMPLES = 16,
	LEAST_PAIRS = 8,
	NEAR_BYTES = 4096,
};

const char *const addr_walk_names[N_ADDR_WALKS] = {
	[ADDR_WALK_UNKNOWN] = "unknown",     [ADDR_WALK_CONSTANT] = "constant",
	[ADDR_WALK_STRIDE] = "stride",	     [ADDR_WALK_LOCAL] = "local",
	[ADDR_WALK_SCATTERED] = "scattered", [ADDR_WALK_CHASE] = "pointer-chase",
	[ADDR_WALK_MIXED] = "mixed",
};

void addr_pattern_add(struct addr_pattern *p, uint64_t address)
{
	addr_pattern_merge(p, &(struct addr_pattern){ .n = 1, .any = address, .most = address });
}

void addr_pattern_add_pair(struct addr_pattern *p, uint64_t before, uint64_t after)
{
	uint64_t distance = after > before ? after - before : before - after;

	p->n_pairs++;
	p->n_same += distance == 0;
	p->n_up += after > before;
	p->n_down += after < before;
	p->n_near += distance > 0 && distance < NEAR_BYTES;
	p->distance += (double)distance;
}

static void pattern_add_pairs(struct addr_pattern *p, const struct addr_pattern *from)
{
	p->n_pairs += from->n_pairs;
	p->n_same += from->n_same;
	p->n_up += from->n_up;
	p->n_down += from->n_down;
	p->n_near += from->n_near;
	p->distance += from->distance;
}

void addr_pattern_merge(struct addr_pattern *p, const struct addr_pattern *from)
{
	uint64_t apart;

	if (from->n == 0)
		return;
	pattern_add_pairs(p, from);
	if (p->n == 0) {
		p->any = from->any;
		p->most = from->most;
	}
	apart = p->any > from->any ? p->any - from->any : from->any - p->any;
	p->divisor = gcd(gcd(p->divisor, from->divisor), apart);
	p->any = from->any < p->any ? from->any : p->any;
	p->most = from->most > p->most ? from->most : p->most;
	p->n += from->n;
}

void addr_pattern_merge_other(struct addr_pattern *p, const struct addr_pattern *from)
{
	uint64_t span = from->most - from->any;

	if (p->n == 0) {
		*p = *from;
		return;
	}
	pattern_add_pairs(p, from);
	p->divisor = gcd(p->divisor, from->divisor);
	if (span > p->most - p->any)
		p->most = p->any + span;
	p->n += from->n;
}

enum addr_walk addr_pattern_walk(const struct addr_pattern *p, bool is_chase)
{
	double pairs = (double)p->n_pairs, moved = (double)(p->n_up + p->n_down);

	if (p->n < LEAST_SAMPLES)
		return ADDR_WALK_UNKNOWN;
	if (p->divisor == 0)
		return ADDR_WALK_CONSTANT;
	if (p->n_pairs < LEAST_PAIRS || moved == 0)
		return ADDR_WALK_UNKNOWN;
	if (is_chase)
		return ADDR_WALK_CHASE;
	if ((double)p->n_up >= 0.85 * moved || (double)p->n_down >= 0.85 * moved)
		return ADDR_WALK_STRIDE;
	if ((double)(p->n_near + p->n_same) >= 0.9 * pairs)
		return ADDR_WALK_LOCAL;
	if ((double)p->n_up >= 0.35 * moved && (double)p->n_up <= 0.65 * moved &&
	    p->distance / moved >= (double)(p->most - p->any) / 8)
		return ADDR_WALK_SCATTERED;
	return ADDR_WALK_MIXED;
}

struct addr_last {
	struct tuples groups;
	VEC_OF(uint64_t) addresses;
};

struct addr_last *addr_last_new(void)
{
	struct addr_last *l = mem_zalloc(1, sizeof(*l));

	tuples_init(&l->groups, 1);
	return l;
}

void addr_last_free(struct addr_last *l)
{
	if (l == NULL)
		return;
	tuples_release(&l->groups);
	vec_release(&l->addresses);
	free(l);
}

void addr_last_reset(struct addr_last *l)
{
	tuples_reset(&l->groups);
	l->addresses.n = 0;
}

bool addr_last_put(struct addr_last *l, uint32_t group, uint64_t address, uint64_t *out_before)
{
	uint32_t number = tuples_add(&l->groups, &(uint64_t){ group });
	bool is_known = number < l->addresses.n;

	if (is_known)
		*out_before = l->addresses.items[number];
	else
		vec_add(&l->addresses);
	l->addresses.items[number] = address;
	return is_known;
}
