/* SPDX-License-Identifier: Apache-2.0 */
/* Makes lines and their accesses out of what the second look touched. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "c2c/accesses/cost.h"
#include "c2c/accesses/group.h"

/* Is it of another row than the touch before it on the line? */
static bool is_other_row(const struct c2c *s, uint32_t touch)
{
	struct c2c_touch_key a = c2c_touch_key(s->accesses_seen, touch - 1);
	struct c2c_touch_key b = c2c_touch_key(s->accesses_seen, touch);
	unsigned by = s->request.coalesce;

	if (c2c_is_whole(&s->choice, a.line))
		return false;
	return a.offset != b.offset || ((a.kind ^ b.kind) & ~(unsigned)C2C_KIND_PARTIAL) != 0 ||
	       (by & C2C_BY_PLACE && (a.place != b.place || a.pc != b.pc)) ||
	       (by & C2C_BY_PROCESS && a.process != b.process) ||
	       (by & C2C_BY_THREAD && a.tid != b.tid) ||
	       (by & C2C_BY_MODULE && a.place != b.place &&
		session_place(s->session, a.place).module.v !=
			session_place(s->session, b.place).module.v);
}

/* Lines that are worked on at once. */
struct lines {
	struct c2c *s;
	struct c2c_subject *items;
};

static void count_rows(void *context, size_t line, unsigned worker)
{
	const struct lines *lines = context;
	struct c2c_subject *subject = &lines->items[line];

	(void)worker;
	subject->n_touches =
		c2c_line_touches(lines->s->accesses_seen, subject->line, &subject->first_touch);
	subject->n_accesses = subject->n_touches > 0;
	for (uint32_t i = 1; i < subject->n_touches; i++)
		subject->n_accesses += is_other_row(lines->s, subject->first_touch + i);
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

/* Distinct threads, processes and cpus of the touches of an access. */
static void count_who(const struct c2c *s, struct c2c_access *a, struct tuples seen[N_WHO])
{
	a->n_threads = a->n_processes = a->n_cpus = 1;
	if (a->n_touches == 1)
		return;
	for (int i = 0; i < N_WHO; i++)
		tuples_empty(&seen[i]);
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
	const struct lines *lines = context;
	struct c2c *s = lines->s;
	struct c2c_subject *subject = &lines->items[line];
	struct c2c_access *accesses = s->accesses.items + subject->first_access, *a = accesses;
	uint32_t from = subject->first_touch, to = from + subject->n_touches;
	struct tuples seen[N_WHO];

	(void)worker;
	c2c_settle_reloads(s, from, to);
	for (uint32_t at = from; at < to; at++) {
		if (at == from || is_other_row(s, at))
			*a++ = access_at(s, at);
		a[-1].n_touches++;
		c2c_touch_add_waits(s->accesses_seen, at, &subject->counts, &subject->contended,
				    &subject->reloads);
	}
	for (int i = 0; i < N_WHO; i++)
		tuples_init(&seen[i], 1);
	for (uint32_t i = 0; i < subject->n_accesses; i++)
		count_who(s, &accesses[i], seen);
	for (int i = 0; i < N_WHO; i++)
		tuples_release(&seen[i]);
}

/* Gives each line its place among all accesses, which those who write them touch first. */
static void place_accesses(struct c2c *s, struct c2c_subject *lines, size_t n_lines)
{
	size_t n = 0;

	for (size_t i = 0; i < n_lines; i++) {
		lines[i].first_access = (uint32_t)(s->accesses.n + n);
		n += lines[i].n_accesses;
	}
	vec_extend(&s->accesses, n);
}

static void group_lines(struct c2c *s, struct c2c_subject *items, size_t n)
{
	struct lines lines = { s, items };

	pool_run(s->session->pool, n, count_rows, &lines);
	place_accesses(s, items, n);
	pool_run(s->session->pool, n, group_line, &lines);
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
