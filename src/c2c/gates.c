/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/gates.h"

#include <math.h>

#include "c2c/verdict/classes.h"
#include "estimate/estimate.h"

enum { CONTENDED_LINES, FALSE_LINES, TRUE_LINES, LATENCY_SHARE, LOAD_SHARE };

const struct quantity c2c_quantities[C2C_N_QUANTITIES] = {
	[CONTENDED_LINES] = { "contended_lines", NULL, "", false, "lines that are contended" },
	[FALSE_LINES] = { "false_sharing_lines", NULL, "", false,
			  "contended lines with false sharing" },
	[TRUE_LINES] = { "true_sharing_lines", NULL, "", false,
			 "contended lines with true sharing, locks included" },
	[LATENCY_SHARE] = { "contended_latency_share", NULL, "", true,
			    "part of the latency of all loads that contended lines cost" },
	[LOAD_SHARE] = { "contended_load_share", NULL, "", true,
			 "part of the loads that found the line in another core's cache" },
};

/* The contended lines with this verdict; C2C_UNKNOWN: with any. */
static size_t count_lines(const struct c2c_causes *causes, enum c2c_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < causes->list.n; i++) {
		const struct c2c_cause *cause = &causes->list.items[i];

		if (cause->class == C2C_CONTENDED &&
		    (verdict == C2C_UNKNOWN || cause->sum.judgement.verdict == verdict))
			n += cause->lines.n;
	}
	return n;
}

static int measure_latency(const struct c2c *s, const struct c2c_causes *causes,
			   struct measured *out, struct err *err)
{
	double share = 0, squares = 0, error;

	if (s->lines->loads.cycles == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "no latency was recorded");
	for (size_t i = 0; i < causes->list.n; i++) {
		const struct c2c_cause *cause = &causes->list.items[i];

		if (cause->class != C2C_CONTENDED)
			continue;
		share += cause->sum.share;
		squares += cause->sum.error * cause->sum.error;
	}
	error = sqrt(squares); /* samples of different lines are independent */
	*out = measured_between(share, fmax(0, share - error), fmin(1, share + error));
	return 0;
}

static int measure_loads(const struct c2c *s, struct measured *out, struct err *err)
{
	uint64_t n = c2c_contended(&s->total, s->options.mode), n_all = s->total.n[C2C_LOADS];
	struct estimate e = estimate_share(n, n_all, &s->session->lost);

	if (n_all == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "no load was sampled");
	*out = measured_between(e.total, e.low, e.high);
	return 0;
}

int c2c_measure(const struct c2c *s, const struct c2c_causes *causes, size_t quantity,
		struct measured *out, struct err *err)
{
	switch (quantity) {
	case CONTENDED_LINES:
		*out = measured_once((double)count_lines(causes, C2C_UNKNOWN));
		return 0;
	case FALSE_LINES:
		*out = measured_once((double)count_lines(causes, C2C_FALSE));
		return 0;
	case TRUE_LINES:
		*out = measured_once((double)count_lines(causes, C2C_TRUE));
		return 0;
	case LATENCY_SHARE:
		return measure_latency(s, causes, out, err);
	default:
		return measure_loads(s, out, err);
	}
}
