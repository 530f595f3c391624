/* SPDX-License-Identifier: Apache-2.0 */
/* Calls out of what probes saw; where functions end; what is said if probes cannot be set. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "count/counts.h"
#include "isa/flow.h"
#include "stat/probes/group.h"
#include "../pmu/tree.h"

enum { F, G, H, A = 100, B = 200 };

/* A hit in short: the events are time, which passes by 10 with each hit, and `count`. */
struct step {
	int32_t tid;
	uint32_t function;
	bool is_return;
	uint64_t stack, count;
	bool has_exits, loops;
};

static void feed(struct call_counts *c, const struct step *steps, size_t n)
{
	static uint64_t now;

	c->n_events = 2;
	for (size_t i = 0; i < n; i++) {
		const struct step *s = &steps[i];
		struct probe_hit hit = {
			.tid = s->tid,
			.function = s->function,
			.is_return = s->is_return,
			.has_exits = s->has_exits,
			.loops_to_start = s->loops,
			.stack = s->stack,
			.enabled_ns = now * 10,
			.running_ns = now * 10,
			.values = { now * 10, s->count },
		};

		now++;
		call_counts_add(c, &hit);
	}
}

/* Sums of a function: of outermost calls, without what is inside. */
static void expect_sums(const struct call_counts *c, uint32_t function, uint64_t calls,
			uint64_t inclusive, uint64_t exclusive)
{
	uint64_t n = 0, sum = 0, self = 0;

	for (size_t i = 0; i < c->paths.n; i++) {
		const struct call_path *p = &c->paths.items[i];

		if (p->function != function)
			continue;
		self += p->events[1].sum - p->events[1].inside;
		if (p->is_recursive)
			continue;
		n += p->calls;
		sum += p->events[1].sum;
	}
	assert_int_equal(n, calls);
	assert_int_equal(sum, inclusive);
	assert_int_equal(self, exclusive);
}

static void expect_doubts(const struct call_counts *c, uint64_t unreturned, uint64_t unstarted)
{
	assert_int_equal(c->n_unreturned, unreturned);
	assert_int_equal(c->n_unstarted, unstarted);
}

static void test_nested_and_recursive(void **state)
{
	static const struct step steps[] = {
		{ A, F, false, 1000, 0 }, { A, G, false, 900, 10 },   { A, G, true, 900, 30 },
		{ A, F, false, 800, 31 }, { A, F, true, 800, 41 },    { A, F, true, 1000, 50 },
		{ B, F, false, 1000, 7 }, { B, F, true, 1000, 1007 },
	};
	struct call_counts c = { 0 };

	(void)state;
	feed(&c, steps, COUNT(steps));
	expect_sums(&c, F, 2, 50 + 1000, 30 + 1000);
	expect_sums(&c, G, 1, 20, 20);
	expect_doubts(&c, 0, 0);
	call_counts_release(&c);
}

/* longjmp and exceptions leave calls open: found out by the next return, or by the next start above them. */
static void test_left_calls(void **state)
{
	static const struct step by_return[] = {
		{ A, F, false, 1000, 0 },
		{ A, G, false, 900, 5 },
		{ A, H, false, 800, 6 },
		{ A, F, true, 1000, 10 },
	};
	static const struct step by_start[] = {
		{ A, F, false, 1000, 0, true },	 { A, F, false, 1000, 5, true },
		{ A, F, true, 1000, 9, true },	 { A, G, false, 900, 10 },
		{ A, F, false, 1100, 20, true }, { A, F, true, 1100, 21, true },
	};
	struct call_counts c = { 0 }, d = { 0 };

	(void)state;
	feed(&c, by_return, COUNT(by_return));
	expect_sums(&c, F, 1, 10, 10);
	expect_doubts(&c, 2, 0);
	call_counts_release(&c);
	feed(&d, by_start, COUNT(by_start));
	expect_sums(&d, F, 2, 4 + 1, 5);
	expect_doubts(&d, 2, 0);
	for (size_t i = 0; i < d.paths.n; i++)
		assert_true(d.paths.items[i].parent == 0 && !d.paths.items[i].is_recursive);
	call_counts_release(&d);
}

static void test_tail_calls(void **state)
{
	/* what a jump leads to returns first, at the same stack pointer */
	static const struct step steps[] = {
		{ A, F, false, 1000, 0 },
		{ A, G, false, 1000, 4 },
		{ A, G, true, 1000, 9 },
		{ A, F, true, 1000, 9 },
	};
	/* a loop back to the first instruction is no call */
	static const struct step loops[] = {
		{ A, F, false, 1000, 0, true, true },
		{ A, F, false, 1000, 3, true, true },
		{ A, F, false, 1000, 6, true, true },
		{ A, F, true, 1000, 8, true, true },
	};
	struct call_counts c = { 0 }, d = { 0 };

	(void)state;
	feed(&c, steps, COUNT(steps));
	expect_sums(&c, F, 1, 9, 4);
	expect_sums(&c, G, 1, 5, 5);
	expect_doubts(&c, 0, 0);
	call_counts_release(&c);
	feed(&d, loops, COUNT(loops));
	expect_sums(&d, F, 1, 8, 8);
	expect_doubts(&d, 0, 0);
	call_counts_release(&d);
}

static void test_ends_of_threads(void **state)
{
	static const struct step before[] = { { A, F, false, 1000, 0 }, { B, F, false, 1000, 0 } };
	static const struct step after[] = { { A, F, true, 1000, 5 }, { B + 1, F, true, 1000, 5 } };
	struct call_counts c = { 0 };

	(void)state;
	feed(&c, before, 2);
	call_counts_end_thread(&c, A);
	call_counts_rename_thread(&c, B, B + 1);
	feed(&c, after, 2);
	expect_sums(&c, F, 1, 5, 5);
	expect_doubts(&c, 1, 1);
	call_counts_release(&c);
}

/* What was open when records were lost is not paired with what comes then. */
static void test_lost_records(void **state)
{
	static const struct step before[] = { { A, F, false, 1000, 0 }, { A, G, false, 900, 1 } };
	static const struct step after[] = { { A, F, true, 1000, 900 },
					     { A, F, false, 1000, 901 },
					     { A, F, true, 1000, 902 } };
	struct call_counts c = { 0 };

	(void)state;
	feed(&c, before, 2);
	call_counts_lose(&c, A, 17);
	feed(&c, after, 3);
	expect_sums(&c, F, 1, 1, 1);
	assert_int_equal(c.n_lost, 17);
	assert_int_equal(c.n_after_loss, 3);
	expect_doubts(&c, 0, 0);
	call_counts_release(&c);
}

static void test_sums(void **state)
{
	static const struct step steps[] = {
		{ A, F, false, 1000, 0 }, { A, G, false, 900, 1 },  { A, G, true, 900, 4 },
		{ A, F, true, 1000, 9 },  { A, G, false, 1000, 9 }, { A, G, true, 1000, 14 },
		{ B, G, false, 1000, 0 }, { B, G, true, 1000, 20 },
	};
	struct call_counts c = { 0 }, all = { 0 }, by_thread = { 0 };

	(void)state;
	feed(&c, steps, COUNT(steps));
	call_counts_sum(&c, false, &all);
	call_counts_sum(&c, true, &by_thread);
	assert_int_equal(all.paths.n, 2);
	assert_int_equal(by_thread.paths.n, 3);
	expect_sums(&all, G, 3, 3 + 5 + 20, 28);
	assert_int_equal(all.paths.items[1].events[1].min, 3);
	assert_int_equal(all.paths.items[1].events[1].max, 20);
	call_counts_release(&c);
	call_counts_release(&all);
	call_counts_release(&by_thread);
}

static void test_exits(void **state)
{
	static const struct {
		enum isa isa;
		const char *code;
		size_t size, n_exits;
		uint64_t first;
		bool loops;
	} cases[] = {
		/* test edi,edi; je +3; inc eax; ret; ret */
		{ ISA_X86_64, "\x85\xff\x74\x03\xff\xc0\xc3\xc3", 8, 2, 0x506, false },
		/* jmp to behind the function: a tail call */
		{ ISA_X86_64, "\xff\xc0\xeb\x10", 4, 0, 0, false },
		/* jmp rax: a table, or a tail call */
		{ ISA_X86_64, "\xff\xe0\xc3", 3, 0, 0, false },
		/* dec edi; jne to the start; ret */
		{ ISA_X86_64, "\xff\xcf\x75\xfc\xc3", 5, 1, 0x504, true },
		/* a call that does not return */
		{ ISA_X86_64, "\xe8\x00\x00\x00\x10", 5, 0, 0, false },
		/* cut off */
		{ ISA_X86_64, "\xc3\xe8\x00", 3, 0, 0, false },
		/* add w0,w0,#1; ret */
		{ ISA_A64, "\x00\x04\x00\x11\xc0\x03\x5f\xd6", 8, 1, 0x504, false },
		/* b to behind the function */
		{ ISA_A64, "\x04\x00\x00\x14", 4, 0, 0, false },
		{ ISA_UNKNOWN, "\xc3", 1, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct code_part part = { (const uint8_t *)cases[i].code, cases[i].size,
						0x1000, 0x500 };
		struct probe_function f = { 0 };

		if (cases[i].isa == ISA_X86_64 &&
		    isa_flow_and_size(ISA_X86_64, "\xc3", 1, 0, &(struct flow){ 0 }) == 0)
			continue; /* built without a decoder */
		probe_function_find_exits(&f, cases[i].isa, &part, 1);
		if (f.n_exits != cases[i].n_exits || f.loops_to_start != cases[i].loops ||
		    (f.n_exits > 0 && f.exits[0] != cases[i].first))
			fail_msg("case %zu: %zu exits", i, f.n_exits);
	}
}

/* A kernel that refuses an event by its type, with an errno. */
struct refusing {
	uint32_t type;
	int error, n_open, n_closed;
};

static int refuse_open(void *context, const struct event_request *r)
{
	struct refusing *k = context;

	if (r->attr->type == k->type)
		return -k->error;
	return 100 + k->n_open++;
}

static int count_close(void *context, int fd)
{
	struct refusing *k = context;

	(void)fd;
	k->n_closed++;
	return 0;
}

static int no_id(void *context, int fd, uint64_t *out)
{
	(void)context;
	*out = (uint64_t)fd;
	return 0;
}

static int no_map(void *context, int fd, uint64_t offset, size_t size, bool is_writable, void **out)
{
	(void)context, (void)fd, (void)offset, (void)size, (void)is_writable, (void)out;
	return -EPERM;
}

static void test_errors_of_opening(void **state)
{
	enum { UPROBE = 9 };
	static const struct {
		uint32_t type;
		int error;
		const char *message;
	} cases[] = {
		{ UPROBE, EACCES, "does not allow probes" },
		{ UPROBE, EINVAL, "cannot be probed" },
		{ UPROBE, EMFILE, "out of file descriptors" },
		{ ATTR_TYPE_SOFTWARE, EMFILE, "out of file descriptors" },
		{ UINT32_MAX, 0,
		  "does not allow probes here (Operation not permitted)" }, /* the ring */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct refusing k = { .type = cases[i].type, .error = cases[i].error };
		const struct kernel kernel = { .context = &k,
					       .open = refuse_open,
					       .close = count_close,
					       .id = no_id,
					       .map = no_map };
		struct probe_function f = { .name = "f", .path = "/x", .offset = 16 };
		struct probe_plan plan = {
			.kernel = &kernel, .root = "", .type = UPROBE, .n_events = 1
		};
		struct probe_thread thread = { 0 };
		struct err err;

		plan.functions.list.items = &f;
		plan.functions.list.n = 1;
		assert_int_equal(probe_thread_open(&plan, &thread, 5, &err), -1);
		if (strstr(err.text, cases[i].message) == NULL)
			fail_msg("case %zu: %s", i, err.text);
		assert_int_equal(k.n_closed, k.n_open);
	}
}

/* An event that cannot be counted is left out, and says why; a thread that is gone is no error. */
static void test_events_left_out(void **state)
{
	struct refusing k = { .type = ATTR_TYPE_RAW, .error = EINVAL };
	const struct kernel kernel = {
		.context = &k, .open = refuse_open, .close = count_close, .id = no_id, .map = no_map
	};
	const struct event_spec spec = { .name = "cycles", .attr = { .type = ATTR_TYPE_RAW } },
				faults = { .name = "page-faults",
					   .attr = { .type = ATTR_TYPE_HW_CACHE } };
	struct probe_plan plan = { .kernel = &kernel, .root = "", .n_events = 3 };
	struct probe_thread thread = { 0 };
	struct err err;

	(void)state;
	plan.events[1].spec = &faults;
	plan.events[2].spec = &spec;
	assert_int_equal(probe_thread_open(&plan, &thread, 5, &err), 0);
	assert_int_equal(thread.n_counted, 1);
	assert_int_equal(plan.events[2].state, COUNT_NOT_SUPPORTED);
	assert_non_null(strstr(plan.events[2].why, "does not fit beside the others"));
	probe_thread_close(&plan, &thread);
	k = (struct refusing){ .type = ATTR_TYPE_HW_CACHE, .error = ESRCH };
	assert_int_equal(probe_thread_open(&plan, &thread, 5, &err), 0);
	assert_int_equal(thread.fds.n, 0);
}

static void test_no_probes(void **state)
{
	static const char pmu[] = "/sys/bus/event_source/devices/uprobe/type",
			  format[] = "/sys/bus/event_source/devices/uprobe/format/retprobe",
			  status[] = "/proc/self/status";
	static const struct {
		struct tree_file files[4];
		const char *message; /* NULL: probes can be set */
	} cases[] = {
		{ { { status, "CapEff:\t000001ffffffffff" } }, "Linux 4.17 or later" },
		{ { { pmu, "9" }, { format, "config:0" }, { status, "CapEff:\t0000000000000000" } },
		  "only root or CAP_PERFMON" },
		{ { { pmu, "9" }, { format, "config:3" }, { status, "CapEff:\t0000004000000000" } },
		  NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct probe_plan plan = { 0 };
		struct pmus pmus = { 0 };
		struct tree tree;
		struct err err;
		int rc;

		tree_make(&tree, cases[i].files);
		plan.root = tree.root;
		pmus_read(&pmus, tree.root);
		rc = probe_plan_check(&plan, &pmus, &err);
		if (cases[i].message == NULL) {
			assert_int_equal(rc, 0);
			assert_int_equal(plan.type, 9);
			assert_int_equal(plan.return_bits, 8);
		} else {
			assert_int_equal(rc, -1);
			assert_non_null(strstr(err.text, cases[i].message));
		}
		pmus_release(&pmus);
		tree_remove(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested_and_recursive),
		cmocka_unit_test(test_left_calls),
		cmocka_unit_test(test_tail_calls),
		cmocka_unit_test(test_ends_of_threads),
		cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_errors_of_opening),
		cmocka_unit_test(test_events_left_out),
		cmocka_unit_test(test_no_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
