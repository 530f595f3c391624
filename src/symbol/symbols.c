/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/symbols.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <libelf.h>

#include "base/alloc.h"
#include "base/text.h"
#include "symbol/lines.h"
#include "symbol/symbols_state.h"

/* Where perf keeps copies of binaries, to be freed; NULL if the user has no home. */
static char *find_cache(void)
{
	const char *given = getenv("PERF_BUILDID_DIR");
	const char *home = getenv("HOME");
	struct text path = { 0 };
	char *copy;

	if (given != NULL && given[0] != '\0')
		return mem_strndup(given, strlen(given));
	if (home == NULL || home[0] == '\0')
		return NULL;
	text_format(&path, "%s/.debug", home);
	copy = mem_strndup(path.bytes, path.n);
	text_release(&path);
	return copy;
}

struct symbols *symbols_new(const struct modules *modules, const struct symbols_options *options)
{
	struct symbols *s = mem_zalloc(1, sizeof(*s));

	elf_version(EV_CURRENT);
	s->modules = modules;
	s->options = *options;
	s->cache = find_cache();
	s->search = (struct search){ .options = &s->options, .cache = s->cache };
	s->states = mem_zalloc(modules->list.n, sizeof(*s->states));
	strings_init(&s->strings);
	types_init(&s->types, &s->strings);
	return s;
}

void symbols_free(struct symbols *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->modules->list.n; i++) {
		binary_release(&s->states[i].binary);
		free(s->states[i].names);
	}
	free(s->states);
	kernel_names_release(&s->kernel);
	for (size_t i = 0; i < s->guests.n; i++) {
		kernel_names_release(&s->guests.items[i]->names);
		free(s->guests.items[i]);
	}
	vec_release(&s->guests);
	types_release(&s->types);
	strings_release(&s->strings);
	vec_release(&s->frames);
	vec_release(&s->missing);
	diags_release(&s->diags);
	free(s->cache);
	free(s);
}

static const struct module *symbols_find_kernel(const struct modules *modules)
{
	for (size_t i = 0; i < modules->list.n; i++) {
		if (modules->list.items[i].kind == MODULE_KERNEL)
			return &modules->list.items[i];
	}
	return NULL;
}

static bool is_of_guest(const struct module *m)
{
	return m->kind == MODULE_GUEST_KERNEL || m->kind == MODULE_GUEST_MODULE;
}

static const struct kernel_names *find_guest(const struct symbols *s, uint32_t pid)
{
	for (size_t i = 0; i < s->guests.n; i++)
		if (s->guests.items[i]->pid == pid)
			return &s->guests.items[i]->names;
	return NULL;
}

static void prepare_guest(struct symbols *s, uint32_t pid)
{
	struct guest_names *guest;

	if (find_guest(s, pid) != NULL)
		return;
	guest = mem_zalloc(1, sizeof(*guest));
	guest->pid = pid;
	kernel_names_read_guest(&guest->names, &s->options, pid);
	*vec_add(&s->guests) = guest;
}

void symbols_prepare(struct symbols *s, struct module_id id)
{
	const struct module *m = modules_get(s->modules, id);
	enum module_kind kind = m->kind;

	if (s->states[id.v].binary.is_loaded)
		return; /* it was prepared before that */
	if (is_of_guest(m))
		prepare_guest(s, m->pid);
	if (s->has_kernel || (kind != MODULE_KERNEL && kind != MODULE_KERNEL_MODULE))
		return;
	s->has_kernel = true;
	kernel_names_read(&s->kernel, &s->search, symbols_find_kernel(s->modules));
}

void symbols_load(struct symbols *s, struct module_id id)
{
	struct binary *binary = &s->states[id.v].binary;
	const struct module *m = modules_get(s->modules, id);
	struct binary_sources sources;

	if (binary->is_loaded)
		return;
	sources = (struct binary_sources){
		.search = &s->search,
		.kernel = is_of_guest(m) ? find_guest(s, m->pid) : &s->kernel,
		.strings = s->modules->strings,
		.info = s->options.info,
		.info_strings = s->options.info_strings,
	};
	binary_load(binary, m, &sources);
}

/* Demangled once for each function, which mostly has many places. */
static struct str_id name_of_function(struct symbols *s, struct module_state *state,
				      const struct function *function)
{
	const struct functions *functions = state->binary.functions;
	size_t i = (size_t)(function - functions->list.items);
	struct text name = { 0 };

	if (state->names == NULL)
		state->names = mem_zalloc(functions->list.n, sizeof(*state->names));
	if (state->names[i].v == 0) {
		function_name(function, symbols_style(s), &name);
		state->names[i] = strings_add(&s->strings, name.bytes, name.n);
		text_release(&name);
	}
	return state->names[i];
}

/* *out_offset is from the function's start. */
static struct str_id find_function_name(struct symbols *s, struct place place, uint64_t *out_offset)
{
	struct module_state *state = &s->states[place.module.v];
	const struct binary *binary = &state->binary;
	const struct function *function = NULL;
	uint64_t address;

	*out_offset = place.offset;
	symbols_prepare(s, place.module);
	symbols_load(s, place.module);
	if (binary->only_name != NULL)
		return strings_addz(&s->strings, binary->only_name);
	if (binary_address(binary, place.offset, &address))
		function = binary_find(binary, address);
	if (function == NULL)
		return (struct str_id){ 0 };
	*out_offset = address + binary->to_function - function->start;
	return name_of_function(s, state, function);
}

const char *symbols_function_at(struct symbols *s, struct place place, uint64_t *out_offset)
{
	struct module_state *state = &s->states[place.module.v];
	struct str_id name = find_function_name(s, place, out_offset);

	if (name.v != 0)
		return strings_get(&s->strings, name);
	if (++state->n_asked_without > state->n_without_function)
		state->n_without_function = state->n_asked_without;
	return NULL;
}

/* What to say of a module's lines if it has none; not all modules have a source. */
static void note_lines(struct module_state *state, enum module_kind kind)
{
	if (state->binary.lines_path != NULL || state->binary.dump_lines.list.n > 0)
		return;
	if (kind == MODULE_FILE)
		shortage_set(&state->binary.lines, SHORT_OF_LINES);
	else if (kind == MODULE_KERNEL)
		shortage_set(&state->binary.lines, SHORT_OF_KERNEL_LINES);
}

/* The shortage to report, NULL if there is none. */
static const struct shortage *find_shortage(struct module_state *state, enum module_kind kind)
{
	if (kind == MODULE_UNKNOWN || kind == MODULE_OTHER)
		return NULL;
	if (state->n_without_function > 0) {
		shortage_set(&state->binary.names, SHORT_OF_FUNCTION);
		return &state->binary.names;
	}
	if (state->n_without_line == 0)
		return NULL;
	note_lines(state, kind);
	return state->binary.lines.reason == NULL ? NULL : &state->binary.lines;
}

/* By number of places without a name, descending. */
static int compare_missing(const void *left, const void *right)
{
	const struct symbols_missing *a = left, *b = right;

	if (a->n_places != b->n_places)
		return (a->n_places < b->n_places) - (a->n_places > b->n_places);
	if (a->n_without_line != b->n_without_line)
		return (a->n_without_line < b->n_without_line) -
		       (a->n_without_line > b->n_without_line);
	return (a->module.v > b->module.v) - (a->module.v < b->module.v);
}

void symbols_update_missing(struct symbols *s)
{
	s->missing.n = 0;
	for (uint32_t i = 0; i < s->modules->list.n; i++) {
		struct module_state *state = &s->states[i];
		const struct shortage *shortage =
			find_shortage(state, s->modules->list.items[i].kind);

		if (shortage == NULL)
			continue;
		*vec_add(&s->missing) = (struct symbols_missing){
			.module = { i },
			.n_places = state->n_without_function,
			.n_without_line = state->n_without_line,
			.reason = shortage->reason,
			.brief = shortage->brief,
			.remedy = shortage->remedy,
		};
	}
	if (s->missing.n > 1)
		qsort(s->missing.items, s->missing.n, sizeof(*s->missing.items), compare_missing);
}

void symbols_each_function(struct symbols *s, struct module_id id,
			   void (*each)(void *context, const char *name, uint64_t offset,
					uint64_t size),
			   void *context)
{
	const struct binary *binary = &s->states[id.v].binary;
	const struct functions *functions;
	const struct function_alias *aliases;
	struct text name = { 0 };
	size_t n;

	symbols_prepare(s, id);
	symbols_load(s, id);
	functions = binary->functions;
	for (size_t i = 0; functions != NULL && i < functions->list.n; i++) {
		const struct function *f = &functions->list.items[i];
		uint64_t offset;

		if (!binary_offset(binary, f->start - binary->to_function, &offset))
			continue;
		text_reset(&name);
		function_name(f, symbols_style(s), &name);
		text_char(&name, '\0');
		each(context, name.bytes, offset, f->size);
		aliases = functions_aliases(functions, f->start, &n);
		for (size_t k = 0; k < n; k++) {
			text_reset(&name);
			function_alias_name(&aliases[k], symbols_style(s), &name);
			text_char(&name, '\0');
			each(context, name.bytes, offset, f->size);
		}
	}
	text_release(&name);
}

bool symbols_has_alias(struct symbols *s, struct place start, const char *name, size_t n)
{
	const struct binary *binary = &s->states[start.module.v].binary;
	const struct function_alias *aliases;
	struct text alias = { 0 };
	uint64_t address;
	size_t n_aliases = 0;
	bool is_alias = false;

	if (start.module.v == 0)
		return false;
	symbols_prepare(s, start.module);
	symbols_load(s, start.module);
	if (binary->functions == NULL || !binary_address(binary, start.offset, &address))
		return false;
	aliases = functions_aliases(binary->functions, address + binary->to_function, &n_aliases);
	for (size_t i = 0; i < n_aliases && !is_alias; i++) {
		text_reset(&alias);
		function_alias_name(&aliases[i], symbols_style(s), &alias);
		is_alias = alias.n == n && memcmp(alias.bytes, name, n) == 0;
	}
	text_release(&alias);
	return is_alias;
}

/* Turns addresses of the file into offsets of the module. */
struct line_visit {
	const struct binary *binary;
	void (*each)(void *context, const char *file, uint32_t line, uint64_t offset,
		     uint64_t size);
	void *context;
};

static void visit_line(void *context, const char *file, uint32_t line, uint64_t from, uint64_t to)
{
	const struct line_visit *v = context;
	uint64_t offset;

	if (binary_offset(v->binary, from, &offset))
		v->each(v->context, file, line, offset, to - from);
}

void symbols_each_line(struct symbols *s, struct module_id id,
		       void (*each)(void *context, const char *file, uint32_t line, uint64_t offset,
				    uint64_t size),
		       void *context)
{
	const struct binary *binary = &s->states[id.v].binary;
	struct line_visit visit = { binary, each, context };

	symbols_prepare(s, id);
	symbols_load(s, id);
	jit_lines_each(&binary->dump_lines, visit_line, &visit);
	if (binary->lines_path != NULL)
		lines_each(binary->lines_path, binary->alt_path, binary->root, visit_line, &visit,
			   &s->diags);
}

bool symbols_have_frames(const struct symbols *s)
{
	return s->frames.n > 0;
}

const struct symbol_frame *symbols_frames(const struct symbols *s)
{
	return s->frames.items;
}

const struct strings *symbols_strings(const struct symbols *s)
{
	return &s->strings;
}

size_t symbols_n_missing(const struct symbols *s)
{
	return s->missing.n;
}

const struct symbols_missing *symbols_missing_at(const struct symbols *s, size_t index)
{
	assert(index < s->missing.n);
	return &s->missing.items[index];
}

const struct diags *symbols_diags(const struct symbols *s)
{
	return &s->diags;
}

const char *symbols_file_of(const struct symbols *s, struct module_id id)
{
	const struct elf_file *code = &s->states[id.v].binary.code;

	return elf_file_is_open(code) && code->image == NULL ? code->path : NULL;
}

struct str_id symbols_add_string(struct symbols *s, const struct strings *from, struct str_id id)
{
	return strings_addz(&s->strings, strings_get(from, id));
}
