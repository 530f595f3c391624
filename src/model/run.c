/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "model/journal.h"
#include "model/program.h"
#include "model/salvage.h"
#include "model/settings.h"
#include "model/signals.h"

enum { CANNOT_EXECUTE = 127, SIGNAL_STATUS = 128 };
enum { PROGRESS_NS = 500000000, INSTRUCTIONS_PER_MEGA = 1000000 };

/* Debian's folder of AArch64 libraries on other machines. */
static const char cross_sysroot[] = "/usr/aarch64-linux-gnu";

/* What starts the emulator. */
struct emulator_run {
	char emulator[PATH_MAX], plugin[PATH_MAX];
	const char *sysroot; /* NULL: none */
	struct model_facts facts;
	struct text settings;
	const struct journal *journal;
};

static int find_in_path(const char *name, char out[PATH_MAX])
{
	const char *path = getenv("PATH");

	while (path != NULL && path[0] != '\0') {
		size_t length = strcspn(path, ":");

		if (snprintf(out, PATH_MAX, "%.*s/%s", (int)length, path, name) < PATH_MAX &&
		    access(out, X_OK) == 0)
			return 0;
		path += length + (path[length] == ':');
	}
	return -1;
}

static int find_emulator(const char *given, char out[PATH_MAX], struct err *err)
{
	if (given != NULL) {
		snprintf(out, PATH_MAX, "%s", given);
		if (access(out, X_OK) == 0)
			return 0;
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--emulator: cannot run '%s': %s",
			       given, strerror(errno));
	}
	if (find_in_path("qemu-aarch64", out) == 0)
		return 0;
	return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
		       "qemu-aarch64 is not installed; apt install qemu-user (qemu-user-static "
		       "has no plugins)");
}

bool beside_program(const char *const *places, size_t n, char out[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[length > 0 ? length : 0] = '\0';
	if (strrchr(self, '/') != NULL)
		*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < n; i++)
		if (snprintf(out, PATH_MAX, "%s%s", self, places[i]) < PATH_MAX &&
		    access(out, R_OK) == 0)
			return true;
	return false;
}

/* The plugin is below the program's folder in a build, and in the library folder if installed. */
static int find_plugin(const char *given, char out[PATH_MAX], struct err *err)
{
	static const char *const places[] = {
		"/model/cyclops-model.so",
		CYCLOPS_PLUGIN_FROM_BIN "/cyclops-model.so",
	};

	if (given != NULL) {
		snprintf(out, PATH_MAX, "%s", given);
		if (access(out, R_OK) == 0)
			return 0;
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--plugin: cannot read '%s': %s", given,
			       strerror(errno));
	}
	if (beside_program(places, COUNT(places), out))
		return 0;
	return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
		       "the model's plugin, cyclops-model.so, is not beside cyclops nor in its "
		       "library folder; --plugin names it");
}

static bool has_loader(const char *sysroot, const char *loader)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s%s", sysroot, loader) < PATH_MAX &&
	       access(path, R_OK) == 0;
}

/* Finds the folder of the loader: the given one, else this system's root, else cross_sysroot. */
static int find_loader_root(const char *given, const char *loader, const char **out,
			    struct err *err)
{
	const char *const places[] = { given != NULL ? given : "", cross_sysroot };

	*out = given;
	if (loader[0] == '\0')
		return 0;
	for (size_t i = 0; i < (given != NULL ? 1 : COUNT(places)); i++) {
		*out = places[i];
		if (has_loader(places[i], loader))
			return 0;
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "the program's loader is not there: %s%s; -L names the folder that holds it "
		       "(apt install libc6-arm64-cross puts one into %s)",
		       given != NULL ? given : "", loader, cross_sysroot);
}

/* Makes a descriptor that the emulator inherits, from which the plugin reads the settings. */
static int write_settings(const struct text *settings, struct err *err)
{
	int fd = memfd_create("cyclops-model", 0);

	if (fd >= 0 && write(fd, settings->bytes, settings->n) == (ssize_t)settings->n &&
	    lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	err_set(err, ERR_IO, ERR_NOWHERE, "cannot hand the settings to the model: %s",
		strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The value of "-plugin": FILE,KEY=VALUE. A comma in FILE is doubled. */
static void plugin_argument(const char *path, int fd, struct text *out)
{
	for (; *path != '\0'; path++) {
		text_char(out, *path);
		if (*path == ',')
			text_char(out, ',');
	}
	text_format(out, ",settings=%d", fd);
	text_char(out, '\0');
}

/* Replaces this process by the emulator. No address is random, so that all runs are the same. */
static void exec_emulator(const struct emulator_run *l, const struct model_options *o,
			  int settings_fd)
{
	VEC_OF(const char *) arguments = { 0 };
	struct text plugin = { 0 };
	char seed[16];

	plugin_argument(l->plugin, settings_fd, &plugin);
	snprintf(seed, sizeof(seed), "%u", (unsigned)(o->seed & INT_MAX));
	*vec_add(&arguments) = l->emulator;
	*vec_add(&arguments) = "-cpu";
	*vec_add(&arguments) = l->facts.emulator_cpu;
	*vec_add(&arguments) = "-seed";
	*vec_add(&arguments) = seed;
	*vec_add(&arguments) = "-plugin";
	*vec_add(&arguments) = plugin.bytes;
	if (l->sysroot != NULL) {
		*vec_add(&arguments) = "-L";
		*vec_add(&arguments) = l->sysroot;
	}
	for (size_t i = 0; o->program[i] != NULL; i++)
		*vec_add(&arguments) = o->program[i];
	*vec_add(&arguments) = NULL;
	personality(ADDR_NO_RANDOMIZE);
	if (o->environment != NULL)
		environ = (char **)(uintptr_t)o->environment;
	execv(l->emulator, (char *const *)(void *)arguments.items);
	fprintf(stderr, "cyclops: cannot run %s: %s\n", l->emulator, strerror(errno));
	_exit(CANNOT_EXECUTE);
}

static void show_instruction_count(const struct emulator_run *l)
{
	uint64_t n = 0;

	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		n += l->journal->counts[cpu].n[COUNT_INST_RETIRED];
	fprintf(stderr, "\r\033[Kcyclops model: %" PRIu64 " M instructions",
		n / INSTRUCTIONS_PER_MEGA);
}

/* Waits for the program's end. Passes on signals that would end this process. */
static int wait_for_program(pid_t pid, const struct emulator_run *l, bool shows_progress,
			    struct model_end *out, struct err *err)
{
	const struct timespec moment = { .tv_nsec = PROGRESS_NS };
	const sigset_t set = signals_waited_for();
	pid_t ended;
	int status;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		int signal = shows_progress ? sigtimedwait(&set, NULL, &moment)
					    : sigwaitinfo(&set, NULL);

		if (signal < 0 && shows_progress)
			show_instruction_count(l);
		if (signal == SIGTERM || signal == SIGHUP)
			kill(pid, signal);
	}
	if (shows_progress)
		fprintf(stderr, "\r\033[K");
	if (ended < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "cannot wait for the program: %s",
			       strerror(errno));
	out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	out->status = out->signal != 0 ? SIGNAL_STATUS + out->signal : WEXITSTATUS(status);
	return 0;
}

static int start_and_wait(const struct emulator_run *l, const struct model_options *o,
			  int settings_fd, struct model_end *out, struct err *err)
{
	struct signal_state old;
	pid_t pid;
	int rc;

	fflush(NULL);
	signals_set(&old);
	pid = fork();
	if (pid == 0) {
		signals_restore(&old);
		exec_emulator(l, o, settings_fd);
	}
	rc = pid < 0 ? err_set(err, ERR_IO, ERR_NOWHERE, "cannot fork: %s", strerror(errno))
		     : wait_for_program(pid, l, o->shows_progress && isatty(STDERR_FILENO), out,
					err);
	signals_restore(&old);
	return rc;
}

static int run_with_settings(const struct emulator_run *l, const struct model_options *o,
			     struct model_end *out, struct err *err)
{
	int fd = write_settings(&l->settings, err);
	int rc;

	if (fd < 0)
		return -1;
	rc = start_and_wait(l, o, fd, out, err);
	/* The plugin reads by the same description, so that its reading is seen here. */
	if (rc == 0 && out->status != CANNOT_EXECUTE && lseek(fd, 0, SEEK_CUR) == 0)
		rc = err_set(
			err, ERR_UNSUPPORTED, ERR_NOWHERE,
			"%s has no plugins, which the model needs; qemu-user of Debian 12 has, "
			"qemu-user-static has not (--emulator names another)",
			l->emulator);
	close(fd);
	return rc;
}

/* Did the plugin begin a capture and not finish it? */
static bool is_unfinished(const struct journal *j)
{
	return j->size_bytes == sizeof(*j) && atomic_load(&j->is_begun) &&
	       !atomic_load(&j->is_finished);
}

/* Runs the program with a journal, and completes the capture with it if the plugin did not. */
static int run_with_journal(struct emulator_run *l, const struct model_options *o,
			    struct model_end *out, struct err *err)
{
	int fd = journal_create(err);
	struct journal *journal = fd < 0 ? NULL : journal_open(fd, err);
	int rc = -1;

	l->journal = journal;
	if (journal != NULL) {
		text_format(&l->settings, "journal=%d", fd);
		text_char(&l->settings, '\0');
		rc = run_with_settings(l, o, out, err);
	}
	if (rc == 0)
		out->n_executed = atomic_load(&journal->n_executed);
	if (rc == 0 && is_unfinished(journal)) {
		out->is_unfinished = true;
		rc = salvage(&l->settings, journal, err);
	}
	journal_close(journal);
	if (fd >= 0)
		close(fd);
	return rc;
}

int model_run(const struct model_options *o, struct model_end *out, struct err *err)
{
	struct emulator_run launch = { 0 };
	char loader[INTERPRETER_MAX];
	int rc = -1;

	*out = (struct model_end){ 0 };
	if (find_emulator(o->emulator, launch.emulator, err) == 0 &&
	    find_plugin(o->plugin, launch.plugin, err) == 0 &&
	    model_program_check(o->program[0], loader, err) == 0 &&
	    find_loader_root(o->sysroot, loader, &launch.sysroot, err) == 0 &&
	    model_settings(o, &launch.settings, &launch.facts, err) == 0)
		rc = run_with_journal(&launch, o, out, err);
	text_release(&launch.settings);
	return rc;
}
