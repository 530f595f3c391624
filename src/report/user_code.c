/* SPDX-License-Identifier: Apache-2.0 */
#include "report/user_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "estimate/shares.h"
#include "hot/sums/functions.h"
#include "keys/keys.h"
#include "report/page_faults.h"
#include "report/weights.h"

enum { NO_EVENT = -1, MOST_DEPTH = 128 };

/* Shares of the event: of less of others' code the table says nothing new. */
static const double least_called = 0.05;

/* A function of the program, or one that is inlined into it. */
struct user_row {
	uint64_t total, own, n;
	uint32_t place; /* where it has most, own or called */
	uint64_t most;
	struct str_id callee; /* the library function that has most of what it calls */
	uint64_t most_called;
};

struct user_code {
	const struct hot *hot;
	const struct names *names;
	bool *has_lines; /* by module: any of its code */
	size_t n_modules;
	int64_t event;	    /* of the rows; NO_EVENT: none has call chains */
	uint64_t all;	    /* its weight */
	struct tuples keys; /* function, that which it is inlined into, module: numbers of rows */
	VEC_OF(struct user_row) rows;
	struct weights places;	    /* of row, place */
	struct weights called;	    /* of row, library function, module */
	struct weights calls;	    /* of event, library function, module, the caller's place */
	struct page_faults *faults; /* of the event */
};

static const struct symbol_frame *innermost_frame(const struct names *names, uint32_t place)
{
	const struct symbol *s = &names->symbols[place];

	return s->n_frames == 0 ? NULL : &symbols_frames(names->session->symbols)[s->first_frame];
}

static bool has_line(const struct user_code *u, uint32_t place)
{
	const struct symbol_frame *f = innermost_frame(u->names, place);

	return f != NULL && f->line != 0;
}

static void find_modules_with_lines(struct user_code *u)
{
	for (uint32_t place = 0; place < u->names->n; place++) {
		uint32_t module = session_place(u->names->session, place).module.v;

		if (module >= u->n_modules) {
			u->has_lines = mem_grow_zeroed(u->has_lines, u->n_modules, module + 1,
						       sizeof(bool));
			u->n_modules = module + 1;
		}
		u->has_lines[module] |= has_line(u, place);
	}
}

/* "libc.so.6", "ld-linux-aarch64.so.1" */
static bool is_shared_library(const char *name)
{
	const char *end = strstr(name, ".so");

	return end != NULL && (end[3] == '\0' || end[3] == '.');
}

bool user_code_is_library(const struct user_code *u, uint32_t place)
{
	const struct session *s = u->names->session;
	struct module_id id = session_place(s, place).module;
	enum module_kind kind;

	if (id.v == 0)
		return true;
	kind = modules_get(timeline_modules(s->timeline), id)->kind;
	if (kind == MODULE_JIT)
		return false;
	if (kind != MODULE_FILE || is_shared_library(names_module(s, id)))
		return true;
	return id.v < u->n_modules && u->has_lines[id.v] && !has_line(u, place);
}

/* The first place of the chain that is the program's own; false if there is none. */
static bool find_user_place(const struct user_code *u, const struct chained_group *g, uint32_t *out)
{
	*out = (uint32_t)g->key[DIM_PLACE];
	for (size_t depth = 0; depth < MOST_DEPTH; depth++) {
		if (!user_code_is_library(u, *out))
			return true;
		if (depth == g->chain.n)
			return false;
		*out = g->chain.items[depth];
	}
	return false;
}

/* Without code of the program: the first place of the chain that is not the kernel's, else the innermost. */
static uint32_t first_outside_kernel(const struct user_code *u, const struct chained_group *g)
{
	const struct session *s = u->names->session;

	for (size_t i = 0; i < g->chain.n; i++) {
		struct module_id id = session_place(s, g->chain.items[i]).module;
		enum module_kind kind = modules_get(timeline_modules(s->timeline), id)->kind;

		if (kind != MODULE_KERNEL && kind != MODULE_KERNEL_MODULE)
			return g->chain.items[i];
	}
	return (uint32_t)g->key[DIM_PLACE];
}

static uint32_t user_row_number(struct user_code *u, uint32_t place)
{
	uint32_t inlined = names_inlined(u->names, place).v;
	uint32_t function = u->names->symbols[place].function.v;
	const uint64_t key[] = {
		inlined != 0 ? inlined : function,
		inlined != 0 ? function : 0,
		session_place(u->names->session, place).module.v,
	};
	uint32_t number = tuples_add(&u->keys, key);

	if (number == u->rows.n)
		*vec_add(&u->rows) = (struct user_row){ .place = place };
	return number;
}

/* Of equals the first in its module stays, whatever the order they come in. */
static bool is_heavier(const struct user_code *u, uint64_t weight, uint32_t place, uint64_t most,
		       uint32_t other)
{
	return weight > most ||
	       (weight == most && hot_place_is_before(u->names->session, place, other));
}

static void add_to_row(struct user_code *u, uint32_t user, uint32_t place, uint64_t weight,
		       uint64_t n)
{
	uint32_t number = user_row_number(u, user);
	struct user_row *r = &u->rows.items[number];
	const uint64_t at[] = { number, user };
	const uint64_t callee[] = {
		number,
		u->names->symbols[place].function.v,
		session_place(u->names->session, place).module.v,
	};

	r->n += n;
	r->total += weight;
	weights_add(&u->places, at, weight);
	if (user == place)
		r->own += weight;
	else
		weights_add(&u->called, callee, weight);
}

/* The heaviest of what was added, in the order of places that do not depend on numbers. */
static void find_heaviest_parts(struct user_code *u)
{
	for (uint32_t i = 0; i < u->places.keys.n; i++) {
		const uint64_t *key = tuples_get(&u->places.keys, i);
		struct user_row *r = &u->rows.items[key[0]];

		if (!is_heavier(u, u->places.list.items[i], (uint32_t)key[1], r->most, r->place))
			continue;
		r->most = u->places.list.items[i];
		r->place = (uint32_t)key[1];
	}
	for (uint32_t i = 0; i < u->called.keys.n; i++) {
		const uint64_t *key = tuples_get(&u->called.keys, i);
		struct user_row *r = &u->rows.items[key[0]];
		uint64_t weight = u->called.list.items[i];
		int order =
			strcmp(strings_get(symbols_strings(u->names->session->symbols),
					   (struct str_id){ (uint32_t)key[1] }),
			       strings_get(symbols_strings(u->names->session->symbols), r->callee));

		if (weight < r->most_called || (weight == r->most_called && order >= 0))
			continue;
		r->most_called = weight;
		r->callee = (struct str_id){ (uint32_t)key[1] };
	}
}

static void add_call(struct user_code *u, const uint64_t *raw, uint32_t caller, uint64_t weight)
{
	uint32_t place = (uint32_t)raw[DIM_PLACE];
	const uint64_t key[] = {
		raw[DIM_EVENT],
		u->names->symbols[place].function.v,
		session_place(u->names->session, place).module.v,
		caller,
	};

	weights_add(&u->calls, key, weight);
}

static bool has_samples(const struct hot *hot)
{
	size_t sampled;

	for (uint32_t i = 0; i < hot_n_rests(hot); i++) {
		uint64_t event = hot_rest_word(hot, i, DIM_EVENT);

		if (hot_rest_cost(hot, i)->n > 0 && !hot_is_spe(hot, event) &&
		    !hot_is_branches(hot, event, &sampled))
			return true;
	}
	return false;
}

static void user_code_add_group(struct user_code *u, const struct chained_group *g)
{
	const uint64_t *raw = g->key;
	uint64_t weight = hot_event_weight(u->hot, raw[DIM_EVENT], &g->cost);
	bool is_of_row = (int64_t)raw[DIM_EVENT] == u->event;
	size_t sampled;
	uint32_t user;

	if (hot_is_spe(u->hot, raw[DIM_EVENT]) || hot_is_branches(u->hot, raw[DIM_EVENT], &sampled))
		return;
	u->all += is_of_row ? weight : 0;
	if (!find_user_place(u, g, &user)) {
		if (is_of_row)
			page_faults_add(u->faults, g, first_outside_kernel(u, g), weight);
		return;
	}
	if (is_of_row)
		page_faults_add(u->faults, g, user, weight);
	if (user != raw[DIM_PLACE])
		add_call(u, raw, user, weight);
	if (is_of_row)
		add_to_row(u, user, (uint32_t)raw[DIM_PLACE], weight, g->cost.n);
}

static void user_code_add_groups(struct user_code *u)
{
	const struct tuples *frames = &u->hot->session->frames;
	struct spool_position at = { 0 };
	struct chained_group g = { 0 };

	if (!has_samples(u->hot))
		return;
	for (uint32_t i = hot_next(u->hot, 0); i < hot_end(u->hot); i = hot_next(u->hot, i + 1)) {
		if (hot_is_folded(u->hot, i))
			continue;
		hot_read_chained(u->hot, i, frames, &g);
		user_code_add_group(u, &g);
	}
	while (hot_chained_next(u->hot, &at, &g))
		user_code_add_group(u, &g);
	chained_group_release(&g);
}

/* Has a rest chains with more than the innermost frame, which is the place itself? */
static bool has_callers(const struct hot *hot, uint32_t rest)
{
	uint64_t frame = hot_rest_word(hot, rest, DIM_FRAME);
	uint64_t event = hot_rest_word(hot, rest, DIM_EVENT);

	if (frame == HOT_FOLDED)
		return tuples_find(&hot->events_with_callers, &event) != TUPLES_NONE;
	return frame != 0 && tuples_get(&hot->session->frames, (uint32_t)frame)[0] != 0;
}

/* The first event whose samples have call chains. */
static int64_t find_event(const struct user_code *u)
{
	int64_t event = NO_EVENT;

	for (uint32_t i = 0; i < hot_n_rests(u->hot); i++) {
		const struct hot_cost *cost = hot_rest_cost(u->hot, i);
		uint64_t of = hot_rest_word(u->hot, i, DIM_EVENT);

		if ((cost->n == 0 && cost->n_branches == 0) || hot_is_spe(u->hot, of))
			continue;
		if (has_callers(u->hot, i) && (event == NO_EVENT || (int64_t)of < event))
			event = (int64_t)of;
	}
	return event;
}

struct user_code *user_code_new(const struct hot *hot, const struct names *names)
{
	struct user_code *u = mem_zalloc(1, sizeof(*u));

	u->hot = hot;
	u->names = names;
	tuples_init(&u->keys, 3);
	tuples_init(&u->places.keys, 2);
	tuples_init(&u->called.keys, 3);
	tuples_init(&u->calls.keys, 4);
	find_modules_with_lines(u);
	u->event = find_event(u);
	u->faults = page_faults_new(names);
	user_code_add_groups(u);
	find_heaviest_parts(u);
	return u;
}

void user_code_free(struct user_code *u)
{
	if (u == NULL)
		return;
	tuples_release(&u->keys);
	vec_release(&u->rows);
	weights_release(&u->places);
	weights_release(&u->called);
	weights_release(&u->calls);
	page_faults_free(u->faults);
	free(u->has_lines);
	free(u);
}

bool user_code_has_chains(const struct user_code *u)
{
	return u->event != NO_EVENT;
}

const struct page_faults *user_code_faults(const struct user_code *u, uint64_t *out_event)
{
	*out_event = (uint64_t)u->event;
	return u->event == NO_EVENT ? NULL : u->faults;
}

bool user_code_caller(const struct user_code *u, uint64_t event, uint32_t place,
		      uint32_t *out_caller, double *out_share)
{
	uint32_t function = u->names->symbols[place].function.v;
	uint32_t module = session_place(u->names->session, place).module.v, caller = 0;
	uint64_t most = 0, all = 0;

	if (hot_is_spe(u->hot, event))
		event = (uint64_t)u->event;
	for (uint32_t i = 0; i < u->calls.keys.n; i++) {
		const uint64_t *key = tuples_get(&u->calls.keys, i);
		uint64_t weight = u->calls.list.items[i];

		if (key[0] != event || key[1] != function || key[2] != module)
			continue;
		all += weight;
		if (most > 0 && !is_heavier(u, weight, (uint32_t)key[3], most, caller))
			continue;
		most = weight;
		caller = (uint32_t)key[3];
	}
	if (all == 0)
		return false;
	*out_caller = caller;
	*out_share = ratio(most, all);
	return true;
}

enum { FUNCTION, MODULE, TOTAL, OWN, CALLED, CALLED_SHARE, SAMPLES, FILE_, LINE_, N_USER_COLUMNS };

static const struct column user_columns[N_USER_COLUMNS] = {
	[FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_GROW,
		       "function of the program; with what it is inlined into" },
	[MODULE] = { "module", NULL, "", CELL_TEXT, 0, "that it is in" },
	[TOTAL] = { "total", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR | COLUMN_TRUST,
		    "of the event: its own, and of what it calls of libraries and the kernel" },
	[OWN] = { "own", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
		  "of the event, in its own code" },
	[CALLED] = { "called", NULL, "", CELL_TEXT, COLUMN_BLANK,
		     "the function of a library or the kernel that has most of the rest" },
	[CALLED_SHARE] = { "called_share", "of it", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BLANK,
			   "of the event, in that function" },
	[SAMPLES] = { "samples", NULL, "", CELL_COUNT, 0, "samples" },
	[FILE_] = { "file", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "of its heaviest place" },
	[LINE_] = { "line", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "of its heaviest place" },
};

static int compare_user_rows(const void *left, const void *right, void *context)
{
	const struct user_code *u = context;
	const struct user_row *a = &u->rows.items[*(const uint32_t *)left];
	const struct user_row *b = &u->rows.items[*(const uint32_t *)right];

	if (a->total != b->total)
		return (a->total < b->total) - (a->total > b->total);
	if (a->n != b->n)
		return (a->n < b->n) - (a->n > b->n);
	return hot_place_is_before(u->names->session, b->place, a->place) -
	       hot_place_is_before(u->names->session, a->place, b->place);
}

static void show_user_row(const struct user_code *u, uint32_t number, struct table *out)
{
	const struct strings *strings = symbols_strings(u->names->session->symbols);
	const struct user_row *r = &u->rows.items[number];
	const uint64_t *key = tuples_get(&u->keys, number);
	struct cell *row = table_add_row(out);
	const char *function = strings_get(strings, (struct str_id){ (uint32_t)key[0] }), *file;
	uint32_t line;

	row[FUNCTION] = cell_text(
		key[0] == 0 ? names_function(u->names, r->place)
		: key[1] == 0
			? function
			: table_format(out, "%s (inlined into %s)", function,
				       strings_get(strings, (struct str_id){ (uint32_t)key[1] })));
	row[MODULE] =
		cell_text(names_module(u->names->session, (struct module_id){ (uint32_t)key[2] }));
	row[TOTAL] = cell_sparse(cell_ratio(r->total, u->all), r->n);
	row[OWN] = cell_sparse(cell_ratio(r->own, u->all), r->n);
	if (r->most_called > 0 && r->callee.v != 0) {
		row[CALLED] = cell_text(strings_get(strings, r->callee));
		row[CALLED_SHARE] = cell_ratio(r->most_called, u->all);
	}
	row[SAMPLES] = cell_count(r->n);
	if (names_line(u->names, r->place, &file, &line)) {
		row[FILE_] = table_text_cell(out, file);
		row[LINE_] = cell_count(line);
	}
}

/* Is it anything but the table of functions once more? */
static bool tells_more(const struct user_code *u)
{
	uint64_t called = 0, inlined = 0;

	for (uint32_t i = 0; i < u->rows.n; i++) {
		called += u->rows.items[i].total - u->rows.items[i].own;
		inlined += tuples_get(&u->keys, i)[1] != 0 ? u->rows.items[i].own : 0;
	}
	return (double)(called + inlined) >= least_called * (double)u->all && u->all > 0;
}

void user_code_table(const struct user_code *u, size_t top, struct table *out)
{
	uint32_t *numbers = mem_alloc(u->rows.n + 1, sizeof(*numbers));

	table_init(out, "user_code",
		   "The program's code, with the libraries and the kernel that it calls",
		   user_columns, N_USER_COLUMNS);
	for (uint32_t i = 0; i < u->rows.n; i++)
		numbers[i] = i;
	if (u->rows.n > 1)
		qsort_r(numbers, u->rows.n, sizeof(*numbers), compare_user_rows,
			(void *)(uintptr_t)u);
	for (uint32_t i = 0; i < u->rows.n && tells_more(u) && (top == 0 || i < top); i++)
		show_user_row(u, numbers[i], out);
	if (tells_more(u) && u->rows.n > top && top > 0)
		table_note(out, "%zu more; --all shows them", (size_t)u->rows.n - top);
	free(numbers);
}
