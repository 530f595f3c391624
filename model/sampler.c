/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sampler.h"

#include "model/random.h"
#include "spe/packet.h"

enum { JITTER_MASK = 255 };

const struct sampling no_sampling = { .interval = UINT32_MAX, .min_latency = UINT16_MAX };

static void reload(struct sampler *s)
{
	s->left = s->sampling->interval;
	if (s->sampling->has_jitter)
		s->left += (uint32_t)random_next(&s->random) & JITTER_MASK;
}

void sampler_init(struct sampler *s, const struct sampling *sampling, uint64_t seed,
		  struct counts *counts)
{
	*s = (struct sampler){ .sampling = sampling, .random = seed, .counts = counts };
	random_next(&s->random);
	reload(s);
}

bool sampler_begin(struct sampler *s, uint64_t now)
{
	reload(s);
	if (now < s->busy_until) {
		s->has_collided = true;
		s->counts->n[COUNT_SAMPLE_COLLISION]++;
		return false;
	}
	s->counts->n[COUNT_SAMPLE_FEED]++;
	return true;
}

/* An atomic operation is a load and a store. */
static bool is_of_type(const struct sampling *want, const struct spe_record *r)
{
	const uint8_t store = 1, atomic = 2 | 4;
	bool is_memory = r->op_class == SPE_OP_LDST;
	bool is_atomic = is_memory && (r->op & (atomic | 0xe0)) == atomic;

	if (!want->loads && !want->stores && !want->branches)
		return true;
	return (want->branches && r->op_class == SPE_OP_BRANCH) ||
	       (want->loads && is_memory && (is_atomic || !(r->op & store))) ||
	       (want->stores && is_memory && (is_atomic || (r->op & store)));
}

bool sampler_end(struct sampler *s, const struct spe_record *r, uint64_t finish)
{
	const struct sampling *want = s->sampling;

	s->busy_until = finish;
	if (!is_of_type(want, r) || r->total < want->min_latency ||
	    (r->events & want->events) != want->events)
		return false;
	s->counts->n[COUNT_SAMPLE_FILTRATE]++;
	return true;
}

bool sampler_collided(struct sampler *s)
{
	bool had = s->has_collided;

	s->has_collided = false;
	return had;
}
