/* SPDX-License-Identifier: Apache-2.0 */
/* However processes fork, a look-up must go through few strands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "process/spaces.h"

enum { N = 20000 };

static uint64_t next_random(uint64_t *state, uint64_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % below;
}

static void map_one(struct spaces *s, uint32_t space, uint64_t time_ns)
{
	spaces_map(s, &(struct mapping){
			      .range = { time_ns, time_ns },
			      .time_ns = time_ns,
			      .space = space,
			      .module = { 1 },
		      });
}

/* Who forks when process `i` is made: a process below `i`. */
static uint32_t last_one(uint32_t i, uint64_t *seed)
{
	(void)seed;
	return i - 1;
}

static uint32_t first_one(uint32_t i, uint64_t *seed)
{
	(void)i;
	(void)seed;
	return 1;
}

static uint32_t halfway(uint32_t i, uint64_t *seed)
{
	(void)seed;
	return i / 2;
}

static uint32_t anyone(uint32_t i, uint64_t *seed)
{
	return 1 + (uint32_t)next_random(seed, i - 1);
}

static uint32_t a_recent_one(uint32_t i, uint64_t *seed)
{
	return i - 1 - (uint32_t)next_random(seed, i < 10 ? i - 1 : 9);
}

/* Which of the two maps something, before the fork and after it. */
enum maps { BY_PARENT_BEFORE = 1, BY_PARENT_AFTER = 2, BY_CHILD = 4 };

static const struct {
	uint32_t (*parent)(uint32_t i, uint64_t *seed);
	unsigned maps;
} shapes[] = {
	{ last_one, 0 },
	{ last_one, BY_PARENT_BEFORE },
	{ last_one, BY_PARENT_AFTER },
	{ last_one, BY_CHILD },
	{ last_one, BY_PARENT_BEFORE | BY_PARENT_AFTER | BY_CHILD },
	{ first_one, 0 },
	{ first_one, BY_PARENT_BEFORE },
	{ first_one, BY_CHILD },
	{ first_one, BY_PARENT_AFTER | BY_CHILD },
	{ halfway, BY_CHILD },
	{ halfway, BY_PARENT_AFTER | BY_CHILD },
	{ anyone, BY_CHILD },
	{ anyone, BY_PARENT_BEFORE | BY_PARENT_AFTER | BY_CHILD },
	{ a_recent_one, BY_PARENT_AFTER },
	{ a_recent_one, BY_CHILD },
};

static void grow(struct spaces *s, size_t shape)
{
	uint64_t seed = shape;

	spaces_add_empty(s, 1, 0);
	map_one(s, 1, 1);
	for (uint32_t i = 2; i < N; i++) {
		uint32_t parent = shapes[shape].parent(i, &seed);

		if (shapes[shape].maps & BY_PARENT_BEFORE)
			map_one(s, parent, i);
		spaces_add_fork(s, i, i, parent);
		if (shapes[shape].maps & BY_PARENT_AFTER)
			map_one(s, parent, i);
		if (shapes[shape].maps & BY_CHILD)
			map_one(s, i, i);
	}
}

/* Parents of strands come before them. */
static uint32_t greatest_depth(const struct spaces *s)
{
	uint32_t *depths = mem_zalloc(s->n_strands, sizeof(*depths)), greatest = 0;

	for (uint32_t i = 0; i < s->n_strands; i++) {
		if (s->strands[i].parent < i)
			depths[i] = depths[s->strands[i].parent] + 1;
		if (depths[i] > greatest)
			greatest = depths[i];
	}
	free(depths);
	return greatest;
}

static uint32_t logarithm(uint64_t n)
{
	return 63 - (uint32_t)__builtin_clzll(n);
}

static void test_depth(void **state)
{
	struct pool *pool = pool_new(3);

	(void)state;
	for (size_t shape = 0; shape < COUNT(shapes); shape++) {
		struct spaces s;

		spaces_init(&s);
		grow(&s, shape);
		spaces_freeze(&s, N, pool);
		assert_true(greatest_depth(&s) <= logarithm(s.spaces.n + s.mappings.n));
		/* Everybody has what the first one mapped. */
		for (uint32_t owner = 1; owner < N; owner++) {
			struct spot spot = spaces_find(&s, owner, UINT64_MAX, 1);

			assert_ptr_equal(spot.mapping, &s.mappings.items[0]);
			assert_true(spot.from_ns >= owner);
			assert_int_equal(spot.to_ns, UINT64_MAX);
		}
		spaces_release(&s);
	}
	pool_free(pool);
}

/* Every mapping is on one strand, and a strand's mappings follow each other in time. */
static void test_strands(void **state)
{
	(void)state;
	for (size_t shape = 0; shape < COUNT(shapes); shape++) {
		struct spaces s;
		size_t n = 0;

		spaces_init(&s);
		grow(&s, shape);
		spaces_freeze(&s, N, NULL);
		for (uint32_t i = 0; i < s.n_strands; i++) {
			const struct strand *strand = &s.strands[i];

			for (uint32_t k = 1; k < strand->n_maps; k++)
				assert_true(s.by_strand[strand->first + k - 1] <
					    s.by_strand[strand->first + k]);
			assert_true(strand->parent_maps <= s.strands[strand->parent].n_maps);
			n += strand->n_maps;
		}
		assert_int_equal(n, s.mappings.n);
		spaces_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_strands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
