/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/validation/verdict.h"

#include <math.h>

static const char *const names[N_VALIDATION_VERDICTS] = {
	[VALIDATION_OK] = "ok",
	[VALIDATION_OVER] = "over",
	[VALIDATION_UNDER] = "under",
	[VALIDATION_FIRES_ELSEWHERE] = "fires elsewhere",
	[VALIDATION_NOT_COUNTED] = "not counted here",
};

const char *validation_verdict_name(enum validation_verdict verdict)
{
	return names[verdict];
}

enum validation_verdict validation_verdict_of_run(const struct validation_check *c)
{
	if (!c->is_counted)
		return VALIDATION_NOT_COUNTED;
	if (c->count > c->most)
		return c->must_not_fire ? VALIDATION_FIRES_ELSEWHERE : VALIDATION_OVER;
	if (c->count >= c->least)
		return VALIDATION_OK;
	return c->count > 0 ? VALIDATION_UNDER : VALIDATION_NOT_COUNTED;
}

/* How far the count is from the nearest right one, as a ratio. */
static double factor_of(const struct validation_check *c)
{
	if (c->count > c->most && c->most > 0)
		return c->count / c->most;
	return c->count < c->least ? c->count / c->least : 1;
}

/* Does `a` say more against the event than `b`, both of one verdict? */
static bool is_worse(const struct validation_check *a, const struct validation_check *b)
{
	return fabs(log(factor_of(a))) > fabs(log(factor_of(b)));
}

struct event_validation validation_of_event(const struct validation_check *checks, size_t n)
{
	const struct validation_check *worst[N_VALIDATION_VERDICTS] = { NULL };
	const struct validation_check *over, *under;
	struct event_validation out = { .factor = 1 };
	bool fires = false; /* in a run in which it must */

	for (size_t i = 0; i < n; i++) {
		const struct validation_check *c = &checks[i];
		enum validation_verdict verdict = validation_verdict_of_run(c);

		if (!c->is_counted)
			continue;
		out.n_runs++;
		out.n_right += verdict == VALIDATION_OK;
		fires |= !c->must_not_fire && c->count > 0;
		if (worst[verdict] == NULL || is_worse(c, worst[verdict]))
			worst[verdict] = c;
	}
	/* in one run not at all, in others it fires */
	under = fires && worst[VALIDATION_NOT_COUNTED] != NULL ? worst[VALIDATION_NOT_COUNTED]
							       : worst[VALIDATION_UNDER];
	over = worst[VALIDATION_OVER];
	if (out.n_runs == 0)
		return (struct event_validation){ VALIDATION_NOT_COUNTED, NULL, 0, 0, 1 };
	if (worst[VALIDATION_FIRES_ELSEWHERE] != NULL)
		out.verdict = VALIDATION_FIRES_ELSEWHERE;
	else if (worst[VALIDATION_NOT_COUNTED] != NULL && !fires)
		out.verdict = VALIDATION_NOT_COUNTED;
	else if (over != NULL && (under == NULL || is_worse(over, under)))
		out.verdict = VALIDATION_OVER;
	else if (under != NULL)
		out.verdict = VALIDATION_UNDER;
	out.worst = out.verdict == VALIDATION_OK      ? NULL
		    : out.verdict == VALIDATION_UNDER ? under
						      : worst[out.verdict];
	if (out.verdict == VALIDATION_OVER || out.verdict == VALIDATION_UNDER)
		out.factor = factor_of(out.worst);
	return out;
}

bool validation_to_remember(const struct event_validation *v, const struct validation_check *checks,
			    size_t n, enum event_verdict *out)
{
	static const enum event_verdict of[N_VALIDATION_VERDICTS] = {
		[VALIDATION_OK] = EVENT_OK,
		[VALIDATION_OVER] = EVENT_IS_OFF,
		[VALIDATION_UNDER] = EVENT_IS_OFF,
		[VALIDATION_FIRES_ELSEWHERE] = EVENT_FIRES_ELSEWHERE,
		[VALIDATION_NOT_COUNTED] = EVENT_READS_0,
	};
	bool has_known_count = false;

	for (size_t i = 0; i < n; i++)
		has_known_count |=
			checks[i].is_counted && !checks[i].must_not_fire && checks[i].least > 0;
	*out = of[v->verdict];
	return has_known_count || v->verdict == VALIDATION_FIRES_ELSEWHERE;
}
