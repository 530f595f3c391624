/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/query.h"

#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "estimate/latency.h"
#include "table/answer.h"

const char *const dataset_table_names[N_DATASET_TABLES] = {
	[DATASET_CAPTURES] = "captures", [DATASET_SAMPLES] = "samples",
	[DATASET_SYMBOLS] = "symbols",	 [DATASET_SHARED_LINES] = "shared_lines",
	[DATASET_COUNTS] = "counts",
};

enum {
	OF_SAMPLES = 1u << DATASET_CAPTURES | 1u << DATASET_SAMPLES | 1u << DATASET_SYMBOLS,
};

#define EVENT                                                                                      \
	{                                                                                          \
		"event", NULL, "", CELL_TEXT, COLUMN_GROW,                                         \
			"event that was sampled; spe: SPE records"                                 \
	}
#define FUNCTION                                                                                   \
	{                                                                                          \
		"function", NULL, "", CELL_TEXT, COLUMN_GROW, "function, demangled"                \
	}
#define MODULE                                                                                     \
	{                                                                                          \
		"module", NULL, "", CELL_TEXT, COLUMN_GROW, "file that the code is in"             \
	}
#define MACHINE                                                                                    \
	{                                                                                          \
		"machine", NULL, "", CELL_TEXT, COLUMN_GROW, "type of machine: its CPU"            \
	}
#define SHARE(name, title, meaning)                                                                \
	{                                                                                          \
		name, title, "", CELL_NUMBER, COLUMN_SHARE, meaning                                \
	}
#define AMOUNT(name, title, unit, meaning)                                                         \
	{                                                                                          \
		name, title, unit, CELL_COUNT, 0, meaning                                          \
	}
#define LATENCY(name, meaning)                                                                     \
	{                                                                                          \
		name, NULL, "cycles", CELL_COUNT, COLUMN_TRUST, meaning                            \
	}
#define WEIGHT(flags)                                                                              \
	{                                                                                          \
		"weight", NULL, "weight", CELL_COUNT, flags,                                       \
			"sum of the periods of samples: cycles, nanoseconds of a clock, events; "  \
			"of the total latency of SPE records: cycles by the sampling interval"     \
	}
#define WORD(name, meaning)                                                                        \
	{                                                                                          \
		name, NULL, "", CELL_TEXT, COLUMN_GROW, meaning                                    \
	}

static const struct column top_columns[] = {
	EVENT,
	FUNCTION,
	MODULE,
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR, "part of the event's weight" },
	SHARE("share_error", "±", "half of the 95 % interval of the share, from how hosts differ"),
	WEIGHT(COLUMN_TRUST),
	AMOUNT("records", NULL, "records", "samples or SPE records"),
	AMOUNT("hosts", NULL, "hosts", "hosts that have it"),
	{ "saturated", NULL, "records", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "of which are SPE records whose latency counter was full" },
};

static const struct column changed_columns[] = {
	EVENT,
	FUNCTION,
	MODULE,
	SHARE("share_from", "from", "part of the weight before"),
	SHARE("share_to", "to", "part of the weight behind"),
	SHARE("change", NULL, "difference of the two"),
	SHARE("change_error", "±",
	      "half of the 95 % interval of the change, from how hosts differ"),
	{ "significant", NULL, "", CELL_BOOL, 0,
	  "is it significant (99 %), for all functions of the event together? Absent: too few "
	  "hosts" },
	AMOUNT("records_from", "records from", "records", "samples or SPE records before"),
	AMOUNT("records_to", "records to", "records", "samples or SPE records behind"),
};

static const struct column hosts_columns[] = {
	EVENT,
	WORD("host", "name of the host"),
	MACHINE,
	FUNCTION,
	MODULE,
	SHARE("share", NULL, "part of the host's weight that the function is"),
	SHARE("peers_share", "peers", "its mean on all other hosts of this type"),
	{ "deviations", NULL, "", CELL_NUMBER, 0,
	  "by how many standard deviations of these the host differs" },
	AMOUNT("peers", "peers", "hosts", "how many other hosts there are"),
};

static const struct column sharing_columns[] = {
	WORD("object", "the contended data; absent: it has no name"),
	WORD("member", "the member that is contended most"),
	SHARE("share", NULL,
	      "cost as part of the latency of all sampled loads; latency counts from issue, or "
	      "from dispatch where issue was not recorded"),
	SHARE("share_error", "±", "half of the 95 % interval of the share, from how hosts differ"),
	{ "cost_cycles", "cost", "cycles", CELL_COUNT, COLUMN_TRUST,
	  "latency of contended loads and reloads above a local hit, scaled by the sampling "
	  "interval; loads overlap, so this is an upper limit of the lost time" },
	WORD("writer", "the function that writes to it most"),
	WORD("reader", "the function that waits for it most"),
	AMOUNT("hosts", NULL, "hosts", "hosts that have it"),
	AMOUNT("captures", NULL, "captures", "captures that have it"),
	AMOUNT("peer", NULL, "loads", "loads that another core's cache answered"),
	AMOUNT("hitm", "HITM", "loads", "loads that found the line modified there"),
	WORD("verdict", "false-sharing, true-sharing or unknown"),
	WORD("type", "its type"),
	WORD("module", "file of the code that writes to it, else of that which reads it"),
	AMOUNT("records", NULL, "records", "records of its lines"),
	AMOUNT("loads", NULL, "loads", "of which are loads"),
	AMOUNT("stores", NULL, "stores", "of which are stores"),
	AMOUNT("atomics", NULL, "atomics", "of which are atomics"),
	AMOUNT("saturated", NULL, "loads", "contended loads whose latency counter was full"),
};

static const struct column latency_columns[] = {
	MACHINE,
	WORD("operation", "kind of operation"),
	WORD("source", "data source in the CPU's words"),
	AMOUNT("records", NULL, "records", "SPE records with a latency"),
	LATENCY("p50", "latency that half of them do not exceed"),
	LATENCY("p90", "latency that 90 % of them do not exceed"),
	LATENCY("p99", "latency that 99 % of them do not exceed"),
	LATENCY("most", "the largest latency"),
	AMOUNT("saturated_records", "saturated", "records", "whose latency counter was full"),
};

static const struct column history_columns[] = {
	EVENT,
	WORD("day", "day of the captures, UTC"),
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR,
	  "part of the event's weight on that day" },
	SHARE("share_error", "±", "half of the 95 % interval of the share, from how hosts differ"),
	WEIGHT(0),
	AMOUNT("records", NULL, "records", "samples or SPE records of the function"),
	AMOUNT("hosts", NULL, "hosts", "hosts with captures of the event on that day"),
};

#define RATE(name, title, unit, meaning)                                                           \
	{                                                                                          \
		name, title, unit, CELL_NUMBER, COLUMN_BLANK, meaning                              \
	}

static const struct column counts_columns[] = {
	MACHINE,
	{ "host", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_BLANK, "--by host: name of the host" },
	{ "day", NULL, "", CELL_TEXT, COLUMN_BLANK, "--by day: day of the captures, UTC" },
	WORD("event", "event that was counted"),
	{ "events", NULL, "events", CELL_NUMBER, COLUMN_TRUST,
	  "what it counted, extrapolated where a counter did not run all the time" },
	RATE("ipc", "IPC", "",
	     "of instructions: how many per cycle, where cycles were counted in the same capture"),
	RATE("ipc_error", "±", "", "half of the 95 % interval of that, from how hosts differ"),
	RATE("pki", "PKI", "",
	     "of others: events per 1000 instructions, where these were counted in the same "
	     "capture"),
	RATE("pki_error", "±", "", "half of the 95 % interval of that, from how hosts differ"),
	RATE("per_cycle", "per cycle", "",
	     "of others: events per cycle, where cycles were counted in the same capture"),
	RATE("per_cycle_error", "±", "",
	     "half of the 95 % interval of that, from how hosts differ"),
	SHARE("running", NULL, "part of the time that the event was on a counter"),
	AMOUNT("hosts", NULL, "hosts", "hosts that counted it"),
	AMOUNT("captures", NULL, "captures", "captures that counted it"),
};

static const struct column coverage_columns[] = {
	WORD("day", "day of the captures, UTC"),
	MACHINE,
	AMOUNT("hosts", NULL, "hosts", "hosts with captures"),
	AMOUNT("captures", NULL, "captures", "captures that count"),
	AMOUNT("sampled_ns", "sampled", "ns", "time that the captures took, together"),
	SHARE("sampled_share", "share", "that time by the day of these hosts"),
	AMOUNT("records", NULL, "records", "samples and SPE records"),
	AMOUNT("lost", NULL, "records", "records that were lost, as far as the captures say"),
	AMOUNT("captures_with_losses", "with losses", "captures",
	       "captures that lost records or cut buffers short"),
	AMOUNT("captures_damaged", "damaged", "captures",
	       "captures of which a part could not be read"),
	AMOUNT("captures_modelled", "modelled", "captures", "captures that are simulated"),
	AMOUNT("days_of_file", "day of file", "captures",
	       "captures without a wall clock: the day is that on which the file was written"),
	AMOUNT("twice", NULL, "captures",
	       "collections that do not count: their capture does already"),
	AMOUNT("oldest_schema", "oldest schema", "", "lowest version of the tables"),
	AMOUNT("newest_schema", "newest schema", "", "highest version of the tables"),
};

static const struct cell *cell_of(const struct table *t, size_t row, const char *column)
{
	return table_cell(t, row, (size_t)table_column(t, column));
}

static const struct cell *first_cell(const struct table *t, const char *column)
{
	return cell_of(t, 0, column);
}

static const char *text_of(const struct table *t, size_t row, const char *column)
{
	const struct cell *cell = cell_of(t, row, column);

	return cell->type == CELL_TEXT ? cell->text : "[unknown]";
}

static const char *first_text(const struct table *t, const char *column)
{
	return text_of(t, 0, column);
}

/* What shares of the first row's event are of. */
static const char *whole_words(const struct table *t)
{
	const char *event = first_text(t, "event");

	return strcmp(event, "spe") == 0 ? "the latency of SPE records" : event;
}

/* "12.3 % ± 0.4", or without the error where it is not known. */
static const char *share_words(const struct table *t, const char *share, const char *error,
			       struct table *answer)
{
	const struct cell *value = first_cell(t, share), *half = first_cell(t, error);

	if (half->type != CELL_NUMBER)
		return table_format(answer, "%.1f %%", 100 * value->number);
	return table_format(answer, "%.1f %% ± %.1f", 100 * value->number, 100 * half->number);
}

static void say_top(const struct table *t, struct table *answer)
{
	answer_say(answer, "%s (%s) has most of %s: %s.", first_text(t, "function"),
		   first_text(t, "module"), whole_words(t),
		   share_words(t, "share", "share_error", answer));
}

static void say_changed(const struct table *t, struct table *answer)
{
	const struct cell *significant = first_cell(t, "significant");

	answer_say(answer, "The largest change of %s is %s: %+.1f points, %s.",
		   first_text(t, "event"), first_text(t, "function"),
		   100 * first_cell(t, "change")->number,
		   significant->type != CELL_BOOL ? "of too few hosts to judge"
		   : significant->count		  ? "which is significant (99 %)"
						  : "which is not significant (99 %)");
}

static void say_hosts(const struct table *t, struct table *answer)
{
	answer_say(
		answer,
		"%s differs most from its peers: %s is %.1f %% of its %s, and %.1f %% of theirs.",
		first_text(t, "host"), first_text(t, "function"),
		100 * first_cell(t, "share")->number, first_text(t, "event"),
		100 * first_cell(t, "peers_share")->number);
}

static void say_sharing(const struct table *t, struct table *answer)
{
	const char *cost = share_words(t, "share", "share_error", answer);

	if (first_cell(t, "object")->type == CELL_TEXT)
		answer_say(answer, "%s in %s costs most: %s of load latency.",
			   strcmp(first_text(t, "verdict"), "false-sharing") == 0 ? "False sharing"
										  : "Contention",
			   first_text(t, "object"), cost);
	else
		answer_say(answer,
			   "Data without a name costs most, written by %s and read by %s: %s of "
			   "load latency.",
			   first_text(t, "writer"), first_text(t, "reader"), cost);
}

/* The latency of a function whose counters were full is a lower bound. */
static void mark_weights(struct table *t)
{
	const size_t weight = (size_t)table_column(t, "weight");
	const size_t full = (size_t)table_column(t, "saturated");

	for (size_t row = 0; row < table_n_rows(t); row++) {
		struct cell *cells = &t->cells.items[row * t->n_columns];

		if (cells[full].count > 0)
			cells[weight] = cell_marked(cells[weight], MARK_SATURATED);
	}
}

/* Costs are of samples; where counters were full they are lower bounds. */
static void mark_costs(struct table *t)
{
	const size_t cost = (size_t)table_column(t, "cost_cycles");
	const size_t full = (size_t)table_column(t, "saturated");

	for (size_t row = 0; row < table_n_rows(t); row++) {
		struct cell *cells = &t->cells.items[row * t->n_columns];

		cells[cost] = cell_marked(cells[cost],
					  cells[full].count > 0 ? MARK_SATURATED : MARK_SCALED);
	}
}

/* Counters that ran a part of the time are extrapolated. */
static void mark_counts(struct table *t)
{
	const size_t events = (size_t)table_column(t, "events");
	const size_t running = (size_t)table_column(t, "running");

	for (size_t row = 0; row < table_n_rows(t); row++) {
		struct cell *cells = &t->cells.items[row * t->n_columns];

		if (cells[events].type == CELL_NUMBER && cells[running].type == CELL_NUMBER &&
		    cells[running].number < 1)
			cells[events] = cell_marked(cells[events], MARK_SCALED);
	}
}

static void say_history(const struct table *t, struct table *answer)
{
	answer_say(answer, "%s of %s on %s.", share_words(t, "share", "share_error", answer),
		   whole_words(t), first_text(t, "day"));
}

/* "3 085 cycles", or ">= 4 095 cycles" of a full counter. */
static const char *latency_words(const struct table *t, size_t row, const char *column,
				 struct table *answer)
{
	uint64_t cycles = cell_of(t, row, column)->count;
	char digits[GROUPED_BYTES];

	return table_format(answer, "%s%s cycles", latency_is_full(cycles) ? "\xe2\x89\xa5 " : "",
			    grouped_u64(cycles, digits));
}

/*
 * Of the accesses with a data source, else of all operations, those that take longest. Of a few records more than
 * their median says little.
 */
static void say_latency(const struct table *t, struct table *answer)
{
	enum { LEAST = 30 };
	uint64_t n_machine = 0;
	size_t best = 0;
	char digits[GROUPED_BYTES], all[GROUPED_BYTES];

	for (size_t row = 1; row < table_n_rows(t); row++) {
		bool has_source = cell_of(t, row, "source")->type == CELL_TEXT;
		bool best_has = cell_of(t, best, "source")->type == CELL_TEXT;
		bool is_enough = cell_of(t, row, "records")->count >= LEAST;
		bool best_is = cell_of(t, best, "records")->count >= LEAST;

		if (is_enough != best_is ? is_enough
		    : has_source != best_has
			    ? has_source
			    : cell_of(t, row, "p50")->count > cell_of(t, best, "p50")->count)
			best = row;
	}
	for (size_t row = 0; row < table_n_rows(t); row++)
		if (strcmp(text_of(t, row, "machine"), text_of(t, best, "machine")) == 0)
			n_machine += cell_of(t, row, "records")->count;
	answer_say(answer,
		   "%s%s%s on %s takes longest: median %s, 99th percentile %s, %s of %s records.",
		   text_of(t, best, "operation"),
		   cell_of(t, best, "source")->type == CELL_TEXT ? " from " : "",
		   cell_of(t, best, "source")->type == CELL_TEXT ? text_of(t, best, "source") : "",
		   text_of(t, best, "machine"), latency_words(t, best, "p50", answer),
		   latency_words(t, best, "p99", answer),
		   grouped_u64(cell_of(t, best, "records")->count, digits),
		   grouped_u64(n_machine, all));
}

/* The machine of a row, or its host or day where these divide the rows. */
static const char *counted_words(const struct table *t, size_t row, struct table *answer)
{
	const char *machine = text_of(t, row, "machine");

	if (cell_of(t, row, "host")->type == CELL_TEXT)
		return table_format(answer, "on %s (%s)", text_of(t, row, "host"), machine);
	if (cell_of(t, row, "day")->type == CELL_TEXT)
		return table_format(answer, "on %s (%s)", text_of(t, row, "day"), machine);
	return table_format(answer, "on %s", machine);
}

static const char *ipc_words(const struct table *t, size_t row, struct table *answer)
{
	const struct cell *half = cell_of(t, row, "ipc_error");
	const char *error = half->type == CELL_NUMBER
				    ? table_format(answer, " \xc2\xb1 %.2f", half->number)
				    : "";

	return table_format(answer, "%.2f%s %s", cell_of(t, row, "ipc")->number, error,
			    counted_words(t, row, answer));
}

static void say_counts(const struct table *t, struct table *answer)
{
	const size_t none = SIZE_MAX;
	size_t least = none, most = none;

	for (size_t row = 0; row < table_n_rows(t); row++) {
		const struct cell *ipc = cell_of(t, row, "ipc");

		if (ipc->type != CELL_NUMBER)
			continue;
		if (least == none || ipc->number < cell_of(t, least, "ipc")->number)
			least = row;
		if (most == none || ipc->number > cell_of(t, most, "ipc")->number)
			most = row;
	}
	if (least == none)
		answer_say(answer, "No IPC is known: no capture counted cycles and instructions.");
	else if (least == most)
		answer_say(answer, "IPC is %s.", ipc_words(t, least, answer));
	else
		answer_say(answer, "IPC is lowest %s, highest %s.",
			   table_format(answer, "at %s", ipc_words(t, least, answer)),
			   table_format(answer, "at %s", ipc_words(t, most, answer)));
}

/* Which day tells least. */
static void say_coverage(const struct table *t, struct table *answer)
{
	const struct cell *share;
	const char *part;
	size_t least = 0;

	for (size_t row = 1; row < table_n_rows(t); row++)
		if (cell_of(t, row, "sampled_ns")->count < cell_of(t, least, "sampled_ns")->count)
			least = row;
	share = cell_of(t, least, "sampled_share");
	part = share->type != CELL_NUMBER ? "an unknown part"
	       : share->number < 0.001	  ? "less than 0.1 %"
					  : table_format(answer, "%.1f %%", 100 * share->number);
	answer_say(answer, "%s on %s (%s): %s, %s of the day of its host%s.",
		   table_n_rows(t) == 1 ? "Sampled" : "Least was sampled", text_of(t, least, "day"),
		   text_of(t, least, "machine"),
		   table_human(answer, *cell_of(t, least, "sampled_ns"), "ns"), part,
		   plural(cell_of(t, least, "hosts")->count));
}

/* Latencies by counters that were full are lower bounds. */
static void mark_latencies(struct table *t)
{
	for (size_t i = 0; i < t->cells.n; i++) {
		struct cell *cell = &t->cells.items[i];

		if (t->columns[i % t->n_columns].flags & COLUMN_TRUST &&
		    latency_is_full(cell->count))
			*cell = cell_marked(*cell, MARK_SATURATED);
	}
}

const struct fleet_query fleet_queries[] = {
	{ .name = "top",
	  .tables = OF_SAMPLES,
	  .columns = top_columns,
	  .n_columns = COUNT(top_columns),
	  .none = "no records of this event",
	  .say = say_top,
	  .mark = mark_weights },
	{ .name = "changed",
	  .tables = OF_SAMPLES,
	  .needs_sides = true,
	  .columns = changed_columns,
	  .n_columns = COUNT(changed_columns),
	  .none = "no event has records both --from and --to",
	  .say = say_changed },
	{ .name = "hosts",
	  .tables = OF_SAMPLES,
	  .columns = hosts_columns,
	  .n_columns = COUNT(hosts_columns),
	  .say = say_hosts },
	{ .name = "sharing",
	  .tables = 1u << DATASET_CAPTURES | 1u << DATASET_SHARED_LINES,
	  .columns = sharing_columns,
	  .n_columns = COUNT(sharing_columns),
	  .say = say_sharing,
	  .mark = mark_costs },
	{ .name = "latency",
	  .tables = 1u << DATASET_CAPTURES | 1u << DATASET_SAMPLES,
	  .columns = latency_columns,
	  .n_columns = COUNT(latency_columns),
	  .none = "no SPE records with a latency",
	  .is_cut_here = true,
	  .say = say_latency,
	  .mark = mark_latencies },
	{ .name = "history",
	  .tables = OF_SAMPLES,
	  .needs_function = true,
	  .columns = history_columns,
	  .n_columns = COUNT(history_columns),
	  .none = "no records are in this function",
	  .is_cut_here = true,
	  .say = say_history },
	{ .name = "counts",
	  .tables = 1u << DATASET_CAPTURES | 1u << DATASET_COUNTS,
	  .columns = counts_columns,
	  .n_columns = COUNT(counts_columns),
	  .none = "no counts of this event",
	  .is_cut_here = true,
	  .say = say_counts,
	  .mark = mark_counts },
	{ .name = "coverage",
	  .tables = 1u << DATASET_CAPTURES,
	  .columns = coverage_columns,
	  .n_columns = COUNT(coverage_columns),
	  .is_cut_here = true,
	  .say = say_coverage },
	{ .name = NULL },
};

static const char *query_name_at(const void *context, size_t i)
{
	(void)context;
	return fleet_queries[i].name;
}

const struct fleet_query *fleet_query_find(const char *name, struct err *err)
{
	char names[128];

	for (const struct fleet_query *q = fleet_queries; q->name != NULL; q++)
		if (strcmp(q->name, name) == 0)
			return q;
	err_set(err, ERR_USAGE, ERR_NOWHERE, "there is no question '%s'; there are %s", name,
		list_words(query_name_at, NULL, names, sizeof(names)));
	return NULL;
}

int fleet_query_check(const struct fleet_query *q, const struct fleet_scope *scope, struct err *err)
{
	if (q->needs_function && scope->function == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "%s: give --function NAME", q->name);
	if (q->needs_sides && (scope->from == NULL || scope->to == NULL))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "%s: give --from and --to, each a day or a build-id", q->name);
	if (scope->by != NULL && strcmp(scope->by, "host") != 0 && strcmp(scope->by, "day") != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--by: found '%s', wanted host or day, of counts", scope->by);
	return 0;
}
