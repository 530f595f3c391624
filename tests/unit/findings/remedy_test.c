/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of remedies: programs read them, so each remedy has one of its own. What one change fixes is said once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "findings/finding.h"
#include "findings/words.h"
#include "table/sort.h"

static void remedies_have_ids_of_their_own(void **state)
{
	(void)state;
	for (int i = 0; i < N_REMEDIES; i++) {
		const char *id = finding_remedy_id(i);

		assert_non_null(id);
		assert_int_equal(strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(id));
		for (int other = 0; other < i; other++)
			assert_string_not_equal(id, finding_remedy_id(other));
	}
}

/* Findings in order: the loop, the remedy, and the finding before it that the same change fixes. */
static const struct {
	const char *loop; /* NULL: it is about no loop */
	enum remedy_kind remedy;
	size_t same_fix;
	const char *fix;
} fixed[] = {
	{ "f+0x10", REMEDY_INTERCHANGE, 0, "interchange the loops" },
	{ "f+0x10", REMEDY_INTERCHANGE, 1, "as #1: interchange the loops" },
	{ "f+0x10", REMEDY_DENSER_PAGES, 0, "use huge pages, or denser data" },
	{ "f+0x40", REMEDY_INTERCHANGE, 0, "interchange the loops" },
	{ NULL, REMEDY_DENSER_PAGES, 0, "use huge pages, or denser data" },
	{ "f+0x10", REMEDY_DENSER_PAGES, 3, "as #3: use huge pages, or denser data" },
};

static void one_change_is_said_once(void **state)
{
	struct finding_loop loops[COUNT(fixed)];
	struct findings all = { 0 };
	struct table brief = { 0 }, full = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(fixed); i++) {
		struct finding *f = findings_add(&all, FINDING_DRAM_LATENCY);

		loops[i] =
			(struct finding_loop){ .is_loop = true, .at = { .name = fixed[i].loop } };
		f->loop = fixed[i].loop != NULL ? &loops[i] : NULL;
		f->subject = "f";
		f->module = "program";
		finding_add_remedy(f, (struct remedy){ .kind = fixed[i].remedy });
	}
	findings_brief_table(&all, NULL, &brief);
	findings_table(&all, NULL, &full);
	for (size_t i = 0; i < COUNT(fixed); i++) {
		const struct cell *fix = table_cell(&brief, i, (size_t)table_column(&brief, "fix"));
		const struct cell *same =
			table_cell(&full, i, (size_t)table_column(&full, "same_fix_as"));

		assert_int_equal(findings_same_fix(&all, i), fixed[i].same_fix);
		assert_string_equal(fix->text, fixed[i].fix);
		assert_int_equal(cell_is_absent(same), fixed[i].same_fix == 0);
	}
	table_release(&brief);
	table_release(&full);
	findings_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remedies_have_ids_of_their_own),
		cmocka_unit_test(one_change_is_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
