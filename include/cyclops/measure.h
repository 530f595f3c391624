/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcyclops: a program measures its own regions with the counters of the CPU and of the kernel.
 *
 *	CYCLOPS_HANDLE(m);
 *
 *	CYCLOPS_OPEN(m, NULL);                  events from CYCLOPS_EVENTS, output to CYCLOPS_OUT
 *	CYCLOPS_REGION(m, solve, "solve");
 *	CYCLOPS_BEGIN(m, solve);
 *	…
 *	CYCLOPS_END(m, solve);
 *	CYCLOPS_CLOSE(m);
 *
 * The macros are empty unless CYCLOPS_MEASURE is defined: the object file is then the same as without
 * them. The functions are always there. The library never prints and never ends the program.
 *
 * A thread has counters of its own. They run from cyclops_thread_open() on; begin and end only read
 * them. Regions nest. The thread that opens the handle is opened with it; every other thread opens
 * itself.
 *
 * On the machine model (cyclops model --counts) there are no counters, but the model counts regions.
 *
 * Functions return 0 or more, or a negative errno. All accept a handle of NULL: -EINVAL.
 */
#ifndef CYCLOPS_MEASURE_H
#define CYCLOPS_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct cyclops;

enum cyclops_mode {
	CYCLOPS_MODE_UNSET, /* as CYCLOPS_MODE says; else auto */
	CYCLOPS_MODE_AUTO,  /* user where it is possible, else read */
	CYCLOPS_MODE_READ,  /* read(2), one call for each begin and end */
	CYCLOPS_MODE_USER,  /* counters are read by instructions (rdpmc, MRS) */
};

/* What of hardware events is counted; an event's own :u or :k goes before. */
enum cyclops_privilege {
	CYCLOPS_USER, /* code of the program */
	CYCLOPS_KERNEL,
	CYCLOPS_USER_AND_KERNEL,
};

/* Zeroed, but for `sz`, is a choice. Numbers of 0 are the defaults. */
struct cyclops_options {
	size_t sz; /* sizeof(struct cyclops_options) */

	/*
	 * "cycles,instructions,page-faults": names of the catalog, of the kernel or of sysfs, or rNN,
	 * each with :u or :k if wanted. Braces make sets: "{a,b},{c,d}". NULL: CYCLOPS_EVENTS, else
	 * cycles, instructions, page-faults. `cycles` is added to each set.
	 */
	const char *events;

	/*
	 * The file that cyclops_close() writes, or the end of the program. *.csv and *.json have these
	 * formats, other names text; "%p" in it becomes the process id, "-" is standard output. NULL:
	 * CYCLOPS_OUT; if that is not set, nothing is written.
	 */
	const char *out;

	int mode;	/* enum cyclops_mode */
	int privilege;	/* enum cyclops_privilege */
	int all_sets;	/* not 0: all sets at once, taking turns on the counters (multiplexing) */
	int minus_bias; /* not 0: output is less the bias of each begin and end */

	unsigned max_regions; /* 64 */
	unsigned max_threads; /* 256, counting those that have ended */
	unsigned max_depth;   /* 64: regions open in one another */
	unsigned max_paths;   /* 128: pairs of a region and the one around it, in a thread */
};

/* What an event came to in a region, over all calls of one thread or of all. */
struct cyclops_count {
	size_t sz; /* sizeof(struct cyclops_count), set by the caller */
	uint64_t calls;
	double count;		     /* scaled if coverage < 1, but not on mixed cores */
	double exclusive;	     /* without the regions inside */
	uint64_t raw, exclusive_raw; /* as read from the counter */
	uint64_t enabled_ns, running_ns;
	double coverage;   /* running / enabled; 1: exact. 0: not counted, count means nothing */
	uint64_t min, max; /* of one call, among those that were counted all of the time */
	uint64_t p50, p90, p99; /* of these; the upper end of a bucket, at most 3 % wide */
	uint64_t counted_calls; /* how many these are */
	double bias;		/* of one empty begin and end: the median of 1000; NAN: not known */
};

/*
 * Opens a handle, and the calling thread. Returns 0, or the negative errno of the first event that
 * cannot be counted or of what else is wrong; cyclops_why() says it in a sentence. The handle works
 * in both cases: regions are timed, events that could not be opened are not counted. Only without
 * memory *out is NULL.
 */
int cyclops_open(struct cyclops **out, const struct cyclops_options *options);

/* Why the last function failed, or an event is not counted; "" if all is well. Never NULL. */
const char *cyclops_why(const struct cyclops *);

/* The id of the region of this name (UTF-8), from 1; the same name has the same id. */
int cyclops_region(struct cyclops *, const char *name);

/* Counters for the calling thread. Closing keeps its counts; a thread that ends is closed. */
int cyclops_thread_open(struct cyclops *);
int cyclops_thread_close(struct cyclops *);

/*
 * Begin and end a region in this thread. Async-signal-safe: a handler that interrupts one of them
 * gets -EBUSY, and its region is not measured. An end that does not match the innermost region is
 * -EINVAL and changes nothing. -ESRCH: the thread is not open. -ECHILD: this is a forked child.
 */
int cyclops_begin(struct cyclops *, int region);
int cyclops_end(struct cyclops *, int region);

/*
 * The counts of this thread since it was opened, by index of the event, at most n; 0 for events
 * that are not on. Returns the number of events.
 */
int cyclops_read(struct cyclops *, uint64_t *values, int n);

/* This thread goes on with the next set of events; its index. -EBUSY inside of a region. */
int cyclops_switch(struct cyclops *);

/* Forgets all that was measured so far. Regions that are open now are not measured. */
int cyclops_reset(struct cyclops *);

/* Events by index; NULL behind the last. Index 0 is duration_time, the elapsed time in ns. */
const char *cyclops_event(const struct cyclops *, int event);

/* Sums over all threads. */
int cyclops_count_of(struct cyclops *, int region, int event, struct cyclops_count *out);

/* Writes what was measured so far. Format: "text", "csv" or "json"; NULL: as the path ends. */
int cyclops_write(struct cyclops *, const char *path, const char *format);

/* Writes the output, if there is a file for it, and frees all. Other threads must be done with it. */
int cyclops_close(struct cyclops *);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#ifdef CYCLOPS_MEASURE
#define CYCLOPS_HANDLE(m) struct cyclops *m
#define CYCLOPS_OPEN(m, options) ((void)cyclops_open(&(m), (options)))
#define CYCLOPS_REGION(m, id, name) const int id = cyclops_region((m), (name))
#define CYCLOPS_THREAD_OPEN(m) ((void)cyclops_thread_open(m))
#define CYCLOPS_THREAD_CLOSE(m) ((void)cyclops_thread_close(m))
#define CYCLOPS_BEGIN(m, id) ((void)cyclops_begin((m), (id)))
#define CYCLOPS_END(m, id) ((void)cyclops_end((m), (id)))
#define CYCLOPS_SWITCH(m) ((void)cyclops_switch(m))
#define CYCLOPS_RESET(m) ((void)cyclops_reset(m))
#define CYCLOPS_WRITE(m, path, format) ((void)cyclops_write((m), (path), (format)))
#define CYCLOPS_CLOSE(m) ((void)cyclops_close(m))
#else
/* A declaration that declares nothing new, and a statement that does nothing. */
#define CYCLOPS_HANDLE(m) struct cyclops
#define CYCLOPS_OPEN(m, options) ((void)0)
#define CYCLOPS_REGION(m, id, name) struct cyclops
#define CYCLOPS_THREAD_OPEN(m) ((void)0)
#define CYCLOPS_THREAD_CLOSE(m) ((void)0)
#define CYCLOPS_BEGIN(m, id) ((void)0)
#define CYCLOPS_END(m, id) ((void)0)
#define CYCLOPS_SWITCH(m) ((void)0)
#define CYCLOPS_RESET(m) ((void)0)
#define CYCLOPS_WRITE(m, path, format) ((void)0)
#define CYCLOPS_CLOSE(m) ((void)0)
#endif

#endif
