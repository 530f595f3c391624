/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What microbenchmarks make events count: catalog/expected.json (catalog/schema.md, "Expected counts").
 * A case is a microbenchmark with some parameters; each of its expectations is about an event.
 */
#ifndef CYCLOPS_KERNEL_EXPECTED_EXPECTED_H
#define CYCLOPS_KERNEL_EXPECTED_EXPECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "cpu/formula.h"
#include "kernel/loops/microbenchmark.h"

enum expected_kind {
	EXPECTED_EXACT, /* follows from the instructions */
	EXPECTED_LINES, /* follows from what caches and TLBs hold; prefetchers add some */
	EXPECTED_NEVER, /* must not count */
	EXPECTED_RANGE, /* differs from CPU to CPU, within limits */
	N_EXPECTED_KINDS,
};

/* An event in a case. */
struct expectation {
	const char *event; /* the catalog's name */
	enum expected_kind kind;
	unsigned architectures; /* on which it holds */
	/* counts of a run, by the names of parameters; the same but for EXPECTED_RANGE. Of EXPECTED_NEVER: 0. */
	struct formula least, most;
};

struct expected_value {
	enum parameter parameter;
	uint64_t value;
};

/* A microbenchmark with parameters. */
struct expected_case {
	const char *name; /* "chase-dram" */
	const char *what; /* what one iteration does there */
	const struct microbenchmark *kernel;
	const char *level;		     /* NULL: none */
	const struct expected_value *values; /* where they are not as usual */
	size_t n_values;
	const struct expectation *expectations;
	size_t n_expectations;
};

/* Constant once read. */
struct expected {
	struct arena memory;
	const struct expected_case *cases;
	size_t n_cases;
	double tolerances
		[N_EXPECTED_KINDS]; /* a share of the count; of EXPECTED_NEVER of the iterations */
	double overhead;	    /* counts that starting and stopping may add to any event */
	unsigned unverified;	    /* architectures on which nobody has compared them yet */
};

/* The embedded file. It is a mistake in the program if that cannot be read. */
void expected_open(struct expected *);

/* Reads a file of that form. To be released, also after an error. */
int expected_read(const char *text, size_t size, struct expected *, struct err *);
void expected_release(struct expected *);

/* The case of that name; NULL: there is none. */
const struct expected_case *expected_find(const struct expected *, const char *name);

/*
 * The parameters of a case on a machine of these sizes. Fails if its level cannot be reached, as the
 * sizes are not known.
 */
int expected_set_values(const struct expected_case *, const struct cache_sizes *,
			uint64_t values[N_PARAMETERS], struct err *);

/* Do the values, but for the iterations, make the run this case? */
bool expected_is_case(const struct expected_case *, const struct cache_sizes *,
		      const uint64_t values[N_PARAMETERS]);

/* Counts of a run: what is expected, and what is right with the tolerance of its kind. */
struct expected_count {
	double least, most; /* as the formulas say */
	double from, to;    /* with the tolerance */
};

/* False, with *out untouched, if a formula has no value. */
bool expected_count_of(const struct expected *, const struct expectation *,
		       const uint64_t values[N_PARAMETERS], struct expected_count *out);

/* "exact", "lines", "never", "range". */
const char *expected_kind_name(enum expected_kind);

enum expected_verdict { EXPECTED_OK, EXPECTED_OVER, EXPECTED_UNDER };

/* Where a count is. */
enum expected_verdict expected_judge(const struct expected_count *, double count);

#endif
