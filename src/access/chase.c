/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings: Arm ARM, C4.1. */
#include "access/chase.h"

#include "isa/flow.h"
#include "variables/code.h"

enum {
	REACH = 64, /* instructions of a loop before and behind the load */
	WORD = 4,
	ZERO = 31, /* the number of no register */
};

/* Where code stands, for relative branches: far enough from 0. */
static const uint64_t start = (uint64_t)1 << 32;

static unsigned chase_field(uint32_t word, unsigned shift)
{
	return word >> shift & 31;
}

static bool is_clear(uint32_t word, unsigned bit)
{
	return (word >> bit & 1) == 0;
}

/*
 * Loads of 64 bits into a general register: unsigned offset, unscaled, post- and pre-indexed, and with
 * a register offset.
 */
static bool loads_own_base(uint32_t word)
{
	bool is_load = (word & 0xffc00000) == 0xf9400000 || (word & 0xffe00000) == 0xf8400000 ||
		       (word & 0xffe00c00) == 0xf8600800;

	return is_load && chase_field(word, 0) == chase_field(word, 5) &&
	       chase_field(word, 0) != ZERO;
}

/* Loads and stores write more than one register, or back to their base. */
static bool may_write_by_memory(uint32_t word, unsigned reg)
{
	bool is_pair = (word >> 27 & 7) == 5, is_single = (word >> 27 & 7) == 7;
	bool is_store = is_pair ? is_clear(word, 22) : is_single && (word >> 22 & 3) == 0;
	bool writes_back = is_pair ? !is_clear(word, 23)
				   : is_single && is_clear(word, 24) && is_clear(word, 21) &&
					     !is_clear(word, 10);

	if (writes_back && chase_field(word, 5) == reg)
		return true;
	if (is_store)
		return false;
	if (chase_field(word, 0) == reg || (!is_single && chase_field(word, 10) == reg))
		return true;
	/* exclusives and compare-and-swap, of pairs, too */
	return !is_single && !is_pair && chase_field(word, 16) <= reg &&
	       reg <= chase_field(word, 16) + 1;
}

/* Rather yes than no: vector registers have the same numbers. */
static bool may_write(uint32_t word, unsigned reg)
{
	bool is_branch = (word & 0x1c000000) == 0x14000000;
	bool is_memory = (word & 0x0a000000) == 0x08000000;

	if (is_branch)
		return false;
	return is_memory ? may_write_by_memory(word, reg) : chase_field(word, 0) == reg;
}

/* The instruction that a loop around `at` begins with; `n` if the branch at `i` makes none. */
static size_t loop_start(const uint32_t *code, size_t n, size_t at, size_t i)
{
	struct flow flow = isa_flow(ISA_A64, &code[i], WORD, start + WORD * i);
	bool goes_back = (flow.kind == FLOW_BRANCH || flow.kind == FLOW_JUMP) && flow.has_target &&
			 flow.target >= start && flow.target <= start + WORD * at;

	return goes_back ? (size_t)(flow.target - start) / WORD : n;
}

static bool is_kept(const uint32_t *code, size_t first, size_t last, size_t at)
{
	for (size_t i = first; i <= last; i++) {
		struct flow flow = isa_flow(ISA_A64, &code[i], WORD, start + WORD * i);

		if (flow.kind == FLOW_CALL || flow.kind == FLOW_SYSTEM)
			return false;
		if (i != at && may_write(code[i], chase_field(code[at], 0)))
			return false;
	}
	return true;
}

bool chase_in_loop(const uint32_t *code, size_t n, size_t at)
{
	if (at >= n || !loads_own_base(code[at]))
		return false;
	for (size_t i = at; i < n; i++) {
		size_t first = loop_start(code, n, at, i);

		if (first < n)
			return is_kept(code, first, i, at);
	}
	return false;
}

bool chase_at(const struct session *s, uint32_t place)
{
	struct place p = session_place(s, place);
	uint64_t before, after;
	uint32_t words[2 * REACH];
	struct code code;
	size_t n_before, n;

	if (symbols_isa(s->symbols, p.module) != ISA_A64 ||
	    !symbols_code_around(s->symbols, p, &before, &after))
		return false;
	n_before = before / WORD < REACH ? before / WORD : REACH;
	p.offset -= n_before * WORD;
	if (!symbols_code(s->symbols, p, sizeof(words), &code))
		return false;
	n = code.size / WORD;
	for (size_t i = 0; i < n; i++)
		words[i] = load_u32(code.bytes + i * WORD);
	return chase_in_loop(words, n, n_before);
}
