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
			    "records that are counted" },
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
	{ "records", "Total records", BIT(RECORDS), 0 },
	{ "locked", "Locked Load/Store Operations", BIT(LOCKED), BIT(RECORDS) },
	{ "loads", "Load Operations", BIT(LOADS), BIT(RECORDS) },
	{ "load_uncached", "Loads - uncacheable", BIT(UNCACHED), BIT(LOADS) },
	{ "load_io", "Loads - IO", BIT(IO), BIT(LOADS) },
	{ "load_miss", "Loads - Miss", BIT(MISS), BIT(LOADS) },
	{ "load_no_address", "Loads - no mapping", BIT(LOAD_NO_ADDRESS), BIT(LOADS) },
	{ "load_fill_buffer", "Load Fill Buffer Hit", BIT(FILL_BUFFER), BIT(LOADS) },
	{ "load_l1", "Load L1D hit", BIT(L1), BIT(LOADS) },
	{ "load_l2", "Load L2D hit", BIT(L2), BIT(LOADS) },
	{ "load_llc", "Load LLC hit", BIT(LLC) | BIT(LOCAL_HITM), BIT(LOADS) },
	{ "hitm_local", "Load Local HITM", BIT(LOCAL_HITM), BIT(LOADS) },
	{ "hitm_remote", "Load Remote HITM", BIT(REMOTE_HITM), BIT(LOADS) },
	{ "load_remote_hit", "Load Remote HIT", BIT(REMOTE_HIT), BIT(LOADS) },
	{ "load_dram_local", "Load Local DRAM", BIT(LOCAL_DRAM), BIT(LOADS) },
	{ "load_dram_remote", "Load Remote DRAM", BIT(REMOTE_DRAM), BIT(LOADS) },
	{ "load_exclusive", "Load MESI State Exclusive", BIT(EXCLUSIVE), BIT(LOADS) },
	{ "load_shared", "Load MESI State Shared", BIT(SHARED), BIT(LOADS) },
	{ "llc_misses", "Load LLC Misses", MISSES, BIT(LOADS) },
	{ "blocked_data", "Load access blocked by data", BIT(BLOCKED_DATA), BIT(LOADS) },
	{ "blocked_address", "Load access blocked by address", BIT(BLOCKED_ADDRESS), BIT(LOADS) },
	{ "peer_local", "Load HIT Local Peer", BIT(LOCAL_PEER), BIT(LOADS) },
	{ "peer_remote", "Load HIT Remote Peer", BIT(REMOTE_PEER), BIT(LOADS) },
	{ "miss_dram_local", "LLC Misses to Local DRAM", BIT(LOCAL_DRAM), MISSES },
	{ "miss_dram_remote", "LLC Misses to Remote DRAM", BIT(REMOTE_DRAM), MISSES },
	{ "miss_remote_hit", "LLC Misses to Remote cache (HIT)", BIT(REMOTE_HIT), MISSES },
	{ "miss_remote_hitm", "LLC Misses to Remote cache (HITM)", BIT(REMOTE_HITM), MISSES },
	{ "stores", "Store Operations", BIT(STORES), BIT(RECORDS) },
	{ "store_uncached", "Store - uncacheable", BIT(STORE_UNCACHED), BIT(STORES) },
	{ "store_no_address", "Store - no mapping", BIT(STORE_NO_ADDRESS), BIT(STORES) },
	{ "store_l1_hit", "Store L1D Hit", BIT(STORE_L1_HIT), BIT(STORES) },
	{ "store_l1_miss", "Store L1D Miss", BIT(STORE_L1_MISS), BIT(STORES) },
	{ "store_any_level", "Store No available memory level", BIT(STORE_ANY), BIT(STORES) },
	{ "no_mapping", "No Page Map Rejects", BIT(NO_MAP), BIT(RECORDS) },
	{ "no_access", "Unable to parse data source", BIT(NO_ACCESS), BIT(RECORDS) },
};

static const struct total shared_totals[] = {
	{ "loads", "Load HITs on shared lines", BIT(LOADS), 0 },
	{ "load_fill_buffer", "Fill Buffer Hits on shared lines", BIT(FILL_BUFFER), BIT(LOADS) },
	{ "load_l1", "L1D hits on shared lines", BIT(L1), BIT(LOADS) },
	{ "load_l2", "L2D hits on shared lines", BIT(L2), BIT(LOADS) },
	{ "load_llc", "LLC hits on shared lines", BIT(LLC) | BIT(LOCAL_HITM), BIT(LOADS) },
	{ "load_peer", "Load hits on peer cache or nodes", BIT(LOCAL_PEER) | BIT(REMOTE_PEER),
	  BIT(LOADS) },
	{ "locked", "Locked Access on shared lines", BIT(LOCKED), BIT(RECORDS) },
	{ "blocked", "Blocked Access on shared lines", BIT(BLOCKED_DATA) | BIT(BLOCKED_ADDRESS),
	  BIT(RECORDS) },
	{ "stores", "Store HITs on shared lines", BIT(STORES), 0 },
	{ "store_l1_hit", "Store L1D hits on shared lines", BIT(STORE_L1_HIT), BIT(STORES) },
	{ "store_any_level", "Store No available memory level", BIT(STORE_ANY), BIT(STORES) },
	{ "merged", "Total Merged records", BIT(LOCAL_HITM) | BIT(REMOTE_HITM) | BIT(STORES),
	  BIT(RECORDS) },
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
	start_totals(out, "shared", "Shared cache lines");
	c2c_totals_add_row(out, "lines", "Total Shared Cache Lines", s->n_shared_lines);
	c2c_totals_add_totals(out, shared_totals, COUNT(shared_totals), &s->shared);
}
