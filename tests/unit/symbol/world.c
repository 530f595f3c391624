/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const struct build_id world_id = { 4, { 0xab, 0xcd, 0xef, 0x01 } };

static const struct build_id other_id = { 4, { 0x12, 0x34, 0x56, 0x78 } };

static const struct built_symbol names[] = {
	{ "work", WORLD_TEXT, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
	{ "helper", WORLD_TEXT + 0x10, 0x10, STB_LOCAL, STT_FUNC, STV_DEFAULT, 1 },
	{ NULL },
};

static const struct built_symbol exported[] = {
	{ "work", WORLD_TEXT, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
	{ NULL },
};

void world_init(struct world *w)
{
	*w = (struct world){ .folder = folder_make() };
	strings_init(&w->strings);
	vec_add(&w->modules.list);
	w->modules.strings = &w->strings;
	w->options.arch = "aarch64";
	w->pool = pool_new(1);
	setenv("PERF_BUILDID_DIR", world_path(w, "cache"), 1);
	unsetenv("DEBUGINFOD_URLS");
}

void world_release(struct world *w)
{
	symbols_free(w->symbols);
	pool_free(w->pool);
	vec_release(&w->modules.list);
	strings_release(&w->strings);
	folder_remove(w->folder);
}

const char *world_path(struct world *w, const char *name)
{
	return strings_get(&w->strings, strings_addz(&w->strings, in_folder(w->folder, name)));
}

uint64_t world_code_with(struct world *w, const char *name, unsigned parts, const char *section,
			 const void *bytes, size_t size)
{
	struct built_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, WORLD_TEXT, NULL, 0x40 },
		{ section, SHT_PROGBITS, 0, 0, bytes, size },
		{ NULL },
	};
	struct built_elf elf = { .machine = EM_AARCH64, .sections = sections };

	if (parts & HAS_SYMTAB)
		elf.symbols = names;
	if (parts & HAS_DYNSYM)
		elf.dynamic = exported;
	if (parts & HAS_ID)
		elf.build_id = world_id;
	if (parts & HAS_OTHER_ID)
		elf.build_id = other_id;
	return elf_build(world_path(w, name), &elf);
}

uint64_t world_code(struct world *w, const char *name, unsigned parts)
{
	return world_code_with(w, name, parts, NULL, NULL, 0);
}

struct module *world_module(struct world *w, enum module_kind kind, const char *path)
{
	struct module *module = vec_add(&w->modules.list);

	module->kind = kind;
	module->path = strings_addz(&w->strings, path);
	module->name = module->path;
	return module;
}

const char *world_function(struct world *w, uint64_t offset)
{
	struct place place = { { (uint32_t)w->modules.list.n - 1 }, offset };
	struct symbol symbol;

	if (w->symbols == NULL)
		w->symbols = symbols_new(&w->modules, &w->options);
	symbols_resolve(w->symbols, w->pool, &place, 1, SYMBOLS_FUNCTIONS, &symbol);
	return strings_get(symbols_strings(w->symbols), symbol.function);
}

const char *world_missing(struct world *w)
{
	static char text[2048];
	const struct symbols_missing *m;

	if (symbols_n_missing(w->symbols) == 0)
		return "";
	m = symbols_missing_at(w->symbols, 0);
	snprintf(text, sizeof(text), "%s; %s", m->reason, m->remedy);
	return text;
}
