/* SPDX-License-Identifier: Apache-2.0 */
/* Catalog files as users write them: what they add and change, and what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cpu/cpu.h"
#include "cpu/errata.h"
#include "cpu/internal.h"

/* Opens the catalog with `text` on top of it, through a file as --catalog does. */
static int open_with(const char *text, size_t size, struct catalog **out, struct err *err)
{
	char path[] = "/tmp/cyclops-catalog-XXXXXX";
	int fd = mkstemp(path);
	int rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
	rc = catalog_open(path, out, err);
	unlink(path);
	return rc;
}

static struct catalog *must_open_with(const char *text)
{
	struct catalog *catalog = NULL;
	struct err err = { 0 };

	if (open_with(text, strlen(text), &catalog, &err) < 0)
		fail_msg("%s", err.text);
	return catalog;
}

static const char whole[] =
	"{ \"schema\": 1,\n"
	"  \"sources\": [ { \"id\": \"mine\", \"values\": [\n"
	"    { \"value\": \"7\", \"name\": \"NEAR\", \"level\": \"L2\", \"spe_parser\": null },\n"
	"    { \"value\": \"0x1f\", \"name\": \"FAR\", \"level\": \"dram\", \"spe_parser\": "
	"\"DRAM\" }\n"
	"  ] } ],\n"
	"  \"cpus\": [ { \"id\": \"my-cpu\", \"name\": \"My CPU\", \"aliases\": [\"M1\"],\n"
	"    \"match\": [ { \"implementer\": \"0x41\", \"part\": \"0xd0c\" },\n"
	"                 { \"vendor\": \"x86\", \"family\": \"0x6\" } ],\n"
	"    \"own_cache_lines\": 77, \"load_to_use_cycles\": 5, \"errata\": [ { \"id\": \"5\", "
	"\"affects\": "
	"\"spe-bias\", \"what\": \"loads\", \"fixed_in\": null } ],\n"
	"    \"cache_line\": 128, \"events\": [ { \"name\": \"ignored here\" } ],\n"
	"    \"spe\": { \"ernd\": 1, \"data_source\": \"mine\", \"events\": [ { \"bit\": 63, "
	"\"name\": \"ODD\" "
	"} ] } } ],\n"
	"  \"names\": [ { \"implementer\": \"0x99\", \"part\": \"0x1\", \"name\": \"Nine\" } ],\n"
	"  \"implementers\": [ { \"implementer\": \"0x99\", \"name\": \"Ninety\" } ],\n"
	"  \"makers\": [ { \"arch\": \"x86\", \"cpuid\": \"Genuine\", \"weight\": \"stones\",\n"
	"    \"latency_events\": [ { \"code\": \"0x82d0\" } ] } ],\n"
	"  \"thresholds\": { \"ipc\": 1 } }\n";

static void adds_everything(void **state)
{
	struct catalog *c = must_open_with(whole);
	const struct cpu *cpu = catalog_cpu_find(c, "m1");
	char text[32];

	(void)state;
	assert_non_null(cpu);
	assert_string_equal(cpu_name(cpu), "My CPU");
	assert_int_equal(cpu_cache_line(cpu), 128);
	assert_int_equal(cpu_spe_ernd(cpu), 1);
	assert_string_equal(cpu_spe_event(cpu, 63), "ODD");
	assert_string_equal(cpu_source(cpu, 7)->name, "NEAR");
	assert_null(cpu_source(cpu, 7)->spe_parser_name);
	assert_int_equal(cpu_source(cpu, 0x1f)->level, SOURCE_DRAM);
	assert_null(cpu_source(cpu, 0));
	assert_int_equal(catalog_own_cache_lines(c, cpu), 77);
	assert_int_equal(cpu_load_to_use(cpu), 5);
	assert_int_equal(cpu_load_to_use(catalog_cpu_find(c, "arm1176")), 3);
	assert_int_equal(cpu_load_to_use(catalog_cpu_find(c, CPU_ANY)), 0);
	assert_int_equal(catalog_own_cache_lines(c, NULL), 8192);
	assert_string_equal(cpu_erratum_find(cpu, 0x41ffd0cf, ERRATUM_SPE_BIAS)->what, "loads");
	assert_string_equal(catalog_maker_find(c, "x86_64", "GenuineIntel")->weight, "stones");
	assert_true(cpu_maker_samples_latency(catalog_maker_find(c, "x86", "Genuine"), 0x82d0));
	/* The last one that matches counts; the embedded ones are still there. */
	assert_ptr_equal(catalog_cpu_of_midr(c, 0x413fd0c1), cpu);
	assert_non_null(catalog_cpu_find(c, "neoverse-n1"));
	midr_describe(c, 0x990f0010, text, sizeof(text));
	assert_string_equal(text, "Nine");
	midr_describe(c, 0x990f0020, text, sizeof(text));
	assert_string_equal(text, "Ninety 0x002");
	catalog_free(c);
}

static void changes_what_is_given(void **state)
{
	struct catalog *embedded = must_open_with("{\"schema\": 1}");
	struct catalog *c = must_open_with("{\"schema\": 1, \"id\": \"neoverse-n3\","
					   " \"spe\": {\"data_source\": \"common\"}}");
	const struct cpu *n3 = catalog_cpu_of_midr(c, 0x410fd8e0);

	(void)state;
	assert_string_equal(cpu_name(n3), "Neoverse N3");
	assert_int_equal(cpu_cache_line(n3), 64);
	assert_string_equal(cpu_source(n3, 0xe)->name, "DRAM");
	assert_int_equal(catalog_n_cpus(c), catalog_n_cpus(embedded));
	assert_ptr_equal(catalog_cpu_at(c, catalog_n_cpus(c) - 1), n3);
	assert_null(cpu_source(catalog_cpu_find(embedded, "neoverse-n3"), 0xe));
	catalog_free(c);
	catalog_free(embedded);
}

#define ERRATUM_FIXED_IN(revision)                                                                 \
	"{\"schema\": 1, \"id\": \"neoverse-n1\", \"errata\": [{\"id\": \"1\", "                   \
	"\"affects\": \"spe-bias\", \"what\": \"w\", \"fixed_in\": " revision "}]}"

static void says_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *message; /* a part of the message */
	} cases[] = {
		{ "", "line 1, column 0: " },
		{ "{\"schema\": 1,\n  oops}", "line 2, column " },
		{ "{\"schema\": 1, \"schema\": 1}", "line 1, column 22: duplicate object key" },
		{ "{}", "schema: missing, wanted 1" },
		{ "[]", "contents: found [], wanted an object in braces" },
		{ "{\"schema\": 2}", "schema: found 2, wanted 1" },
		{ "{\"schema\": 1, \"cpus\": {}}", "cpus: found {}, wanted a list" },
		{ "{\"schema\": 1, \"cpus\": [1]}", "cpus[0]: id: missing, wanted a text" },
		{ "{\"schema\": 1, \"id\": \"new\"}",
		  "cpu 'new': name: missing, and the catalog has no CPU of that id" },
		{ "{\"schema\": 1, \"id\": 5}", "id: found 5, wanted a text" },
		{ "{\"schema\": 1, \"id\": \"\"}", "id: found \"\", wanted a text" },
		{ "{\"schema\": 1, \"id\": \"x\", \"name\": \"\"}", "cpu 'x': name: found \"\"" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"aliases\": [1]}",
		  "cpu 'neoverse-n1': aliases: found 1, wanted texts" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"match\": [{\"implementer\": "
		  "\"65\"}]}",
		  "cpu 'neoverse-n1': match[0]: part: missing, wanted a number as text" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"match\": [{\"implementer\": "
		  "\"0x100\"}]}",
		  "implementer: found \"0x100\", wanted a number up to 0xff" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"match\": [{\"implementer\": "
		  "\"0x4g\"}]}",
		  "implementer: found \"0x4g\"" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"match\": [{\"implementer\": "
		  "\"-1\"}]}",
		  "implementer: found \"-1\"" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"cache_line\": 48}",
		  "cache_line: found 48, wanted bytes, a power of two, or null" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"cache_line\": \"64\"}",
		  "cache_line: found \"64\"" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"spe\": 1}",
		  "spe: found 1, wanted an object" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"spe\": {\"ernd\": 2}}",
		  "spe: ernd: found 2, wanted 0, 1 or null" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"spe\": {\"data_source\": \"comon\"}}",
		  "spe: data_source: found \"comon\", wanted the id of an encoding" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"spe\": {\"events\": [{\"bit\": "
		  "64}]}}",
		  "spe: bit: found 64, wanted a number from 0 to 63" },
		{ "{\"schema\": 1, \"sources\": [{\"id\": \"s\", \"values\": [{\"value\": "
		  "\"65536\"}]}]}",
		  "sources[0]: s: values[0]: value: found \"65536\", wanted a number up to "
		  "0xffff" },
		{ "{\"schema\": 1, \"sources\": [{\"id\": \"s\", \"values\": [{\"value\": \"1\", "
		  "\"name\": \"n\", \"level\": \"L9\"}]}]}",
		  "level: found \"L9\", wanted a level such as" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"spe\": {\"events\": {\"bit\": 1}}}",
		  "spe: events: found {\"bit\":1}, wanted a list" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"spe\": {\"events\": [{\"bit\": "
		  "1, \"name\": \"\"}]}}",
		  "spe: events[0]: name: found \"\", wanted a text" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"own_cache_lines\": 0}",
		  "cpu 'neoverse-n1': own_cache_lines: found 0, wanted a number of lines, or "
		  "null" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"own_cache_lines\": 1e3}",
		  "own_cache_lines: found 1000.0" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"own_cache_lines\": 99999999}",
		  "own_cache_lines: found 99999999" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"errata\": {}}",
		  "cpu 'neoverse-n1': errata: found {}, wanted a list" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"errata\": [7]}",
		  "cpu 'neoverse-n1': errata[0]: id: missing, wanted a text" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"errata\": [{\"id\": \"1\", "
		  "\"affects\": \"all\"}]}",
		  "errata[0]: affects: found \"all\", wanted \"spe-bias\"" },
		{ "{\"schema\": 1, \"id\": \"neoverse-n1\", \"errata\": [{\"id\": \"1\", "
		  "\"affects\": \"spe-bias\"}]}",
		  "errata[0]: what: missing, wanted a text" },
		{ ERRATUM_FIXED_IN("4"),
		  "errata[0]: fixed_in: found 4, wanted a revision such as" },
		{ ERRATUM_FIXED_IN("\"\""), "fixed_in: found \"\"" },
		{ ERRATUM_FIXED_IN("\"r16p0\""), "fixed_in: found \"r16p0\"" },
		{ ERRATUM_FIXED_IN("\"r1p2x\""), "fixed_in: found \"r1p2x\"" },
		{ ERRATUM_FIXED_IN("\"r1p\""), "fixed_in: found \"r1p\"" },
		{ ERRATUM_FIXED_IN("\"r-1p1\""), "fixed_in: found \"r-1p1\"" },
		{ "{\"schema\": 1, \"thresholds\": [1]}",
		  "thresholds: found [1], wanted an object of names and values" },
		{ "{\"schema\": 1, \"thresholds\": {\"ipc\": \"1\"}}",
		  "thresholds: ipc: found \"1\", wanted a number, or {\"value\": a number}" },
		{ "{\"schema\": 1, \"thresholds\": {\"ipc\": {\"value\": true}}}",
		  "thresholds: ipc: found {\"value\":true}" },
		{ "{\"schema\": 1, \"makers\": 1}", "makers: found 1, wanted a list" },
		{ "{\"schema\": 1, \"makers\": [{\"weight\": \"w\"}]}",
		  "makers[0]: arch: missing, wanted a text" },
		{ "{\"schema\": 1, \"makers\": [{\"arch\": \"x86\"}]}",
		  "makers[0]: weight: missing, wanted a text" },
		{ "{\"schema\": 1, \"makers\": [{\"cpuid\": 1, \"weight\": \"w\"}]}",
		  "makers[0]: cpuid: found 1, wanted a text" },
		{ "{\"schema\": 1, \"makers\": [{\"arch\": \"x86\", \"weight\": \"w\", "
		  "\"latency_events\": [{\"code\": \"0x10000\"}]}]}",
		  "makers[0]: latency_events[0]: code: found \"0x10000\", wanted a number up to "
		  "0xffff" },
		{ "{\"schema\": 1, \"names\": [{\"implementer\": \"1\", \"part\": \"0x1000\"}]}",
		  "names[0]: part: found \"0x1000\"" },
		{ "{\"schema\": 1, \"implementers\": [{\"implementer\": \"1\"}]}",
		  "implementers[0]: name: missing" },
		{ "{\"schema\": 1, \"implementers\": [{\"implementer\": \"1\", \"name\": \"a\", "
		  "\"pmu_arch\": 3}]}",
		  "implementers[0]: pmu_arch: found 3, wanted a text" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct catalog *c = NULL;
		struct err err = { 0 };

		assert_int_equal(open_with(cases[i].text, strlen(cases[i].text), &c, &err), -1);
		assert_null(c);
		assert_int_equal(err.code, ERR_FORMAT);
		assert_memory_equal(err.text, "catalog /tmp/cyclops-catalog-", 29);
		if (strstr(err.text, cases[i].message) == NULL)
			fail_msg("case %zu: '%s' has no '%s'", i, err.text, cases[i].message);
	}
}

static void fails_on_a_missing_file(void **state)
{
	struct catalog *c = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(catalog_open("/nonexistent/catalog.json", &c, &err), -1);
	assert_null(c);
	assert_int_equal(err.code, ERR_IO);
	assert_non_null(strstr(err.text, "/nonexistent/catalog.json"));
}

/* A list with one entry more than is taken. */
static void put_long_list(struct text *out, const char *around, const char *before,
			  const char *after)
{
	text_char(out, around[0]);
	for (int i = 0; i <= CATALOG_LIST_MOST; i++)
		text_format(out, "%s%s%d%s", i > 0 ? "," : "", before, i, after);
	text_char(out, around[1]);
}

static void refuses_lists_without_end(void **state)
{
	static const struct {
		const char *key, *around, *before, *after;
	} cases[] = {
		{ "cpus", "[]", "{\"name\":\"x\",\"id\":\"", "\"}" },
		{ "sources", "[]", "{\"values\":[],\"id\":\"", "\"}" },
		{ "thresholds", "{}", "\"t", "\":1" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct catalog *c = NULL;
		struct text text = { 0 };
		struct err err = { 0 };
		char said[80];

		text_format(&text, "{\"schema\":1,\"%s\":", cases[i].key);
		put_long_list(&text, cases[i].around, cases[i].before, cases[i].after);
		text_char(&text, '}');
		assert_int_equal(open_with(text.bytes, text.n, &c, &err), -1);
		snprintf(said, sizeof(said), "%s: found 4097 entries, wanted at most 4096",
			 cases[i].key);
		if (strstr(err.text, said) == NULL)
			fail_msg("'%s' has no '%s'", err.text, said);
		text_release(&text);
	}
}

/* Cut anywhere, it is not JSON any more, and nothing else happens. */
static void refuses_each_cut(void **state)
{
	(void)state;
	for (size_t size = 0; size < strlen(whole) - 1; size++) {
		struct catalog *c = mem_zalloc(1, sizeof(*c));
		char *text = mem_strndup(whole, size);
		struct err err = { 0 };

		assert_int_equal(catalog_read(c, text, size, "cut", &err), -1);
		assert_memory_equal(err.text, "catalog cut: line ", 18);
		free(text);
		catalog_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_everything),    cmocka_unit_test(changes_what_is_given),
		cmocka_unit_test(says_what_is_wrong), cmocka_unit_test(fails_on_a_missing_file),
		cmocka_unit_test(refuses_each_cut),   cmocka_unit_test(refuses_lists_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
