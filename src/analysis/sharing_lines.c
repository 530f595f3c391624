/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sharing_lines.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "process/place_cache.h"
#include "spe/names.h"

/* Lines are looked up for so many rows at once, which is faster: tuples_add_all(). */
enum { ROWS_AT_ONCE = 64 };

/* Full latency counters of SPE: 12 bits, or 16 from Armv8.8 on. */
enum { SATURATED_12 = 4095, SATURATED_16 = 65535 };

/* What is mapped is remembered for each mebibyte: there are few mappings, but many pages. */
enum { REGION_SHIFT = 20, REGIONS_LOG = 12 };

#define NO_TID UINT32_MAX

/* An answer of timeline_place() that holds for all addresses first … last, or all zero. */
struct region {
	uint64_t first, last;
	uint64_t from_ns, to_ns;
	uint32_t whose;
	bool is_mapped;
};

/* What a worker needs besides the result. */
struct sharing_lines_work {
	struct sharing_classifier *classifier;
	struct region regions[1 << REGIONS_LOG];
	bool is_by_position;
};

const struct scan_wish sharing_lines_wish = { .without_places = true };

static void *lines_new(const struct session *session, const void *options)
{
	struct sharing_lines *l = mem_zalloc(1, sizeof(*l));

	l->session = session;
	l->options = options;
	l->local_hits = mem_zalloc(SHARING_LATENCY_MAX + 1, sizeof(*l->local_hits));
	l->work = mem_zalloc(1, sizeof(*l->work));
	l->work->classifier = sharing_classifier_new(session);
	l->work->is_by_position = timeline_is_by_position(session->timeline);
	tuples_init(&l->keys, 2);
	return l;
}

static void free_work(struct sharing_lines *l)
{
	if (l->work == NULL)
		return;
	sharing_classifier_free(l->work->classifier);
	free(l->work);
	l->work = NULL;
}

static void lines_free(void *partial)
{
	struct sharing_lines *l = partial;

	if (l == NULL)
		return;
	free_work(l);
	tuples_release(&l->keys);
	vec_release(&l->lines);
	free(l->local_hits);
	free(l);
}

uint32_t sharing_space(const struct batch *b, size_t row)
{
	if (b->va[row] >> 63)
		return SHARING_KERNEL;
	return b->has[row] & HAS_PROCESS ? b->process[row] : 0;
}

bool sharing_row_latency(const struct batch *b, size_t row, uint64_t *out_cycles)
{
	bool is_spe = b->kind == BATCH_SPE;

	if (!(b->has[row] & (is_spe ? HAS_TOTAL : HAS_WEIGHT)))
		return false;
	*out_cycles = is_spe ? b->total[row] : b->weight[row];
	return true;
}

bool sharing_is_saturated(const struct batch *b, uint64_t cycles)
{
	return b->kind == BATCH_SPE && (cycles == SATURATED_12 || cycles == SATURATED_16);
}

static uint64_t bounded(uint64_t cycles)
{
	return cycles < SHARING_LATENCY_MAX ? cycles : SHARING_LATENCY_MAX;
}

void sharing_latency_add(struct sharing_latency *l, uint64_t cycles, bool is_saturated)
{
	l->n++;
	l->n_saturated += is_saturated;
	l->cycles += cycles;
	l->squares += bounded(cycles) * bounded(cycles);
}

void sharing_latency_merge(struct sharing_latency *to, const struct sharing_latency *from)
{
	to->n += from->n;
	to->n_saturated += from->n_saturated;
	to->cycles += from->cycles;
	to->squares += from->squares;
}

static void find_region(const struct timeline *timeline, uint32_t whose, uint64_t address,
			uint64_t time_ns, struct region *out)
{
	bool is_kernel = whose == PLACE_OF_KERNEL;
	struct placed p =
		timeline_place(timeline, is_kernel ? 0 : whose, is_kernel, address, time_ns);

	*out = (struct region){
		.first = p.first,
		.last = p.last,
		.from_ns = p.from_ns,
		.to_ns = p.to_ns,
		.whose = whose,
		.is_mapped = p.place.module.v != 0,
	};
}

static bool is_mapped(struct sharing_lines *l, uint32_t whose, uint64_t address, uint64_t time_ns)
{
	uint64_t hash = hash_mix(address >> REGION_SHIFT, whose ^ 0x9e3779b97f4a7c15u);
	struct region *r = &l->work->regions[hash >> (64 - REGIONS_LOG)];

	if (whose == PLACE_OF_NOBODY)
		return false;
	if (address - r->first > r->last - r->first ||
	    time_ns - r->from_ns >= r->to_ns - r->from_ns || r->whose != whose)
		find_region(l->session->timeline, whose, address, time_ns, r);
	return r->is_mapped;
}

/* Are both the data and the instruction in something known? */
static bool has_maps(struct sharing_lines *l, const struct batch *b, size_t row)
{
	uint64_t time_ns = attribution_row_time(l->work->is_by_position, b, row);
	uint32_t of_data = attribution_whose_address(b, row, b->va[row]);

	return b->has[row] & HAS_PC &&
	       is_mapped(l, attribution_whose_pc(b, row), b->pc[row], time_ns) &&
	       is_mapped(l, of_data, b->va[row], time_ns);
}

/* The smaller one is kept, so that the result does not depend on the order. */
static bool add_tid(uint32_t *kept, uint32_t tid)
{
	bool is_other = *kept != NO_TID && tid != NO_TID && *kept != tid;

	if (tid < *kept)
		*kept = tid;
	return is_other;
}

static void add_thread(struct sharing_line *line, uint32_t tid, bool is_store)
{
	line->has_threads |= add_tid(&line->first_tid, tid);
	if (is_store)
		line->has_writers |= add_tid(&line->writer_tid, tid);
}

/* `line` may be NULL: the load counts among all of them only. */
static void add_load(struct sharing_lines *l, struct sharing_line *line, const struct batch *b,
		     size_t row, uint32_t mask)
{
	uint64_t cycles;
	bool is_saturated;

	if (!sharing_row_latency(b, row, &cycles))
		return;
	is_saturated = sharing_is_saturated(b, cycles);
	sharing_latency_add(&l->loads, cycles, is_saturated);
	if (mask & SHARING_BIT(L1))
		l->local_hits[bounded(cycles)]++;
	if (line != NULL && mask & sharing_mode_masks[l->options->mode])
		sharing_latency_add(&line->contended, cycles, is_saturated);
}

/* Atomic operations are loads in the record, but they write. */
static bool writes(const struct batch *b, size_t row, uint32_t mask)
{
	if (mask & (SHARING_BIT(STORES) | SHARING_BIT(LOCKED)))
		return true;
	return b->kind == BATCH_SPE && spe_op_is_atomic(b->op[row]);
}

static void add_row(struct sharing_lines *l, struct sharing_line *line, const struct batch *b,
		    size_t row, uint32_t mask)
{
	uint32_t tid = b->has[row] & HAS_TID ? b->tid[row] : NO_TID;

	if (!has_maps(l, b, row))
		mask |= SHARING_BIT(NO_MAP);
	sharing_count_in(&line->counts, mask);
	add_thread(line, tid, writes(b, row, mask));
	if (mask & SHARING_BIT(LOADS))
		add_load(l, line, b, row, mask);
}

/* The lines of `n` keys, new ones included. */
static void find_lines(struct sharing_lines *l, const uint64_t *keys, size_t n, uint32_t *out)
{
	tuples_add_all(&l->keys, keys, n, out);
	while (l->lines.n < l->keys.n) {
		struct sharing_line *line = vec_add(&l->lines);

		line->first_tid = line->writer_tid = NO_TID;
	}
	for (size_t i = 0; i < n; i++) {
		const char *line = (const char *)&l->lines.items[out[i]];

		__builtin_prefetch(line, 1);
		__builtin_prefetch(line + sizeof(struct sharing_line) - 1, 1);
	}
}

/* A row to be added to a line. */
struct pending {
	uint32_t mask;
	uint16_t row;
};

static void add_rows(struct sharing_lines *l, const struct batch *b, const struct pending *rows,
		     size_t n)
{
	uint64_t keys[2 * ROWS_AT_ONCE];
	uint32_t lines[ROWS_AT_ONCE];

	for (size_t i = 0; i < n; i++) {
		keys[2 * i] = sharing_space(b, rows[i].row);
		keys[2 * i + 1] = b->va[rows[i].row] & ~(l->options->line_bytes - 1);
	}
	find_lines(l, keys, n, lines);
	for (size_t i = 0; i < n; i++)
		add_row(l, &l->lines.items[lines[i]], b, rows[i].row, rows[i].mask);
}

static bool is_of_wanted_line(const struct sharing_options *o, uint32_t mask)
{
	return sharing_is_of_line(mask) &&
	       (!o->only_contended || (mask & sharing_mode_masks[o->mode]) != 0);
}

static void add_apart(struct sharing_lines *l, const struct batch *b, size_t row, uint32_t mask)
{
	sharing_count_in(&l->apart, mask);
	if (sharing_is_of_line(mask) && mask & SHARING_BIT(LOADS))
		add_load(l, NULL, b, row, mask);
}

static void lines_consume(void *partial, const struct batch *b)
{
	struct sharing_lines *l = partial;
	struct pending rows[BATCH_ROWS];
	size_t n = 0;

	for (size_t row = 0; row < b->n; row++) {
		uint32_t mask = sharing_classify(l->work->classifier, b, row);

		if (mask == 0)
			continue;
		if (b->kind == BATCH_SAMPLES) {
			l->n_samples++;
			l->period += b->has[row] & HAS_PERIOD ? b->period[row] : 1;
		}
		if (is_of_wanted_line(l->options, mask))
			rows[n++] = (struct pending){ mask, (uint16_t)row };
		else
			add_apart(l, b, row, mask);
	}
	for (size_t i = 0; i < n; i += ROWS_AT_ONCE)
		add_rows(l, b, rows + i, n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE);
}

static void merge_line(struct sharing_line *to, const struct sharing_line *from)
{
	sharing_counts_add(&to->counts, &from->counts);
	sharing_latency_merge(&to->contended, &from->contended);
	to->has_threads |= from->has_threads | add_tid(&to->first_tid, from->first_tid);
	to->has_writers |= from->has_writers | add_tid(&to->writer_tid, from->writer_tid);
}

static void lines_merge(void *into, const void *from, const struct id_map *map)
{
	struct sharing_lines *to = into;
	const struct sharing_lines *part = from;
	uint32_t lines[ROWS_AT_ONCE];

	(void)map;
	for (uint32_t i = 0; i < part->keys.n; i += ROWS_AT_ONCE) {
		size_t n = part->keys.n - i < ROWS_AT_ONCE ? part->keys.n - i : ROWS_AT_ONCE;

		find_lines(to, tuples_get(&part->keys, i), n, lines);
		for (size_t k = 0; k < n; k++)
			merge_line(&to->lines.items[lines[k]], &part->lines.items[i + k]);
	}
	sharing_counts_add(&to->apart, &part->apart);
	sharing_latency_merge(&to->loads, &part->loads);
	to->period += part->period;
	to->n_samples += part->n_samples;
	for (size_t i = 0; i <= SHARING_LATENCY_MAX; i++)
		to->local_hits[i] += part->local_hits[i];
}

const struct analysis_class sharing_lines_class = {
	.new = lines_new,
	.free = lines_free,
	.consume = lines_consume,
	.merge = lines_merge,
};
