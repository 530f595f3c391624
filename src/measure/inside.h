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

/* The counters of one set, for one thread. */
struct counter_group {
	int leader; /* descriptor; -1: nothing is open */
	unsigned n; /* events that are open, the leader first */
	uint8_t events[MEASURE_EVENTS];
	int fds[MEASURE_EVENTS];
	const struct perf_event_mmap_page *pages[MEASURE_EVENTS]; /* for user reads */
	bool has_user_reads;
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
	uint64_t exclusive_enabled_ns, exclusive_running_ns;
};

struct path_event {
	uint64_t sum, exclusive;
	uint64_t n, min, max; /* of calls that were counted all of the time */
};

/* A region in one thread, inside of another region. */
struct path {
	uint32_t seq;
	uint32_t epoch;	   /* of its numbers; an older one than the handle's: they are void */
	int region;	   /* 0: unused */
	int parent;	   /* 0: none */
	bool is_recursive; /* the region was open already */
	struct path_set sets[MEASURE_SETS];
	struct path_event events[MEASURE_EVENTS];
	uint64_t *histograms; /* HISTOGRAM_BUCKETS for each event of the handle */
};

/* A region that is open. */
struct frame {
	struct path *path; /* NULL: there was no room for it */
	int region;
	uint32_t epoch;
	struct sample start;
	struct sample inside; /* the sum of the regions inside */
};

struct caliper_thread {
	struct cyclops *owner;
	pid_t tid;
	bool is_open;
	volatile sig_atomic_t is_busy; /* inside of begin or end */
	unsigned depth, too_deep;
	unsigned set; /* the current one */
	unsigned n_paths;
	struct counter_group groups[MEASURE_SETS];
	struct frame *frames;
	struct path *paths;
	unsigned *n_open; /* by region: how many are open now */
	/* what was refused */
	uint64_t n_mismatched, n_too_deep, n_interrupted, n_without_path;
	struct sample end; /* scratch of cyclops_end() and others */
};

struct cyclops {
	const volatile char *is_parent; /* 1; a page that fork() clears */
	pid_t pid;
	const char *root;
	pthread_key_t key;
	pthread_mutex_t lock; /* of regions, threads and `why` */
	struct measure_pmu pmu;
	struct measure_events events;
	int mode, privilege;
	bool has_all_sets, is_less_bias;
	bool is_marked; /* nothing can be counted: marks tell the machine model what begins and ends */
	unsigned max_regions, max_threads, max_depth, max_paths;
	uint64_t tick_mult;	  /* ns = ticks * tick_mult >> 32 */
	char *out;		  /* NULL: nothing is written at the end */
	struct cyclops **at_exit; /* its target is cleared when the handle goes */
	char **regions;		  /* index 0 is unused */
	unsigned n_regions;
	struct caliper_thread **threads;
	unsigned n_threads;
	size_t thread_size;
	uint32_t epoch;
	uint64_t n_not_open;		     /* begins and ends of threads that are not open */
	double bias[N_HOWS][MEASURE_EVENTS]; /* NAN: not known */
	char why[512];
};

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define STORE(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELAXED)
#define ADD(x, value) STORE((x), (x) + (value))

/* sample.c */
extern const struct user_counters user_counters_here;
uint64_t measure_ticks(void);
uint64_t measure_tick_mult(void);
uint64_t measure_ns(const struct cyclops *, uint64_t ticks);

/* Reads all that is on now. `as`: only sets that were read as there, and in the same way; or NULL. */
void sample_take(struct caliper_thread *, const struct sample *as, struct sample *out);

/* Turns `end` into the difference to `start`; sets that cannot be compared become HOW_NONE. */
void sample_subtract(const struct caliper_thread *, const struct sample *start, struct sample *end);

/* The sets that are on: from *first, up to the one before the result. */
unsigned thread_sets(const struct caliper_thread *, unsigned *first);

/* thread.c */
struct caliper_thread *thread_here(const struct cyclops *);

/* Opens the calling thread's counters. For the first thread of all it sets states of events. */
int thread_open(struct cyclops *, bool is_first);
void thread_close_counters(struct caliper_thread *);
void thread_switch(struct caliper_thread *, unsigned set);

/* Forgets the paths of the calling thread, which has no open region. */
void thread_forget(struct caliper_thread *);

/* region.c */

/*
 * The numbers of a path, copied as a whole; false if it is unused or has none. Histograms are not
 * copied: those of `path` are read as they are.
 */
bool path_copy(const struct cyclops *, const struct path *, struct path *out);

/* totals.c */
double measure_estimate(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);
/* The upper end of the bucket with this part of all values in or below it; 0 if there are none. */
uint64_t bucket_quantile(const uint64_t *buckets, uint64_t n, double part);
/* What a begin and end count of an event, as they were read in this path; NAN: not known. */
double path_bias(const struct cyclops *, const struct path_set *, unsigned event);

/* open.c */

/* Is this the process that opened the handle? */
bool measure_is_usable(const struct cyclops *);

/* Keeps the sentence for cyclops_why(). Returns -error. */
int measure_fail(struct cyclops *, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
