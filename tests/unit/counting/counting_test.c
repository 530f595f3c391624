/* SPDX-License-Identifier: Apache-2.0 */
/* Counting with the kernel's software events, which every machine has. */
#include "counting/counting.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "pmu/launch.h"
#include "../pmu/tree.h"

/* A command to count, and what came out. */
struct subject {
	struct target target;
	struct pmus pmus;
	struct event_specs specs;
	struct counting counting;
	struct counts counts;
	struct counting_end end;
	struct err err;
};

static char *shell[] = { (char[]){ "sh" }, (char[]){ "-c" }, NULL, NULL };

static void set_up(struct subject *s, const char *events, const char *command)
{
	memset(s, 0, sizeof(*s));
	shell[2] = (char *)(uintptr_t)command;
	s->target.command = command == NULL ? NULL : shell;
	pmus_read(&s->pmus, "");
	assert_int_equal(event_specs_parse(&s->specs, events, &s->pmus, NULL, &s->err), 0);
	s->counting = (struct counting){
		.target = &s->target,
		.pmus = &s->pmus,
		.specs = &s->specs,
		.root = "",
		.user_only = true,
	};
}

static int run(struct subject *s)
{
	return counting_run(&s->counting, &s->counts, &s->end, &s->err);
}

static void tear_down(struct subject *s)
{
	counts_release(&s->counts);
	event_specs_release(&s->specs);
	pmus_release(&s->pmus);
}

static int need_events(void **state)
{
	struct subject s;
	int rc;

	(void)state;
	set_up(&s, "task-clock", "exit 0");
	rc = run(&s);
	tear_down(&s);
	if (rc < 0)
		print_message("counting is not allowed here: %s\n", s.err.text);
	return rc;
}

static void commands_end_as_they_do(void **state)
{
	static const struct {
		const char *command;
		int status;
	} cases[] = {
		{ "exit 0", 0 },
		{ "exit 5", 5 },
		{ "kill -KILL $$", 128 + SIGKILL },
		{ "kill -SEGV $$", 128 + SIGSEGV },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct subject s;

		set_up(&s, "task-clock,page-faults", cases[i].command);
		assert_int_equal(run(&s), 0);
		assert_int_equal(s.end.status, cases[i].status);
		assert_int_equal(s.counts.items.n, 2);
		assert_true(s.counts.items.items[0].value > 0);
		assert_true(s.counts.items.items[1].value > 0);
		assert_string_equal(s.counts.items.items[0].unit, "ns");
		assert_true(s.counts.elapsed_ns > 0);
		tear_down(&s);
	}
}

static void a_missing_command_is_told(void **state)
{
	struct subject s;
	char *const missing[] = { (char[]){ "/no/such/program" }, NULL };

	(void)state;
	set_up(&s, "task-clock", "");
	s.target.command = missing;
	assert_int_equal(run(&s), -1);
	assert_int_equal(s.end.status, LAUNCH_NOT_FOUND);
	assert_non_null(strstr(s.err.text, "/no/such/program"));
	tear_down(&s);
}

/* Each child touches at least 200 pages of its own; all of them count. */
static void children_are_counted_unless_told_otherwise(void **state)
{
	static const char command[] =
		"for i in 1 2 3 4 5 6 7 8; do sh -c 'exit 0'; done; (sh -c 'exit 0' & wait)";
	double with, without;
	struct subject s;

	(void)state;
	set_up(&s, "page-faults", command);
	assert_int_equal(run(&s), 0);
	with = s.counts.items.items[0].value;
	tear_down(&s);
	set_up(&s, "page-faults", command);
	s.counting.without_children = true;
	assert_int_equal(run(&s), 0);
	without = s.counts.items.items[0].value;
	tear_down(&s);
	assert_true(without > 0);
	assert_true(with > 4 * without);
}

static void an_event_that_is_not_there_says_so(void **state)
{
	struct subject s;

	(void)state;
	set_up(&s, "task-clock,dummy,page-faults", "exit 0");
	s.specs.list.items[1].attr.config = 9999;
	assert_int_equal(run(&s), 0);
	assert_int_equal(s.counts.items.n, 3);
	assert_int_equal(s.counts.items.items[0].state, COUNT_COUNTED);
	assert_int_equal(s.counts.items.items[1].state, COUNT_NOT_SUPPORTED);
	assert_int_equal(s.counts.items.items[2].state, COUNT_COUNTED);
	assert_non_null(strstr(s.end.why, "dummy"));
	tear_down(&s);
}

static void repeats_are_averaged(void **state)
{
	char path[] = "/tmp/cyclops-count-XXXXXX";
	int fd = mkstemp(path);
	char command[64], bytes[16];
	struct subject s;

	(void)state;
	snprintf(command, sizeof(command), "echo x >>%s", path);
	set_up(&s, "task-clock", command);
	s.counting.n_runs = 5;
	assert_int_equal(run(&s), 0);
	assert_int_equal(s.counts.items.items[0].n_runs, 5);
	assert_true(s.counts.items.items[0].spread > 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 10);
	close(fd);
	unlink(path);
	tear_down(&s);
}

struct ticks {
	unsigned n;
	double sum;
	uint64_t last_ns;
};

static int take(void *context, const struct counts *counts, struct err *err)
{
	struct ticks *ticks = context;

	(void)err;
	assert_int_equal(counts->intervals.n, 1);
	assert_true(counts->intervals.items[0].end_ns > ticks->last_ns);
	ticks->last_ns = counts->intervals.items[0].end_ns;
	ticks->sum += counts->items.items[0].value;
	ticks->n++;
	return 0;
}

static void intervals_add_up_to_the_whole(void **state)
{
	struct ticks ticks = { 0 };
	struct subject s;

	(void)state;
	set_up(&s, "page-faults", "for i in 1 2 3 4; do sh -c 'sleep 0.2'; done");
	s.counting.interval_ms = 20;
	s.counting.tick = take;
	s.counting.context = &ticks;
	assert_int_equal(run(&s), 0);
	assert_true(ticks.n >= 2);
	assert_true(ticks.sum == s.counts.items.items[0].value);
	tear_down(&s);

	set_up(&s, "page-faults,task-clock", "sleep 1");
	s.counting.interval_ms = 20;
	assert_int_equal(run(&s), 0);
	assert_true(s.counts.intervals.n >= 2);
	assert_int_equal(s.counts.items.n, 2 * s.counts.intervals.n);
	assert_int_equal(s.counts.items.items[2].interval, 1);
	tear_down(&s);
}

static void a_stopped_count_is_still_a_count(void **state)
{
	char command[64];
	struct subject s;

	(void)state;
	snprintf(command, sizeof(command), "kill -TERM %d; exec sleep 100", (int)getpid());
	set_up(&s, "page-faults", command);
	assert_int_equal(run(&s), 0);
	assert_true(s.end.is_interrupted);
	assert_int_equal(s.end.status, 128 + SIGTERM);
	assert_true(s.counts.items.items[0].value > 0);
	tear_down(&s);
}

/* 300 threads that each touch a page: sh cannot, so this process counts itself by thread. */
static void threads_of_a_process_are_found(void **state)
{
	char pid[16];
	struct subject s;

	(void)state;
	set_up(&s, "task-clock", "exit 3");
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	s.target.pids = pid;
	s.counting.by_thread = true;
	assert_int_equal(run(&s), 0);
	assert_int_equal(s.end.status, 3);
	assert_int_equal(s.counts.items.n, 1);
	assert_int_equal(s.counts.items.items[0].tid, getpid());
	assert_non_null(s.counts.items.items[0].where);
	tear_down(&s);
}

static void contradictions_are_refused(void **state)
{
	struct subject s;

	(void)state;
	set_up(&s, "task-clock", NULL);
	s.counting.n_runs = 2;
	assert_int_equal(run(&s), -1);
	tear_down(&s);
	set_up(&s, "task-clock", "exit 0");
	s.counting.n_runs = 2;
	s.counting.interval_ms = 10;
	assert_int_equal(run(&s), -1);
	assert_non_null(strstr(s.err.text, "--interval excludes --repeat"));
	tear_down(&s);
	set_up(&s, "task-clock", "exit 0");
	s.counting.by_cpu = true;
	assert_int_equal(run(&s), -1);
	assert_non_null(strstr(s.err.text, "--all-cpus"));
	tear_down(&s);
}

static void batches_have_one_group_of_each_pmu(void **state)
{
	static const struct {
		const struct tree_file *machine;
		const char *events;
		unsigned n;
	} cases[] = {
		{ tree_neoverse_n1, "r11", 1 },
		{ tree_neoverse_n1, "r11,r8,r4", 3 },
		{ tree_neoverse_n1, "r11,r8,r3", 2 }, /* it has no r3: that takes no run */
		{ tree_neoverse_n1, "{r11,r8},{r11,r4},faults", 2 },
		{ tree_neoverse_n1, "{r11,faults,r8},faults,arm_cmn_0/dtc_cycles/", 1 },
		{ tree_neoverse_n1, "faults,cs", 1 },
		{ tree_big_little, "cycles,r1b", 2 },
		{ tree_big_little, "{cycles,r1b}", 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tree tree;
		struct pmus pmus = { 0 };
		struct event_specs specs = { 0 };
		struct err err;
		struct counting c = { .specs = &specs, .pmus = &pmus };

		tree_make(&tree, cases[i].machine);
		pmus_read(&pmus, tree.root);
		assert_int_equal(event_specs_parse(&specs, cases[i].events, &pmus, NULL, &err), 0);
		c.no_mux = true;
		assert_int_equal(counting_n_batches(&c), cases[i].n);
		c.no_mux = false;
		assert_int_equal(counting_n_batches(&c), 1);
		event_specs_release(&specs);
		pmus_release(&pmus);
		tree_remove(&tree);
	}
}

/* On mixed cores a turn and a migration look alike. */
static void turns_on_mixed_cores_are_refused(void **state)
{
	struct tree tree;
	struct subject s;

	(void)state;
	tree_make(&tree, tree_big_little);
	set_up(&s, "faults", "exit 0");
	event_specs_release(&s.specs);
	pmus_release(&s.pmus);
	pmus_read(&s.pmus, tree.root);
	assert_int_equal(event_specs_parse(&s.specs, "r11,r1b", &s.pmus, NULL, &s.err), 0);
	assert_int_equal(run(&s), -1);
	assert_non_null(strstr(s.err.text, "mixed cores"));
	tear_down(&s);
	tree_remove(&tree);
}

/*
 * A kernel with PMUs that this machine does not have. From one reading to the next is a span of
 * time. In each an event of PMU type T counts 100 * T + config while it is on a counter, which is
 * `share` per cent of the span; one that is switched off does nothing.
 */
struct fake_pmus {
	struct kernel kernel;
	struct fake_count {
		uint32_t type;
		uint64_t config;
		int cpu, group;
		bool is_off;
		unsigned n_spans; /* of a leader: while it was on */
	} opened[64];
	int n_opened, n_closed;
	unsigned share_of_8, share_of_9; /* of the types: per cent */
	void (*choose)(void *context, const struct counts *so_far, bool *is_on, uint32_t n);
	void *choose_context;
	const char *command; /* NULL: one that ends at once */
};

enum { FAKE_FD = 1000, FAKE_SPAN_NS = 100000 };

static int fake_open(void *context, const struct event_request *r)
{
	struct fake_pmus *f = context;

	assert_true((size_t)f->n_opened < COUNT(f->opened));
	f->opened[f->n_opened] = (struct fake_count){
		.type = r->attr->type,
		.config = r->attr->config & UINT32_MAX,
		.cpu = r->cpu,
		.group = r->group_fd == EVENT_NO_GROUP ? FAKE_FD + f->n_opened : r->group_fd,
	};
	return FAKE_FD + f->n_opened++;
}

static int fake_close(void *context, int fd)
{
	struct fake_pmus *f = context;

	assert_in_range(fd, FAKE_FD, FAKE_FD + f->n_opened - 1);
	f->n_closed++;
	return 0;
}

static int fake_control(void *context, int fd, enum kernel_request request, uint64_t argument)
{
	struct fake_pmus *f = context;

	assert_int_equal(argument, 1); /* PERF_IOC_FLAG_GROUP */
	if (f->choose != NULL)
		f->opened[fd - FAKE_FD].is_off = request == KERNEL_DISABLE;
	return 0;
}

static int64_t fake_read(void *context, int fd, void *buffer, size_t size)
{
	struct fake_pmus *f = context;
	struct fake_count *leader = &f->opened[fd - FAKE_FD];
	unsigned share = leader->type == 8 ? f->share_of_8 : f->share_of_9;
	uint64_t *words = buffer;
	uint64_t n = 0;

	leader->n_spans += !leader->is_off;
	for (int i = 0; i < f->n_opened; i++)
		if (f->opened[i].group == fd && (3 + n) * sizeof(*words) < size)
			words[3 + n++] =
				leader->n_spans * (100 * f->opened[i].type + f->opened[i].config);
	words[0] = n;
	words[1] = leader->n_spans * (uint64_t)FAKE_SPAN_NS;
	words[2] = words[1] / 100 * share;
	return (int64_t)((3 + n) * sizeof(*words));
}

static void fake_init(struct fake_pmus *f, unsigned share_of_8, unsigned share_of_9)
{
	*f = (struct fake_pmus){ .share_of_8 = share_of_8, .share_of_9 = share_of_9 };
	f->kernel = (struct kernel){
		.context = f,
		.open = fake_open,
		.close = fake_close,
		.control = fake_control,
		.read = fake_read,
	};
}

/* Counts events of a made-up machine, of a command or on CPUs. */
static void count_on(struct subject *s, struct fake_pmus *f, const struct tree_file *machine,
		     const char *events, const char *cpus)
{
	struct tree tree;

	tree_make(&tree, machine);
	tree_add(&tree, "/sys/devices/system/cpu/online", "0-5");
	tree_add(&tree, "/proc/sys/kernel/perf_event_paranoid", "-1");
	set_up(s, "faults", f->command != NULL ? f->command : "exit 0");
	event_specs_release(&s->specs);
	pmus_release(&s->pmus);
	memset(&s->specs, 0, sizeof(s->specs));
	memset(&s->pmus, 0, sizeof(s->pmus));
	pmus_read(&s->pmus, tree.root);
	s->target.cpus = cpus;
	s->counting.kernel = &f->kernel;
	s->counting.root = tree.root;
	s->counting.choose = f->choose;
	s->counting.choose_context = f->choose_context;
	if (event_specs_parse(&s->specs, events, &s->pmus, NULL, &s->err) < 0 || run(s) < 0)
		fail_msg("%s: %s", events, s->err.text);
	assert_int_equal(f->n_opened, f->n_closed);
	tree_remove(&tree);
}

static const struct count *count_of(const struct subject *s, const char *event, const char *pmu)
{
	for (size_t i = 0; i < s->counts.items.n; i++)
		if (strcmp(s->counts.items.items[i].event, event) == 0 &&
		    strcmp(s->counts.items.items[i].pmu, pmu) == 0)
			return &s->counts.items.items[i];
	fail_msg("no %s of %s", event, pmu);
	abort();
}

/* Time off a counter of one type of core is time on the other: nothing is scaled. */
static void a_task_on_mixed_cores_is_counted_by_type(void **state)
{
	const struct count *a53, *a72;
	struct fake_pmus fake;
	struct subject s;

	(void)state;
	fake_init(&fake, 30, 70);
	count_on(&s, &fake, tree_big_little, "{r11,r1b}", NULL);
	a53 = count_of(&s, "r11", "armv8_cortex_a53");
	a72 = count_of(&s, "r11", "armv8_cortex_a72");
	assert_true(a53->value == 817 && a72->value == 917);
	assert_int_equal(a53->running_ns, a53->enabled_ns);
	/* the A53 does not have it: nobody asks the kernel */
	assert_int_equal(count_of(&s, "r1b", "armv8_cortex_a53")->state, COUNT_NOT_SUPPORTED);
	assert_true(count_of(&s, "r1b", "armv8_cortex_a72")->value == 927);
	assert_int_equal(count_of(&s, "r1b", "armv8_cortex_a72")->group, a72->group);
	assert_int_equal(fake.n_opened, 3);
	tear_down(&s);
}

/* On CPUs of one type time off the counter is turns; each PMU is opened on its own CPUs. */
static void cpus_of_mixed_cores_are_counted_where_they_are(void **state)
{
	struct fake_pmus fake;
	struct subject s;
	int n_a53 = 0;

	(void)state;
	fake_init(&fake, 50, 100);
	count_on(&s, &fake, tree_big_little, "r11", "0,1,4");
	for (int i = 0; i < fake.n_opened; i++) {
		assert_true(fake.opened[i].type == (fake.opened[i].cpu < 4 ? 8 : 9));
		n_a53 += fake.opened[i].type == 8;
	}
	assert_int_equal(fake.n_opened, 3);
	assert_int_equal(n_a53, 2);
	assert_true(count_of(&s, "r11", "armv8_cortex_a53")->value == 2 * 2 * 817);
	assert_int_equal(count_of(&s, "r11", "armv8_cortex_a53")->running_ns, FAKE_SPAN_NS);
	assert_true(count_of(&s, "r11", "armv8_cortex_a72")->value == 917);
	tear_down(&s);
}

/* How often a choice was made; the command waits at the pipe for the second. */
struct choices {
	unsigned n;
	char pipe[64];
	int fd;
};

/* Says which groups are on: the first always, the second at first only, the third never. */
static void choose_some(void *context, const struct counts *so_far, bool *is_on, uint32_t n)
{
	struct choices *choices = context;

	assert_int_equal(n, 3);
	assert_int_equal(so_far->items.n > 0, choices->n > 0);
	is_on[1] = true;
	is_on[2] = ++choices->n == 1;
	is_on[3] = false;
	if (choices->n == 2)
		assert_int_equal(write(choices->fd, "\n", 1), 1);
}

/* A group that was switched off counts for less of the same time; one never on is not told of. */
static void chosen_groups_are_scaled_to_the_whole(void **state)
{
	struct choices choices = { 0 };
	struct fake_pmus fake;
	struct tree folder;
	char command[80];
	uint64_t n_spans;
	struct subject s;

	(void)state;
	fake_init(&fake, 50, 0);
	tree_make(&folder, NULL);
	snprintf(choices.pipe, sizeof(choices.pipe), "%s", folder.root);
	strcat(choices.pipe, "/p");
	assert_int_equal(mkfifo(choices.pipe, 0600), 0);
	choices.fd = open(choices.pipe, O_RDWR | O_CLOEXEC);
	assert_true(choices.fd >= 0);
	snprintf(command, sizeof(command), "read x <%s", choices.pipe);
	fake.command = command;
	fake.choose = choose_some;
	fake.choose_context = &choices;
	count_on(&s, &fake, tree_neoverse_n1, "{r11},{r8},{r4}", NULL);
	assert_int_equal(s.counts.items.n, 2);
	assert_true(choices.n >= 2);
	n_spans = count_of(&s, "r11", "armv8_pmuv3_0")->enabled_ns / FAKE_SPAN_NS;
	assert_true(n_spans >= 2);
	assert_true(count_of(&s, "r11", "armv8_pmuv3_0")->value == (double)n_spans * 2 * 817);
	assert_int_equal(count_of(&s, "r8", "armv8_pmuv3_0")->enabled_ns, n_spans * FAKE_SPAN_NS);
	assert_int_equal(count_of(&s, "r8", "armv8_pmuv3_0")->running_ns, FAKE_SPAN_NS / 2);
	assert_true(count_of(&s, "r8", "armv8_pmuv3_0")->value == (double)n_spans * 2 * 808);
	close(choices.fd);
	tree_remove(&folder);
	tear_down(&s);
}

static void turns_are_scaled(void **state)
{
	struct fake_pmus fake;
	struct subject s;

	(void)state;
	fake_init(&fake, 25, 0);
	count_on(&s, &fake, tree_neoverse_n1, "{r11,r8}", NULL);
	assert_true(count_of(&s, "r11", "armv8_pmuv3_0")->value == 4 * 817);
	assert_int_equal(count_of(&s, "r11", "armv8_pmuv3_0")->raw, 817);
	assert_int_equal(count_of(&s, "r8", "armv8_pmuv3_0")->running_ns, FAKE_SPAN_NS / 4);
	tear_down(&s);
}

int main(void)
{
	const struct CMUnitTest always[] = {
		cmocka_unit_test(batches_have_one_group_of_each_pmu),
		cmocka_unit_test(a_task_on_mixed_cores_is_counted_by_type),
		cmocka_unit_test(cpus_of_mixed_cores_are_counted_where_they_are),
		cmocka_unit_test(chosen_groups_are_scaled_to_the_whole),
		cmocka_unit_test(turns_are_scaled),
	};
	const struct CMUnitTest live[] = {
		cmocka_unit_test(commands_end_as_they_do),
		cmocka_unit_test(a_missing_command_is_told),
		cmocka_unit_test(children_are_counted_unless_told_otherwise),
		cmocka_unit_test(an_event_that_is_not_there_says_so),
		cmocka_unit_test(repeats_are_averaged),
		cmocka_unit_test(intervals_add_up_to_the_whole),
		cmocka_unit_test(a_stopped_count_is_still_a_count),
		cmocka_unit_test(threads_of_a_process_are_found),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(turns_on_mixed_cores_are_refused),
	};
	int failed = cmocka_run_group_tests(always, NULL, NULL);

	if (need_events(NULL) < 0)
		return failed != 0 ? failed : 77;
	return failed + cmocka_run_group_tests(live, NULL, NULL);
}
