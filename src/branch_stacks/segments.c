/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "branch_stacks/durations.h"
#include "branch_stacks/window.h"
#include "variables/code.h"

enum { MAX_LENGTH = 64 << 10, SEGMENTS_AT_ONCE = 256, GOOD_PIECE = 64 << 10, GOOD_AT_ONCE = 8192 };

static const struct {
	const char *id, *text;
	bool is_impossible;
} faults[N_SEGMENT_FAULTS] = {
	[SEGMENT_GOOD] = { "none", "good", false },
	[SEGMENT_UNRESOLVED] = { "unresolved", "an end is in no module", false },
	[SEGMENT_OTHER_MODE] = { "privilege", "changes the privilege level", false },
	[SEGMENT_TWO_MODULES] = { "two_modules", "ends in two modules", false },
	[SEGMENT_BACKWARD] = { "backward", "ends before it begins", true },
	[SEGMENT_TOO_LONG] = { "too_long", "longer than 64 KiB", true },
	[SEGMENT_NO_CODE] = { "no_code", "its code is not here", false },
	[SEGMENT_OFF_INSTRUCTION] = { "off_instruction", "begins or ends inside of an instruction",
				      true },
	[SEGMENT_OVER_JUMP] = { "over_jump", "passes a jump or a return", true },
	[SEGMENT_OVER_CALL] = { "over_call", "passes a call", true },
	[SEGMENT_LEAVES] = { "leaves", "leaves its function", true },
	[SEGMENT_NO_BRANCH] = { "no_branch", "ends at no branch", true },
};

const char *segment_fault_text(enum segment_fault fault)
{
	return faults[fault].text;
}

const char *segment_fault_id(enum segment_fault fault)
{
	return faults[fault].id;
}

bool segment_fault_is_impossible(enum segment_fault fault)
{
	return faults[fault].is_impossible;
}

/* What is being checked. */
struct check {
	struct session *session;
	struct code_functions *functions;
	struct segment *segment;
};

/* The kernel replaces calls to its tracers by no operations while it runs. */
static bool may_be_patched(const struct check *c)
{
	const struct modules *modules = timeline_modules(c->session->timeline);
	enum module_kind kind = modules_get(modules, c->segment->module)->kind;

	return kind == MODULE_KERNEL || kind == MODULE_KERNEL_MODULE;
}

static enum segment_fault check_last(const struct check *c, const struct code_instruction *last)
{
	if (flow_is_branch(last->flow.kind) || last->flow.kind == FLOW_SYSTEM ||
	    c->segment->flags & SEGMENT_BY_EXCEPTION || may_be_patched(c))
		return SEGMENT_GOOD;
	return SEGMENT_NO_BRANCH;
}

/* Checks instructions `first` … `last` - 1 of a function: does execution go through them? */
static enum segment_fault check_through(const struct check *c, const struct code_function *f,
					size_t first, size_t last)
{
	if (f->next_end[first] < last)
		return SEGMENT_OVER_JUMP;
	if (f->next_call[first] < last && !may_be_patched(c))
		return SEGMENT_OVER_CALL;
	return SEGMENT_GOOD;
}

static void count_classes(struct segment *s, const struct code_function *f, size_t first,
			  size_t end)
{
	s->n_instructions += (uint32_t)(end - first);
	for (size_t i = first; i < end; i++)
		s->by_class[f->list.items[i].class]++;
}

/* The function that begins where another ends; false if none does. */
static bool find_next(const struct check *c, struct module_id module, uint64_t at, uint64_t *out_to)
{
	const struct place place = { module, at };
	struct symbol symbol;

	symbols_resolve(c->session->symbols, c->session->pool, &place, 1, SYMBOLS_FUNCTIONS,
			&symbol);
	*out_to = at + symbol.function_size;
	return symbol.function.v != 0 && symbol.function_offset == 0 && symbol.function_size > 0;
}

/* Checks the segment from `at` on, in the function [from, to) and those that it runs into. */
static enum segment_fault check_in_function(const struct check *c, uint64_t from, uint64_t to)
{
	struct segment *s = c->segment;
	uint64_t at = s->start;

	for (;;) {
		const struct code_function *f =
			code_function_get(c->functions, s->module, from, to);
		size_t first = code_instruction_at(f, at), last = code_instruction_at(f, s->end);
		bool is_last = s->end < f->to;
		enum segment_fault fault;

		if (f->list.n == 0)
			return SEGMENT_NO_CODE;
		if (first == f->list.n || (is_last && last == f->list.n))
			return SEGMENT_OFF_INSTRUCTION;
		fault = check_through(c, f, first, is_last ? last : f->list.n);
		if (fault != SEGMENT_GOOD)
			return fault;
		count_classes(s, f, first, is_last ? last + 1 : f->list.n);
		if (is_last)
			return check_last(c, &f->list.items[last]);
		at = from = f->to;
		if (!find_next(c, s->module, from, &to))
			return SEGMENT_LEAVES;
	}
}

/* Without symbols: only the end can be looked at. */
static enum segment_fault check_nameless(const struct check *c)
{
	const struct segment *s = c->segment;
	struct code_instruction last = { .offset = s->end };
	struct code code;

	if (!symbols_code(c->session->symbols, (struct place){ s->module, s->end },
			  ISA_LONGEST_INSTRUCTION, &code))
		return SEGMENT_NO_CODE;
	if (isa_flow_and_size(code.isa, code.bytes, code.size, s->end, &last.flow) == 0)
		return SEGMENT_OFF_INSTRUCTION;
	return check_last(c, &last);
}

enum segment_fault segment_place_fault(struct place start, struct place end, uint32_t flags)
{
	if (start.module.v == 0 || end.module.v == 0)
		return SEGMENT_UNRESOLVED;
	if (flags & SEGMENT_CHANGES_MODE)
		return SEGMENT_OTHER_MODE;
	if (start.module.v != end.module.v)
		return SEGMENT_TWO_MODULES;
	if (end.offset < start.offset)
		return SEGMENT_BACKWARD;
	if (end.offset - start.offset > MAX_LENGTH)
		return SEGMENT_TOO_LONG;
	return SEGMENT_GOOD;
}

static enum segment_fault check_segment(struct check *c, struct place end,
					const struct symbol *symbol)
{
	const struct segment *s = c->segment;
	struct place start = { s->module, s->start };
	enum segment_fault fault = segment_place_fault(start, end, s->flags);
	uint64_t from;

	if (fault != SEGMENT_GOOD)
		return fault;
	if (symbol->function.v == 0 || symbol->function_offset > s->start)
		return check_nameless(c);
	from = s->start - symbol->function_offset;
	return check_in_function(c, from, from + symbol->function_size);
}

static int segments_compare(const void *left, const void *right)
{
	const struct segment *a = left, *b = right;

	if (a->module.v != b->module.v)
		return a->module.v < b->module.v ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->flags > b->flags) - (a->flags < b->flags);
}

void segments_init(struct segments *out, struct session *session, struct code_functions *functions,
		   const struct stack_counts *counts)
{
	uint32_t n = counts->segments.n;
	struct place *starts = mem_alloc(n + 1, sizeof(*starts));
	struct symbol *symbols = mem_zalloc(n + 1, sizeof(*symbols));

	*out = (struct segments){ .counts = counts };
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *key = tuples_get(&counts->segments, i);
		struct place start = session_place(session, (uint32_t)key[SEGMENT_START]);
		struct place end = session_place(session, (uint32_t)key[SEGMENT_END]);

		*vec_add(&out->list) = (struct segment){ .module = start.module,
							 .start = start.offset,
							 .end = end.offset,
							 .number = i,
							 .flags = (uint32_t)key[SEGMENT_FLAGS] };
	}
	if (n > 1)
		qsort(out->list.items, n, sizeof(*out->list.items), segments_compare);
	for (uint32_t i = 0; i < n; i++)
		starts[i] = (struct place){ out->list.items[i].module, out->list.items[i].start };
	symbols_resolve(session->symbols, session->pool, starts, n, SYMBOLS_FUNCTIONS, symbols);
	for (uint32_t i = 0; i < n; i++) {
		struct segment *s = &out->list.items[i];
		const uint64_t *key = tuples_get(&counts->segments, s->number);
		struct check check = { session, functions, s };

		code_functions_let_go(functions);
		s->fault = check_segment(&check, session_place(session, (uint32_t)key[SEGMENT_END]),
					 &symbols[i]);
	}
	free(starts);
	free(symbols);
}

void segment_faults_add(struct segment_faults *f, enum segment_fault fault, uint64_t n,
			uint64_t weight, const uint64_t positions[STACK_POSITIONS])
{
	f->n[fault] += n;
	f->weight[fault] += weight;
	for (size_t at = 0; at < STACK_POSITIONS; at++)
		f->positions[fault][at] += positions[at];
}

/* A segment that was read from what is sorted. */
struct read_segment {
	uint64_t key[SEGMENT_WORDS];
	struct segment_sum sum;
	uint64_t positions[STACK_POSITIONS];
	struct segment_times times;
};

/* All there is of the next segment; false behind the last. */
static bool read_next(const struct sorter *sorted, uint64_t *at, struct read_segment *out)
{
	struct sorter_record first, record;

	if (!sorter_next(sorted, at, &first))
		return false;
	out->times.n = 0;
	*out = (struct read_segment){ .times = out->times };
	record = first;
	for (uint64_t next = *at;; *at = next) {
		stack_segment_read(record.value, out->key, &out->sum, out->positions, &out->times);
		if (!sorter_next(sorted, &next, &record) || !sorter_keys_equal(&first, &record))
			return true;
	}
}

/* Its file has it as it is in memory: it is read by this process only. */
static void put_good(struct segments *out, const struct segment *s, struct read_segment *read)
{
	struct good_segment good = { .segment = *s, .n = read->sum.n, .weight = read->sum.weight };

	good.duration = stack_duration_of(read->times.items, read->times.n);
	text_add(&out->good.written, (const char *)&good, sizeof(good));
	spool_flush(&out->good, GOOD_PIECE);
}

/* Checks some segments, and keeps the good ones. */
static void take_some(struct segments *out, struct session *session,
		      struct code_functions *functions, struct read_segment *some, size_t n)
{
	struct place starts[SEGMENTS_AT_ONCE] = { 0 };
	struct symbol symbols[SEGMENTS_AT_ONCE] = { 0 };

	for (size_t i = 0; i < n; i++)
		starts[i] = session_place(session, (uint32_t)some[i].key[SEGMENT_START]);
	symbols_resolve(session->symbols, session->pool, starts, n, SYMBOLS_FUNCTIONS, symbols);
	for (size_t i = 0; i < n; i++) {
		struct place end = session_place(session, (uint32_t)some[i].key[SEGMENT_END]);
		struct segment s = { .module = starts[i].module,
				     .start = starts[i].offset,
				     .end = end.offset,
				     .flags = (uint32_t)some[i].key[SEGMENT_FLAGS] };
		struct check check = { session, functions, &s };

		code_functions_let_go(functions);
		s.fault = check_segment(&check, end, &symbols[i]);
		segment_faults_add(out->sums, s.fault, some[i].sum.n, some[i].sum.weight,
				   some[i].positions);
		if (s.fault != SEGMENT_GOOD)
			continue;
		stack_window_add(out->window, end, some[i].positions);
		put_good(out, &s, &some[i]);
	}
}

int segments_init_sorted(struct segments *out, struct session *session,
			 struct code_functions *functions, struct stack_counts *counts,
			 const struct sorter *sorted, double each, struct err *err)
{
	struct read_segment *some = mem_zalloc(SEGMENTS_AT_ONCE, sizeof(*some));
	size_t n = 0;

	*out = (struct segments){ .counts = counts,
				  .sums = mem_zalloc(1, sizeof(*out->sums)),
				  .window = stack_window_new() };
	for (int fault = 0; fault < N_SEGMENT_FAULTS && counts->faulty != NULL; fault++)
		segment_faults_add(out->sums, (enum segment_fault)fault, counts->faulty->n[fault],
				   stack_divide_weight(counts->faulty->weight[fault], each),
				   counts->faulty->positions[fault]);
	stack_counts_forget(counts);
	for (uint64_t at = 0; read_next(sorted, &at, &some[n]);) {
		some[n].sum.weight = stack_divide_weight(some[n].sum.weight, each);
		if (++n < SEGMENTS_AT_ONCE)
			continue;
		take_some(out, session, functions, some, n);
		n = 0;
	}
	take_some(out, session, functions, some, n);
	for (size_t i = 0; i < SEGMENTS_AT_ONCE; i++)
		vec_release(&some[i].times);
	free(some);
	spool_finish(&out->good);
	if (out->good.rc < 0)
		*err = out->good.err;
	return out->good.rc;
}

/* Good ones that are in a file. */
static const struct good_segment *sorted_good(const struct segments *s, size_t *out_n)
{
	size_t size;
	const struct good_segment *items = spool_bytes(&s->good, &size);

	*out_n = size / sizeof(*items);
	return items;
}

static bool next_sorted_good(const struct segments *s, uint64_t *at, struct good_segment *out)
{
	size_t n;
	const struct good_segment *items = sorted_good(s, &n);

	if (*at >= n)
		return false;
	*out = items[(*at)++];
	if (*at % GOOD_AT_ONCE == 0)
		spool_drop(&s->good);
	return true;
}

static bool begins_before(const struct segment *s, struct module_id module, uint64_t offset)
{
	return s->module.v < module.v || (s->module.v == module.v && s->start < offset);
}

uint64_t segments_good_from(const struct segments *s, struct module_id module, uint64_t offset)
{
	const struct good_segment *items;
	size_t n;

	if (s->sums == NULL)
		return bisect(0, s->list.n, i, begins_before(&s->list.items[i], module, offset));
	items = sorted_good(s, &n);
	return bisect(0, n, i, begins_before(&items[i].segment, module, offset));
}

bool segments_next_good(const struct segments *s, uint64_t *at, struct good_segment *out)
{
	if (s->sums != NULL)
		return next_sorted_good(s, at, out);
	while (*at < s->list.n) {
		const struct segment *segment = &s->list.items[(*at)++];
		const struct segment_sum *sum = segment_sum(s, segment);

		if (segment->fault != SEGMENT_GOOD)
			continue;
		*out = (struct good_segment){ .segment = *segment,
					      .n = sum->n,
					      .weight = sum->weight };
		return true;
	}
	return false;
}

void segments_release(struct segments *s)
{
	vec_release(&s->list);
	free(s->sums);
	spool_release(&s->good);
	stack_window_free(s->window);
	*s = (struct segments){ 0 };
}

const struct segment_sum *segment_sum(const struct segments *s, const struct segment *segment)
{
	return &s->counts->segment_sums.items[segment->number];
}
