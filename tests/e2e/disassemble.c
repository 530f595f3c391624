/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: disassembles the bytes of standard input. Prints a line for each instruction:
 * address, size, kind of flow, target, reference (- if there is none), text.
 *
 * usage: disassemble a64|x86_64|x86_32 att|intel ADDRESS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "isa/disasm.h"

static const char *const isas[] = {
	[ISA_A64] = "a64",
	[ISA_A32] = "a32",
	[ISA_X86_64] = "x86_64",
	[ISA_X86_32] = "x86_32",
};

static const char *const flows[] = {
	[FLOW_NEXT] = "next", [FLOW_BRANCH] = "branch", [FLOW_JUMP] = "jump",
	[FLOW_CALL] = "call", [FLOW_RETURN] = "return", [FLOW_SYSTEM] = "system",
	[FLOW_STOP] = "stop",
};

static enum isa isa_of(const char *name)
{
	for (size_t i = 1; i < COUNT(isas); i++) {
		if (strcmp(isas[i], name) == 0)
			return (enum isa)i;
	}
	return ISA_UNKNOWN;
}

static void print_address(bool is_there, uint64_t address)
{
	if (is_there)
		printf("%" PRIx64 "\t", address);
	else
		printf("-\t");
}

int main(int argc, char **argv)
{
	VEC_OF(uint8_t) code = { 0 };
	struct disasm *disasm;
	uint64_t address;
	struct err err;
	int c;

	if (argc != 4)
		return 2;
	while ((c = getchar()) != EOF)
		*vec_add(&code) = (uint8_t)c;
	address = strtoull(argv[3], NULL, 16);
	disasm = disasm_new(isa_of(argv[1]),
			    strcmp(argv[2], "intel") == 0 ? SYNTAX_INTEL : SYNTAX_ATT, &err);
	if (disasm == NULL) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (size_t at = 0; at < code.n;) {
		struct instruction i;

		disasm_next(disasm, code.items + at, code.n - at, address + at, &i);
		printf("%" PRIx64 "\t%zu\t%s\t", i.address, i.size, flows[i.flow.kind]);
		print_address(i.flow.has_target, i.flow.target);
		print_address(i.has_reference, i.reference);
		printf("%s %s\n", i.mnemonic, i.operands);
		at += i.size;
	}
	disasm_free(disasm);
	vec_release(&code);
	return 0;
}
