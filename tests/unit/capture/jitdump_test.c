/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/jitdump.h"
#include "image.h"

enum { HEADER = 40, CODE_LOAD = 0, CODE_MOVE = 1, DEBUG_INFO = 2, CLOSE = 3 };

static void put_header(struct text *t, uint32_t magic, uint32_t version, uint32_t size,
		       uint64_t flags)
{
	put_u32(t, magic);
	put_u32(t, version);
	put_u32(t, size);
	put_u32(t, 183);
	put_u32(t, 0);
	put_u32(t, 4000);
	put_word(t, 77);
	put_word(t, flags);
}

static void put_prefix(struct text *t, uint32_t id, uint32_t size, uint64_t time)
{
	put_u32(t, id);
	put_u32(t, size);
	put_word(t, time);
}

static void put_load(struct text *t, uint64_t time, const char *name, uint64_t address,
		     uint64_t size, uint64_t index)
{
	put_prefix(t, CODE_LOAD, (uint32_t)(16 + 40 + strlen(name) + 1 + size), time);
	put_u32(t, 4000);
	put_u32(t, 4001);
	put_word(t, address);
	put_word(t, address);
	put_word(t, size);
	put_word(t, index);
	text_add(t, name, strlen(name) + 1);
	for (uint64_t i = 0; i < size; i++)
		put_u8(t, (uint8_t)(0xc0 + index));
}

static void put_move(struct text *t, uint64_t time, uint64_t to, uint64_t size, uint64_t index)
{
	put_prefix(t, CODE_MOVE, 16 + 48, time);
	put_u32(t, 4000);
	put_u32(t, 4001);
	put_word(t, to);
	put_word(t, 1);
	put_word(t, to);
	put_word(t, size);
	put_word(t, index);
}

/* Three functions, of which one is moved, and records that are none. Ends of the records go to `ends`. */
enum { N_RECORDS = 7 };
static void put_dump(struct text *t, size_t ends[N_RECORDS])
{
	size_t n = 0;

	put_header(t, 0x4a695444, 1, HEADER, 0);
	put_load(t, 100, "first", 0x10000, 32, 5);
	ends[n++] = t->n;
	put_prefix(t, DEBUG_INFO, 16 + 8, 110);
	put_word(t, 0);
	ends[n++] = t->n;
	put_load(t, 120, "void second(int)", 0x10000, 16, 6);
	ends[n++] = t->n;
	put_load(t, 125, "empty", 0x20000, 0, 9);
	ends[n++] = t->n;
	put_move(t, 130, 0x30000, 16, 6);
	ends[n++] = t->n;
	put_prefix(t, 99, 16, 140);
	ends[n++] = t->n;
	put_prefix(t, CLOSE, 16, 150);
	ends[n++] = t->n;
}

static void test_functions(void **state)
{
	static const struct {
		bool is_move;
		uint64_t time, address, size, index;
		const char *name;
	} expected[] = {
		{ false, 100, 0x10000, 32, 5, "first" },
		{ false, 120, 0x10000, 16, 6, "void second(int)" },
		{ true, 130, 0x30000, 16, 6, NULL },
	};
	size_t ends[N_RECORDS];
	struct text t = { 0 };
	struct jitdump dump;
	struct jitdump_code code;
	struct err err;

	(void)state;
	put_dump(&t, ends);
	assert_int_equal(jitdump_open(t.bytes, t.n, "x", &dump, &err), 0);
	assert_int_equal(dump.machine, 183);
	assert_int_equal(dump.pid, 4000);
	assert_false(dump.has_ticks);
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_true(jitdump_next(&dump, &code));
		assert_int_equal(code.is_move, expected[i].is_move);
		assert_int_equal(code.time, expected[i].time);
		assert_int_equal(code.address, expected[i].address);
		assert_int_equal(code.size, expected[i].size);
		assert_int_equal(code.index, expected[i].index);
		assert_int_equal(code.pid, 4000);
		assert_int_equal(code.tid, 4001);
		if (expected[i].name == NULL)
			continue;
		assert_string_equal(code.name, expected[i].name);
		for (uint64_t k = 0; k < code.size; k++)
			assert_int_equal((uint8_t)t.bytes[code.file_at + k], 0xc0 + code.index);
	}
	assert_false(jitdump_next(&dump, &code));
	assert_false(dump.is_cut);
	text_release(&t);
}

static void test_cut_at_each_byte(void **state)
{
	size_t ends[N_RECORDS];
	struct text t = { 0 };
	struct jitdump dump;
	struct jitdump_code code;
	struct err err = { 0 };

	(void)state;
	put_dump(&t, ends);
	for (size_t n = 0; n < HEADER; n++) {
		assert_int_equal(jitdump_open(t.bytes, n, "x", &dump, &err), -1);
		assert_non_null(strstr(err.text, "cut off inside its header"));
	}
	for (size_t n = HEADER; n <= t.n; n++) {
		bool is_between = n == HEADER;
		size_t wanted = (n >= ends[0]) + (n >= ends[2]) + (n >= ends[4]), found = 0;

		for (size_t i = 0; i < N_RECORDS; i++)
			is_between |= n == ends[i];
		assert_int_equal(jitdump_open(t.bytes, n, "x", &dump, &err), 0);
		while (jitdump_next(&dump, &code))
			found++;
		assert_int_equal(found, wanted);
		assert_int_equal(dump.is_cut, !is_between);
		assert_false(jitdump_next(&dump, &code));
	}
	text_release(&t);
}

static const struct {
	uint32_t magic, version, size;
	enum err_code code;
	const char *says;
} refused[] = {
	{ 0x4454694a, 1, HEADER, ERR_UNSUPPORTED, "big-endian" },
	{ 0x464c457f, 1, HEADER, ERR_FORMAT, "begins with 0x464c457f, wanted 0x4a695444" },
	{ 0x4a695444, 2, HEADER, ERR_FORMAT, "version 2" },
	{ 0x4a695444, 1, HEADER - 1, ERR_FORMAT, "header of 39 bytes" },
	{ 0x4a695444, 1, HEADER + 1, ERR_FORMAT, "header of 41 bytes" },
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct text t = { 0 };
		struct jitdump dump;
		struct err err = { 0 };

		put_header(&t, refused[i].magic, refused[i].version, refused[i].size, 0);
		assert_int_equal(jitdump_open(t.bytes, t.n, "jit-1.dump", &dump, &err), -1);
		assert_int_equal(err.code, refused[i].code);
		assert_ptr_equal(strstr(err.text, "jit-1.dump: "), err.text);
		assert_non_null(strstr(err.text, refused[i].says));
		text_release(&t);
	}
}

/* A function at the end of the address space, a size that no record has, a longer header, ticks. */
static void test_edges(void **state)
{
	struct text t = { 0 };
	struct jitdump dump;
	struct jitdump_code code;
	struct err err;

	(void)state;
	put_header(&t, 0x4a695444, 1, HEADER + 8, 1);
	put_word(&t, 0);
	put_load(&t, 1, "over", UINT64_MAX - 3, 8, 0);
	put_load(&t, 2, "", 0x1000, 8, 1);
	put_prefix(&t, CODE_LOAD, 15, 3);
	assert_int_equal(jitdump_open(t.bytes, t.n, "x", &dump, &err), 0);
	assert_true(dump.has_ticks);
	assert_true(jitdump_next(&dump, &code));
	assert_int_equal(code.time, 2);
	assert_string_equal(code.name, "");
	assert_false(jitdump_next(&dump, &code));
	assert_true(dump.is_cut);
	text_release(&t);
}

/* A line as it is written: an address, a line, and the bytes of a file's name with its end. */
struct written_line {
	uint64_t address;
	uint32_t line;
	const char *file;
	size_t file_bytes;
};
#define NAME(text) (text), sizeof(text)

static void put_lines(struct text *t, uint64_t address, const struct written_line *lines, size_t n)
{
	size_t size = 16;

	for (size_t i = 0; i < n; i++)
		size += 16 + lines[i].file_bytes;
	put_prefix(t, DEBUG_INFO, (uint32_t)(16 + size), 0);
	put_word(t, address);
	put_word(t, n);
	for (size_t i = 0; i < n; i++) {
		put_word(t, lines[i].address);
		put_u32(t, lines[i].line);
		put_u32(t, 3);
		text_add(t, lines[i].file, lines[i].file_bytes);
	}
}

/* The lines that are read of the next function, as "offset:line:file ". */
static void read_lines(struct jitdump *dump, uint64_t shift, struct text *out)
{
	struct jitdump_code code;
	struct jitdump_lines lines;
	struct jitdump_line line;

	assert_true(jitdump_next(dump, &code));
	lines = jitdump_lines_of(&code, shift);
	text_reset(out);
	while (jitdump_lines_next(&lines, &line))
		text_format(out, "%u:%u:%.*s ", (unsigned)line.offset, line.line, (int)line.n_file,
			    line.file);
	text_char(out, '\0');
}

static void test_lines(void **state)
{
	/* Those before the code, behind it, of line 0, and without the name of a file are left out. */
	static const struct written_line of_first[] = {
		{ 0x0fff, 1, NAME("a.x") },	     { 0x1000, 10, NAME("a.x") },
		{ 0x1004, 11, NAME("\xff") },	     { 0x1008, 12, NAME("\x01\x02") },
		{ 0x1009, 13, NAME("\xff") },	     { 0x100c, 0, NAME("a.x") },
		{ 0x1010, 14, NAME("b\303\244.x") }, { 0x1020, 15, NAME("a.x") },
	};
	static const struct written_line of_another[] = { { 0x3000, 7, NAME("c.x") } };
	struct text t = { 0 }, found = { 0 };
	struct jitdump dump;
	struct err err;

	(void)state;
	put_header(&t, 0x4a695444, 1, HEADER, 0);
	put_lines(&t, 0x1000, of_first, COUNT(of_first));
	put_load(&t, 1, "first", 0x1000, 32, 0);
	put_load(&t, 2, "first again", 0x1000, 32, 1);
	put_lines(&t, 0x3000, of_another, COUNT(of_another));
	put_load(&t, 3, "elsewhere", 0x2000, 32, 2);
	for (size_t n = HEADER; n <= t.n; n++) { /* cut at each byte, nothing else is read */
		assert_int_equal(jitdump_open(t.bytes, n, "x", &dump, &err), 0);
		assert_int_equal(jitdump_line_shift(&dump), 0);
	}
	read_lines(&dump, 0, &found);
	assert_string_equal(found.bytes, "0:10:a.x 4:11:a.x 16:14:b\303\244.x ");
	read_lines(&dump, 0, &found);
	assert_string_equal(found.bytes, "");
	read_lines(&dump, 0, &found);
	assert_string_equal(found.bytes, "");
	text_release(&found);
	text_release(&t);
}

/* V8 adds 64 to addresses; 16 bytes of a name are damaged in some of its versions. */
static void test_lines_of_v8(void **state)
{
#define DAMAGED "\001\0\002\003\004\005\006\007\010\011\012\013\014\015\016\017"
	static const struct written_line lines[] = {
		{ 0x1040, 1, NAME(DAMAGED "ripts/loop.js") },
		{ 0x1044, 2, NAME("/home/someone/scripts/loop.js") },
		{ 0x1048, 3, NAME(DAMAGED "ripts/else.js") },
		{ 0x104c, 4, NAME("node:fs") },
		{ 0x1060, 5, NAME("node:fs") },
	};
	struct text t = { 0 }, found = { 0 };
	struct jitdump dump;
	struct err err;

	(void)state;
	put_header(&t, 0x4a695444, 1, HEADER, 0);
	put_lines(&t, 0x1000, lines, COUNT(lines));
	put_load(&t, 1, "JS:*f /home/someone/scripts/loop.js:1:14", 0x1000, 32, 0);
	assert_int_equal(jitdump_open(t.bytes, t.n, "x", &dump, &err), 0);
	assert_int_equal(jitdump_line_shift(&dump), 64);
	read_lines(&dump, 64, &found);
	assert_string_equal(found.bytes, "0:1:/home/someone/scripts/loop.js "
					 "4:2:/home/someone/scripts/loop.js 12:4:node:fs ");
	put_lines(&t, 0x5000, lines, 1); /* of another address: no line of this function */
	put_load(&t, 1, "JS:*g x:1:1", 0x5000, 32, 0);
	assert_int_equal(jitdump_open(t.bytes, t.n, "x", &dump, &err), 0);
	assert_int_equal(jitdump_line_shift(&dump), 64);
	text_release(&found);
	text_release(&t);
}

static void test_paths(void **state)
{
	(void)state;
	assert_true(jitdump_is_path("/tmp/jit-123.dump"));
	assert_true(jitdump_is_path("jit-0.dump"));
	assert_false(jitdump_is_path("/tmp/jit-.dump"));
	assert_false(jitdump_is_path("/tmp/jit-12x.dump"));
	assert_false(jitdump_is_path("/jit-1.dump/x"));
	assert_false(jitdump_is_path("/tmp/jit-1.dump.so"));
	assert_false(jitdump_is_path("/tmp/xjit-1.dump"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_cut_at_each_byte),
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_edges),
		cmocka_unit_test(test_lines),	  cmocka_unit_test(test_lines_of_v8),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
