/* SPDX-License-Identifier: Apache-2.0 */
/* Stubs of the procedure linkage table that jump through a slot of the global offset table. */
#ifndef CYCLOPS_ISA_STUB_H
#define CYCLOPS_ISA_STUB_H

#include <stddef.h>
#include <stdint.h>

#include "isa/access.h"

/*
 * The slot that a stub of x86 at this address jumps through: [endbr] [bnd] jmp *slot. `got` is what
 * i386 code has in ebx. Returns how many bytes were read for that, 0 if `code` begins with no stub.
 */
size_t isa_x86_stub(enum isa, const void *code, size_t size, uint64_t address, uint64_t got,
		    uint64_t *out_slot);

#endif
