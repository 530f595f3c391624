/* SPDX-License-Identifier: Apache-2.0 */
/*
 * False or true sharing? A load that finds its line in another core's cache was made to wait
 * by stores of other threads. Those to the bytes that it wants are true sharing, those to
 * other bytes false sharing: each such load is divided as the sampled stores are.
 *
 * Samples show a part of the stores. If all of five that were drawn are of one kind, more than
 * half of all are, with 95 % confidence: with fewer there is no verdict.
 *
 * Where threads use the fields of a line alike, stores are of both kinds, but with a line for each
 * field loads would wait nearly as often: that is true sharing.
 *
 * Threads that never use a line at once do not make each other wait, but for the first accesses of
 * each.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "c2c/accesses/extent.h"
#include "c2c/accesses/phases.h"
#include "c2c/verdict/verdict.h"

enum {
	ENOUGH = 5,	     /* stores, and accesses they made wait */
	ENOUGH_READS = 20,   /* accesses, none of which is a store */
	ENOUGH_BY_LOCK = 20, /* … and those to a line with a lock, to know who uses what of it */
	ENOUGH_IN_TURN = 8,  /* of each thread, to say that they took turns */
};

/* Below this part a line is not called both. */
static const double both_from = 0.1;

/* If lines of their own for all bytes would save less of the waits, they are waited for by all alike. */
static const double least_gain = 0.15;

/* As much of the accesses beside a lock may seem not to be guarded: few samples show one thread. */
static const double apart_at_most = 0.1;

/* The same with stores whose overlap is not known. */
static const double unsure_from = 0.2;

/* Bytes [from, to); if that is not known, within [first, end). */
struct extent {
	uint16_t first, from, to, end;
};

/* What a thread does to such bytes. */
struct reach {
	uint32_t thread, extent; /* numbers of both */
	struct extent bytes;
	uint32_t n_all, n_writes;
	uint32_t n_waited; /* contended loads and reloads */
	uint32_t n_locks;  /* atomics and exclusives that write */
};

/* A thread on the line. */
struct turn {
	struct c2c_activity all, writes;
	uint32_t first_reach, n_reaches; /* when they are sorted */
};

/* Stores that an access may have waited for, by where they went. */
struct blame {
	double same, other, unsure;
};

/* Accesses, and the stores that they are divided among. */
struct division {
	struct blame blame;
	double n_lasting; /* those that would wait, too, if their bytes had a line of their own */
	uint32_t n;
};

/* Tables that are used for one line after the other: to make them takes as long as to judge most lines. */
struct c2c_judging_tables {
	struct tuples threads;	 /* process << 32 | tid */
	struct tuples extents;	 /* struct extent, packed */
	struct tuples pairs;	 /* (thread, extent) */
	struct tuples all;	 /* threads of all lines in question */
	struct tuples processes; /* … and their processes */
};

/* What all lines in question come to. */
struct verdict_sums {
	struct c2c_judging_tables *tables;
	VEC_OF(bool) is_writer; /* by thread */
	struct c2c_counts counts;
	struct division waits,
		all;	   /* of the accesses that waited; of all, where these are too few */
	uint32_t n_writes; /* those that somebody may have waited for */
	uint32_t n_guarded, n_apart;	   /* accesses under a lock; and those that are not */
	uint32_t n_contended, n_unwritten; /* lines */
	uint32_t n_in_turn, n_phases, n_few_turns, n_unexplained;
	bool lacks_stores;	      /* not all of them may have been let through */
	bool lacks_length, has_parts; /* what extents may be unsure for */
	struct c2c_judgement out;
};

struct judging {
	const struct c2c *s;
	struct verdict_sums *sums;
	struct c2c_judging_tables *tables;
	VEC_OF(struct turn) turns;    /* by thread */
	VEC_OF(uint32_t) writes;      /* by extent: stores of all threads */
	VEC_OF(struct reach) reaches; /* by pair */
	VEC_OF(struct reach) locks;   /* those of them with a lock, when they are sorted */
	struct blame *stores;	      /* by extent: of all threads, for who wants such bytes */
	bool *apart; /* by thread and writer: they did not use the line at once; NULL: all did */
	uint32_t n_writes, n_atomics;
	bool has_lock;
};

static struct extent numbered_extent(const struct judging *j, uint32_t number)
{
	uint64_t word = tuples_get(&j->tables->extents, number)[0];

	return (struct extent){ (uint16_t)(word >> 48), (uint16_t)(word >> 32),
				(uint16_t)(word >> 16), (uint16_t)word };
}

static uint32_t thread_number(struct judging *j, uint64_t thread)
{
	uint32_t number = tuples_add(&j->tables->threads, &thread);

	if (number == j->turns.n)
		*vec_add(&j->turns) = (struct turn){ C2C_NEVER, C2C_NEVER, 0, 0 };
	return number;
}

static uint32_t extent_number(struct judging *j, const struct extent *e)
{
	uint64_t word =
		(uint64_t)e->first << 48 | (uint64_t)e->from << 32 | (uint64_t)e->to << 16 | e->end;
	uint32_t number = tuples_add(&j->tables->extents, &word);

	if (number == j->writes.n)
		vec_add(&j->writes);
	return number;
}

static struct reach *reach_of(struct judging *j, uint32_t thread, uint32_t extent,
			      struct extent bytes)
{
	const uint64_t pair[] = { thread, extent };
	uint32_t number = tuples_add(&j->tables->pairs, pair);
	struct reach *r;

	if (number < j->reaches.n)
		return &j->reaches.items[number];
	r = vec_add(&j->reaches);
	r->thread = thread;
	r->extent = extent;
	r->bytes = bytes;
	return r;
}

/* Who did something to which bytes. */
static void add_reach(struct judging *j, uint32_t thread, const struct c2c_touch_key *k,
		      const struct c2c_extent *e, const struct c2c_touch_part *t)
{
	struct extent bytes = {
		.first = e->is_scattered ? 0 : k->offset,
		.from = k->offset,
		.to = (uint16_t)(k->offset + e->least),
		.end = (uint16_t)(k->offset + e->most),
	};
	uint32_t extent = extent_number(j, &bytes);
	struct reach *r = reach_of(j, thread, extent, bytes);
	uint32_t n = t->n_records, n_writes = c2c_kind_writes(e->kind) ? n : 0;

	r->n_all += n;
	r->n_writes += n_writes;
	r->n_locks += e->kind & (C2C_KIND_ATOMIC | C2C_KIND_EXCLUSIVE) ? n_writes : 0;
	r->n_waited += t->n_waited;
	j->writes.items[extent] += n_writes;
}

static void add_touch(struct judging *j, uint32_t number)
{
	struct c2c_touch_key k = c2c_touch_key(j->s->accesses_seen, number);
	struct c2c_extent e = c2c_extent(j->s, &k);
	uint32_t thread = thread_number(j, (uint64_t)k.process << 32 | k.tid);
	struct turn *turn = &j->turns.items[thread];
	struct c2c_touch_part t = c2c_touch_part(j->s->accesses_seen, j->s->options.mode, number);
	uint32_t n_writes = c2c_kind_writes(e.kind) ? t.n_records : 0;

	if (!j->s->request.only_phases)
		add_reach(j, thread, &k, &e, &t);
	c2c_activity_add(&turn->all, &t);
	if (n_writes > 0)
		c2c_activity_add(&turn->writes, &t);
	j->n_writes += n_writes;
	j->n_atomics += e.kind & C2C_KIND_ATOMIC ? n_writes : 0;
	j->has_lock |= (e.kind & (C2C_KIND_ATOMIC | C2C_KIND_EXCLUSIVE)) != 0;
	j->sums->lacks_length |= e.lacks_length;
	j->sums->has_parts |= (e.kind & C2C_KIND_PARTIAL) != 0;
}

static int compare_turns(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;

	return (a->all.first_ns > b->all.first_ns) - (a->all.first_ns < b->all.first_ns);
}

/* Did each thread use the line when the one before was done with it, as far as one can see? */
static bool took_turns(const struct judging *j)
{
	struct turn *turns = mem_alloc(j->turns.n, sizeof(*turns));
	bool in_turn = true;

	memcpy(turns, j->turns.items, j->turns.n * sizeof(*turns));
	qsort(turns, j->turns.n, sizeof(*turns), compare_turns);
	for (size_t i = 0; i < j->turns.n; i++)
		in_turn &= turns[i].all.first_ns != UINT64_MAX &&
			   (i == 0 || turns[i].all.first_ns > turns[i - 1].all.last_ns);
	free(turns);
	return in_turn;
}

/* With few samples of a thread it may have been there before and after, too. */
static void count_turns(const struct judging *j, uint32_t *kind)
{
	for (size_t i = 0; i < j->turns.n; i++) {
		if (j->turns.items[i].all.n >= ENOUGH_IN_TURN)
			continue;
		j->sums->n_few_turns++;
		return;
	}
	(*kind)++;
}

/*
 * Finds which threads were there when which others wrote. Returns if any was; then it counts the
 * writes that somebody may have waited for.
 */
static bool find_phases(struct judging *j)
{
	size_t n = j->turns.n;
	bool *apart = mem_zalloc(n * n, sizeof(*apart));
	uint64_t *slots = mem_alloc(n, sizeof(*slots));
	bool any_apart = false, any_at_once = false;

	for (size_t i = 0; i < n; i++)
		slots[i] = c2c_activity_slots(&j->turns.items[i].all);
	for (size_t writer = 0; writer < n; writer++) {
		const struct c2c_activity *writes = &j->turns.items[writer].writes;
		uint64_t write_slots = c2c_activity_slots(writes);
		bool is_met = false;

		for (size_t i = 0; i < n; i++) {
			bool is_apart = i != writer && writes->n > 0 &&
					!c2c_were_at_once(writes, write_slots,
							  &j->turns.items[i].all, slots[i]);

			apart[i * n + writer] = is_apart;
			any_apart |= is_apart;
			is_met |= i != writer && !is_apart;
		}
		j->sums->n_writes += is_met ? writes->n : 0;
		any_at_once |= is_met && writes->n > 0;
	}
	free(slots);
	if (any_apart)
		j->apart = apart;
	else
		free(apart);
	return any_at_once;
}

static struct radix_pair key_of_reach(const void *reaches, size_t i)
{
	const struct reach *r = (const struct reach *)reaches + i;

	return (struct radix_pair){ r->thread, r->extent };
}

/* From here on the reaches of a thread stand together. */
static void sort_reaches(struct judging *j)
{
	uint32_t *order = radix_order(j->reaches.items, j->reaches.n, key_of_reach);
	struct reach *sorted = mem_alloc(j->reaches.n, sizeof(*sorted));

	for (uint32_t i = 0; i < j->reaches.n; i++) {
		struct turn *turn = &j->turns.items[j->reaches.items[order[i]].thread];

		sorted[i] = j->reaches.items[order[i]];
		if (turn->n_reaches++ == 0)
			turn->first_reach = i;
	}
	free(order);
	free(j->reaches.items);
	j->reaches.items = sorted;
	j->reaches.cap = j->reaches.n;
}

static bool overlap(struct extent a, struct extent b)
{
	return a.from < b.to && b.from < a.to;
}

static bool may_overlap(struct extent a, struct extent b)
{
	return a.first < b.end && b.first < a.end;
}

static void blame_stores(struct blame *b, struct extent victim, struct extent written, double n)
{
	if (overlap(victim, written))
		b->same += n;
	else if (may_overlap(victim, written))
		b->unsure += n;
	else
		b->other += n;
}

/* What a thread did to the line: to bytes that a victim wants for sure, perhaps, and to all. */
struct deeds {
	uint32_t same_writes, unsure_writes, writes;
	uint32_t same, all;
};

static struct deeds deeds_of(const struct judging *j, size_t thread, struct extent victim)
{
	const struct turn *turn = &j->turns.items[thread];
	const struct reach *own = j->reaches.items + turn->first_reach;
	struct deeds d = { 0 };

	for (uint32_t i = 0; i < turn->n_reaches; i++) {
		bool is_same = overlap(victim, own[i].bytes);
		bool is_unsure = !is_same & may_overlap(victim, own[i].bytes);

		d.same_writes += is_same ? own[i].n_writes : 0;
		d.unsure_writes += is_unsure ? own[i].n_writes : 0;
		d.writes += own[i].n_writes;
		d.same += is_same ? own[i].n_all : 0;
		d.all += own[i].n_all;
	}
	return d;
}

/*
 * Sums over the reaches of a thread, by byte: of those that begin before it, and of those that end there or before. What overlaps
 * with some bytes is what began before their end, without what ended before they begin.
 */
struct deeds_at {
	uint32_t begun_writes, ended_writes, begun, ended;
	uint32_t begun_unsure, ended_unsure; /* writes, by the bytes that they may have reached */
};

static void deeds_at_add(struct deeds_at *to, const struct deeds_at *from)
{
	to->begun_writes += from->begun_writes;
	to->ended_writes += from->ended_writes;
	to->begun += from->begun;
	to->ended += from->ended;
	to->begun_unsure += from->begun_unsure;
	to->ended_unsure += from->ended_unsure;
}

static void add_up_deeds(const struct judging *j, const struct turn *turn, struct deeds_at *out,
			 size_t n)
{
	const struct reach *own = j->reaches.items + turn->first_reach;

	memset(out, 0, n * sizeof(*out));
	for (uint32_t i = 0; i < turn->n_reaches; i++) {
		const struct extent *bytes = &own[i].bytes;

		out[bytes->from + 1].begun_writes += own[i].n_writes;
		out[bytes->from + 1].begun += own[i].n_all;
		out[bytes->to].ended_writes += own[i].n_writes;
		out[bytes->to].ended += own[i].n_all;
		out[bytes->first + 1].begun_unsure += own[i].n_writes;
		out[bytes->end].ended_unsure += own[i].n_writes;
	}
	for (size_t at = 1; at < n; at++)
		deeds_at_add(&out[at], &out[at - 1]);
}

/* The same as deeds_of(), out of the sums at `n` bytes. */
static struct deeds deeds_of_sums(const struct deeds_at *sums, size_t n, struct extent victim)
{
	struct deeds d = {
		.same_writes = sums[victim.to].begun_writes - sums[victim.from].ended_writes,
		.writes = sums[n - 1].ended_writes,
		.same = sums[victim.to].begun - sums[victim.from].ended,
		.all = sums[n - 1].ended,
	};

	d.unsure_writes =
		sums[victim.end].begun_unsure - sums[victim.first].ended_unsure - d.same_writes;
	return d;
}

/* Takes the stores of a thread off. */
static void subtract_stores(struct blame *b, const struct deeds *d)
{
	b->same -= d->same_writes;
	b->unsure -= d->unsure_writes;
	b->other -= d->writes - d->same_writes - d->unsure_writes;
}

/* Where all stores went, for each of the extents: many threads want the same. */
static struct blame *blame_by_extent(const struct judging *j)
{
	struct blame *out = mem_zalloc((size_t)j->tables->extents.n + 1, sizeof(*out));

	for (uint32_t victim = 0; victim < j->tables->extents.n; victim++) {
		struct extent bytes = numbered_extent(j, victim);

		for (uint32_t i = 0; i < j->tables->extents.n; i++)
			blame_stores(&out[victim], bytes, numbered_extent(j, i),
				     j->writes.items[i]);
	}
	return out;
}

/* All stores of others: those of everybody without the thread's own, and of other times. */
static struct blame blame_for(const struct judging *j, const struct reach *victim,
			      const struct deeds *own)
{
	size_t n = j->apart == NULL ? 0 : j->turns.n;
	struct blame b = j->stores[victim->extent];

	subtract_stores(&b, own);
	for (size_t i = 0; i < n; i++)
		if (i != victim->thread && j->apart[victim->thread * n + i]) {
			struct deeds others = deeds_of(j, i, victim->bytes);

			subtract_stores(&b, &others);
		}
	return b;
}

/* What part of a victim's waits for these stores would be left with a line for its own bytes? */
static double lasting_part(const struct deeds *own, const struct blame *b)
{
	return fmin(1, c2c_chance_gone(own->same, b->same) /
			       c2c_chance_gone(own->all, b->same + b->other + b->unsure));
}

/* Divides accesses of a thread by whom they waited for. */
static void divide_victim(const struct judging *j, const struct reach *victim,
			  const struct deeds *own, uint32_t weight, struct division *out)
{
	struct blame b = blame_for(j, victim, own);
	double all = b.same + b.other + b.unsure;

	if (all == 0)
		return;
	out->n += weight;
	out->blame.same += weight * b.same / all;
	out->blame.other += weight * b.other / all;
	out->blame.unsure += weight * b.unsure / all;
	out->n_lasting += weight * lasting_part(own, &b);
}

/* Divides the victims. Of a thread that reaches for much, sums are quicker than to look at all of that for each of them. */
static void divide(const struct judging *j, bool only_waits, struct division *out)
{
	struct deeds_at *sums;
	size_t n = 0;

	for (size_t i = 0; i < j->reaches.n; i++)
		n = j->reaches.items[i].bytes.end > n ? j->reaches.items[i].bytes.end : n;
	n++;
	sums = mem_alloc(n, sizeof(*sums));
	for (size_t thread = 0; thread < j->turns.n; thread++) {
		const struct turn *turn = &j->turns.items[thread];
		bool has_sums = (size_t)turn->n_reaches * turn->n_reaches > n;

		if (has_sums)
			add_up_deeds(j, turn, sums, n);
		for (uint32_t i = 0; i < turn->n_reaches; i++) {
			const struct reach *victim = &j->reaches.items[turn->first_reach + i];
			uint32_t weight = only_waits ? victim->n_waited : victim->n_all;
			struct deeds own;

			if (weight == 0)
				continue;
			own = has_sums ? deeds_of_sums(sums, n, victim->bytes)
				       : deeds_of(j, thread, victim->bytes);
			divide_victim(j, victim, &own, weight, out);
		}
	}
	free(sums);
}

/* What a thread may do to bytes. */
enum access_class { ACCESSES, WRITES, LOCKS };

static bool does(const struct reach *r, enum access_class what)
{
	return (what == LOCKS ? r->n_locks : what == WRITES ? r->n_writes : r->n_all) > 0;
}

/* How many threads do that to such bytes: counted up to two. */
static uint32_t count_reaching(const struct judging *j, uint32_t extent, enum access_class what)
{
	const struct reach *list = what == LOCKS ? j->locks.items : j->reaches.items;
	size_t n_list = what == LOCKS ? j->locks.n : j->reaches.n;
	struct extent bytes = numbered_extent(j, extent);
	uint32_t n = 0, last = UINT32_MAX;

	for (size_t i = 0; i < n_list && n < 2; i++) {
		const struct reach *r = &list[i];

		if (!does(r, what) || r->thread == last || !overlap(r->bytes, bytes))
			continue;
		last = r->thread;
		n++;
	}
	return n;
}

/* What bytes are to a lock on their line. */
enum role {
	ROLE_LOCK,   /* two threads or more update them in one go */
	ROLE_DATA,   /* two write them otherwise: there has to be a lock */
	ROLE_COMMON, /* several read them, nobody writes */
	ROLE_APART,
};

static enum role role_of(const struct judging *j, uint32_t extent)
{
	uint32_t n_writers;

	if (count_reaching(j, extent, LOCKS) > 1)
		return ROLE_LOCK;
	n_writers = count_reaching(j, extent, WRITES);
	if (n_writers > 1)
		return ROLE_DATA;
	return n_writers == 0 && count_reaching(j, extent, ACCESSES) > 1 ? ROLE_COMMON : ROLE_APART;
}

/*
 * Do the threads that use the other bytes take a lock on the line, and have those bytes in common?
 * What each has for itself beside a word that all update is not guarded by it. Counts both.
 */
static void count_guarded(struct judging *j)
{
	enum role *roles = mem_alloc((size_t)j->tables->extents.n + 1, sizeof(*roles));
	bool *locks = mem_zalloc(j->turns.n, sizeof(*locks)); /* by thread */

	for (size_t i = 0; i < j->reaches.n; i++)
		if (does(&j->reaches.items[i], LOCKS))
			*vec_add(&j->locks) = j->reaches.items[i];
	for (uint32_t i = 0; i < j->tables->extents.n; i++)
		roles[i] = role_of(j, i);
	for (size_t i = 0; i < j->reaches.n; i++) {
		const struct reach *r = &j->reaches.items[i];

		locks[r->thread] |= roles[r->extent] == ROLE_LOCK && r->n_locks > 0;
	}
	for (size_t i = 0; i < j->reaches.n; i++) {
		const struct reach *r = &j->reaches.items[i];
		enum role role = roles[r->extent];

		if (role == ROLE_DATA && locks[r->thread])
			j->sums->n_guarded += r->n_all;
		if (role == ROLE_APART || (role != ROLE_LOCK && !locks[r->thread]))
			j->sums->n_apart += r->n_all;
	}
	free(locks);
	free(roles);
}

static void decide_contended(struct verdict_sums *v)
{
	struct c2c_judgement *out = &v->out;
	const struct division *d = v->waits.n >= ENOUGH ? &v->waits : &v->all;
	const struct blame *b = &d->blame;
	double sure = b->same + b->other;

	out->n_victims = d->n;
	if (v->lacks_stores) {
		out->reason = C2C_STORES_LEFT_OUT;
		return;
	}
	if (d->n < ENOUGH || v->n_writes < ENOUGH) {
		out->reason = C2C_FEW_SAMPLES;
		return;
	}
	if (b->unsure > unsure_from * (sure + b->unsure)) {
		out->reason = v->lacks_length ? C2C_VECTORS_UNKNOWN
			      : v->has_parts  ? C2C_PARTS_UNKNOWN
					      : C2C_SIZES_UNKNOWN;
		return;
	}
	out->false_part = b->other / sure;
	out->is_common = out->false_part >= both_from && d->n - d->n_lasting < least_gain * d->n;
	out->verdict = out->false_part >= 0.5 && !out->is_common ? C2C_FALSE : C2C_TRUE;
	out->is_both =
		!out->is_common && out->false_part >= both_from && out->false_part <= 1 - both_from;
	if (!out->has_lock)
		return;
	if (v->n_guarded > 0 && v->n_apart <= apart_at_most * (v->n_guarded + v->n_apart)) {
		/* threads meet on the lock, wherever on its line the data is that they want then */
		out->verdict = C2C_TRUE;
		out->false_part = 0;
		out->is_both = out->is_common = false;
		out->is_guarded = true;
	} else if (out->verdict == C2C_FALSE && v->counts.n[C2C_RECORDS] < ENOUGH_BY_LOCK) {
		/* who else takes the lock may not have been seen yet */
		out->verdict = C2C_UNKNOWN;
		out->reason = C2C_FEW_SAMPLES;
		out->false_part = 0;
		out->is_both = false;
	}
}

/* No two threads were there at once while one of them wrote. */
static void decide_turns(struct verdict_sums *v)
{
	struct c2c_judgement *out = &v->out;

	if (v->n_in_turn + v->n_phases == 0) {
		out->reason = C2C_FEW_SAMPLES;
		return;
	}
	out->verdict = v->n_phases > 0 ? C2C_READ_ONLY : C2C_SINGLE_THREAD;
	out->reason = v->n_phases > 0 ? C2C_IN_PHASES : C2C_ONE_BY_ONE;
}

/* Nobody was seen writing. */
static void decide_unwritten(const struct c2c *s, struct verdict_sums *v)
{
	if (s->total.n[C2C_STORES] == 0)
		v->out.reason = C2C_NO_STORES;
	else if (v->lacks_stores && v->out.n_waited > 0)
		v->out.reason = C2C_STORES_LEFT_OUT;
	else if (c2c_contended(&v->counts, C2C_BY_HITM) > 0)
		v->out.reason = C2C_UNSEEN_STORES;
	else if (v->counts.n[C2C_RECORDS] < ENOUGH_READS)
		v->out.reason = C2C_FEW_SAMPLES;
	else
		v->out.verdict = C2C_READ_ONLY;
}

/* One thread was seen. If it got data from another core, there is another one. */
static void decide_alone(const struct c2c *s, struct verdict_sums *v)
{
	if (v->lacks_stores && v->out.n_waited > 0)
		v->out.reason = C2C_STORES_LEFT_OUT;
	else if (v->counts.n[C2C_RECORDS] < ENOUGH_READS &&
		 c2c_contended(&v->counts, s->options.mode) > 0)
		v->out.reason = C2C_FEW_SAMPLES;
	else
		v->out.verdict = C2C_SINGLE_THREAD;
}

/* The threads of a line are added to those of all. */
static void count_threads(struct judging *j)
{
	struct verdict_sums *v = j->sums;

	for (uint32_t i = 0; i < j->turns.n; i++) {
		uint32_t number = tuples_add(&v->tables->all, tuples_get(&j->tables->threads, i));

		if (number == v->is_writer.n)
			*vec_add(&v->is_writer) = false;
		v->is_writer.items[number] |= j->turns.items[i].writes.n > 0;
	}
}

/* Whom loads may have waited for; as long as too few have waited, also all accesses. */
static void divide_line(struct judging *j)
{
	sort_reaches(j);
	j->stores = blame_by_extent(j);
	divide(j, true, &j->sums->waits);
	if (j->sums->waits.n < ENOUGH)
		divide(j, false, &j->sums->all);
	if (j->has_lock)
		count_guarded(j);
}

/*
 * What kind of a line it is, of those that several threads use. Where one thread uses it after another, hardly
 * a sampled load waits: where several did, somebody wrote.
 */
static void classify_shared_line(struct judging *j, uint64_t n_waited)
{
	struct verdict_sums *v = j->sums;

	if (j->n_writes == 0) {
		v->n_unwritten++;
	} else if (took_turns(j)) {
		count_turns(j, &v->n_in_turn);
	} else if (find_phases(j)) {
		v->n_contended++;
		if (!j->s->request.only_phases)
			divide_line(j);
	} else if (n_waited < ENOUGH) {
		count_turns(j, &v->n_phases);
	} else {
		v->n_unexplained++;
	}
}

static void judge_line(const struct c2c *s, const struct c2c_subject *subject,
		       struct verdict_sums *v)
{
	struct judging j = { .s = s, .sums = v, .tables = v->tables };
	uint64_t n_waited = c2c_waited(subject, s->options.mode);

	tuples_empty(&j.tables->threads);
	tuples_empty(&j.tables->extents);
	tuples_empty(&j.tables->pairs);
	for (uint32_t i = 0; i < subject->n_touches; i++)
		add_touch(&j, subject->first_touch + i);
	count_threads(&j);
	c2c_counts_add(&v->counts, &subject->counts);
	v->out.n_waited += (uint32_t)n_waited;
	v->out.n_writes += j.n_writes;
	v->out.n_atomics += j.n_atomics;
	v->out.has_lock |= j.has_lock;
	if (j.turns.n > 1)
		classify_shared_line(&j, n_waited);
	free(j.stores);
	free(j.apart);
	vec_release(&j.reaches);
	vec_release(&j.locks);
	vec_release(&j.turns);
	vec_release(&j.writes);
}

struct c2c_judging_tables *c2c_judging_tables_new(void)
{
	struct c2c_judging_tables *t = mem_alloc(1, sizeof(*t));

	tuples_init(&t->threads, 1);
	tuples_init(&t->extents, 1);
	tuples_init(&t->pairs, 2);
	tuples_init(&t->all, 1);
	tuples_init(&t->processes, 1);
	return t;
}

void c2c_judging_tables_free(struct c2c_judging_tables *t)
{
	tuples_release(&t->threads);
	tuples_release(&t->extents);
	tuples_release(&t->pairs);
	tuples_release(&t->all);
	tuples_release(&t->processes);
	free(t);
}

struct c2c_judgement c2c_judge(const struct c2c *s, const uint32_t *lines, size_t n)
{
	struct c2c_judging_tables *tables = c2c_judging_tables_new();
	struct c2c_judgement out = c2c_judge_with(tables, s, lines, n);

	c2c_judging_tables_free(tables);
	return out;
}

struct c2c_judgement c2c_judge_with(struct c2c_judging_tables *tables, const struct c2c *s,
				    const uint32_t *lines, size_t n)
{
	struct verdict_sums v = { .tables = tables, .lacks_stores = s->lacks_stores };

	tuples_empty(&tables->all);
	tuples_empty(&tables->processes);
	for (size_t i = 0; i < n; i++)
		judge_line(s, &s->subjects.items[lines[i]], &v);
	for (uint32_t i = 0; i < tables->all.n; i++) {
		v.out.n_writers += v.is_writer.items[i];
		tuples_add(&tables->processes, &(uint64_t){ tuples_get(&tables->all, i)[0] >> 32 });
	}
	v.out.n_threads = tables->all.n;
	v.out.n_processes = tables->processes.n;
	if (v.n_contended > 0)
		decide_contended(&v);
	else if (v.n_unexplained > 0)
		v.out.reason = C2C_OTHER_TIMES;
	else if (v.n_in_turn + v.n_phases + v.n_few_turns > 0)
		decide_turns(&v);
	else if (v.n_unwritten > 0)
		decide_unwritten(s, &v);
	else
		decide_alone(s, &v);
	vec_release(&v.is_writer);
	return v.out;
}

const char *c2c_verdict_name(enum c2c_verdict verdict)
{
	static const char *const names[] = {
		[C2C_UNKNOWN] = "unknown",
		[C2C_FALSE] = "false-sharing",
		[C2C_TRUE] = "true-sharing",
		[C2C_READ_ONLY] = "read-only",
		[C2C_SINGLE_THREAD] = "single-thread",
	};

	return names[verdict];
}
