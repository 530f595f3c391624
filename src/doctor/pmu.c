/* SPDX-License-Identifier: Apache-2.0 */
/* Are there a core PMU and SPE? If not, why, and what would help? */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "counting/event_checks.h"
#include "doctor/inside.h"

/* The fix for a virtual machine. */
static const char pmu_for_virtual[] =
	"use a bare-metal or full-size instance, or give the virtual machine a PMU (QEMU: -cpu "
	"host,pmu=on; libvirt: <features><pmu state='on'/></features>)";

static void read_kernel_log(const struct doctor *d, struct text *out)
{
	if (!system_text(d->root, out, "/dev/kmsg"))
		system_text(d->root, out, "/var/log/dmesg");
}

/* Does the device tree have a node whose name begins with `prefix`? */
static bool device_tree_has(struct doctor *d, const char *prefix)
{
	struct system_names names =
		system_list(d->root, &d->machine.memory, "/sys/firmware/devicetree/base");

	for (size_t i = 0; i < names.n; i++)
		if (strncmp(names.items[i], prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

/* There is no core PMU: says why. */
static void explain_no_pmu(struct doctor *d)
{
	const struct machine *m = &d->machine;

	if (d->pmus.list.n == 0 && !system_has(d->root, "/proc/sys/kernel/perf_event_paranoid"))
		doctor_add_check(d, "PMU", DOCTOR_NO,
				 "use a kernel built with CONFIG_PERF_EVENTS=y",
				 "this kernel is built without perf events");
	else if (m->is_virtual)
		doctor_add_check(d, "PMU", DOCTOR_NO, pmu_for_virtual,
				 "this virtual machine has no PMU: only the kernel's own events "
				 "can be counted");
	else if (m->is_arm && m->has_device_tree && !device_tree_has(d, "pmu") &&
		 !device_tree_has(d, "arm-pmu"))
		doctor_add_check(
			d, "PMU", DOCTOR_NO,
			"add a node to the device tree: pmu { compatible = \"arm,armv8-pmuv3\"; "
			"interrupts = <...>; }, with the interrupts of the chip's manual",
			"the device tree has no pmu node, so the kernel does not find the PMU");
	else if (m->is_arm)
		doctor_add_check(
			d, "PMU", DOCTOR_NO,
			"use a kernel built with CONFIG_HW_PERF_EVENTS=y and CONFIG_ARM_PMUV3=y, "
			"or firmware that describes the PMU (ACPI: its interrupt in MADT)",
			"the kernel has no PMU driver, or firmware hides the PMU");
	else
		doctor_add_check(
			d, "PMU", DOCTOR_NO,
			"look for performance monitoring in the firmware's settings, and for "
			"'Performance Events' in dmesg",
			"the kernel found no PMU");
}

/* The lock-up detector of x86 and some Arm kernels uses a counter of each CPU. */
static void check_watchdog(struct doctor *d)
{
	int64_t is_on = 0;

	system_number(d->root, &is_on, "/proc/sys/kernel/nmi_watchdog");
	if (is_on == 1)
		doctor_add_check(d, "watchdog", DOCTOR_LIMITED, "sudo sysctl kernel.nmi_watchdog=0",
				 "the NMI watchdog uses one counter of each CPU");
}

bool doctor_pmu(struct doctor *d)
{
	const struct pmu *core = pmus_core(&d->pmus, 0);
	struct text names = { 0 };

	if (core == NULL) {
		explain_no_pmu(d);
		return false;
	}
	for (size_t i = 0; (core = pmus_core(&d->pmus, i)) != NULL; i++)
		text_format(&names, "%s%s", i > 0 ? ", " : "", core->name);
	text_char(&names, '\0');
	if (d->trial->n_free > 0)
		doctor_add_check(d, "PMU", DOCTOR_OK, NULL, "%s, %u counter%s free, cycles extra",
				 names.bytes, d->trial->n_free, plural(d->trial->n_free));
	else if (d->trial->error == 0)
		doctor_add_check(
			d, "PMU", DOCTOR_LIMITED,
			"look for other profilers: sudo lsof /proc/*/fd/* 2>/dev/null | grep "
			"perf_event",
			"%s, but no counter is free: another program uses them", names.bytes);
	else
		doctor_add_check(d, "PMU", DOCTOR_NOTE, NULL,
				 "%s; the number of free counters is not known without access",
				 names.bytes);
	check_watchdog(d);
	text_release(&names);
	return true;
}

/* Names of the events with this verdict: "; read 0: A, B". Nothing if there are none. */
static void name_events(const struct event_checks *checks, enum event_verdict verdict,
			const char *words, struct text *out)
{
	bool is_first = true;

	for (size_t i = 0; i < checks->list.n; i++) {
		const struct event_check *check = &checks->list.items[i];

		if (check->verdict != verdict)
			continue;
		text_format(out, "%s%s", is_first ? words : ", ", check->event);
		if (verdict == EVENT_IS_OFF)
			text_format(out, " (\303\227 %.2g)", check->factor);
		is_first = false;
	}
}

/* What kernels of known counts showed of this machine's events. */
void doctor_checked_events(struct doctor *d)
{
	const struct machine_core *core;
	struct event_checks checks = { 0 };
	struct text text = { 0 };
	size_t n_ok = 0;

	if (d->machine.cores.n == 0)
		return;
	core = &d->machine.cores.items[0];
	event_checks_load(event_checks_key(&checks.memory, core->midr, core->name), &checks);
	for (size_t i = 0; i < checks.list.n; i++)
		n_ok += checks.list.items[i].verdict == EVENT_OK;
	text_format(&text, "%zu of %zu count what they should", n_ok, checks.list.n);
	name_events(&checks, EVENT_READS_0, "; not counted here: ", &text);
	name_events(&checks, EVENT_IS_OFF, "; off: ", &text);
	name_events(&checks, EVENT_FIRES_ELSEWHERE, "; fire elsewhere, too: ", &text);
	text_char(&text, '\0');
	if (checks.list.n == 0)
		doctor_add_check(d, "events", DOCTOR_NOTE, NULL,
				 "not checked with known counts yet: cyclops kernel --validate");
	else
		doctor_add_check(d, "events", n_ok == checks.list.n ? DOCTOR_OK : DOCTOR_LIMITED,
				 NULL, "%s", text.bytes);
	text_release(&text);
	event_checks_release(&checks);
}

/* May the first core have SPE, by the catalog? True if it is not in the catalog. */
static bool core_may_have_spe(const struct doctor *d)
{
	const struct cpu *cpu = catalog_cpu_of_midr(d->catalog, d->machine.cores.items[0].midr);

	return cpu == NULL || cpu_may_have_spe(cpu);
}

static bool has_spe_module(const struct doctor *d)
{
	struct utsname name;
	char release[SYSTEM_LINE_MAX];

	if (!system_line(d->root, release, sizeof(release), "/proc/sys/kernel/osrelease")) {
		uname(&name);
		snprintf(release, sizeof(release), "%s", name.release);
	}
	return system_has(d->root, "/lib/modules/%s/kernel/drivers/perf/arm_spe_pmu.ko", release) ||
	       system_has(d->root, "/lib/modules/%s/kernel/drivers/perf/arm_spe_pmu.ko.xz",
			  release) ||
	       system_has(d->root, "/lib/modules/%s/kernel/drivers/perf/arm_spe_pmu.ko.zst",
			  release);
}

/* Is page table isolation on? It unmaps the kernel, and with it the SPE buffer, in user mode. */
static bool has_page_table_isolation(const struct doctor *d, const struct text *log)
{
	char line[SYSTEM_LINE_MAX];

	if (text_has(log, "profiling buffer inaccessible"))
		return true;
	system_line(d->root, line, sizeof(line),
		    "/sys/devices/system/cpu/vulnerabilities/meltdown");
	if (strstr(line, "PTI") != NULL)
		return true;
	return text_has(log, "Kernel page table isolation") &&
	       !text_has(log, "isolation forced OFF") && !text_has(log, "isolation disabled");
}

static void explain_no_spe(struct doctor *d)
{
	const struct machine *m = &d->machine;
	struct text log = { 0 };
	char name[128];

	midr_describe(d->catalog, m->cores.items[0].midr, name, sizeof(name));
	read_kernel_log(d, &log);
	if (!core_may_have_spe(d))
		doctor_add_check(d, "SPE", DOCTOR_NOTE, NULL, "not implemented by this CPU (%s)",
				 name);
	else if (m->is_virtual)
		doctor_add_check(
			d, "SPE", DOCTOR_NO,
			"use a bare-metal instance: hypervisors do not pass SPE on",
			"not implemented by this CPU, a virtual one (%s in silicon may have it)",
			name);
	else if (has_page_table_isolation(d, &log))
		doctor_add_check(
			d, "SPE", DOCTOR_NO,
			"boot with kpti=off (a security trade-off: see cyclops help doctor)",
			"the CPU has SPE, but page-table isolation (kpti) hides it");
	else if (has_spe_module(d) && !system_has(d->root, "/sys/module/arm_spe_pmu"))
		doctor_add_check(d, "SPE", DOCTOR_NO, "sudo modprobe arm_spe_pmu",
				 "the SPE driver is not loaded");
	else if (system_has(d->root, "/sys/module/arm_spe_pmu"))
		doctor_add_check(
			d, "SPE", DOCTOR_NO,
			"update the firmware, or enable SPE in its settings; it must describe the "
			"SPE interrupt (device tree: spe-pmu; ACPI: MADT 6.3)",
			"the driver is loaded, but the firmware does not describe SPE");
	else
		doctor_add_check(
			d, "SPE", DOCTOR_NO,
			"use a kernel built with CONFIG_ARM_SPE_PMU=m, and load arm_spe_pmu",
			"the kernel has no SPE driver");
	text_release(&log);
}

void doctor_spe(struct doctor *d)
{
	const struct pmu *spe = NULL, *pmu;

	for (size_t i = 0; (pmu = pmus_at(&d->pmus, i)) != NULL && spe == NULL; i++)
		if (strncmp(pmu->name, "arm_spe_", 8) == 0)
			spe = pmu;
	if (spe != NULL)
		doctor_add_check(d, "SPE", DOCTOR_OK, NULL,
				 "%s on %zu CPU%s, at most one sample in %llu operations, counters "
				 "of %llu bits",
				 spe->name, cpu_list_n(&spe->cpus), plural(cpu_list_n(&spe->cpus)),
				 (unsigned long long)pmu_cap_number(spe, "min_interval", 0),
				 (unsigned long long)pmu_cap_number(spe, "count_size", 12));
	else if (!d->machine.is_arm)
		doctor_add_check(d, "SPE", DOCTOR_NOTE, NULL, "not an Arm CPU");
	else
		explain_no_spe(d);
}
