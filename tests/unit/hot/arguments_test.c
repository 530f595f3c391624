/* SPDX-License-Identifier: Apache-2.0 */
/* What functions are called with, from captures with known registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "../session/fixture.h"
#include "hot/arguments/arguments.h"
#include "hot/arguments/inside.h"
#include "table/format.h"

enum { ABI_NONE, ABI_32, ABI_64, MANY = 300, N_REGISTERS = 3 };

#define HEAD                                                                                       \
	"function,argument,type,samples,min,max,mean,mean_trust,rms,rms_trust,module,register,"    \
	"entry,file,line,min_address,max_address\n"

/* A sample of the clock with x0, x1 and x2. */
static struct sample with_registers(uint64_t ip, const uint64_t values[N_REGISTERS])
{
	struct sample s = sample_of(EVENT_CLOCK, ip, ALPHA, 1, NULL, 0);

	s.intr_regs_abi = ABI_64;
	s.intr_regs = (struct sample_words){ (const uint8_t *)values, N_REGISTERS };
	return s;
}

static char *csv_of(struct session *s, const struct argument_request *request)
{
	const struct document document = { .command = "hot", .version = "0" };
	struct argument_tables tables = { 0 };
	struct text text = { 0 };
	struct err err = { .text = "" };

	if (argument_tables_make(s, NULL, request, &tables, &err) < 0)
		fail_msg("%s", err.text);
	format_document(&format_csv, &document, &tables.shown, &text);
	text_char(&text, '\0');
	argument_tables_release(&tables);
	return text.bytes;
}

static void expect(const struct sample *samples, size_t n, const struct argument_request *request,
		   const char *expected)
{
	for (unsigned n_workers = 1; n_workers <= 4; n_workers += 3) {
		struct session s;
		char *csv;

		open_fixture(&(struct contents){ .samples = samples, .n_samples = n }, n_workers,
			     &s);
		csv = csv_of(&s, request);
		assert_string_equal(csv, expected);
		free(csv);
		close_fixture(&s);
	}
}

static const struct argument_request all_events = { .event = -1 };

/* Nobody knows the parameters of code made at run time: its registers are shown. */
static void test_registers(void **state)
{
	static const uint64_t values[][N_REGISTERS] = {
		{ 1, (uint64_t)-7, 0 },
		{ 3, 7, (uint64_t)1 << 63 },
	};
	const struct sample samples[] = {
		with_registers(FIRST, values[0]), with_registers(FIRST, values[1]),
		with_registers(FIRST + 4, values[1]), /* too late */
	};

	(void)state;
	expect(samples, COUNT(samples), &all_events,
	       HEAD
	       "first,x0,,2,1,3,2,sparse,2.23606797749979,sparse,perf-100.map,x0,0x700000,,,,\n"
	       "first,x1,,2,-7,7,0,sparse,7,sparse,perf-100.map,x1,0x700000,,,,\n"
	       "first,x2,,2,-9223372036854775808,0,-4.611686018427388e+18,sparse,"
	       "6.521908912666392e+18,sparse,perf-100.map,x2,0x700000,,,,\n");
}

/* Functions of the C library are known; those seen most come first; what is shown has a limit. */
static void test_known(void **state)
{
	static const uint64_t one[N_REGISTERS] = { 5, 6, 7 };
	uint64_t(*values)[N_REGISTERS] = mem_alloc(MANY, sizeof(*values));
	struct sample *samples = mem_alloc(MANY + 1, sizeof(*samples));

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		values[i][0] = 0x1000 + i;
		values[i][1] = 0x2000 - i;
		values[i][2] = i % 2 == 0 ? 64 : 0;
		samples[i] = with_registers(MEMCPY, values[i]);
	}
	samples[MANY] = with_registers(SECOND, one);
	expect(samples, MANY + 1,
	       &(struct argument_request){ .event = -1, .top = 1, .with_histogram = true },
	       HEAD
	       "__memcpy_generic,dest,void *,300,,,,,,,perf-100.map,x0,0x700200,,,0x1000,0x112b\n"
	       "__memcpy_generic,src,void *,300,,,,,,,perf-100.map,x1,0x700200,,,0x1ed5,0x2000\n"
	       "__memcpy_generic,n,size_t,300,0,64,32,exact,45.254833995939045,exact,perf-100.map,"
	       "x2,0x700200,,,,\n"
	       "function,argument,from,to,share,samples,module\n"
	       "__memcpy_generic,n,0,1,0.5,150,perf-100.map\n"
	       "__memcpy_generic,n,64,128,0.5,150,perf-100.map\n");
	free(samples);
	free(values);
}

/* Registers of user code count if that is where the sample is; those of 32-bit code never. */
static void test_which(void **state)
{
	static const uint64_t values[N_REGISTERS] = { 11, 12, 13 };
	struct sample samples[] = {
		with_registers(FIRST, values),
		with_registers(FIRST, values),
		sample_of(EVENT_CLOCK, FIRST, ALPHA, 1, NULL, 0),
		sample_of(EVENT_CYCLES, FIRST, ALPHA, 1, NULL, 0),
	};
	static const char *const lines[] = {
		"first,x0,,1,11,11,11,sparse,11,sparse,perf-100.map,x0,0x700000,,,,\n",
		"first,x1,,1,12,12,12,sparse,12,sparse,perf-100.map,x1,0x700000,,,,\n",
		"first,x2,,1,13,13,13,sparse,13,sparse,perf-100.map,x2,0x700000,,,,\n",
	};
	struct text expected = { 0 };

	(void)state;
	samples[1].intr_regs_abi = ABI_32;
	text_str(&expected, HEAD);
	for (size_t i = 0; i < COUNT(lines); i++)
		text_str(&expected, lines[i]);
	text_char(&expected, '\0');
	expect(samples, COUNT(samples), &all_events, expected.bytes);
	expect(samples, COUNT(samples), &(struct argument_request){ .event = EVENT_CYCLES }, HEAD);
	text_release(&expected);
}

static void test_values(void **state)
{
	static const struct {
		enum parameter_kind kind;
		uint8_t size;
		uint64_t bits, value;
	} cases[] = {
		{ PARAMETER_SIGNED, 1, 0x1ff, UINT64_MAX },
		{ PARAMETER_SIGNED, 1, 0x17f, 0x7f },
		{ PARAMETER_UNSIGNED, 1, 0x1ff, 0xff },
		{ PARAMETER_SIGNED, 2, 0xdead8000, (uint64_t)INT16_MIN },
		{ PARAMETER_SIGNED, 4, 0xdead80000000, (uint64_t)INT32_MIN },
		{ PARAMETER_UNSIGNED, 4, 0xdead80000000, 0x80000000 },
		{ PARAMETER_SIGNED, 8, UINT64_MAX, UINT64_MAX },
		{ PARAMETER_POINTER, 8, 0xffff800000000000, 0xffff800000000000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct argument a = { .kind = cases[i].kind, .size = cases[i].size };

		assert_int_equal(argument_value(&a, cases[i].bits), cases[i].value);
	}
}

static void test_names(void **state)
{
	static const struct {
		const char *function;
		const char *first; /* NULL: not known */
	} cases[] = {
		{ "memcpy", "dest" },
		{ "memcpy@plt", "dest" },
		{ "__memmove_avx_unaligned_erms", "dest" },
		{ "__GI___memcpy_simd", "dest" },
		{ "__libc_malloc", "size" },
		{ "memcpy_fast", NULL }, /* of the program */
		{ "read_input", NULL },
		{ "memcpyx", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t n;
		const struct argument *a = arguments_known(cases[i].function, &n);

		if (cases[i].first == NULL)
			assert_null(a);
		else
			assert_string_equal(a->name, cases[i].first);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers), cmocka_unit_test(test_known),
		cmocka_unit_test(test_which),	  cmocka_unit_test(test_values),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
