/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/validation/validate.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "kernel/validation/on_machine.h"

/* The checks in the order in which they were made: case by case. */
struct validating {
	const struct validation_request *request;
	struct validation *out;
	VEC_OF(struct validation_check) checks;
	VEC_OF(struct validation_case) cases; /* by check */
};

/* Can the event exist there? */
static bool is_event_of(const struct validation_request *r, const struct expectation *x)
{
	if ((x->architectures & r->architecture) == 0)
		return false;
	if (on_machine_is_software(x->event))
		return r->has_software;
	return r->facts != NULL && cpu_event_find(r->facts, x->event) != NULL;
}

static bool is_kernel_name(const struct expected *e, const char *name)
{
	for (size_t i = 0; i < e->n_cases; i++)
		if (strcmp(name, e->cases[i].name) == 0 ||
		    strcmp(name, e->cases[i].kernel->name) == 0)
			return true;
	return false;
}

/* Is the event asked for, or none, and the case or its kernel, or none? */
static bool is_asked_for(const struct validation_request *r, const struct expected_case *c,
			 const struct expectation *x)
{
	bool has_events = false, has_kernels = false, is_event = false, is_case = false;

	for (size_t i = 0; i < r->n_names; i++) {
		bool is_kernel = is_kernel_name(r->expected, r->names[i]);

		has_kernels |= is_kernel;
		has_events |= !is_kernel;
		is_case |= strcmp(r->names[i], c->name) == 0 ||
			   strcmp(r->names[i], c->kernel->name) == 0;
		is_event |= strcasecmp(r->names[i], x->event) == 0;
	}
	return (is_event || !has_events) && (is_case || !has_kernels);
}

/* All that can be asked for: cases, then kernels, then events. They may stand several times. */
static const char *askable_name(const void *context, size_t i)
{
	const struct expected *e = context;

	if (i < e->n_cases)
		return e->cases[i].name;
	i -= e->n_cases;
	if (i < e->n_cases)
		return e->cases[i].kernel->name;
	i -= e->n_cases;
	for (size_t c = 0; c < e->n_cases; c++) {
		if (i < e->cases[c].n_expectations)
			return e->cases[c].expectations[i].event;
		i -= e->cases[c].n_expectations;
	}
	return NULL;
}

static int check_names(const struct validation_request *r, struct err *err)
{
	for (size_t i = 0; i < r->n_names; i++) {
		const char *name = NULL;
		char advice[160];

		for (size_t k = 0; (name = askable_name(r->expected, k)) != NULL; k++)
			if (strcasecmp(name, r->names[i]) == 0)
				break;
		if (name == NULL)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--validate: '%.60s' is neither a kernel nor an event that "
				       "kernels make count%s",
				       r->names[i],
				       did_you_mean(r->names[i], askable_name, r->expected,
						    "; see cyclops list kernels", advice,
						    sizeof(advice)));
	}
	return 0;
}

/* Adds what an event counted in a case. */
static void add_check(struct validating *v, const struct expected_case *c,
		      const struct expectation *x, const struct kernel_setting *setting,
		      const struct kernel_count *count)
{
	struct validation_case which = {
		.which = c,
		.expectation = x,
		.iterations = (double)setting->values[ITERATIONS],
	};

	if (!expected_count_of(v->request->expected, x, setting->values, &which.expected))
		return;
	*vec_add(&v->cases) = which;
	*vec_add(&v->checks) = (struct validation_check){
		.event = x->event,
		.run = c->name,
		.must_not_fire = x->kind == EXPECTED_NEVER,
		.least = which.expected.from,
		.most = which.expected.to,
		.is_counted = count->is_counted,
		.count = count->count,
	};
}

/* Runs a case for those of its events that were asked for. */
static int run_case(struct validating *v, const struct expected_case *c, struct err *err)
{
	const struct validation_request *r = v->request;
	struct kernel_setting setting = { .what = c->kernel };
	const struct expectation **list;
	struct kernel_count *counts;
	const char **events;
	struct err why;
	size_t n = 0;
	int rc = 0;

	if ((c->kernel->architectures & r->architecture) == 0)
		return 0;
	list = mem_alloc(c->n_expectations + 1, sizeof(const struct expectation *));
	events = mem_alloc(c->n_expectations + 1, sizeof(const char *));
	counts = mem_zalloc(c->n_expectations + 1, sizeof(*counts));
	for (size_t i = 0; i < c->n_expectations; i++)
		if (is_event_of(r, &c->expectations[i]) &&
		    is_asked_for(r, c, &c->expectations[i])) {
			list[n] = &c->expectations[i];
			events[n++] = c->expectations[i].event;
		}
	if (n > 0 && expected_set_values(c, r->sizes, setting.values, &why) < 0) {
		if (v->out->n_skipped++ == 0)
			v->out->why_skipped = why;
		n = 0;
	}
	if (n > 0)
		rc = r->measurer->count(r->measurer->context, &setting, events, n, 1, counts, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		add_check(v, c, list[i], &setting, &counts[i]);
	free(list);
	free(events);
	free(counts);
	return rc < 0 ? err_within(err, "%s", c->name) : 0;
}

/* What is wrong first; else in the order of their first checks. */
static int compare_events(const void *a, const void *b, void *context)
{
	const struct validated_event *x = a, *y = b;
	bool is_x_ok = x->result.verdict == VALIDATION_OK,
	     is_y_ok = y->result.verdict == VALIDATION_OK;

	(void)context;
	if (is_x_ok != is_y_ok)
		return is_x_ok ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Brings the checks of each event together, and judges it. */
static void judge_events(struct validating *v)
{
	struct validation *out = v->out;
	bool *is_done = mem_zalloc(v->checks.n + 1, sizeof(*is_done));

	for (size_t i = 0; i < v->checks.n; i++) {
		struct validated_event event = {
			v->checks.items[i].event, out->checks.n, 0, { 0 }
		};

		for (size_t k = i; k < v->checks.n && !is_done[i]; k++) {
			if (strcmp(v->checks.items[k].event, event.name) != 0)
				continue;
			*vec_add(&out->checks) = v->checks.items[k];
			*vec_add(&out->cases) = v->cases.items[k];
			is_done[k] = k != i;
			event.n++;
		}
		if (event.n > 0)
			*vec_add(&out->events) = event;
	}
	/* only now: checks do not move any more */
	for (size_t i = 0; i < out->events.n; i++) {
		struct validated_event *event = &out->events.items[i];

		event->result = validation_of_event(&out->checks.items[event->first], event->n);
		out->n_of[event->result.verdict]++;
	}
	free(is_done);
	qsort_r(out->events.items, out->events.n, sizeof(*out->events.items), compare_events, NULL);
}

int validate(const struct validation_request *request, struct validation *out, struct err *err)
{
	struct validating v = { .request = request, .out = out };
	int rc;

	*out = (struct validation){ 0 };
	rc = check_names(request, err);
	for (size_t i = 0; i < request->expected->n_cases && rc == 0; i++)
		rc = run_case(&v, &request->expected->cases[i], err);
	if (rc == 0)
		judge_events(&v);
	vec_release(&v.checks);
	vec_release(&v.cases);
	return rc;
}

void validation_release(struct validation *v)
{
	vec_release(&v->events);
	vec_release(&v->checks);
	vec_release(&v->cases);
	*v = (struct validation){ 0 };
}

void validation_remember(const struct validation *v, struct event_checks *out)
{
	for (size_t i = 0; i < v->events.n; i++) {
		const struct validated_event *e = &v->events.items[i];
		enum event_verdict verdict;

		if (validation_to_remember(&e->result, &v->checks.items[e->first], e->n, &verdict))
			event_checks_add(out, e->name, verdict, e->result.factor);
	}
}
