/* SPDX-License-Identifier: Apache-2.0 */
/* Joins counts with the disassembled instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/annotate.h"
#include "base/alloc.h"
#include "base/bisect.h"
#include "base/cursor.h"
#include "base/text.h"
#include "spe/packet.h"
#include "variables/code.h"

enum {
	/* Limit of a function's size: symbol sizes may be wrong. */
	MAX_CODE = 4 << 20,
	WORD = 4, /* an instruction of A64 */
};

/* A count, for sorting. */
struct entry {
	uint64_t offset, what, value, n;
};

static int annotate_compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

static struct entry *sort_entries(const struct annotate *a)
{
	struct entry *entries = mem_alloc(a->keys.n + 1, sizeof(*entries));

	for (uint32_t i = 0; i < a->keys.n; i++) {
		const uint64_t *key = tuples_get(&a->keys, i);

		entries[i] = (struct entry){ key[0], key[1], key[2], a->counts.items[i] };
	}
	qsort(entries, a->keys.n, sizeof(*entries), annotate_compare_entries);
	return entries;
}

static uint64_t annotate_address_of(const struct annotate_region *r, uint64_t offset)
{
	return r->address + (offset - r->from);
}

static void disassemble_code(struct annotation *a, struct disasm *disasm, const struct code *code)
{
	const struct annotate_region *r = a->region;

	for (size_t at = 0; at < code->size;) {
		struct annotated *i = vec_add(&a->list);

		i->offset = r->from + at;
		disasm_next(disasm, code->bytes + at, code->size - at,
			    annotate_address_of(r, i->offset), &i->text);
		at += i->text.size;
	}
}

/* Without the code: lists the offsets that have records. */
static void list_places(struct annotation *a, const struct entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct annotated *made;

		if (i > 0 && entries[i].offset == entries[i - 1].offset)
			continue;
		made = vec_add(&a->list);
		made->offset = entries[i].offset;
		made->text.address = annotate_address_of(a->region, made->offset);
		made->text.size = 1;
	}
}

/* Without a disassembler: lists A64 instructions as words in hexadecimal. */
static void list_words_of_code(struct annotation *a, const struct code *code)
{
	const struct annotate_region *r = a->region;

	for (size_t at = 0; at + WORD <= code->size; at += WORD) {
		struct annotated *made = vec_add(&a->list);
		struct instruction *text = &made->text;

		made->offset = r->from + at;
		text->address = annotate_address_of(r, made->offset);
		text->size = WORD;
		text->flow = isa_flow(code->isa, code->bytes + at, WORD, text->address);
		snprintf(text->mnemonic, sizeof(text->mnemonic), ".inst");
		snprintf(text->operands, sizeof(text->operands), "0x%08x",
			 load_u32(code->bytes + at));
	}
}

/* Lists the instructions, as far as the file and a disassembler are there. */
static void annotate_read_code(struct annotation *a, enum disasm_syntax syntax,
			       const struct entry *entries, size_t n)
{
	const struct annotate_region *r = a->region;
	uint64_t size = r->to - r->from < MAX_CODE ? r->to - r->from : MAX_CODE;
	struct disasm *disasm;
	struct code code;
	struct err err;

	a->isa = symbols_isa(a->session->symbols, r->module);
	if (!symbols_code(a->session->symbols, (struct place){ r->module, r->from }, size, &code)) {
		a->shortage = "the file with its instructions was not found (--symfs, --debug-dir, "
			      "--debuginfod)";
		list_places(a, entries, n);
		return;
	}
	disasm = disasm_new(code.isa, syntax, &err);
	if (disasm == NULL) {
		a->shortage = arena_strndup(&a->memory, err.text, strlen(err.text));
		if (code.isa == ISA_A64)
			list_words_of_code(a, &code);
		else
			list_places(a, entries, n);
		return;
	}
	disassemble_code(a, disasm, &code);
	disasm_free(disasm);
}

/* The offset of the instruction that contains the byte at this offset. */
static uint64_t instruction_with(const struct annotation *a, uint64_t offset)
{
	size_t behind = bisect(0, a->list.n, i, a->list.items[i].offset <= offset);

	return a->list.items[behind == 0 ? 0 : behind - 1].offset;
}

/* Adds counts at offsets inside an instruction to it. Returns how many entries are left. */
static size_t join_entries(const struct annotation *a, struct entry *entries, size_t n)
{
	size_t n_joined = 0;

	if (a->list.n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		entries[i].offset = instruction_with(a, entries[i].offset);
	if (n > 1)
		qsort(entries, n, sizeof(*entries), annotate_compare_entries);
	for (size_t i = 0; i < n; i++) {
		if (n_joined > 0 &&
		    annotate_compare_entries(&entries[n_joined - 1], &entries[i]) == 0)
			entries[n_joined - 1].n += entries[i].n;
		else
			entries[n_joined++] = entries[i];
	}
	return n_joined;
}

static void take_entries(struct annotation *a, const struct entry *entries, size_t n)
{
	size_t at = 0;

	vec_reserve(&a->values, n);
	for (size_t i = 0; i < a->list.n; i++) {
		struct annotated *instruction = &a->list.items[i];

		for (uint32_t what = 0; what < N_COUNTS; what++) {
			instruction->first[what] = (uint32_t)a->values.n;
			for (; at < n && entries[at].offset == instruction->offset &&
			       entries[at].what == what;
			     at++)
				*vec_add(&a->values) =
					(struct annotate_value){ entries[at].value, entries[at].n };
		}
		instruction->first[N_COUNTS] = (uint32_t)a->values.n;
	}
}

/* Looks up the source lines and inline chains of all instructions. */
static void read_lines(struct annotation *a)
{
	struct place *places = mem_alloc(a->list.n + 1, sizeof(*places));
	struct symbol *symbols = mem_zalloc(a->list.n + 1, sizeof(*symbols));

	for (size_t i = 0; i < a->list.n; i++)
		places[i] = (struct place){ a->region->module, a->list.items[i].offset };
	symbols_resolve(a->session->symbols, a->session->pool, places, a->list.n, SYMBOLS_LINES,
			symbols);
	for (size_t i = 0; i < a->list.n; i++)
		a->list.items[i].symbol = symbols[i];
	free(symbols);
	free(places);
}

static bool annotate_is_elsewhere(const struct annotation *a, const struct flow *flow)
{
	const struct annotate_region *r = a->region;

	return flow->has_target &&
	       (flow->target < r->address || flow->target - r->address >= r->to - r->from);
}

static const char *name_target(struct annotation *a, const struct symbol *symbol, uint64_t target)
{
	const char *function;
	struct text text = { 0 };
	char *name;

	/* equal distances in memory and in the file need one segment: check */
	if (symbol->function.v == 0 || symbol->address != target)
		return NULL;
	function = strings_get(symbols_strings(a->session->symbols), symbol->function);
	text_str(&text, function);
	if (symbol->function_offset > 0)
		text_format(&text, "+%#llx", (unsigned long long)symbol->function_offset);
	name = arena_strndup(&a->memory, text.bytes, text.n);
	text_release(&text);
	return name;
}

/* Names the targets of calls and of branches out of the function. */
static void name_targets(struct annotation *a)
{
	struct place *places = mem_alloc(a->list.n + 1, sizeof(*places));
	struct symbol *symbols = mem_zalloc(a->list.n + 1, sizeof(*symbols));
	size_t n = 0;

	for (size_t i = 0; i < a->list.n; i++) {
		const struct flow *flow = &a->list.items[i].text.flow;

		if (annotate_is_elsewhere(a, flow))
			places[n++] = (struct place){
				a->region->module,
				a->region->from + (flow->target - a->region->address),
			};
	}
	symbols_resolve(a->session->symbols, a->session->pool, places, n, SYMBOLS_FUNCTIONS,
			symbols);
	n = 0;
	for (size_t i = 0; i < a->list.n; i++) {
		const struct flow *flow = &a->list.items[i].text.flow;

		if (annotate_is_elsewhere(a, flow))
			a->list.items[i].target_name = name_target(a, &symbols[n++], flow->target);
	}
	free(symbols);
	free(places);
}

void annotation_read(struct annotation *out, struct session *session,
		     const struct annotate *counted, enum disasm_syntax syntax)
{
	struct entry *entries = sort_entries(counted);
	size_t n = counted->keys.n;

	*out = (struct annotation){ .session = session, .region = counted->region };
	annotate_read_code(out, syntax, entries, n);
	n = join_entries(out, entries, n);
	take_entries(out, entries, n);
	read_lines(out);
	name_targets(out);
	free(entries);
}

void annotation_release(struct annotation *a)
{
	vec_release(&a->list);
	vec_release(&a->values);
	arena_release(&a->memory);
	*a = (struct annotation){ 0 };
}

uint64_t annotated_count(const struct annotation *a, size_t number, enum annotate_what what)
{
	const struct annotated *i = &a->list.items[number];
	uint64_t n = 0;

	for (uint32_t k = i->first[what]; k < i->first[what + 1]; k++)
		n += a->values.items[k].n;
	return n;
}

uint64_t annotated_count_of(const struct annotation *a, size_t number, enum annotate_what what,
			    uint64_t value)
{
	const struct annotated *i = &a->list.items[number];
	uint64_t n = 0;

	for (uint32_t k = i->first[what]; k < i->first[what + 1]; k++)
		n += a->values.items[k].value == value ? a->values.items[k].n : 0;
	return n;
}

void annotated_slices(const struct annotation *a, size_t number, uint64_t out[SLICES_MAX])
{
	const struct annotated *i = &a->list.items[number];

	for (uint32_t k = 0; k < a->session->slices.n; k++)
		out[k] = 0;
	for (uint32_t k = i->first[COUNT_SLICE]; k < i->first[COUNT_SLICE + 1]; k++)
		out[a->values.items[k].value] = a->values.items[k].n;
}

uint64_t annotated_time(const struct annotation *a, size_t number)
{
	const struct annotated *i = &a->list.items[number];
	uint64_t time = 0;

	for (uint32_t k = i->first[COUNT_PLACE]; k < i->first[COUNT_PLACE + 1]; k++) {
		const struct annotate_value *v = &a->values.items[k];

		time += commit_time_share(a->time, (uint32_t)v->value, v->n);
	}
	return time;
}

uint64_t annotation_time(const struct annotation *a)
{
	uint64_t time = 0;

	for (size_t i = 0; i < a->list.n; i++)
		time += annotated_time(a, i);
	return time;
}

uint64_t annotation_count(const struct annotation *a, enum annotate_what what)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->list.n; i++)
		n += annotated_count(a, i, what);
	return n;
}

uint64_t annotation_count_of(const struct annotation *a, enum annotate_what what, uint64_t value)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->list.n; i++)
		n += annotated_count_of(a, i, what, value);
	return n;
}

struct annotated_branches annotated_branches(const struct annotation *a, size_t number)
{
	uint64_t n_records = annotated_count(a, number, COUNT_BRANCH);

	return (struct annotated_branches){
		.n = n_records + annotated_count(a, number, COUNT_ENTRY),
		.n_directed = n_records,
		.n_taken = annotated_count_of(a, number, COUNT_BRANCH, 1),
		.n_predicted = n_records + annotated_count_of(a, number, COUNT_ENTRY, 1),
		.n_mispredicted = annotated_count_of(a, number, COUNT_EVENT, SPE_EV_MISPREDICTED),
	};
}

/* The median: the smallest value that is not below half of all `n`. Values ascend. */
static uint64_t median_value(const struct annotation *a, const struct annotated *i,
			     enum annotate_what what, uint64_t n)
{
	uint64_t below = 0;
	uint32_t k = i->first[what];

	while (k + 1 < i->first[what + 1]) {
		below += a->values.items[k].n;
		if (below >= n - below)
			break;
		k++;
	}
	return a->values.items[k].value;
}

struct annotated_latency annotated_latency(const struct annotation *a, size_t number,
					   enum annotate_what what)
{
	const struct annotated *i = &a->list.items[number];
	struct annotated_latency l = { 0 };

	for (uint32_t k = i->first[what]; k < i->first[what + 1]; k++) {
		const struct annotate_value *v = &a->values.items[k];

		l.n_all += v->n;
		l.cycles += v->n * v->value;
		l.max = v->value > l.max ? v->value : l.max;
		if (latency_is_full(v->value))
			continue;
		l.n_usable += v->n;
		l.usable += v->n * v->value;
	}
	if (l.n_all > 0)
		l.p50 = median_value(a, i, what, l.n_all);
	return l;
}

size_t annotation_at(const struct annotation *a, uint64_t offset)
{
	size_t at = bisect(0, a->list.n, i, a->list.items[i].offset < offset);

	return at < a->list.n && a->list.items[at].offset == offset ? at : a->list.n;
}

size_t annotated_target(const struct annotation *a, size_t number)
{
	const struct flow *flow = &a->list.items[number].text.flow;

	if (!flow->has_target || flow->kind == FLOW_CALL || annotate_is_elsewhere(a, flow))
		return a->list.n;
	return annotation_at(a, a->region->from + (flow->target - a->region->address));
}
