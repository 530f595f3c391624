/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of groups in a cache line each: none is lost, whatever records come, and however they are merged. */
#include "addr/sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { N_GROUPS = 5, N_PARTS = 3, N_RECORDS = 40000 };

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* What may come. */
struct kind_of_records {
	const char *name;
	unsigned latency_bits, walk_bits, operation_bits, n_nodes;
};

static const struct kind_of_records kinds[] = {
	{ "as of SPE", 12, 10, 12, 2 },	      { "much latency", 24, 24, 24, 8 },
	{ "more latency", 60, 12, 12, 4 },    { "long walks", 12, 60, 12, 4 },
	{ "many operations", 12, 12, 60, 4 }, { "many nodes", 12, 12, 12, 64 },
	{ "a byte more", 25, 25, 25, 9 },
};

static uint64_t number_of_bits(uint64_t *random, unsigned bits)
{
	uint64_t high = next_random(random);

	return (high << 32 ^ next_random(random) << 8) >> (64 - bits);
}

static struct addr_record make_record(const struct kind_of_records *k, uint64_t *random,
				      struct access *access)
{
	struct addr_record out;

	*access = (struct access){
		.address = next_random(random),
		.kind = (enum memory_kind)(next_random(random) % (MEMORY_NONE + 1)),
		.is_translated = next_random(random) % 2,
		.has_cycles = next_random(random) % 8 != 0,
		.is_saturated = next_random(random) % 16 == 0,
		.cycles = number_of_bits(random, k->latency_bits), /* of some that have none, too */
		.has_walk = next_random(random) % 4 == 0,
		.level = (enum source_level)(next_random(random) % N_SOURCE_LEVELS),
	};
	access->has_walk_cycles = access->has_walk && next_random(random) % 2 == 0;
	access->walk_cycles = access->has_walk_cycles ? number_of_bits(random, k->walk_bits) : 0;
	out = addr_record_of(access);
	out.time_ns = next_random(random);
	out.operations = number_of_bits(random, k->operation_bits);
	if (next_random(random) % 4 != 0)
		out.page_nodes = UINT64_C(1) << next_random(random) % k->n_nodes;
	if (next_random(random) % 4 != 0)
		out.cpu_nodes = UINT64_C(1) << next_random(random) % k->n_nodes;
	return out;
}

/* The same in 64 bits, one after the other. */
static void add_expected(struct addr_sums *to, const struct access *a, const struct addr_record *r)
{
	uint64_t cycles = a->has_cycles ? a->cycles : 0;
	bool is_full = a->has_cycles && a->is_saturated;
	bool has_nodes = r->page_nodes != 0 && r->cpu_nodes != 0;

	to->first_ns = to->n == 0 || r->time_ns < to->first_ns ? r->time_ns : to->first_ns;
	to->least = to->n == 0 || a->address < to->least ? a->address : to->least;
	to->n++;
	to->kinds.loads += a->kind == MEMORY_LOAD;
	to->kinds.stores += a->kind == MEMORY_STORE;
	to->kinds.atomics += a->kind == MEMORY_ATOMIC;
	to->cycles += cycles;
	to->n_cycles += a->has_cycles;
	to->n_translated += a->is_translated;
	to->full_cycles += is_full ? cycles : 0;
	to->n_saturated += is_full;
	to->walks += a->has_walk;
	to->walk_cycles += a->walk_cycles;
	to->n_walk_cycles += a->has_walk_cycles;
	if (a->level != SOURCE_UNKNOWN)
		to->levels[a->level]++;
	to->memory_operations += r->operations;
	to->page_nodes |= r->page_nodes;
	to->n_near += has_nodes && r->page_nodes == r->cpu_nodes;
	to->n_far += has_nodes && r->page_nodes != r->cpu_nodes;
	to->far_cycles += has_nodes && r->page_nodes != r->cpu_nodes ? cycles : 0;
}

static void expect_groups(const struct addr_briefs *briefs, const struct addr_sums *expected)
{
	for (uint32_t i = 0; i < N_GROUPS; i++) {
		struct addr_sums sums = addr_briefs_get(briefs, i);

		assert_memory_equal(&sums, &expected[i], sizeof(sums));
		assert_int_equal(addr_briefs_first_ns(briefs, i), sums.first_ns);
		assert_int_equal(addr_briefs_least(briefs, i), sums.least);
	}
}

/* Each part is checked, and after each merge the whole. Group 0 has few records, the others more than a brief takes. */
static void test_no_sum_is_lost(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < COUNT(kinds); kind++) {
		struct addr_briefs whole = { 0 };
		struct addr_sums all[N_GROUPS] = { 0 };
		uint64_t random = kind;

		print_message("%s\n", kinds[kind].name);
		addr_briefs_reach(&whole, N_GROUPS);
		for (int part = 0; part < N_PARTS; part++) {
			struct addr_briefs briefs = { 0 };
			struct addr_sums expected[N_GROUPS] = { 0 };

			for (int i = 0; i < N_RECORDS; i++) {
				struct access access;
				struct addr_record r = make_record(&kinds[kind], &random, &access);
				uint32_t group = next_random(&random) % 2000 == 0
							 ? 0
							 : 1 + (uint32_t)next_random(&random) %
									   (N_GROUPS - 1);

				addr_briefs_reach(&briefs, i < N_GROUPS ? (size_t)i + 1 : N_GROUPS);
				group = group < briefs.n ? group : 0;
				addr_briefs_add(&briefs, group, &r);
				add_expected(&expected[group], &access, &r);
				add_expected(&all[group], &access, &r);
			}
			expect_groups(&briefs, expected);
			for (uint32_t i = 0; i < N_GROUPS; i++)
				addr_briefs_merge(&whole, i, &briefs, i);
			expect_groups(&whole, all);
			addr_briefs_release(&briefs);
		}
		addr_briefs_release(&whole);
	}
}

/* Exactly as many as a brief takes, one less and one more, of the largest numbers; and what is merged at these ends. */
static void test_ends(void **state)
{
	const struct access access = {
		.kind = MEMORY_LOAD,
		.has_cycles = true,
		.is_saturated = true,
		.has_walk = true,
		.has_walk_cycles = true,
		.cycles = (1 << BRIEF_NUMBER_BITS) - 1,
		.walk_cycles = (1 << BRIEF_NUMBER_BITS) - 1,
		.level = SOURCE_REMOTE_DRAM,
	};
	struct addr_record r = addr_record_of(&access);

	(void)state;
	r.operations = (1 << BRIEF_NUMBER_BITS) - 1;
	r.page_nodes = 1 << (BRIEF_NODES - 1);
	r.cpu_nodes = 1;
	for (unsigned n = BRIEF_RECORDS - 1; n <= BRIEF_RECORDS + 1; n++)
		for (unsigned more = 0; more <= 2; more++) {
			struct addr_briefs a = { 0 }, b = { 0 };
			struct addr_sums expected = { 0 }, sums;

			addr_briefs_reach(&a, 1);
			addr_briefs_reach(&b, 1);
			for (unsigned i = 0; i < n + more; i++) {
				addr_briefs_add(i < n ? &a : &b, 0, &r);
				add_expected(&expected, &access, &r);
			}
			assert_int_equal(a.wide.n, n > BRIEF_RECORDS);
			addr_briefs_merge(&a, 0, &b, 0);
			assert_int_equal(a.wide.n, n > BRIEF_RECORDS || n + more > BRIEF_RECORDS);
			sums = addr_briefs_get(&a, 0);
			assert_memory_equal(&sums, &expected, sizeof(sums));
			addr_briefs_release(&a);
			addr_briefs_release(&b);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_sum_is_lost),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
