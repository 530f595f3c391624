/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/summary.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/path.h"
#include "estimate/shares.h"
#include "session/tip.h"
#include "table/answer.h"

/* From these parts on they are named: accesses that walk, loads that got data from another core, from memory. */
static const double least_walks = 0.05, least_peer = 0.05, least_memory = 0.1;

/* The row that weighs most, of equals the one with the lowest address; keys.n: there is none. */
static uint32_t heaviest_row(const struct addr_rows *r)
{
	uint32_t best = r->keys.n;
	uint64_t most = 0;

	for (uint32_t i = 0; i < r->keys.n; i++) {
		uint64_t weight = addr_weight(r, &r->sums.items[i]);
		bool is_equal = best < r->keys.n && weight == most;

		if (weight > most ||
		    (is_equal && r->sums.items[i].least < r->sums.items[best].least)) {
			most = weight;
			best = i;
		}
	}
	return best;
}

static double part_of_loads(const struct addr_sums *s, const enum source_level *levels, size_t n)
{
	uint64_t known = 0, part = 0;

	for (int i = SOURCE_UNKNOWN + 1; i < N_SOURCE_LEVELS; i++)
		known += s->levels[i];
	for (size_t i = 0; i < n; i++)
		part += s->levels[levels[i]];
	return ratio(part, known);
}

static double part_of_peers(const struct addr_sums *s)
{
	static const enum source_level peers[] = { SOURCE_PEER_CORE, SOURCE_PEER_CLUSTER,
						   SOURCE_REMOTE };

	return part_of_loads(s, peers, COUNT(peers));
}

static double part_of_memory(const struct addr_sums *s)
{
	static const enum source_level memory[] = { SOURCE_DRAM, SOURCE_REMOTE_DRAM };

	return part_of_loads(s, memory, COUNT(memory));
}

/* ": 16.6 % of its loads hit another core's cache"; "" where none of that stands out. */
static const char *why_words(const struct addr_sums *s, struct table *t)
{
	double peers = part_of_peers(s), memory = part_of_memory(s);
	double walks = ratio(s->walks, s->n_translated);
	const char *text = "";

	if (peers >= least_peer)
		text = table_format(t, ": %.1f %% of its loads hit another core's cache",
				    100 * peers);
	if (memory >= least_memory)
		text = table_format(t, "%s%s%.1f %% of its loads come from memory", text,
				    text[0] == '\0' ? ": " : ", ", 100 * memory);
	if (walks >= least_walks)
		text = table_format(t, "%s%s%.1f %% of its accesses need a page table walk", text,
				    text[0] == '\0' ? ": " : ", ", 100 * walks);
	return text;
}

/* "account (struct account)" */
static const char *object_words(const struct addr_source *source, const struct addr_object *object,
				struct table *t)
{
	const struct types *types = symbols_types(source->addr->session->symbols);
	struct text text = { 0 };

	addr_object_name(source->objects, object, &text);
	if (object->type.v != 0 && !object->is_by_type) {
		text_str(&text, " (");
		types_name(types, object->type, &text);
		text_char(&text, ')');
	}
	return table_take_text(t, &text);
}

/* "account has 86.4 % of the access latency", and why. */
static void say_heaviest(const struct addr_rows *r, uint32_t row, const char *what, const char *why,
			 struct table *answer)
{
	const struct addr_sums *s = &r->sums.items[row];
	struct latency_amount part = { addr_weight(r, s), s->full_cycles };
	struct latency_amount whole = { addr_weight(r, &r->total), r->total.full_cycles };

	answer_say(answer, "%s has %s%.1f %% of %s%s%s.", what,
		   latency_share_words(latency_share_mark(part, whole)),
		   100 * ratio(part.cycles, whole.cycles),
		   r->total.n_cycles > 0 ? "the access latency" : "the sampled accesses", why,
		   s->n < SPARSE_BELOW ? " (too few samples)" : "");
}

void addr_summary_instruction(const struct addr_rows *r, struct table *answer)
{
	uint32_t row = heaviest_row(r), place, line;
	const char *file, *words;
	struct text text = { 0 };

	if (row == r->keys.n)
		return;
	place = (uint32_t)tuples_get(&r->keys, row)[0];
	names_place(r->source->names, place, &text);
	if (names_line(r->source->names, place, &file, &line))
		text_format(&text, " (%s:%" PRIu32 ")", path_base(file), line);
	words = table_take_text(answer, &text);
	say_heaviest(r, row, words, why_words(&r->sums.items[row], answer), answer);
}

void addr_summary_object(const struct addr_rows *r, struct table *answer)
{
	const struct addr_source *source = r->source;
	uint32_t row = heaviest_row(r);
	const struct addr_sums *s;

	if (row == r->keys.n)
		return;
	s = &r->sums.items[row];
	say_heaviest(r, row,
		     object_words(source,
				  &source->objects->list.items[tuples_get(&r->keys, row)[0]],
				  answer),
		     why_words(s, answer), answer);
	if (part_of_peers(s) >= least_peer)
		answer_next(answer, tip(answer, source->addr->session, "c2c"));
}

void addr_summary_walks(const struct addr_walks *walks, struct table *answer)
{
	const double share = 0.8;
	size_t n = addr_walks_huge_pages(walks, share);

	if (n == 0 || walks->n < SPARSE_BELOW || ratio(walks->n, walks->n_translated) < least_walks)
		return;
	answer_say(answer, "Fix: huge pages: %s (%s) would serve %.0f %% of the page table walks.",
		   table_human(answer, cell_count(n), "of 2 MiB"),
		   table_human(answer, cell_count((uint64_t)n << ADDR_HUGE_SHIFT), "bytes"),
		   100 * share);
}
