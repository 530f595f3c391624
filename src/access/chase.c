/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings: Arm ARM, C4.1. */
#include "access/chase.h"

#include "isa/flow.h"
#include "variables/code.h"

enum {
	REACH = 64, /* instructions that are read before the load, and behind it */
	WORD = 4,
	ZERO = 31, /* as a destination: the zero register */
};

/* Pretended address of the code. Backward branches must not pass 0. */
static const uint64_t start = (uint64_t)1 << 32;

static unsigned register_field(uint32_t word, unsigned shift)
{
	return word >> shift & 31;
}

static bool is_clear(uint32_t word, unsigned bit)
{
	return (word >> bit & 1) == 0;
}

/*
 * 64-bit loads into a general register: unsigned offset, unscaled offset, post- and pre-indexed,
 * register offset.
 */
static bool loads_into_base(uint32_t word)
{
	bool is_load = (word & 0xffc00000) == 0xf9400000 || (word & 0xffe00000) == 0xf8400000 ||
		       (word & 0xffe00c00) == 0xf8600800;

	return is_load && register_field(word, 0) == register_field(word, 5) &&
	       register_field(word, 0) != ZERO;
}

/* A load or store may write one register, two, or its base register (writeback). */
static bool memory_access_may_write(uint32_t word, unsigned reg)
{
	bool is_pair = (word >> 27 & 7) == 5, is_single = (word >> 27 & 7) == 7;
	bool is_store = is_pair ? is_clear(word, 22) : is_single && (word >> 22 & 3) == 0;
	bool writes_back = is_pair ? !is_clear(word, 23)
				   : is_single && is_clear(word, 24) && is_clear(word, 21) &&
					     !is_clear(word, 10);

	if (writes_back && register_field(word, 5) == reg)
		return true;
	if (is_store)
		return false;
	if (register_field(word, 0) == reg || (!is_single && register_field(word, 10) == reg))
		return true;
	/* exclusives write a status, compare-and-swap of pairs writes two registers */
	return !is_single && !is_pair && register_field(word, 16) <= reg &&
	       reg <= register_field(word, 16) + 1;
}

/* True if in doubt: a vector register with the same number counts as this one. */
static bool may_write(uint32_t word, unsigned reg)
{
	bool is_branch = (word & 0x1c000000) == 0x14000000;
	bool is_memory = (word & 0x0a000000) == 0x08000000;

	if (is_branch)
		return false;
	return is_memory ? memory_access_may_write(word, reg) : register_field(word, 0) == reg;
}

/*
 * The first instruction of the loop around `at` that the branch at `i` closes; `n` if it closes
 * none.
 */
static size_t loop_start(const uint32_t *code, size_t n, size_t at, size_t i)
{
	struct flow flow = isa_flow(ISA_A64, &code[i], WORD, start + WORD * i);
	bool goes_back = (flow.kind == FLOW_BRANCH || flow.kind == FLOW_JUMP) && flow.has_target &&
			 flow.target >= start && flow.target <= start + WORD * at;

	return goes_back ? (size_t)(flow.target - start) / WORD : n;
}

/* Does no other instruction of the loop write the register that the load at `at` writes? */
static bool is_only_writer(const uint32_t *code, size_t first, size_t last, size_t at)
{
	for (size_t i = first; i <= last; i++) {
		struct flow flow = isa_flow(ISA_A64, &code[i], WORD, start + WORD * i);

		if (flow.kind == FLOW_CALL || flow.kind == FLOW_SYSTEM)
			return false;
		if (i != at && may_write(code[i], register_field(code[at], 0)))
			return false;
	}
	return true;
}

bool chase_in_loop(const uint32_t *code, size_t n, size_t at)
{
	if (at >= n || !loads_into_base(code[at]))
		return false;
	for (size_t i = at; i < n; i++) {
		size_t first = loop_start(code, n, at, i);

		if (first < n)
			return is_only_writer(code, first, i, at);
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
