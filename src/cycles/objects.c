/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "capture/format/info.h"
#include "counting/event_checks.h"
#include "cycles/block_starts.h"
#include "cycles/events.h"
#include "cycles/sums.h"
#include "scan/scan.h"

const struct column object_columns[N_OBJECT_NAMES] = {
	[OBJECT_PROGRAM] = { "program", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			     "name of the program; absent unless rows are of programs" },
	[OBJECT_MODULE] = { "module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			    "file that the code is in" },
	[OBJECT_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			      "function, demangled" },
	[OBJECT_FILE] = { "file", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			  "source file; of blocks that of the first instruction" },
	[OBJECT_LINE] = { "line", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			  "line in the source file" },
	[OBJECT_BLOCK] = { "block", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			   "number of the block in its function" },
	[OBJECT_ADDRESS] = { "address", NULL, "", CELL_HEX, COLUMN_MACHINE_ONLY,
			     "address in the module's own file, of instructions and blocks" },
};

/* What a capture says of the program that its processes run, which is not the same in each. */
static const char n_processes_column[] = "processes", processes_column[] = "program_processes";

/* Where samples go of an event that counts nothing, as a damaged capture may have them: nowhere. */
#define NO_EVENT UINT32_MAX

/* The names of a capture that is being added, and where its events go. */
struct adding {
	struct cycle_objects *objects;
	struct session *session;
	struct names names;
	struct cycle_sums *sums;
	struct block_starts blocks; /* only if rows are blocks */
	struct mux *mux;
	struct event_checks checks; /* of the events on the machine of the capture */
	uint32_t *events;	    /* by event of the capture: number in objects->events */
	struct tuples words;	    /* of keys: rows of this capture … */
	VEC_OF(uint32_t) object_of; /* … → object */
};

void cycle_objects_init(struct cycle_objects *o, const struct cycle_template *tree,
			const struct keys *keys, bool is_by_block)
{
	*o = (struct cycle_objects){ .tree = tree, .keys = *keys, .is_by_block = is_by_block };
	o->n_columns = keys_add_columns(keys, o->columns, 0);
	for (size_t i = 0; is_by_block && i < o->n_columns; i++)
		if (strcmp(o->columns[i].name, key_classes[KEY_INSTRUCTION].name) == 0)
			o->columns[i].title = "block";
	strings_init(&o->texts);
	tuples_init(&o->identities, 2 * o->n_columns + 1);
}

void cycle_objects_release(struct cycle_objects *o)
{
	strings_release(&o->texts);
	tuples_release(&o->identities);
	vec_release(&o->events);
	vec_release(&o->cells);
	vec_release(&o->names);
	vec_release(&o->sums);
}

static struct cell copied(struct cycle_objects *o, struct cell cell)
{
	if (cell.type == CELL_TEXT)
		cell.text = strings_get(&o->texts, strings_addz(&o->texts, cell.text));
	return cell;
}

/* Makes room for the sums of as many events as there are. */
static void widen(struct cycle_objects *o)
{
	size_t stride = o->events.n, n = cycle_objects_n(o);
	VEC_OF(struct event_sum) old = { o->sums.items, o->sums.n, o->sums.cap };

	if (stride <= o->stride)
		return;
	o->sums.items = NULL;
	o->sums.n = o->sums.cap = 0;
	for (size_t i = 0; i < n * stride; i++)
		vec_add(&o->sums);
	for (size_t i = 0; i < n; i++)
		memcpy(&o->sums.items[i * stride], &old.items[i * o->stride],
		       o->stride * sizeof(*old.items));
	o->stride = stride;
	vec_release(&old);
}

static uint32_t event_add(struct cycle_objects *o, const char *name, int node)
{
	uint32_t i = 0;

	while (i < o->events.n && (o->events.items[i].node != node ||
				   (node == NO_NODE && strcmp(o->events.items[i].name, name) != 0)))
		i++;
	if (i == o->events.n)
		*vec_add(&o->events) = (struct cycle_event){
			.name = strings_get(&o->texts, strings_addz(&o->texts, name)),
			.node = node,
			.factor = 1,
			.is_known = true,
		};
	return i;
}

/* The results of `kernel --validate` on the machine of the capture; none if its CPU has no MIDR. */
static void load_checks(struct adding *a)
{
	const struct info *info = capture_info(a->session->capture);
	const struct strings *strings = capture_strings(a->session->capture);
	uint64_t midr = info_midr(info, strings);

	if (midr != 0 && info->os_release.v != 0)
		event_checks_load(event_checks_key_of(&a->checks.memory, midr, NULL,
						      strings_get(strings, info->os_release)),
				  &a->checks);
}

/* Does a node's event read 0 on the machine of the capture? */
static bool reads_0(const struct adding *a, int node)
{
	const struct event_check *check =
		node == NO_NODE ? NULL
				: event_checks_find(&a->checks, a->objects->tree->nodes[node].name);

	return check != NULL && check->verdict == EVENT_READS_0;
}

/* Which events of the capture are which of all. Those that count nothing are none. */
static void add_events(struct adding *a, const struct cycle_events *matched)
{
	const struct capture *c = a->session->capture;

	load_checks(a);
	a->events = mem_alloc(matched->n + 1, sizeof(*a->events));
	for (size_t i = 0; i < matched->n; i++) {
		struct cycle_event *event;
		double factor = mux_factor(a->mux, i, UINT32_MAX);

		a->events[i] = NO_EVENT;
		if (!cycle_event_counts(a->session, i))
			continue;
		a->events[i] = event_add(a->objects, capture_event_name(c, i), matched->nodes[i]);
		event = &a->objects->events.items[a->events[i]];
		event->factor = factor > event->factor ? factor : event->factor;
		event->turns += mux_turns(a->mux, i);
		event->reads_0 |= reads_0(a, matched->nodes[i]);
		event->is_known &= mux_is_known(a->mux, i);
		event->is_follower |= mux_is_follower(a->mux, i);
	}
	widen(a->objects);
}

/* Nothing to account: the error says what the capture has, and how to record more. */
static int check_events(const struct cycle_objects *o, const struct session *s,
			const struct cycle_events *matched, struct err *err)
{
	struct text names = { 0 };

	if (matched->n_matched > 0)
		return 0;
	for (size_t i = 0; i < matched->n; i++) {
		if (!cycle_event_counts(s, i))
			continue;
		text_part(&names);
		text_str(&names, capture_event_name(s->capture, i));
	}
	err_set(err, ERR_NO_DATA, ERR_NOWHERE,
		"no event of the cycle accounting tree %s was sampled; found %.*s. 'cyclops record "
		"--cycles' samples them, 'cyclops list penalties --cpu %s' lists them",
		o->tree->id, names.n > 0 ? (int)names.n : 7, names.n > 0 ? names.bytes : "nothing",
		o->tree->id);
	text_release(&names);
	return -1;
}

/* Names for the places of the sums, as far as the keys need them; of blocks where they begin. */
static void find_names(struct adding *a)
{
	struct session *s = a->session;
	enum symbols_depth depth = SYMBOLS_FUNCTIONS;
	uint32_t n = place_numbers_n(s->places);
	bool *wanted = mem_zalloc(n + 1u, sizeof(*wanted));
	uint64_t raw[N_DIMENSIONS];

	for (size_t i = 0; i < a->objects->keys.n; i++)
		if (key_classes[a->objects->keys.keys[i]].needs_lines)
			depth = SYMBOLS_LINES;
	for (uint32_t i = 0; i < a->sums->sums.n; i++) {
		cycle_sums_key(a->sums, i, raw);
		wanted[raw[DIM_PLACE]] = true;
	}
	if (a->objects->is_by_block) {
		block_starts_init(&a->blocks, s, wanted);
		names_init(&a->names, s, a->blocks.is_start, depth);
	} else {
		names_init(&a->names, s, wanted, depth);
	}
	free(wanted);
}

static bool is_of_code(const struct keys *keys)
{
	for (size_t i = 0; i < keys->n; i++)
		if (key_classes[keys->keys[i]].is_code)
			return true;
	return false;
}

/* Is a row at one instruction, so that places in other builds of the file are others? */
static bool is_at_place(const struct keys *keys)
{
	return keys_have(keys, KEY_INSTRUCTION) || keys_have(keys, KEY_PLACE);
}

/* What tells the modules of a row apart that have one name: path, and build-id if it matters. */
static uint64_t module_word(struct adding *a, uint32_t place)
{
	const struct modules *modules = timeline_modules(a->session->timeline);
	const struct module *m = modules_get(modules, session_place(a->session, place).module);
	struct text text = { 0 };
	uint64_t word;

	if (!is_of_code(&a->objects->keys))
		return 0;
	text_str(&text, strings_get(modules->strings, m->path));
	for (size_t i = 0; is_at_place(&a->objects->keys) && i < m->build_id.size; i++)
		text_hex_padded(&text, m->build_id.bytes[i], 2);
	word = strings_add(&a->objects->texts, text.bytes, text.n).v;
	text_release(&text);
	return word;
}

static bool is_of_one_capture(const struct column *c)
{
	return strcmp(c->name, n_processes_column) == 0 || strcmp(c->name, processes_column) == 0;
}

static void identify(struct adding *a, const struct cell *cells, uint32_t place, uint64_t *words)
{
	struct cycle_objects *o = a->objects;

	for (size_t i = 0; i < o->n_columns; i++) {
		const struct cell *c = &cells[i];

		words[2 * i] = is_of_one_capture(&o->columns[i]) ? CELL_NONE : c->type;
		words[2 * i + 1] = words[2 * i] == CELL_NONE ? 0
				   : c->type == CELL_TEXT    ? strings_addz(&o->texts, c->text).v
							     : c->count;
	}
	words[2 * o->n_columns] = module_word(a, place);
}

/* What the keys say of a row; `words` as their classes make them. */
static void show_keys(const struct adding *a, const uint64_t *words, struct table *t,
		      struct cell *cells)
{
	const struct cycle_objects *o = a->objects;

	for (size_t i = 0; i < o->keys.n; i++) {
		const struct key_class *class = &key_classes[o->keys.keys[i]];
		struct cell shown[KEY_MAX_COLUMNS] = { 0 };

		class->show(&a->names, words, t, shown);
		for (size_t c = 0; c < class->n_columns; c++)
			for (size_t column = 0; column < o->n_columns; column++)
				if (strcmp(o->columns[column].name, class->columns[c].name) == 0 &&
				    cells[column].type == CELL_NONE)
					cells[column] = shown[c];
		words += class->n_words;
	}
}

static int column_of(const struct cycle_objects *o, const char *name)
{
	for (size_t i = 0; i < o->n_columns; i++)
		if (strcmp(o->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Names of a new object: those that the keys show, and those of the place where it is. */
static void name_object(struct adding *a, const struct cell *cells, uint32_t place,
			struct cell *names)
{
	struct cycle_objects *o = a->objects;
	const struct symbol *s = &a->names.symbols[place];
	const char *file;
	uint32_t line;

	for (size_t i = 0; i < N_OBJECT_NAMES; i++) {
		int column = column_of(o, object_columns[i].name);

		names[i] = column >= 0 ? cells[column] : (struct cell){ 0 };
	}
	if (!is_at_place(&o->keys))
		return;
	if (s->function.v != 0) {
		names[OBJECT_FUNCTION] = copied(o, cell_text(names_function(&a->names, place)));
		names[OBJECT_ADDRESS] = cell_hex(s->address);
	}
	if (names_line(&a->names, place, &file, &line)) {
		names[OBJECT_FILE] = copied(o, cell_text(file));
		names[OBJECT_LINE] = cell_count(line);
	}
	if (o->is_by_block && block_starts_number(&a->blocks, place) != BLOCK_UNKNOWN)
		names[OBJECT_BLOCK] = cell_count(block_starts_number(&a->blocks, place));
}

/* Processes of one program in several captures are together so many. */
static void add_processes(struct cycle_objects *o, struct cell *cells, const struct cell *more)
{
	int n = column_of(o, n_processes_column), shown = column_of(o, processes_column);
	struct text text = { 0 };

	if (n < 0 || cells[n].type != CELL_COUNT)
		return;
	cells[n].count += more[n].count;
	text_format(&text, "%s (%llu)", cells[column_of(o, "program")].text,
		    (unsigned long long)cells[n].count);
	cells[shown].text = strings_get(&o->texts, strings_add(&o->texts, text.bytes, text.n));
	text_release(&text);
}

/* The object of a row of this capture. `n_before`: objects that captures before have. */
static uint32_t object_of_row(struct adding *a, const uint64_t *words, uint32_t place,
			      uint32_t n_before)
{
	struct cycle_objects *o = a->objects;
	struct cell cells[MOST_KEY_COLUMNS] = { 0 };
	uint64_t identity[2 * MOST_KEY_COLUMNS + 1];
	struct table texts = { 0 };
	uint32_t object;

	show_keys(a, words, &texts, cells);
	identify(a, cells, place, identity);
	object = tuples_add(&o->identities, identity);
	if (object < n_before) {
		add_processes(o, &o->cells.items[object * o->n_columns], cells);
	} else if (object * o->n_columns == o->cells.n) {
		for (size_t i = 0; i < o->n_columns; i++)
			*vec_add(&o->cells) = cells[i] = copied(o, cells[i]);
		for (size_t i = 0; i < N_OBJECT_NAMES; i++)
			vec_add(&o->names);
		name_object(a, cells, place, &o->names.items[object * N_OBJECT_NAMES]);
		for (size_t i = 0; i < o->stride; i++)
			vec_add(&o->sums);
	}
	table_release(&texts);
	return object;
}

static void add_group(struct adding *a, uint32_t group, uint32_t n_before)
{
	const struct cycle_objects *o = a->objects;
	const struct sample_sum *sum = &a->sums->sums.items[group];
	uint64_t raw[N_DIMENSIONS], words[N_KEYS * KEY_MAX_WORDS + 1] = { 0 };
	struct event_sum *to;
	uint32_t event, row;
	double m;
	size_t n = 0;

	cycle_sums_key(a->sums, group, raw);
	m = mux_factor(a->mux, (size_t)raw[DIM_EVENT], cycle_sums_cpu(a->sums, raw));
	event = a->events[raw[DIM_EVENT]];
	if (event == NO_EVENT)
		return;
	if (o->is_by_block)
		raw[DIM_PLACE] = block_starts_of(&a->blocks, (uint32_t)raw[DIM_PLACE]);
	for (size_t i = 0; i < o->keys.n; i++) {
		const struct key_class *class = &key_classes[o->keys.keys[i]];

		class->make(&a->names, raw, words + n);
		n += class->n_words;
	}
	row = tuples_add(&a->words, words);
	if (row == a->object_of.n)
		*vec_add(&a->object_of) =
			object_of_row(a, words, (uint32_t)raw[DIM_PLACE], n_before);
	to = &cycle_object_sums(o, a->object_of.items[row])[event];
	to->weight += (double)sum->weight;
	to->events += (double)sum->weight * m;
	to->variance += uint128_to_double(sum->squares) * m * m;
	to->n += sum->n;
	o->events.items[event].n += sum->n;
}

static void add_groups(struct adding *a)
{
	uint32_t *order = cycle_sums_order(a->sums);
	uint32_t n_before = cycle_objects_n(a->objects);
	size_t n_words = 0;

	for (size_t i = 0; i < a->objects->keys.n; i++)
		n_words += key_classes[a->objects->keys.keys[i]].n_words;
	tuples_init(&a->words, n_words > 0 ? n_words : 1);
	for (uint32_t i = 0; i < a->sums->sums.n; i++)
		add_group(a, order[i], n_before);
	free(order);
}

int cycle_objects_add(struct cycle_objects *o, struct session *s, const struct select *select,
		      struct err *err)
{
	struct adding a = { .objects = o, .session = s };
	struct cycle_sums_options options = { 0 };
	struct analysis sums = { .class = &cycle_sums_class, .options = &options };
	struct cycle_events matched = { 0 };

	if (cycle_events_match(s, o->tree, &matched, err) < 0)
		return -1;
	if (check_events(o, s, &matched, err) < 0) {
		cycle_events_release(&matched);
		return -1;
	}
	options.mux = a.mux = mux_new(s);
	options.dimensions =
		keys_dimensions(&o->keys) | (mux_differs_by_cpu(a.mux) ? 1u << DIM_CPU : 0);
	add_events(&a, &matched);
	scan(s, select, &sums, 1);
	a.sums = sums.result;
	find_names(&a);
	add_groups(&a);
	o->n_captures++;
	cycle_events_release(&matched);
	cycle_sums_class.free(a.sums);
	block_starts_release(&a.blocks);
	names_release(&a.names);
	mux_free(a.mux);
	event_checks_release(&a.checks);
	free(a.events);
	tuples_release(&a.words);
	vec_release(&a.object_of);
	return 0;
}

static int compare_cells(const struct cell *a, const struct cell *b)
{
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->type == CELL_TEXT)
		return strcmp(a->text, b->text);
	return a->count < b->count ? -1 : a->count > b->count;
}

int cycle_objects_compare(const struct cycle_objects *o, uint32_t a, uint32_t b)
{
	const uint64_t *u = tuples_get(&o->identities, a), *v = tuples_get(&o->identities, b);
	struct str_id x = { (uint32_t)u[2 * o->n_columns] }, y = { (uint32_t)v[2 * o->n_columns] };

	for (size_t i = 0; i < o->n_columns; i++) {
		int order =
			compare_cells(&cycle_object_cells(o, a)[i], &cycle_object_cells(o, b)[i]);

		if (order != 0)
			return order;
	}
	return strcmp(strings_get(&o->texts, x), strings_get(&o->texts, y));
}
