/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/c2c.h"

#include <stdlib.h>
#include <string.h>

#include "access/vector_length.h"
#include "base/alloc.h"
#include "base/nearest.h"
#include "c2c/accesses/cost.h"
#include "c2c/accesses/extent.h"
#include "c2c/accesses/group.h"
#include "c2c/choose.h"
#include "c2c/verdict/fight.h"
#include "c2c/verdict/verdict.h"
#include "scan/spe_filters.h"
#include "session/interval.h"

enum {
	LINE_BYTES = 64, /* where nothing tells */
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
	    r->line_bytes > SHARING_LINE_BYTES_MAX)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "a cache line of %llu bytes: not a power of two from 8 to %d",
			       (unsigned long long)r->line_bytes, SHARING_LINE_BYTES_MAX);
	if (vector_length_check(r->vector_bits, err) < 0)
		return -1;
	if (r->is_double)
		r->line_bytes *= 2;
	if (r->coalesce == 0)
		r->coalesce = SHARING_BY_PLACE;
	s->options = (struct sharing_options){ .line_bytes = r->line_bytes,
					       .mode = (enum sharing_mode)r->mode,
					       .by_physical = r->by_physical };
	return 0;
}

static double interval_of(const struct sharing *s)
{
	if (s->lines->n_samples > 0)
		return (double)s->lines->period / (double)s->lines->n_samples;
	return (double)spe_interval_common(s->session).mean;
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
	s->lacks_stores = spe_filters_hide_stores(s->session) || select_thins(select) ||
			  select_hides_kinds(select);
	s->minimum_cycles = spe_filters_least_cycles(s->session);
	s->local_cycles = sharing_local_cycles(s);
	s->interval = interval_of(s);
	return 0;
}

static void look_at_lines(struct sharing *s, const struct select *select)
{
	struct analysis second = { .class = &sharing_accesses_class, .options = &s->choice };
	size_t n = s->subjects.n + s->around.n;
	struct scan_wish wish;

	sharing_choice_init(&s->choice, &s->options, n, s->first_ns, s->last_ns);
	for (size_t i = 0; i < n; i++)
		sharing_choice_add(&s->choice, sharing_line_at(s, i)->space,
				   sharing_line_at(s, i)->address);
	wish = sharing_accesses_wish(&s->choice);
	scan_part(s->session, select, &wish, &second, 1);
	s->accesses_seen = second.result;
}

/*
 * By what they are found to cost in the end: of what the first look took to be reloads some are not;
 * and what was handed over is behind what is fought over.
 */
static int compare_subjects(const void *left, const void *right)
{
	const struct sharing_subject *a = left, *b = right;
	bool is_over_a = sharing_is_in_phases(&a->judgement);
	bool is_over_b = sharing_is_in_phases(&b->judgement);

	if (is_over_a != is_over_b)
		return is_over_a ? 1 : -1;
	if (a->excess_cycles != b->excess_cycles)
		return (a->excess_cycles < b->excess_cycles) -
		       (a->excess_cycles > b->excess_cycles);
	return (a->line > b->line) - (a->line < b->line);
}

static void rate_subjects(struct sharing *s)
{
	for (uint32_t i = 0; i < s->subjects.n; i++) {
		struct sharing_subject *subject = &s->subjects.items[i];

		sharing_rate(s, subject);
		subject->judgement = sharing_judge(s, &i, 1);
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
	sharing_group_accesses(s);
	sharing_name_accesses(s);
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

/* The other lines of objects on lines of fights that are worth a word. */
static void find_lines(const struct sharing *s, struct tuples *out)
{
	bool *wanted = mem_zalloc(s->subjects.n + 1, sizeof(*wanted));
	struct sharing_objects objects;
	struct sharing_instances instances;
	struct sharing_fights fights;

	sharing_objects_init(&objects, s);
	sharing_instances_init(&instances, &objects);
	sharing_fights_init(&fights, &objects, &instances);
	for (size_t i = 0; i < s->subjects.n; i++)
		wanted[i] = fights.list.items[fights.of_line[i]].worth != SHARING_WORTH_NOTHING;
	sharing_objects_lines(&objects, wanted, out);
	sharing_fights_release(&fights);
	sharing_instances_release(&instances);
	sharing_objects_release(&objects);
	free(wanted);
}

static void look_around(struct sharing *s, const struct select *select)
{
	struct tuples lines;

	tuples_init(&lines, 2);
	find_lines(s, &lines);
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

int sharing_run(struct session *session, const struct select *select,
		const struct sharing_request *request, struct sharing *out, struct err *err)
{
	struct sharing *s = out;

	*s = (struct sharing){ .session = session, .request = *request };
	if (fill_request(s, err) < 0 || first_look(s, select, err) < 0)
		return -1;
	sharing_choose_lines(s);
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
