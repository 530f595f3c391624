/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the code of a name among the functions with records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/annotate.h"
#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "hot/sums/sums.h"
#include "isa/access.h"
#include "scan/scan.h"
#include "table/shown_text.h"
#include "variables/code.h"

enum {
	/* Code without symbols: bytes shown before and after the hottest place. */
	NAMELESS_BYTES = 2048,
	RANGE_BYTES = 4 << 20, /* a range reaches at most so far from code with records */
	MAX_LISTED = 8,
	LISTED_BYTES = 300, /* of names in an error */
};

/* A function with records. */
struct candidate {
	struct annotate_region region;
	bool is_sized;	    /* the symbol has a size */
	uint64_t weight[2]; /* SPE: latency cycles; samples */
	uint64_t n;
};

struct finding {
	struct session *session;
	struct hot *hot;
	struct names names;
	struct tuples keys; /* module, offset of the start, is there a symbol */
	VEC_OF(struct candidate) list;
};

/* The parts of the symbol that the user gave. */
struct wanted_symbol {
	char *name;
	const char *module; /* in `name`; NULL: any */
	bool is_address, is_range;
	bool is_alias;	       /* no function is called so, but one may have that name, too */
	uint64_t address, end; /* `end` of a range, excluded */
};

/* Limits a range around a place to its section. */
static void clip_to_code(struct session *s, struct place at, uint64_t *before, uint64_t *after)
{
	uint64_t code_before, code_after;

	if (!symbols_code_around(s->symbols, at, &code_before, &code_after))
		return;
	*before = *before < code_before ? *before : code_before;
	*after = *after < code_after ? *after : code_after;
}

static void place_candidate(const struct finding *f, uint32_t place, struct candidate *out)
{
	const struct symbol *symbol = &f->names.symbols[place];
	struct place at = session_place(f->session, place);
	uint64_t before = symbol->function_offset, after = 0;

	*out = (struct candidate){ .is_sized = symbol->function_size > 0 };
	out->region.module = at.module;
	out->region.has_name = symbol->function.v != 0;
	out->region.name = names_function(&f->names, place);
	if (!out->region.has_name) {
		before = at.offset % NAMELESS_BYTES;
		after = NAMELESS_BYTES - before;
		clip_to_code(f->session, at, &before, &after);
		out->is_sized = true;
		out->region.name = names_module(f->session, at.module);
	}
	before = before < at.offset ? before : at.offset;
	out->region.from = at.offset - before;
	out->region.to =
		out->region.has_name ? out->region.from + symbol->function_size : at.offset + after;
	/* without the file, offsets are used as addresses */
	out->region.address = symbol->address == 0 ? out->region.from : symbol->address - before;
}

static void annotate_find_add_place(struct finding *f, uint32_t group)
{
	const struct hot_cost cost = hot_cost(f->hot, group);
	uint64_t raw[N_DIMENSIONS];
	struct candidate made, *c;
	uint32_t number;
	bool is_spe;
	uint64_t offset;
	size_t sampled;

	hot_key(f->hot, group, raw);
	if (session_place(f->session, (uint32_t)raw[DIM_PLACE]).module.v == 0)
		return;
	place_candidate(f, (uint32_t)raw[DIM_PLACE], &made);
	number = tuples_add(&f->keys, (uint64_t[]){ made.region.module.v, made.region.from,
						    made.region.has_name });
	if (number == f->list.n)
		*vec_add(&f->list) = made;
	c = &f->list.items[number];
	if (hot_is_branches(f->hot, raw[DIM_EVENT], &sampled))
		return; /* code without symbols is only found by its address */
	is_spe = hot_is_spe(f->hot, raw[DIM_EVENT]);
	offset = session_place(f->session, (uint32_t)raw[DIM_PLACE]).offset;
	c->weight[!is_spe] += is_spe ? cost.cycles : cost.n;
	c->n += cost.n;
	if (!c->is_sized && offset + ISA_LONGEST_INSTRUCTION > c->region.to)
		c->region.to = offset + ISA_LONGEST_INSTRUCTION;
}

/*
 * Scans the capture: functions with samples or SPE records. With branches it is the second scan: also
 * those with branch entries.
 */
static void annotate_find_candidates(struct finding *f, const struct select *select,
				     bool with_branches, struct annotate_also *also)
{
	static const struct hot_options options = {
		.dimensions = 1u << DIM_EVENT | 1u << DIM_PLACE,
		.event = -1,
	};
	const struct keys keys = { { KEY_FUNCTION }, 1 };
	const struct scan_wish wish = {
		.with_branches = with_branches,
		.keeps_places = with_branches,
		.without_addresses = also->time == NULL && also->analysis.class == NULL,
	};
	struct analysis analyses[3] = { { .class = &hot_class, .options = &options } };
	size_t n = 1, time = 0;

	if (also->time != NULL) {
		time = n++;
		analyses[time] = commit_time_first(also->time);
	}
	if (also->analysis.class != NULL)
		analyses[n++] = also->analysis;
	scan_part(f->session, select, &wish, analyses, n);
	f->hot = analyses[0].result;
	if (also->analysis.class != NULL)
		also->analysis.result = analyses[n - 1].result;
	hot_names(f->session, f->hot, &keys, &f->names);
	if (also->time != NULL)
		commit_time_walk(also->time, &f->names, analyses[time].result);
	tuples_init(&f->keys, 3);
	for (uint32_t i = hot_next(f->hot, 0); i < hot_end(f->hot); i = hot_next(f->hot, i + 1))
		annotate_find_add_place(f, i);
}

static void annotate_find_release(struct finding *f)
{
	tuples_release(&f->keys);
	vec_release(&f->list);
	names_release(&f->names);
	hot_class.free(f->hot);
}

/* By SPE latency cycles, then by samples, both descending; then by module and offset. */
static int annotate_find_compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	for (size_t i = 0; i < COUNT(a->weight); i++) {
		if (a->weight[i] != b->weight[i])
			return a->weight[i] > b->weight[i] ? -1 : 1;
	}
	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	if (a->region.module.v != b->region.module.v)
		return a->region.module.v < b->region.module.v ? -1 : 1;
	return (a->region.from > b->region.from) - (a->region.from < b->region.from);
}

/* "0x1000..0x1040" */
static bool read_range(const char *text, struct wanted_symbol *w)
{
	char *end;

	if (strncmp(text, "0x", 2) != 0)
		return false;
	errno = 0;
	w->address = strtoull(text, &end, 16);
	if (strncmp(end, "..0x", 4) != 0)
		return false;
	w->end = strtoull(end + 2, &end, 16);
	return errno == 0 && *end == '\0' && w->end > w->address;
}

/* Parses "name@module", "name+0x10", "0x1234". Names may contain '@' and '+' themselves. */
static struct wanted_symbol wanted_of(const char *symbol)
{
	struct wanted_symbol w = { .name = mem_strndup(symbol, strlen(symbol)) };
	char *plus = strrchr(w.name, '+'), *at, *end;

	w.is_range = read_range(symbol, &w);
	if (symbol[0] == '0' && symbol[1] == 'x' && !w.is_range) {
		errno = 0;
		w.address = strtoull(symbol, &end, 16);
		w.is_address = errno == 0 && *end == '\0';
	}
	if (plus != NULL && plus > w.name && strncmp(plus, "+0x", 3) == 0 &&
	    plus[3 + strspn(plus + 3, "0123456789abcdefABCDEF")] == '\0')
		*plus = '\0';
	at = strrchr(w.name, '@');
	if (at != NULL && at > w.name && at[1] != '\0')
		w.module = at + 1;
	return w;
}

static bool annotate_find_is_in(const struct annotate_region *r, uint64_t address)
{
	return (address >= r->address && address - r->address < r->to - r->from) ||
	       (address >= r->from && address < r->to);
}

static bool regions_overlap(const struct annotate_region *r, const struct wanted_symbol *w)
{
	return w->address < r->address + (r->to - r->from) && w->end > r->address;
}

/* Sets `r` to the wanted addresses, as far as they are in its section. */
static void take_range(struct session *s, const struct wanted_symbol *w, struct annotate_region *r)
{
	uint64_t before = r->address < r->from ? r->address : r->from;
	uint64_t after = UINT64_MAX - r->from, start, end;

	before = before < RANGE_BYTES ? before : RANGE_BYTES;
	after = after < RANGE_BYTES ? after : RANGE_BYTES;
	clip_to_code(s, (struct place){ r->module, r->from }, &before, &after);
	start = w->address < r->address - before ? r->address - before : w->address;
	end = w->end - r->address > after && w->end > r->address ? r->address + after : w->end;
	r->from += start - r->address;
	r->to = r->from + (end - start);
	r->address = start;
	r->has_name = false;
	r->is_range = true;
}

static bool region_has_name(const struct finding *f, const struct wanted_symbol *w,
			    const struct annotate_region *r, size_t n)
{
	if (!r->has_name)
		return false;
	if (w->is_alias)
		return symbols_has_alias(f->session->symbols, (struct place){ r->module, r->from },
					 w->name, n);
	return strlen(r->name) == n && memcmp(r->name, w->name, n) == 0;
}

static bool annotate_matches(const struct finding *f, const struct wanted_symbol *w,
			     const struct candidate *c)
{
	if (w->is_range)
		return regions_overlap(&c->region, w);
	if (w->is_address)
		return annotate_find_is_in(&c->region, w->address);
	if (region_has_name(f, w, &c->region, strlen(w->name)))
		return true;
	return w->module != NULL &&
	       region_has_name(f, w, &c->region, (size_t)(w->module - 1 - w->name)) &&
	       strcmp(names_module(f->session, c->region.module), w->module) == 0;
}

/* Names that are shown come first; other names of their addresses are asked where none is. */
static struct wanted_symbol wanted_among(const struct finding *f, const char *symbol)
{
	struct wanted_symbol w = wanted_of(symbol);

	w.is_alias = !w.is_range && !w.is_address;
	for (size_t i = 0; i < f->list.n && w.is_alias; i++) {
		w.is_alias = false;
		w.is_alias = !annotate_matches(f, &w, &f->list.items[i]);
	}
	return w;
}

/* For nearest_words(): the names of candidates; NULL behind the last. */
static const char *annotate_find_name_at(const void *context, size_t i)
{
	const char *const *names = context;

	return names[i];
}

static const char **candidate_names(const struct finding *f)
{
	const char **names = mem_alloc(f->list.n + 1, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < f->list.n; i++)
		if (f->list.items[i].region.has_name)
			names[n++] = f->list.items[i].region.name;
	names[n] = NULL;
	return names;
}

/* Appends "'a', 'b', 'c'", as many names as fit into LISTED_BYTES. */
static void list_names(const char *const *names, size_t n, struct text *out)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && out->n + strlen(names[i]) > LISTED_BYTES)
			break;
		text_str(out, i > 0 ? ", '" : "'");
		text_shown(out, names[i]);
		text_char(out, '\'');
	}
	text_char(out, '\0');
}

/* Nothing matches: the error lists similar names, or else the hottest functions. */
static int refuse_name(const char *symbol, const char *const *names, struct err *err)
{
	const char *alike[MAX_LISTED];
	size_t n = nearest_words(symbol, annotate_find_name_at, names, alike, COUNT(alike)),
	       n_all = 0;
	struct text list = { 0 };

	while (names[n_all] != NULL)
		n_all++;
	if (n > 0)
		list_names(alike, n, &list);
	else
		list_names(names, n_all < MAX_LISTED ? n_all : MAX_LISTED, &list);
	err_set(err, ERR_USAGE, ERR_NOWHERE, "no records in '%s'; %s %s%s", symbol,
		n > 0	    ? "did you mean"
		: n_all > 1 ? "the hottest are"
			    : "there is only",
		list.bytes, n > 0 ? "?" : "");
	text_release(&list);
	return -1;
}

static int refuse_unknown(const struct finding *f, const char *symbol, struct err *err)
{
	const char **names = candidate_names(f);
	int rc;

	if (f->list.n == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE, "no records with code to annotate");
	else if (names[0] == NULL)
		rc = err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"no records in '%s': no function of this capture has a symbol. Give an "
			"address; 'cyclops hot' names the hottest",
			symbol);
	else
		rc = refuse_name(symbol, names, err);
	free(names);
	return rc;
}

/* Several match: the error lists the address of each, which identifies it. */
static int refuse_many(const struct finding *f, const char *symbol, const struct wanted_symbol *w,
		       struct err *err)
{
	struct text list = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		const struct candidate *c = &f->list.items[i];

		if (!annotate_matches(f, w, c) || n++ >= MAX_LISTED)
			continue;
		text_str(&list, "\n  ");
		text_shown(&list, c->region.name);
		text_char(&list, '@');
		text_shown(&list, names_module(f->session, c->region.module));
		text_format(&list, "  %#llx  %llu records", (unsigned long long)c->region.address,
			    (unsigned long long)c->n);
	}
	if (n > MAX_LISTED)
		text_format(&list, "\n  and %zu more", n - MAX_LISTED);
	text_char(&list, '\0');
	err_set(err, ERR_USAGE, ERR_NOWHERE, "%zu functions are called '%s'; name one:%s", n,
		symbol, list.bytes);
	text_release(&list);
	return -1;
}

static int annotate_find_choose(const struct finding *f, const char *symbol,
				struct annotate_region *out, struct err *err)
{
	struct wanted_symbol wanted = { 0 };
	const struct candidate *found = NULL;
	struct text shown = { 0 };
	size_t n = 0;
	int rc = 0;

	text_shown(&shown, symbol == NULL ? "" : symbol);
	text_char(&shown, '\0');
	if (symbol != NULL)
		wanted = wanted_among(f, symbol);
	for (size_t i = 0; i < f->list.n && (symbol != NULL || n == 0); i++) {
		const struct candidate *c = &f->list.items[i];

		if (symbol != NULL && !annotate_matches(f, &wanted, c))
			continue;
		/* A range may cover several functions of one module. */
		if (wanted.is_range && found != NULL &&
		    found->region.module.v == c->region.module.v)
			continue;
		/* Code around a place without a symbol may reach into a function that has one. */
		if (wanted.is_address && found != NULL &&
		    found->region.module.v == c->region.module.v &&
		    found->region.has_name != c->region.has_name) {
			found = c->region.has_name ? c : found;
			continue;
		}
		found = c;
		n++;
	}
	if (n == 0)
		rc = refuse_unknown(f, shown.bytes, err);
	else if (n > 1)
		rc = refuse_many(f, shown.bytes, &wanted, err);
	else
		*out = found->region;
	if (n == 1 && wanted.is_range)
		take_range(f->session, &wanted, out);
	free(wanted.name);
	text_release(&shown);
	return rc;
}

/* An address may be in a function that has a name, and near a place without. */
static bool annotate_find_has_match(const struct finding *f, const char *symbol)
{
	struct wanted_symbol wanted;
	bool is_there = false;

	if (symbol == NULL)
		return f->list.n > 0;
	wanted = wanted_among(f, symbol);
	for (size_t i = 0; i < f->list.n && !is_there; i++)
		is_there = annotate_matches(f, &wanted, &f->list.items[i]) &&
			   (!wanted.is_address || f->list.items[i].region.has_name);
	free(wanted.name);
	return is_there;
}

int annotate_find(struct session *session, const struct select *select, const char *symbol,
		  struct annotate_also *also, struct annotate_region *out, struct err *err)
{
	bool has_branches = annotate_wish(session).with_branches;
	struct annotate_also nothing = { 0 };
	struct finding f = { .session = session };
	int rc;

	annotate_find_candidates(&f, select, false, also == NULL ? &nothing : also);
	if (has_branches && !annotate_find_has_match(&f, symbol)) {
		annotate_find_release(&f);
		f = (struct finding){ .session = session };
		annotate_find_candidates(&f, select, true, &nothing);
	}
	if (f.list.n > 1)
		qsort(f.list.items, f.list.n, sizeof(*f.list.items),
		      annotate_find_compare_candidates);
	rc = annotate_find_choose(&f, symbol, out, err);
	if (rc == 0 && also != NULL && also->counts)
		also->counted = annotate_of_hot(f.hot, out);
	annotate_find_release(&f);
	return rc;
}

static bool has_nameless(const struct annotate_region *regions, size_t n, struct module_id module)
{
	for (size_t i = 0; i < n; i++)
		if (!regions[i].has_name && regions[i].module.v == module.v)
			return true;
	return false;
}

struct annotate_region *annotate_hottest(struct session *session, const struct select *select,
					 size_t most, size_t *out_n)
{
	struct annotate_region *regions = mem_zalloc(most, sizeof(*regions));
	struct annotate_also nothing = { 0 };
	struct finding f = { .session = session };
	size_t n = 0;

	annotate_find_candidates(&f, select, false, &nothing);
	if (f.list.n > 1)
		qsort(f.list.items, f.list.n, sizeof(*f.list.items),
		      annotate_find_compare_candidates);
	for (size_t i = 0; i < f.list.n && n < most; i++) {
		const struct annotate_region *r = &f.list.items[i].region;

		if (r->has_name || !has_nameless(regions, n, r->module))
			regions[n++] = *r;
	}
	annotate_find_release(&f);
	*out_n = n;
	return regions;
}
