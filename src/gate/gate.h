/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gates: conditions on what was measured. A command says which quantities it has and what each of them
 * came to; whether a condition is met, and the words for that, are the same for all.
 */
#ifndef CYCLOPS_GATE_GATE_H
#define CYCLOPS_GATE_GATE_H

#include <stdint.h>

#include "base/vec.h"
#include "gate/condition.h"
#include "table/table.h"

/* Something that a condition can be about. */
struct quantity {
	const char *name;
	const char *argument; /* "FUNCTION": it is written name(…); NULL: it has none */
	const char *unit;     /* "cycles", "ns" …; "": a ratio */
	bool is_share;	      /* 0 … 1, in text a percentage */
	const char *meaning;  /* one line */
};

/* What a quantity came to. */
struct measured {
	double value;
	double low, high; /* where the truth lies, 19 times out of 20; NAN: not known */

	/* bounds that saturated counters leave; both equal to `value` without any */
	double least, most;

	const char *
		basis; /* what a share is of, if that is easily mistaken; a constant; NULL: clear */
};

/* Exactly this, or with an error that is not known. */
struct measured measured_exactly(double value);
struct measured measured_once(double value);

/* With limits of its error (95 %). */
struct measured measured_between(double value, double low, double high);

enum gate_certainty {
	GATE_CERTAIN,	/* the limit is outside of the error */
	GATE_WITHIN,	/* the limit is within the error: the measured value decides */
	GATE_UNKNOWN,	/* the error is not known: the measured value decides */
	GATE_UNDECIDED, /* saturated counters hide the answer: it counts as failed */
	GATE_NOISE,	/* the condition is met, but the change is not significant: it passes */
	GATE_N_CERTAINTIES,
};

/* What became of a condition. */
struct gate_verdict {
	bool is_failed; /* the condition is met, or that cannot be decided */
	enum gate_certainty certainty;
};

struct gate_verdict gate_verdict_of(const struct condition *, const struct measured *);

/* A condition about one of a command's quantities. */
struct gate {
	struct condition condition;
	size_t quantity;      /* index in the command's list */
	const char *argument; /* in the condition's text, not terminated; NULL: none … */
	size_t argument_size; /* … of so many bytes */
};

/*
 * Reads a condition about one of `n` quantities. The error of an unknown one names the nearest, or
 * lists all; others say that the limit is of another unit, or that an argument is missing.
 */
int gate_parse(const char *text, const struct quantity *, size_t n, struct gate *out, struct err *);

/* What became of a gate, in words. */
struct gate_result {
	const char *text;     /* the condition */
	const char *sentence; /* "ipc 0.23 ± 0.01 (limit 1.5): pass" */
	bool is_failed;
	bool is_error; /* it could not be judged: the sentence says why; not failed */
};

/* Results of all gates. */
struct gates {
	struct table
		table; /* "gates": a row for each condition. It holds the texts of the results */
	VEC_OF(struct gate_result) results;
	size_t n_failed;

	/* For reports: what was judged, borrowed; NULL: not told. Simulated numbers are marked. */
	const char *files[2];
	bool is_modelled;
};

void gates_init(struct gates *);
void gates_release(struct gates *);

/* Judges a gate and adds its result. */
void gates_add(struct gates *, const struct gate *, const struct quantity *,
	       const struct measured *);

/* A condition that was judged, ready to be shown. Texts live as long as the gates; their table makes them. */
struct gate_line {
	const char *measure;  /* the one that decides, of several; NULL: the condition names it */
	const char *measured; /* in words, as the limit is given … */
	const char *error;    /* … NULL: none to tell */
	const char *limit;
	const char *remark; /* what the result rests on; NULL: nothing to add */
	struct gate_verdict verdict;
	double value, low, high; /* as the limit is given; NAN: not known */
};

/* Adds the row, the note and the sentence of a condition: the same for all commands. */
void gates_add_line(struct gates *, const struct condition *, const struct gate_line *);

/* Adds one that could not be judged, for reports alone. */
void gates_add_error(struct gates *, const char *text, const char *why);

/* The tables of an answer with that of the gates, if there are any, behind its sentences. To be released. */
struct tables gates_shown(struct gates *, const struct tables *);

#endif
