/* SPDX-License-Identifier: Apache-2.0 */
#include "model/interconnect.h"

#include <assert.h>

/* A hash of the line and n, mixed as in splitmix64. */
static uint64_t hash_line(uint64_t line, uint64_t n)
{
	uint64_t x = (line + 0x9e3779b97f4a7c15 * n) * 0xbf58476d1ce4e5b9;

	x = (x ^ x >> 29) * 0x94d049bb133111eb;
	return x ^ x >> 32;
}

/* A latency between mean - spread and mean + spread. */
static uint64_t spread_latency(uint64_t mean, uint64_t spread, uint64_t random)
{
	uint64_t low = mean > spread ? mean - spread : 0;

	return low + random % (2 * spread + 1);
}

/*
 * Cycles until data of that source arrives. The spread of the system cache stands for near and far
 * nodes of the interconnect, so it is fixed for a line and CPU. That of DRAM stands for open and
 * closed rows, so it differs from miss to miss.
 */
static uint64_t source_cycles(const struct memory *m, unsigned cpu, uint64_t line,
			      enum source source)
{
	const struct params *p = m->params;
	uint32_t dram_cycles = m->ideal & IDEAL_DRAM ? p->system_cache_cycles : p->dram_cycles;

	if (source == SOURCE_DRAM && m->ideal & IDEAL_LLC)
		source = SOURCE_SYSTEM_CACHE;
	if (source == SOURCE_SYSTEM_CACHE && m->ideal & IDEAL_LLC_HITS)
		return p->l2_cycles;
	if (source == SOURCE_SYSTEM_CACHE || source == SOURCE_PEER_CLUSTER)
		return spread_latency(m->cycles[source], p->system_cache_spread,
				      hash_line(line, cpu));
	if (source == SOURCE_DRAM)
		return spread_latency(dram_cycles, p->dram_spread,
				      hash_line(line, m->cpus[cpu].n_misses));
	return m->cycles[source];
}

/* Adds a line to the system cache, which holds victims of the L2s and data that peers supplied. */
static void fill_system_cache(struct memory *m, uint64_t line)
{
	if (!tags_use(&m->system_cache, line))
		tags_put(&m->system_cache, line);
}

/* A second CPU uses memory: enters into the directory the lines that the first one holds. */
static void begin_directory(struct memory *m)
{
	const struct assoc *l2 = &m->cpus[m->first_cpu].l2;
	size_t n = (size_t)(l2->set_mask + 1) * l2->n_ways;

	m->held = HELD_BY_MORE;
	for (size_t i = 0; i < n; i++)
		if (l2->keys[i] != ASSOC_NONE)
			directory_add(&m->directory, l2->keys[i], m->first_cpu);
}

static void add_holder(struct memory *m, unsigned cpu, uint64_t line)
{
	if (m->held == HELD_BY_NONE) {
		m->first_cpu = cpu;
		m->held = HELD_BY_FIRST;
	} else if (m->held == HELD_BY_FIRST && cpu != m->first_cpu) {
		begin_directory(m);
	}
	if (m->held == HELD_BY_MORE)
		directory_add(&m->directory, line, cpu);
}

static void remove_holder(struct memory *m, unsigned cpu, uint64_t line)
{
	if (m->held == HELD_BY_MORE)
		directory_remove(&m->directory, line, cpu);
}

/* Bit n: CPU n, which is not this one, holds the line. */
static uint64_t other_holders(struct memory *m, unsigned cpu, uint64_t line)
{
	if (m->held == HELD_BY_FIRST && cpu != m->first_cpu)
		begin_directory(m);
	if (m->held != HELD_BY_MORE)
		return 0;
	return directory_holders(&m->directory, line) & ~((uint64_t)1 << cpu);
}

/* Evicts a line from a CPU's L2, and from the L1D that it includes. */
static void evict_l2(struct memory *m, unsigned cpu, uint64_t line, const struct entry *entry)
{
	struct private_caches *c = &m->cpus[cpu];

	assoc_remove(&c->l1d, line);
	remove_holder(m, cpu, line);
	fill_system_cache(m, line);
	if (entry->state == LINE_MODIFIED) {
		count_event(c, COUNT_L2D_CACHE_WB);
		count_event(c, COUNT_BUS_ACCESS_WR);
	}
}

bool interconnect_clear_invalidated(struct memory *m, unsigned cpu, uint64_t line)
{
	if (!m->tracks_invalidated || !(directory_holders(&m->invalidated, line) >> cpu & 1))
		return false;
	directory_remove(&m->invalidated, line, cpu);
	return true;
}

/* Invalidates the line in the CPU's caches, because another CPU writes it. */
static void invalidate_line(struct memory *m, unsigned cpu, uint64_t line)
{
	struct private_caches *c = &m->cpus[cpu];

	if (m->tracks_invalidated)
		directory_add(&m->invalidated, line, cpu);
	if (assoc_peek(&c->l1d, line) != NULL)
		count_event(c, COUNT_L1D_CACHE_INVAL);
	count_event(c, COUNT_L2D_CACHE_INVAL);
	assoc_remove(&c->l1d, line);
	assoc_remove(&c->l2, line);
	remove_holder(m, cpu, line);
}

/* Invalidates the line in all CPUs of the mask. */
static void invalidate_copies(struct memory *m, uint64_t cpus, uint64_t line)
{
	for (; cpus != 0; cpus &= cpus - 1)
		invalidate_line(m, (unsigned)__builtin_ctzll(cpus), line);
}

static bool same_cluster(const struct memory *m, unsigned a, unsigned b)
{
	return a / m->params->cores_per_cluster == b / m->params->cores_per_cluster;
}

/* The holder that supplies the data: one of the own cluster if there is one. */
static unsigned choose_peer(const struct memory *m, unsigned cpu, uint64_t holders)
{
	for (uint64_t left = holders; left != 0; left &= left - 1)
		if (same_cluster(m, cpu, (unsigned)__builtin_ctzll(left)))
			return (unsigned)__builtin_ctzll(left);
	return (unsigned)__builtin_ctzll(holders);
}

/* The holder that answers last: one of another cluster if there is one. */
static unsigned farthest_peer(const struct memory *m, unsigned cpu, uint64_t holders)
{
	for (uint64_t left = holders; left != 0; left &= left - 1)
		if (!same_cluster(m, cpu, (unsigned)__builtin_ctzll(left)))
			return (unsigned)__builtin_ctzll(left);
	return (unsigned)__builtin_ctzll(holders);
}

static enum source peer_source(const struct memory *m, unsigned cpu, unsigned peer)
{
	return same_cluster(m, cpu, peer) ? SOURCE_PEER_CORE : SOURCE_PEER_CLUSTER;
}

/* A peer keeps the line as shared. Modified data goes to the system cache. */
static void make_shared(struct memory *m, unsigned cpu, uint64_t line)
{
	struct entry *l2 = assoc_peek(&m->cpus[cpu].l2, line);
	struct entry *l1 = assoc_peek(&m->cpus[cpu].l1d, line);

	assert(l2 != NULL);
	if (l2->state == LINE_MODIFIED)
		fill_system_cache(m, line);
	l2->state = LINE_SHARED;
	if (l1 != NULL)
		l1->state = LINE_SHARED;
}

/*
 * Finds the source of a line and changes the state of all copies. A peer with an exclusive or
 * modified copy supplies the data; one with a shared copy does if the system cache does not have
 * the line. *out_peers: CPUs that supply the line or lose it.
 */
static enum source find_source(struct memory *m, unsigned cpu, uint64_t line, bool to_write,
			       enum line_state *out_state, uint64_t *out_peers)
{
	uint64_t holders = other_holders(m, cpu, line);
	bool is_in_system_cache = tags_use(&m->system_cache, line);
	enum source source = is_in_system_cache ? SOURCE_SYSTEM_CACHE : SOURCE_DRAM;

	if (holders != 0) {
		unsigned peer = choose_peer(m, cpu, holders);
		const struct entry *held = assoc_peek(&m->cpus[peer].l2, line);

		assert(held != NULL);
		m->n_transfers++;
		if (held->state != LINE_SHARED || !is_in_system_cache) {
			source = peer_source(m, cpu, peer);
			*out_peers = (uint64_t)1 << peer;
		}
		if (to_write) {
			invalidate_copies(m, holders, line);
			*out_peers = holders;
		} else {
			make_shared(m, peer, line);
		}
	}
	*out_state = to_write ? LINE_MODIFIED : holders != 0 ? LINE_SHARED : LINE_EXCLUSIVE;
	return source;
}

struct entry *interconnect_fill_l2(struct memory *m, unsigned cpu, uint64_t line)
{
	struct entry victim, *entry;
	uint64_t victim_line;

	entry = assoc_add(&m->cpus[cpu].l2, line, &victim_line, &victim);
	add_holder(m, cpu, line);
	if (victim_line != ASSOC_NONE)
		evict_l2(m, cpu, victim_line, &victim);
	return entry;
}

static void count_behind_l2(struct private_caches *c, enum source source, bool is_read)
{
	if (is_read) {
		count_event(c, COUNT_LL_CACHE_RD);
		if (source == SOURCE_DRAM)
			count_event(c, COUNT_LL_CACHE_MISS_RD);
	}
	count_event(c, COUNT_BUS_ACCESS_RD);
}

/* With these, lines from DRAM come without a gap. */
enum { IDEAL_ANY_BANDWIDTH = IDEAL_L1D | IDEAL_L2 | IDEAL_LLC | IDEAL_DRAM_BANDWIDTH };

/* Sets when the data of an L2 miss arrives that is requested at `time`. */
static void set_data_arrival(struct memory *m, unsigned cpu, uint64_t line, uint64_t time,
			     struct access *a)
{
	struct private_caches *c = &m->cpus[cpu];

	a->served = time;
	if (a->source == SOURCE_DRAM && !(m->ideal & IDEAL_ANY_BANDWIDTH)) {
		if (a->served < c->dram_is_free)
			a->served = c->dram_is_free;
		c->dram_is_free = a->served + m->params->dram_line_gap;
	}
	a->ready = a->served + source_cycles(m, cpu, line, (enum source)a->source);
}

void interconnect_host_prefetch(const struct memory *m, unsigned cpu, uint64_t line)
{
	const struct assoc *l2 = &m->cpus[cpu].l2;
	uint64_t victim = assoc_oldest(l2, line);

	tags_host_prefetch(&m->system_cache, line);
	__builtin_prefetch(&l2->entries[assoc_set(l2, line)]);
	if (m->held == HELD_BY_MORE)
		directory_host_prefetch(&m->directory, line);
	if (victim == ASSOC_NONE)
		return;
	tags_host_prefetch(&m->system_cache, victim);
	if (m->held == HELD_BY_MORE)
		directory_host_prefetch(&m->directory, victim);
}

static struct home_slot *home_slot_of(const struct memory *m, uint64_t line)
{
	return &m->homes[hash_line(line, 0) % HOME_SLOTS];
}

/* The cycle at which the home node serves a request made at `time`. One CPU alone never waits. */
static uint64_t home_free_at(const struct memory *m, uint64_t line, uint64_t time)
{
	const struct home_slot *home = home_slot_of(m, line);
	bool waits = m->held == HELD_BY_MORE && home->line == line && home->is_free > time &&
		     !(m->ideal & IDEAL_COHERENCE);

	return waits ? home->is_free : time;
}

static void set_home_busy(const struct memory *m, uint64_t line, uint64_t time)
{
	if (m->held == HELD_BY_MORE)
		*home_slot_of(m, line) = (struct home_slot){ .line = line, .is_free = time };
}

/*
 * An upgrade takes as long as data from a peer: to the home node, to the holders, and back. Without
 * other holders the home node answers.
 */
static uint64_t upgrade_cycles(const struct memory *m, unsigned cpu, uint64_t line, uint64_t peers)
{
	enum source source = SOURCE_SYSTEM_CACHE;

	if (peers != 0)
		source = peer_source(m, cpu, farthest_peer(m, cpu, peers));
	return source_cycles(m, cpu, line, source);
}

void interconnect_upgrade(struct memory *m, unsigned cpu, uint64_t line, struct access *a)
{
	a->peers = other_holders(m, cpu, line);
	invalidate_copies(m, a->peers, line);
	m->n_transfers++;
	if (m->ideal & (IDEAL_L1D | IDEAL_COHERENCE))
		return;
	a->ready = home_free_at(m, line, a->ready) + upgrade_cycles(m, cpu, line, a->peers);
	set_home_busy(m, line, a->ready);
}

enum line_state interconnect_get(struct memory *m, unsigned cpu, uint64_t line, bool to_write,
				 uint64_t time, struct access *out)
{
	struct private_caches *c = &m->cpus[cpu];
	enum line_state state;

	out->source = (uint8_t)find_source(m, cpu, line, to_write, &state, &out->peers);
	out->missed_l2 = true;
	set_data_arrival(m, cpu, line, home_free_at(m, line, time), out);
	set_home_busy(m, line, out->ready);
	count_behind_l2(c, (enum source)out->source, !to_write);
	return state;
}
