/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t clock_thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Whoever started us may ignore SIGCHLD, and then there is no status of the child. */
static int watch_signals(struct launch *l, struct err *err)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t watched;

	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	for (size_t i = 0; i < COUNT(ending_signals); i++)
		sigaddset(&watched, ending_signals[i]);
	l->signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signal_fd < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "cannot watch for signals: %s",
			       strerror(errno));
	sigaction(SIGCHLD, &standard, &l->old_child);
	sigprocmask(SIG_BLOCK, &watched, &l->old_mask);
	return 0;
}

static void unwatch_signals(struct launch *l)
{
	if (l->signal_fd < 0)
		return;
	close_fd(&l->signal_fd);
	sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
	sigaction(SIGCHLD, &l->old_child, NULL);
}

/*
 * In the child: waits for a byte from `go`, then becomes the program. Writes errno to `tell` if
 * exec fails.
 */
static void run_child(const struct launch *l, char *const *argv, int go, int tell)
{
	char word;
	ssize_t n;
	int error;

	sigaction(SIGCHLD, &l->old_child, NULL);
	sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
	do
		n = read(go, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(LAUNCH_NOT_FOUND);
	execvp(argv[0], argv);
	error = errno;
	n = write(tell, &error, sizeof(error));
	_exit(n == sizeof(error) && error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE);
}

static int start_child(struct launch *l, char *const *argv, struct err *err)
{
	int go[2] = { -1, -1 }, tell[2] = { -1, -1 };
	int rc = -1;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(tell, O_CLOEXEC) < 0) {
		err_set(err, ERR_IO, ERR_NOWHERE, "cannot make a pipe: %s", strerror(errno));
		goto out;
	}
	fflush(NULL);
	l->pid = fork();
	if (l->pid == 0) {
		close(go[1]);
		close(tell[0]);
		run_child(l, argv, go[0], tell[1]);
	}
	if (l->pid < 0) {
		err_set(err, ERR_IO, ERR_NOWHERE, "cannot fork: %s", strerror(errno));
		goto out;
	}
	l->go_fd = go[1];
	l->exec_fd = tell[0];
	go[1] = tell[0] = -1;
	rc = 0;
out:
	for (int i = 0; i < 2; i++) {
		close_fd(&go[i]);
		close_fd(&tell[i]);
	}
	return rc;
}

int launch_init(struct launch *l, char *const *argv, struct err *err)
{
	*l = (struct launch){ .signal_fd = -1, .go_fd = -1, .exec_fd = -1, .other_fd = -1 };
	if (watch_signals(l, err) < 0)
		return -1;
	l->start_ns = clock_now_ns();
	if (argv == NULL)
		return 0;
	l->program = argv[0];
	if (start_child(l, argv, err) == 0)
		return 0;
	l->pid = 0;
	unwatch_signals(l);
	return -1;
}

/* Takes the status of the child, if it has ended. */
static void reap(struct launch *l, int options)
{
	pid_t pid;

	if (l->pid == 0 || l->has_ended)
		return;
	do
		pid = wait4(l->pid, &l->wait_status, options, &l->usage);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return;
	if (pid < 0)
		l->wait_status = 0;
	l->has_ended = true;
	l->end_ns = clock_now_ns();
}

/* Takes what all tracees have to say. */
static void reap_traced(struct launch *l)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0) {
		if (pid == l->pid && !WIFSTOPPED(status)) {
			l->wait_status = status;
			l->usage = usage;
			l->has_ended = true;
			l->end_ns = clock_now_ns();
		}
		l->traced(l->traced_context, pid, status);
	}
}

/* Exec closes the pipe. If it fails, the child writes its errno first. */
static int read_exec_error(struct launch *l)
{
	int error = 0;
	ssize_t n;

	do
		n = read(l->exec_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close_fd(&l->exec_fd);
	return n == sizeof(error) ? error : 0;
}

/*
 * Lets the child run. If it was killed while waiting, the write raises SIGPIPE: this is blocked
 * during the write and consumed, so that the process's handling of SIGPIPE stays as it is.
 */
static void let_child_run(struct launch *l)
{
	sigset_t broken, old;
	ssize_t n;

	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	sigprocmask(SIG_BLOCK, &broken, &old);
	do
		n = write(l->go_fd, "", 1);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EPIPE)
		sigtimedwait(&broken, NULL, &(struct timespec){ 0 });
	sigprocmask(SIG_SETMASK, &old, NULL);
	close_fd(&l->go_fd);
}

int launch_go(struct launch *l, struct err *err)
{
	l->start_ns = clock_now_ns();
	if (l->pid == 0)
		return 0;
	let_child_run(l);
	l->is_started = true;
	l->exec_error = read_exec_error(l);
	if (l->exec_error == 0)
		return 0;
	reap(l, 0);
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "cannot run '%s': %s%s", l->program,
		       strerror(l->exec_error),
		       l->exec_error == ENOENT && strchr(l->program, ' ') != NULL
			       ? " (a program's arguments are words of their own: leave out the "
				 "quotes)"
			       : "");
}

/*
 * A signal that a process sent is passed on to the program. One that the kernel sent, for ^C or a
 * lost terminal, went to all processes of the foreground, the program included.
 */
static void handle_signal(struct launch *l, const struct signalfd_siginfo *signal)
{
	if (signal->ssi_signo == SIGCHLD && l->traced != NULL) {
		reap_traced(l);
		return;
	}
	if (signal->ssi_signo == SIGCHLD) {
		reap(l, WNOHANG);
		return;
	}
	l->is_interrupted = true;
	if (l->pid != 0 && !l->has_ended && signal->ssi_code <= 0)
		kill(l->pid, (int)signal->ssi_signo);
}

int launch_wait(struct launch *l, int timeout_ms, struct err *err)
{
	struct pollfd polled[] = {
		{ .fd = l->signal_fd, .events = POLLIN },
		{ .fd = l->other_fd, .events = POLLIN },
	};
	struct signalfd_siginfo signal;

	if (launch_is_over(l))
		return 0;
	if (poll(polled, COUNT(polled), timeout_ms) < 0 && errno != EINTR)
		return err_set(err, ERR_IO, ERR_NOWHERE, "cannot wait for the program: %s",
			       strerror(errno));
	while (read(l->signal_fd, &signal, sizeof(signal)) == sizeof(signal))
		handle_signal(l, &signal);
	return 0;
}

bool launch_is_over(const struct launch *l)
{
	return l->pid == 0 ? l->is_interrupted : l->has_ended;
}

int launch_status(const struct launch *l)
{
	if (l->pid == 0)
		return 0;
	if (l->exec_error != 0)
		return l->exec_error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
	if (WIFSIGNALED(l->wait_status))
		return LAUNCH_SIGNAL + WTERMSIG(l->wait_status);
	return WEXITSTATUS(l->wait_status);
}

void launch_release(struct launch *l)
{
	close_fd(&l->go_fd);
	if (l->pid != 0 && !l->is_started)
		reap(l, 0);
	close_fd(&l->exec_fd);
	unwatch_signals(l);
}
