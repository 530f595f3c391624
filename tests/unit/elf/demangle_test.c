/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

static const struct name {
	const char *mangled, *plain, *with_parameters;
} names[] = {
	{ "main", "main", "main" },
	{ "", "", "" },
	{ "_start", "_start", "_start" },
	{ "_Z", "_Z", "_Z" },
	{ "_ZN3foo3barEi", "foo::bar", "foo::bar(int)" },
	{ "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back",
	  "std::vector<int, std::allocator<int> >::push_back(int&&)" },
	{ "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()",
	  "main::{lambda(int)#1}::operator()(int) const" },
	{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt",
	  "core::fmt::Write::write_fmt" },
	{ "_ZN42_$LT$u8$u20$as$u20$core..fmt..LowerHex$GT$3fmt17h0123456789abcdefE",
	  "<u8 as core::fmt::LowerHex>::fmt", "<u8 as core::fmt::LowerHex>::fmt" },
	{ "_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo" },
	{ "_RINvC4core3mapNtC4mine5ThingE", "core::map::<mine::Thing>",
	  "core::map::<mine::Thing>" },
	{ "_RNvC7mycrateu8gdel_5qa", "mycrate::g\303\266del", "mycrate::g\303\266del" },
	{ "memcpy@@GLIBC_2.14", "memcpy", "memcpy" },
	{ "memcpy@GLIBC_2.2.5", "memcpy@GLIBC_2.2.5", "memcpy@GLIBC_2.2.5" },
	{ "memcpy@plt", "memcpy@plt", "memcpy@plt" },
	{ "_Znwm@plt", "operator new@plt", "operator new(unsigned long)@plt" },
	{ "_ZN3foo3barEi@@V1", "foo::bar", "foo::bar(int)" },
	{ "__dl__ZN3foo3barEi", "[linker]foo::bar", "[linker]foo::bar(int)" },
	{ "__dl_memcpy", "__dl_memcpy", "__dl_memcpy" },
	{ "__dl__Zgarbage", "__dl__Zgarbage", "__dl__Zgarbage" },
	{ "__dl___dl__ZN3foo3barEi", "__dl___dl__ZN3foo3barEi", "__dl___dl__ZN3foo3barEi" },
	{ "__dl_", "__dl_", "__dl_" },
	{ "@", "@", "@" },
	{ "_ZN3foo", "_ZN3foo", "_ZN3foo" },
	{ "_Rgarbage", "_Rgarbage", "_Rgarbage" },
};

static char *readable(const char *name, enum demangle_style style)
{
	struct text text = { 0 };
	char *copy;

	demangle(name, style, &text);
	copy = mem_strndup(text.n == 0 ? "" : text.bytes, text.n);
	text_release(&text);
	return copy;
}

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		char *plain = readable(names[i].mangled, DEMANGLE_SHORT);
		char *full = readable(names[i].mangled, DEMANGLE_PARAMETERS);

		assert_string_equal(plain, names[i].plain);
		assert_string_equal(full, names[i].with_parameters);
		free(plain);
		free(full);
	}
}

static void test_appends(void **state)
{
	struct text text = { 0 };

	(void)state;
	text_str(&text, "in ");
	assert_true(demangle("_Z1fv", DEMANGLE_SHORT, &text));
	text_str(&text, ", ");
	assert_false(demangle("g", DEMANGLE_SHORT, &text));
	text_char(&text, '\0');
	assert_string_equal(text.bytes, "in f, g");
	text_release(&text);
}

static void add_number(struct text *text, unsigned n, unsigned base)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

	if (n >= base)
		add_number(text, n / base, base);
	text_char(text, digits[n % base]);
}

/* Pairs of pairs of pairs … sixty deep: 2^60 words if written out. */
static void make_cpp_bomb(struct text *out)
{
	text_str(out, "_Z1f1aIiiE");
	for (unsigned i = 0; i < 60; i++) {
		text_str(out, "S_IS");
		for (unsigned k = 0; k < 2; k++) {
			size_t before = out->n;

			add_number(out, i, 36);
			for (size_t at = before; at < out->n; at++) {
				char c = out->bytes[at];

				out->bytes[at] = c >= 'a' ? (char)(c - 'a' + 'A') : c;
			}
			text_str(out, k == 0 ? "_S" : "_E");
		}
	}
	text_char(out, '\0');
}

/* The same in Rust's mangling: tuples of tuples, by references back. */
static void make_rust_bomb(struct text *out, const char *crate)
{
	size_t start, last;

	text_format(out, "_RINv%s1fT", crate);
	start = 2;
	last = out->n - 1 - start;
	text_str(out, "llE");
	for (unsigned i = 0; i < 30; i++) {
		size_t here = out->n - start;

		text_char(out, 'T');
		for (unsigned k = 0; k < 3; k++) {
			text_char(out, 'B');
			if (last > 0)
				add_number(out, (unsigned)last - 1, 36);
			text_char(out, '_');
		}
		text_char(out, 'E');
		last = here;
	}
	text_char(out, 'E');
	text_char(out, '\0');
}

/* A name that would fill the memory stays as it is. */
static void test_bombs(void **state)
{
	struct text bombs[3] = { 0 };

	(void)state;
	make_cpp_bomb(&bombs[0]);
	make_rust_bomb(&bombs[1], "C1a");
	make_rust_bomb(&bombs[2], "Cu8gdel_5qa");
	for (size_t i = 0; i < COUNT(bombs); i++) {
		char *plain = readable(bombs[i].bytes, DEMANGLE_PARAMETERS);

		assert_string_equal(plain, bombs[i].bytes);
		free(plain);
		text_release(&bombs[i]);
	}
}

/* Long and deeply nested names neither crash nor hang. */
static void test_long_names(void **state)
{
	static const char *const units[] = {
		"P",  "K",    "FvvE", "1aI",   "N1a", "M",  "Xnt", "T",
		"B_", "DpT_", "ad",   "NvC1a", "tl",  "S_", "9",   "("
	};
	static const char *const starts[] = { "_Z1f", "_ZN", "_RINvC1a1f", "_RNv", "_Z1fIX" };
	enum { LONGEST = 100000 };

	(void)state;
	for (size_t size = 1000; size <= LONGEST; size *= 10) {
		for (size_t i = 0; i < COUNT(units) * COUNT(starts); i++) {
			struct text name = { 0 };
			char *plain;

			text_str(&name, starts[i % COUNT(starts)]);
			while (name.n < size)
				text_str(&name, units[i / COUNT(starts)]);
			text_char(&name, '\0');
			plain = readable(name.bytes, DEMANGLE_PARAMETERS);
			assert_true(strlen(plain) <= 1 << 14);
			free(plain);
			text_release(&name);
		}
	}
}

static void test_long_name_is_read(void **state)
{
	struct text name = { 0 };
	char *plain;

	(void)state;
	text_str(&name, "_Z1fI");
	for (int i = 0; i < 500; i++)
		text_str(&name, "3abc");
	text_str(&name, "Evv");
	text_char(&name, '\0');
	plain = readable(name.bytes, DEMANGLE_SHORT);
	assert_int_equal(strncmp(plain, "f<abc, abc", 10), 0);
	free(plain);
	text_release(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_long_name_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
