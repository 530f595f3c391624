/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/stacks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "branch_stacks/instructions.h"
#include "branch_stacks/window.h"
#include "estimate/shares.h"
#include "scan/scan.h"
#include "table/human.h"

/* A position is left out if it has more impossible segments than this, and … */
static const double most_impossible = 0.01;
/* … so many times those of the median of all positions. */
static const double most_of_median = 10;

static const char *event_at(const void *context, size_t i)
{
	const struct session *s = context;

	for (size_t event = 0; event < capture_n_events(s->capture); event++)
		if (stack_filter_of(s, event) != FILTER_NONE && i-- == 0)
			return capture_event_name(s->capture, event);
	return NULL;
}

static int no_stacks(struct err *err)
{
	return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
		       "no branch stacks were recorded: 'perf record -j any,u -e branches:u', or "
		       "'cyclops record --branches', does on a CPU with LBR (x86) or BRBE (Arm)");
}

int branch_stacks_event(const struct session *s, const char *name, struct err *err)
{
	char list[256];

	if (event_at(s, 0) == NULL)
		return no_stacks(err);
	for (size_t event = 0; event < capture_n_events(s->capture); event++)
		if (stack_filter_of(s, event) != FILTER_NONE &&
		    strcmp(capture_event_name(s->capture, event), name) == 0)
			return (int)event;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--event: there are no branch stacks of '%s'; there are those of %s", name,
		       list_words(event_at, s, list, sizeof(list)));
}

int branch_stacks_choose(const struct session *s, enum stack_filter wanted)
{
	int best = -1, best_rank = 0;

	for (size_t event = 0; event < capture_n_events(s->capture); event++) {
		enum stack_filter filter = stack_filter_of(s, event);
		enum stack_trigger trigger = stack_trigger_of(s, event, NULL);
		int rank = filter == FILTER_NONE		   ? 0
			   : filter != wanted			   ? 1
			   : stack_trigger_counts(trigger, filter) ? 4
			   : trigger == TRIGGER_CYCLES		   ? 3
								   : 2;

		if (rank > best_rank) {
			best = (int)event;
			best_rank = rank;
		}
	}
	return best;
}

struct analysis branch_stacks_first_scan(const struct branch_stacks *b)
{
	return (struct analysis){ .class = &stack_class, .options = &b->options };
}

static struct stack_counts *scan_stacks(struct branch_stacks *b, const struct select *select,
					bool only_speeds)
{
	const struct scan_wish wish = { .keeps_places = true };
	struct analysis analysis = branch_stacks_first_scan(b);

	b->options.only_speeds = only_speeds;
	scan_part(b->session, select, &wish, &analysis, 1);
	return analysis.result;
}

/* What a unit of weight is of what samples stand for, which is divided among their segments, or branches. */
static double divided(uint64_t whole, uint64_t weight)
{
	return weight > 0 ? (double)whole / (double)weight : 0;
}

static void divide_weights(struct stack_counts *c)
{
	double each = divided(c->weight, c->segments_weight);

	for (size_t i = 0; i < c->segment_sums.n; i++)
		c->segment_sums.items[i].weight =
			stack_divide_weight(c->segment_sums.items[i].weight, each);
	each = divided(c->weight, c->taken_weight);
	for (size_t i = 0; i < c->taken_sums.n; i++)
		c->taken_sums.items[i].weight =
			stack_divide_weight(c->taken_sums.items[i].weight, each);
}

enum {
	STACKS_BYTES = 16 << 20, /* of all workers: struct stack_options */
	SORTED_BYTES = 8 << 20,
};

static void release_taken(struct branch_stacks *b)
{
	if (b->taken != NULL)
		sorter_release(b->taken);
	free(b->taken);
	b->taken = NULL;
}

/* Puts in order what is in files. */
static int sort_spilled(struct branch_stacks *b, struct stack_counts *c, struct err *err)
{
	struct sorter segments;
	int rc;

	b->taken = mem_zalloc(1, sizeof(*b->taken));
	sorter_init(b->taken, SORTED_BYTES);
	sorter_init(&segments, SORTED_BYTES);
	if (c->spool.rc < 0)
		*err = c->spool.err;
	else
		stack_counts_sort(c, &segments, b->taken);
	rc = c->spool.rc < 0 ? -1 : sorter_finish(&segments, err);
	if (rc == 0)
		rc = segments_init_sorted(
			&b->segments, b->session, &b->functions, c, &segments,
			b->options.by_cycles ? 1 : divided(c->weight, c->segments_weight), err);
	sorter_release(&segments);
	b->taken_each = b->options.by_cycles ? 1 : divided(c->weight, c->taken_weight);
	return rc < 0 ? -1 : sorter_finish(b->taken, err);
}

bool branch_stacks_are_sorted(const struct branch_stacks *b)
{
	return b->taken != NULL;
}

static bool next_sorted(const struct branch_stacks *b, uint64_t *at, uint64_t *key,
			struct taken_sum *sum)
{
	struct sorter_record first, record;

	if (!sorter_next(b->taken, at, &first))
		return false;
	*sum = (struct taken_sum){ 0 };
	record = first;
	for (uint64_t next = *at;; *at = next) {
		stack_taken_read(record.value, key, sum);
		if (!sorter_next(b->taken, &next, &record) || !sorter_keys_equal(&first, &record))
			break;
	}
	sum->weight = stack_divide_weight(sum->weight, b->taken_each);
	return true;
}

bool branch_stacks_next_taken(const struct branch_stacks *b, uint64_t *at, struct taken_branch *out)
{
	const struct stack_counts *c = b->counts;
	uint64_t key[TAKEN_WORDS];

	if (b->taken != NULL) {
		if (!next_sorted(b, at, key, &out->sum))
			return false;
	} else {
		if (*at >= c->taken.n)
			return false;
		memcpy(key, tuples_get(&c->taken, (uint32_t)*at), sizeof(key));
		out->sum = c->taken_sums.items[(*at)++];
	}
	out->from_number = (uint32_t)key[TAKEN_FROM];
	out->to_number = (uint32_t)key[TAKEN_TO];
	out->from = session_place(b->session, out->from_number);
	out->to = session_place(b->session, out->to_number);
	out->type = (enum branch_type)key[TAKEN_TYPE];
	return true;
}

/*
 * Takes the counts of the first scan. By cycles it was of the speeds, which have to be known before:
 * then the stacks are counted in another.
 */
static void take_scan(struct branch_stacks *b, const struct select *select,
		      struct stack_counts *first)
{
	struct stack_counts *counts = first;

	if (b->options.by_cycles) {
		b->options.speeds = first;
		counts = scan_stacks(b, select, false);
		b->options.speeds = NULL;
		stack_class.free(first);
	}
	b->counts = counts;
	if (stack_counts_are_spilled(counts)) {
		b->rc = sort_spilled(b, counts, &b->err);
		return;
	}
	if (!b->options.by_cycles)
		divide_weights(counts);
	segments_init(&b->segments, b->session, &b->functions, counts);
}

/* Counts them again, without the positions that are left out now. */
static void scan_again(struct branch_stacks *b, const struct select *select)
{
	segments_release(&b->segments);
	release_taken(b);
	stack_class.free(b->counts);
	take_scan(b, select, scan_stacks(b, select, b->options.by_cycles));
}

static void count_positions(struct branch_stacks *b)
{
	const struct stack_counts *c = b->counts;
	const struct segment_faults *sums = b->segments.sums;

	for (size_t i = 0; i < b->segments.list.n; i++) {
		const struct segment *s = &b->segments.list.items[i];

		for (size_t at = 0; at < STACK_POSITIONS; at++) {
			uint64_t n = segment_n_at(c, s->number, at);

			b->positions[at].n += n;
			b->positions[at].by_fault[s->fault] += n;
		}
	}
	for (size_t fault = 0; fault < N_SEGMENT_FAULTS && sums != NULL; fault++)
		for (size_t at = 0; at < STACK_POSITIONS; at++) {
			b->positions[at].n += sums->positions[fault][at];
			b->positions[at].by_fault[fault] += sums->positions[fault][at];
		}
	b->n_positions = c->deepest > 0 ? (size_t)c->deepest - 1 : 0;
	if (b->n_positions > STACK_POSITIONS)
		b->n_positions = STACK_POSITIONS;
}

double stack_position_impossible(const struct stack_position *p)
{
	uint64_t n = 0;

	for (int fault = 0; fault < N_SEGMENT_FAULTS; fault++)
		n += segment_fault_is_impossible((enum segment_fault)fault) ? p->by_fault[fault]
									    : 0;
	return ratio(n, p->n);
}

static int compare_shares(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Marks positions that were recorded wrongly. */
static void test_positions(struct branch_stacks *b)
{
	double shares[STACK_POSITIONS], sorted[STACK_POSITIONS], median;
	size_t n = b->n_positions;

	if (n < 3) /* too few for a median that one position does not decide */
		return;
	for (size_t i = 0; i < n; i++)
		shares[i] = sorted[i] = stack_position_impossible(&b->positions[i]);
	qsort(sorted, n, sizeof(*sorted), compare_shares);
	median = sorted[n / 2];
	for (size_t i = 0; i < n; i++) {
		bool is_wrong = shares[i] > most_impossible && shares[i] > most_of_median * median;

		b->options.left_out |= (uint64_t)is_wrong << i;
		b->n_left_out += is_wrong;
	}
}

static void sum_up(struct branch_stacks *b)
{
	const struct segment_faults *sums = b->segments.sums;

	for (size_t i = 0; i < b->segments.list.n; i++) {
		const struct segment *s = &b->segments.list.items[i];
		const struct segment_sum *sum = segment_sum(&b->segments, s);

		b->n_segments += sum->n;
		b->weight += sum->weight;
		b->by_fault[s->fault] += sum->n;
		if (s->fault != SEGMENT_GOOD)
			continue;
		b->n_good += sum->n;
		b->good_weight += sum->weight;
	}
	for (size_t fault = 0; fault < N_SEGMENT_FAULTS && sums != NULL; fault++) {
		b->n_segments += sums->n[fault];
		b->weight += sums->weight[fault];
		b->by_fault[fault] += sums->n[fault];
	}
	if (sums != NULL) {
		b->n_good = sums->n[SEGMENT_GOOD];
		b->good_weight = sums->weight[SEGMENT_GOOD];
	}
}

static int compare_timed(const void *left, const void *right)
{
	const struct stack_timed *a = left, *b = right;

	if (a->segment != b->segment)
		return a->segment < b->segment ? -1 : 1;
	return (a->cycles > b->cycles) - (a->cycles < b->cycles);
}

static void sort_durations(struct branch_stacks *b)
{
	const struct stack_counts *c = b->counts;

	for (uint32_t i = 0; i < c->durations.n; i++) {
		const uint64_t *key = tuples_get(&c->durations, i);

		*vec_add(&b->timed) = (struct stack_timed){
			.segment = (uint32_t)key[0],
			.cycles = key[1],
			.n = c->duration_sums.items[i],
		};
	}
	if (b->timed.n > 1)
		qsort(b->timed.items, b->timed.n, sizeof(*b->timed.items), compare_timed);
}

int branch_stacks_start(struct branch_stacks *b, struct session *s, int event, bool with_durations,
			struct err *err)
{
	*b = (struct branch_stacks){ .session = s };
	if (event < 0)
		event = branch_stacks_choose(s, FILTER_ANY);
	if (event < 0)
		return no_stacks(err);
	b->filter = stack_filter_of(s, (size_t)event);
	b->trigger = stack_trigger_of(s, (size_t)event, &b->is_speculative);
	b->options.event = (size_t)event;
	b->options.instructions_event = instructions_event(s, (size_t)event);
	b->options.has_segments = b->filter == FILTER_ANY;
	b->options.with_durations = with_durations;
	b->options.limit_bytes = STACKS_BYTES / pool_size(s->pool);
	b->options.by_cycles = b->trigger == TRIGGER_CYCLES;
	b->options.only_speeds = b->options.by_cycles;
	b->mux = mux_new(s);
	b->options.mux = mux_scales(b->mux) ? b->mux : NULL;
	code_functions_init(&b->functions, s);
	return 0;
}

/* As a scan does that has entries as rows. */
static void add_wrong_paths(struct branch_stacks *b)
{
	const struct stack_counts *c = b->counts;
	struct diags diags = { 0 };

	if (c->n_wrong_path == 0 || b->session->has_branch_notes)
		return;
	diags_add_n(&diags, DIAG_NOTE, c->n_wrong_path, c->first_wrong_path, 0,
		    BRANCHES_OF_WRONG_PATH);
	capture_add_diags(b->session->capture, &diags);
	diags_release(&diags);
	b->session->has_branch_notes = true;
}

int branch_stacks_need_all(const struct branch_stacks *b, struct err *err)
{
	if (b->options.has_segments)
		return 0;
	return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
		       "only some kinds of branches were recorded with %s: 'perf record -j any,u' "
		       "records all",
		       capture_event_name(b->session->capture, b->options.event));
}

int branch_stacks_finish(struct branch_stacks *b, const struct select *select, void *result,
			 struct err *err)
{
	take_scan(b, select, result);
	count_positions(b);
	test_positions(b);
	if (b->n_left_out > 0)
		scan_again(b, select);
	add_wrong_paths(b);
	stack_window_test(b);
	sum_up(b);
	sort_durations(b);
	if (b->rc < 0)
		*err = b->err;
	return b->rc;
}

int branch_stacks_read(struct branch_stacks *b, struct session *s, const struct select *select,
		       int event, bool with_durations, struct err *err)
{
	if (branch_stacks_start(b, s, event, with_durations, err) < 0)
		return -1;
	return branch_stacks_finish(b, select, scan_stacks(b, select, b->options.by_cycles), err);
}

int branch_stacks_read_within(struct branch_stacks *b, struct session *s,
			      const struct select *select, int event, bool with_durations,
			      size_t limit_bytes, struct err *err)
{
	if (branch_stacks_start(b, s, event, with_durations, err) < 0)
		return -1;
	b->options.limit_bytes = limit_bytes;
	return branch_stacks_finish(b, select, scan_stacks(b, select, b->options.by_cycles), err);
}

void branch_stacks_release(struct branch_stacks *b)
{
	vec_release(&b->timed);
	release_taken(b);
	segments_release(&b->segments);
	code_functions_release(&b->functions);
	stack_class.free(b->counts);
	mux_free(b->mux);
	*b = (struct branch_stacks){ 0 };
}

double branch_stacks_executions(const struct branch_stacks *b, double weight)
{
	const struct stack_counts *c = b->counts;

	if (b->bias.is_biased && b->hides_biased)
		return NAN;
	if (stack_trigger_counts(b->trigger, b->filter))
		return weight / STACK_WEIGHT_ONE;
	/* stacks without cycles: as if they were like those with cycles */
	if (b->options.by_cycles && c->timed_weight > 0)
		return weight / STACK_WEIGHT_ONE * ((double)c->weight / (double)c->timed_weight);
	return NAN;
}

struct cell branch_stacks_cell(const struct branch_stacks *b, double executions, uint64_t n)
{
	enum cell_mark mark = b->bias.is_biased	 ? MARK_BIASED
			      : n < SPARSE_BELOW ? MARK_SPARSE
						 : MARK_SCALED;

	if (isnan(executions))
		return (struct cell){ 0 };
	return cell_marked(cell_number(executions), mark);
}

void branch_stacks_words(const struct branch_stacks *b, double executions, uint64_t n,
			 struct text *out)
{
	const struct cell cell = branch_stacks_cell(b, executions, n);

	if (isnan(executions))
		return;
	human_words(out, &cell, "");
	text_str(out, mark_sign(cell.mark));
}

void branch_stacks_legend(const struct branch_stacks *b, struct text *out)
{
	text_format(out, "%s   %s\n", mark_meaning(b->bias.is_biased ? MARK_BIASED : MARK_SCALED),
		    mark_meaning(MARK_SPARSE));
}

static void note_faults(const struct branch_stacks *b, struct table *t)
{
	struct text text = { 0 };

	for (int fault = SEGMENT_GOOD + 1; fault < N_SEGMENT_FAULTS; fault++)
		if (b->by_fault[fault] > 0)
			text_format(&text, "%s%s: %" PRIu64, text.n > 0 ? "; " : "",
				    segment_fault_text((enum segment_fault)fault),
				    b->by_fault[fault]);
	if (text.n > 0)
		table_note(t, "%" PRIu64 " of %" PRIu64 " segments (%.1f %%) are left out: %.*s",
			   b->n_segments - b->n_good, b->n_segments,
			   100 * ratio(b->n_segments - b->n_good, b->n_segments), (int)text.n,
			   text.bytes);
	text_release(&text);
}

static void note_positions(const struct branch_stacks *b, struct table *t)
{
	for (size_t i = 0; i < b->n_positions; i++)
		if (b->options.left_out >> i & 1)
			table_note(
				t,
				"position %zu of the stacks is left out%s: %.0f %% of its segments "
				"cannot be code",
				i, i == 0 ? " (the newest)" : "",
				100 * stack_position_impossible(&b->positions[i]));
}

/* "main+0x27", or its address. */
static const char *name_place(const struct branch_stacks *b, struct place place, struct table *t)
{
	struct symbols *symbols = b->session->symbols;
	struct symbol symbol;

	symbols_resolve(symbols, b->session->pool, &place, 1, SYMBOLS_FUNCTIONS, &symbol);
	if (symbol.function.v == 0)
		return table_format(t, "%#" PRIx64, symbol.address);
	return table_format(t, "%s+%#" PRIx64,
			    strings_get(symbols_strings(symbols), symbol.function),
			    symbol.function_offset);
}

static void note_bias(const struct branch_stacks *b, struct table *t)
{
	const struct stack_bias *bias = &b->bias;

	if (bias->is_biased)
		table_note(t,
			   "biased: the share of the branch at %s differs %.1f times between "
			   "positions of the stack; no counts of executions, only shares",
			   name_place(b, bias->worst, t), bias->worst_ratio);
	if (b->is_speculative && !capture_spe(b->session->capture)->is_modelled)
		table_note(t, "%s counts branches of wrong paths, too: counts are upper bounds",
			   capture_event_name(b->session->capture, b->options.event));
}

void branch_stacks_note(const struct branch_stacks *b, struct table *t)
{
	const struct capture *capture = b->session->capture;
	const char *name = capture_event_name(capture, b->options.event);
	uint64_t factor = attr_period_factor(&capture_event(capture, b->options.event)->attr);

	table_note(t,
		   "%" PRIu64 " branch stacks of %s, %" PRIu64
		   " branches; the deepest has %" PRIu64,
		   b->counts->n_samples, name, b->counts->n_entries, b->counts->deepest);
	executed_instructions_note(b, t);
	note_faults(b, t);
	note_positions(b, t);
	note_bias(b, t);
	if (b->options.by_cycles && b->counts->timed_weight == 0)
		table_note(t,
			   "without cycles in the stacks, samples of %s give no counts of "
			   "executions, only shares",
			   name);
	else if (b->trigger != TRIGGER_CYCLES && !stack_trigger_counts(b->trigger, b->filter))
		table_note(t,
			   "%s counts neither cycles nor the branches that were recorded: no "
			   "counts of executions, only shares",
			   name);
	if (factor != 0)
		table_note(t,
			   "the sampling period is divisible by %" PRIu64
			   ": it may fall into step with loops; a prime does not",
			   factor);
}
