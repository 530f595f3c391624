/* SPDX-License-Identifier: Apache-2.0 */
/* Lives of processes: each test tells a story and asks what was where, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "fixture.h"

/* What must be at an address; "" for nothing. */
struct expected_path {
	uint32_t pid;
	uint64_t time_ns, address;
	const char *path;
};

static void expect_paths(const struct fixture *f, const struct expected_path *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_string_equal(path_at(f, list[i].pid, list[i].time_ns, list[i].address),
				    list[i].path);
}

#define EXPECT_PATHS(f, ...)                                                                       \
	expect_paths(f, (const struct expected_path[]){ __VA_ARGS__ },                             \
		     COUNT(((const struct expected_path[]){ __VA_ARGS__ })))

static int set_up(void **state)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));

	fixture_init(f);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	fixture_release(*state);
	free(*state);
	return 0;
}

static void test_nothing(void **state)
{
	struct fixture *f = *state;

	fixture_freeze(f);
	assert_int_equal(timeline_n_processes(f->timeline), 2);
	assert_int_equal(timeline_process(f->timeline, 1)->pid, 0);
	assert_string_equal(comm_of(f, 0, 5), "swapper");
	assert_int_equal(timeline_process_of_pid(f->timeline, 7, 5), 0);
	assert_int_equal(timeline_process_of_tid(f->timeline, 7, TIMELINE_NO_TIME), 0);
	assert_string_equal(comm_of(f, 7, 5), "");
	assert_string_equal(path_at(f, 7, 5, 0x1000), "");
}

static void test_overlap(void **state)
{
	struct fixture *f = *state;

	feed_map(f, 10, 7, 0x10000, 0x4000, 0, "/lib/a");
	feed_map(f, 20, 7, 0x12000, 0x4000, 0, "/lib/b");
	fixture_freeze(f);
	EXPECT_PATHS(f, { 7, 5, 0x10000, "" }, { 7, 10, 0x10000, "/lib/a" },
		     { 7, 19, 0x13fff, "/lib/a" }, { 7, 20, 0x13fff, "/lib/b" },
		     { 7, 20, 0x11fff, "/lib/a" }, { 7, 20, 0x15fff, "/lib/b" },
		     { 7, 20, 0x16000, "" }, { 7, 20, 0xffff, "" },
		     { 7, TIMELINE_NO_TIME, 0x12000, "/lib/b" });
}

static void test_windows(void **state)
{
	struct fixture *f = *state;
	static const struct {
		uint64_t time_ns, address, from_ns, to_ns;
	} cases[] = {
		{ 5, 0x10000, 0, 10 },	 { 15, 0x10000, 10, UINT64_MAX },
		{ 15, 0x12000, 10, 20 }, { 25, 0x12000, 20, UINT64_MAX },
		{ 15, 0x15000, 0, 20 },	 { 5, 0x50000, 0, UINT64_MAX },
		{ 10, 0x12000, 10, 20 }, { TIMELINE_NO_TIME, 0x12000, 20, UINT64_MAX },
	};

	feed_map(f, 10, 7, 0x10000, 0x4000, 0, "/lib/a");
	feed_map(f, 20, 7, 0x12000, 0x4000, 0, "/lib/b");
	fixture_freeze(f);
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t process = timeline_process_of_pid(f->timeline, 7, cases[i].time_ns);
		struct placed p = timeline_place(f->timeline, process, false, cases[i].address,
						 cases[i].time_ns);

		assert_int_equal(p.from_ns, cases[i].from_ns);
		assert_int_equal(p.to_ns, cases[i].to_ns);
	}
}

static void test_addresses_at_the_end(void **state)
{
	struct fixture *f = *state;

	feed_map(f, 10, 7, 0xffffffffff600000, 0x1000, 0, "[vsyscall]");
	feed_map(f, 10, 7, UINT64_MAX - 0xfff, 0x1000, 0, "/last");
	feed_map(f, 10, 7, UINT64_MAX - 0x1fff, UINT64_MAX, 0, "/too-long");
	feed_map(f, 30, 7, 0x5000, 0, 0, "/empty");
	fixture_freeze(f);
	EXPECT_PATHS(f, { 7, 10, 0xffffffffff600fff, "[vsyscall]" },
		     { 7, 10, UINT64_MAX, "/too-long" },
		     { 7, 10, UINT64_MAX - 0x1fff, "/too-long" }, { 7, 10, 0, "" },
		     { 7, 40, 0x5000, "" });
}

static void test_fork_inherits(void **state)
{
	struct fixture *f = *state;

	feed_map(f, 10, 7, 0x10000, 0x1000, 0, "/bin/shell");
	feed_fork(f, 20, 8, 8, 7, 7);
	feed_map(f, 30, 7, 0x20000, 0x1000, 0, "/lib/of-parent");
	feed_map(f, 40, 8, 0x30000, 0x1000, 0, "/lib/of-child");
	feed_map(f, 50, 7, 0x10000, 0x1000, 0, "/lib/over-shell");
	fixture_freeze(f);
	EXPECT_PATHS(f, { 8, 19, 0x10000, "" }, { 8, 20, 0x10000, "/bin/shell" },
		     { 8, 60, 0x10000, "/bin/shell" }, { 8, 60, 0x20000, "" },
		     { 8, 39, 0x30000, "" }, { 8, 40, 0x30000, "/lib/of-child" },
		     { 7, 60, 0x10000, "/lib/over-shell" }, { 7, 30, 0x20000, "/lib/of-parent" },
		     { 7, 60, 0x30000, "" });
}

static void test_exec_clears(void **state)
{
	struct fixture *f = *state;
	uint32_t process;

	feed_map(f, 10, 7, 0x10000, 0x1000, 0, "/bin/shell");
	feed_fork(f, 20, 8, 8, 7, 7);
	feed_exec(f, 30, 8, "ls");
	feed_map(f, 31, 8, 0x40000, 0x1000, 0, "/bin/ls");
	feed_comm(f, 40, 8, 8, "renamed");
	fixture_freeze(f);
	EXPECT_PATHS(f, { 8, 29, 0x10000, "/bin/shell" }, { 8, 30, 0x10000, "" },
		     { 8, 31, 0x40000, "/bin/ls" }, { 8, 40, 0x40000, "/bin/ls" },
		     { 7, 40, 0x10000, "/bin/shell" });
	assert_string_equal(comm_of(f, 8, 30), "ls");
	assert_string_equal(comm_of(f, 8, 40), "renamed");
	process = timeline_process_of_pid(f->timeline, 8, 40);
	assert_string_equal(strings_get(timeline_strings(f->timeline),
					timeline_process(f->timeline, process)->comm),
			    "renamed");
}

static void test_pid_reuse(void **state)
{
	struct fixture *f = *state;
	const struct process *first, *second;

	feed_fork(f, 10, 8, 8, 7, 7);
	feed_exec(f, 11, 8, "first");
	feed_map(f, 12, 8, 0x10000, 0x1000, 0, "/bin/first");
	feed_exit(f, 20, 8, 8);
	feed_fork(f, 30, 8, 8, 7, 7);
	feed_exec(f, 31, 8, "second");
	feed_map(f, 32, 8, 0x10000, 0x1000, 0, "/bin/second");
	feed_exit(f, 40, 8, 8);
	fixture_freeze(f);
	/* The end of a process still runs after its EXIT record. */
	EXPECT_PATHS(f, { 8, 9, 0x10000, "" }, { 8, 12, 0x10000, "/bin/first" },
		     { 8, 25, 0x10000, "/bin/first" }, { 8, 31, 0x10000, "" },
		     { 8, 32, 0x10000, "/bin/second" }, { 8, 99, 0x10000, "/bin/second" });
	assert_string_equal(comm_of(f, 8, 25), "first");
	assert_string_equal(comm_of(f, 8, 35), "second");
	first = timeline_process(f->timeline, timeline_process_of_pid(f->timeline, 8, 15));
	second = timeline_process(f->timeline, timeline_process_of_pid(f->timeline, 8, 35));
	assert_ptr_not_equal(first, second);
	assert_int_equal(first->start_ns, 10);
	assert_int_equal(first->end_ns, 20);
	assert_int_equal(second->start_ns, 30);
	assert_int_equal(second->end_ns, 40);
}

static void test_pid_reuse_with_lost_exit(void **state)
{
	struct fixture *f = *state;
	uint32_t first;

	feed_fork(f, 10, 8, 8, 7, 7);
	feed_fork(f, 30, 8, 8, 7, 7);
	fixture_freeze(f);
	first = timeline_process_of_pid(f->timeline, 8, 29);
	assert_int_not_equal(first, timeline_process_of_pid(f->timeline, 8, 30));
	assert_int_equal(timeline_process(f->timeline, first)->end_ns, 30);
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	const struct process *p;

	feed_comm(f, 0, 7, 7, "main");
	feed_fork(f, 10, 7, 100, 7, 7);
	feed_comm(f, 15, 7, 100, "worker");
	feed_map(f, 20, 7, 0x10000, 0x1000, 0, "/lib/a");
	feed_exit(f, 30, 7, 100);
	feed_exit(f, 40, 7, 7);
	fixture_freeze(f);
	assert_int_equal(pid_of(f, 100, 9), -1);
	assert_int_equal(pid_of(f, 100, 10), 7);
	assert_string_equal(comm_of(f, 100, 10), "main");
	assert_string_equal(comm_of(f, 100, 15), "worker");
	assert_string_equal(comm_of(f, 7, 15), "main");
	p = timeline_process(f->timeline, timeline_process_of_tid(f->timeline, 100, 10));
	assert_int_equal(p->n_threads, 2);
	assert_int_equal(p->start_ns, 0);
	assert_int_equal(p->end_ns, 40);
}

static void test_tid_reuse(void **state)
{
	struct fixture *f = *state;

	feed_fork(f, 10, 7, 100, 7, 7);
	feed_exit(f, 20, 7, 100);
	feed_fork(f, 30, 9, 100, 9, 9);
	feed_exit(f, 40, 9, 100);
	feed_fork(f, 50, 100, 100, 7, 7);		 /* now a process of its own */
	feed_switch_wide(f, 70, 0, false, 9, 100, 0, 0); /* whose EXIT was lost */
	fixture_freeze(f);
	assert_int_equal(pid_of(f, 100, 5), -1);
	assert_int_equal(pid_of(f, 100, 10), 7);
	assert_int_equal(pid_of(f, 100, 29), 7);
	assert_int_equal(pid_of(f, 100, 30), 9);
	assert_int_equal(pid_of(f, 100, 50), 100);
	assert_int_equal(pid_of(f, 100, 70), 9);
}

/* A thread that is only ever mentioned existed before; so did its process. */
static void test_mentioned(void **state)
{
	struct fixture *f = *state;

	feed_switch_wide(f, 50, 1, true, 7, 100, 8, 8);
	fixture_freeze(f);
	assert_int_equal(pid_of(f, 100, 0), 7);
	assert_int_equal(pid_of(f, 7, 0), 7); /* not seen itself, but a pid */
	assert_int_equal(pid_of(f, 8, 0), 8);
}

static void test_out_of_order(void **state)
{
	struct fixture *f = *state;

	feed_map(f, 31, 8, 0x40000, 0x1000, 0, "/bin/ls");
	feed_exec(f, 30, 8, "ls");
	feed_map(f, 0, 7, 0x10000, 0x1000, 0, "/bin/shell");
	feed_map(f, 50, 7, 0x10000, 0x1000, 0, "/lib/later");
	feed_fork(f, 20, 8, 8, 7, 7);
	fixture_freeze(f);
	EXPECT_PATHS(f, { 8, 19, 0x10000, "" }, { 8, 20, 0x10000, "/bin/shell" },
		     { 8, 30, 0x10000, "" }, { 8, 31, 0x40000, "/bin/ls" },
		     { 7, 49, 0x10000, "/bin/shell" }, { 7, 50, 0x10000, "/lib/later" });
}

static void test_same_time(void **state)
{
	struct fixture *f = *state;

	feed_map(f, 10, 7, 0x10000, 0x2000, 0, "/first");
	feed_map(f, 10, 7, 0x11000, 0x2000, 0, "/second");
	fixture_freeze(f);
	EXPECT_PATHS(f, { 7, 10, 0x10000, "/first" }, { 7, 10, 0x11000, "/second" });
}

/* What perf makes up from /proc: no inherited mappings, parents in any order. */
static void test_made_up(void **state)
{
	struct fixture *f = *state;
	const struct process *shell, *child;

	feed_made_up_fork(f, 50, 50, 60);
	feed_comm(f, 0, 50, 50, "child");
	feed_map(f, 0, 50, 0x10000, 0x1000, 0, "/bin/child");
	feed_made_up_fork(f, 60, 60, 1);
	feed_comm(f, 0, 60, 60, "shell");
	feed_map(f, 0, 60, 0x20000, 0x1000, 0, "/bin/shell");
	feed_made_up_fork(f, 60, 61, 60);
	feed_fork(f, 0, 70, 70, 60, 60); /* old perf: without the mark */
	feed_fork(f, 10, 80, 80, 60, 60);
	fixture_freeze(f);
	EXPECT_PATHS(f, { 50, 1, 0x10000, "/bin/child" }, { 50, 1, 0x20000, "" },
		     { 60, 1, 0x20000, "/bin/shell" }, { 70, 1, 0x20000, "" },
		     { 80, 10, 0x20000, "/bin/shell" });
	assert_int_equal(pid_of(f, 61, 0), 60);
	shell = timeline_process(f->timeline, timeline_process_of_pid(f->timeline, 60, 0));
	child = timeline_process(f->timeline, timeline_process_of_pid(f->timeline, 50, 0));
	assert_ptr_equal(timeline_process(f->timeline, child->parent), shell);
	assert_int_equal(shell->n_threads, 2);
}

/* Nothing has a time: positions in the file take their place. */
static void test_timeless(void **state)
{
	struct fixture *f = *state;
	const struct process *process;

	f->is_timeless = true;
	feed_map(f, 10, 7, 0x10000, 0x1000, 0, "/bin/shell");
	feed_fork(f, 20, 8, 8, 7, 7);
	feed_fork(f, 20, 9, 9, 7, 7);
	feed_exec(f, 30, 8, "ls");
	feed_map(f, 31, 8, 0x40000, 0x1000, 0, "/bin/ls");
	fixture_freeze(f);
	EXPECT_PATHS(f, { 8, TIMELINE_NO_TIME, 0x40000, "/bin/ls" },
		     { 8, TIMELINE_NO_TIME, 0x10000, "" }, { 8, 25, 0x10000, "/bin/shell" },
		     { 8, 30, 0x10000, "" }, { 9, 19, 0x10000, "" },
		     { 9, TIMELINE_NO_TIME, 0x10000, "/bin/shell" });
	assert_string_equal(comm_of(f, 8, TIMELINE_NO_TIME), "ls");
	assert_true(timeline_is_by_position(f->timeline));
	process = timeline_process(f->timeline, timeline_process_of_pid(f->timeline, 8, 30));
	assert_int_equal(process->start_ns, 0);
	assert_int_equal(process->end_ns, UINT64_MAX);
}

static void test_kernel(void **state)
{
	struct fixture *f = *state;

	/* A module beside the image, recorded first, and the image's text: more image follows. */
	feed_kernel(f, 0, 0xffff80000a000000, 0x1000, 0, "/lib/modules/6.1/a.ko");
	feed_kernel(f, 0, 0xffff800008000000, 0x2000000, 0xffff800008000000,
		    "[kernel.kallsyms]_text");
	feed_ksymbol(f, 0, 0xffff80000f000000, 0x100, 0, "bpf_prog_early");
	feed_ksymbol(f, 20, 0xffff80000f001000, 0x100, 0, "bpf_prog_1");
	feed_ksymbol(f, 30, 0xffff80000f001000, 0x100, 1, "bpf_prog_1");
	feed_ksymbol(f, 40, 0xffff80000f001000, 0x80, 0, "bpf_prog_2");
	feed_ksymbol(f, 50, 0xffff80000a000000, 0x1000, 1, "never registered");
	fixture_freeze(f);
	assert_string_equal(kernel_path_at(f, 5, 0xffff800009000000), "[kernel.kallsyms]");
	assert_string_equal(kernel_path_at(f, 5, 0xffff80000a001000), "[kernel.kallsyms]");
	assert_string_equal(kernel_path_at(f, 60, 0xffff80000a000000), "/lib/modules/6.1/a.ko");
	assert_string_equal(kernel_path_at(f, 60, 0xffff80000f0000ff), "bpf_prog_early");
	assert_string_equal(kernel_path_at(f, 60, 0xffff80000f000100), "");
	assert_string_equal(kernel_path_at(f, 19, 0xffff80000f001000), "");
	assert_string_equal(kernel_path_at(f, 29, 0xffff80000f001000), "bpf_prog_1");
	assert_string_equal(kernel_path_at(f, 39, 0xffff80000f001000), "");
	assert_string_equal(kernel_path_at(f, 40, 0xffff80000f001000), "bpf_prog_2");
	assert_string_equal(kernel_path_at(f, 40, 0xffff80000f001080), "");
	/* Kernel mappings are nobody's own. */
	assert_string_equal(path_at(f, 0, 60, 0xffff800009000000), "");
}

/* kptr_restrict: samples lie in the kernel, though nobody said where it is. */
static void test_hidden_kernel(void **state)
{
	struct fixture *f = *state;

	feed_map(f, 10, 7, 0x10000, 0x1000, 0, "/bin/a");
	fixture_freeze(f);
	assert_string_equal(kernel_path_at(f, 0, 0xffff800009000000), "[kernel.kallsyms]");
}

/* Old perf wrote a kernel mapping of no length: it goes to the end. */
static void test_endless_kernel(void **state)
{
	struct fixture *f = *state;

	feed_kernel(f, 0, 0xc0008000, 0, 0xc0008000, "[kernel.kallsyms]_text");
	fixture_freeze(f);
	assert_string_equal(kernel_path_at(f, 0, 0xc0100000), "[kernel.kallsyms]");
	assert_string_equal(kernel_path_at(f, 0, 0xc0007fff), "");
}

static void test_guest(void **state)
{
	struct fixture *f = *state;

	feed_kernel(f, 0, 0xffff800008000000, 0x2000000, 0, "[kernel.kallsyms]_text");
	feed_mmap(f, &(struct map_record){
			     .pid = 0,
			     .start = 0xffff800008000000,
			     .length = 0x2000000,
			     .misc = 4,
			     .is_old = true,
			     .path = "[guest.kernel.kallsyms]_text",
		     });
	fixture_freeze(f);
	assert_string_equal(kernel_path_at(f, 5, 0xffff800009000000), "[kernel.kallsyms]");
	assert_int_equal(timeline_diags(f->timeline)->list.n, 0);
}

static bool is_kernel_process(const struct fixture *f, uint32_t pid)
{
	uint32_t process = timeline_process_of_pid(f->timeline, pid, 100);

	return timeline_process(f->timeline, process)->is_kernel;
}

static void test_kernel_threads(void **state)
{
	struct fixture *f = *state;

	feed_made_up_fork(f, 1, 1, 0);
	feed_comm(f, 0, 1, 1, "systemd");
	feed_made_up_fork(f, 2, 2, 0);
	feed_comm(f, 0, 2, 2, "kthreadd");
	feed_made_up_fork(f, 3, 3, 2);
	feed_comm(f, 0, 3, 3, "rcu_gp");
	feed_fork(f, 10, 9, 9, 2, 2);
	feed_fork(f, 20, 10, 10, 2, 2);
	feed_exec(f, 21, 10, "modprobe");
	feed_fork(f, 20, 11, 11, 1, 1);
	fixture_freeze(f);
	assert_true(is_kernel_process(f, 0));
	assert_false(is_kernel_process(f, 1));
	assert_true(is_kernel_process(f, 2));
	assert_true(is_kernel_process(f, 3));
	assert_true(is_kernel_process(f, 9));
	assert_false(is_kernel_process(f, 10));
	assert_false(is_kernel_process(f, 11));
}

/* Tasks of pid namespaces that the recorder cannot see have pid 0, which is not the idle task. */
static void test_invisible_tasks(void **state)
{
	struct fixture *f = *state;

	feed_comm(f, 10, 0, 0, "hidden");
	feed_map(f, 20, 0, 0x10000, 0x1000, 0, "/bin/hidden");
	feed_fork(f, 30, 0, 0, 0, 0);
	feed_exit(f, 40, 0, 0);
	feed_comm(f, 50, UINT32_MAX, UINT32_MAX, "gone");
	fixture_freeze(f);
	assert_int_equal(timeline_n_processes(f->timeline), 2);
	assert_string_equal(comm_of(f, 0, 99), "swapper");
	assert_int_equal(timeline_process(f->timeline, 1)->end_ns, UINT64_MAX);
	EXPECT_PATHS(f, { 0, 99, 0x10000, "" });
}

/* What a mapping leaves of older ones, inherited ones among them. */
static void test_pieces(void **state)
{
	struct fixture *f = *state;

	feed_map(f, 10, 7, 0x1000, 0x4000, 0x100000, "/bin/a");
	feed_map(f, 10, 7, UINT64_MAX - 0xfff, 0x1000, 0, "/end");
	feed_fork(f, 20, 8, 8, 7, 7);
	feed_map(f, 30, 8, 0x2000, 0x1000, 0, "/bin/b");
	feed_exec(f, 40, 8, "c");
	fixture_freeze(f);
	EXPECT_PATHS(f, { 8, 19, 0x1000, "" }, { 8, 20, 0x0fff, "" }, { 8, 20, 0x1000, "/bin/a" },
		     { 8, 20, 0x4fff, "/bin/a" }, { 8, 20, 0x5000, "" },
		     { 8, 20, UINT64_MAX, "/end" }, { 8, 30, 0x1fff, "/bin/a" },
		     { 8, 30, 0x2000, "/bin/b" }, { 8, 30, 0x2fff, "/bin/b" },
		     { 8, 30, 0x3000, "/bin/a" }, { 8, 30, UINT64_MAX - 0xfff, "/end" },
		     { 8, 40, 0x1000, "" }, { 7, 40, 0x2000, "/bin/a" });
}

static const char *program_of(const struct fixture *f, uint32_t pid)
{
	const struct modules *m = timeline_modules(f->timeline);
	uint32_t process = timeline_process_of_pid(f->timeline, pid, TIMELINE_NO_TIME);
	struct module_id id = timeline_process(f->timeline, process)->program;

	return id.v == 0 ? "" : strings_get(m->strings, modules_get(m, id)->path);
}

/* A program is the file of the process's name, else the first that is no library; a fork's its parent's. */
static void test_programs(void **state)
{
	struct fixture *f = *state;

	feed_exec(f, 1, 7, "shell");
	feed_map(f, 1, 7, 0x10000, 0x1000, 0, "/lib/libc.so.6");
	feed_map(f, 2, 7, 0x20000, 0x1000, 0, "/bin/shell");
	feed_fork(f, 3, 8, 8, 7, 7);
	feed_fork(f, 4, 9, 9, 7, 7);
	feed_exec(f, 5, 9, "compiler");
	feed_map(f, 6, 9, 0x20000, 0x1000, 0, "/bin/first");
	feed_map(f, 6, 9, 0x30000, 0x1000, 0, "/bin/second");
	feed_exec(f, 7, 10, "libs");
	feed_map(f, 8, 10, 0x30000, 0x1000, 0, "/lib/libc.so.6");
	feed_exec(f, 9, 11, "a-very-long-nam");
	feed_map(f, 9, 11, 0x10000, 0x1000, 0, "/bin/other");
	feed_map(f, 9, 11, 0x30000, 0x1000, 0, "/bin/a-very-long-name-indeed");
	fixture_freeze(f);
	assert_string_equal(program_of(f, 7), "/bin/shell");
	assert_string_equal(program_of(f, 8), "/bin/shell");
	assert_string_equal(program_of(f, 9), "/bin/first");
	assert_string_equal(program_of(f, 10), "");
	assert_string_equal(program_of(f, 11), "/bin/a-very-long-name-indeed");
	assert_int_equal(
		timeline_n_of_program(
			f->timeline,
			timeline_process(f->timeline, timeline_process_of_pid(f->timeline, 7, 5))
				->program),
		2);
}

#define STORY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORY(test_nothing),	     STORY(test_overlap),
		STORY(test_windows),	     STORY(test_addresses_at_the_end),
		STORY(test_fork_inherits),   STORY(test_exec_clears),
		STORY(test_pid_reuse),	     STORY(test_pid_reuse_with_lost_exit),
		STORY(test_threads),	     STORY(test_tid_reuse),
		STORY(test_mentioned),	     STORY(test_out_of_order),
		STORY(test_same_time),	     STORY(test_made_up),
		STORY(test_timeless),	     STORY(test_kernel),
		STORY(test_hidden_kernel),   STORY(test_endless_kernel),
		STORY(test_guest),	     STORY(test_kernel_threads),
		STORY(test_invisible_tasks), STORY(test_pieces),
		STORY(test_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
