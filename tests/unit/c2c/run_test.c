/* SPDX-License-Identifier: Apache-2.0 */
/* From records to lines, their order, their accesses and what they cost: of a known capture. */
#include "c2c/c2c.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../elf/elf_builder.h"
#include "../session/fixture.h"
#include "base/alloc.h"
#include "capture/writer/writer.h"
#include "c2c/fix/labels.h"
#include "c2c/tables.h"
#include "c2c/verdict/cause.h"
#include "scan/time_slices.h"
#include "spe/packet.h"

enum {
	MAX_RECORDS = 14000,
	MAX_LINES = 4,
	/* Offsets in the code. */
	STORE8 = 0,
	LOAD8 = 4,
	OTHER_LOAD8 = 8,
	GATHER = 12,
	SCALABLE_LOAD = 16,
	/* Sources of Neoverse N1. */
	L1D = 0,
	PEER = 9,
	DRAM = 14,
	NO_SOURCE = 0x100,
	FALSE_LINE = 0x10000,
	TRUE_LINE = 0x10040,
	OWN_LINE = 0x20000,
	READ_LINE = 0x30000,
	ISSUE = 4,
};

/* str x0, [x1]; ldr x0, [x1], twice; ld1b {z0.s}, p0/z, [z1.s]; ldr z0, [x1] */
static const uint32_t code[] = { 0xf9000020, 0xf9400020, 0xf9400020, 0x8420c020, 0x85804020 };

struct made {
	unsigned n;
	uint32_t pc, tid;
	uint64_t address;
	uint16_t source, total;
};

/*
 * One line where a thread loads beside what the other stores, and one where it loads just that;
 * one that a thread has for itself, which tells what a hit takes; one that both only read.
 */
static const struct made accesses[] = {
	{ 20, STORE8, ALPHA, FALSE_LINE, NO_SOURCE, 10 },
	{ 10, LOAD8, ALPHA_THREAD, FALSE_LINE + 8, PEER, 104 },
	{ 10, OTHER_LOAD8, ALPHA_THREAD, FALSE_LINE + 8, PEER, 104 },
	{ 30, STORE8, ALPHA, TRUE_LINE, NO_SOURCE, 10 },
	{ 10, LOAD8, ALPHA_THREAD, TRUE_LINE, PEER, 54 },
	{ 100, LOAD8, ALPHA, OWN_LINE, L1D, 8 },
	{ 60, LOAD8, ALPHA, READ_LINE, L1D, 8 },
	{ 40, LOAD8, ALPHA_THREAD, READ_LINE, L1D, 8 },
};

enum {
	N_RECORDS = 280,
	LOAD_CYCLES = 20 * 100 + 10 * 50 + 200 * 4, /* from issue on */
	FALSE_EXCESS = 20 * (100 - 4),
	TRUE_EXCESS = 10 * (50 - 4),
};

/* All take their time from the first slot to the last, by turns. */
static size_t make_records(uint64_t text, const struct made *made, size_t n_made,
			   struct spe_record *out)
{
	size_t n = 0;

	for (size_t a = 0; a < n_made; a++)
		for (unsigned i = 0; i < made[a].n; i++) {
			struct spe_record r = spe_of(text + made[a].pc, made[a].tid, SPE_OP_LDST,
						     UINT64_C(1) << SPE_EV_RETIRED, made[a].total,
						     START_NS + 10000 * i / made[a].n + a);

			r.op = made[a].pc == STORE8;
			r.has |= HAS_VA | HAS_ISSUE;
			r.va = made[a].address;
			r.issue = ISSUE;
			if (made[a].source != NO_SOURCE) {
				r.has |= HAS_SOURCE;
				r.source = made[a].source;
			}
			out[n++] = r;
		}
	return n;
}

struct world {
	char *folder;
	struct session session;
};

/* Where data is, there may be a program: one that runs, or one that nobody runs, next to it. */
enum programs { NO_PROGRAM, HAS_PROGRAM, HAS_OTHER };

static void map_other(struct writer *w)
{
	struct record_mmap map = {
		.pid = ALPHA,
		.tid = ALPHA,
		.start = 0x90000,
		.length = 0x10000,
		.page_offset = 1 << 30, /* where nothing of it is, so its data may be anywhere */
		.protection = 5,
		.path = "/bin/other",
	};

	writer_mmap2(w, &map, 2, NULL);
}

static void open_world(struct world *w, const struct made *made, size_t n_made, unsigned n_workers,
		       enum programs programs)
{
	const struct built_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x10000, code, sizeof(code) },
		{ NULL },
	};
	const struct built_elf elf = { .machine = EM_AARCH64, .sections = sections };
	const char *name = programs == HAS_OTHER ? "bin/other" : "bin/alpha";
	struct spe_record *records = mem_alloc(MAX_RECORDS, sizeof(*records));
	uint64_t offset;
	size_t n;

	w->folder = folder_make();
	offset = elf_build(in_folder(w->folder, name), &elf);
	n = make_records(TEXT_START + offset, made, n_made, records);
	open_fixture(&(struct contents){ .records = records,
					 .n_records = n,
					 .symfs = programs != NO_PROGRAM ? w->folder : NULL,
					 .write_more = programs == HAS_OTHER ? map_other : NULL },
		     n_workers, &w->session);
	free(records);
}

static void world_of(struct world *w, const struct made *made, size_t n_made, unsigned n_workers)
{
	open_world(w, made, n_made, n_workers, HAS_PROGRAM);
}

static void world_init(struct world *w, unsigned n_workers)
{
	world_of(w, accesses, COUNT(accesses), n_workers);
}

static void world_release(struct world *w)
{
	close_fixture(&w->session);
	folder_remove(w->folder);
}

struct line {
	uint64_t address;
	enum c2c_verdict verdict;
	int64_t excess;
	uint32_t n_contended, n_accesses;
};

static const struct {
	const char *name;
	struct c2c_request request;
	struct line lines[MAX_LINES]; /* ends with address 0 */
	uint64_t n_lines, n_candidates;
} cases[] = {
	{ "by cost",
	  { .mode = -1 },
	  { { FALSE_LINE, C2C_FALSE, FALSE_EXCESS, 20, 3 },
	    { TRUE_LINE, C2C_TRUE, TRUE_EXCESS, 10, 2 } },
	  4,
	  2 },
	{ "by records",
	  { .mode = C2C_BY_PEER, .sort = C2C_SORT_RECORDS, .coalesce = C2C_BY_THREAD },
	  { { FALSE_LINE, C2C_FALSE, FALSE_EXCESS, 20, 2 },
	    { TRUE_LINE, C2C_TRUE, TRUE_EXCESS, 10, 2 } },
	  4,
	  2 },
	{ "by stores",
	  { .mode = C2C_BY_PEER, .sort = C2C_SORT_STORES, .coalesce = C2C_BY_MODULE },
	  { { TRUE_LINE, C2C_TRUE, TRUE_EXCESS, 10, 2 },
	    { FALSE_LINE, C2C_FALSE, FALSE_EXCESS, 20, 2 } },
	  4,
	  2 },
	{ "one",
	  { .mode = -1, .top = 1, .coalesce = C2C_BY_PLACE | C2C_BY_THREAD },
	  { { FALSE_LINE, C2C_FALSE, FALSE_EXCESS, 20, 3 } },
	  4,
	  2 },
	{ "the one with most stores",
	  { .mode = -1, .top = 1, .sort = C2C_SORT_STORES },
	  { { TRUE_LINE, C2C_TRUE, TRUE_EXCESS, 10, 2 } },
	  4,
	  2 },
	/* Those of the one wait beside what the other has stored to. */
	{ "pairs of lines",
	  { .mode = -1, .is_double = true },
	  { { FALSE_LINE, C2C_FALSE, FALSE_EXCESS + TRUE_EXCESS, 30, 5 } },
	  3,
	  1 },
	/* Eight bytes are too few to be shared beside each other. */
	{ "short lines",
	  { .mode = -1, .line_bytes = 8 },
	  { { FALSE_LINE + 8, C2C_SINGLE_THREAD, FALSE_EXCESS, 20, 2 },
	    { TRUE_LINE, C2C_TRUE, TRUE_EXCESS, 10, 2 } },
	  5,
	  2 },
};

static void expect_line(const struct c2c *s, size_t i, const struct line *wanted)
{
	const struct c2c_subject *is = &s->subjects.items[i];

	assert_int_equal(is->address, wanted->address);
	assert_int_equal(is->judgement.verdict, wanted->verdict);
	assert_int_equal(is->excess_cycles, wanted->excess);
	assert_int_equal(is->contended.n, wanted->n_contended);
	assert_int_equal(c2c_contended(&is->counts, s->options.mode), wanted->n_contended);
	assert_int_equal(is->reloads.n, 0);
	assert_int_equal(is->n_accesses, wanted->n_accesses);
	assert_true(is->share > (double)wanted->excess / LOAD_CYCLES - 1e-9 &&
		    is->share < (double)wanted->excess / LOAD_CYCLES + 1e-9);
}

static void lines_are_found_and_rated(void **state)
{
	(void)state;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2)
		for (size_t i = 0; i < COUNT(cases); i++) {
			struct world w;
			struct c2c s;
			struct err err;
			size_t n = 0;

			print_message("%s\n", cases[i].name);
			world_init(&w, n_workers);
			assert_int_equal(c2c_run(&w.session, NULL, &cases[i].request, &s, &err), 0);
			assert_int_equal(s.options.mode, C2C_BY_PEER);
			assert_int_equal(s.local_cycles, 4);
			assert_int_equal(s.total.n[C2C_RECORDS], N_RECORDS);
			assert_int_equal(s.lines->loads.cycles, LOAD_CYCLES);
			assert_int_equal(s.n_lines, cases[i].n_lines);
			assert_int_equal(s.n_candidates, cases[i].n_candidates);
			for (; n < MAX_LINES && cases[i].lines[n].address != 0; n++)
				expect_line(&s, n, &cases[i].lines[n]);
			assert_int_equal(s.subjects.n, n);
			c2c_release(&s);
			world_release(&w);
		}
}

/* The first scan is done again if it sees that the first time was guessed wrong: then nothing counts twice. */
static void scans_that_are_done_again_count_once(void **state)
{
	/* More than a worker has before it adds them to the table. */
	static const struct made many[] = {
		{ 6500, STORE8, ALPHA, TRUE_LINE, NO_SOURCE, 10 },
		{ 6500, LOAD8, ALPHA_THREAD, TRUE_LINE, PEER, 54 },
	};

	(void)state;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2) {
		const struct c2c_request request = { .mode = -1 };
		struct c2c once, again;
		struct world w;
		struct err err;
		unsigned n_scans;

		world_of(&w, many, COUNT(many), n_workers);
		assert_int_equal(c2c_run(&w.session, NULL, &request, &once, &err), 0);
		n_scans = w.session.n_scans;
		assert_int_equal(scan_choose_slices(&w.session, 4, false, &err), 0);
		assert_true(w.session.slices.is_provisional);
		w.session.slices.first_ns++;
		assert_int_equal(c2c_run(&w.session, NULL, &request, &again, &err), 0);
		assert_int_equal(w.session.n_scans, 2 * n_scans + 1);
		assert_true(once.shared.n[C2C_RECORDS] > 0);
		assert_memory_equal(&again.shared, &once.shared, sizeof(once.shared));
		assert_memory_equal(&again.total, &once.total, sizeof(once.total));
		assert_int_equal(again.n_shared_lines, once.n_shared_lines);
		assert_int_equal(again.n_lines, once.n_lines);
		c2c_release(&once);
		c2c_release(&again);
		world_release(&w);
	}
}

/* Rows of the line's breakdown: by offset, each with who did what. */
static void accesses_have_their_parts(void **state)
{
	static const struct {
		uint16_t offset, size;
		uint32_t n, n_contended, n_threads;
		unsigned kind;
		uint64_t cycles;
	} wanted[] = {
		{ 0, 8, 20, 0, 1, C2C_KIND_STORE, 0 },
		{ 8, 8, 10, 10, 1, 0, 1000 },
		{ 8, 8, 10, 10, 1, 0, 1000 },
	};
	struct world w;
	struct c2c s;
	struct err err;

	(void)state;
	world_init(&w, 2);
	assert_int_equal(c2c_run(&w.session, NULL, &(struct c2c_request){ .mode = -1 }, &s, &err),
			 0);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct c2c_access *a =
			&s.accesses.items[s.subjects.items[0].first_access + i];
		struct c2c_touch sum;

		c2c_access_sum(&s, a, &sum);
		assert_int_equal(a->offset, wanted[i].offset);
		assert_int_equal(a->size, wanted[i].size);
		assert_int_equal(a->kind, wanted[i].kind);
		assert_int_equal(a->n_threads, wanted[i].n_threads);
		assert_int_equal(a->n_processes, 1);
		assert_int_equal(sum.counts.n[C2C_RECORDS], wanted[i].n);
		assert_int_equal(sum.contended.n, wanted[i].n_contended);
		assert_int_equal(sum.contended.cycles, wanted[i].cycles);
	}
	c2c_release(&s);
	world_release(&w);
}

/* Lines that have nothing in common are causes of their own, those that cost most first. */
static void causes_are_numbered(void **state)
{
	static const struct {
		enum c2c_sort sort;
		uint64_t addresses[2];
	} list[] = {
		{ C2C_SORT_COST, { FALSE_LINE, TRUE_LINE } },
		{ C2C_SORT_STORES, { TRUE_LINE, FALSE_LINE } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		struct c2c_objects objects;
		struct c2c_instances instances;
		struct c2c_causes causes;
		struct world w;
		struct c2c s;
		struct err err;

		world_init(&w, 2);
		assert_int_equal(c2c_run(&w.session, NULL,
					 &(struct c2c_request){ .mode = -1, .sort = list[i].sort },
					 &s, &err),
				 0);
		c2c_objects_init(&objects, &s);
		c2c_instances_init(&instances, &objects);
		c2c_causes_init(&causes, &objects, &instances);
		assert_int_equal(causes.list.n, 2);
		for (uint32_t k = 0; k < 2; k++) {
			const struct c2c_cause *c = &causes.list.items[k];

			assert_int_equal(c->sum.address, list[i].addresses[k]);
			assert_int_equal(c->lines.n, 1);
			assert_int_equal(c->n_objects, 0);
			assert_int_equal(c->finding, k + 1);
			assert_int_equal(c->class, C2C_CONTENDED);
			assert_int_equal(causes.of_line[c->lines.items[0]], k);
		}
		c2c_causes_release(&causes);
		c2c_instances_release(&instances);
		c2c_objects_release(&objects);
		c2c_release(&s);
		world_release(&w);
	}
}

/* Whose loads wait longest for whose stores comes first. */
static void pairs_are_in_order(void **state)
{
	enum { SHARE = 3, FINDING = 4, LOADS = 2 };
	static const struct {
		double loads, cycles;
		uint64_t finding;
	} wanted[] = {
		{ 10, FALSE_EXCESS / 2, 1 },
		{ 10, FALSE_EXCESS / 2, 1 },
		{ 10, TRUE_EXCESS, 2 },
	};
	struct c2c_labels labels;
	struct table t;
	struct world w;
	struct c2c s;
	struct err err;

	(void)state;
	world_init(&w, 2);
	assert_int_equal(c2c_run(&w.session, NULL, &(struct c2c_request){ .mode = -1 }, &s, &err),
			 0);
	c2c_labels_init(&labels, &s);
	c2c_pairs_table(&s, &labels, &t);
	assert_int_equal(table_n_rows(&t), COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		double share = table_cell(&t, i, SHARE)->number;

		assert_true(table_cell(&t, i, LOADS)->number == wanted[i].loads);
		assert_true(fabs(share - wanted[i].cycles / LOAD_CYCLES) < 1e-9);
		assert_int_equal(table_cell(&t, i, FINDING)->count, wanted[i].finding);
	}
	table_release(&t);
	c2c_labels_release(&labels);
	c2c_release(&s);
	world_release(&w);
}

/* A line of little weight among many loads and stores is no finding by what it costs. In another order it may be. */
static void little_is_a_finding_only_if_asked_for(void **state)
{
	static const struct made made[] = {
		{ 6, STORE8, ALPHA, FALSE_LINE, NO_SOURCE, 10 },
		{ 6, LOAD8, ALPHA_THREAD, FALSE_LINE + 8, PEER, 12 },
		{ 1700, STORE8, ALPHA, OWN_LINE, NO_SOURCE, 10 },
		{ 1700, LOAD8, ALPHA, OWN_LINE, L1D, 1004 },
	};
	static const struct {
		enum c2c_sort sort;
		bool is_expected;
	} list[] = {
		{ C2C_SORT_COST, false },
		{ C2C_SORT_ADDRESS, true },
		{ C2C_SORT_STORES, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		struct world w;
		struct c2c s;
		struct err err;

		print_message("%zu\n", i);
		world_of(&w, made, COUNT(made), 2);
		assert_int_equal(c2c_run(&w.session, NULL,
					 &(struct c2c_request){ .mode = -1, .sort = list[i].sort },
					 &s, &err),
				 0);
		assert_int_equal(s.may_have_findings, list[i].is_expected);
		assert_int_equal(s.subjects.n, 1);
		assert_int_equal(s.subjects.items[0].may_be_contended, list[i].is_expected);
		c2c_release(&s);
		world_release(&w);
	}
}

/* What the code says of each access, and what it leaves open. */
static void instructions_say_how_far_they_reach(void **state)
{
	static const struct made made[] = {
		{ 20, STORE8, ALPHA, FALSE_LINE, NO_SOURCE, 10 },
		{ 10, LOAD8, ALPHA_THREAD, FALSE_LINE + 8, PEER, 104 },
		{ 10, GATHER, ALPHA_THREAD, FALSE_LINE + 16, PEER, 104 },
		{ 10, SCALABLE_LOAD, ALPHA_THREAD, FALSE_LINE + 32, PEER, 104 },
	};
	static const struct {
		uint32_t pc;
		struct c2c_instruction is;
	} wanted[] = {
		{ STORE8, { .bytes = 8, .is_store = true } },
		{ LOAD8, { .bytes = 8, .is_load = true } },
		{ GATHER, { .is_load = true, .is_scattered = true, .kind = C2C_KIND_VECTOR } },
		{ SCALABLE_LOAD, { .scalable = 16, .is_load = true, .kind = C2C_KIND_VECTOR } },
	};
	struct world w;
	struct c2c s;
	struct err err;

	(void)state;
	world_of(&w, made, COUNT(made), 2);
	assert_int_equal(c2c_run(&w.session, NULL, &(struct c2c_request){ .mode = -1 }, &s, &err),
			 0);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct c2c_instruction *is = NULL;

		for (uint32_t k = 1; k < place_numbers_n(w.session.places); k++)
			if (session_place(&w.session, k).offset % 0x1000 % 64 == wanted[i].pc)
				is = &s.instructions[k];
		print_message("%zu\n", i);
		assert_non_null(is);
		assert_int_equal(is->bytes, wanted[i].is.bytes);
		assert_int_equal(is->scalable, wanted[i].is.scalable);
		assert_int_equal(is->kind, wanted[i].is.kind);
		assert_int_equal(is->is_load, wanted[i].is.is_load);
		assert_int_equal(is->is_store, wanted[i].is.is_store);
		assert_int_equal(is->is_scattered, wanted[i].is.is_scattered);
	}
	c2c_release(&s);
	world_release(&w);
}

static void expect_same_line(const struct c2c *brief, const struct c2c *full,
			     const struct c2c_labels *brief_labels,
			     const struct c2c_labels *full_labels, size_t i)
{
	const struct c2c_subject *a = &brief->subjects.items[i], *b = &full->subjects.items[i];
	const char *a_name = brief_labels->names[i], *b_name = full_labels->names[i];

	assert_int_equal(a->address, b->address);
	assert_int_equal(a->excess_cycles, b->excess_cycles);
	assert_memory_equal(&a->contended, &b->contended, sizeof(a->contended));
	assert_memory_equal(&a->reloads, &b->reloads, sizeof(a->reloads));
	assert_int_equal(a->counts.n[C2C_RECORDS], b->counts.n[C2C_RECORDS]);
	assert_int_equal(c2c_waited(a, brief->options.mode), c2c_waited(b, full->options.mode));
	assert_int_equal(c2c_is_in_phases(&a->judgement), c2c_is_in_phases(&b->judgement));
	assert_int_equal(a_name == NULL, b_name == NULL);
	if (a_name != NULL)
		assert_string_equal(a_name, b_name);
}

/* Who asks for costs and names gets the same ones. Accesses are told apart where a program may give them names of their own. */
static void costs_take_no_accesses(void **state)
{
	static const struct made made[] = {
		{ 20, STORE8, ALPHA, FALSE_LINE, NO_SOURCE, 10 },
		{ 10, LOAD8, ALPHA_THREAD, FALSE_LINE + 8, PEER, 104 },
		{ 10, OTHER_LOAD8, ALPHA_THREAD, FALSE_LINE + 16, PEER, 104 },
		{ 8, LOAD8, ALPHA_THREAD, FALSE_LINE + 8, DRAM, 204 },
		{ 1, OTHER_LOAD8, ALPHA_THREAD, FALSE_LINE + 8, DRAM, 204 },
		{ 30, STORE8, ALPHA, TRUE_LINE, NO_SOURCE, 10 },
		{ 10, LOAD8, ALPHA_THREAD, TRUE_LINE, PEER, 54 },
		{ 9, LOAD8, ALPHA, TRUE_LINE + 24, DRAM, 304 }, /* its own stores explain none */
		{ 100, LOAD8, ALPHA, OWN_LINE, L1D, 8 },
	};
	static const uint32_t n_reloads[] = { 9, 0 };

	(void)state;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2)
		for (int has_program = 0; has_program < 2; has_program++) {
			const struct c2c_request request = { .mode = -1 },
						 only_phases = { .mode = -1, .only_phases = true };
			struct c2c_labels full_labels, brief_labels;
			struct names names = { 0 };
			struct c2c full, brief;
			struct world w;
			struct err err;

			print_message("%u workers, program %d\n", n_workers, has_program);
			open_world(&w, made, COUNT(made), n_workers,
				   has_program ? HAS_PROGRAM : NO_PROGRAM);
			assert_int_equal(c2c_run(&w.session, NULL, &request, &full, &err), 0);
			names_init(&names, &w.session, NULL, SYMBOLS_FUNCTIONS);
			assert_int_equal(c2c_run(&w.session, NULL, &only_phases, &brief, &err), 0);
			c2c_labels_init(&full_labels, &full);
			c2c_labels_init_names(&brief_labels, &brief);
			assert_int_equal(full.subjects.n, 2);
			assert_int_equal(brief.subjects.n, full.subjects.n);
			for (size_t i = 0; i < full.subjects.n; i++) {
				const struct c2c_subject *line = &brief.subjects.items[i];

				expect_same_line(&brief, &full, &brief_labels, &full_labels, i);
				assert_int_equal(line->reloads.n, n_reloads[i]);
				assert_int_equal(line->n_accesses,
						 has_program ? full.subjects.items[i].n_accesses
							     : 1);
			}
			c2c_labels_release(&brief_labels);
			c2c_labels_release(&full_labels);
			c2c_release(&brief);
			c2c_release(&full);
			names_release(&names);
			world_release(&w);
		}
}

static void wrong_requests_fail(void **state)
{
	static const struct {
		struct c2c_request request;
		enum err_code code;
	} requests[] = {
		{ { .mode = -1, .line_bytes = 12 }, ERR_USAGE },
		{ { .mode = -1, .line_bytes = 4 }, ERR_USAGE },
		{ { .mode = -1, .line_bytes = 2 * C2C_LINE_BYTES_MAX }, ERR_USAGE },
		{ { .mode = -1, .vector_bits = 100 }, ERR_USAGE },
		{ { .mode = -1, .by_physical = true }, ERR_NO_DATA }, /* none was recorded */
	};
	struct world w;

	(void)state;
	world_init(&w, 1);
	for (size_t i = 0; i < COUNT(requests); i++) {
		struct err err = { 0 };
		struct c2c s;

		assert_int_equal(c2c_run(&w.session, NULL, &requests[i].request, &s, &err), -1);
		assert_int_equal(err.code, requests[i].code);
		c2c_release(&s);
	}
	world_release(&w);
}

static void words_are_read(void **state)
{
	static const struct {
		const char *text;
		int mode, sort, coalesce; /* -1: is none */
	} words[] = {
		{ "peer", C2C_BY_PEER, -1, -1 },
		{ "tot", C2C_BY_HITM, -1, -1 },
		{ "lcl", C2C_BY_LOCAL_HITM, -1, -1 },
		{ "rmt", C2C_BY_REMOTE_HITM, -1, -1 },
		{ "cost", -1, C2C_SORT_COST, -1 },
		{ "address", -1, C2C_SORT_ADDRESS, -1 },
		{ "place", -1, -1, C2C_BY_PLACE },
		{ "thread,place", -1, -1, C2C_BY_PLACE | C2C_BY_THREAD },
		{ "module,module", -1, -1, C2C_BY_MODULE },
		{ "", -1, -1, -1 },
		{ "pee", -1, -1, -1 },
		{ "place,", -1, -1, -1 },
		{ "threads", -1, -1, -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		enum c2c_sort sort = C2C_N_SORTS;
		unsigned coalesce = 0;
		int mode = -1;
		struct err err;

		print_message("%s\n", words[i].text);
		assert_int_equal(c2c_mode_parse(words[i].text, &mode, &err),
				 words[i].mode < 0 ? -1 : 0);
		assert_int_equal(mode, words[i].mode);
		assert_int_equal(c2c_sort_parse(words[i].text, &sort, &err),
				 words[i].sort < 0 ? -1 : 0);
		assert_int_equal(sort, words[i].sort < 0 ? C2C_N_SORTS : words[i].sort);
		assert_int_equal(c2c_coalesce_parse(words[i].text, &coalesce, &err),
				 words[i].coalesce < 0 ? -1 : 0);
		assert_int_equal(coalesce, words[i].coalesce < 0 ? 0 : words[i].coalesce);
	}
}

enum { RELOADED_LINE = 0x40000, SELDOM_LINE = 0x50000, LEAST_LINE = 0x60000 };

/* The lines of `all` that loads waited for are the first ones of `waiting`. */
static void check_waiting(const struct c2c *all, const struct c2c *waiting)
{
	size_t n = 0, n_waited = 0;

	for (size_t i = 0; i < all->subjects.n; i++) {
		const struct c2c_subject *a = &all->subjects.items[i], *b;

		if (c2c_waited(a, C2C_BY_PEER) == 0)
			continue;
		assert_true(n < waiting->subjects.n);
		b = &waiting->subjects.items[n++];
		assert_int_equal(a->address, b->address);
		assert_int_equal(a->excess_cycles, b->excess_cycles);
		assert_int_equal(a->contended.n, b->contended.n);
		assert_int_equal(a->contended.squares, b->contended.squares);
		assert_int_equal(a->reloads.n, b->reloads.n);
		assert_int_equal(a->reloads.squares, b->reloads.squares);
		assert_int_equal(a->counts.n[C2C_RECORDS], b->counts.n[C2C_RECORDS]);
		assert_int_equal(a->judgement.reason, b->judgement.reason);
		n_waited++;
	}
	assert_int_equal(n_waited, all->request.top > 0 ? all->request.top : 3);
	assert_int_equal(waiting->subjects.items[0].address, RELOADED_LINE);
	for (size_t i = n; i < waiting->subjects.n; i++)
		assert_int_equal(c2c_waited(&waiting->subjects.items[i], C2C_BY_PEER), 0);
}

/*
 * Of lines that are contended, of one whose loads waited for what others wrote, but not for their caches, and of one that is used too
 * seldom for that: what answers that want these lines alone find is what all looks find of all lines. Files are looked for meanwhile,
 * or were before.
 */
static void lines_that_loads_waited_for_are_the_same(void **state)
{
	static const struct made made[] = {
		{ 20, STORE8, ALPHA, FALSE_LINE, NO_SOURCE, 10 },
		{ 20, LOAD8, ALPHA_THREAD, FALSE_LINE + 8, PEER, 104 },
		{ 30, LOAD8, ALPHA_THREAD, FALSE_LINE + 8, DRAM, 204 },
		{ 20, STORE8, ALPHA, RELOADED_LINE, NO_SOURCE, 10 },
		{ 30, LOAD8, ALPHA_THREAD, RELOADED_LINE, DRAM, 304 },
		{ 30, OTHER_LOAD8, ALPHA_THREAD, RELOADED_LINE + 8, DRAM, 104 },
		{ 1, STORE8, ALPHA, SELDOM_LINE, NO_SOURCE, 10 },
		{ 1, LOAD8, ALPHA_THREAD, SELDOM_LINE, DRAM, 504 },
		{ 5, STORE8, ALPHA, LEAST_LINE, NO_SOURCE, 10 },
		{ 2, LOAD8, ALPHA_THREAD, LEAST_LINE, PEER, 24 },
		{ 9000, LOAD8, ALPHA, OWN_LINE, L1D, 8 },
	};

	(void)state;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2)
		for (int run = 0; run < 12; run++) {
			struct c2c_request request = {
				.mode = -1,
				.top = (size_t)run % 4,
				.only_phases = true,
			};
			struct c2c all, waiting[2];
			struct names names;
			struct world w;
			struct err err;

			open_world(&w, made, COUNT(made), n_workers, (enum programs)(run / 4));
			request.only_waiting = true;
			assert_int_equal(c2c_run(&w.session, NULL, &request, &waiting[0], &err), 0);
			request.only_waiting = false;
			assert_int_equal(c2c_run(&w.session, NULL, &request, &all, &err), 0);
			names_init(&names, &w.session, NULL, SYMBOLS_FUNCTIONS);
			request.only_waiting = true;
			assert_int_equal(c2c_run(&w.session, NULL, &request, &waiting[1], &err), 0);
			check_waiting(&all, &waiting[0]);
			check_waiting(&all, &waiting[1]);
			names_release(&names);
			c2c_release(&all);
			c2c_release(&waiting[0]);
			c2c_release(&waiting[1]);
			world_release(&w);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_found_and_rated),
		cmocka_unit_test(scans_that_are_done_again_count_once),
		cmocka_unit_test(accesses_have_their_parts),
		cmocka_unit_test(causes_are_numbered),
		cmocka_unit_test(lines_that_loads_waited_for_are_the_same),
		cmocka_unit_test(pairs_are_in_order),
		cmocka_unit_test(little_is_a_finding_only_if_asked_for),
		cmocka_unit_test(instructions_say_how_far_they_reach),
		cmocka_unit_test(costs_take_no_accesses),
		cmocka_unit_test(wrong_requests_fail),
		cmocka_unit_test(words_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
