/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "running/inside.h"
#include "session/names.h"

enum { RUNNING_THREADS, RUNNING_TIME, RUNNING_SHARE, RUNNING_N };

static const struct column running_columns[RUNNING_N] = {
	[RUNNING_THREADS] = { "threads", NULL, "", CELL_COUNT, 0,
			      "threads of programs that ran at the same time" },
	[RUNNING_TIME] = { "time_ns", "time", "ns", CELL_COUNT, 0, "in which so many ran" },
	[RUNNING_SHARE] = { "share", NULL, "", CELL_NUMBER,
			    COLUMN_SHARE | COLUMN_BAR | COLUMN_TRUST,
			    "part of the capture's time" },
};

enum {
	WAITING_CAUSE,
	WAITING_FUNCTION,
	WAITING_CALLER,
	WAITING_COUNT,
	WAITING_TIME,
	WAITING_SHARE,
	WAITING_LONGEST,
	WAITING_SEEN,
	WAITING_MODULE,
	WAITING_N
};

static const struct column waiting_columns[WAITING_N] = {
	[WAITING_CAUSE] = { "reason", NULL, "", CELL_TEXT, 0,
			    "runnable: preempted or new, it waits for a CPU; else blocked" },
	[WAITING_FUNCTION] = { "function", "in", "", CELL_TEXT, COLUMN_GROW,
			       "function outside of the kernel that it was in" },
	[WAITING_CALLER] = { "caller", "called from", "", CELL_TEXT, COLUMN_GROW | COLUMN_BLANK,
			     "the program's own function that called it, if it is a library's" },
	[WAITING_COUNT] = { "waits", "times", "", CELL_COUNT, 0, "how often a thread began to" },
	[WAITING_TIME] = { "time_ns", "time", "ns", CELL_COUNT, 0, "of all threads together" },
	[WAITING_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			    "part of the time that threads waited" },
	[WAITING_LONGEST] = { "longest_ns", "max", "ns", CELL_COUNT, 0, "the longest wait" },
	[WAITING_SEEN] = { "seen", "sampled", "", CELL_TEXT, 0,
			   "where function is from: a sample at the switch, or the last one "
			   "before, "
			   "when it may have been elsewhere still" },
	[WAITING_MODULE] = { "module", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_BLANK,
			     "file that the function is in" },
};

static const char *const cause_words[N_WAITING_CAUSES] = {
	[WAITING_FOR_CPU] = "runnable",
	[WAITING_BLOCKED] = "blocked",
};

/* A row: the cause and the places, by their function. */
enum { KEY_CAUSE, KEY_FUNCTION_NAME, KEY_MODULE_ID, KEY_CALLER_NAME, N_KEY_WORDS };

struct waiting_row {
	uint64_t n, ns, longest_ns;
	uint32_t place, caller; /* 0: not known, none */
};

struct waiting {
	const struct running *running;
	struct names names;
	uint32_t *places, *callers; /* by wait */
	struct tuples keys;
	VEC_OF(struct waiting_row) rows;
	uint64_t ns; /* of all */
};

static void waiting_find_names(struct waiting *w, const struct wait_places *seen)
{
	struct session *s = w->running->session;
	size_t n = w->running->waits.n;
	bool *wanted = mem_zalloc(place_numbers_n(s->places) + 1u, sizeof(*wanted));

	w->places = mem_zalloc(n + 1, sizeof(*w->places));
	w->callers = mem_zalloc(n + 1, sizeof(*w->callers));
	for (size_t i = 0; seen->list != NULL && i < n; i++) {
		if (seen->list[i].place == 0)
			continue;
		wait_place_find(s, &s->frames, &seen->list[i]);
		w->places[i] = seen->list[i].user;
		w->callers[i] = seen->list[i].program;
		if (w->places[i] == 0)
			w->places[i] = seen->list[i].place; /* of the kernel, without a chain */
		wanted[w->places[i]] = wanted[w->callers[i]] = true;
	}
	names_init_few(&w->names, s, wanted, SYMBOLS_FUNCTIONS, NULL);
	free(wanted);
}

static void add_wait(struct waiting *w, size_t i)
{
	const struct wait *wait = &w->running->waits.items[i];
	const struct symbol *symbols = w->names.symbols;
	uint64_t ns = wait->to_ns - wait->from_ns, key[N_KEY_WORDS] = { wait->cause };
	uint32_t place = w->places[i], caller = w->callers[i], number;
	struct waiting_row *row;

	key[KEY_FUNCTION_NAME] = symbols[place].function.v;
	key[KEY_MODULE_ID] = session_place(w->running->session, place).module.v;
	if (symbols[caller].function.v == symbols[place].function.v)
		caller = 0; /* it is the program's own */
	key[KEY_CALLER_NAME] = symbols[caller].function.v;
	number = tuples_add(&w->keys, key);
	if (number == w->rows.n)
		*vec_add(&w->rows) = (struct waiting_row){ .place = place, .caller = caller };
	row = &w->rows.items[number];
	row->n++;
	row->ns += ns;
	row->longest_ns = ns > row->longest_ns ? ns : row->longest_ns;
	w->ns += ns;
}

static int compare_waiting_rows(const void *a, const void *b, void *context)
{
	const struct waiting *w = context;
	const struct waiting_row *x = &w->rows.items[*(const uint32_t *)a];
	const struct waiting_row *y = &w->rows.items[*(const uint32_t *)b];
	uint64_t p = tuples_get(&w->keys, *(const uint32_t *)a)[KEY_CAUSE];
	uint64_t q = tuples_get(&w->keys, *(const uint32_t *)b)[KEY_CAUSE];
	int order;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (p != q)
		return p < q ? -1 : 1;
	order = strcmp(names_function(&w->names, x->place), names_function(&w->names, y->place));
	if (order != 0)
		return order;
	order = strcmp(names_module(w->running->session,
				    session_place(w->running->session, x->place).module),
		       names_module(w->running->session,
				    session_place(w->running->session, y->place).module));
	return order != 0 ? order
			  : strcmp(names_function(&w->names, x->caller),
				   names_function(&w->names, y->caller));
}

static void show_row(const struct waiting *w, uint32_t number, struct table *t)
{
	const struct waiting_row *row = &w->rows.items[number];
	const struct session *s = w->running->session;
	struct cell *cells = table_add_row(t);

	cells[WAITING_CAUSE] = cell_text(cause_words[tuples_get(&w->keys, number)[KEY_CAUSE]]);
	if (row->place != 0) {
		cells[WAITING_FUNCTION] = table_text_cell(t, names_function(&w->names, row->place));
		cells[WAITING_MODULE] =
			table_text_cell(t, names_module(s, session_place(s, row->place).module));
		cells[WAITING_SEEN] =
			cell_text(w->running->has_switch_events ? "at the switch" : "before");
	}
	if (row->caller != 0)
		cells[WAITING_CALLER] = table_text_cell(t, names_function(&w->names, row->caller));
	cells[WAITING_COUNT] = cell_count(row->n);
	cells[WAITING_TIME] = cell_count(row->ns);
	cells[WAITING_SHARE] = cell_number((double)row->ns / (double)w->ns);
	cells[WAITING_LONGEST] = cell_count(row->longest_ns);
}

/* The function, or the file of code without names. */
static const char *place_words(const struct waiting *w, uint32_t place, struct table *t)
{
	const struct session *s = w->running->session;

	if (w->names.symbols[place].function.v != 0)
		return table_text(t, names_function(&w->names, place));
	return table_format(t, "code in %s", names_module(s, session_place(s, place).module));
}

/* Where threads were blocked longest, if any place is known. */
static void find_blocked(const struct waiting *w, const uint32_t *order, struct running_tables *out)
{
	for (uint32_t i = 0; i < w->rows.n; i++) {
		const struct waiting_row *row = &w->rows.items[order[i]];

		if (tuples_get(&w->keys, order[i])[KEY_CAUSE] != WAITING_BLOCKED || row->place == 0)
			continue;
		out->blocked_in = place_words(w, row->place, &out->waiting);
		out->blocked_share = (double)row->ns / (double)w->ns;
		return;
	}
}

static void make_waiting(const struct running *r, const struct wait_places *seen, size_t top,
			 struct running_tables *out)
{
	struct table *t = &out->waiting;
	struct waiting w = { .running = r };
	uint32_t *order, n;

	tuples_init(&w.keys, N_KEY_WORDS);
	waiting_find_names(&w, seen);
	for (size_t i = 0; i < r->waits.n; i++)
		add_wait(&w, i);
	n = (uint32_t)w.rows.n;
	order = mem_alloc(n + 1u, sizeof(*order));
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_waiting_rows, &w);
	for (uint32_t i = 0; i < n && (top == 0 || i < top); i++)
		show_row(&w, order[i], t);
	if (top > 0 && n > top)
		table_note(t, "%u more; --all shows them", n - (uint32_t)top);
	if (!r->has_switch_events && n > 0)
		table_note(t,
			   "No samples were taken at switches, so functions are those of the last "
			   "sample before: 'record -g -e cycles,context-switches --switch-events' "
			   "takes them.");
	find_blocked(&w, order, out);
	free(order);
	free(w.places);
	free(w.callers);
	names_release(&w.names);
	tuples_release(&w.keys);
	vec_release(&w.rows);
}

static void make_running(const struct running *r, struct table *t)
{
	uint64_t all = r->last_ns - r->first_ns;

	for (size_t i = 0; i < r->ns.n; i++) {
		struct cell *cells;

		if (r->ns.items[i] == 0)
			continue;
		cells = table_add_row(t);
		cells[RUNNING_THREADS] = cell_count(i);
		cells[RUNNING_TIME] = cell_count(r->ns.items[i]);
		cells[RUNNING_SHARE] = cell_number((double)r->ns.items[i] / (double)all);
		if (r->slice_ns > 0)
			cells[RUNNING_SHARE] = cell_marked(cells[RUNNING_SHARE], MARK_SCALED);
	}
	if (r->slice_ns > 0)
		table_note(t,
			   "There are no records of switches ('record --switch-events'): a thread "
			   "runs "
			   "in each slice of %s in which it has SPE records.",
			   table_human(t, cell_count(r->slice_ns), "ns"));
}

void running_tables_make(const struct running *r, const struct wait_places *seen, size_t top,
			 struct running_tables *out)
{
	table_init(&out->running, "running", "Threads that ran at the same time", running_columns,
		   RUNNING_N);
	table_init(&out->waiting, "waiting", "What threads waited for", waiting_columns, WAITING_N);
	make_running(r, &out->running);
	if (seen != NULL)
		make_waiting(r, seen, top, out);
}

void running_tables_release(struct running_tables *t)
{
	table_release(&t->running);
	table_release(&t->waiting);
}

bool running_says_much(const struct running *r)
{
	static const double least_idle = 0.05;
	double all = (double)(r->last_ns - r->first_ns);

	return r->ns.n > 2 || (r->ns.n > 0 && (double)r->ns.items[0] > least_idle * all);
}

void running_sum_up(const struct running *r, const struct running_tables *t, struct text *out)
{
	uint64_t all = r->last_ns - r->first_ns, waited[N_WAITING_CAUSES] = { 0 };
	double busy = 0, first = r->ns.n > 0 ? (double)r->ns.items[0] : 0;

	for (size_t i = 0; i < r->ns.n; i++)
		busy += (double)i * (double)r->ns.items[i];
	for (size_t i = 0; i < r->waits.n; i++)
		waited[r->waits.items[i].cause] +=
			r->waits.items[i].to_ns - r->waits.items[i].from_ns;
	if (all == 0)
		return;
	text_format(out, "on average %s%.2f threads ran at a time", r->slice_ns > 0 ? "about " : "",
		    busy / (double)all);
	if (first > 0)
		text_format(out, "; none did %.1f %% of the time", 100 * first / (double)all);
	if (r->slice_ns > 0)
		text_str(out, ", by SPE records");
	if (waited[WAITING_FOR_CPU] + waited[WAITING_BLOCKED] == 0)
		return;
	text_format(out, "; %.0f %% of their waiting was for a CPU",
		    100 * (double)waited[WAITING_FOR_CPU] /
			    (double)(waited[WAITING_FOR_CPU] + waited[WAITING_BLOCKED]));
	if (t->blocked_in != NULL && r->has_switch_events)
		text_format(out, ", %.0f %% was in %s", 100 * t->blocked_share, t->blocked_in);
}
