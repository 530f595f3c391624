/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/operand.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isa/x86_registers.h"

enum {
	A64_SP = 31,
	N_A64_NUMBERED = 31,
	MAX_SHIFT = 4,
	MAX_TERMS = 4,
};

/* A piece of text. */
struct word {
	const char *text;
	size_t n;
};

static bool is_word(struct word w, const char *text)
{
	return strlen(text) == w.n && memcmp(w.text, text, w.n) == 0;
}

/* "17", of one or two digits. */
static bool read_small(struct word w, uint32_t *out)
{
	*out = 0;
	if (w.n == 0 || w.n > 2)
		return false;
	for (size_t i = 0; i < w.n; i++) {
		if (!isdigit((unsigned char)w.text[i]))
			return false;
		*out = *out * 10 + (uint32_t)(w.text[i] - '0');
	}
	return true;
}

static struct word rest_of(struct word w, size_t from)
{
	return (struct word){ w.text + from, w.n - from };
}

static bool a64_register(struct word w, uint32_t *out)
{
	*out = A64_SP;
	if (is_word(w, "sp"))
		return true;
	return w.n > 1 && w.text[0] == 'x' && read_small(rest_of(w, 1), out) &&
	       *out < N_A64_NUMBERED;
}

static bool x86_register(struct word w, uint32_t *out)
{
	struct x86_register found;

	if (!x86_register_find(w.text, w.n, &found) || found.bits != 64)
		return false;
	*out = found.number;
	return true;
}

static bool read_number(struct word w, int64_t *out)
{
	char text[32], *end;

	if (w.n == 0 || w.n >= sizeof(text))
		return false;
	memcpy(text, w.text, w.n);
	text[w.n] = '\0';
	errno = 0;
	*out = strtoll(text, &end, 0);
	return *end == '\0' && errno == 0;
}

static struct word trimmed(struct word w)
{
	while (w.n > 0 && w.text[0] == ' ')
		w = rest_of(w, 1);
	while (w.n > 0 && w.text[w.n - 1] == ' ')
		w.n--;
	return w;
}

/* Cuts at the commas. Returns how many pieces there are; MAX_TERMS + 1 if too many. */
static size_t split(struct word w, struct word *out)
{
	size_t n = 0, from = 0;

	for (size_t i = 0; i <= w.n; i++) {
		if (i < w.n && w.text[i] != ',')
			continue;
		if (n == MAX_TERMS)
			return MAX_TERMS + 1;
		out[n++] = trimmed((struct word){ w.text + from, i - from });
		from = i + 1;
	}
	return n;
}

/* "lsl #3", "sxtw", "uxtw #2": how far the index is shifted. */
static bool read_extension(struct word w, uint32_t *out_scale)
{
	const char *sharp = memchr(w.text, '#', w.n);
	uint32_t shift = 0;

	if (w.n < 3 || (memcmp(w.text, "lsl", 3) != 0 && memcmp(w.text + 1, "xt", 2) != 0))
		return false;
	if (sharp != NULL && !read_small(rest_of(w, (size_t)(sharp - w.text) + 1), &shift))
		return false;
	*out_scale = 1u << shift;
	return shift <= MAX_SHIFT;
}

/* "x1", "sp, #16", "x1, x2, lsl #3", "x1, w2, sxtw #3". */
static bool parse_a64(struct word inside, struct isa_operand *out)
{
	struct word terms[MAX_TERMS];
	size_t n = split(inside, terms);

	if (n > 3 || !a64_register(terms[0], &out->base))
		return false;
	out->is_stack = out->base == A64_SP;
	if (n == 1)
		return true;
	if (terms[1].n > 0 && terms[1].text[0] == '#')
		return n == 2 && read_number(rest_of(terms[1], 1), &out->displacement);
	if (terms[1].n < 2 || (terms[1].text[0] != 'x' && terms[1].text[0] != 'w') ||
	    !read_small(rest_of(terms[1], 1), &out->index))
		return false;
	out->has_index = true;
	out->is_narrow = terms[1].text[0] == 'w';
	return n == 2 || read_extension(terms[2], &out->scale);
}

/* A term of a sum: a register, a register times a number, a number. */
static bool add_x86_term(struct word term, bool is_negative, bool *has_base,
			 struct isa_operand *out)
{
	const char *star = memchr(term.text, '*', term.n);
	uint32_t number = 0;
	int64_t value;

	if (star != NULL) {
		size_t at = (size_t)(star - term.text);

		out->has_index = true;
		return read_small((struct word){ term.text, at }, &out->scale) &&
		       x86_register(rest_of(term, at + 1), &out->index);
	}
	if (x86_register(term, &number)) {
		if (*has_base) {
			out->has_index = true;
			out->index = number;
		} else {
			out->base = number;
		}
		*has_base = true;
		return !is_negative;
	}
	if (!read_number(term, &value))
		return false;
	out->displacement = is_negative ? (int64_t)(0 - (uint64_t)value) : value;
	return true;
}

/* "rdi", "rbp - 8", "rdi + 8*rcx + 16", "-8". */
static bool parse_x86(struct word inside, struct isa_operand *out)
{
	bool has_base = false, is_negative = false;
	size_t from = 0;

	for (size_t i = 0; i <= inside.n; i++) {
		struct word term;

		if (i < inside.n && inside.text[i] != '+' && inside.text[i] != '-')
			continue;
		if (i == 0 && inside.n > 0) {
			is_negative = inside.text[0] == '-';
			from = 1;
			continue;
		}
		term = trimmed((struct word){ inside.text + from, i - from });
		if (!add_x86_term(term, is_negative, &has_base, out))
			return false;
		is_negative = i < inside.n && inside.text[i] == '-';
		from = i + 1;
	}
	out->is_stack = has_base && out->base == X86_STACK_POINTER;
	if (out->is_thread && has_base) {
		out->has_index = true;
		out->is_stack = false;
		out->base = 0;
	}
	return has_base || out->is_thread;
}

bool isa_operand_parse(enum isa isa, const char *operands, struct isa_operand *out)
{
	const char *open = strchr(operands, '['), *close;
	struct isa_operand o = { .scale = 1 };
	struct word inside;

	if (open == NULL || (isa != ISA_A64 && isa != ISA_X86_64))
		return false;
	close = strchr(open, ']');
	if (close == NULL || strchr(open + 1, '[') != NULL)
		return false;
	if (open > operands && open[-1] == ':') {
		o.is_thread = open - operands >= 3 && memcmp(open - 3, "fs", 2) == 0;
		if (!o.is_thread)
			return false;
	}
	inside = (struct word){ open + 1, (size_t)(close - open) - 1 };
	if (!(isa == ISA_A64 ? parse_a64(inside, &o) : parse_x86(inside, &o)))
		return false;
	*out = o;
	return true;
}
