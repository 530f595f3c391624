/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for places: functions, source lines, inline chains. Reads ELF and DWARF by libelf and
 * libdw, in parallel by module and unit.
 */
#ifndef CYCLOPS_SYMBOL_SYMBOLS_H
#define CYCLOPS_SYMBOL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/mapped.h"
#include "base/pool.h"
#include "base/strings.h"
#include "base/vec.h"
#include "process/module.h"

/* Where binaries and debug files are looked for. All borrowed; NULL where not given. */
struct symbols_options {
	const char *symfs;	       /* --symfs: prefix for every recorded path */
	const char *const *debug_dirs; /* --debug-dir, NULL-terminated; /usr/lib/debug always */
	bool use_debuginfod;	       /* ask the servers of DEBUGINFOD_URLS */
	bool use_this_machine; /* also trust files of this machine without a build-id match */
	const char *kallsyms;  /* a copy of /proc/kallsyms of the recorded machine */
	const char *vmlinux;
	const char *guest_kallsyms, *guest_mount; /* of virtual machines, as `perf kvm` has them */
	const char *jit_map_dir;		  /* where perf-PID.map files are; NULL: /tmp */
	const char *arch;	 /* of the capture: "aarch64", "x86_64" …; NULL unknown */
	bool with_parameters;	 /* C++ names with parameter types; perf shows none */
	const struct info *info; /* of the capture, which may have stored functions; NULL: none */
	const struct strings *info_strings;
};

/*
 * Maps the dump of a JIT compiler that was recorded at `path`, under the rules for files without a build-id: below
 * --symfs, or where it was on the machine that recorded.
 */
int symbols_jit_dump(const struct symbols_options *, const char *path, struct mapped *,
		     struct err *);

struct symbols;

/* Borrows modules (and their strings) and options. Opens nothing yet. */
struct symbols *symbols_new(const struct modules *, const struct symbols_options *);
void symbols_free(struct symbols *);

/*
 * One level of an inline chain. The last level is the function that the others were inlined
 * into, with the name of the symbol table if that has one.
 */
struct symbol_frame {
	struct str_id function; /* demangled; 0 if not known */
	struct str_id file;	/* source path as DWARF has it; 0 if not known */
	uint32_t line, column;	/* 0 if not known */
	bool is_inlined;	/* into the next frame */
};

/* What is known of one place. */
struct symbol {
	struct str_id function;	  /* the ELF symbol that covers it, demangled; 0 if none */
	struct str_id inlined;	  /* of the first frame, if that is inlined into the next; else 0 */
	uint64_t function_offset; /* of the place from that symbol's start */
	uint64_t function_size;	  /* 0 if not known */
	uint64_t address;	  /* virtual address in the module's own file: for disassembly */
	uint32_t first_frame, n_frames; /* in symbols_frames(), innermost first; n_frames 0: no
					   line information, or not asked for */
};

enum symbols_depth {
	SYMBOLS_FUNCTIONS, /* symbol table only */
	SYMBOLS_INLINED,   /* and inline chains, without source files */
	SYMBOLS_LINES,	   /* and source lines with inline chains */
};

/*
 * Resolves `n` places; out[i] belongs to places[i]. Fastest if they are sorted by module and
 * offset. What is missing is noted for symbols_missing_at(). Not thread-safe; it uses the pool
 * itself. Results are the same for any pool.
 */
void symbols_resolve(struct symbols *, struct pool *, const struct place *places, size_t n,
		     enum symbols_depth, struct symbol *out);

/*
 * The same of those of `n` sorted places whose wanted[numbers[i]] is true (NULL: all); out[numbers[i]] belongs to places[i].
 * `out` is zeroed, and where nothing is known of a place it is not written to; or it has the functions of all wanted places
 * already (`has_functions`), and inline chains or lines are added. Of a file that is not here the address is 0, not the
 * offset. Returns how many places got a function.
 */
size_t symbols_resolve_sorted(struct symbols *, struct pool *, const struct place *places,
			      const uint32_t *numbers, size_t n, const bool *wanted,
			      enum symbols_depth, bool has_functions, struct symbol *out);

/*
 * Is nothing known of any place? n_places[id] are wanted of each module. Then symbols_resolve_sorted() would find no
 * functions, and this has noted what is missing, as that does. Else it has to be asked.
 */
bool symbols_know_nothing(struct symbols *, struct pool *, const size_t *n_places);

/*
 * The name of the function at one place, demangled, valid as long as the symbols; the same pointer for the same name; and
 * how far the place is from its start. NULL: it is not known, which symbols_missing_at() says after symbols_update_missing().
 * Each place is to be asked for once. Not thread-safe.
 */
const char *symbols_function_at(struct symbols *, struct place, uint64_t *out_offset);

/* Frames of all symbols resolved so far; grows with each symbols_resolve(). */
const struct symbol_frame *symbols_frames(const struct symbols *);

/* Has any place a frame so far? */
bool symbols_have_frames(const struct symbols *);

/* Strings of functions and files. */
const struct strings *symbols_strings(const struct symbols *);

/*
 * Calls `each` for every function of the module's symbol table (for --select): its demangled name,
 * and its code [offset, offset + size) in the module; then the same for each of its other names.
 */
void symbols_each_function(struct symbols *, struct module_id,
			   void (*each)(void *context, const char *name, uint64_t offset,
					uint64_t size),
			   void *context);

/*
 * Is it another name of the function that starts at the place: one that the symbol table has for the
 * same address, demangled, without its version?
 */
bool symbols_has_alias(struct symbols *, struct place start, const char *name, size_t n);

/*
 * Like symbols_each_function() for source lines: the places [offset, offset + size) of each row of the module's line
 * tables. `file` is a path as the debug information has it.
 */
void symbols_each_line(struct symbols *, struct module_id,
		       void (*each)(void *context, const char *file, uint32_t line, uint64_t offset,
				    uint64_t size),
		       void *context);

/* Why a module has no (or fewer) names, and what would help. */
struct symbols_missing {
	struct module_id module;
	uint64_t n_places;	 /* that were asked for and got no function */
	const char *reason;	 /* "file not found", "stripped: only exported names" … */
	const char *brief;	 /* "stripped": what reasons of a kind have in common; NULL */
	const char *remedy;	 /* a command or option that would fix it; "" if there is none */
	uint64_t n_without_line; /* that were asked for lines and got none; n_places may be 0 */
};

/* Makes the list for symbols_missing_at() anew, after symbols_function_at(). */
void symbols_update_missing(struct symbols *);

/* Modules with something missing; those with the most places without a name come first. */
size_t symbols_n_missing(const struct symbols *);
const struct symbols_missing *symbols_missing_at(const struct symbols *, size_t index);

/* Damaged ELF or DWARF and the like. */
const struct diags *symbols_diags(const struct symbols *);

/* The file that a module's code was read from, NULL if none was found. */
const char *symbols_file_of(const struct symbols *, struct module_id);

#endif
