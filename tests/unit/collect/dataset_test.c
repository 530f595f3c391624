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

/* The folder of a host: "samples/day=2026-11-26/host=HERE/part-00112233445566778899aabbccddeeff.parquet". */
static char *folder_of(const char *host)
{
	static const char front[] = "root/samples/day=2026-11-26/host=";
	const struct identity who = part_of(host);
	char *path = dataset_path("root", "samples", &who), *folder, *end;

	assert_memory_equal(path, front, strlen(front));
	folder = mem_strndup(path + strlen(front), strlen(path + strlen(front)));
	end = strchr(folder, '/');
	assert_non_null(end);
	assert_string_equal(end, "/part-00112233445566778899aabbccddeeff.parquet");
	*end = '\0';
	free(path);
	return folder;
}

/* No name of a host leads to another folder, or has none. */
static void hosts_are_names_of_folders(void **state)
{
	static const struct {
		const char *host, *folder;
		bool has_hash; /* behind it, as another host could look the same */
	} cases[] = {
		{ "web-1.example.org", "web-1.example.org", false },
		{ "a_b", "a_b", false },
		{ "", "", false },
		{ HUNDRED HUNDRED, HUNDRED HUNDRED, false },
		{ "../../etc/passwd", "_.__._etc_passwd", true },
		{ "a..b", "a_.b", true },
		{ "a b'c\"d*?[x]", "a_b_c_d___x_", true },
		{ "host=x/day=y", "host_x_day_y", true },
		{ "\xc3\xa4\n\x01", "____", true },
		{ HUNDRED HUNDRED TEN, HUNDRED HUNDRED, true },
		{ "_merged", "_merged", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *folder = folder_of(cases[i].host);
		size_t n = strlen(cases[i].folder);

		assert_memory_equal(folder, cases[i].folder, n);
		assert_int_equal(strlen(folder), cases[i].has_hash ? n + strlen("-01234567") : n);
		assert_int_equal(folder[n], cases[i].has_hash ? '-' : '\0');
		assert_null(strstr(folder, ".."));
		free(folder);
	}
}

/* Two hosts never share a folder: the same capture may be of either. */
static void hosts_have_folders_of_their_own(void **state)
{
	static const char *const hosts[] = {
		"a/b",
		"a?b",
		"a_b",
		"a..b",
		"a_.b",
		HUNDRED HUNDRED TEN "1",
		HUNDRED HUNDRED TEN "2",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(hosts); i++) {
		char *one = folder_of(hosts[i]);

		for (size_t j = 0; j < i; j++) {
			char *other = folder_of(hosts[j]);

			assert_string_not_equal(one, other);
			free(other);
		}
		free(one);
	}
}

/* The names are in datasets: they stay what they are. */
static void a_hash_in_a_name_stays(void **state)
{
	char *folder = folder_of("a/b");

	(void)state;
	assert_string_equal(folder, "a_b-fa43b65a");
	free(folder);
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
		cmocka_unit_test(hosts_have_folders_of_their_own),
		cmocka_unit_test(a_hash_in_a_name_stays),
		cmocka_unit_test(days_are_days_of_the_calendar),
		cmocka_unit_test(merged_parts_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
