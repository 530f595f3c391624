/* SPDX-License-Identifier: Apache-2.0 */
#include "model/experiments.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/functions.h"
#include "model/signals.h"

enum { PATH_SIZE = 64, PROGRESS_MS = 500, ALL_SAMPLES_FILTERED = 1 << 30 };

/* One further run. It times one idealisation, or several of a program that has one thread. */
struct experiment {
	size_t first, n; /* range of experiments.ideals */
	pid_t pid;	 /* 0: not started, or ended */
	bool is_done;	 /* ended with success */
};

struct experiments {
	const struct model_options *options;
	char folder[PATH_SIZE]; /* temporary files */
	int input;		/* the standard input of all runs; -1: none */
	off_t input_start;	/* where each run starts to read it */
	VEC_OF(struct ideal) ideals;
	VEC_OF(struct experiment) list;
	size_t n_started, n_over;
	bool is_interrupted;
};

static char *experiment_path(const struct experiments *e, size_t number, const char *suffix)
{
	struct text path = { 0 };

	text_format(&path, "%s/%zu.%s", e->folder, number, suffix);
	text_char(&path, '\0');
	return path.bytes;
}

/* Copies a pipe, which can be read once only, to memory. Returns the descriptor, or -1. */
static int copy_pipe(int from, struct err *err)
{
	char bytes[65536];
	int fd = memfd_create("cyclops-input", MFD_CLOEXEC);
	ssize_t n = 0;

	while (fd >= 0 && ((n = read(from, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0 && write(fd, bytes, (size_t)n) != n)
			n = -1;
	if (fd >= 0 && n == 0)
		return fd;
	err_set(err, ERR_IO, ERR_NOWHERE, "cannot keep the standard input for all runs: %s",
		strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_standard_input(struct experiments *e, struct err *err)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0)
		return 0;
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
		e->input = copy_pipe(STDIN_FILENO, err);
		return e->input < 0 ? -1 : 0;
	}
	if (S_ISREG(st.st_mode)) {
		e->input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		e->input_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
	}
	return 0;
}

/* Opens the standard input again, because processes that share a descriptor share its position. */
static void reopen_input(const struct experiments *e)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->input);
	fd = open(e->input < 0 ? "/dev/null" : path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	lseek(fd, e->input_start, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	close(fd);
}

/* Runs in a child process. The program's output goes to /dev/null. Returns the exit status. */
static int run_experiment(const struct experiments *e, size_t number)
{
	struct model_options o = *e->options;
	const struct experiment *x = &e->list.items[number];
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct model_end end;
	struct err err;
	int status;

	reopen_input(e);
	dup2(nothing, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	o.ideals = &e->ideals.items[x->first];
	o.n_ideals = x->n;
	o.output = experiment_path(e, number, "data");
	o.gains = experiment_path(e, number, "json");
	o.counts = o.truth = NULL;
	o.samples = NULL;
	o.branch_stack = NULL;
	o.has_chains = false;
	o.counters = 0;
	o.without_spe = false;
	o.interval = ALL_SAMPLES_FILTERED;
	status = model_run(&o, &end, &err) < 0 ? EXIT_FAILURE : end.signal;
	unlink(o.output);
	return status;
}

static int start_experiment(struct experiments *e, const struct signal_state *signals,
			    struct err *err)
{
	size_t number = e->n_started++;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		signals_restore(signals);
		_exit(run_experiment(e, number));
	}
	if (pid < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "cannot fork: %s", strerror(errno));
	e->list.items[number].pid = pid;
	return 0;
}

static void signal_experiments(const struct experiments *e, int signal)
{
	for (size_t i = 0; i < e->list.n; i++)
		if (e->list.items[i].pid > 0)
			kill(e->list.items[i].pid, signal);
}

/* Collects the runs that have ended. After an interrupted one no other is started. */
static void collect_ended(struct experiments *e)
{
	for (size_t i = 0; i < e->list.n; i++) {
		struct experiment *x = &e->list.items[i];
		int status;

		if (x->pid <= 0 || waitpid(x->pid, &status, WNOHANG) != x->pid)
			continue;
		x->pid = 0;
		x->is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
		e->n_over++;
		e->is_interrupted |= WIFEXITED(status) && WEXITSTATUS(status) == SIGINT;
	}
}

static void show_run_number(const struct experiments *e, bool is_last)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (is_last)
		fprintf(stderr, "\r\033[K");
	else
		fprintf(stderr, "\rcyclops model: what-if run %zu of %zu", e->n_over + 1,
			e->list.n);
	fflush(stderr);
}

/* Waits for a signal or PROGRESS_MS. Passes on signals that end the program. */
static void wait_for_signal(struct experiments *e)
{
	const struct timespec moment = { .tv_nsec = PROGRESS_MS * 1000000L };
	const sigset_t set = signals_waited_for();
	int signal = sigtimedwait(&set, NULL, &moment);

	if (signal == SIGTERM || signal == SIGHUP) {
		e->is_interrupted = true;
		signal_experiments(e, signal);
	}
	if (signal < 0)
		show_run_number(e, false);
}

static int run_all_experiments(struct experiments *e, const struct signal_state *signals,
			       struct err *err)
{
	size_t n_at_once = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	int rc = 0;

	while (e->n_over < e->n_started || e->n_started < e->list.n) {
		bool may_start = e->n_started - e->n_over < n_at_once && !e->is_interrupted &&
				 rc == 0 && e->n_started < e->list.n;

		if (may_start)
			rc = start_experiment(e, signals, err);
		else if (e->n_over == e->n_started)
			break;
		else
			wait_for_signal(e);
		collect_ended(e);
	}
	show_run_number(e, true);
	return rc;
}

/* A program of one thread runs once: replicas time all idealisations. Any other runs for each. */
static void add_experiments(struct experiments *e, const struct gains *gains)
{
	size_t n = gains->is_parallel ? 1 : e->ideals.n;

	for (size_t i = 0; i < e->ideals.n; i += n)
		*vec_add(&e->list) = (struct experiment){ .first = i, .n = n };
}

static int run_experiments(struct experiments *e, struct gains *out, struct err *err)
{
	struct signal_state signals;
	int rc;

	signals_set(&signals);
	rc = run_all_experiments(e, &signals, err);
	signals_restore(&signals);
	if (rc == 0 && e->is_interrupted)
		rc = err_set(err, ERR_IO, ERR_NOWHERE, "interrupted: there is no answer");
	for (size_t i = 0; i < e->list.n; i++) {
		char *path = experiment_path(e, i, "json");

		if (rc == 0 && !e->list.items[i].is_done)
			rc = err_set(err, ERR_IO, ERR_NOWHERE,
				     "the run with '%s' did not end as the first one did",
				     e->ideals.items[e->list.items[i].first].name);
		if (rc == 0)
			rc = gains_read(out, path, err);
		unlink(path);
		free(path);
	}
	for (size_t i = 0; i < e->ideals.n && rc == 0; i++)
		if (gains_find(out, e->ideals.items[i].name) == NULL)
			rc = err_set(err, ERR_FORMAT, ERR_NOWHERE,
				     "the model did not say what '%s' gains",
				     e->ideals.items[i].name);
	return rc;
}

/* The idealisation for all instructions. */
static struct ideal ideal_of(const struct what_if_item *item)
{
	return (struct ideal){ .name = item->name,
			       .bits = item->bits,
			       .instructions = item->instructions };
}

/*
 * Adds the idealisations that the first run has not timed, with the addresses of their functions.
 */
static int add_remaining_ideals(struct experiments *e, const struct what_if_list *list,
				const char *symfs, const struct gains *gains, struct err *err)
{
	const struct session_options session_options = {
		.path = e->options->output,
		.symbols = { .use_this_machine = true, .symfs = symfs },
	};
	struct model_functions functions = { 0 };
	struct session session = { 0 };
	int rc = 0;

	for (size_t i = 0; i < list->items.n && rc == 0; i++) {
		const struct what_if_item *item = &list->items.items[i];
		struct ideal *ideal;

		if (gains_find(gains, item->name) != NULL)
			continue;
		ideal = vec_add(&e->ideals);
		*ideal = ideal_of(item);
		if (item->function == NULL)
			continue;
		if (session.capture == NULL) {
			rc = session_open(&session, &session_options, err);
			if (rc == 0)
				model_functions_init(&functions, &session, &gains->pcs);
		}
		if (rc == 0)
			rc = model_functions_find(&functions, item->function, ideal, err);
	}
	model_functions_release(&functions);
	session_release(&session);
	return rc;
}

/* The program as it is, with replicas for all idealisations that are not limited to a function. */
static int run_as_it_is(struct experiments *e, const struct what_if_list *list, struct gains *out,
			struct model_end *end, struct err *err)
{
	struct model_options o = *e->options;
	VEC_OF(struct ideal) ideals = { 0 };
	struct stat st;
	char *path = experiment_path(e, 0, "json");
	int rc;

	if (e->input >= 0)
		reopen_input(e);
	*vec_add(&ideals) = (struct ideal){ .name = "now" };
	for (size_t i = 0; i < list->items.n; i++)
		if (list->items.items[i].function == NULL)
			*vec_add(&ideals) = ideal_of(&list->items.items[i]);
	o.shows_progress = true;
	o.ideals = ideals.items;
	o.n_ideals = ideals.n;
	o.gains = path;
	rc = model_run(&o, end, err);
	if (rc == 0 && (end->signal != 0 || end->is_unfinished))
		rc = err_set(err, ERR_IO, ERR_NOWHERE,
			     "%s did not end by itself, so there is nothing to compare",
			     o.program[0]);
	if (rc == 0 && stat(path, &st) == 0 && st.st_size > 0) /* else the plugin printed why */
		rc = gains_read(out, path, err);
	unlink(path);
	free(path);
	vec_release(&ideals);
	return rc;
}

int experiments_run(const struct model_options *options, const struct what_if_list *list,
		    const char *symfs, struct gains *out, struct model_end *out_end,
		    struct err *err)
{
	struct experiments e = { .options = options, .input = -1 };
	const char *tmp = getenv("TMPDIR");
	int rc = -1;

	*out_end = (struct model_end){ 0 };
	if (snprintf(e.folder, sizeof(e.folder), "%s/cyclops-XXXXXX", tmp != NULL ? tmp : "/tmp") >=
		    (int)sizeof(e.folder) ||
	    mkdtemp(e.folder) == NULL)
		return err_set(err, ERR_IO, ERR_NOWHERE, "cannot make a folder in %s: %s",
			       tmp != NULL ? tmp : "/tmp", strerror(errno));
	if (open_standard_input(&e, err) == 0)
		rc = run_as_it_is(&e, list, out, out_end, err);
	if (rc == 0 && out->runs.n > 0)
		rc = add_remaining_ideals(&e, list, symfs, out, err);
	if (rc == 0 && out->runs.n > 0) {
		add_experiments(&e, out);
		rc = run_experiments(&e, out, err);
	}
	for (size_t i = 0; i < e.ideals.n; i++)
		ideal_release(&e.ideals.items[i]);
	vec_release(&e.ideals);
	vec_release(&e.list);
	if (e.input >= 0)
		close(e.input);
	rmdir(e.folder);
	return rc;
}
