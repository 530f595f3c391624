/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a dataset, days, and what was merged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "collect/dataset.h"

static struct identity part_of(const char *host)
{
	return (struct identity){
		.capture = "00112233445566778899aabbccddeeff",
		.host = host,
		.day = "2026-11-26",
	};
}

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

/* No name of a host leads to another folder, or has none. */
static void hosts_are_names_of_folders(void **state)
{
	static const struct {
		const char *host, *folder;
	} cases[] = {
		{ "web-1.example.org", "web-1.example.org" },
		{ "../../etc/passwd", ".._.._etc_passwd" },
		{ "a b'c\"d*?[x]", "a_b_c_d___x_" },
		{ "host=x/day=y", "host_x_day_y" },
		{ "\xc3\xa4\n\x01", "____" },
		{ "", "" },
		{ HUNDRED HUNDRED TEN, HUNDRED HUNDRED },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct identity who = part_of(cases[i].host);
		char *path = dataset_path("root", "samples", &who);
		char wanted[512];

		snprintf(wanted, sizeof(wanted),
			 "root/samples/day=2026-11-26/host=%s/part-%s.parquet", cases[i].folder,
			 who.capture);
		assert_string_equal(path, wanted);
		free(path);
	}
}

static void days_are_days_of_the_calendar(void **state)
{
	static const struct {
		const char *text;
		int64_t s; /* -1: none */
	} cases[] = {
		{ "1970-01-01", 0 },
		{ "2026-11-26", 1795651200 },
		{ "2262-04-11", 9223286400 },
		{ "2262-04-12", -1 }, /* beyond 63 bits of nanoseconds */
		{ "9999-12-31", -1 },
		{ "2024-02-29", 1709164800 },
		{ "2026-02-29", -1 },
		{ "2026-13-01", -1 },
		{ "1969-12-31", -1 },
		{ "2026-1-1", -1 },
		{ "2026-11-26 ", -1 },
		{ "", -1 },
		{ "today", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t ns = -1;

		assert_int_equal(day_read(cases[i].text, &ns), cases[i].s >= 0);
		if (cases[i].s >= 0)
			assert_true(ns == cases[i].s * 1000000000);
	}
}

static void put_file(const char *root, const char *name, const char *words)
{
	struct text path = { 0 };
	FILE *file;

	text_format(&path, "%s/%s%c", root, name, 0);
	for (char *at = strchr(path.bytes + strlen(root) + 1, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path.bytes, 0700);
		*at = '/';
	}
	file = fopen(path.bytes, "w");
	assert_non_null(file);
	fputs(words, file);
	fclose(file);
	text_release(&path);
}

/* A part is there as a file of its own, or in a list of those that were merged. */
static void merged_parts_are_there(void **state)
{
	char root[] = "/tmp/cyclops-dataset-XXXXXX", command[64];
	const struct identity here = part_of("a"), merged = part_of("b"), other = part_of("c");

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_false(dataset_has(root, &here));
	put_file(root,
		 "captures/day=2026-11-26/host=a/part-00112233445566778899aabbccddeeff.parquet",
		 "");
	put_file(root, "merged/day=2026-11-26/1.list", "");
	put_file(root, "merged/day=2026-11-26/2.done",
		 "12 host=x/part-1.parquet\n"
		 "345 host=b/part-00112233445566778899aabbccddeeff.parquet\n"
		 "6 host=bc/part-00112233445566778899aabbccddeeff.parquet");
	assert_true(dataset_has(root, &here));
	assert_true(dataset_has(root, &merged));
	assert_false(dataset_has(root, &other));
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_names_of_folders),
		cmocka_unit_test(days_are_days_of_the_calendar),
		cmocka_unit_test(merged_parts_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
