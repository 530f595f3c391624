/* SPDX-License-Identifier: Apache-2.0 */
/* What data addresses of the fixture's processes are said to be. */
#include "data/data_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "../session/fixture.h"

static const struct {
	uint64_t address;
	enum data_kind kind;
	const char *text;
} cases[] = {
	{ TEXT_START + 0x100, DATA_FILE, "alpha" }, /* its file is not there */
	{ 0x500000000000, DATA_UNKNOWN, "[unknown]" },
	{ 0xffff800000001000, DATA_KERNEL, "[kernel]" },
	{ 0, DATA_UNKNOWN, "[unknown]" },
	{ UINT64_MAX, DATA_KERNEL, "[kernel]" },
};

static void addresses_have_kinds(void **state)
{
	struct contents contents = { 0 };
	struct data_query queries[COUNT(cases)];
	struct session session;
	struct data_names names;
	struct text text = { 0 };

	(void)state;
	open_fixture(&contents, 1, &session);
	for (size_t i = 0; i < COUNT(cases); i++)
		queries[i] = (struct data_query){
			.process = timeline_process_of_pid(session.timeline, ALPHA, START_NS),
			.time_ns = START_NS,
			.address = cases[i].address,
			.size = 8,
		};
	data_names_init(&names, &session, queries, COUNT(cases));
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(names.list[i].kind, cases[i].kind);
		text_reset(&text);
		data_name_text(&names, &queries[i], &names.list[i], &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, cases[i].text);
	}
	text_release(&text);
	data_names_release(&names);
	close_fixture(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_have_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
