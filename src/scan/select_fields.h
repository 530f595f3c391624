/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of the selection language (scan/select.h): a table of names, getters and tests. */
#ifndef CYCLOPS_SCAN_SELECT_FIELDS_H
#define CYCLOPS_SCAN_SELECT_FIELDS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "batch/batch.h"
#include "scan/select_lex.h"
#include "session/session.h"

/* Code of a module: functions and lines that a test lets through. */
struct module_range {
	uint32_t module;
	uint64_t from, to; /* offsets, `to` excluded */
};

struct field;

/* One comparison, prepared for running over columns. */
struct test {
	const struct field *field;
	bool is_negated;    /* != and !~ */
	uint64_t low, high; /* numbers: passes when low <= value <= high */
	uint64_t bits;	    /* events of SPE records, accesses of samples: any of these bits */
	char *word;	    /* sources: the CPU's own name, or NULL */
	bool by_class;	    /* operations: all branches pass, or none does */
	bool *flags;	    /* by operation, event, source or process, n_flags of them */
	size_t n_flags;
	VEC_OF(struct module_range) ranges; /* what passes, sorted, without overlaps */
};

/* What a test needs at run time. */
struct rows {
	const struct session *session;
	const struct batch *batch;
};

/* Fields with numbers: a getter that says whether the row has one. */
typedef bool number_of(const struct session *, const struct batch *, size_t row, uint64_t *out);

/* Compiles the value of a test on names, and runs it on a row. */
typedef int compile_test(struct session *, struct test *, const struct token *value,
			 const regex_t *pattern, struct err *);
typedef bool run_test(const struct test *, const struct rows *, size_t row, bool *out_has);

/* What a field describes. */
enum field_about {
	ABOUT_WHERE,   /* process, code, time, data address */
	ABOUT_KIND,    /* kind of operation */
	ABOUT_OUTCOME, /* latency, events, data source */
};

struct field {
	const char *name, *meaning;
	number_of *number; /* for numbers; NULL: the next two are used */
	compile_test *compile;
	run_test *run;
	bool has_patterns; /* =~ and !~ are allowed */
	enum field_about about;
};

/* All fields, ending with a NULL name. */
extern const struct field select_fields[];

/* Is it this text, or does it match the pattern if there is one? */
bool select_text_matches(const char *text, const struct token *value, const regex_t *pattern);

/* Frees what compile_test() put into a test. */
void test_release(struct test *);

/* Equal but for case, and '_' is '-'. */
bool token_is_name(const struct token *, const char *name);

#endif
