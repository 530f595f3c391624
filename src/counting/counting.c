/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/counting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counting/control.h"
#include "counting/counting_inside.h"
#include "pmu/launch.h"
#include "pmu/perf_event.h"

enum {
	NS_PER_MS = 1000000,
	/* time to the next choice of groups: as long as the run has lasted, within these limits */
	CHOICE_LEAST_NS = 20 * NS_PER_MS,
	CHOICE_MOST_NS = 1000 * NS_PER_MS,
};

/* One run of the command. */
struct run {
	struct launch launch;
	struct target_places places;
	struct target_places uncore; /* of the uncore PMU that is being opened: its CPUs */
	struct handles handles;
	struct sum *sums;		       /* of each slot and spec, over the whole run */
	struct sum *tick_sums;		       /* the same over the interval */
	uint64_t next_tick_ns, next_choice_ns; /* of clock_now_ns(); UINT64_MAX: none */
	uint64_t counted_from_ns;	       /* of clock_now_ns(): while enabled */
	uint64_t counted_ns;		       /* before that */
	struct control control;
	bool is_disabled; /* by a command */
};

/* One slot for each place if counts are separate, else one in all. All runs share the slots. */
static void make_slots(struct counting_state *s, const struct target_places *places)
{
	size_t n = has_separate_counts(s->c) ? places->list.n : 1;

	if (s->slots != NULL)
		return;
	s->n_slots = n;
	s->slots = mem_zalloc(n + 1, sizeof(*s->slots));
	s->runs = mem_zalloc(n * s->n_specs + 1, sizeof(*s->runs));
	for (size_t i = 0; i < n; i++) {
		s->slots[i] = (struct target_place){ .cpu = COUNT_ANY, .tid = COUNT_ANY };
		if (i >= places->list.n)
			continue;
		if (has_separate_counts(s->c)) {
			s->slots[i] = places->list.items[i];
		}
		if (places->list.items[i].where != NULL &&
		    (has_separate_counts(s->c) || places->list.items[i].is_cgroup))
			s->slots[i].where = arena_strndup(&s->memory, places->list.items[i].where,
							  strlen(places->list.items[i].where));
	}
}

/* The events to open as a group with event `first`: itself, and the others of its braces. */
static size_t group_members(const struct counting_state *s, size_t first, uint32_t batch,
			    uint32_t *out)
{
	const struct event_spec *leader = &s->specs[first];
	size_t n = 0;

	for (size_t i = first; i < s->n_specs; i++) {
		const struct event_spec *spec = &s->specs[i];
		bool is_member =
			i == first ||
			(leader->group != 0 && spec->group == leader->group &&
			 (spec->pmu == leader->pmu || spec->pmu == NULL || leader->pmu == NULL));

		if (is_member && s->states[i] == COUNT_COUNTED &&
		    (s->batches[i] == EVERY_BATCH || s->batches[i] == batch))
			out[n++] = (uint32_t)i;
	}
	return n;
}

static int open_group(struct counting_state *s, struct run *run, const uint32_t *events, size_t n,
		      const struct target_places *places, size_t first_slot, struct err *err)
{
	const struct target *target = s->c->target;

	for (size_t i = 0; i < places->list.n; i++) {
		const struct target_place *place = &places->list.items[i];
		struct opening opening = {
			.specs = s->specs,
			.events = events,
			.n_events = n,
			.group = events[0] + 1,
			.next_group = (uint32_t)s->n_specs,
			.place = place,
			.slot = has_separate_counts(s->c) ? (uint32_t)(first_slot + i) : 0,
			.place_index = (uint32_t)i,
			.with_children = place->pid > 0 && !place->is_cgroup &&
					 !s->c->without_children && !s->c->by_thread,
			.starts_by_exec = place->pid > 0 && !place->is_cgroup &&
					  target_is_command(target) && !s->c->starts_disabled,
			.stays_disabled = s->c->starts_disabled,
			.user_only = s->user_only,
			.kernel_only = s->c->kernel_only,
		};

		if (!event_counts_at(&s->specs[events[0]], place))
			continue;
		if (handles_open(&run->handles, &opening, s->outcomes, s->c->root, err) < 0)
			return -1;
	}
	return 0;
}

/* Opens all groups of the batch. An event outside of braces is a group of its own. */
static int open_all(struct counting_state *s, struct run *run, uint32_t batch, struct err *err)
{
	uint32_t *events = mem_alloc(s->n_specs + 1, sizeof(*events));
	bool *is_done = mem_zalloc(s->n_specs + 1, sizeof(*is_done));
	int rc = 0;

	for (size_t i = 0; i < s->n_specs && rc == 0; i++) {
		size_t n = is_done[i] ? 0 : group_members(s, i, batch, events);
		const struct pmu *pmu = s->specs[i].pmu;

		if (n == 0 || events[0] != i)
			continue;
		for (size_t k = 0; k < n; k++)
			is_done[events[k]] = true;
		if (pmu != NULL && pmu->is_uncore && !target_is_cpus(s->c->target)) {
			places_release(&run->uncore);
			places_of_pmu(&run->uncore, pmu);
			rc = open_group(s, run, events, n, &run->uncore, 0, err);
		} else {
			rc = open_group(s, run, events, n, &run->places, 0, err);
		}
	}
	free(events);
	free(is_done);
	return rc;
}

/* Can nothing be counted? A filter of system calls and a sandbox may say that there is no such call (ENOSYS). */
static bool is_refused(int error)
{
	return error == EACCES || error == EPERM || error == ENOSYS;
}

/* Keeps the reason of the first error. Fails if nothing was opened, for lack of rights. */
static int check_opened(const struct counting_state *s, const struct run *run, struct err *err)
{
	for (size_t i = 0; i < s->n_specs; i++) {
		struct event_request request = {
			.attr = &s->specs[i].attr,
			.name = s->specs[i].name,
			.pid = run->places.list.n > 0 ? run->places.list.items[0].pid : 0,
			.cpu = run->places.list.n > 0 ? run->places.list.items[0].cpu : 0,
			.group_fd = EVENT_NO_GROUP,
			.is_cgroup = run->places.list.n > 0 && run->places.list.items[0].is_cgroup,
		};

		struct attr attr = s->specs[i].attr;

		if (s->user_only)
			attr.flags |= 1ull << ATTR_EXCLUDE_KERNEL;
		request.attr = &attr;
		if (s->outcomes[i].error == 0)
			continue;
		event_explain(&request, s->outcomes[i].error, s->c->root, err);
		if (s->end->why[0] == '\0')
			memccpy(s->end->why, err->text, '\0', sizeof(s->end->why) - 1);
		if (run->handles.list.n == 0 && is_refused(s->outcomes[i].error))
			return -1;
	}
	return 0;
}

/* For each handle: the counts since its last reading, or has_failed if its group cannot be read. */
static void read_deltas(struct run *run, struct reading *deltas, bool *has_failed)
{
	struct reading now[GROUP_MAX];
	size_t n;

	for (size_t i = 0; i < run->handles.list.n; i += n) {
		bool is_read = handles_read(&run->handles, i, now, &n);

		for (size_t k = 0; k < n; k++) {
			struct handle *h = &run->handles.list.items[i + k];

			has_failed[i + k] = !is_read;
			if (!is_read)
				continue;
			deltas[i + k] = reading_since(&now[k], &h->last);
			h->last = now[k];
		}
	}
}

/*
 * The kernel does not add to the enabled time of a group that is switched off. Counts are scaled to
 * the whole time, so each group gets the enabled time of the group at its place that was on
 * longest.
 */
static void extend_enabled_times(const struct counting_state *s, const struct run *run,
				 struct reading *deltas)
{
	uint64_t *longest = mem_zalloc(run->places.list.n + 1, sizeof(*longest));

	for (size_t i = 0; i < run->handles.list.n; i++) {
		const struct handle *h = &run->handles.list.items[i];

		if (is_core_spec(&s->specs[h->event]) &&
		    deltas[i].enabled_ns > longest[h->place_index])
			longest[h->place_index] = deltas[i].enabled_ns;
	}
	for (size_t i = 0; i < run->handles.list.n; i++) {
		const struct handle *h = &run->handles.list.items[i];

		if (is_core_spec(&s->specs[h->event]))
			deltas[i].enabled_ns = longest[h->place_index];
	}
	free(longest);
}

/* Adds the counts since the last reading to `sums`, of each slot and spec. */
static void counting_read_all(const struct counting_state *s, struct run *run, struct sum *sums)
{
	size_t n = run->handles.list.n;
	struct reading *deltas = mem_zalloc(n + 1, sizeof(*deltas));
	bool *has_failed = mem_zalloc(n + 1, sizeof(*has_failed));

	read_deltas(run, deltas, has_failed);
	if (s->c->choose != NULL)
		extend_enabled_times(s, run, deltas);
	for (size_t i = 0; i < n; i++) {
		const struct handle *h = &run->handles.list.items[i];
		struct sum *sum = &sums[h->slot * s->n_specs + h->event];

		if (has_failed[i])
			continue;
		sum->group = h->group;
		sum->is_unscaled = s->is_mixed && is_core_spec(&s->specs[h->event]) &&
				   !target_is_cpus(s->c->target);
		sum_add(sum, &deltas[i]);
	}
	free(deltas);
	free(has_failed);
}

/* Ends an interval: its counts go to counting.tick, or to the result. */
static int end_interval(struct counting_state *s, struct run *run, struct err *err)
{
	size_t n = s->n_slots * s->n_specs;
	struct runs *runs = mem_zalloc(n + 1, sizeof(*runs));
	struct counts own = { 0 };
	struct counts *out = s->c->tick != NULL ? &own : s->out;
	int rc = 0;

	memset(run->tick_sums, 0, n * sizeof(*run->tick_sums));
	counting_read_all(s, run, run->tick_sums);
	for (size_t i = 0; i < n; i++) {
		runs_add(&runs[i], &run->tick_sums[i]);
		sum_merge(&run->sums[i], &run->tick_sums[i]);
	}
	vec_add(&out->intervals)->end_ns = clock_now_ns() - run->launch.start_ns;
	add_slot_counts(s, out, runs);
	if (s->c->tick != NULL)
		rc = s->c->tick(s->c->context, out, err);
	counts_release(&own);
	free(runs);
	return rc;
}

/* Switches groups on and off by is_on, and notes in was_on which were ever on. */
static void switch_groups(struct counting_state *s, const struct run *run)
{
	for (uint32_t i = 0; i <= s->c->specs->n_groups; i++)
		s->was_on[i] |= s->is_on[i];
	for (size_t i = 0; i < run->handles.list.n; i++) {
		const struct handle *h = &run->handles.list.items[i];
		uint32_t group = s->specs[h->event].group;

		if (h->is_leader && group != 0 && !run->is_disabled)
			handles_switch(&run->handles, i, s->is_on[group]);
	}
}

/* Calls counting.choose with the counts so far. */
static void choose_groups_on(struct counting_state *s, struct run *run)
{
	size_t n = s->n_slots * s->n_specs;
	struct runs *runs = mem_zalloc(n + 1, sizeof(*runs));
	struct counts so_far = { 0 };
	uint64_t past_ns;

	if (s->c->interval_ms == 0)
		counting_read_all(s, run, run->sums);
	for (size_t i = 0; i < n; i++)
		runs_add(&runs[i], &run->sums[i]);
	add_slot_counts(s, &so_far, runs);
	s->c->choose(s->c->choose_context, &so_far, s->is_on, s->c->specs->n_groups);
	switch_groups(s, run);
	past_ns = clock_now_ns() - run->launch.start_ns;
	if (past_ns < CHOICE_LEAST_NS)
		past_ns = CHOICE_LEAST_NS;
	run->next_choice_ns =
		clock_now_ns() + (past_ns < CHOICE_MOST_NS ? past_ns : CHOICE_MOST_NS);
	counts_release(&so_far);
	free(runs);
}

/*
 * The first choice, before anything is counted. If exec of the program comes later, it switches all
 * groups on (enable_on_exec). So the next choice comes soon.
 */
static void choose_groups_first(struct counting_state *s, struct run *run)
{
	const struct counts none = { 0 };

	run->next_choice_ns = UINT64_MAX;
	if (s->c->choose == NULL)
		return;
	memset(s->is_on, 0, s->c->specs->n_groups + 1);
	s->c->choose(s->c->choose_context, &none, s->is_on, s->c->specs->n_groups);
	switch_groups(s, run);
	run->next_choice_ns = run->launch.start_ns + NS_PER_MS;
}

static int ms_until(uint64_t time_ns)
{
	uint64_t now_ns = clock_now_ns();

	if (time_ns == UINT64_MAX)
		return LAUNCH_FOREVER;
	return time_ns <= now_ns ? 0 : (int)((time_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

/*
 * Lets the delay pass. What was counted meanwhile, also by children that have ended, is read and
 * dropped: exec starts the counters of a command, and counts are differences.
 */
static int wait_for_start(struct counting_state *s, struct run *run, struct err *err)
{
	uint64_t start_ns = run->launch.start_ns + (uint64_t)s->c->delay_ms * NS_PER_MS;
	struct sum *dropped;

	run->counted_from_ns = run->launch.start_ns;
	if (s->c->delay_ms == 0)
		return 0;
	while (!launch_is_over(&run->launch) && clock_now_ns() < start_ns)
		if (launch_wait(&run->launch, ms_until(start_ns), err) < 0)
			return -1;
	if (launch_is_over(&run->launch)) {
		s->end->status = launch_status(&run->launch);
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "--delay %u: nothing was counted, because the end came before",
			       s->c->delay_ms);
	}
	dropped = mem_zalloc(s->n_slots * s->n_specs + 1, sizeof(*dropped));
	counting_read_all(s, run, dropped);
	free(dropped);
	run->counted_from_ns = clock_now_ns();
	return 0;
}

/* Enables or disables everything; of groups that are chosen, those that are on. */
static void enable_all(struct counting_state *s, struct run *run, bool is_enabled)
{
	uint64_t now_ns = clock_now_ns();

	if (run->is_disabled == !is_enabled)
		return;
	if (is_enabled)
		run->counted_from_ns = now_ns;
	else
		run->counted_ns += now_ns - run->counted_from_ns;
	run->is_disabled = !is_enabled;
	for (size_t i = 0; i < run->handles.list.n; i++) {
		const struct handle *h = &run->handles.list.items[i];
		uint32_t group = s->specs[h->event].group;
		bool is_chosen = s->c->choose == NULL || group == 0 || s->is_on[group];

		if (h->is_leader && (is_chosen || !is_enabled))
			handles_switch(&run->handles, i, is_enabled);
	}
}

/* Does what the commands want that have come. */
static void obey(struct counting_state *s, struct run *run)
{
	enum control_command command;

	while ((command = control_next(&run->control)) != CONTROL_NONE) {
		if (command == CONTROL_UNKNOWN)
			continue; /* as perf does: no answer */
		if (command != CONTROL_PING)
			enable_all(s, run, command == CONTROL_ENABLE);
		control_acknowledge(&run->control);
	}
	run->launch.other_fd = run->control.fd;
}

/* Waits until the command ends, or for ^C, and ends intervals and chooses groups meanwhile. */
static int wait_for_end(struct counting_state *s, struct run *run, struct err *err)
{
	uint64_t step_ns = (uint64_t)s->c->interval_ms * NS_PER_MS;

	run->next_tick_ns = step_ns == 0 ? UINT64_MAX : run->counted_from_ns + step_ns;
	while (!launch_is_over(&run->launch)) {
		bool is_tick_next = run->next_tick_ns < run->next_choice_ns;
		uint64_t next_ns = is_tick_next ? run->next_tick_ns : run->next_choice_ns;

		if (launch_wait(&run->launch, ms_until(next_ns), err) < 0)
			return -1;
		obey(s, run);
		if (clock_now_ns() < next_ns || launch_is_over(&run->launch))
			continue;
		if (!is_tick_next) {
			choose_groups_on(s, run);
			continue;
		}
		while (run->next_tick_ns <= clock_now_ns())
			run->next_tick_ns += step_ns;
		if (end_interval(s, run, err) < 0)
			return -1;
	}
	return 0;
}

/* Is not all of the command counted? */
static bool counts_a_part(const struct counting *c)
{
	return c->delay_ms > 0 || c->control != NULL || c->starts_disabled;
}

/* Context switches that may not be counted are in the command's getrusage(), too. */
static void count_switches_by_rusage(const struct counting_state *s, const struct run *run,
				     struct runs *runs)
{
	const struct rusage *usage = &run->launch.usage;

	if (!target_is_command(s->c->target) || s->c->without_children || counts_a_part(s->c))
		return;
	for (size_t i = 0; i < s->n_specs; i++) {
		struct sum sum = { .raw = (uint64_t)(usage->ru_nvcsw + usage->ru_nivcsw) };

		if (s->states[i] != COUNT_FORBIDDEN || s->specs[i].attr.config != CONTEXT_SWITCHES)
			continue;
		runs_add(&runs[i], &sum);
	}
}

static void finish_run(struct counting_state *s, struct run *run, uint32_t batch)
{
	int status = launch_status(&run->launch);

	for (size_t i = 0; i < s->n_slots * s->n_specs; i++) {
		uint32_t its_batch = s->batches[i % s->n_specs];

		/* its group was never on in this run: there is no count, which is not 0 */
		if (s->c->choose != NULL && s->specs[i % s->n_specs].group != 0 &&
		    run->sums[i].enabled_ns > 0 && run->sums[i].running_ns == 0)
			continue;
		if (s->states[i % s->n_specs] == COUNT_COUNTED &&
		    (its_batch == EVERY_BATCH || its_batch == batch))
			runs_add(&s->runs[i], &run->sums[i]);
	}
	count_switches_by_rusage(s, run, s->runs);
	if (target_is_command(s->c->target) && !counts_a_part(s->c)) {
		s->out->n_gave_up += (uint64_t)run->launch.usage.ru_nvcsw;
		s->out->n_put_off += (uint64_t)run->launch.usage.ru_nivcsw;
	}
	if (s->end->status == 0)
		s->end->status = status;
	s->end->is_interrupted |= run->launch.is_interrupted;
	if (!run->is_disabled)
		run->counted_ns += (run->launch.has_ended ? run->launch.end_ns : clock_now_ns()) -
				   run->counted_from_ns;
	s->elapsed_ns += (double)run->counted_ns;
	s->end->n_runs++;
}

static int count_once(struct counting_state *s, struct run *run, uint32_t batch, struct err *err)
{
	if (places_find(&run->places, s->c->target, run->launch.pid, s->c->root, err) < 0)
		return -1;
	make_slots(s, &run->places);
	run->sums = mem_zalloc(s->n_slots * s->n_specs + 1, sizeof(*run->sums));
	run->tick_sums = mem_zalloc(s->n_slots * s->n_specs + 1, sizeof(*run->tick_sums));
	event_limit_raise();
	if (open_all(s, run, batch, err) < 0 || check_opened(s, run, err) < 0)
		return -1;
	if (control_open(&run->control, s->c->control, err) < 0)
		return -1;
	run->launch.other_fd = run->control.fd;
	run->is_disabled = s->c->starts_disabled;
	if (!run->is_disabled)
		handles_start(&run->handles);
	if (launch_go(&run->launch, err) < 0) {
		s->end->status = launch_status(&run->launch);
		return -1;
	}
	choose_groups_first(s, run);
	if (wait_for_start(s, run, err) < 0 || wait_for_end(s, run, err) < 0)
		return -1;
	handles_stop(&run->handles);
	if (s->c->interval_ms > 0 && end_interval(s, run, err) < 0)
		return -1;
	counting_read_all(s, run, run->sums);
	finish_run(s, run, batch);
	return 0;
}

static int run_once(struct counting_state *s, uint32_t batch, struct err *err)
{
	struct run run = {
		.handles.kernel = s->c->kernel,
		.control = { .fd = -1, .ack_fd = -1 },
	};
	int rc;

	if (launch_init(&run.launch, s->c->target->command, err) < 0)
		return -1;
	rc = count_once(s, &run, batch, err);
	launch_release(&run.launch);
	control_release(&run.control);
	handles_release(&run.handles);
	places_release(&run.places);
	places_release(&run.uncore);
	free(run.sums);
	free(run.tick_sums);
	return rc;
}

static int run_all(struct counting_state *s, struct err *err)
{
	unsigned n_runs = s->c->n_runs > 0 ? s->c->n_runs : 1;

	for (unsigned i = 0; i < n_runs; i++)
		for (uint32_t batch = 0; batch < s->n_batches; batch++)
			if (!s->end->is_interrupted && run_once(s, batch, err) < 0)
				return -1;
	return 0;
}

static int check_counting(const struct counting_state *s, struct err *err)
{
	const struct counting *c = s->c;
	bool is_repeated = c->n_runs > 1 || s->n_batches > 1;

	if (s->n_specs == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "there are no events to count");
	if (is_repeated && c->target->command == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "only a command can be run several times");
	if (is_repeated && c->control != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--control is of one run: not together with --repeat or --no-mux");
	if (is_repeated && c->interval_ms > 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--interval excludes --repeat");
	if (multiplexing_is_ambiguous(s))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "on mixed cores events of a task cannot be multiplexed: give fewer "
			       "events, or --no-mux");
	if (c->by_cpu && !target_is_cpus(c->target))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "counts by CPU need --all-cpus or --cpus");
	if (c->by_thread && c->target->pids == NULL && c->target->tids == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "counts by thread need --pid or --tid");
	return 0;
}

static void counting_start(struct counting_state *s)
{
	event_rights_read(&s->rights, s->c->root);
	s->user_only = s->c->user_only || (!s->c->kernel_only && !target_is_cpus(s->c->target) &&
					   !event_rights_kernel(&s->rights));
	s->is_mixed = pmus_core(s->c->pmus, 1) != NULL;
	s->outcomes = mem_zalloc(s->n_specs + 1, sizeof(*s->outcomes));
	s->states = mem_zalloc(s->n_specs + 1, sizeof(*s->states));
	s->batches = mem_zalloc(s->n_specs + 1, sizeof(*s->batches));
	s->is_on = mem_zalloc(s->c->specs->n_groups + 1, sizeof(*s->is_on));
	s->was_on = mem_zalloc(s->c->specs->n_groups + 1, sizeof(*s->was_on));
	for (size_t i = 0; i < s->n_specs; i++)
		s->states[i] = state_before_open(s, &s->specs[i]);
	assign_batches(s);
}

static void counting_state_release(struct counting_state *s)
{
	free(s->outcomes);
	free(s->states);
	free(s->batches);
	free(s->is_on);
	free(s->was_on);
	free(s->runs);
	free(s->slots);
	arena_release(&s->memory);
}

int counting_run(const struct counting *c, struct counts *out, struct counting_end *out_end,
		 struct err *err)
{
	struct counting_end end = { 0 };
	struct counting_state s = {
		.c = c,
		.specs = c->specs->list.items,
		.n_specs = c->specs->list.n,
		.out = out,
		.end = &end,
	};
	int rc;

	*out_end = end;
	counting_start(&s);
	rc = check_counting(&s, err) < 0 ? -1 : run_all(&s, err);
	if (rc == 0) {
		out->elapsed_ns = (uint64_t)(s.elapsed_ns / end.n_runs + 0.5);
		if (c->interval_ms == 0 || c->tick != NULL)
			add_slot_counts(&s, out, s.runs);
	}
	counting_state_release(&s);
	*out_end = end;
	return rc;
}
