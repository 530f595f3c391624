/* SPDX-License-Identifier: Apache-2.0 */
#include "model/truth.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/events.h"
#include "spe/names.h"

/* The words of a tuple of `transfers`. */
enum { LINE, GIVER, GIVER_PC, GIVER_AT, TAKER, TAKER_PC, TAKER_AT, TRANSFER_WORDS };

/* GIVER_AT and TAKER_AT: the offset in the line; from this bit on, 1 for a store. */
enum { STORE_SHIFT = 8 };

struct truth *truth_new(void)
{
	struct truth *t = mem_zalloc(1, sizeof(*t));

	tuples_init(&t->pcs, 1);
	tuples_init(&t->blocks, 2);
	tuples_init(&t->calls, 2);
	tuples_init(&t->edges, 2);
	tuples_init(&t->last, 2);
	tuples_init(&t->transfers, TRANSFER_WORDS);
	tuples_init(&t->chains, 2);
	return t;
}

void truth_free(struct truth *t)
{
	if (t == NULL)
		return;
	tuples_release(&t->pcs);
	tuples_release(&t->blocks);
	tuples_release(&t->calls);
	tuples_release(&t->edges);
	tuples_release(&t->last);
	tuples_release(&t->transfers);
	tuples_release(&t->chains);
	vec_release(&t->insns);
	vec_release(&t->block_counts);
	vec_release(&t->call_counts);
	vec_release(&t->edge_counts);
	vec_release(&t->accesses);
	vec_release(&t->transfer_counts);
	vec_release(&t->records);
	for (size_t cpu = 0; cpu < MAX_CPUS; cpu++)
		vec_release(&t->commit[cpu].taken);
	free(t);
}

static void add_to_source(struct truth_source *s, const struct truth_execution *e)
{
	s->n++;
	s->total += e->total;
	s->issue += e->issue;
	s->xlat += e->xlat;
}

/* Divides the last cycle among the instructions that it committed. */
static void share_cycle(struct truth *t, struct commit_stage *c)
{
	enum { CYCLE = 1000 };
	size_t n = c->taken.n;

	for (size_t i = 0; i < n && c->has_cycle; i++)
		t->insns.items[c->taken.items[i]].commit_millicycles +=
			CYCLE / n + (i == 0 ? CYCLE % n : 0);
	c->taken.n = 0;
	c->has_cycle = false;
}

/* An instruction retires, e->cycles later than the one before it. */
static void commit(struct truth *t, struct commit_stage *c, uint32_t number,
		   const struct truth_execution *e)
{
	uint64_t waits = e->cycles > 0 ? e->cycles - 1 : 0;
	uint64_t flushed = c->flusher == 0 ? 0 : e->empty < waits ? e->empty : waits;

	if (e->cycles > 0) {
		share_cycle(t, c);
		c->has_cycle = true;
	}
	*vec_add(&c->taken) = number;
	t->insns.items[number].commit_millicycles += (waits - flushed) * 1000;
	if (flushed > 0)
		t->insns.items[c->flusher - 1].commit_millicycles += flushed * 1000;
	c->flusher = e->flushes ? number + 1 : 0;
}

void truth_record(struct truth *t, const struct truth_record *record, const uint64_t *returns,
		  size_t n)
{
	struct truth_record *r = vec_add(&t->records);

	*r = *record;
	r->chain = 0;
	while (n-- > 0)
		r->chain = 1 + tuples_add(&t->chains, (const uint64_t[]){ r->chain, returns[n] });
}

void truth_end(struct truth *t)
{
	for (size_t cpu = 0; cpu < MAX_CPUS; cpu++)
		share_cycle(t, &t->commit[cpu]);
}

uint32_t truth_instruction(struct truth *t, const struct insn *in, const struct truth_execution *e)
{
	uint32_t number = tuples_add(&t->pcs, &in->pc);
	struct truth_insn *all;

	if (number == t->insns.n)
		*vec_add(&t->insns) = (struct truth_insn){ .op_class = in->op_class, .op = in->op };
	all = &t->insns.items[number];
	all->n++;
	for (uint64_t left = e->events; left != 0; left &= left - 1)
		all->events[__builtin_ctzll(left)]++;
	all->total += e->total;
	all->issue += e->issue;
	all->xlat += e->xlat;
	all->cycles += e->cycles;
	commit(t, &t->commit[e->cpu], number, e);
	if (e->has_source) {
		all->sources[e->source]++;
		add_to_source(&t->sources[e->source], e);
	}
	return number;
}

/* Counts a tuple in its table. */
#define COUNT_IN(table, counts, tuple)                                                             \
	do {                                                                                       \
		uint32_t number_ = tuples_add(table, tuple);                                       \
		if (number_ == (counts)->n)                                                        \
			*vec_add(counts) = 0;                                                      \
		(counts)->items[number_]++;                                                        \
	} while (0)

void truth_block(struct truth *t, uint64_t first_pc, uint64_t end_pc)
{
	const uint64_t key[] = { first_pc, end_pc };

	COUNT_IN(&t->blocks, &t->block_counts, key);
}

void truth_call(struct truth *t, uint64_t from_pc, uint64_t to_pc)
{
	const uint64_t key[] = { from_pc, to_pc };

	COUNT_IN(&t->calls, &t->call_counts, key);
}

void truth_edge(struct truth *t, uint64_t from_pc, uint64_t to_pc, bool is_mispredicted)
{
	const uint64_t key[] = { from_pc, to_pc };
	uint32_t number = tuples_add(&t->edges, key);

	if (number == t->edge_counts.n)
		*vec_add(&t->edge_counts) = (struct truth_edge){ 0 };
	t->edge_counts.items[number].n++;
	t->edge_counts.items[number].mispredicted += is_mispredicted;
}

static uint64_t at(const struct truth_access *a)
{
	return (a->va & (LINE_BYTES - 1)) | (uint64_t)a->is_store << STORE_SHIFT;
}

/*
 * Counts a transfer of the line from a CPU to that of the access; the giver is the last access
 * there.
 */
static void transfer(struct truth *t, const struct truth_access *taker, unsigned cpu)
{
	const uint64_t last[] = { taker->va >> LINE_SHIFT, cpu };
	uint32_t number = tuples_find(&t->last, last);
	const struct truth_access *giver;
	uint64_t key[TRANSFER_WORDS];

	if (number == TUPLES_NONE)
		return; /* the line was prefetched there and never used */
	giver = &t->accesses.items[number];
	key[LINE] = taker->va & ~(uint64_t)(LINE_BYTES - 1);
	key[GIVER] = giver->tid;
	key[GIVER_PC] = giver->pc;
	key[GIVER_AT] = at(giver);
	key[TAKER] = taker->tid;
	key[TAKER_PC] = taker->pc;
	key[TAKER_AT] = at(taker);
	COUNT_IN(&t->transfers, &t->transfer_counts, key);
}

void truth_access(struct truth *t, const struct truth_access *a)
{
	const uint64_t last[] = { a->va >> LINE_SHIFT, a->cpu };
	uint32_t number;

	for (uint64_t left = a->peers; left != 0; left &= left - 1)
		transfer(t, a, (unsigned)__builtin_ctzll(left));
	number = tuples_add(&t->last, last);
	if (number == t->accesses.n)
		*vec_add(&t->accesses) = *a;
	t->accesses.items[number] = *a;
}

/* "name":{ … } of those that are not zero. */
static void json_counts(struct text *out, const char *name, const uint64_t *counts, size_t n,
			const char *(*name_of)(size_t))
{
	const char *comma = "";

	text_format(out, ",\"%s\":{", name);
	for (size_t i = 0; i < n; i++) {
		if (counts[i] == 0)
			continue;
		text_format(out, "%s\"%s\":%" PRIu64, comma, name_of(i), counts[i]);
		comma = ",";
	}
	text_char(out, '}');
}

static const char *event_name(size_t bit)
{
	const char *name = spe_event_name((unsigned)bit);

	return name != NULL ? name : bit == 12 ? "late-prefetch" : "unknown";
}

static const char *source_name(size_t source)
{
	static const char *const names[N_SOURCES] = {
		[SOURCE_L1] = "L1D",
		[SOURCE_L2] = "L2",
		[SOURCE_PEER_CORE] = "PEER_CORE",
		[SOURCE_SYSTEM_CACHE] = "SYS_CACHE",
		[SOURCE_PEER_CLUSTER] = "PEER_CLUSTER",
		[SOURCE_REMOTE] = "REMOTE",
		[SOURCE_DRAM] = "DRAM",
	};

	return names[source];
}

/* Events of the PMU, by name. */
static void json_pmu(struct text *out, const struct counts *counts)
{
	const char *comma = "";

	text_str(out, ",\"counts\":{");
	for (size_t i = 0; i < n_modelled_events; i++) {
		uint64_t n = modelled_event_sum(&modelled_events[i], counts);

		if (n == 0)
			continue;
		text_format(out, "%s\"%s\":%" PRIu64, comma, modelled_events[i].name, n);
		comma = ",";
	}
	text_char(out, '}');
}

static void json_latencies(struct text *out, uint64_t total, uint64_t issue, uint64_t xlat)
{
	text_format(out, ",\"total\":%" PRIu64 ",\"issue\":%" PRIu64 ",\"xlat\":%" PRIu64, total,
		    issue, xlat);
}

static void json_sources(const struct truth *t, struct text *out)
{
	const char *comma = "";

	text_str(out, "\"sources\":{");
	for (size_t i = 0; i < N_SOURCES; i++) {
		const struct truth_source *s = &t->sources[i];

		if (s->n == 0)
			continue;
		text_format(out, "%s\n\"%s\":{\"n\":%" PRIu64, comma, source_name(i), s->n);
		json_latencies(out, s->total, s->issue, s->xlat);
		text_char(out, '}');
		comma = ",";
	}
	text_str(out, "}");
}

static void json_insns(const struct truth *t, struct text *out)
{
	text_str(out, ",\n\"instructions\":[");
	for (uint32_t i = 0; i < t->pcs.n; i++) {
		const struct truth_insn *in = &t->insns.items[i];

		text_format(out,
			    "%s\n{\"pc\":\"0x%" PRIx64 "\",\"class\":%u,\"op\":%u,\"n\":%" PRIu64
			    ",\"cycles\":%" PRIu64 ",\"commit_cycles\":%" PRIu64 ".%03" PRIu64,
			    i > 0 ? "," : "", *tuples_get(&t->pcs, i), in->op_class, in->op, in->n,
			    in->cycles, in->commit_millicycles / 1000,
			    in->commit_millicycles % 1000);
		json_latencies(out, in->total, in->issue, in->xlat);
		json_pmu(out, &in->counts);
		json_counts(out, "events", in->events, TRUTH_EVENTS, event_name);
		json_counts(out, "sources", in->sources, N_SOURCES, source_name);
		text_char(out, '}');
	}
	text_str(out, "]");
}

/* Tuples of two addresses with a count. */
static void json_pairs(const struct tuples *pairs, const uint64_t *counts, const char *list,
		       const char *first, const char *second, struct text *out)
{
	text_format(out, ",\n\"%s\":[", list);
	for (uint32_t i = 0; i < pairs->n; i++)
		text_format(out,
			    "%s\n{\"%s\":\"0x%" PRIx64 "\",\"%s\":\"0x%" PRIx64 "\",\"n\":%" PRIu64
			    "}",
			    i > 0 ? "," : "", first, tuples_get(pairs, i)[0], second,
			    tuples_get(pairs, i)[1], counts[i]);
	text_str(out, "]");
}

static void json_edges(const struct truth *t, struct text *out)
{
	text_str(out, ",\n\"edges\":[");
	for (uint32_t i = 0; i < t->edges.n; i++) {
		const uint64_t *key = tuples_get(&t->edges, i);
		const struct truth_edge *edge = &t->edge_counts.items[i];

		text_format(out,
			    "%s\n{\"from\":\"0x%" PRIx64 "\",\"to\":\"0x%" PRIx64
			    "\",\"n\":%" PRIu64 ",\"mispredicted\":%" PRIu64 "}",
			    i > 0 ? "," : "", key[0], key[1], edge->n, edge->mispredicted);
	}
	text_str(out, "]");
}

static void json_side(struct text *out, const char *name, uint64_t tid, uint64_t pc, uint64_t where)
{
	text_format(out,
		    ",\"%s\":{\"tid\":%" PRIu64 ",\"pc\":\"0x%" PRIx64 "\",\"offset\":%" PRIu64
		    ",\"op\":\"%s\"}",
		    name, tid, pc, where & (LINE_BYTES - 1),
		    where >> STORE_SHIFT ? "store" : "load");
}

static void json_transfers(const struct truth *t, struct text *out)
{
	text_str(out, ",\n\"transfers\":[");
	for (uint32_t i = 0; i < t->transfers.n; i++) {
		const uint64_t *key = tuples_get(&t->transfers, i);

		text_format(out, "%s\n{\"line\":\"0x%" PRIx64 "\",\"n\":%" PRIu64, i > 0 ? "," : "",
			    key[LINE], t->transfer_counts.items[i]);
		json_side(out, "from", key[GIVER], key[GIVER_PC], key[GIVER_AT]);
		json_side(out, "to", key[TAKER], key[TAKER_PC], key[TAKER_AT]);
		text_char(out, '}');
	}
	text_str(out, "]");
}

/* The calls of records as a tree, and each record with the innermost one. */
static void json_records(const struct truth *t, struct text *out)
{
	text_str(out, ",\n\"chains\":[");
	for (uint32_t i = 0; i < t->chains.n; i++)
		text_format(out, "%s\n{\"caller\":%" PRIu64 ",\"return\":\"0x%" PRIx64 "\"}",
			    i > 0 ? "," : "", tuples_get(&t->chains, i)[0],
			    tuples_get(&t->chains, i)[1]);
	text_str(out, "],\n\"records\":[");
	for (size_t i = 0; i < t->records.n; i++) {
		const struct truth_record *r = &t->records.items[i];

		text_format(out,
			    "%s\n{\"tid\":%u,\"pc\":\"0x%" PRIx64 "\",\"time_ns\":%" PRIu64
			    ",\"chain\":%u,\"total\":%u,\"events\":%" PRIu64 "}",
			    i > 0 ? "," : "", r->tid, r->pc, r->time_ns, r->chain, r->total,
			    r->events);
	}
	text_str(out, "]");
}

void truth_json(const struct truth *t, struct text *out)
{
	json_sources(t, out);
	json_insns(t, out);
	json_pairs(&t->blocks, t->block_counts.items, "blocks", "start", "end", out);
	json_pairs(&t->calls, t->call_counts.items, "calls", "from", "to", out);
	json_edges(t, out);
	json_transfers(t, out);
	if (t->records.n > 0)
		json_records(t, out);
}
