/* SPDX-License-Identifier: Apache-2.0 */
/* Handles: options, opening and closing, regions, what the bias is. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/utf8_decode.h"
#include "measure/counters_here.h"
#include "measure/inside.h"
#include "measure/mark.h"
#include "system/system.h"

/* What is counted if nobody asks for anything. */
static const char default_events[] = "cycles,instructions,page-faults";

static const char is_child[] = "this process was forked from the one that opened the handle: its "
			       "counters are the parent's, "
			       "so nothing is counted here; open a handle of its own";

bool measure_is_usable(const struct cyclops *c)
{
	return c != NULL && *c->is_parent && c->pid == getpid();
}

int measure_fail(struct cyclops *c, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->why, sizeof(c->why), format, args);
	va_end(args);
	return -error;
}

static const struct {
	const char *name;
	int mode;
} modes[] = {
	{ "auto", CYCLOPS_MODE_AUTO },
	{ "read", CYCLOPS_MODE_READ },
	{ "user", CYCLOPS_MODE_USER },
};

/* An option of text: as set, or from the environment; NULL: neither. */
static const char *text_option(const char *set, const char *variable)
{
	const char *value = set != NULL ? set : getenv(variable);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static int read_mode(struct cyclops *c, int asked)
{
	const char *name = text_option(NULL, "CYCLOPS_MODE");

	c->mode = asked != CYCLOPS_MODE_UNSET ? asked : CYCLOPS_MODE_AUTO;
	if (asked < 0 || asked > CYCLOPS_MODE_USER)
		return measure_fail(c, EINVAL, "options: mode is %d, which is none", asked);
	if (asked != CYCLOPS_MODE_UNSET || name == NULL)
		return 0;
	for (size_t i = 0; i < COUNT(modes); i++) {
		if (strcmp(modes[i].name, name) != 0)
			continue;
		c->mode = modes[i].mode;
		return 0;
	}
	return measure_fail(c, EINVAL, "CYCLOPS_MODE is '%s'; it is auto, read or user", name);
}

static unsigned number_or(unsigned asked, unsigned otherwise)
{
	return asked != 0 ? asked : otherwise;
}

/* The path of the output with "%p" as the process id; NULL without memory. */
static char *expand_path(const char *path)
{
	const char *mark = strstr(path, "%p");
	size_t size = strlen(path) + 16;
	char *out = malloc(size);

	if (out != NULL && mark == NULL)
		snprintf(out, size, "%s", path);
	else if (out != NULL)
		snprintf(out, size, "%.*s%d%s", (int)(mark - path), path, (int)getpid(), mark + 2);
	return out;
}

static int set_output(struct cyclops *c, const char *asked)
{
	const char *path = text_option(asked, "CYCLOPS_OUT");

	if (path != NULL)
		c->out = expand_path(path);
	return path == NULL || c->out != NULL ? 0 : -ENOMEM;
}

/* A page with a 1 that is 0 in a forked child. */
static const volatile char *new_parent_mark(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	madvise(page, size, MADV_WIPEONFORK); /* without it, the process id tells at the output */
	*page = 1;
	return page;
}

/*
 * The handles of the process. A thread may still be ending when its handle is closed: whoever waits for
 * its work (as Rust's scoped threads do) does not wait for the end of its thread.
 */
static struct {
	pthread_mutex_t lock; /* also: a thread that ends is closed; before the lock of a handle */
	struct cyclops *first;
} handles = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void lock_handles(void)
{
	pthread_mutex_lock(&handles.lock);
}

static void unlock_handles(void)
{
	pthread_mutex_unlock(&handles.lock);
}

/* Runs at the end of the program, or when a library with this code goes: handles that are still there. */
static void write_at_exit(void)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	lock_handles();
	for (struct cyclops *c = handles.first; c != NULL; c = c->next)
		if (c->out != NULL)
			cyclops_write(c, c->out, NULL);
	unlock_handles();
	pthread_setcancelstate(cancel_state, NULL);
}

static void prepare_process(void)
{
	pthread_atfork(lock_handles, unlock_handles, unlock_handles);
	atexit(write_at_exit);
}

static void add_handle(struct cyclops *c)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare_process);
	lock_handles();
	c->next = handles.first;
	handles.first = c;
	unlock_handles();
}

/* Afterwards no thread that ends knows the handle. */
static void remove_handle(struct cyclops *c)
{
	lock_handles();
	for (struct cyclops **at = &handles.first; *at != NULL; at = &(*at)->next) {
		if (*at == c) {
			*at = c->next;
			break;
		}
	}
	unlock_handles();
}

/* Has an open handle this thread? */
static bool is_of_handle(const struct cyclops *c, const struct caliper_thread *t)
{
	for (unsigned i = 0; i < c->n_threads; i++)
		if (c->threads[i] == t)
			return true;
	return false;
}

int measure_lock(struct cyclops *c)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&c->lock);
	return cancel_state;
}

void measure_unlock(struct cyclops *c, int cancel_state)
{
	pthread_mutex_unlock(&c->lock);
	pthread_setcancelstate(cancel_state, NULL);
}

/*
 * A thread that ends is closed. Its memory is gone if the handle is, and may then be that of another
 * thread, of a newer handle.
 */
static void close_at_thread_end(void *thread)
{
	struct caliper_thread *t = thread;
	pid_t tid = (pid_t)syscall(SYS_gettid);

	lock_handles();
	for (struct cyclops *c = handles.first; c != NULL; c = c->next) {
		int cancel_state;

		if (!measure_is_usable(c))
			continue;
		cancel_state = measure_lock(c);
		if (is_of_handle(c, t) && t->tid == tid)
			thread_close_counters(t);
		measure_unlock(c, cancel_state);
	}
	unlock_handles();
}

/* Everything but events. Without memory: -ENOMEM; what there is has been put into the handle. */
static int allocate(struct cyclops *c, const struct cyclops_options *o)
{
	c->max_regions = number_or(o->max_regions, 64);
	c->max_threads = number_or(o->max_threads, 256);
	c->max_depth = number_or(o->max_depth, 64);
	c->max_paths = number_or(o->max_paths, 128);
	if (c->max_regions > 1 << 16 || c->max_threads > 1 << 16 || c->max_depth > 1 << 16 ||
	    c->max_paths > 1 << 16)
		return -ENOMEM;
	c->regions = calloc(c->max_regions + 1, sizeof(*c->regions));
	c->threads = calloc(c->max_threads, sizeof(*c->threads));
	c->is_parent = new_parent_mark();
	return c->regions == NULL || c->threads == NULL || c->is_parent == NULL ? -ENOMEM : 0;
}

static void release(struct cyclops *c)
{
	for (unsigned i = 0; c->threads != NULL && i < c->n_threads; i++) {
		thread_close_counters(c->threads[i]);
		munmap(c->threads[i], c->thread_size);
	}
	for (unsigned i = 1; c->regions != NULL && i <= c->n_regions; i++)
		free(c->regions[i]);
	if (c->is_parent != NULL)
		munmap((void *)(uintptr_t)c->is_parent, (size_t)sysconf(_SC_PAGESIZE));
	free(c->threads);
	free(c->regions);
	free(c->out);
	free(c);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Was the event counted for all of the call that the thread ended last, in this way? */
static bool was_counted(const struct caliper_thread *t, const struct measure_event *e,
			enum measure_how how)
{
	unsigned first, last = thread_sets(t, &first);

	if (e->state != MEASURE_COUNTED || e->set < first || e->set >= last)
		return false;
	if (t->was_quick)
		return how == HOW_USER;
	return t->end.sets[e->set].how == how &&
	       t->end.sets[e->set].running_ns == t->end.sets[e->set].enabled_ns;
}

/* The median of what empty pairs of the region count, as the thread's counters are read now. */
static void calibrate_way(struct cyclops *c, struct caliper_thread *t, int region,
			  uint64_t (*counts)[MEASURE_BIAS_PAIRS])
{
	unsigned first = 0, n[MEASURE_EVENTS] = { 0 };
	enum measure_how how;

	thread_sets(t, &first);
	how = t->groups[first].has_user_reads ? HOW_USER
	      : t->groups[first].leader < 0   ? HOW_NONE
					      : HOW_READ;
	for (unsigned pair = 0; pair < MEASURE_BIAS_PAIRS; pair++) {
		if (cyclops_begin(c, region) < 0 || cyclops_end(c, region) < 0 ||
		    (t->was_quick ? HOW_USER : t->end.sets[first].how) != how)
			continue;
		for (unsigned i = 0; i < c->events.n; i++)
			if (i == MEASURE_DURATION || was_counted(t, &c->events.items[i], how))
				counts[i][n[i]++] = t->end.values[i];
	}
	for (unsigned i = 0; i < c->events.n; i++) {
		if (n[i] == 0)
			continue;
		qsort(counts[i], n[i], sizeof(counts[i][0]), by_value);
		c->bias[how][i] = (double)counts[i][n[i] / 2];
	}
}

/* Is there no counter at all, as under qemu-user? */
static bool counts_nothing(const struct cyclops *c, const struct caliper_thread *t)
{
	for (unsigned set = 0; set < c->events.n_sets; set++)
		if (t->groups[set].leader >= 0)
			return false;
	return true;
}

/* Each set in each way that it can be read. The region is gone afterwards. */
static int measure_own_bias(struct cyclops *c)
{
	uint64_t(*counts)[MEASURE_BIAS_PAIRS] = calloc(c->events.n, sizeof(*counts));
	int region = counts == NULL ? -ENOMEM : cyclops_region(c, "bias");
	unsigned n_turns = c->has_all_sets || c->events.n_sets == 0 ? 1 : c->events.n_sets;
	struct caliper_thread *t = thread_here(c);
	int cancel_state;

	for (unsigned i = 0; i < N_HOWS * MEASURE_EVENTS; i++)
		c->bias[i / MEASURE_EVENTS][i % MEASURE_EVENTS] = NAN;
	c->is_marked = counts_nothing(c, t);
	if (c->is_marked)
		mark_set(MARK_OPEN, c, 0, NULL);
	for (unsigned set = 0; set < n_turns && region > 0; set++) {
		bool has_user_reads = t->groups[set].has_user_reads;
		struct counter_group *quick;

		if (!c->has_all_sets)
			thread_switch(t, set);
		calibrate_way(c, t, region, counts);
		if (!has_user_reads)
			continue;
		quick = t->quick;
		t->quick = NULL;
		t->groups[set].has_user_reads = false;
		calibrate_way(c, t, region, counts);
		t->groups[set].has_user_reads = true;
		t->quick = quick;
	}
	free(counts);
	if (c->is_marked)
		mark_set(MARK_READY, c, 0, NULL);
	if (region < 0)
		return -ENOMEM;
	if (!c->has_all_sets)
		thread_switch(t, 0);
	cancel_state =
		measure_lock(c); /* the program may end meanwhile, and the output be written */
	thread_forget(t);
	free(c->regions[region]);
	c->n_regions = 0;
	measure_unlock(c, cancel_state);
	return 0;
}

/* Why there are no user reads, though they were asked for. */
static int explain_user_reads(struct cyclops *c)
{
	int64_t access = 0;

	if (c->has_all_sets)
		return measure_fail(
			c, EOPNOTSUPP,
			"mode user: not with all_sets, where events leave their counters");
	for (unsigned i = 1; i < c->events.n; i++)
		if (!c->events.items[i].is_hardware)
			return measure_fail(
				c, EOPNOTSUPP,
				"mode user: event '%s' is the kernel's, so it can only be "
				"read by a call",
				c->events.items[i].name);
	if (c->pmu.is_arm) {
		system_number(c->root, &access, "/proc/sys/kernel/perf_user_access");
		return measure_fail(
			c, EOPNOTSUPP,
			"mode user: the kernel does not allow it (perf_user_access is %d); "
			"sudo sysctl kernel.perf_user_access=1",
			(int)access);
	}
	return measure_fail(c, EOPNOTSUPP,
			    "mode user: the kernel does not allow it for these events "
			    "(/sys/bus/event_source/devices/cpu/rdpmc)");
}

/* What the caller hears of events that are not counted: the first one that was asked for. */
static int first_problem(struct cyclops *c)
{
	static const int errors[] = {
		[MEASURE_NOT_SUPPORTED] = EOPNOTSUPP,
		[MEASURE_FORBIDDEN] = EACCES,
	};
	const struct measure_event *added = NULL;
	const struct caliper_thread *t = c->threads[0];

	for (unsigned i = 1; i < c->events.n; i++) {
		const struct measure_event *e = &c->events.items[i];

		if (e->state == MEASURE_COUNTED)
			continue;
		if (!e->is_added)
			return measure_fail(c, errors[e->state], "%s", e->why);
		added = added == NULL ? e : added;
	}
	if (added != NULL)
		measure_fail(c, 0, "%s", added->why);
	/* Arm's pages say that it is possible where it is not allowed: whether it worked is what counts. */
	for (unsigned set = 0; c->mode == CYCLOPS_MODE_USER && set < c->events.n_sets; set++)
		if (!t->groups[set].has_user_reads ||
		    isnan(c->bias[HOW_USER][t->groups[set].events[0]]))
			return explain_user_reads(c);
	return 0;
}

/* Opens what the options ask for. -ENOMEM, or 0 with a handle that works. */
static int prepare(struct cyclops *c, const struct cyclops_options *o, int *out_problem)
{
	const char *events = text_option(o->events, "CYCLOPS_EVENTS");
	unsigned cpu = 0;
	struct err err;
	int error, cancel_state;

	c->pid = getpid();
	c->serial = measure_ticks() ^ (uint64_t)(uintptr_t)c << 20;
	c->root = "";
	c->tick_mult = measure_tick_mult();
	c->privilege = o->privilege;
	c->has_all_sets = o->all_sets != 0;
	c->is_less_bias = o->minus_bias != 0;
	if (allocate(c, o) < 0 || set_output(c, o->out) < 0)
		return -ENOMEM;
	*out_problem = read_mode(c, o->mode);
	if (sched_getcpu() > 0)
		cpu = (unsigned)sched_getcpu();
	measure_pmu_read(&c->pmu, c->root, cpu);
	if (measure_events_parse(&c->events, events != NULL ? events : default_events, &c->pmu,
				 c->root, &err) < 0) {
		*out_problem = measure_fail(c, EINVAL, "%s", err.text);
		c->events.n = 1;
		c->events.n_sets = 0;
	}
	if (pthread_key_create(&c->key, close_at_thread_end) != 0)
		return -ENOMEM;
	add_handle(c);
	cancel_state = measure_lock(c); /* threads of older handles end, and look for theirs */
	error = thread_open(c, true);
	measure_unlock(c, cancel_state);
	if (error == 0)
		error = measure_own_bias(c);
	if (error == -ENOMEM) {
		pthread_key_delete(c->key);
		remove_handle(c);
	}
	if (error < 0 || *out_problem < 0) {
		*out_problem = error < 0 ? error : *out_problem;
		return error == -ENOMEM ? error : 0;
	}
	*out_problem = first_problem(c);
	return 0;
}

int cyclops_open(struct cyclops **out, const struct cyclops_options *options)
{
	struct cyclops_options o = { 0 };
	struct cyclops *c;
	int problem = 0;

	if (out == NULL)
		return -EINVAL;
	*out = NULL;
	if (options != NULL && options->sz < offsetof(struct cyclops_options, out))
		return -EINVAL;
	if (options != NULL)
		memcpy(&o, options, options->sz < sizeof(o) ? options->sz : sizeof(o));
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return -ENOMEM;
	pthread_mutex_init(&c->lock, NULL);
	if (prepare(c, &o, &problem) < 0) {
		release(c);
		return -ENOMEM;
	}
	*out = c;
	return problem;
}

const char *cyclops_why(const struct cyclops *c)
{
	if (c == NULL)
		return "no handle: there was no memory for one, or its options have no size (sz)";
	return *c->is_parent ? c->why : is_child;
}

/* json holds nothing else. */
static bool is_utf8(const char *text)
{
	uint32_t code;
	size_t size;

	for (; *text != '\0'; text += size) {
		size = utf8_decode(text, &code);
		if (size == 0)
			return false;
	}
	return true;
}

int cyclops_region(struct cyclops *c, const char *name)
{
	int id = 0, cancel_state;

	if (c == NULL || name == NULL || name[0] == '\0' || !is_utf8(name))
		return -EINVAL;
	if (!measure_is_usable(c))
		return -ECHILD;
	cancel_state = measure_lock(c);
	for (unsigned i = 1; i <= c->n_regions && id == 0; i++)
		if (strcmp(c->regions[i], name) == 0)
			id = (int)i;
	if (id == 0 && c->n_regions == c->max_regions) {
		id = measure_fail(c, ENOSPC,
				  "region '%.200s': the handle has room for %u (max_regions)", name,
				  c->max_regions);
	} else if (id == 0) {
		char *copy = strdup(name);

		id = copy == NULL ? measure_fail(c, ENOMEM, "region: no memory")
				  : (int)c->n_regions + 1;
		if (copy != NULL) {
			c->regions[id] = copy;
			__atomic_store_n(&c->n_regions, (unsigned)id, __ATOMIC_RELEASE);
		}
	}
	measure_unlock(c, cancel_state);
	return id;
}

int cyclops_thread_open(struct cyclops *c)
{
	struct caliper_thread *t;
	int error, cancel_state;

	if (c == NULL)
		return -EINVAL;
	if (!measure_is_usable(c))
		return -ECHILD;
	t = thread_here(c);
	if (t != NULL && t->is_open)
		return 0;
	cancel_state = measure_lock(c);
	error = thread_open(c, false);
	measure_unlock(c, cancel_state);
	return error;
}

int cyclops_thread_close(struct cyclops *c)
{
	struct caliper_thread *t;
	int cancel_state;

	if (c == NULL)
		return -EINVAL;
	if (!measure_is_usable(c))
		return -ECHILD;
	t = thread_here(c);
	if (t == NULL || !t->is_open)
		return -ESRCH;
	cancel_state = measure_lock(c);
	thread_close_counters(t);
	measure_unlock(c, cancel_state);
	pthread_setspecific(c->key, NULL);
	thread_here(c); /* forgets it */
	if (c->is_marked)
		mark_set(MARK_CLOSE, c, 0, NULL);
	return 0;
}

int cyclops_read(struct cyclops *c, uint64_t *values, int n)
{
	struct caliper_thread *t;
	struct sample now = { 0 };
	unsigned first, end;

	if (c == NULL || n < 0 || (values == NULL && n > 0))
		return -EINVAL;
	if (!*c->is_parent)
		return -ECHILD;
	t = thread_here(c);
	if (t == NULL || !t->is_open)
		return -ESRCH;
	sample_take(t, NULL, &now);
	now.values[MEASURE_DURATION] = measure_ns(c, measure_ticks());
	end = thread_sets(t, &first);
	for (unsigned i = 0; i < c->events.n && i < (unsigned)n; i++) {
		unsigned set = c->events.items[i].set;
		bool is_on = i == MEASURE_DURATION ||
			     (set >= first && set < end && now.sets[set].how != HOW_NONE);

		values[i] = is_on ? now.values[i] : 0;
	}
	return (int)c->events.n;
}

int cyclops_switch(struct cyclops *c)
{
	struct caliper_thread *t;
	unsigned next;

	if (c == NULL)
		return -EINVAL;
	if (!*c->is_parent)
		return -ECHILD;
	t = thread_here(c);
	if (t == NULL || !t->is_open)
		return -ESRCH;
	if (t->top != t->frames || t->is_busy)
		return -EBUSY;
	if (c->has_all_sets || c->events.n_sets == 0)
		return 0;
	next = (t->set + 1) % c->events.n_sets;
	t->is_busy = 1; /* a signal handler would find one set's counters and the other's events */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread_switch(t, next);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->is_busy = 0;
	return (int)next;
}

int cyclops_reset(struct cyclops *c)
{
	if (c == NULL)
		return -EINVAL;
	if (!*c->is_parent)
		return -ECHILD;
	__atomic_add_fetch(&c->epoch, 1, __ATOMIC_RELAXED);
	if (c->is_marked)
		mark_set(MARK_RESET, c, 0, NULL);
	return 0;
}

const char *cyclops_event(const struct cyclops *c, int event)
{
	return c == NULL || event < 0 || (unsigned)event >= c->events.n
		       ? NULL
		       : c->events.items[event].name;
}

int cyclops_close(struct cyclops *c)
{
	int error = 0;

	if (c == NULL)
		return -EINVAL;
	if (measure_is_usable(c) && c->out != NULL)
		error = cyclops_write(c, c->out, NULL);
	pthread_key_delete(c->key);
	remove_handle(c);
	release(c);
	return error;
}
