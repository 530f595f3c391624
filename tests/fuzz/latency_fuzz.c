/* SPDX-License-Identifier: Apache-2.0 */
/* Times of single loads from elsewhere, and what is made of them. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "latency/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct load_to_use known = { .cycles = 3, .is_catalog = true, .cpu = "a CPU" };
	struct latency_report report = { 0 };
	struct imported all = { 0 };
	struct err err;

	if (imported_read(&all, (const char *)bytes, size, &err) == 0) {
		for (size_t i = 0; i < all.list.n; i++) {
			const struct times *t = &all.list.items[i].times;
			struct time_peak peak = times_peak(t);

			if (t->n == 0 || peak.low > peak.mode || peak.mode > peak.high ||
			    times_quantile(t, 0) > times_quantile(t, 1))
				abort();
		}
		latency_report_imported(&report, &all, &known);
		latency_report_release(&report);
	}
	imported_release(&all);
	return 0;
}
