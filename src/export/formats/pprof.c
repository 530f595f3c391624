/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile for pprof: profile.proto of github.com/google/pprof, gzipped. All values of all events are sample
 * types. Locations are places, with their inline chains; addresses are those in the module's own file, so
 * that `pprof -disasm` finds the code.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/tuples.h"
#include "export/formats/profile.h"
#include "export/formats/protobuf.h"

/* Numbers of fields, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE,
};
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING, LABEL_NUMBER };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINED,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

enum { PAGE = 4096 };

/* A sample type. */
struct pprof_type {
	uint64_t event;
	enum stack_value value;
};

/* Addresses of a module that were used, where address - offset is the same. */
struct pprof_mapping {
	struct module_id module;
	uint64_t delta, first, last;
};

struct pprof {
	struct profile *profile;
	struct text *out;
	struct strings strings;
	VEC_OF(struct pprof_type) types;
	uint32_t *locations; /* by place: its id; 0: none yet */
	uint32_t n_locations;
	struct tuples mapping_ids; /* module, delta: id - 1 */
	VEC_OF(struct pprof_mapping) mappings;
	struct tuples function_ids; /* name, file: id - 1 */
	struct text message, inner, packed, name;
};

/* The id of a text, which becomes valid UTF-8. */
static uint64_t string_id(struct pprof *p, const char *text)
{
	text_reset(&p->name);
	put_printable(&p->name, text);
	return strings_add(&p->strings, p->name.bytes, p->name.n).v;
}

static void put_type(struct pprof *p, unsigned field, uint64_t event, enum stack_value value)
{
	struct text name = { 0 }, type = { 0 };
	const struct stacks *stacks = p->profile->stacks;
	bool is_count = stacks_quantity(stacks, event, value) == STACK_COUNT;

	profile_put_value_name(p->profile, event, value, &name);
	text_char(&name, '\0');
	for (char *c = name.bytes; *c != '\0'; c++)
		*c = *c == ' ' ? '_' : *c;
	protobuf_put_number(&type, TYPE_NAME, string_id(p, name.bytes));
	protobuf_put_number(&type, TYPE_UNIT,
			    string_id(p, is_count ? "count" : stacks_unit(stacks, event, value)));
	protobuf_put_message(p->out, field, &type);
	if (field == PROFILE_SAMPLE_TYPE && event == p->profile->event &&
	    value == p->profile->value)
		protobuf_put_number(p->out, PROFILE_DEFAULT_TYPE, string_id(p, name.bytes));
	text_release(&name);
	text_release(&type);
}

static void put_types(struct pprof *p)
{
	const struct stacks *s = p->profile->stacks;

	for (uint64_t event = 0; event < s->totals_end; event++) {
		for (int value = 0; value < N_STACK_VALUES; value++) {
			if (s->totals[event][value] == 0 ||
			    !profile_has_value(p->profile, event, value))
				continue;
			*vec_add(&p->types) = (struct pprof_type){ event, value };
			put_type(p, PROFILE_SAMPLE_TYPE, event, value);
		}
	}
}

static uint64_t function_id(struct pprof *p, const struct stack_frame *f)
{
	const uint64_t key[] = { string_id(p, f->function),
				 string_id(p, f->file != NULL ? f->file : "") };
	uint32_t n = p->function_ids.n, number = tuples_add(&p->function_ids, key);
	struct text message = { 0 };

	if (number == n) {
		protobuf_put_number(&message, FUNCTION_ID, (uint64_t)number + 1);
		protobuf_put_number(&message, FUNCTION_NAME, key[0]);
		protobuf_put_number(&message, FUNCTION_SYSTEM_NAME, key[0]);
		protobuf_put_number(&message, FUNCTION_FILE, key[1]);
		protobuf_put_message(p->out, PROFILE_FUNCTION, &message);
		text_release(&message);
	}
	return (uint64_t)number + 1;
}

/* The id of a place's mapping; 0 outside all modules. `address`: that of the place in the module's file. */
static uint64_t mapping_id(struct pprof *p, struct place place, uint64_t address)
{
	const uint64_t key[] = { place.module.v, address - place.offset };
	struct pprof_mapping *mapping;
	uint32_t number;

	if (place.module.v == 0)
		return 0;
	number = tuples_add(&p->mapping_ids, key);
	if (number == p->mappings.n)
		*vec_add(&p->mappings) =
			(struct pprof_mapping){ place.module, key[1], address, address };
	mapping = &p->mappings.items[number];
	mapping->first = address < mapping->first ? address : mapping->first;
	mapping->last = address > mapping->last ? address : mapping->last;
	return (uint64_t)number + 1;
}

/* Where no function is known there is no line: pprof shows the module then. */
static void put_location_lines(struct pprof *p, uint32_t place, struct text *out)
{
	struct text line = { 0 };

	for (uint32_t level = 0; level < stacks_n_levels(p->profile->stacks, place); level++) {
		struct stack_frame f;

		stacks_frame(p->profile->stacks, place, level, &f);
		if (f.function_id.v == 0)
			continue;
		text_reset(&line);
		protobuf_put_number(&line, LINE_FUNCTION, function_id(p, &f));
		protobuf_put_number(&line, LINE_LINE, f.line);
		protobuf_put_message(out, LOCATION_LINE, &line);
	}
	text_release(&line);
}

/* The id of a place, which is written if it is new. */
static uint64_t location_id(struct pprof *p, uint32_t place)
{
	const struct stacks *s = p->profile->stacks;
	const struct symbol *symbol = &s->names.symbols[place];
	struct place where = session_place(p->profile->session, place);
	uint64_t address = symbol->function.v != 0 ? symbol->address : where.offset;
	struct text message = { 0 };

	if (p->locations[place] != 0)
		return p->locations[place];
	p->locations[place] = ++p->n_locations;
	protobuf_put_number(&message, LOCATION_ID, p->locations[place]);
	protobuf_put_number(&message, LOCATION_MAPPING, mapping_id(p, where, address));
	protobuf_put_number(&message, LOCATION_ADDRESS, address);
	put_location_lines(p, place, &message);
	protobuf_put_message(p->out, PROFILE_LOCATION, &message);
	text_release(&message);
	return p->locations[place];
}

static void put_label(struct pprof *p, const char *key, unsigned field, uint64_t value)
{
	text_reset(&p->inner);
	protobuf_put_number(&p->inner, LABEL_KEY, string_id(p, key));
	protobuf_put_number(&p->inner, field, value);
	protobuf_put_message(&p->message, SAMPLE_LABEL, &p->inner);
}

static void put_labels(struct pprof *p, const struct stack *stack)
{
	const struct stacks *s = p->profile->stacks;
	const struct process *process = timeline_process(s->session->timeline, stack->process);

	if (stack->process != 0) {
		put_label(p, "process", LABEL_STRING,
			  string_id(p, stacks_process_name(s, stack->process)));
		put_label(p, "pid", LABEL_NUMBER, process->pid);
	}
	if (stack->tid == DIM_ABSENT)
		return;
	put_label(p, "thread", LABEL_STRING, string_id(p, stacks_thread_name(s, stack->tid)));
	put_label(p, "tid", LABEL_NUMBER, stack->tid);
}

/* A sample: one location for each place, innermost first, whose lines are the inlined functions. */
static void put_sample(struct pprof *p, const struct stack *stack)
{
	struct stack_walk walk;
	struct stack_frame f;

	text_reset(&p->packed);
	for (stack_walk_init(&walk, p->profile->stacks, stack); stack_walk_next(&walk, &f);)
		if (f.level == 0)
			protobuf_put_varint(&p->packed, location_id(p, f.place));
	text_reset(&p->message);
	protobuf_put_message(&p->message, SAMPLE_LOCATION, &p->packed);
	text_reset(&p->packed);
	for (size_t i = 0; i < p->types.n; i++)
		protobuf_put_varint(&p->packed, p->types.items[i].event == stack->event
							? stack->values[p->types.items[i].value]
							: 0);
	protobuf_put_message(&p->message, SAMPLE_VALUE, &p->packed);
	put_labels(p, stack);
	protobuf_put_message(p->out, PROFILE_SAMPLE, &p->message);
	profile_writer_step(p->profile->out);
}

static void put_mapping(struct pprof *p, size_t i)
{
	const struct pprof_mapping *mapping = &p->mappings.items[i];
	const struct modules *modules = timeline_modules(p->profile->session->timeline);
	const struct module *module = modules_get(modules, mapping->module);
	uint64_t start = mapping->first & ~(uint64_t)(PAGE - 1);
	struct text message = { 0 }, build_id = { 0 };

	for (size_t b = 0; b < module->build_id.size; b++)
		text_hex_padded(&build_id, module->build_id.bytes[b], 2);
	text_char(&build_id, '\0');
	protobuf_put_number(&message, MAPPING_ID, i + 1);
	protobuf_put_number(&message, MAPPING_START, start);
	protobuf_put_number(&message, MAPPING_LIMIT, (mapping->last | (PAGE - 1)) + 1);
	protobuf_put_number(&message, MAPPING_OFFSET, start - mapping->delta);
	protobuf_put_number(&message, MAPPING_FILE,
			    string_id(p, strings_get(modules->strings, module->path)));
	protobuf_put_number(&message, MAPPING_BUILD_ID, string_id(p, build_id.bytes));
	for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINED; field++)
		protobuf_put_number(&message, field, 1);
	protobuf_put_message(p->out, PROFILE_MAPPING, &message);
	text_release(&message);
	text_release(&build_id);
}

/* Of the first event: how many of which one sample represents, if that is the same for all. */
static void put_period(struct pprof *p)
{
	const struct stacks *s = p->profile->stacks;
	uint64_t event = p->profile->event, period = 0;
	bool is_spe = hot_is_spe(s->hot, event);
	const struct attr *attr;

	if (is_spe) {
		period = spe_interval_common(s->session).mean;
	} else if (event < capture_n_events(s->session->capture)) {
		attr = &capture_event(s->session->capture, event)->attr;
		period = attr_has(attr, ATTR_FREQ) ? 0 : attr->sample_period;
	}
	if (period == 0)
		return;
	put_type(p, PROFILE_PERIOD_TYPE, event, is_spe ? STACK_OPERATIONS : STACK_PERIOD);
	protobuf_put_number(p->out, PROFILE_PERIOD, period);
}

static void put_comment(struct profile *profile, const char *caveat)
{
	struct pprof *p = profile->format_state;

	protobuf_put_element(p->out, PROFILE_COMMENT, string_id(p, caveat));
}

static void put_strings(struct pprof *p)
{
	for (uint32_t i = 0; i < p->strings.texts.n; i++) {
		const char *text = strings_get(&p->strings, (struct str_id){ i });

		protobuf_put_bytes(p->out, PROFILE_STRING, text, strlen(text));
		profile_writer_step(p->profile->out);
	}
}

static int pprof_write(struct profile *profile, struct err *err)
{
	const struct session *session = profile->session;
	struct pprof p = { .profile = profile, .out = &profile->out->text };
	struct stack stack;

	(void)err;
	strings_init(&p.strings);
	tuples_init(&p.mapping_ids, 2);
	tuples_init(&p.function_ids, 2);
	p.locations = mem_zalloc(profile->stacks->names.n + 1, sizeof(*p.locations));
	profile->format_state = &p;
	put_types(&p);
	for (uint64_t at = 0; stacks_next(profile->stacks, &at, &stack);)
		put_sample(&p, &stack);
	for (size_t i = 0; i < p.mappings.n; i++)
		put_mapping(&p, i);
	put_period(&p);
	protobuf_put_number(p.out, PROFILE_DURATION, session->last_ns - session->first_ns);
	profile_each_caveat(profile, put_comment);
	put_strings(&p);
	strings_release(&p.strings);
	tuples_release(&p.mapping_ids);
	tuples_release(&p.function_ids);
	vec_release(&p.types);
	vec_release(&p.mappings);
	text_release(&p.message);
	text_release(&p.inner);
	text_release(&p.packed);
	text_release(&p.name);
	free(p.locations);
	return 0;
}

const struct profile_format profile_pprof = {
	.name = "pprof",
	.meaning = "for go tool pprof and what reads its profiles, gzipped",
	.is_binary = true,
	.is_gzip = true,
	.has_events = true,
	.has_values = true,
	.by_thread = true,
	.depth = SYMBOLS_LINES,
	.write = pprof_write,
};
