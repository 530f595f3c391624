/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of x86 instructions; private to access.c. */
#ifndef CYCLOPS_ISA_X86_ACCESS_H
#define CYCLOPS_ISA_X86_ACCESS_H

#include <stdbool.h>

#include "base/cursor.h"
#include "isa/access.h"

/* As isa_access(), for code of 64-bit or of 32-bit programs. */
bool x86_access(struct cursor code, bool is_64, struct isa_access *out);

#endif
