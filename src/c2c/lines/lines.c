/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/lines/lines.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "process/place_cache.h"
#include "spe/names.h"

/* What is mapped is remembered for each mebibyte: there are few mappings, but many pages. */
enum { REGION_SHIFT = 20, REGIONS_LOG = 12 };

enum { LATENCIES = C2C_LATENCY_MAX + 1 };

/*
 * An answer of timeline_place(), and for which addresses and how long it holds; or all zero. Not struct
 * place_cache, which keeps pages, with the numbers of their places: data is on too many pages.
 */
struct region {
	uint64_t first, size; /* one byte less */
	uint64_t from_ns, duration_ns;
	uint32_t whose;
	bool is_mapped;
};

/* What a worker needs besides the result. */
struct c2c_lines_work {
	struct c2c_classifier *classifier;
	struct region regions[1 << REGIONS_LOG];
	/* Copies: most rows are where the one before is, of a program or of the kernel. */
	struct region last_of_code[2];
	bool is_by_position;

	uint64_t payloads
		[256]; /* loads, stores and atomics of SPE by payload of the operation packet */

	/* How often loads took so many cycles: those that did not hit the core's own L1, … */
	uint32_t *latencies; /* … and those that did, LATENCIES each */

	/* Accesses to be added to the table: the more at once, the less each has to wait. */
	struct c2c_access_row rows[C2C_ROWS_MAX];
	size_t n_rows;
};

const struct scan_wish c2c_lines_wish = { .without_places = true, .without_targets = true };

static void *lines_new(const struct session *session, const void *options)
{
	struct c2c_lines *l = mem_zalloc(1, sizeof(*l));

	l->session = session;
	l->options = options;
	l->local_hits = mem_zalloc(LATENCIES, sizeof(*l->local_hits));
	c2c_paces_init(&l->paces);
	if (l->options->rows == C2C_CONTENDED_ROWS)
		l->sieve = c2c_sieve_new(l->options->line_bytes);
	l->work = mem_zalloc(1, sizeof(*l->work));
	l->work->classifier = c2c_classifier_new(session);
	l->work->latencies = mem_zalloc(2 * LATENCIES, sizeof(*l->work->latencies));
	l->work->is_by_position = timeline_is_by_position(session->timeline);
	return l;
}

static void free_work(struct c2c_lines *l)
{
	if (l->work == NULL)
		return;
	c2c_classifier_free(l->work->classifier);
	free(l->work->latencies);
	free(l->work);
	l->work = NULL;
}

static void lines_free(void *partial)
{
	struct c2c_lines *l = partial;

	if (l == NULL)
		return;
	free_work(l);
	c2c_paces_release(&l->paces);
	c2c_sieve_free(l->sieve);
	free(l->local_hits);
	free(l);
}

static uint64_t bounded(uint64_t cycles)
{
	return cycles < C2C_LATENCY_MAX ? cycles : C2C_LATENCY_MAX;
}

void c2c_latency_add(struct c2c_latency *l, uint64_t cycles, bool is_saturated)
{
	l->n++;
	l->n_saturated += is_saturated;
	l->cycles += cycles;
	l->squares += bounded(cycles) * bounded(cycles);
}

void c2c_latency_merge(struct c2c_latency *to, const struct c2c_latency *from)
{
	to->n += from->n;
	to->n_saturated += from->n_saturated;
	to->cycles += from->cycles;
	to->squares += from->squares;
}

static void find_region(const struct timeline *timeline, uint32_t whose, uint64_t address,
			uint64_t time_ns, struct region *out)
{
	struct placed p = timeline_place_of(timeline, whose, address, time_ns);

	*out = (struct region){
		.first = p.first,
		.size = p.last - p.first,
		.from_ns = p.from_ns,
		.duration_ns = p.to_ns - p.from_ns,
		.whose = whose,
		.is_mapped = p.place.module.v != 0,
	};
}

static inline bool region_has(const struct region *r, uint32_t whose, uint64_t address,
			      uint64_t time_ns)
{
	return address - r->first <= r->size && time_ns - r->from_ns < r->duration_ns &&
	       r->whose == whose;
}

static inline const struct region *region_of(struct c2c_lines *l, uint32_t whose, uint64_t address,
					     uint64_t time_ns)
{
	uint64_t hash = hash_mix(address >> REGION_SHIFT, whose ^ 0x9e3779b97f4a7c15u);
	struct region *r = &l->work->regions[hash >> (64 - REGIONS_LOG)];

	if (!region_has(r, whose, address, time_ns))
		find_region(l->session->timeline, whose, address, time_ns, r);
	return r;
}

static inline bool code_is_mapped(struct c2c_lines *l, uint32_t whose, uint64_t address,
				  uint64_t time_ns)
{
	struct region *last = &l->work->last_of_code[whose == PLACE_OF_KERNEL];

	if (whose == PLACE_OF_NOBODY)
		return false;
	if (!region_has(last, whose, address, time_ns))
		*last = *region_of(l, whose, address, time_ns);
	return last->is_mapped;
}

/* Data is here and there: whether it is where that of the row before was, nobody can predict. */
static inline bool data_is_mapped(struct c2c_lines *l, uint32_t whose, uint64_t address,
				  uint64_t time_ns)
{
	return whose != PLACE_OF_NOBODY && region_of(l, whose, address, time_ns)->is_mapped;
}

/* Keeps the rows that access a line. They come among others as they like, so there is no decision. */
static size_t keep_rows_of_lines(uint16_t *rows, uint32_t *masks, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		rows[kept] = rows[i];
		masks[kept] = masks[i];
		kept += c2c_is_of_line(masks[i]);
	}
	return kept;
}

/* Keeps those of lines that the sieve lets through. */
static size_t keep_rows_of_sieve(const struct c2c_lines *l, const struct batch *b, uint16_t *rows,
				 uint32_t *masks, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct c2c_spot spot = c2c_spot(l->options, b, rows[i]);

		rows[kept] = rows[i];
		masks[kept] = masks[i];
		kept += c2c_sieve_may_have(l->options->sieve, spot.space, spot.address);
	}
	return kept;
}

/* Are both the data and the instruction in something known? Of guests only code is. Which data is mapped nobody can predict. */
static inline bool has_maps(struct c2c_lines *l, const struct batch *b, size_t row)
{
	uint64_t time_ns = attribution_row_time(l->work->is_by_position, b, row);
	uint32_t of_data = attribution_whose_address(b, row, b->va[row]);
	uint32_t of_code = attribution_whose_pc(b, row);
	bool is_code_mapped;

	if (!(b->has[row] & HAS_PC) || place_is_of_guest(of_code))
		return false;
	is_code_mapped = code_is_mapped(l, of_code, b->pc[row], time_ns);
	return data_is_mapped(l, of_data, b->va[row], time_ns) && is_code_mapped;
}

static void add_unmapped(struct c2c_lines *l, const struct batch *b, const uint16_t *rows, size_t n,
			 uint32_t *masks)
{
	uint32_t n_unmapped = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_unmapped = !has_maps(l, b, rows[i]);

		masks[i] |= C2C_BIT(NO_MAP) & -(uint32_t)is_unmapped;
		n_unmapped += is_unmapped;
	}
	l->total.n[C2C_NO_MAP] += n_unmapped;
}

/* Atomic operations are loads in the record, but they write. */
static bool writes(const struct batch *b, size_t row, uint32_t mask)
{
	bool is_store = (mask & (C2C_BIT(STORES) | C2C_BIT(LOCKED))) != 0;

	return is_store | (b->kind == BATCH_SPE && spe_op_is_atomic(b->op[row]));
}

/* What kinds of accesses there are, also of those without an address. */
static void count_kinds(struct c2c_lines *l, const struct batch *b, const uint16_t *rows,
			const uint32_t *masks, size_t n)
{
	const uint32_t of_memory = C2C_BIT(LOADS) | C2C_BIT(STORES);

	if (b->kind == BATCH_SPE)
		for (size_t i = 0; i < n; i++)
			l->work->payloads[b->op[rows[i]]]++;
	else
		for (size_t i = 0; i < n; i++)
			if (masks[i] & of_memory)
				memory_counts_add(&l->kinds, sample_memory_kind(b, rows[i]), 1);
}

static void sum_kinds(struct c2c_lines *l)
{
	for (unsigned payload = 0; payload < COUNT(l->work->payloads); payload++)
		memory_counts_add(&l->kinds, memory_kind_of_payload((uint8_t)payload),
				  l->work->payloads[payload]);
}

static void count_samples(struct c2c_lines *l, const struct batch *b, const uint16_t *rows,
			  size_t n)
{
	if (b->kind != BATCH_SAMPLES)
		return;
	l->n_samples += n;
	for (size_t i = 0; i < n; i++)
		l->period += b->has[rows[i]] & HAS_PERIOD ? b->period[rows[i]] : 1;
}

/*
 * The latency of an access whose mask this is, if it is a load that has one; and what of it counts for its line, for that, too. Loads and
 * stores come as they like, so there is no decision here that would be taken wrong as often as right.
 */
static inline bool load_latency(const struct c2c_lines *l, const struct batch *b, size_t row,
				uint32_t mask, uint64_t *out_total, struct c2c_access_row *out)
{
	uint32_t contended = mask & c2c_mode_masks[l->options->mode];
	bool has_latency = c2c_row_total(b, row, out_total);
	bool counts = has_latency & ((mask & C2C_BIT(LOADS)) != 0);
	bool is_timed = counts & (contended != 0);
	bool is_reload = counts & c2c_is_reload(mask, contended);

	*out_total &= -(uint64_t)counts;
	out->cycles = (uint16_t)bounded(c2c_row_access(b, row, *out_total));
	out->mask = mask | (is_timed ? C2C_ROW_TIMED : 0) | (is_reload ? C2C_ROW_RELOAD : 0);
	return counts;
}

/* Counts an access among all loads if it is one. Returns what it waited, as in struct c2c_paces. */
static inline uint64_t add_load(struct c2c_lines *l, const struct batch *b, size_t row,
				uint32_t mask, struct c2c_access_row *out)
{
	uint32_t *histogram = l->work->latencies + LATENCIES * ((mask & C2C_BIT(L1)) != 0);
	uint64_t total;
	bool counts = load_latency(l, b, row, mask, &total, out);

	l->loads.n_saturated += c2c_is_saturated(b, total);
	histogram[out->cycles] += counts;
	l->all_latencies |= out->cycles;
	/* the rest comes out of the histogram */
	l->loads.cycles += c2c_row_access(b, row, total) - out->cycles;
	return c2c_wait(out->cycles) & -(uint64_t)((out->mask & C2C_ROW_TIMED) != 0);
}

/* Leaves contended loads out. Returns how many the others are. */
static size_t keep_others(struct c2c_access_row *rows, size_t n, uint32_t contended)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if ((rows[i].mask & contended) == 0)
			rows[kept++] = rows[i];
	return kept;
}

static void flush_rows(struct c2c_lines *l)
{
	struct c2c_lines_work *work = l->work;

	if (l->options->rows == C2C_OTHER_ROWS)
		work->n_rows =
			keep_others(work->rows, work->n_rows, c2c_mode_masks[l->options->mode]);
	c2c_table_add(l->options->table, work->rows, work->n_rows);
	if (l->options->index != NULL && c2c_table_is_large(l->options->table))
		address_index_give_up(l->options->index);
	work->n_rows = 0;
}

/* Which columns these rows have. */
static void note_columns(struct c2c_lines *l, const struct batch *b, const uint16_t *rows, size_t n)
{
	uint32_t any = 0, all = HAS_ISSUE;
	uint64_t n_physical = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t has = b->has[rows[i]];

		any |= has;
		all &= has;
		n_physical += (has & HAS_PA) != 0;
	}
	l->has_issue |= (any & HAS_ISSUE) != 0;
	l->lacks_issue |= all == 0;
	l->n_physical += n_physical;
}

/* Whose access it is, and whether it writes. */
static void set_thread(struct c2c_access_row *out, const struct batch *b, size_t row, uint32_t mask)
{
	out->tid = b->has[row] & HAS_TID ? b->tid[row] : C2C_NO_TID;
	out->is_write = writes(b, row, mask);
}

/* Adds these rows, and what each of them waited to `waits`. */
static void c2c_lines_add_rows(struct c2c_lines *l, const struct batch *b, const uint16_t *rows,
			       size_t n, const uint32_t *masks, uint64_t *waits)
{
	struct c2c_access_row *out = l->work->rows + l->work->n_rows;

	for (size_t i = 0; i < n; i++, out++) {
		struct c2c_spot spot = c2c_spot(l->options, b, rows[i]);

		waits[rows[i]] = add_load(l, b, rows[i], masks[i], out);
		out->line = spot.address;
		out->space = spot.space;
		set_thread(out, b, rows[i], masks[i]);
	}
	l->work->n_rows += n;
}

/*
 * Counts the lines of these rows, and loads that hit the core's own L1. Returns which of them are contended loads, by their numbers.
 * `is_plain`: of SPE, by virtual addresses. Each caller gets its own copy of the loop.
 */
__attribute__((always_inline)) static inline size_t count_lines(
	struct c2c_lines *l, const struct batch *b, const uint16_t *rows, size_t n,
	const uint32_t *masks, bool is_plain, uint16_t *out_contended)
{
	const uint32_t contended = c2c_mode_masks[l->options->mode];
	const struct c2c_options options = {
		.line_bytes = l->options->line_bytes,
		.by_physical = !is_plain && l->options->by_physical,
	};
	const bool is_spe = is_plain || b->kind == BATCH_SPE;
	uint32_t *hits = l->work->latencies + LATENCIES;
	struct c2c_sieve_access accesses[BATCH_ROWS];
	uint16_t cycles_of_hits[BATCH_ROWS];
	size_t n_accesses = 0, n_contended = 0, n_hits = 0;

	for (size_t i = 0; i < n; i++) {
		struct c2c_spot spot = c2c_spot(&options, b, rows[i]);
		uint32_t mask = masks[i], of_mode = mask & contended;
		uint64_t total, cycles;
		bool has_latency = c2c_total_of(b, rows[i], is_spe, &total);

		cycles = c2c_row_access(b, rows[i], total);
		cycles_of_hits[n_hits] = (uint16_t)(is_spe ? cycles : bounded(cycles));
		n_hits += has_latency & ((mask & C2C_BIT(L1)) != 0);
		accesses[n_accesses] =
			c2c_sieve_access_of(l->sieve, spot.space, spot.address,
					    has_latency & c2c_is_reload(mask, of_mode));
		n_accesses += c2c_is_of_line(mask);
		out_contended[n_contended] = (uint16_t)i;
		n_contended += of_mode != 0;
	}
	for (size_t i = 0; i < n_hits; i++) {
		hits[cycles_of_hits[i]]++;
		l->all_latencies |= cycles_of_hits[i];
	}
	c2c_sieve_add(l->sieve, accesses, n_accesses);
	return n_contended;
}

/* Adds those of these rows that are contended loads, and counts the lines of all. */
static void add_contended_rows(struct c2c_lines *l, const struct batch *b, const uint16_t *rows,
			       size_t n, const uint32_t *masks)
{
	struct c2c_access_row *out = l->work->rows + l->work->n_rows;
	uint16_t contended[BATCH_ROWS];

	if (b->kind == BATCH_SPE && !l->options->by_physical)
		n = count_lines(l, b, rows, n, masks, true, contended);
	else
		n = count_lines(l, b, rows, n, masks, false, contended);
	for (size_t i = 0; i < n; i++, out++) {
		size_t row = rows[contended[i]];
		struct c2c_spot spot = c2c_spot(l->options, b, row);
		uint64_t total;

		load_latency(l, b, row, masks[contended[i]], &total, out);
		out->line = spot.address;
		out->space = spot.space;
		set_thread(out, b, row, masks[contended[i]]);
	}
	l->work->n_rows += n;
}

static void add_all_rows(struct c2c_lines *l, const struct batch *b, const uint16_t *rows, size_t n,
			 uint32_t *masks)
{
	uint64_t waits[BATCH_ROWS] = { 0 };

	if (l->options->rows == C2C_ALL_ROWS)
		add_unmapped(l, b, rows, n, masks);
	c2c_lines_add_rows(l, b, rows, n, masks, waits);
	if (b->kind == BATCH_SPE && l->options->rows == C2C_ALL_ROWS)
		c2c_paces_add(&l->paces, b, waits);
}

static void lines_consume(void *partial, const struct batch *b)
{
	struct c2c_lines *l = partial;
	uint32_t masks[BATCH_ROWS];
	uint16_t rows[BATCH_ROWS];
	size_t n;

	if (l->work->n_rows + b->n > C2C_ROWS_MAX)
		flush_rows(l);
	n = c2c_classify(l->work->classifier, b, rows, masks);
	if (l->options->rows == C2C_ALL_ROWS)
		count_kinds(l, b, rows, masks, n);
	count_samples(l, b, rows, n);
	if (l->options->rows == C2C_CONTENDED_ROWS) {
		add_contended_rows(l, b, rows, n, masks);
		return;
	}
	n = keep_rows_of_lines(rows, masks, n);
	if (l->options->rows == C2C_OTHER_ROWS)
		n = keep_rows_of_sieve(l, b, rows, masks, n);
	if (l->options->rows == C2C_ALL_ROWS)
		note_columns(l, b, rows, n);
	add_all_rows(l, b, rows, n, masks);
}

/* What add_load() left to the histograms. Most of them is empty, and takes no memory until it is touched. */
static void sum_loads(struct c2c_lines *l)
{
	const uint32_t *others = l->work->latencies, *hits = others + LATENCIES;

	for (uint64_t i = 0; i <= l->all_latencies; i++) {
		uint32_t n = hits[i] + others[i];

		if (n == 0)
			continue;
		l->local_hits[i] = hits[i];
		if (l->options->rows != C2C_ALL_ROWS)
			continue;
		l->loads.n += n;
		l->loads.cycles += n * i;
		l->loads.squares += n * i * i;
	}
}

static void lines_finish(void *partial)
{
	struct c2c_lines *l = partial;

	c2c_classifier_add_counts(l->work->classifier, &l->total);
	sum_kinds(l);
	sum_loads(l);
	flush_rows(l);
}

static void lines_merge(void *into, const void *from, const struct id_map *map)
{
	struct c2c_lines *to = into;
	const struct c2c_lines *part = from;

	(void)map;
	c2c_counts_add(&to->total, &part->total);
	c2c_paces_merge(&to->paces, &part->paces);
	if (to->sieve != NULL)
		c2c_sieve_merge(to->sieve, part->sieve);
	c2c_latency_merge(&to->loads, &part->loads);
	to->has_issue |= part->has_issue;
	to->lacks_issue |= part->lacks_issue;
	memory_counts_merge(&to->kinds, &part->kinds);
	to->n_physical += part->n_physical;
	to->period += part->period;
	to->n_samples += part->n_samples;
	to->all_latencies |= part->all_latencies;
	for (size_t i = 0; i <= part->all_latencies; i++)
		if (part->local_hits[i] > 0)
			to->local_hits[i] += part->local_hits[i];
}

/* The table is one for all workers. */
static void lines_restart(const void *options)
{
	const struct c2c_options *o = options;

	c2c_table_empty(o->table);
}

const struct analysis_class c2c_lines_class = {
	.new = lines_new,
	.free = lines_free,
	.consume = lines_consume,
	.restart = lines_restart,
	.finish = lines_finish,
	.merge = lines_merge,
};
