/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/sieved.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "c2c/accesses/cost.h"
#include "c2c/choose.h"
#include "data/data_names.h"

/* To lines that the sieve lets through. Of more it could take too much memory to keep each. */
enum { MOST_ACCESSES = 2 << 20 };

static bool is_whole(const void *context, uint32_t space, uint64_t address)
{
	const struct c2c *s = context;
	uint64_t last = address + s->options.line_bytes - 1;

	return s->by_mapping &&
	       space != C2C_PHYSICAL && /* may be several processes', at other addresses */
	       data_page_has_one_name(s->session, space, address, s->first_ns) &&
	       data_page_has_one_name(s->session, space, last, s->first_ns);
}

/* May reloads of a line that was accessed so often count? */
static bool may_be_kept(const struct c2c *s, uint32_t n)
{
	return s->minimum_cycles > 1 ||
	       c2c_is_kept(s, &(struct c2c_use){ .n_records = n, .n_reloads = 1 });
}

/* Adds all but contended loads of these lines to the table. */
static void add_other_rows(struct c2c *s, const struct select *select,
			   const struct address_filter *filter)
{
	struct analysis look = { .class = &c2c_lines_class, .options = &s->options };
	struct scan_wish wish = c2c_lines_wish;

	s->options.rows = C2C_OTHER_ROWS;
	s->options.sieve = s->lines->sieve;
	wish.addresses = filter;
	wish.with_physical = s->options.by_physical;
	wish.index = s->index;
	scan_part(s->session, select, &wish, &look, 1);
	c2c_lines_class.free(look.result);
}

static void choose_line(struct c2c *s, uint32_t space, uint64_t address)
{
	if (is_whole(s, space, address))
		c2c_choice_add_whole(&s->choice, space, address);
	else
		c2c_choice_add(&s->choice, space, address);
}

void c2c_choose_subjects(struct c2c *s)
{
	for (size_t i = 0; i < s->subjects.n; i++)
		choose_line(s, s->subjects.items[i].space, s->subjects.items[i].address);
}

/* Lines of the table that the sieve lets through. */
struct let_through {
	const struct c2c *s;
	VEC_OF(struct c2c_line) lines;
};

static void note_line(void *context, const struct c2c_line *line)
{
	struct let_through *l = context;

	if (c2c_sieve_may_have(l->s->lines->sieve, line->space, line->address))
		*vec_add(&l->lines) = *line;
}

/*
 * Chooses lines that may be among the first ones when their reloads are known: those that are by their contended loads, and those that
 * the sieve lets through, be they in the table or not.
 */
static void choose_perhaps(struct c2c *s, struct address_filter *filter)
{
	struct let_through more = { .s = s };

	for (size_t i = 0; i < C2C_SHARDS && s->n_candidates > s->subjects.n; i++)
		c2c_table_visit(s->options.table, i, note_line, &more);
	c2c_choice_init(&s->choice, &s->options, s->subjects.n + more.lines.n, s->first_ns,
			s->last_ns);
	c2c_choose_subjects(s);
	for (size_t i = 0; i < more.lines.n; i++) {
		const uint64_t key[] = { more.lines.items[i].space, more.lines.items[i].address };

		if (tuples_find(&s->choice.keys, key) == TUPLES_NONE)
			choose_line(s, more.lines.items[i].space, more.lines.items[i].address);
	}
	c2c_choice_sieve(&s->choice, s->lines->sieve, filter, is_whole, s);
	vec_release(&more.lines);
}

/* What the table would say of a line if all that was done to it were there. */
static struct c2c_line line_of_use(const struct c2c *s, const uint64_t key[2],
				   const struct c2c_line_use *use, struct c2c_counts *counts)
{
	struct c2c_line line = { .space = (uint32_t)key[0], .address = key[1] };

	if (c2c_table_find(s->options.table, line.space, line.address, &line))
		c2c_line_add(&line, counts);
	counts->n[C2C_RECORDS] = use->n_records;
	line.counts = counts;
	line.n_kinds = 0;
	line.has_threads = use->has_threads;
	line.is_written = use->is_written;
	line.n_reloads = use->n_reloads;
	line.reload_cycles = use->reload_cycles;
	return line;
}

/* Makes the subjects anew, of all lines that were looked at. */
static void choose_again(struct c2c *s, const struct c2c_accesses *seen)
{
	size_t n = c2c_accesses_n_lines(seen);
	struct c2c_line_use *uses = mem_zalloc(n + 1, sizeof(*uses));
	struct c2c_counts *counts = mem_zalloc(n + 1, sizeof(*counts));
	struct c2c_line *lines = mem_zalloc(n + 1, sizeof(*lines));

	c2c_accesses_sum(seen, uses);
	for (uint32_t i = 0; i < n; i++)
		lines[i] = line_of_use(s, c2c_accesses_line(seen, i), &uses[i], &counts[i]);
	c2c_choose_of(s, lines, n);
	free(lines);
	free(counts);
	free(uses);
}

/* Forgets lines that are no subjects. */
static void keep_subjects(struct c2c *s, struct c2c_accesses *seen)
{
	struct c2c_choice perhaps = s->choice;

	seen->choice = &perhaps;
	c2c_choice_init(&s->choice, &s->options, s->subjects.n, s->first_ns, s->last_ns);
	c2c_choose_subjects(s);
	c2c_accesses_choose(seen, &s->choice);
	c2c_choice_release(&perhaps);
}

static struct c2c_accesses *look_once(struct c2c *s, const struct select *select,
				      struct address_filter *filter)
{
	struct analysis look = { .class = &c2c_accesses_class, .options = &s->choice };
	struct scan_wish wish;

	c2c_choose_lines(s);
	choose_perhaps(s, filter);
	wish = c2c_accesses_wish(&s->choice);
	wish.index = s->index;
	scan_part(s->session, select, &wish, &look, 1);
	choose_again(s, look.result);
	keep_subjects(s, look.result);
	return look.result;
}

/* Slices and physical lines are for lines that are known before. The table bounds latencies, of which those of SPE are below that. */
static bool may_look_once(const struct c2c *s)
{
	return !s->options.by_physical && s->session->slices.n == 0 && s->lines->n_samples == 0;
}

void c2c_look_at_sieved(struct c2c *s, const struct select *select, struct c2c_accesses **out)
{
	uint32_t least = (uint32_t)bisect(1, UINT32_MAX, n, !may_be_kept(s, (uint32_t)n));
	struct address_filter filter;
	uint64_t n = c2c_sieve_lines(s->lines->sieve, least, &filter);

	*out = NULL;
	if (n > 0 && n <= MOST_ACCESSES && may_look_once(s))
		*out = look_once(s, select, &filter);
	else if (n > 0)
		add_other_rows(s, select, &filter);
	address_filter_release(&filter);
}
