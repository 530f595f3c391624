/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void *sums_new(const struct session *session, const void *options)
{
	struct stack_sums *sums = mem_zalloc(1, sizeof(*sums));

	sums->options = options;
	sums->hot = hot_class.new(session, &sums->options->hot);
	tuples_init(&sums->sources, 1);
	return sums;
}

static void sums_free(void *partial)
{
	struct stack_sums *sums = partial;

	if (sums == NULL)
		return;
	hot_class.free(sums->hot);
	hot_chains_release(&sums->chains);
	tuples_release(&sums->sources);
	free(sums);
}

static unsigned sums_want_chains(const void *options)
{
	const struct stack_sums_options *o = options;

	return hot_class.wants_chains(&o->hot);
}

static void sums_consume(void *partial, const struct batch *b)
{
	struct stack_sums *sums = partial;

	hot_class.consume(sums->hot, b);
}

/* Sends all groups to the file, and begins anew. */
static void write_groups(struct stack_sums *sums, const struct tuples *frames)
{
	const struct session *session = sums->hot->session;
	const struct hot *hot = sums->hot;
	struct chained_group g = { 0 };

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		hot_read_chained(hot, i, frames, &g);
		tuples_add(&sums->sources, &g.key[DIM_SOURCE]);
		hot_chains_add(&sums->chains, &g);
	}
	chained_group_release(&g);
	hot_class.free(sums->hot);
	sums->hot = hot_class.new(session, &sums->options->hot);
}

static bool sums_let_go(void *partial, const struct tuples *frames, bool must)
{
	struct stack_sums *sums = partial;

	if (hot_chains_size(sums->hot, frames) < sums->options->limit_bytes && !must)
		return false;
	write_groups(sums, frames);
	return true;
}

static void sums_finish(void *partial)
{
	struct stack_sums *sums = partial;

	hot_class.finish(sums->hot);
	hot_chains_finish(&sums->chains);
}

static void sums_merge(void *into, const void *from, const struct id_map *map)
{
	const struct stack_sums *part = from;
	struct stack_sums *sums = into;

	hot_class.merge(sums->hot, part->hot, map);
	hot_chains_merge(&sums->chains, &part->chains);
	for (uint32_t i = 0; i < part->sources.n; i++)
		tuples_add(&sums->sources, tuples_get(&part->sources, i));
}

static void sums_merge_part(void *into, const void *from, size_t part, size_t n_parts)
{
	struct stack_sums *sums = into;

	hot_class.merge_part(sums->hot, ((const struct stack_sums *)from)->hot, part, n_parts);
}

const struct analysis_class stack_sums_class = {
	.new = sums_new,
	.free = sums_free,
	.wants_chains = sums_want_chains,
	.consume = sums_consume,
	.let_go = sums_let_go,
	.finish = sums_finish,
	.merge = sums_merge,
	.merge_part = sums_merge_part,
};

int stack_sums_finish(struct stack_sums *sums, struct err *err)
{
	const struct hot *hot = sums->hot;

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		uint64_t source = hot_key_word(hot, i, DIM_SOURCE);

		tuples_add(&sums->sources, &source);
	}
	if (sums->chains.spool.rc < 0)
		*err = sums->chains.spool.err;
	return sums->chains.spool.rc;
}

bool stack_sums_next(const struct stack_sums *sums, struct stack_sums_position *at,
		     struct chained_group *out)
{
	const struct hot *hot = sums->hot;

	if (hot_chains_next(&sums->chains, &at->chains, out))
		return true;
	at->group = hot_next(hot, at->group);
	if (at->group >= hot_end(hot))
		return false;
	hot_read_chained(hot, at->group++, &hot->session->frames, out);
	return true;
}
