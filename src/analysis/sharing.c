/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/interval.h"
#include "analysis/sharing_cost.h"
#include "analysis/sharing_objects.h"
#include "analysis/vector_length.h"
#include "base/alloc.h"
#include "base/nearest.h"
#include "symbol/code.h"

enum {
	LINE_BYTES = 64,       /* where nothing tells */
	LINE_BYTES_MAX = 4096, /* offsets in a line have 16 bits */
	CODE_BYTES = 16,       /* the longest instruction */
	SCALAR_MAX = 16,       /* bytes of an access whose instruction is not known: a pair … */
	VECTOR_MAX = 64,       /* … of registers; a group of vectors */
	SVE_UNIT_BITS = 16,    /* see struct sharing_touch_key */
};

static const char *const sort_names[SHARING_N_SORTS] = {
	[SHARING_SORT_COST] = "cost",	    [SHARING_SORT_COUNT] = "count",
	[SHARING_SORT_RECORDS] = "records", [SHARING_SORT_STORES] = "stores",
	[SHARING_SORT_ADDRESS] = "address",
};

/* By bit number of enum sharing_coalesce. */
static const char *const coalesce_names[] = { "place", "process", "thread", "module" };

struct word_list {
	const char *const *words;
	size_t n;
};

static const char *word_of_list(const void *context, size_t i)
{
	const struct word_list *l = context;

	return i < l->n ? l->words[i] : NULL;
}

/* The number of a word of a list, of which `len` letters are given. */
static int find_word(const char *option, const struct word_list *list, const char *text, size_t len,
		     struct err *err)
{
	char all[128];

	for (size_t i = 0; i < list->n; i++)
		if (strlen(list->words[i]) == len && strncmp(list->words[i], text, len) == 0)
			return (int)i;
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "%s: '%.*s' is none of: %s", option, (int)len,
		       text, list_words(word_of_list, list, all, sizeof(all)));
}

int sharing_mode_parse(const char *text, int *out, struct err *err)
{
	const struct word_list list = { sharing_mode_names, SHARING_N_MODES };
	int found = find_word("--mode", &list, text, strlen(text), err);

	if (found < 0)
		return -1;
	*out = found;
	return 0;
}

int sharing_sort_parse(const char *text, enum sharing_sort *out, struct err *err)
{
	const struct word_list list = { sort_names, SHARING_N_SORTS };
	int found = find_word("--sort", &list, text, strlen(text), err);

	if (found < 0)
		return -1;
	*out = (enum sharing_sort)found;
	return 0;
}

int sharing_coalesce_parse(const char *text, unsigned *out, struct err *err)
{
	const struct word_list list = { coalesce_names, COUNT(coalesce_names) };
	unsigned keys = 0;

	for (;;) {
		size_t len = strcspn(text, ",");
		int found = find_word("--coalesce", &list, text, len, err);

		if (found < 0)
			return -1;
		keys |= 1u << found;
		if (text[len] == '\0')
			break;
		text += len + 1;
	}
	*out = keys;
	return 0;
}

/* The recorded machine's line of the first level, else its model's. */
static uint64_t line_bytes_of(const struct session *s)
{
	const struct info *info = capture_info(s->capture);
	uint64_t bytes = cpu_cache_line(s->cpu);

	for (size_t i = 0; i < info->caches.n && bytes == 0; i++)
		if (info->caches.items[i].level == 1)
			bytes = info->caches.items[i].line_bytes;
	return bytes != 0 ? bytes : LINE_BYTES;
}

static int fill_request(struct sharing *s, struct err *err)
{
	struct sharing_request *r = &s->request;
	const struct info *info = capture_info(s->session->capture);
	const char *arch = strings_get(capture_strings(s->session->capture), info->arch);
	bool is_spe = capture_spe(s->session->capture)->is_present;

	if (r->mode < 0)
		r->mode =
			is_spe || strcmp(arch, "aarch64") == 0 ? SHARING_BY_PEER : SHARING_BY_HITM;
	if (r->line_bytes == 0)
		r->line_bytes = line_bytes_of(s->session);
	if (r->line_bytes < 8 || (r->line_bytes & (r->line_bytes - 1)) != 0 ||
	    r->line_bytes > LINE_BYTES_MAX)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "a cache line of %llu bytes: not a power of two from 8 to %d",
			       (unsigned long long)r->line_bytes, LINE_BYTES_MAX);
	if (vector_length_check(r->vector_bits, err) < 0)
		return -1;
	if (r->is_double)
		r->line_bytes *= 2;
	if (r->coalesce == 0)
		r->coalesce = SHARING_BY_PLACE;
	s->options = (struct sharing_options){ .line_bytes = r->line_bytes,
					       .mode = (enum sharing_mode)r->mode,
					       .only_contended = r->only_contended,
					       .by_physical = r->by_physical };
	return 0;
}

/* Faster operations than this were not recorded. */
static uint64_t recorded_minimum(const struct capture *c)
{
	int event = capture_spe(c)->event;

	return event >= 0 ? capture_event(c, (size_t)event)->attr.config2 & 0xffff : 0;
}

static double interval_of(const struct sharing *s)
{
	if (s->lines->n_samples > 0)
		return (double)s->lines->period / (double)s->lines->n_samples;
	return (double)spe_interval_common(s->session).mean;
}

/* A line that could be shown. */
struct candidate {
	int64_t rank;	      /* what it is ordered by; more comes first */
	uint64_t n_contended; /* its contended loads, if ranks are equal */
	uint64_t address;
	uint32_t space;
};

/* What is found in a shard of the lines. */
struct choice {
	const struct sharing *s;
	VEC_OF(struct candidate) list;
	struct sharing_counts shared; /* of lines with peer or HITM loads */
	uint64_t n_shared, n_candidates;
	bool is_cut; /* to the first ones, which stand in order: others must be before the last */
};

static uint64_t contended_of(const struct sharing *s, const struct sharing_line *line)
{
	return sharing_line_sum(line, sharing_mode_masks[s->options.mode]);
}

/* Reloads that look as if others caused them; the second look knows better. */
static int64_t cost_of(const struct sharing *s, const struct sharing_line *line)
{
	const struct sharing_use use = { sharing_line_sum(line, SHARING_BIT(RECORDS)),
					 contended_of(s, line), line->n_reloads };
	int64_t cost = sharing_excess(s, line->cycles, line->n_timed);

	if (line->n_reloads > 0 && line->has_threads && line->is_written &&
	    sharing_is_kept(s, &use))
		cost += sharing_excess(s, line->reload_cycles, line->n_reloads);
	return cost;
}

static int64_t rank_of(const struct sharing *s, const struct sharing_line *line)
{
	switch (s->request.sort) {
	case SHARING_SORT_COST:
		return cost_of(s, line);
	case SHARING_SORT_COUNT:
		return (int64_t)contended_of(s, line);
	case SHARING_SORT_RECORDS:
		return (int64_t)sharing_line_sum(line, SHARING_BIT(RECORDS));
	case SHARING_SORT_STORES:
		return (int64_t)sharing_line_sum(line, SHARING_BIT(STORES));
	case SHARING_SORT_ADDRESS:
	case SHARING_N_SORTS:
		break;
	}
	return 0;
}

static struct candidate candidate_of(const struct sharing *s, const struct sharing_line *line)
{
	bool by_address = s->request.sort == SHARING_SORT_ADDRESS;

	return (struct candidate){
		.rank = rank_of(s, line),
		.n_contended = by_address ? 0 : contended_of(s, line),
		.address = line->address,
		.space = line->space,
	};
}

/* Total: ties go by contended loads, then by where the line is. */
static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->rank != b->rank)
		return (a->rank < b->rank) - (a->rank > b->rank);
	if (a->n_contended != b->n_contended)
		return (a->n_contended < b->n_contended) - (a->n_contended > b->n_contended);
	if (a->address != b->address)
		return (a->address > b->address) - (a->address < b->address);
	return (a->space > b->space) - (a->space < b->space);
}

/* Keeps the first ones. Called now and then, so that few are held at a time. */
static void keep_top(struct choice *c)
{
	size_t top = c->s->request.top;

	if (c->list.n > 1)
		qsort(c->list.items, c->list.n, sizeof(*c->list.items), compare_candidates);
	c->is_cut |= top > 0 && c->list.n >= top;
	if (c->is_cut)
		c->list.n = top;
}

static bool counts_as_shared(const struct sharing_line *line)
{
	return sharing_line_has(line, sharing_mode_masks[SHARING_BY_PEER] |
					      sharing_mode_masks[SHARING_BY_HITM]);
}

/* Loads from other cores, or several threads of which one writes. */
static bool is_candidate(const struct sharing *s, const struct sharing_line *line)
{
	return (line->has_threads && line->is_written) ||
	       sharing_line_has(line, sharing_mode_masks[s->options.mode]);
}

static void weigh_line(void *context, const struct sharing_line *line)
{
	struct choice *c = context;
	size_t top = c->s->request.top;
	struct candidate candidate;

	if (counts_as_shared(line)) {
		sharing_line_add(line, &c->shared);
		c->n_shared++;
	}
	if (!is_candidate(c->s, line))
		return;
	c->n_candidates++;
	candidate = candidate_of(c->s, line);
	if (c->is_cut && compare_candidates(&candidate, &c->list.items[top - 1]) > 0)
		return;
	*vec_add(&c->list) = candidate;
	if (top > 0 && c->list.n == 4 * top + 64)
		keep_top(c);
}

static void weigh_shard(void *context, size_t shard, unsigned worker)
{
	struct choice *choices = context;

	(void)worker;
	sharing_table_visit(choices[shard].s->options.table, shard, weigh_line, &choices[shard]);
	keep_top(&choices[shard]);
}

static void join_choice(struct sharing *s, struct choice *all, struct choice *part)
{
	sharing_counts_add(&s->shared, &part->shared);
	s->n_shared_lines += part->n_shared;
	s->n_candidates += part->n_candidates;
	for (size_t i = 0; i < part->list.n; i++)
		*vec_add(&all->list) = part->list.items[i];
	vec_release(&part->list);
}

static void choose_lines(struct sharing *s)
{
	struct choice choices[SHARING_SHARDS] = { 0 }, all = { .s = s };

	s->total = s->lines->total;
	s->n_lines = sharing_table_n_lines(s->options.table);
	for (size_t i = 0; i < SHARING_SHARDS; i++)
		choices[i].s = s;
	pool_run(s->session->pool, SHARING_SHARDS, weigh_shard, choices);
	for (size_t i = 0; i < SHARING_SHARDS; i++)
		join_choice(s, &all, &choices[i]);
	keep_top(&all);
	for (size_t i = 0; i < all.list.n; i++)
		*vec_add(&s->subjects) = (struct sharing_subject){
			.space = all.list.items[i].space,
			.address = all.list.items[i].address,
		};
	vec_release(&all.list);
	sharing_table_free(s->options.table);
	s->options.table = NULL;
}

static void look_at_lines(struct sharing *s, const struct select *select)
{
	struct analysis second = { .class = &sharing_accesses_class, .options = &s->choice };
	size_t n = s->subjects.n + s->around.n;
	struct scan_wish wish;

	sharing_choice_init(&s->choice, &s->options, n);
	for (size_t i = 0; i < n; i++)
		sharing_choice_add(&s->choice, sharing_line_at(s, i)->space,
				   sharing_line_at(s, i)->address);
	wish = sharing_accesses_wish(&s->choice);
	scan_part(s->session, select, &wish, &second, 1);
	s->accesses_seen = second.result;
}

static uint64_t module_of(const struct sharing *s, uint32_t place)
{
	return session_place(s->session, place).module.v;
}

/* The keys of a touch's row, in the order in which rows are told apart. */
enum { GROUP_WORDS = 7 };

static void group_words(const struct sharing *s, const struct sharing_touch_key *k, uint64_t *out)
{
	unsigned by = s->request.coalesce;
	struct place place = session_place(s->session, k->place);
	uint64_t pid = timeline_process(s->session->timeline, k->process)->pid;

	out[0] = (uint64_t)k->line << 32 | k->offset;
	out[1] = by & SHARING_BY_PROCESS ? pid << 32 | k->process : 0;
	out[2] = by & SHARING_BY_THREAD ? k->tid : 0;
	out[3] = by & (SHARING_BY_MODULE | SHARING_BY_PLACE) ? place.module.v : 0;
	out[4] = by & SHARING_BY_PLACE ? place.offset : 0;
	out[5] = by & SHARING_BY_PLACE ? k->pc : 0;
	out[6] = k->kind & ~(unsigned)SHARING_KIND_PARTIAL;
}

/* All that the order of touches depends on: nothing in it is a number of ours but the line's. */
static void sort_words(const struct sharing *s, uint32_t touch, uint64_t *out)
{
	struct sharing_touch_key k = sharing_touch_key(s->accesses_seen, touch);

	group_words(s, &k, out);
	out[GROUP_WORDS] = (uint64_t)k.tid << 32 | k.cpu;
	out[GROUP_WORDS + 1] = (uint64_t)k.process << 32 | (uint64_t)k.vector << 8 | k.kind;
	out[GROUP_WORDS + 2] = k.pc;
}

static int compare_touches(const void *left, const void *right, void *context)
{
	enum { WORDS = GROUP_WORDS + 3 };
	uint64_t a[WORDS], b[WORDS];

	sort_words(context, *(const uint32_t *)left, a);
	sort_words(context, *(const uint32_t *)right, b);
	for (size_t i = 0; i < WORDS; i++)
		if (a[i] != b[i])
			return (a[i] > b[i]) - (a[i] < b[i]);
	return 0;
}

static void order_touches(struct sharing *s)
{
	uint32_t n = s->accesses_seen->keys.n;

	s->order = mem_alloc((size_t)n + 1, sizeof(*s->order));
	for (uint32_t i = 0; i < n; i++)
		s->order[i] = i;
	qsort_r(s->order, n, sizeof(*s->order), compare_touches, s);
}

static const struct sharing_touch *touch_at(const struct sharing *s, uint32_t at)
{
	return &s->accesses_seen->touches.items[s->order[at]];
}

/* Distinct threads, processes and cpus of the touches of an access. */
static void count_who(const struct sharing *s, struct sharing_access *a)
{
	struct tuples seen[3];

	for (size_t i = 0; i < COUNT(seen); i++)
		tuples_init(&seen[i], 1);
	for (uint32_t i = 0; i < a->n_touches; i++) {
		struct sharing_touch_key k =
			sharing_touch_key(s->accesses_seen, s->order[a->first_touch + i]);

		tuples_add(&seen[0], &(uint64_t){ k.tid });
		tuples_add(&seen[1], &(uint64_t){ k.process });
		tuples_add(&seen[2], &(uint64_t){ k.cpu });
	}
	a->n_threads = seen[0].n;
	a->n_processes = seen[1].n;
	a->n_cpus = seen[2].n;
	for (size_t i = 0; i < COUNT(seen); i++)
		tuples_release(&seen[i]);
}

static struct sharing_access *start_access(struct sharing *s, uint32_t at,
					   const struct sharing_touch_key *k)
{
	struct sharing_access *a = vec_add(&s->accesses);

	a->offset = k->offset;
	a->kind = k->kind;
	a->place = k->place;
	a->pc = k->pc;
	a->first_touch = at;
	a->sum.first_ns = a->sum.first_reload_ns = UINT64_MAX;
	return a;
}

static uint32_t end_of_line(const struct sharing *s, uint32_t number, uint32_t at)
{
	uint32_t n = s->accesses_seen->keys.n;

	while (at < n && sharing_touch_key(s->accesses_seen, s->order[at]).line == number)
		at++;
	return at;
}

/* Makes rows out of the touches of a line, which stand at order[at …]; returns their end. */
static uint32_t group_line(struct sharing *s, struct sharing_subject *subject, uint32_t number,
			   uint32_t at)
{
	uint64_t words[GROUP_WORDS], last[GROUP_WORDS] = { UINT64_MAX };
	uint32_t end = end_of_line(s, number, at);

	sharing_settle_reloads(s, at, end);
	subject->line = number;
	subject->first_access = (uint32_t)s->accesses.n;
	subject->first_touch = at;
	for (; at < end; at++) {
		struct sharing_touch_key k = sharing_touch_key(s->accesses_seen, s->order[at]);

		group_words(s, &k, words);
		if (memcmp(words, last, sizeof(words)) != 0)
			start_access(s, at, &k);
		memcpy(last, words, sizeof(words));
		sharing_touch_merge(&s->accesses.items[s->accesses.n - 1].sum, touch_at(s, at));
		sharing_counts_add(&subject->counts, &touch_at(s, at)->counts);
		sharing_latency_merge(&subject->contended, &touch_at(s, at)->contended);
		sharing_latency_merge(&subject->reloads, &touch_at(s, at)->reloads);
		s->accesses.items[s->accesses.n - 1].n_touches++;
	}
	subject->n_accesses = (uint32_t)s->accesses.n - subject->first_access;
	subject->n_touches = at - subject->first_touch;
	return at;
}

/* Lines were chosen in the order of subjects, so that is what touches are ordered by, too. */
static void group_accesses(struct sharing *s)
{
	uint32_t at = 0;

	order_touches(s);
	for (uint32_t i = 0; i < s->subjects.n; i++)
		at = group_line(s, &s->subjects.items[i], i, at);
	for (uint32_t i = 0; i < s->around.n; i++)
		at = group_line(s, &s->around.items[i], (uint32_t)s->subjects.n + i, at);
	for (size_t i = 0; i < s->accesses.n; i++)
		count_who(s, &s->accesses.items[i]);
	for (uint32_t i = 0; i < s->accesses_seen->pages.n; i++) {
		uint64_t line = tuples_get(&s->accesses_seen->pages, i)[0];

		if (line < s->subjects.n)
			s->subjects.items[line].n_pages++;
	}
}

static const struct {
	unsigned flag, kind;
} access_kinds[] = {
	{ ACCESS_ATOMIC, SHARING_KIND_ATOMIC },	  { ACCESS_EXCLUSIVE, SHARING_KIND_EXCLUSIVE },
	{ ACCESS_ACQUIRE, SHARING_KIND_ORDERED }, { ACCESS_RELEASE, SHARING_KIND_ORDERED },
	{ ACCESS_VECTOR, SHARING_KIND_VECTOR },
};

/*
 * What the instruction at a place does that records do not say. Of elements that lie apart, no
 * size is known.
 */
static struct sharing_instruction decode_place(struct sharing *s, uint32_t place)
{
	struct sharing_instruction out = { 0 };
	struct isa_access access;
	struct code code;

	if (module_of(s, place) == 0 ||
	    !symbols_code(s->session->symbols, session_place(s->session, place), CODE_BYTES,
			  &code) ||
	    !isa_access(code.isa, code.bytes, code.size, &access))
		return out;
	out.is_load = access.flags & ACCESS_LOAD;
	out.is_store = access.flags & ACCESS_STORE;
	for (size_t i = 0; i < COUNT(access_kinds); i++)
		if (access.flags & access_kinds[i].flag)
			out.kind |= (uint8_t)access_kinds[i].kind;
	out.is_scattered = access.flags & ACCESS_STRIDED;
	if (out.is_scattered || access.bytes > LINE_BYTES_MAX)
		return out;
	if (access.flags & ACCESS_SCALABLE)
		out.scalable = (uint16_t)access.bytes;
	else
		out.bytes = (uint16_t)access.bytes;
	return out;
}

static uint16_t vector_bytes(uint32_t bytes, uint32_t bits)
{
	bytes = bytes * bits / VECTOR_LEAST_BITS;
	return (uint16_t)(bytes > 0 ? bytes : 1);
}

/*
 * Of an instruction that accesses whole vectors a record says how long they are. If it accesses a
 * part of each, as with elements that are shorter in memory, the record may say how long that part
 * is instead.
 */
static void stretch(uint32_t bytes, uint32_t said_bits, uint32_t given_bits,
		    struct sharing_extent *out)
{
	bool is_whole = bytes >= VECTOR_LEAST_BITS / 8;

	out->least = 1;
	out->most = vector_bytes(bytes, VECTOR_MOST_BITS);
	out->lacks_length = said_bits == 0 && given_bits == 0;
	if (said_bits == 0 && given_bits != 0) {
		out->least = out->most = vector_bytes(bytes, given_bits);
	} else if (said_bits >= VECTOR_LEAST_BITS || (said_bits != 0 && !is_whole)) {
		out->least = vector_bytes(bytes, said_bits);
		out->most = is_whole ? out->least : (uint16_t)(said_bits / 8);
	}
}

struct sharing_extent sharing_extent(const struct sharing *s, const struct sharing_touch_key *k)
{
	const struct sharing_instruction *i = &s->instructions[k->place];
	bool fits = k->kind & SHARING_KIND_STORE ? i->is_store : i->is_load;

	struct sharing_extent out = { .least = 1, .kind = k->kind };

	if (fits)
		out.kind |= i->kind;
	out.most = out.kind & SHARING_KIND_VECTOR ? VECTOR_MAX : SCALAR_MAX;
	if (fits && i->is_scattered) {
		out.is_scattered = true;
		out.most = LINE_BYTES_MAX;
	}
	if (fits && i->scalable > 0)
		stretch(i->scalable, k->vector > 0 ? SVE_UNIT_BITS << k->vector : 0,
			s->request.vector_bits, &out);
	else if (fits && i->bytes > 0)
		out.least = out.most = i->bytes;
	if (out.kind & SHARING_KIND_PARTIAL)
		out.least = 1;
	return out;
}

/* The size that all touches of a row have. */
static void set_extent(const struct sharing *s, struct sharing_access *a)
{
	for (uint32_t i = 0; i < a->n_touches; i++) {
		struct sharing_touch_key k =
			sharing_touch_key(s->accesses_seen, s->order[a->first_touch + i]);
		struct sharing_extent e = sharing_extent(s, &k);

		uint16_t bytes = sharing_extent_bytes(&e);

		a->size = i == 0 || a->size == bytes ? bytes : 0;
		a->kind |= e.kind;
	}
}

static void name_accesses(struct sharing *s)
{
	bool *wanted = mem_zalloc((size_t)place_numbers_n(s->session->places) + 1, sizeof(*wanted));

	for (uint32_t i = 0; i < s->accesses_seen->keys.n; i++)
		wanted[sharing_touch_key(s->accesses_seen, i).place] = true;
	names_init(&s->names, s->session, wanted, SYMBOLS_LINES);
	s->instructions = mem_zalloc((size_t)place_numbers_n(s->session->places) + 1,
				     sizeof(*s->instructions));
	for (uint32_t i = 0; i < place_numbers_n(s->session->places); i++)
		if (wanted[i])
			s->instructions[i] = decode_place(s, i);
	free(wanted);
	for (size_t i = 0; i < s->accesses.n; i++)
		set_extent(s, &s->accesses.items[i]);
}

/* By what they are found to cost in the end: of what the first look took to be reloads some are not. */
static int compare_subjects(const void *left, const void *right)
{
	const struct sharing_subject *a = left, *b = right;

	if (a->excess_cycles != b->excess_cycles)
		return (a->excess_cycles < b->excess_cycles) -
		       (a->excess_cycles > b->excess_cycles);
	return (a->line > b->line) - (a->line < b->line);
}

static void rate_subjects(struct sharing *s)
{
	for (size_t i = 0; i < s->subjects.n; i++) {
		struct sharing_subject *subject = &s->subjects.items[i];

		sharing_rate(s, subject);
		subject->judgement = sharing_judge(s, subject);
	}
}

static void order_subjects(struct sharing *s)
{
	if (s->request.sort == SHARING_SORT_COST && s->subjects.n > 1)
		qsort(s->subjects.items, s->subjects.n, sizeof(*s->subjects.items),
		      compare_subjects);
}

static void look_closely(struct sharing *s, const struct select *select)
{
	look_at_lines(s, select);
	group_accesses(s);
	name_accesses(s);
}

static void forget_accesses(struct sharing *s)
{
	sharing_accesses_class.free(s->accesses_seen);
	s->accesses_seen = NULL;
	sharing_choice_release(&s->choice);
	names_release(&s->names);
	vec_release(&s->accesses);
	free(s->order);
	s->order = NULL;
	free(s->instructions);
	s->instructions = NULL;
}

static struct sharing_subject line_of(const uint64_t *key)
{
	return (struct sharing_subject){ .space = (uint32_t)key[0], .address = key[1] };
}

/*
 * Objects reach over other lines than those that are shown. What they are is known only after the
 * look at these: if there are such lines, of lines worth a word, all are looked at again.
 */
static void look_around(struct sharing *s, const struct select *select)
{
	struct sharing_objects objects;
	struct tuples lines;

	tuples_init(&lines, 2);
	sharing_objects_init(&objects, s);
	sharing_objects_lines(&objects, &lines);
	sharing_objects_release(&objects);
	for (uint32_t i = 0; i < lines.n; i++)
		*vec_add(&s->around) = line_of(tuples_get(&lines, i));
	if (lines.n > 0) {
		for (size_t i = 0; i < s->subjects.n; i++)
			s->subjects.items[i] = line_of((const uint64_t[]){
				s->subjects.items[i].space, s->subjects.items[i].address });
		forget_accesses(s);
		look_closely(s, select);
		rate_subjects(s);
	}
	tuples_release(&lines);
}

static int first_look(struct sharing *s, const struct select *select, struct err *err)
{
	struct analysis first = { .class = &sharing_lines_class, .options = &s->options };

	s->options.table = sharing_table_new();
	scan_part(s->session, select, &sharing_lines_wish, &first, 1);
	s->lines = first.result;
	if (s->session->attribution.n_rows > UINT32_MAX)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE,
			       "more than 2^32 records, which is more than a line's counters "
			       "hold; narrow it down with --select 'time in …'");
	if (s->request.by_physical && s->lines->n_physical == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--physical: the capture has no physical addresses; record them: "
			       "pa_enable=1 for SPE, --phys-data for samples, both as root");
	s->first_ns = s->session->first_ns;
	s->last_ns = s->session->last_ns;
	s->minimum_cycles = recorded_minimum(s->session->capture);
	s->local_cycles = sharing_local_cycles(s);
	s->interval = interval_of(s);
	return 0;
}

int sharing_run(struct session *session, const struct select *select,
		const struct sharing_request *request, struct sharing *out, struct err *err)
{
	struct sharing *s = out;

	*s = (struct sharing){ .session = session, .request = *request };
	if (fill_request(s, err) < 0 || first_look(s, select, err) < 0)
		return -1;
	choose_lines(s);
	look_closely(s, select);
	rate_subjects(s);
	if (request->with_objects)
		look_around(s, select);
	order_subjects(s);
	return 0;
}

void sharing_release(struct sharing *s)
{
	sharing_table_free(s->options.table);
	sharing_lines_class.free(s->lines);
	forget_accesses(s);
	vec_release(&s->subjects);
	vec_release(&s->around);
	*s = (struct sharing){ 0 };
}

double sharing_lost_cycles(const struct sharing *s, const struct sharing_subject *subject)
{
	return (double)subject->excess_cycles * s->interval;
}
