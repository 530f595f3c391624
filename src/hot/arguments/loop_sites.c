/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counted loops: which register holds their limit. Such a loop ends with a comparison of two registers and a
 * conditional branch back. One of them goes up from a constant by a constant step, the other one does not
 * change in the loop: then its value in a sample tells how many iterations this run of the loop has.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "hot/arguments/loops.h"
#include "session/names.h"
#include "variables/code.h"
#include "variables/function_code.h"

enum { MOST_FUNCTION = 1 << 16, A64_SIZE = 4 };

/* The condition under which a loop goes on, of its counter and its limit. */
enum goes_on { GOES_ON_NEVER, GOES_ON_BELOW, GOES_ON_AT_MOST };

/* Two registers that are compared, by DWARF number, and a branch on the result. */
struct comparison {
	uint32_t first, second;
	bool is_narrow, is_signed;	  /* 32 bits */
	enum goes_on if_first, if_second; /* if the first, or the second, is the counter */
};

/* A64: SUBS with the zero register as result, without a shift. */
static bool read_a64_compare(uint32_t word, struct comparison *out)
{
	if ((word & 0x7fe0fc1f) != 0x6b00001f)
		return false;
	out->first = word >> 5 & 31;
	out->second = word >> 16 & 31;
	out->is_narrow = word >> 31 == 0;
	return out->first != 31 && out->second != 31;
}

static bool read_a64_condition(uint32_t word, struct comparison *out)
{
	/* by condition code; where the counter is first, then where it is second */
	static const enum goes_on first[16] = { [1] = GOES_ON_BELOW,
						[3] = GOES_ON_BELOW,
						[11] = GOES_ON_BELOW,
						[9] = GOES_ON_AT_MOST,
						[13] = GOES_ON_AT_MOST };
	static const enum goes_on second[16] = { [1] = GOES_ON_BELOW,
						 [8] = GOES_ON_BELOW,
						 [12] = GOES_ON_BELOW,
						 [2] = GOES_ON_AT_MOST,
						 [10] = GOES_ON_AT_MOST };
	uint32_t condition = word & 15;

	if ((word & 0xff000010) != 0x54000000)
		return false;
	out->if_first = first[condition];
	out->if_second = second[condition];
	out->is_signed = condition >= 10;
	return true;
}

/* DWARF numbers of x86's registers by their numbers in code. */
static const uint8_t x86_dwarf[] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

/* x86: CMP of two registers, which compares the operand of `rm` with that of `reg`, or the reverse. */
static bool read_x86_compare(const uint8_t *code, size_t size, struct comparison *out)
{
	uint8_t rex = size > 0 && code[0] >> 4 == 4 ? code[0] : 0;
	const uint8_t *at = code + (rex != 0);
	uint32_t reg, rm;

	if (size != 2u + (rex != 0) || (at[0] != 0x39 && at[0] != 0x3b) || at[1] >> 6 != 3)
		return false;
	reg = (at[1] >> 3 & 7) | (rex >> 2 & 1) << 3;
	rm = (at[1] & 7) | (rex & 1) << 3;
	out->first = x86_dwarf[at[0] == 0x39 ? rm : reg];
	out->second = x86_dwarf[at[0] == 0x39 ? reg : rm];
	out->is_narrow = (rex & 8) == 0;
	return true;
}

static bool read_x86_condition(const uint8_t *code, size_t size, struct comparison *out)
{
	static const enum goes_on first[16] = { [2] = GOES_ON_BELOW,
						[5] = GOES_ON_BELOW,
						[12] = GOES_ON_BELOW,
						[6] = GOES_ON_AT_MOST,
						[14] = GOES_ON_AT_MOST };
	static const enum goes_on second[16] = { [7] = GOES_ON_BELOW,
						 [5] = GOES_ON_BELOW,
						 [15] = GOES_ON_BELOW,
						 [3] = GOES_ON_AT_MOST,
						 [13] = GOES_ON_AT_MOST };
	uint8_t condition;

	if (size == 2 && code[0] >> 4 == 7)
		condition = code[0] & 15;
	else if (size == 6 && code[0] == 0x0f && code[1] >> 4 == 8)
		condition = code[1] & 15;
	else
		return false;
	out->if_first = first[condition];
	out->if_second = second[condition];
	out->is_signed = condition >= 12;
	return true;
}

struct instruction_at {
	uint32_t offset, size; /* in the function */
	struct flow flow;
};

/* A function whose loops are looked for. */
struct looked_at {
	struct code code;
	struct place entry;
	uint64_t address;
	const struct isa_followed *followed;
	VEC_OF(struct instruction_at) list;
};

static bool read_comparison(const struct looked_at *f, size_t branch, struct comparison *out)
{
	const struct instruction_at *at = &f->list.items[branch], *before = at - 1;
	const uint8_t *bytes = f->code.bytes;
	uint32_t words[2];

	*out = (struct comparison){ 0 };
	if (f->code.isa == ISA_X86_64)
		return read_x86_condition(bytes + at->offset, at->size, out) &&
		       read_x86_compare(bytes + before->offset, before->size, out);
	if (f->code.isa != ISA_A64)
		return false;
	memcpy(&words[0], bytes + before->offset, A64_SIZE);
	memcpy(&words[1], bytes + at->offset, A64_SIZE);
	return read_a64_condition(words[1], out) && read_a64_compare(words[0], out);
}

/*
 * The first page of a file is its header: a constant from there on may be an address, which is another one
 * where the code runs.
 */
enum { FIRST_PAGE = 4096 };

static bool is_number(uint64_t constant)
{
	return constant < FIRST_PAGE || 0 - constant < FIRST_PAGE;
}

/* How a counter goes on: where it is first compared, and by how much then. */
struct counting {
	uint64_t start, step;
};

static bool counts_in_64_bits(const struct isa_value *v, struct counting *out)
{
	*out = (struct counting){ v->offset, v->step };
	return v->root == ISA_CONSTANT && v->step != 0 && v->step < FIRST_PAGE &&
	       is_number(v->offset);
}

/* XOR r32,r32; MOV w,#n; MOV w,wzr: the constant that the instruction sets a 32-bit register to. */
static bool sets_constant(const struct looked_at *f, const struct instruction_at *i, uint32_t reg,
			  uint64_t *out)
{
	const uint8_t *at = f->code.bytes + i->offset;
	uint32_t word, rex;

	*out = 0;
	if (f->code.isa == ISA_X86_64) {
		rex = at[0] >> 4 == 4 ? at[0] : 0;
		at += rex != 0;
		return i->size == 2 + (rex != 0) && at[0] == 0x31 && at[1] >> 6 == 3 &&
		       (at[1] & 7) == (at[1] >> 3 & 7) && (rex & 1) == (rex >> 2 & 1) &&
		       x86_dwarf[(at[1] & 7) | (rex & 1) << 3] == reg;
	}
	memcpy(&word, at, A64_SIZE);
	*out = word >> 5 & 0xffff;
	if ((word & 0xffe0001f) == (0x52800000 | reg))
		return true;
	*out = 0;
	return word == (0x2a1f03e0 | reg);
}

/* ADD r32,imm8; INC r32; ADD w,w,#n: what the instruction adds to a 32-bit register; 0: it does not. */
static uint64_t adds_constant(const struct looked_at *f, const struct instruction_at *i,
			      uint32_t reg)
{
	const uint8_t *at = f->code.bytes + i->offset;
	uint32_t word, rex;

	if (f->code.isa == ISA_X86_64) {
		rex = at[0] == 0x41 ? 1 : 0;
		at += rex;
		if (i->size == 3 + rex && at[0] == 0x83 && (at[1] & 0xf8) == 0xc0 && at[2] < 0x80 &&
		    x86_dwarf[(at[1] & 7) | rex << 3] == reg)
			return at[2];
		return i->size == 2 + rex && at[0] == 0xff && (at[1] & 0xf8) == 0xc0 &&
		       x86_dwarf[(at[1] & 7) | rex << 3] == reg;
	}
	memcpy(&word, at, A64_SIZE);
	return (word & 0xffc003ff) == (0x11000000 | reg << 5 | reg) ? word >> 10 & 0xfff : 0;
}

/* Instructions in front of a loop in which its counter may be set. */
enum { LOOK_BACK = 8 };

/* Results of 32 bits are not followed: they are looked for in front of the loop, and in it. */
static bool counts_in_32_bits(const struct looked_at *f, size_t head, size_t branch, uint32_t reg,
			      struct counting *out)
{
	size_t n_adds = 0;
	uint64_t first = 0, added;

	*out = (struct counting){ 0 };
	for (size_t i = head; i < branch; i++) {
		added = adds_constant(f, &f->list.items[i], reg);
		n_adds += added != 0;
		out->step += added;
		if (flow_is_branch(f->list.items[i].flow.kind))
			return false;
	}
	for (size_t i = head; n_adds == 1 && i-- > 0 && head - i <= LOOK_BACK;) {
		enum flow_kind kind = f->list.items[i].flow.kind;

		if (kind != FLOW_NEXT && kind != FLOW_BRANCH)
			return false;
		if (sets_constant(f, &f->list.items[i], reg, &first)) {
			out->start = first + out->step;
			return true;
		}
	}
	return false;
}

/* Does it have one value, which is not known from the code? */
static bool is_limit(const struct isa_value *v)
{
	return v->root != ISA_UNKNOWN_VALUE && v->root != ISA_CONSTANT && v->step == 0;
}

static bool is_same_value(const struct isa_followed *f, const struct isa_value *a,
			  const struct isa_value *b)
{
	struct isa_origin x = isa_origin_of(f, a), y = isa_origin_of(f, b);

	return a->root == b->root && a->root != ISA_NUMBER && a->slot == b->slot &&
	       a->offset == b->offset && a->step == b->step && a->more == b->more &&
	       x.address == y.address && x.reg == y.reg;
}

/* Of two registers that are compared: does the first count, up to the second? */
static bool counts_to(const struct looked_at *f, size_t head, size_t branch, uint32_t first,
		      uint32_t second, bool is_narrow, struct counting *out)
{
	uint64_t at = f->address + f->list.items[branch - 1].offset;
	struct isa_value counter = isa_followed_register(f->followed, at, first);
	struct isa_value limit = isa_followed_register(f->followed, at, second);

	if (!is_limit(&limit))
		return false;
	return counts_in_64_bits(&counter, out) || (is_narrow && counter.root != ISA_CONSTANT &&
						    counts_in_32_bits(f, head, branch, first, out));
}

/* The loop from `head` to a branch back to it, if it is counted. */
static bool read_loop(const struct looked_at *f, size_t head, size_t branch,
		      const struct registers *registers, struct counted_loop *out)
{
	uint64_t at = f->address + f->list.items[branch - 1].offset;
	struct comparison c;
	struct counting counting;
	enum goes_on goes_on = GOES_ON_NEVER;
	int number;

	if (!read_comparison(f, branch, &c))
		return false;
	if (counts_to(f, head, branch, c.first, c.second, c.is_narrow, &counting)) {
		goes_on = c.if_first;
		out->dwarf_register = c.second;
	} else if (counts_to(f, head, branch, c.second, c.first, c.is_narrow, &counting)) {
		goes_on = c.if_second;
		out->dwarf_register = c.first;
	}
	if (goes_on == GOES_ON_NEVER)
		return false;
	number = registers_of_dwarf(registers, out->dwarf_register);
	out->limit = (struct argument){
		.kind = c.is_signed ? PARAMETER_SIGNED : PARAMETER_UNSIGNED,
		.size = c.is_narrow ? 4 : 8,
		.number = (uint8_t)number,
	};
	out->start = counting.start;
	out->step = counting.step;
	out->includes_limit = goes_on == GOES_ON_AT_MOST;
	out->value = isa_followed_register(f->followed, at, out->dwarf_register);
	return number >= 0;
}

/* The instruction at an offset; list.n if none begins there. */
static size_t instruction_of(const struct looked_at *f, uint64_t offset)
{
	size_t i = 0;

	while (i < f->list.n && f->list.items[i].offset != offset)
		i++;
	return i;
}

static void read_instructions(struct looked_at *f)
{
	for (size_t at = 0; at < f->code.size;) {
		struct instruction_at *i = vec_add(&f->list);
		size_t size;

		*i = (struct instruction_at){ .offset = (uint32_t)at };
		size = isa_flow_and_size(f->code.isa, f->code.bytes + at, f->code.size - at,
					 f->address + at, &i->flow);
		if (size == 0)
			return;
		i->size = (uint32_t)size;
		at += size;
	}
}

/* Is it entered elsewhere than at its head? Then the comparison comes before its first iteration. */
static bool is_entered_inside(const struct looked_at *f, uint64_t head, uint64_t last)
{
	for (size_t i = 0; i < f->list.n; i++) {
		const struct instruction_at *from = &f->list.items[i];

		if ((from->offset < head || from->offset > last) && from->flow.has_target &&
		    from->flow.target > f->address + head && from->flow.target <= f->address + last)
			return true;
	}
	return false;
}

static void find_loops_with_sites(const struct looked_at *f, const struct registers *registers,
				  struct counted_loops *loops)
{
	for (size_t i = 1; i < f->list.n; i++) {
		const struct instruction_at *at = &f->list.items[i];
		struct counted_loop loop = { .entry = f->entry };
		uint64_t head = at->flow.target - f->address;
		size_t first = instruction_of(f, head);

		if (at->flow.kind != FLOW_BRANCH || !at->flow.has_target ||
		    at->flow.target < f->address || head >= at->offset || first == f->list.n ||
		    is_entered_inside(f, head, at->offset))
			continue;
		loop.head = f->entry.offset + head;
		loop.last = f->entry.offset + at->offset;
		if (read_loop(f, first, i, registers, &loop))
			*vec_add(&loops->list) = loop;
	}
}

/* The innermost loop around a place, if the register has its limit there. */
static size_t loop_around(const struct looked_at *f, const struct counted_loops *loops,
			  size_t first, uint64_t offset)
{
	size_t best = loops->list.n;

	for (size_t i = first; i < loops->list.n; i++) {
		const struct counted_loop *l = &loops->list.items[i];

		if (offset < l->head || offset > l->last)
			continue;
		if (best == loops->list.n || l->head > loops->list.items[best].head)
			best = i;
	}
	if (best < loops->list.n) {
		const struct counted_loop *l = &loops->list.items[best];
		struct isa_value here = isa_followed_register(
			f->followed, f->address + (offset - f->entry.offset), l->dwarf_register);

		if (is_same_value(f->followed, &here, &l->value))
			return best;
	}
	return loops->list.n;
}

/* The loops of the function around places[0] … places[n - 1], and which of them are in one. */
static void look_at_function(struct session *s, struct function_code *cache,
			     const struct place *places, const struct symbol *symbols, size_t n,
			     const struct registers *registers, struct counted_loops *out)
{
	struct looked_at f = { .address = symbols[0].address - symbols[0].function_offset };
	size_t first = out->list.n;

	f.entry = (struct place){ places[0].module, places[0].offset - symbols[0].function_offset };
	if (symbols[0].function_size == 0 || symbols[0].function_size > MOST_FUNCTION ||
	    !symbols_code(s->symbols, f.entry, symbols[0].function_size, &f.code))
		return;
	f.followed = function_code_at(cache, s->symbols, f.entry.module, f.address, f.code.isa);
	if (f.followed == NULL)
		return;
	read_instructions(&f);
	find_loops_with_sites(&f, registers, out);
	for (size_t i = 0; i < n && first < out->list.n; i++) {
		size_t loop = loop_around(&f, out, first, places[i].offset);

		if (loop == out->list.n)
			continue;
		tuples_add(&out->places, (uint64_t[2]){ places[i].module.v, places[i].offset });
		*vec_add(&out->loop_of) = (uint32_t)loop;
	}
	for (size_t i = first; i < out->list.n; i++) {
		struct isa_origin origin = isa_origin_of(f.followed, &out->list.items[i].value);
		const struct isa_value *v = &out->list.items[i].value;

		out->list.items[i].is_argument = v->root == ISA_INITIAL && v->offset == 0 &&
						 v->more == 0 && origin.address == f.address;
		out->list.items[i].argument_register = origin.reg;
	}
	vec_release(&f.list);
}

static const char *text_of(const struct session *s, struct str_id id)
{
	return id.v == 0 ? NULL : strings_get(symbols_strings(s->symbols), id);
}

/* The name of the parameter that the limit is; NULL: it is none, or its name is not known. */
static const char *parameter_name(const struct session *s, const struct counted_loop *loop,
				  const struct signatures *signatures,
				  const struct signature *signature)
{
	for (uint32_t i = 0; loop->is_argument && signature->is_known && i < signature->n; i++) {
		const struct parameter *p = &signatures->parameters.items[signature->first + i];

		if (p->dwarf_register == loop->argument_register)
			return text_of(s, p->name);
	}
	return NULL;
}

static void name_loops(struct session *s, struct counted_loops *loops)
{
	size_t n = loops->list.n;
	struct place *entries = mem_alloc(n + 1, sizeof(*entries));
	struct place *heads = mem_alloc(n + 1, sizeof(*heads));
	struct symbol *symbols = mem_zalloc(n + 1, sizeof(*symbols));
	struct signatures signatures;

	for (size_t i = 0; i < n; i++) {
		entries[i] = loops->list.items[i].entry;
		heads[i] = (struct place){ entries[i].module, loops->list.items[i].head };
	}
	symbols_resolve(s->symbols, s->pool, heads, n, SYMBOLS_LINES, symbols);
	symbols_signatures(s->symbols, entries, n, &signatures);
	for (size_t i = 0; i < n; i++) {
		struct counted_loop *l = &loops->list.items[i];

		l->function = text_of(s, symbols[i].function);
		l->module = names_module(s, l->entry.module);
		l->parameter = parameter_name(s, l, &signatures, &signatures.list[i]);
		if (symbols[i].n_frames > 0) {
			const struct symbol_frame *frame =
				&symbols_frames(s->symbols)[symbols[i].first_frame];

			l->file = text_of(s, frame->file);
			l->line = frame->line;
		}
	}
	signatures_release(&signatures);
	free(entries);
	free(heads);
	free(symbols);
}

void counted_loops_find(struct session *s, const struct place *places, const struct symbol *symbols,
			size_t n, const struct registers *registers, struct counted_loops *out)
{
	struct function_code cache = { 0 };
	size_t from = 0, to;

	tuples_init(&out->places, 2);
	for (; from < n; from = to) {
		uint64_t start = places[from].offset - symbols[from].function_offset;

		for (to = from + 1; to < n && places[to].module.v == places[from].module.v &&
				    places[to].offset - symbols[to].function_offset == start;)
			to++;
		if (symbols[from].function.v != 0)
			look_at_function(s, &cache, &places[from], &symbols[from], to - from,
					 registers, out);
	}
	function_code_release(&cache);
	if (out->list.n > 0)
		name_loops(s, out);
}

void counted_loops_release(struct counted_loops *l)
{
	vec_release(&l->list);
	vec_release(&l->loop_of);
	tuples_release(&l->places);
}
