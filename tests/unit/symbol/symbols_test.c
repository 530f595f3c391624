/* SPDX-License-Identifier: Apache-2.0 */
/* The interface as a whole: modules of all kinds, many places at once. */
#include "symbol/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "world.h"

#define KERNEL "[kernel.kallsyms]"

static const char kallsyms[] = "ffff800008000000 T _text\n"
			       "ffff800008000000 T primary_entry\n"
			       "ffff800008000100 T schedule\n"
			       "ffff800001000000 t nf_work\t[nf_tables]\n";

static void test_file(void **state)
{
	struct world w;
	struct place place = { { 1 }, 0 };
	struct symbol symbol;
	uint64_t offset;

	(void)state;
	world_init(&w);
	offset = world_code(&w, "sym/bin/x", HAS_SYMTAB);
	w.options.symfs = world_path(&w, "sym");
	world_module(&w, MODULE_FILE, "/bin/x");
	w.symbols = symbols_new(&w.modules, &w.options);
	assert_null(symbols_file_of(w.symbols, place.module));
	place.offset = offset + 0x14;
	symbols_resolve(w.symbols, w.pool, &place, 1, SYMBOLS_LINES, &symbol);
	assert_string_equal(strings_get(symbols_strings(w.symbols), symbol.function), "helper");
	assert_int_equal(symbol.function_offset, 4);
	assert_int_equal(symbol.function_size, 16);
	assert_int_equal(symbol.address, WORLD_TEXT + 0x14);
	assert_int_equal(symbol.n_frames, 0);
	assert_string_equal(symbols_file_of(w.symbols, place.module), world_path(&w, "sym/bin/x"));
	assert_int_equal(symbols_n_missing(w.symbols), 1);
	assert_int_equal(symbols_missing_at(w.symbols, 0)->n_places, 0);
	assert_int_equal(symbols_missing_at(w.symbols, 0)->n_without_line, 1);
	assert_non_null(strstr(world_missing(&w), "no line information; compile with -g"));
	world_release(&w);
}

/* Functions that the recorder stored serve where the file is not; the file itself is better. */
static void test_stored(void **state)
{
	static const struct {
		enum module_kind kind;
		const char *path;
		uint32_t stored_kind;
		uint64_t min_address, min_offset, offset;
		const char *function;
	} cases[] = {
		{ MODULE_FILE, "/bin/y", STORED_ELF, 0x2000, 0x1000, 0x1104, "stored" },
		{ MODULE_FILE, "/bin/y", STORED_ELF, 0x2000, OFFSET_UNKNOWN, 0x104, "stored" },
		{ MODULE_FILE, "/bin/y", STORED_ELF, 0x2000, 0x1000, 0x1110, "" },
		{ MODULE_FILE, "/bin/z", STORED_ELF, 0x2000, 0x1000, 0x1104, "" },
		{ MODULE_FILE, "/bin/y", STORED_DEX, 0x2000, OFFSET_UNKNOWN, 0x2104, "stored" },
		{ MODULE_KERNEL, "/bin/y", STORED_KERNEL, 0, OFFSET_UNKNOWN, 0x2104, "stored" },
		{ MODULE_KERNEL_MODULE, "/bin/y", STORED_KERNEL_MODULE, 0x2000, 0x80, 0x184,
		  "stored" },
		{ MODULE_JIT, "/bin/y", STORED_JIT_MAP, 0, OFFSET_UNKNOWN, 0x2104, "stored" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct info info = { 0 };
		struct world w;

		world_init(&w);
		*vec_add(&info.stored_functions) =
			(struct stored_function){ 0x2100, 0x10,
						  strings_addz(&w.strings, "stored") };
		/* beyond the largest address */
		*vec_add(&info.stored_functions) =
			(struct stored_function){ UINT64_MAX - 4, 0x10,
						  strings_addz(&w.strings, "wrong") };
		*vec_add(&info.stored_files) = (struct stored_file){
			.path = strings_addz(&w.strings, "/bin/y"),
			.kind = cases[i].stored_kind,
			.min_address = cases[i].min_address,
			.min_offset = cases[i].min_offset,
			.n = 2,
		};
		w.options.symfs = world_path(&w, "sym");
		w.options.info = &info;
		w.options.info_strings = &w.strings;
		world_module(&w, cases[i].kind, cases[i].path);
		if (strcmp(world_function(&w, cases[i].offset), cases[i].function) != 0)
			fail_msg("row %zu: %s", i, world_function(&w, cases[i].offset));
		world_release(&w);
		info_release(&info);
	}
}

/* Neither the unknown module nor data is missing names. */
static void test_nothing_to_name(void **state)
{
	struct place places[] = { { { 0 }, 0x1234 }, { { 1 }, 0x7fff0000 } };
	struct symbol symbols[2];
	struct world w;

	(void)state;
	world_init(&w);
	world_module(&w, MODULE_OTHER, "[stack]");
	w.symbols = symbols_new(&w.modules, &w.options);
	symbols_resolve(w.symbols, w.pool, places, 2, SYMBOLS_LINES, symbols);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(symbols[i].function.v, 0);
		assert_int_equal(symbols[i].n_frames, 0);
	}
	symbols_resolve(w.symbols, w.pool, NULL, 0, SYMBOLS_LINES, NULL);
	assert_string_equal(world_missing(&w), "");
	world_release(&w);
}

static void test_uncovered(void **state)
{
	struct world w;
	uint64_t offset;

	(void)state;
	world_init(&w);
	offset = world_code(&w, "sym/bin/x", HAS_SYMTAB);
	w.options.symfs = world_path(&w, "sym");
	world_module(&w, MODULE_FILE, "/bin/x");
	assert_string_equal(world_function(&w, offset + 0x30), "");
	assert_string_equal(world_missing(&w), "no symbol covers them; ");
	assert_string_equal(world_function(&w, UINT64_MAX), "");
	world_release(&w);
}

/* What the kernel's names come from, and what an address gets. */
static const struct kernel_case {
	const char *why;
	bool has_kallsyms, has_vmlinux;
	uint64_t load_address;
	const char *ref_symbol;
	uint64_t asked;
	const char *expected, *missing;
} kernel_cases[] = {
	{ "nothing", false, false, 0, "_text", 0xffff800008000100, "",
	  "those of the recorded kernel" },
	{ "kallsyms", true, false, 0xffff800008000000, "_text", 0xffff800008000108, "schedule",
	  "" },
	{ "kallsyms of another boot", true, false, 0xffff900008000000, "_text", 0xffff900008000108,
	  "schedule", "" },
	{ "kallsyms, no load address", true, false, 0, "", 0xffff800008000108, "schedule", "" },
	{ "vmlinux", false, true, 0xffff800008000000, "work", 0xffff800008000018, "helper", "" },
	{ "vmlinux before kallsyms", true, true, 0xffff800008000000, "work", 0xffff800008000018,
	  "helper", "" },
	{ "vmlinux, no load address", false, true, 0, "work", 0xffff800008000018, "",
	  "it is not known where the kernel was loaded" },
	{ "vmlinux without the symbol", false, true, 0xffff800008000000, "_text",
	  0xffff800008000018, "", "it is not known where the kernel was loaded" },
	{ "vmlinux unused, kallsyms instead", true, true, 0xffff800008000000, "_text",
	  0xffff800008000108, "schedule", "" },
};

static void test_kernel(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(kernel_cases); i++) {
		const struct kernel_case *c = &kernel_cases[i];
		struct world w;
		struct module *module;
		const char *found;

		world_init(&w);
		file_write(world_path(&w, "kallsyms"), kallsyms, strlen(kallsyms));
		world_code(&w, "vmlinux", HAS_SYMTAB);
		w.options.kallsyms = c->has_kallsyms ? world_path(&w, "kallsyms") : NULL;
		w.options.vmlinux = c->has_vmlinux ? world_path(&w, "vmlinux") : NULL;
		module = world_module(&w, MODULE_KERNEL, KERNEL);
		module->load_address = c->load_address;
		module->ref_symbol = strings_addz(&w.strings, c->ref_symbol);
		found = world_function(&w, c->asked);
		if (strcmp(found, c->expected) != 0 ||
		    strncmp(world_missing(&w), c->missing, strlen(c->missing)) != 0)
			fail_msg("%s: found \"%s\", said \"%s\"", c->why, found, world_missing(&w));
		world_release(&w);
	}
}

static void test_wrong_vmlinux(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	world_code(&w, "vmlinux", HAS_SYMTAB | HAS_OTHER_ID);
	w.options.vmlinux = world_path(&w, "vmlinux");
	world_module(&w, MODULE_KERNEL, KERNEL)->build_id = world_id;
	assert_string_equal(world_function(&w, 0xffff800008000018), "");
	assert_non_null(strstr(world_missing(&w),
			       "build-id differs: recorded abcdef01, found 12345678 in "));
	world_release(&w);
}

static void test_hidden_kallsyms(void **state)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 T schedule\n";
	struct world w;

	(void)state;
	world_init(&w);
	file_write(world_path(&w, "kallsyms"), hidden, strlen(hidden));
	w.options.kallsyms = world_path(&w, "kallsyms");
	world_module(&w, MODULE_KERNEL, KERNEL);
	assert_string_equal(world_function(&w, 0xffff800008000018), "");
	assert_non_null(
		strstr(world_missing(&w), "hides its addresses; run as root, or sudo sysctl "));
	world_release(&w);
}

static void test_kernel_module(void **state)
{
	static const char bases[] = "other 100 0 - Live 0xffff800003000000\n"
				    "nf_tables 266240 0 - Live 0xffff800001000000 (E)\n";

	(void)state;
	for (int has_bases = 0; has_bases < 2; has_bases++) {
		struct world w;

		world_init(&w);
		file_write(world_path(&w, "kallsyms"), kallsyms, strlen(kallsyms));
		if (has_bases)
			file_write(world_path(&w, "modules"), bases, strlen(bases));
		w.options.kallsyms = world_path(&w, "kallsyms");
		world_module(&w, MODULE_KERNEL_MODULE, "[nf_tables]");
		assert_string_equal(world_function(&w, 8), has_bases ? "nf_work" : "");
		assert_string_equal(world_function(&w, 266240), "");
		assert_int_equal(strstr(world_missing(&w), "where the module was loaded") == NULL,
				 has_bases);
		world_release(&w);
	}
}

static void test_jit(void **state)
{
	static const char map[] = "7f0000001000 20 LazyCompile:add\n";
	struct world w;

	(void)state;
	for (int has_map = 0; has_map < 2; has_map++) {
		world_init(&w);
		if (has_map)
			file_write(world_path(&w, "maps/perf-77.map"), map, strlen(map));
		w.options.jit_map_dir = world_path(&w, "maps");
		world_module(&w, MODULE_JIT, "//anon")->pid = 77;
		assert_string_equal(world_function(&w, 0x7f0000001010),
				    has_map ? "LazyCompile:add" : "");
		assert_int_equal(symbols_n_missing(w.symbols), !has_map);
		world_release(&w);
	}
}

/* In /tmp, a map that another user made, or a link of one, names nothing; root's does. */
static void test_jit_map_of_others(void **state)
{
	static const char map[] = "7f0000001000 20 add\n";
	enum { NOBODY = 65534 };
	char path[64];
	struct world w;

	(void)state;
	if (geteuid() != 0)
		skip();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	for (int kind = 0; kind < 3; kind++) {
		const char *file;

		world_init(&w);
		file = world_path(&w, "map");
		file_write(file, map, strlen(map));
		if (kind == 2)
			assert_int_equal(symlink(file, path), 0);
		else
			file_write(path, map, strlen(map));
		if (kind > 0)
			assert_int_equal(lchown(path, NOBODY, NOBODY), 0);
		w.options.use_this_machine = true;
		world_module(&w, MODULE_JIT, "//anon")->pid = (uint32_t)getpid();
		assert_string_equal(world_function(&w, 0x7f0000001010), kind == 0 ? "add" : "");
		assert_int_equal(strstr(world_missing(&w), "neither yours nor root's") != NULL,
				 kind > 0);
		unlink(path);
		world_release(&w);
	}
}

static void test_bpf(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	world_module(&w, MODULE_BPF, "bpf_prog_1234_filter");
	assert_string_equal(world_function(&w, 0x10), "bpf_prog_1234_filter");
	world_release(&w);
}

/* This process's own vdso, if the kernel gave it one. */
static void test_vdso(void **state)
{
	struct world w;
	struct place place = { { 1 }, 0 };
	struct symbol symbol;

	(void)state;
	if (getauxval(AT_SYSINFO_EHDR) == 0)
		skip();
	for (int is_trusted = 0; is_trusted < 2; is_trusted++) {
		world_init(&w);
		w.options.use_this_machine = is_trusted;
		w.options.arch = NULL;
		world_module(&w, MODULE_VDSO, "[vdso]");
		w.symbols = symbols_new(&w.modules, &w.options);
		symbols_resolve(w.symbols, w.pool, &place, 1, SYMBOLS_FUNCTIONS, &symbol);
		assert_int_equal(strstr(world_missing(&w), "vdso is not here") != NULL,
				 !is_trusted);
		assert_null(symbols_file_of(w.symbols, place.module));
		world_release(&w);
	}
}

struct listed {
	char text[512];
};

static void list(void *context, const char *name, uint64_t offset, uint64_t size)
{
	struct listed *listed = context;
	size_t n = strlen(listed->text);

	snprintf(listed->text + n, sizeof(listed->text) - n, "%s %#llx %#llx\n", name,
		 (unsigned long long)offset, (unsigned long long)size);
}

/* A module's functions are not those of the kernel around it. */
static void test_each_of_kernel_module(void **state)
{
	static const char bases[] = "nf_tables 266240 0 - Live 0xffff800001000000 (E)\n";
	struct listed found = { "" };
	struct world w;

	(void)state;
	world_init(&w);
	file_write(world_path(&w, "kallsyms"), kallsyms, strlen(kallsyms));
	file_write(world_path(&w, "modules"), bases, strlen(bases));
	w.options.kallsyms = world_path(&w, "kallsyms");
	world_module(&w, MODULE_KERNEL_MODULE, "[nf_tables]");
	w.symbols = symbols_new(&w.modules, &w.options);
	symbols_each_function(w.symbols, (struct module_id){ 1 }, list, &found);
	assert_string_equal(found.text, "nf_work 0 0x1000\n");
	world_release(&w);
}

static void test_each_function(void **state)
{
	struct listed found = { "" }, expected = { "" };
	struct world w;
	uint64_t offset;

	(void)state;
	world_init(&w);
	offset = world_code(&w, "sym/bin/x", HAS_SYMTAB);
	w.options.symfs = world_path(&w, "sym");
	world_module(&w, MODULE_FILE, "/bin/x");
	w.symbols = symbols_new(&w.modules, &w.options);
	symbols_each_function(w.symbols, (struct module_id){ 1 }, list, &found);
	list(&expected, "work", offset, 0x10);
	list(&expected, "helper", offset + 0x10, 0x10);
	assert_string_equal(found.text, expected.text);
	world_release(&w);
}

enum { N_MODULES = 7, N_PLACES = 500 };

static void make_many(struct world *w, struct place *places)
{
	char path[64];
	uint64_t offset = 0;

	world_init(w);
	w->options.symfs = world_path(w, "sym");
	for (unsigned i = 0; i < N_MODULES; i++) {
		snprintf(path, sizeof(path), "sym/bin/x%u", i);
		if (i % 3 != 2)
			offset = world_code(w, path, HAS_SYMTAB);
		world_module(w, MODULE_FILE, path + strlen("sym"));
	}
	for (unsigned i = 0; i < N_PLACES; i++)
		places[i] = (struct place){ { (i * 5 + i / 7) % (N_MODULES + 1) },
					    offset - 0x10 + i * 37 % 0x40 };
}

/* Names, ids and what is missing are the same for any number of workers. */
static void test_workers(void **state)
{
	static struct place places[N_PLACES];
	static struct symbol found[2][N_PLACES];
	size_t n_named = 0;
	struct world w;

	(void)state;
	make_many(&w, places);
	for (unsigned i = 0; i < 2; i++) {
		struct pool *pool = pool_new(i == 0 ? 1 : 4);
		struct symbols *s = symbols_new(&w.modules, &w.options);

		symbols_resolve(s, pool, places, N_PLACES, SYMBOLS_LINES, found[i]);
		assert_int_equal(symbols_n_missing(s), N_MODULES);
		pool_free(pool);
		symbols_free(s);
	}
	for (size_t i = 0; i < N_PLACES; i++) {
		assert_int_equal(found[0][i].function.v, found[1][i].function.v);
		assert_int_equal(found[0][i].address, found[1][i].address);
		n_named += found[0][i].function.v != 0;
	}
	assert_true(n_named > N_PLACES / 4);
	world_release(&w);
}

/* One by one, places have the names that they have at once, and as much is missing. */
static void test_function_at(void **state)
{
	static struct place places[N_PLACES];
	static struct symbol found[N_PLACES];
	struct symbols *at_once, *one_by_one;
	struct world w;

	(void)state;
	make_many(&w, places);
	at_once = symbols_new(&w.modules, &w.options);
	one_by_one = symbols_new(&w.modules, &w.options);
	symbols_resolve(at_once, w.pool, places, N_PLACES, SYMBOLS_FUNCTIONS, found);
	for (size_t i = 0; i < N_PLACES; i++) {
		uint64_t offset, again;
		const char *name = symbols_function_at(one_by_one, places[i], &offset);

		assert_string_equal(name == NULL ? "" : name,
				    strings_get(symbols_strings(at_once), found[i].function));
		if (i > 0 && found[i].function.v != 0 &&
		    found[i].function.v == found[i - 1].function.v)
			assert_ptr_equal(name,
					 symbols_function_at(one_by_one, places[i - 1], &again));
		if (name != NULL)
			assert_int_equal(offset, found[i].function_offset);
	}
	symbols_update_missing(one_by_one);
	assert_int_equal(symbols_n_missing(one_by_one), symbols_n_missing(at_once));
	for (size_t i = 0; i < symbols_n_missing(at_once); i++) {
		const struct symbols_missing *m = symbols_missing_at(at_once, i);

		assert_int_equal(symbols_missing_at(one_by_one, i)->module.v, m->module.v);
		assert_int_equal(symbols_missing_at(one_by_one, i)->n_places, m->n_places);
		assert_string_equal(symbols_missing_at(one_by_one, i)->reason, m->reason);
	}
	symbols_free(at_once);
	symbols_free(one_by_one);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_stored),
		cmocka_unit_test(test_nothing_to_name),
		cmocka_unit_test(test_uncovered),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_wrong_vmlinux),
		cmocka_unit_test(test_hidden_kallsyms),
		cmocka_unit_test(test_kernel_module),
		cmocka_unit_test(test_jit),
		cmocka_unit_test(test_jit_map_of_others),
		cmocka_unit_test(test_bpf),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_each_function),
		cmocka_unit_test(test_each_of_kernel_module),
		cmocka_unit_test(test_workers),
		cmocka_unit_test(test_function_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
