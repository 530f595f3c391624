/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a unit's line table that cover given addresses. libdw makes, sorts and keeps all rows, which takes many times
 * as long as reading them. Format: DWARF 5, 6.2; versions 2 to 5 in the forms that compilers write. Whatever else there is, damage
 * included, is for libdw: then nothing is read here.
 */
#ifndef CYCLOPS_DWARF_LINE_TABLE_H
#define CYCLOPS_DWARF_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "dwarf/dwarf_file.h"

/* Where a line table is. */
struct line_source {
	struct cursor table;		     /* from its first byte on */
	struct cursor strings, line_strings; /* .debug_str, .debug_line_str */
	unsigned address_size;
	const char *folder; /* that the unit was compiled in; NULL: not known */
};

/* The state of the line program at a row. */
struct line_row {
	uint64_t address;
	uint32_t number; /* of the row; from 1 on, 0: there is none */
	uint32_t file, column, discriminator;
	int32_t line;
	bool is_end; /* of a sequence: the row covers nothing */
};

/* A source file as the table has it. */
struct line_file {
	const char *name;
	uint32_t folder; /* index in `folders` */
};

/* Zeroed is empty. Borrows from the source. */
struct line_table {
	VEC_OF(struct line_row)
	rows; /* by address that was asked for: the last one at or below it */
	VEC_OF(struct line_file) files;
	VEC_OF(const char *) folders; /* a NULL: not known */
	VEC_OF(const char *) paths;   /* by file: as line_table_path() made it; NULL: not yet */
};

/* Finds the table of a unit. false: the file has none that is read here. */
bool line_source_find(struct line_source *, const struct dwarf_file *, const struct dwarf_unit *);

/* Reads it for `n` ascending addresses. false: it is not of a form that is read here; then the table is empty. */
bool line_table_read(struct line_table *, const struct line_source *, const uint64_t *addresses,
		     size_t n);

/* The row that covers an address, by its index; NULL: none does. */
const struct line_row *line_table_row(const struct line_table *, size_t address);

/* The path of a file as libdw has it: with its folder, if it is relative; NULL: there is no such file. */
const char *line_table_path(struct line_table *, uint64_t file, struct arena *);

void line_table_release(struct line_table *);

#endif
