/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, the kernel and its modules of made-up machines, as records. */
#include "record/synthesize/synthesize.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "capture/format/record.h"
#include "../pmu/tree.h"

enum { MMAP_PATH = 40, MMAP2_PATH = 72 }; /* where paths begin in the records */

static void lines_of_maps_are_read(void **state)
{
	static const struct {
		const char *line;
		bool is_good;
		struct record_mmap map;
	} cases[] = {
		{ "00400000-00401000 r-xp 00001000 08:02 173521      /usr/bin/a b",
		  true,
		  { .start = 0x400000,
		    .length = 0x1000,
		    .page_offset = 0x1000,
		    .major = 8,
		    .minor = 2,
		    .inode = 173521,
		    .protection = PROT_READ | PROT_EXEC,
		    .flags = MAP_PRIVATE,
		    .path = "/usr/bin/a b" } },
		{ "7f00-7f10 rw-s 00000000 fd:1f 1 /dev/shm/x\\012y (deleted)",
		  true,
		  { .start = 0x7f00,
		    .length = 0x10,
		    .major = 0xfd,
		    .minor = 0x1f,
		    .inode = 1,
		    .protection = PROT_READ | PROT_WRITE,
		    .flags = MAP_SHARED,
		    .is_data = true,
		    .path = "/dev/shm/x\ny (deleted)" } },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  "
		  "[vsyscall]",
		  true,
		  { .start = 0xffffffffff600000,
		    .length = 0x1000,
		    .protection = PROT_EXEC,
		    .flags = MAP_PRIVATE,
		    .path = "[vsyscall]" } },
		{ "1000-2000 r-xp 00000000 00:00 0 ",
		  true,
		  { .start = 0x1000,
		    .length = 0x1000,
		    .protection = PROT_READ | PROT_EXEC,
		    .flags = MAP_PRIVATE,
		    .path = "//anon" } },
		{ "", false, { 0 } },
		{ "2000-1000 r-xp 00000000 00:00 0 ", false, { 0 } },
		{ "1000 r-xp 00000000 00:00 0", false, { 0 } },
		{ "-1000 r-xp 00000000 00:00 0", false, { 0 } },
		{ "1000-2000 r-x", false, { 0 } },
		{ "1000-2000 r-xp00000000 00:00 0", false, { 0 } },
		{ "1000-2000 r-xp 00000000 00-00 0", false, { 0 } },
		{ "1000-2000 r-xp 00000000 00:00 x", false, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *line = mem_strndup(cases[i].line, strlen(cases[i].line));
		const struct record_mmap *want = &cases[i].map;
		struct record_mmap map = { 0 };

		if (synthesize_read_map(line, &map) != cases[i].is_good)
			fail_msg("'%s'", cases[i].line);
		if (cases[i].is_good) {
			assert_string_equal(map.path, want->path);
			map.path = want->path;
			assert_memory_equal(&map, want, sizeof(map));
		}
		free(line);
	}
}

static void lines_cut_short_do_no_harm(void **state)
{
	static const char line[] = "00400000-00401000 r-xp 00001000 08:02 173521 /usr/bin/a\\012b";

	(void)state;
	for (size_t n = 0; n < sizeof(line); n++) {
		char *copy = mem_strndup(line, n);
		struct record_mmap map;

		/* complete from the first digit of the inode on */
		assert_int_equal(synthesize_read_map(copy, &map),
				 n > strlen("00400000-00401000 "
					    "r-xp 00001000 08:02 "));
		free(copy);
	}
}

static void lines_of_modules_are_read(void **state)
{
	static const char line[] = "nf_tables 2048 1 nft_chain, Live 0xffff800001000000 (OE)";
	static const char *const bad[] = {
		"",
		"nf_tables",
		"nf_tables x 1 - Live 0xffff800001000000",
		"nf_tables 2048 1 - Live",
		"nf_tables 2048 1 - Live 0x0000000000000000",
		"a23456789012345678901234567890123456789012345678901234567890abcd 1 1 - Live 0x1",
	};
	char name[MODULE_NAME_SIZE] = "as before";
	struct record_mmap map = { .start = 5, .length = 6 };

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(synthesize_read_module(bad[i], name, &map));
	for (size_t n = 0; n <= strlen("nf_tables 2048 1 nft_chain, Live 0x"); n++) {
		char *copy = mem_strndup(line, n);

		assert_false(synthesize_read_module(copy, name, &map));
		free(copy);
	}
	assert_string_equal(name, "as before");
	assert_int_equal(map.start, 5);
	assert_int_equal(map.length, 6);
	assert_true(synthesize_read_module(line, name, &map));
	assert_string_equal(name, "nf_tables");
	assert_int_equal(map.start, 0xffff800001000000);
	assert_int_equal(map.length, 2048);
}

static void symbols_tell_where_the_kernel_is(void **state)
{
	static const struct {
		const char *lines[4];
		const char *mark; /* NULL: not told */
		uint64_t start, end;
	} cases[] = {
		{ { "10 T _text", "20 T _stext", "30 D _etext" }, "_text", 0x10, 0x30 },
		{ { "20 T _stext", "10 T _text", "30 D _etext" }, "_text", 0x10, 0x30 },
		{ { "20 T _stext", "30 D _etext" }, "_stext", 0x20, 0x30 },
		{ { "30 D _etext", "20 T _stext" }, "_stext", 0x20, 0x30 },
		{ { "10 T _text", "0 D _etext" }, NULL, 0, 0 },
		{ { "10 T _text", "30 D _etext2", "30", "30 D" }, NULL, 0, 0 },
		{ { "10  _text", "30 D  _etext", "", " " }, NULL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct kernel_range range = { 0 };
		bool is_told = false;

		for (size_t k = 0; k < COUNT(cases[i].lines); k++)
			if (cases[i].lines[k] != NULL)
				is_told = synthesize_read_symbol(cases[i].lines[k], &range);
		assert_int_equal(is_told, cases[i].mark != NULL);
		if (!is_told)
			continue;
		assert_string_equal(range.mark, cases[i].mark);
		assert_int_equal(range.start, cases[i].start);
		assert_int_equal(range.end, cases[i].end);
	}
}

/* A file, and the records behind its header. */
struct file {
	char path[32];
	struct writer *writer;
	uint64_t from;
	uint8_t bytes[8192];
	size_t n;
};

static void file_begin(struct file *f)
{
	const struct writer_event event = { .attr = { .type = 1 } };
	struct err err;
	int fd;

	strcpy(f->path, "/tmp/cyclops-synth-XXXXXX");
	fd = mkstemp(f->path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(writer_open(f->path, &event, 1, &f->writer, &err), 0);
	f->from = writer_size(f->writer);
}

static void file_end(struct file *f)
{
	struct err err;
	FILE *file;

	f->n = (size_t)(writer_size(f->writer) - f->from);
	assert_true(f->n <= sizeof(f->bytes));
	assert_int_equal(writer_close(f->writer, &err), 0);
	file = fopen(f->path, "rb");
	assert_non_null(file);
	fseek(file, (long)f->from, SEEK_SET);
	assert_int_equal(fread(f->bytes, 1, f->n, file), f->n);
	fclose(file);
	unlink(f->path);
}

/* The n-th record of a type, NULL: there are fewer. */
static const uint8_t *find_record(const struct file *f, uint32_t type, size_t n)
{
	for (size_t at = 0; at < f->n; at += load_u16(f->bytes + at + 6))
		if (load_u32(f->bytes + at) == type && n-- == 0)
			return f->bytes + at;
	return NULL;
}

static const uint8_t *get_record(const struct file *f, uint32_t type, size_t n)
{
	const uint8_t *found = find_record(f, type, n);

	if (found != NULL)
		return found;
	fail_msg("no record %zu of type %u", n, type);
	abort();
}

/* pid, tid and the path of a mapping, "" for what has none. */
static void expect_map(const struct file *f, size_t n, uint32_t pid, uint64_t start,
		       const char *path)
{
	const uint8_t *at = get_record(f, RECORD_MMAP2, n);

	assert_non_null(at);
	assert_int_equal(load_u32(at + 8), pid);
	assert_int_equal(load_u32(at + 12), pid);
	assert_int_equal(load_u64(at + 16), start);
	assert_string_equal((const char *)at + MMAP2_PATH, path);
}

#define STATUS(tgid, ppid) "Name:\tserver\nTgid:\t" tgid "\nPid:\t1\nPPid:\t" ppid

static const struct tree_file processes[] = {
	{ "/proc/12/status", STATUS("12", "1") },
	{ "/proc/13/status", STATUS("12", "1") },
	{ "/proc/12/task/12/comm", "server" },
	{ "/proc/12/task/13/comm", "worker" },
	{ "/proc/12/task/notes", NULL },
	{ "/proc/12/maps", "1000-2000 r-xp 00000000 08:02 5 /bin/server\n"
			   "nonsense\n"
			   "3000-4000 rw-p 00000000 00:00 0 [heap]\n"
			   "5000-6000 r-xp 00000000 00:00 0 [vdso]" },
	{ "/proc/40/status", STATUS("40", "12") },
	{ "/proc/40/task/40/comm", "child" },
	{ "/proc/41/status", "Name:\tbroken" }, /* neither Tgid nor PPid */
	{ "/proc/42/task/42/comm", "gone" },	/* no status: it has ended */
	{ "/proc/self", NULL },
	{ NULL, NULL },
};

static void processes_are_written_once(void **state)
{
	struct diags diags = { 0 };
	struct file *f = mem_zalloc(1, sizeof(*f));
	struct synthesis s = { .diags = &diags };
	struct tree tree;
	const uint8_t *at;

	(void)state;
	tree_make(&tree, processes);
	file_begin(f);
	s.writer = f->writer;
	s.root = tree.root;
	synthesize_process(&s, 13); /* any thread of the process */
	synthesize_process(&s, 12);
	synthesize_all(&s);
	synthesis_release(&s);
	file_end(f);

	expect_map(f, 0, 12, 0x1000, "/bin/server");
	expect_map(f, 1, 12, 0x5000, "[vdso]");
	assert_null(find_record(f, RECORD_MMAP2, 2));
	for (size_t i = 0; i < 3; i++) {
		static const struct {
			uint32_t pid, ppid, tid, ptid;
			const char *comm;
		} want[] = {
			{ 12, 1, 12, 1, "server" },
			{ 12, 12, 13, 12, "worker" },
			{ 40, 12, 40, 12, "child" },
		};

		at = get_record(f, RECORD_FORK, i);
		assert_non_null(at);
		assert_int_equal(load_u32(at + 8), want[i].pid);
		assert_int_equal(load_u32(at + 12), want[i].ppid);
		assert_int_equal(load_u32(at + 16), want[i].tid);
		assert_int_equal(load_u32(at + 20), want[i].ptid);
		at = get_record(f, RECORD_COMM, i);
		assert_non_null(at);
		assert_int_equal(load_u32(at + 8), want[i].pid);
		assert_int_equal(load_u32(at + 12), want[i].tid);
		assert_string_equal((const char *)at + 16, want[i].comm);
	}
	assert_null(find_record(f, RECORD_FORK, 3));
	assert_null(find_record(f, RECORD_COMM, 3));
	assert_null(find_record(f, RECORD_NAMESPACES, 0));
	diags_release(&diags);
	tree_remove(&tree);
	free(f);
}

static void data_and_namespaces_are_written_if_wanted(void **state)
{
	struct diags diags = { 0 };
	struct file *f = mem_zalloc(1, sizeof(*f));
	struct synthesis s = {
		.diags = &diags, .with_data = true, .with_build_ids = true, .with_namespaces = true
	};
	struct tree tree;
	const uint8_t *at;

	(void)state;
	tree_make(&tree, processes);
	tree_add(&tree, "/proc/12/task/12/ns/net", "");
	file_begin(f);
	s.writer = f->writer;
	s.root = tree.root;
	synthesize_process(&s, 12);
	synthesis_release(&s);
	file_end(f);
	expect_map(f, 0, 12, 0x1000, "/bin/server"); /* no such file: no build-id */
	assert_int_equal(load_u16(get_record(f, RECORD_MMAP2, 0) + 4), 2);
	expect_map(f, 1, 12, 0x3000, "[heap]");
	at = get_record(f, RECORD_NAMESPACES, 0);
	assert_non_null(at);
	assert_int_equal(load_u64(at + 16), N_NAMESPACES);
	assert_int_not_equal(load_u64(at + 32), 0); /* the inode of net */
	assert_int_equal(load_u64(at + 48), 0);	    /* not given */
	diags_release(&diags);
	tree_remove(&tree);
	free(f);
}

static void write_kernel_of(const struct tree *tree, struct file *f, struct diags *diags)
{
	struct synthesis s = { .diags = diags, .root = tree->root };

	file_begin(f);
	s.writer = f->writer;
	synthesize_kernel(&s);
	synthesis_release(&s);
	file_end(f);
}

static void expect_kernel_map(const struct file *f, size_t n, uint64_t start, uint64_t length,
			      const char *path)
{
	const uint8_t *at = get_record(f, RECORD_MMAP, n);

	assert_non_null(at);
	assert_int_equal(load_u16(at + 4), 1);
	assert_int_equal(load_u32(at + 8), UINT32_MAX);
	assert_int_equal(load_u64(at + 16), start);
	assert_int_equal(load_u64(at + 24), length);
	assert_string_equal((const char *)at + MMAP_PATH, path);
}

static void the_kernel_and_its_modules_have_places(void **state)
{
	static const struct tree_file files[] = {
		{ "/proc/kallsyms", "ffff800010000000 T _text\n"
				    "ffff800010010000 T _stext\n"
				    "odd\n"
				    "ffff800011000000 D _etext\n"
				    "ffff800012000000 T behind" },
		{ "/proc/modules", "nf_tables 2048 1 nft_chain, Live 0xffff800001000000\n"
				   "hidden 4096 0 - Live 0x0000000000000000\n"
				   "out_of_tree 512 0 - Live 0xffff800002000000 (OE)\n"
				   "broken" },
		{ NULL, NULL },
	};
	struct file *f = mem_zalloc(1, sizeof(*f));
	struct diags diags = { 0 };
	struct utsname kernel;
	struct tree tree;
	char path[256];

	(void)state;
	uname(&kernel);
	tree_make(&tree, files);
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", kernel.release);
	tree_add(&tree, path,
		 "kernel/net/nf_tables_set.ko: "
		 "kernel/net/nf-tables.ko\nkernel/net/nf-tables.ko.xz:");
	write_kernel_of(&tree, f, &diags);
	expect_kernel_map(f, 0, 0xffff800010000000, 0x1000000, "[kernel.kallsyms]_text");
	snprintf(path, sizeof(path), "/lib/modules/%s/kernel/net/nf-tables.ko.xz", kernel.release);
	expect_kernel_map(f, 1, 0xffff800001000000, 2048, path);
	expect_kernel_map(f, 2, 0xffff800002000000, 512, "[out_of_tree]");
	assert_null(find_record(f, RECORD_MMAP, 3));
	assert_int_equal(diags.list.n, 0);
	diags_release(&diags);
	tree_remove(&tree);
	free(f);
}

/* Root may read the size of the code elsewhere, and does not read on to its end. */
static void the_size_of_the_code_may_be_known(void **state)
{
	static const struct {
		const char *memory, *symbols;
		uint64_t start, length;
	} cases[] = {
		{ "00001000-0009ffff : System RAM\n40000000-7fffffff : System RAM\n"
		  "  40010000-4100ffff : Kernel code\n  41010000-4101ffff : reserved\n",
		  "1000 T _text\n11000 T _stext\n20000 D _etext\n", 0x1000, 0x1010000 },
		{ "1000000-2209987 : Kernel code\n", "5000 T _stext\n5000 T _text\n", 0x5000,
		  0x1209988 },
		{ "1000000-2209987 : Kernel code\n", "5000 T _stext\n9000 D _etext\n", 0x5000,
		  0x4000 },
		{ "00000000-00000000 : Kernel code\n",
		  "5000 T _stext\n5000 T _text\n9000 D _etext\n", 0x5000, 0x4000 },
		{ "odd : Kernel code\n", "5000 T _text\n5000 T _stext\n9000 D _etext\n", 0x5000,
		  0x4000 },
		{ "1000-2000 : Kernel data\n", "5000 T _text\n5000 T _stext\n9000 D _etext\n",
		  0x5000, 0x4000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct file *f = mem_zalloc(1, sizeof(*f));
		struct diags diags = { 0 };
		struct tree tree;

		tree_make(&tree, processes);
		tree_add(&tree, "/proc/iomem", cases[i].memory);
		tree_add(&tree, "/proc/kallsyms", cases[i].symbols);
		write_kernel_of(&tree, f, &diags);
		expect_kernel_map(f, 0, cases[i].start, cases[i].length,
				  strstr(cases[i].symbols, "_text") != NULL
					  ? "[kernel.kallsyms]_text"
					  : "[kernel.kallsyms]_stext");
		assert_int_equal(diags.list.n, 0);
		diags_release(&diags);
		tree_remove(&tree);
		free(f);
	}
}

static void a_kernel_that_hides_is_noted(void **state)
{
	static const char *const symbols[] = {
		"0000000000000000 T _text\n0000000000000000 T _etext", /* kptr_restrict */
		"ffff800010000000 T _text",			       /* no end */
		"ffff800010000000 T _text\nffff800000000000 T _etext",
		"",
		NULL, /* no such file */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(symbols); i++) {
		struct file *f = mem_zalloc(1, sizeof(*f));
		struct diags diags = { 0 };
		struct tree tree;

		tree_make(&tree, processes);
		if (symbols[i] != NULL)
			tree_add(&tree, "/proc/kallsyms", symbols[i]);
		write_kernel_of(&tree, f, &diags);
		assert_null(find_record(f, RECORD_MMAP, 0));
		assert_int_equal(diags.list.n, 1);
		assert_non_null(
			strstr(diags.list.items[0].text, symbols[i] != NULL && symbols[i][0] != '\0'
								 ? "kptr_restrict"
								 : "kallsyms cannot be read"));
		diags_release(&diags);
		tree_remove(&tree);
		free(f);
	}
}

/*
 * A kernel with BPF programs 3, 5, 8 and 9: with one function, with two, never compiled, and one
 * that is unloaded meanwhile.
 */
struct bpf_world {
	int error; /* of every call */
	int n_open;
};

static void tell_program(uint32_t id, struct bpf_prog_info *info)
{
	uint32_t n = id == 3 ? 1 : id == 5 ? 2 : 0;

	for (uint32_t i = 0; i < n && i < info->nr_jited_ksyms; i++) {
		((uint64_t *)(uintptr_t)info->jited_ksyms)[i] = 0xffff800000000000 + id * 0x100 + i;
		((uint32_t *)(uintptr_t)info->jited_func_lens)[i] = id + i;
		memset((uint8_t *)(uintptr_t)info->prog_tags + BPF_TAG_SIZE * (size_t)i,
		       (int)(0xa0 + i), BPF_TAG_SIZE);
	}
	info->nr_jited_ksyms = info->nr_jited_func_lens = info->nr_prog_tags = n;
	memcpy(info->name, id == 3 ? "fifteen_letters" : "", id == 3 ? BPF_OBJ_NAME_LEN : 1);
}

static int made_up_bpf(void *context, int command, void *attr_bytes, size_t size)
{
	static const uint32_t ids[] = { 3, 5, 8, 9 };
	struct bpf_world *w = context;
	union bpf_attr *attr = attr_bytes;

	assert_int_equal(size, sizeof(*attr));
	if (w->error != 0)
		return -w->error;
	if (command == BPF_PROG_GET_FD_BY_ID) {
		w->n_open += attr->prog_id != 9;
		return attr->prog_id != 9 ? (int)attr->prog_id + 100 : -ENOENT;
	}
	if (command == BPF_OBJ_GET_INFO_BY_FD) {
		tell_program(attr->info.bpf_fd - 100,
			     (struct bpf_prog_info *)(uintptr_t)attr->info.info);
		return 0;
	}
	assert_int_equal(command, BPF_PROG_GET_NEXT_ID);
	for (size_t i = 0; i < COUNT(ids); i++) {
		if (ids[i] > attr->start_id) {
			attr->next_id = ids[i];
			return 0;
		}
	}
	return -ENOENT;
}

static int made_up_close(void *context, int fd)
{
	struct bpf_world *w = context;

	assert_true(fd > 100);
	w->n_open--;
	return 0;
}

static void expect_ksymbol(const struct file *f, size_t n, uint64_t address, uint32_t length,
			   const char *name)
{
	const uint8_t *at = get_record(f, RECORD_KSYMBOL, n);

	assert_non_null(at);
	assert_int_equal(load_u64(at + 8), address);
	assert_int_equal(load_u32(at + 16), length);
	assert_int_equal(load_u16(at + 20), 1);
	assert_int_equal(load_u16(at + 22), 0);
	assert_string_equal((const char *)at + 24, name);
}

static void loaded_bpf_programs_have_names(void **state)
{
	static const int errors[] = { 0, EPERM, ENOSYS };

	(void)state;
	for (size_t i = 0; i < COUNT(errors); i++) {
		struct bpf_world world = { .error = errors[i] };
		const struct kernel kernel = { .context = &world,
					       .bpf = made_up_bpf,
					       .close = made_up_close };
		struct file *f = mem_zalloc(1, sizeof(*f));
		struct diags diags = { 0 };
		struct synthesis s = { .kernel = &kernel, .diags = &diags, .root = "" };

		file_begin(f);
		s.writer = f->writer;
		synthesize_bpf(&s);
		synthesis_release(&s);
		file_end(f);
		if (errors[i] == 0) {
			expect_ksymbol(f, 0, 0xffff800000000300, 3,
				       "bpf_prog_a0a0a0a0a0a0a0a0_fifteen_letters");
			expect_ksymbol(f, 1, 0xffff800000000500, 5, "bpf_prog_a0a0a0a0a0a0a0a0");
			expect_ksymbol(f, 2, 0xffff800000000501, 6, "bpf_prog_a1a1a1a1a1a1a1a1_F");
		}
		assert_null(find_record(f, RECORD_KSYMBOL, errors[i] == 0 ? 3 : 0));
		assert_int_equal(diags.list.n, 0);
		assert_int_equal(world.n_open, 0);
		free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_maps_are_read),
		cmocka_unit_test(lines_cut_short_do_no_harm),
		cmocka_unit_test(lines_of_modules_are_read),
		cmocka_unit_test(symbols_tell_where_the_kernel_is),
		cmocka_unit_test(processes_are_written_once),
		cmocka_unit_test(data_and_namespaces_are_written_if_wanted),
		cmocka_unit_test(the_kernel_and_its_modules_have_places),
		cmocka_unit_test(the_size_of_the_code_may_be_known),
		cmocka_unit_test(a_kernel_that_hides_is_noted),
		cmocka_unit_test(loaded_bpf_programs_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
