/* SPDX-License-Identifier: Apache-2.0 */
/* The shared lines and the breakdown of each, with all counters. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "c2c/accesses/cost.h"
#include "c2c/c2c.h"
#include "c2c/tables.h"
#include "c2c/verdict/verdict.h"

enum {
	SHOWN_THREADS = 256, /* in the list of an access */
	SPARSE_BELOW = 10,   /* loads: the mean of fewer is not reliable */
};

enum line_column {
	LINE_NUMBER,
	LINE_ADDRESS,
	LINE_VERDICT,
	LINE_SHARE,
	LINE_RECORDS,
	LINE_LOADS,
	LINE_STORES,
	LINE_PEER_LOCAL,
	LINE_PEER_REMOTE,
	LINE_HITM_LOCAL,
	LINE_HITM_REMOTE,
	LINE_THREADS,
	LINE_OBJECT_WORDS,
	LINE_OBJECT,
	LINE_OBJECT_TYPE,
	LINE_OBJECT_BYTES,
	LINE_OBJECT_MEMORY,
	LINE_OBJECT_FRAME,
	LINE_OBJECT_TID,
	LINE_ERROR,
	LINE_LOST,
	LINE_CONTENDED_SHARE,
	LINE_CONTENDED_MEAN,
	LINE_FALSE_PART,
	LINE_BOTH,
	LINE_REASON,
	LINE_LOCK,
	LINE_WRITERS,
	LINE_PROCESSES,
	LINE_PID,
	LINE_PLACED_RECORDS,
	LINE_PLACED_LOADS,
	LINE_STORE_HIT,
	LINE_STORE_MISS,
	LINE_STORE_ANY,
	LINE_FILL_BUFFER,
	LINE_L1,
	LINE_L2,
	LINE_LLC,
	LINE_REMOTE_HIT,
	LINE_DRAM_LOCAL,
	LINE_DRAM_REMOTE,
	LINE_LOCKED,
	LINE_PAGES,
	LINE_NODES,
	LINE_PHYSICAL,
	LINE_FIX,
	LINE_RELOADS,
	LINE_RELOAD_MEAN,
	LINE_RELOAD_SHARE,
	LINE_RELOAD_ERROR,
	LINE_GUARDED,
	LINE_FINDING,
	LINE_ATOMICS,
	LINE_STORE_OPERATIONS,
	LINE_N_COLUMNS,
};

#define LOADS_OF(name, title, meaning)                                                             \
	{                                                                                          \
		name, title, "loads", CELL_COUNT, 0, meaning                                       \
	}
#define STORES_OF(name, title, meaning)                                                            \
	{                                                                                          \
		name, title, "stores", CELL_COUNT, 0, meaning                                      \
	}

#define ATOMICS_MEANING "atomic operations, counted apart from loads and stores"

#define STORE_OPERATIONS                                                                           \
	{                                                                                          \
		"store_operations", NULL, "stores", CELL_COUNT, COLUMN_MACHINE_ONLY,               \
			"`Total Stores` of perf c2c: stores, and atomics that are recorded as "    \
			"stores"                                                                   \
	}

static const struct column line_columns[LINE_N_COLUMNS] = {
	[LINE_NUMBER] = { "line", "#", "", CELL_COUNT, 0, "number of the line in this answer" },
	[LINE_ADDRESS] = { "address", NULL, "", CELL_HEX, 0, "virtual address of the line" },
	[LINE_VERDICT] = { "verdict", NULL, "", CELL_TEXT, 0,
			   "false-sharing, true-sharing, read-only, single-thread or unknown" },
	[LINE_SHARE] = { "share", "latency share", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
			 "cycles of contended loads and reloads above a local hit, as part of the "
			 "latency of all sampled loads; latency counts from issue, or from "
			 "dispatch where issue was not recorded" },
	[LINE_RECORDS] = { "records", NULL, "records", CELL_COUNT, 0, "all records of the line" },
	[LINE_LOADS] = LOADS_OF("loads", NULL, "loads, wherever they hit"),
	[LINE_STORES] = STORES_OF("stores", NULL, "stores"),
	[LINE_PEER_LOCAL] = LOADS_OF("peer_local", "peer",
				     "loads from another core's cache on the same socket"),
	[LINE_PEER_REMOTE] =
		LOADS_OF("peer_remote", "remote peer", "loads from a cache of another socket"),
	[LINE_HITM_LOCAL] =
		LOADS_OF("hitm_local", "HITM", "loads of a modified line, on the same socket"),
	[LINE_HITM_REMOTE] = LOADS_OF("hitm_remote", "remote HITM",
				      "loads of a modified line, from another socket"),
	[LINE_THREADS] = { "threads", NULL, "threads", CELL_COUNT, 0, "threads that accessed it" },
	[LINE_OBJECT_WORDS] = { "object_words", "object", "", CELL_TEXT,
				COLUMN_GROW | COLUMN_TEXT_ONLY, "object on the line" },
	[LINE_OBJECT] = { "object", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			  "object on the line: a variable, or a type" },
	[LINE_OBJECT_TYPE] = { "object_type", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			       "type of that object" },
	[LINE_OBJECT_BYTES] = { "object_bytes", NULL, "bytes", CELL_COUNT, COLUMN_MACHINE_ONLY,
				"size of that object" },
	[LINE_OBJECT_MEMORY] = { "object_memory", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				 "kind of memory that it is in" },
	[LINE_OBJECT_FRAME] = { "object_frame", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				"on a stack: function whose frame it is in" },
	[LINE_OBJECT_TID] = { "object_tid", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			      "thread-local: thread whose copy it is" },
	[LINE_ERROR] = { "share_error", "\xc2\xb1", "", CELL_NUMBER, COLUMN_SHARE,
			 "half of the 95 % confidence interval of the share" },
	[LINE_LOST] = { "lost_cycles", "lost", "cycles", CELL_NUMBER, COLUMN_TRUST,
			"latency that contention added to all loads of the line, summed; loads "
			"overlap, so this is an upper limit of the lost time" },
	[LINE_CONTENDED_SHARE] = { "contended_share", "contended share", "", CELL_NUMBER,
				   COLUMN_SHARE,
				   "part of all contended loads of the capture (peer snoop or "
				   "HITM, by --mode)" },
	[LINE_CONTENDED_MEAN] = { "contended_mean_cycles", "mean", "cycles", CELL_NUMBER,
				  COLUMN_TRUST,
				  "mean latency of its contended loads, counted as for the share" },
	[LINE_FALSE_PART] = { "false_part", "false sharing", "", CELL_NUMBER, COLUMN_SHARE,
			      "part of the contention that is false sharing" },
	[LINE_BOTH] = { "is_both", "both", "", CELL_BOOL, 0,
			"false and true sharing have at least 10 % each" },
	[LINE_REASON] = { "reason", NULL, "", CELL_TEXT, 0,
			  "why the verdict is unknown, or another remark" },
	[LINE_LOCK] = { "has_lock", "lock", "", CELL_BOOL, 0,
			"atomics or exclusives among the accesses" },
	[LINE_WRITERS] = { "writers", NULL, "threads", CELL_COUNT, 0, "threads that wrote to it" },
	[LINE_PROCESSES] = { "processes", NULL, "processes", CELL_COUNT, 0,
			     "processes of these threads" },
	[LINE_PID] = { "pid", NULL, "", CELL_COUNT, 0, "process of the address; none: the kernel" },
	[LINE_PLACED_RECORDS] = { "placed_records", "placed", "records", CELL_COUNT, 0,
				  "with a level: `Total records` of perf c2c" },
	[LINE_PLACED_LOADS] =
		LOADS_OF("placed_loads", NULL, "with a level: `Total Loads` of perf c2c"),
	[LINE_STORE_HIT] = STORES_OF("store_l1_hit", "L1D hit", "to L1"),
	[LINE_STORE_MISS] = STORES_OF("store_l1_miss", "L1D miss", "that missed L1"),
	[LINE_STORE_ANY] = STORES_OF("store_any_level", "no level", "stores without a known level"),
	[LINE_FILL_BUFFER] = LOADS_OF("load_fill_buffer", "fill buffer", "from fill buffers"),
	[LINE_L1] = LOADS_OF("load_l1", "L1D", "from L1"),
	[LINE_L2] = LOADS_OF("load_l2", "L2", "from L2 or as near"),
	[LINE_LLC] =
		LOADS_OF("load_llc", "LLC", "from the last-level cache or as far, without HITM"),
	[LINE_REMOTE_HIT] = LOADS_OF("load_remote_hit", "remote", "from another socket's caches"),
	[LINE_DRAM_LOCAL] = LOADS_OF("load_dram_local", "DRAM", "from local memory"),
	[LINE_DRAM_REMOTE] = LOADS_OF("load_dram_remote", "remote DRAM", "from remote memory"),
	[LINE_LOCKED] = { "locked", NULL, "records", CELL_COUNT, 0, "with a lock prefix" },
	[LINE_PAGES] = { "pages", NULL, "pages", CELL_COUNT, 0,
			 "distinct physical pages it was in" },
	[LINE_NODES] = { "nodes", NULL, "", CELL_TEXT, 0, "NUMA nodes of these pages" },
	[LINE_PHYSICAL] = { "is_physical", "physical", "", CELL_BOOL, COLUMN_MACHINE_ONLY,
			    "the address is one of physical memory" },
	[LINE_FIX] = { "fix", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY | COLUMN_MESSAGE,
		       "what to change" },
	[LINE_RELOADS] = { "reloads", NULL, "loads", CELL_COUNT, COLUMN_MACHINE_ONLY,
			   "loads from shared caches or memory, after another thread wrote to the "
			   "line" },
	[LINE_RELOAD_MEAN] = { "reload_mean_cycles", "mean reload", "cycles", CELL_NUMBER,
			       COLUMN_MACHINE_ONLY | COLUMN_TRUST, "mean latency of reloads" },
	[LINE_RELOAD_SHARE] = { "reload_share", "reloads", "", CELL_NUMBER,
				COLUMN_MACHINE_ONLY | COLUMN_TRUST,
				"part of the share that reloads have" },
	[LINE_RELOAD_ERROR] = { "reload_share_error", "\xc2\xb1", "", CELL_NUMBER,
				COLUMN_MACHINE_ONLY, "half of its 95 % confidence interval" },
	[LINE_GUARDED] = { "is_guarded", "guarded", "", CELL_BOOL, COLUMN_MACHINE_ONLY,
			   "a lock of several threads, with the data that it protects" },
	[LINE_FINDING] = { "finding", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			   "number of its finding" },
	[LINE_STORE_OPERATIONS] = STORE_OPERATIONS,
	[LINE_ATOMICS] = { "atomics", NULL, "records", CELL_COUNT, 0, ATOMICS_MEANING },
};

enum access_column {
	ACCESS_LINE,
	ACCESS_OFFSET,
	ACCESS_SIZE,
	ACCESS_OP,
	ACCESS_PLACE,
	ACCESS_SOURCE_LINE,
	ACCESS_RECORDS,
	ACCESS_LOADS,
	ACCESS_STORES,
	ACCESS_PEER_LOCAL,
	ACCESS_PEER_REMOTE,
	ACCESS_HITM_LOCAL,
	ACCESS_HITM_REMOTE,
	ACCESS_MEAN,
	ACCESS_TIDS,
	ACCESS_FIELD,
	ACCESS_PC,
	ACCESS_FUNCTION,
	ACCESS_MODULE,
	ACCESS_PID,
	ACCESS_THREADS,
	ACCESS_CPUS,
	ACCESS_NODES,
	ACCESS_PLACED_RECORDS,
	ACCESS_STORE_HIT,
	ACCESS_STORE_MISS,
	ACCESS_STORE_ANY,
	ACCESS_MEAN_PEER_LOCAL,
	ACCESS_MEAN_PEER_REMOTE,
	ACCESS_MEAN_HITM_LOCAL,
	ACCESS_MEAN_HITM_REMOTE,
	ACCESS_FIRST,
	ACCESS_LAST,
	ACCESS_ATOMICS,
	ACCESS_STORE_OPERATIONS,
	ACCESS_N_COLUMNS,
};

#define MEAN_OF(name, title, meaning)                                                              \
	{                                                                                          \
		name, title, "cycles", CELL_NUMBER, COLUMN_TRUST, meaning                          \
	}

static const struct column access_columns[ACCESS_N_COLUMNS] = {
	[ACCESS_LINE] = { "line", "#", "", CELL_COUNT, 0, "number of the line" },
	[ACCESS_OFFSET] = { "offset", NULL, "", CELL_COUNT, 0, "offset of the access in the line" },
	[ACCESS_SIZE] = { "size", NULL, "", CELL_COUNT, 0,
			  "size by the instruction; absent: not known" },
	[ACCESS_OP] = { "op", NULL, "", CELL_TEXT, 0, "load, store, atomic …" },
	[ACCESS_PLACE] = { "place", NULL, "", CELL_TEXT, COLUMN_GROW, "function and offset" },
	[ACCESS_SOURCE_LINE] = { "source_line", "source line", "", CELL_TEXT,
				 COLUMN_GROW | COLUMN_PATH,
				 "source line, of the innermost inlined function" },
	[ACCESS_RECORDS] = { "records", NULL, "records", CELL_COUNT, 0, "records of the access" },
	[ACCESS_LOADS] = LOADS_OF("loads", NULL, "loads"),
	[ACCESS_STORES] = STORES_OF("stores", NULL, "stores"),
	[ACCESS_PEER_LOCAL] = LOADS_OF("peer_local", "peer", "from another core's cache"),
	[ACCESS_PEER_REMOTE] = LOADS_OF("peer_remote", "remote peer", "from another socket"),
	[ACCESS_HITM_LOCAL] =
		LOADS_OF("hitm_local", "HITM", "of a modified line, on the same socket"),
	[ACCESS_HITM_REMOTE] =
		LOADS_OF("hitm_remote", "remote HITM", "of a modified line, from another socket"),
	[ACCESS_MEAN] =
		MEAN_OF("mean_load_cycles", "other loads", "mean latency of all other loads"),
	[ACCESS_TIDS] = { "tids", "threads", "", CELL_TEXT, COLUMN_GROW,
			  "thread ids, joined by ':'" },
	[ACCESS_FIELD] = { "field", NULL, "", CELL_TEXT, COLUMN_GROW, "member that is accessed" },
	[ACCESS_PC] = { "pc", NULL, "", CELL_HEX, 0, "address of the instruction" },
	[ACCESS_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_GROW,
			      "function of the code" },
	[ACCESS_MODULE] = { "module", NULL, "", CELL_TEXT, 0, "module of the code" },
	[ACCESS_PID] = { "pid", NULL, "", CELL_COUNT, 0,
			 "process of the threads, if there is only one" },
	[ACCESS_THREADS] = { "threads", "threads", "threads", CELL_COUNT, 0, "number of threads" },
	[ACCESS_CPUS] = { "cpus", NULL, "cpus", CELL_COUNT, 0, "number of CPUs" },
	[ACCESS_NODES] = { "nodes", NULL, "", CELL_TEXT, 0, "NUMA nodes of the physical pages" },
	[ACCESS_PLACED_RECORDS] = { "placed_records", "placed", "records", CELL_COUNT, 0,
				    "with a level: `Total records` of perf c2c" },
	[ACCESS_STORE_HIT] = STORES_OF("store_l1_hit", "L1D hit", "to L1"),
	[ACCESS_STORE_MISS] = STORES_OF("store_l1_miss", "L1D miss", "that missed L1"),
	[ACCESS_STORE_ANY] = STORES_OF("store_any_level", "no level", "level not known"),
	[ACCESS_MEAN_PEER_LOCAL] = MEAN_OF("mean_peer_local_cycles", "peer",
					   "mean latency of loads from another core's cache"),
	[ACCESS_MEAN_PEER_REMOTE] =
		MEAN_OF("mean_peer_remote_cycles", "remote peer", "the same, from another socket"),
	[ACCESS_MEAN_HITM_LOCAL] = MEAN_OF("mean_hitm_local_cycles", "HITM",
					   "mean latency of loads of a modified line"),
	[ACCESS_MEAN_HITM_REMOTE] =
		MEAN_OF("mean_hitm_remote_cycles", "remote HITM", "the same, from another socket"),
	[ACCESS_FIRST] = { "first_ns", "first", "ns", CELL_COUNT, COLUMN_MACHINE_ONLY,
			   "time of the first access" },
	[ACCESS_LAST] = { "last_ns", "last", "ns", CELL_COUNT, COLUMN_MACHINE_ONLY,
			  "time of the last access" },
	[ACCESS_STORE_OPERATIONS] = STORE_OPERATIONS,
	[ACCESS_ATOMICS] = { "atomics", NULL, "records", CELL_COUNT, 0, ATOMICS_MEANING },
};

/* Counters that are columns as they are. */
static const struct {
	uint8_t column, count;
} line_counts[] = {
	{ LINE_RECORDS, C2C_RECORDS },
	{ LINE_STORE_OPERATIONS, C2C_STORES },
	{ LINE_PEER_LOCAL, C2C_LOCAL_PEER },
	{ LINE_PEER_REMOTE, C2C_REMOTE_PEER },
	{ LINE_HITM_LOCAL, C2C_LOCAL_HITM },
	{ LINE_HITM_REMOTE, C2C_REMOTE_HITM },
	{ LINE_STORE_HIT, C2C_STORE_L1_HIT },
	{ LINE_STORE_MISS, C2C_STORE_L1_MISS },
	{ LINE_STORE_ANY, C2C_STORE_ANY },
	{ LINE_FILL_BUFFER, C2C_FILL_BUFFER },
	{ LINE_L1, C2C_L1 },
	{ LINE_L2, C2C_L2 },
	{ LINE_LLC, C2C_LLC },
	{ LINE_REMOTE_HIT, C2C_REMOTE_HIT },
	{ LINE_DRAM_LOCAL, C2C_LOCAL_DRAM },
	{ LINE_DRAM_REMOTE, C2C_REMOTE_DRAM },
	{ LINE_LOCKED, C2C_LOCKED },
}, access_counts[] = {
	{ ACCESS_RECORDS, C2C_RECORDS },
	{ ACCESS_STORE_OPERATIONS, C2C_STORES },
	{ ACCESS_PEER_LOCAL, C2C_LOCAL_PEER },
	{ ACCESS_PEER_REMOTE, C2C_REMOTE_PEER },
	{ ACCESS_HITM_LOCAL, C2C_LOCAL_HITM },
	{ ACCESS_HITM_REMOTE, C2C_REMOTE_HITM },
	{ ACCESS_STORE_HIT, C2C_STORE_L1_HIT },
	{ ACCESS_STORE_MISS, C2C_STORE_L1_MISS },
	{ ACCESS_STORE_ANY, C2C_STORE_ANY },
};

static const uint8_t mean_columns[C2C_N_MET] = {
	[C2C_MET_REMOTE_HITM] = ACCESS_MEAN_HITM_REMOTE,
	[C2C_MET_LOCAL_HITM] = ACCESS_MEAN_HITM_LOCAL,
	[C2C_MET_REMOTE_PEER] = ACCESS_MEAN_PEER_REMOTE,
	[C2C_MET_LOCAL_PEER] = ACCESS_MEAN_PEER_LOCAL,
	[C2C_MET_NONE] = ACCESS_MEAN,
};

static const char *const reason_words[] = {
	[C2C_SURE] = NULL,
	[C2C_FEW_SAMPLES] = "too few samples",
	[C2C_NO_STORES] = "no stores were recorded",
	[C2C_STORES_LEFT_OUT] = "stores may be missing",
	[C2C_UNSEEN_STORES] = "no store was sampled",
	[C2C_SIZES_UNKNOWN] = "access sizes not known",
	[C2C_VECTORS_UNKNOWN] = "vector length not known",
	[C2C_PARTS_UNKNOWN] = "accessed elements of vectors not known",
	[C2C_ONE_BY_ONE] = "threads one after the other",
	[C2C_OTHER_TIMES] = "stores of other threads at other times only",
	[C2C_IN_PHASES] = "written and used at different times",
};

struct cell c2c_mean_cell(uint64_t cycles, uint64_t n, uint64_t n_saturated)
{
	struct cell cell = { 0 };

	if (n == 0)
		return cell;
	cell = cell_number((double)cycles / (double)n);
	if (n_saturated > 0)
		return cell_marked(cell, MARK_SATURATED);
	return n < SPARSE_BELOW ? cell_marked(cell, MARK_SPARSE) : cell;
}

const char *c2c_kind_name(unsigned kind)
{
	bool writes = (kind & C2C_KIND_STORE) != 0;

	if (kind & C2C_KIND_ATOMIC)
		return "atomic";
	if (kind & C2C_KIND_EXCLUSIVE)
		return writes ? "store-exclusive" : "load-exclusive";
	if (kind & C2C_KIND_ORDERED)
		return writes ? "store-release" : "load-acquire";
	return writes ? "store" : "load";
}

/* "0", "0,2"; absent for none. */
static struct cell nodes_cell(struct table *t, uint64_t nodes)
{
	const char *list = "";

	for (; nodes != 0; nodes &= nodes - 1)
		list = table_format(t, "%s%s%d", list, list[0] != '\0' ? "," : "",
				    __builtin_ctzll(nodes));
	return list[0] != '\0' ? cell_text(list) : (struct cell){ 0 };
}

static struct cell text_or_none(struct table *t, const char *text)
{
	return text != NULL ? cell_text(table_text(t, text)) : (struct cell){ 0 };
}

static void line_judged(const struct c2c_judgement *j, struct cell *row)
{
	row[LINE_VERDICT] = cell_text(c2c_verdict_name(j->verdict));
	if (j->verdict == C2C_FALSE || j->verdict == C2C_TRUE) {
		row[LINE_FALSE_PART] = cell_number(j->false_part);
		row[LINE_BOTH] = cell_bool(j->is_both);
	}
	if (reason_words[j->reason] != NULL)
		row[LINE_REASON] = cell_text(reason_words[j->reason]);
	row[LINE_LOCK] = cell_bool(j->has_lock);
	row[LINE_GUARDED] = cell_bool(j->is_guarded);
	row[LINE_THREADS] = cell_count(j->n_threads);
	row[LINE_WRITERS] = cell_count(j->n_writers);
	row[LINE_PROCESSES] = cell_count(j->n_processes);
}

static void line_cost(const struct c2c *s, const struct c2c_subject *subject, struct cell *row)
{
	const struct c2c_latency *c = &subject->contended, *r = &subject->reloads;
	enum cell_mark mark = c->n + r->n < SPARSE_BELOW ? MARK_SPARSE : c2c_share_mark(s, subject);
	uint64_t all = c2c_contended(&s->total, s->options.mode);

	row[LINE_CONTENDED_MEAN] = c2c_mean_cell(c->cycles, c->n, c->n_saturated);
	row[LINE_RELOADS] = cell_count(r->n);
	row[LINE_RELOAD_MEAN] = c2c_mean_cell(r->cycles, r->n, r->n_saturated);
	if (all > 0)
		row[LINE_CONTENDED_SHARE] = cell_number(
			(double)c2c_contended(&subject->counts, s->options.mode) / (double)all);
	if (s->lines->loads.cycles == 0)
		return;
	row[LINE_SHARE] = cell_marked(cell_number(subject->share), mark);
	row[LINE_ERROR] = cell_number(subject->error);
	row[LINE_RELOAD_SHARE] = cell_marked(cell_number(subject->reload_share), mark);
	row[LINE_RELOAD_ERROR] = cell_number(subject->reload_error);
	if (s->interval > 0)
		row[LINE_LOST] = cell_marked(cell_number(c2c_lost_cycles(s, subject)), MARK_SCALED);
}

/* The accesses of one kind; what perf c2c counts as load and store are operations that may be both. */
static void count_access(const struct c2c_access *a, const struct c2c_counts *c,
			 struct memory_counts *out)
{
	if (c2c_memory_kind(a->kind) == MEMORY_ATOMIC) {
		memory_counts_add(out, MEMORY_ATOMIC, c->n[C2C_LOADS] + c->n[C2C_STORES]);
		return;
	}
	memory_counts_add(out, MEMORY_LOAD, c->n[C2C_LOADS]);
	memory_counts_add(out, MEMORY_STORE, c->n[C2C_STORES]);
}

struct memory_counts c2c_line_kinds(const struct c2c *s, const struct c2c_subject *subject)
{
	struct memory_counts out = { 0 };

	for (uint32_t i = 0; i < subject->n_accesses; i++) {
		const struct c2c_access *a = &s->accesses.items[subject->first_access + i];
		struct c2c_touch sum;

		c2c_access_sum(s, a, &sum);
		count_access(a, &sum.counts, &out);
	}
	return out;
}

static uint64_t nodes_of(const struct c2c *s, const struct c2c_subject *subject)
{
	uint64_t nodes = 0;

	for (uint32_t i = 0; i < subject->n_accesses; i++) {
		struct c2c_touch sum;

		c2c_access_sum(s, &s->accesses.items[subject->first_access + i], &sum);
		nodes |= sum.nodes;
	}
	return nodes;
}

static uint32_t finding_of(const struct c2c_labels *labels, size_t line)
{
	return labels->causes->list.items[labels->causes->of_line[line]].finding;
}

static void put_object(const struct c2c_object_label *o, struct table *t, struct cell *row)
{
	row[LINE_OBJECT_TYPE] = text_or_none(t, o->type);
	row[LINE_OBJECT_MEMORY] = text_or_none(t, o->memory);
	row[LINE_OBJECT_FRAME] = text_or_none(t, o->frame);
	if (o->bytes > 0)
		row[LINE_OBJECT_BYTES] = cell_count(o->bytes);
	if (o->tid != 0)
		row[LINE_OBJECT_TID] = cell_count(o->tid);
}

static void c2c_rows_add_line(const struct c2c *s, const struct c2c_labels *labels, size_t number,
			      struct table *t)
{
	const struct c2c_subject *subject = &s->subjects.items[number];
	const struct memory_counts kinds = c2c_line_kinds(s, subject);
	uint64_t loads = c2c_placed_loads(&subject->counts);
	struct cell *row = table_add_row(t);

	row[LINE_NUMBER] = cell_count(number + 1);
	row[LINE_ADDRESS] = cell_hex(subject->address);
	for (size_t i = 0; i < COUNT(line_counts); i++)
		row[line_counts[i].column] = cell_count(subject->counts.n[line_counts[i].count]);
	row[LINE_LOADS] = cell_count(kinds.loads);
	row[LINE_STORES] = cell_count(kinds.stores);
	row[LINE_ATOMICS] = cell_count(kinds.atomics);
	row[LINE_PLACED_LOADS] = cell_count(loads);
	row[LINE_PLACED_RECORDS] = cell_count(loads + c2c_placed_stores(&subject->counts));
	row[LINE_OBJECT_WORDS] = text_or_none(t, labels->objects[number]);
	row[LINE_OBJECT] = text_or_none(t, labels->names[number]);
	put_object(&labels->details[number], t, row);
	row[LINE_FIX] = text_or_none(t, labels->fixes[number]);
	if (finding_of(labels, number) > 0)
		row[LINE_FINDING] = cell_count(finding_of(labels, number));
	row[LINE_PHYSICAL] = cell_bool(subject->space == C2C_PHYSICAL);
	if (subject->space < C2C_PHYSICAL && subject->space != 0)
		row[LINE_PID] =
			cell_count(timeline_process(s->session->timeline, subject->space)->pid);
	if (subject->n_pages > 0)
		row[LINE_PAGES] = cell_count(subject->n_pages);
	row[LINE_NODES] = nodes_cell(t, nodes_of(s, subject));
	line_judged(&subject->judgement, row);
	line_cost(s, subject, row);
	slices_show(&s->session->slices, c2c_slices(s, number), t, row);
}

static int compare_ids(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

/* The threads of an access, each once, in ascending order. */
static struct cell tids_cell(const struct c2c *s, const struct c2c_access *a, struct table *t)
{
	uint32_t *tids = mem_alloc(a->n_touches, sizeof(*tids));
	struct text text = { 0 };
	struct cell cell = { 0 };
	size_t shown = 0;

	for (uint32_t i = 0; i < a->n_touches; i++)
		tids[i] = c2c_touch_key(s->accesses_seen, a->first_touch + i).tid;
	qsort(tids, a->n_touches, sizeof(*tids), compare_ids);
	for (uint32_t i = 0; i < a->n_touches && shown <= SHOWN_THREADS; i++) {
		if (tids[i] == UINT32_MAX || (i > 0 && tids[i] == tids[i - 1]))
			continue;
		if (text.n > 0)
			text_char(&text, ':');
		if (shown++ == SHOWN_THREADS)
			text_str(&text, "...");
		else
			text_u64(&text, tids[i]);
	}
	text_char(&text, '\0');
	if (text.n > 1)
		cell = cell_text(table_text(t, text.bytes));
	text_release(&text);
	free(tids);
	return cell;
}

static void access_place(const struct c2c *s, const struct c2c_access *a, struct table *t,
			 struct cell *row)
{
	struct place place = session_place(s->session, a->place);
	struct text text = { 0 };
	const char *file;
	uint32_t line;

	names_place(&s->names, a->place, &text);
	row[ACCESS_PLACE] = cell_text(table_take_text(t, &text));
	row[ACCESS_PC] = cell_hex(a->pc);
	if (place.module.v != 0)
		row[ACCESS_MODULE] =
			cell_text(table_text(t, names_module(s->session, place.module)));
	if (s->names.symbols[a->place].function.v != 0)
		row[ACCESS_FUNCTION] =
			cell_text(table_text(t, names_function(&s->names, a->place)));
	if (names_line(&s->names, a->place, &file, &line))
		row[ACCESS_SOURCE_LINE] =
			cell_text(table_format(t, "%s:%" PRIu32, path_base(file), line));
}

static uint32_t process_of(const struct c2c *s, const struct c2c_access *a)
{
	return c2c_touch_key(s->accesses_seen, a->first_touch).process;
}

static void add_access(const struct c2c *s, const struct c2c_labels *labels, uint32_t number,
		       size_t line, struct table *t)
{
	const struct c2c_access *a = &s->accesses.items[number];
	struct memory_counts kinds = { 0 };
	struct cell *row = table_add_row(t);
	const struct c2c_counts *c;
	struct c2c_touch sum;

	c2c_access_sum(s, a, &sum);
	c = &sum.counts;
	row[ACCESS_LINE] = cell_count(line + 1);
	row[ACCESS_OFFSET] = cell_count(a->offset);
	if (a->size > 0)
		row[ACCESS_SIZE] = cell_count(a->size);
	row[ACCESS_OP] = cell_text(c2c_kind_name(a->kind));
	if (s->request.coalesce & C2C_BY_PLACE)
		access_place(s, a, t, row);
	for (size_t i = 0; i < COUNT(access_counts); i++)
		row[access_counts[i].column] = cell_count(c->n[access_counts[i].count]);
	for (size_t i = 0; i < C2C_N_MET; i++)
		row[mean_columns[i]] =
			c2c_mean_cell(sum.met[i].cycles, sum.met[i].n, sum.met[i].n_saturated);
	count_access(a, c, &kinds);
	row[ACCESS_LOADS] = cell_count(kinds.loads);
	row[ACCESS_STORES] = cell_count(kinds.stores);
	row[ACCESS_ATOMICS] = cell_count(kinds.atomics);
	row[ACCESS_PLACED_RECORDS] = cell_count(c2c_placed_loads(c) + c2c_placed_stores(c));
	row[ACCESS_TIDS] = tids_cell(s, a, t);
	row[ACCESS_FIELD] = text_or_none(t, labels->fields[number]);
	if (a->n_processes == 1 && process_of(s, a) != 0)
		row[ACCESS_PID] =
			cell_count(timeline_process(s->session->timeline, process_of(s, a))->pid);
	row[ACCESS_THREADS] = cell_count(a->n_threads);
	row[ACCESS_CPUS] = cell_count(a->n_cpus);
	row[ACCESS_NODES] = nodes_cell(t, sum.nodes);
	if (sum.first_ns <= sum.last_ns) {
		row[ACCESS_FIRST] = cell_count(sum.first_ns);
		row[ACCESS_LAST] = cell_count(sum.last_ns);
	}
}

void c2c_lines_tables(const struct c2c *s, const struct c2c_labels *labels, struct table *out_lines,
		      struct table *out_accesses)
{
	table_init(out_lines, "lines", "Shared lines", line_columns, COUNT(line_columns));
	table_init(out_accesses, "accesses", "Accesses to them", access_columns,
		   COUNT(access_columns));
	slices_add_columns(&s->session->slices, "records", "samples of the line over time",
			   out_lines);
	table_nest(out_lines, out_accesses);
	for (size_t i = 0; i < s->subjects.n; i++) {
		const struct c2c_subject *subject = &s->subjects.items[i];

		if (!c2c_is_shown(labels->causes, s->request.top, i))
			continue;
		c2c_rows_add_line(s, labels, i, out_lines);
		for (uint32_t k = 0; k < subject->n_accesses; k++)
			add_access(s, labels, subject->first_access + k, i, out_accesses);
	}
	if (s->n_candidates > table_n_rows(out_lines))
		table_note(out_lines, "%" PRIu64 " more; --all shows them",
			   s->n_candidates - table_n_rows(out_lines));
}
