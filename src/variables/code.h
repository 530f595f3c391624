/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine code of modules, from their files: for disassembly, and for what records do not say.
 */
#ifndef CYCLOPS_VARIABLES_CODE_H
#define CYCLOPS_VARIABLES_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/access.h"
#include "process/module.h"
#include "symbol/symbols.h"

struct code {
	const uint8_t *bytes; /* borrowed, valid as long as the symbols */
	size_t size;	      /* at least 1, at most what was asked for */
	enum isa isa;
};

/*
 * The bytes from a place on, up to `max` or the end of its section. False if the module's file is
 * not there or has no code at the place: JIT code, a debug file alone, the kernel without vmlinux,
 * a kernel module. The code that ran may differ if it was patched at run time, as the kernel does.
 *
 * Thread-safe only for modules with resolved places (symbols_resolve()): it opens the file
 * otherwise.
 */
bool symbols_code(struct symbols *, struct place, uint64_t max, struct code *out);

/* What the instruction at a place accesses. False as above, or as isa_access() says. */
bool symbols_access(struct symbols *, struct place, struct isa_access *out);

/*
 * How many bytes of code the file's section has before a place, and from it on. False as for
 * symbols_code().
 */
bool symbols_code_around(struct symbols *, struct place, uint64_t *before, uint64_t *after);

/* The instruction set of the module: that of its file, else of the capture's architecture. */
enum isa symbols_isa(struct symbols *, struct module_id);

/* Is there any code of the module? */
bool symbols_has_code(struct symbols *, struct module_id);

#endif
