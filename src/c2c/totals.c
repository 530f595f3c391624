/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the whole capture and of its shared lines: the first blocks of perf c2c. */
#include "base/alloc.h"
#include "c2c/tables.h"

enum total_column {
	TOTAL_COUNTER,
	TOTAL_WHAT,
	TOTAL_RECORDS,
	TOTAL_SHARE,
	TOTAL_N_COLUMNS,
};

static const struct column columns[TOTAL_N_COLUMNS] = {
	[TOTAL_COUNTER] = { "counter", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			    "short name of what is counted" },
	[TOTAL_WHAT] = { "what", "", "", CELL_TEXT, COLUMN_GROW, "what is counted" },
	[TOTAL_RECORDS] = { "records", "records", "records", CELL_COUNT, 0,
			    "records of which it is true" },
	[TOTAL_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			  "part of the loads or stores, or of the misses for rows of misses" },
};

/* A sum of counters: those whose bits are set. */
struct total {
	const char *counter, *what;
	uint32_t mask, of;
};

#define BIT(count) C2C_BIT(count)
#define MISSES (BIT(LOCAL_DRAM) | BIT(REMOTE_DRAM) | BIT(REMOTE_HITM) | BIT(REMOTE_HIT))

static const struct total trace_totals[] = {
	{ "records", "accesses recorded", BIT(RECORDS), 0 },
	{ "locked", "locked", BIT(LOCKED), BIT(RECORDS) },
	{ "loads", "loads", BIT(LOADS), BIT(RECORDS) },
	{ "load_uncached", "loads, uncacheable", BIT(UNCACHED), BIT(LOADS) },
	{ "load_io", "loads from devices", BIT(IO), BIT(LOADS) },
	{ "load_miss", "loads that missed, without saying where they hit", BIT(MISS), BIT(LOADS) },
	{ "load_no_address", "loads without an address", BIT(LOAD_NO_ADDRESS), BIT(LOADS) },
	{ "load_fill_buffer", "loads from fill buffers", BIT(FILL_BUFFER), BIT(LOADS) },
	{ "load_l1", "loads from L1", BIT(L1), BIT(LOADS) },
	{ "load_l2", "loads from L2 or as near", BIT(L2), BIT(LOADS) },
	{ "load_llc", "loads from the last level or as far, HITM included",
	  BIT(LLC) | BIT(LOCAL_HITM), BIT(LOADS) },
	{ "hitm_local", "loads of what another core had modified", BIT(LOCAL_HITM), BIT(LOADS) },
	{ "hitm_remote", "the same on another socket", BIT(REMOTE_HITM), BIT(LOADS) },
	{ "load_remote_hit", "loads from caches of another socket", BIT(REMOTE_HIT), BIT(LOADS) },
	{ "load_dram_local", "loads from local memory", BIT(LOCAL_DRAM), BIT(LOADS) },
	{ "load_dram_remote", "loads from remote memory", BIT(REMOTE_DRAM), BIT(LOADS) },
	{ "load_exclusive", "loads from memory, nobody else had it", BIT(EXCLUSIVE), BIT(LOADS) },
	{ "load_shared", "loads from memory, somebody had it", BIT(SHARED), BIT(LOADS) },
	{ "llc_misses", "loads from beyond the last level", MISSES, BIT(LOADS) },
	{ "blocked_data", "loads blocked by data", BIT(BLOCKED_DATA), BIT(LOADS) },
	{ "blocked_address", "loads blocked by an address", BIT(BLOCKED_ADDRESS), BIT(LOADS) },
	{ "peer_local", "loads from another core's cache", BIT(LOCAL_PEER), BIT(LOADS) },
	{ "peer_remote", "the same on another socket", BIT(REMOTE_PEER), BIT(LOADS) },
	{ "miss_dram_local", "misses: local memory", BIT(LOCAL_DRAM), MISSES },
	{ "miss_dram_remote", "misses: remote memory", BIT(REMOTE_DRAM), MISSES },
	{ "miss_remote_hit", "misses: remote cache", BIT(REMOTE_HIT), MISSES },
	{ "miss_remote_hitm", "misses: remote cache, modified", BIT(REMOTE_HITM), MISSES },
	{ "stores", "stores", BIT(STORES), BIT(RECORDS) },
	{ "store_uncached", "stores, uncacheable", BIT(STORE_UNCACHED), BIT(STORES) },
	{ "store_no_address", "stores without an address", BIT(STORE_NO_ADDRESS), BIT(STORES) },
	{ "store_l1_hit", "stores to L1", BIT(STORE_L1_HIT), BIT(STORES) },
	{ "store_l1_miss", "stores that missed L1", BIT(STORE_L1_MISS), BIT(STORES) },
	{ "store_any_level", "stores of which the level is not told", BIT(STORE_ANY), BIT(STORES) },
	{ "no_mapping", "data or code outside known mappings", BIT(NO_MAP), BIT(RECORDS) },
	{ "no_access", "neither loads nor stores", BIT(NO_ACCESS), BIT(RECORDS) },
};

static const struct total shared_totals[] = {
	{ "loads", "loads", BIT(LOADS), 0 },
	{ "load_fill_buffer", "loads from fill buffers", BIT(FILL_BUFFER), BIT(LOADS) },
	{ "load_l1", "loads from L1", BIT(L1), BIT(LOADS) },
	{ "load_l2", "loads from L2 or as near", BIT(L2), BIT(LOADS) },
	{ "load_llc", "loads from the last level or as far, HITM included",
	  BIT(LLC) | BIT(LOCAL_HITM), BIT(LOADS) },
	{ "load_peer", "loads from other cores' caches", BIT(LOCAL_PEER) | BIT(REMOTE_PEER),
	  BIT(LOADS) },
	{ "locked", "locked accesses", BIT(LOCKED), BIT(RECORDS) },
	{ "blocked", "blocked accesses", BIT(BLOCKED_DATA) | BIT(BLOCKED_ADDRESS), BIT(RECORDS) },
	{ "stores", "stores", BIT(STORES), 0 },
	{ "store_l1_hit", "stores to L1", BIT(STORE_L1_HIT), BIT(STORES) },
	{ "store_any_level", "stores of which the level is not told", BIT(STORE_ANY), BIT(STORES) },
	{ "merged", "loads of modified data, and stores",
	  BIT(LOCAL_HITM) | BIT(REMOTE_HITM) | BIT(STORES), BIT(RECORDS) },
};

static uint64_t sum_of(const struct c2c_counts *c, uint32_t mask)
{
	uint64_t sum = 0;

	for (; mask != 0; mask &= mask - 1)
		sum += c->n[__builtin_ctz(mask)];
	return sum;
}

static void c2c_totals_add_row(struct table *t, const char *counter, const char *what, uint64_t n)
{
	struct cell *row = table_add_row(t);

	row[TOTAL_COUNTER] = cell_text(counter);
	row[TOTAL_WHAT] = cell_text(what);
	row[TOTAL_RECORDS] = cell_count(n);
}

static void c2c_totals_add_totals(struct table *t, const struct total *totals, size_t n,
				  const struct c2c_counts *c)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t records = sum_of(c, totals[i].mask), whole = sum_of(c, totals[i].of);

		c2c_totals_add_row(t, totals[i].counter, totals[i].what, records);
		if (whole > 0)
			t->cells.items[t->cells.n - TOTAL_N_COLUMNS + TOTAL_SHARE] =
				cell_number((double)records / (double)whole);
	}
}

static void start_totals(struct table *t, const char *name, const char *title)
{
	table_init(t, name, title, columns, COUNT(columns));
	t->is_keyed = true;
}

void c2c_trace_table(const struct c2c *s, struct table *out)
{
	start_totals(out, "trace", "All accesses");
	c2c_totals_add_totals(out, trace_totals, COUNT(trace_totals), &s->total);
}

void c2c_shared_table(const struct c2c *s, struct table *out)
{
	start_totals(out, "shared", "Accesses to lines that came from other cores");
	c2c_totals_add_row(out, "lines", "lines that loads got from other cores",
			   s->n_shared_lines);
	c2c_totals_add_totals(out, shared_totals, COUNT(shared_totals), &s->shared);
}
