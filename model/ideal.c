/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ideal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

const struct idealisation idealisations[] = {
	{ "l1d", "L1D (every access hits)", IDEAL_L1D, false },
	{ "l2", "L2 (every L1 miss hits)", IDEAL_L2, false },
	{ "llc", "LLC (every L2 miss hits)", IDEAL_LLC, false },
	{ "dram", "DRAM (as fast as LLC)", IDEAL_DRAM, false },
	{ "dram-bandwidth", "DRAM bandwidth (unlimited)", IDEAL_DRAM_BANDWIDTH, false },
	{ "llc-hits", "LLC hits (as fast as L2)", IDEAL_LLC_HITS, false },
	{ "l2-hits", "L2 hits (as fast as L1D)", IDEAL_L2_HITS, false },
	{ "page-walks", "no page walks", IDEAL_PAGE_WALKS, false },
	{ "dtlb", "data TLB (every page hits)", IDEAL_DTLB, false },
	{ "huge-pages", "huge pages for data", IDEAL_HUGE_PAGES, false },
	{ "branch-prediction", "branch prediction", IDEAL_BRANCHES, false },
	{ "instruction-side", "instruction fetch (L1I, ITLB)", IDEAL_FETCH, false },
	{ "coherence", "no coherence misses", IDEAL_COHERENCE, false },
	{ "ordering", "no memory ordering", IDEAL_ORDERING, false },
	{ "forwarding", "store-to-load forwarding (no cycles)", IDEAL_FORWARDING, false },
	{ "arithmetic", "arithmetic (one cycle)", IDEAL_ARITHMETIC, false },
	{ "arithmetic-latency", "arithmetic latency (one cycle)", IDEAL_ARITHMETIC_LATENCY, false },
	{ "division", "division (as fast as multiplication)", IDEAL_DIVISION, false },
	{ "outstanding-misses", "outstanding misses (unlimited)", IDEAL_MISSES, false },
	{ "overlap-2", "data misses overlap (2 at a time)", IDEAL_OVERLAP_2, false },
	{ "overlap-4", "data misses overlap (4 at a time)", IDEAL_OVERLAP_4, false },
	{ "overlap-8", "data misses overlap (8 at a time)", IDEAL_OVERLAP_8, false },
	{ "overlap-16", "data misses overlap (16 at a time)", IDEAL_OVERLAP_16, false },
	{ "window", "window (unlimited)", IDEAL_WINDOW, true },
	{ "units", "execution units (unlimited)", IDEAL_UNITS, true },
	{ "width", "width (unlimited)", IDEAL_WIDTH, true },
	{ "no-prefetchers", "prefetchers off", IDEAL_NO_PREFETCH, false },
};
const size_t n_idealisations = COUNT(idealisations);

void ideal_write(const struct ideal *ideal, struct text *out)
{
	text_format(out, "%" PRIx32, ideal->bits);
	if (ideal->bits & IDEAL_INSTRUCTIONS)
		text_format(out, "*%" PRIx32, ideal->instructions);
	for (size_t i = 0; i < ideal->ranges.n; i++)
		text_format(out, ":%" PRIx64 "-%" PRIx64, ideal->ranges.items[i].start,
			    ideal->ranges.items[i].end);
	text_format(out, "=%s", ideal->name);
}

/* Reads hexadecimal digits at *at, and moves *at behind them. */
static bool read_hex(const char **at, uint64_t *out)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*out = strtoull(*at, &end, 16);
	*at = end;
	return errno == 0;
}

static bool read_range(const char **at, struct ideal_range *out)
{
	return read_hex(at, &out->start) && *(*at)++ == '-' && read_hex(at, &out->end) &&
	       out->start < out->end;
}

/* How many instructions, if the bits say that there are others. */
static bool read_instructions(const char **at, struct ideal *out)
{
	uint64_t n;

	if (!(out->bits & IDEAL_INSTRUCTIONS))
		return true;
	if (*(*at)++ != '*' || !read_hex(at, &n) || n < IDEAL_INSTRUCTIONS_LEAST ||
	    n > IDEAL_INSTRUCTIONS_MOST)
		return false;
	out->instructions = (uint32_t)n;
	return true;
}

int ideal_read(const char *text, struct ideal *out, struct err *err)
{
	const char *at = text;
	uint64_t bits;
	bool is_right = read_hex(&at, &bits) && bits <= UINT32_MAX;

	*out = (struct ideal){ .bits = is_right ? (uint32_t)bits : 0 };
	is_right = is_right && read_instructions(&at, out);
	while (is_right && *at == ':') {
		at++;
		is_right = read_range(&at, vec_add(&out->ranges));
	}
	if (is_right && *at == '=') {
		out->name = at + 1;
		return 0;
	}
	ideal_release(out);
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "idealisation '%s': wanted BITS*INSTRUCTIONS:START-END=NAME", text);
}

void ideal_release(struct ideal *ideal)
{
	vec_release(&ideal->ranges);
	*ideal = (struct ideal){ 0 };
}
