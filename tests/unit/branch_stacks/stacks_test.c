/* SPDX-License-Identifier: Apache-2.0 */
/* Branch stacks of a function that is made up here: which segments count, and what they stand for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../elf/elf_builder.h"
#include "base/alloc.h"
#include "branch_stacks/executions.h"
#include "branch_stacks/instructions.h"
#include "capture/writer/emit.h"
#include "capture/writer/writer.h"

#define BIT(n) ((uint64_t)1 << (n))

enum {
	PID = 100,
	USER_MODE = 2,
	PERIOD = 61,
	MAPPED = 0x400000, /* the program … */
	MAPPED_SIZE = 0x20000,
	NO_CODE_AT = 0x700000, /* … and memory with code that nobody has */
	NOWHERE = 0x900000,
	MOST_ENTRIES = 8,
	TAKEN_CONFIG = 0x810c, /* BR_TAKEN_RETIRED */
	ANY = 1 << 3,
	ANY_CALL = 1 << 4,
	ANY_RETURN = 1 << 5,
	CALL_STACK = 1 << 11,
};

/* Flags of an entry. */
#define PREDICTED BIT(1)
#define ABORT BIT(3)
#define CYCLES(n) ((uint64_t)(n) << 4)
#define TYPE(type) ((uint64_t)(type) << 20)
#define WRONG_PATH BIT(24)
#define OF_KERNEL ((uint64_t)BRANCH_KERNEL << 30)

enum {
	NOP = 0xd503201f,
	RET = 0xd65f03c0,
	TO_LOOP = 0x54ffffc1, /* b.ne, two instructions back */
	CALL_G = 0x94000004,
	BACK = 0x17fffffb, /* b, five back */
};

/* Offsets in the code. Behind the last there is code without a symbol. */
enum {
	LOOP = 0,     /* the function f, whose loop ends … */
	LOOP_END = 8, /* … here */
	CALL = 0xc,
	BEHIND_CALL = 0x10,
	JUMP = 0x14,
	END_OF_F = 0x18,
	G = 0x1c,
	P = 0x24, /* runs into q */
	Q = 0x2c,
	END_OF_Q = 0x30,
	K = 0x34, /* runs into what has no symbol */
	NAMELESS = 0x3c,
	END_OF_NAMELESS = 0x40,
};

static const uint32_t code[] = { NOP, NOP, TO_LOOP, CALL_G, NOP, BACK, RET, /* f */
				 NOP, RET,				    /* g */
				 NOP, NOP,				    /* p */
				 NOP, RET,				    /* q */
				 NOP, NOP,				    /* k */
				 NOP, RET };

struct entry {
	uint64_t from, to, flags;
};

/* What a capture has. */
struct made {
	uint32_t type; /* of the event */
	uint64_t config;
	uint64_t filter;  /* branch_sample_type */
	bool takes_turns; /* the event was counted for half of the time */
	size_t n_stacks;
	/* Fills the entries of stack number `i`, newest first; offsets in the code. Returns how many. */
	size_t (*fill)(size_t i, struct entry *);
};

struct world {
	char *folder, *path;
	uint64_t base; /* address of the code */
	struct session session;
	struct branch_stacks stacks;
};

static void build_program(struct world *w)
{
	uint8_t text[sizeof(code)];
	const struct built_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x10000, text, sizeof(text) },
		{ NULL },
	};
	const struct built_symbol symbols[] = {
		{ "f", 0x10000 + LOOP, G - LOOP, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
		{ "g", 0x10000 + G, P - G, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
		{ "p", 0x10000 + P, Q - P, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
		{ "q", 0x10000 + Q, K - Q, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
		{ "k", 0x10000 + K, NAMELESS - K, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
		{ NULL },
	};
	const struct built_elf elf = { .machine = EM_AARCH64,
				       .sections = sections,
				       .symbols = symbols };

	for (size_t i = 0; i < COUNT(code); i++)
		store_u32(text + 4 * i, code[i]);
	w->base = MAPPED + elf_build(in_folder(w->folder, "bin/alpha"), &elf);
}

static void write_map(struct writer *writer, uint64_t start, const char *path)
{
	const struct record_mmap map = { .pid = PID,
					 .tid = PID,
					 .start = start,
					 .length = MAPPED_SIZE,
					 .protection = 5,
					 .path = path };

	writer_mmap2(writer, &map, USER_MODE, NULL);
}

/* What is below the mapping is an offset in the code. */
static uint64_t address_of(const struct world *w, uint64_t at)
{
	return at < MAPPED ? w->base + at : at;
}

static void write_stack(const struct world *w, struct writer *writer, const struct made *made,
			size_t i)
{
	struct entry entries[MOST_ENTRIES] = { { 0 } };
	uint8_t words[MOST_ENTRIES * 24], reading[24];
	size_t n = made->fill(i, entries);
	const struct sample sample = {
		.id = 1,
		.ip = w->base,
		.pid = PID,
		.tid = PID,
		.time_ns = 1000 + i,
		.period = PERIOD,
		.branches = { words, n },
		.read = { reading, made->takes_turns ? 3 : 0 },
		.branch_hw_index = UINT64_MAX,
	};

	/* value, time enabled, time running */
	store_u64(reading, PERIOD * i);
	store_u64(reading + 8, 1000 * i);
	store_u64(reading + 16, 500 * i);
	for (size_t k = 0; k < n; k++) {
		store_u64(words + 24 * k, address_of(w, entries[k].from));
		store_u64(words + 24 * k + 8, address_of(w, entries[k].to));
		store_u64(words + 24 * k + 16, entries[k].flags);
	}
	writer_sample(writer, 0, USER_MODE, &sample);
}

static void open_world(struct world *w, const struct made *made)
{
	static const uint64_t id = 1;
	const struct writer_event event = {
		.name = "branches",
		.attr = { .type = made->type,
			  .config = made->config,
			  .branch_sample_type = made->filter,
			  .sample_type = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) |
					 BIT(SAMPLE_PERIOD) | BIT(SAMPLE_IDENTIFIER) |
					 BIT(SAMPLE_BRANCH_STACK) |
					 (made->takes_turns ? BIT(SAMPLE_READ) : 0),
			  .read_format = made->takes_turns
						 ? BIT(READ_TIME_ENABLED) | BIT(READ_TIME_RUNNING)
						 : 0,
			  .sample_period = PERIOD,
			  .flags = BIT(ATTR_SAMPLE_ID_ALL) },
		.ids = &id,
		.n_ids = 1,
	};
	const struct record_comm name = {
		.pid = PID, .tid = PID, .is_exec = true, .comm = "alpha"
	};
	struct session_options options = { .n_workers = 2 };
	struct writer *writer = NULL;
	struct err err = { .text = "" };

	*w = (struct world){ .folder = folder_make() };
	build_program(w);
	w->path =
		mem_strndup(in_folder(w->folder, "a.data"), strlen(in_folder(w->folder, "a.data")));
	assert_int_equal(writer_open(w->path, &event, 1, &writer, &err), 0);
	writer_feature_string(writer, FEATURE_ARCH, "aarch64");
	writer_feature_string(writer, FEATURE_CPUID, "0x00000000410fd0c1");
	writer_comm(writer, &name, NULL);
	write_map(writer, MAPPED, "/bin/alpha");
	write_map(writer, NO_CODE_AT, "/bin/away");
	for (size_t i = 0; i < made->n_stacks; i++)
		write_stack(w, writer, made, i);
	assert_int_equal(writer_close(writer, &err), 0);
	options.path = w->path;
	options.symbols.symfs = w->folder;
	if (session_open(&w->session, &options, &err) < 0 ||
	    (made->n_stacks > 0 &&
	     branch_stacks_read(&w->stacks, &w->session, NULL, -1, true, &err) < 0))
		fail_msg("%s", err.text);
}

static void close_world(struct world *w)
{
	branch_stacks_release(&w->stacks);
	session_release(&w->session);
	folder_remove(w->folder);
	free(w->path);
}

/* A segment: what the entries at both ends say, and what is wrong with it. */
static const struct {
	uint64_t start, end, older_flags, newer_flags;
	enum segment_fault fault;
} cases[] = {
	{ LOOP, LOOP_END, 0, 0, SEGMENT_GOOD },
	{ LOOP, CALL, 0, 0, SEGMENT_GOOD }, /* past a branch that is not taken */
	{ BEHIND_CALL, JUMP, 0, 0, SEGMENT_GOOD },
	{ P, END_OF_Q, 0, 0, SEGMENT_GOOD }, /* into the next function */
	{ NAMELESS, END_OF_NAMELESS, 0, 0, SEGMENT_GOOD },
	{ NOWHERE, LOOP_END, 0, 0, SEGMENT_UNRESOLVED },
	{ LOOP, NOWHERE, 0, 0, SEGMENT_UNRESOLVED },
	{ LOOP, LOOP_END, OF_KERNEL, 0, SEGMENT_OTHER_MODE },
	{ LOOP, NO_CODE_AT, 0, 0, SEGMENT_TWO_MODULES },
	{ LOOP_END, LOOP, 0, 0, SEGMENT_BACKWARD },
	{ LOOP, 0x10004, 0, 0, SEGMENT_TOO_LONG },
	{ NO_CODE_AT, NO_CODE_AT + 8, 0, 0, SEGMENT_NO_CODE },
	{ LOOP + 2, LOOP_END, 0, 0, SEGMENT_OFF_INSTRUCTION },
	{ LOOP, LOOP_END - 2, 0, 0, SEGMENT_OFF_INSTRUCTION },
	{ BEHIND_CALL, END_OF_F, 0, 0, SEGMENT_OVER_JUMP },
	{ G, Q, 0, 0, SEGMENT_OVER_JUMP }, /* out of a function, past its return */
	{ LOOP, JUMP, 0, 0, SEGMENT_OVER_CALL },
	{ K, END_OF_NAMELESS, 0, 0, SEGMENT_LEAVES },
	{ LOOP, LOOP + 4, 0, 0, SEGMENT_NO_BRANCH },
	{ NAMELESS, NAMELESS, 0, 0, SEGMENT_NO_BRANCH },
	{ LOOP, LOOP + 4, 0, TYPE(BRANCH_INTERRUPT), SEGMENT_GOOD },
	{ LOOP, LOOP + 4, 0, ABORT, SEGMENT_GOOD },
	/* newer kernels have kinds of exceptions in another field */
	{ LOOP, LOOP + 4, 0, TYPE(BRANCH_TYPE_IS_NEW) | BIT(26), SEGMENT_GOOD },
	/* the privilege level that is recorded holds, whatever the address */
	{ LOOP, LOOP_END, OF_KERNEL, TYPE(BRANCH_CONDITIONAL) | OF_KERNEL, SEGMENT_GOOD },
	{ LOOP, LOOP_END, 0, TYPE(BRANCH_CONDITIONAL) | OF_KERNEL, SEGMENT_OTHER_MODE },
};

static size_t the_case;

static size_t fill_case(size_t i, struct entry *out)
{
	(void)i;
	out[0] = (struct entry){ cases[the_case].end, LOOP,
				 PREDICTED | cases[the_case].newer_flags };
	out[1] = (struct entry){ LOOP_END, cases[the_case].start,
				 PREDICTED | cases[the_case].older_flags };
	return 2;
}

static void segments_that_cannot_be_are_rejected(void **state)
{
	const struct made made = { ATTR_TYPE_RAW, TAKEN_CONFIG, ANY, false, 1, fill_case };
	bool is_there[N_SEGMENT_FAULTS] = { false };

	(void)state;
	for (the_case = 0; the_case < COUNT(cases); the_case++) {
		enum segment_fault fault = cases[the_case].fault;
		struct world w;

		open_world(&w, &made);
		if (w.stacks.n_segments != 1 || w.stacks.by_fault[fault] != 1)
			fail_msg("case %zu is not: %s", the_case, segment_fault_text(fault));
		assert_int_equal(w.stacks.n_good, fault == SEGMENT_GOOD);
		is_there[fault] = true;
		close_world(&w);
	}
	for (int fault = 0; fault < N_SEGMENT_FAULTS; fault++)
		assert_true(is_there[fault]);
}

/* The loop goes round, or runs on to its call, in turn. */
static struct entry in_turn(size_t number)
{
	return (struct entry){ number % 2 ? LOOP_END : CALL, LOOP, PREDICTED };
}

static size_t fill_in_turn(size_t i, struct entry *out)
{
	for (size_t k = 0; k < 5; k++)
		out[k] = in_turn(i + k);
	return 5;
}

static size_t fill_wrong_newest(size_t i, struct entry *out)
{
	size_t n = fill_in_turn(i, out);

	if (i % 20 == 0)
		out[0].from = LOOP + 4;
	return n;
}

/* Each entry is as often wrong as the newest. */
static size_t fill_wrong_all(size_t i, struct entry *out)
{
	size_t n = fill_in_turn(i, out);

	for (size_t k = 0; k < n; k++)
		if ((i + 7 * k) % 20 == 0)
			out[k].from = LOOP + 4;
	return n;
}

static void a_position_that_is_often_wrong_is_left_out(void **state)
{
	struct made made = { ATTR_TYPE_RAW, TAKEN_CONFIG, ANY, false, 1000, fill_wrong_newest };
	struct world w;

	(void)state;
	open_world(&w, &made);
	assert_int_equal(w.stacks.options.left_out, 1);
	assert_int_equal(w.stacks.positions[0].by_fault[SEGMENT_NO_BRANCH], 50);
	assert_int_equal(w.stacks.n_segments, 3000);
	assert_int_equal(w.stacks.n_good, 3000);
	close_world(&w);

	made.fill = fill_wrong_all;
	open_world(&w, &made);
	assert_int_equal(w.stacks.options.left_out, 0);
	assert_int_equal(w.stacks.n_segments, 4000);
	assert_int_equal(w.stacks.n_good, 3800);
	close_world(&w);
}

/* The newest is always that which is slow. */
static size_t fill_biased(size_t i, struct entry *out)
{
	size_t n = fill_in_turn(i, out);

	out[0] = in_turn(1);
	return n;
}

static void a_window_that_prefers_a_branch_is_biased(void **state)
{
	struct made made = { ATTR_TYPE_RAW, TAKEN_CONFIG, ANY, false, 1000, fill_in_turn };
	struct world w;

	(void)state;
	open_world(&w, &made);
	assert_true(w.stacks.bias.is_tested);
	assert_false(w.stacks.bias.is_biased);
	close_world(&w);

	made.fill = fill_biased;
	open_world(&w, &made);
	assert_true(w.stacks.bias.is_biased);
	assert_true(w.stacks.bias.worst_ratio > 1.99);
	assert_false(isnan(branch_stacks_executions(&w.stacks, 1)));
	w.stacks.hides_biased = true;
	assert_true(isnan(branch_stacks_executions(&w.stacks, 1)));
	close_world(&w);
}

/* Half of the stacks are short, and the short ones have the loop only. */
static size_t fill_partly(size_t i, struct entry *out)
{
	size_t n = fill_in_turn(i / 2, out);

	if (i % 2 == 0)
		return n;
	out[0] = in_turn(1);
	return 2;
}

static void all_segments_weigh_the_same(void **state)
{
	const struct made made = { ATTR_TYPE_RAW, TAKEN_CONFIG, ANY, false, 1000, fill_partly };
	double all = 1000. * PERIOD;
	struct world w;

	(void)state;
	open_world(&w, &made);
	/* 500 stacks have four segments, 500 have one */
	assert_int_equal(w.stacks.segments.list.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct segment *s = &w.stacks.segments.list.items[i];
		const struct segment_sum *sum = segment_sum(&w.stacks.segments, s);

		assert_int_equal(sum->n,
				 s->end == w.stacks.segments.list.items[0].end ? 1500 : 1000);
		assert_true(fabs(branch_stacks_executions(&w.stacks, (double)sum->weight) -
				 all * (double)sum->n / 2500) < 0.01);
	}
	assert_true(fabs(branch_stacks_executions(&w.stacks, (double)w.stacks.weight) - all) <
		    0.01);
	close_world(&w);
}

static void events_that_take_turns_stand_for_more(void **state)
{
	const struct made made = { ATTR_TYPE_RAW, TAKEN_CONFIG, ANY, true, 1000, fill_in_turn };
	struct world w;

	(void)state;
	open_world(&w, &made);
	assert_true(fabs(branch_stacks_executions(&w.stacks, (double)w.stacks.weight) /
				 (2000. * PERIOD) -
			 1) < 1e-6);
	close_world(&w);
}

/* Wrong paths and slots that were not filled are no entries. */
static size_t fill_holes(size_t i, struct entry *out)
{
	(void)i;
	out[0] = in_turn(1);
	out[1] = (struct entry){ LOOP + 4, LOOP + 2, WRONG_PATH };
	out[2] = in_turn(1);
	out[3] = (struct entry){ 0, 0, 0 };
	return 3;
}

static void entries_of_wrong_paths_are_dropped(void **state)
{
	const struct made made = { ATTR_TYPE_RAW, TAKEN_CONFIG, ANY, false, 10, fill_holes };
	struct world w;

	(void)state;
	open_world(&w, &made);
	assert_int_equal(w.stacks.counts->n_entries, 20);
	assert_int_equal(w.stacks.counts->n_wrong_path, 10);
	assert_int_equal(w.stacks.n_good, 10);
	assert_true(w.session.has_branch_notes);
	close_world(&w);
}

/* Durations from 1 to 100 cycles; two in a row are alike, the third is not. */
static size_t fill_timed(size_t i, struct entry *out)
{
	for (size_t k = 0; k < 4; k++) {
		out[k] = in_turn(1);
		out[k].flags |= CYCLES(1 + (k < 2 ? i : i + 50) % 100);
	}
	return 4;
}

static void durations_have_quantiles(void **state)
{
	const struct made made = { ATTR_TYPE_RAW, TAKEN_CONFIG, ANY, false, 1000, fill_timed };
	struct good_segment first;
	struct stack_duration d;
	uint64_t at = 0;
	struct world w;

	(void)state;
	open_world(&w, &made);
	assert_true(segments_next_good(&w.stacks.segments, &at, &first));
	d = segment_duration(&w.stacks, &first);
	assert_int_equal(d.n, 3000);
	assert_int_equal(d.p50, 50);
	assert_int_equal(d.p90, 90);
	assert_int_equal(d.p99, 99);
	/* four of one branch in each of a thousand samples, which are independent */
	assert_int_equal(w.stacks.counts->taken_sums.items[0].squares, 16 * 1000);
	close_world(&w);
}

/* Loops of several durations; at one position more wrong entries than elsewhere; code that is not here. */
static size_t fill_all_kinds(size_t i, struct entry *out)
{
	size_t n = fill_wrong_newest(i, out);

	for (size_t k = 0; k < n; k++)
		out[k].flags |= CYCLES(1 + (7 * i + 13 * k) % 50);
	if (i % 3 == 0)
		out[3] = (struct entry){ NO_CODE_AT + 8 * (i % 100), NO_CODE_AT, 0 };
	if (i % 5 == 0)
		out[4].to = NOWHERE + i;
	return n;
}

/* Good segments are the same ones in the same order. */
static void compare_segments(const struct branch_stacks *a, const struct branch_stacks *b)
{
	uint64_t at = 0, other_at = 0;
	struct good_segment x, y;
	size_t n = 0, n_timed = 0;

	while (segments_next_good(&a->segments, &at, &x)) {
		struct stack_duration p = segment_duration(a, &x), q;

		assert_true(segments_next_good(&b->segments, &other_at, &y));
		q = segment_duration(b, &y);
		assert_int_equal(x.segment.module.v, y.segment.module.v);
		assert_int_equal(x.segment.start, y.segment.start);
		assert_int_equal(x.segment.end, y.segment.end);
		assert_int_equal(x.segment.flags, y.segment.flags);
		assert_int_equal(y.segment.fault, SEGMENT_GOOD);
		assert_int_equal(x.segment.n_instructions, y.segment.n_instructions);
		assert_memory_equal(x.segment.by_class, y.segment.by_class,
				    sizeof(x.segment.by_class));
		assert_int_equal(x.n, y.n);
		assert_int_equal(x.weight, y.weight);
		assert_memory_equal(&p, &q, sizeof(p));
		n_timed += p.n > 0;
		n++;
	}
	assert_false(segments_next_good(&b->segments, &other_at, &y));
	assert_true(n > 1 && n_timed > 1);
}

/* All branches of one are branches of the other. */
static void compare_taken(const struct branch_stacks *a, const struct branch_stacks *b)
{
	struct taken_branch x, y;
	size_t n = 0, n_other = 0;

	for (uint64_t at = 0; branch_stacks_next_taken(a, &at, &x); n++) {
		bool is_there = false;

		for (uint64_t i = 0; branch_stacks_next_taken(b, &i, &y) && !is_there;)
			is_there = x.from_number == y.from_number && x.to_number == y.to_number &&
				   x.type == y.type && x.sum.n == y.sum.n &&
				   x.sum.weight == y.sum.weight && x.sum.n_told == y.sum.n_told &&
				   x.sum.n_mispredicted == y.sum.n_mispredicted &&
				   x.sum.squares == y.sum.squares;
		assert_true(is_there);
	}
	for (uint64_t i = 0; branch_stacks_next_taken(b, &i, &y);)
		n_other++;
	assert_int_equal(n, n_other);
}

static void what_has_no_room_goes_to_files(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config;
	} events[] = { { ATTR_TYPE_RAW, TAKEN_CONFIG }, { ATTR_TYPE_HARDWARE, 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(events); i++) {
		const struct made made = { events[i].type, events[i].config, ANY, false,
					   3000,	   fill_all_kinds };
		struct branch_stacks *all, within;
		struct err err;
		struct world w;

		open_world(&w, &made);
		all = &w.stacks;
		assert_false(branch_stacks_are_sorted(all));
		assert_true(all->n_left_out > 0 && all->timed.n > 100);
		assert_int_equal(
			branch_stacks_read_within(&within, &w.session, NULL, -1, true, 1, &err), 0);
		assert_true(branch_stacks_are_sorted(&within));
		assert_int_equal(all->options.left_out, within.options.left_out);
		assert_int_equal(all->n_segments, within.n_segments);
		assert_int_equal(all->n_good, within.n_good);
		assert_memory_equal(all->by_fault, within.by_fault, sizeof(all->by_fault));
		assert_int_equal(all->bias.is_biased, within.bias.is_biased);
		assert_int_equal(all->good_weight, within.good_weight);
		assert_memory_equal(all->positions, within.positions, sizeof(all->positions));
		assert_true(all->bias.statistic == within.bias.statistic);
		compare_segments(all, &within);
		compare_taken(all, &within);
		branch_stacks_release(&within);
		close_world(&w);
	}
}

static void software_instructions_are_counted_by_class(void **state)
{
	const struct made made = { ATTR_TYPE_RAW, TAKEN_CONFIG, ANY, false, 1000, fill_in_turn };
	struct executed_instructions all;
	struct world w;

	(void)state;
	open_world(&w, &made);
	executed_instructions_find(&w.stacks, &all);
	/* half of the segments have three instructions, half have four, of which one calls */
	assert_true(fabs(all.n / (1000. * PERIOD * 3.5) - 1) < 1e-6);
	assert_true(fabs(all.by_class[CODE_BRANCH] / (1000. * PERIOD) - 1) < 1e-6);
	assert_true(fabs(all.by_class[CODE_CALL] / (1000. * PERIOD / 2) - 1) < 1e-6);
	assert_true(fabs(all.by_class[CODE_OTHER] / (1000. * PERIOD * 2) - 1) < 1e-6);
	assert_true(fabs(all.per_call - 7) < 1e-6);
	assert_int_equal(all.event, -1);
	close_world(&w);
}

/* Ten cycles each. */
static size_t fill_ten_cycles(size_t i, struct entry *out)
{
	size_t n = fill_in_turn(i, out);

	for (size_t k = 0; k < n; k++)
		out[k].flags |= CYCLES(10);
	return n;
}

static void samples_of_cycles_stand_for_what_ran_in_them(void **state)
{
	struct made made = { ATTR_TYPE_HARDWARE, 0, ANY, false, 1000, fill_ten_cycles };
	struct world w;

	(void)state;
	open_world(&w, &made);
	assert_true(fabs(branch_stacks_executions(&w.stacks, (double)w.stacks.weight) /
				 (1000. * PERIOD / 10) -
			 1) < 1e-3);
	close_world(&w);

	made.fill = fill_in_turn; /* without cycles nothing can be said */
	open_world(&w, &made);
	assert_true(isnan(branch_stacks_executions(&w.stacks, 1)));
	close_world(&w);
}

static void events_and_filters_are_told_apart(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config, branches;
		enum stack_trigger trigger;
		enum stack_filter filter;
		bool counts;
	} events[] = {
		{ ATTR_TYPE_RAW, TAKEN_CONFIG, ANY, TRIGGER_TAKEN, FILTER_ANY, true },
		{ ATTR_TYPE_RAW, TAKEN_CONFIG, ANY_RETURN, TRIGGER_TAKEN, FILTER_RETURNS, false },
		{ ATTR_TYPE_RAW, 0xe, ANY_RETURN, TRIGGER_RETURNS, FILTER_RETURNS, true },
		{ ATTR_TYPE_RAW, 0xe, ANY, TRIGGER_RETURNS, FILTER_ANY, false },
		{ ATTR_TYPE_RAW, 0x811f, ANY_CALL, TRIGGER_RECORDED, FILTER_SOME, true },
		{ ATTR_TYPE_RAW, 0x11, ANY, TRIGGER_CYCLES, FILTER_ANY, false },
		{ ATTR_TYPE_RAW, 0x8, ANY, TRIGGER_INSTRUCTIONS, FILTER_ANY, false },
		{ ATTR_TYPE_HARDWARE, 0, ANY, TRIGGER_CYCLES, FILTER_ANY, false },
		{ ATTR_TYPE_HARDWARE, 1, ANY, TRIGGER_INSTRUCTIONS, FILTER_ANY, false },
		{ ATTR_TYPE_HARDWARE, 5, ANY, TRIGGER_OTHER, FILTER_ANY, false },
		{ ATTR_TYPE_SOFTWARE, 0, ANY, TRIGGER_OTHER, FILTER_ANY, false },
		{ ATTR_TYPE_RAW, TAKEN_CONFIG, ANY_CALL | ANY_RETURN, TRIGGER_TAKEN, FILTER_SOME,
		  false },
		{ ATTR_TYPE_RAW, TAKEN_CONFIG, ANY | CALL_STACK, TRIGGER_TAKEN, FILTER_NONE,
		  false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(events); i++) {
		const struct made made = {
			events[i].type, events[i].config, events[i].branches, false, 0, NULL
		};
		enum stack_trigger trigger;
		enum stack_filter filter;
		struct world w;

		open_world(&w, &made);
		trigger = stack_trigger_of(&w.session, 0, NULL);
		filter = stack_filter_of(&w.session, 0);
		if (trigger != events[i].trigger || filter != events[i].filter ||
		    stack_trigger_counts(trigger, filter) != events[i].counts)
			fail_msg("event %zu: trigger %d, filter %d", i, (int)trigger, (int)filter);
		assert_int_equal(branch_stacks_choose(&w.session, FILTER_ANY),
				 filter == FILTER_NONE ? -1 : 0);
		close_world(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_that_cannot_be_are_rejected),
		cmocka_unit_test(a_position_that_is_often_wrong_is_left_out),
		cmocka_unit_test(a_window_that_prefers_a_branch_is_biased),
		cmocka_unit_test(all_segments_weigh_the_same),
		cmocka_unit_test(events_that_take_turns_stand_for_more),
		cmocka_unit_test(entries_of_wrong_paths_are_dropped),
		cmocka_unit_test(durations_have_quantiles),
		cmocka_unit_test(what_has_no_room_goes_to_files),
		cmocka_unit_test(software_instructions_are_counted_by_class),
		cmocka_unit_test(samples_of_cycles_stand_for_what_ran_in_them),
		cmocka_unit_test(events_and_filters_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
