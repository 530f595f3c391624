/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/autofdo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "symbol/lines.h"
#include "symbol/symbols_state.h"

enum {
	AT_ONCE = 1 << 16, /* instructions whose lines are looked up together */
	LINE_BITS = 16,	   /* LLVM cuts the distance of lines */
	NO_PARENT = UINT32_MAX,
};

/* A function, or a call of one that was inlined. Keys: parent, name, location of the call. */
struct node {
	double total; /* of its lines, and of what was inlined */
	double head;  /* calls of the function */
};

/* Keys: node, location. */
struct located {
	double executions;
};

/* The profile, while it is made. All are numbered as their keys. */
struct autofdo {
	const struct edge_profile *profile;
	struct strings names;
	struct tuples node_keys;
	VEC_OF(struct node) nodes;
	struct tuples line_keys;
	VEC_OF(struct located) lines;
	struct tuples call_keys; /* node, location, name of the callee */
	VEC_OF(struct located) calls;

	/* of the function that is added: the most executions of a line's instructions */
	struct tuples own_keys;
	VEC_OF(struct located) own;

	/* of the output */
	uint32_t *order; /* nodes: parent, then location, then name; */
	uint32_t *line_order, *call_order;
	struct text text;
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

/* The location of a frame's line in its function: what stands before and behind the point. */
static uint64_t frame_location(const struct symbol_frame *f, const struct line_detail *d,
			       uint32_t *out_copies)
{
	uint32_t offset = (f->line - d->declared) & ((1u << LINE_BITS) - 1);
	uint32_t discriminator = d->discriminator;

	*out_copies = 1;
	if (d->is_of_clang)
		discriminator = autofdo_base_discriminator(discriminator, out_copies);
	return (uint64_t)offset << 32 | discriminator;
}

static uint32_t add_node(struct autofdo *a, uint32_t parent, const char *name, size_t size,
			 uint64_t location)
{
	const uint64_t key[] = { parent, strings_add(&a->names, name, size).v, location };
	uint32_t number = tuples_add(&a->node_keys, key);

	if (number == a->nodes.n)
		vec_add(&a->nodes);
	return number;
}

/* The name without what compilers put behind it for a part or a copy of a function. */
static size_t name_size(const char *name)
{
	static const char *const suffixes[] = { ".cold",      ".constprop.", ".isra.", ".llvm.",
						".lto_priv.", ".part.",	     ".clone." };
	size_t size = strlen(name);

	for (size_t i = 0; i < COUNT(suffixes); i++) {
		const char *at = strstr(name + (name[0] != '\0'), suffixes[i]);

		if (at != NULL && (size_t)(at - name) < size)
			size = (size_t)(at - name);
	}
	return size;
}

/* The node of the innermost frame; NO_PARENT if a frame is not known. */
static uint32_t chain_node(struct autofdo *a, const struct lines_answer *answer,
			   struct line_chain chain)
{
	uint32_t node = NO_PARENT;
	uint64_t location = 0;

	for (uint32_t i = chain.n; i-- > 0;) {
		const struct symbol_frame *f = &answer->frames.items[chain.first + i];
		const struct line_detail *d = &answer->details.items[chain.first + i];
		const char *name = strings_get(&answer->strings, f->function);
		uint32_t unused;

		if (f->function.v == 0 || f->line == 0 || d->declared == 0)
			return NO_PARENT;
		node = add_node(a, node, name, name_size(name), location);
		location = frame_location(f, d, &unused);
	}
	return node;
}

static void add_own(struct autofdo *a, uint32_t node, uint64_t location, double executions)
{
	const uint64_t key[] = { node, location };
	uint32_t number = tuples_add(&a->own_keys, key);
	struct located *own;

	if (number == a->own.n)
		vec_add(&a->own);
	own = &a->own.items[number];
	own->executions = fmax(own->executions, executions);
}

/* Lines of a function were all seen: adds their executions, once for each line. */
static void take_own(struct autofdo *a)
{
	for (uint32_t i = 0; i < a->own_keys.n; i++) {
		const uint64_t *key = tuples_get(&a->own_keys, i);
		uint32_t number = tuples_add(&a->line_keys, key);

		if (number == a->lines.n)
			vec_add(&a->lines);
		a->lines.items[number].executions += a->own.items[i].executions;
	}
	tuples_reset(&a->own_keys);
	vec_release(&a->own);
}

static void add_call(struct autofdo *a, uint32_t node, uint64_t location, const char *name,
		     double executions)
{
	const uint64_t key[] = { node, location, strings_add(&a->names, name, name_size(name)).v };
	uint32_t number = tuples_add(&a->call_keys, key);

	if (number == a->calls.n)
		vec_add(&a->calls);
	a->calls.items[number].executions += executions;
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
			add_call(a, node, location, to.name, e->executions);
	}
}

/* Looks up what was asked, which is of whole functions, and adds it. Returns how many functions have no lines. */
static size_t add_lines(struct autofdo *a, const struct binary *binary, asked_list *asked)
{
	uint64_t *addresses = mem_alloc(asked->n + 1, sizeof(*addresses));
	const struct lines_question question = {
		.path = binary->lines_path,
		.alt_path = binary->alt_path,
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
		uint32_t root = NO_PARENT;

		for (end = first;
		     end < asked->n && asked->items[end].function == asked->items[first].function;
		     end++) {
			const struct asked *at = &asked->items[end];
			struct line_chain chain = answer.chains[end];
			uint32_t node = chain_node(a, &answer, chain), copies = 1;
			uint64_t location;

			if (node == NO_PARENT)
				continue;
			has_lines = true;
			if (root == NO_PARENT)
				for (root = node; tuples_get(&a->node_keys, root)[0] != NO_PARENT;)
					root = (uint32_t)tuples_get(&a->node_keys, root)[0];
			location = frame_location(&answer.frames.items[chain.first],
						  &answer.details.items[chain.first], &copies);
			add_own(a, node, location, at->executions * copies);
			add_calls_of(a, f, at->offset, node, location);
		}
		take_own(a);
		n_without += !has_lines;
		/* a part that was moved away is not entered by calls */
		if (has_lines && strstr(f->name, ".cold") == NULL)
			a->nodes.items[root].head += f->entries;
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

static uint64_t whole(double executions)
{
	return executions < 9e18 ? (uint64_t)(executions + 0.5) : 0;
}

/* Totals of lines, then of what was inlined: a parent has a lower number than its children. */
static void add_up(struct autofdo *a)
{
	for (uint32_t i = 0; i < a->line_keys.n; i++)
		a->nodes.items[tuples_get(&a->line_keys, i)[0]].total +=
			(double)whole(a->lines.items[i].executions);
	for (uint32_t i = a->node_keys.n; i-- > 0;) {
		uint32_t parent = (uint32_t)tuples_get(&a->node_keys, i)[0];

		if (parent != NO_PARENT)
			a->nodes.items[parent].total += a->nodes.items[i].total;
	}
}

static const char *name_of(const struct autofdo *a, uint64_t id)
{
	return strings_get(&a->names, (struct str_id){ (uint32_t)id });
}

static int compare_words(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_nodes(const void *left, const void *right, void *context)
{
	const uint32_t *l = left, *r = right;
	const struct autofdo *a = context;
	const uint64_t *x = tuples_get(&a->node_keys, *l), *y = tuples_get(&a->node_keys, *r);
	int order;

	if (x[0] != y[0])
		return compare_words(x[0], y[0]);
	if (x[0] == NO_PARENT && a->nodes.items[*l].total != a->nodes.items[*r].total)
		return a->nodes.items[*l].total > a->nodes.items[*r].total ? -1 : 1;
	order = compare_words(x[2], y[2]);
	return order != 0 ? order : strcmp(name_of(a, x[1]), name_of(a, y[1]));
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct autofdo *a = context;
	const uint64_t *x = tuples_get(&a->line_keys, *(const uint32_t *)left);
	const uint64_t *y = tuples_get(&a->line_keys, *(const uint32_t *)right);

	return x[0] != y[0] ? compare_words(x[0], y[0]) : compare_words(x[1], y[1]);
}

/* The commonest first. */
static int compare_calls(const void *left, const void *right, void *context)
{
	const uint32_t *l = left, *r = right;
	const struct autofdo *a = context;
	const uint64_t *x = tuples_get(&a->call_keys, *l), *y = tuples_get(&a->call_keys, *r);

	if (x[0] != y[0])
		return compare_words(x[0], y[0]);
	if (x[1] != y[1])
		return compare_words(x[1], y[1]);
	if (a->calls.items[*l].executions != a->calls.items[*r].executions)
		return a->calls.items[*l].executions > a->calls.items[*r].executions ? -1 : 1;
	return strcmp(name_of(a, x[2]), name_of(a, y[2]));
}

static uint32_t *sorted(struct autofdo *a, uint32_t n,
			int (*compare)(const void *, const void *, void *))
{
	uint32_t *order = mem_alloc((size_t)n + 1, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n > 1)
		qsort_r(order, n, sizeof(*order), compare, a);
	return order;
}

/* Are the key's first words below these? */
static bool is_below(const uint64_t *key, const uint64_t *words, size_t n_words)
{
	int compared = compare_words(key[0], words[0]);

	if (compared == 0 && n_words > 1)
		compared = compare_words(key[1], words[1]);
	return compared < 0;
}

/* The first in an order whose key's first words are not below these. */
static uint32_t first_of(const struct tuples *keys, const uint32_t *order, const uint64_t *words,
			 size_t n_words)
{
	return (uint32_t)bisect(0, keys->n, i,
				is_below(tuples_get(keys, order[i]), words, n_words));
}

static void put_location(struct text *t, unsigned depth, uint64_t location)
{
	text_repeat(t, ' ', depth);
	text_u64(t, location >> 32);
	if ((uint32_t)location != 0)
		text_format(t, ".%u", (uint32_t)location);
	text_str(t, ": ");
}

static void put_line(struct autofdo *a, uint32_t line, unsigned depth,
		     struct feedback_written *written)
{
	const uint64_t *key = tuples_get(&a->line_keys, line);

	put_location(&a->text, depth, key[1]);
	text_u64(&a->text, whole(a->lines.items[line].executions));
	for (uint32_t i = first_of(&a->call_keys, a->call_order, key, 2); i < a->call_keys.n; i++) {
		const uint64_t *call = tuples_get(&a->call_keys, a->call_order[i]);
		uint64_t n = whole(a->calls.items[a->call_order[i]].executions);

		if (call[0] != key[0] || call[1] != key[1])
			break;
		if (n == 0)
			continue;
		text_char(&a->text, ' ');
		text_str(&a->text, name_of(a, call[2]));
		text_char(&a->text, ':');
		text_u64(&a->text, n);
	}
	text_char(&a->text, '\n');
	written->n_lines++;
}

/* Lines of a node, then what was inlined. Inlining is as deep as the debug information has it. */
static void put_inside(struct autofdo *a, uint32_t node, unsigned depth,
		       struct feedback_written *written)
{
	const uint64_t word = node;

	for (uint32_t i = first_of(&a->line_keys, a->line_order, &word, 1);
	     i < a->line_keys.n && tuples_get(&a->line_keys, a->line_order[i])[0] == node; i++)
		put_line(a, a->line_order[i], depth, written);
	for (uint32_t i = first_of(&a->node_keys, a->order, &word, 1);
	     i < a->node_keys.n && tuples_get(&a->node_keys, a->order[i])[0] == node; i++) {
		const uint64_t *key = tuples_get(&a->node_keys, a->order[i]);

		put_location(&a->text, depth, key[2]);
		text_str(&a->text, name_of(a, key[1]));
		text_char(&a->text, ':');
		text_u64(&a->text, whole(a->nodes.items[a->order[i]].total));
		text_char(&a->text, '\n');
		written->n_lines++;
		put_inside(a, a->order[i], depth + 1, written);
	}
}

static int put_functions(struct autofdo *a, feedback_sink *sink, void *context,
			 struct feedback_written *written)
{
	const uint64_t none = NO_PARENT;
	int rc = 0;

	for (uint32_t i = first_of(&a->node_keys, a->order, &none, 1);
	     i < a->node_keys.n && rc == 0; i++) {
		const struct node *n = &a->nodes.items[a->order[i]];

		if (whole(n->total) == 0)
			continue;
		text_str(&a->text, name_of(a, tuples_get(&a->node_keys, a->order[i])[1]));
		text_char(&a->text, ':');
		text_u64(&a->text, whole(n->total));
		text_char(&a->text, ':');
		text_u64(&a->text, whole(n->head));
		text_char(&a->text, '\n');
		written->n_functions++;
		written->n_lines++;
		put_inside(a, a->order[i], 1, written);
		rc = sink(context, &a->text);
		text_reset(&a->text);
	}
	return rc;
}

int autofdo_write(const struct edge_profile *p, feedback_sink *sink, void *context,
		  struct feedback_written *written)
{
	struct autofdo a = { .profile = p };
	int rc;

	strings_init(&a.names);
	tuples_init(&a.node_keys, 3);
	tuples_init(&a.line_keys, 2);
	tuples_init(&a.call_keys, 3);
	tuples_init(&a.own_keys, 2);
	collect(&a, written);
	add_up(&a);
	a.order = sorted(&a, a.node_keys.n, compare_nodes);
	a.line_order = sorted(&a, a.line_keys.n, compare_lines);
	a.call_order = sorted(&a, a.call_keys.n, compare_calls);
	rc = put_functions(&a, sink, context, written);
	free(a.order);
	free(a.line_order);
	free(a.call_order);
	tuples_release(&a.node_keys);
	tuples_release(&a.line_keys);
	tuples_release(&a.call_keys);
	tuples_release(&a.own_keys);
	vec_release(&a.nodes);
	vec_release(&a.lines);
	vec_release(&a.calls);
	vec_release(&a.own);
	strings_release(&a.names);
	text_release(&a.text);
	return rc;
}
