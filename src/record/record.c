/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "counting/counters.h"
#include "pmu/catalog_events.h"
#include "pmu/launch.h"
#include "record/attr.h"
#include "record/machine_info.h"
#include "record/recording.h"
#include "record/spe_request.h"
#include "record/synthesize/synthesize.h"
#include "record/targets.h"

enum {
	CHECKPOINT_MS = 1000,  /* a killed recorder loses at most what came in this time */
	GRACE_NS = 2000000000, /* for the program to end after a signal asked for it */
	NS_PER_MS = 1000000,
};

#define ROOT "" /* this machine */

enum { POLL_LAUNCH, POLL_SNAPSHOT };

struct job {
	const struct record_options *options;
	const struct kernel *kernel;
	struct diags *diags;
	const char *spe; /* filters for SPE; NULL: SPE is not recorded */
	struct pmus pmus;
	struct catalog_events *catalog;
	struct record_events events;
	struct record_target target;
	struct launch launch;
	bool is_launched;
	int snapshot_fd; /* readable when a snapshot is asked for; -1: not in snapshot mode */
	struct recording recording;
	struct writer *writer;
	char *old_path; /* where an older file of this name was moved; NULL: there was none */
	uint64_t start_ns, checkpoint_ns, interrupted_ns;
	int old_priority;
	bool goes_first; /* has another priority since */
	bool is_enabled; /* events are enabled */
	bool is_dirty;	 /* something came since the last checkpoint */
	struct record_summary summary;
};

static uint64_t now_ns(const struct job *j)
{
	return j->kernel->clock_ns(j->kernel->context, CLOCK_MONOTONIC);
}

/* Cycles; the CPU clock if there is no core PMU. */
static const char *default_event(const struct job *j)
{
	struct attr cycles = { .type = ATTR_TYPE_HARDWARE, .sample_period = 1000000 };
	struct event_request request = { .attr = &cycles,
					 .cpu = EVENT_ANY_CPU,
					 .group_fd = EVENT_NO_GROUP };
	int fd;

	attr_set(&cycles, ATTR_DISABLED);
	attr_set(&cycles, ATTR_EXCLUDE_KERNEL);
	fd = j->kernel->open(j->kernel->context, &request);
	if (fd >= 0)
		j->kernel->close(j->kernel->context, fd);
	if (fd >= 0 || fd == -EACCES || fd == -EPERM)
		return "cycles:P";
	diags_add(j->diags, DIAG_NOTE, ERR_NOWHERE, 0,
		  "no hardware counters here: sampling time (cpu-clock), not cycles");
	return "cpu-clock";
}

/* Takes SPE out of the events, where users of perf name it. */
static void find_spe(struct job *j)
{
	const struct record_options *o = j->options;
	struct text filters = { 0 }, others = { 0 };
	bool found = false;

	text_str(&filters, j->spe != NULL ? j->spe : "");
	for (size_t i = 0; i < o->n_events; i++)
		found |= spe_request_split(o->events[i], &filters, &others);
	if (found)
		j->spe = arena_strndup(&j->events.names, filters.n > 0 ? filters.bytes : "",
				       filters.n);
	text_release(&filters);
	text_release(&others);
}

/* Adds the events but SPE. */
static int record_add_sampled(struct job *j, const struct event_finder *finder, struct err *err)
{
	const struct record_options *o = j->options;
	struct text filters = { 0 }, others = { 0 };
	int rc = 0;

	for (size_t i = 0; i < o->n_events && rc == 0; i++) {
		bool has_spe = spe_request_split(o->events[i], &filters, &others);

		text_char(&others, '\0');
		if (!has_spe || others.n > 1)
			rc = record_events_add(&j->events, has_spe ? others.bytes : o->events[i],
					       &j->pmus, finder, err);
		text_reset(&others);
	}
	text_release(&filters);
	text_release(&others);
	return rc;
}

/* The events of cycle accounting. */
static int add_account(struct job *j, struct err *err)
{
	const struct record_options *o = j->options;
	const struct pmu *core = pmus_core(&j->pmus, 0);
	struct accounting a = {
		.core = core,
		.kernel = j->kernel,
		.cycles_period = o->period,
		.with_all = strcmp(o->cycles, "all") == 0,
		.follows_children = accounting_reads_inherited(j->kernel),
	};
	struct cycle_template *tree = NULL;
	int rc;

	if (core == NULL)
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "--cycles: no hardware counters here (cyclops doctor says why)");
	if (accounting_tree(core, ROOT, &tree, err) < 0)
		return -1;
	a.tree = tree;
	a.n_free = counters_available(&j->pmus, core);
	rc = accounting_add(&a, &j->events, &j->summary.account, j->diags, err);
	cycle_template_free(tree);
	if (rc == 0 && !a.follows_children && !o->without_children && record_is_of_tasks(o))
		diags_add(j->diags, DIAG_NOTE, ERR_NOWHERE, 0,
			  "this kernel (before 6.12) cannot follow children and threads that are "
			  "created later in events with read values; --all-cpus sees them");
	return rc;
}

/* SPE is all that was asked for: nothing else has call chains. */
static bool wants_callers(const struct job *j)
{
	const struct record_options *o = j->options;

	return j->spe != NULL && !o->without_callers && !o->is_snapshot && o->cycles == NULL &&
	       j->events.list.n > 0 && j->events.list.items[j->events.list.n - 1].is_spe;
}

/*
 * Stacks at a low rate, from which the callers of SPE records are estimated: of what takes time, what executes
 * and what misses (docs/callers.md). The last two are left out where this machine does not have them.
 */
static int add_callers(struct job *j, const struct event_finder *finder, struct err *err)
{
	static const char *const others[] = { "instructions", "l1d_cache_refill" };
	const char *first = default_event(j);
	size_t from = j->events.list.n;

	if (record_events_add(&j->events, first, &j->pmus, finder, err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(others) && strcmp(first, "cpu-clock") != 0; i++) {
		size_t n = j->events.list.n;

		if (record_events_add(&j->events, others[i], &j->pmus, finder, &(struct err){ 0 }) <
		    0)
			j->events.list.n = n;
	}
	for (size_t i = from; i < j->events.list.n; i++)
		j->events.list.items[i].is_for_callers = true;
	return 0;
}

static int choose_events(struct job *j, struct err *err)
{
	const struct record_options *o = j->options;
	struct event_finder finder;
	struct event_rights rights;

	j->catalog = catalog_events_new(ROOT);
	finder = catalog_events_finder(j->catalog);
	event_rights_read(&rights, ROOT);
	find_spe(j);
	/* SPE has the most about memory accesses. */
	if (o->with_addresses && j->spe == NULL && o->n_events == 0 && spe_pmu(&j->pmus, 0) != NULL)
		j->spe = "loads,stores";
	if (j->spe != NULL &&
	    spe_request_add(&j->events, j->spe, &j->pmus, o->period, rights.is_perfmon, err) < 0)
		return -1;
	if (j->spe != NULL)
		j->summary.spe_interval = j->events.list.items[0].attr.sample_period;
	if (record_add_sampled(j, &finder, err) < 0)
		return -1;
	if (o->cycles != NULL && add_account(j, err) < 0)
		return -1;
	if (wants_callers(j) && add_callers(j, &finder, err) < 0)
		return -1;
	if (j->events.list.n == 0 &&
	    record_events_add(&j->events, default_event(j), &j->pmus, &finder, err) < 0)
		return -1;
	return record_attrs_complete(&j->events, o, &j->pmus, ROOT, err);
}

static int start_program(struct job *j, struct err *err)
{
	if (launch_init(&j->launch, j->options->program, err) < 0)
		return -1;
	j->is_launched = true;
	return record_target_find(&j->target, j->options, j->launch.pid, ROOT, err);
}

static int open_recording(struct job *j, struct err *err)
{
	j->recording = (struct recording){
		.kernel = j->kernel,
		.options = j->options,
		.root = ROOT,
		.diags = j->diags,
		.events = &j->events,
		.is_cgroup = j->target.is_cgroup,
	};
	if (recording_open(&j->recording, j->target.threads.list.items, j->target.threads.list.n,
			   &j->target.cpus, &j->target.online, err) < 0)
		return -1;
	j->recording.polls.items[POLL_LAUNCH].fd = j->launch.signal_fd;
	return 0;
}

/*
 * The rings are read before other programs run, as far as this user may ask for it: on a busy machine they are full
 * when the turn comes.
 */
static void go_first(struct job *j)
{
	enum { HIGHEST = -20 };

	j->old_priority = getpriority(PRIO_PROCESS, 0);
	j->goes_first = setpriority(PRIO_PROCESS, 0, HIGHEST) == 0;
}

/*
 * Called after the program was forked, so that it does not inherit the settings. SIGXFSZ is
 * ignored: writes then fail with an error at the file size limit. SIGUSR2 asks for a snapshot.
 */
static int prepare_signals(struct job *j, struct err *err)
{
	sigset_t signals;

	go_first(j);
	signal(SIGXFSZ, SIG_IGN);
	if (!j->options->is_snapshot)
		return 0;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	j->snapshot_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (j->snapshot_fd < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "cannot watch for signals: %s",
			       strerror(errno));
	j->recording.polls.items[POLL_SNAPSHOT].fd = j->snapshot_fd;
	return 0;
}

/* The event's name. It gets ":u", as in perf, if kernel code had to be left out. */
static const char *shown_name(struct job *j, const struct record_event *e)
{
	struct text name = { 0 };
	const char *shown;

	if (e->names_modes || !attr_has(&e->attr, ATTR_EXCLUDE_KERNEL))
		return e->name;
	text_format(&name, "%s%su", e->name, strpbrk(e->name, ":/") != NULL ? "" : ":");
	shown = arena_strndup(&j->events.names, name.bytes, name.n);
	text_release(&name);
	return shown;
}

/* Renames an existing file to FILE.old, as perf does. */
static void keep_old_file(struct job *j)
{
	struct text path = { 0 };

	text_format(&path, "%s.old", j->options->output);
	text_char(&path, '\0');
	if (rename(j->options->output, path.bytes) == 0)
		j->old_path = mem_strndup(path.bytes, path.n);
	text_release(&path);
}

struct ids {
	VEC_OF(uint64_t) list;
};

static void ids_of_event(const struct job *j, size_t event, struct ids *out)
{
	for (size_t i = 0; i < j->recording.fds.n; i++)
		if (j->recording.fds.items[i].event == event)
			*vec_add(&out->list) = j->recording.fds.items[i].id;
}

static int record_open_file(struct job *j, struct err *err)
{
	size_t n = j->events.list.n;
	struct writer_event *events = mem_zalloc(n, sizeof(*events));
	struct ids *ids = mem_zalloc(n, sizeof(*ids));
	int rc;

	for (size_t i = 0; i < n; i++) {
		ids_of_event(j, i, &ids[i]);
		events[i] = (struct writer_event){
			.attr = j->events.list.items[i].attr,
			.ids = ids[i].list.items,
			.n_ids = ids[i].list.n,
			.name = shown_name(j, &j->events.list.items[i]),
		};
	}
	keep_old_file(j);
	rc = writer_open(j->options->output, events, n, &j->writer, err);
	for (size_t i = 0; i < n; i++)
		vec_release(&ids[i].list);
	free(ids);
	free(events);
	if (rc < 0)
		return -1;
	/* perf does not read files without a record. */
	writer_finished_round(j->writer);
	writer_checkpoint(j->writer);
	if (j->options->compression != 0)
		return writer_compress(j->writer, j->options->compression, err);
	return 0;
}

static void write_groups(struct job *j)
{
	VEC_OF(struct writer_group) groups = { 0 };

	for (size_t i = 0; i < j->events.list.n; i++) {
		uint32_t n_members = 0;

		for (size_t k = i; k < j->events.list.n; k++)
			n_members += j->events.list.items[k].leader == i;
		if (n_members > 1)
			*vec_add(&groups) =
				(struct writer_group){ "{anon_group}", (uint32_t)i, n_members };
	}
	if (groups.n > 0)
		writer_groups(j->writer, groups.items, groups.n);
	vec_release(&groups);
}

static void write_pmus(struct job *j)
{
	VEC_OF(struct writer_pmu) list = { 0 };
	const struct pmu *core = pmus_core(&j->pmus, 0);

	for (size_t i = 0; i < j->pmus.list.n; i++)
		*vec_add(&list) = (struct writer_pmu){ j->pmus.list.items[i].type,
						       j->pmus.list.items[i].name };
	if (list.n > 0)
		writer_pmus(j->writer, list.items, list.n);
	vec_release(&list);
	if (core != NULL && core->n_caps > 0) {
		VEC_OF(struct writer_capability) caps = { 0 };

		for (size_t i = 0; i < core->n_caps; i++)
			*vec_add(&caps) = (struct writer_capability){ core->caps[i].name,
								      core->caps[i].value };
		writer_pmu_capabilities(j->writer, core->name, caps.items, caps.n);
		vec_release(&caps);
	}
}

/* Writes how the clock of --clockid relates to the wall clock. */
static void write_clock(struct job *j)
{
	const struct attr *attr = &j->events.list.items[0].attr;
	struct timespec resolution = { 0 };

	if (!attr_has(attr, ATTR_USE_CLOCKID))
		return;
	clock_getres(attr->clockid, &resolution);
	writer_feature_u64(j->writer, FEATURE_CLOCKID,
			   (uint64_t)resolution.tv_sec * 1000000000u +
				   (uint64_t)resolution.tv_nsec);
	writer_clock_data(j->writer, (uint32_t)attr->clockid,
			  j->kernel->clock_ns(j->kernel->context, attr->clockid),
			  j->kernel->clock_ns(j->kernel->context, CLOCK_REALTIME));
}

static void set_features(struct job *j)
{
	const struct record_options *o = j->options;
	struct text version = { 0 };
	size_t n = 0;

	text_format(&version, "cyclops %s", o->version);
	text_char(&version, '\0');
	writer_feature_string(j->writer, FEATURE_VERSION, version.bytes);
	text_release(&version);
	while (o->command_line[n] != NULL)
		n++;
	writer_command_line(j->writer, n, o->command_line);
	record_machine(j->writer, ROOT);
	write_pmus(j);
	write_groups(j);
	write_clock(j);
	if (o->branch_filter != 0)
		writer_feature(j->writer, FEATURE_BRANCH_STACK, NULL, 0);
}

/* The attr of the event that brings the side-band: it chooses the kind of mapping records. */
static const struct attr *side_band_attr(const struct job *j)
{
	for (size_t i = 0; i < j->events.list.n; i++)
		if (attr_has(&j->events.list.items[i].attr, ATTR_MMAP2))
			return &j->events.list.items[i].attr;
	return &j->events.list.items[0].attr;
}

/* Writes what existed before recording. A program that is just started needs the kernel only. */
static void write_start(struct job *j)
{
	const struct attr *attr = side_band_attr(j);
	struct synthesis synthesis = {
		.writer = j->writer,
		.root = ROOT,
		.with_data = record_maps_data(j->options),
		.with_build_ids = attr_has(attr, ATTR_BUILD_ID),
		.with_namespaces = attr_has(attr, ATTR_NAMESPACES),
		.diags = j->diags,
		.kernel = j->kernel,
	};
	struct record_time_conv time;

	if (recording_time_conv(&j->recording, &time))
		writer_time_conv(j->writer, &time);
	if (j->spe != NULL)
		spe_info_write(j->writer, &j->pmus, &j->target.cpus, ROOT, SPE_INFO_AUTO);
	if (!attr_has(&j->events.list.items[0].attr, ATTR_EXCLUDE_KERNEL) || j->events.list.n > 1)
		synthesize_kernel(&synthesis);
	if (attr_has(attr, ATTR_KSYMBOL))
		synthesize_bpf(&synthesis);
	if (j->target.threads.list.items[0] == RECORDING_ALL_THREADS || j->target.is_cgroup)
		synthesize_all(&synthesis);
	else if (!j->target.is_program)
		for (size_t i = 0; i < j->target.threads.list.n; i++)
			synthesize_process(&synthesis, (uint32_t)j->target.threads.list.items[i]);
	writer_finished_init(j->writer);
	synthesis_release(&synthesis);
}

static int record_start(struct job *j, struct err *err)
{
	bool is_on_exec = attr_has(&j->events.list.items[0].attr, ATTR_ENABLE_ON_EXEC);

	recording_enable_side_band(&j->recording);
	set_features(j);
	write_start(j);
	writer_checkpoint(j->writer);
	j->start_ns = j->checkpoint_ns = now_ns(j);
	if (!is_on_exec && j->options->delay_ns == 0)
		recording_enable(&j->recording);
	j->is_enabled = j->options->delay_ns == 0;
	return launch_go(&j->launch, err);
}

static void drain_rings(struct job *j)
{
	if (recording_drain(&j->recording, j->writer) > 0)
		j->is_dirty = true;
}

static void checkpoint_if_due(struct job *j, uint64_t now)
{
	if (now - j->checkpoint_ns < (uint64_t)CHECKPOINT_MS * NS_PER_MS)
		return;
	j->checkpoint_ns = now;
	if (!j->is_dirty)
		return;
	if (j->recording.last_ns != 0)
		writer_sample_time(j->writer, j->recording.first_ns, j->recording.last_ns);
	writer_checkpoint(j->writer);
	j->is_dirty = false;
}

static void take_snapshot(struct job *j)
{
	recording_hold_spe(&j->recording, true);
	drain_rings(j);
	recording_snapshot(&j->recording, j->writer);
	j->is_dirty = true;
}

static void answer_snapshot(struct job *j)
{
	struct signalfd_siginfo signal;

	if (j->snapshot_fd < 0 || read(j->snapshot_fd, &signal, sizeof(signal)) != sizeof(signal))
		return;
	take_snapshot(j);
	recording_hold_spe(&j->recording, false);
}

/* Milliseconds until the next checkpoint, the delayed start or the time limit. */
static int time_to_wait(const struct job *j, uint64_t now)
{
	const struct record_options *o = j->options;
	uint64_t next = j->checkpoint_ns + (uint64_t)CHECKPOINT_MS * NS_PER_MS;

	if (!j->is_enabled && j->start_ns + o->delay_ns < next)
		next = j->start_ns + o->delay_ns;
	if (o->duration_ns != 0 && j->start_ns + o->delay_ns + o->duration_ns < next)
		next = j->start_ns + o->delay_ns + o->duration_ns;
	return next <= now ? 0 : (int)((next - now + NS_PER_MS - 1) / NS_PER_MS);
}

/*
 * Has a limit been reached, writing failed, or the program not ended within GRACE_NS of a signal?
 */
static bool must_end(struct job *j, uint64_t now)
{
	const struct record_options *o = j->options;

	if (o->max_bytes != 0 && writer_size(j->writer) >= o->max_bytes)
		j->summary.reached_size = true;
	if (o->duration_ns != 0 && now - j->start_ns >= o->delay_ns + o->duration_ns)
		j->summary.reached_time = true;
	if (j->launch.is_interrupted && j->interrupted_ns == 0)
		j->interrupted_ns = now;
	return j->summary.reached_size || j->summary.reached_time || writer_has_failed(j->writer) ||
	       (j->interrupted_ns != 0 && now - j->interrupted_ns >= GRACE_NS);
}

static int record_until_end(struct job *j, struct err *err)
{
	bool has_events = true;

	while (has_events && !launch_is_over(&j->launch)) {
		uint64_t now = now_ns(j);

		if (must_end(j, now))
			break;
		has_events = recording_wait(&j->recording, time_to_wait(j, now));
		j->summary.n_wakeups++;
		drain_rings(j);
		answer_snapshot(j);
		now = now_ns(j);
		checkpoint_if_due(j, now);
		if (!j->is_enabled && now - j->start_ns >= j->options->delay_ns) {
			recording_enable(&j->recording);
			j->is_enabled = true;
		}
		if (launch_wait(&j->launch, 0, err) < 0)
			return -1;
	}
	return 0;
}

/* Waits until the program has ended, at most GRACE_NS. */
static void await_program(struct job *j)
{
	uint64_t begin = now_ns(j), now = begin;
	struct err ignored;

	while (!launch_is_over(&j->launch) && now - begin < GRACE_NS) {
		launch_wait(&j->launch, (int)((GRACE_NS - (now - begin)) / NS_PER_MS) + 1,
			    &ignored);
		now = now_ns(j);
	}
}

/*
 * Ends a program that was started for the recording and still runs, as after a limit. Its status
 * counts only if it ended by itself or was interrupted.
 */
static void end_program(struct job *j)
{
	bool has_ended = j->recording.n_live == 0 && j->target.is_program;

	if (j->launch.pid == 0)
		return;
	if (!has_ended && !launch_is_over(&j->launch))
		kill(j->launch.pid, SIGTERM);
	has_ended = has_ended || launch_is_over(&j->launch);
	await_program(j);
	if (has_ended || j->launch.is_interrupted)
		j->summary.status = launch_status(&j->launch);
}

/* Notes the usual reason why a breakpoint had no samples. */
static void explain_breakpoints(struct job *j)
{
	struct text text = { 0 };

	for (size_t i = 0; i < j->events.list.n && j->summary.n_samples == 0; i++) {
		const struct record_event *e = &j->events.list.items[i];

		if (e->attr.type != ATTR_TYPE_BREAKPOINT)
			continue;
		text_format(
			&text,
			"event '%s' had no samples: address 0x%" PRIx64
			" was never accessed. In a position-independent program (PIE, the default "
			"of compilers) add the load address to the symbol's value (/proc/PID/maps; "
			"`setarch -R` keeps it constant), or link with -no-pie",
			e->name, e->attr.config1);
		text_char(&text, '\0');
		diags_add(j->diags, DIAG_NOTE, ERR_NOWHERE, 0, text.bytes);
		text_release(&text);
		return;
	}
}

static int record_finish(struct job *j, struct err *err)
{
	struct recording *r = &j->recording;
	struct stat file;
	int rc;

	recording_disable(r);
	drain_rings(j);
	if (j->options->is_snapshot)
		take_snapshot(j);
	if (r->last_ns != 0)
		writer_sample_time(j->writer, r->first_ns, r->last_ns);
	j->summary.n_samples_lost = recording_write_lost(r, j->writer);
	j->summary.n_samples = r->n_samples;
	recording_counted(r, &j->summary.least_counted, &j->summary.most_counted);
	explain_breakpoints(j);
	j->summary.n_records_lost = r->n_records_lost;
	j->summary.aux_bytes = r->aux_bytes;
	j->summary.n_aux = r->n_aux;
	j->summary.n_aux_truncated = r->n_aux_truncated;
	j->summary.n_aux_collided = r->n_aux_collided;
	end_program(j);
	rc = writer_close(j->writer, err);
	j->writer = NULL;
	if (stat(j->options->output, &file) == 0)
		j->summary.n_bytes = (uint64_t)file.st_size;
	if (rc < 0)
		j->summary.status = 0; /* the exit status is then that of the error */
	return rc;
}

/* After a failure to start: removes the file and restores the older one. */
static void abandon_file(struct job *j)
{
	if (j->writer == NULL)
		return;
	writer_abandon(j->writer);
	j->writer = NULL;
	if (j->old_path != NULL)
		rename(j->old_path, j->options->output);
}

static void record_job_release(struct job *j)
{
	abandon_file(j);
	if (j->goes_first)
		setpriority(PRIO_PROCESS, 0, j->old_priority);
	recording_release(&j->recording);
	if (j->snapshot_fd >= 0)
		close(j->snapshot_fd);
	if (j->is_launched)
		launch_release(&j->launch);
	record_target_release(&j->target);
	record_events_release(&j->events);
	catalog_events_free(j->catalog);
	pmus_release(&j->pmus);
	free(j->old_path);
}

int record(const struct record_options *options, const struct kernel *kernel,
	   struct record_summary *out, struct diags *diags, struct err *err)
{
	struct job j = {
		.options = options,
		.kernel = kernel,
		.diags = diags,
		.spe = options->spe,
		.snapshot_fd = -1,
		.recording.kernel = kernel,
	};
	int rc = -1;

	pmus_read(&j.pmus, ROOT);
	if (choose_events(&j, err) < 0 || start_program(&j, err) < 0 ||
	    open_recording(&j, err) < 0 || prepare_signals(&j, err) < 0 ||
	    record_open_file(&j, err) < 0)
		goto out;
	if (record_start(&j, err) < 0) {
		j.summary.status = launch_status(&j.launch);
		goto out;
	}
	rc = record_until_end(&j, err);
	if (record_finish(&j, err) < 0)
		rc = -1;
out:
	*out = j.summary;
	record_job_release(&j);
	return rc;
}
