/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A processed profile of version 48 for the Firefox Profiler, which upgrades it to its own:
 * docs-developer/CHANGELOG-formats.md there. One event; a sample is a stack of a thread in a slice of time. Its
 * category is the data source of SPE records, or whether the code is the kernel's. Slices are markers, too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "export/formats/frames.h"
#include "export/formats/path_numbers.h"
#include "keys/keys.h"
#include "table/json_string.h"

enum { VERSION = 48, GECKO_VERSION = 27, LIBRARY = 1, MAX_MARKERS = 100000, NONE = UINT32_MAX };

enum { CATEGORY_OTHER, CATEGORY_KERNEL, N_OWN_CATEGORIES };

static const double ns_in_ms = 1e6;

/* The first is that of the default category. */
static const char *const colours[] = {
	"grey",	  "orange", "green",   "lightblue", "blue",
	"purple", "red",    "magenta", "brown",	    "yellow",
};

struct firefox_frame {
	uint32_t function, line, depth;
};

struct firefox_marker {
	uint64_t slice, n_records, weight;
};

/* Tables of one thread. */
struct firefox_thread {
	struct frame_numbers functions;
	struct tuples frame_keys;
	VEC_OF(struct firefox_frame) frames;
	struct tuples labels;	   /* frame, category */
	struct path_numbers paths; /* of labels */
	VEC_OF(struct firefox_marker) markers;
	struct strings strings;
	struct tuples libs; /* module: resource */
};

struct firefox {
	struct profile *profile;
	struct text *out;
	struct tuples categories; /* words of DIM_SOURCE: number + N_OWN_CATEGORIES */
	struct tuples libs;	  /* modules */
	uint64_t n_markers, n_hidden;
	uint32_t n_threads;
};

static void put_quoted(struct text *out, const char *name, const char *value)
{
	text_format(out, "\"%s\":", name);
	json_put_string(out, value);
}

static uint32_t category_of(struct firefox *f, const struct stack *stack, bool is_kernel)
{
	if (key_source(stack->source) != NULL)
		return tuples_add(&f->categories, &stack->source) + N_OWN_CATEGORIES;
	return is_kernel ? CATEGORY_KERNEL : CATEGORY_OTHER;
}

static uint32_t firefox_frame_of(struct firefox_thread *t, const struct firefox *f,
				 const struct stack_frame *frame)
{
	uint32_t n = stacks_n_levels(f->profile->stacks, frame->place);
	const struct firefox_frame made = { frame_numbers_add(&t->functions, frame), frame->line,
					    n - 1 - frame->level };
	const uint64_t key[] = { made.function, made.line, made.depth };
	uint32_t number = tuples_add(&t->frame_keys, key);

	if (number == t->frames.n)
		*vec_add(&t->frames) = made;
	return number;
}

/* The innermost function has the category of the record; callers have none of their own. */
static void firefox_add_stack(struct firefox *f, struct firefox_thread *t,
			      const struct stack *stack)
{
	VEC_OF(uint32_t) labels = { 0 };
	uint64_t category;
	struct stack_walk walk;
	struct stack_frame frame;

	for (stack_walk_init(&walk, f->profile->stacks, stack); stack_walk_next(&walk, &frame);) {
		category = labels.n > 0 ? CATEGORY_OTHER : category_of(f, stack, frame.is_kernel);
		*vec_add(&labels) =
			tuples_add(&t->labels,
				   (const uint64_t[2]){ firefox_frame_of(t, f, &frame), category });
	}
	path_numbers_add(&t->paths, labels.items, labels.n);
	vec_release(&labels);
}

static void add_to_marker(struct firefox *f, struct firefox_thread *t, const struct stack *stack)
{
	struct firefox_marker *last = t->markers.n > 0 ? &t->markers.items[t->markers.n - 1] : NULL;

	if (stack->slice == DIM_ABSENT)
		return;
	if (last == NULL || last->slice != stack->slice) {
		if (f->n_markers == MAX_MARKERS) {
			f->n_hidden++;
			return;
		}
		f->n_markers++;
		last = vec_add(&t->markers);
		last->slice = stack->slice;
	}
	last->n_records += stack->values[STACK_RECORDS];
	last->weight += stack->values[f->profile->value];
}

static bool is_shown(const struct firefox *f, const struct stack *stack)
{
	return stack->values[f->profile->value] > 0;
}

/* Milliseconds from the start of the capture. */
static double slice_ms(const struct firefox *f, uint64_t slice)
{
	return (double)slices_start_ns(&f->profile->session->slices, (uint32_t)slice) / ns_in_ms;
}

/* When samples are shown: those of a slice are spread evenly over it, as only the slice is known. */
static void put_times(struct firefox *f, uint64_t at, uint64_t end)
{
	double width = (double)f->profile->session->slices.width_ns / ns_in_ms;
	const struct stacks *s = f->profile->stacks;
	bool is_first = true;
	size_t number = 0;
	struct stack stack;

	while (at < end) {
		uint64_t next = at;
		size_t n = 0;
		uint64_t slice = DIM_ABSENT;

		for (uint64_t i = at; i < end; next = i) { /* those of one slice */
			stacks_next(s, &i, &stack);
			if (n > 0 && stack.slice != slice)
				break;
			slice = stack.slice;
			n++;
		}
		for (size_t k = 0; at < next; k++) {
			stacks_next(s, &at, &stack);
			if (!is_shown(f, &stack))
				continue;
			text_format(f->out, "%s%.6f", is_first ? "" : ",",
				    slice == DIM_ABSENT
					    ? (double)number
					    : slice_ms(f, slice) +
						      width * ((double)k + 0.5) / (double)n);
			is_first = false;
			number++;
			profile_writer_step(f->profile->out);
		}
	}
}

static void put_weights(struct firefox *f, uint64_t at, uint64_t end)
{
	bool is_first = true;
	struct stack stack;

	while (at < end) {
		stacks_next(f->profile->stacks, &at, &stack);
		if (!is_shown(f, &stack))
			continue;
		if (!is_first)
			text_char(f->out, ',');
		is_first = false;
		text_u64(f->out, stack.values[f->profile->value]);
		profile_writer_step(f->profile->out);
	}
}

/* A column of a table: a number for each of its rows; NONE is null. */
typedef uint32_t firefox_cell(struct firefox *, struct firefox_thread *, size_t row);

static void put_column(struct firefox *f, struct firefox_thread *t, const char *name, size_t n,
		       firefox_cell *cell)
{
	text_format(f->out, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		uint32_t value = cell != NULL ? cell(f, t, i) : NONE;

		if (i > 0)
			text_char(f->out, ',');
		if (value == NONE)
			text_str(f->out, "null");
		else
			text_u64(f->out, value);
		profile_writer_step(f->profile->out);
	}
	text_str(f->out, "],\n");
}

static void put_same(struct firefox *f, const char *name, size_t n, const char *value)
{
	text_format(f->out, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		text_str(f->out, i > 0 ? "," : "");
		text_str(f->out, value);
		profile_writer_step(f->profile->out);
	}
	text_str(f->out, "],\n");
}

static uint32_t frame_depth(struct firefox *f, struct firefox_thread *t, size_t row)
{
	(void)f;
	return t->frames.items[row].depth;
}

static uint32_t frame_function(struct firefox *f, struct firefox_thread *t, size_t row)
{
	(void)f;
	return t->frames.items[row].function;
}

static uint32_t frame_line(struct firefox *f, struct firefox_thread *t, size_t row)
{
	(void)f;
	return t->frames.items[row].line != 0 ? t->frames.items[row].line : NONE;
}

static uint32_t put_function_name(struct firefox *f, struct firefox_thread *t, size_t row)
{
	struct text name = { 0 };
	uint32_t id;

	profile_put_frame_name(f->profile, &t->functions.list.items[row], &name);
	id = strings_add(&t->strings, name.bytes, name.n).v;
	text_release(&name);
	return id;
}

static uint32_t function_file(struct firefox *f, struct firefox_thread *t, size_t row)
{
	const char *file = t->functions.list.items[row].file;

	(void)f;
	return file == NULL ? NONE : strings_addz(&t->strings, file).v;
}

/* The library of a function, as a number of the thread's resources. */
static int64_t resource_of(struct firefox_thread *t, struct module_id module)
{
	const uint64_t key = module.v;

	return module.v == 0 ? -1 : (int64_t)tuples_add(&t->libs, &key);
}

static uint32_t resource_lib(struct firefox *f, struct firefox_thread *t, size_t row)
{
	return tuples_add(&f->libs, tuples_get(&t->libs, (uint32_t)row));
}

static uint32_t resource_name(struct firefox *f, struct firefox_thread *t, size_t row)
{
	struct module_id module = { (uint32_t)tuples_get(&t->libs, (uint32_t)row)[0] };

	return strings_addz(&t->strings, names_module(f->profile->session, module)).v;
}

static void put_resources_of_functions(struct firefox *f, struct firefox_thread *t)
{
	text_str(f->out, "\"resource\":[");
	for (size_t i = 0; i < t->functions.list.n; i++) {
		text_str(f->out, i > 0 ? "," : "");
		text_i64(f->out, resource_of(t, t->functions.list.items[i].module));
	}
	text_str(f->out, "],\n");
}

static void put_length(struct firefox *f, size_t n)
{
	text_format(f->out, "\"length\":%zu},\n", n);
}

static void put_markers(struct firefox *f, struct firefox_thread *t)
{
	size_t n = t->markers.n;
	double width = (double)f->profile->session->slices.width_ns / ns_in_ms;
	char name[16];

	text_str(f->out, "\"markers\":{\"data\":[");
	for (size_t i = 0; i < n; i++)
		text_format(f->out, "%s{\"type\":\"slice\",\"records\":%llu,\"weight\":%llu}",
			    i > 0 ? ",\n" : "", (unsigned long long)t->markers.items[i].n_records,
			    (unsigned long long)t->markers.items[i].weight);
	text_str(f->out, "],\n\"startTime\":[");
	for (size_t i = 0; i < n; i++)
		text_format(f->out, "%s%.6f", i > 0 ? "," : "",
			    slice_ms(f, t->markers.items[i].slice));
	text_str(f->out, "],\n\"endTime\":[");
	for (size_t i = 0; i < n; i++)
		text_format(f->out, "%s%.6f", i > 0 ? "," : "",
			    slice_ms(f, t->markers.items[i].slice) + width);
	text_str(f->out, "],\n");
	snprintf(name, sizeof(name), "%u", n > 0 ? strings_addz(&t->strings, "slice").v : 0);
	put_same(f, "name", n, name);
	put_same(f, "phase", n, "1");
	put_same(f, "category", n, "0");
	put_length(f, n);
}

static void put_thread_head(struct firefox *f, const struct stack *of)
{
	const struct stacks *s = f->profile->stacks;
	const struct process *process = timeline_process(s->session->timeline, of->process);
	int32_t pid = of->process != 0 ? (int32_t)process->pid : -1;
	int32_t tid = of->tid != DIM_ABSENT ? (int32_t)of->tid : pid;

	text_str(f->out, f->n_threads++ > 0 ? ",\n{" : "\n{");
	text_str(f->out, "\"processType\":\"default\",\"processStartupTime\":0,"
			 "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
			 "\"pausedRanges\":[],\"showMarkersInTimeline\":true,");
	put_quoted(f->out, "name", stacks_thread_name(s, of->tid));
	text_char(f->out, ',');
	put_quoted(f->out, "processName", stacks_process_name(s, of->process));
	text_format(f->out, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%d,\n",
		    tid == pid ? "true" : "false", pid, tid);
}

static void put_sample_stacks(struct firefox *f, struct firefox_thread *t)
{
	text_str(f->out, "\"stack\":[");
	for (uint64_t at = 0, i = 0; i < t->paths.n_samples; i++) {
		text_str(f->out, i > 0 ? "," : "");
		text_u64(f->out, path_numbers_of_sample(&t->paths, &at));
		profile_writer_step(f->profile->out);
	}
	text_str(f->out, "],\n");
}

enum stack_column { STACK_PREFIX, STACK_FRAME, STACK_CATEGORY };

static void put_stack_column(struct firefox *f, struct firefox_thread *t, const char *name,
			     enum stack_column column)
{
	struct path_row row;

	text_format(f->out, "\"%s\":[", name);
	for (path_row_init(&row); path_numbers_next(&t->paths, &row);) {
		const uint64_t *label = tuples_get(&t->labels, row.label);

		text_str(f->out, row.number > 0 ? "," : "");
		if (column == STACK_PREFIX && row.parent == PATH_NONE)
			text_str(f->out, "null");
		else
			text_u64(f->out, column == STACK_PREFIX	 ? row.parent
					 : column == STACK_FRAME ? label[0]
								 : label[1]);
		profile_writer_step(f->profile->out);
	}
	path_row_release(&row);
	text_str(f->out, "],\n");
}

static void put_thread_tables(struct firefox *f, struct firefox_thread *t)
{
	size_t n = t->paths.n;

	text_str(f->out, "\"stackTable\":{");
	put_stack_column(f, t, "prefix", STACK_PREFIX);
	put_stack_column(f, t, "frame", STACK_FRAME);
	put_stack_column(f, t, "category", STACK_CATEGORY);
	put_same(f, "subcategory", n, "0");
	put_length(f, n);
	n = t->frames.n;
	text_str(f->out, "\"frameTable\":{");
	put_same(f, "address", n, "-1");
	put_column(f, t, "inlineDepth", n, frame_depth);
	put_column(f, t, "func", n, frame_function);
	put_column(f, t, "line", n, frame_line);
	for (size_t i = 0; i < 6; i++) {
		static const char *const absent[] = { "category",	"subcategory",
						      "nativeSymbol",	"innerWindowID",
						      "implementation", "column" };

		put_same(f, absent[i], n, "null");
	}
	put_length(f, n);
	n = t->functions.list.n;
	text_str(f->out, "\"funcTable\":{");
	put_column(f, t, "name", n, put_function_name);
	put_column(f, t, "fileName", n, function_file);
	put_resources_of_functions(f, t);
	put_same(f, "isJS", n, "false");
	put_same(f, "relevantForJS", n, "false");
	put_same(f, "lineNumber", n, "null");
	put_same(f, "columnNumber", n, "null");
	put_length(f, n);
	n = t->libs.n;
	text_str(f->out, "\"resourceTable\":{");
	put_column(f, t, "lib", n, resource_lib);
	put_column(f, t, "name", n, resource_name);
	put_same(f, "host", n, "null");
	put_same(f, "type", n, "1");
	put_length(f, n);
	text_str(f->out, "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
			 "\"functionSize\":[],\"length\":0},\n\"stringArray\":[");
	for (uint32_t i = 0; i < t->strings.texts.n; i++) {
		text_str(f->out, i > 0 ? "," : "");
		json_put_string(f->out, strings_get(&t->strings, (struct str_id){ i }));
		profile_writer_step(f->profile->out);
	}
	text_str(f->out, "]}");
}

static void thread_init(struct firefox_thread *t, size_t memory_bytes)
{
	*t = (struct firefox_thread){ 0 };
	frame_numbers_init(&t->functions);
	tuples_init(&t->frame_keys, 3);
	tuples_init(&t->labels, 2);
	path_numbers_init(&t->paths, true, memory_bytes);
	tuples_init(&t->libs, 1);
	strings_init(&t->strings);
}

static void thread_release(struct firefox_thread *t)
{
	frame_numbers_release(&t->functions);
	tuples_release(&t->frame_keys);
	tuples_release(&t->labels);
	path_numbers_release(&t->paths);
	tuples_release(&t->libs);
	strings_release(&t->strings);
	vec_release(&t->frames);
	vec_release(&t->markers);
}

/* The thread whose stacks begin at *at. */
static int put_thread(struct firefox *f, uint64_t *at, const struct stack *first, struct err *err)
{
	uint64_t start = *at, end = *at;
	struct firefox_thread t;
	struct stack stack;
	int rc;

	thread_init(&t, f->profile->stacks->memory_bytes);
	for (uint64_t i = start;
	     stacks_next(f->profile->stacks, &i, &stack) && stack_is_of_thread(&stack, first);
	     end = i) {
		if (!is_shown(f, &stack))
			continue;
		firefox_add_stack(f, &t, &stack);
		add_to_marker(f, &t, &stack);
	}
	*at = end;
	rc = path_numbers_finish(&t.paths, err);
	if (rc == 0) {
		put_thread_head(f, first);
		text_str(f->out, "\"samples\":{\"weightType\":\"samples\",");
		put_sample_stacks(f, &t);
		text_str(f->out, "\"time\":[");
		put_times(f, start, end);
		text_str(f->out, "],\n\"weight\":[");
		put_weights(f, start, end);
		text_str(f->out, "],\n");
		put_length(f, t.paths.n_samples);
		put_markers(f, &t);
		put_thread_tables(f, &t);
	}
	thread_release(&t);
	return rc;
}

static void put_libs(struct firefox *f)
{
	const struct modules *modules = timeline_modules(f->profile->session->timeline);

	text_str(f->out, "],\n\"libs\":[");
	for (uint32_t i = 0; i < f->libs.n; i++) {
		struct module_id id = { (uint32_t)tuples_get(&f->libs, i)[0] };
		const struct module *module = modules_get(modules, id);
		const char *path = strings_get(modules->strings, module->path);
		const char *name = names_module(f->profile->session, id);

		text_str(f->out, i > 0 ? ",\n{\"arch\":\"\"," : "\n{\"arch\":\"\",");
		put_quoted(f->out, "name", name);
		text_char(f->out, ',');
		put_quoted(f->out, "path", path);
		text_char(f->out, ',');
		put_quoted(f->out, "debugName", name);
		text_char(f->out, ',');
		put_quoted(f->out, "debugPath", path);
		text_str(f->out, ",\"breakpadId\":\"\",\"codeId\":");
		if (module->build_id.size == 0) {
			text_str(f->out, "null}");
			continue;
		}
		text_char(f->out, '"');
		for (size_t b = 0; b < module->build_id.size; b++)
			text_hex_padded(f->out, module->build_id.bytes[b], 2);
		text_str(f->out, "\"}");
	}
	text_char(f->out, ']');
}

static void put_categories(struct firefox *f)
{
	text_str(f->out,
		 "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":"
		 "[\"Other\"]},\n{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":"
		 "[\"Other\"]}");
	for (uint32_t i = 0; i < f->categories.n; i++) {
		const struct cpu_source *source = key_source(tuples_get(&f->categories, i)[0]);
		size_t colour = N_OWN_CATEGORIES + i % (COUNT(colours) - N_OWN_CATEGORIES);

		text_str(f->out, ",\n{");
		put_quoted(f->out, "name", source->name);
		text_format(f->out, ",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			    colours[colour]);
	}
	text_str(f->out, "],\n");
}

static void put_caveat(struct profile *p, const char *caveat)
{
	struct firefox *f = p->format_state;

	text_str(f->out, ",\n{\"label\":\"caveat\",\"format\":\"string\",\"value\":");
	json_put_string(f->out, caveat);
	text_char(f->out, '}');
}

static void put_meta(struct firefox *f)
{
	struct profile *p = f->profile;
	struct text weight = { 0 };

	profile_put_value_name(p, p->event, p->value, &weight);
	text_str(&weight, ", ");
	text_str(&weight, stacks_unit(p->stacks, p->event, p->value));
	text_char(&weight, '\0');
	text_format(f->out,
		    ",\n\"meta\":{\"interval\":%.6f,\"startTime\":0,\"processType\":0,"
		    "\"product\":\"cyclops\",\"stackwalk\":1,\"debug\":false,\"version\":%d,"
		    "\"preprocessedProfileVersion\":%d,\"symbolicated\":true,"
		    "\"symbolicationNotSupported\":true,\"importedFrom\":\"cyclops\","
		    "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,\n",
		    p->session->slices.n > 0 ? (double)p->session->slices.width_ns / ns_in_ms : 1.0,
		    GECKO_VERSION, VERSION);
	put_categories(f);
	text_str(f->out,
		 "\"markerSchema\":[{\"name\":\"slice\",\"display\":[\"marker-chart\","
		 "\"marker-table\",\"timeline-overview\"],\"tooltipLabel\":\"slice of time\","
		 "\"data\":[{\"key\":\"records\",\"label\":\"samples\",\"format\":\"integer\"},"
		 "{\"key\":\"weight\",\"label\":");
	json_put_string(f->out, weight.bytes);
	text_str(f->out,
		 ",\"format\":\"integer\"}]}],\n\"extra\":[{\"label\":\"cyclops\",\"entries\":["
		 "{\"label\":\"weight\",\"format\":\"string\",\"value\":");
	json_put_string(f->out, weight.bytes);
	text_char(f->out, '}');
	profile_each_caveat(p, put_caveat);
	text_str(f->out, "]}]}}\n");
	text_release(&weight);
}

static int firefox_write(struct profile *profile, struct err *err)
{
	struct firefox f = { .profile = profile, .out = &profile->out->text };
	struct stack stack;
	int rc = 0;

	tuples_init(&f.categories, 1);
	tuples_init(&f.libs, 1);
	profile->format_state = &f;
	text_str(f.out, "{\"threads\":[");
	for (uint64_t at = 0, next = 0; rc == 0 && stacks_next(profile->stacks, &next, &stack);) {
		if (stack.event == profile->event)
			rc = put_thread(&f, &at, &stack, err);
		else
			at = next;
		next = at;
	}
	put_libs(&f);
	put_meta(&f);
	if (profile->session->slices.n == 0)
		profile_writer_note(profile->out,
				    "nothing has a time: where samples stand says nothing");
	else
		profile_writer_note(
			profile->out,
			"times are those of %u slices; within one they are spread evenly",
			profile->session->slices.n);
	if (f.n_hidden > 0)
		profile_writer_note(profile->out, "markers after the first %d are left out",
				    MAX_MARKERS);
	tuples_release(&f.categories);
	tuples_release(&f.libs);
	return rc;
}

const struct profile_format profile_firefox = {
	.name = "firefox",
	.meaning = "for profiler.firefox.com: threads over time, data sources as categories",
	.by_thread = true,
	.by_source = true,
	.by_slice = true,
	.n_slices = SLICES_MAX,
	.depth = SYMBOLS_LINES,
	.write = firefox_write,
};
