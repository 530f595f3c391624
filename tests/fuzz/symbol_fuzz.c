/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that names code: an ELF file with its DWARF if it begins like one, else the text of
 * kallsyms or of a JIT map. Places all over it are resolved, and the answers must be sound.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/functions.h"
#include "elf/jit_map.h"
#include "elf/kallsyms.h"
#include "symbol/symbols.h"
#include "variables/accessed.h"
#include "variables/code.h"
#include "variables/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MAX_PLACES = 200, FIRST_WORDS = 16 };

struct places {
	struct place at[MAX_PLACES];
	size_t n;
};

/* A file in memory with these bytes; `path` opens it. */
static int make_file(const uint8_t *bytes, size_t size, char path[32])
{
	int fd = memfd_create("symbol", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void add_place(struct places *places, uint64_t offset)
{
	if (places->n < MAX_PLACES)
		places->at[places->n++] = (struct place){ .module = { 1 }, .offset = offset };
}

static void add_function(void *context, const char *name, uint64_t offset, uint64_t size)
{
	if (name == NULL)
		abort();
	add_place(context, offset);
	add_place(context, offset + size / 2);
	for (uint64_t i = 4; i < size && i <= 4 * FIRST_WORDS; i += 4)
		add_place(context, offset + i);
}

static void check(const struct symbols *s, const struct symbol *symbol)
{
	if (symbol->function_size > 0 && symbol->function_offset >= symbol->function_size)
		abort();
	strings_get(symbols_strings(s), symbol->function);
	for (uint32_t i = 0; i < symbol->n_frames; i++) {
		const struct symbol_frame *f = &symbols_frames(s)[symbol->first_frame + i];

		/* All but the last are inlined, and the last one is not. */
		if (f->is_inlined != (i + 1 < symbol->n_frames))
			abort();
		strings_get(symbols_strings(s), f->function);
		strings_get(symbols_strings(s), f->file);
	}
}

/* All bytes that are said to be there are looked at. */
static void read_code(struct symbols *s, struct place place)
{
	struct code code;
	struct isa_access access;

	if (!symbols_code(s, place, 64, &code))
		return;
	if (code.size == 0 || code.size > 64)
		abort();
	for (size_t i = 0; i < code.size; i++)
		(void)isa_access(code.isa, code.bytes + i, code.size - i, &access);
}

/* Whatever the types are, members lie in their structs and paths come to an end. */
static void check_data(const struct types *types, const struct data_object *object, uint64_t at)
{
	struct text path = { 0 };
	struct type_leaf leaf;

	if (object->name.v != 0 && at - object->start >= object->size)
		abort();
	types_name(types, object->type, &path);
	if (types_path(types, object->type, at - object->start, 8, &path, &leaf) &&
	    leaf.type.v >= types->list.n)
		abort();
	text_release(&path);
}

static void resolve_data(struct symbols *symbols, struct pool *pool)
{
	static struct data_place places[MAX_PLACES];
	static struct data_object objects[MAX_PLACES];

	for (size_t i = 0; i < MAX_PLACES; i++)
		places[i] = i % 4 == 0 ? (struct data_place){ { 1 }, (2 * i) | ELF_THREAD_LOCAL }
				       : (struct data_place){ { 1 }, 0x1f00 + 8 * i };
	symbols_data(symbols, pool, places, MAX_PLACES, objects);
	for (size_t i = 0; i < MAX_PLACES; i++)
		check_data(symbols_types(symbols), &objects[i], places[i].address);
	symbols_find_type(symbols, pool, "s1");
}

/* One answer at most, which the file's memory has; blocks of threads are not larger than memory. */
static void place_data(struct symbols *symbols)
{
	static const struct data_mapping mappings[] = {
		{ 0x10000, 0x1ffff, 0, false },
		{ 0x20000, 0x20fff, 0x1000, true },
		{ UINT64_MAX - 0xfff, UINT64_MAX, UINT64_MAX - 0xffff, false },
	};
	const struct module_id module = { 1 };
	uint64_t bias;

	for (size_t n = 0; n <= sizeof(mappings) / sizeof(*mappings); n++)
		if (symbols_load_bias(symbols, module, mappings, n, &bias))
			(void)symbols_is_loaded(symbols, module, 0x10100 - bias);
	if (symbols_thread_block(symbols, module, 0x1000, 8) > INT64_MAX)
		abort();
}

/* An access is inside of what it is said to be an access to. */
static void resolve_accesses(struct symbols *symbols, struct pool *pool,
			     const struct places *places)
{
	static struct accessed accessed[MAX_PLACES];
	const struct types *types = symbols_types(symbols);

	symbols_accessed(symbols, pool, places->at, places->n, accessed);
	for (size_t i = 0; i < places->n; i++) {
		const struct accessed *a = &accessed[i];

		strings_get(symbols_strings(symbols), a->function);
		strings_get(symbols_strings(symbols), a->variable);
		if (a->type.v >= types->list.n ||
		    (a->type.v != 0 &&
		     a->offset >= types_get(types, types_plain(types, a->type))->size))
			abort();
	}
}

static void resolve(const char *path)
{
	static struct symbol found[MAX_PLACES];
	struct symbols_options options = { .use_this_machine = true };
	struct strings strings;
	struct modules modules = { .strings = &strings };
	struct places places = { 0 };
	struct pool *pool = pool_new(1);
	struct symbols *symbols;

	strings_init(&strings);
	vec_reserve(&modules.list, 2);
	modules.list.n = 2;
	modules.list.items[1].kind = MODULE_FILE;
	modules.list.items[1].path = strings_addz(&strings, path);
	symbols = symbols_new(&modules, &options);
	symbols_each_function(symbols, (struct module_id){ 1 }, add_function, &places);
	for (uint64_t offset = 0; offset < 0x4000; offset += 0x101)
		add_place(&places, offset);
	symbols_resolve(symbols, pool, places.at, places.n, SYMBOLS_LINES, found);
	for (size_t i = 0; i < places.n; i++)
		check(symbols, &found[i]);
	for (size_t i = 0; i < places.n; i++)
		read_code(symbols, places.at[i]);
	place_data(symbols);
	resolve_data(symbols, pool);
	resolve_accesses(symbols, pool, &places);
	symbols_free(symbols);
	pool_free(pool);
	vec_release(&modules.list);
	strings_release(&strings);
}

static void read_texts(const char *path)
{
	struct kallsyms kallsyms = { 0 };
	struct functions functions = { 0 };
	struct err err;

	if (kallsyms_read(&kallsyms, path, &err) == 0) {
		functions_find(&kallsyms.functions, 0x1000);
		functions_find(&kallsyms.data, 0x1000);
	}
	kallsyms_release(&kallsyms);
	if (jit_map_read(&functions, path, &err) == 0) {
		functions_build(&functions);
		functions_find(&functions, 0x1000);
	}
	functions_release(&functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[32];
	int fd = make_file(bytes, size, path);

	if (size > 0 && bytes[0] == 0x7f)
		resolve(path);
	else
		read_texts(path);
	close(fd);
	return 0;
}
