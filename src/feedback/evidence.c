/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/evidence.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/sorter.h"
#include "scan/scan.h"
#include "scan/spe_filters.h"

/* What is usual for branches, and what goes to a file at once. */
enum { EVIDENCE_BYTES = 8 << 20, PIECE_BYTES = 64 << 10 };

static int place_compare(struct place a, struct place b)
{
	if (a.module.v != b.module.v)
		return a.module.v < b.module.v ? -1 : 1;
	return (a.offset > b.offset) - (a.offset < b.offset);
}

static int branch_compare(const void *left, const void *right)
{
	const struct evidence_branch *a = left, *b = right;
	int order = place_compare(a->from, b->from);

	return order != 0 ? order : place_compare(a->to, b->to);
}

static void put(struct spool *to, const void *item, size_t size, size_t memory)
{
	text_add(&to->written, item, size);
	spool_flush(to, to->file == NULL ? memory : PIECE_BYTES);
}

static int finish(struct spool *s, const void **out_bytes, size_t *out_size, struct err *err)
{
	spool_finish(s);
	if (s->rc < 0)
		*err = s->err;
	else
		*out_bytes = spool_bytes(s, out_size);
	return s->rc;
}

static int finish_branches(struct evidence_branches *b, struct err *err)
{
	const void *bytes = NULL;
	size_t size = 0;
	int rc = finish(&b->spool, &bytes, &size, err);

	b->items = bytes;
	b->n = size / sizeof(*b->items);
	return rc;
}

static int finish_others(struct evidence_records *r, struct err *err)
{
	const void *bytes = NULL;
	size_t size = 0;
	int rc = finish(&r->spool, &bytes, &size, err);

	r->items = bytes;
	r->n = size / sizeof(*r->items);
	return rc;
}

/*
 * Adds up branches of one source and target: of several kinds, or from several targets before; and records of one place
 * that say the same. They come in order.
 */
struct adding {
	struct flow_evidence *e;
	size_t memory;
	struct evidence_branch last;
	struct evidence_record last_other;
	bool has_last, has_last_other;
};

static void pass_last(struct adding *a)
{
	if (a->has_last)
		put(&a->e->branches.spool, &a->last, sizeof(a->last), a->memory);
	a->has_last = false;
}

static void pass_last_other(struct adding *a)
{
	if (a->has_last_other)
		put(&a->e->others.spool, &a->last_other, sizeof(a->last_other), a->memory);
	a->has_last_other = false;
}

static void add_other(struct adding *a, const struct evidence_record *r)
{
	const struct evidence_record *last = &a->last_other;

	if (!a->has_last_other || place_compare(last->place, r->place) != 0 ||
	    last->kind != r->kind || place_compare(last->previous, r->previous) != 0) {
		pass_last_other(a);
		a->last_other = *r;
		a->has_last_other = true;
		return;
	}
	a->last_other.n += r->n;
	a->last_other.executions += r->executions;
}

static void add_alike(struct adding *a, const struct evidence_branch *b)
{
	if (!a->has_last || branch_compare(&a->last, b) != 0) {
		pass_last(a);
		a->last = *b;
		a->has_last = true;
		return;
	}
	a->last.n += b->n;
	a->last.n_mispredicted += b->n_mispredicted;
	a->last.n_told += b->n_told;
	a->last.executions += b->executions;
}

static void sort_key_place(struct text *key, struct place place)
{
	sort_key_u32(key, place.module.v);
	sort_key_u64(key, place.offset);
}

/* The branches once more, by target. */
static int sort_entries(struct flow_evidence *e, size_t memory, struct err *err)
{
	struct text key = { 0 }, value = { 0 };
	struct sorter_record record;
	struct sorter sorter;
	int rc;

	sorter_init(&sorter, memory);
	for (size_t i = 0; i < e->branches.n; i++) {
		const struct evidence_branch *b = &e->branches.items[i];

		text_reset(&key);
		text_reset(&value);
		sort_key_place(&key, b->to);
		sort_key_place(&key, b->from);
		sort_value_put(&value, b->n);
		sort_value_put(&value, b->n_mispredicted);
		sort_value_put(&value, b->n_told);
		text_add(&value, (const char *)&b->executions, sizeof(b->executions));
		sorter_add(&sorter, &key, &value);
		if (i % EVIDENCE_AT_ONCE == 0)
			flow_evidence_let_go(e);
	}
	rc = sorter_finish(&sorter, err);
	for (uint64_t at = 0; rc == 0 && sorter_next(&sorter, &at, &record);) {
		const uint8_t *bytes = record.value;
		struct evidence_branch b = {
			.to = { { sort_key_get_u32(record.key) },
				sort_key_get_u64(record.key + 4) },
			.from = { { sort_key_get_u32(record.key + 12) },
				  sort_key_get_u64(record.key + 16) },
		};

		b.n = sort_value_get(&bytes);
		b.n_mispredicted = sort_value_get(&bytes);
		b.n_told = sort_value_get(&bytes);
		memcpy(&b.executions, bytes, sizeof(b.executions));
		put(&e->entries.spool, &b, sizeof(b), memory);
	}
	sorter_release(&sorter);
	text_release(&key);
	text_release(&value);
	return rc < 0 ? -1 : finish_branches(&e->entries, err);
}

void flow_evidence_let_go(const struct flow_evidence *e)
{
	spool_drop(&e->branches.spool);
	spool_drop(&e->entries.spool);
	spool_drop(&e->others.spool);
}

typedef VEC_OF(struct evidence_branch) branch_list;

enum { PLACE_BYTES = 4 + 8 };

static struct place sort_key_get_place(const uint8_t *key)
{
	return (struct place){ { sort_key_get_u32(key) }, sort_key_get_u64(key + 4) };
}

/* By place, kind, target and the target before: branches of one source are in order of their targets. */
static void put_record_key(struct text *to, const struct flow_evidence *e, const uint64_t *key)
{
	text_reset(to);
	sort_key_place(to, session_place(e->session, (uint32_t)key[FLOW_RECORD_PLACE]));
	sort_key_u32(to, (uint32_t)key[FLOW_RECORD_KIND]);
	sort_key_place(to, session_place(e->session, (uint32_t)key[FLOW_RECORD_TARGET]));
	sort_key_place(to, session_place(e->session, (uint32_t)key[FLOW_RECORD_PREVIOUS]));
}

static void take_record(struct adding *to, const struct sorter_record *record)
{
	const uint8_t *key = record->key, *bytes = record->value;
	struct place place = sort_key_get_place(key);
	enum flow_record_kind kind = (enum flow_record_kind)sort_key_get_u32(key + PLACE_BYTES);
	uint64_t n = sort_value_get(&bytes), n_mispredicted = sort_value_get(&bytes);
	double executions = (double)sort_value_get(&bytes);

	key += PLACE_BYTES + 4;
	if (kind == RECORD_TAKEN)
		add_alike(to, &(struct evidence_branch){
				      .from = place,
				      .to = sort_key_get_place(key),
				      .n = n,
				      .n_told = n,
				      .n_mispredicted = n_mispredicted,
				      .executions = executions,
			      });
	add_other(to, &(struct evidence_record){
			      .place = place,
			      .previous = sort_key_get_place(key + PLACE_BYTES),
			      .kind = kind,
			      .n = n,
			      .executions = executions,
		      });
}

/* Takes what was summed up, which needs no memory then. */
static int take_records(struct adding *to, struct record_sums *sums, struct err *err)
{
	struct record_sums_position position = { 0 };
	struct text key = { 0 }, value = { 0 };
	uint64_t words[FLOW_RECORD_WORDS];
	struct flow_record_sum sum;
	struct sorter_record record;
	struct sorter sorter;
	int rc = sums->spool.rc;

	if (rc < 0)
		*err = sums->spool.err;
	sorter_init(&sorter, to->memory);
	while (rc == 0 && record_sums_next(sums, &position, words, &sum)) {
		put_record_key(&key, to->e, words);
		text_reset(&value);
		sort_value_put(&value, sum.n);
		sort_value_put(&value, sum.n_mispredicted);
		sort_value_put(&value, sum.operations);
		sorter_add(&sorter, &key, &value);
	}
	record_sums_release(sums);
	rc = rc == 0 ? sorter_finish(&sorter, err) : rc;
	for (uint64_t at = 0; rc == 0 && sorter_next(&sorter, &at, &record);)
		take_record(to, &record);
	pass_last_other(to);
	sorter_release(&sorter);
	text_release(&key);
	text_release(&value);
	return rc == 0 ? finish_others(&to->e->others, err) : rc;
}

static int read_spe(struct flow_evidence *e, const struct select *select, struct adding *sorted,
		    struct err *err)
{
	const struct scan_wish wish = { .keeps_places = true };
	struct analysis analysis = { .class = &flow_record_class, .options = &sorted->memory };
	struct flow_records *r;

	if (spe_filters_thin(e->session) || select_thins(select))
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "the SPE records were filtered by event, latency or data source, so "
			       "branches are missing: record without that filter "
			       "('cyclops record --spe')");
	scan_part(e->session, select, &wish, &analysis, 1);
	e->records = r = analysis.result;
	if (r->n_branches == 0)
		return err_set(
			err, ERR_NO_DATA, ERR_NOWHERE,
			"no branches among the SPE records: 'cyclops record --spe' records "
			"all operations, 'perf record -e arm_spe/branch_filter=1/' branches");
	e->has_all_operations = !spe_filters_hide(e->session) && !select_hides_kinds(select);
	e->branch_rate = (double)r->n / (double)r->operations;
	e->execution_rate = e->branch_rate;
	e->previous_share = (double)r->n_previous / (double)r->n;
	e->lost_factor = 1 / (1 - e->session->lost.share);
	e->is_relative = spe_interval_range(e->session).longest == 0;
	place_numbers_forget_index(e->session->places); /* only places of numbers are asked for */
	return take_records(sorted, &r->sums, err);
}

double flow_evidence_executions(const struct flow_evidence *e, uint64_t weight)
{
	double executions = branch_stacks_executions(&e->stacks, (double)weight);

	return isnan(executions) ? (double)weight / STACK_WEIGHT_ONE : executions;
}

static int read_stacks(struct flow_evidence *e, const struct select *select, int event,
		       size_t memory, struct adding *sorted, branch_list *branches, struct err *err)
{
	size_t of_worker = memory / pool_size(e->session->pool);
	struct taken_branch t;
	double taken = 0, segments = 0;

	if (branch_stacks_read_within(&e->stacks, e->session, select, event, false,
				      of_worker > 0 ? of_worker : 1, err) < 0 ||
	    branch_stacks_need_all(&e->stacks, err) < 0)
		return -1;
	e->is_biased = e->stacks.bias.is_biased;
	e->is_relative = isnan(branch_stacks_executions(&e->stacks, 1));
	for (uint64_t at = 0; branch_stacks_next_taken(&e->stacks, &at, &t);) {
		const struct evidence_branch b = {
			.from = t.from,
			.to = t.to,
			.n = t.sum.n,
			.n_told = t.sum.n_told,
			.n_mispredicted = t.sum.n_mispredicted,
			.executions = flow_evidence_executions(e, t.sum.weight),
		};

		if (branch_stacks_are_sorted(&e->stacks))
			add_alike(sorted, &b);
		else
			*vec_add(branches) = b;
		taken += b.executions;
	}
	segments = flow_evidence_executions(e, e->stacks.weight);
	e->branch_rate = taken > 0 ? (double)e->stacks.counts->n_entries / taken : 1;
	e->execution_rate = segments > 0 ? (double)e->stacks.n_segments / segments : 1;
	e->lost_factor = 1;
	return 0;
}

/* Are there stacks of all branches? */
static bool has_whole_stacks(const struct session *s)
{
	int event = branch_stacks_choose(s, FILTER_ANY);

	return event >= 0 && stack_filter_of(s, (size_t)event) == FILTER_ANY;
}

/* Samples of cycles, else of instructions, else of the first event that has any. */
static size_t choose_sampled(const struct session *s)
{
	static const enum stack_trigger best[] = { TRIGGER_CYCLES, TRIGGER_INSTRUCTIONS };

	for (size_t k = 0; k < COUNT(best); k++)
		for (size_t i = 0; i < capture_n_events(s->capture); i++)
			if (!capture_is_trace(s->capture, i) &&
			    stack_trigger_of(s, i, NULL) == best[k])
				return i;
	return 0;
}

static int read_samples(struct flow_evidence *e, const struct select *select, struct adding *sorted,
			struct err *err)
{
	const struct scan_wish wish = { .keeps_places = true };
	const struct place_samples_options options = {
		.event = e->sampled_event = choose_sampled(e->session),
		.memory_bytes = sorted->memory,
	};
	struct analysis analysis = { .class = &place_samples_class, .options = &options };
	struct place_samples *found;
	int rc;

	scan_part(e->session, select, &wish, &analysis, 1);
	found = analysis.result;
	e->n_samples = found->n;
	e->lost_factor = 1;
	rc = take_records(sorted, &found->sums, err);
	place_samples_class.free(found);
	return rc;
}

int flow_evidence_read(struct flow_evidence *e, struct session *s, const struct select *select,
		       int event, bool samples_do, size_t memory_bytes, struct err *err)
{
	size_t memory = memory_bytes > 0 ? memory_bytes : EVIDENCE_BYTES;
	struct adding adding = { .e = e, .memory = memory };
	branch_list branches = { 0 };
	bool has_spe = capture_n_chunks(s->capture) > 0;
	bool has_stacks = branch_stacks_choose(s, FILTER_ANY) >= 0 || event >= 0;
	int rc = 0;

	*e = (struct flow_evidence){ .session = s, .memory_bytes = memory };
	code_functions_init(&e->functions, s);
	e->source = has_whole_stacks(s) || event >= 0 ? EVIDENCE_STACKS
		    : has_spe			      ? EVIDENCE_SPE
		    : has_stacks		      ? EVIDENCE_STACKS
						      : EVIDENCE_SAMPLES;
	if (e->source == EVIDENCE_SAMPLES && samples_do)
		rc = read_samples(e, select, &adding, err);
	if (rc == 0 && e->source == EVIDENCE_SAMPLES && e->n_samples == 0)
		rc = err_set(
			err, ERR_NO_DATA, ERR_NOWHERE,
			"no branches were recorded: 'cyclops record --spe' records them on Arm, "
			"'cyclops record --branches' on a CPU with LBR (x86) or BRBE (Arm)");
	if (e->source == EVIDENCE_STACKS)
		rc = read_stacks(e, select, event, memory, &adding, &branches, err);
	if (e->source == EVIDENCE_SPE)
		rc = read_spe(e, select, &adding, err);
	if (branches.n > 1)
		qsort(branches.items, branches.n, sizeof(*branches.items), branch_compare);
	for (size_t i = 0; i < branches.n; i++)
		add_alike(&adding, &branches.items[i]);
	vec_release(&branches);
	pass_last(&adding);
	if (rc == 0)
		rc = finish_branches(&e->branches, err);
	return rc == 0 ? sort_entries(e, memory, err) : rc;
}

const char *flow_evidence_event_name(const struct flow_evidence *e)
{
	switch (stack_trigger_of(e->session, e->sampled_event, NULL)) {
	case TRIGGER_CYCLES:
		return "cycles";
	case TRIGGER_INSTRUCTIONS:
		return "instructions";
	default:
		return capture_event_name(e->session->capture, e->sampled_event);
	}
}

void flow_evidence_release(struct flow_evidence *e)
{
	flow_record_class.free(e->records);
	if (e->source == EVIDENCE_STACKS)
		branch_stacks_release(&e->stacks);
	code_functions_release(&e->functions);
	spool_release(&e->branches.spool);
	spool_release(&e->entries.spool);
	spool_release(&e->others.spool);
	*e = (struct flow_evidence){ 0 };
}

const struct code_function *flow_evidence_code(struct flow_evidence *e, struct module_id module,
					       uint64_t from, uint64_t to)
{
	struct code_functions *all =
		e->source == EVIDENCE_STACKS ? &e->stacks.functions : &e->functions;

	code_functions_let_go(all);
	return code_function_get(all, module, from, to);
}

const struct evidence_branch *flow_evidence_branch(const struct flow_evidence *e, struct place from,
						   struct place to)
{
	const struct evidence_branch wanted = { .from = from, .to = to };
	const struct evidence_branch *items = e->branches.items;
	size_t at = bisect(0, e->branches.n, i, branch_compare(&items[i], &wanted) < 0);

	return at < e->branches.n && branch_compare(&items[at], &wanted) == 0 ? &items[at] : NULL;
}

size_t flow_evidence_first_branch(const struct flow_evidence *e, struct place place)
{
	return bisect(0, e->branches.n, i, place_compare(e->branches.items[i].from, place) < 0);
}

size_t flow_evidence_first_entry(const struct flow_evidence *e, struct place place)
{
	return bisect(0, e->entries.n, i, place_compare(e->entries.items[i].to, place) < 0);
}

size_t flow_evidence_first_other(const struct flow_evidence *e, struct place place)
{
	return bisect(0, e->others.n, i, place_compare(e->others.items[i].place, place) < 0);
}

void flow_evidence_move(const struct flow_evidence *e, struct place to, struct evidence_at *at)
{
	at->branch = bisect_near(at->branch, e->branches.n, i,
				 place_compare(e->branches.items[i].from, to) < 0);
	at->entry = bisect_near(at->entry, e->entries.n, i,
				place_compare(e->entries.items[i].to, to) < 0);
	at->other = bisect_near(at->other, e->others.n, i,
				place_compare(e->others.items[i].place, to) < 0);
}

void flow_evidence_text(const struct flow_evidence *e, struct text *out)
{
	const struct capture *c = e->session->capture;

	if (e->source == EVIDENCE_SAMPLES) {
		text_format(out, "%" PRIu64 " samples of %s", e->n_samples,
			    capture_event_name(c, e->sampled_event));
		return;
	}
	if (e->source == EVIDENCE_STACKS) {
		text_format(out, "%" PRIu64 " branch stacks of %s, %" PRIu64 " branches",
			    e->stacks.counts->n_samples,
			    capture_event_name(c, e->stacks.options.event),
			    e->stacks.counts->n_entries);
		return;
	}
	text_format(out, "%" PRIu64 " SPE records, %" PRIu64 " of branches, ", e->records->n,
		    e->records->n_branches);
	spe_intervals_text(e->session, out);
}
