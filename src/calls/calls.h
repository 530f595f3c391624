/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who calls whom, how often, out of the returns in branch stacks, or of those that SPE recorded: it records
 * each operation with the same chance, so a function's returns by target are an unbiased sample of its calls
 * by caller. A return is in the callee and goes behind the call of its caller, so stubs between them vanish.
 */
#ifndef CYCLOPS_CALLS_CALLS_H
#define CYCLOPS_CALLS_CALLS_H

#include "branch_stacks/stacks.h"
#include "feedback/records.h"
#include "session/names.h"

/* A function, by module and start. */
struct called_function {
	struct module_id module;
	uint64_t start;	      /* offset in the module; of unknown functions 0 */
	const char *name;     /* "[unknown]" if it has none */
	uint64_t n_in, n_out; /* recorded calls of it, and by it */
};

/* Calls of one function from one place. */
struct call {
	uint32_t caller, callee; /* numbers in calls.functions */
	struct place site;	 /* the call instruction */
	uint64_t site_address;	 /* of it, in the module's file */
	uint64_t return_address; /* behind it */
	uint32_t return_place;	 /* number of that place */
	const char
		*via; /* what the site calls, and what jumps on to the callee; NULL: the callee */
	struct taken_sum returns;
	uint64_t site_returns; /* recorded returns to its site, of all callees */
	uint64_t n_entries;    /* recorded calls from its site, where all branches are recorded */
};

/* Recorded calls. */
struct call_entry {
	uint64_t n;
	uint64_t n_returns; /* to the site, of all callees */
};

struct calls {
	struct session *session;
	bool is_spe;		      /* out of SPE records; else of branch stacks */
	bool has_entries;	      /* calls were recorded as well as returns */
	struct branch_stacks stacks;  /* unless is_spe */
	struct flow_records *records; /* if is_spe; … */
	struct spe_interval_range interval;
	struct code_functions own_code; /* if is_spe */
	struct code_functions *code;	/* own, or that of the stacks */
	struct names names;
	struct tuples function_keys;		  /* module, start → number … */
	VEC_OF(struct called_function) functions; /* … → function */
	struct tuples call_keys, entry_keys, site_keys;
	VEC_OF(struct call_entry) entries, site_entries; /* by site and target; by site */
	VEC_OF(struct call) list;			 /* most returns first */
	uint64_t n_returns;
	uint64_t n_unmatched;  /* returns to where no call ends: signals, longjmp, thunks */
	uint64_t n_unresolved; /* an end of it is in no module, or its code is not here */
	uint64_t n_unread;     /* taken branches of which neither record nor code tells the kind */
};

/* Not an event with branch stacks, but … */
enum {
	CALLS_BY_BEST = -1, /* the best of these; SPE if there is none */
	CALLS_BY_SPE = -2
};

/* Counts the calls of the event, or CALLS_BY_…. `out` is to be released also after a failure. */
int calls_read(struct calls *out, struct session *, const struct select *, int event, struct err *);
void calls_release(struct calls *);

/* Calls that were made, NAN: cannot be said; and the standard error of it. */
double calls_of(const struct calls *, const struct call *);
double calls_error(const struct calls *, const struct call *);

/* A number of calls, of which `n` were recorded, with how far it can be trusted; absent if it is NAN. */
struct cell calls_cell(const struct calls *, double calls, uint64_t n);

/* The number of the function of this name, or "name@module"; -1 and an error that lists names. */
int calls_find(const struct calls *, const char *name, uint32_t *out, struct err *);

/* Tables: all calls, or those to and from a function. */
struct calls_tables {
	struct table answer; /* for people only */
	struct table calls, callers, callees;
	struct tables shown;
};

/* `function`: a number, or UINT32_MAX for all. */
void calls_tables_make(const struct calls *, uint32_t function, size_t top, bool is_text,
		       struct calls_tables *out);
void calls_tables_release(struct calls_tables *);

/* The graph of the functions with most calls, in the language of Graphviz, or as text. */
void calls_draw_dot(const struct calls *, struct text *out);
void calls_draw_text(const struct calls *, bool has_unicode, struct text *out);

#endif
