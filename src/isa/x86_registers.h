/* SPDX-License-Identifier: Apache-2.0 */
/* General registers of x86-64 by their names. */
#ifndef CYCLOPS_ISA_X86_REGISTERS_H
#define CYCLOPS_ISA_X86_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct x86_register {
	uint8_t number; /* DWARF's */
	uint8_t bits;	/* 64, 32, 16 or 8 */
};

enum { X86_STACK_POINTER = 7 };

/* Finds "rax", "eax", "ax", "al", "ah", "r8", "r8d" … by the first `n` characters of a text. */
bool x86_register_find(const char *name, size_t n, struct x86_register *out);

#endif
