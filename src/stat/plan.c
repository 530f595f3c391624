/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "counting/event_checks.h"
#include "pmu/machine.h"
#include "stat/types.h"

/* Always counted: what the kernel knows without a PMU. */
static const char software_events[] = "task-clock,context-switches,cpu-migrations,page-faults";

bool stat_plan_is_method(const struct stat_options *o)
{
	return o->groups == NULL && o->metrics == NULL && o->events == NULL && !o->all;
}

/* Are cores of that PMU among the CPUs that were asked for? What cannot be read is not ours to say. */
static bool is_asked_for(struct stat_plan *plan, const struct pmu *pmu)
{
	struct cpu_list asked;
	struct err ignored;

	if (plan->machine.cpus == NULL || pmu->cpus.n == 0 ||
	    cpu_list_parse(plan->machine.cpus, &plan->pmus.memory, &asked, &ignored) < 0)
		return true;
	for (size_t i = 0; i < cpu_list_n(&asked); i++)
		if (cpu_list_has(&pmu->cpus, cpu_list_at(&asked, i)))
			return true;
	return false;
}

/* What the doctor found to read 0 on these cores takes no counter from others. */
static void forget_dead_events(struct stat_plan *plan, const struct plan_core *core)
{
	struct event_checks checks = { 0 };
	VEC_OF(uint64_t) codes = { 0 };

	event_checks_load(event_checks_key(&checks.memory, core->midr, NULL), &checks);
	for (size_t i = 0; i < checks.list.n; i++) {
		const struct event_check *check = &checks.list.items[i];
		const struct cpu_event *event = cpu_event_find(core->facts, check->event);

		if (check->verdict == EVENT_READS_0 && event != NULL && event->linux_name == NULL)
			*vec_add(&codes) = event->code;
	}
	pmu_forget_events(&plan->pmus, core->pmu, codes.items, codes.n);
	vec_release(&codes);
	event_checks_release(&checks);
}

/* A PMU of no known CPU still has a type of core, and so does a machine without a PMU. */
static int add_core(struct stat_plan *plan, const struct pmu *pmu, const struct catalog *catalog,
		    struct err *err)
{
	const struct plan_machine *m = &plan->machine;
	struct plan_core *core = vec_add(&plan->cores);
	struct counts known = { 0 };

	*core = (struct plan_core){ .pmu = pmu };
	core->midr = machine_midr(m->root,
				  pmu != NULL && pmu->cpus.n > 0 ? pmu->cpus.items[0].first : 0);
	if (pmu != NULL) {
		core->n_free = m->n_free(&plan->pmus, pmu);
		core->slots = (unsigned)pmu_cap_number(pmu, "slots", 0);
	}
	known.midr = core->midr;
	if (stat_facts(catalog, m->cpu_name, &known, &core->facts, err) < 0)
		return -1;
	if (pmu != NULL)
		forget_dead_events(plan, core);
	return 0;
}

int stat_plan_init(struct stat_plan *plan, const struct plan_machine *machine,
		   const struct catalog *catalog, struct err *err)
{
	const struct pmu *pmu;

	*plan = (struct stat_plan){ .machine = *machine };
	pmus_read(&plan->pmus, machine->root);
	for (size_t i = 0; (pmu = pmus_core(&plan->pmus, i)) != NULL; i++)
		if (is_asked_for(plan, pmu) && add_core(plan, pmu, catalog, err) < 0)
			return -1;
	return plan->cores.n > 0 ? 0 : add_core(plan, NULL, catalog, err);
}

static void forget_sets(struct plan_core *core)
{
	event_sets_release(&core->wanted);
	event_sets_release(&core->missing);
	event_sets_release(&core->packed);
	core->wanted = core->missing = core->packed = (struct event_sets){ 0 };
}

void stat_plan_release(struct stat_plan *plan)
{
	for (size_t i = 0; i < plan->cores.n; i++) {
		forget_sets(&plan->cores.items[i]);
		cpu_pmu_free(plan->cores.items[i].facts);
	}
	vec_release(&plan->cores);
	event_specs_release(&plan->specs);
	pmus_release(&plan->pmus);
}

static bool is_there(void *context, const struct wanted_event *wanted)
{
	const struct plan_core *core = context;

	return core->pmu == NULL || wanted->event == NULL || wanted->event->linux_name != NULL ||
	       pmu_has_event(core->pmu, wanted->event->code);
}

/* Is it of another type of core, or of none and so already there with the first type? */
static bool is_of_others(const struct stat_plan *plan, const struct plan_core *core,
			 const struct event_spec *spec)
{
	if (spec->pmu != NULL && spec->pmu->is_core)
		return spec->pmu != core->pmu;
	return core != &plan->cores.items[0];
}

static int stat_plan_add_event(struct stat_plan *plan, const struct plan_core *core,
			       const struct wanted_event *wanted, uint32_t group, struct err *err)
{
	const struct cpu_event *event = wanted->event;
	struct event_specs *specs = &plan->specs;
	const char *kernels_name =
		event != NULL && event->linux_name != NULL ? event->linux_name : wanted->name;
	size_t n_before = specs->list.n, n = n_before;

	if (event != NULL && event->linux_name == NULL && core->pmu != NULL)
		event_specs_add_code(specs, event->name, core->pmu, event->code);
	else if (event_specs_parse(specs, kernels_name, &plan->pmus, NULL, err) < 0)
		return -1;
	for (size_t i = n_before; i < specs->list.n; i++) {
		struct event_spec spec = specs->list.items[i];

		if (is_of_others(plan, core, &spec))
			continue;
		spec.group = group;
		if (event != NULL)
			spec.name = event->name;
		specs->list.items[n++] = spec;
	}
	specs->list.n = n;
	return 0;
}

/* Two names of one event in a group: a counter for it is enough. */
static void drop_repeated(struct event_specs *specs, size_t first)
{
	size_t n = first;

	for (size_t i = first; i < specs->list.n; i++) {
		const struct event_spec *spec = &specs->list.items[i];
		bool is_new = true;

		for (size_t k = first; k < n; k++)
			is_new &= specs->list.items[k].pmu != spec->pmu ||
				  memcmp(&specs->list.items[k].attr, &spec->attr,
					 sizeof(spec->attr)) != 0;
		if (is_new)
			specs->list.items[n++] = *spec;
	}
	specs->list.n = n;
}

/* Each set as a group, but for those that are only to be told of. */
static int add_sets(struct stat_plan *plan, const struct plan_core *core,
		    const struct event_sets *sets, bool are_groups, struct err *err)
{
	for (size_t i = 0; i < sets->list.n; i++) {
		const struct event_set *set = &sets->list.items[i];
		uint32_t group = are_groups ? ++plan->specs.n_groups : 0;
		size_t first = plan->specs.list.n;

		for (size_t k = 0; k < set->n; k++)
			if (stat_plan_add_event(plan, core, &set->events[k], group, err) < 0)
				return -1;
		drop_repeated(&plan->specs, first);
	}
	return 0;
}

/*
 * Names that are none of the catalog's may be software events, or those of PMUs that are no
 * core's: they need none of its counters, so they are taken out before counters are dealt out.
 */
static int add_others(struct stat_plan *plan, struct plan_core *core, struct err *err)
{
	struct event_specs *specs = &plan->specs;
	size_t n = 0;

	for (size_t i = 0; i < core->wanted.list.n; i++) {
		const struct event_set set = core->wanted.list.items[i];
		size_t n_before = specs->list.n;
		bool stays = set.n != 1 || set.events[0].event != NULL;

		if (!stays &&
		    event_specs_parse(specs, set.events[0].name, &plan->pmus, NULL, err) < 0)
			return -1;
		for (size_t k = n_before; k < specs->list.n; k++)
			stays |= event_takes_counter(&specs->list.items[k]);
		if (stays)
			core->wanted.list.items[n++] = set;
		if (stays || core != &plan->cores.items[0])
			specs->list.n = n_before;
	}
	core->wanted.list.n = n;
	return 0;
}

/*
 * On mixed cores events of a task must not take turns. The method then keeps to what matters
 * most; whoever named events is told when they are counted.
 */
static void keep_to_one_group(struct stat_plan *plan, struct plan_core *core)
{
	const struct plan_machine *m = &plan->machine;

	if (plan->cores.n < 2 || !m->is_of_tasks || m->no_mux)
		return;
	for (size_t i = 1; i < core->packed.list.n; i++)
		plan->n_left_out++;
	if (core->packed.list.n > 1)
		core->packed.list.n = 1;
}

static int add_wanted(struct stat_plan *plan, struct plan_core *core, bool is_method,
		      struct err *err)
{
	const struct event_sets *groups = &core->wanted;

	if (add_others(plan, core, err) < 0)
		return -1;
	event_sets_drop(&core->wanted, is_there, core, &core->missing);
	if (core->n_free > 0) {
		event_sets_pack(core->facts, &core->wanted, core->n_free, &core->packed);
		groups = &core->packed;
		if (is_method)
			keep_to_one_group(plan, core);
	}
	core->first_group = plan->specs.n_groups + 1;
	if (add_sets(plan, core, groups, true, err) < 0)
		return -1;
	return add_sets(plan, core, &core->missing, false, err);
}

static void start_over(struct stat_plan *plan)
{
	event_specs_release(&plan->specs);
	plan->specs = (struct event_specs){ 0 };
	plan->n_left_out = 0;
	for (size_t i = 0; i < plan->cores.n; i++)
		forget_sets(&plan->cores.items[i]);
}

int stat_plan_begin(struct stat_plan *plan, const struct stat_options *stat, struct err *err)
{
	bool is_asked = stat->events != NULL || stat->metrics != NULL || stat->groups != NULL;

	start_over(plan);
	if (stat->events == NULL &&
	    event_specs_parse(&plan->specs, software_events, &plan->pmus, NULL, err) < 0)
		return -1;
	if (plan->cores.items[0].pmu == NULL && !is_asked)
		return 0;
	for (size_t i = 0; i < plan->cores.n; i++) {
		struct plan_core *core = &plan->cores.items[i];

		if (stat_wanted(core->facts, stat, &core->wanted, err) < 0 ||
		    add_wanted(plan, core, stat_plan_is_method(stat), err) < 0)
			return -1;
	}
	return 0;
}

int stat_plan_next(struct stat_plan *plan, const struct stat_options *stat,
		   const struct counts *counts, struct err *err)
{
	start_over(plan);
	for (size_t i = 0; i < plan->cores.n; i++) {
		struct plan_core *core = &plan->cores.items[i];
		struct counts its = { 0 };

		if (core->pmu == NULL)
			continue;
		stat_counts_of_pmu(counts, core->pmu->name, &its);
		stat_wanted_next(core->facts, &its, stat, &core->wanted);
		counts_release(&its);
		if (add_wanted(plan, core, true, err) < 0)
			return -1;
	}
	return 0;
}

/* The group that a metric can be counted in; one that is on already if there is one. */
static size_t group_for(const struct event_sets *packed, const struct event_set *metric,
			const bool *is_on)
{
	size_t found = packed->list.n;

	for (size_t i = packed->list.n; i-- > 0;) {
		if (!event_set_holds(&packed->list.items[i], metric))
			continue;
		if (is_on[i])
			return i;
		found = i;
	}
	return found;
}

/* The metrics come in order of importance; those there is no turn left for are left out. */
static void choose_groups(const struct plan_core *core, const struct event_sets *wanted,
			  bool *is_on)
{
	size_t n_on = 0;

	for (size_t i = 0; i < wanted->list.n; i++) {
		size_t group = group_for(&core->packed, &wanted->list.items[i], is_on);

		if (group == core->packed.list.n || is_on[group] || n_on == STAT_PLAN_TURNS)
			continue;
		is_on[group] = true;
		n_on++;
	}
}

/* A CPU without a tree has no first stage that could lead somewhere: everything takes part. */
static void choose_for_core(const struct plan_core *core, const struct stat_options *stat,
			    const struct counts *so_far, bool *is_on)
{
	struct event_sets wanted = { 0 };
	struct counts its = { 0 };

	if (core->facts->topdown.roots.n == 0) {
		memset(is_on, true, core->packed.list.n * sizeof(*is_on));
		return;
	}
	stat_counts_of_pmu(so_far, core->pmu->name, &its);
	stat_wanted_now(core->facts, &its, stat, &wanted);
	choose_groups(core, &wanted, is_on);
	event_sets_release(&wanted);
	counts_release(&its);
}

void stat_plan_choose(void *choice, const struct counts *so_far, bool *is_on, uint32_t n_groups)
{
	const struct stat_choice *c = choice;

	memset(is_on, false, (n_groups + 1) * sizeof(*is_on));
	for (size_t i = 0; i < c->plan->cores.n; i++) {
		const struct plan_core *core = &c->plan->cores.items[i];

		if (core->pmu != NULL && core->packed.list.n > 0)
			choose_for_core(core, c->stat, so_far, is_on + core->first_group);
	}
}

size_t stat_plan_n_groups(const struct stat_plan *plan)
{
	size_t most = 0;

	for (size_t i = 0; i < plan->cores.n; i++)
		if (plan->cores.items[i].packed.list.n > most)
			most = plan->cores.items[i].packed.list.n;
	return most;
}

void stat_plan_describe(const struct stat_plan *plan, struct counts *out)
{
	const struct plan_core *first = &plan->cores.items[0];

	const char *id = cpu_id(first->facts->cpu);

	out->midr = first->midr;
	if (plan->cores.n == 1)
		out->cpu = arena_strndup(&out->memory, id, strlen(id));
	out->n_counters = first->n_free;
	out->slots = first->slots;
	out->has_own_times = true;
	out->has_no_pmu = first->pmu == NULL;
	for (size_t i = 0; i < plan->cores.n && plan->cores.n > 1; i++) {
		const struct plan_core *core = &plan->cores.items[i];

		*vec_add(&out->pmus) = (struct count_pmu){
			.name = arena_strndup(&out->memory, core->pmu->name,
					      strlen(core->pmu->name)),
			.midr = core->midr,
			.n_counters = core->n_free,
			.slots = core->slots,
		};
	}
}
