/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/evidence.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "feedback/samples.h"
#include "scan/scan.h"
#include "scan/spe_filters.h"

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

static int entry_compare(const void *left, const void *right)
{
	const struct evidence_branch *a = left, *b = right;
	int order = place_compare(a->to, b->to);

	return order != 0 ? order : place_compare(a->from, b->from);
}

static int other_compare(const void *left, const void *right)
{
	const struct evidence_record *a = left, *b = right;
	int order = place_compare(a->place, b->place);

	if (order == 0)
		order = (a->kind > b->kind) - (a->kind < b->kind);
	return order != 0 ? order : place_compare(a->previous, b->previous);
}

static void sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (n > 1)
		qsort(items, n, size, compare);
}

/* Adds up branches of one source and target: of several kinds, or from several targets before. */
static void add_alike(struct flow_evidence *e)
{
	size_t n = 0;

	sort(e->branches.items, e->branches.n, sizeof(*e->branches.items), branch_compare);
	for (size_t i = 0; i < e->branches.n; i++) {
		const struct evidence_branch *b = &e->branches.items[i];
		struct evidence_branch *to = n > 0 ? &e->branches.items[n - 1] : NULL;

		if (to == NULL || branch_compare(to, b) != 0) {
			e->branches.items[n++] = *b;
			continue;
		}
		to->n += b->n;
		to->n_mispredicted += b->n_mispredicted;
		to->n_told += b->n_told;
		to->executions += b->executions;
	}
	e->branches.n = n;
	for (size_t i = 0; i < n; i++)
		*vec_add(&e->entries) = e->branches.items[i];
	sort(e->entries.items, n, sizeof(*e->entries.items), entry_compare);
}

static void take_record(struct flow_evidence *e, const uint64_t *key,
			const struct flow_record_sum *sum)
{
	struct place place = session_place(e->session, (uint32_t)key[FLOW_RECORD_PLACE]);

	if (key[FLOW_RECORD_KIND] == RECORD_TAKEN)
		*vec_add(&e->branches) = (struct evidence_branch){
			.from = place,
			.to = session_place(e->session, (uint32_t)key[FLOW_RECORD_TARGET]),
			.n = sum->n,
			.n_told = sum->n,
			.n_mispredicted = sum->n_mispredicted,
			.executions = (double)sum->operations,
		};
	*vec_add(&e->others) = (struct evidence_record){
		.place = place,
		.previous = session_place(e->session, (uint32_t)key[FLOW_RECORD_PREVIOUS]),
		.kind = (enum flow_record_kind)key[FLOW_RECORD_KIND],
		.n = sum->n,
		.executions = (double)sum->operations,
	};
}

static int read_spe(struct flow_evidence *e, const struct select *select, struct err *err)
{
	const struct scan_wish wish = { .keeps_places = true };
	struct analysis analysis = { .class = &flow_record_class };
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
	for (uint32_t i = 0; i < r->keys.n; i++)
		take_record(e, tuples_get(&r->keys, i), &r->sums.items[i]);
	sort(e->others.items, e->others.n, sizeof(*e->others.items), other_compare);
	return 0;
}

double flow_evidence_executions(const struct flow_evidence *e, uint64_t weight)
{
	double executions = branch_stacks_executions(&e->stacks, (double)weight);

	return isnan(executions) ? (double)weight / STACK_WEIGHT_ONE : executions;
}

static int read_stacks(struct flow_evidence *e, const struct select *select, int event,
		       struct err *err)
{
	const struct stack_counts *c;
	double taken = 0, segments = 0;

	if (branch_stacks_read(&e->stacks, e->session, select, event, false, err) < 0 ||
	    branch_stacks_need_all(&e->stacks, err) < 0)
		return -1;
	c = e->stacks.counts;
	e->is_biased = e->stacks.bias.is_biased;
	e->is_relative = isnan(branch_stacks_executions(&e->stacks, 1));
	for (uint32_t i = 0; i < c->taken.n; i++) {
		const uint64_t *key = tuples_get(&c->taken, i);
		const struct taken_sum *sum = &c->taken_sums.items[i];

		*vec_add(&e->branches) = (struct evidence_branch){
			.from = session_place(e->session, (uint32_t)key[TAKEN_FROM]),
			.to = session_place(e->session, (uint32_t)key[TAKEN_TO]),
			.n = sum->n,
			.n_told = sum->n_told,
			.n_mispredicted = sum->n_mispredicted,
			.executions = flow_evidence_executions(e, sum->weight),
		};
		taken += flow_evidence_executions(e, sum->weight);
	}
	segments = flow_evidence_executions(e, e->stacks.weight);
	e->branch_rate = taken > 0 ? (double)c->n_entries / taken : 1;
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

static void read_samples(struct flow_evidence *e, const struct select *select)
{
	const struct scan_wish wish = { .keeps_places = true };
	struct analysis analysis = { .class = &place_samples_class, .options = &e->sampled_event };
	struct place_samples *found;

	e->sampled_event = choose_sampled(e->session);
	scan_part(e->session, select, &wish, &analysis, 1);
	found = analysis.result;
	e->n_samples = found->n;
	e->lost_factor = 1;
	for (uint32_t i = 0; i < found->places.n; i++)
		*vec_add(&e->others) = (struct evidence_record){
			.place = session_place(e->session,
					       (uint32_t)tuples_get(&found->places, i)[0]),
			.n = found->sums.items[i].n,
			.executions = (double)found->sums.items[i].period,
		};
	place_samples_class.free(found);
	sort(e->others.items, e->others.n, sizeof(*e->others.items), other_compare);
}

int flow_evidence_read(struct flow_evidence *e, struct session *s, const struct select *select,
		       int event, bool samples_do, struct err *err)
{
	bool has_spe = capture_n_chunks(s->capture) > 0;
	bool has_stacks = branch_stacks_choose(s, FILTER_ANY) >= 0 || event >= 0;
	int rc = 0;

	*e = (struct flow_evidence){ .session = s };
	code_functions_init(&e->functions, s);
	e->source = has_whole_stacks(s) || event >= 0 ? EVIDENCE_STACKS
		    : has_spe			      ? EVIDENCE_SPE
		    : has_stacks		      ? EVIDENCE_STACKS
						      : EVIDENCE_SAMPLES;
	if (e->source == EVIDENCE_SAMPLES && samples_do)
		read_samples(e, select);
	if (e->source == EVIDENCE_SAMPLES && e->n_samples == 0)
		rc = err_set(
			err, ERR_NO_DATA, ERR_NOWHERE,
			"no branches were recorded: 'cyclops record --spe' records them on Arm, "
			"'cyclops record --branches' on a CPU with LBR (x86) or BRBE (Arm)");
	if (e->source == EVIDENCE_STACKS)
		rc = read_stacks(e, select, event, err);
	if (e->source == EVIDENCE_SPE)
		rc = read_spe(e, select, err);
	if (rc == 0)
		add_alike(e);
	return rc;
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
	vec_release(&e->branches);
	vec_release(&e->entries);
	vec_release(&e->others);
	*e = (struct flow_evidence){ 0 };
}

const struct code_function *flow_evidence_code(struct flow_evidence *e, struct module_id module,
					       uint64_t from, uint64_t to)
{
	return code_function_get(e->source == EVIDENCE_STACKS ? &e->stacks.functions
							      : &e->functions,
				 module, from, to);
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
