/* SPDX-License-Identifier: Apache-2.0 */
/* Touches: what is kept of them, and what that says. */
#include "c2c/accesses/touch.h"

#include "base/prefetch.h"
#include "base/widen.h"

/* What a load met decides where its latency counts; first match wins. */
static const uint32_t met_masks[C2C_N_MET] = {
	[C2C_MET_REMOTE_HITM] = C2C_BIT(REMOTE_HITM),
	[C2C_MET_LOCAL_HITM] = C2C_BIT(LOCAL_HITM),
	[C2C_MET_REMOTE_PEER] = C2C_BIT(REMOTE_PEER),
	[C2C_MET_LOCAL_PEER] = C2C_BIT(LOCAL_PEER),
	[C2C_MET_NONE] = C2C_BIT(LOADS),
};

static bool c2c_kept_has_latency(const struct c2c_kept_touch *one)
{
	return one->mask & C2C_BIT(LOADS) && one->flags & C2C_KEPT_LATENCY;
}

static bool c2c_kept_is_reload(const struct c2c_kept_touch *one)
{
	return c2c_is_reload(one->mask, 0) && !(one->flags & C2C_KEPT_NO_RELOAD);
}

/* Where the latency of a load counts that has one: NULL if it did not wait for others. */
static struct c2c_latency *latency_of(enum c2c_mode mode, const struct c2c_kept_touch *one,
				      struct c2c_latency *contended, struct c2c_latency *reloads)
{
	if (one->mask & c2c_mode_masks[mode])
		return contended;
	return c2c_kept_is_reload(one) ? reloads : NULL;
}

static void add_wait(enum c2c_mode mode, const struct c2c_kept_touch *one,
		     struct c2c_latency *contended, struct c2c_latency *reloads)
{
	uint64_t access = one->total - (one->issue < one->total ? one->issue : one->total);
	struct c2c_latency *latency = latency_of(mode, one, contended, reloads);

	if (latency != NULL)
		c2c_latency_add(latency, access, (one->flags & C2C_KEPT_SATURATED) != 0);
}

static void touch_add_latency(enum c2c_mode mode, struct c2c_touch *touch,
			      const struct c2c_kept_touch *one)
{
	struct c2c_mean *mean = touch->met;

	if (!c2c_kept_has_latency(one))
		return;
	for (size_t i = 0; !(one->mask & met_masks[i]); i++)
		mean++;
	mean->n++;
	mean->cycles += one->total;
	mean->n_saturated += (one->flags & C2C_KEPT_SATURATED) != 0;
	add_wait(mode, one, &touch->contended, &touch->reloads);
	if (one->flags & C2C_KEPT_TIME && !(one->mask & c2c_mode_masks[mode]) &&
	    c2c_kept_is_reload(one))
		widen_times(&touch->first_reload_ns, &touch->last_reload_ns, one->time_ns,
			    one->time_ns);
}

/* As a bit. */
static uint64_t c2c_accesses_slot_of(const struct c2c_choice *c, uint64_t time_ns)
{
	uint64_t slot = time_ns > c->first_ns ? (time_ns - c->first_ns) >> c->slot_shift : 0;

	return UINT64_C(1) << (slot < C2C_N_SLOTS ? slot : C2C_N_SLOTS - 1);
}

static void whole_touch_add(const struct c2c_choice *choice, struct c2c_whole_touch *touch,
			    const struct c2c_kept_touch *one)
{
	enum c2c_mode mode = choice->options->mode;
	uint32_t contended = one->mask & c2c_mode_masks[mode];

	touch->n_records++;
	if (contended != 0)
		touch->n_contended += (uint32_t)__builtin_popcount(contended);
	if ((contended != 0 || one->flags & C2C_KEPT_RELOAD) && c2c_kept_has_latency(one))
		add_wait(mode, one, &touch->waits, &touch->waits);
	if (one->flags & C2C_KEPT_TIME) {
		widen_times(&touch->first_ns, &touch->last_ns, one->time_ns, one->time_ns);
		touch->slots |= c2c_accesses_slot_of(choice, one->time_ns);
	}
	if (one->node >= 0)
		touch->nodes |= (uint64_t)1 << one->node;
}

struct c2c_whole_touch c2c_whole_touch_of(const struct c2c_accesses *a,
					  const struct c2c_kept_touch *kept)
{
	struct c2c_whole_touch out = { .first_ns = UINT64_MAX };

	if (kept->flags & C2C_KEPT_MANY)
		return a->whole.items[kept->many];
	whole_touch_add(a->choice, &out, kept);
	return out;
}

void c2c_whole_touch_merge(struct c2c_whole_touch *to, const struct c2c_whole_touch *from)
{
	widen_times(&to->first_ns, &to->last_ns, from->first_ns, from->last_ns);
	to->slots |= from->slots;
	to->nodes |= from->nodes;
	to->n_records += from->n_records;
	to->n_contended += from->n_contended;
	c2c_latency_merge(&to->waits, &from->waits);
}

/* Its contended loads count in the first counter of the mode: whoever asks adds these up. */
static void fill_from_whole(enum c2c_mode mode, const struct c2c_kept_touch *kept,
			    const struct c2c_whole_touch *whole, struct c2c_touch *out)
{
	bool is_reload = kept->flags & C2C_KEPT_RELOAD;

	*out = (struct c2c_touch){
		.first_ns = whole->first_ns,
		.last_ns = whole->last_ns,
		.slots = whole->slots,
		.first_reload_ns = is_reload ? whole->first_ns : UINT64_MAX,
		.last_reload_ns = is_reload ? whole->last_ns : 0,
		.nodes = whole->nodes,
	};
	*(is_reload ? &out->reloads : &out->contended) = whole->waits;
	out->counts.n[C2C_RECORDS] = whole->n_records;
	out->counts.n[__builtin_ctz(c2c_mode_masks[mode])] = whole->n_contended;
}

static void touch_add_record(const struct c2c_choice *choice, struct c2c_touch *touch,
			     const struct c2c_kept_touch *one)
{
	c2c_count_in(&touch->counts, one->mask);
	touch_add_latency(choice->options->mode, touch, one);
	if (one->flags & C2C_KEPT_TIME) {
		widen_times(&touch->first_ns, &touch->last_ns, one->time_ns, one->time_ns);
		touch->slots |= c2c_accesses_slot_of(choice, one->time_ns);
	}
	if (one->node >= 0)
		touch->nodes |= (uint64_t)1 << one->node;
}

void c2c_touch_get(const struct c2c_accesses *a, uint32_t number, struct c2c_touch *out)
{
	const struct c2c_kept_touch *kept = &a->kept.items[number];

	if (kept->flags & C2C_KEPT_WHOLE) {
		struct c2c_whole_touch whole = c2c_whole_touch_of(a, kept);

		fill_from_whole(a->choice->options->mode, kept, &whole, out);
		return;
	}
	if (kept->flags & C2C_KEPT_MANY) {
		*out = a->many.items[kept->many];
		return;
	}
	*out = (struct c2c_touch){ .first_ns = UINT64_MAX, .first_reload_ns = UINT64_MAX };
	touch_add_record(a->choice, out, kept);
}

void c2c_touch_add_waits(const struct c2c_accesses *a, uint32_t number, struct c2c_counts *counts,
			 struct c2c_latency *contended, struct c2c_latency *reloads)
{
	const struct c2c_kept_touch *kept = &a->kept.items[number];

	if (kept->flags & C2C_KEPT_WHOLE) {
		struct c2c_whole_touch whole = c2c_whole_touch_of(a, kept);

		counts->n[C2C_RECORDS] += whole.n_records;
		counts->n[__builtin_ctz(c2c_mode_masks[a->choice->options->mode])] +=
			whole.n_contended;
		c2c_latency_merge(kept->flags & C2C_KEPT_RELOAD ? reloads : contended,
				  &whole.waits);
		return;
	}
	if (kept->flags & C2C_KEPT_MANY) {
		const struct c2c_touch *touch = &a->many.items[kept->many];

		c2c_counts_add(counts, &touch->counts);
		c2c_latency_merge(contended, &touch->contended);
		c2c_latency_merge(reloads, &touch->reloads);
		return;
	}
	c2c_count_in(counts, kept->mask);
	if (c2c_kept_has_latency(kept))
		add_wait(a->choice->options->mode, kept, contended, reloads);
}

static bool is_many_of_whole(const struct c2c_kept_touch *kept)
{
	const uint8_t both = C2C_KEPT_MANY | C2C_KEPT_WHOLE;

	return (kept->flags & both) == both;
}

bool c2c_touch_has_reloads(const struct c2c_accesses *a, uint32_t number)
{
	const struct c2c_kept_touch *kept = &a->kept.items[number];

	if (is_many_of_whole(kept))
		return kept->flags & C2C_KEPT_RELOAD && a->whole.items[kept->many].waits.n > 0;
	if (kept->flags & C2C_KEPT_MANY)
		return a->many.items[kept->many].reloads.n > 0;
	return c2c_kept_has_latency(kept) && c2c_kept_is_reload(kept) &&
	       !(kept->mask & c2c_mode_masks[a->choice->options->mode]);
}

struct c2c_latency c2c_touch_reloads(const struct c2c_accesses *a, uint32_t number)
{
	const struct c2c_kept_touch *kept = &a->kept.items[number];
	struct c2c_latency contended = { 0 }, reloads = { 0 };

	if (!c2c_touch_has_reloads(a, number))
		return reloads;
	if (is_many_of_whole(kept))
		return a->whole.items[kept->many].waits;
	if (kept->flags & C2C_KEPT_MANY)
		return a->many.items[kept->many].reloads;
	add_wait(a->choice->options->mode, kept, &contended, &reloads);
	return reloads;
}

struct c2c_touch_part c2c_touch_part(const struct c2c_accesses *a, enum c2c_mode mode,
				     uint32_t number)
{
	const struct c2c_kept_touch *kept = &a->kept.items[number];
	struct c2c_touch_part out = { .first_ns = UINT64_MAX };

	if (is_many_of_whole(kept)) {
		const struct c2c_whole_touch *touch = &a->whole.items[kept->many];

		return (struct c2c_touch_part){
			.n_records = touch->n_records,
			.n_waited = touch->n_contended + c2c_touch_reloads(a, number).n,
			.first_ns = touch->first_ns,
			.last_ns = touch->last_ns,
			.slots = touch->slots,
		};
	}
	if (kept->flags & C2C_KEPT_MANY) {
		const struct c2c_touch *touch = &a->many.items[kept->many];

		return (struct c2c_touch_part){
			.n_records = touch->counts.n[C2C_RECORDS],
			.n_waited =
				(uint32_t)c2c_contended(&touch->counts, mode) + touch->reloads.n,
			.first_ns = touch->first_ns,
			.last_ns = touch->last_ns,
			.slots = touch->slots,
		};
	}
	out.n_records = (kept->mask & C2C_BIT(RECORDS)) != 0;
	out.n_waited = (uint32_t)__builtin_popcount(kept->mask & c2c_mode_masks[mode]) +
		       c2c_touch_has_reloads(a, number);
	if (kept->flags & C2C_KEPT_TIME) {
		out.first_ns = out.last_ns = kept->time_ns;
		out.slots = c2c_accesses_slot_of(a->choice, kept->time_ns);
	}
	return out;
}

uint32_t c2c_touch_records(const struct c2c_accesses *a, uint32_t number)
{
	const struct c2c_kept_touch *kept = &a->kept.items[number];

	if (is_many_of_whole(kept))
		return a->whole.items[kept->many].n_records;
	return kept->flags & C2C_KEPT_MANY ? a->many.items[kept->many].counts.n[C2C_RECORDS]
					   : (kept->mask & C2C_BIT(RECORDS)) != 0;
}

uint64_t c2c_touch_first_ns(const struct c2c_accesses *a, uint32_t number)
{
	const struct c2c_kept_touch *kept = &a->kept.items[number];

	if (is_many_of_whole(kept))
		return a->whole.items[kept->many].first_ns;
	if (kept->flags & C2C_KEPT_MANY)
		return a->many.items[kept->many].first_ns;
	return kept->flags & C2C_KEPT_TIME ? kept->time_ns : UINT64_MAX;
}

void c2c_touch_forget_reloads(struct c2c_accesses *a, uint32_t number)
{
	struct c2c_kept_touch *kept = &a->kept.items[number];

	if (is_many_of_whole(kept))
		a->whole.items[kept->many].waits = (struct c2c_latency){ 0 };
	else if (kept->flags & C2C_KEPT_MANY)
		a->many.items[kept->many].reloads = (struct c2c_latency){ 0 };
	else
		kept->flags |= C2C_KEPT_NO_RELOAD;
}

/* A touch of several records. */
static struct c2c_touch *touch_widen(struct c2c_accesses *a, uint32_t number)
{
	struct c2c_kept_touch *kept = &a->kept.items[number];

	if (!(kept->flags & C2C_KEPT_MANY)) {
		c2c_touch_get(a, number, vec_add(&a->many));
		*kept = (struct c2c_kept_touch){ .many = (uint32_t)a->many.n - 1,
						 .flags = C2C_KEPT_MANY };
	}
	return &a->many.items[kept->many];
}

void c2c_touch_merge(struct c2c_touch *to, const struct c2c_touch *from)
{
	c2c_counts_add(&to->counts, &from->counts);
	for (size_t i = 0; i < C2C_N_MET; i++) {
		to->met[i].n += from->met[i].n;
		to->met[i].n_saturated += from->met[i].n_saturated;
		to->met[i].cycles += from->met[i].cycles;
	}
	c2c_latency_merge(&to->contended, &from->contended);
	c2c_latency_merge(&to->reloads, &from->reloads);
	widen_times(&to->first_ns, &to->last_ns, from->first_ns, from->last_ns);
	widen_times(&to->first_reload_ns, &to->last_reload_ns, from->first_reload_ns,
		    from->last_reload_ns);
	to->slots |= from->slots;
	to->nodes |= from->nodes;
}

void c2c_touch_add_kept(const struct c2c_accesses *of, const struct c2c_kept_touch *touch,
			struct c2c_touch *to)
{
	if (touch->flags & C2C_KEPT_MANY)
		c2c_touch_merge(to, &of->many.items[touch->many]);
	else
		touch_add_record(of->choice, to, touch);
}

/* The same of a whole line. */
static struct c2c_whole_touch *whole_touch_widen(struct c2c_accesses *a, uint32_t number)
{
	struct c2c_kept_touch *kept = &a->kept.items[number];

	if (!(kept->flags & C2C_KEPT_MANY)) {
		*vec_add(&a->whole) = c2c_whole_touch_of(a, kept);
		*kept = (struct c2c_kept_touch){
			.many = (uint32_t)a->whole.n - 1,
			.flags = C2C_KEPT_MANY | C2C_KEPT_WHOLE | (kept->flags & C2C_KEPT_RELOAD),
		};
	}
	return &a->whole.items[kept->many];
}

void c2c_touch_keep(struct c2c_accesses *a, uint32_t number, const struct c2c_kept_touch *touch)
{
	if (number == a->kept.n)
		*vec_add(&a->kept) = *touch;
	else if (touch->flags & C2C_KEPT_WHOLE)
		whole_touch_add(a->choice, whole_touch_widen(a, number), touch);
	else
		c2c_touch_add_kept(a, touch, touch_widen(a, number));
}

/* Most of what a record changes stands at its start. */
void c2c_touch_fetch(const struct c2c_accesses *a, const struct c2c_kept_touch *kept)
{
	const char *touch;

	if (is_many_of_whole(kept))
		prefetch_to_write(&a->whole.items[kept->many]);
	if ((kept->flags & (C2C_KEPT_MANY | C2C_KEPT_WHOLE)) != C2C_KEPT_MANY)
		return;
	touch = (const char *)&a->many.items[kept->many];
	prefetch_to_write(touch);
	prefetch_to_write(touch + 64);
}
