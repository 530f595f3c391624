/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/time_slices.h"

#include "scan/scan.h"

int scan_time_slices(struct session *s, uint32_t n, struct slices *out, struct err *err)
{
	scan_part(s, NULL, &(struct scan_wish){ .without_places = true }, NULL, 0);
	return slices_init(&(struct slices_span){ .start_ns = capture_totals(s->capture)->first_ns,
						  .first_ns = s->first_ns,
						  .last_ns = s->last_ns },
			   n, out, err);
}

int scan_choose_slices(struct session *s, uint32_t n, bool by_time, struct err *err)
{
	if (n == 0 && !by_time)
		return 0;
	return scan_time_slices(s, n == 0 ? SLICES_DEFAULT : n, &s->slices, err);
}
