/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor on machines that are made up: what it finds, and what it advises. */
#include "doctor/doctor.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "counting/event_checks.h"
#include "../pmu/tree.h"

#define DEVICES "/sys/bus/event_source/devices"
#define MIDR "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"
#define ONLINE "/sys/devices/system/cpu/online"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define STATUS "/proc/self/status"

#define USER "CapEff:\t0000000000000000\nSeccomp:\t0"
#define ROOT "CapEff:\t000001ffffffffff\nSeccomp:\t0"
#define CONFINED "CapEff:\t00000000a80425fb\nSeccomp:\t2"

#define N1 "0x00000000413fd0c1"
#define V1 "0x00000000411fd401"
#define A72 "0x00000000410fd083"
#define A76 "0x00000000414fd0b1"

#define ARM_PMU                                                                                    \
	{ DEVICES "/armv8_pmuv3_0/type", "8" },                                                    \
	{                                                                                          \
		DEVICES "/armv8_pmuv3_0/cpus", "0"                                                 \
	}
#define X86(flags) "processor\t: 0\nmodel name\t: Xeon 8175M\nflags\t\t: fpu sse2 " flags "\n"

enum { FILES_MAX = 14, SAID_MAX = 4 };

/* What has to be said; a text that is part of it. NULL: no line of that name, or no fix. */
struct said {
	const char *check, *state, *found, *fix;
};

struct patient {
	const char *what;
	struct tree_file files[FILES_MAX];
	struct doctor_trial trial;
	bool can_count;
	struct said said[SAID_MAX];
};

static const struct patient patients[] = {
	{
		"bare N1 with SPE",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "-1" },
		  { STATUS, USER },
		  { "/sys/class/dmi/id/sys_vendor", "Ampere" },
		  { "/proc/kallsyms", "ffff800008000000 T _text" },
		  ARM_PMU,
		  { DEVICES "/arm_spe_0/type", "9" },
		  { DEVICES "/arm_spe_0/cpumask", "0" },
		  { DEVICES "/arm_spe_0/caps/min_interval", "1024" } },
		{ 0, 6 },
		true,
		{ { "CPU", "note", "Neoverse N1 r3p1 \303\227 1", NULL },
		  { "PMU", "ok", "armv8_pmuv3_0, 6 counters free", NULL },
		  { "SPE", "ok", "arm_spe_0 on 1 CPU, at most one sample in 1024 operations",
		    NULL },
		  { "symbols", "ok", "readable", NULL } },
	},
	{
		"Graviton instance without PMU",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "2" },
		  { STATUS, ROOT },
		  { "/sys/class/dmi/id/sys_vendor", "Amazon EC2" },
		  { "/sys/class/dmi/id/product_name", "m6g.large" } },
		{ ENOENT, 0 },
		false,
		{ { "CPU", "note", "a virtual machine (Amazon EC2 m6g.large)", NULL },
		  { "PMU", "no", "this virtual machine has no PMU", "bare-metal" },
		  { "SPE", "no", "not implemented by this CPU, a virtual one", "metal" } },
	},
	{
		"Graviton metal behind page-table isolation",
		{ { ONLINE, "0" },
		  { MIDR, V1 },
		  { PARANOID, "1" },
		  { STATUS, ROOT },
		  { "/sys/class/dmi/id/sys_vendor", "Amazon EC2" },
		  { "/sys/class/dmi/id/product_name", "c7g.metal" },
		  { "/dev/kmsg", "6,1,1,-;arm_spe_pmu spe-pmu: profiling buffer inaccessible. Try "
				 "passing \"kpti=off\" on the kernel command line" },
		  ARM_PMU },
		{ 0, 6 },
		true,
		{ { "SPE", "no", "page-table isolation (kpti) hides it", "kpti=off" } },
	},
	{
		"isolation that the kernel tells of itself",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "1" },
		  { STATUS, ROOT },
		  { "/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI" },
		  ARM_PMU },
		{ 0, 6 },
		true,
		{ { "SPE", "no", "page-table isolation (kpti) hides it", "kpti=off" } },
	},
	{
		"driver of SPE not loaded",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "1" },
		  { STATUS, ROOT },
		  { "/proc/sys/kernel/osrelease", "6.1.0-9-arm64" },
		  { "/lib/modules/6.1.0-9-arm64/kernel/drivers/perf/arm_spe_pmu.ko.xz", "" },
		  ARM_PMU },
		{ 0, 6 },
		true,
		{ { "SPE", "no", "not loaded", "sudo modprobe arm_spe_pmu" } },
	},
	{
		"firmware without SPE",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "1" },
		  { STATUS, ROOT },
		  { "/sys/module/arm_spe_pmu/initstate", "live" },
		  ARM_PMU },
		{ 0, 6 },
		true,
		{ { "SPE", "no", "firmware does not describe SPE", "update the firmware" } },
	},
	{
		"kernel without a driver of SPE",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "1" },
		  { STATUS, ROOT },
		  { "/proc/sys/kernel/osrelease", "6.1.0" },
		  ARM_PMU },
		{ 0, 6 },
		true,
		{ { "SPE", "no", "the kernel has no SPE driver", "CONFIG_ARM_SPE_PMU=m" } },
	},
	{
		"emulated N1 of QEMU, as the user root",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "2" },
		  { STATUS, ROOT },
		  { "/sys/firmware/devicetree/base/compatible", "linux,dummy-virt" },
		  { "/sys/firmware/devicetree/base/pmu/name", "pmu" },
		  ARM_PMU },
		{ 0, 6 },
		true,
		{ { "SPE", "no", "not implemented by this CPU", "bare-metal" },
		  { "access", "ok", "everything: root, or CAP_PERFMON", NULL } },
	},
	{
		"Raspberry Pi 4 without a node for the PMU",
		{ { ONLINE, "0" },
		  { "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x0\n"
				     "CPU part\t: 0xd08\nCPU revision\t: 3\n" },
		  { PARANOID, "2" },
		  { STATUS, ROOT },
		  { "/sys/firmware/devicetree/base/compatible", "raspberrypi,4-model-b" } },
		{ ENOENT, 0 },
		false,
		{ { "CPU", "note", "Cortex-A72 r0p3", NULL },
		  { "PMU", "no", "no pmu node", "arm,armv8-pmuv3" },
		  { "SPE", "note", "not implemented by this CPU (Cortex-A72)", NULL } },
	},
	{
		"Raspberry Pi 4",
		{ { ONLINE, "0" },
		  { MIDR, A72 },
		  { PARANOID, "2" },
		  { STATUS, USER },
		  { "/sys/firmware/devicetree/base/compatible", "raspberrypi,4-model-b" },
		  { DEVICES "/armv8_cortex_a72/type", "8" } },
		{ 0, 6 },
		true,
		{ { "PMU", "ok", "armv8_cortex_a72, 6 counters free", NULL },
		  { "access", "limited", "own programs, user code only",
		    "sudo sysctl kernel.perf_event_paranoid=0" } },
	},
	{
		"Arm server whose kernel has no driver",
		{ { ONLINE, "0" }, { MIDR, N1 }, { PARANOID, "2" }, { STATUS, ROOT } },
		{ ENOENT, 0 },
		false,
		{ { "PMU", "no", "no PMU driver, or firmware hides the PMU",
		    "CONFIG_ARM_PMUV3=y" } },
	},
	{
		"mixed cores",
		{ { ONLINE, "0" },
		  { MIDR, A76 },
		  { PARANOID, "0" },
		  { STATUS, USER },
		  { DEVICES "/armv8_cortex_a55/type", "8" },
		  { DEVICES "/armv8_cortex_a76/type", "9" } },
		{ 0, 6 },
		true,
		{ { "PMU", "ok", "armv8_cortex_a55, armv8_cortex_a76, 6 counters free", NULL },
		  { "access", "ok", "everything except raw tracepoints", NULL } },
	},
	{
		"Debian's level 3",
		{ { ONLINE, "0" }, { MIDR, N1 }, { PARANOID, "3" }, { STATUS, USER }, ARM_PMU },
		{ EACCES, 0 },
		false,
		{ { "access", "no", "perf_event_paranoid is 3: nothing without root",
		    "sudo sysctl kernel.perf_event_paranoid=1" },
		  { "PMU", "note", "is not known without access", NULL } },
	},
	{
		"Ubuntu's level 4",
		{ { ONLINE, "0" },
		  { "/proc/cpuinfo", X86("") },
		  { PARANOID, "4" },
		  { STATUS, USER },
		  { DEVICES "/cpu/type", "4" },
		  { "/proc/sys/kernel/kptr_restrict", "1" },
		  { "/proc/kallsyms", "0000000000000000 T _text" } },
		{ EACCES, 0 },
		false,
		{ { "access", "no", "perf_event_paranoid is 4", "sudo sysctl" },
		  { "symbols", "limited", "kptr_restrict is 1",
		    "sudo sysctl kernel.kptr_restrict=0" } },
	},
	{
		"addresses hidden by the level alone",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "2" },
		  { STATUS, USER },
		  ARM_PMU,
		  { "/proc/sys/kernel/kptr_restrict", "0" },
		  { "/proc/kallsyms", "0000000000000000 T _text" } },
		{ 0, 6 },
		true,
		{ { "symbols", "limited", "perf_event_paranoid is 2, and CAP_SYSLOG is missing",
		    "sudo sysctl kernel.perf_event_paranoid=1" } },
	},
	{
		"container behind seccomp",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "2" },
		  { STATUS, CONFINED },
		  { "/.dockerenv", "" },
		  ARM_PMU },
		{ EPERM, 0 },
		false,
		{ { "CPU", "note", "in a container", NULL },
		  { "access", "no", "seccomp filter blocks", "--cap-add PERFMON" } },
	},
	{
		"locked down",
		{ { ONLINE, "0" }, { MIDR, N1 }, { PARANOID, "2" }, { STATUS, ROOT }, ARM_PMU },
		{ EPERM, 0 },
		false,
		{ { "access", "no", "lockdown or a security module", "root" } },
	},
	{
		"x86 laptop with the NMI watchdog",
		{ { ONLINE, "0" },
		  { "/proc/cpuinfo", X86("") },
		  { PARANOID, "1" },
		  { STATUS, USER },
		  { DEVICES "/cpu/type", "4" },
		  { DEVICES "/cpu/rdpmc", "1" },
		  { "/proc/sys/kernel/nmi_watchdog", "1" },
		  { "/proc/sys/kernel/perf_event_max_sample_rate", "1000" } },
		{ 0, 3 },
		true,
		{ { "watchdog", "limited", "uses one counter",
		    "sudo sysctl kernel.nmi_watchdog=0" },
		  { "SPE", "note", "not an Arm CPU", NULL },
		  { "sampling", "limited", "at most 1000 samples",
		    "kernel.perf_event_max_sample_rate" },
		  { "user access", "note", "directly (rdpmc is 1)", NULL } },
	},
	{
		"hybrid x86",
		{ { ONLINE, "0" },
		  { "/proc/cpuinfo", X86("") },
		  { PARANOID, "-1" },
		  { STATUS, USER },
		  { DEVICES "/cpu_core/type", "4" },
		  { DEVICES "/cpu_atom/type", "10" } },
		{ 0, 8 },
		true,
		{ { "PMU", "ok", "cpu_atom, cpu_core, 8 counters free", NULL },
		  { "access", "ok", "everything", NULL } },
	},
	{
		"x86 virtual machine",
		{ { ONLINE, "0" },
		  { "/proc/cpuinfo", X86("hypervisor lahf_lm") },
		  { PARANOID, "2" },
		  { STATUS, USER },
		  { DEVICES "/software/type", "1" } },
		{ ENOENT, 0 },
		false,
		{ { "CPU", "note", "Xeon 8175M \303\227 1, a virtual machine", NULL },
		  { "PMU", "no", "this virtual machine has no PMU", "pmu=on" } },
	},
	{
		"counters all taken",
		{ { ONLINE, "0" },
		  { "/proc/cpuinfo", X86("") },
		  { PARANOID, "0" },
		  { STATUS, USER },
		  { DEVICES "/cpu/type", "4" } },
		{ 0, 0 },
		true,
		{ { "PMU", "limited", "no counter is free", "other profilers" } },
	},
	{
		"kernel without perf events",
		{ { ONLINE, "0" }, { MIDR, N1 }, { STATUS, ROOT } },
		{ ENOSYS, 0 },
		false,
		{ { "PMU", "no", "built without perf events", "CONFIG_PERF_EVENTS=y" },
		  { "access", "no", "perf_event_paranoid does not exist", NULL } },
	},
	{
		"a sandbox without the call",
		{ { ONLINE, "0" }, { MIDR, N1 }, { PARANOID, "2" }, { STATUS, ROOT }, ARM_PMU },
		{ ENOSYS, 0 },
		false,
		{ { "access", "no", "an emulator or a sandbox", "count on the host" } },
	},
	{
		"a filter that says that there is no such call",
		{ { ONLINE, "0" }, { MIDR, N1 }, { PARANOID, "2" }, { STATUS, CONFINED }, ARM_PMU },
		{ ENOSYS, 0 },
		false,
		{ { "access", "no", "seccomp filter blocks", "--cap-add PERFMON" } },
	},
	{
		"refused to root",
		{ { ONLINE, "0" }, { MIDR, N1 }, { PARANOID, "2" }, { STATUS, ROOT }, ARM_PMU },
		{ EACCES, 0 },
		false,
		{ { "access", "no", "a security module blocks", NULL } },
	},
	{
		"few descriptors, little memory",
		{ { ONLINE, "0-63" },
		  { MIDR, N1 },
		  { PARANOID, "0" },
		  { STATUS, USER },
		  { "/proc/self/limits",
		    "Limit                     Soft Limit           Hard Limit           Units\n"
		    "Max open files            1024                 1024                 files\n"
		    "Max locked memory         65536                65536                bytes" },
		  { "/proc/sys/kernel/perf_event_mlock_kb", "16" },
		  ARM_PMU },
		{ 0, 6 },
		true,
		{ { "descriptors", "limited", "at most 1024 open files", "--nofile=4096:4096" },
		  { "buffers", "limited", "16 KiB on each CPU", "perf_event_mlock_kb" } },
	},
	{
		"no limits",
		{ { ONLINE, "0" },
		  { MIDR, N1 },
		  { PARANOID, "0" },
		  { STATUS, USER },
		  { "/proc/self/limits",
		    "Max open files            unlimited            unlimited            files\n"
		    "Max locked memory         unlimited            unlimited            bytes" },
		  { "/proc/sys/kernel/perf_user_access", "0" },
		  ARM_PMU },
		{ 0, 6 },
		true,
		{ { "descriptors", "ok", "any number", NULL },
		  { "buffers", "ok", "no limit", NULL },
		  { "user access", "note", "by system calls", NULL } },
	},
	{
		"nothing at all",
		{ { "/proc", NULL } },
		{ ENOSYS, 0 },
		false,
		{ { "CPU", "note", "not known", NULL } },
	},
};

/* The row of that check, or -1. */
static int row_of(const struct table *t, const char *check)
{
	int column = table_column(t, "check");

	for (size_t row = 0; row < table_n_rows(t); row++)
		if (strcmp(table_cell(t, row, (size_t)column)->text, check) == 0)
			return (int)row;
	return -1;
}

static const char *text_at(const struct table *t, int row, const char *column)
{
	const struct cell *cell = table_cell(t, (size_t)row, (size_t)table_column(t, column));

	return cell->type == CELL_TEXT ? cell->text : "";
}

static void check_said(const struct patient *p, const struct table *checks,
		       const struct table *fixes, const struct said *said)
{
	int row = row_of(checks, said->check), fix = row_of(fixes, said->check);

	if (row < 0)
		fail_msg("%s: nothing said of %s", p->what, said->check);
	if (said->state == NULL)
		return;
	if (strcmp(text_at(checks, row, "state"), said->state) != 0 ||
	    strstr(text_at(checks, row, "found"), said->found) == NULL)
		fail_msg("%s: %s: %s: %s", p->what, said->check, text_at(checks, row, "state"),
			 text_at(checks, row, "found"));
	if ((said->fix == NULL) != (fix < 0))
		fail_msg("%s: %s: %s", p->what, said->check, fix < 0 ? "no fix" : "a fix");
	if (fix >= 0 && strstr(text_at(fixes, fix, "fix"), said->fix) == NULL)
		fail_msg("%s: %s: fix: %s", p->what, said->check, text_at(fixes, fix, "fix"));
	if (fix >= 0)
		assert_string_equal(text_at(checks, row, "fix"), text_at(fixes, fix, "fix"));
}

static void machines_get_the_right_diagnosis(void **state)
{
	struct catalog *catalog;
	struct err err;

	(void)state;
	assert_int_equal(catalog_open(NULL, &catalog, &err), 0);
	for (size_t i = 0; i < COUNT(patients); i++) {
		const struct patient *p = &patients[i];
		struct table checks = { 0 }, fixes = { 0 };
		struct tree tree;
		bool can_count;

		tree_make(&tree, p->files);
		can_count = doctor_examine(catalog, tree.root, &p->trial, &checks, &fixes);
		if (can_count != p->can_count)
			fail_msg("%s: says it can%s count", p->what, can_count ? "" : "not");
		for (size_t k = 0; k < SAID_MAX && p->said[k].check != NULL; k++)
			check_said(p, &checks, &fixes, &p->said[k]);
		table_release(&checks);
		table_release(&fixes);
		tree_remove(&tree);
	}
	catalog_free(catalog);
}

/* What kernels of known counts showed is said, and not taken for something to fix. */
static void says_what_events_were_found_to_be(void **state)
{
	static const struct {
		enum event_verdict verdict;
		double factor;
		const char *state, *found;
	} cases[] = {
		{ EVENT_OK, 1, "ok", "2 of 2 count what they should" },
		{ EVENT_READS_0, 1, "limited",
		  "1 of 2 count what they should; not counted here: LD_SPEC" },
		{ EVENT_IS_OFF, 2.04, "limited", "; off: LD_SPEC (\303\227 2)" },
		{ EVENT_FIRES_ELSEWHERE, 1, "limited", "; fire elsewhere, too: LD_SPEC" },
	};
	char folder[] = "/tmp/cyclops-doctor-XXXXXX", path[64];
	struct catalog *catalog;
	struct tree tree;
	struct err err;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("XDG_STATE_HOME", folder, 1);
	assert_int_equal(catalog_open(NULL, &catalog, &err), 0);
	tree_make(&tree, patients[0].files);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct said said = { "events", cases[i].state, cases[i].found, NULL };
		struct table checks = { 0 }, fixes = { 0 };
		struct event_checks events = { 0 };

		event_checks_add(&events, "CPU_CYCLES", EVENT_OK, 1);
		event_checks_add(&events, "LD_SPEC", cases[i].verdict, cases[i].factor);
		assert_int_equal(event_checks_save(event_checks_key(&events.memory,
								    strtoull(N1, NULL, 16), NULL),
						   &events, &err),
				 0);
		doctor_examine(catalog, tree.root, &patients[0].trial, &checks, &fixes);
		check_said(&patients[0], &checks, &fixes, &said);
		table_release(&checks);
		table_release(&fixes);
		event_checks_release(&events);
	}
	tree_remove(&tree);
	catalog_free(catalog);
	snprintf(path, sizeof(path), "%s/cyclops/events.json", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/cyclops", folder);
	rmdir(path);
	rmdir(folder);
}

/* Whatever the machine: nothing that is read may be taken for more than it is. */
static void files_cut_short_do_no_harm(void **state)
{
	static const char *const texts[][2] = {
		{ STATUS, USER },
		{ "/proc/cpuinfo", X86("hypervisor") },
		{ "/proc/self/limits", "Max open files            1024        1024    files" },
		{ ONLINE, "0-3,8" },
		{ MIDR, N1 },
	};
	struct catalog *catalog;
	struct err err;

	(void)state;
	assert_int_equal(catalog_open(NULL, &catalog, &err), 0);
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct tree tree;

		tree_make(&tree, patients[0].files);
		for (size_t n = 0; n <= strlen(texts[i][1]); n++) {
			struct table checks = { 0 }, fixes = { 0 };
			char *cut = mem_strndup(texts[i][1], n);

			tree_add(&tree, texts[i][0], cut);
			doctor_examine(catalog, tree.root, &patients[0].trial, &checks, &fixes);
			assert_true(table_n_rows(&checks) >= 6);
			table_release(&checks);
			table_release(&fixes);
			free(cut);
		}
		tree_remove(&tree);
	}
	catalog_free(catalog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_get_the_right_diagnosis),
		cmocka_unit_test(says_what_events_were_found_to_be),
		cmocka_unit_test(files_cut_short_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
