/* SPDX-License-Identifier: Apache-2.0 */
#include "html/pages/pages.h"

#include <stddef.h>

#include "base/alloc.h"

typedef int html_adder(struct html *, struct session *, const struct select *, struct err *);

/* In the order of the viewer's menu. */
/* clang-format off */
static html_adder *const adders[] = {
	html_add_functions,
	html_add_code,
	html_add_timeline,
	html_add_flame,
	html_add_cycles,
	html_add_memory,
	html_add_sharing,
	html_add_quality,
};
/* clang-format on */

int html_add_pages(struct html *h, struct session *s, const struct select *select, struct err *err)
{
	for (size_t i = 0; i < COUNT(adders); i++)
		if (adders[i](h, s, select, err) < 0)
			return -1;
	return 0;
}
