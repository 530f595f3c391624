/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/code.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "variables/code.h"

enum { MAX_CODE = 4 << 20, A64_SIZE = 4, MOST_INSTRUCTIONS = 128 << 10 };

void code_functions_init(struct code_functions *c, struct session *session)
{
	*c = (struct code_functions){ .session = session };
	tuples_init(&c->keys, 2);
}

void code_functions_release(struct code_functions *c)
{
	for (size_t i = 0; i < c->list.n; i++) {
		vec_release(&c->list.items[i].list);
		free(c->list.items[i].next_end);
		free(c->list.items[i].next_call);
		free(c->list.items[i].block_of);
	}
	vec_release(&c->list);
	tuples_release(&c->keys);
}

void code_functions_let_go(struct code_functions *c)
{
	struct session *session = c->session;

	if (c->n_instructions <= MOST_INSTRUCTIONS)
		return;
	code_functions_release(c);
	code_functions_init(c, session);
}

static enum code_class code_class_of(const struct code *code, size_t at, enum flow_kind kind)
{
	static const enum code_class by_flow[] = {
		[FLOW_NEXT] = CODE_OTHER,  [FLOW_BRANCH] = CODE_BRANCH, [FLOW_JUMP] = CODE_JUMP,
		[FLOW_CALL] = CODE_CALL,   [FLOW_RETURN] = CODE_RETURN, [FLOW_SYSTEM] = CODE_SYSTEM,
		[FLOW_STOP] = CODE_SYSTEM,
	};
	struct isa_access access;

	if (by_flow[kind] != CODE_OTHER ||
	    !isa_access(code->isa, code->bytes + at, code->size - at, &access) ||
	    access.flags & (ACCESS_PREFETCH | ACCESS_CACHE))
		return by_flow[kind];
	if (access.flags & ACCESS_LOAD)
		return access.flags & ACCESS_STORE ? CODE_LOAD_STORE : CODE_LOAD;
	return access.flags & ACCESS_STORE ? CODE_STORE : CODE_OTHER;
}

/* Instructions that are not known are as short as possible. */
static void decode_instructions(struct code_function *f, const struct code *code)
{
	size_t shortest = code->isa == ISA_A64 ? A64_SIZE : 1;

	for (size_t at = 0; code->size - at >= shortest;) {
		struct flow flow;
		size_t size = isa_flow_and_size(code->isa, code->bytes + at, code->size - at,
						f->from + at, &flow);

		*vec_add(&f->list) = (struct code_instruction){
			.offset = f->from + at,
			.size = (uint32_t)(size > 0 ? size : shortest),
			.is_known = size > 0,
			.class = (uint8_t)code_class_of(code, at, flow.kind),
			.flow = flow,
		};
		at += f->list.items[f->list.n - 1].size;
	}
}

static bool ends_execution(const struct code_instruction *i)
{
	return i->flow.kind == FLOW_JUMP || i->flow.kind == FLOW_RETURN ||
	       i->flow.kind == FLOW_STOP;
}

static void note_ends(struct code_function *f)
{
	uint32_t end = (uint32_t)f->list.n, call = end;

	f->next_end = mem_alloc(f->list.n + 1, sizeof(*f->next_end));
	f->next_call = mem_alloc(f->list.n + 1, sizeof(*f->next_call));
	f->next_end[end] = f->next_call[end] = end;
	for (uint32_t i = (uint32_t)f->list.n; i-- > 0;) {
		end = ends_execution(&f->list.items[i]) ? i : end;
		call = f->list.items[i].flow.kind == FLOW_CALL ? i : call;
		f->next_end[i] = end;
		f->next_call[i] = call;
	}
}

static void number_blocks(struct code_function *f)
{
	bool *begins = mem_zalloc(f->list.n + 1, sizeof(*begins)); /* the last: outside */
	uint32_t n = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		const struct code_instruction *instruction = &f->list.items[i];

		if (instruction->flow.has_target)
			begins[code_instruction_at(f, instruction->flow.target)] = true;
		begins[i + 1] |=
			ends_execution(instruction) || instruction->flow.kind == FLOW_BRANCH;
	}
	f->block_of = mem_alloc(f->list.n + 1, sizeof(*f->block_of));
	for (size_t i = 0; i < f->list.n; i++) {
		n += begins[i] && i > 0;
		f->block_of[i] = n;
	}
	free(begins);
}

const struct code_function *code_function_get(struct code_functions *c, struct module_id module,
					      uint64_t from, uint64_t to)
{
	const uint64_t key[] = { module.v, from };
	uint32_t number = tuples_add(&c->keys, key);
	struct code_function *f;
	struct code code;

	if (number < c->list.n)
		return &c->list.items[number];
	f = vec_add(&c->list);
	f->module = module;
	f->from = from;
	f->to = to > from && to - from < MAX_CODE ? to : from + MAX_CODE;
	if (symbols_code(c->session->symbols, (struct place){ module, from }, f->to - from, &code))
		decode_instructions(f, &code);
	note_ends(f);
	number_blocks(f);
	c->n_instructions += f->list.n;
	return f;
}

size_t code_instruction_at(const struct code_function *f, uint64_t offset)
{
	size_t at = bisect(0, f->list.n, i, f->list.items[i].offset < offset);

	return at < f->list.n && f->list.items[at].offset == offset ? at : f->list.n;
}
