/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What instructions of one file access, by DWARF. The base register of the address holds a variable
 * at this instruction (location lists), or the variable is in the stack frame. Else the code before
 * tells where the register's value came from: a variable in another register, a global pointer, or
 * a member of what another pointer points to.
 */
#ifndef CYCLOPS_VARIABLES_ACCESS_FILE_H
#define CYCLOPS_VARIABLES_ACCESS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strings.h"
#include "dwarf/types.h"
#include "isa/follow.h"
#include "isa/operand.h"

/* Depth of pointers to pointers that are followed. */
enum { ACCESS_MAX_LOADS = 4 };

/* How the address was computed: from a root value, plus an offset (struct isa_value). */
struct access_source {
	struct isa_value value; /* ISA_UNKNOWN_VALUE: not known */
	uint32_t load;		/* if is_loaded: the load of the root, an index in `loads` … */
	uint32_t displacement;	/* … and the offset of the pointer in what it accesses */
	bool is_loaded;		/* the root is ISA_LOADED, by a known load */
	uint32_t first_holder;	/* registers that hold the root too: in `holders` */
	uint32_t n_holders;
};

struct access_query {
	uint64_t address; /* of the instruction, in the file */
	struct isa_operand operand;
	uint32_t bytes; /* that it accesses; 0: not known */
	bool is_vector; /* … with a vector register */
	struct access_source source;
};

/* What it accesses. */
struct access_found {
	struct str_id function; /* around the instruction, or inlined there; 0: not known */
	struct str_id variable; /* or what else has the pointer: "pool->conns"; 0: not known */
	bool is_pointed;	/* it points to what is accessed; else it is that */
	struct type_id type;	/* of what is accessed as a whole; 0: not known */
	uint64_t offset;	/* of the access in it */
};

/* A question to one file. All borrowed. */
struct access_question {
	const char *path, *alt_path, *root; /* as in struct data_question */
	const struct access_query *queries;
	size_t n;
	const struct access_query *loads; /* of pointers, in the functions of the queries */
	const struct isa_holder *holders;
};

/* Zeroed is empty. */
struct access_answer {
	struct strings strings;
	struct types types;
	struct access_found *found; /* by number of the query */
	struct diags diags;
};

/* Opens the file, answers, closes it. What is damaged is counted in the answer's diags. */
void access_ask(const struct access_question *, struct access_answer *);

void access_answer_release(struct access_answer *);

#endif
