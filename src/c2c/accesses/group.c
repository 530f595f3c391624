/* SPDX-License-Identifier: Apache-2.0 */
/* Makes lines and their accesses out of what the second look touched. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "c2c/accesses/cost.h"
#include "c2c/accesses/group.h"

/* The keys of a touch's row, in the order in which rows differ. */
enum { GROUP_WORDS = 7 };

static void group_words(const struct c2c *s, const struct c2c_touch_key *k, uint64_t *out)
{
	unsigned by = s->request.coalesce;
	struct place place = session_place(s->session, k->place);
	uint64_t pid = timeline_process(s->session->timeline, k->process)->pid;

	out[0] = (uint64_t)k->line << 32 | k->offset;
	out[1] = by & C2C_BY_PROCESS ? pid << 32 | k->process : 0;
	out[2] = by & C2C_BY_THREAD ? k->tid : 0;
	out[3] = by & (C2C_BY_MODULE | C2C_BY_PLACE) ? place.module.v : 0;
	out[4] = by & C2C_BY_PLACE ? place.offset : 0;
	out[5] = by & C2C_BY_PLACE ? k->pc : 0;
	out[6] = k->kind & ~(unsigned)C2C_KIND_PARTIAL;
}

/* All that the order of a line's touches depends on: nothing in it is a number of ours. */
struct sort_key {
	uint64_t words[GROUP_WORDS + 3];
	uint32_t touch;
};

static void find_sort_key(const struct c2c *s, uint32_t touch, struct sort_key *out)
{
	struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, touch);

	group_words(s, &k, out->words);
	out->words[GROUP_WORDS] = (uint64_t)k.tid << 32 | k.cpu;
	out->words[GROUP_WORDS + 1] = (uint64_t)k.process << 32 | (uint64_t)k.vector << 8 | k.kind;
	out->words[GROUP_WORDS + 2] = k.pc;
	out->touch = touch;
}

static int compare_sort_keys(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;

	for (size_t i = 0; i < GROUP_WORDS + 3; i++)
		if (a->words[i] != b->words[i])
			return (a->words[i] > b->words[i]) - (a->words[i] < b->words[i]);
	return 0;
}

/* By number of the line that touches have: which of these lines it is, or n_lines for none. */
static uint32_t *index_lines(const struct c2c *s, const struct c2c_subject *lines, size_t n_lines)
{
	size_t n = s->accesses_seen->n_lines;
	uint32_t *out = mem_alloc(n + 1, sizeof(*out));

	for (size_t i = 0; i < n; i++)
		out[i] = (uint32_t)n_lines;
	for (size_t i = 0; i < n_lines; i++)
		if (lines[i].line != TUPLES_NONE)
			out[lines[i].line] = (uint32_t)i;
	return out;
}

/* Touches of lines, those of each together: of line i at [first[i], first[i + 1]) of the order. */
struct lines_touches {
	struct c2c *s;
	struct c2c_subject *lines;
	uint32_t *order;
	const uint32_t *first;
	bool *starts; /* by place in the order: an access begins there */
};

static bool is_other_row(const struct sort_key *a, const struct sort_key *b)
{
	return memcmp(a->words, b->words, GROUP_WORDS * sizeof(*a->words)) != 0;
}

/* Each line has its own touches, so lines are worked on at once. */
static void sort_line(void *context, size_t line, unsigned worker)
{
	const struct lines_touches *t = context;
	uint32_t *order = t->order + t->first[line], n = t->first[line + 1] - t->first[line];
	bool *starts = t->starts + t->first[line];
	struct sort_key *keys = mem_alloc((size_t)n + 1, sizeof(*keys));
	uint32_t n_accesses = 0;

	(void)worker;
	for (uint32_t i = 0; i < n; i++)
		find_sort_key(t->s, order[i], &keys[i]);
	if (n > 1)
		qsort(keys, n, sizeof(*keys), compare_sort_keys);
	for (uint32_t i = 0; i < n; i++) {
		order[i] = keys[i].touch;
		starts[i] = i == 0 || is_other_row(&keys[i - 1], &keys[i]);
		n_accesses += starts[i];
	}
	t->lines[line].n_accesses = n_accesses;
	free(keys);
}

/* Puts the touches of these lines behind those that are in order already, by line. The others come last. */
static void order_touches(struct c2c *s, size_t n_lines, uint32_t *first,
			  struct lines_touches *touches)
{
	uint32_t n = s->accesses_seen->keys.n, *order = touches->order;
	uint32_t *numbers = index_lines(s, touches->lines, n_lines);

	for (uint32_t i = 0; i < s->n_ordered; i++)
		order[i] = i;
	for (uint32_t i = s->n_ordered; i < n; i++)
		first[numbers[c2c_touch_key(s->accesses_seen, i).line] + 2]++;
	first[0] = first[1] = s->n_ordered;
	for (size_t i = 0; i <= n_lines; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = s->n_ordered; i < n; i++)
		order[first[numbers[c2c_touch_key(s->accesses_seen, i).line] + 1]++] = i;
	free(numbers);
	pool_run(s->session->pool, n_lines, sort_line, touches);
	c2c_touches_reorder(s->accesses_seen, order);
	s->n_ordered = first[n_lines];
}

void c2c_access_sum(const struct c2c *s, const struct c2c_access *a, struct c2c_touch *out)
{
	struct c2c_touch touch;

	c2c_touch_get(s->accesses_seen, a->first_touch, out);
	for (uint32_t i = 1; i < a->n_touches; i++) {
		c2c_touch_get(s->accesses_seen, a->first_touch + i, &touch);
		c2c_touch_merge(out, &touch);
	}
}

/* Tables of distinct threads, processes and cpus, for one access after the other. */
enum { WHO_THREADS, WHO_PROCESSES, WHO_CPUS, N_WHO };

/* A table that grew takes longer to clear than to make anew. */
static void empty(struct tuples *t)
{
	enum { FEW = 64 };

	if (t->n <= FEW) {
		tuples_reset(t);
		return;
	}
	tuples_release(t);
	tuples_init(t, 1);
}

/* Distinct threads, processes and cpus of the touches of an access. */
static void count_who(const struct c2c *s, struct c2c_access *a, struct tuples seen[N_WHO])
{
	a->n_threads = a->n_processes = a->n_cpus = 1;
	if (a->n_touches == 1)
		return;
	for (int i = 0; i < N_WHO; i++)
		empty(&seen[i]);
	for (uint32_t i = 0; i < a->n_touches; i++) {
		struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, a->first_touch + i);

		tuples_add(&seen[WHO_THREADS], &(uint64_t){ k.tid });
		tuples_add(&seen[WHO_PROCESSES], &(uint64_t){ k.process });
		tuples_add(&seen[WHO_CPUS], &(uint64_t){ k.cpu });
	}
	a->n_threads = seen[WHO_THREADS].n;
	a->n_processes = seen[WHO_PROCESSES].n;
	a->n_cpus = seen[WHO_CPUS].n;
}

/* Where the touches of an access begin that begins at `at`. */
static struct c2c_access access_at(const struct c2c *s, uint32_t at)
{
	struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, at);

	return (struct c2c_access){
		.offset = k.offset,
		.kind = k.kind,
		.place = k.place,
		.pc = k.pc,
		.first_touch = at,
	};
}

/* Settles what the reloads of a line are, and makes rows out of its touches. */
static void group_line(void *context, size_t line, unsigned worker)
{
	const struct lines_touches *t = context;
	struct c2c_subject *subject = &t->lines[line];
	struct c2c_access *accesses = t->s->accesses.items + subject->first_access, *a = accesses;
	uint32_t from = t->first[line], to = t->first[line + 1];
	struct tuples seen[N_WHO];

	(void)worker;
	c2c_settle_reloads(t->s, from, to);
	subject->first_touch = from;
	subject->n_touches = to - from;
	for (uint32_t at = from; at < to; at++) {
		if (t->starts[at])
			*a++ = access_at(t->s, at);
		a[-1].n_touches++;
		c2c_touch_add_waits(t->s->accesses_seen, at, &subject->counts, &subject->contended,
				    &subject->reloads);
	}
	for (int i = 0; i < N_WHO; i++)
		tuples_init(&seen[i], 1);
	for (uint32_t i = 0; i < subject->n_accesses; i++)
		count_who(t->s, &accesses[i], seen);
	for (int i = 0; i < N_WHO; i++)
		tuples_release(&seen[i]);
}

/* Gives each line its place among all accesses. */
static void place_accesses(struct c2c *s, struct c2c_subject *lines, size_t n_lines)
{
	size_t n = 0;

	for (size_t i = 0; i < n_lines; i++) {
		lines[i].first_access = (uint32_t)(s->accesses.n + n);
		n += lines[i].n_accesses;
	}
	vec_reserve(&s->accesses, n);
	s->accesses.n += n;
}

static void group_lines(struct c2c *s, struct c2c_subject *lines, size_t n_lines)
{
	size_t n = s->accesses_seen->keys.n;
	uint32_t *first = mem_zalloc(n_lines + 3, sizeof(*first));
	struct lines_touches touches = {
		.s = s,
		.lines = lines,
		.order = mem_alloc(n + 1, sizeof(*touches.order)),
		.first = first,
		.starts = mem_alloc(n + 1, sizeof(*touches.starts)),
	};

	order_touches(s, n_lines, first, &touches);
	free(touches.order);
	place_accesses(s, lines, n_lines);
	pool_run(s->session->pool, n_lines, group_line, &touches);
	free(touches.starts);
	free(first);
}

void c2c_group_accesses(struct c2c *s)
{
	group_lines(s, s->subjects.items, s->subjects.n);
	for (uint32_t i = 0; i < s->accesses_seen->pages.n; i++)
		s->subjects.items[tuples_get(&s->accesses_seen->pages, i)[0]].n_pages++;
}

bool c2c_group_around(struct c2c *s)
{
	size_t n_accesses = s->accesses.n;

	group_lines(s, s->around.items, s->around.n);
	return s->accesses.n > n_accesses;
}
