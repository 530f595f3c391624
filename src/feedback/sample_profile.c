/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/sample_profile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "feedback/autofdo.h"

enum { LINE_BITS = 16 }; /* LLVM cuts the distance of lines */

void sample_profile_init(struct sample_profile *p)
{
	*p = (struct sample_profile){ 0 };
	strings_init(&p->names);
	tuples_init(&p->node_keys, 3);
	tuples_init(&p->line_keys, 2);
	tuples_init(&p->call_keys, 3);
}

void sample_profile_release(struct sample_profile *p)
{
	free(p->order);
	free(p->line_order);
	free(p->call_order);
	tuples_release(&p->node_keys);
	tuples_release(&p->line_keys);
	tuples_release(&p->call_keys);
	vec_release(&p->nodes);
	vec_release(&p->lines);
	vec_release(&p->calls);
	strings_release(&p->names);
	text_release(&p->text);
}

/* The location of a frame's line in its function: what stands before and behind the point. */
uint64_t sample_profile_location(const struct symbol_frame *f, const struct line_detail *d,
				 uint32_t *out_copies)
{
	uint32_t offset = (f->line - d->declared) & ((1u << LINE_BITS) - 1);
	uint32_t discriminator = d->discriminator;

	*out_copies = 1;
	if (d->is_of_clang)
		discriminator = autofdo_base_discriminator(discriminator, out_copies);
	return (uint64_t)offset << 32 | discriminator;
}

static uint32_t add_node(struct sample_profile *a, uint32_t parent, const char *name, size_t size,
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

/* The node of the innermost frame; SAMPLE_PROFILE_NONE if a frame is not known. */
uint32_t sample_profile_node(struct sample_profile *a, const struct lines_answer *answer,
			     struct line_chain chain)
{
	uint32_t node = SAMPLE_PROFILE_NONE;
	uint64_t location = 0;

	for (uint32_t i = chain.n; i-- > 0;) {
		const struct symbol_frame *f = &answer->frames.items[chain.first + i];
		const struct line_detail *d = &answer->details.items[chain.first + i];
		const char *name = strings_get(&answer->strings, f->function);
		uint32_t unused;

		if (f->function.v == 0 || f->line == 0 || d->declared == 0)
			return SAMPLE_PROFILE_NONE;
		node = add_node(a, node, name, name_size(name), location);
		location = sample_profile_location(f, d, &unused);
	}
	return node;
}

uint32_t sample_profile_root(const struct sample_profile *p, uint32_t node)
{
	while (tuples_get(&p->node_keys, node)[0] != SAMPLE_PROFILE_NONE)
		node = (uint32_t)tuples_get(&p->node_keys, node)[0];
	return node;
}

void sample_profile_add_line(struct sample_profile *p, uint32_t node, uint64_t location, double n)
{
	uint32_t number = tuples_add(&p->line_keys, (const uint64_t[]){ node, location });

	if (number == p->lines.n)
		vec_add(&p->lines);
	p->lines.items[number] += n;
}

void sample_profile_add_call(struct sample_profile *a, uint32_t node, uint64_t location,
			     const char *name, double n)
{
	const uint64_t key[] = { node, location, strings_add(&a->names, name, name_size(name)).v };
	uint32_t number = tuples_add(&a->call_keys, key);

	if (number == a->calls.n)
		vec_add(&a->calls);
	a->calls.items[number] += n;
}

static uint64_t whole(double n)
{
	if (n < 0)
		return n > -9e18 ? (uint64_t)(int64_t)(n - 0.5) : 0;
	return n < 9e18 ? (uint64_t)(n + 0.5) : 0;
}

/* Totals of lines, then of what was inlined: a parent has a lower number than its children. */
static void add_up(struct sample_profile *a)
{
	for (uint32_t i = 0; i < a->line_keys.n; i++)
		a->nodes.items[tuples_get(&a->line_keys, i)[0]].total +=
			(double)whole(a->lines.items[i]);
	for (uint32_t i = a->node_keys.n; i-- > 0;) {
		uint32_t parent = (uint32_t)tuples_get(&a->node_keys, i)[0];

		if (parent != SAMPLE_PROFILE_NONE)
			a->nodes.items[parent].total += a->nodes.items[i].total;
	}
}

static const char *name_of(const struct sample_profile *a, uint64_t id)
{
	return strings_get(&a->names, (struct str_id){ (uint32_t)id });
}

/*
 * The format has no quotes. A newline ends a line, and a colon with a number ends a name. In front, a blank makes it a line of
 * what was inlined, a digit a count, and '#' a comment. All of them become '?'.
 */
static void put_name(struct text *t, const char *name)
{
	for (const char *c = name; *c != '\0'; c++) {
		bool ends = *c == '\n' || *c == '\r' || (*c == ':' && isdigit((unsigned char)c[1]));
		bool begins = c == name && (*c == ' ' || *c == '#' || isdigit((unsigned char)*c));

		text_char(t, ends || begins ? '?' : *c);
	}
}

static int compare_words(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_nodes(const void *left, const void *right, void *context)
{
	const uint32_t *l = left, *r = right;
	const struct sample_profile *a = context;
	const uint64_t *x = tuples_get(&a->node_keys, *l), *y = tuples_get(&a->node_keys, *r);
	int order;

	if (x[0] != y[0])
		return compare_words(x[0], y[0]);
	if (x[0] == SAMPLE_PROFILE_NONE && a->nodes.items[*l].total != a->nodes.items[*r].total)
		return a->nodes.items[*l].total > a->nodes.items[*r].total ? -1 : 1;
	order = compare_words(x[2], y[2]);
	return order != 0 ? order : strcmp(name_of(a, x[1]), name_of(a, y[1]));
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct sample_profile *a = context;
	const uint64_t *x = tuples_get(&a->line_keys, *(const uint32_t *)left);
	const uint64_t *y = tuples_get(&a->line_keys, *(const uint32_t *)right);

	return x[0] != y[0] ? compare_words(x[0], y[0]) : compare_words(x[1], y[1]);
}

/* The commonest first. */
static int compare_calls(const void *left, const void *right, void *context)
{
	const uint32_t *l = left, *r = right;
	const struct sample_profile *a = context;
	const uint64_t *x = tuples_get(&a->call_keys, *l), *y = tuples_get(&a->call_keys, *r);

	if (x[0] != y[0])
		return compare_words(x[0], y[0]);
	if (x[1] != y[1])
		return compare_words(x[1], y[1]);
	if (a->calls.items[*l] != a->calls.items[*r])
		return a->calls.items[*l] > a->calls.items[*r] ? -1 : 1;
	return strcmp(name_of(a, x[2]), name_of(a, y[2]));
}

static uint32_t *sorted(struct sample_profile *a, uint32_t n,
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

static void put_line(struct sample_profile *a, uint32_t line, unsigned depth,
		     struct feedback_written *written)
{
	const uint64_t *key = tuples_get(&a->line_keys, line);

	put_location(&a->text, depth, key[1]);
	text_u64(&a->text, whole(a->lines.items[line]));
	for (uint32_t i = first_of(&a->call_keys, a->call_order, key, 2); i < a->call_keys.n; i++) {
		const uint64_t *call = tuples_get(&a->call_keys, a->call_order[i]);
		uint64_t n = whole(a->calls.items[a->call_order[i]]);

		if (call[0] != key[0] || call[1] != key[1])
			break;
		if (n == 0)
			continue;
		text_char(&a->text, ' ');
		put_name(&a->text, name_of(a, call[2]));
		text_char(&a->text, ':');
		text_u64(&a->text, n);
	}
	text_char(&a->text, '\n');
	written->n_lines++;
}

/* Lines of a node, then what was inlined. Inlining is as deep as the debug information has it. */
static void put_inside(struct sample_profile *a, uint32_t node, unsigned depth,
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
		put_name(&a->text, name_of(a, key[1]));
		text_char(&a->text, ':');
		text_u64(&a->text, whole(a->nodes.items[a->order[i]].total));
		text_char(&a->text, '\n');
		written->n_lines++;
		put_inside(a, a->order[i], depth + 1, written);
	}
}

static int put_functions(struct sample_profile *a, feedback_sink *sink, void *context,
			 struct feedback_written *written)
{
	const uint64_t none = SAMPLE_PROFILE_NONE;
	int rc = 0;

	for (uint32_t i = first_of(&a->node_keys, a->order, &none, 1);
	     i < a->node_keys.n && rc == 0; i++) {
		const struct sample_node *n = &a->nodes.items[a->order[i]];

		if (whole(n->total) == 0)
			continue;
		put_name(&a->text, name_of(a, tuples_get(&a->node_keys, a->order[i])[1]));
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

int sample_profile_write(struct sample_profile *a, feedback_sink *sink, void *context,
			 struct feedback_written *written)
{
	add_up(a);
	a->order = sorted(a, a->node_keys.n, compare_nodes);
	a->line_order = sorted(a, a->line_keys.n, compare_lines);
	a->call_order = sorted(a, a->call_keys.n, compare_calls);
	return put_functions(a, sink, context, written);
}
