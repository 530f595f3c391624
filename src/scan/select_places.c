/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/select_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/text.h"

/* Gathers the functions or lines of a module that match. */
struct search {
	struct test *test;
	const struct token *value;
	const regex_t *pattern;
	uint32_t module;

	/* Of lines: the file in the value, its line (0: any), and whether the last path fits. */
	const char *file;
	size_t file_len;
	uint32_t line;
	const char *last_path;
	bool is_last_path;
	struct text text;
};

static void add_range(struct search *s, uint64_t offset, uint64_t size)
{
	*vec_add(&s->test->ranges) = (struct module_range){
		.module = s->module,
		.from = offset,
		.to = offset + size,
	};
}

static int compare_ranges(const void *left, const void *right)
{
	const struct module_range *a = left, *b = right;

	if (a->module != b->module)
		return (a->module > b->module) - (a->module < b->module);
	return (a->from > b->from) - (a->from < b->from);
}

/* Sorts the ranges, and joins those that touch or overlap. */
static void order_ranges(struct test *t)
{
	size_t n = 0;

	if (t->ranges.n > 1)
		qsort(t->ranges.items, t->ranges.n, sizeof(*t->ranges.items), compare_ranges);
	for (size_t i = 0; i < t->ranges.n; i++) {
		struct module_range range = t->ranges.items[i];
		struct module_range *last = n > 0 ? &t->ranges.items[n - 1] : NULL;

		if (last == NULL || last->module != range.module || last->to < range.from)
			t->ranges.items[n++] = range;
		else if (last->to < range.to)
			last->to = range.to;
	}
	t->ranges.n = n;
}

static void select_add_function(void *context, const char *name, uint64_t offset, uint64_t size)
{
	struct search *s = context;

	if (select_text_matches(name, s->value, s->pattern))
		add_range(s, offset, size > 0 ? size : 1);
}

int select_compile_symbol(struct session *s, struct test *t, const struct token *value,
			  const regex_t *pattern, struct err *err)
{
	struct search search = { .test = t, .value = value, .pattern = pattern };

	for (uint32_t i = 1; i < timeline_modules(s->timeline)->list.n; i++) {
		search.module = i;
		symbols_each_function(s->symbols, (struct module_id){ i }, select_add_function,
				      &search);
	}
	if (t->ranges.n == 0 && pattern == NULL && !t->is_negated)
		return err_set(err, ERR_USAGE, value->at,
			       "no function is called '%.*s' in the files that have names "
			       "(=~ takes a pattern)",
			       (int)value->len, value->text);
	order_ranges(t);
	return 0;
}

/* Takes "walk.c:8" apart; a value without a number is a file. */
static void select_split_line(struct search *s)
{
	const char *text = s->value->text;
	size_t at = s->value->len;
	uint64_t line = 0;

	s->file = text;
	s->file_len = s->value->len;
	while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
		at--;
	if (at < 2 || text[at - 1] != ':' || at == s->value->len)
		return;
	s->file_len = at - 1;
	for (; at < s->value->len && line <= UINT32_MAX; at++)
		line = line * 10 + (uint64_t)(text[at] - '0');
	/* No file has a line of UINT32_MAX, nor has any a line 0. */
	s->line = line == 0 || line > UINT32_MAX ? UINT32_MAX : (uint32_t)line;
}

/* Is the file this path, or the end of it? */
static bool is_end_of_path(const struct search *s, const char *path)
{
	size_t len = strlen(path);

	return len >= s->file_len && memcmp(path + len - s->file_len, s->file, s->file_len) == 0 &&
	       (len == s->file_len || path[len - s->file_len - 1] == '/');
}

static bool is_line(struct search *s, const char *path, uint32_t line)
{
	if (s->pattern != NULL) {
		text_reset(&s->text);
		text_format(&s->text, "%s:%u", path, line);
		text_char(&s->text, '\0');
		return regexec(s->pattern, s->text.bytes, 0, NULL, 0) == 0;
	}
	if (s->line != 0 && s->line != line)
		return false;
	if (path != s->last_path) {
		s->last_path = path;
		s->is_last_path = is_end_of_path(s, path);
	}
	return s->is_last_path;
}

static void select_places_add_line(void *context, const char *path, uint32_t line, uint64_t offset,
				   uint64_t size)
{
	struct search *s = context;

	if (is_line(s, path, line))
		add_range(s, offset, size);
}

int select_compile_line(struct session *s, struct test *t, const struct token *value,
			const regex_t *pattern, struct err *err)
{
	struct search search = { .test = t, .value = value, .pattern = pattern };

	select_split_line(&search);
	for (uint32_t i = 1; i < timeline_modules(s->timeline)->list.n; i++) {
		search.module = i;
		search.last_path = NULL; /* paths live as long as their file is open */
		symbols_each_line(s->symbols, (struct module_id){ i }, select_places_add_line,
				  &search);
	}
	text_release(&search.text);
	if (t->ranges.n == 0 && pattern == NULL && !t->is_negated)
		return err_set(err, ERR_USAGE, value->at,
			       "no code is of '%.*s' in the files with debug "
			       "information; wanted FILE:LINE or FILE (=~ takes a pattern)",
			       (int)value->len, value->text);
	order_ranges(t);
	return 0;
}

bool select_run_ranges(const struct test *t, const struct rows *r, size_t row, bool *has)
{
	const struct module_range *ranges = t->ranges.items;
	struct place place;
	size_t at;

	*has = r->batch->has[row] & HAS_PLACE;
	if (!*has)
		return false;
	place = session_place(r->session, r->batch->place[row]);
	at = bisect(0, t->ranges.n, i,
		    ranges[i].module < place.module.v ||
			    (ranges[i].module == place.module.v && ranges[i].to <= place.offset));
	return at < t->ranges.n && ranges[at].module == place.module.v &&
	       ranges[at].from <= place.offset;
}
