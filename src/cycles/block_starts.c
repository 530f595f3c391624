/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/block_starts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "branch_stacks/code.h"
#include "session/names.h"

/* A place and the block that it is in. */
struct found_start {
	struct place start;
	uint32_t number;
};

static struct found_start find_start(struct code_functions *code, const struct names *names,
				     uint32_t number)
{
	const struct symbol *s = &names->symbols[number];
	struct place place = session_place(names->session, number);
	struct found_start out = { { place.module, 0 }, BLOCK_UNKNOWN };
	const struct code_function *f;
	size_t at;

	if (s->function.v == 0)
		return out;
	out.start.offset = place.offset - s->function_offset;
	f = code_function_get(code, place.module, out.start.offset,
			      out.start.offset + s->function_size);
	at = code_instruction_at(f, place.offset);
	if (at == f->list.n)
		return out;
	out.number = f->block_of[at];
	while (at > 0 && f->block_of[at - 1] == out.number)
		at--;
	out.start.offset = f->list.items[at].offset;
	return out;
}

void block_starts_init(struct block_starts *b, struct session *s, const bool *wanted)
{
	uint32_t n = place_numbers_n(s->places);
	struct found_start *found = mem_zalloc(n + 1u, sizeof(*found));
	struct code_functions code;
	struct names names;

	*b = (struct block_starts){ .starts = mem_zalloc(n + 1u, sizeof(*b->starts)) };
	names_init(&names, s, wanted, SYMBOLS_FUNCTIONS);
	code_functions_init(&code, s);
	for (uint32_t i = 0; i < n; i++) {
		if (!wanted[i] || session_place(s, i).module.v == 0)
			continue; /* place 0 is its own */
		found[i] = find_start(&code, &names, i);
		b->starts[i] = place_numbers_add(s->places, found[i].start);
	}
	b->n = place_numbers_n(s->places);
	b->numbers = mem_alloc(b->n + 1u, sizeof(*b->numbers));
	b->is_start = mem_zalloc(b->n + 1u, sizeof(*b->is_start));
	for (uint32_t i = 0; i < b->n; i++)
		b->numbers[i] = BLOCK_UNKNOWN;
	for (uint32_t i = 0; i < n; i++)
		if (wanted[i]) {
			b->is_start[b->starts[i]] = true;
			if (b->starts[i] != 0)
				b->numbers[b->starts[i]] = found[i].number;
		}
	code_functions_release(&code);
	names_release(&names);
	free(found);
}

void block_starts_release(struct block_starts *b)
{
	free(b->starts);
	free(b->numbers);
	free(b->is_start);
}

uint32_t block_starts_of(const struct block_starts *b, uint32_t place)
{
	return b->starts[place];
}

uint32_t block_starts_number(const struct block_starts *b, uint32_t place)
{
	return b->numbers[place];
}
