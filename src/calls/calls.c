/* SPDX-License-Identifier: Apache-2.0 */
#include "calls/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "estimate/estimate.h"
#include "estimate/shares.h"
#include "scan/scan.h"
#include "scan/spe_filters.h"
#include "spe/names.h"

/* Words of a call's key. */
enum { CALL_CALLER, CALL_CALLEE, CALL_SITE, CALL_WORDS };

/* A recorded branch. */
struct recorded {
	struct place from, to;
	uint32_t from_place, to_place; /* their numbers */
	enum branch_type type;
	struct taken_sum sum; /* SPE: weights are operations */
};

static const double deviations_95 = 1.96;

static const struct symbol *symbol_of(const struct calls *c, uint32_t place)
{
	return &c->names.symbols[place];
}

static uint64_t start_of(const struct calls *c, uint32_t place)
{
	struct place at = session_place(c->session, place);
	const struct symbol *symbol = symbol_of(c, place);

	return symbol->function.v == 0 || symbol->function_offset > at.offset
		       ? 0
		       : at.offset - symbol->function_offset;
}

/* The number of the function of a place. */
static uint32_t function_of(struct calls *c, uint32_t place)
{
	struct place at = session_place(c->session, place);
	const uint64_t key[] = { at.module.v, start_of(c, place) };
	uint32_t number = tuples_add(&c->function_keys, key);

	if (number == c->functions.n)
		*vec_add(&c->functions) = (struct called_function){
			.module = at.module,
			.start = key[1],
			.name = names_function(&c->names, place),
		};
	return number;
}

/* The decoded function around a place; NULL if it has no symbol. */
static const struct code_function *code_around(struct calls *c, uint32_t place)
{
	const struct symbol *symbol = symbol_of(c, place);
	struct place at = session_place(c->session, place);
	uint64_t start = start_of(c, place);

	if (symbol->function.v == 0)
		return NULL;
	return code_function_get(c->code, at.module, start, start + symbol->function_size);
}

static const struct code_instruction *instruction_at(struct calls *c, uint32_t place)
{
	const struct code_function *f = code_around(c, place);
	size_t i;

	if (f == NULL)
		return NULL;
	i = code_instruction_at(f, session_place(c->session, place).offset);
	return i < f->list.n ? &f->list.items[i] : NULL;
}

/* The instruction that ends at a place; NULL if it is not known. */
static const struct code_instruction *instruction_before(struct calls *c, uint32_t place)
{
	const struct code_function *f = code_around(c, place);
	uint64_t offset = session_place(c->session, place).offset;
	size_t i;

	if (f == NULL)
		return NULL;
	i = code_instruction_at(f, offset);
	return i == 0 || i == f->list.n ? NULL : &f->list.items[i - 1];
}

static bool is_return(struct calls *c, const struct recorded *r)
{
	const struct code_instruction *i;

	if (r->type != BRANCH_UNKNOWN)
		return r->type == BRANCH_RETURN || r->type == BRANCH_CONDITIONAL_RETURN;
	if (!c->is_spe && c->stacks.filter == FILTER_RETURNS)
		return true;
	i = instruction_at(c, r->from_place);
	return i != NULL && i->flow.kind == FLOW_RETURN;
}

static bool is_call(struct calls *c, const struct recorded *r)
{
	const struct code_instruction *i;

	if (r->type != BRANCH_UNKNOWN)
		return r->type == BRANCH_CALL || r->type == BRANCH_INDIRECT_CALL ||
		       r->type == BRANCH_CONDITIONAL_CALL;
	i = instruction_at(c, r->from_place);
	return i != NULL && i->flow.kind == FLOW_CALL;
}

/* Squares of branch stacks are at most these: as if the returns of one sample were all together. */
static void add_sums(struct taken_sum *to, const struct taken_sum *from, bool are_independent)
{
	uint64_t squares = to->squares;

	taken_sum_add(to, from);
	if (!are_independent)
		to->squares += 2 * (uint64_t)sqrt((double)squares * (double)from->squares);
}

static void add_return(struct calls *c, const struct recorded *r)
{
	uint32_t to = r->to_place, number;
	const struct code_instruction *site;
	uint64_t words[CALL_WORDS];
	struct call *call;

	c->n_returns += r->sum.n;
	if (r->to.module.v == 0 || r->from.module.v == 0 || code_around(c, to) == NULL ||
	    code_around(c, to)->list.n == 0) {
		c->n_unresolved += r->sum.n;
		return;
	}
	site = instruction_before(c, to);
	if (site == NULL || site->flow.kind != FLOW_CALL) {
		c->n_unmatched += r->sum.n;
		return;
	}
	words[CALL_SITE] = site->offset;
	words[CALL_CALLER] = function_of(c, to);
	words[CALL_CALLEE] = function_of(c, r->from_place);
	number = tuples_add(&c->call_keys, words);
	if (number == c->list.n)
		*vec_add(&c->list) = (struct call){
			.caller = (uint32_t)words[CALL_CALLER],
			.callee = (uint32_t)words[CALL_CALLEE],
			.site = { r->to.module, words[CALL_SITE] },
			.return_place = to,
		};
	call = &c->list.items[number];
	call->return_address = symbol_of(c, to)->address;
	call->site_address = call->return_address - (r->to.offset - words[CALL_SITE]);
	add_sums(&call->returns, &r->sum, c->is_spe);
	c->functions.items[call->caller].n_out += r->sum.n;
	c->functions.items[call->callee].n_in += r->sum.n;
}

static bool is_stub(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && strcmp(name + n - 4, "@plt") == 0;
}

/* Notes a recorded call from its site. */
static void add_entry(struct calls *c, const struct recorded *r)
{
	const uint64_t words[] = { r->from.module.v, r->from.offset, function_of(c, r->to_place) };
	uint32_t number = tuples_add(&c->entry_keys, words);

	if (number == c->entries.n)
		vec_add(&c->entries);
	c->entries.items[number].n += r->sum.n;
}

/* The places that direct calls go to: of a call by its number. Indirect ones: of no module. */
static struct place *call_targets(struct calls *c)
{
	struct place *targets = mem_zalloc(c->list.n + 1, sizeof(*targets));

	for (size_t i = 0; i < c->list.n; i++) {
		const struct call *call = &c->list.items[i];
		const struct code_instruction *site = instruction_before(c, call->return_place);

		if (site != NULL && site->flow.has_target)
			targets[i] = (struct place){ call->site.module, site->flow.target };
	}
	return targets;
}

/*
 * A site that calls another function than the one that returned: that function jumped on to it. A stub
 * of the linker is none.
 */
static void find_jumps(struct calls *c)
{
	struct session *s = c->session;
	struct symbol *symbols = mem_zalloc(c->list.n + 1, sizeof(*symbols));
	struct place *targets = call_targets(c);

	symbols_resolve(s->symbols, s->pool, targets, c->list.n, SYMBOLS_FUNCTIONS, symbols);
	for (size_t i = 0; i < c->list.n; i++) {
		struct call *call = &c->list.items[i];
		const struct called_function *callee = &c->functions.items[call->callee];
		uint64_t start = targets[i].offset - symbols[i].function_offset;
		const char *name;

		if (targets[i].module.v == 0 || symbols[i].function.v == 0 ||
		    (targets[i].module.v == callee->module.v && start == callee->start))
			continue;
		name = strings_get(symbols_strings(s->symbols), symbols[i].function);
		if (!is_stub(name))
			call->via = name;
	}
	free(targets);
	free(symbols);
}

/* Recorded calls of each call's site, to its callee or to what jumped on to it. */
static void count_entries(struct calls *c)
{
	for (size_t k = 0; k < c->entries.n; k++) {
		const uint64_t *words = tuples_get(&c->entry_keys, (uint32_t)k);
		const uint64_t site[] = { words[0], words[1] };
		uint32_t number = tuples_add(&c->site_keys, site);

		if (number == c->site_entries.n)
			vec_add(&c->site_entries);
		c->site_entries.items[number].n += c->entries.items[k].n;
	}
	for (size_t i = 0; i < c->list.n; i++) {
		const struct call *call = &c->list.items[i];
		const uint64_t site[] = { call->site.module.v, call->site.offset };
		uint32_t number = tuples_find(&c->site_keys, site);

		if (number != TUPLES_NONE)
			c->site_entries.items[number].n_returns += call->returns.n;
	}
	for (size_t i = 0; i < c->list.n; i++) {
		struct call *call = &c->list.items[i];
		const uint64_t site[] = { call->site.module.v, call->site.offset };
		uint32_t number = tuples_find(&c->site_keys, site);

		if (number == TUPLES_NONE)
			continue;
		call->n_entries = c->site_entries.items[number].n;
		call->site_returns = c->site_entries.items[number].n_returns;
	}
}

static int calls_compare(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	if (a->returns.n != b->returns.n)
		return a->returns.n > b->returns.n ? -1 : 1;
	if (a->site.module.v != b->site.module.v)
		return a->site.module.v < b->site.module.v ? -1 : 1;
	if (a->site.offset != b->site.offset)
		return a->site.offset < b->site.offset ? -1 : 1;
	return 0;
}

static int recorded_compare(const void *left, const void *right)
{
	const struct recorded *a = left, *b = right;
	const uint64_t words[][2] = {
		{ a->from.module.v, b->from.module.v },
		{ a->from.offset, b->from.offset },
		{ a->to.module.v, b->to.module.v },
		{ a->to.offset, b->to.offset },
		{ a->type, b->type },
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (words[i][0] != words[i][1])
			return words[i][0] < words[i][1] ? -1 : 1;
	return 0;
}

/* As VEC_OF(struct recorded). */
struct recorded_list {
	struct recorded *items;
	size_t n, cap;
};

static struct recorded recorded_of(const struct calls *c, uint64_t from, uint64_t to,
				   enum branch_type type, const struct taken_sum *sum)
{
	return (struct recorded){
		.from = session_place(c->session, (uint32_t)from),
		.to = session_place(c->session, (uint32_t)to),
		.from_place = (uint32_t)from,
		.to_place = (uint32_t)to,
		.type = type,
		.sum = *sum,
	};
}

static int read_stacks(struct calls *c, const struct select *select, int event, struct err *err)
{
	if (branch_stacks_read(&c->stacks, c->session, select, event, false, err) < 0)
		return -1;
	c->code = &c->stacks.functions;
	c->has_entries = c->stacks.filter == FILTER_ANY;
	return 0;
}

static int read_spe(struct calls *c, const struct select *select, struct err *err)
{
	const struct scan_wish wish = { .keeps_places = true };
	const size_t memory_bytes = FLOW_RECORDS_BYTES;
	struct analysis analysis = { .class = &flow_record_class, .options = &memory_bytes };

	if (spe_filters_thin(c->session) || select_thins(select))
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "calls: SPE records were filtered by event, latency or data source, "
			       "which leaves some returns out: record without that filter");
	c->is_spe = c->has_entries = true;
	code_functions_init(&c->own_code, c->session);
	c->code = &c->own_code;
	scan_part(c->session, select, &wish, &analysis, 1);
	c->records = analysis.result;
	c->interval = spe_interval_range(c->session);
	if (c->records->sums.spool.rc < 0)
		*err = c->records->sums.spool.err;
	return c->records->sums.spool.rc;
}

/* Counts a branch: a return, or a call. */
static void count_recorded(struct calls *c, const struct recorded *r)
{
	if (r->type == BRANCH_UNKNOWN && instruction_at(c, r->from_place) == NULL)
		c->n_unread += r->sum.n;
	if (is_return(c, r))
		add_return(c, r);
	else if (c->has_entries && is_call(c, r))
		add_entry(c, r);
}

/* Branches of stacks: all of them to `list`, or, where they come by place, counted one after the other. */
static void take_stacks(struct calls *c, struct recorded_list *list)
{
	bool are_sorted = branch_stacks_are_sorted(&c->stacks);
	struct taken_branch t;

	for (uint64_t at = 0; branch_stacks_next_taken(&c->stacks, &at, &t);) {
		struct recorded r = recorded_of(c, t.from_number, t.to_number, t.type, &t.sum);

		if (are_sorted)
			count_recorded(c, &r);
		else
			*vec_add(list) = r;
	}
}

static void take_records(struct calls *c, struct recorded_list *list)
{
	struct record_sums_position at = { 0 };
	uint64_t key[FLOW_RECORD_WORDS];
	struct flow_record_sum sum;

	while (record_sums_next(&c->records->sums, &at, key, &sum)) {
		const struct taken_sum taken = {
			.n = sum.n,
			.weight = sum.operations,
			.n_told = sum.n,
			.n_mispredicted = sum.n_mispredicted,
			.squares = sum.n, /* records are independent of each other */
		};

		if (key[FLOW_RECORD_KIND] == RECORD_TAKEN)
			*vec_add(list) =
				recorded_of(c, key[FLOW_RECORD_PLACE], key[FLOW_RECORD_TARGET],
					    BRANCH_UNKNOWN, &taken);
	}
}

/* Counts all branches by place: numbers of functions and sums do not depend on the workers. */
static void count_all(struct calls *c)
{
	struct recorded_list list = { 0 };

	if (c->is_spe)
		take_records(c, &list);
	else
		take_stacks(c, &list);
	if (list.n > 1)
		qsort(list.items, list.n, sizeof(*list.items), recorded_compare);
	for (size_t i = 0; i < list.n; i++)
		count_recorded(c, &list.items[i]);
	vec_release(&list);
}

static int choose_event(const struct session *s, int event)
{
	if (event == CALLS_BY_BEST)
		event = branch_stacks_choose(s, FILTER_RETURNS);
	if (event >= 0 && stack_filter_of(s, (size_t)event) == FILTER_SOME)
		event = branch_stacks_choose(s, FILTER_ANY);
	return event < 0 && capture_n_chunks(s->capture) > 0 ? CALLS_BY_SPE : event;
}

int calls_read(struct calls *c, struct session *s, const struct select *select, int event,
	       struct err *err)
{
	int rc;

	*c = (struct calls){ .session = s };
	tuples_init(&c->function_keys, 2);
	tuples_init(&c->call_keys, CALL_WORDS);
	tuples_init(&c->entry_keys, 3);
	tuples_init(&c->site_keys, 2);
	event = choose_event(s, event);
	rc = event == CALLS_BY_SPE ? read_spe(c, select, err) : read_stacks(c, select, event, err);
	if (rc == 0) {
		names_init(&c->names, s, NULL, SYMBOLS_LINES);
		count_all(c);
		find_jumps(c);
		count_entries(c);
		if (c->list.n > 1)
			qsort(c->list.items, c->list.n, sizeof(*c->list.items), calls_compare);
	}
	return rc;
}

void calls_release(struct calls *c)
{
	if (c->is_spe) {
		flow_record_class.free(c->records);
		code_functions_release(&c->own_code);
	} else {
		branch_stacks_release(&c->stacks);
	}
	names_release(&c->names);
	tuples_release(&c->function_keys);
	tuples_release(&c->call_keys);
	tuples_release(&c->entry_keys);
	tuples_release(&c->site_keys);
	vec_release(&c->functions);
	vec_release(&c->list);
	vec_release(&c->entries);
	vec_release(&c->site_entries);
	*c = (struct calls){ 0 };
}

static struct estimate estimate_calls(const struct calls *c, const struct call *call)
{
	return estimate_of(call->returns.n, call->returns.weight, &c->interval);
}

double calls_of(const struct calls *c, const struct call *call)
{
	if (!c->is_spe)
		return branch_stacks_executions(&c->stacks, (double)call->returns.weight);
	return c->interval.longest > 0 ? estimate_calls(c, call).total : NAN;
}

double calls_error(const struct calls *c, const struct call *call)
{
	struct estimate e;

	if (!c->is_spe)
		return calls_of(c, call) * sqrt((double)call->returns.squares) /
		       (double)call->returns.n;
	e = estimate_calls(c, call);
	return calls_of(c, call) * estimate_error(&e) / deviations_95;
}

struct cell calls_cell(const struct calls *c, double calls, uint64_t n)
{
	enum cell_mark mark = c->interval.lost.is_unknown ? MARK_AT_LEAST
			      : n < SPARSE_BELOW	  ? MARK_SPARSE
							  : MARK_SCALED;

	if (!c->is_spe)
		return branch_stacks_cell(&c->stacks, calls, n);
	return isnan(calls) ? (struct cell){ 0 } : cell_marked(cell_number(calls), mark);
}

static const char *function_name_at(const void *context, size_t i)
{
	const struct calls *c = context;

	return i < c->functions.n ? c->functions.items[i].name : NULL;
}

/* "name" or "name@module" of a function: the name that is shown, or another one of its address */
static bool called_has_name(const struct calls *c, const struct called_function *f,
			    const char *name, bool is_alias)
{
	const char *module = names_module(c->session, f->module), *at = strrchr(name, '@');
	size_t n = strlen(f->name), n_name = strlen(name);

	if (!is_alias)
		return strncmp(name, f->name, n) == 0 &&
		       (name[n] == '\0' || (name[n] == '@' && strcmp(name + n + 1, module) == 0));
	if (at != NULL && strcmp(at + 1, module) == 0)
		n_name = (size_t)(at - name);
	return symbols_has_alias(c->session->symbols, (struct place){ f->module, f->start }, name,
				 n_name);
}

/* Counts the functions of this name with calls; `out` is the last of them. */
static size_t find_called(const struct calls *c, const char *name, bool is_alias, uint32_t *out)
{
	size_t n = 0;

	for (size_t i = 0; i < c->functions.n; i++) {
		const struct called_function *f = &c->functions.items[i];

		if (f->n_in + f->n_out == 0 || !called_has_name(c, f, name, is_alias))
			continue;
		*out = (uint32_t)i;
		n++;
	}
	return n;
}

int calls_find(const struct calls *c, const char *name, uint32_t *out, struct err *err)
{
	char hint[256];
	size_t n = find_called(c, name, false, out);

	if (n == 0)
		n = find_called(c, name, true, out);
	if (n == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "no recorded calls of or by '%s'%s",
			       name,
			       did_you_mean(name, function_name_at, c, "", hint, sizeof(hint)));
	if (n > 1)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "%zu functions are called '%s': name one as %s@MODULE", n, name,
			       name);
	return 0;
}
