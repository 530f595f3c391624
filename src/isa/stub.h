/* SPDX-License-Identifier: Apache-2.0 */
/* PLT stubs of x86, which jump through a slot of the GOT. */
#ifndef CYCLOPS_ISA_STUB_H
#define CYCLOPS_ISA_STUB_H

#include <stddef.h>
#include <stdint.h>

#include "isa/access.h"

/*
 * The GOT slot that the stub at this address jumps through: [endbr] [bnd] jmp *slot. `got`: what
 * i386 code has in ebx. Returns the number of bytes read; 0 if `code` does not begin with a stub.
 */
size_t isa_x86_stub(enum isa, const void *code, size_t size, uint64_t address, uint64_t got,
		    uint64_t *out_slot);

#endif
