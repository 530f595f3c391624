/* SPDX-License-Identifier: Apache-2.0 */
/* The file: what is packed is read back, and nothing of the data is markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/alloc.h"
#include "html/html.h"

static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	assert_true(c != '\0' && at != NULL);
	return (int)(at - digits);
}

/* The bytes behind base64, to be freed. */
static unsigned char *from_base64(const char *text, size_t n, size_t *out_n)
{
	unsigned char *bytes = mem_alloc(n, 1);

	assert_int_equal(n % 4, 0);
	*out_n = 0;
	for (size_t i = 0; i < n; i += 4) {
		unsigned word = 0;
		int pads = 0;

		for (size_t k = 0; k < 4; k++) {
			pads += text[i + k] == '=';
			word = word << 6 | (text[i + k] == '=' ? 0 : (unsigned)digit(text[i + k]));
		}
		for (int k = 0; k < 3 - pads; k++)
			bytes[(*out_n)++] = (unsigned char)(word >> (16 - 8 * k));
	}
	return bytes;
}

/* What was packed, to be freed. */
static char *unpack(const char *text, size_t n, size_t *out_n)
{
	enum { ROOM = 1 << 22, GZIP = 15 + 16 };
	size_t n_packed;
	unsigned char *packed = from_base64(text, n, &n_packed);
	char *bytes = mem_alloc(ROOM, 1);
	z_stream z = { .next_in = packed,
		       .avail_in = (uInt)n_packed,
		       .next_out = (Bytef *)bytes,
		       .avail_out = ROOM };

	assert_int_equal(inflateInit2(&z, GZIP), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	*out_n = ROOM - z.avail_out;
	inflateEnd(&z);
	free(packed);
	return bytes;
}

static void packing(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 4, 1000, 65536, 3000001 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		char *bytes = mem_alloc(sizes[i] + 1, 1), *back;
		struct text packed = { 0 };
		uint32_t seed = 1;
		size_t n;

		for (size_t k = 0; k < sizes[i]; k++) /* half of it does not compress */
			bytes[k] =
				(char)(k & 4096 ? 'x' : (seed = seed * 1664525 + 1013904223) >> 24);
		html_put_compressed(&packed, bytes, sizes[i]);
		back = unpack(packed.bytes, packed.n, &n);
		assert_int_equal(n, sizes[i]);
		assert_memory_equal(back, bytes, n);
		free(back);
		free(bytes);
		text_release(&packed);
	}
}

static const struct column columns[] = { { "name", NULL, "", CELL_TEXT, 0, "name" } };

static const struct html_about about = {
	.command = "report",
	.version = "1",
	.subject = "</script>.data",
	.is_modelled = true,
};

static void add_tables(struct html *h, const char *page, const char *label, const char *name)
{
	struct tables tables = { 0 };
	struct table t;

	table_init(&t, "t", NULL, columns, 1);
	table_add_row(&t)[0] = cell_text(name);
	*vec_add(&tables.list) = &t;
	html_add(h, page, label, &tables);
	vec_release(&tables.list);
	table_release(&t);
}

/* The data of an element; to be freed. */
static char *element(const char *file, const char *id, size_t *out_n)
{
	char start[64];
	const char *at;

	snprintf(start, sizeof(start), "id=\"%s\">", id);
	at = strstr(file, start);
	assert_non_null(at);
	at += strlen(start);
	return unpack(at, strcspn(at, "<"), out_n);
}

static void blocks_in_a_file(void **state)
{
	static const char viewer[] = "<head>\n<!-- blocks of data -->\n<tail>\n";
	struct html h = { 0 };
	struct text file = { 0 };
	struct err err;
	char *data;
	size_t n;

	(void)state;
	add_tables(&h, "functions", NULL, "</script><script>alert(1)</script>");
	add_tables(&h, "function", "chase@\"demo\"", "x");
	assert_int_equal(html_write(&h, viewer, &about, &file, &err), 0);
	text_char(&file, '\0');
	assert_memory_equal(file.bytes, "<head>\n", 7);
	assert_non_null(strstr(file.bytes, "\n<tail>\n"));
	assert_null(strstr(file.bytes, "alert"));
	data = element(file.bytes, "about", &n);
	data[n] = '\0';
	assert_string_equal(
		data, "{\"command\":\"report\",\"version\":\"1\",\"subject\":\"</script>.data\","
		      "\"modelled\":true,\"blocks\":[{\"page\":\"functions\"},"
		      "{\"page\":\"function\",\"label\":\"chase@\\\"demo\\\"\"}]}");
	free(data);
	data = element(file.bytes, "block-0", &n);
	data[n] = '\0';
	assert_non_null(strstr(data, "alert(1)"));
	free(data);
	text_release(&file);
	html_release(&h);
}

static void no_place_for_data(void **state)
{
	struct html h = { 0 };
	struct text file = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(html_write(&h, "<head>", &about, &file, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	text_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packing),
		cmocka_unit_test(blocks_in_a_file),
		cmocka_unit_test(no_place_for_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
