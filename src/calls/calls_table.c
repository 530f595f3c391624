/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calls/calls.h"
#include "estimate/shares.h"
#include "scan/spe_filters.h"
#include "table/answer.h"

static const double deviations_95 = 1.96;

enum calls_column {
	CALLS_COL_CALLER,
	CALLS_COL_CALLER_MODULE,
	CALLS_COL_SITE,
	CALLS_COL_LINE,
	CALLS_COL_CALLEE,
	CALLS_COL_CALLEE_MODULE,
	CALLS_COL_SHARE,
	CALLS_COL_CALLS,
	CALLS_COL_ERROR,
	CALLS_COL_MARGIN,
	CALLS_COL_RECORDS,
	CALLS_COL_VIA,
	CALLS_COL_MISPREDICTED,
	CALLS_COL_ENTRIES,
	CALLS_COL_RATIO,
	CALLS_N_COLS,
};

static const struct column call_columns[CALLS_N_COLS] = {
	[CALLS_COL_CALLER] = { "caller", NULL, "", CELL_TEXT, COLUMN_GROW, "function that calls" },
	[CALLS_COL_CALLER_MODULE] = { "caller_module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				      "the file it is in" },
	[CALLS_COL_SITE] = { "site", NULL, "", CELL_HEX, 0,
			     "address of the call instruction in the caller's file" },
	[CALLS_COL_LINE] = { "line", NULL, "", CELL_COUNT, 0, "source line behind the call" },
	[CALLS_COL_CALLEE] = { "callee", NULL, "", CELL_TEXT, COLUMN_GROW,
			       "function that is called: that returned" },
	[CALLS_COL_CALLEE_MODULE] = { "callee_module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				      "the file it is in" },
	[CALLS_COL_SHARE] = { "share", "of calls", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR,
			      "part of all recorded calls" },
	[CALLS_COL_CALLS] = { "calls", NULL, "calls", CELL_NUMBER, COLUMN_TRUST,
			      "how often, by the returns that were recorded" },
	[CALLS_COL_ERROR] = { "calls_se", NULL, "calls", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			      "standard error of it, by the number of samples" },
	[CALLS_COL_MARGIN] = { "margin", "±", "calls", CELL_NUMBER, COLUMN_TEXT_ONLY,
			       "half of the 95 % confidence interval" },
	[CALLS_COL_RECORDS] = { "records", NULL, "records", CELL_COUNT, COLUMN_MACHINE_ONLY,
				"returns that were recorded" },
	[CALLS_COL_VIA] = { "via", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_BLANK,
			    "what is called, and jumps on to the callee: a tail call" },
	[CALLS_COL_MISPREDICTED] = { "mispredicted_returns", "mispred.", "", CELL_NUMBER,
				     COLUMN_SHARE | COLUMN_TRUST,
				     "part of the returns that were mispredicted" },
	[CALLS_COL_ENTRIES] = { "call_records", NULL, "records", CELL_COUNT, COLUMN_MACHINE_ONLY,
				"calls that were recorded from the site, where all branches are" },
	[CALLS_COL_RATIO] = { "returns_per_call", NULL, "", CELL_NUMBER,
			      COLUMN_MACHINE_ONLY | COLUMN_TRUST,
			      "recorded returns for each recorded call from the site" },
};

static void add_call(const struct calls *c, const struct call *call, uint64_t of, struct table *t)
{
	const struct called_function *caller = &c->functions.items[call->caller];
	const struct called_function *callee = &c->functions.items[call->callee];
	struct cell *cells = table_add_row(t);
	const char *file;
	uint32_t line;

	cells[CALLS_COL_CALLER] = cell_text(caller->name);
	cells[CALLS_COL_CALLER_MODULE] = cell_text(names_module(c->session, caller->module));
	cells[CALLS_COL_SITE] = cell_hex(call->site_address);
	if (names_line(&c->names, call->return_place, &file, &line))
		cells[CALLS_COL_LINE] = cell_count(line);
	cells[CALLS_COL_CALLEE] = cell_text(callee->name);
	cells[CALLS_COL_CALLEE_MODULE] = cell_text(names_module(c->session, callee->module));
	cells[CALLS_COL_SHARE] = cell_ratio(call->returns.n, of);
	cells[CALLS_COL_CALLS] = calls_cell(c, calls_of(c, call), call->returns.n);
	if (!isnan(calls_error(c, call))) {
		cells[CALLS_COL_ERROR] = cell_number(calls_error(c, call));
		cells[CALLS_COL_MARGIN] = cell_number(deviations_95 * calls_error(c, call));
	}
	cells[CALLS_COL_RECORDS] = cell_count(call->returns.n);
	if (call->via != NULL)
		cells[CALLS_COL_VIA] = cell_text(call->via);
	if (call->returns.n_told > 0)
		cells[CALLS_COL_MISPREDICTED] =
			cell_sparse(cell_ratio(call->returns.n_mispredicted, call->returns.n_told),
				    call->returns.n_told);
	if (!c->has_entries)
		return;
	cells[CALLS_COL_ENTRIES] = cell_count(call->n_entries);
	if (call->n_entries > 0)
		cells[CALLS_COL_RATIO] = cell_sparse(
			cell_number((double)call->site_returns / (double)call->n_entries),
			call->n_entries);
}

static int ratios_compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Returns for each call, where both were recorded often. */
static void note_balance(const struct calls *c, struct table *t)
{
	double *ratios = mem_alloc(c->list.n + 1, sizeof(*ratios)), worst = 0;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < c->list.n; i++) {
		const struct call *call = &c->list.items[i];
		double ratio;

		if (call->n_entries < 10 * SPARSE_BELOW)
			continue;
		ratio = (double)call->site_returns / (double)call->n_entries;
		if (fabs(log(ratio)) > worst) {
			worst = fabs(log(ratio));
			at = i;
		}
		ratios[n++] = ratio;
	}
	if (n > 1)
		qsort(ratios, n, sizeof(*ratios), ratios_compare);
	if (n > 0)
		table_note(
			t,
			"returns for each call from a site: %.2f (median of %zu), farthest from 1: "
			"%.2f (%s, %#" PRIx64 ")",
			ratios[n / 2], n,
			(double)c->list.items[at].site_returns /
				(double)c->list.items[at].n_entries,
			c->functions.items[c->list.items[at].caller].name,
			c->list.items[at].site_address);
	free(ratios);
}

static void note_spe(const struct calls *c, struct table *t)
{
	struct text text = { 0 };

	spe_intervals_text(c->session, &text);
	table_note(t, "%" PRIu64 " of %" PRIu64 " SPE records are returns; sampling interval: %.*s",
		   c->n_returns, c->records->n, (int)text.n, text.bytes);
	if (c->n_returns > 0)
		table_note(t, "shares are those of calls, not of the time or the misses of "
			      "callees: calls of one caller may take longer than those of others");
	else if (c->records->n_branches == 0)
		table_note(t, "no branches are among the SPE records");
	if (c->n_unread > 0)
		table_note(t,
			   "%" PRIu64 " taken branches are in code that is not here: whether they "
			   "are returns is not known",
			   c->n_unread);
	text_release(&text);
	spe_filters_note(c->session, t);
}

static void note_calls(const struct calls *c, struct table *t)
{
	uint64_t n = c->n_returns;

	if (!c->is_spe)
		table_note(t, "%" PRIu64 " returns were recorded with %s%s", n,
			   capture_event_name(c->session->capture, c->stacks.options.event),
			   n > 0 ? "" : ": 'perf record -j any_ret,u' records them");
	if (c->n_unmatched > 0)
		table_note(t,
			   "%" PRIu64 " of them (%.1f %%) went to where no call ends: signals, "
			   "longjmp, thunks",
			   c->n_unmatched, 100 * ratio(c->n_unmatched, n));
	if (c->n_unresolved > 0)
		table_note(t, "%" PRIu64 " of them (%.1f %%) went to code that is not here",
			   c->n_unresolved, 100 * ratio(c->n_unresolved, n));
	note_balance(c, t);
	if (c->is_spe)
		note_spe(c, t);
	else
		branch_stacks_note(&c->stacks, t);
}

static void fill_part(const struct calls *c, uint32_t function, bool is_caller, size_t top,
		      struct table *t)
{
	const struct called_function *f = &c->functions.items[function];
	uint64_t of = is_caller ? f->n_in : f->n_out;

	for (size_t i = 0; i < c->list.n; i++) {
		const struct call *call = &c->list.items[i];

		if ((is_caller ? call->callee : call->caller) == function)
			add_call(c, call, of, t);
	}
	table_show_top(t, top);
}

/* The commonest call of those to and from a function (UINT32_MAX: of all), and mispredicted returns. */
static void answer_calls(const struct calls *c, uint32_t function, struct table *t)
{
	const struct call *most = NULL;
	uint64_t n = 0, n_told = 0, n_mispredicted = 0;

	for (size_t i = 0; i < c->list.n; i++) {
		const struct call *call = &c->list.items[i];

		if (function != UINT32_MAX && call->caller != function && call->callee != function)
			continue;
		most = most == NULL ? call : most;
		n += call->returns.n;
		n_told += call->returns.n_told;
		n_mispredicted += call->returns.n_mispredicted;
	}
	if (most == NULL && c->n_returns == 0)
		answer_say(t, "Who calls whom is not known: this capture has no returns%s.",
			   c->n_unread > 0 ? " whose code is here" : "");
	if (most == NULL)
		return;
	answer_say(t,
		   "%s calls %s most often: %.1f %% of the calls%s (%" PRIu64 " recorded returns).",
		   c->functions.items[most->caller].name, c->functions.items[most->callee].name,
		   100 * ratio(most->returns.n, n), function == UINT32_MAX ? "" : " to and from it",
		   most->returns.n);
	if (n_told > 0)
		answer_say(t, "%.1f %% of the returns are mispredicted%s.",
			   100 * ratio(n_mispredicted, n_told),
			   n_told < SPARSE_BELOW ? " (too few samples)" : "");
}

void calls_tables_make(const struct calls *c, uint32_t function, size_t top, bool is_text,
		       struct calls_tables *out)
{
	answer_init(&out->answer);
	if (is_text) {
		answer_calls(c, function, &out->answer);
		*vec_add(&out->shown.list) = &out->answer;
	}
	table_init(&out->calls, "calls", NULL, call_columns, COUNT(call_columns));
	table_init(&out->callers, "callers", "Callers", call_columns, COUNT(call_columns));
	table_init(&out->callees, "callees", "Callees", call_columns, COUNT(call_columns));
	if (function == UINT32_MAX) {
		for (size_t i = 0; i < c->list.n; i++)
			add_call(c, &c->list.items[i], c->n_returns, &out->calls);
		table_show_top(&out->calls, is_text ? top : 0);
		note_calls(c, &out->calls);
		*vec_add(&out->shown.list) = &out->calls;
		return;
	}
	fill_part(c, function, true, is_text ? top : 0, &out->callers);
	fill_part(c, function, false, is_text ? top : 0, &out->callees);
	note_calls(c, &out->callees);
	*vec_add(&out->shown.list) = &out->callers;
	*vec_add(&out->shown.list) = &out->callees;
}

void calls_tables_release(struct calls_tables *t)
{
	table_release(&t->answer);
	table_release(&t->calls);
	table_release(&t->callers);
	table_release(&t->callees);
	vec_release(&t->shown.list);
}
