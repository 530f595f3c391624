/* SPDX-License-Identifier: Apache-2.0 */
/* Reads `perf stat -j`: an object on each line (perf-stat(1), "JSON FORMAT"). */
#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "count/import_inside.h"

static struct slice slice_of(const char *text)
{
	return (struct slice){ text, text == NULL ? 0 : strlen(text) };
}

static struct slice text_member(const json_t *object, const char *name)
{
	return slice_of(json_string_value(json_object_get(object, name)));
}

/* Reads the place of the count: one of these keys, or none. */
static void read_place(const json_t *object, struct counts *c, struct count *count)
{
	static const char *const parts[] = { "core",   "die",  "cluster", "cache",
					     "socket", "node", "thread",  "cgroup" };
	struct slice cpu = text_member(object, "cpu");
	uint64_t number;

	if (slice_u64(cpu, &number) && number <= INT32_MAX)
		count->cpu = (int32_t)number;
	for (size_t i = 0; i < COUNT(parts); i++) {
		struct slice part = text_member(object, parts[i]);

		if (part.n == 0)
			continue;
		slice_is_thread(part, &count->tid);
		count->where = slice_copy(&c->memory, part);
		return;
	}
}

static bool import_perf_json_read_value(struct slice text, struct count *out)
{
	return slice_is_state(text, &out->state) || slice_number(text, &out->value);
}

/* Objects without a count have more metrics of the object before. */
static void read_object(const json_t *object, struct counts *c, struct import_times *times)
{
	const char *event = json_string_value(json_object_get(object, "event"));
	const json_t *interval = json_object_get(object, "interval");
	const json_t *percent = json_object_get(object, "pcnt-running");
	struct count read = { 0 }, *count;
	json_int_t running;
	struct slice unit;

	if (event == NULL || event[0] == '\0' ||
	    !import_perf_json_read_value(text_member(object, "counter-value"), &read))
		return;
	count = counts_add(c, event);
	count->value = read.value;
	count->state = read.state;
	running = json_integer_value(json_object_get(object, "event-runtime"));
	count->running_ns = running > 0 ? (uint64_t)running : 0;
	count->spread = json_number_value(json_object_get(object, "variance")) / 100;
	if (json_is_number(interval))
		count->interval = import_interval(c, json_number_value(interval));
	read_place(object, c, count);
	unit = slice_trim(text_member(object, "unit"));
	counts_set_unit(c, count, unit.at, unit.n);
	*vec_add(&times->percent) = json_is_number(percent) ? json_number_value(percent) : 100;
}

static int read_json_lines(const char *text, size_t size, struct counts *out, struct err *err)
{
	struct lines lines = { text, text, text + size };
	struct import_times times = { 0 };
	struct slice line;
	size_t number = 0, n_bad = 0;

	while (lines_next(&lines, &line)) {
		json_t *object;

		number++;
		line = slice_trim(line);
		if (line.n == 0 || line.at[0] != '{')
			continue;
		object = json_loadb(line.at, line.n, 0, NULL);
		n_bad += object == NULL;
		if (object != NULL)
			read_object(object, out, &times);
		json_decref(object);
	}
	import_times_finish(&times, out);
	if (n_bad > 0 && out->items.n == 0)
		return err_set(err, ERR_FORMAT, 0, "counts: %zu of %zu lines are not JSON", n_bad,
			       number);
	return 0;
}

static bool is_json_lines(const char *text, size_t size)
{
	struct slice all = { text, size };

	return slice_has(all, "\"counter-value\"") || slice_has(all, "\"metric-value\"");
}

const struct import_format import_perf_json = { "perf stat -j", is_json_lines, read_json_lines };
