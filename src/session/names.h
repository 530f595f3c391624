/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and source lines of places, looked up at once for all that need them. */
#ifndef CYCLOPS_SESSION_NAMES_H
#define CYCLOPS_SESSION_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/path.h"
#include "base/text.h"
#include "session/session.h"

/* Symbols by global place id. Zeroed is empty. */
struct names {
	struct session *session;
	struct symbol *symbols;
	uint32_t n;
	enum symbols_depth depth;
	bool has_functions; /* of some place */
	bool has_frames;    /* some place may have frames */
	bool know_nothing; /* there is no file that might have functions or lines of any wanted place */

	/*
	 * All places with their numbers, sorted by module and offset: names_put_in_order(). names_init_in_order(): no
	 * places.
	 */
	uint32_t *numbers;
	struct place *places;
	uint32_t n_in_order; /* … both of mem_huge(), as many; 0: not so */
	bool is_huge;	     /* so are the symbols */
};

/*
 * Resolves the places whose `wanted` is true (NULL: all of the session's). Puts all in order for that, unless there are very
 * many and nothing is known of any.
 */
void names_init(struct names *, struct session *, const bool *wanted, enum symbols_depth);

/* Puts all places in order, if that was not done: for who needs the order, not the names. */
void names_put_in_order(struct names *);

/*
 * The same with less memory: takes the numbers of all places in their order (place_numbers_sorted()), and looks up some
 * at a time.
 */
void names_init_in_order(struct names *, struct session *, uint32_t *numbers, const bool *wanted,
			 enum symbols_depth);
void names_release(struct names *);

/*
 * The same in time for the wanted ones alone, without the order of places. What is in `known` (NULL: nothing) is not looked
 * up again.
 */
void names_init_few(struct names *, struct session *, const bool *wanted, enum symbols_depth,
		    const struct names *known);

/* Looks up more of them, perhaps of places that the session got since. Those that have a name already are not wanted. */
void names_add_few(struct names *, const bool *wanted, const struct names *known);

/* Frees the order of places: `numbers` and `places`. names_add_inlined() needs them, and no name. */
void names_forget_order(struct names *);

/* Adds to the places whose `wanted` is true, which have a function, what was inlined. */
void names_add_inlined(struct names *, const bool *wanted);

/* The module's short name; "[unknown]" if there is none. */
const char *names_module(const struct session *, struct module_id);

/* The function's name; "[unknown]" if there is none. */
const char *names_function(const struct names *, uint32_t place);

/*
 * The function that the code of a place is of, if it was inlined into that of the symbol; 0: it was
 * not, or lines were not looked up.
 */
static inline struct str_id names_inlined(const struct names *n, uint32_t place)
{
	return n->symbols[place].inlined;
}

/* Its name, or NULL. */
const char *names_inlined_function(const struct names *, uint32_t place);

/* Is the function of any place known, or is there no place? Without one, rows by function would be one for each module. */
bool names_have_functions(const struct names *);

/*
 * May any place have a function, or one that was inlined? Else no symbol has one, and who goes through all places need not
 * read them: most of their memory was never written to.
 */
static inline bool names_know_any(const struct names *n)
{
	return n->has_functions || n->has_frames;
}

/* Innermost source line of a place; false if it is not known. */
bool names_line(const struct names *, uint32_t place, const char **out_file, uint32_t *out_line);

/* The same of one place, which is looked up now. */
bool names_find_line(struct session *, uint32_t place, const char **out_file, uint32_t *out_line);

/* "chase+0x4", or "libc.so.6+0x1f00" where no function is known, or the bare address. */
void names_place(const struct names *, uint32_t place, struct text *);

#endif
