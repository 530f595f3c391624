/* SPDX-License-Identifier: Apache-2.0 */
#include "record/attr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "capture/format/registers.h"
#include "capture/format/sample.h"
#include "system/system.h"

enum { MAX_STACK_FRAMES = 127 };

#define BIT(n) ((uint64_t)1 << (n))

/* Names for --branches, with their bit in branch_sample_type. */
static const struct {
	const char *name;
	unsigned bit;
} branch_filters[] = {
	{ "u", 0 },	     { "k", 1 },	 { "hv", 2 },	     { "any", 3 },
	{ "any_call", 4 },   { "any_ret", 5 },	 { "ind_call", 6 },  { "abort_tx", 7 },
	{ "in_tx", 8 },	     { "no_tx", 9 },	 { "cond", 10 },     { "call_stack", 11 },
	{ "ind_jmp", 12 },   { "call", 13 },	 { "no_flags", 14 }, { "no_cycles", 15 },
	{ "save_type", 16 }, { "hw_index", 17 },
};

enum { BRANCH_USER = 1 << 0, BRANCH_MODES = 7, BRANCH_ANY = 1 << 3, BRANCH_CALL_STACK = 1 << 11 };

static const char *branch_name_at(const void *unused, size_t i)
{
	(void)unused;
	return i < COUNT(branch_filters) ? branch_filters[i].name : NULL;
}

static bool add_branch_filter(const char *name, uint64_t *out)
{
	for (size_t i = 0; i < COUNT(branch_filters); i++) {
		if (strcmp(branch_filters[i].name, name) == 0) {
			*out |= BIT(branch_filters[i].bit);
			return true;
		}
	}
	return false;
}

int record_branches_parse(const char *list, uint64_t *out, struct err *err)
{
	char *copy = mem_strndup(list, strlen(list)), *rest;
	uint64_t filter = 0;
	int rc = 0;

	for (char *name = strtok_r(copy, ",", &rest); name != NULL && rc == 0;
	     name = strtok_r(NULL, ",", &rest)) {
		char known[256];

		if (!add_branch_filter(name, &filter))
			rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
				     "--branches: found '%s', wanted some of %s", name,
				     list_words(branch_name_at, NULL, known, sizeof(known)));
	}
	free(copy);
	if (rc == 0)
		*out = (filter & ~(uint64_t)BRANCH_MODES) == 0 ? filter | BRANCH_ANY : filter;
	return rc;
}

/* The registers of this machine's architecture; NULL if not known. */
static const struct registers *own_registers(void)
{
	struct utsname system;

	uname(&system);
	return registers_of(system.machine);
}

int record_registers_parse(const char *list, uint64_t *out, struct err *err)
{
	const struct registers *registers = own_registers();
	char *copy, *rest;
	uint64_t mask = 0;
	int rc = 0;

	if (registers == NULL)
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "--regs: the registers of this architecture are not known");
	copy = mem_strndup(list, strlen(list));
	for (char *name = strtok_r(copy, ",", &rest); name != NULL && rc == 0;
	     name = strtok_r(NULL, ",", &rest)) {
		int number = registers_find(registers, name);
		const char *nearest = nearest_word(name, registers_name_at, registers);

		if (number < 0)
			rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
				     "--regs: %s has no register '%s'%s%s%s", registers->arch, name,
				     nearest != NULL ? "; did you mean " : "",
				     nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
		else
			mask |= BIT(number);
	}
	free(copy);
	if (rc == 0)
		*out = mask != 0 ? mask : registers_mask(registers);
	return rc;
}

/* Which fields a sample has. */
static uint64_t sample_type(const struct record_options *o, bool has_ids, bool has_periods)
{
	uint64_t type = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) | BIT(SAMPLE_CPU);

	type |= has_ids ? BIT(SAMPLE_IDENTIFIER) : 0;
	type |= has_periods ? BIT(SAMPLE_PERIOD) : 0;
	type |= o->stacks != RECORD_NO_STACKS ? BIT(SAMPLE_CALLCHAIN) : 0;
	type |= o->stacks == RECORD_DWARF ? BIT(SAMPLE_REGS_USER) | BIT(SAMPLE_STACK_USER) : 0;
	type |= o->stacks == RECORD_LBR || o->branch_filter != 0 ? BIT(SAMPLE_BRANCH_STACK) : 0;
	type |= o->with_addresses ? BIT(SAMPLE_ADDR) | BIT(SAMPLE_DATA_SRC) : 0;
	type |= o->with_physical ? BIT(SAMPLE_PHYS_ADDR) | BIT(SAMPLE_ADDR) : 0;
	type |= o->with_weight ? BIT(SAMPLE_WEIGHT) : 0;
	type |= o->with_registers ? BIT(SAMPLE_REGS_INTR) : 0;
	return type;
}

static int set_clockid(struct attr *attr, const char *name, struct err *err)
{
	static const struct {
		const char *name;
		clockid_t clock;
	} clocks[] = {
		{ "mono", CLOCK_MONOTONIC },	{ "monotonic", CLOCK_MONOTONIC },
		{ "raw", CLOCK_MONOTONIC_RAW }, { "monotonic_raw", CLOCK_MONOTONIC_RAW },
		{ "boot", CLOCK_BOOTTIME },	{ "boottime", CLOCK_BOOTTIME },
		{ "real", CLOCK_REALTIME },	{ "realtime", CLOCK_REALTIME },
		{ "tai", CLOCK_TAI },
	};

	for (size_t i = 0; i < COUNT(clocks); i++) {
		if (strcasecmp(clocks[i].name, name) == 0) {
			attr_set(attr, ATTR_USE_CLOCKID);
			attr->clockid = clocks[i].clock;
			return 0;
		}
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--clockid: found '%s', wanted mono, raw, boot, real or tai", name);
}

/* Unwinding takes mappings of data, too: perf reads .eh_frame through the pages that hold it. */
bool record_maps_data(const struct record_options *o)
{
	return o->with_addresses || o->stacks == RECORD_DWARF;
}

/* Asks for the side-band records: mappings, names, tasks, switches. */
static void set_side_band(struct attr *attr, const struct record_options *o, bool has_spe)
{
	static const enum attr_flag flags[] = {
		ATTR_MMAP,	 ATTR_COMM,    ATTR_TASK,      ATTR_MMAP2,    ATTR_COMM_EXEC,
		ATTR_NAMESPACES, ATTR_KSYMBOL, ATTR_BPF_EVENT, ATTR_BUILD_ID,
	};

	for (size_t i = 0; i < COUNT(flags); i++)
		attr_set(attr, flags[i]);
	if (record_maps_data(o))
		attr_set(attr, ATTR_MMAP_DATA);
	if (o->with_switches || has_spe)
		attr_set(attr, ATTR_CONTEXT_SWITCH);
}

/* The highest sampling frequency that the kernel allows. */
static uint64_t max_frequency(const char *root)
{
	int64_t value;

	if (!system_number(root, &value, "/proc/sys/kernel/perf_event_max_sample_rate") ||
	    value <= 0)
		return RECORD_DEFAULT_FREQUENCY;
	return (uint64_t)value;
}

static int set_rate(struct record_event *e, const struct record_options *o, const char *root,
		    struct err *err)
{
	bool is_each = e->attr.type == ATTR_TYPE_BREAKPOINT || e->attr.type == ATTR_TYPE_TRACEPOINT;
	uint64_t limit = max_frequency(root), frequency = o->frequency;

	if (e->has_period || e->is_spe || e->is_side_band)
		return 0;
	if (e->is_for_callers && frequency == 0) /* --count is of SPE */
		frequency = limit < RECORD_CALLERS_FREQUENCY ? limit : RECORD_CALLERS_FREQUENCY;
	else if (o->period != 0 || (frequency == 0 && is_each)) {
		e->attr.sample_period = o->period != 0 ? o->period : 1;
		return 0;
	}
	if (frequency == 0)
		frequency = limit < RECORD_DEFAULT_FREQUENCY ? limit : RECORD_DEFAULT_FREQUENCY;
	if (frequency == UINT64_MAX)
		frequency = limit;
	if (frequency > limit)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--freq %" PRIu64 ": the kernel allows %" PRIu64
			       " samples/s; use --freq max, or raise sysctl "
			       "kernel.perf_event_max_sample_rate",
			       frequency, limit);
	attr_set(&e->attr, ATTR_FREQ);
	e->attr.sample_period = frequency;
	return 0;
}

/*
 * A group whose leader samples (:S). Its members only count, and are read with each sample of the
 * leader.
 */
static void set_leader_sampling(struct record_event *e, bool is_leader)
{
	e->attr.read_format |= BIT(READ_GROUP);
	if (is_leader) {
		e->attr.sample_type |= BIT(SAMPLE_READ);
		return;
	}
	e->attr.sample_period = 0;
	attr_clear(&e->attr, ATTR_FREQ);
}

/* Read values with each sample. What is counted on CPUs has no children to follow. */
static void set_reads(struct record_event *e, const struct record_options *o)
{
	e->attr.sample_type |= BIT(SAMPLE_READ);
	e->attr.read_format |= BIT(READ_TIME_ENABLED) | BIT(READ_TIME_RUNNING);
	if (e->follows_no_children || !record_is_of_tasks(o))
		attr_clear(&e->attr, ATTR_INHERIT);
}

static void set_registers(struct attr *attr, const struct record_options *o)
{
	const struct registers *registers = own_registers();

	if (o->with_registers)
		attr->sample_regs_intr = o->registers;
	if (o->stacks != RECORD_DWARF || registers == NULL)
		return;
	attr->sample_regs_user = registers_mask(registers);
	attr->sample_stack_user = o->stack_bytes != 0 ? o->stack_bytes : RECORD_DEFAULT_STACK;
}

static void set_stacks(struct attr *attr, const struct record_options *o)
{
	attr->branch_sample_type = o->branch_filter;
	if (o->stacks == RECORD_LBR)
		attr->branch_sample_type |= BRANCH_USER | BRANCH_CALL_STACK;
	/* The copied stack replaces the user part of the call chain. */
	if (o->stacks == RECORD_DWARF)
		attr->flags |= BIT(22); /* exclude_callchain_user */
}

bool record_is_of_tasks(const struct record_options *o)
{
	return !o->is_system_wide && o->cgroup == NULL &&
	       (o->program != NULL || o->pids != NULL || o->tids != NULL);
}

bool record_is_of_program(const struct record_options *o)
{
	return o->program != NULL && !o->is_system_wide && o->cpus == NULL && o->pids == NULL &&
	       o->tids == NULL && o->cgroup == NULL;
}

static int complete_attr(struct record_event *e, const struct record_options *o, const char *root,
			 struct err *err)
{
	struct attr *attr = &e->attr;

	attr->size = attr->config4 != 0	  ? ATTR_SIZE_MAX
		     : attr->config3 != 0 ? ATTR_SIZE_MAX - 8
					  : ATTR_SIZE_PERF;
	attr->read_format = BIT(READ_ID) | BIT(READ_LOST);
	attr_set(attr, ATTR_DISABLED);
	attr_set(attr, ATTR_SAMPLE_ID_ALL);
	if (!attr_has(attr, ATTR_EXCLUDE_HOST))
		attr_set(attr, ATTR_EXCLUDE_GUEST);
	if (!o->without_children)
		attr_set(attr, ATTR_INHERIT);
	if (record_is_of_program(o) && o->delay_ns == 0)
		attr_set(attr, ATTR_ENABLE_ON_EXEC);

	set_registers(attr, o);
	set_stacks(attr, o);
	if (o->clock != NULL && set_clockid(attr, o->clock, err) < 0)
		return -1;
	return set_rate(e, o, root, err);
}

/* Is the event on all CPUs, so that its side-band covers them? */
static bool is_everywhere(const struct record_event *e, struct pmus *pmus)
{
	return e->pmu == NULL || (e->pmu->is_core && pmus_core(pmus, 1) == NULL);
}

/*
 * Chooses the event that brings the side-band. Running processes are described from /proc while
 * recording has begun. Nothing that happens meanwhile may be missed, so the side-band then is an
 * event of its own, enabled before the others.
 */
static void choose_side_band(struct record_events *events, const struct record_options *o,
			     struct pmus *pmus)
{
	bool needs_own = !record_is_of_program(o) || o->delay_ns != 0;
	bool has_spe = events->list.n > 0 && events->list.items[0].is_spe;
	struct record_event *own;

	for (size_t i = 0; i < events->list.n && !needs_own; i++) {
		struct record_event *e = &events->list.items[i];

		if (e->is_spe || !is_everywhere(e, pmus))
			continue;
		set_side_band(&e->attr, o, has_spe);
		return;
	}
	own = vec_add(&events->list);
	own->name = "dummy:u";
	own->leader = events->list.n - 1;
	own->attr.type = ATTR_TYPE_SOFTWARE;
	own->attr.config = SOFTWARE_DUMMY;
	own->is_side_band = true;
	own->names_modes = true;
	attr_set(&own->attr, ATTR_EXCLUDE_KERNEL);
	attr_set(&own->attr, ATTR_EXCLUDE_HV);
	set_side_band(&own->attr, o, has_spe);
}

int record_attrs_complete(struct record_events *events, const struct record_options *o,
			  struct pmus *pmus, const char *root, struct err *err)
{
	bool has_periods = false;
	uint64_t type;

	choose_side_band(events, o, pmus);
	for (size_t i = 0; i < events->list.n; i++) {
		if (complete_attr(&events->list.items[i], o, root, err) < 0)
			return -1;
		has_periods |= attr_has(&events->list.items[i].attr, ATTR_FREQ);
	}
	type = sample_type(o, events->list.n > 1, has_periods);
	for (size_t i = 0; i < events->list.n; i++) {
		struct record_event *e = &events->list.items[i];

		e->attr.sample_type |= type;
		if (e->is_for_callers)
			e->attr.sample_type |= BIT(SAMPLE_CALLCHAIN);
		if (events->list.items[e->leader].samples_by_leader && !e->is_side_band)
			set_leader_sampling(e, e->leader == i);
		if (e->is_of_account)
			set_reads(e, o);
	}
	return 0;
}

static bool give_up_flag(struct attr *attr, enum attr_flag flag)
{
	bool had = attr_has(attr, flag);

	attr_clear(attr, flag);
	return had;
}

static bool give_up_lost(struct record_event *e)
{
	bool had = e->attr.read_format & BIT(READ_LOST);

	e->attr.read_format &= ~BIT(READ_LOST);
	return had;
}

static bool give_up_build_ids(struct record_event *e)
{
	return give_up_flag(&e->attr, ATTR_BUILD_ID);
}

static bool give_up_precision(struct record_event *e)
{
	if (!e->wants_precise || (e->attr.flags >> ATTR_PRECISE_IP & 3) == 0)
		return false;
	e->attr.flags -= BIT(ATTR_PRECISE_IP);
	return true;
}

/* The leader of a group is refused first, then its members follow. */
static bool give_up_group_inheritance(struct record_event *e)
{
	return (e->attr.read_format & BIT(READ_GROUP)) != 0 && give_up_flag(&e->attr, ATTR_INHERIT);
}

static bool give_up_guest(struct record_event *e)
{
	return give_up_flag(&e->attr, ATTR_EXCLUDE_GUEST);
}

static bool give_up_bpf(struct record_event *e)
{
	bool had = give_up_flag(&e->attr, ATTR_KSYMBOL);

	return give_up_flag(&e->attr, ATTR_BPF_EVENT) || had;
}

static bool give_up_namespaces(struct record_event *e)
{
	return give_up_flag(&e->attr, ATTR_NAMESPACES);
}

static bool give_up_kernel(struct record_event *e)
{
	if (e->names_modes || attr_has(&e->attr, ATTR_EXCLUDE_KERNEL))
		return false;
	attr_set(&e->attr, ATTR_EXCLUDE_KERNEL);
	attr_set(&e->attr, ATTR_EXCLUDE_HV);
	return true;
}

/*
 * What an event can do without, in the order in which it is given up. Comments: the kernel that has
 * it.
 */
static const struct {
	bool is_for_rights; /* given up after EACCES or EPERM, else after EINVAL and the like */
	bool (*give_up)(struct record_event *);
	const char *text;
} simplifications[] = {
	{ true, give_up_namespaces, "" },
	{ true, give_up_kernel,
	  "kernel code is not recorded: perf_event_paranoid forbids it without CAP_PERFMON" },
	{ false, give_up_precision, "" },
	{ false, give_up_group_inheritance,
	  "this kernel cannot follow children and threads in groups with a sampling leader (:S)" },
	{ false, give_up_lost, "" },	   /* 6.0 */
	{ false, give_up_build_ids, "" },  /* 5.12 */
	{ false, give_up_bpf, "" },	   /* 5.1 */
	{ false, give_up_namespaces, "" }, /* 4.12 */
	{ false, give_up_guest, "" },
};

const char *record_attr_simplify(struct record_event *e, int error)
{
	bool is_for_rights = error == EACCES || error == EPERM;

	if (!is_for_rights && error != EINVAL && error != EOPNOTSUPP && error != E2BIG)
		return NULL;
	for (size_t i = 0; i < COUNT(simplifications); i++)
		if (simplifications[i].is_for_rights == is_for_rights &&
		    simplifications[i].give_up(e))
			return simplifications[i].text;
	return NULL;
}

size_t record_attr_sample_bytes(const struct attr *attr)
{
	enum { BRANCHES = 32, ENTRY_BYTES = 24 };
	size_t bytes = 8 + 8 * (size_t)__builtin_popcountll(attr->sample_type);

	if (attr->sample_type & BIT(SAMPLE_CALLCHAIN))
		bytes += MAX_STACK_FRAMES / 2 * sizeof(uint64_t);
	if (attr->sample_type & BIT(SAMPLE_BRANCH_STACK))
		bytes += BRANCHES * ENTRY_BYTES;
	if (attr->sample_type & BIT(SAMPLE_READ))
		bytes += 64;
	bytes += 8 * (size_t)__builtin_popcountll(attr->sample_regs_intr);
	bytes += 8 * (size_t)__builtin_popcountll(attr->sample_regs_user);
	return bytes + attr->sample_stack_user;
}
