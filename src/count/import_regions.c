/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what libcyclops writes as json or csv: docs/schema/measure.json. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "count/import_inside.h"

/* A row of table "regions". */
struct region_row {
	const char *region, *parent, *event; /* parent NULL: none */
	uint64_t thread, calls;
	uint32_t group; /* its set, from 1; 0: the elapsed time */
	bool is_recursive;
	const json_t *object;
};

static uint64_t natural(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? (uint64_t)value : 0;
}

static int read_row(const json_t *object, size_t number, struct region_row *out, struct err *err)
{
	const json_t *set = json_object_get(object, "set");
	json_int_t n = json_integer_value(set);

	*out = (struct region_row){
		.region = json_string_value(json_object_get(object, "region")),
		.parent = json_string_value(json_object_get(object, "parent")),
		.event = json_string_value(json_object_get(object, "event")),
		.thread = natural(object, "thread"),
		.calls = natural(object, "calls"),
		.group = json_is_integer(set) && n >= 0 && n < 64 ? (uint32_t)n + 1 : 0,
		.is_recursive = json_is_true(json_object_get(object, "recursive")),
		.object = object,
	};
	if (out->region == NULL || out->event == NULL || out->region[0] == '\0' ||
	    out->event[0] == '\0' || out->thread > INT32_MAX)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "regions: row %zu: region, event or thread is missing or wrong",
			       number);
	return 0;
}

static struct count_region *region_of(struct counts *out, const char *name)
{
	struct count_region *region;

	for (size_t i = 0; i < out->regions.n; i++)
		if (strcmp(out->regions.items[i].name, name) == 0)
			return &out->regions.items[i];
	region = vec_add(&out->regions);
	*region = (struct count_region){
		.name = arena_strndup(&out->memory, name, strlen(name)),
	};
	return region;
}

static const struct {
	const char *word;
	enum count_state state;
} region_states[] = {
	{ "counted", COUNT_COUNTED },
	{ "not-supported", COUNT_NOT_SUPPORTED },
	{ "forbidden", COUNT_FORBIDDEN },
};

static enum count_state region_state(const json_t *object)
{
	const char *word = json_string_value(json_object_get(object, "state"));

	for (size_t i = 0; word != NULL && i < COUNT(region_states); i++)
		if (strcmp(region_states[i].word, word) == 0)
			return region_states[i].state;
	return COUNT_NOT_COUNTED;
}

/* Adds a row to the counts of one event in a list: by thread and set. `share`: of calls that its set was on for. */
static void add_row(struct counts *out, struct count *count, const struct region_row *row,
		    double share)
{
	double value = json_number_value(json_object_get(row->object, "count"));
	uint64_t enabled = natural(row->object, "enabled_ns");
	enum count_state state = region_state(row->object);

	if (count->event == NULL) {
		*count = (struct count){
			.event = arena_strndup(&out->memory, row->event, strlen(row->event)),
			.cpu = COUNT_ANY,
			.tid = (int32_t)row->thread,
			.group = row->group,
			.state = (uint8_t)state,
			.is_user_only = json_is_true(json_object_get(row->object, "user_only")),
		};
		if (row->group == 0)
			count->unit = "ns";
	}
	/* Calls while another set was on were not counted: as if they had been like the others. */
	enabled = (uint64_t)((double)enabled / share);
	count->enabled_ns += enabled;
	count->running_ns += natural(row->object, "running_ns");
	if (state != COUNT_COUNTED)
		return;
	count->state = COUNT_COUNTED;
	count->value += value / share;
}

static struct count *item_of_region(struct count_region *region, const struct region_row *row)
{
	for (size_t i = 0; i < region->items.n; i++) {
		struct count *c = &region->items.items[i];

		if (c->tid == (int32_t)row->thread && c->group == row->group &&
		    strcmp(c->event, row->event) == 0)
			return c;
	}
	return memset(vec_add(&region->items), 0, sizeof(struct count));
}

static struct count *item_of_all(struct counts *out, const struct region_row *row)
{
	for (size_t i = 0; i < out->items.n; i++) {
		struct count *c = &out->items.items[i];

		if (c->tid == (int32_t)row->thread && c->group == row->group &&
		    strcmp(c->event, row->event) == 0)
			return c;
	}
	return memset(vec_add(&out->items), 0, sizeof(struct count));
}

static void add_time(struct count_region *region, const struct region_row *row)
{
	region->calls += row->calls;
	region->exclusive_ns += natural(row->object, "exclusive");
	if (row->is_recursive)
		return; /* the outermost call has it */
	region->time_ns += natural(row->object, "count");
}

/* `calls`: of the same region, thread and region around, whatever set was on. */
static double share_of(const struct region_row *row, uint64_t calls)
{
	return calls > row->calls && row->calls > 0 ? (double)row->calls / (double)calls : 1;
}

static void add_to_regions(struct counts *out, const struct region_row *row, uint64_t calls)
{
	struct count_region *region = region_of(out, row->region);

	if (row->group == 0)
		add_time(region, row);
	else if (!row->is_recursive)
		add_row(out, item_of_region(region, row), row, share_of(row, calls));
}

/* Regions that are not inside another one make up the program. */
static void add_to_all(struct counts *out, const struct region_row *row, uint64_t calls)
{
	if (row->parent != NULL || row->is_recursive)
		return;
	if (row->group == 0)
		out->elapsed_ns += natural(row->object, "count");
	else
		add_row(out, item_of_all(out, row), row, share_of(row, calls));
}

/* How many threads a region has, by its counts; of all: 0 items count as one. */
static uint32_t threads_of(const struct count *items, size_t n)
{
	uint32_t n_threads = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < i && items[k].tid != items[i].tid)
			k++;
		n_threads += k == i;
	}
	return n_threads > 0 ? n_threads : 1;
}

int import_region_rows(const json_t *rows, bool are_all, struct counts *out, struct err *err)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < json_array_size(rows); i++) {
		struct region_row row;

		if (read_row(json_array_get(rows, i), i, &row, err) < 0)
			return -1;
		/* The elapsed time is the first event of a path, and counted in each call. */
		calls = row.group == 0 ? row.calls : calls;
		add_to_regions(out, &row, calls);
		if (are_all)
			add_to_all(out, &row, calls);
	}
	for (size_t i = 0; i < out->regions.n; i++) {
		struct count_region *r = &out->regions.items[i];

		r->n_threads = threads_of(r->items.items, r->items.n);
	}
	return 0;
}

/* The next cell of csv, with quotes as in RFC 4180. False: the line has ended. */
static bool next_cell(const char **at, const char *end, struct text *out)
{
	bool is_quoted;

	text_reset(out);
	if (*at == end || **at == '\n')
		return false;
	is_quoted = **at == '"';
	*at += is_quoted;
	for (; *at < end; ++*at) {
		char c = **at;

		if (is_quoted && c == '"') {
			++*at;
			if (*at == end || **at != '"') {
				is_quoted = false;
				--*at;
				continue;
			}
		} else if (!is_quoted && (c == ',' || c == '\n')) {
			break;
		}
		text_char(out, c);
	}
	text_char(out, '\0');
	return true;
}

/* A cell as the json of its column has it; NULL: it is empty. */
static json_t *json_of_cell(const char *column, const char *cell)
{
	static const char *const texts[] = { "region",	"parent", "event", "state",	"mode",
					     "program", "pmu",	  "midr",  "privilege", "why" };
	char *end;
	double number;

	if (cell[0] == '\0')
		return NULL;
	for (size_t i = 0; i < COUNT(texts); i++)
		if (strcmp(texts[i], column) == 0)
			return json_string(cell);
	if (strcmp(cell, "true") == 0 || strcmp(cell, "false") == 0)
		return json_boolean(cell[0] == 't');
	if (cell[strspn(cell, "0123456789")] == '\0' && strlen(cell) < 19)
		return json_integer(strtoll(cell, NULL, 10));
	number = strtod(cell, &end);
	return *end == '\0' ? json_real(number) : json_string(cell);
}

enum { MOST_COLUMNS = 64 };

/* The cells of a line, of columns by name; or, without columns, the names. Moves behind the line. */
static json_t *json_of_line(const char **at, const char *end, json_t *columns)
{
	json_t *row = columns == NULL ? json_array() : json_object();
	struct text cell = { 0 };

	for (size_t i = 0; i < MOST_COLUMNS && next_cell(at, end, &cell); i++) {
		const char *name = json_string_value(json_array_get(columns, i));

		/* A name that is no UTF-8 keeps its place. */
		if (columns == NULL && json_array_append_new(row, json_string(cell.bytes)) < 0)
			json_array_append_new(row, json_null());
		if (name != NULL)
			json_object_set_new(row, name, json_of_cell(name, cell.bytes));
		if (*at < end && **at == ',')
			++*at;
	}
	while (*at < end && **at != '\n')
		++*at;
	*at += *at < end;
	text_release(&cell);
	return row;
}

/* The csv that the library writes, as its json. */
static json_t *json_of_csv(const char *bytes, size_t size)
{
	static const char head[] = "# table ";
	const char *at = bytes, *end = bytes + size;
	json_t *root = json_object(), *table = NULL, *columns = NULL;

	while (at < end) {
		const size_t n = sizeof(head) - 1;
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		line_end = line_end == NULL ? end : line_end;
		if ((size_t)(line_end - at) > n && memcmp(at, head, n) == 0) {
			char name[64] = "";

			memcpy(name, at + n,
			       (size_t)(line_end - at) - n < sizeof(name) - 1
				       ? (size_t)(line_end - at) - n
				       : sizeof(name) - 1);
			at = line_end + (line_end < end);
			json_decref(columns);
			columns = json_of_line(&at, end, NULL);
			table = json_array();
			json_object_set_new(root, name, table);
			continue;
		}
		if (table == NULL) {
			at = line_end + (line_end < end);
			continue;
		}
		json_array_append_new(table, json_of_line(&at, end, columns));
	}
	json_decref(columns);
	return root;
}

static bool is_csv(const char *bytes, size_t size)
{
	static const char head[] = "# table run\n";

	return size >= sizeof(head) - 1 && memcmp(bytes, head, sizeof(head) - 1) == 0;
}

static int read_regions(const char *bytes, size_t size, struct counts *out, struct err *err)
{
	json_error_t error;
	json_t *root =
		is_csv(bytes, size) ? json_of_csv(bytes, size) : json_loadb(bytes, size, 0, &error);
	const json_t *run = json_array_get(json_object_get(root, "run"), 0);
	const char *midr = json_string_value(json_object_get(run, "midr"));
	const char *program = json_string_value(json_object_get(run, "program"));
	int rc;

	if (root == NULL)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "regions: line %d, column %d: %s",
			       error.line, error.column, error.text);
	if (midr != NULL)
		out->midr = strtoull(midr, NULL, 0) & UINT32_MAX;
	if (program != NULL)
		out->command = arena_strndup(&out->memory, program, strlen(program));
	out->has_no_pmu = json_object_get(run, "pmu") == NULL;
	out->is_modelled = json_is_true(json_object_get(root, "modelled"));
	rc = import_region_rows(json_object_get(root, "regions"), true, out, err);
	if (threads_of(out->items.items, out->items.n) != 1)
		out->elapsed_ns = 0;
	if (rc == 0 && out->regions.n == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE, "regions: the program ended none");
	json_decref(root);
	return rc;
}

static bool is_regions(const char *bytes, size_t size)
{
	struct slice all = slice_trim((struct slice){ bytes, size < 512 ? size : 512 });

	if (is_csv(bytes, size))
		return true;
	return all.n > 0 && all.at[0] == '{' && slice_has(all, "\"command\":\"measure\"");
}

const struct import_format import_regions = { "libcyclops", is_regions, read_regions };
