/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/time_slices.h"

#include "scan/scan.h"

static int slices_between(const struct session *s, uint64_t first_ns, uint64_t last_ns, uint32_t n,
			  struct slices *out, struct err *err)
{
	return slices_init(&(struct slices_span){ .start_ns = capture_totals(s->capture)->first_ns,
						  .first_ns = first_ns,
						  .last_ns = last_ns },
			   n, out, err);
}

int scan_choose_slices(struct session *s, uint32_t n, bool by_time, struct err *err)
{
	uint64_t first_ns, last_ns;

	if (n == 0 && !by_time)
		return 0;
	if (n == 0)
		n = SLICES_DEFAULT;
	if (capture_end_times(s->capture, &first_ns, &last_ns) &&
	    slices_between(s, first_ns, last_ns, n, &s->slices, err) == 0) {
		s->slices.is_provisional = true;
		return 0;
	}
	scan_part(s, NULL, &(struct scan_wish){ .without_places = true }, NULL, 0);
	return slices_between(s, s->first_ns, s->last_ns, n, &s->slices, err);
}
