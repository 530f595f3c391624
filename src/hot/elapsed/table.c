/* SPDX-License-Identifier: Apache-2.0 */
/* From the sums of a scan to limits of each row's run time, and the table of them. */
#include "hot/elapsed/inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "estimate/estimate.h"
#include "hot/sums/group.h"
#include "scan/spe_filters.h"
#include "session/tip.h"
#include "session/without_spe.h"

enum { MAX_COLUMNS = N_KEYS * KEY_MAX_COLUMNS + 16 };

/* Clock of the cores if it is not known: none with SPE is slower, so limits hold. */
static const double slow_hz = 2e9;

/* Assumed for slow operations of which no record was taken: a DRAM access with a table walk. */
static const double slow_operation_ns = 150;

/* Limits are close if they differ by at most this part of all time, or of the row's own time. */
static const double close_share = 0.02, close_part = 0.2;

/* Smaller parts of the time get no note. */
static const double least_share = 0.001;

/* Keys that have a run time; the others describe single operations. */
static const bool is_of_time[N_KEYS] = {
	[KEY_PROCESS] = true, [KEY_PROGRAM] = true,	[KEY_THREAD] = true,
	[KEY_CPU] = true,     [KEY_MODULE] = true,	[KEY_FUNCTION] = true,
	[KEY_LINE] = true,    [KEY_INSTRUCTION] = true, [KEY_PLACE] = true,
};

static const struct column columns[] = {
	{ "time_share", "time share", "", CELL_NUMBER,
	  COLUMN_SHARE | COLUMN_BAR | COLUMN_TRUST | COLUMN_NOTED,
	  "part of the time between records that it ran; absent: not known" },
	{ "time_low", "from", "", CELL_NUMBER, COLUMN_SHARE, "lower limit of that" },
	{ "time_high", "to", "", CELL_NUMBER, COLUMN_SHARE, "upper limit of that" },
	{ "latency_share", "latency share", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
	  "part of the total latencies of sampled operations, which overlap" },
	{ "time_ns", "time", "ns", CELL_COUNT, 0, "time that it ran, between records" },
	{ "ns_per_operation", "ns per operation", "ns", CELL_NUMBER, COLUMN_MACHINE_ONLY,
	  "run time by estimated operations" },
	{ "cycles_per_operation", "cycles per operation", "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
	  "the same in cycles, if the frequency of the cores is known" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "SPE records" },
	{ "operation_share", "operation share", "", CELL_NUMBER, COLUMN_SHARE,
	  "part of the estimated operations" },
};

/* The run time of a row, in ns. */
struct row_time {
	uint64_t ns;
	double low, high; /* limits */
	bool is_told;	  /* shown: limits are within a factor of two */
	bool is_sure;	  /* limits are close */
};

/* The answer being made. */
struct making {
	const struct elapsed *e;
	const struct elapsed_request *request;
	struct elapsed_rest rest;
	struct elapsed_sum all;
	struct row_time *times; /* by row */
	struct spe_interval_range range;
	double hz;	       /* of the cores */
	double told_ns;	       /* time of rows that is shown */
	uint32_t n_left_out;   /* rows that are not shown … */
	double most_left_out;  /* … and the largest of their upper limits, ns */
	bool has_code;	       /* a key is of code: other rows may run between two records */
	bool has_limits;       /* it is known how many operations are between two records */
	struct hot_grouping g; /* for names */
	struct elapsed_told told;
};

int elapsed_check_keys(const struct keys *keys, struct err *err)
{
	for (size_t i = 0; i < keys->n; i++)
		if (!is_of_time[keys->keys[i]])
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--elapsed: time between records is of what runs, by "
				       "process, program, thread, cpu, module, function, line, "
				       "instruction "
				       "or place; not by %s",
				       key_classes[keys->keys[i]].name);
	return 0;
}

/* Why not even the time between records can be divided among rows. */
static const char *share_obstacle(const struct session *s, const struct select *select)
{
	const struct spe_info *spe = capture_spe(s->capture);

	if (!spe->is_present || select != NULL)
		return spe_filters_obstacle(s, select);
	if (!spe->has_time)
		return "the unit of SPE timestamps is not recorded";
	if (spe_interval_range(s).longest == 0)
		return "the sampling interval is not recorded (give --interval)";
	return NULL;
}

const char *elapsed_obstacle(const struct session *s, const struct select *select, bool is_brief)
{
	const char *obstacle = is_brief ? NULL : spe_filters_obstacle(s, select);

	return obstacle != NULL ? obstacle : share_obstacle(s, select);
}

/*
 * Upper limit of the delay, in ns, by operations like those of these records. A few long ones may
 * be most of the sum. So the error is that of n = (Σ cycles)² / Σ cycles² records, the effective
 * number.
 */
static double met_ns(const struct making *m, const struct elapsed_operations *o)
{
	double cycles = (double)o->cycles, squares = (double)o->squares;
	struct estimate e;
	uint64_t n;

	if (o->n == 0)
		return 0;
	n = (uint64_t)fmax(1, cycles * cycles / squares);
	e = estimate_of(n, o->operations / o->n * n, &m->range);
	return e.high * (cycles / (double)n) / m->hz * 1e9;
}

/* The same for slow operations of which no record was taken. */
static double unmet_ns(const struct making *m)
{
	return estimate_of(0, 0, &m->range).high * slow_operation_ns;
}

/*
 * Splits the time of an edge between its two rows. The switch from one to the other came anywhere
 * between the two records, so each ran half of the operations on average: the time is split in
 * proportion to their time per operation in steady runs.
 */
static void share_edges(struct making *m)
{
	const struct elapsed *e = m->e;

	for (uint32_t i = 0; i < e->pairs.n; i++) {
		const uint64_t *pair = tuples_get(&e->pairs, i);
		const struct elapsed_sum *a = &e->rows[pair[0]], *b = &e->rows[pair[1]];
		uint64_t ns = e->pair_ns.items[i], first = ns / 2;

		if (a->n_steady > 0 && b->n_steady > 0 && a->steady_ns + b->steady_ns > 0) {
			double each_a = (double)a->steady_ns / (double)a->n_steady;
			double each_b = (double)b->steady_ns / (double)b->n_steady;

			first = (uint64_t)llround((double)ns * (each_a / (each_a + each_b)));
		}
		m->times[pair[0]].ns += first;
		m->times[pair[1]].ns += ns - first;
	}
}

static void find_limits(struct making *m, uint32_t row)
{
	const struct elapsed_sum *sum = &m->e->rows[row];
	double covered = (double)m->rest.covered_ns, to_ns = 1e9 / m->hz;
	struct row_time *t = &m->times[row];

	t->ns += sum->steady_ns + sum->brief_ns;
	t->low = t->high = (double)t->ns;
	if (!m->has_limits) {
		t->low = 0;
		t->high = covered;
	} else if (m->has_code) {
		t->low = (double)sum->steady_ns;
		t->high = (double)(sum->steady_ns + sum->brief_ns + sum->edge_ns);
		t->low -= met_ns(m, &sum->visitors) + unmet_ns(m) + (double)sum->beginning * to_ns;
		t->high += met_ns(m, &sum->briefly) + unmet_ns(m) + (double)sum->ending * to_ns;
	}
	t->low = fmax(0, t->low);
	t->high = fmin(covered, t->high);
	m->all.all.operations += sum->all.operations;
	m->all.latency.cycles += sum->latency.cycles;
	m->all.latency.full += sum->latency.full;
}

/*
 * The time of a thread is known, and its rows share it. A row that has all records of a thread has
 * its time but for code that no record met, and in threads where a row has no record it is such code.
 * There may be as many operations of that as no record need meet, and they are taken to last as long
 * as the thread's operations do on average. In whole ns, so that the order of threads does not matter.
 */
static void bound_by_threads(struct making *m)
{
	const struct elapsed *e = m->e;
	double most = estimate_of(0, 0, &m->range).high / (double)m->range.longest;
	uint64_t met_by_bit[64] = { 0 }, unmet = 0;
	uint64_t *low = mem_zalloc(e->plan->rows.n + 1, sizeof(*low));

	for (uint32_t i = 0; i < e->threads.n; i++) {
		const struct elapsed_thread *t = &e->by_thread.items[i];
		double part = fmin(1, most / (double)t->n);
		uint64_t tid = *tuples_get(&e->threads, i);
		uint64_t its_unmet = (uint64_t)llround((double)t->ns * part);

		unmet += its_unmet;
		met_by_bit[tid % COUNT(met_by_bit)] += t->ns - its_unmet;
		if (t->only_row != ELAPSED_NO_ROW)
			low[t->only_row] += t->ns - its_unmet;
	}
	for (uint32_t row = 0; row < e->plan->rows.n; row++) {
		struct row_time *t = &m->times[row];
		uint64_t high = unmet;

		for (int bit = 0; bit < 64; bit++)
			high += e->rows[row].threads >> bit & 1 ? met_by_bit[bit] : 0;
		t->high = fmin(t->high, (double)high);
		t->low = fmin(fmax(t->low, (double)low[row]), t->high);
	}
	free(low);
}

/* Which limits are close enough to say a share. */
static void judge_limits(struct making *m, uint32_t row)
{
	double covered = (double)m->rest.covered_ns;
	struct row_time *t = &m->times[row];

	t->is_sure = m->has_limits &&
		     t->high - t->low <= fmax(close_share * covered, close_part * (double)t->ns);
	t->is_told = t->is_sure || t->low > t->high / 2;
	m->told_ns += t->is_told ? (double)t->ns : 0;
}

static void elapsed_add_up(struct making *m)
{
	uint32_t n = m->e->plan->rows.n;

	m->rest = m->e->rest;
	for (size_t i = 0; i < m->e->spans.n; i++)
		m->rest.span_ns += m->e->spans.items[i].last_ns - m->e->spans.items[i].first_ns;
	m->times = mem_zalloc(n + 1, sizeof(*m->times));
	share_edges(m);
	for (uint32_t row = 0; row < n; row++)
		find_limits(m, row);
	if (m->has_code && m->has_limits)
		bound_by_threads(m);
	for (uint32_t row = 0; row < n; row++)
		judge_limits(m, row);
}

static void elapsed_start_table(const struct making *m, struct table *t)
{
	const char *each = m->request->clock.hz > 0 ? "cycles_per_operation" : "ns_per_operation";
	struct column list[MAX_COLUMNS], *own;
	size_t n = keys_add_columns(m->request->keys, list, 0);

	for (size_t i = 0; i < COUNT(columns); i++)
		n = columns_add(list, n, &columns[i]);
	table_init(t, "elapsed", m->request->title, list, n);
	own = table_own_columns(t, 0);
	own[table_column(t, each)].flags = 0;
	if (!m->request->is_brief)
		return;
	/* room for names */
	own[table_column(t, "operation_share")].flags |= COLUMN_MACHINE_ONLY;
	own[table_column(t, each)].flags |= COLUMN_MACHINE_ONLY;
}

static void set_cell(struct table *t, struct cell *row, const char *column, struct cell cell)
{
	row[table_column(t, column)] = cell;
}

static struct cell elapsed_share_cell(double part, double whole)
{
	return cell_number(whole == 0 ? 0 : part / whole);
}

static void show_row(const struct making *m, uint32_t number, struct table *t)
{
	const struct elapsed_sum *sum = &m->e->rows[number];
	const struct row_time *time = &m->times[number];
	double covered = (double)m->rest.covered_ns, ns = (double)time->ns;
	double each = sum->all.operations == 0 ? 0 : ns / (double)sum->all.operations;
	struct cell *row = table_add_row(t);

	hot_show_keys(&m->g, tuples_get(&m->e->plan->rows, number) + 1, t, row);
	set_cell(t, row, "samples", cell_count(sum->all.n));
	set_cell(t, row, "operation_share",
		 elapsed_share_cell((double)sum->all.operations, (double)m->all.all.operations));
	set_cell(t, row, "latency_share",
		 cell_latency_share(sum->latency, m->all.latency, sum->all.n));
	if (covered == 0)
		return;
	if (m->has_limits) {
		set_cell(t, row, "time_low", elapsed_share_cell(time->low, covered));
		set_cell(t, row, "time_high", elapsed_share_cell(time->high, covered));
	}
	if (!time->is_told && !m->request->is_brief)
		return;
	set_cell(t, row, "time_share",
		 cell_marked(elapsed_share_cell(ns, covered),
			     time->is_sure ? MARK_EXACT : MARK_SPARSE));
	set_cell(t, row, "time_ns", cell_count(time->ns));
	set_cell(t, row, "ns_per_operation", cell_number(each));
	if (m->request->clock.hz > 0)
		set_cell(t, row, "cycles_per_operation",
			 cell_number(each * m->request->clock.hz / 1e9));
}

/* By upper limit, or where rows without close limits have a time, too, by that, descending; then by operations, then by name. */
static int compare_elapsed_rows(const void *left, const void *right, void *context)
{
	const struct making *m = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct row_time *x = &m->times[a], *y = &m->times[b];
	const struct tuples *rows = &m->e->plan->rows;
	uint64_t n_a = m->e->rows[a].all.operations, n_b = m->e->rows[b].all.operations;

	if (m->request->is_brief && x->ns != y->ns)
		return (x->ns < y->ns) - (x->ns > y->ns);
	if (x->high != y->high)
		return (x->high < y->high) - (x->high > y->high);
	if (n_a != n_b)
		return (n_a < n_b) - (n_a > n_b);
	return hot_words_compare(&m->g, tuples_get(rows, a), tuples_get(rows, b));
}

/* A row with few records and limits far apart is left out, unless all are asked for. */
static bool is_worth_a_row(const struct making *m, uint32_t number)
{
	return m->times[number].is_told || m->rest.covered_ns == 0 || m->request->top == 0 ||
	       m->e->rows[number].all.n >= SPARSE_BELOW;
}

/* Notes how much the rows tell, whose order is this, and the first of them that is told. */
static void note_told(struct making *m, const uint32_t *order)
{
	double covered = (double)m->rest.covered_ns;
	uint32_t n = m->e->plan->rows.n, i = 0;

	m->told.share = covered == 0 ? 0 : m->told_ns / covered;
	while (i < n &&
	       !(m->request->is_brief ? is_worth_a_row(m, order[i]) : m->times[order[i]].is_told))
		i++;
	if (i == n || covered == 0)
		return;
	m->told.has_first = true;
	m->told.is_first_told = m->times[order[i]].is_told;
	m->told.has_limits = m->has_limits;
	memcpy(m->told.first, tuples_get(&m->e->plan->rows, order[i]) + 1,
	       (m->e->plan->rows.width - 1) * sizeof(*m->told.first));
	m->told.first_share = (double)m->times[order[i]].ns / covered;
	m->told.first_low = m->times[order[i]].low / covered;
	m->told.first_high = m->times[order[i]].high / covered;
}

static void show_rows(struct making *m, struct table *t)
{
	uint32_t n = m->e->plan->rows.n;
	uint32_t *order = mem_alloc(n + 1, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n > 1)
		qsort_r(order, n, sizeof(*order), compare_elapsed_rows, m);
	note_told(m, order);
	for (uint32_t i = 0; i < n; i++)
		if (is_worth_a_row(m, order[i])) {
			show_row(m, order[i], t);
		} else {
			m->n_left_out++;
			m->most_left_out = fmax(m->most_left_out, m->times[order[i]].high);
		}
	free(order);
}

static void note_left_out(const struct making *m, struct table *t)
{
	if (m->n_left_out == 0)
		return;
	if (!m->has_limits) {
		table_note(t, "%" PRIu32 " more with fewer than %d records; --all shows %s",
			   m->n_left_out, SPARSE_BELOW, m->n_left_out == 1 ? "it" : "them");
		return;
	}
	table_note(t,
		   "%" PRIu32 " more with fewer than %d records, at most %.1f %%%s; --all shows %s",
		   m->n_left_out, SPARSE_BELOW, 100 * m->most_left_out / (double)m->rest.covered_ns,
		   m->n_left_out == 1 ? "" : " each", m->n_left_out == 1 ? "it" : "them");
}

/* Notes the time that is in no row, and why. */
static void note_rest(const struct making *m, struct table *t)
{
	double covered = (double)m->rest.covered_ns, span = (double)m->rest.span_ns;
	double waiting = (double)m->rest.waiting_ns;

	table_note(t, "100 %%: %s between successive records of a thread",
		   table_human(t, cell_count(m->rest.covered_ns), "ns"));
	if (m->rest.waiting_ns > 0)
		table_note(t, "excluded: %s in which a thread waited or was preempted",
			   table_human(t, cell_count(m->rest.waiting_ns), "ns"));
	if (span - covered - waiting > least_share * span)
		table_note(t, "excluded: %s between records of different threads or buffers",
			   table_human(t, cell_number(round(span - covered - waiting)), "ns"));
}

/* Has a row that is shown no time of its own, though others have? */
static bool has_gaps(const struct table *t, size_t top)
{
	size_t n = table_n_rows(t), n_told = 0, at = (size_t)table_column(t, "time_share");

	n = top > 0 && top < n ? top : n;
	for (size_t i = 0; i < n; i++)
		n_told += table_cell(t, i, at)->type != CELL_NONE;
	return n_told > 0 && n_told < n;
}

/* Time that is of no row: limits are far apart if the capture is short, or if rows alternate quickly. */
static void note_untold(const struct making *m, struct table *t)
{
	double untold = 1 - m->told_ns / (double)m->rest.covered_ns;
	bool is_short = m->has_code && unmet_ns(m) >= close_share * (double)m->rest.covered_ns;
	bool is_by_function = m->request->keys->keys[0] == KEY_FUNCTION;

	if (untold <= least_share)
		return;
	table_note(t, "%s%.1f %% of the run time cannot be assigned to one row. %s",
		   has_gaps(t, m->request->top) ? "-: " : "", 100 * untold,
		   is_short ? table_format(t,
					   "The capture is too short to separate these %s' run "
					   "time. Record longer, or sample more often.",
					   is_by_function ? "functions" : "rows")
			    : "The rows alternate too fast, or have too few samples.");
}

/* What limits and shares rest on. */
static void elapsed_note_basis(const struct making *m, const struct session *s, struct table *t)
{
	int event = capture_spe(s->capture)->event;
	const struct attr *a = event < 0 ? NULL : &capture_event(s->capture, (size_t)event)->attr;
	struct spe_interval longest = { .mean = m->range.longest };

	if (m->has_code)
		table_note(t,
			   "from, to: assume that no operation took longer than its latency, at "
			   "%.3g GHz%s",
			   m->hz / 1e9, m->request->clock.hz > 0 ? "" : " or more (--ghz)");
	if (m->has_code && spe_lacks_jitter(s->capture))
		table_note(t,
			   "no jitter: the limits are wrong for loops in step with the interval");
	if (!m->rest.has_switches)
		table_note(t, "no context switch records: waits below %s count as run time",
			   table_human(t, cell_count(spe_longest_gap_ns(&longest)), "ns"));
	if (a != NULL && attr_has(a, ATTR_EXCLUDE_KERNEL))
		table_note(t, "user code only: kernel time counts for the user code before it");
}

/* Has a share the sign that its limits are far apart? */
static bool has_unsure(const struct table *t)
{
	size_t at = (size_t)table_column(t, "time_share"), row = 0;

	while (row < table_n_rows(t) && table_cell(t, row, at)->mark == MARK_EXACT)
		row++;
	return row < table_n_rows(t);
}

/* What that sign means: the column has COLUMN_NOTED. */
static void note_unsure(const struct making *m, struct table *t)
{
	if (has_unsure(t))
		table_note(t, "?: %s",
			   m->has_limits ? "from, to are far apart: record longer, or sample more "
					   "often"
					 : "no limits of times: operations were filtered when it "
					   "was recorded");
}

/* What each column is of, and how far it is known. */
static void note_brief(const struct making *m, struct table *t)
{
	table_note(t,
		   "time: of %s between records of a thread%s; latency: of all sampled operations, "
		   "which overlap",
		   table_human(t, cell_count(m->rest.covered_ns), "ns"),
		   m->e->threads.n > 1 ? ", summed over threads" : "");
	if (!m->has_limits)
		note_unsure(m, t);
	else if (m->request->has_intervals)
		table_note(
			t,
			"from, to: whatever ran between records; time share, \xc2\xb1: if that is "
			"like them%s",
			has_unsure(t) ? "; ?: far apart" : "");
	else
		table_note(t, "from, to: limits, whatever ran between records%s",
			   has_unsure(t) ? "; ?: far apart: record longer, or sample more often"
					 : "");
}

static void make_notes(const struct making *m, const struct session *s, struct table *t)
{
	if (m->rest.covered_ns == 0) {
		table_note(t, "records have no timestamps (record with ts_enable=1)");
		return;
	}
	note_left_out(m, t);
	if (m->request->is_brief) {
		note_brief(m, t);
		return;
	}
	note_unsure(m, t);
	note_untold(m, t);
	note_rest(m, t);
	table_note(t, "times are summed over threads");
	elapsed_note_basis(m, s, t);
}

static int make_table(struct making *m, const struct session *s, struct table *out, struct err *err)
{
	int rc;

	elapsed_add_up(m);
	elapsed_start_table(m, out);
	show_rows(m, out);
	rc = table_sort_by(out, m->request->sort, 0, err);
	table_show_top(out, m->request->top);
	make_notes(m, s, out);
	free(m->times);
	return rc;
}

/* A table without rows, with the obstacle as its note. */
static void make_empty_table(const struct session *s, const struct making *m, const char *obstacle,
			     struct table *out)
{
	elapsed_start_table(m, out);
	if (!note_without_spe(s, out))
		table_note(out, "no run time: %s", obstacle);
}

struct elapsed_answer {
	struct session *session;
	const struct hot *hot;
	const struct names *names;
	const struct elapsed_request *request;
	const char *obstacle; /* NULL: there is none */
	struct elapsed_plan *plan;
	struct analysis analysis;
};

struct elapsed_answer *elapsed_answer_new(struct session *s, const struct select *select,
					  const struct hot *hot, const struct names *names,
					  const struct elapsed_request *request,
					  struct shared_scan *scan)
{
	const struct scan_wish wish = { .keeps_places = true };
	struct elapsed_answer *a = mem_zalloc(1, sizeof(*a));

	a->session = s;
	a->hot = hot;
	a->names = names;
	a->request = request;
	a->obstacle = elapsed_obstacle(s, select, request->is_brief);
	if (a->obstacle != NULL)
		return a;
	a->plan = elapsed_plan_new(s, hot, names, request->keys);
	a->analysis = (struct analysis){ .class = &elapsed_class, .options = a->plan };
	shared_scan_add(scan, &a->analysis, &wish);
	return a;
}

static bool elapsed_has_code(const struct keys *keys)
{
	bool has = false;

	for (size_t i = 0; i < keys->n; i++)
		has |= key_classes[keys->keys[i]].is_code;
	return has;
}

int elapsed_answer_table(struct elapsed_answer *a, struct table *out, struct elapsed_told *out_told,
			 struct err *err)
{
	const struct hot_view view = { .keys = *a->request->keys };
	struct making m = {
		.e = a->analysis.result,
		.request = a->request,
		.range = spe_interval_range(a->session),
		.hz = a->request->clock.hz > 0 ? a->request->clock.hz : slow_hz,
		.has_code = elapsed_has_code(a->request->keys),
		.has_limits = spe_filters_obstacle(a->session, NULL) == NULL,
		.g = { .hot = a->hot, .view = &view, .names = a->names },
	};
	int rc = 0;

	m.range.lost = (struct lost_samples){ 0 }; /* time is bounded by the records around it */
	if (a->obstacle != NULL)
		make_empty_table(a->session, &m, a->obstacle, out);
	else
		rc = make_table(&m, a->session, out, err);
	if (out_told != NULL)
		*out_told = m.told;
	return rc;
}

void elapsed_answer_free(struct elapsed_answer *a)
{
	if (a == NULL)
		return;
	elapsed_class.free(a->analysis.result);
	elapsed_plan_free(a->plan);
	free(a);
}

int elapsed_table(struct session *s, const struct select *select, const struct hot *hot,
		  const struct names *names, const struct elapsed_request *request,
		  struct table *out, struct elapsed_told *out_told, struct err *err)
{
	struct shared_scan scan = { 0 };
	struct elapsed_answer *answer = elapsed_answer_new(s, select, hot, names, request, &scan);
	int rc;

	shared_scan_run(s, NULL, &scan);
	rc = elapsed_answer_table(answer, out, out_told, err);
	elapsed_answer_free(answer);
	return rc;
}
