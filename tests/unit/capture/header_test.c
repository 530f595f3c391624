/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/header.h"
#include "image.h"

static const struct attr attr = { .size = ATTR_SIZE_MIN };

static void test_file(void **state)
{
	struct text t = { 0 };
	struct header h;
	struct err err;

	(void)state;
	put_file_header(&t, &attr, (uint64_t[]){ 7 }, 1);
	patch_u64(&t, IMAGE_DATA_SIZE_AT, 4096);
	patch_u64(&t, IMAGE_FEATURES_AT, BIT(FEATURE_HOSTNAME));
	patch_u64(&t, IMAGE_FEATURES_AT + 8, BIT(5));
	assert_int_equal(header_read(cur_of(t.bytes, t.n), "x", &h, &err), 0);
	assert_false(h.is_pipe);
	assert_int_equal(h.entry_size, ATTR_SIZE_MIN + 16);
	assert_int_equal(h.attrs.offset, 112);
	assert_int_equal(h.attrs.size, ATTR_SIZE_MIN + 16);
	assert_int_equal(h.data.offset, t.n);
	assert_int_equal(h.data.size, 4096);
	for (unsigned i = 0; i < MAX_FEATURES; i++)
		assert_int_equal(header_has_feature(&h, i), i == FEATURE_HOSTNAME || i == 64 + 5);
	text_release(&t);
}

/* Version 1 differs in the magic; the first ones had no features. */
static void test_version_1(void **state)
{
	struct text t = { 0 };
	struct header h;
	struct err err;

	(void)state;
	put_file_header(&t, &attr, NULL, 0);
	memcpy(t.bytes, "PERFFILE", 8);
	patch_u64(&t, IMAGE_FEATURES_AT, BIT(FEATURE_HOSTNAME));
	for (size_t n = 0; n < FILE_HEADER_BYTES; n++)
		assert_int_equal(header_read(cur_of(t.bytes, n), "x", &h, &err), -1);
	assert_int_equal(header_read(cur_of(t.bytes, t.n), "x", &h, &err), 0);
	assert_int_equal(h.data.offset, t.n);
	assert_true(header_has_feature(&h, FEATURE_HOSTNAME));
	patch_u64(&t, 8, OLD_HEADER_BYTES);
	for (size_t n = 0; n < OLD_HEADER_BYTES; n++)
		assert_int_equal(header_read(cur_of(t.bytes, n), "x", &h, &err), -1);
	assert_int_equal(header_read(cur_of(t.bytes, OLD_HEADER_BYTES), "x", &h, &err), 0);
	assert_int_equal(h.data.offset, t.n);
	assert_false(header_has_feature(&h, FEATURE_HOSTNAME));
	text_release(&t);
}

static void test_stream(void **state)
{
	struct text t = { 0 };
	struct header h;
	struct err err;

	(void)state;
	put_stream_header(&t);
	assert_int_equal(header_read(cur_of(t.bytes, t.n), "x", &h, &err), 0);
	assert_true(h.is_pipe);
	text_release(&t);
}

static void test_cut(void **state)
{
	struct text t = { 0 };
	struct header h = { .entry_size = 1 };
	struct err err;

	(void)state;
	put_file_header(&t, &attr, NULL, 0);
	for (size_t n = 0; n < FILE_HEADER_BYTES; n++) {
		assert_int_equal(header_read(cur_of(t.bytes, n), "x", &h, &err), -1);
		assert_int_equal(h.entry_size, 1);
	}
	assert_int_equal(header_read(cur_of(t.bytes, FILE_HEADER_BYTES), "x", &h, &err), 0);
	text_release(&t);
}

static const struct {
	const char *bytes;
	size_t size;
	enum err_code code;
	const char *says;
} refused[] = {
	{ "", 0, ERR_FORMAT, "empty" },
	{ "2ELIFREP\0\0\0\0", 12, ERR_UNSUPPORTED, "big-endian" },
	{ "PERFFILE\0\0\0\0", 12, ERR_FORMAT, "cut off" },
	{ "PERFILE2\x48\0\0\0\0\0\0\0", 16, ERR_FORMAT, "header of 72 bytes" },
	{ "ELIFFREP\0\0\0\0", 12, ERR_UNSUPPORTED, "big-endian" },
	{ "\177ELF\2\1\1", 7, ERR_FORMAT, "ELF program" },
	{ "\x1f\x8b\x08", 3, ERR_FORMAT, "gzip -d" },
	{ "\x04\x22\x4d\x18", 4, ERR_FORMAT, "lz4 -d" },
	{ "QPERFSTREAM\0", 12, ERR_FORMAT, "hotspot" },
	{ "\xb0\xe0\x43\x21\xbf\xfd\x7f\0\x80\x48\0\1", 12, ERR_FORMAT, "--raw" },
	{ "\xfd\x37zXZ", 5, ERR_FORMAT, "xz" },
	{ "# captured on: Mon", 18, ERR_FORMAT, "text made by perf" },
	{ "main 77", 7, ERR_FORMAT, "begins with \"main 77\"" },
	{ "\n\"\\~\x01", 5, ERR_FORMAT, "begins with \"\\x0a\\x22\\x5c~\\x01\"" },
	{ "PERFILE2", 8, ERR_FORMAT, "cut off" },
	{ "PERFILE2\x11\0\0\0\0\0\0\0", 16, ERR_FORMAT, "header of 17 bytes" },
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct cursor c = cur_of(refused[i].bytes, refused[i].size);
		struct header h;
		struct err err = { 0 };

		assert_int_equal(header_read(c, "some.file", &h, &err), -1);
		assert_int_equal(err.code, refused[i].code);
		assert_ptr_equal(strstr(err.text, "some.file: "), err.text);
		if (strstr(err.text, refused[i].says) == NULL)
			fail_msg("'%s' does not say '%s'", err.text, refused[i].says);
	}
}

static void test_small_entries(void **state)
{
	struct text t = { 0 };
	struct header h;
	struct err err;

	(void)state;
	put_file_header(&t, &attr, NULL, 0);
	for (uint64_t size = 0; size < ATTR_SIZE_MIN + 16; size++) {
		patch_u64(&t, 16, size);
		assert_int_equal(header_read(cur_of(t.bytes, t.n), "x", &h, &err), -1);
		assert_int_equal(err.at, 16);
	}
	text_release(&t);
}

static void test_clamp(void **state)
{
	static const struct {
		struct extent in, out;
	} cases[] = {
		{ { 0, 0 }, { 0, 0 } },
		{ { 10, 90 }, { 10, 90 } },
		{ { 10, 91 }, { 10, 90 } },
		{ { 10, UINT64_MAX }, { 10, 90 } },
		{ { 100, 1 }, { 100, 0 } },
		{ { 101, 1 }, { 100, 0 } },
		{ { UINT64_MAX, UINT64_MAX }, { 100, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct extent out = extent_clamp(cases[i].in, 100);

		assert_int_equal(out.offset, cases[i].out.offset);
		assert_int_equal(out.size, cases[i].out.size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),	cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_stream),	cmocka_unit_test(test_cut),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_small_entries),
		cmocka_unit_test(test_clamp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
