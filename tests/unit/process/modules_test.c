/* SPDX-License-Identifier: Apache-2.0 */
/* What a mapping is, told from its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "fixture.h"

enum {
	START = 0x10000,
	OFFSET = 0x3000,
	PID = 77,
	DATA = MISC_MMAP_DATA | 2,
	CODE = 2,
	HUGETLB = 0x40000,
	AT_ADDRESS = START + 0x123,		  /* place offset: the address */
	FROM_START = 0x123,			  /* from the start of the mapping */
	IN_FILE = START + 0x123 - START + OFFSET, /* in the file */
};

static const struct {
	const char *path;
	uint16_t misc;
	uint32_t map_flags;
	enum module_kind kind;
	const char *name;
	uint64_t place_offset;
	bool is_deleted;
} user_cases[] = {
	{ "/usr/bin/ls", CODE, 0, MODULE_FILE, "ls", IN_FILE, false },
	{ "/tmp/x (deleted)", CODE, 0, MODULE_FILE, "x", IN_FILE, true },
	{ "/memfd:pool (deleted)", CODE, 0, MODULE_FILE, "memfd:pool", IN_FILE, true },
	{ "relative", CODE, 0, MODULE_FILE, "relative", IN_FILE, false },
	{ "/etc/data", DATA, 0, MODULE_OTHER, "data", AT_ADDRESS, false },
	{ "/usr/lib/known.so", DATA, 0, MODULE_FILE, "known.so", IN_FILE, false },
	{ "[vdso]", CODE, 0, MODULE_VDSO, "[vdso]", FROM_START, false },
	{ "[vsyscall]", CODE, 0, MODULE_OTHER, "[vsyscall]", AT_ADDRESS, false },
	{ "[sigpage]", CODE, 0, MODULE_OTHER, "[sigpage]", AT_ADDRESS, false },
	{ "//anon", CODE, 0, MODULE_JIT, "perf-77.map", AT_ADDRESS, false },
	{ "//anon", DATA, 0, MODULE_OTHER, "//anon", AT_ADDRESS, false },
	{ "//toolong", CODE, 0, MODULE_OTHER, "//toolong", AT_ADDRESS, false },
	{ "[heap]", CODE, 0, MODULE_JIT, "perf-77.map", AT_ADDRESS, false },
	{ "[heap]", DATA, 0, MODULE_OTHER, "[heap]", AT_ADDRESS, false },
	{ "[stack]", DATA, 0, MODULE_OTHER, "[stack]", AT_ADDRESS, false },
	{ "[stack:99]", CODE, 0, MODULE_JIT, "perf-77.map", AT_ADDRESS, false },
	{ "[anon:a/b]", DATA, 0, MODULE_OTHER, "[anon:a/b]", AT_ADDRESS, false },
	{ "[anon_shmem:x]", CODE, 0, MODULE_JIT, "perf-77.map", AT_ADDRESS, false },
	{ "anon_inode:[io_uring]", DATA, 0, MODULE_OTHER, "anon_inode:[io_uring]", AT_ADDRESS,
	  false },
	{ "anon_inode:bpf-map", CODE, 0, MODULE_JIT, "perf-77.map", AT_ADDRESS, false },
	{ "/dev/zero (deleted)", CODE, 0, MODULE_JIT, "perf-77.map", AT_ADDRESS, true },
	{ "/SYSV00000000 (deleted)", DATA, 0, MODULE_OTHER, "SYSV00000000", AT_ADDRESS, true },
	{ "/anon_hugepage (deleted)", CODE, 0, MODULE_JIT, "perf-77.map", AT_ADDRESS, true },
	{ "/dev/hugepages/x", CODE, HUGETLB, MODULE_JIT, "perf-77.map", AT_ADDRESS, false },
	{ "/dev/hugepages/x", DATA, HUGETLB, MODULE_OTHER, "x", AT_ADDRESS, false },
	{ "", CODE, 0, MODULE_FILE, "", IN_FILE, false },
};

static const struct {
	const char *path;
	enum module_kind kind;
	const char *module_path, *name, *ref_symbol;
	uint64_t place_offset, load_address;
} kernel_cases[] = {
	{ "[kernel.kallsyms]_text", MODULE_KERNEL, "[kernel.kallsyms]", "[kernel.kallsyms]",
	  "_text", AT_ADDRESS, OFFSET },
	{ "[kernel.kallsyms]_stext", MODULE_KERNEL, "[kernel.kallsyms]", "[kernel.kallsyms]",
	  "_stext", AT_ADDRESS, OFFSET },
	{ "[kernel]_text", MODULE_KERNEL, "[kernel]", "[kernel]", "_text", AT_ADDRESS, OFFSET },
	{ "[kernel.x", MODULE_KERNEL, "[kernel.x", "[kernel.x", "", AT_ADDRESS, OFFSET },
	{ "/lib/modules/6.1/kernel/net/nf-tables.ko.xz", MODULE_KERNEL_MODULE,
	  "/lib/modules/6.1/kernel/net/nf-tables.ko.xz", "[nf_tables]", "", FROM_START, 0 },
	{ "[i915]", MODULE_KERNEL_MODULE, "[i915]", "[i915]", "", FROM_START, 0 },
};

static const struct module *module_at(const struct fixture *f, struct placed *placed,
				      bool is_kernel)
{
	uint32_t process = timeline_process_of_pid(f->timeline, PID, 10);
	const struct modules *modules = timeline_modules(f->timeline);

	*placed = timeline_place(f->timeline, process, is_kernel, START + 0x123, 10);
	return modules_get(modules, placed->place.module);
}

static const char *text(const struct fixture *f, struct str_id id)
{
	return strings_get(timeline_strings(f->timeline), id);
}

static void test_user(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(user_cases); i++) {
		struct fixture f;
		const struct module *m;
		struct placed placed;

		fixture_init(&f);
		fixture_build_id(&f, "/usr/lib/known.so", CODE, 1);
		feed_mmap(&f, &(struct map_record){
				      .time_ns = 5,
				      .pid = PID,
				      .tid = PID,
				      .start = START,
				      .length = 0x1000,
				      .page_offset = OFFSET,
				      .map_flags = user_cases[i].map_flags,
				      .misc = user_cases[i].misc,
				      .path = user_cases[i].path,
			      });
		fixture_freeze(&f);
		m = module_at(&f, &placed, false);
		assert_int_equal(m->kind, user_cases[i].kind);
		assert_string_equal(text(&f, m->path), user_cases[i].path);
		assert_string_equal(text(&f, m->name), user_cases[i].name);
		assert_int_equal(placed.place.offset, user_cases[i].place_offset);
		assert_int_equal(placed.is_data, user_cases[i].misc == DATA);
		assert_int_equal(m->is_deleted, user_cases[i].is_deleted);
		assert_int_equal(m->pid, m->kind == MODULE_JIT ? PID : 0);
		fixture_release(&f);
	}
}

static void test_kernel(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(kernel_cases); i++) {
		struct fixture f;
		const struct module *m;
		struct placed placed;

		fixture_init(&f);
		feed_kernel(&f, 0, START, 0x1000, OFFSET, kernel_cases[i].path);
		fixture_freeze(&f);
		m = module_at(&f, &placed, true);
		assert_int_equal(m->kind, kernel_cases[i].kind);
		assert_string_equal(text(&f, m->path), kernel_cases[i].module_path);
		assert_string_equal(text(&f, m->name), kernel_cases[i].name);
		assert_string_equal(text(&f, m->ref_symbol), kernel_cases[i].ref_symbol);
		assert_int_equal(placed.place.offset, kernel_cases[i].place_offset);
		assert_int_equal(m->load_address, kernel_cases[i].load_address);
		fixture_release(&f);
	}
}

/* A file of which code is mapped anywhere is a file where its data are mapped, too. */
static void test_data_of_code(void **state)
{
	struct fixture f;
	struct placed placed;

	(void)state;
	fixture_init(&f);
	feed_mmap(&f, &(struct map_record){
			      .time_ns = 5,
			      .pid = PID,
			      .tid = PID,
			      .start = START,
			      .length = 0x1000,
			      .page_offset = OFFSET,
			      .misc = DATA,
			      .path = "/usr/bin/ls",
		      });
	feed_map(&f, 20, PID + 1, 0x90000, 0x1000, 0, "/usr/bin/ls");
	fixture_freeze(&f);
	assert_int_equal(module_at(&f, &placed, false)->kind, MODULE_FILE);
	assert_true(placed.is_data);
	assert_int_equal(placed.place.offset, IN_FILE);
	fixture_release(&f);
}

struct id_case {
	const char *path;
	uint8_t recorded; /* build-id in the MMAP2 record */
	uint8_t expected;
};

static const struct id_case id_cases[] = {
	{ "/bin/listed", 0, 0xaa },
	{ "/bin/listed", 0xbb, 0xbb }, /* the record knows better */
	{ "/bin/unlisted", 0xcc, 0xcc },
	{ "/bin/unlisted", 0, 0xcc }, /* another mapping of it told */
	{ "/bin/unheard-of", 0, 0 },
	{ "/bin/guest", 0, 0 },
};

static void test_build_ids(void **state)
{
	struct fixture f;
	const struct modules *modules;

	(void)state;
	fixture_init(&f);
	fixture_build_id(&f, "/bin/listed", CODE, 0xaa);
	fixture_build_id(&f, "/bin/listed", CODE, 0xab);
	fixture_build_id(&f, "/bin/guest", 5, 0xad);
	for (size_t i = 0; i < COUNT(id_cases); i++)
		feed_mmap(&f, &(struct map_record){
				      .time_ns = 5,
				      .pid = PID,
				      .tid = PID,
				      .start = START * (i + 1),
				      .length = 0x1000,
				      .misc = CODE,
				      .build_id = id_cases[i].recorded,
				      .path = id_cases[i].path,
			      });
	fixture_freeze(&f);
	modules = timeline_modules(f.timeline);
	for (size_t i = 0; i < COUNT(id_cases); i++) {
		uint32_t process = timeline_process_of_pid(f.timeline, PID, 10);
		struct placed p = timeline_place(f.timeline, process, false, START * (i + 1), 10);
		const struct build_id *id = &modules_get(modules, p.place.module)->build_id;

		assert_int_equal(id->size, id_cases[i].expected == 0 ? 0 : BUILD_ID_MAX);
		assert_int_equal(id->bytes[BUILD_ID_MAX - 1], id_cases[i].expected);
	}
	/* listed (two builds), unlisted, unheard-of, guest, the kernel, and module 0 */
	assert_int_equal(modules->list.n, 7);
	fixture_release(&f);
}

static void test_kernel_build_id(void **state)
{
	static const struct {
		const char *path;
		uint8_t expected;
	} list[] = {
		{ "[kernel.kallsyms]", 0xaa },
		{ "/usr/lib/debug/boot/vmlinux-6.1", 0xaa },
		{ "/lib/modules/6.1/kernel/a.ko", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		struct fixture f;
		struct placed placed;

		fixture_init(&f);
		fixture_build_id(&f, list[i].path, 1, 0xaa);
		feed_kernel(&f, 0, START, 0x1000, START, "[kernel.kallsyms]_text");
		fixture_freeze(&f);
		assert_int_equal(module_at(&f, &placed, true)->build_id.bytes[0], list[i].expected);
		fixture_release(&f);
	}
}

/* JIT code of two processes is two modules, though both are "//anon". */
static void test_jit_of_two(void **state)
{
	struct fixture f;
	const struct modules *modules;

	(void)state;
	fixture_init(&f);
	feed_map(&f, 5, 70, START, 0x1000, 0, "//anon");
	feed_map(&f, 6, 71, START, 0x1000, 0, "//anon");
	feed_map(&f, 7, 70, START + 0x5000, 0x1000, 0, "//anon");
	fixture_freeze(&f);
	modules = timeline_modules(f.timeline);
	assert_int_equal(modules->list.n, 4);
	assert_int_equal(modules_get(modules, (struct module_id){ 2 })->pid, 70);
	assert_int_equal(modules_get(modules, (struct module_id){ 3 })->pid, 71);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_data_of_code),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_kernel_build_id),
		cmocka_unit_test(test_jit_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
