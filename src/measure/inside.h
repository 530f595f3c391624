/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handle and its threads are made of. For this folder only.
 *
 * A thread's memory is one mapping, written by that thread alone; others read it while the output is
 * written. So numbers in it are stored and loaded whole, and `seq` of a path is odd while they change.
 */
#ifndef CYCLOPS_MEASURE_INSIDE_H
#define CYCLOPS_MEASURE_INSIDE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/uint128.h"
#include "cyclops/measure.h"
#include "measure/events.h"
#include "measure/histogram.h"

enum { MEASURE_BIAS_PAIRS = 1000 };

struct perf_event_mmap_page;

/* How a sample's events were read. */
enum measure_how {
	HOW_NONE, /* not at all */
	HOW_READ,
	HOW_USER,
	N_HOWS,
};

/* Stands for the number of a page that was not read; pages that nobody writes have even numbers. */
enum { PAGE_NOT_READ = 1 };

/* An event that is read by instructions. */
struct quick_event {
	const volatile struct perf_event_mmap_page *page;
	uint64_t unused_bits; /* of its counter */
};

/* The counters of one set, for one thread. */
struct counter_group {
	int leader; /* descriptor; -1: nothing is open */
	unsigned n; /* events that are open, the leader first */
	uint8_t events[MEASURE_EVENTS];
	int fds[MEASURE_EVENTS];
	const struct perf_event_mmap_page *pages[MEASURE_EVENTS]; /* for user reads */
	bool has_user_reads;
	bool is_run; /* the events follow each other: events[i] = events[0] + i */
	struct quick_event quick[MEASURE_EVENTS];
	uint32_t lock; /* of the leader's page, when it said these times; they lack the clock */
	uint64_t enabled_ns, running_ns;
};

/* Counts at a moment, or the difference of two. */
struct sample {
	uint64_t ticks;
	uint64_t values[MEASURE_EVENTS]; /* index 0: ns, of differences only */
	struct {
		uint64_t enabled_ns, running_ns;
		uint64_t clock; /* HOW_USER: the times lack it until sample_subtract() */
		uint8_t how;
	} sets[MEASURE_SETS];
};

struct path_set {
	uint64_t calls;	  /* that ended in this set */
	uint64_t by_read; /* of these, measured by read(2), and by instructions */
	uint64_t by_user;
	uint64_t enabled_ns, running_ns;
	uint64_t inside_enabled_ns, inside_running_ns; /* in regions inside */
};

/* Calls that were read by instructions and counted all of the time. path_copy() adds them to the others. */
struct path_quick {
	uint64_t calls, ns;
};

struct path_event {
	uint64_t sum, inside; /* inside: part of the sum that regions inside have */
	uint64_t n, min,
		max; /* of calls that were counted all of the time; n lacks those of path_quick */
	uint64_t *histogram; /* HISTOGRAM_BUCKETS */
};

/* A region in one thread, inside of another region. */
struct path {
	uint32_t seq;
	uint32_t epoch;	   /* of its numbers; an older one than the handle's: they are void */
	int region;	   /* 0: unused */
	int parent;	   /* 0: none */
	bool is_recursive; /* the region was open already */
	struct path_set sets[MEASURE_SETS];
	struct path_quick quick[MEASURE_SETS];
	struct path_event events[MEASURE_EVENTS];
};

/* A region that is open. */
struct frame {
	struct path *path; /* NULL: there was no room for it */
	int region;
	uint32_t epoch;
	bool has_inside; /* else `inside` is zero */
	uint32_t lock;	 /* of the leader's page at the start; PAGE_NOT_READ: it was read slowly */
	struct sample start;
	struct sample inside; /* the sum of the regions inside */
};

struct caliper_thread {
	struct cyclops *owner;
	volatile sig_atomic_t is_busy; /* inside of begin or end */
	unsigned too_deep;
	struct frame *frames;	  /* the first one is not used: its region is 0 */
	struct frame *top, *last; /* of the frames: the innermost open region, the last there is */
	struct counter_group *quick; /* the current set, if its pages are read; else NULL */
	unsigned *n_open;	     /* by region: how many are open now */
	unsigned set;		     /* the current one */
	unsigned n_paths;
	bool is_open;
	bool was_quick; /* the last end: `end` has no times */
	pid_t tid;
	struct path *paths;
	/* what was refused */
	uint64_t n_mismatched, n_too_deep, n_interrupted, n_without_path;
	struct sample end; /* scratch of cyclops_end() and others */
	struct counter_group groups[MEASURE_SETS];
};

struct cyclops {
	struct cyclops *next;		/* of the process */
	uint64_t serial;		/* no other handle at this address has had it */
	const volatile char *is_parent; /* 1; a page that fork() clears */
	uint64_t tick_mult;		/* ns = ticks * tick_mult >> 32 */
	uint32_t epoch;
	bool is_marked; /* nothing can be counted: marks tell the machine model what begins and ends */
	pid_t pid;
	const char *root;
	pthread_key_t key;
	pthread_mutex_t lock; /* of regions, threads and `why` */
	struct measure_pmu pmu;
	struct measure_events events;
	int mode, privilege;
	bool has_all_sets, is_less_bias;
	unsigned max_regions, max_threads, max_depth, max_paths;
	char *out;	/* NULL: nothing is written at the end */
	char **regions; /* index 0 is unused */
	unsigned n_regions;
	struct caliper_thread **threads;
	unsigned n_threads;
	size_t thread_size;
	uint64_t n_not_open;		     /* begins and ends of threads that are not open */
	double bias[N_HOWS][MEASURE_EVENTS]; /* NAN: not known */
	char why[512];
};

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define STORE(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELAXED)
#define ADD(x, value) STORE((x), (x) + (value))

/* sample.c */
extern const struct user_counters user_counters_here;
uint64_t measure_tick_mult(void);
static inline uint64_t measure_ns(const struct cyclops *c, uint64_t ticks)
{
	struct uint128 product = uint128_product(ticks, c->tick_mult);

	return product.high << 32 | product.low >> 32;
}

/* Reads all that is on now. `as`: only sets that were read as there, and in the same way; or NULL. */
void sample_take(struct caliper_thread *, const struct sample *as, struct sample *out);

/* Turns `end` into the difference to `start`; sets that cannot be compared become HOW_NONE. */
void sample_subtract(const struct caliper_thread *, const struct sample *start, struct sample *end);

/* The sets that are on: from *first, up to the one before the result. */
unsigned thread_sets(const struct caliper_thread *, unsigned *first);

/* thread.c */

/* The calling thread of a handle; NULL: it was never opened, or has been closed. */
struct caliper_thread *thread_here(const struct cyclops *);

/* Its own last answer, without a call. */
struct last_thread {
	const struct cyclops *owner;
	uint64_t serial;
	struct caliper_thread *thread;
};
extern _Thread_local struct last_thread last_thread __attribute__((tls_model("initial-exec")));

/* Opens the calling thread's counters. For the first thread of all it sets states of events. */
int thread_open(struct cyclops *, bool is_first);

/* Signal handlers of the thread may begin and end regions meanwhile: they are refused. */
void thread_close_counters(struct caliper_thread *);
void thread_switch(struct caliper_thread *, unsigned set);

/* Forgets the paths of the calling thread, which has no open region. */
void thread_forget(struct caliper_thread *);

/* region.c */

/*
 * The numbers of a thread's path, copied as a whole; false if it is unused or has none. Histograms are
 * not copied: those of `path` are read as they are. If the calling thread's own cyclops_end() has been
 * interrupted, by a signal handler that ends the program, the call that ended is there in part.
 */
bool path_copy(const struct cyclops *, const struct caliper_thread *, const struct path *,
	       struct path *out);

/* totals.c */
double measure_estimate(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);
/* What a begin and end count of an event, as they were read in this path; NAN: not known. */
double path_bias(const struct cyclops *, const struct path_set *, unsigned event);

/* open.c */

/* Is this the process that opened the handle? */
bool measure_is_usable(const struct cyclops *);

/*
 * The lock of a handle. A thread is not cancelled while it has it, as nobody would get it afterwards.
 * measure_lock() returns what measure_unlock() wants.
 */
int measure_lock(struct cyclops *);
void measure_unlock(struct cyclops *, int cancel_state);

/* Keeps the sentence for cyclops_why(). Returns -error. */
int measure_fail(struct cyclops *, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
