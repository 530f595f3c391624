/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly of AArch64 and 32-bit Arm by LLVM. */
#include "isa/disasm_arm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include "base/alloc.h"
#include "base/cursor.h"

struct disasm_arm {
	enum isa isa;
	LLVMDisasmContextRef llvm;

	/* set by find_symbol() for the current instruction */
	bool has_reference;
	uint64_t reference;
};

/* LLVM's triples, with all architecture features enabled. */
static const struct llvm_target {
	enum isa isa;
	const char *triple, *features;
} llvm_targets[] = {
	{ ISA_A64, "aarch64-linux-gnu", "+all" },
	{ ISA_A32, "armv8a-linux-gnueabihf", "+neon,+crypto,+dsp" },
};

static const struct llvm_target *find_target(enum isa isa)
{
	for (size_t i = 0; i < COUNT(llvm_targets); i++) {
		if (llvm_targets[i].isa == isa)
			return &llvm_targets[i];
	}
	return NULL;
}

/* LLVM's callback for the symbol of an address. Returns no symbol, but keeps the address. */
static const char *find_symbol(void *context, uint64_t value, uint64_t *kind, uint64_t pc,
			       const char **out_name)
{
	struct disasm_arm *d = context;

	(void)pc;
	if (*kind == LLVMDisassembler_ReferenceType_In_PCrel_Load) {
		d->has_reference = true;
		d->reference = value;
	}
	*kind = LLVMDisassembler_ReferenceType_InOut_None;
	*out_name = NULL;
	return NULL;
}

/* LLVM's callback for the relocation of an operand. There are none. */
static int find_operand(void *context, uint64_t pc, uint64_t offset, uint64_t operand_size,
			uint64_t size, int kind, void *out)
{
	(void)context, (void)pc, (void)offset, (void)operand_size, (void)size, (void)kind,
		(void)out;
	return 0;
}

static void start_llvm(void)
{
	LLVMInitializeAArch64TargetInfo();
	LLVMInitializeAArch64TargetMC();
	LLVMInitializeAArch64Disassembler();
	LLVMInitializeARMTargetInfo();
	LLVMInitializeARMTargetMC();
	LLVMInitializeARMDisassembler();
}

struct disasm_arm *disasm_arm_new(enum isa isa, struct err *err)
{
	const struct llvm_target *target = find_target(isa);
	struct disasm_arm *d;

	if (target == NULL) {
		err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			"no disassembler for the instruction set");
		return NULL;
	}
	start_llvm();
	d = mem_zalloc(1, sizeof(*d));
	d->isa = isa;
	d->llvm = LLVMCreateDisasmCPUFeatures(target->triple, "", target->features, d, 1,
					      find_operand, find_symbol);
	if (d->llvm == NULL) {
		err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE, "LLVM has no disassembler for '%s'",
			target->triple);
		free(d);
		return NULL;
	}
	return d;
}

void disasm_arm_free(struct disasm_arm *d)
{
	if (d == NULL)
		return;
	LLVMDisasmDispose(d->llvm);
	free(d);
}

/* A64 instructions with a PC-relative data address. */
static const struct a64_reference {
	uint32_t mask, match;
	unsigned page_shift; /* ADRP: the immediate counts pages */
	bool is_split;	     /* ADR, ADRP: the two lowest bits are at 30:29 */
} a64_references[] = {
	{ 0x9f000000, 0x10000000, 0, true },  /* ADR */
	{ 0x9f000000, 0x90000000, 12, true }, /* ADRP */
	{ 0x3b000000, 0x18000000, 0, false }, /* LDR, LDRSW, PRFM of a literal */
};

static void note_a64_reference(struct disasm_arm *d, const uint8_t *code, uint64_t address)
{
	uint32_t word = load_u32(code);

	for (size_t i = 0; i < COUNT(a64_references); i++) {
		const struct a64_reference *r = &a64_references[i];
		uint64_t offset = (uint64_t)((int64_t)((uint64_t)word << 40) >> 45);

		if ((word & r->mask) != r->match)
			continue;
		offset = offset << 2 | (r->is_split ? word >> 29 & 3 : 0);
		d->has_reference = true;
		d->reference =
			(address >> r->page_shift << r->page_shift) + (offset << r->page_shift);
	}
}

/* The start of the last operand: behind the last comma outside of brackets. */
static char *last_operand(char *operands)
{
	char *last = operands;
	int depth = 0;

	for (char *c = operands; *c != '\0'; c++) {
		depth += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
		if (*c == ',' && depth == 0)
			last = c + 1;
	}
	return last + strspn(last, " ");
}

static void set_last_operand(struct instruction *i, uint64_t address)
{
	char *at = last_operand(i->operands);

	snprintf(at, sizeof(i->operands) - (size_t)(at - i->operands), "%#llx",
		 (unsigned long long)address);
}

static bool disasm_llvm_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Copies up to `end` with runs of blanks as one, none at either end. Cuts what is too long. */
static void copy_trimmed(char *out, size_t room, const char *text, const char *end)
{
	size_t n = 0;

	while (text < end && disasm_llvm_is_blank(*text))
		text++;
	while (end > text && disasm_llvm_is_blank(end[-1]))
		end--;
	for (; text < end && n + 1 < room; text++) {
		bool is_repeated = disasm_llvm_is_blank(*text) && n > 0 && out[n - 1] == ' ';

		if (!is_repeated)
			out[n++] = disasm_llvm_is_blank(*text) ? ' ' : *text;
	}
	out[n] = '\0';
}

/* The end of the instruction; LLVM's comments follow it. */
static const char *end_of_text(enum isa isa, const char *line)
{
	static const char *const comments[] = {
		[ISA_A64] = "//",
		[ISA_A32] = "@",
	};
	const char *comment = strstr(line, comments[isa]);

	return comment == NULL ? line + strlen(line) : comment;
}

/* Splits LLVM's line into mnemonic and operands. */
static void split_line(enum isa isa, const char *line, struct instruction *out)
{
	const char *end = end_of_text(isa, line);
	const char *word = line + strspn(line, " \t");
	size_t n = strcspn(word, " \t");

	copy_trimmed(out->mnemonic, sizeof(out->mnemonic), word, word + n);
	copy_trimmed(out->operands, sizeof(out->operands), word + n, end);
}

bool disasm_arm_next(struct disasm_arm *d, const uint8_t *code, size_t size, uint64_t address,
		     struct instruction *out)
{
	char line[DISASM_TEXT];
	uint8_t *from = (uint8_t *)(uintptr_t)code; /* LLVM does not write to it */

	d->has_reference = false;
	out->size = LLVMDisasmInstruction(d->llvm, from, size, address, line, sizeof(line));
	if (out->size == 0)
		return false;
	split_line(d->isa, line, out);
	if (d->isa == ISA_A64)
		note_a64_reference(d, code, address);
	out->flow = isa_flow(d->isa, code, out->size, address);
	out->has_reference = d->has_reference;
	out->reference = d->reference;
	if (out->flow.has_target)
		set_last_operand(out, out->flow.target);
	else if (out->has_reference && d->isa == ISA_A64)
		set_last_operand(out, out->reference);
	return true;
}
