/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/c2c.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "access/vector_length.h"
#include "base/alloc.h"
#include "base/nearest.h"
#include "base/pool.h"
#include "c2c/accesses/cost.h"
#include "c2c/accesses/extent.h"
#include "c2c/accesses/group.h"
#include "c2c/accesses/order.h"
#include "c2c/choose.h"
#include "c2c/sieved.h"
#include "c2c/verdict/cause.h"
#include "c2c/verdict/verdict.h"
#include "cpu/cpu.h"
#include "data/data_names.h"
#include "scan/spe_filters.h"
#include "session/interval.h"

enum {
	LINE_BYTES = 64, /* where nothing says it */
	INDEX_BYTES_MAX = 9 << 19,
	INDEX_BYTES_WAITING = 8 << 20, /* where the table has contended loads alone */
};

/* Which of struct c2c.looks. */
enum { LOOK_AT_ALL, LOOK_AT_SUBJECTS };

static const char *const sort_names[C2C_N_SORTS] = {
	[C2C_SORT_COST] = "cost",	[C2C_SORT_COUNT] = "count",
	[C2C_SORT_RECORDS] = "records", [C2C_SORT_STORES] = "stores",
	[C2C_SORT_ADDRESS] = "address",
};

/* By bit number of enum c2c_coalesce. */
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

int c2c_mode_parse(const char *text, int *out, struct err *err)
{
	const struct word_list list = { c2c_mode_names, C2C_N_MODES };
	int found = find_word("--mode", &list, text, strlen(text), err);

	if (found < 0)
		return -1;
	*out = found;
	return 0;
}

int c2c_sort_parse(const char *text, enum c2c_sort *out, struct err *err)
{
	const struct word_list list = { sort_names, C2C_N_SORTS };
	int found = find_word("--sort", &list, text, strlen(text), err);

	if (found < 0)
		return -1;
	*out = (enum c2c_sort)found;
	return 0;
}

int c2c_coalesce_parse(const char *text, unsigned *out, struct err *err)
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

static int fill_request(struct c2c *s, struct err *err)
{
	struct c2c_request *r = &s->request;
	const struct info *info = capture_info(s->session->capture);
	const char *arch = strings_get(capture_strings(s->session->capture), info->arch);
	bool is_spe = capture_spe(s->session->capture)->is_present;

	if (r->mode < 0)
		r->mode = is_spe || strcmp(arch, "aarch64") == 0 ? C2C_BY_PEER : C2C_BY_HITM;
	if (r->line_bytes == 0)
		r->line_bytes = line_bytes_of(s->session);
	if (r->line_bytes < 8 || (r->line_bytes & (r->line_bytes - 1)) != 0 ||
	    r->line_bytes > C2C_LINE_BYTES_MAX)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "a cache line of %llu bytes: not a power of two from 8 to %d",
			       (unsigned long long)r->line_bytes, C2C_LINE_BYTES_MAX);
	if (vector_length_check(r->vector_bits, err) < 0)
		return -1;
	if (r->is_double)
		r->line_bytes *= 2;
	if (r->coalesce == 0)
		r->coalesce = C2C_BY_PLACE;
	s->options = (struct c2c_options){ .line_bytes = r->line_bytes,
					   .mode = (enum c2c_mode)r->mode,
					   .by_physical = r->by_physical };
	return 0;
}

static double interval_of(const struct c2c *s)
{
	if (s->lines->n_samples > 0)
		return (double)s->lines->period / (double)s->lines->n_samples;
	return (double)spe_interval_common(s->session).mean;
}

/* The result of a look, which is no longer that of the scan. */
static void *take_look(struct c2c *s, int look)
{
	void *result = s->looks[look].result;

	s->looks[look].result = NULL;
	return result;
}

/* What the first look found of the capture. */
static int take_first_look(struct c2c *s, const struct select *select, struct err *err)
{
	s->lines = take_look(s, LOOK_AT_ALL);
	c2c_paces_order(&s->lines->paces);
	if (s->session->attribution.n_rows > UINT32_MAX)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE,
			       "more than 2^32 records, the limit of a line's counters; select "
			       "fewer with --select 'time in …'");
	if (s->request.by_physical && s->lines->n_physical == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "--physical: the capture has no physical addresses; record them: "
			       "pa_enable=1 for SPE, --phys-data for samples, both as root");
	s->first_ns = s->session->first_ns;
	s->last_ns = s->session->last_ns;
	s->stores = spe_filters_stores(s->session);
	s->selects_stores = select_thins(select) || select_hides_kinds(select);
	s->lacks_stores = s->selects_stores || s->stores == SPE_STORES_BY_KIND ||
			  s->stores == SPE_STORES_BY_EVENT;
	s->minimum_cycles = spe_filters_least_cycles(s->session);
	s->local_cycles = c2c_local_cycles(s);
	s->own_cache_lines = catalog_own_cache_lines(s->session->catalog, s->session->cpu);
	s->interval = interval_of(s);
	/* asked once: whoever looks for a file from here on changes the answer */
	s->by_mapping = s->request.only_phases && data_names_are_of_mappings(s->session);
	return 0;
}

/* The second look: at the subjects, and at lines near them. */
static void add_second_look(struct c2c *s, struct shared_scan *scan)
{
	struct scan_wish wish;

	c2c_choice_init(&s->choice, &s->options, s->subjects.n + s->near.lines.n, s->first_ns,
			s->last_ns);
	c2c_choose_subjects(s);
	for (size_t i = 0; i < s->near.lines.n; i++)
		c2c_choice_add_near(&s->choice, s->near.lines.items[i].space,
				    s->near.lines.items[i].address);
	s->choice.most_near = C2C_MOST_NEAR;
	s->choice.most_kept = C2C_MOST_KEPT;
	wish = c2c_accesses_wish(&s->choice);
	wish.index = s->index;
	s->looks[LOOK_AT_SUBJECTS] =
		(struct analysis){ .class = &c2c_accesses_class, .options = &s->choice };
	if (s->subjects.n > 0)
		shared_scan_add(scan, &s->looks[LOOK_AT_SUBJECTS], &wish);
}

static void take_second_look(struct c2c *s)
{
	if (s->accesses_seen == NULL)
		s->accesses_seen = take_look(s, LOOK_AT_SUBJECTS);
	if (s->accesses_seen == NULL) /* there are no subjects */
		s->accesses_seen = c2c_accesses_class.new(s->session, &s->choice);
	c2c_order_touches(s, s->accesses_seen);
}

/*
 * By what they are found to cost in the end: of what the first look took to be reloads some are not;
 * and what threads used one after the other is behind what is contended.
 */
static int compare_subjects(const void *left, const void *right)
{
	const struct c2c_subject *a = left, *b = right;
	bool is_over_a = c2c_is_in_phases(&a->judgement);
	bool is_over_b = c2c_is_in_phases(&b->judgement);

	if (is_over_a != is_over_b)
		return is_over_a ? 1 : -1;
	if (a->excess_cycles != b->excess_cycles)
		return (a->excess_cycles < b->excess_cycles) -
		       (a->excess_cycles > b->excess_cycles);
	return (a->line > b->line) - (a->line < b->line);
}

struct rating {
	struct c2c *s;
	struct c2c_judging_tables **tables; /* by worker */
};

/* Each subject on its own: judging looks at its accesses alone. */
static void rate_subject(void *context, size_t number, unsigned worker)
{
	const struct rating *r = context;
	struct c2c_subject *subject = &r->s->subjects.items[number];
	uint32_t line = (uint32_t)number;

	c2c_rate(r->s, subject);
	subject->judgement = c2c_judge_with(r->tables[worker], r->s, &line, 1);
}

static void rate_subjects(struct c2c *s)
{
	unsigned n = pool_size(s->session->pool);
	struct rating r = { s, mem_alloc(n, sizeof(*r.tables)) };

	for (unsigned i = 0; i < n; i++)
		r.tables[i] = c2c_judging_tables_new();
	pool_run(s->session->pool, s->subjects.n, rate_subject, &r);
	for (unsigned i = 0; i < n; i++)
		c2c_judging_tables_free(r.tables[i]);
	free(r.tables);
}

static void order_subjects(struct c2c *s)
{
	if (s->request.sort == C2C_SORT_COST && s->subjects.n > 1)
		qsort(s->subjects.items, s->subjects.n, sizeof(*s->subjects.items),
		      compare_subjects);
}

static void forget_objects(struct c2c *s)
{
	if (s->causes != NULL)
		c2c_causes_release(s->causes);
	if (s->instances != NULL)
		c2c_instances_release(s->instances);
	if (s->objects != NULL)
		c2c_objects_release(s->objects);
	free(s->causes);
	free(s->instances);
	free(s->objects);
	s->causes = NULL;
	s->instances = NULL;
	s->objects = NULL;
}

static void find_objects(struct c2c *s)
{
	s->objects = mem_alloc(1, sizeof(*s->objects));
	c2c_objects_init(s->objects, s);
	if (s->request.only_phases)
		return;
	s->instances = mem_alloc(1, sizeof(*s->instances));
	c2c_instances_init(s->instances, s->objects);
	s->causes = mem_alloc(1, sizeof(*s->causes));
	c2c_causes_init(s->causes, s->objects, s->instances);
}

/* The other lines of objects that findings are about. */
static void c2c_find_lines(const struct c2c *s, struct tuples *out)
{
	bool *wanted = mem_zalloc(s->subjects.n + 1, sizeof(*wanted));
	const struct c2c_causes *causes = s->causes;

	for (size_t i = 0; i < s->subjects.n; i++)
		wanted[i] = causes->list.items[causes->of_line[i]].class != C2C_NOT_CONTENDED;
	c2c_objects_lines(s->objects, wanted, out);
	free(wanted);
}

/* The number of a line (space, address) near the subjects that the second look kept, or TUPLES_NONE. */
static uint32_t number_near(const struct c2c *s, const uint64_t *line)
{
	uint32_t number = tuples_find(&s->choice.keys, line);

	return number < s->accesses_seen->near_end ? number : TUPLES_NONE;
}

/* May a line have been accessed without the second look having kept it? */
static bool is_missed(const struct c2c *s, const struct c2c_subject *line)
{
	const uint64_t key[] = { line->space, line->address };

	if (line->line != TUPLES_NONE)
		return false;
	return c2c_near_is_beyond(&s->near, key) ||
	       tuples_find(&s->choice.keys, key) != TUPLES_NONE;
}

/* Lines of which the third look could not keep all: as if nothing was done to them, which is said. */
static void leave_out(struct c2c *s, const struct c2c_accesses *looked, uint32_t first)
{
	for (size_t i = 0; i < s->around.n; i++) {
		uint32_t *line = &s->around.items[i].line;

		if (*line != TUPLES_NONE && *line >= first + looked->near_end)
			*line = TUPLES_NONE;
	}
	s->n_lines_left_out = c2c_accesses_n_left_out(looked);
}

/*
 * The number of a line that was missed because of how many there are, and whose touches the second look kept all the same;
 * or TUPLES_NONE.
 */
static uint32_t number_kept(const struct c2c *s, const struct c2c_subject *line)
{
	const uint64_t key[] = { line->space, line->address };
	uint32_t number = tuples_find(&s->choice.keys, key);

	return number < s->accesses_seen->kept_end ? number : TUPLES_NONE;
}

/* Have all lines that were missed been kept? With a heap map a line of the choice has fields, others have none. */
static bool are_kept(const struct c2c *s)
{
	for (size_t i = 0; i < s->around.n; i++)
		if (is_missed(s, &s->around.items[i]) &&
		    number_kept(s, &s->around.items[i]) == TUPLES_NONE)
			return false;
	return s->session->heap == NULL;
}

/* Takes of the lines that were kept as many as a look of its own would have room for. */
static void take_kept(struct c2c *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->around.n; i++) {
		struct c2c_subject *line = &s->around.items[i];
		uint32_t number = number_kept(s, line), first, n_touches;

		if (!is_missed(s, line))
			continue;
		n_touches = c2c_line_touches(s->accesses_seen, number, &first);
		n += n_touches;
		if (n <= C2C_MOST_NEAR)
			line->line = number;
		else
			s->n_lines_left_out += n_touches > 0;
	}
}

/* Scans once more, for all lines that were missed. */
static void scan_farther(struct c2c *s, const struct select *select)
{
	struct c2c_choice choice;
	struct analysis look = { .class = &c2c_accesses_class, .options = &choice };
	struct scan_wish wish;

	uint32_t first = s->accesses_seen->n_lines;

	c2c_choice_init(&choice, &s->options, s->around.n, s->first_ns, s->last_ns);
	for (size_t i = 0; i < s->around.n; i++) {
		struct c2c_subject *line = &s->around.items[i];

		if (!is_missed(s, line))
			continue;
		line->line = first + choice.keys.n;
		c2c_choice_add_near(&choice, line->space, line->address);
	}
	choice.most_near = choice.most_kept = C2C_MOST_NEAR;
	if (choice.keys.n > 0) {
		wish = c2c_accesses_wish(&choice);
		wish.index = s->index;
		wish.keeps_places = true;
		scan_part(s->session, select, &wish, &look, 1);
		c2c_order_touches(s, look.result);
		c2c_accesses_take(s->accesses_seen, look.result);
		leave_out(s, look.result, first);
		c2c_accesses_class.free(look.result);
	}
	c2c_choice_release(&choice);
}

/*
 * Looks at lines that are farther away than the second look wanted what is done, which takes a scan
 * of its own if not all of them were kept: of large objects without a name, where too much is done around them. Of these, too, as many are
 * kept as there is room for, the first ones.
 */
static void look_farther(struct c2c *s, const struct select *select)
{
	if (are_kept(s))
		take_kept(s);
	else
		scan_farther(s, select);
}

/* What was done to objects on other lines than those that are shown. */
static void look_around(struct c2c *s, const struct select *select)
{
	struct tuples lines;

	tuples_init(&lines, 2);
	c2c_find_lines(s, &lines);
	for (uint32_t i = 0; i < lines.n; i++) {
		const uint64_t *line = tuples_get(&lines, i);

		*vec_add(&s->around) = (struct c2c_subject){
			.space = (uint32_t)line[0],
			.address = line[1],
			.line = number_near(s, line),
		};
	}
	tuples_release(&lines);
	look_farther(s, select);
	/*
	 * All over again: an access on the lines around can give accesses that are known already
	 * another object, or none (a struct that its code knew a member of; two things at one place;
	 * a page that turns out to be a stack; a block of thread-local data).
	 */
	if (c2c_group_around(s)) {
		c2c_name_accesses(s, s->around.items, s->around.n);
		forget_objects(s);
		find_objects(s);
	} else {
		s->around.n = 0;
	}
}

int c2c_begin(struct c2c *s, struct session *session, const struct c2c_request *request,
	      struct shared_scan *first, struct err *err)
{
	struct scan_wish wish = c2c_lines_wish;

	*s = (struct c2c){ .session = session, .request = *request };
	if (fill_request(s, err) < 0)
		return -1;
	s->options.table = c2c_table_new(c2c_mode_masks[C2C_BY_PEER] | c2c_mode_masks[C2C_BY_HITM]);
	/* objects are chosen by shares, which need all loads */
	assert(!(request->only_waiting && request->with_objects));
	s->options.rows = request->only_waiting ? C2C_CONTENDED_ROWS : C2C_ALL_ROWS;
	s->looks[LOOK_AT_ALL] =
		(struct analysis){ .class = &c2c_lines_class, .options = &s->options };
	if (!s->request.by_physical && !request->without_index)
		s->index = address_index_new(
			capture_n_units(session->capture), s->options.line_bytes,
			request->only_waiting ? INDEX_BYTES_WAITING : INDEX_BYTES_MAX);
	s->options.index = wish.index = s->index;
	wish.without_translation = !s->request.by_physical;
	shared_scan_add(first, &s->looks[LOOK_AT_ALL], &wish);
	return 0;
}

int c2c_choose(struct c2c *s, const struct select *select, struct shared_scan *second,
	       struct err *err)
{
	if (take_first_look(s, select, err) < 0)
		return -1;
	if (s->request.only_waiting)
		c2c_look_at_sieved(s, select, &s->accesses_seen);
	if (s->accesses_seen == NULL)
		c2c_choose_lines(s);
	if (s->request.with_objects && s->may_have_findings)
		c2c_near_choose(s);
	c2c_table_free(s->options.table);
	s->options.table = NULL;
	if (s->accesses_seen == NULL)
		add_second_look(s, second);
	return 0;
}

void c2c_finish(struct c2c *s, const struct select *select)
{
	take_second_look(s);
	c2c_group_accesses(s);
	c2c_name_accesses(s, s->subjects.items, s->subjects.n);
	rate_subjects(s);
	order_subjects(s);
	find_objects(s);
	if (s->request.with_objects)
		look_around(s, select);
	c2c_near_release(&s->near);
	address_index_free(s->index);
	s->index = NULL;
}

int c2c_run(struct session *session, const struct select *select, const struct c2c_request *request,
	    struct c2c *out, struct err *err)
{
	struct shared_scan scan = { 0 };

	if (c2c_begin(out, session, request, &scan, err) < 0)
		return -1;
	shared_scan_run(session, select, &scan);
	if (c2c_choose(out, select, &scan, err) < 0)
		return -1;
	shared_scan_run(session, select, &scan);
	if (request->is_last)
		capture_drop(session->capture);
	c2c_finish(out, select);
	return 0;
}

void c2c_release(struct c2c *s)
{
	c2c_lines_class.free(take_look(s, LOOK_AT_ALL));
	c2c_accesses_class.free(take_look(s, LOOK_AT_SUBJECTS));
	forget_objects(s);
	c2c_table_free(s->options.table);
	c2c_lines_class.free(s->lines);
	c2c_accesses_class.free(s->accesses_seen);
	c2c_near_release(&s->near);
	address_index_free(s->index);
	c2c_choice_release(&s->choice);
	names_release(&s->names);
	vec_release(&s->accesses);
	free(s->instructions);
	free(s->is_named);
	vec_release(&s->subjects);
	vec_release(&s->around);
	*s = (struct c2c){ 0 };
}

double c2c_lost_cycles(const struct c2c *s, const struct c2c_subject *subject)
{
	return (double)subject->excess_cycles * s->interval;
}
