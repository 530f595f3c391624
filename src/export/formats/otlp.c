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
	struct tuples stacks;	  /* place, frame */
	struct tuples mappings;	  /* modules */
	struct tuples functions;  /* name, file */
	struct tuples attributes; /* kind, number */
	struct text entry, line, samples, packed, name;
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

static uint32_t otlp_stack(struct otlp *o, const struct stack *stack)
{
	return tuples_add(&o->stacks, (const uint64_t[2]){ stack->place, stack->frame });
}

static void put_sample(struct otlp *o, const struct stack *stack, enum stack_value value)
{
	const struct stacks *s = o->profile->stacks;
	struct text sample = { 0 };

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
	protobuf_put_number(&sample, OTLP_SAMPLE_STACK, otlp_stack(o, stack));
	protobuf_put_message(&sample, OTLP_SAMPLE_ATTRIBUTES, &o->packed);
	text_reset(&o->packed);
	protobuf_put_varint(&o->packed, stack->values[value]);
	protobuf_put_message(&sample, OTLP_SAMPLE_VALUES, &o->packed);
	protobuf_put_message(&o->samples, OTLP_SAMPLE, &sample);
	text_release(&sample);
}

/* A profile: it is made as a whole, because its length stands before it. */
static void put_otlp_profile(struct otlp *o, uint64_t event, enum stack_value value)
{
	const struct profile *p = o->profile;
	struct text name = { 0 }, type = { 0 }, scope = { 0 }, resource = { 0 };
	struct stack stack;

	text_reset(&o->samples);
	profile_put_value_name(p, event, value, &name);
	text_char(&name, '\0');
	protobuf_put_number(&type, OTLP_TYPE_NAME, otlp_string(o, name.bytes));
	protobuf_put_number(&type, OTLP_TYPE_UNIT,
			    otlp_string(o, stacks_unit(p->stacks, event, value)));
	protobuf_put_message(&o->samples, OTLP_SAMPLE_TYPE, &type);
	protobuf_put_number(&o->samples, OTLP_DURATION, p->session->last_ns - p->session->first_ns);
	for (size_t at = 0; stacks_next(p->stacks, &at, &stack);)
		if (stack.event == event && stack.values[value] > 0)
			put_sample(o, &stack, value);
	text_reset(&name);
	protobuf_put_bytes(&name, SCOPE_NAME, "cyclops", strlen("cyclops"));
	protobuf_put_message(&scope, SCOPE_SCOPE, &name);
	protobuf_put_message(&scope, SCOPE_PROFILES, &o->samples);
	protobuf_put_message(&resource, RESOURCE_SCOPE_PROFILES, &scope);
	protobuf_put_message(o->out, DATA_RESOURCE_PROFILES, &resource);
	profile_writer_step(p->out);
	text_release(&name);
	text_release(&type);
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

static uint32_t otlp_location(struct otlp *o, uint32_t place)
{
	const struct stacks *s = o->profile->stacks;
	const struct symbol *symbol = &s->names.symbols[place];
	struct place where = session_place(o->profile->session, place);
	struct text message = { 0 };

	if (o->locations[place] != 0)
		return o->locations[place];
	o->locations[place] = ++o->n_locations;
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
	return o->locations[place];
}

/* The stacks, and with them their locations and functions. */
static void put_stack_table(struct otlp *o)
{
	const struct text none = { 0 };
	struct text message = { 0 };

	put_entry(o, DICTIONARY_LOCATION, &none);
	put_entry(o, DICTIONARY_FUNCTION, &none);
	put_entry(o, DICTIONARY_LINK, &none);
	put_entry(o, DICTIONARY_STACK, &none);
	for (uint32_t i = 1; i < o->stacks.n; i++) {
		const uint64_t *key = tuples_get(&o->stacks, i);
		const struct stack stack = { .place = (uint32_t)key[0], .frame = (uint32_t)key[1] };
		struct stack_walk walk;
		struct stack_frame f;

		text_reset(&o->packed);
		for (stack_walk_init(&walk, o->profile->stacks, &stack);
		     stack_walk_next(&walk, &f);)
			if (f.level == 0)
				protobuf_put_varint(&o->packed, otlp_location(o, f.place));
		text_reset(&message);
		protobuf_put_message(&message, 1, &o->packed);
		put_entry(o, DICTIONARY_STACK, &message);
	}
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

static void otlp_write(struct profile *profile)
{
	const struct stacks *s = profile->stacks;
	const uint64_t none[2] = { UINT64_MAX, UINT64_MAX };
	struct otlp o = { .profile = profile, .out = &profile->out->text };

	strings_init(&o.strings);
	tuples_init(&o.stacks, 2);
	tuples_init(&o.mappings, 1);
	tuples_init(&o.functions, 2);
	tuples_init(&o.attributes, 2);
	tuples_add(&o.stacks, none);
	tuples_add(&o.mappings, &(uint64_t){ 0 });
	tuples_add(&o.functions, none);
	tuples_add(&o.attributes, none);
	o.locations = mem_zalloc(s->names.n + 1, sizeof(*o.locations));
	for (uint64_t event = 0; event < s->totals_end; event++)
		for (int value = 0; value < N_STACK_VALUES; value++)
			if (s->totals[event][value] > 0 && profile_has_value(profile, event, value))
				put_otlp_profile(&o, event, value);
	put_stack_table(&o);
	put_mapping_table(&o);
	put_attribute_table(&o);
	put_string_table(&o);
	profile_each_caveat(profile, put_otlp_caveat);
	strings_release(&o.strings);
	tuples_release(&o.stacks);
	tuples_release(&o.mappings);
	tuples_release(&o.functions);
	tuples_release(&o.attributes);
	text_release(&o.entry);
	text_release(&o.line);
	text_release(&o.samples);
	text_release(&o.packed);
	text_release(&o.name);
	free(o.locations);
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
