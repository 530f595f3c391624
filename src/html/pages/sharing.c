/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/answer.h"
#include "html/pages/pages.h"

/* As `cyclops c2c --top 50` has them: more lines are hardly looked at, and each has many accesses. */
static const struct c2c_request request = { .mode = -1, .top = 50, .with_objects = true };

int html_add_sharing(struct html *h, struct session *s, const struct select *select,
		     struct err *err)
{
	struct c2c sharing = { 0 };
	struct c2c_labels labels = { 0 };
	struct c2c_report report = { 0 };
	int rc = c2c_run(s, select, &request, &sharing, err);

	if (rc == 0 && sharing.n_candidates > 0) {
		c2c_labels_init(&labels, &sharing);
		c2c_report_make(&sharing, &labels, C2C_FOR_PAGES, &report);
		if (table_n_rows(&report.lines) > 0)
			html_add(h, "sharing", NULL, &report.shown);
	}
	c2c_report_release(&report);
	c2c_labels_release(&labels);
	c2c_release(&sharing);
	return rc;
}
