/* SPDX-License-Identifier: Apache-2.0 */
#include "html/pages/pages.h"
#include "quality/quality.h"

int html_add_quality(struct html *h, struct session *s, const struct select *select,
		     struct err *err)
{
	struct quality quality = { .is_for_people = true };
	int rc = quality_make(s, select, 0, &quality, err);

	if (rc == 0)
		html_add(h, "quality", NULL, &quality.shown);
	quality_release(&quality);
	return rc;
}
