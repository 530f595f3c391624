/* SPDX-License-Identifier: Apache-2.0 */
#include "process/chains.h"

#include "base/alloc.h"

enum { MAX_FRAMES = 1024 };

/* Values at the end of the address space are marks: whose the addresses behind them are. */
#define FIRST_MARKER ((uint64_t)-4095)

static const struct marker {
	int64_t value;
	enum { OF_KERNEL, OF_PROCESS, OF_NOBODY } whose;
} markers[] = {
	{ -32, OF_NOBODY },  /* PERF_CONTEXT_HV */
	{ -128, OF_KERNEL }, /* PERF_CONTEXT_KERNEL */
	{ (int64_t)CHAIN_USER, OF_PROCESS },
	{ -2048, OF_NOBODY }, /* PERF_CONTEXT_GUEST */
	{ -2176, OF_NOBODY }, /* PERF_CONTEXT_GUEST_KERNEL */
	{ -2560, OF_NOBODY }, /* PERF_CONTEXT_GUEST_USER */
};

/* An address on its way to become a frame. */
struct link {
	uint64_t address;
	uint32_t whose;
};

void chains_init(struct chains *c, struct place_cache *cache)
{
	*c = (struct chains){ .cache = cache };
	tuples_init(&c->frames, 2);
	/* No frame has this place, so that none can be taken for the root. */
	tuples_add(&c->frames, (const uint64_t[2]){ 0, TUPLES_NONE });
}

void chains_release(struct chains *c)
{
	tuples_release(&c->frames);
}

/*
 * Finds out whose the addresses behind a marker are. Returns false if they are no addresses:
 * behind PERF_CONTEXT_USER_DEFERRED stands a number that will name the rest of the chain.
 */
static bool read_marker(const struct chain_sample *s, uint64_t word, uint32_t *whose)
{
	const uint32_t answers[] = {
		[OF_KERNEL] = PLACE_OF_KERNEL,
		[OF_PROCESS] = s->process,
		[OF_NOBODY] = PLACE_OF_NOBODY,
	};

	for (size_t i = 0; i < COUNT(markers); i++) {
		if ((uint64_t)markers[i].value != word)
			continue;
		*whose = answers[markers[i].whose];
		return true;
	}
	return false;
}

/*
 * A caller's frame is recorded as the address it returns to, which may lie in the next line
 * or even the next function: what counts is the call, at an address below. The innermost
 * address of each context is where execution was, and stays.
 */
static size_t read_links(const struct chain_sample *s, const uint64_t *words, size_t n,
			 struct link links[MAX_FRAMES])
{
	uint32_t whose = s->whose;
	bool is_caller = false, is_address = true;
	size_t n_links = 0;

	for (size_t i = 0; i < n && n_links < MAX_FRAMES; i++) {
		if (words[i] >= FIRST_MARKER) {
			is_address = read_marker(s, words[i], &whose);
			is_caller = false;
			continue;
		}
		if (!is_address)
			continue;
		links[n_links++] = (struct link){
			.address = words[i] - (is_caller && words[i] > 0),
			.whose = whose,
		};
		is_caller = true;
	}
	return n_links;
}

uint32_t chains_add(struct chains *c, const struct chain_sample *s, const uint64_t *words, size_t n)
{
	struct link links[MAX_FRAMES];
	uint32_t frame = 0;

	for (size_t i = read_links(s, words, n, links); i-- > 0;) {
		uint32_t place =
			place_cache_find(c->cache, links[i].whose, links[i].address, s->time_ns);
		uint64_t tuple[2] = { frame, place };

		frame = tuples_add(&c->frames, tuple);
	}
	return frame;
}

uint32_t chains_add_leaf(struct chains *c, uint32_t place)
{
	return tuples_add(&c->frames, (const uint64_t[2]){ 0, place });
}
