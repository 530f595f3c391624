/* SPDX-License-Identifier: Apache-2.0 */
/* Variables at addresses in one file, and types by name, by DWARF. */
#ifndef CYCLOPS_VARIABLES_DATA_FILE_H
#define CYCLOPS_VARIABLES_DATA_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strings.h"
#include "dwarf/types.h"
#include "elf/functions.h"

/* A variable with a place of its own: global, static, a member of a class. */
struct data_variable {
	struct str_id name; /* "ns::table", "function::counter"; 0: there is none */
	uint64_t address, size;
	struct type_id type;
	struct str_id file; /* where it is declared; 0 if not known */
	uint32_t line;
};

/* A question to one file. All borrowed. */
struct data_question {
	const char *path;		 /* the file with the DWARF */
	const char *alt_path;		 /* its .gnu_debugaltlink file (from dwz), or NULL */
	const char *root;		 /* as in dwarf_file_open() */
	const uint64_t *addresses;	 /* ascending */
	size_t n;			 /* of them */
	const struct functions *objects; /* the file's symbols of data, built; or NULL */
	const char *type_name;		 /* also look for this type; NULL: for none */
};

/* Zeroed is empty. */
struct data_answer {
	struct strings strings;
	struct types types;
	struct data_variable *variables; /* by address; n of them */
	struct type_id type;		 /* of that name, the first that is complete */
	struct diags diags;
};

/* Opens the file, answers, closes it. What is damaged is counted in the answer's diags. */
void data_ask(const struct data_question *, struct data_answer *);

void data_answer_release(struct data_answer *);

#endif
