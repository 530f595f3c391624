/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard has its lines in blocks that never move, and slots that lead to them. A slot holds
 * the number of a line + 1 and some bits of its hash, so that hardly any other line is looked at
 * on the way. Slots are in buckets; a line is in the first free one from the start of its bucket on, mostly
 * in the bucket itself, so nearly all slots may be in use.
 *
 * A line keeps in which counters its accesses count, as the number of that set of counters: of a few accesses, as most lines have, each.
 * When there is no room for another one, each set stands once, with how many they are, elsewhere. Hardly any line has so many different sets,
 * or so many accesses, that it needs counters.
 */
#include "c2c/lines/line_table.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/prefetch.h"
#include "base/vec.h"
#include "c2c/lines/block_store.h"

enum {
	SHARD_SHIFT = 58, /* of a hash: its highest bits choose the shard */
	NUMBER_BITS = 24, /* of a slot; the others are the tag, the lowest bits of a hash */
	BUCKET = 8, /* slots, in one line of ours; which one it is the low half of a hash says */
	FIRST_BUCKETS = 7,
	BUCKETS_FAST = 1792, /* fewer become four times as many; more grow by less, to waste less */
	FULL_PERCENT = 75,
	BLOCK_LOG = 7,
	BLOCK_LINES = 1 << BLOCK_LOG,
	BLOCKS_LARGE = 640000 >> BLOCK_LOG,
	BLOCKS_FIRST = C2C_SHARDS, /* that are asked for at once, before there are many lines */
	LINE_ALIGN = 64,
	STRIDE = 23, /* between the shards that workers begin with; odd */
	ENTRIES_AHEAD = 32,
	SEEN_LOG = 8,
	ROWS_AHEAD = 128, /* how many lines are fetched before the first of them is needed */
	FEW = C2C_KINDS,  /* accesses that a line keeps itself */
	CYCLES_BITS = 20, /* of each kind of latency: one that counts, one of reloads */
	MORE_SHIFT = 2 * CYCLES_BITS,
	MASKS_LOG = 8, /* sets of counters that have a number of a byte */
	MASK_TRIES = 16,
	NO_MASK = 1 << MASKS_LOG,
	MANY_LOG = 6, /* of a block of struct many */
	WIDE_LOG = 3, /* … of struct wide */
};

static_assert(C2C_SHARDS == 1 << (64 - SHARD_SHIFT), "the shard is the rest of the hash");
static_assert(C2C_LATENCY_MAX <= UINT16_MAX, "that of a row");
static_assert(sizeof(struct c2c_access_row) == LINE_ALIGN / 2, "two of them in a line of ours");
static_assert(FEW * C2C_LATENCY_MAX < 1 << CYCLES_BITS, "room for all of them");

struct entry {
	uint64_t address;
	uint32_t space;
	uint32_t last_tid;
	/* Latencies of both kinds of those accesses, each summed up; above them the number + 1 of what else there is of the line, or 0. */
	uint64_t cycles;
	uint8_t masks[FEW]; /* numbers of sets of counters: of accesses, or in a struct many */
	uint8_t n : 3;	    /* of them */
	uint8_t has_threads : 1;
	uint8_t is_written : 1;
	uint8_t is_wide : 1;	/* it has a struct wide, not a struct many */
	uint8_t is_visited : 1; /* an access counts in a counter of c2c_table.visited */
};

static_assert(2 * sizeof(struct entry) == LINE_ALIGN, "two of them in a line of ours");

/* Of a line with more accesses than it keeps: how many there are of each set of counters in `masks`. */
struct many {
	_Alignas(LINE_ALIGN / 2) uint64_t cycles;
	uint64_t reload_cycles;
	uint16_t n[FEW];
};

static_assert(2 * sizeof(struct many) == LINE_ALIGN, "two of them in a line of ours");

/* Of a line with accesses of more kinds, or more of a kind. */
struct wide {
	uint64_t cycles, reload_cycles;
	uint32_t n_timed, n_reloads;
	uint32_t any; /* the counters below that are not 0 */
	struct c2c_counts counts;
};

/*
 * Numbers of the sets of counters that rows have, of which there are few: the slot where one is. 0: nothing
 * is there yet, as each row has a counter. A set is never removed.
 */
struct mask_numbers {
	_Atomic uint32_t masks[1 << MASKS_LOG];
};

struct shard {
	uint64_t seed;	  /* of the table */
	uint32_t visited; /* … */
	const struct mask_numbers *numbers;
	struct block_store *store;
	pthread_mutex_t mutex; /* of all below, while rows are added */
	uint32_t *slots;
	uint32_t n_buckets;
	uint32_t n; /* lines */
	VEC_OF(struct entry *) blocks;
	VEC_OF(struct many *) many; /* blocks of 1 << MANY_LOG */
	VEC_OF(struct wide *) wide; /* … of 1 << WIDE_LOG */
	uint32_t n_many, n_wide;
};

struct c2c_table {
	uint64_t seed;
	uint32_t visited;
	atomic_uint turn; /* says where the next batch begins */
	struct mask_numbers numbers;
	struct block_store store;
	struct shard shards[C2C_SHARDS];
};

static inline uint64_t timed_cycles(const struct c2c_access_row *row)
{
	return row->mask & C2C_ROW_TIMED ? row->cycles : 0;
}

static inline uint64_t reload_cycles(const struct c2c_access_row *row)
{
	return row->mask & C2C_ROW_RELOAD ? row->cycles : 0;
}

/* Both kinds of latency in one word, so that they are added up at once. */
static inline uint64_t both_cycles(const struct c2c_access_row *row)
{
	return timed_cycles(row) | reload_cycles(row) << CYCLES_BITS;
}

static inline uint64_t timed_of_both(uint64_t both)
{
	return both & ((1u << CYCLES_BITS) - 1);
}

static inline uint64_t reload_of_both(uint64_t both)
{
	return timed_of_both(both >> CYCLES_BITS);
}

static uint32_t *buckets_new(uint32_t n)
{
	uint32_t *slots = mem_aligned(n, BUCKET * sizeof(*slots));

	memset(slots, 0, (size_t)n * BUCKET * sizeof(*slots));
	return slots;
}

static void lines_init(struct c2c_table *t, uint32_t visited)
{
	*t = (struct c2c_table){ .visited = visited };
	t->seed = hash_seed();
	block_store_init(&t->store, BLOCKS_FIRST, BLOCK_LINES * sizeof(struct entry));
	for (size_t i = 0; i < C2C_SHARDS; i++) {
		struct shard *s = &t->shards[i];

		s->seed = t->seed;
		s->visited = visited;
		s->numbers = &t->numbers;
		s->store = &t->store;
		pthread_mutex_init(&s->mutex, NULL);
		s->slots = buckets_new(FIRST_BUCKETS);
		s->n_buckets = FIRST_BUCKETS;
	}
}

struct c2c_table *c2c_table_new(uint32_t visited)
{
	struct c2c_table *t = mem_alloc(1, sizeof(*t));

	lines_init(t, visited);
	return t;
}

static void shard_release(struct shard *s)
{
	vec_release(&s->blocks);
	for (size_t i = 0; i < s->many.n; i++)
		free(s->many.items[i]);
	vec_release(&s->many);
	for (size_t i = 0; i < s->wide.n; i++)
		free(s->wide.items[i]);
	vec_release(&s->wide);
	free(s->slots);
	pthread_mutex_destroy(&s->mutex);
}

static void lines_release(struct c2c_table *t)
{
	for (size_t i = 0; i < C2C_SHARDS; i++)
		shard_release(&t->shards[i]);
	block_store_release(&t->store);
}

void c2c_table_empty(struct c2c_table *t)
{
	lines_release(t);
	lines_init(t, t->visited);
}

void c2c_table_free(struct c2c_table *t)
{
	if (t == NULL)
		return;
	lines_release(t);
	free(t);
}

static struct entry *entry_at(const struct shard *s, uint32_t number)
{
	return &s->blocks.items[number >> BLOCK_LOG][number & (BLOCK_LINES - 1)];
}

static uint64_t line_hash(uint64_t seed, uint64_t address, uint32_t space)
{
	return hash_mix(address ^ seed, space ^ 0x9e3779b97f4a7c15u);
}

/* What a slot for this line holds. */
static uint32_t line_table_slot_of(uint32_t hash, uint32_t number)
{
	return hash << NUMBER_BITS | (number + 1);
}

static uint32_t line_table_number_of(uint32_t slot)
{
	return (slot & ((1u << NUMBER_BITS) - 1)) - 1;
}

/* Is this slot of a line with such a hash? Hardly ever if it is not the line's. */
static bool has_tag(uint32_t slot, uint32_t hash)
{
	return (slot ^ hash << NUMBER_BITS) >> NUMBER_BITS == 0;
}

/* The first slot of the bucket of a hash. */
static uint32_t bucket_of(const struct shard *s, uint32_t hash)
{
	return (uint32_t)((uint64_t)hash * s->n_buckets >> 32) * BUCKET;
}

static uint32_t slot_behind(const struct shard *s, uint32_t at)
{
	return at + 1 < s->n_buckets * BUCKET ? at + 1 : 0;
}

/* Slots of a bucket are taken in order, so this is the first free one of it. How many they are nobody can predict. */
static inline uint32_t n_used(const uint32_t *slots)
{
	uint32_t n = 0;

	for (int i = 0; i < BUCKET; i++)
		n += slots[i] != 0;
	return n;
}

/* Where a new line belongs. */
static uint32_t empty_slot(const struct shard *s, uint32_t hash)
{
	uint32_t at = bucket_of(s, hash), n;

	while ((n = n_used(&s->slots[at])) == BUCKET)
		at = slot_behind(s, at + BUCKET - 1);
	return at + n;
}

static bool is_full(const struct shard *s)
{
	return (uint64_t)s->n * 100 >= (uint64_t)s->n_buckets * BUCKET * FULL_PERCENT;
}

/* Fills slots with the lines of a block. While one is read those behind it are on their way, the first ones of the next block, too. */
static void fill_from_block(struct shard *s, size_t number, uint8_t *used)
{
	const struct entry *block = s->blocks.items[number];
	const struct entry *next = number + 1 < s->blocks.n ? s->blocks.items[number + 1] : block;
	uint32_t first = (uint32_t)number << BLOCK_LOG;
	uint32_t n = s->n - first < BLOCK_LINES ? s->n - first : BLOCK_LINES;

	for (uint32_t i = 0; i < n; i++) {
		const struct entry *e = &block[i];
		uint32_t hash = (uint32_t)line_hash(s->seed, e->address, e->space);
		uint32_t bucket = bucket_of(s, hash) / BUCKET;

		prefetch(i + ENTRIES_AHEAD < BLOCK_LINES ? &block[i + ENTRIES_AHEAD]
							 : &next[i + ENTRIES_AHEAD - BLOCK_LINES]);
		while (used[bucket] == BUCKET)
			bucket = bucket + 1 < s->n_buckets ? bucket + 1 : 0;
		s->slots[bucket * BUCKET + used[bucket]++] = line_table_slot_of(hash, first + i);
	}
}

/* Fills empty slots. How many of a bucket are in use is kept apart meanwhile: a core's own cache has all of these. */
static void fill_slots(struct shard *s)
{
	uint8_t *used = mem_zalloc(s->n_buckets, sizeof(*used));

	for (size_t i = 0; i < s->blocks.n; i++)
		fill_from_block(s, i, used);
	free(used);
}

static void grow(struct shard *s)
{
	s->n_buckets += s->n_buckets < BUCKETS_FAST ? 3 * s->n_buckets : s->n_buckets / 3;
	assert(s->n_buckets < 1u << NUMBER_BITS);
	free(s->slots);
	s->slots = buckets_new(s->n_buckets);
	fill_slots(s);
}

static struct entry *add_entry(struct shard *s)
{
	if (s->n == s->blocks.n << BLOCK_LOG)
		*vec_add(&s->blocks) = block_store_take(s->store);
	return entry_at(s, s->n++);
}

static inline bool is_of(const struct entry *e, const struct c2c_access_row *row)
{
	return (e->address == row->line) & (e->space == row->space);
}

/*
 * The number + 1 of the line of such a hash that is in these slots of a bucket, or 0; of several ones, all bits of theirs. Which slot
 * it is nobody can predict, so there is no decision.
 */
static inline uint32_t numbers_in_bucket(const uint32_t *slots, uint32_t hash)
{
	uint32_t number = 0;

	for (int i = 0; i < BUCKET; i++)
		number |= slots[i] & -(uint32_t)has_tag(slots[i], hash) & ((1u << NUMBER_BITS) - 1);
	return number;
}

static inline struct entry *guessed_entry(const struct shard *s, uint32_t number)
{
	return number == 0 || number > s->n ? NULL : entry_at(s, number - 1);
}

/* The line that the bucket of a hash says it is, or NULL: there may be none. */
static inline struct entry *guess_entry(const struct shard *s, uint32_t hash)
{
	return guessed_entry(s, numbers_in_bucket(&s->slots[bucket_of(s, hash)], hash));
}

static struct entry *find_in_bucket(const struct shard *s, const uint32_t *slots,
				    const struct c2c_access_row *row)
{
	for (int i = 0; i < BUCKET; i++) {
		struct entry *e;

		if (!has_tag(slots[i], row->hash) || slots[i] == 0)
			continue;
		e = entry_at(s, line_table_number_of(slots[i]));
		if (is_of(e, row))
			return e;
	}
	return NULL;
}

/* Slots are taken in order, so a bucket whose last one is free is the last that may have the line. */
static struct entry *find_entry(const struct shard *s, const struct c2c_access_row *row)
{
	uint32_t hash = row->hash, at = bucket_of(s, hash);

	for (;;) {
		const uint32_t *slots = &s->slots[at];
		struct entry *e =
			numbers_in_bucket(slots, hash) != 0 ? find_in_bucket(s, slots, row) : NULL;

		if (e != NULL || slots[BUCKET - 1] == 0)
			return e;
		at = slot_behind(s, at + BUCKET - 1);
	}
}

/* What the bucket says of lines that are in it, and of most that are new, is all there is to know. */
static inline struct entry *find_line(const struct shard *s, const struct c2c_access_row *row)
{
	const uint32_t *slots = &s->slots[bucket_of(s, row->hash)];
	uint32_t number = numbers_in_bucket(slots, row->hash);
	struct entry *e = guessed_entry(s, number);

	if (e != NULL && is_of(e, row))
		return e;
	return number != 0 || slots[BUCKET - 1] != 0 ? find_entry(s, row) : NULL;
}

/* The number of a set of counters, never 0; NO_MASK if there are too many. Several workers may ask at once. */
static uint16_t number_of_mask(struct mask_numbers *numbers, uint32_t mask)
{
	uint32_t at = mask * 0x9e3779b9u >> (32 - MASKS_LOG);

	for (int i = 0; i < MASK_TRIES; i++, at = (at + 1) & (NO_MASK - 1)) {
		uint32_t found = atomic_load_explicit(&numbers->masks[at], memory_order_relaxed);

		if (at == 0)
			continue;
		if (found == 0 && atomic_compare_exchange_strong(&numbers->masks[at], &found, mask))
			found = mask;
		if (found == mask)
			return (uint16_t)at;
	}
	return NO_MASK;
}

static uint32_t mask_of_number(const struct mask_numbers *numbers, uint8_t number)
{
	return atomic_load_explicit(&numbers->masks[number], memory_order_relaxed);
}

static struct many *many_at(const struct shard *s, uint32_t number)
{
	return &s->many.items[number >> MANY_LOG][number & ((1u << MANY_LOG) - 1)];
}

static struct wide *wide_at(const struct shard *s, uint32_t number)
{
	return &s->wide.items[number >> WIDE_LOG][number & ((1u << WIDE_LOG) - 1)];
}

/* The number + 1 of what else there is of a line, or 0. */
static uint32_t more_of(const struct entry *e)
{
	return (uint32_t)(e->cycles >> MORE_SHIFT);
}

static struct many *many_of(const struct shard *s, const struct entry *e)
{
	uint32_t number = more_of(e);

	return number == 0 || e->is_wide ? NULL : many_at(s, number - 1);
}

static struct wide *wide_of(const struct shard *s, const struct entry *e)
{
	return e->is_wide ? wide_at(s, more_of(e) - 1) : NULL;
}

static void sum_kinds(struct c2c_line *line)
{
	for (uint32_t i = 0; i < line->n_kinds; i++) {
		uint32_t mask = line->kinds[i].mask, n = line->kinds[i].n;

		line->any |= mask & C2C_COUNTERS;
		line->n_timed += mask & C2C_ROW_TIMED ? n : 0;
		line->n_reloads += mask & C2C_ROW_RELOAD ? n : 0;
	}
}

static struct c2c_line line_of(const struct shard *s, const struct entry *e)
{
	const struct many *many = many_of(s, e);
	const struct wide *wide = wide_of(s, e);
	struct c2c_line line = {
		.address = e->address,
		.space = e->space,
		.has_threads = e->has_threads,
		.is_written = e->is_written,
	};

	if (wide != NULL) {
		line.any = wide->any;
		line.counts = &wide->counts;
		line.n_timed = wide->n_timed;
		line.n_reloads = wide->n_reloads;
		line.cycles = wide->cycles;
		line.reload_cycles = wide->reload_cycles;
		return line;
	}
	line.n_kinds = e->n;
	for (uint32_t i = 0; i < e->n; i++) {
		line.kinds[i].mask = mask_of_number(s->numbers, e->masks[i]);
		line.kinds[i].n = many != NULL ? many->n[i] : 1;
	}
	line.cycles = many != NULL ? many->cycles : timed_of_both(e->cycles);
	line.reload_cycles = many != NULL ? many->reload_cycles : reload_of_both(e->cycles);
	sum_kinds(&line);
	return line;
}

/* Which of the sets of counters of a line it is; e->n if it is none. */
static uint32_t entry_kind(const struct entry *e, uint32_t n, uint16_t mask_number)
{
	uint32_t kind = n;

	for (uint32_t i = FEW; i-- > 0;)
		kind = i < n && e->masks[i] == mask_number ? i : kind;
	return kind;
}

/* Puts what a line keeps of each access together. */
static void entry_gather(struct shard *s, struct entry *e)
{
	uint32_t n = e->n;
	struct many *many;

	if (s->n_many == s->many.n << MANY_LOG)
		*vec_add(&s->many) = mem_aligned(1u << MANY_LOG, sizeof(struct many));
	many = many_at(s, s->n_many++);
	*many = (struct many){
		.cycles = timed_of_both(e->cycles),
		.reload_cycles = reload_of_both(e->cycles),
	};
	e->cycles = (uint64_t)s->n_many << MORE_SHIFT;
	e->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t kind = entry_kind(e, e->n, e->masks[i]);

		e->masks[kind] = e->masks[i];
		if (kind == e->n)
			e->n++;
		many->n[kind]++;
	}
}

/* Gives a line counters, with what it has so far. */
static struct wide *entry_widen(struct shard *s, struct entry *e)
{
	const struct c2c_line line = line_of(s, e);
	struct wide *wide;

	if (s->n_wide == s->wide.n << WIDE_LOG)
		*vec_add(&s->wide) = mem_aligned(1u << WIDE_LOG, sizeof(struct wide));
	wide = wide_at(s, s->n_wide++);
	*wide = (struct wide){
		.cycles = line.cycles,
		.reload_cycles = line.reload_cycles,
		.n_timed = line.n_timed,
		.n_reloads = line.n_reloads,
		.any = line.any,
	};
	c2c_line_add(&line, &wide->counts);
	e->cycles = (uint64_t)s->n_wide << MORE_SHIFT;
	e->n = 0;
	e->is_wide = true;
	return wide;
}

/* false: there is no room for it. */
static bool many_add_row(struct many *many, struct entry *e, const struct c2c_access_row *row)
{
	uint32_t kind = entry_kind(e, e->n, row->mask_number);

	if (kind == FEW || row->mask_number == NO_MASK || many->n[kind] == UINT16_MAX)
		return false;
	e->masks[kind] = (uint8_t)row->mask_number;
	if (kind == e->n)
		e->n++;
	many->n[kind]++;
	many->cycles += timed_cycles(row);
	many->reload_cycles += reload_cycles(row);
	return true;
}

static void wide_add_row(struct wide *wide, const struct c2c_access_row *row)
{
	wide->cycles += timed_cycles(row);
	wide->reload_cycles += reload_cycles(row);
	wide->n_timed += (row->mask & C2C_ROW_TIMED) != 0;
	wide->n_reloads += (row->mask & C2C_ROW_RELOAD) != 0;
	wide->any |= row->mask & C2C_COUNTERS;
	c2c_count_in(&wide->counts, row->mask & C2C_COUNTERS);
}

/* More than one thread in any order are two different ones in a row somewhere. */
static void entry_add_thread(struct entry *e, const struct c2c_access_row *row)
{
	bool is_other = (e->last_tid != C2C_NO_TID) & (e->last_tid != row->tid);

	if (row->tid == C2C_NO_TID)
		return;
	e->is_written |= row->is_write;
	e->has_threads |= is_other;
	e->last_tid = row->tid;
}

static void line_table_add_row(struct entry *e, struct shard *s, const struct c2c_access_row *row)
{
	entry_add_thread(e, row);
	e->is_visited |= (row->mask & s->visited) != 0;
	if (more_of(e) == 0 && e->n < FEW && row->mask_number != NO_MASK) {
		e->masks[e->n++] = (uint8_t)row->mask_number;
		e->cycles += both_cycles(row);
		return;
	}
	if (more_of(e) == 0)
		entry_gather(s, e);
	if (!e->is_wide && many_add_row(many_of(s, e), e, row))
		return;
	wide_add_row(e->is_wide ? wide_at(s, more_of(e) - 1) : entry_widen(s, e), row);
}

/* Adds a line that is not there yet, with its first access. */
static struct entry *add_line(struct shard *s, const struct c2c_access_row *row)
{
	bool has_number = row->mask_number != NO_MASK;
	struct entry *e;

	if (is_full(s))
		grow(s);
	s->slots[empty_slot(s, row->hash)] = line_table_slot_of(row->hash, s->n);
	e = add_entry(s);
	*e = (struct entry){
		.address = row->line,
		.space = row->space,
		.last_tid = row->tid,
		.cycles = has_number ? both_cycles(row) : 0,
		.masks = { (uint8_t)(has_number ? row->mask_number : 0) },
		.n = has_number,
		.is_written = row->is_write & (row->tid != C2C_NO_TID),
		.is_visited = (row->mask & s->visited) != 0,
	};
	if (!has_number)
		line_table_add_row(e, s, row);
	return e;
}

/* Rows of a shard. */
struct shard_rows {
	const struct c2c_access_row *rows;
	const uint16_t *order; /* which */
	size_t n;
};

static void fetch_slots(const struct shard *s, const struct shard_rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		prefetch(&s->slots[bucket_of(s, r->rows[r->order[i]].hash)]);
}

/*
 * The line that the bucket of a hash seems to say it is, or any. Whether there is one nobody can predict, so there is no decision. The
 * shard has lines.
 */
static inline struct entry *any_guess(const struct shard *s, uint32_t hash)
{
	uint32_t number = numbers_in_bucket(&s->slots[bucket_of(s, hash)], hash) - 1;

	return entry_at(s, number & -(uint32_t)(number < s->n));
}

/* What else there is of a line if that is a struct many, or any; the shard has some. */
static inline struct many *any_many(const struct shard *s, const struct entry *e)
{
	bool has_many = (more_of(e) != 0) & !e->is_wide;

	return many_at(s, (more_of(e) - 1) & -(uint32_t)has_many);
}

/* The line of a row, which is added if it is not there yet, with the row. */
static struct entry *add_other(struct shard *s, const struct c2c_access_row *row)
{
	struct entry *e = find_line(s, row);

	if (e == NULL)
		return add_line(s, row);
	line_table_add_row(e, s, row);
	return e;
}

static inline bool is_same_line(const struct c2c_access_row *a, const struct c2c_access_row *b)
{
	return (a->line == b->line) & (a->space == b->space);
}

/*
 * Adds rows whose lines are most likely not there yet. A new line is often accessed several times in a row. Which of these rows is
 * the first one nobody can predict, so it is found without a decision, and the others come after all that are the first.
 */
static void add_others(struct shard *s, const struct c2c_access_row *rows, const uint16_t *others,
		       size_t n)
{
	uint8_t seen[1 << SEEN_LOG] = { 0 }; /* by some bits of the hash: the last of the firsts */
	uint8_t firsts[ROWS_AHEAD], repeats[ROWS_AHEAD], first_of[ROWS_AHEAD];
	struct entry *entries[ROWS_AHEAD];
	size_t n_firsts = 0, n_repeats = 0;

	for (size_t i = 0; i < n; i++) {
		const struct c2c_access_row *row = &rows[others[i]];
		uint8_t *slot = &seen[row->hash & ((1 << SEEN_LOG) - 1)], last = *slot;
		bool is_repeat = (last < i) & is_same_line(&rows[others[last]], row);

		first_of[i] = last;
		*slot = is_repeat ? last : (uint8_t)i;
		firsts[n_firsts] = (uint8_t)i;
		n_firsts += !is_repeat;
		repeats[n_repeats] = (uint8_t)i;
		n_repeats += is_repeat;
	}
	for (size_t i = 0; i < n_firsts; i++)
		entries[firsts[i]] = add_other(s, &rows[others[firsts[i]]]);
	for (size_t i = 0; i < n_repeats; i++)
		line_table_add_row(entries[first_of[repeats[i]]], s, &rows[others[repeats[i]]]);
}

/*
 * The lines come from far, so all of them are on their way before the first is needed. Which
 * those are is a guess by the slots. Rows whose lines are there come before the others: one after the other that would be
 * guessed wrong as often as right. What a line keeps is the same in any order.
 */
static void add_some_rows(struct shard *s, const struct c2c_access_row *rows, const uint16_t *order,
			  size_t n)
{
	struct entry *guesses[ROWS_AHEAD];
	uint16_t others[ROWS_AHEAD];
	uint8_t known[ROWS_AHEAD];
	size_t n_known = 0, n_others = 0;

	for (size_t i = 0; i < n; i++) {
		guesses[i] = any_guess(s, rows[order[i]].hash);
		prefetch_to_write(guesses[i]);
	}
	for (size_t i = 0; i < n && s->n_many > 0; i++)
		prefetch_to_write(any_many(s, guesses[i]));
	for (size_t i = 0; i < n; i++) {
		bool is_known = is_of(guesses[i], &rows[order[i]]);

		known[n_known] = (uint8_t)i;
		n_known += is_known;
		others[n_others] = order[i];
		n_others += !is_known;
	}
	for (size_t i = 0; i < n_known; i++)
		line_table_add_row(guesses[known[i]], s, &rows[order[known[i]]]);
	add_others(s, rows, others, n_others);
}

static void line_table_add_rows(struct shard *s, const struct shard_rows *r)
{
	size_t i = 0;

	if (s->n == 0 && r->n > 0)
		add_line(s, &r->rows[r->order[i++]]);
	for (; i < r->n; i += ROWS_AHEAD)
		add_some_rows(s, r->rows, r->order + i,
			      r->n - i < ROWS_AHEAD ? r->n - i : ROWS_AHEAD);
}

static size_t shard_of(uint64_t hash)
{
	return hash >> SHARD_SHIFT;
}

/* Numbers of the rows by shard; those of shard i stand at [first[i], first[i + 1]). */
static void sort_by_shard(struct c2c_table *t, struct c2c_access_row *rows, size_t n,
			  uint16_t *order, uint16_t first[C2C_SHARDS + 1])
{
	uint8_t shards[C2C_ROWS_MAX];
	uint16_t at[C2C_SHARDS];

	memset(first, 0, (C2C_SHARDS + 1) * sizeof(*first));
	for (size_t i = 0; i < n; i++) {
		uint64_t hash = line_hash(t->seed, rows[i].line, rows[i].space);

		rows[i].hash = (uint32_t)hash;
		rows[i].mask_number = number_of_mask(&t->numbers, rows[i].mask);
		shards[i] = (uint8_t)shard_of(hash);
		first[shards[i] + 1]++;
	}
	for (size_t i = 0; i < C2C_SHARDS; i++) {
		first[i + 1] = (uint16_t)(first[i + 1] + first[i]);
		at[i] = first[i];
	}
	for (size_t i = 0; i < n; i++)
		order[at[shards[i]]++] = (uint16_t)i;
}

static struct shard_rows rows_of_shard(const struct c2c_access_row *rows, const uint16_t *order,
				       const uint16_t *first, size_t shard)
{
	return (struct shard_rows){ rows, order + first[shard],
				    (size_t)first[shard + 1] - first[shard] };
}

/* Adds rows of a shard that is locked, and gives it back. */
static void add_and_unlock(struct shard *s, const struct shard_rows *r)
{
	line_table_add_rows(s, r);
	pthread_mutex_unlock(&s->mutex);
}

/*
 * Slots come from far, too: those of the next shard are on their way while this one is filled. Shards that another worker is at come
 * last, when it is most likely done with them, so nobody waits with a shard in hand.
 */
void c2c_table_add(struct c2c_table *t, struct c2c_access_row *rows, size_t n)
{
	unsigned turn = atomic_fetch_add_explicit(&t->turn, STRIDE, memory_order_relaxed);
	uint16_t order[C2C_ROWS_MAX], first[C2C_SHARDS + 1];
	struct shard *last = NULL;
	struct shard_rows of_last = { 0 };
	uint8_t busy[C2C_SHARDS];
	size_t n_busy = 0;

	assert(n <= C2C_ROWS_MAX);
	block_store_prepare(&t->store);
	sort_by_shard(t, rows, n, order, first);
	for (size_t i = 0; i < C2C_SHARDS; i++) {
		size_t number = (turn + i) % C2C_SHARDS;
		struct shard *s = &t->shards[number];
		struct shard_rows r = rows_of_shard(rows, order, first, number);

		if (r.n == 0)
			continue;
		if (pthread_mutex_trylock(&s->mutex) != 0) {
			busy[n_busy++] = (uint8_t)number;
			continue;
		}
		fetch_slots(s, &r);
		if (last != NULL)
			add_and_unlock(last, &of_last);
		last = s;
		of_last = r;
	}
	if (last != NULL)
		add_and_unlock(last, &of_last);
	for (size_t i = 0; i < n_busy; i++) {
		struct shard *s = &t->shards[busy[i]];
		struct shard_rows r = rows_of_shard(rows, order, first, busy[i]);

		pthread_mutex_lock(&s->mutex);
		fetch_slots(s, &r);
		add_and_unlock(s, &r);
	}
}

bool c2c_table_is_large(const struct c2c_table *t)
{
	return block_store_n(&t->store) >= BLOCKS_LARGE;
}

size_t c2c_table_n_lines(const struct c2c_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < C2C_SHARDS; i++)
		n += t->shards[i].n;
	return n;
}

void c2c_table_fetch(const struct c2c_table *t, uint32_t space, uint64_t address)
{
	uint64_t hash = line_hash(t->seed, address, space);
	const struct shard *s = &t->shards[shard_of(hash)];

	prefetch(&s->slots[bucket_of(s, (uint32_t)hash)]);
}

void c2c_table_fetch_line(const struct c2c_table *t, uint32_t space, uint64_t address)
{
	uint64_t hash = line_hash(t->seed, address, space);

	prefetch(guess_entry(&t->shards[shard_of(hash)], (uint32_t)hash));
}

bool c2c_table_find(const struct c2c_table *t, uint32_t space, uint64_t address,
		    struct c2c_line *out)
{
	uint64_t hash = line_hash(t->seed, address, space);
	const struct c2c_access_row row = { .line = address,
					    .space = space,
					    .hash = (uint32_t)hash };
	const struct shard *s = &t->shards[shard_of(hash)];
	const struct entry *e = find_entry(s, &row);

	if (e != NULL)
		*out = line_of(s, e);
	return e != NULL;
}

void c2c_table_visit(const struct c2c_table *t, size_t shard,
		     void (*visit)(void *context, const struct c2c_line *), void *context)
{
	const struct shard *s = &t->shards[shard];

	for (uint32_t i = 0; i < s->n; i++) {
		const struct entry *e = entry_at(s, i);
		struct c2c_line line;

		if (!((e->has_threads & e->is_written) | e->is_visited))
			continue;
		line = line_of(s, e);
		visit(context, &line);
	}
}

/* Of an access hardly ever more than one counter is asked for, so they are not counted by a call. */
uint64_t c2c_line_sum(const struct c2c_line *line, uint32_t mask)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < line->n_kinds; i++)
		for (uint32_t m = line->kinds[i].mask & mask; m != 0; m &= m - 1)
			sum += line->kinds[i].n;
	for (; line->counts != NULL && mask != 0; mask &= mask - 1)
		sum += line->counts->n[__builtin_ctz(mask)];
	return sum;
}

void c2c_line_add(const struct c2c_line *line, struct c2c_counts *to)
{
	for (uint32_t i = 0; i < line->n_kinds; i++)
		c2c_count_many(to, line->kinds[i].mask & C2C_COUNTERS, line->kinds[i].n);
	if (line->counts != NULL)
		c2c_counts_add(to, line->counts);
}
