/* SPDX-License-Identifier: Apache-2.0 */
/* A module of a capture with its files, functions and line information. */
#ifndef CYCLOPS_SYMBOL_BINARY_H
#define CYCLOPS_SYMBOL_BINARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "elf/elf_file.h"
#include "elf/functions.h"
#include "process/module.h"
#include "symbol/kernel.h"
#include "symbol/lines.h"
#include "symbol/locate.h"
#include "symbol/shortage.h"

/*
 * Zeroed is empty. An offset in the module (enum module_kind) becomes an address in its file by the
 * file's segments (has_segments), else by adding `to_file`.
 */
struct binary {
	bool is_loaded;
	struct elf_file code;  /* what ran; closed if it was not found */
	struct elf_file debug; /* its separate debug file, if it has one */
	struct elf_file inner; /* the file inside .gnu_debugdata */
	struct mapped dump;    /* of a JIT compiler: the code of `own` at its offsets; else empty */
	uint16_t dump_machine; /* EM_… */
	struct jit_lines dump_lines;
	bool has_segments; /* offsets of the module are offsets in the file `code` */
	uint64_t to_file;  /* else: offset + to_file = address in the file */
	uint64_t size;	   /* the first offset behind its end; 0: not known */
	struct functions own;
	const struct functions *functions; /* `own`, or those of kallsyms */
	uint64_t to_function;		   /* address in the file + this = address in `functions` */
	const char *only_name;	      /* the module is a single function of this name; or NULL */
	const char *lines_path;	      /* of the file with DWARF; borrowed, NULL: none */
	bool is_compressed;	      /* its DWARF is compressed: slow to open */
	char *alt_path;		      /* its .gnu_debugaltlink file; owned, NULL: none */
	const char *root;	      /* --symfs, of which its files are; borrowed, NULL: none */
	struct shortage names, lines; /* why names or lines are missing */
};

/* What binaries are loaded with; borrowed. */
struct binary_sources {
	const struct search *search;
	const struct kernel_names *kernel; /* of the machine that the module is of */
	const struct strings *strings;	   /* of the modules */
	const struct info *info;	   /* that may have stored functions; NULL: none */
	const struct strings *info_strings;
};

/* Finds and reads the files of the module. What is missing is said in names and lines. */
void binary_load(struct binary *, const struct module *, const struct binary_sources *);

void binary_release(struct binary *);

/* The address in the file of an offset in the module; false if nothing is loaded there. */
bool binary_address(const struct binary *, uint64_t offset, uint64_t *out);

/* The other way round. */
bool binary_offset(const struct binary *, uint64_t address, uint64_t *out);

/* The file with .symtab: code or debug; NULL: neither has it. */
const struct elf_file *binary_symtab_file(const struct binary *);

/* The function at an address in the file, or NULL. */
const struct function *binary_find(const struct binary *, uint64_t address);

#endif
