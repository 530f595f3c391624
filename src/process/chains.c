/* SPDX-License-Identifier: Apache-2.0 */
#include "process/chains.h"

#include "base/alloc.h"

/*
 * Larger values are context markers (PERF_CONTEXT_…): they say to whom the next addresses belong.
 */
#define FIRST_MARKER ((uint64_t)-4095)

enum {
	LEAST_REPEATS = 2, /* of a frame, on average, for looking for it to be worth its time */
	TIMES_LOOSE = 15,  /* that frames are forgotten until it is tried again */
};

static const struct marker {
	int64_t value;
	enum { OF_KERNEL, OF_PROCESS, OF_NOBODY, OF_GUEST_KERNEL, OF_GUEST_USER } whose;
} markers[] = {
	{ -32, OF_NOBODY },  /* PERF_CONTEXT_HV */
	{ -128, OF_KERNEL }, /* PERF_CONTEXT_KERNEL */
	{ (int64_t)CHAIN_USER, OF_PROCESS },
	{ -2048, OF_NOBODY },	    /* PERF_CONTEXT_GUEST */
	{ -2176, OF_GUEST_KERNEL }, /* PERF_CONTEXT_GUEST_KERNEL */
	{ -2560, OF_GUEST_USER },   /* PERF_CONTEXT_GUEST_USER */
};

static void add_root(struct chains *c)
{
	/* its place is none, so that no other frame equals it */
	tuples_add(&c->frames, (const uint64_t[2]){ 0, TUPLES_NONE });
}

void chains_init(struct chains *c, struct place_cache *cache)
{
	*c = (struct chains){ .cache = cache };
	tuples_init(&c->frames, 2);
	add_root(c);
}

void chains_reset(struct chains *c)
{
	if (c->n_loose > 0)
		c->n_loose--;
	else if (c->n_links < LEAST_REPEATS * (uint64_t)c->frames.n)
		c->n_loose = TIMES_LOOSE;
	c->n_links = 0;
	tuples_reset(&c->frames);
	add_root(c);
}

void chains_release(struct chains *c)
{
	tuples_release(&c->frames);
}

/*
 * Reads a context marker. False if no addresses follow it: behind PERF_CONTEXT_USER_DEFERRED comes
 * a cookie, the user part of the chain is in a later record.
 */
static bool read_marker(const struct chain_sample *s, uint64_t word, uint32_t *whose)
{
	uint32_t machine = s->process == PLACE_OF_NOBODY ? 0 : s->process;
	const uint32_t answers[] = {
		[OF_KERNEL] = PLACE_OF_KERNEL,
		[OF_PROCESS] = s->process,
		[OF_NOBODY] = PLACE_OF_NOBODY,
		[OF_GUEST_KERNEL] = PLACE_OF_GUEST_KERNEL | machine,
		[OF_GUEST_USER] = PLACE_OF_GUEST_USER | machine,
	};

	for (size_t i = 0; i < COUNT(markers); i++) {
		if ((uint64_t)markers[i].value != word)
			continue;
		*whose = answers[markers[i].whose];
		return true;
	}
	return false;
}

size_t chains_read(const struct chain_sample *s, const uint64_t *words, size_t n,
		   struct chain_link links[CHAIN_MAX])
{
	uint32_t whose = s->whose;
	bool is_caller = false, is_address = true;
	size_t n_links = 0;

	for (size_t i = 0; i < n && n_links < CHAIN_MAX; i++) {
		if (words[i] >= FIRST_MARKER) {
			is_address = read_marker(s, words[i], &whose);
			is_caller = false;
			continue;
		}
		if (!is_address)
			continue;
		links[n_links++] = (struct chain_link){
			.address = words[i] - (is_caller && words[i] > 0),
			.recorded = words[i],
			.whose = whose,
		};
		is_caller = true;
	}
	return n_links;
}

static uint32_t place_of_link(const struct chains *c, const struct chain_sample *s,
			      const struct chain_link *link)
{
	return place_cache_find(c->cache, link->whose, link->address, s->time_ns);
}

/* Adds frames without looking for equal ones: each is behind its caller. */
static uint32_t append_links(struct chains *c, const struct chain_sample *s,
			     const struct chain_link *links, size_t n)
{
	uint32_t first, frame = 0;
	uint64_t *out = tuples_append(&c->frames, (uint32_t)n, &first);

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = frame;
		out[2 * i + 1] = place_of_link(c, s, &links[n - 1 - i]);
		frame = first + (uint32_t)i;
	}
	return frame;
}

uint32_t chains_add(struct chains *c, const struct chain_sample *s, const uint64_t *words, size_t n)
{
	struct chain_link links[CHAIN_MAX];
	size_t n_links = chains_read(s, words, n, links);
	uint32_t frame = 0;

	c->n_links += n_links;
	if (chains_are_loose(c))
		return append_links(c, s, links, n_links);
	for (size_t i = n_links; i-- > 0;)
		frame = tuples_add(&c->frames,
				   (const uint64_t[2]){ frame, place_of_link(c, s, &links[i]) });
	return frame;
}

uint32_t chains_add_leaf(struct chains *c, uint32_t place)
{
	return tuples_add(&c->frames, (const uint64_t[2]){ 0, place });
}
