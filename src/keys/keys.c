/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/keys.h"

#include <inttypes.h>
#include <string.h>

#include "access/data_src.h"
#include "access/samples.h"
#include "base/alloc.h"
#include "base/nearest.h"
#include "base/path.h"
#include "spe/names.h"
#include "table/human.h"

#define DIM(name) (1u << DIM_##name)

static const char *symbol_text(const struct names *n, uint64_t id)
{
	return strings_get(symbols_strings(n->session->symbols), (struct str_id){ (uint32_t)id });
}

static const char *function_text(const struct names *n, uint64_t id)
{
	return id == 0 ? "[unknown]" : symbol_text(n, id);
}

static struct cell key_module_cell(const struct names *n, uint64_t module)
{
	return cell_text(names_module(n->session, (struct module_id){ (uint32_t)module }));
}

static void make_process(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	(void)n;
	words[0] = raw[DIM_PROCESS];
}

static void show_process(const struct names *n, const uint64_t *words, struct table *t,
			 struct cell *cells)
{
	const struct timeline *timeline = n->session->timeline;
	const struct process *p = timeline_process(timeline, (uint32_t)words[0]);

	(void)t;
	if (words[0] == 0) {
		cells[0] = cell_text("[unknown]");
		return;
	}
	cells[0] = cell_text(strings_get(timeline_strings(timeline), p->comm));
	cells[1] = cell_signed((int32_t)p->pid);
}

/* Processes whose program is not known are of one by their name. */
static void make_program(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	const struct process *p =
		timeline_process(n->session->timeline, (uint32_t)raw[DIM_PROCESS]);

	words[0] = p->program.v;
	words[1] = p->program.v == 0 ? p->comm.v : 0;
}

static void show_program(const struct names *n, const uint64_t *words, struct table *t,
			 struct cell *cells)
{
	const struct timeline *timeline = n->session->timeline;
	const struct modules *modules = timeline_modules(timeline);
	struct module_id id = { (uint32_t)words[0] };
	uint32_t n_processes;

	if (id.v == 0) {
		const char *comm = strings_get(timeline_strings(timeline),
					       (struct str_id){ (uint32_t)words[1] });

		cells[0] = cells[1] = cell_text(comm[0] != '\0' ? comm : "[unknown]");
		return;
	}
	n_processes = timeline_n_of_program(timeline, id);
	cells[1] = key_module_cell(n, id.v);
	cells[0] = n_processes == 1 ? cells[1]
				    : cell_text(table_format(t, "%s (%u)", cells[1].text,
							     (unsigned)n_processes));
	cells[2] = cell_text(strings_get(modules->strings, modules_get(modules, id)->path));
	cells[3] = cell_count(n_processes);
}

static void make_thread(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	(void)n;
	words[0] = raw[DIM_TID];
}

static void show_thread(const struct names *n, const uint64_t *words, struct table *t,
			struct cell *cells)
{
	const struct timeline *timeline = n->session->timeline;
	struct str_id comm;

	(void)t;
	if (words[0] == DIM_ABSENT) {
		cells[0] = cell_text("[unknown]");
		return;
	}
	comm = timeline_comm(timeline, (uint32_t)words[0], TIMELINE_NO_TIME);
	cells[0] = cell_text(strings_get(timeline_strings(timeline), comm));
	cells[1] = cell_signed((int32_t)words[0]);
}

static void make_cpu(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	(void)n;
	words[0] = raw[DIM_CPU];
}

static void show_cpu(const struct names *n, const uint64_t *words, struct table *t,
		     struct cell *cells)
{
	(void)n;
	(void)t;
	if (words[0] != DIM_ABSENT)
		cells[0] = cell_count(words[0]);
}

static uint64_t keys_module_of(const struct names *n, uint64_t place)
{
	return session_place(n->session, (uint32_t)place).module.v;
}

static void make_module(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	words[0] = keys_module_of(n, raw[DIM_PLACE]);
}

static void show_module(const struct names *n, const uint64_t *words, struct table *t,
			struct cell *cells)
{
	const struct modules *modules = timeline_modules(n->session->timeline);
	struct module_id id = { (uint32_t)words[0] };

	(void)t;
	cells[0] = key_module_cell(n, words[0]);
	if (id.v != 0)
		cells[1] = cell_text(strings_get(modules->strings, modules_get(modules, id)->path));
}

static void make_function(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	const struct symbol *symbol = &n->symbols[raw[DIM_PLACE]];
	bool is_known = names_know_any(n);

	words[0] = is_known ? symbol->function.v : 0;
	words[1] = keys_module_of(n, raw[DIM_PLACE]);
	words[KEY_INLINED] = is_known ? symbol->inlined.v : 0;
}

static void key_show_function(const struct names *n, const uint64_t *words, struct table *t,
			      struct cell *cells)
{
	const char *function = function_text(n, words[0]);

	cells[0] = cell_text(function);
	if (words[KEY_INLINED] != 0)
		cells[0] = cell_text(table_format(t, "%s (inlined into %s)",
						  symbol_text(n, words[KEY_INLINED]), function));
	cells[1] = cell_text(function);
	cells[2] = key_module_cell(n, words[1]);
}

static void make_caller(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	words[0] = n->symbols[raw[DIM_CALLER]].function.v;
	words[1] = keys_module_of(n, raw[DIM_CALLER]);
}

static void show_caller(const struct names *n, const uint64_t *words, struct table *t,
			struct cell *cells)
{
	(void)t;
	cells[0] = cell_text(function_text(n, words[0]));
	cells[1] = key_module_cell(n, words[1]);
}

static void make_line(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	const struct symbol *s = &n->symbols[raw[DIM_PLACE]];

	words[0] = s->function.v;
	words[1] = keys_module_of(n, raw[DIM_PLACE]);
	words[2] = words[3] = 0;
	if (s->n_frames > 0) {
		const struct symbol_frame *f = &symbols_frames(n->session->symbols)[s->first_frame];

		words[2] = f->file.v;
		words[3] = f->line;
	}
}

static void key_show_line(const struct names *n, const uint64_t *words, struct table *t,
			  struct cell *cells)
{
	if (words[3] != 0) {
		const char *file = symbol_text(n, words[2]);

		cells[0] = cell_text(table_format(t, "%s:%u", path_base(file), (unsigned)words[3]));
		cells[1] = cell_text(file);
		cells[2] = cell_count(words[3]);
	}
	cells[3] = cell_text(function_text(n, words[0]));
	cells[4] = key_module_cell(n, words[1]);
}

static void make_place(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	(void)n;
	words[0] = raw[DIM_PLACE];
}

static void key_show_instruction(const struct names *n, const uint64_t *words, struct table *t,
				 struct cell *cells)
{
	uint32_t place = (uint32_t)words[0];
	const struct symbol *s = &n->symbols[place];
	struct place where = session_place(n->session, place);
	struct text text = { 0 };
	const char *file;
	uint32_t line;

	names_place(n, place, &text);
	cells[0] = cell_text(table_take_text(t, &text));
	cells[1] = key_module_cell(n, where.module.v);
	cells[2] = cell_hex(where.offset);
	if (s->function.v != 0)
		cells[3] = cell_hex(s->address);
	if (names_line(n, place, &file, &line))
		cells[4] = cell_text(table_format(t, "%s:%u", path_base(file), line));
}

static void show_place(const struct names *n, const uint64_t *words, struct table *t,
		       struct cell *cells)
{
	struct place where = session_place(n->session, (uint32_t)words[0]);

	(void)t;
	cells[0] = key_module_cell(n, where.module.v);
	cells[1] = cell_hex(where.offset);
}

static void make_event(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	/* Samples are told apart by their event alone; what mem has of them counts as SPE. */
	words[0] = raw[DIM_EVENT];
	words[1] = words[0] < capture_n_events(n->session->capture) ? 0 : raw[DIM_EVENTS];
}

static void show_event(const struct names *n, const uint64_t *words, struct table *t,
		       struct cell *cells)
{
	const struct capture *capture = n->session->capture;
	struct text text = { 0 };

	if (words[0] < capture_n_events(capture)) {
		cells[0] = cell_text(capture_event_name(capture, words[0]));
		return;
	}
	if (words[0] == capture_n_events(capture) && access_is_sampled(n->session))
		data_src_facts_text(words[1], ':', &text);
	else
		spe_events_text(words[1], ':', &text);
	cells[0] = cell_text(table_take_text(t, &text));
}

static void make_operation(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	(void)n;
	words[0] = raw[DIM_OPERATION];
}

static void show_operation(const struct names *n, const uint64_t *words, struct table *t,
			   struct cell *cells)
{
	struct text text = { 0 };

	(void)n;
	if (words[0] == DIM_ABSENT)
		return;
	spe_op_text((uint8_t)(words[0] >> 8), (uint8_t)words[0], &text);
	cells[0] = cell_text(table_take_text(t, &text));
}

static void make_source(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	(void)n;
	words[0] = raw[DIM_SOURCE];
}

const struct cpu_source *key_source(uint64_t word)
{
	return word <= UINT16_MAX || word == DIM_ABSENT
		       ? NULL
		       : (const struct cpu_source *)(uintptr_t)word;
}

static void show_source(const struct names *n, const uint64_t *words, struct table *t,
			struct cell *cells)
{
	const struct cpu_source *source = key_source(words[0]);

	(void)n;
	if (source != NULL)
		cells[0] = cell_text(source->name);
	else if (words[0] != DIM_ABSENT)
		cells[0] = cell_text(table_format(t, "0x%x", (unsigned)words[0]));
}

static void make_time(const struct names *n, const uint64_t *raw, uint64_t *words)
{
	(void)n;
	words[0] = raw[DIM_SLICE];
}

static void show_time(const struct names *n, const uint64_t *words, struct table *t,
		      struct cell *cells)
{
	(void)t;
	if (words[0] != DIM_ABSENT)
		cells[0] = cell_count(slices_start_ns(&n->session->slices, (uint32_t)words[0]));
}

#define MODULE_COLUMN                                                                              \
	{                                                                                          \
		"module", NULL, "", CELL_TEXT, COLUMN_GROW, "file that the code is in"             \
	}
#define FUNCTION_COLUMN(flags)                                                                     \
	{                                                                                          \
		"function", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_WIDE | (flags),              \
			"function, demangled"                                                      \
	}

const struct key_class key_classes[N_KEYS] = {
	[KEY_PROCESS] = {
		.name = "process", .meaning = "process: name and pid", .dimensions = DIM(PROCESS),
		.n_words = 1, .words = { WORD_NUMBER },
		.n_columns = 2,
		.columns = { { "process", NULL, "", CELL_TEXT, COLUMN_GROW, "name of the process" },
			     { "pid", NULL, "", CELL_SIGNED, 0, "process id" } },
		.make = make_process, .show = show_process,
	},
	[KEY_PROGRAM] = {
		.name = "program", .meaning = "program: all processes that run one file", .dimensions = DIM(PROCESS),
		.n_words = 2, .words = { WORD_NUMBER, WORD_NUMBER },
		.n_columns = 4,
		.columns = { { "program_processes", "program", "", CELL_TEXT, COLUMN_GROW | COLUMN_TEXT_ONLY,
			       "name of the program, and how many processes run it" },
			     { "program", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			       "name of the program; of processes without a known one the process name" },
			     { "program_path", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "path of the program as recorded" },
			     { "processes", NULL, "processes", CELL_COUNT, COLUMN_MACHINE_ONLY,
			       "processes of the capture that run it" } },
		.make = make_program, .show = show_program,
	},
	[KEY_THREAD] = {
		.name = "thread", .meaning = "thread: name and tid", .dimensions = DIM(TID),
		.n_words = 1, .words = { WORD_NUMBER },
		.n_columns = 2,
		.columns = { { "thread", NULL, "", CELL_TEXT, COLUMN_GROW, "name of the thread" },
			     { "tid", NULL, "", CELL_SIGNED, 0, "thread id" } },
		.make = make_thread, .show = show_thread,
	},
	[KEY_CPU] = {
		.name = "cpu", .meaning = "cpu", .dimensions = DIM(CPU),
		.n_words = 1, .words = { WORD_NUMBER },
		.n_columns = 1,
		.columns = { { "cpu", NULL, "", CELL_COUNT, 0, "number of the cpu" } },
		.make = make_cpu, .show = show_cpu,
	},
	[KEY_MODULE] = {
		.name = "module", .meaning = "executable, library, kernel", .dimensions = DIM(PLACE),
		.is_code = true,
		.n_words = 1, .words = { WORD_NUMBER },
		.n_columns = 2,
		.columns = { MODULE_COLUMN,
			     { "path", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			       "path of the module as recorded" } },
		.make = make_module, .show = show_module,
	},
	[KEY_FUNCTION] = {
		.name = "function", .meaning = "function (ELF symbol)", .dimensions = DIM(PLACE),
		.is_code = true, .needs_names = true,
		.n_words = 3, .words = { WORD_SYMBOL, WORD_NUMBER, WORD_SYMBOL },
		.n_columns = 3,
		.columns = { { "code", "function", "", CELL_TEXT, COLUMN_TREE | COLUMN_GROW | COLUMN_WIDE | COLUMN_TEXT_ONLY,
			       "function, with what it is inlined into" },
			     FUNCTION_COLUMN(COLUMN_TREE | COLUMN_MACHINE_ONLY), MODULE_COLUMN },
		.make = make_function, .show = key_show_function,
	},
	[KEY_CALLER] = {
		.name = "caller", .meaning = "function that called; of SPE records an estimate",
		.dimensions = DIM(CALLER),
		.needs_names = true,
		.n_words = 2, .words = { WORD_SYMBOL, WORD_NUMBER },
		.n_columns = 2,
		.columns = { { "caller", NULL, "", CELL_TEXT, COLUMN_GROW,
			       "function that called; of SPE records an estimate" },
			     { "caller_module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			       "file that the caller's code is in" } },
		.make = make_caller, .show = show_caller,
	},
	[KEY_LINE] = {
		.name = "line", .meaning = "source line, innermost inlined one",
		.dimensions = DIM(PLACE),
		.is_code = true, .needs_names = true, .needs_lines = true,
		.n_words = 4, .words = { WORD_SYMBOL, WORD_NUMBER, WORD_SYMBOL, WORD_NUMBER },
		.n_columns = 5,
		.columns = { { "location", "line", "", CELL_TEXT, COLUMN_TREE | COLUMN_GROW | COLUMN_PATH | COLUMN_TEXT_ONLY,
			       "source file and line" },
			     { "file", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "source file" },
			     { "line", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			       "line in the source file" },
			     FUNCTION_COLUMN(0), MODULE_COLUMN },
		.make = make_line, .show = key_show_line,
	},
	[KEY_INSTRUCTION] = {
		.name = "instruction", .meaning = "instruction: function + offset",
		.dimensions = DIM(PLACE),
		.is_code = true, .needs_names = true, .needs_lines = true,
		.n_words = 1, .words = { WORD_PLACE },
		.n_columns = 5,
		.columns = { { "instruction", NULL, "", CELL_TEXT, COLUMN_TREE | COLUMN_GROW,
			       "function + offset of the instruction" },
			     MODULE_COLUMN,
			     { "offset", NULL, "", CELL_HEX, COLUMN_MACHINE_ONLY,
			       "offset in the module" },
			     { "address", NULL, "", CELL_HEX, COLUMN_MACHINE_ONLY,
			       "address in the module's own file" },
			     { "location", "line", "", CELL_TEXT, COLUMN_GROW | COLUMN_PATH,
			       "source file and line" } },
		.make = make_place, .show = key_show_instruction,
	},
	[KEY_PLACE] = {
		.name = "place", .meaning = "module + offset, without names",
		.dimensions = DIM(PLACE),
		.is_code = true,
		.n_words = 1, .words = { WORD_PLACE },
		.n_columns = 2,
		.columns = { MODULE_COLUMN,
			     { "offset", NULL, "", CELL_HEX, 0, "offset in the module" } },
		.make = make_place, .show = show_place,
	},
	[KEY_EVENT] = {
		.name = "event", .meaning = "event counted; for SPE the set of events, for memory samples what they tell",
		.dimensions = DIM(EVENT) | DIM(EVENTS),
		.n_words = 2, .words = { WORD_NUMBER, WORD_NUMBER },
		.n_columns = 1,
		.columns = { { "events", NULL, "", CELL_TEXT, COLUMN_GROW,
			       "event, or set of SPE events" } },
		.make = make_event, .show = show_event,
	},
	[KEY_OPERATION] = {
		.name = "operation", .meaning = "kind of operation (SPE)",
		.dimensions = DIM(OPERATION),
		.n_words = 1, .words = { WORD_NUMBER },
		.n_columns = 1,
		.columns = { { "operation", NULL, "", CELL_TEXT, COLUMN_GROW,
			       "kind of operation" } },
		.make = make_operation, .show = show_operation,
	},
	[KEY_SOURCE] = {
		.name = "source", .meaning = "data source (SPE, memory samples)", .dimensions = DIM(SOURCE),
		.n_words = 1, .words = { WORD_SOURCE },
		.n_columns = 1,
		.columns = { { "source", NULL, "", CELL_TEXT, COLUMN_SOURCE,
			       "where the data came from, in the CPU's words" } },
		.make = make_source, .show = show_source,
	},
	[KEY_TIME] = {
		.name = "time", .meaning = "slice of time, see --time-slices", .dimensions = DIM(SLICE),
		.n_words = 1, .words = { WORD_NUMBER },
		.n_columns = 1,
		.columns = { { "start_ns", "from", "ns", CELL_COUNT, 0,
			       "start of the slice, from the start of the capture" } },
		.make = make_time, .show = show_time,
	},
};

static int keys_compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_sources(uint64_t a, uint64_t b)
{
	const struct cpu_source *x = key_source(a), *y = key_source(b);

	if (x == NULL || y == NULL)
		return keys_compare_numbers(x == NULL, y == NULL) != 0
			       ? keys_compare_numbers(x == NULL, y == NULL)
			       : keys_compare_numbers(a, b);
	if (x->level != y->level)
		return keys_compare_numbers(x->level, y->level);
	if (x->value != y->value)
		return keys_compare_numbers(x->value, y->value);
	return strcmp(x->name, y->name);
}

int key_word_compare(const struct names *n, enum key_word kind, uint64_t a, uint64_t b)
{
	if (a == b)
		return 0;
	switch (kind) {
	case WORD_SYMBOL:
		return strcmp(symbol_text(n, a), symbol_text(n, b));
	case WORD_PLACE: {
		struct place x = session_place(n->session, (uint32_t)a);
		struct place y = session_place(n->session, (uint32_t)b);

		return x.module.v != y.module.v ? keys_compare_numbers(x.module.v, y.module.v)
						: keys_compare_numbers(x.offset, y.offset);
	}
	case WORD_SOURCE:
		return compare_sources(a, b);
	case WORD_NUMBER:
		break;
	}
	return keys_compare_numbers(a, b);
}

static int keys_find(const char *name, size_t len)
{
	for (int i = 0; i < N_KEYS; i++)
		if (strlen(key_classes[i].name) == len &&
		    strncmp(key_classes[i].name, name, len) == 0)
			return i;
	return -1;
}

static const char *key_name_at(const void *context, size_t i)
{
	uint32_t not_taken = *(const uint32_t *)context;

	for (size_t key = 0; key < N_KEYS; key++)
		if (!(not_taken >> key & 1) && i-- == 0)
			return key_classes[key].name;
	return NULL;
}

static int unknown_key(const char *name, size_t len, uint32_t not_taken, struct err *err)
{
	char names[256];

	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--by: there is no key '%.*s'; there are %s",
		       (int)len, name, list_words(key_name_at, &not_taken, names, sizeof(names)));
}

bool keys_have(const struct keys *keys, enum key key)
{
	for (size_t i = 0; i < keys->n; i++)
		if (keys->keys[i] == key)
			return true;
	return false;
}

bool keys_have_time(const struct keys *keys)
{
	return keys_have(keys, KEY_TIME);
}

bool keys_are_code(const struct keys *keys)
{
	for (size_t i = 0; i < keys->n; i++)
		if (!key_classes[keys->keys[i]].is_code)
			return false;
	return true;
}

const char *keys_row_words(const struct keys *keys, const struct names *names,
			   const uint64_t *words, struct table *t)
{
	struct text text = { 0 };

	for (size_t i = 0; i < keys->n; i++) {
		const struct key_class *class = &key_classes[keys->keys[i]];
		struct cell cells[KEY_MAX_COLUMNS] = { 0 };

		class->show(names, words, t, cells);
		words += class->n_words;
		if (cells[0].type == CELL_NONE)
			continue;
		text_part(&text);
		if (cells[0].type != CELL_TEXT)
			text_format(&text, "%s ", class->name);
		human_words(&text, &cells[0], "");
		if (cells[1].type == CELL_SIGNED)
			text_format(&text, " %" PRId64, cells[1].number_signed);
	}
	if (text.n == 0)
		return NULL;
	return table_take_text(t, &text);
}

bool keys_tell_places(const struct keys *keys)
{
	return keys_have(keys, KEY_INSTRUCTION) || keys_have(keys, KEY_PLACE);
}

bool keys_are_time(const struct keys *keys)
{
	return keys->n == 1 && keys->keys[0] == KEY_TIME;
}

int keys_parse_some(const char *text, uint32_t not_taken, struct keys *out, struct err *err)
{
	struct keys keys = { .n = 0 };
	uint32_t seen = 0;

	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		int key = keys_find(at, len);

		if (key < 0)
			return unknown_key(at, len, not_taken, err);
		if (!(seen >> key & 1))
			keys.keys[keys.n++] = (enum key)key;
		seen |= 1u << key;
		at += len;
		if (*at == '\0')
			break;
	}
	*out = keys;
	return 0;
}

int keys_parse(const char *text, struct keys *out, struct err *err)
{
	return keys_parse_some(text, 0, out, err);
}

uint32_t estimate_dimensions(const struct session *s)
{
	return spe_interval_varies(s) ? 1u << DIM_CPU : 0;
}

size_t keys_add_columns(const struct keys *keys, struct column *list, size_t n)
{
	for (size_t i = 0; i < keys->n; i++)
		for (size_t c = 0; c < key_classes[keys->keys[i]].n_columns; c++)
			n = columns_add(list, n, &key_classes[keys->keys[i]].columns[c]);
	return n;
}

uint32_t keys_dimensions(const struct keys *keys)
{
	uint32_t dimensions = DIM(EVENT);

	for (size_t i = 0; i < keys->n; i++)
		dimensions |= key_classes[keys->keys[i]].dimensions;
	return dimensions;
}
