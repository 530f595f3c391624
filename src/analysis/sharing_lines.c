/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sharing_lines.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "process/place_cache.h"
#include "spe/names.h"

/* Full latency counters of SPE: 12 bits, or 16 from Armv8.8 on. */
enum { SATURATED_12 = 4095, SATURATED_16 = 65535 };

/* What is mapped is remembered for each mebibyte: there are few mappings, but many pages. */
enum { REGION_SHIFT = 20, REGIONS_LOG = 12 };

/* There are few sets of counters that records count in. */
enum { COUNTS_LOG = 7 };

/* An answer of timeline_place() that holds for all addresses first … last, or all zero. */
struct region {
	uint64_t first, last;
	uint64_t from_ns, to_ns;
	uint32_t whose;
	bool is_mapped;
};

/* How many records counted in the same counters. Each mask has a slot where it may be. */
struct mask_count {
	uint32_t mask, n;
};

/* What a worker needs besides the result. */
struct sharing_lines_work {
	struct sharing_classifier *classifier;
	struct region regions[1 << REGIONS_LOG];
	struct region last_of_code; /* a copy: most rows are where the one before is */
	bool is_by_position;
	struct mask_count counts[1 << COUNTS_LOG]; /* of records that are not in `total` yet */

	/* Accesses to be added to the table: the more at once, the less each has to wait. */
	struct sharing_access_row rows[SHARING_ROWS_MAX];
	size_t n_rows;
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
	free(l->local_hits);
	free(l);
}

static uint32_t space_of(const struct batch *b, size_t row)
{
	if (b->va[row] >> 63)
		return SHARING_KERNEL;
	return b->has[row] & HAS_PROCESS ? b->process[row] : 0;
}

struct sharing_spot sharing_spot(const struct sharing_options *o, const struct batch *b, size_t row)
{
	bool is_physical = o->by_physical && b->has[row] & HAS_PA;
	uint64_t address = is_physical ? b->pa[row] : b->va[row];

	return (struct sharing_spot){
		.space = is_physical ? SHARING_PHYSICAL : space_of(b, row),
		.offset = (uint32_t)(address & (o->line_bytes - 1)),
		.address = address & ~(o->line_bytes - 1),
	};
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

static inline bool region_has(const struct region *r, uint32_t whose, uint64_t address,
			      uint64_t time_ns)
{
	return address - r->first <= r->last - r->first &&
	       time_ns - r->from_ns < r->to_ns - r->from_ns && r->whose == whose;
}

static inline const struct region *region_of(struct sharing_lines *l, uint32_t whose,
					     uint64_t address, uint64_t time_ns)
{
	uint64_t hash = hash_mix(address >> REGION_SHIFT, whose ^ 0x9e3779b97f4a7c15u);
	struct region *r = &l->work->regions[hash >> (64 - REGIONS_LOG)];

	if (!region_has(r, whose, address, time_ns))
		find_region(l->session->timeline, whose, address, time_ns, r);
	return r;
}

static inline bool code_is_mapped(struct sharing_lines *l, uint32_t whose, uint64_t address,
				  uint64_t time_ns)
{
	struct region *last = &l->work->last_of_code;

	if (whose == PLACE_OF_NOBODY)
		return false;
	if (!region_has(last, whose, address, time_ns))
		*last = *region_of(l, whose, address, time_ns);
	return last->is_mapped;
}

/* Data is here and there: whether it is where that of the row before was, nobody can predict. */
static inline bool data_is_mapped(struct sharing_lines *l, uint32_t whose, uint64_t address,
				  uint64_t time_ns)
{
	return whose != PLACE_OF_NOBODY && region_of(l, whose, address, time_ns)->is_mapped;
}

/* Are both the data and the instruction in something known? */
static bool has_maps(struct sharing_lines *l, const struct batch *b, size_t row)
{
	uint64_t time_ns = attribution_row_time(l->work->is_by_position, b, row);
	uint32_t of_data = attribution_whose_address(b, row, b->va[row]);

	return b->has[row] & HAS_PC &&
	       code_is_mapped(l, attribution_whose_pc(b, row), b->pc[row], time_ns) &&
	       data_is_mapped(l, of_data, b->va[row], time_ns);
}

/* Atomic operations are loads in the record, but they write. */
static bool writes(const struct batch *b, size_t row, uint32_t mask)
{
	bool is_store = (mask & (SHARING_BIT(STORES) | SHARING_BIT(LOCKED))) != 0;

	return is_store | (b->kind == BATCH_SPE && spe_op_is_atomic(b->op[row]));
}

static void empty_count(struct sharing_lines *l, struct mask_count *c)
{
	for (uint32_t mask = c->mask; mask != 0; mask &= mask - 1)
		l->total.n[__builtin_ctz(mask)] += c->n;
	c->n = 0;
}

static inline void count(struct sharing_lines *l, uint32_t mask)
{
	struct mask_count *c = &l->work->counts[mask * 0x9e3779b9u >> (32 - COUNTS_LOG)];

	if (c->mask != mask) {
		empty_count(l, c);
		c->mask = mask;
	}
	c->n++;
}

/*
 * Counts an access among all loads if it is one, and says its latency if that counts for its
 * line, too: 0 if it does not. Loads and stores come as they like, so there is no decision here
 * that would be taken wrong as often as right.
 */
static uint64_t add_load(struct sharing_lines *l, const struct batch *b, size_t row, uint32_t mask,
			 bool *out_is_timed)
{
	uint64_t cycles = 0;
	bool has_latency = sharing_row_latency(b, row, &cycles);
	bool counts = has_latency & ((mask & SHARING_BIT(LOADS)) != 0);
	bool is_timed = counts & ((mask & sharing_mode_masks[l->options->mode]) != 0);

	cycles &= -(uint64_t)counts;
	l->loads.n += counts;
	l->loads.n_saturated += sharing_is_saturated(b, cycles);
	l->loads.cycles += cycles;
	l->loads.squares += bounded(cycles) * bounded(cycles);
	l->local_hits[bounded(cycles)] += counts & ((mask & SHARING_BIT(L1)) != 0);
	*out_is_timed = is_timed;
	return cycles & -(uint64_t)is_timed;
}

/* Fills in an access to a line; false if the line is not wanted. */
static bool read_row(struct sharing_lines *l, const struct batch *b, size_t row, uint32_t mask,
		     struct sharing_access_row *out)
{
	bool is_contended = (mask & sharing_mode_masks[l->options->mode]) != 0;
	struct sharing_spot spot;

	if (l->options->only_contended && !is_contended) {
		add_load(l, b, row, mask, &out->is_timed);
		count(l, mask);
		return false;
	}
	if (!has_maps(l, b, row))
		mask |= SHARING_BIT(NO_MAP);
	count(l, mask);
	spot = sharing_spot(l->options, b, row);
	l->n_physical += b->has[row] >> __builtin_ctz(HAS_PA) & 1;
	out->line = spot.address;
	out->space = spot.space;
	out->tid = b->has[row] & HAS_TID ? b->tid[row] : SHARING_NO_TID;
	out->mask = mask;
	out->is_write = writes(b, row, mask);
	out->cycles = add_load(l, b, row, mask, &out->is_timed);
	return true;
}

static void add_rows(struct sharing_lines *l)
{
	sharing_table_add(l->options->table, l->work->rows, l->work->n_rows);
	l->work->n_rows = 0;
}

static void lines_consume(void *partial, const struct batch *b)
{
	struct sharing_lines *l = partial;
	struct sharing_lines_work *work = l->work;

	if (work->n_rows + b->n > SHARING_ROWS_MAX)
		add_rows(l);
	for (size_t row = 0; row < b->n; row++) {
		uint32_t mask = sharing_classify(work->classifier, b, row);

		if (mask == 0)
			continue;
		if (b->kind == BATCH_SAMPLES) {
			l->n_samples++;
			l->period += b->has[row] & HAS_PERIOD ? b->period[row] : 1;
		}
		if (sharing_is_of_line(mask))
			work->n_rows += read_row(l, b, row, mask, &work->rows[work->n_rows]);
		else
			count(l, mask);
	}
}

static void lines_finish(void *partial)
{
	struct sharing_lines *l = partial;

	for (size_t i = 0; i < COUNT(l->work->counts); i++)
		empty_count(l, &l->work->counts[i]);
	add_rows(l);
}

static void lines_merge(void *into, const void *from, const struct id_map *map)
{
	struct sharing_lines *to = into;
	const struct sharing_lines *part = from;

	(void)map;
	sharing_counts_add(&to->total, &part->total);
	sharing_latency_merge(&to->loads, &part->loads);
	to->n_physical += part->n_physical;
	to->period += part->period;
	to->n_samples += part->n_samples;
	for (size_t i = 0; i <= SHARING_LATENCY_MAX; i++)
		to->local_hits[i] += part->local_hits[i];
}

const struct analysis_class sharing_lines_class = {
	.new = lines_new,
	.free = lines_free,
	.consume = lines_consume,
	.finish = lines_finish,
	.merge = lines_merge,
};
