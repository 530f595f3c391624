/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/slices.h"

#include <inttypes.h>

#include "analysis/hot.h"
#include "analysis/session.h"

int slices_init(const struct capture *c, uint32_t n, struct slices *out, struct err *err)
{
	const struct capture_totals *totals = capture_totals(c);
	uint64_t length = totals->last_ns - totals->first_ns;

	if (n == 0 || n > SLICES_MAX)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--time-slices: found %" PRIu32 ", wanted 1 to %d", n, SLICES_MAX);
	if (totals->last_ns <= totals->first_ns)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--time-slices: the records of this capture have no times");
	*out = (struct slices){ totals->first_ns, length / n + 1, n };
	return 0;
}

int slices_choose(struct session *s, uint32_t n, const struct hot_keys *by, struct err *err)
{
	bool is_key = false;

	for (size_t i = 0; i < by->n; i++)
		is_key |= by->keys[i] == HOT_TIME;
	if (n == 0 && !is_key)
		return 0;
	return slices_init(s->capture, n == 0 ? SLICES_DEFAULT : n, &s->slices, err);
}

uint32_t slices_find(const struct slices *s, uint64_t time_ns)
{
	uint64_t slice;

	if (time_ns <= s->first_ns)
		return 0;
	slice = (time_ns - s->first_ns) / s->width_ns;
	return slice < s->n ? (uint32_t)slice : s->n - 1;
}

uint64_t slices_start_ns(const struct slices *s, uint32_t slice)
{
	return slice * s->width_ns;
}

const char *slices_spark(struct table *t, const uint64_t *amounts, uint32_t n)
{
	char *out = arena_alloc(&t->memory, n + 1);
	uint64_t largest = 1;

	for (uint32_t i = 0; i < n; i++)
		largest = amounts[i] > largest ? amounts[i] : largest;
	for (uint32_t i = 0; i < n; i++) {
		double part = (double)amounts[i] / (double)largest;

		out[i] = amounts[i] == 0 ? '0' : (char)('1' + (int)(part * 7 + 0.5));
	}
	out[n] = '\0';
	return out;
}
