/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/lines/counts.h"

#include <stdlib.h>

#include "access/data_src.h"
#include "access/samples.h"
#include "base/alloc.h"
#include "spe/packet.h"

#define BIT(count) C2C_BIT(count)

const uint32_t c2c_mode_masks[C2C_N_MODES] = {
	[C2C_BY_PEER] = BIT(LOCAL_PEER) | BIT(REMOTE_PEER),
	[C2C_BY_HITM] = BIT(LOCAL_HITM) | BIT(REMOTE_HITM),
	[C2C_BY_LOCAL_HITM] = BIT(LOCAL_HITM),
	[C2C_BY_REMOTE_HITM] = BIT(REMOTE_HITM),
};

const char *const c2c_mode_names[C2C_N_MODES] = {
	[C2C_BY_PEER] = "peer",
	[C2C_BY_HITM] = "tot",
	[C2C_BY_LOCAL_HITM] = "lcl",
	[C2C_BY_REMOTE_HITM] = "rmt",
};

/* A condition on one set of bits. */
static uint32_t if_any(unsigned value, unsigned bits, uint32_t mask)
{
	return value & bits ? mask : 0;
}

static uint32_t remote_cache(const struct data_src *d)
{
	if (!d->is_remote && !(d->level & DATA_SRC_LEVEL_REMOTE_CACHE))
		return 0;
	if (d->snoop & DATA_SRC_SNOOP_HIT)
		return BIT(REMOTE_HIT);
	if (d->snoop & DATA_SRC_SNOOP_HITM)
		return BIT(REMOTE_HITM);
	return if_any(d->snoopx, DATA_SRC_SNOOPX_PEER, BIT(REMOTE_HIT) | BIT(REMOTE_PEER));
}

static uint32_t hit_of_load(const struct data_src *d)
{
	uint32_t peer = if_any(d->snoopx, DATA_SRC_SNOOPX_PEER, BIT(LOCAL_PEER));
	uint32_t state = d->snoop & DATA_SRC_SNOOP_HIT ? BIT(SHARED) : BIT(EXCLUSIVE);
	uint32_t mask = if_any(d->level, DATA_SRC_LEVEL_UNCACHED, BIT(UNCACHED)) |
			if_any(d->level, DATA_SRC_LEVEL_IO, BIT(IO)) |
			if_any(d->level, DATA_SRC_LEVEL_FILL_BUFFER, BIT(FILL_BUFFER)) |
			if_any(d->level, DATA_SRC_LEVEL_L1, BIT(L1)) |
			if_any(d->level, DATA_SRC_LEVEL_L2, BIT(L2) | peer) |
			if_any(d->level, DATA_SRC_LEVEL_LOCAL_RAM, BIT(LOCAL_DRAM) | state);

	if (d->level & DATA_SRC_LEVEL_L3)
		mask |= peer | (d->snoop & DATA_SRC_SNOOP_HITM ? BIT(LOCAL_HITM) : BIT(LLC));
	if (d->level & DATA_SRC_LEVEL_REMOTE_RAM || d->is_remote)
		mask |= BIT(REMOTE_DRAM) | state;
	return mask;
}

static uint32_t load_of_data_src(const struct data_src *d)
{
	return (d->level & DATA_SRC_LEVEL_HIT ? hit_of_load(d) : 0) | remote_cache(d) |
	       if_any(d->level, DATA_SRC_LEVEL_MISS, BIT(MISS));
}

static uint32_t store_of_data_src(const struct data_src *d)
{
	uint32_t mask = if_any(d->level, DATA_SRC_LEVEL_NA, BIT(STORE_ANY));

	if (d->level & DATA_SRC_LEVEL_HIT)
		mask |= if_any(d->level, DATA_SRC_LEVEL_UNCACHED, BIT(STORE_UNCACHED)) |
			if_any(d->level, DATA_SRC_LEVEL_L1, BIT(STORE_L1_HIT));
	if (d->level & DATA_SRC_LEVEL_MISS)
		mask |= if_any(d->level, DATA_SRC_LEVEL_L1, BIT(STORE_L1_MISS));
	return mask;
}

uint32_t c2c_classify_data_src(uint64_t data_src, bool has_address)
{
	struct data_src d = data_src_read(data_src);
	uint32_t mask = BIT(RECORDS) | if_any(d.lock, DATA_SRC_LOCK_LOCKED, BIT(LOCKED)) |
			if_any(d.block, DATA_SRC_BLOCK_DATA, BIT(BLOCKED_DATA)) |
			if_any(d.block, DATA_SRC_BLOCK_ADDRESS, BIT(BLOCKED_ADDRESS));

	if (d.op & DATA_SRC_OP_LOAD)
		return mask | BIT(LOADS) |
		       (has_address ? load_of_data_src(&d) : BIT(LOAD_NO_ADDRESS));
	if (d.op & DATA_SRC_OP_STORE)
		return mask | BIT(STORES) |
		       (has_address ? store_of_data_src(&d) : BIT(STORE_NO_ADDRESS));
	return mask | BIT(NO_ACCESS);
}

/* A level of the catalog: what a load from there counts in, and if it was modified there. */
static const struct {
	uint32_t clean, modified;
} levels[N_SOURCE_LEVELS] = {
	[SOURCE_L1] = { BIT(L1), BIT(L1) },
	[SOURCE_L2] = { BIT(L2), BIT(L2) },
	[SOURCE_PEER_CORE] = { BIT(L2) | BIT(LOCAL_PEER), BIT(LOCAL_HITM) | BIT(LOCAL_PEER) },
	[SOURCE_LOCAL_CLUSTER] = { BIT(LLC) | BIT(LOCAL_PEER), BIT(LOCAL_HITM) | BIT(LOCAL_PEER) },
	[SOURCE_SYSTEM_CACHE] = { BIT(LLC), BIT(LOCAL_HITM) },
	[SOURCE_PEER_CLUSTER] = { BIT(LLC) | BIT(LOCAL_PEER), BIT(LOCAL_HITM) | BIT(LOCAL_PEER) },
	[SOURCE_REMOTE] = { BIT(REMOTE_HIT) | BIT(REMOTE_PEER),
			    BIT(REMOTE_HITM) | BIT(REMOTE_PEER) },
	[SOURCE_DRAM] = { BIT(LOCAL_DRAM) | BIT(EXCLUSIVE), BIT(LOCAL_DRAM) | BIT(SHARED) },
	[SOURCE_REMOTE_DRAM] = { BIT(REMOTE_DRAM) | BIT(EXCLUSIVE),
				 BIT(REMOTE_DRAM) | BIT(SHARED) },
	[SOURCE_DEVICE] = { BIT(IO), BIT(IO) },
};

static bool has_event(uint64_t events, enum spe_event event)
{
	return events >> event & 1;
}

/* Where only events say it. First match wins. */
static const struct event_level {
	enum spe_event set;
	int clear; /* must not be set; -1: does not matter */
	uint32_t load;
} event_levels[] = {
	{ SPE_EV_L1D_ACCESS, SPE_EV_L1D_REFILL, BIT(L1) },
	{ SPE_EV_RECENTLY_FETCHED, -1, BIT(FILL_BUFFER) },
	{ SPE_EV_L2D_ACCESS, SPE_EV_L2D_MISS, BIT(L2) },
	{ SPE_EV_LLC_ACCESS, SPE_EV_LLC_MISS, BIT(LLC) },
	{ SPE_EV_LLC_MISS, -1, BIT(MISS) },
	{ SPE_EV_L2D_MISS, -1, BIT(MISS) },
	{ SPE_EV_L1D_REFILL, -1, BIT(MISS) },
};

/* Modified data is another cache's only where it was obtained by a snoop: else a cache of one's own had it. */
static bool is_hitm(uint64_t events)
{
	return has_event(events, SPE_EV_HITM) && has_event(events, SPE_EV_SNOOPED);
}

static uint32_t level_of_events(uint64_t events)
{
	for (size_t i = 0; i < COUNT(event_levels); i++) {
		const struct event_level *l = &event_levels[i];

		if (has_event(events, l->set) &&
		    (l->clear < 0 || !has_event(events, (enum spe_event)l->clear)))
			return l->load;
	}
	return 0;
}

/* What was snooped comes from another cache, unless it was in the L1 or on its way there already. */
static uint32_t load_of_events(uint64_t events)
{
	uint32_t level = level_of_events(events);
	bool is_remote = has_event(events, SPE_EV_REMOTE);

	if (level & (BIT(L1) | BIT(FILL_BUFFER)))
		return level;
	if (is_hitm(events))
		return levels[is_remote ? SOURCE_REMOTE : SOURCE_PEER_CLUSTER].modified;
	if (is_remote && has_event(events, SPE_EV_SNOOPED))
		return level | BIT(REMOTE_HIT);
	return level;
}

/* A store is done when the core no longer has to wait for it: its events say little. */
static uint32_t store_of_events(uint64_t events)
{
	const uint64_t beyond = 1u << SPE_EV_LLC_ACCESS | 1u << SPE_EV_LLC_MISS |
				1u << SPE_EV_L2D_ACCESS | 1u << SPE_EV_L2D_MISS;
	const uint64_t l1 = 1u << SPE_EV_L1D_ACCESS | 1u << SPE_EV_L1D_REFILL;

	if (events & beyond)
		return 0;
	if (!(events & l1))
		return BIT(STORE_ANY);
	return has_event(events, SPE_EV_L1D_REFILL) ? BIT(STORE_L1_MISS) : BIT(STORE_L1_HIT);
}

/* What decides about a record of SPE. */
struct spe_access {
	const struct cpu *cpu;
	uint64_t events;
	uint16_t source;
	bool has_source, has_address, is_store;
};

/* Levels whose name leaves open whether another cache had the data modified. */
static bool is_of_peer(enum source_level level)
{
	return level == SOURCE_PEER_CORE || level == SOURCE_LOCAL_CLUSTER ||
	       level == SOURCE_PEER_CLUSTER || level == SOURCE_REMOTE;
}

static uint32_t spe_load(const struct spe_access *a)
{
	const struct cpu_source *source = a->has_source ? cpu_source(a->cpu, a->source) : NULL;

	if (source == NULL)
		return load_of_events(a->events);
	return source->is_modified || (is_of_peer(source->level) && is_hitm(a->events))
		       ? levels[source->level].modified
		       : levels[source->level].clean;
}

static uint32_t spe_mask(const struct spe_access *a)
{
	if (!a->has_address)
		return BIT(RECORDS) | (a->is_store ? BIT(STORES) | BIT(STORE_NO_ADDRESS)
						   : BIT(LOADS) | BIT(LOAD_NO_ADDRESS));
	if (!a->is_store)
		return BIT(RECORDS) | BIT(LOADS) | spe_load(a);
	return BIT(RECORDS) | BIT(STORES) |
	       (cpu_has_sources(a->cpu) ? BIT(STORE_ANY) : store_of_events(a->events));
}

/* There are few kinds of accesses: each has a slot where its answer may be. */
enum { SLOTS_LOG = 8 };

struct slot {
	uint64_t low, high; /* the question; 0, 0 is none */
	uint64_t n;	    /* records that are not in `total` yet */
	uint32_t mask;
};

struct c2c_classifier {
	const struct session *session;
	struct access_sampling sampling; /* which samples count */
	uint32_t core;			 /* of the row before; UINT32_MAX: not known */
	const struct cpu *cpu;		 /* of that */
	struct slot slots[1 << SLOTS_LOG];
	struct c2c_counts total; /* of all records */
};

struct c2c_classifier *c2c_classifier_new(const struct session *session)
{
	struct c2c_classifier *c = mem_zalloc(1, sizeof(*c));

	c->session = session;
	c->sampling = access_sampling_of(session);
	c->core = UINT32_MAX;
	c->cpu = session_cpu_of(session, c->core);
	return c;
}

void c2c_classifier_free(struct c2c_classifier *c)
{
	free(c);
}

static void count_slot(struct c2c_classifier *c, struct slot *slot)
{
	c2c_count_many(&c->total, slot->mask, (uint32_t)slot->n);
	slot->n = 0;
}

void c2c_classifier_add_counts(struct c2c_classifier *c, struct c2c_counts *to)
{
	for (size_t i = 0; i < COUNT(c->slots); i++)
		count_slot(c, &c->slots[i]);
	c2c_counts_add(to, &c->total);
	c->total = (struct c2c_counts){ 0 };
}

/* By a word of the question: where a CPU's model is in memory is not to decide which questions meet. */
static inline struct slot *lines_counts_slot_of(struct c2c_classifier *c, uint64_t word)
{
	return &c->slots[word * 0x9e3779b97f4a7c15u >> (64 - SLOTS_LOG)];
}

static inline bool slot_is_of(const struct slot *slot, uint64_t low, uint64_t high)
{
	return (slot->low == low) & (slot->high == high);
}

static void slot_set(struct c2c_classifier *c, struct slot *slot, uint64_t low, uint64_t high,
		     uint32_t mask)
{
	count_slot(c, slot);
	*slot = (struct slot){ .low = low, .high = high, .mask = mask };
}

static bool row_has_address(const struct batch *b, size_t row)
{
	return ((b->has[row] & HAS_VA) != 0) & (b->va[row] != 0);
}

static inline const struct cpu *cpu_of_row(struct c2c_classifier *c, const struct batch *b,
					   size_t row)
{
	uint32_t core = batch_cpu(b, row);

	if (core != c->core) {
		c->core = core;
		c->cpu = session_cpu_of(c->session, core);
	}
	return c->cpu;
}

static bool is_access(const struct batch *b, size_t row)
{
	return ((b->has[row] & HAS_OP) != 0) & (b->op_class[row] == SPE_OP_LDST);
}

/*
 * What decides about a record, in a word that is not 0, as all of these have an operation: events, the lowest bit of the operation,
 * the source, and which columns there are. What was not recorded may be anything.
 */
enum {
	ACCESS_HAS_ADDRESS = 1,
	ACCESS_STORE_SHIFT = 31,
	ACCESS_SOURCE_SHIFT = 32,
	ACCESS_HAS_SHIFT = 48
};
enum { ACCESS_HAS = HAS_EVENTS | HAS_OP | HAS_SOURCE };

/* What a record has comes as it likes, so there is no decision. */
static inline uint64_t access_word(const struct batch *b, size_t row)
{
	const uint64_t deciding = 1u << SPE_EV_L1D_ACCESS | 1u << SPE_EV_L1D_REFILL |
				  1u << SPE_EV_LLC_ACCESS | 1u << SPE_EV_LLC_MISS |
				  1u << SPE_EV_REMOTE | 1u << SPE_EV_L2D_ACCESS |
				  1u << SPE_EV_L2D_MISS | 1u << SPE_EV_HITM |
				  1u << SPE_EV_RECENTLY_FETCHED | 1u << SPE_EV_SNOOPED;

	return (b->events[row] & deciding) | (uint64_t)b->source[row] << ACCESS_SOURCE_SHIFT |
	       (uint64_t)(b->has[row] & ACCESS_HAS) << ACCESS_HAS_SHIFT |
	       (uint64_t)(b->op[row] & 1) << ACCESS_STORE_SHIFT |
	       (row_has_address(b, row) ? ACCESS_HAS_ADDRESS : 0);
}

static __attribute__((noinline)) void classify_new(struct c2c_classifier *c, struct slot *slot,
						   const struct cpu *cpu, uint64_t word)
{
	uint32_t has = (uint32_t)(word >> ACCESS_HAS_SHIFT);
	const struct spe_access a = {
		.cpu = cpu,
		.events = has & HAS_EVENTS ? (uint32_t)word & ~(1u << ACCESS_STORE_SHIFT |
								ACCESS_HAS_ADDRESS)
					   : 0,
		.source = (uint16_t)(word >> ACCESS_SOURCE_SHIFT),
		.has_source = has & HAS_SOURCE,
		.has_address = word & ACCESS_HAS_ADDRESS,
		.is_store = word >> ACCESS_STORE_SHIFT & 1,
	};

	slot_set(c, slot, (uintptr_t)cpu, word, spe_mask(&a));
}

/* Of a row that is an access. */
static inline uint32_t classify_spe(struct c2c_classifier *c, const struct batch *b, size_t row)
{
	const struct cpu *cpu = cpu_of_row(c, b, row);
	uint64_t word = access_word(b, row);
	struct slot *slot = lines_counts_slot_of(c, word);

	if (!slot_is_of(slot, (uintptr_t)cpu, word))
		classify_new(c, slot, cpu, word);
	slot->n++;
	return slot->mask;
}

static __attribute__((noinline)) uint32_t classify_sample(struct c2c_classifier *c,
							  const struct batch *b, size_t row)
{
	bool has_address = row_has_address(b, row);
	uint64_t low = b->data_src[row], high = has_address ? 3 : 1;
	struct slot *slot;

	if (!(b->has[row] & HAS_DATA_SRC) ||
	    (c->sampling.event >= 0 && b->event[row] != (unsigned)c->sampling.event))
		return 0;
	slot = lines_counts_slot_of(c, low);
	if (!slot_is_of(slot, low, high))
		slot_set(c, slot, low, high, c2c_classify_data_src(low, has_address));
	slot->n++;
	return slot->mask;
}

uint32_t c2c_classify_row(struct c2c_classifier *c, const struct batch *b, size_t row)
{
	if (b->kind != BATCH_SPE)
		return classify_sample(c, b, row);
	return is_access(b, row) ? classify_spe(c, b, row) : 0;
}

/* Accesses come among other records as they like, so there is no decision before all of them are known. */
static size_t classify_accesses(struct c2c_classifier *c, const struct batch *b, uint16_t *out_rows,
				uint32_t *out_masks)
{
	size_t n = 0;

	for (size_t row = 0; row < b->n; row++) {
		out_rows[n] = (uint16_t)row;
		n += is_access(b, row);
	}
	for (size_t i = 0; i < n; i++)
		out_masks[i] = classify_spe(c, b, out_rows[i]);
	return n;
}

size_t c2c_classify(struct c2c_classifier *c, const struct batch *b, uint16_t out_rows[BATCH_ROWS],
		    uint32_t out_masks[BATCH_ROWS])
{
	size_t n = 0;

	if (b->kind == BATCH_SPE)
		return classify_accesses(c, b, out_rows, out_masks);
	for (size_t row = 0; row < b->n; row++) {
		out_rows[n] = (uint16_t)row;
		out_masks[n] = classify_sample(c, b, row);
		n += out_masks[n] != 0;
	}
	return n;
}
