/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cycles/cycles.h"
#include "cycles/events.h"
#include "html/pages/pages.h"

static const struct keys functions = { { KEY_FUNCTION }, 1 };

static int add_accounting(struct html *h, struct session *s, const struct select *select,
			  struct cycle_template *tree, const double *penalties, struct err *err)
{
	const struct cycle_options as_it_is = { 0 };
	const struct cycle_request request = {
		.penalties = penalties,
		.assumed_ghz = cycle_options_assumed_ghz(&as_it_is, tree),
	};
	struct cycle_objects objects;
	int rc;

	cycle_objects_init(&objects, tree, &functions, false);
	rc = cycle_objects_add(&objects, s, select, err);
	if (rc == 0)
		rc = cycles_html(h, &objects, &request, err);
	cycle_objects_release(&objects);
	return rc;
}

int html_add_cycles(struct html *h, struct session *s, const struct select *select, struct err *err)
{
	const struct cycle_options as_it_is = { 0 };
	struct cycle_template *tree = NULL;
	double *penalties;
	int rc;

	if (!cycle_events_are_of_tree(s))
		return 0;
	if (cycle_options_tree(&as_it_is, s, &tree, err) < 0)
		return -1;
	penalties = cycle_options_penalties(&as_it_is, tree, err);
	rc = penalties == NULL ? -1 : add_accounting(h, s, select, tree, penalties, err);
	free(penalties);
	cycle_template_free(tree);
	return rc;
}
