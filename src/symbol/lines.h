/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines and inline chains of addresses in one file: by DWARF, or of a dump of a JIT compiler. */
#ifndef CYCLOPS_SYMBOL_LINES_H
#define CYCLOPS_SYMBOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strings.h"
#include "base/vec.h"
#include "capture/format/jitdump.h"
#include "elf/demangle.h"
#include "symbol/symbols.h"

/* The frames of an address: [first, first + n) of the answer; n 0: not known. */
struct line_chain {
	uint32_t first, n;
};

/*
 * Addresses to look up in one file. To do that in parallel, part `part` of `n_parts` looks at every
 * n_parts-th compilation unit, and does not answer addresses in others. All borrowed.
 */
struct lines_question {
	const char *path;     /* the file with the DWARF */
	const char *alt_path; /* its .gnu_debugaltlink file (from dwz), or NULL */
	const char *root;     /* as in dwarf_file_open() */
	enum demangle_style style;
	const uint64_t *addresses; /* ascending */
	size_t n;
	/*
	 * By address: its function has a name in the symbol table, which is that of the outermost frame, so that debug information is
	 * not asked for it. NULL: none has.
	 */
	const bool *is_named;
	size_t part, n_parts;
	size_t n_kept_rows; /* of line tables: so many are kept in memory, and those of one unit; 0: as usual */
	bool without_lines; /* inline chains only: no line tables are read (SYMBOLS_INLINED) */
	bool with_details;  /* lines_answer.details */
};

/* What compilers want to know of a frame, too. */
struct line_detail {
	uint32_t discriminator; /* of code of one line; 0: none */
	uint32_t declared;	/* the line where the frame's function is declared; 0: not known */
	bool is_of_clang;	/* which encodes discriminators */
};

/* Zeroed is empty. */
struct lines_answer {
	struct strings strings;		    /* of the frames */
	VEC_OF(struct symbol_frame) frames; /* innermost first */
	VEC_OF(struct line_detail) details; /* of the frames; empty unless asked for */
	struct line_chain *chains;	    /* by address of the question */
	struct diags diags;
};

/* Opens the file, answers, closes it. What is damaged is counted in the answer's diags. */
void lines_ask(const struct lines_question *, struct lines_answer *);

/* A row of a line table: code [from, to) belongs to a line. `file` lives as long as the visit. */
typedef void lines_visit(void *context, const char *file, uint32_t line, uint64_t from,
			 uint64_t to);

/* Visits all rows of the file's line tables; those without a line are left out. */
void lines_each(const char *path, const char *alt_path, const char *root, lines_visit *,
		void *context, struct diags *);

void lines_answer_release(struct lines_answer *);

/* Code [from, to), as offsets in the dump. */
struct jit_line {
	uint64_t from, to;
	uint32_t line;
	struct str_id file;
};

/* Zeroed is empty. */
struct jit_lines {
	struct strings files;
	VEC_OF(struct jit_line) list; /* by address; none overlap */
};

/* Reads the lines of a dump, as jitdump_open() left it. */
void jit_lines_read(struct jit_lines *, const struct jitdump *);
void jit_lines_release(struct jit_lines *);

/* lines_ask() and lines_each() for these. */
void jit_lines_ask(const struct jit_lines *, const struct lines_question *, struct lines_answer *);
void jit_lines_each(const struct jit_lines *, lines_visit *, void *context);

#endif
