/* SPDX-License-Identifier: Apache-2.0 */
/* x86 instructions as text by Zydis, with numbers as in objdump. */
#include "isa/disasm_x86.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/x86_name.h"

static const struct {
	ZydisFormatterProperty property;
	ZyanUPointer value;
} properties[] = {
	{ ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE },
	{ ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE },
	{ ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE },
	{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED },
	{ ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED },
	{ ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED },
	{ ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS, ZYDIS_SIGNEDNESS_UNSIGNED },
};

struct disasm_x86 {
	enum isa isa;
	enum disasm_syntax syntax;
	ZydisFormatter formatter;
};

struct disasm_x86 *disasm_x86_new(enum isa isa, enum disasm_syntax syntax, struct err *err)
{
	struct disasm_x86 *d = mem_zalloc(1, sizeof(*d));
	ZydisFormatterStyle style =
		syntax == SYNTAX_INTEL ? ZYDIS_FORMATTER_STYLE_INTEL : ZYDIS_FORMATTER_STYLE_ATT;

	(void)err;
	d->isa = isa;
	d->syntax = syntax;
	(void)ZydisFormatterInit(&d->formatter, style);
	for (size_t i = 0; i < COUNT(properties); i++)
		(void)ZydisFormatterSetProperty(&d->formatter, properties[i].property,
						properties[i].value);
	return d;
}

void disasm_x86_free(struct disasm_x86 *d)
{
	free(d);
}

static void x86_text_append(char *text, size_t room, const char *more)
{
	size_t n = strlen(text);
	size_t length = strlen(more);

	if (length >= room - n)
		length = room - n - 1;
	memcpy(text + n, more, length);
	text[n + length] = '\0';
}

static bool is_at_start(const char *operands)
{
	return operands[0] == '\0' || strcmp(operands, "*") == 0;
}

/* Appends a register: "%st3" as "%st(3)", "%st0" as "%st". */
static void append_register(struct instruction *out, const char *text)
{
	const char *name = text + (text[0] == '%');
	size_t n = (size_t)(name - text) + 2;
	char numbered[8];

	if (strncmp(name, "st", 2) != 0 || !isdigit((unsigned char)name[2])) {
		x86_text_append(out->operands, sizeof(out->operands), text);
		return;
	}
	snprintf(numbered, sizeof(numbered), name[2] == '0' ? "%.*s" : "%.*s(%s)", (int)n, text,
		 name + 2);
	x86_text_append(out->operands, sizeof(out->operands), numbered);
}

/* Takes the mnemonic with its prefixes, then the operands. */
static void take_tokens(const ZydisFormatterToken *token, const char *name, struct instruction *out)
{
	bool is_behind = false;

	for (ZyanStatus status = ZYAN_STATUS_SUCCESS; ZYAN_SUCCESS(status);
	     status = ZydisFormatterTokenNext(&token)) {
		ZyanConstCharPointer text;
		ZydisTokenType type;

		if (ZYAN_FAILED(ZydisFormatterTokenGetValue(token, &type, &text)))
			return;
		if (type == ZYDIS_TOKEN_MNEMONIC)
			x86_text_append(out->mnemonic, sizeof(out->mnemonic), name);
		else if (!is_behind)
			x86_text_append(out->mnemonic, sizeof(out->mnemonic), text);
		else if (type == ZYDIS_TOKEN_REGISTER)
			append_register(out, text);
		else if (type != ZYDIS_TOKEN_WHITESPACE || !is_at_start(out->operands))
			x86_text_append(out->operands, sizeof(out->operands), text);
		is_behind |= type == ZYDIS_TOKEN_MNEMONIC;
	}
}

/* AT&T marks indirect jumps and calls with a '*'. */
static bool has_star(const struct disasm_x86 *d, const struct x86 *x)
{
	return d->syntax == SYNTAX_ATT &&
	       (x->instruction.mnemonic == ZYDIS_MNEMONIC_JMP ||
		x->instruction.mnemonic == ZYDIS_MNEMONIC_CALL) &&
	       (x->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER ||
		x->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY);
}

/* Chooses the operands that objdump shows, in the order that the formatter expects. */
static void arrange_operands(const struct disasm_x86 *d, struct x86 *x)
{
	ZydisDecodedInstruction *i = &x->instruction;
	ZydisDecodedOperand first = x->operands[0];

	/* objdump does not show the second operand of a NOP */
	if (i->mnemonic == ZYDIS_MNEMONIC_NOP && i->operand_count_visible > 1)
		i->operand_count_visible = 1;
	/* AT&T reverses all operands but these */
	if (i->mnemonic == ZYDIS_MNEMONIC_ENTER && d->syntax == SYNTAX_ATT) {
		x->operands[0] = x->operands[1];
		x->operands[1] = first;
	}
}

static bool write_x86_text(const struct disasm_x86 *d, struct x86 *x, uint64_t address,
			   struct instruction *out)
{
	char buffer[4 * DISASM_TEXT], name[X86_NAME];
	const ZydisFormatterToken *tokens;

	arrange_operands(d, x);
	if (x86_name(x, d->syntax, name))
		x->instruction.operand_count_visible--;
	if (ZYAN_FAILED(
		    ZydisFormatterTokenizeInstruction(&d->formatter, &x->instruction, x->operands,
						      x->instruction.operand_count_visible, buffer,
						      sizeof(buffer), address, &tokens, NULL)))
		return false;
	if (has_star(d, x))
		x86_text_append(out->operands, sizeof(out->operands), "*");
	take_tokens(tokens, name, out);
	return true;
}

bool disasm_x86_next(const struct disasm_x86 *d, const uint8_t *code, size_t size, uint64_t address,
		     struct instruction *out)
{
	const ZydisDecodedOperand *memory;
	struct x86 x;

	if (!x86_decode(d->isa, code, size, &x) || !write_x86_text(d, &x, address, out))
		return false;
	out->size = x.instruction.length;
	out->flow = x86_flow_of(&x.instruction, address);
	memory = x86_memory(&x);
	out->has_reference =
		memory != NULL && x86_pc_relative(&x, memory, address, &out->reference);
	return true;
}
