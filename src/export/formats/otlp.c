/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenTelemetry's signal "profiles": the message ProfilesData of opentelemetry-proto 1.11.0,
 * profiles/v1development/profiles.proto. That is no stable format: a later release may change it.
 * Each value of each event is a profile. The dictionary is written in pieces behind the profiles, which
 * Protocol Buffers add up to one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/tuples.h"
#include "export/formats/path_numbers.h"
#include "export/formats/profile.h"
#include "export/formats/protobuf.h"

/* Numbers of fields, by message. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { RESOURCE_SCOPE_PROFILES = 2, SCOPE_SCOPE = 1, SCOPE_PROFILES, SCOPE_NAME = 1 };
enum {
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION,
	DICTIONARY_FUNCTION,
	DICTIONARY_LINK,
	DICTIONARY_STRING,
	DICTIONARY_ATTRIBUTE,
	DICTIONARY_STACK,
};
enum { OTLP_SAMPLE_TYPE = 1, OTLP_SAMPLE, OTLP_DURATION = 4 };
enum { OTLP_TYPE_NAME = 1, OTLP_TYPE_UNIT };
enum { OTLP_SAMPLE_STACK = 1, OTLP_SAMPLE_ATTRIBUTES, OTLP_SAMPLE_VALUES = 4 };
enum { OTLP_LOCATION_MAPPING = 1, OTLP_LOCATION_ADDRESS, OTLP_LOCATION_LINES };
enum { OTLP_LINE_FUNCTION = 1, OTLP_LINE_LINE };
enum { OTLP_FUNCTION_NAME = 1, OTLP_FUNCTION_SYSTEM_NAME, OTLP_FUNCTION_FILE };
enum { OTLP_MAPPING_FILE = 4, OTLP_MAPPING_ATTRIBUTES };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE, VALUE_STRING = 1, VALUE_INT = 3 };

/* What an attribute stands for: its kind and a number, or a string's id. */
enum otlp_attribute { OTLP_PID, OTLP_TID, OTLP_THREAD, OTLP_PROCESS, OTLP_BUILD_ID };

static const char *const attribute_keys[] = {
	[OTLP_PID] = "process.pid",
	[OTLP_TID] = "thread.id",
	[OTLP_THREAD] = "thread.name",
	[OTLP_PROCESS] = "process.executable.name",
	[OTLP_BUILD_ID] = "process.executable.build_id.gnu",
};

/* Index 0 of each table is "none". */
struct otlp {
	struct profile *profile;
	struct text *out;
	struct strings strings;
	uint32_t *locations; /* by place: its index; 0: none yet */
	uint32_t n_locations;
	struct path_numbers stacks; /* of locations; number 0 has the index 1 */
	struct tuples mappings;	    /* modules */
	struct tuples functions;    /* name, file */
	struct tuples attributes;   /* kind, number */
	struct text entry, line, sample, packed, name;
};

static uint64_t otlp_string(struct otlp *o, const char *text)
{
	text_reset(&o->name);
	put_printable(&o->name, text);
	return strings_add(&o->strings, o->name.bytes, o->name.n).v;
}

/* Writes an entry of the dictionary. */
static void put_entry(struct otlp *o, unsigned table, const struct text *entry)
{
	struct text dictionary = { 0 };

	protobuf_put_message(&dictionary, table, entry);
	protobuf_put_message(o->out, DATA_DICTIONARY, &dictionary);
	text_release(&dictionary);
	profile_writer_step(o->profile->out);
}

static uint32_t otlp_attribute(struct otlp *o, enum otlp_attribute kind, uint64_t number)
{
	return tuples_add(&o->attributes, (const uint64_t[2]){ kind, number });
}

static uint32_t otlp_location(struct otlp *o, uint32_t place)
{
	if (o->locations[place] == 0)
		o->locations[place] = ++o->n_locations;
	return o->locations[place];
}

static void otlp_add_stack(struct otlp *o, const struct stack *stack)
{
	VEC_OF(uint32_t) locations = { 0 };
	struct stack_walk walk;
	struct stack_frame f;

	for (stack_walk_init(&walk, o->profile->stacks, stack); stack_walk_next(&walk, &f);)
		if (f.level == 0)
			*vec_add(&locations) = otlp_location(o, f.place);
	path_numbers_add(&o->stacks, locations.items, locations.n);
	vec_release(&locations);
}

/* Makes o->sample. `number`: of its stack. */
static void make_sample(struct otlp *o, const struct stack *stack, uint32_t number,
			enum stack_value value)
{
	const struct stacks *s = o->profile->stacks;

	text_reset(&o->sample);
	text_reset(&o->packed);
	if (stack->process != 0) {
		const struct process *p = timeline_process(s->session->timeline, stack->process);
		const char *name = stacks_process_name(s, stack->process);

		protobuf_put_varint(&o->packed, otlp_attribute(o, OTLP_PID, p->pid));
		protobuf_put_varint(&o->packed,
				    otlp_attribute(o, OTLP_PROCESS, otlp_string(o, name)));
	}
	if (stack->tid != DIM_ABSENT) {
		const char *name = stacks_thread_name(s, stack->tid);

		protobuf_put_varint(&o->packed, otlp_attribute(o, OTLP_TID, stack->tid));
		protobuf_put_varint(&o->packed,
				    otlp_attribute(o, OTLP_THREAD, otlp_string(o, name)));
	}
	protobuf_put_number(&o->sample, OTLP_SAMPLE_STACK, number + 1);
	protobuf_put_message(&o->sample, OTLP_SAMPLE_ATTRIBUTES, &o->packed);
	text_reset(&o->packed);
	protobuf_put_varint(&o->packed, stack->values[value]);
	protobuf_put_message(&o->sample, OTLP_SAMPLE_VALUES, &o->packed);
}

/* The samples of an event with that value, written to `out`; NULL: only measured. Returns their bytes. */
static uint64_t put_samples(struct otlp *o, uint64_t event, enum stack_value value,
			    struct text *out)
{
	uint64_t bytes = 0, sample = 0;
	struct stack stack;

	for (uint64_t at = 0; stacks_next(o->profile->stacks, &at, &stack);) {
		uint32_t number = path_numbers_of_sample(&o->stacks, &sample);
		size_t start;

		if (stack.event != event || stack.values[value] == 0)
			continue;
		make_sample(o, &stack, number, value);
		text_reset(&o->entry);
		start = out != NULL ? out->n : 0;
		protobuf_put_message(out != NULL ? out : &o->entry, OTLP_SAMPLE, &o->sample);
		bytes += (out != NULL ? out : &o->entry)->n - start;
		if (out != NULL)
			profile_writer_step(o->profile->out);
	}
	return bytes;
}

static void put_otlp_profile(struct otlp *o, uint64_t event, enum stack_value value)
{
	const struct profile *p = o->profile;
	struct text name = { 0 }, type = { 0 }, head = { 0 }, scope = { 0 }, resource = { 0 };
	uint64_t size;

	profile_put_value_name(p, event, value, &name);
	text_char(&name, '\0');
	protobuf_put_number(&type, OTLP_TYPE_NAME, otlp_string(o, name.bytes));
	protobuf_put_number(&type, OTLP_TYPE_UNIT,
			    otlp_string(o, stacks_unit(p->stacks, event, value)));
	protobuf_put_message(&head, OTLP_SAMPLE_TYPE, &type);
	protobuf_put_number(&head, OTLP_DURATION, p->session->last_ns - p->session->first_ns);
	size = head.n + put_samples(o, event, value, NULL);
	text_reset(&name);
	protobuf_put_bytes(&name, SCOPE_NAME, "cyclops", strlen("cyclops"));
	protobuf_put_message(&scope, SCOPE_SCOPE, &name);
	protobuf_put_length(&scope, SCOPE_PROFILES, size);
	protobuf_put_length(&resource, RESOURCE_SCOPE_PROFILES, scope.n + size);
	protobuf_put_length(o->out, DATA_RESOURCE_PROFILES, resource.n + scope.n + size);
	text_add(o->out, resource.bytes, resource.n);
	text_add(o->out, scope.bytes, scope.n);
	text_add(o->out, head.bytes, head.n);
	put_samples(o, event, value, o->out);
	text_release(&name);
	text_release(&type);
	text_release(&head);
	text_release(&scope);
	text_release(&resource);
}

static uint32_t otlp_function(struct otlp *o, const struct stack_frame *f)
{
	const uint64_t key[] = { otlp_string(o, f->function),
				 otlp_string(o, f->file != NULL ? f->file : "") };
	uint32_t n = o->functions.n, number = tuples_add(&o->functions, key);

	if (number == n) {
		text_reset(&o->entry);
		protobuf_put_number(&o->entry, OTLP_FUNCTION_NAME, key[0]);
		protobuf_put_number(&o->entry, OTLP_FUNCTION_SYSTEM_NAME, key[0]);
		protobuf_put_number(&o->entry, OTLP_FUNCTION_FILE, key[1]);
		put_entry(o, DICTIONARY_FUNCTION, &o->entry);
	}
	return number;
}

static void put_location(struct otlp *o, uint32_t place)
{
	const struct stacks *s = o->profile->stacks;
	const struct symbol *symbol = &s->names.symbols[place];
	struct place where = session_place(o->profile->session, place);
	struct text message = { 0 };

	protobuf_put_number(&message, OTLP_LOCATION_MAPPING,
			    tuples_add(&o->mappings, &(uint64_t){ where.module.v }));
	protobuf_put_number(&message, OTLP_LOCATION_ADDRESS,
			    symbol->function.v != 0 ? symbol->address : where.offset);
	for (uint32_t level = 0; level < stacks_n_levels(s, place); level++) {
		struct stack_frame f;

		stacks_frame(s, place, level, &f);
		if (f.function_id.v == 0)
			continue;
		text_reset(&o->line);
		protobuf_put_number(&o->line, OTLP_LINE_FUNCTION, otlp_function(o, &f));
		protobuf_put_number(&o->line, OTLP_LINE_LINE, f.line);
		protobuf_put_message(&message, OTLP_LOCATION_LINES, &o->line);
	}
	put_entry(o, DICTIONARY_LOCATION, &message);
	text_release(&message);
}

/* In order of their indexes, and with them their functions. */
static void put_locations(struct otlp *o)
{
	uint32_t *places = mem_alloc((size_t)o->n_locations + 1, sizeof(*places));

	for (uint32_t place = 0; place < o->profile->stacks->names.n; place++)
		if (o->locations[place] != 0)
			places[o->locations[place]] = place;
	free(o->locations);
	o->locations = NULL;
	for (uint32_t i = 1; i <= o->n_locations; i++)
		put_location(o, places[i]);
	free(places);
}

/* The stacks, and with them their locations and functions. */
static void put_stack_table(struct otlp *o)
{
	const struct text none = { 0 };
	struct text message = { 0 };
	struct path_row row;

	put_entry(o, DICTIONARY_LOCATION, &none);
	put_entry(o, DICTIONARY_FUNCTION, &none);
	put_entry(o, DICTIONARY_LINK, &none);
	put_entry(o, DICTIONARY_STACK, &none);
	put_locations(o);
	for (path_row_init(&row); path_numbers_next(&o->stacks, &row);) {
		text_reset(&o->packed);
		for (size_t i = row.labels.n; i-- > 0;)
			protobuf_put_varint(&o->packed, row.labels.items[i]);
		text_reset(&message);
		protobuf_put_message(&message, 1, &o->packed);
		put_entry(o, DICTIONARY_STACK, &message);
	}
	path_row_release(&row);
	text_release(&message);
}

static void put_mapping_table(struct otlp *o)
{
	const struct modules *modules = timeline_modules(o->profile->session->timeline);
	struct text message = { 0 }, build_id = { 0 };

	for (uint32_t i = 0; i < o->mappings.n; i++) {
		struct module_id id = { (uint32_t)tuples_get(&o->mappings, i)[0] };
		const struct module *module = modules_get(modules, id);

		text_reset(&message);
		text_reset(&build_id);
		if (i > 0)
			protobuf_put_number(
				&message, OTLP_MAPPING_FILE,
				otlp_string(o, strings_get(modules->strings, module->path)));
		for (size_t b = 0; b < module->build_id.size; b++)
			text_hex_padded(&build_id, module->build_id.bytes[b], 2);
		text_char(&build_id, '\0');
		if (module->build_id.size > 0) {
			uint64_t text = otlp_string(o, build_id.bytes);

			text_reset(&o->packed);
			protobuf_put_varint(&o->packed, otlp_attribute(o, OTLP_BUILD_ID, text));
			protobuf_put_message(&message, OTLP_MAPPING_ATTRIBUTES, &o->packed);
		}
		put_entry(o, DICTIONARY_MAPPING, &message);
	}
	text_release(&message);
	text_release(&build_id);
}

static void put_attribute_table(struct otlp *o)
{
	struct text message = { 0 }, value = { 0 };

	put_entry(o, DICTIONARY_ATTRIBUTE, &message);
	for (uint32_t i = 1; i < o->attributes.n; i++) {
		const uint64_t *key = tuples_get(&o->attributes, i);
		bool is_number = key[0] == OTLP_PID || key[0] == OTLP_TID;
		const char *text =
			is_number ? ""
				  : strings_get(&o->strings, (struct str_id){ (uint32_t)key[1] });

		text_reset(&message);
		text_reset(&value);
		protobuf_put_number(&message, ATTRIBUTE_KEY,
				    otlp_string(o, attribute_keys[key[0]]));
		if (is_number)
			protobuf_put_element(&value, VALUE_INT, key[1]);
		else
			protobuf_put_bytes(&value, VALUE_STRING, text, strlen(text));
		protobuf_put_message(&message, ATTRIBUTE_VALUE, &value);
		put_entry(o, DICTIONARY_ATTRIBUTE, &message);
	}
	text_release(&message);
	text_release(&value);
}

static void put_string_table(struct otlp *o)
{
	struct text dictionary = { 0 };

	for (uint32_t i = 0; i < o->strings.texts.n; i++) {
		const char *text = strings_get(&o->strings, (struct str_id){ i });

		text_reset(&dictionary);
		protobuf_put_bytes(&dictionary, DICTIONARY_STRING, text, strlen(text));
		protobuf_put_message(o->out, DATA_DICTIONARY, &dictionary);
		profile_writer_step(o->profile->out);
	}
	text_release(&dictionary);
}

static void put_otlp_caveat(struct profile *p, const char *caveat)
{
	profile_writer_note(p->out, "%s", caveat);
}

static int otlp_write(struct profile *profile, struct err *err)
{
	const struct stacks *s = profile->stacks;
	const uint64_t none[2] = { UINT64_MAX, UINT64_MAX };
	struct otlp o = { .profile = profile, .out = &profile->out->text };
	struct stack stack;
	int rc;

	strings_init(&o.strings);
	path_numbers_init(&o.stacks, false, s->memory_bytes);
	tuples_init(&o.mappings, 1);
	tuples_init(&o.functions, 2);
	tuples_init(&o.attributes, 2);
	tuples_add(&o.mappings, &(uint64_t){ 0 });
	tuples_add(&o.functions, none);
	tuples_add(&o.attributes, none);
	o.locations = mem_zalloc(s->names.n + 1, sizeof(*o.locations));
	for (uint64_t at = 0; stacks_next(s, &at, &stack);)
		otlp_add_stack(&o, &stack);
	rc = path_numbers_finish(&o.stacks, err);
	for (uint64_t event = 0; event < s->totals_end && rc == 0; event++)
		for (int value = 0; value < N_STACK_VALUES; value++)
			if (s->totals[event][value] > 0 && profile_has_value(profile, event, value))
				put_otlp_profile(&o, event, value);
	if (rc == 0) {
		put_stack_table(&o);
		put_mapping_table(&o);
		put_attribute_table(&o);
		put_string_table(&o);
	}
	profile_each_caveat(profile, put_otlp_caveat);
	strings_release(&o.strings);
	path_numbers_release(&o.stacks);
	tuples_release(&o.mappings);
	tuples_release(&o.functions);
	tuples_release(&o.attributes);
	text_release(&o.entry);
	text_release(&o.line);
	text_release(&o.sample);
	text_release(&o.packed);
	text_release(&o.name);
	free(o.locations);
	return rc;
}

const struct profile_format profile_otlp = {
	.name = "otlp",
	.meaning = "experimental: OpenTelemetry's profiles, opentelemetry-proto 1.11.0",
	.is_binary = true,
	.has_events = true,
	.has_values = true,
	.by_thread = true,
	.depth = SYMBOLS_LINES,
	.write = otlp_write,
};
