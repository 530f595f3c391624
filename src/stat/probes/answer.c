/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/probes/answer.h"

#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/message.h"
#include "count/counts.h"
#include "pmu/catalog_events.h"
#include "pmu/machine.h"
#include "stat/probes/tables.h"

/* Without --events. Those of the kernel are exact anywhere. */
static const char kernel_events[] = "task-clock,page-faults,context-switches";
static const char hardware_events[] = "cycles,instructions,branch-misses,cache-misses";

static int parse_events(const struct probe_options *o, struct pmus *pmus, struct event_specs *specs,
			struct err *err)
{
	struct catalog_events *catalog = catalog_events_new("");
	const struct event_finder finder = catalog_events_finder(catalog);
	int rc = 0;

	if (o->events == NULL && pmus_core(pmus, 0) != NULL)
		rc = event_specs_parse(specs, hardware_events, pmus, &finder, err);
	if (o->events == NULL && rc == 0)
		rc = event_specs_parse(specs, kernel_events, pmus, &finder, err);
	for (size_t i = 0; o->events != NULL && o->events[i] != NULL && rc == 0; i++)
		rc = event_specs_parse(specs, o->events[i], pmus, &finder, err);
	catalog_events_free(catalog);
	if (rc == 0 && specs->list.n >= CALL_EVENTS)
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
			     "--region: %zu events; at most %d are counted at the same time",
			     specs->list.n, CALL_EVENTS - 1);
	return rc;
}

static void take_events(struct probe_plan *plan, const struct event_specs *specs)
{
	plan->n_events = specs->list.n + 1;
	for (size_t i = 0; i < specs->list.n; i++)
		plan->events[i + 1] = (struct probe_event){ .spec = &specs->list.items[i],
							    .state = COUNT_COUNTED };
}

/* Fails if no event at all can be counted: time alone is not what was asked for. */
static int check_events(const struct probe_plan *plan, struct err *err)
{
	for (size_t i = 1; i < plan->n_events; i++)
		if (plan->events[i].state == COUNT_COUNTED)
			return 0;
	return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE, "%s", plan->events[1].why);
}

static int print_result(const struct probe_result *r, const struct output_options *output,
			struct err *err)
{
	struct table answer = { 0 }, people = { 0 }, run = { 0 }, regions = { 0 };
	struct printer out = { 0 };
	struct tables shown = { 0 };
	int rc;

	probes_people_tables(r, &answer, &people);
	probes_program_tables(r, &run, &regions);
	*vec_add(&shown.list) = &answer;
	*vec_add(&shown.list) = &people;
	*vec_add(&shown.list) = &run;
	*vec_add(&shown.list) = &regions;
	rc = printer_open(&out, output, "text", "measure", NULL, err);
	if (rc == 0)
		rc = printer_finish(&out, output, &shown, 0, err);
	vec_release(&shown.list);
	table_release(&answer);
	table_release(&people);
	table_release(&run);
	table_release(&regions);
	return rc;
}

static int run_and_print(struct probe_plan *plan, const struct probe_options *o, struct pmus *pmus,
			 const struct output_options *output, int *out_status, struct err *err)
{
	struct follow follow = { .plan = plan,
				 .command = o->command,
				 .without_children = o->without_children };
	struct call_counts calls = { 0 }, empty = { 0 };
	struct probe_result result = {
		.follow = &follow,
		.calls = &calls,
		.empty = &empty,
		.core = pmus_core(pmus, 0),
		.midr = machine_midr(plan->root, 0),
		.is_mixed = pmus_core(pmus, 1) != NULL,
		.by_thread = o->by_thread,
	};
	int rc = follow_calibrate(plan, &empty, &result.call_ns, err);

	if (rc == 0)
		rc = check_events(plan, err);
	if (rc == 0)
		rc = follow_run(&follow, &calls, err);
	*out_status = follow.status;
	if (rc == 0)
		rc = print_result(&result, output, err);
	call_counts_release(&calls);
	call_counts_release(&empty);
	return rc;
}

/* A return address that the kernel replaces is no place from which to look for who catches. */
static void warn_of_exceptions(const struct probe_functions *functions)
{
	for (size_t i = 0; i < functions->list.n; i++) {
		const struct probe_function *f = &functions->list.items[i];

		if (f->n_exits == 0 && functions->may_throw)
			message_print(
				"--region %s: it jumps to other functions, so the kernel replaces "
				"its "
				"return address: a C++ exception that passes through it ends the "
				"program",
				f->name);
	}
}

int probes_answer(const struct probe_options *o, const struct output_options *output,
		  int *out_status, struct err *err)
{
	struct probe_plan plan = { .kernel = &kernel_linux,
				   .root = "",
				   .user_only = o->user_only,
				   .kernel_only = o->kernel_only };
	struct event_specs specs = { 0 };
	struct pmus pmus = { 0 };
	int rc;

	pmus_read(&pmus, "");
	rc = probe_functions_find(&plan.functions, o->functions, o->command[0], err);
	if (rc == 0)
		rc = probe_plan_check(&plan, &pmus, err);
	if (rc == 0)
		rc = parse_events(o, &pmus, &specs, err);
	if (rc == 0) {
		warn_of_exceptions(&plan.functions);
		take_events(&plan, &specs);
		rc = run_and_print(&plan, o, &pmus, output, out_status, err);
	}
	event_specs_release(&specs);
	probe_functions_release(&plan.functions);
	pmus_release(&pmus);
	return rc;
}
