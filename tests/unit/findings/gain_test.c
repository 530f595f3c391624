/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of the gain of a fix: a limit, what the model predicts, or that it is not known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "findings/words_inside.h"

static struct finding_loop loop = { .is_loop = true, .share = 0.623, .share_error = 0.043 };
static struct finding_loop code = { .share = 0.623, .share_error = 0.043 };
static struct finding_page_faults faults = { .part = 0.5 };
static struct finding_sharing timed = {
	.has_latency = true,
	.has_gain = true,
	.gain = 0.571,
	.gain_error = 0.002,
	.gain_of_all = 0.344,
	.gain_threads = 1,
};
static struct finding_sharing limited = { .has_latency = true,
					  .has_gain = true,
					  .gain = 0.967,
					  .gain_error = 0.001,
					  .gain_threads = 4,
					  .gain_is_limit = true };
static struct finding_sharing untimed = { .has_latency = true };

static const struct {
	struct finding finding;
	enum remedy_kind remedy;
	const char *brief, *full, *what_if; /* NULL: nothing */
} cases[] = {
	/* the limit stands above */
	{ { .kind = FINDING_DRAM_LATENCY,
	    .subject = "chase",
	    .function = "chase",
	    .size = { .share = 0.611, .error = 0.042, .mark = MARK_AT_MOST, .of = WHOLE_TIME },
	    .loop = &loop },
	  REMEDY_POINTER_CHASE,
	  "at most that share, if all loads in the loop hit the L1D",
	  "at most that share, if all loads in the loop hit the L1D; to simulate that: cyclops "
	  "model "
	  "--what-if l1d+page-walks@chase -- COMMAND",
	  "l1d+page-walks@chase" },
	{ { .kind = FINDING_STORE_BOUND,
	    .subject = "fill",
	    .function = "fill",
	    .size = { .share = 0.611, .error = 0.042, .mark = MARK_AT_MOST, .of = WHOLE_TIME },
	    .loop = &code },
	  REMEDY_STORE_IN_ORDER,
	  "at most that share, if all stores there hit the L1D",
	  "at most that share, if all stores there hit the L1D; to simulate that: cyclops model "
	  "--what-if l1d+page-walks@fill -- COMMAND",
	  "l1d+page-walks@fill" },
	/* of all loops of the function */
	{ { .kind = FINDING_DRAM_LATENCY,
	    .subject = "chase",
	    .function = "chase",
	    .size = { .share = 0.611, .error = 0.042, .mark = MARK_AT_MOST, .of = WHOLE_TIME },
	    .loop = &loop,
	    .has_prediction = true,
	    .prediction = 0.546 },
	  REMEDY_POINTER_CHASE,
	  "54.6 % fewer cycles if all loads in chase hit the L1D, without page walks (modelled)",
	  "54.6 % fewer cycles if all loads in chase hit the L1D, without page walks (modelled); a "
	  "fix that leaves some of the cause, or adds work, gains less",
	  "l1d+page-walks@chase" },
	/* what the model says to a cause that others hide */
	{ { .kind = FINDING_TLB_WALKS,
	    .subject = "chase",
	    .function = "chase",
	    .loop = &loop,
	    .has_prediction = true,
	    .prediction = -0.02 },
	  REMEDY_DENSER_PAGES,
	  "no fewer cycles if no access in chase needed a page table walk (modelled)",
	  "no fewer cycles if no access in chase needed a page table walk (modelled); a fix that "
	  "leaves some of the cause, or adds work, gains less",
	  "page-walks@chase" },
	/* other code: neither samples nor the model have it */
	{ { .kind = FINDING_SCALAR_LOOP,
	    .subject = "f",
	    .function = "f",
	    .size = { .share = 0.3, .error = 0.02, .mark = MARK_AT_MOST, .of = WHOLE_TIME },
	    .loop = &loop },
	  REMEDY_VECTORISE,
	  "not known: the loop with vectors is other code, which did not run",
	  "not known: the loop with vectors is other code, which did not run",
	  NULL },
	/* measured as a whole */
	{ { .kind = FINDING_PAGE_FAULTS,
	    .size = { .share = 0.4, .error = 0.02, .of = WHOLE_CPU_TIME, .whole = "CPU time" },
	    .page_faults = &faults },
	  REMEDY_REUSE_MEMORY,
	  "at most that share, if no page faulted",
	  "at most that share, if no page faulted",
	  NULL },
	/* a recurrence has no accumulators */
	{ { .kind = FINDING_DEPENDENCY_CHAIN, .subject = "f", .function = "f", .loop = &loop },
	  REMEDY_INTERLEAVE,
	  "not known from this capture",
	  "not known from this capture; to simulate that: cyclops model --what-if "
	  "arithmetic-latency@f -- COMMAND",
	  "arithmetic-latency@f" },
	/* a name with what divides the list of --what-if */
	{ { .kind = FINDING_MISPREDICTIONS,
	    .subject = "sort(int*, int)",
	    .function = "sort(int*, int)",
	    .size = { .share = 0.5, .error = 0.035, .mark = MARK_AT_MOST, .of = WHOLE_TIME },
	    .loop = &loop },
	  REMEDY_PREDICTABLE,
	  "at most that share, if all branches in the loop were predicted",
	  "at most that share, if all branches in the loop were predicted; to simulate that: "
	  "cyclops model --what-if branch-prediction -- COMMAND",
	  "branch-prediction" },
	/* of divisions, of hits, of results */
	{ { .kind = FINDING_DEPENDENCY_CHAIN,
	    .subject = "f",
	    .function = "f",
	    .size = { .share = 0.3, .error = 0.02, .mark = MARK_AT_MOST, .of = WHOLE_TIME },
	    .loop = &loop },
	  REMEDY_DIVISION,
	  "at most that share, if nothing in the loop waited for the chain",
	  "at most that share, if nothing in the loop waited for the chain; to simulate that: "
	  "cyclops model --what-if division@f -- COMMAND",
	  "division@f" },
	{ { .kind = FINDING_DEPENDENCY_CHAIN, .subject = "f", .function = "f", .loop = &loop },
	  REMEDY_POINTER_CHASE,
	  "not known from this capture",
	  "not known from this capture",
	  NULL },
	{ { .kind = FINDING_DEPENDENCY_CHAIN,
	    .subject = "f",
	    .function = "f",
	    .loop = &loop,
	    .has_prediction = true,
	    .prediction = 0.21 },
	  REMEDY_BREAK_CHAIN,
	  "21.0 % fewer cycles if all arithmetic in f took one cycle (modelled)",
	  "21.0 % fewer cycles if all arithmetic in f took one cycle (modelled); a fix that leaves "
	  "some of the cause, or adds work, gains less",
	  "arithmetic-latency@f" },
	/* a share of latency is no time */
	{ { .kind = FINDING_MEMORY_BOUND,
	    .subject = "f",
	    .function = "f",
	    .size = { .share = 0.5, .of = WHOLE_LATENCY } },
	  REMEDY_TOUCH_LESS,
	  "not known: operations overlap, so latency is no run time",
	  "not known: operations overlap, so latency is no run time",
	  NULL },
	{ { .kind = FINDING_HOT_FUNCTION, .subject = "f", .function = "f" },
	  REMEDY_NONE,
	  NULL,
	  NULL,
	  NULL },
	{ { .kind = FINDING_FALSE_SHARING, .sharing = &timed },
	  REMEDY_LAYOUT,
	  "about 57.1 % ± 0.2 of the run time of the waiting thread, 34.4 % of that of all threads "
	  "(by its pace while no load "
	  "waited)",
	  "about 57.1 % ± 0.2 of the run time of the waiting thread, 34.4 % of that of all threads "
	  "(by its pace while no load "
	  "waited)",
	  NULL },
	{ { .kind = FINDING_FALSE_SHARING, .sharing = &limited },
	  REMEDY_LAYOUT,
	  "at most 96.7 % ± 0.1 of the run time of the 4 waiting threads (by their pace while no "
	  "load waited), for all "
	  "lines that they wait for together, not for this one alone",
	  "at most 96.7 % ± 0.1 of the run time of the 4 waiting threads (by their pace while no "
	  "load waited), for all "
	  "lines that they wait for together, not for this one alone",
	  NULL },
	{ { .kind = FINDING_TRUE_SHARING, .sharing = &timed },
	  REMEDY_LOCK_LESS,
	  "at most 57.1 % ± 0.2 of the run time of the waiting thread, 34.4 % of that of all "
	  "threads (by its pace while no load "
	  "waited), if no thread waited for "
	  "another",
	  "at most 57.1 % ± 0.2 of the run time of the waiting thread, 34.4 % of that of all "
	  "threads (by its pace while no load "
	  "waited), if no thread waited for "
	  "another",
	  NULL },
	{ { .kind = FINDING_FALSE_SHARING, .sharing = &untimed },
	  REMEDY_LAYOUT,
	  "not known: this capture does not tell how much of the run time the waits take",
	  "not known: this capture does not tell how much of the run time the waits take",
	  NULL },
};

static void assert_words(const char *found, const char *wanted, size_t i)
{
	if ((found == NULL) != (wanted == NULL) || (found != NULL && strcmp(found, wanted) != 0))
		fail_msg("case %zu: %s, not %s", i, found == NULL ? "nothing" : found,
			 wanted == NULL ? "nothing" : wanted);
}

static void gains_have_words(void **state)
{
	static const struct column columns[] = { { "text", NULL, "", CELL_TEXT, 0, "" } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct finding f = cases[i].finding;
		struct table t;

		table_init(&t, "words", NULL, columns, COUNT(columns));
		finding_add_remedy(&f, (struct remedy){ .kind = cases[i].remedy });
		assert_words(finding_gain_brief(&t, &f), cases[i].brief, i);
		assert_words(finding_gain_words(&t, NULL, &f, ""), cases[i].full, i);
		assert_words(finding_what_if_words(&t, &f), cases[i].what_if, i);
		vec_release(&f.remedies);
		table_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gains_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
