/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the list of modules from mappings: their kind follows from the name, each is listed once.
 */
#ifndef CYCLOPS_PROCESS_MODULE_TABLE_H
#define CYCLOPS_PROCESS_MODULE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "capture/format/info.h"
#include "process/module.h"

struct module_table {
	struct modules modules;
	struct strings *strings;	   /* borrowed */
	struct tuples keys;		   /* what identifies a module → its id - 1 */
	struct tuples code_paths;	   /* paths that were mapped as code */
	struct tuples id_paths;		   /* path → number … */
	VEC_OF(struct build_id) build_ids; /* … → build-id */
};

/* What a mapping says of its module. */
struct mapped_name {
	struct str_id path;
	struct build_id build_id; /* size 0: not recorded */
	uint32_t pid;
	uint32_t map_flags;   /* MAP_… of mmap(); 0 unknown */
	uint64_t ref_address; /* kernel: recorded address of its reference symbol */
	bool is_kernel, is_ksymbol, is_data;
};

void module_table_init(struct module_table *, struct strings *);
void module_table_release(struct module_table *);

/* Sets the build-id for mappings of a path that have none. The first one for a path is used. */
void module_table_build_id(struct module_table *, struct str_id path, const struct build_id *);
void module_table_build_ids(struct module_table *, const struct info *, const struct strings *);

/* Notes that the path was mapped as code. Mappings of its data then belong to the same module. */
void module_table_code_path(struct module_table *, struct str_id path);

/* The module of a mapping, added if it is new. */
struct module_id module_table_add(struct module_table *, const struct mapped_name *);

/* A module of a guest, of which nothing is known but this; added if it is new. Its name is made of its path. */
struct module_id module_table_add_guest(struct module_table *, const struct module *);

/* The offset in a module of this kind, for an address of a mapping that begins at `start`. */
uint64_t module_offset(enum module_kind, uint64_t start, uint64_t page_offset, uint64_t address);

#endif
