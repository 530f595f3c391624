/* SPDX-License-Identifier: Apache-2.0 */
/* What this user may measure: perf_event_paranoid, symbols of the kernel, limits. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/inside.h"

enum {
	EVENTS_EACH_CPU = 32,	/* descriptors that many events need on each CPU */
	LOW_SAMPLE_RATE = 4000, /* samples a second: perf record's default rate */
	MLOCK_KB = 516,		/* default of perf_event_mlock_kb */
};

/* What perf_event_paranoid allows without capabilities: first row with `from` or more. */
static const struct {
	int from;
	enum doctor_state state;
	const char *allows;
} paranoid_levels[] = {
	{ 3, DOCTOR_NO, "nothing without root" },
	{ 2, DOCTOR_LIMITED, "own programs, user code only" },
	{ 1, DOCTOR_LIMITED, "own programs with kernel code, no whole CPUs" },
	{ 0, DOCTOR_OK, "everything except raw tracepoints" },
	{ INT_MIN, DOCTOR_OK, "everything" },
};

static void check_paranoid_level(struct doctor *d)
{
	size_t i = 0;

	while (d->rights.paranoid < paranoid_levels[i].from)
		i++;
	doctor_add_check(
		d, "access", paranoid_levels[i].state,
		paranoid_levels[i].state == DOCTOR_NO ? "sudo sysctl kernel.perf_event_paranoid=1"
		: paranoid_levels[i].state == DOCTOR_LIMITED
			? "sudo sysctl kernel.perf_event_paranoid=0"
			: NULL,
		"perf_event_paranoid is %d: %s", d->rights.paranoid, paranoid_levels[i].allows);
}

bool doctor_access(struct doctor *d)
{
	int error = d->trial->error;
	bool is_refused = error == EPERM || error == ENOSYS ||
			  (error == EACCES && d->rights.is_perfmon); /* the level allows it */

	if (d->rights.paranoid == INT_MIN) {
		doctor_add_check(d, "access", DOCTOR_NO, NULL,
				 "perf_event_paranoid does not exist");
		return false;
	}
	if (is_refused && d->rights.is_confined) {
		doctor_add_check(d, "access", DOCTOR_NO,
				 "start the container with --cap-add PERFMON --security-opt "
				 "seccomp=unconfined (Kubernetes: securityContext capabilities add "
				 "PERFMON)",
				 "the container's seccomp filter blocks perf_event_open");
		return false;
	}
	if (error == ENOSYS) {
		doctor_add_check(
			d, "access", DOCTOR_NO, "count on the host",
			"there is no perf_event_open here: an emulator or a sandbox, such as "
			"qemu-user or gVisor, does not have it");
		return false;
	}
	if (is_refused) {
		doctor_add_check(d, "access", DOCTOR_NO,
				 error == EACCES ? NULL : "try as root: sudo cyclops doctor",
				 "lockdown or a security module blocks perf_event_open");
		return false;
	}
	if (d->rights.is_perfmon) {
		doctor_add_check(d, "access", DOCTOR_OK, NULL,
				 "everything: root, or CAP_PERFMON (perf_event_paranoid is %d)",
				 d->rights.paranoid);
		return true;
	}
	check_paranoid_level(d);
	return d->rights.paranoid < 3;
}

void doctor_symbols(struct doctor *d)
{
	int64_t restrict_level = 0;
	struct text text = { 0 };

	system_number(d->root, &restrict_level, "/proc/sys/kernel/kptr_restrict");
	system_text(d->root, &text, "/proc/kallsyms");
	if (text.n == 0)
		doctor_add_check(d, "symbols", DOCTOR_LIMITED,
				 "use a kernel built with CONFIG_KALLSYMS=y",
				 "the kernel's symbols cannot be read");
	else if (text.n >= 16 && memcmp(text.bytes, "0000000000000000", 16) != 0)
		doctor_add_check(d, "symbols", DOCTOR_OK, NULL,
				 "the kernel's symbols are readable");
	else if (restrict_level > 0)
		doctor_add_check(d, "symbols", DOCTOR_LIMITED,
				 d->rights.paranoid > 1 ? "sudo sysctl kernel.kptr_restrict=0 "
							  "kernel.perf_event_paranoid=1"
							: "sudo sysctl kernel.kptr_restrict=0",
				 "the kernel's addresses are hidden: kptr_restrict is %lld",
				 (long long)restrict_level);
	else /* kptr_restrict 0: readable with CAP_SYSLOG, or if the user may sample the kernel */
		doctor_add_check(
			d, "symbols", DOCTOR_LIMITED,
			d->rights.paranoid > 1 ? "sudo sysctl kernel.perf_event_paranoid=1"
					       : "run as root, or with CAP_SYSLOG",
			"the kernel's addresses are hidden: perf_event_paranoid is %d, and "
			"CAP_SYSLOG is missing",
			d->rights.paranoid);
	text_release(&text);
}

/* Reads a line of /proc/self/limits. -1: unlimited, or there is no such line. */
static void read_limit(const struct doctor *d, const char *name, int64_t *soft, int64_t *hard)
{
	struct text text = { 0 };
	const char *line;
	char *end;

	*soft = *hard = -1;
	system_text(d->root, &text, "/proc/self/limits");
	text_char(&text, '\0');
	line = strstr(text.bytes, name);
	if (line != NULL) {
		line += strlen(name);
		*soft = strtoll(line, &end, 10);
		if (end == line) {
			*soft = -1;
			end += strspn(end, " ");
			end += strcspn(end, " ");
		}
		line = end;
		*hard = strtoll(line, &end, 10);
		if (end == line)
			*hard = -1;
	}
	text_release(&text);
}

static void check_descriptors(struct doctor *d)
{
	int64_t wanted = (int64_t)d->machine.n_cpus * EVENTS_EACH_CPU;
	int64_t soft, hard;

	read_limit(d, "Max open files", &soft, &hard);
	if (hard >= 0 && hard < wanted)
		doctor_add_check(d, "descriptors", DOCTOR_LIMITED,
				 doctor_text(d, "sudo prlimit --pid $$ --nofile=%lld:%lld",
					     (long long)wanted * 2, (long long)wanted * 2),
				 "at most %lld open files: too few for all %u CPUs",
				 (long long)hard, d->machine.n_cpus);
	else if (hard >= 0)
		doctor_add_check(d, "descriptors", DOCTOR_OK, NULL, "at most %lld open files",
				 (long long)hard);
	else
		doctor_add_check(d, "descriptors", DOCTOR_OK, NULL, "any number of open files");
}

static void check_sample_buffers(struct doctor *d)
{
	int64_t kb = MLOCK_KB, soft, hard;

	system_number(d->root, &kb, "/proc/sys/kernel/perf_event_mlock_kb");
	read_limit(d, "Max locked memory", &soft, &hard);
	if (d->rights.is_perfmon || soft < 0)
		doctor_add_check(d, "buffers", DOCTOR_OK, NULL,
				 "no limit on memory for samples (perf_event_mlock_kb is %lld)",
				 (long long)kb);
	else if (kb < MLOCK_KB)
		doctor_add_check(d, "buffers", DOCTOR_LIMITED,
				 "sudo sysctl kernel.perf_event_mlock_kb=4096",
				 "%lld KiB on each CPU for samples", (long long)kb);
	else
		doctor_add_check(d, "buffers", DOCTOR_OK, NULL,
				 "%lld KiB on each CPU for samples, and %lld KiB of locked memory",
				 (long long)kb, (long long)soft / 1024);
}

static void check_sample_rate(struct doctor *d)
{
	int64_t rate = 0;

	if (!system_number(d->root, &rate, "/proc/sys/kernel/perf_event_max_sample_rate"))
		return;
	if (rate < LOW_SAMPLE_RATE)
		doctor_add_check(d, "sampling", DOCTOR_LIMITED,
				 "sudo sysctl kernel.perf_event_max_sample_rate=100000",
				 "at most %lld samples/s: the kernel found interrupts slow",
				 (long long)rate);
	else
		doctor_add_check(d, "sampling", DOCTOR_OK, NULL, "at most %lld samples/s",
				 (long long)rate);
}

/* May programs read counters without a system call? */
static void check_user_access(struct doctor *d)
{
	int64_t is_on = 0;

	if (system_number(d->root, &is_on, "/proc/sys/kernel/perf_user_access"))
		doctor_add_check(d, "user access", DOCTOR_NOTE, NULL,
				 is_on ? "programs may read their counters directly"
				       : "programs read their counters by system calls "
					 "(kernel.perf_user_access=1 allows direct reads)");
	else if (system_number(d->root, &is_on, "/sys/bus/event_source/devices/cpu/rdpmc"))
		doctor_add_check(
			d, "user access", DOCTOR_NOTE, NULL,
			is_on ? "programs may read their counters directly (rdpmc is %lld)"
			      : "programs read their counters by system calls (rdpmc is %lld)",
			(long long)is_on);
}

void doctor_limits(struct doctor *d)
{
	check_descriptors(d);
	check_sample_buffers(d);
	check_sample_rate(d);
	check_user_access(d);
}
