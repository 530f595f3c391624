/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/timer.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/gcd.h"
#include "capture/format/attr.h"
#include "measure/user_read.h"
#include "pmu/perf_event.h"
#include "pmu/pmu.h"
#include "system/system.h"

enum {
	STEP_READINGS = 20000,
	STEP_DIFFERENCES = 256,
	STEP_LONGEST_NS = 20000000,
	CALIBRATION_NS = 10000000,
	LEAST_STEPS = 100, /* of the clock, for what is timed as a whole */
	LEAST_NS = 20000,
};

static const char *const names[N_TIMER_KINDS] = {
	[TIMER_PMU] = "PMU cycles",
	[TIMER_TSC] = "TSC",
	[TIMER_CNTVCT] = "CNTVCT_EL0",
	[TIMER_SYSTEM] = "clock_gettime",
};

const char *timer_name(enum timer_kind kind)
{
	return names[kind];
}

uint64_t timer_ns_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * order(): what precedes it in the program is done before what follows it. counter(): of the PMU, by its index.
 * ticks(): of the clock that user code may always read.
 */
#if defined(__x86_64__)

static const enum timer_kind own_clock = TIMER_TSC;

static inline void order(void)
{
	__asm__ volatile("lfence" ::: "memory");
}

static inline uint64_t counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index) : "memory");
	return (uint64_t)high << 32 | low;
}

static inline uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

/* Behind the lfence the load is done. */
static inline void *load_done(void **place)
{
	void *read = *(void *const volatile *)place;

	order();
	return read;
}

/* Does the counter tick alike at all frequencies, and in idle states? */
static bool own_clock_is_steady(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}

static inline uint64_t add_chain(uint64_t value, uint64_t n)
{
	uint64_t one = 1;

	__asm__ volatile("" : "+r"(one));
	for (; n >= 16; n -= 16)
		__asm__ volatile("add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
				 "add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
				 "add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
				 "add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
				 : "+r"(value)
				 : "r"(one)
				 : "cc");
	for (; n > 0; n--)
		__asm__ volatile("add %1, %0" : "+r"(value) : "r"(one) : "cc");
	return value;
}

static bool counter_is_readable(uint32_t index)
{
	(void)index;
	return true;
}

#elif defined(__aarch64__)

static const enum timer_kind own_clock = TIMER_CNTVCT;

static inline void order(void)
{
	__asm__ volatile("isb" ::: "memory");
}

enum { CYCLE_COUNTER = 31 };

static inline uint64_t counter(uint32_t index)
{
	uint64_t value;

	(void)index;
	__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value)::"memory");
	return value;
}

static inline uint64_t ticks(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value)::"memory");
	return value;
}

/* The branch waits for what the load reads; the isb waits for the branch. */
static inline void *load_done(void **place)
{
	void *read;

	__asm__ volatile("ldr %0, [%1]\n"
			 "cbz %0, 1f\n"
			 "1: isb\n"
			 : "=&r"(read)
			 : "r"(place)
			 : "memory");
	return read;
}

static bool own_clock_is_steady(void)
{
	return true;
}

static inline uint64_t add_chain(uint64_t value, uint64_t n)
{
	uint64_t one = 1;

	__asm__ volatile("" : "+r"(one));
	for (; n >= 16; n -= 16)
		__asm__ volatile(
			"add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n"
			"add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n"
			"add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n"
			"add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n"
			: "+r"(value)
			: "r"(one));
	for (; n > 0; n--)
		__asm__ volatile("add %0, %0, %1" : "+r"(value) : "r"(one));
	return value;
}

/* The register is part of the instruction: only that of the cycle counter is. */
static bool counter_is_readable(uint32_t index)
{
	return index == CYCLE_COUNTER;
}

#else

static const enum timer_kind own_clock = TIMER_SYSTEM;

static inline void order(void)
{
	__sync_synchronize();
}

static inline uint64_t counter(uint32_t index)
{
	(void)index;
	return 0;
}

static inline uint64_t ticks(void)
{
	return timer_ns_now();
}

static inline void *load_done(void **place)
{
	void *read = *(void *const volatile *)place;

	order();
	return read;
}

static bool own_clock_is_steady(void)
{
	return false;
}

static inline uint64_t add_chain(uint64_t value, uint64_t n)
{
	for (; n > 0; n--) {
		value++;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

static bool counter_is_readable(uint32_t index)
{
	(void)index;
	return false;
}

#endif

static uint64_t counter_function(uint32_t index)
{
	return counter(index);
}

static const struct user_counters user_counters = { counter_function, ticks };

void timer_spin(uint64_t n_cycles)
{
	uint64_t sum = add_chain(0, n_cycles);

	__asm__ volatile("" : : "r"(sum));
}

uint64_t timer_now(const struct timer *t)
{
	struct user_reading reading = { 0 };
	uint64_t now;

	order();
	if (t->kind == TIMER_PMU) {
		/* not on a counter: the kernel knows what was counted */
		if (!user_read(t->page, &user_counters, false, &reading) &&
		    read(t->fd, &reading.value, sizeof(reading.value)) < 0)
			reading.value = 0;
		now = reading.value;
	} else if (t->kind == TIMER_SYSTEM) {
		now = timer_ns_now();
	} else {
		now = ticks();
	}
	order();
	return now;
}

bool timer_time_load(const struct timer *t, void **place, uint64_t *out_ticks, void **out_read)
{
	uint64_t before, after;

	if (t->kind == TIMER_PMU) {
		uint32_t lock = t->page->lock, index = t->page->index;

		order();
		before = index == 0 ? 0 : counter(index - 1);
		order();
		*out_read = load_done(place);
		after = index == 0 ? 0 : counter(index - 1);
		order();
		*out_ticks = after - before;
		return index != 0 && counter_is_readable(index - 1) && t->page->lock == lock &&
		       after >= before;
	}
	order();
	before = t->kind == TIMER_SYSTEM ? timer_ns_now() : ticks();
	order();
	*out_read = load_done(place);
	after = t->kind == TIMER_SYSTEM ? timer_ns_now() : ticks();
	order();
	*out_ticks = after - before;
	return after >= before;
}

struct timer_start timer_start(const struct timer *t)
{
	struct timer_start start = { 0 };

	if (t->ns_per_tick == 0)
		start.ns = timer_ns_now();
	start.ticks = timer_now(t);
	return start;
}

struct elapsed timer_stop(const struct timer *t, const struct timer_start *start)
{
	double n = (double)(timer_now(t) - start->ticks);

	if (t->ns_per_tick > 0)
		return (struct elapsed){ .ns = n * t->ns_per_tick };
	return (struct elapsed){ .ns = (double)(timer_ns_now() - start->ns), .cycles = n };
}

double timer_core_ghz(const struct timer *t)
{
	double best = 0;

	/* The fastest of several: whatever disturbs makes it slower. */
	for (int i = 0; i < 5; i++) {
		uint64_t n = 1 << 14, sum;
		struct elapsed e;

		for (;; n *= 2) {
			struct timer_start start = timer_start(t);

			sum = add_chain(0, n);
			__asm__ volatile("" : : "r"(sum));
			e = timer_stop(t, &start);
			if (e.ns >= LEAST_NS &&
			    e.ns >= LEAST_STEPS * (double)t->step * t->ns_per_tick)
				break;
		}
		if (e.cycles > 0)
			n = (uint64_t)e.cycles;
		if ((double)n / e.ns > best)
			best = (double)n / e.ns;
	}
	return best;
}

/* Is it a multiple of the step, but for a tick in each? */
static bool is_multiple(uint64_t difference, uint64_t step)
{
	uint64_t n = (difference + step / 2) / step;
	uint64_t exact = n * step;
	uint64_t off = difference > exact ? difference - exact : exact - difference;

	return n > 0 && off <= n;
}

uint64_t timer_step_of(const uint64_t *differences, size_t n)
{
	uint64_t least = UINT64_MAX, common = 0;
	bool is_coarse = true;

	for (size_t i = 0; i < n; i++) {
		common = gcd(common, differences[i]);
		if (differences[i] < least)
			least = differences[i];
	}
	/* Of small steps all numbers are multiples. */
	for (size_t i = 0; i < n && is_coarse; i++)
		is_coarse = least >= 16 && is_multiple(differences[i], least);
	return n == 0 ? 0 : is_coarse ? least : common;
}

/* Readings at distances that differ, so that a fine clock shows differences of all sizes. */
static uint64_t measure_step(const struct timer *t)
{
	uint64_t differences[STEP_DIFFERENCES], start = timer_ns_now(), least = UINT64_MAX;
	size_t n = 0;

	for (unsigned i = 0; i < STEP_READINGS && n < STEP_DIFFERENCES; i++) {
		uint64_t before = timer_now(t), after;

		timer_spin(i % 101);
		after = timer_now(t);
		if (after > before) {
			differences[n++] = after - before;
			if (after - before < least)
				least = after - before;
		}
		if (n >= 16 && timer_ns_now() - start > STEP_LONGEST_NS)
			break;
	}
	/* The system's clock is computed from a coarser one: no shorter time than a reading can be told. */
	return t->kind == TIMER_SYSTEM && n > 0 ? least : timer_step_of(differences, n);
}

static double measure_ns_per_tick(void)
{
	uint64_t from_ns = timer_ns_now(), from = ticks(), to_ns, to;

	do {
		to_ns = timer_ns_now();
		to = ticks();
	} while (to_ns - from_ns < CALIBRATION_NS);
	return to > from ? (double)(to_ns - from_ns) / (double)(to - from) : 0;
}

/* The event of cycles of user code on this thread's PMU. */
static bool cycles_attr(struct attr *out)
{
	enum { ARM_CPU_CYCLES = 0x11, ARM_USER_READS = 2, HARDWARE_CYCLES = 0 };
	struct pmus pmus = { 0 };
	const struct pmu *core;

	*out = (struct attr){ .type = ATTR_TYPE_HARDWARE, .config = HARDWARE_CYCLES };
	attr_set(out, ATTR_EXCLUDE_KERNEL);
	attr_set(out, ATTR_EXCLUDE_HV);
	attr_set(out, ATTR_PINNED);
	pmus_read(&pmus, "");
	core = pmus_core_of_cpu(&pmus, (uint32_t)sched_getcpu());
	if (core != NULL && core->is_arm) {
		out->type = core->type;
		out->config = ARM_CPU_CYCLES;
		out->config1 = ARM_USER_READS;
	}
	pmus_release(&pmus);
	return core != NULL;
}

static bool open_pmu(struct timer *t)
{
	struct attr attr;
	const struct event_request request = {
		.attr = &attr,
		.name = "cycles",
		.cpu = EVENT_ANY_CPU,
		.group_fd = EVENT_NO_GROUP,
	};
	struct user_reading reading;
	void *page;
	int64_t allowed;

	/* Where the instruction is not allowed it ends the program. */
#if defined(__aarch64__)
	if (!system_number("", &allowed, "/proc/sys/kernel/perf_user_access") || allowed != 1)
		return false;
#else
	(void)allowed;
#endif
	if (!cycles_attr(&attr))
		return false;
	t->fd = event_open(&request);
	if (t->fd < 0)
		return false;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, t->fd, 0);
	t->page = page == MAP_FAILED ? NULL : page;
	t->kind = TIMER_PMU;
	t->ns_per_tick = 0;
	if (t->page != NULL && t->page->index != 0 && counter_is_readable(t->page->index - 1) &&
	    user_read(t->page, &user_counters, false, &reading)) {
		t->step = measure_step(t);
		if (t->step > 0)
			return true;
	}
	timer_close(t);
	return false;
}

void timer_open(struct timer *t)
{
	*t = (struct timer){ .fd = -1 };
	if (open_pmu(t))
		return;
	t->kind = own_clock;
	if (own_clock != TIMER_SYSTEM && own_clock_is_steady()) {
		t->ns_per_tick = measure_ns_per_tick();
		t->step = measure_step(t);
	}
	if (t->ns_per_tick > 0 && t->step > 0)
		return;
	t->kind = TIMER_SYSTEM;
	t->ns_per_tick = 1;
	t->step = measure_step(t);
}

void timer_close(struct timer *t)
{
	if (t->page != NULL)
		munmap((void *)(uintptr_t)t->page, (size_t)sysconf(_SC_PAGESIZE));
	if (t->fd >= 0)
		close(t->fd);
	t->page = NULL;
	t->fd = -1;
}
