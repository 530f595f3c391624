/* SPDX-License-Identifier: Apache-2.0 */
/* The DWARF of one file, with an index from addresses to compilation units. */
#ifndef CYCLOPS_DWARF_DWARF_FILE_H
#define CYCLOPS_DWARF_DWARF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/cursor.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/vec.h"
#include "elf/ranges.h"

/* A file opened by libdw. libdw is not thread-safe, so each job opens files for itself. */
struct dwarf_handle {
	int fd; /* only meaningful with an elf */
	Elf *elf;
	Dwarf *dwarf;
};

struct dwarf_unit {
	Dwarf_Die die;			   /* of a split unit: the skeleton, which has the lines */
	uint64_t size_bytes;		   /* how far the unit reaches, for bounding work */
	const struct split_places *splits; /* where its split file may be */
};

/* Bytes of sections, for what is read without libdw. Empty: not there, or compressed, or not little-endian. */
struct dwarf_sections {
	struct cursor lines, strings, line_strings; /* .debug_line, .debug_str, .debug_line_str */
};

/* Zeroed is empty. */
struct dwarf_file {
	struct dwarf_handle main, alt;
	VEC_OF(struct dwarf_unit) units;
	struct ranges ranges; /* to indexes in `units` */
	struct split_places *splits;
	struct dwarf_sections sections; /* of `main` */
};

/*
 * Opens the file and indexes its units. `alt_path` is the file that dwz moved common parts
 * to, or NULL. Split files are only taken from below `root`, or the file's own folder; without a root (NULL) also from
 * where the file says, if that is a .dwo file. Damage that leaves something to read is counted in `diags`.
 */
int dwarf_file_open(struct dwarf_file *, const char *path, const char *alt_path, const char *root,
		    struct diags *, struct err *);

void dwarf_file_release(struct dwarf_file *);

/*
 * Gives back what libdw keeps until the end of what was read, line tables above all. Entries, rows and strings of the file
 * are invalid then; the units are the same, with entries anew. false: the file cannot be read any more, it has no units.
 */
bool dwarf_file_forget(struct dwarf_file *);

/*
 * Fills in the entry at the root of the unit's tree. It is the unit's own, or that of its
 * split (.dwo) file; false if that file is missing, or not where it may be.
 */
bool dwarf_unit_tree(const struct dwarf_unit *, Dwarf_Die *out);

#endif
