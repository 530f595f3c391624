/* SPDX-License-Identifier: Apache-2.0 */
/* A capture's modules and a folder of files to name them from, for tests of symbols.h. */
#ifndef CYCLOPS_TESTS_SYMBOL_WORLD_H
#define CYCLOPS_TESTS_SYMBOL_WORLD_H

#include <stdint.h>

#include "../elf/elf_builder.h"
#include "symbol/symbols.h"

enum { WORLD_TEXT = 0x10000 };

/* The build-id that world_code() files have. */
extern const struct build_id world_id;

struct world {
	char *folder;
	struct strings strings;
	struct modules modules;
	struct symbols_options options; /* change before the first question */
	struct symbols *symbols;
	struct pool *pool;
};

/* Nothing is trusted, nothing is there. The cache of perf is the folder "cache". */
void world_init(struct world *);
void world_release(struct world *);

/* The path of a file in the folder, valid as long as the world. */
const char *world_path(struct world *, const char *name);

/* What a file written by world_code() has. */
enum world_parts {
	HAS_SYMTAB = 1,
	HAS_DYNSYM = 2,
	HAS_ID = 4,
	HAS_OTHER_ID = 8,
};

/*
 * Writes an AArch64 file with the functions "work" and, not exported, "helper": 16 bytes
 * each, from WORLD_TEXT. Returns the offset of "work" in the file.
 */
uint64_t world_code(struct world *, const char *name, unsigned parts);

/* The same with one more section of these bytes. */
uint64_t world_code_with(struct world *, const char *name, unsigned parts, const char *section,
			 const void *bytes, size_t size);

/* A module of the capture at this path (not in the folder, but as recorded). */
struct module *world_module(struct world *, enum module_kind, const char *path);

/* The function at an offset in the module that was added last; "" if none. */
const char *world_function(struct world *, uint64_t offset);

/* What is said to be missing: reason and remedy with "; " between them, "" if nothing. */
const char *world_missing(struct world *);

#endif
