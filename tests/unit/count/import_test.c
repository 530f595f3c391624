/* SPDX-License-Identifier: Apache-2.0 */
/* Output of other tools, in every mode that they have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "count/import.h"

/* What is expected of a count; counts of a text are compared in order. */
struct expected {
	const char *event;
	double value;
	double coverage;
	const char *where, *unit;
	int32_t cpu, tid;
	uint8_t state;
};

enum { MOST = 4 };

struct text_case {
	const char *name, *text;
	size_t n, n_intervals;
	struct expected counts[MOST];
};

#define ANY COUNT_ANY, COUNT_ANY

static const struct text_case cases[] = {
	{ "plain csv",
	  "0.87;msec;task-clock;867338;100.00;0.453;CPUs utilized\n"
	  "49;;page-faults;867338;100.00;56.495;K/sec\n"
	  "<not supported>;;cycles;0;100.00;;\n"
	  ";;;;;1.23;insn per cycle\n",
	  3,
	  0,
	  { { "task-clock", 870000, 1, NULL, "ns", ANY, COUNT_COUNTED },
	    { "page-faults", 49, 1, NULL, NULL, ANY, COUNT_COUNTED },
	    { "cycles", 0, 1, NULL, NULL, ANY, COUNT_NOT_SUPPORTED } } },
	{ "commas in the name of an event",
	  "100,,cpu/event=0x3c,umask=0x0/u,500,50.00,,\n"
	  "7,,page-faults,1000,100.00,,\n",
	  2,
	  0,
	  { { "cpu/event=0x3c,umask=0x0/u", 100, 0.5, NULL, NULL, ANY, COUNT_COUNTED },
	    { "page-faults", 7, 1, NULL, NULL, ANY, COUNT_COUNTED } } },
	{ "commas in the name that an event was given, and no cgroups",
	  "CPU0,3,,page-faults,5265514,100.00,570.113,/sec\n"
	  "CPU0,85,,My,Faults:c=1,0.00%,5261247,100.00,16.153,K/sec\n"
	  "CPU1,82,,a,b,5260296,100.00,15.583,K/sec\n",
	  3,
	  0,
	  { { "page-faults", 3, 1, NULL, NULL, 0, COUNT_ANY, COUNT_COUNTED },
	    { "My,Faults:c=1", 85, 1, NULL, NULL, 0, COUNT_ANY, COUNT_COUNTED },
	    { "a,b", 82, 1, NULL, NULL, 1, COUNT_ANY, COUNT_COUNTED } } },
	{ "intervals",
	  "     0.100186532,1.11,msec,task-clock,1105339,100.00,0.011,CPUs utilized\n"
	  "     0.100186532,76,,page-faults,1105339,100.00,68.757,K/sec\n"
	  "     0.200477190,<not counted>,,page-faults,0,100.00,,\n",
	  3,
	  2,
	  { { "task-clock", 1110000, 1, NULL, "ns", ANY, COUNT_COUNTED },
	    { "page-faults", 76, 1, NULL, NULL, ANY, COUNT_COUNTED },
	    { "page-faults", 0, 1, NULL, NULL, ANY, COUNT_NOT_COUNTED } } },
	{ "by cpu",
	  "CPU0,8921,,page-faults,101565306,100.00,87.836,K/sec\n"
	  "CPU11,4213,,page-faults,101627672,100.00,41.456,K/sec\n",
	  2,
	  0,
	  { { "page-faults", 8921, 1, NULL, NULL, 0, COUNT_ANY, COUNT_COUNTED },
	    { "page-faults", 4213, 1, NULL, NULL, 11, COUNT_ANY, COUNT_COUNTED } } },
	{ "by core, with intervals",
	  "0.100186532|S0-D0-C0|2|663||page-faults|101509197|100.00|6.532|K/sec\n",
	  1,
	  1,
	  { { "page-faults", 663, 1, "S0-D0-C0", NULL, ANY, COUNT_COUNTED } } },
	{ "by socket and by node",
	  "S1;32;5;;page-faults;100;100.00;;\n"
	  "N0;64;6;;page-faults;100;100.00;;\n",
	  2,
	  0,
	  { { "page-faults", 5, 1, "S1", NULL, ANY, COUNT_COUNTED },
	    { "page-faults", 6, 1, "N0", NULL, ANY, COUNT_COUNTED } } },
	{ "by thread, whatever its name is",
	  "bash-12120,5,,page-faults,100,100.00,,\n"
	  "a,b c-7,6,,page-faults,100,100.00,,\n",
	  2,
	  0,
	  { { "page-faults", 5, 1, "bash-12120", NULL, COUNT_ANY, 12120, COUNT_COUNTED },
	    { "page-faults", 6, 1, "a,b c-7", NULL, COUNT_ANY, 7, COUNT_COUNTED } } },
	{ "by thread, as text: names with blanks, a parenthesis, a digit first",
	  " Performance counter stats for 'system wide':\n\n"
	  " C2 CompilerThre-22088    48.10 msec task-clock       #    0.231 CPUs utilized\n"
	  "       (sd-pam)-12           71      page-faults\n"
	  "     7z a-1 b-13  <not counted>      page-faults\n\n"
	  "       0.100000000 seconds time elapsed\n",
	  3,
	  0,
	  { { "task-clock", 48.1e6, 1, "C2 CompilerThre-22088", "ns", COUNT_ANY, 22088,
	      COUNT_COUNTED },
	    { "page-faults", 71, 1, "(sd-pam)-12", NULL, COUNT_ANY, 12, COUNT_COUNTED },
	    { "page-faults", 0, 1, "7z a-1 b-13", NULL, COUNT_ANY, 13, COUNT_NOT_COUNTED } } },
	{ "several runs, a cgroup",
	  "49,,page-faults,0.68%,733749,100.00,65.215,K/sec\n"
	  "50,,page-faults,my.slice,733749,100.00,65.215,K/sec\n",
	  2,
	  0,
	  { { "page-faults", 49, 1, NULL, NULL, ANY, COUNT_COUNTED },
	    { "page-faults", 50, 1, "my.slice", NULL, ANY, COUNT_COUNTED } } },
	{ "a long separator and a head",
	  "# started on Thu Nov 20 22:00:00 2026\n\n"
	  "49::"
	  ""
	  "::page-faults::733749::100.00::65.215::K/sec\n",
	  1,
	  0,
	  { { "page-faults", 49, 1, NULL, NULL, ANY, COUNT_COUNTED } } },
	{ "tabs and a decimal comma",
	  "0,87\tmsec\ttask-clock\t867338\t100,00\t0,453\tCPUs utilized\n",
	  1,
	  0,
	  { { "task-clock", 870000, 1, NULL, "ns", ANY, COUNT_COUNTED } } },
	{ "multiplexed: the time of the task is known",
	  "1.00;msec;task-clock;1000000;100.00;;\n"
	  "500;;cycles;339999;33.00;;\n",
	  2,
	  0,
	  { { "task-clock", 1000000, 1, NULL, "ns", ANY, COUNT_COUNTED },
	    { "cycles", 500, 0.339999, NULL, NULL, ANY, COUNT_COUNTED } } },
	{ "json lines",
	  "{\"interval\" : 0.100191648, \"cpu\" : \"1\", \"counter-value\" : \"3.000000\", "
	  "\"unit\" : \"\", \"event\" : \"page-faults\", \"event-runtime\" : 100284434, "
	  "\"pcnt-running\" : 100.00, \"metric-value\" : 29.917187, \"metric-unit\" : \"/sec\"}\n"
	  "{\"metric-value\" : 1.0, \"metric-unit\" : \"insn per cycle\"}\n"
	  "{\"interval\" : 0.200191648, \"thread\" : \"sh-9\", \"counter-value\" : "
	  "\"<not counted>\", \"unit\" : \"\", \"event\" : \"cycles\", \"event-runtime\" : 0, "
	  "\"pcnt-running\" : 0.00}\n",
	  2,
	  2,
	  { { "page-faults", 3, 1, NULL, NULL, 1, COUNT_ANY, COUNT_COUNTED },
	    { "cycles", 0, 1, "sh-9", NULL, COUNT_ANY, 9, COUNT_NOT_COUNTED } } },
	{ "for people",
	  "\n Performance counter stats for './stride -n 3' (3 runs):\n\n"
	  "          1,234.50 msec task-clock       #    0.998 CPUs utilized    ( +-  0.35% )\n"
	  "    43,809,490,290      cycles           #    2.600 GHz      ( +- 1.00% )  (25.00%)\n"
	  "     <not counted>      LLC-loads                                      (0.00%)\n"
	  "   <not supported>      stalled-cycles-backend\n\n"
	  "      16.851234567 +- 0.01 seconds time elapsed  ( +-  0.06% )\n\n"
	  "       1.000000000 seconds user\n",
	  4,
	  0,
	  { { "task-clock", 1234500000, 1, NULL, "ns", ANY, COUNT_COUNTED },
	    { "cycles", 43809490290, 0.25, NULL, NULL, ANY, COUNT_COUNTED },
	    { "LLC-loads", 0, 1, NULL, NULL, ANY, COUNT_NOT_COUNTED },
	    { "stalled-cycles-backend", 0, 1, NULL, NULL, ANY, COUNT_NOT_SUPPORTED } } },
	{ "for people, by cpu and interval",
	  "#           time CPU                    counts unit events\n"
	  "     0.100267837 CPU0                   101.99 msec task-clock       # 1.020 CPUs\n"
	  "     0.100267837 CPU1                      191      page-faults      # 1.873 K/sec\n",
	  2,
	  1,
	  { { "task-clock", 101990000, 1, NULL, "ns", 0, COUNT_ANY, COUNT_COUNTED },
	    { "page-faults", 191, 1, NULL, NULL, 1, COUNT_ANY, COUNT_COUNTED } } },
	{ "for people, of an old perf",
	  " Performance counter stats for './naive':\n\n"
	  "       16000.5 task-clock-msecs  # 0.998 CPUs\n"
	  "   14502134879 cycles            # 0.000 GHz                 [33.40%]\n"
	  "    1205883902 instructions      # 0.08 insns per cycle  ( +- 1.00% ) [50.10%]\n"
	  "       2982314 cache-misses      # 0.186 M/sec  (scaled from 66.72%)\n\n"
	  "      16.1 seconds time elapsed\n",
	  4,
	  0,
	  { { "task-clock", 16000500000, 1, NULL, "ns", ANY, COUNT_COUNTED },
	    { "cycles", 14502134879, 0.334, NULL, NULL, ANY, COUNT_COUNTED },
	    { "instructions", 1205883902, 0.501, NULL, NULL, ANY, COUNT_COUNTED },
	    { "cache-misses", 2982314, 0.6672, NULL, NULL, ANY, COUNT_COUNTED } } },
	{ "a number and an event alone",
	  "# started on Thu Jun 27 09:58:08 2013\n\n"
	  "1,241,209,259 instructions\n"
	  "   11759598287 cycles [33.40%]\n"
	  "12.5 msec task-clock\n",
	  3,
	  0,
	  { { "instructions", 1241209259, 1, NULL, NULL, ANY, COUNT_COUNTED },
	    { "cycles", 11759598287, 0.334, NULL, NULL, ANY, COUNT_COUNTED },
	    { "task-clock", 12500000, 1, NULL, "ns", ANY, COUNT_COUNTED } } },
	{ "rpistat",
	  "*****\nrpistat: ./naive\nThu Jun 27 09:58:08 2013\n*****\n\n"
	  "  Number of processors:     1\n"
	  "  [ ... ] = scaled event count\n  PTI     = per thousand instructions\n"
	  "  Total periods:      169\n\n"
	  "  Cycles:             11,759,598,287\n"
	  "  Instructions:       315,810,640  [1,241,209,259]\n"
	  "  Instr periods:      43\n  CPI:                9.474\n\n"
	  "  Main TLB misses:    172,973  [696,010]\n  TLB periods:        42\n"
	  "  Mispredicted BR:    366,383  [1,474,255]\n"
	  "  Mispredict ratio:   1.096  %\n",
	  4,
	  0,
	  { { "CPU_CYCLES", 11759598287, 1, NULL, NULL, ANY, COUNT_COUNTED },
	    { "INSTR_EXEC", 1241209259, 43.0 / 169, NULL, NULL, ANY, COUNT_COUNTED },
	    { "MAIN_TLB_MISS", 696010, 42.0 / 169, NULL, NULL, ANY, COUNT_COUNTED },
	    { "BR_MISPREDICT", 1474255, 1, NULL, NULL, ANY, COUNT_COUNTED } } },
	{ "events of topdown-tool",
	  "run,time,event,value\n1,,CPU_CYCLES,1000\n2,,CPU_CYCLES,1100\n2,,LD_SPEC,\n",
	  3,
	  0,
	  { { "CPU_CYCLES", 1000, 1, NULL, NULL, ANY, COUNT_COUNTED },
	    { "CPU_CYCLES", 1100, 1, NULL, NULL, ANY, COUNT_COUNTED },
	    { "LD_SPEC", 0, 1, NULL, NULL, ANY, COUNT_NOT_COUNTED } } },
	{ "the machine model",
	  "{\"schema\":1,\"modelled\":true,\"program\":\"walk\",\"midr\":\"0x413fd0c1\","
	  "\"time_ns\":10,\"events\":{\"INST_RETIRED\":{\"count\":5,\"enabled_ns\":10,"
	  "\"running_ns\":10}},\"cpus\":[{\"cpu\":3,\"events\":{\"INST_RETIRED\":{\"count\":5,"
	  "\"enabled_ns\":10,\"running_ns\":10}}}]}",
	  1,
	  0,
	  { { "INST_RETIRED", 5, 1, NULL, NULL, 3, COUNT_ANY, COUNT_COUNTED } } },
};

static void compare_text(const char *name, const char *what, const char *found, const char *wanted)
{
	if (found != NULL && wanted != NULL && strcmp(found, wanted) == 0)
		return;
	if (found != wanted)
		fail_msg("%s: %s '%s', wanted '%s'", name, what, found ? found : "(none)",
			 wanted ? wanted : "(none)");
}

static void compare(const char *name, const struct count *found, const struct expected *wanted)
{
	compare_text(name, "event", found->event, wanted->event);
	compare_text(name, "where", found->where, wanted->where);
	compare_text(name, "unit", found->unit, wanted->unit);
	assert_int_equal(found->state, wanted->state);
	assert_int_equal(found->cpu, wanted->cpu);
	assert_int_equal(found->tid, wanted->tid);
	if (fabs(found->value - wanted->value) > 1e-9 * fabs(wanted->value))
		fail_msg("%s: %s: %.17g, wanted %.17g", name, found->event, found->value,
			 wanted->value);
	if (fabs(count_coverage(found) - wanted->coverage) > 1e-6)
		fail_msg("%s: %s: coverage %g, wanted %g", name, found->event,
			 count_coverage(found), wanted->coverage);
}

static void reads_every_format(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct text_case *t = &cases[i];
		struct counts c = { 0 };
		struct err err = { 0 };

		if (counts_import(t->text, strlen(t->text), NULL, &c, &err) < 0)
			fail_msg("%s: %s", t->name, err.text);
		if (c.items.n != t->n || c.intervals.n != t->n_intervals)
			fail_msg("%s: %zu counts in %zu intervals, wanted %zu in %zu", t->name,
				 c.items.n, c.intervals.n, t->n, t->n_intervals);
		for (size_t j = 0; j < t->n; j++)
			compare(t->name, &c.items.items[j], &t->counts[j]);
		counts_release(&c);
	}
}

/* Each text, truncated at each byte: an answer or an error, and no read past the end. */
static void is_cut_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (size_t len = 0; len < strlen(cases[i].text); len++) {
			char *cut = mem_alloc(len + 1, 1);
			struct counts c = { 0 };
			struct err err = { 0 };

			memcpy(cut, cases[i].text, len);
			if (counts_import(cut, len, NULL, &c, &err) < 0)
				assert_true(err.text[0] != '\0');
			else
				assert_true(c.items.n + c.metrics.n <= cases[i].n + 1);
			counts_release(&c);
			free(cut);
		}
	}
}

static void knows_the_rest(void **state)
{
	static const char people[] = " Performance counter stats for 'sleep 1' (3 runs):\n\n"
				     "  12  page-faults\n\n"
				     " 1.5 +- 0.1 seconds time elapsed  ( +-  6.67% )\n";
	static const char csv[] = "49,,page-faults,0.68%,733749,100.00,,\n";
	static const char model[] =
		"{\"modelled\":true,\"program\":\"walk\",\"midr\":\"0x413fd0c1\","
		"\"time_ns\":10,\"events\":{\"A\":{\"count\":5}}}";
	static const char own[] = "{\"run\":[{\"program\":\"walk\",\"time_ns\":10,"
				  "\"voluntary_switches\":3,\"involuntary_switches\":53}],"
				  "\"events\":{\"A\":{\"count\":5}}}";
	static const char told[] = "time,group,stage,level,metric,value,units\n"
				   ",General,2,1,ipc,1.5,per cycle\n"
				   ",Other,2,1,ipc,1.5,per cycle\n,General,2,1,none,,x\n";
	static const char pi[] = "rpistat: ./naive 500\nThu Jun 27 09:58:08 2013\n"
				 "Total periods: 169\nBranches: 33,438,664  [134,550,814]\n"
				 "BR periods: 42\n";
	struct counts c = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(counts_import(pi, sizeof(pi) - 1, NULL, &c, &err), 0);
	assert_string_equal(c.cpu, "arm1176");
	assert_string_equal(c.command, "./naive 500");
	assert_string_equal(c.date, "Thu Jun 27 09:58:08 2013");
	assert_int_equal(c.items.items[0].raw, 33438664);
	assert_int_equal(c.items.items[0].n_periods, 42);
	counts_release(&c);

	assert_int_equal(counts_import(people, sizeof(people) - 1, NULL, &c, &err), 0);
	assert_string_equal(c.command, "sleep 1");
	assert_int_equal(c.elapsed_ns, 1500000000);
	assert_true(fabs(c.elapsed_spread - 0.0667) < 1e-9);
	assert_int_equal(c.items.items[0].n_runs, 3);
	counts_release(&c);

	assert_int_equal(counts_import(csv, sizeof(csv) - 1, NULL, &c, &err), 0);
	assert_true(fabs(c.items.items[0].spread - 0.0068) < 1e-12);
	counts_release(&c);

	assert_int_equal(counts_import(model, sizeof(model) - 1, NULL, &c, &err), 0);
	assert_true(c.is_modelled);
	assert_int_equal(c.midr, 0x413fd0c1);
	assert_string_equal(c.command, "walk");
	counts_release(&c);

	assert_int_equal(counts_import(own, sizeof(own) - 1, NULL, &c, &err), 0);
	assert_int_equal(c.elapsed_ns, 10);
	assert_int_equal(c.n_gave_up, 3);
	assert_int_equal(c.n_put_off, 53);
	counts_release(&c);

	assert_int_equal(counts_import(told, sizeof(told) - 1,
				       "/out/cpu/neoverse_v1_core_3_metrics.csv", &c, &err),
			 0);
	assert_int_equal(c.metrics.n, 1);
	assert_true(c.metrics.items[0].value == 1.5);
	assert_string_equal(c.cpu, "neoverse_v1");
	counts_release(&c);
}

/* A machine with two types of cores, as cyclops stat writes it. */
static void reads_types_of_cores(void **state)
{
	static const char json[] =
		"{\"schema\":2,\"run@armv8_pmuv3_0\":[{\"cpu_id\":\"neoverse-n1\"}],"
		"\"events@armv8_pmuv3_0\":{\"A\":{\"count\":5},\"page-faults\":{\"count\":7}},"
		"\"events@armv8_pmuv3_1\":{\"A\":{\"count\":6,\"enabled_ns\":4,\"running_ns\":2}}}";
	struct counts c = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(counts_import(json, sizeof(json) - 1, NULL, &c, &err), 0);
	assert_int_equal(c.items.n, 3);
	assert_int_equal(c.pmus.n, 2);
	assert_string_equal(c.pmus.items[0].cpu, "neoverse-n1");
	assert_null(c.pmus.items[1].cpu);
	assert_string_equal(c.items.items[0].pmu, "armv8_pmuv3_0");
	assert_string_equal(c.items.items[2].pmu, "armv8_pmuv3_1");
	assert_true(c.items.items[2].value == 6 && c.has_own_times);
	counts_release(&c);
}

/* Events with equal running times, below all of the time, were a group. */
static void infers_groups(void **state)
{
	static const char text[] = "9;;task-clock;1000;100.00;;\n"
				   "1;;cycles;400;40.00;;\n2;;instructions;400;40.00;;\n"
				   "3;;cycles;590;59.00;;\n4;;l1d_cache;590;59.00;;\n"
				   "5;;branches;10;1.00;;\n";
	static const uint32_t groups[] = { 0, 1, 1, 2, 2, 0 };
	struct counts c = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(counts_import(text, sizeof(text) - 1, NULL, &c, &err), 0);
	assert_int_equal(c.items.n, COUNT(groups));
	for (size_t i = 0; i < COUNT(groups); i++)
		assert_int_equal(c.items.items[i].group, groups[i]);
	counts_release(&c);
}

/* What libcyclops writes, with ' for ". */
static const char regions_head[] =
	"{'schema':2,'cyclops':'1','command':'measure','modelled':false,"
	"'run':[{'program':'solver','midr':'0x413fd0c1','pmu':'p'}],'regions':[";

/* Two threads; in one "inner" is in "outer"; in the other it was open already once. */
static const char regions_rows[] =
	"{'region':'outer','thread':7,'calls':4,'recursive':false,'event':'duration_time',"
	"'count':900,'exclusive':300,'enabled_ns':900,'running_ns':900,'state':'counted'},"
	"{'region':'outer','thread':7,'calls':4,'recursive':false,'event':'cycles','set':0,"
	"'count':1000,'enabled_ns':90,'running_ns':90,'state':'counted'},"
	"{'region':'inner','thread':7,'parent':'outer','calls':4,'recursive':false,"
	"'event':'duration_time','count':600,'exclusive':600,'state':'counted'},"
	"{'region':'inner','thread':7,'parent':'outer','calls':2,'recursive':false,"
	"'event':'cycles','set':0,'count':100,'enabled_ns':50,'running_ns':50,'state':'counted'},"
	"{'region':'inner','thread':7,'parent':'outer','calls':1,'recursive':false,"
	"'event':'r8','set':1,'count':40,'enabled_ns':20,'running_ns':10,'state':'counted'},"
	"{'region':'inner','thread':8,'calls':3,'recursive':false,'event':'duration_time',"
	"'count':50,'exclusive':20,'state':'counted'},"
	"{'region':'inner','thread':8,'calls':3,'recursive':false,'event':'cycles','set':0,"
	"'count':7,'enabled_ns':5,'running_ns':5,'state':'counted'},"
	"{'region':'inner','thread':8,'calls':1,'recursive':true,'event':'duration_time',"
	"'count':30,'exclusive':30,'state':'counted'},"
	"{'region':'inner','thread':8,'calls':1,'recursive':true,'event':'cycles','set':0,"
	"'count':5,'enabled_ns':3,'running_ns':3,'state':'counted'},"
	"{'region':'inner','thread':8,'calls':3,'recursive':false,'event':'r9','set':0,"
	"'state':'not-supported'}";

/* The whole file; to be freed. */
static char *regions_text(const char *rows)
{
	size_t size = strlen(regions_head) + strlen(rows) + 3;
	char *text = mem_alloc(size, 1);

	snprintf(text, size, "%s%s]}", regions_head, rows);
	for (char *c = text; *c != '\0'; c++)
		*c = *c == '\'' ? '"' : *c;
	return text;
}

static void reads_regions(void **state)
{
	/* what is outside of all others */
	static const struct expected outermost[] = {
		{ "cycles", 1000, 1, NULL, NULL, COUNT_ANY, 7, COUNT_COUNTED },
		{ "cycles", 7, 1, NULL, NULL, COUNT_ANY, 8, COUNT_COUNTED },
		{ "r9", 0, 1, NULL, NULL, COUNT_ANY, 8, COUNT_NOT_SUPPORTED },
	};
	/* two of four calls were counted, and one of four, which ran for half of its time */
	static const struct expected inner[] = {
		{ "cycles", 200, 0.5, NULL, NULL, COUNT_ANY, 7, COUNT_COUNTED },
		{ "r8", 160, 0.125, NULL, NULL, COUNT_ANY, 7, COUNT_COUNTED },
		{ "cycles", 7, 1, NULL, NULL, COUNT_ANY, 8, COUNT_COUNTED },
		{ "r9", 0, 1, NULL, NULL, COUNT_ANY, 8, COUNT_NOT_SUPPORTED },
	};
	char *text = regions_text(regions_rows);
	struct counts c = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(counts_import(text, strlen(text), NULL, &c, &err), 0);
	assert_string_equal(c.command, "solver");
	assert_int_equal(c.midr, 0x413fd0c1);
	assert_int_equal(c.regions.n, 2);
	assert_string_equal(c.regions.items[0].name, "outer");
	assert_int_equal(c.regions.items[1].calls, 8);
	assert_int_equal(c.regions.items[1].time_ns, 650);
	assert_int_equal(c.regions.items[1].exclusive_ns, 650);
	assert_int_equal(c.regions.items[1].n_threads, 2);
	assert_int_equal(c.elapsed_ns, 0); /* not known: threads may run at the same time */
	assert_int_equal(c.items.n, COUNT(outermost));
	for (size_t i = 0; i < COUNT(outermost); i++)
		compare("outermost", &c.items.items[i], &outermost[i]);
	assert_int_equal(counts_take_region(&c, "inner", &err), 0);
	assert_int_equal(c.items.n, COUNT(inner));
	for (size_t i = 0; i < COUNT(inner); i++)
		compare("inner", &c.items.items[i], &inner[i]);
	assert_int_equal(counts_take_region(&c, "outer", &err), 0);
	assert_int_equal(c.elapsed_ns, 900);
	assert_int_equal(counts_take_region(&c, "iner", &err), -1);
	assert_non_null(strstr(err.text, "did you mean inner"));
	counts_release(&c);
	free(text);
}

static void regions_are_cut_anywhere(void **state)
{
	char *text = regions_text(regions_rows);

	(void)state;
	for (size_t len = 0; len < strlen(text); len++) {
		char *cut = mem_alloc(len + 1, 1);
		struct counts c = { 0 };
		struct err err = { 0 };

		memcpy(cut, text, len);
		assert_int_equal(counts_import(cut, len, NULL, &c, &err), -1);
		assert_true(err.text[0] != '\0');
		counts_release(&c);
		free(cut);
	}
	free(text);
}

/* The same as csv; cells in another order, one with quotes, a comma and a line's end. */
static const char regions_csv[] =
	"# table run\nprogram,pid,midr,pmu\n\"a, \"\"b\"\"\",7,0x413fd0c1,p\n"
	"# table "
	"regions\nregion,thread,parent,recursive,calls,set,event,count,exclusive,enabled_ns,"
	"running_ns,state,later\n"
	"123,7,,false,4,,duration_time,900,300,900,900,counted,x\n"
	"123,7,,false,4,0,cycles,1000.5,1000,90,45,counted,\n"
	"\"in\"\"ner,\nx\",7,123,false,2,,duration_time,600,600,600,600,counted,\n"
	"\"in\"\"ner,\nx\",7,123,false,2,0,cycles,100,100,50,50,counted,\n"
	"\"in\"\"ner,\nx\",7,123,true,2,0,cycles,50,50,50,50,counted,\n"
	"# table histograms\nregion,thread,event,low,high,calls\n123,7,cycles,1,2,3\n";

static void reads_regions_of_csv(void **state)
{
	struct counts c = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(counts_import(regions_csv, strlen(regions_csv), NULL, &c, &err), 0);
	assert_string_equal(c.command, "a, \"b\"");
	assert_int_equal(c.midr, 0x413fd0c1);
	assert_false(c.has_no_pmu);
	assert_int_equal(c.regions.n, 2);
	assert_string_equal(c.regions.items[0].name, "123");
	assert_string_equal(c.regions.items[1].name, "in\"ner,\nx");
	assert_int_equal(c.regions.items[0].calls, 4);
	assert_int_equal(c.elapsed_ns, 900);
	assert_int_equal(c.items.n, 1);
	assert_true(c.items.items[0].value == 1000.5 && c.items.items[0].running_ns == 45);
	assert_int_equal(counts_take_region(&c, "in\"ner,\nx", &err), 0);
	assert_true(c.items.n == 1 && c.items.items[0].value == 100);
	counts_release(&c);
}

static void csv_of_regions_is_cut_anywhere(void **state)
{
	(void)state;
	for (size_t len = 0; len < strlen(regions_csv); len++) {
		char *cut = mem_alloc(len + 1, 1);
		struct counts c = { 0 };
		struct err err = { 0 };

		memcpy(cut, regions_csv, len);
		if (counts_import(cut, len, NULL, &c, &err) < 0)
			assert_true(err.text[0] != '\0');
		else
			assert_true(c.regions.n > 0 && c.regions.n <= 2);
		counts_release(&c);
		free(cut);
	}
}

static void refuses_wrong_regions(void **state)
{
	static const char *const rows[] = {
		"",
		"7",
		"{}",
		"{'region':'','thread':1,'calls':1,'event':'x'}",
		"{'region':'a','thread':99999999999,'calls':1,'event':'x'}",
		"{'region':'a','thread':1,'calls':1,'event':7}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = regions_text(rows[i]);
		struct counts c = { 0 };
		struct err err = { 0 };

		if (counts_import(text, strlen(text), NULL, &c, &err) == 0)
			fail_msg("taken: %s", text);
		assert_true(strstr(err.text, "regions: ") != NULL);
		counts_release(&c);
		free(text);
	}
}

static void refuses_what_is_none(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"hello\n",
		"{}",
		"{\"events\":7}",
		"a,b,c\n1,2,3\n",
		"run,time,event,value\n",
		"{\"events\":",
		"PERFILE2",
		"\xff\xfe\x00",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct counts c = { 0 };
		struct err err = { 0 };

		assert_int_equal(counts_import(texts[i], strlen(texts[i]), NULL, &c, &err), -1);
		assert_true(strncmp(err.text, "counts: ", 8) == 0);
		counts_release(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_format),
		cmocka_unit_test(is_cut_anywhere),
		cmocka_unit_test(knows_the_rest),
		cmocka_unit_test(infers_groups),
		cmocka_unit_test(reads_regions),
		cmocka_unit_test(regions_are_cut_anywhere),
		cmocka_unit_test(reads_regions_of_csv),
		cmocka_unit_test(csv_of_regions_is_cut_anywhere),
		cmocka_unit_test(refuses_wrong_regions),
		cmocka_unit_test(reads_types_of_cores),
		cmocka_unit_test(refuses_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
