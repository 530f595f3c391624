/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/operand.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isa/x86.h"

enum {
	A64_SP = 31,
	N_A64_NUMBERED = 31,
	MAX_SHIFT = 4,
	MAX_TERMS = 4,
};

/* A part of the text; not terminated. */
struct word {
	const char *text;
	size_t n;
};

static bool operand_is_word(struct word w, const char *text)
{
	return strlen(text) == w.n && memcmp(w.text, text, w.n) == 0;
}

/* Reads one or two digits. */
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
	if (operand_is_word(w, "sp"))
		return true;
	return w.n > 1 && w.text[0] == 'x' && read_small(rest_of(w, 1), out) &&
	       *out < N_A64_NUMBERED;
}

static bool operand_read_number(struct word w, int64_t *out)
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

static struct word trim_word(struct word w)
{
	while (w.n > 0 && w.text[0] == ' ')
		w = rest_of(w, 1);
	while (w.n > 0 && w.text[w.n - 1] == ' ')
		w.n--;
	return w;
}

/* Splits at commas. Returns the number of parts; MAX_TERMS + 1 if there are too many. */
static size_t operand_split(struct word w, struct word *out)
{
	size_t n = 0, from = 0;

	for (size_t i = 0; i <= w.n; i++) {
		if (i < w.n && w.text[i] != ',')
			continue;
		if (n == MAX_TERMS)
			return MAX_TERMS + 1;
		out[n++] = trim_word((struct word){ w.text + from, i - from });
		from = i + 1;
	}
	return n;
}

/* Reads the shift of an index: "lsl #3", "sxtw", "uxtw #2". */
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

/* Reads "x1", "sp, #16", "x1, x2, lsl #3", "x1, w2, sxtw #3". */
static bool parse_a64(struct word inside, struct isa_operand *out)
{
	struct word terms[MAX_TERMS];
	size_t n = operand_split(inside, terms);

	if (n > 3 || !a64_register(terms[0], &out->base))
		return false;
	out->is_stack = out->base == A64_SP;
	if (n == 1)
		return true;
	if (terms[1].n > 0 && terms[1].text[0] == '#')
		return n == 2 && operand_read_number(rest_of(terms[1], 1), &out->displacement);
	if (terms[1].n < 2 || (terms[1].text[0] != 'x' && terms[1].text[0] != 'w') ||
	    !read_small(rest_of(terms[1], 1), &out->index))
		return false;
	out->has_index = true;
	out->is_narrow = terms[1].text[0] == 'w';
	return n == 2 || read_extension(terms[2], &out->scale);
}

bool isa_operand_parse_a64(const char *operands, struct isa_operand *out)
{
	const char *open = strchr(operands, '['), *close;
	struct isa_operand o = { .scale = 1 };

	if (open == NULL)
		return false;
	close = strchr(open, ']');
	if (close == NULL || strchr(open + 1, '[') != NULL ||
	    !parse_a64((struct word){ open + 1, (size_t)(close - open) - 1 }, &o))
		return false;
	*out = o;
	return true;
}

bool isa_operand(struct disasm *d, const uint8_t *code, size_t size, struct isa_operand *out)
{
	struct instruction instruction;

	if (disasm_isa(d) == ISA_X86_64)
		return x86_operand(code, size, out);
	if (disasm_isa(d) != ISA_A64)
		return false;
	disasm_next(d, code, size, 0, &instruction);
	return instruction.is_known && isa_operand_parse_a64(instruction.operands, out);
}
