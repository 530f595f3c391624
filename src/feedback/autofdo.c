/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/autofdo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "feedback/sample_profile.h"
#include "symbol/symbols_state.h"

enum {
	AT_ONCE = 1 << 16, /* instructions whose lines are looked up together */
};

/* The profile, while it is made. */
struct autofdo {
	const struct edge_profile *profile;
	struct sample_profile samples;

	/* of the function that is added: the most executions of a line's instructions */
	struct tuples own_keys;
	VEC_OF(double) own;
};

/* A number that is encoded in the lowest bits: 5 or 12, and how many they take. */
static uint32_t prefix_number(uint32_t bits, unsigned *out_size)
{
	*out_size = bits & 1 ? 1 : bits & 0x40 ? 14 : 7;
	if (bits & 1)
		return 0;
	bits >>= 1;
	return bits & 0x20 ? (bits >> 1 & 0xfe0) | (bits & 0x1f) : bits & 0x1f;
}

uint32_t autofdo_base_discriminator(uint32_t discriminator, uint32_t *out_copies)
{
	unsigned size, unused;
	uint32_t base = prefix_number(discriminator, &size);
	uint32_t copies = prefix_number(discriminator >> size, &unused);

	*out_copies = copies > 0 ? copies : 1;
	return base;
}

static void add_own(struct autofdo *a, uint32_t node, uint64_t location, double executions)
{
	const uint64_t key[] = { node, location };
	uint32_t number = tuples_add(&a->own_keys, key);
	double *own;

	if (number == a->own.n)
		vec_add(&a->own);
	own = &a->own.items[number];
	*own = fmax(*own, executions);
}

/* Lines of a function were all seen: adds their executions, once for each line. */
static void take_own(struct autofdo *a)
{
	for (uint32_t i = 0; i < a->own_keys.n; i++) {
		const uint64_t *key = tuples_get(&a->own_keys, i);
		sample_profile_add_line(&a->samples, (uint32_t)key[0], key[1], a->own.items[i]);
	}
	tuples_reset(&a->own_keys);
	vec_release(&a->own);
}

/* An instruction that is looked up. */
struct asked {
	size_t function;
	uint64_t offset, address;
	double executions;
};

typedef VEC_OF(struct asked) asked_list;

static int compare_asked(const void *left, const void *right)
{
	const struct asked *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Calls and jumps out of the function from an instruction. */
static void add_calls_of(struct autofdo *a, const struct feedback_function *f, uint64_t offset,
			 uint32_t node, uint64_t location)
{
	size_t at = bisect(0, f->edges.n, i, f->edges.items[i].from < offset);

	for (; at < f->edges.n && f->edges.items[at].from == offset; at++) {
		const struct feedback_edge *e = &f->edges.items[at];
		struct feedback_function to;

		if (e->kind != FEEDBACK_NEXT && edge_profile_symbol(a->profile, e->to, &to) &&
		    to.from == e->to.offset && (e->kind == FEEDBACK_CALL || to.from != f->from))
			sample_profile_add_call(&a->samples, node, location, to.name,
						e->executions);
	}
}

/* Looks up what was asked, which is of whole functions, and adds it. Returns how many functions have no lines. */
static size_t add_lines(struct autofdo *a, const struct binary *binary, asked_list *asked)
{
	uint64_t *addresses = mem_alloc(asked->n + 1, sizeof(*addresses));
	const struct lines_question question = {
		.path = binary->lines_path,
		.alt_path = binary->alt_path,
		.root = binary->root,
		.style = DEMANGLE_NOT,
		.addresses = addresses,
		.n = asked->n,
		.n_parts = 1,
		.with_details = true,
	};
	struct lines_answer answer = { 0 };
	size_t n_without = 0;

	if (asked->n > 1)
		qsort(asked->items, asked->n, sizeof(*asked->items), compare_asked);
	for (size_t i = 0; i < asked->n; i++)
		addresses[i] = asked->items[i].address;
	lines_ask(&question, &answer);
	for (size_t first = 0, end; first < asked->n; first = end) {
		const struct feedback_function *f =
			&a->profile->functions.items[asked->items[first].function];
		bool has_lines = false;
		uint32_t root = SAMPLE_PROFILE_NONE;

		for (end = first;
		     end < asked->n && asked->items[end].function == asked->items[first].function;
		     end++) {
			const struct asked *at = &asked->items[end];
			struct line_chain chain = answer.chains[end];
			uint32_t node = sample_profile_node(&a->samples, &answer, chain),
				 copies = 1;
			uint64_t location;

			if (node == SAMPLE_PROFILE_NONE)
				continue;
			has_lines = true;
			root = sample_profile_root(&a->samples, node);
			location = sample_profile_location(&answer.frames.items[chain.first],
							   &answer.details.items[chain.first],
							   &copies);
			add_own(a, node, location, at->executions * copies);
			add_calls_of(a, f, at->offset, node, location);
		}
		take_own(a);
		n_without += !has_lines;
		/* a part that was moved away is not entered by calls */
		if (has_lines && strstr(f->name, ".cold") == NULL)
			a->samples.nodes.items[root].head += f->entries;
	}
	free(addresses);
	lines_answer_release(&answer);
	asked->n = 0;
	return n_without;
}

static void ask_function(const struct edge_profile *p, size_t number, asked_list *out)
{
	const struct feedback_function *f = &p->functions.items[number];
	const struct code_function *code =
		flow_evidence_code(p->evidence, p->module, f->from, f->to);

	for (size_t b = 0; b < f->blocks.n; b++)
		for (size_t i = code_instruction_at(code, f->blocks.items[b].first);
		     i < code->list.n && code->list.items[i].offset <= f->blocks.items[b].last; i++)
			*vec_add(out) = (struct asked){
				.function = number,
				.offset = code->list.items[i].offset,
				.address = f->address + (code->list.items[i].offset - f->from),
				.executions = f->blocks.items[b].executions,
			};
}

static void collect(struct autofdo *a, struct feedback_written *written)
{
	const struct edge_profile *p = a->profile;
	const struct binary *binary = edge_profile_binary(p);
	asked_list asked = { 0 };

	for (size_t i = 0; i < p->functions.n; i++) {
		if (binary->lines_path == NULL) {
			written->n_without_lines += p->functions.items[i].blocks.n > 0;
			continue;
		}
		ask_function(p, i, &asked);
		if (asked.n >= AT_ONCE || (i + 1 == p->functions.n && asked.n > 0))
			written->n_without_lines += add_lines(a, binary, &asked);
	}
	vec_release(&asked);
}

int autofdo_write(const struct edge_profile *p, feedback_sink *sink, void *context,
		  struct feedback_written *written)
{
	struct autofdo a = { .profile = p };
	int rc;

	sample_profile_init(&a.samples);
	tuples_init(&a.own_keys, 2);
	collect(&a, written);
	rc = sample_profile_write(&a.samples, sink, context, written);
	sample_profile_release(&a.samples);
	tuples_release(&a.own_keys);
	vec_release(&a.own);
	return rc;
}
