/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of events: written, read again, and of nobody else's use. */
#include "counting/event_checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"

static char folder[64], file[128];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/cyclops-checks-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/deep/cyclops/events.json", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char path[128];

	(void)state;
	unlink(file);
	snprintf(path, sizeof(path), "%s/deep/cyclops", folder);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/deep", folder);
	rmdir(path);
	return rmdir(folder);
}

static void use_folder(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/deep", folder);
	setenv("XDG_STATE_HOME", path, 1);
}

static void save(const char *key, const char *event, enum event_verdict verdict, double factor)
{
	struct event_checks checks = { 0 };
	struct err err;

	event_checks_add(&checks, event, verdict, factor);
	if (event_checks_save(key, &checks, &err) < 0)
		fail_msg("%s", err.text);
	event_checks_release(&checks);
}

static void is_remembered_by_machine(void **state)
{
	struct event_checks checks = { 0 };
	struct stat st;

	(void)state;
	use_folder();
	event_checks_load("one", &checks);
	assert_int_equal(checks.list.n, 0);
	save("one", "STALL_FRONTEND", EVENT_READS_0, 1);
	save("two", "STALL_FRONTEND", EVENT_OK, 1);
	save("one", "CPU_CYCLES", EVENT_IS_OFF, 1. / 64);
	save("one", "BR_PRED", EVENT_FIRES_ELSEWHERE, 1);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	event_checks_load("one", &checks);
	assert_int_equal(checks.list.n, 3);
	assert_int_equal(event_checks_find(&checks, "BR_PRED")->verdict, EVENT_FIRES_ELSEWHERE);
	assert_int_equal(event_checks_find(&checks, "stall_frontend")->verdict, EVENT_READS_0);
	assert_int_equal(event_checks_find(&checks, "CPU_CYCLES")->verdict, EVENT_IS_OFF);
	assert_true(event_checks_find(&checks, "CPU_CYCLES")->factor == 1. / 64);
	event_checks_release(&checks);
	event_checks_load("two", &checks);
	assert_int_equal(event_checks_find(&checks, "STALL_FRONTEND")->verdict, EVENT_OK);
	event_checks_release(&checks);

	save("one", "STALL_FRONTEND", EVENT_OK, 1); /* a later check counts */
	event_checks_load("one", &checks);
	assert_int_equal(checks.list.n, 3);
	assert_int_equal(event_checks_find(&checks, "STALL_FRONTEND")->verdict, EVENT_OK);
	event_checks_release(&checks);
}

static void takes_any_file(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"schema\":2,\"machines\":{\"one\":{\"A\":{\"verdict\":\"reads 0\"}}}}",
		"{\"schema\":1,\"machines\":7}",
		"{\"schema\":1,\"machines\":{\"one\":[]}}",
		"{\"schema\":1,\"machines\":{\"one\":{\"A\":7,\"B\":{\"verdict\":\"dead\"}}}}",
	};

	(void)state;
	use_folder();
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct event_checks checks = { 0 };
		FILE *stream = fopen(file, "w");

		assert_non_null(stream);
		fputs(texts[i], stream);
		fclose(stream);
		event_checks_load("one", &checks);
		assert_int_equal(checks.list.n, 0);
		save("one", "C", EVENT_READS_0, 1);
		event_checks_load("one", &checks);
		assert_int_equal(event_checks_find(&checks, "C")->verdict, EVENT_READS_0);
		event_checks_release(&checks);
	}
}

static void dead_events_are_absent(void **state)
{
	struct event_checks checks = { 0 };
	struct counts counts = { 0 };

	(void)state;
	event_checks_add(&checks, "STALL_FRONTEND", EVENT_READS_0, 1);
	event_checks_add(&checks, "L1D_CACHE", EVENT_READS_0, 1);
	event_checks_add(&checks, "CPU_CYCLES", EVENT_IS_OFF, 64);
	counts_add(&counts, "stall_frontend");
	counts_add(&counts, "L1D_CACHE")->value = 5; /* it counts after all */
	counts_add(&counts, "CPU_CYCLES");
	counts_add(&counts, "BR_MIS_PRED_RETIRED"); /* a 0 of the program */
	event_checks_apply(&checks, &counts);
	assert_int_equal(counts.items.items[0].state, COUNT_NOT_SUPPORTED);
	for (size_t i = 1; i < counts.items.n; i++)
		assert_int_equal(counts.items.items[i].state, COUNT_COUNTED);
	counts_release(&counts);
	event_checks_release(&checks);
}

static void says_where_it_cannot_be_kept(void **state)
{
	struct event_checks checks = { 0 };
	struct err err;

	(void)state;
	setenv("XDG_STATE_HOME", "/proc/none", 1);
	assert_int_equal(event_checks_save("one", &checks, &err), -1);
	assert_non_null(strstr(err.text, "/proc/none/cyclops/events.json: cannot write"));
	setenv("XDG_STATE_HOME", "relative", 1);
	unsetenv("HOME");
	assert_int_equal(event_checks_save("one", &checks, &err), -1);
	assert_non_null(strstr(err.text, "HOME"));
	event_checks_load("one", &checks);
	assert_int_equal(checks.list.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_remembered_by_machine),
		cmocka_unit_test(takes_any_file),
		cmocka_unit_test(dead_events_are_absent),
		cmocka_unit_test(says_where_it_cannot_be_kept),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
