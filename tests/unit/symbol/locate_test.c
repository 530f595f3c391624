/* SPDX-License-Identifier: Apache-2.0 */
/* Which file gives the names, and what is said if none may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lzma.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "world.h"

/* Where the module was recorded; nothing is there on this machine. */
#define RECORDED "/opt/app/bin/server"

/* A file in the folder; `parts` 0 ends the list. */
struct placed_file {
	const char *name;
	unsigned parts;
};

/*
 * One situation: what is in the folder, what was recorded, what the user said, and what must
 * come of it for an offset in "helper", which only .symtab names.
 */
static const struct situation {
	const char *why;
	struct placed_file files[3];
	bool has_id, is_deleted, has_symfs, has_debug_dir;
	const char *arch;
	const char *expected; /* name */
	const char *missing;  /* part of what is said */
} situations[] = {
	{ "nothing is there",
	  { { NULL } },
	  true,
	  false,
	  false,
	  false,
	  "aarch64",
	  "",
	  "not on this machine; copy the file from the recorded machine (`perf archive`)" },
	{ "symfs without a build-id",
	  { { "sym" RECORDED, HAS_SYMTAB } },
	  false,
	  false,
	  true,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "symfs although it was deleted",
	  { { "sym" RECORDED, HAS_SYMTAB } },
	  false,
	  true,
	  true,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "symfs with the right build-id",
	  { { "sym" RECORDED, HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "symfs with the wrong build-id",
	  { { "sym" RECORDED, HAS_SYMTAB | HAS_OTHER_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "",
	  "build-id differs: recorded abcdef01, found 12345678 in " },
	{ "symfs as a folder of files, under another name",
	  { { "sym/server.copy", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "symfs as a folder of files, of which one has the build-id",
	  { { "sym/a.out", HAS_SYMTAB | HAS_OTHER_ID },
	    { "sym/b.out", HAS_SYMTAB },
	    { "sym/c.out", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "symfs as a folder of files, none of the build-id",
	  { { "sym/server", HAS_SYMTAB | HAS_OTHER_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "",
	  "not on this machine" },
	{ "symfs as a folder of files, and no build-id recorded",
	  { { "sym/server", HAS_SYMTAB | HAS_ID } },
	  false,
	  false,
	  true,
	  false,
	  "aarch64",
	  "",
	  "not on this machine" },
	{ "symfs where a build-id is missing",
	  { { "sym" RECORDED, HAS_SYMTAB } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "",
	  "build-id differs: recorded abcdef01, found none in " },
	{ "symfs for another CPU",
	  { { "sym" RECORDED, HAS_SYMTAB } },
	  false,
	  false,
	  true,
	  false,
	  "x86_64",
	  "",
	  "is for another CPU than the capture's" },
	{ "an unknown CPU fits all",
	  { { "sym" RECORDED, HAS_SYMTAB } },
	  false,
	  false,
	  true,
	  false,
	  NULL,
	  "helper",
	  "" },
	{ "perf's cache",
	  { { "cache/.build-id/ab/cdef01/elf", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  false,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "an old cache of perf's",
	  { { "cache/.build-id/ab/cdef01", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  false,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "the cache after a wrong file in symfs",
	  { { "sym" RECORDED, HAS_SYMTAB | HAS_OTHER_ID },
	    { "cache/.build-id/ab/cdef01/elf", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "a cache that lies",
	  { { "cache/.build-id/ab/cdef01/elf", HAS_SYMTAB | HAS_OTHER_ID } },
	  true,
	  false,
	  false,
	  false,
	  "aarch64",
	  "",
	  "build-id differs" },
	{ "stripped",
	  { { "sym" RECORDED, HAS_DYNSYM | HAS_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "",
	  "stripped: only exported functions have names; install its -dbgsym" },
	{ "stripped of all",
	  { { "sym" RECORDED, HAS_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "",
	  "stripped: it has no names" },
	{ "a debug directory",
	  { { "sym" RECORDED, HAS_DYNSYM | HAS_ID },
	    { "debug/.build-id/ab/cdef01.debug", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  true,
	  true,
	  "aarch64",
	  "helper",
	  "" },
	{ "the debug directory of symfs",
	  { { "sym" RECORDED, HAS_DYNSYM | HAS_ID },
	    { "sym/usr/lib/debug/.build-id/ab/cdef01.debug", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "the debug file in perf's cache",
	  { { "sym" RECORDED, HAS_DYNSYM | HAS_ID },
	    { "cache/.build-id/ab/cdef01/debug", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  true,
	  false,
	  "aarch64",
	  "helper",
	  "" },
	{ "a debug file by the build-id of the file, not of the capture",
	  { { "sym" RECORDED, HAS_DYNSYM | HAS_ID },
	    { "debug/.build-id/ab/cdef01.debug", HAS_SYMTAB | HAS_ID } },
	  false,
	  false,
	  true,
	  true,
	  "aarch64",
	  "helper",
	  "" },
	{ "a debug file that lies",
	  { { "sym" RECORDED, HAS_DYNSYM | HAS_ID },
	    { "debug/.build-id/ab/cdef01.debug", HAS_SYMTAB | HAS_OTHER_ID } },
	  true,
	  false,
	  true,
	  true,
	  "aarch64",
	  "",
	  "stripped" },
	{ "code in a debug directory",
	  { { "debug/.build-id/ab/cdef01", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  false,
	  true,
	  "aarch64",
	  "helper",
	  "" },
	{ "a debug file alone, with the headers of the original",
	  { { "debug/.build-id/ab/cdef01.debug", HAS_SYMTAB | HAS_ID } },
	  true,
	  false,
	  false,
	  true,
	  "aarch64",
	  "helper",
	  "" },
};

static void set_up(struct world *w, const struct situation *s, const char *const *debug_dirs)
{
	struct module *module = world_module(w, MODULE_FILE, RECORDED);

	if (s->has_id)
		module->build_id = world_id;
	module->is_deleted = s->is_deleted;
	w->options.arch = s->arch;
	if (s->has_symfs)
		w->options.symfs = world_path(w, "sym");
	if (s->has_debug_dir)
		w->options.debug_dirs = debug_dirs;
}

static void check(struct world *w, const struct situation *s, uint64_t offset)
{
	const char *found = world_function(w, offset);
	const char *missing = world_missing(w);

	if (strcmp(found, s->expected) != 0)
		fail_msg("%s: found \"%s\"", s->why, found);
	if (strstr(missing, s->missing) == NULL || (s->missing[0] == '\0' && missing[0] != '\0'))
		fail_msg("%s: said \"%s\"", s->why, missing);
}

static void test_situations(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(situations); i++) {
		const struct situation *s = &situations[i];
		struct world w;
		uint64_t offset = 0;

		world_init(&w);
		set_up(&w, s, (const char *const[]){ world_path(&w, "debug"), NULL });
		for (size_t k = 0; k < COUNT(s->files) && s->files[k].name != NULL; k++)
			offset = world_code(&w, s->files[k].name, s->files[k].parts);
		check(&w, s, offset + 0x18);
		world_release(&w);
	}
}

/* Paths of this machine: trusted only with a build-id, or if it is the one that recorded. */
static void test_this_machine(void **state)
{
	static const struct {
		unsigned parts;
		bool has_id, is_trusted, is_deleted;
		const char *arch, *expected, *missing;
	} cases[] = {
		{ HAS_SYMTAB | HAS_ID, true, false, false, "aarch64", "helper", "" },
		{ HAS_SYMTAB | HAS_ID, true, false, true, "aarch64", "helper", "" },
		{ HAS_SYMTAB | HAS_ID, false, false, false, "aarch64", "",
		  "the capture has no build-ids, and " },
		{ HAS_SYMTAB | HAS_ID, false, true, false, "aarch64", "helper", "" },
		{ HAS_SYMTAB, false, true, false, "armv7l", "", "is for another CPU" },
		{ HAS_SYMTAB, false, true, true, "aarch64", "",
		  "deleted or replaced while it ran, and its build-id was not recorded" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;
		struct module *module;
		uint64_t offset;
		const char *found;

		world_init(&w);
		offset = world_code(&w, "server", cases[i].parts);
		module = world_module(&w, MODULE_FILE, world_path(&w, "server"));
		if (cases[i].has_id)
			module->build_id = world_id;
		module->is_deleted = cases[i].is_deleted;
		w.options.use_this_machine = cases[i].is_trusted;
		w.options.arch = cases[i].arch;
		found = world_function(&w, offset + 0x18);
		if (strcmp(found, cases[i].expected) != 0 ||
		    strstr(world_missing(&w), cases[i].missing) == NULL)
			fail_msg("case %zu: found \"%s\", said \"%s\"", i, found,
				 world_missing(&w));
		world_release(&w);
	}
}

/* The kernel adds " (deleted)" to the path of a file that was replaced. */
static void test_deleted_path(void **state)
{
	struct world w;
	uint64_t offset;

	(void)state;
	world_init(&w);
	offset = world_code(&w, "sym" RECORDED, HAS_SYMTAB | HAS_ID);
	w.options.symfs = world_path(&w, "sym");
	world_module(&w, MODULE_FILE, RECORDED " (deleted)")->build_id = world_id;
	assert_string_equal(world_function(&w, offset), "work");
	world_release(&w);
}

static void test_not_elf(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	file_write(world_path(&w, "sym" RECORDED), "#!/bin/sh\n", 10);
	w.options.symfs = world_path(&w, "sym");
	world_module(&w, MODULE_FILE, RECORDED);
	assert_string_equal(world_function(&w, 0), "");
	assert_non_null(strstr(world_missing(&w), "server is not an ELF file; give --symfs DIR"));
	world_release(&w);
}

enum { LINK_BYTES = 512 };

/* The contents of .gnu_debuglink: name, padding, checksum of the file. */
static size_t make_debuglink(const char *name, const char *debug_path, uint32_t change,
			     uint8_t out[LINK_BYTES])
{
	struct mapped file = { 0 };
	struct err err;
	uint32_t crc;
	size_t n = (strlen(name) + 4) / 4 * 4;

	assert_int_equal(mapped_open(&file, debug_path, &err), 0);
	crc = lzma_crc32(file.bytes, file.size, 0) ^ change;
	mapped_release(&file);
	assert_true(n + 4 <= LINK_BYTES);
	memset(out, 0, n);
	memcpy(out, name, strlen(name));
	for (int i = 0; i < 4; i++)
		out[n + (size_t)i] = (uint8_t)(crc >> 8 * i);
	return n + 4;
}

static void test_debuglink(void **state)
{
	static const char *const places[] = {
		"sym/opt/app/bin/s.debug",
		"sym/opt/app/bin/.debug/s.debug",
		"sym/usr/lib/debug/opt/app/bin/s.debug",
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(places); i++) {
		uint32_t change = i < COUNT(places) ? 0 : 1;
		const char *place = places[i % COUNT(places)];
		uint8_t link[LINK_BYTES];
		struct world w;
		uint64_t offset;
		size_t size;

		world_init(&w);
		world_code(&w, place, HAS_SYMTAB);
		size = make_debuglink("s.debug", world_path(&w, place), change, link);
		offset = world_code_with(&w, "sym" RECORDED, HAS_DYNSYM, ".gnu_debuglink", link,
					 size);
		w.options.symfs = world_path(&w, "sym");
		world_module(&w, MODULE_FILE, RECORDED);
		assert_string_equal(world_function(&w, offset + 0x18), change ? "" : "helper");
		world_release(&w);
	}
}

/* The file that the link leads to is there and is the right one: it must not be looked at. */
static void test_debuglink_elsewhere(void **state)
{
	static const struct {
		const char *link, *recorded; /* NULL: where the program is */
		const char *program, *place;
	} cases[] = {
		{ "../s.debug", NULL, "bin/server", "s.debug" },
		{ "../../s.debug", NULL, "a/bin/server", "s.debug" },
		{ "folder/s.debug", NULL, "bin/server", "bin/folder/s.debug" },
		{ "../s.debug", RECORDED, "sym" RECORDED, "s.debug" },
		{ "folder/s.debug", RECORDED, "sym" RECORDED, "debug/folder/s.debug" },
		{ "/s.debug", RECORDED, "sym" RECORDED, "debug/s.debug" },
		{ "s.debug", "/../outside/server", "sym/outside/server", "outside/s.debug" },
		{ "s.debug", "/a/../../outside/server", "sym/outside/server", "outside/s.debug" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *dirs[] = { NULL, NULL };
		uint8_t link[LINK_BYTES];
		struct module *module;
		struct world w;
		uint64_t offset;
		size_t size;

		world_init(&w);
		dirs[0] = world_path(&w, "debug");
		file_write(world_path(&w, "debug/none"), "", 0);
		file_write(world_path(&w, "sym/a/none"), "", 0);
		world_code(&w, cases[i].place, HAS_SYMTAB);
		size = make_debuglink(cases[i].link, world_path(&w, cases[i].place), 0, link);
		offset = world_code_with(&w, cases[i].program, HAS_DYNSYM | HAS_ID,
					 ".gnu_debuglink", link, size);
		w.options.debug_dirs = dirs;
		if (cases[i].recorded != NULL)
			w.options.symfs = world_path(&w, "sym");
		module = world_module(&w, MODULE_FILE,
				      cases[i].recorded != NULL ? cases[i].recorded
								: world_path(&w, cases[i].program));
		module->build_id = world_id;
		if (strcmp(world_function(&w, offset + 0x18), "helper") == 0)
			fail_msg("%s of %s leads to %s", cases[i].link, cases[i].program,
				 cases[i].place);
		assert_string_equal(world_function(&w, offset), "work");
		world_release(&w);
	}
}

/* A folder of debug files whose name begins as --symfs does is a folder of its own. */
static void test_debug_dir_beside_symfs(void **state)
{
	struct world w;
	const char *dirs[] = { NULL, NULL };
	uint64_t offset;

	(void)state;
	world_init(&w);
	dirs[0] = world_path(&w, "symbols");
	offset = world_code(&w, "sym" RECORDED, HAS_DYNSYM | HAS_ID);
	world_code(&w, "symbols/.build-id/ab/cdef01.debug", HAS_SYMTAB | HAS_ID);
	w.options.symfs = world_path(&w, "sym");
	w.options.debug_dirs = dirs;
	world_module(&w, MODULE_FILE, RECORDED)->build_id = world_id;
	assert_string_equal(world_function(&w, offset + 0x18), "helper");
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_situations),
		cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_deleted_path),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_debuglink),
		cmocka_unit_test(test_debuglink_elsewhere),
		cmocka_unit_test(test_debug_dir_beside_symfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
