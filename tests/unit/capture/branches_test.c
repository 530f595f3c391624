/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/alloc.h"
#include "capture/format/branches.h"

enum { N_EVENTS = 2, CYCLES = 4, TYPE = 20, SPEC = 24, NEW_TYPE = 26, PRIVILEGE = 30 };
enum { KERNEL_MODE = 1, USER_MODE = 2, HYPERVISOR_MODE = 3 };

static const uint64_t kernel = 0xffff800000000000;

static const bool none[N_EVENTS];

/* A sample of an event with these entries. */
static void add_sample(struct batch *b, uint16_t event, const struct branch_entry *entries,
		       size_t n)
{
	size_t row = b->n++;

	b->kind = BATCH_SAMPLES;
	b->has[row] = HAS_BRANCHES | HAS_TIME | HAS_TID | HAS_PC;
	b->event[row] = event;
	b->time_ns[row] = 100 + row;
	b->tid[row] = 7;
	b->pc[row] = 0x1234;
	b->mode[row] = KERNEL_MODE;
	b->branches[row] = (struct batch_slice){ (uint32_t)b->words.n, (uint32_t)(3 * n) };
	for (size_t i = 0; i < n; i++) {
		*vec_add(&b->words) = entries[i].from;
		*vec_add(&b->words) = entries[i].to;
		*vec_add(&b->words) = entries[i].flags;
	}
}

struct fixture {
	struct batch *samples, *out;
	struct branch_rows at;
};

static int set_up(void **state)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));

	f->samples = batch_new();
	f->out = batch_new();
	batch_reset(f->samples, BATCH_SAMPLES);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	batch_free(f->samples);
	batch_free(f->out);
	free(f);
	return 0;
}

static void flags_become_columns(void **state)
{
	static const struct {
		uint64_t flags;
		uint32_t has; /* of these three */
		uint8_t op;
		bool is_mispredicted;
		uint16_t cycles;
	} cases[] = {
		{ 0, 0, 0, false, 0 },
		{ 1, HAS_EVENTS, 0, true, 0 },
		{ 2, HAS_EVENTS, 0, false, 0 },
		{ 9 << CYCLES, HAS_BRANCH_CYCLES, 0, false, 9 },
		{ 0xffff << CYCLES, HAS_BRANCH_CYCLES, 0, false, 0xffff },
		{ 1 << TYPE, HAS_BRANCH_TYPE, 0x01, false, 0 },
		{ 2 << TYPE, HAS_BRANCH_TYPE, 0, false, 0 },
		{ 3 << TYPE, HAS_BRANCH_TYPE, 0x02, false, 0 },
		{ 4 << TYPE, HAS_BRANCH_TYPE, 0x08, false, 0 },
		{ 6 << TYPE, HAS_BRANCH_TYPE, 0x12, false, 0 },
		{ 14 << TYPE, 0, 0, false, 0 },
		{ 15 << TYPE | 1, HAS_EVENTS, 0, true, 0 },
	};
	const uint32_t all = HAS_EVENTS | HAS_BRANCH_CYCLES | HAS_BRANCH_TYPE;
	struct branch_entry entries[COUNT(cases)];
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(cases); i++)
		entries[i] = (struct branch_entry){ 0x1000 + i, 0x2000, cases[i].flags };
	add_sample(f->samples, 1, entries, COUNT(cases));
	assert_true(branch_rows_next(&f->at, f->samples, none, f->out));
	assert_int_equal(f->out->kind, BATCH_BRANCHES);
	assert_int_equal(f->out->n, COUNT(cases));
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(f->out->has[i] & all, cases[i].has);
		assert_int_equal(f->out->has[i] & ~all,
				 HAS_PC | HAS_TARGET | HAS_OP | HAS_TIME | HAS_TID);
		assert_int_equal(f->out->pc[i], 0x1000 + i);
		assert_int_equal(f->out->target[i], 0x2000);
		assert_int_equal(f->out->op_class[i], SPE_OP_BRANCH);
		assert_int_equal(f->out->op[i], cases[i].op);
		assert_int_equal(f->out->events[i], cases[i].is_mispredicted ? BRANCH_EVENTS : 0);
		assert_int_equal(f->out->branch_cycles[i], cases[i].cycles);
		assert_int_equal(f->out->event[i], 1);
		assert_int_equal(f->out->tid[i], 7);
		assert_int_equal(f->out->time_ns[i], 100);
		assert_int_equal(f->out->mode[i], USER_MODE);
	}
	assert_false(branch_rows_next(&f->at, f->samples, none, f->out));
}

static void flags_are_taken_apart(void **state)
{
	static const struct {
		uint64_t flags;
		struct branch_flags wanted;
		const char *type, *arm_type, *spec, *privilege;
	} cases[] = {
		{ 0, { 0 }, NULL, NULL, NULL, NULL },
		{ 1, { .is_mispredicted = true }, NULL, NULL, NULL, NULL },
		{ 2, { .is_predicted = true }, NULL, NULL, NULL, NULL },
		{ 4, { .is_in_transaction = true }, NULL, NULL, NULL, NULL },
		{ 8, { .is_abort = true }, NULL, NULL, NULL, NULL },
		{ 0xffff << CYCLES, { .cycles = 0xffff }, NULL, NULL, NULL, NULL },
		{ 1 << TYPE, { .type = BRANCH_CONDITIONAL }, "COND", "COND", NULL, NULL },
		{ 13 << TYPE, { .type = BRANCH_SYSTEM_ERROR }, "SERROR", "SERROR", NULL, NULL },
		{ 14 << TYPE, { .type = BRANCH_NO_TRANSACTION }, "NO_TX", "NO_TX", NULL, NULL },
		{ 15 << TYPE,
		  { .type = BRANCH_NEW_TYPES },
		  "FAULT_ALGN",
		  "FAULT_ALGN",
		  NULL,
		  NULL },
		{ 15 << TYPE | 3 << NEW_TYPE,
		  { .type = BRANCH_NEW_TYPES + 3 },
		  "ARCH_1",
		  "FIQ",
		  NULL,
		  NULL },
		{ 15 << TYPE | 15ull << NEW_TYPE,
		  { .type = BRANCH_NEW_TYPES + 15 },
		  NULL,
		  NULL,
		  NULL,
		  NULL },
		/* the other field counts only with type 15 */
		{ 6 << TYPE | 7 << NEW_TYPE, { .type = BRANCH_RETURN }, "RET", "RET", NULL, NULL },
		{ 1 << SPEC, { .spec = BRANCH_WRONG_PATH }, NULL, NULL, "SPEC_WRONG_PATH", NULL },
		{ 2 << SPEC,
		  { .spec = BRANCH_NOT_SPECULATIVE },
		  NULL,
		  NULL,
		  "NON_SPEC_CORRECT_PATH",
		  NULL },
		{ 3 << SPEC, { .spec = BRANCH_RIGHT_PATH }, NULL, NULL, "SPEC_CORRECT_PATH", NULL },
		{ 1ull << PRIVILEGE, { .privilege = BRANCH_USER }, NULL, NULL, NULL, "user" },
		{ 3ull << PRIVILEGE,
		  { .privilege = BRANCH_HYPERVISOR },
		  NULL,
		  NULL,
		  NULL,
		  "hypervisor" },
		{ 7ull << PRIVILEGE, { .privilege = 7 }, NULL, NULL, NULL, NULL },
		{ UINT64_MAX << 33, { 0 }, NULL, NULL, NULL, NULL }, /* reserved */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct branch_flags f = branch_read_flags(cases[i].flags);
		const struct branch_flags *w = &cases[i].wanted;
		const char *texts[][2] = {
			{ branch_type_name(f.type, false), cases[i].type },
			{ branch_type_name(f.type, true), cases[i].arm_type },
			{ branch_spec_name(f.spec), cases[i].spec },
			{ branch_privilege_name(f.privilege), cases[i].privilege },
		};

		assert_int_equal(f.is_mispredicted, w->is_mispredicted);
		assert_int_equal(f.is_predicted, w->is_predicted);
		assert_int_equal(f.is_in_transaction, w->is_in_transaction);
		assert_int_equal(f.is_abort, w->is_abort);
		assert_int_equal(f.cycles, w->cycles);
		assert_int_equal(f.type, w->type);
		assert_int_equal(f.spec, w->spec);
		assert_int_equal(f.privilege, w->privilege);
		for (size_t k = 0; k < COUNT(texts); k++) {
			assert_int_equal(texts[k][0] == NULL, texts[k][1] == NULL);
			if (texts[k][0] != NULL)
				assert_string_equal(texts[k][0], texts[k][1]);
		}
	}
}

/* The mode is that of the source. */
static void privilege_gives_the_mode(void **state)
{
	static const struct {
		uint64_t from, flags;
		uint8_t mode;
	} cases[] = {
		{ 0x1000, 0, USER_MODE },
		{ kernel, 0, KERNEL_MODE },
		{ 0x1000, 1 << TYPE | 2ull << PRIVILEGE, KERNEL_MODE },
		{ 0x1000, 1 << TYPE | 3ull << PRIVILEGE, HYPERVISOR_MODE },
		{ kernel, 4 << TYPE | 1ull << PRIVILEGE, USER_MODE },
		{ 0x1000, 1 << TYPE | 7ull << PRIVILEGE, USER_MODE }, /* not defined */
		/* the privilege is that of the target */
		{ 0x1000, 7 << TYPE | 2ull << PRIVILEGE, USER_MODE },
		{ kernel, 11 << TYPE | 1ull << PRIVILEGE, KERNEL_MODE },
		{ 0x1000, 15 << TYPE | 1 << NEW_TYPE | 2ull << PRIVILEGE, USER_MODE },
		{ 0x1000, 2ull << PRIVILEGE, USER_MODE },
	};
	struct branch_entry entries[COUNT(cases)];
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(cases); i++)
		entries[i] = (struct branch_entry){ cases[i].from, 0x2000, cases[i].flags };
	add_sample(f->samples, 0, entries, COUNT(cases));
	assert_true(branch_rows_next(&f->at, f->samples, none, f->out));
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(f->out->mode[i], cases[i].mode);
}

/* Entries of a wrong path are left out, and counted once; or kept with their own position. */
static void wrong_paths_are_left_out(void **state)
{
	static const struct branch_entry entries[] = { { 1, 9, 1 << SPEC },
						       { 2, 9, 2 << SPEC },
						       { 3, 9, 3 << SPEC | 1 },
						       { 4, 9, 1 << SPEC | 1 },
						       { 5, 9, 0 } };
	struct fixture *f = *state;

	add_sample(f->samples, 0, entries, COUNT(entries));
	f->samples->position[0] = 77;
	assert_true(branch_rows_next(&f->at, f->samples, none, f->out));
	assert_int_equal(f->out->n, 3);
	for (size_t i = 0; i < 3; i++) {
		static const uint32_t positions[] = { 1, 2, 4 };

		assert_int_equal(f->out->branch_position[i], positions[i]);
		assert_int_equal(f->out->pc[i], positions[i] + 1);
		assert_int_equal(f->out->branch_flags[i], entries[positions[i]].flags);
	}
	assert_int_equal(f->at.n_wrong_path, 2);
	assert_int_equal(f->at.first_wrong_path, 77);
	assert_false(branch_rows_next(&f->at, f->samples, none, f->out));
	branch_rows_restart(&f->at);
	f->at.with_wrong_path = true;
	assert_true(branch_rows_next(&f->at, f->samples, none, f->out));
	assert_int_equal(f->out->n, COUNT(entries));
	assert_int_equal(f->at.n_wrong_path, 2);
}

static void unwanted_entries_are_left_out(void **state)
{
	static const bool first[N_EVENTS] = { true, false };
	static const struct branch_entry entries[] = {
		{ 0, 0, 2 }, { 0, 0x10, 2 }, { 0x20, 0, 2 }, { UINT64_MAX - 7, 0x30, 2 }
	};
	struct fixture *f = *state;

	add_sample(f->samples, 0, entries, COUNT(entries));
	add_sample(f->samples, 1, entries, COUNT(entries));
	f->samples->has[f->samples->n++] = HAS_PC; /* without a stack */
	assert_true(branch_rows_next(&f->at, f->samples, first, f->out));
	assert_int_equal(f->out->n, 3); /* slots that the hardware has not filled */
	assert_int_equal(f->out->pc[0], 0);
	assert_int_equal(f->out->pc[1], 0x20);
	assert_int_equal(f->out->mode[2], KERNEL_MODE);
	assert_false(branch_rows_next(&f->at, f->samples, first, f->out));
}

/* Stacks of any length, over several batches: each entry once. */
static void long_stacks_go_on(void **state)
{
	static struct branch_entry entries[2 * BATCH_ROWS + 3];
	struct fixture *f = *state;
	uint64_t next = 1;

	for (size_t i = 0; i < COUNT(entries); i++)
		entries[i] = (struct branch_entry){ i + 1, 1, 0 };
	add_sample(f->samples, 0, entries, COUNT(entries));
	add_sample(f->samples, 0, entries, 0);
	add_sample(f->samples, 0, entries, 5);
	while (branch_rows_next(&f->at, f->samples, none, f->out))
		for (size_t row = 0; row < f->out->n; row++, next++)
			assert_int_equal(f->out->pc[row],
					 next <= COUNT(entries) ? next : next - COUNT(entries));
	assert_int_equal(next - 1, COUNT(entries) + 5);
}

static void other_batches_have_none(void **state)
{
	struct fixture *f = *state;

	batch_reset(f->samples, BATCH_SPE);
	assert_false(branch_rows_next(&f->at, f->samples, none, f->out));
}

static void rows_can_be_kept(void **state)
{
	static const struct branch_entry entries[] = { { 1, 2, 1 },
						       { 3, 4, 2 | 8 << CYCLES },
						       { 5, 6, 1 | 3 << TYPE } };
	bool keep[BATCH_ROWS] = { false, true, true };
	struct fixture *f = *state;

	add_sample(f->samples, 1, entries, COUNT(entries));
	assert_true(branch_rows_next(&f->at, f->samples, none, f->out));
	batch_keep(f->out, keep);
	assert_int_equal(f->out->n, 2);
	assert_int_equal(f->out->pc[0], 3);
	assert_int_equal(f->out->target[1], 6);
	assert_int_equal(f->out->branch_cycles[0], 8);
	assert_int_equal(f->out->branch_flags[0], entries[1].flags);
	assert_int_equal(f->out->branch_position[1], 2);
	assert_int_equal(f->out->events[1], BRANCH_EVENTS);
	assert_int_equal(f->out->op[1], 0x02);
	assert_int_equal(f->out->op_class[1], SPE_OP_BRANCH);
	assert_int_equal(f->out->event[1], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(flags_become_columns, set_up, tear_down),
		cmocka_unit_test(flags_are_taken_apart),
		cmocka_unit_test_setup_teardown(privilege_gives_the_mode, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_paths_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unwanted_entries_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_stacks_go_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_batches_have_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_can_be_kept, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
