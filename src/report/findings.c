/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: what stands out, how big, where, what to try. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "access/chase.h"
#include "base/alloc.h"
#include "findings/finding_table.h"
#include "hot/functions.h"
#include "report/finding_kinds.h"
#include "report/report.h"
#include "session/tip.h"

enum {
	SHOWN = 5,	    /* findings */
	LEAST_SAMPLES = 30, /* with fewer, nothing is said of a function */
};

/* A finding, before it is put into words. */
struct finding {
	const struct finding_kind *kind;
	const struct hot_function *function;
	struct extent extent;
};

/* What looks for findings and words them. */
struct finder {
	const struct hot *hot;
	const struct session *session;
	const struct names *names;
	struct hot_functions functions;
	struct table *table;
	VEC_OF(struct finding) found;
	const struct finding *shown[SHOWN];
	size_t n_shown;
};

static const char *event_words(const struct finder *d, uint64_t event)
{
	return hot_is_spe(d->hot, event) ? "latency cycles"
					 : capture_event_name(d->session->capture, event);
}

/* Everything but its name, which costs memory. */
static struct subject subject_of(const struct finder *d, const struct hot_function *f)
{
	const struct hot_cost *all = &d->functions.totals[f->event];

	return (struct subject){
		.f = f,
		.all = all,
		.is_spe = hot_is_spe(d->hot, f->event),
		.has_name = d->names->symbols[f->places[0]].function.v != 0,
		.share = ratio(f->weight, hot_event_weight(d->hot, f->event, all)),
		.event = event_words(d, f->event),
	};
}

static void look_at(struct finder *d, const struct hot_function *f)
{
	struct subject subject = subject_of(d, f);
	bool has_special = false;

	if (f->cost.n < LEAST_SAMPLES)
		return;
	for (size_t i = 0; i < n_finding_kinds; i++) {
		const struct finding_kind *kind = &finding_kinds[i];
		struct extent extent = kind->extent(&subject);

		if (extent.n == 0 || extent.share < kind->least_share ||
		    (kind->is_general && has_special))
			continue;
		*vec_add(&d->found) = (struct finding){ kind, f, extent };
		has_special = true;
	}
}

static int compare_counts(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Largest first; the rest only makes the order the same for any numbering of functions. */
static int compare_findings(const void *left, const void *right, void *context)
{
	const struct finder *d = context;
	const struct finding *a = left, *b = right;
	const struct hot_function *f = a->function, *g = b->function;

	if (a->extent.share != b->extent.share)
		return (a->extent.share < b->extent.share) - (a->extent.share > b->extent.share);
	if (f->cost.n != g->cost.n)
		return compare_counts(g->cost.n, f->cost.n);
	if (f->event != g->event)
		return compare_counts(f->event, g->event);
	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	return hot_place_is_before(d->session, g->places[0], f->places[0]) -
	       hot_place_is_before(d->session, f->places[0], g->places[0]);
}

static const char *place_text(const struct finder *d, uint32_t place)
{
	struct text text = { 0 };
	const char *file, *result;
	uint32_t line;

	names_place(d->names, place, &text);
	if (names_line(d->names, place, &file, &line))
		text_format(&text, "  %s:%" PRIu32, path_base(file), line);
	text_char(&text, '\0');
	result = table_text(d->table, text.bytes);
	text_release(&text);
	return result;
}

/* The function, or what it lies in where functions have no names. */
static const char *name_of(const struct finder *d, uint32_t place)
{
	struct module_id module = session_place(d->session, place).module;

	if (d->names->symbols[place].function.v != 0)
		return names_function(d->names, place);
	if (module.v == 0)
		return "code outside all known files";
	return table_format(d->table, "code in %s", names_module(d->session, module));
}

/*
 * Half the width of the 95 % interval of a share: what `n` samples gave, against what the
 * others gave. How many there are is chance, and what each weighs.
 */
static double error_of(const struct extent *e)
{
	double rest = (double)(e->n_all - e->n);

	if (e->n >= e->n_all || e->share >= 1)
		return 0;
	return 1.96 * e->share * (1 - e->share) *
	       sqrt(e->spread / (double)e->n + e->rest_spread / rest);
}

/* "393 291 of 473 661 latency cycles", or times: "55.0 ms of 160.0 ms". */
static const char *weight_text(const struct finder *d, const struct subject *s)
{
	struct cell mine = cell_count(s->f->weight);
	struct cell all = cell_count(hot_event_weight(d->hot, s->f->event, s->all));

	if (hot_event_is_time(d->hot, s->f->event))
		return table_format(d->table, "%s of %s", table_human(d->table, mine, "ns"),
				    table_human(d->table, all, "ns"));
	return table_format(d->table, "%s %s", table_human(d->table, mine, "of"),
			    table_human(d->table, all, s->event));
}

/* What the function has, where the finding is not about all of it. */
static const char *evidence_text(const struct finder *d, const struct subject *s,
				 const struct extent *e)
{
	const char *weight = weight_text(d, s);

	if (e->n == s->f->cost.n)
		return weight;
	return table_format(d->table, "the function has %.1f %%: %s", 100 * s->share, weight);
}

/* What the interval does not know of. */
static const char *full_text(const struct finder *d, const struct finding *found)
{
	const struct hot_cost *all = &d->functions.totals[found->function->event];

	if (found->extent.mark == MARK_EXACT)
		return "";
	return table_format(d->table,
			    "; full counters hold %.1f %% of all cycles, and stand for more",
			    100 * ratio(all->full, all->cycles));
}

static const char *sure_text(const struct finder *d, const struct finding *found)
{
	const struct extent *e = &found->extent;
	const char *whole = found->kind->whole != NULL ? found->kind->whole : "samples";

	bool may_beat =
		hot_is_spe(d->hot, found->function->event) && spe_lacks_jitter(d->session->capture);

	return table_format(d->table, "%s %s, \xc2\xb1 %.1f %% with 95 %% confidence%s%s",
			    table_human(d->table, cell_count(e->n), "of"),
			    table_human(d->table, cell_count(e->n_all), whole), 100 * error_of(e),
			    may_beat ? " if no code is in step with the interval (no jitter)" : "",
			    full_text(d, found));
}

/* What would give names to the code of this place, or NULL. */
static const char *remedy_for_names(const struct finder *d, uint32_t place)
{
	struct module_id module = session_place(d->session, place).module;
	size_t n = symbols_n_missing(d->session->symbols);

	for (size_t i = 0; i < n; i++) {
		const struct symbols_missing *m = symbols_missing_at(d->session->symbols, i);

		if (m->module.v == module.v && m->remedy[0] != '\0')
			return table_text(d->table, m->remedy);
	}
	return NULL;
}

static bool is_unnamed(const struct finding_kind *kind)
{
	return kind->remedy == NULL && kind->command == NULL;
}

/* Code without names is one thing to do, however many events found it. */
static bool is_shown(const struct finder *d, const struct finding *found)
{
	struct place place = session_place(d->session, found->function->places[0]);

	if (!is_unnamed(found->kind))
		return false;
	for (size_t i = 0; i < d->n_shown; i++) {
		const struct finding *other = d->shown[i];
		struct place its_place = session_place(d->session, other->function->places[0]);

		if (other->kind == found->kind && its_place.module.v == place.module.v)
			return true;
	}
	return false;
}

/*
 * What helps where each address is loaded by the load before: no prefetch knows it earlier, so
 * the other ways to have less, or more at once, of that.
 */
static const char *remedy_for_chase(const struct finder *d, const struct hot_function *f)
{
	enum { MANY = 10 }; /* per cent */
	double walks = 100 * ratio(f->cost.n_walks, f->cost.n);
	const char *text =
		"each address comes out of the load before: keep nodes that follow each other "
		"together (pool, array, wider nodes), follow several chains at once, split hot "
		"members from cold";

	if (walks < MANY)
		return text;
	return table_format(d->table,
			    "%s; huge pages (madvise, hugetlbfs): %.0f %% of its operations walk "
			    "the page tables",
			    text, walks);
}

static bool is_chase(const struct finder *d, const struct finding *found)
{
	return found->kind->may_chase && hot_is_spe(d->hot, found->function->event) &&
	       chase_at(d->session, found->function->places[found->kind->aspect]);
}

static void put_advice(const struct finder *d, const struct finding *found, struct cell *row)
{
	const struct finding_kind *kind = found->kind;
	const char *remedy = kind->remedy;
	const char *command = kind->command;

	if (is_unnamed(kind)) {
		remedy = remedy_for_names(d, found->function->places[0]);
		command = remedy == NULL ? "hot --by instruction" : NULL;
	}
	if (is_chase(d, found))
		remedy = remedy_for_chase(d, found->function);
	if (remedy != NULL)
		row[FINDING_TRY] = cell_text(remedy);
	if (command != NULL)
		row[FINDING_NEXT] = cell_text(tip(d->table, d->session, command));
}

static void put_finding(const struct finder *d, const struct finding *found)
{
	const struct finding_kind *kind = found->kind;
	struct subject s = subject_of(d, found->function);
	uint32_t place = s.f->places[kind->aspect];
	double share = found->extent.share;
	struct cell *row = table_add_row(d->table);

	s.name = name_of(d, s.f->places[0]);
	row[FINDING_CLAIM] = cell_text(kind->claim(d->table, &s));
	row[FINDING_SIZE] =
		cell_marked(cell_text(table_format(d->table, "%.1f %% of %s", 100 * share,
						   kind->whole != NULL ? kind->whole : s.event)),
			    found->extent.mark);
	row[FINDING_EVIDENCE] = cell_text(evidence_text(d, &s, &found->extent));
	row[FINDING_WHERE] = cell_text(place_text(d, place));
	put_advice(d, found, row);
	row[FINDING_SURE] = cell_text(sure_text(d, found));
	row[FINDING_KIND] = cell_text(kind->name);
	row[FINDING_SHARE] = cell_marked(cell_number(share), found->extent.mark);
	row[FINDING_FUNCTION] = cell_text(table_text(d->table, names_function(d->names, place)));
	row[FINDING_MODULE] = cell_text(table_text(
		d->table, names_module(d->session, session_place(d->session, place).module)));
}

/* Says why there is no finding: nothing stands out, or nothing could. */
static void note_nothing(const struct finder *d, struct table *out)
{
	uint64_t most = 0;

	for (uint64_t event = 0; event < hot_event_end(d->hot); event++)
		if (d->functions.totals[event].n > most)
			most = d->functions.totals[event].n;
	if (most < LEAST_SAMPLES)
		table_note(out,
			   "too few samples to tell (%" PRIu64 " of an event, at least %d wanted): "
			   "a longer run, or a shorter interval",
			   most, LEAST_SAMPLES);
	else
		table_note(out, "no bottleneck found: nothing stands out above the thresholds");
}

void findings_table(const struct hot *hot, const struct names *names, struct table *out)
{
	struct finder d = {
		.hot = hot,
		.session = hot->session,
		.names = names,
		.table = out,
	};

	finding_table_init(out);
	hot_functions_init(&d.functions, hot, names);
	for (size_t i = 0; i < d.functions.list.n; i++)
		look_at(&d, &d.functions.list.items[i]);
	if (d.found.n > 1)
		qsort_r(d.found.items, d.found.n, sizeof(*d.found.items), compare_findings, &d);
	for (size_t i = 0; i < d.found.n && d.n_shown < SHOWN; i++) {
		const struct finding *found = &d.found.items[i];

		if (is_shown(&d, found))
			continue;
		put_finding(&d, found);
		d.shown[d.n_shown++] = found;
	}
	if (d.found.n == 0)
		note_nothing(&d, out);
	vec_release(&d.found);
	hot_functions_release(&d.functions);
}
