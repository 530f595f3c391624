/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/spe_filters.h"

#include <inttypes.h>
#include <string.h>

#include "access/kind.h"
#include "base/alloc.h"
#include "scan/lost_samples.h"
#include "spe/names.h"
#include "spe/packet.h"

enum { BRANCHES = 32, LOADS = 33, STORES = 34, FIRST_MASK = 36, LAST_KIND = 42 };

/*
 * Bits of the SPE event's config that choose operations: those of any chosen kind. A kind with its mask bit
 * is a condition of its own: all have to be of it, or none may be (FEAT_SPE_EFT).
 */
static const struct {
	unsigned bit, mask;
	const char *name;
} kinds[] = {
	{ BRANCHES, FIRST_MASK, "branches" },
	{ LOADS, 37, "loads" },
	{ STORES, 38, "stores" },
	{ 39, 40, "SIMD" },
	{ 41, LAST_KIND, "floating point" },
};

bool spe_filters_hide_kinds(const struct attr *a)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if ((a->config >> kinds[i].bit | a->config >> kinds[i].mask) & 1)
			return true;
	return false;
}

bool spe_filters_hide_outcomes(const struct attr *a)
{
	return a->config1 != 0 || a->config2 != 0 || a->config3 != 0 || a->config4 != 0;
}

/* Returns whether there is such a filter. */
static bool add_kinds(const struct attr *a, struct text *out)
{
	bool has_filter = false;

	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (!(a->config >> kinds[i].bit & 1) || a->config >> kinds[i].mask & 1)
			continue;
		text_str(out, has_filter ? " + " : ", only ");
		text_str(out, kinds[i].name);
		has_filter = true;
	}
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (!(a->config >> kinds[i].mask & 1))
			continue;
		text_str(out, a->config >> kinds[i].bit & 1 ? ", only " : ", no ");
		text_str(out, kinds[i].name);
		has_filter = true;
	}
	return has_filter;
}

/* A core whose SPE PMU the event is of; UINT32_MAX: not known. */
static uint32_t core_of(const struct session *s, const struct attr *a)
{
	const struct spe_info *spe = capture_spe(s->capture);

	for (size_t i = 0; i < spe->cpus.n; i++)
		if (spe->cpus.items[i].pmu_type == a->type)
			return spe->cpus.items[i].cpu;
	return UINT32_MAX;
}

/* The names of the CPU for the data sources that are left out, and their numbers. */
static void add_sources(const struct session *s, const struct attr *a, struct text *out)
{
	const char *separator = ", none from ";

	for (uint16_t value = 0; value < 64; value++) {
		const struct cpu_source *source = session_source(s, core_of(s, a), value);

		if (!(a->config4 >> value & 1))
			continue;
		text_str(out, separator);
		if (source != NULL)
			text_str(out, source->name);
		else
			text_format(out, "data source 0x%x", value);
		separator = "+";
	}
}

static void add_outcomes(const struct session *s, const struct attr *a, struct text *out)
{
	if (a->config1 != 0) {
		text_str(out, ", only with ");
		spe_events_text(a->config1, '+', out);
	}
	if (a->config3 != 0) {
		text_str(out, ", none with ");
		spe_events_text(a->config3, '+', out);
	}
	add_sources(s, a, out);
	if (a->config2 != 0)
		text_format(out, ", latency from %" PRIu64 " cycle%s", a->config2,
			    plural(a->config2));
}

static void add_filters(const struct session *s, const struct attr *a, struct text *out)
{
	if (!add_kinds(a, out))
		text_str(out, ", all operations");
	add_outcomes(s, a, out);
	if (a->flags >> ATTR_EXCLUDE_KERNEL & 1)
		text_str(out, ", user only");
	if (a->flags >> ATTR_EXCLUDE_USER & 1)
		text_str(out, ", kernel only");
}

/* The attributes of an event, if it is one of SPE. */
static const struct attr *spe_attr(const struct session *s, size_t event)
{
	const struct attr *a = &capture_event(s->capture, event)->attr;

	return (int)event == capture_spe(s->capture)->event ||
			       capture_is_spe_type(s->capture, a->type)
		       ? a
		       : NULL;
}

bool spe_filters_hide(const struct session *s)
{
	for (size_t i = 0; i < capture_n_events(s->capture); i++) {
		const struct attr *a = spe_attr(s, i);

		if (a != NULL && (spe_filters_hide_kinds(a) || spe_filters_hide_outcomes(a)))
			return true;
	}
	return false;
}

const char *spe_filters_obstacle(const struct session *s, const struct select *select)
{
	if (!capture_spe(s->capture)->is_present)
		return "there are no SPE records";
	if (select != NULL)
		return "--select leaves out what was between its records";
	if (spe_filters_hide(s))
		return "filters hid operations when it was recorded, so it is not known what was "
		       "between records";
	return NULL;
}

static enum spe_stores stores_of(const struct attr *a)
{
	if (spe_filters_hide_kinds(a) && !(a->config >> STORES & 1))
		return SPE_STORES_BY_KIND;
	if (a->config1 != 0 || a->config3 != 0)
		return SPE_STORES_BY_EVENT;
	return (a->config2 & 0xffff) > 1 ? SPE_STORES_BY_LATENCY : SPE_STORES_ALL;
}

enum spe_stores spe_filters_stores(const struct session *s)
{
	enum spe_stores found = SPE_STORES_ALL;

	for (size_t i = 0; i < capture_n_events(s->capture); i++) {
		const struct attr *a = spe_attr(s, i);
		enum spe_stores one = a == NULL ? SPE_STORES_ALL : stores_of(a);

		if (one != SPE_STORES_ALL && (found == SPE_STORES_ALL || one < found))
			found = one;
	}
	return found;
}

bool spe_filters_thin(const struct session *s)
{
	for (size_t i = 0; i < capture_n_events(s->capture); i++) {
		const struct attr *a = spe_attr(s, i);

		if (a != NULL && spe_filters_hide_outcomes(a))
			return true;
	}
	return false;
}

/*
 * Does the kind of a record pass the event's filter? Always true if the filter has masks, SIMD or
 * floating point: a record does not say enough to decide.
 */
static bool kind_passes(const struct attr *a, const struct batch *b, size_t row)
{
	uint64_t kinds_asked = a->config >> BRANCHES & 7, others = a->config >> FIRST_MASK;
	enum memory_kind kind;

	if (kinds_asked == 0 || others & ((1u << (LAST_KIND - FIRST_MASK + 1)) - 1) ||
	    !(b->has[row] & HAS_OP))
		return true;
	if (b->op_class[row] != SPE_OP_LDST)
		return b->op_class[row] == SPE_OP_BRANCH && a->config >> BRANCHES & 1;
	kind = memory_kind_of(b->op_class[row], b->op[row]);
	return kind == MEMORY_NONE || (kind != MEMORY_STORE && a->config >> LOADS & 1) ||
	       (kind != MEMORY_LOAD && a->config >> STORES & 1);
}

static bool spe_filters_pass(const struct attr *a, const struct batch *b, size_t row)
{
	bool has_events = b->has[row] & HAS_EVENTS;

	return kind_passes(a, b, row) &&
	       (!has_events || ((b->events[row] & a->config1) == a->config1 &&
				(b->events[row] & a->config3) == 0)) &&
	       (!(b->has[row] & HAS_SOURCE) || b->source[row] >= 64 ||
		!(a->config4 >> b->source[row] & 1)) &&
	       (!(b->has[row] & HAS_TOTAL) || b->total[row] >= (a->config2 & 0xffff));
}

void spe_filters_init(struct spe_filters *f, const struct session *s)
{
	*f = (struct spe_filters){ 0 };
	if (!spe_filters_hide(s))
		return;
	for (size_t i = 0; i < capture_n_events(s->capture); i++) {
		const struct attr *a = spe_attr(s, i);

		if (a != NULL)
			*vec_add(&f->events) = a;
	}
}

void spe_filters_release(struct spe_filters *f)
{
	vec_release(&f->events);
}

bool spe_filters_let_pass(const struct spe_filters *f, const struct batch *b, size_t row)
{
	for (size_t i = 0; i < f->events.n; i++)
		if (spe_filters_pass(f->events.items[i], b, row))
			return true;
	return f->events.n == 0;
}

/* One record in so many may contradict: damage. */
enum { TOLERATED = 1000 };

bool spe_filters_are_contradicted(const struct session *s)
{
	return s->unfiltered.n * TOLERATED > s->unfiltered.n_records;
}

/* Appends that records contradict the header; false if they do not. */
void spe_filters_put_unfit(const struct session *s, struct text *out)
{
	char digits[GROUPED_BYTES], all_digits[GROUPED_BYTES];

	text_format(out, "%s of %s records do not fit", grouped_u64(s->unfiltered.n, digits),
		    grouped_u64(s->unfiltered.n_records, all_digits));
}

uint64_t spe_filters_least_cycles(const struct session *s)
{
	uint64_t most = 0;

	for (size_t i = 0; i < capture_n_events(s->capture); i++) {
		const struct attr *a = spe_attr(s, i);
		uint64_t least = a != NULL ? a->config2 & 0xffff : 0;

		most = least > most ? least : most;
	}
	return most;
}

/* Of one event, without the comma. */
static void put_filters(const struct session *s, const struct attr *a, struct text *out)
{
	struct text text = { 0 };

	if (!add_kinds(a, &text) && !spe_filters_hide_outcomes(a))
		text_str(&text, ", all operations");
	add_outcomes(s, a, &text);
	text_add(out, text.bytes + 2, text.n - 2);
	text_release(&text);
}

static bool spe_filters_are_alike(const struct session *s, const struct attr *a,
				  const struct attr *b)
{
	struct text of_a = { 0 }, of_b = { 0 };
	bool out;

	put_filters(s, a, &of_a);
	put_filters(s, b, &of_b);
	out = of_a.n == of_b.n && memcmp(of_a.bytes, of_b.bytes, of_a.n) == 0;
	text_release(&of_a);
	text_release(&of_b);
	return out;
}

/* Do the SPE events, one for each kind of CPU, have different filters? */
static bool spe_filters_differ(const struct session *s)
{
	const struct attr *first = NULL;
	bool differ = false;

	for (size_t i = 0; i < capture_n_events(s->capture); i++) {
		const struct attr *a = spe_attr(s, i);

		first = first != NULL ? first : a;
		differ |= a != NULL && !spe_filters_are_alike(s, first, a);
	}
	return differ;
}

void spe_filters_text(const struct session *s, struct text *out)
{
	bool differ = spe_filters_differ(s);
	size_t n = 0;

	for (size_t i = 0; i < capture_n_events(s->capture); i++) {
		const struct attr *a = spe_attr(s, i);
		struct text one = { 0 };

		if (a == NULL || (!differ && n > 0))
			continue;
		add_filters(s, a, &one);
		if (differ)
			text_format(out, "%s%s: ", n > 0 ? "; " : ", ",
				    capture_event_name(s->capture, i));
		text_add(out, one.bytes + (differ ? 2 : 0), one.n - (differ ? 2 : 0));
		text_release(&one);
		n++;
	}
}

bool spe_filters_sentence(const struct session *s, struct text *out)
{
	bool differ = spe_filters_differ(s);
	size_t n = 0;

	if (!spe_filters_hide(s))
		return false;
	text_str(out, spe_filters_are_contradicted(s) ? "the header names this filter: "
						      : "filtered when recorded (");
	for (size_t i = 0; i < capture_n_events(s->capture); i++) {
		const struct attr *a = spe_attr(s, i);

		if (a == NULL || (!differ && n > 0))
			continue;
		if (differ)
			text_format(out, "%s%s: ", n > 0 ? "; " : "",
				    capture_event_name(s->capture, i));
		put_filters(s, a, out);
		n++;
	}
	if (!spe_filters_are_contradicted(s)) {
		text_str(out, "): totals, means and shares are of what passed");
		return true;
	}
	text_str(out, ". ");
	spe_filters_put_unfit(s, out);
	text_str(out, " it: interval and totals are unreliable");
	return true;
}

static void note_sentence(bool (*write)(const struct session *, struct text *),
			  const struct session *s, struct table *t)
{
	struct text text = { 0 };

	if (!write(s, &text))
		return;
	text_char(&text, '\0');
	table_note(t, "%s", text.bytes);
	text_release(&text);
}

void spe_filters_note(const struct session *s, struct table *t)
{
	note_sentence(lost_samples_sentence, s, t);
	note_sentence(spe_filters_sentence, s, t);
}

void spe_filters_name_estimates(const struct session *s, struct table *t)
{
	int estimated = table_column(t, "estimated_operations");
	struct column *columns;

	if (estimated < 0 || !spe_filters_hide(s))
		return;
	columns = arena_alloc(&t->memory, t->n_columns * sizeof(*columns));
	memcpy(columns, t->columns, t->n_columns * sizeof(*columns));
	columns[estimated].title = "passed filter";
	t->columns = columns;
}
