/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "sandbox/sandbox.h"
#include "scan/lost_samples.h"
#include "session/names.h"
#include "symbol/debuginfod.h"

enum { SHOWN_MISSING = 3 };

#define IN(field) offsetof(struct input_options, field)

static const struct option input_list[] = {
	{ "input", 'i', OPTION_INPUT, IN(path), "FILE",
	  "the capture (default perf.data; - is a pipe)" },
	{ "raw", 0, OPTION_FLAG, IN(raw.is_raw), NULL,
	  "it is a raw SPE buffer, such as WindowsPerf's spe.data" },
	{ "midr", 0, OPTION_TEXT, IN(raw.midr), "X", "MIDR_EL1 of the CPU that wrote that" },
	{ "select", 0, OPTION_TEXT, IN(select), "EXPR",
	  "only records that match, such as 'op=load && tot>100'" },
	{ "counts", 0, OPTION_INPUT, IN(counts), "FILE",
	  "counts of the same run, for lost samples: SAMPLE_COLLISION …" },
	{ "cpu", 0, OPTION_TEXT, IN(cpu), "NAME", "take the CPU to be this one" },
	{ "catalog", 0, OPTION_INPUT, IN(catalog), "FILE", "more facts about CPUs" },
	{ "symfs", 0, OPTION_TEXT, IN(symfs), "DIR", "folder with the recorded machine's files" },
	{ "debug-dir", 0, OPTION_LIST, IN(debug_dirs), "DIR",
	  "folder with separate debug files; may be repeated" },
	{ "kallsyms", 0, OPTION_INPUT, IN(kallsyms), "FILE",
	  "kernel symbols: a copy of its /proc/kallsyms" },
	{ "vmlinux", 0, OPTION_INPUT, IN(vmlinux), "FILE",
	  "kernel symbols and lines: its vmlinux" },
	{ "guestkallsyms", 0, OPTION_INPUT, IN(guest_kallsyms), "FILE",
	  "of a virtual machine: a copy of its /proc/kallsyms" },
	{ "guestmount", 0, OPTION_TEXT, IN(guest_mount), "DIR",
	  "folder with the files of each virtual machine, by pid" },
	{ "debuginfod", 0, OPTION_FLAG, IN(use_debuginfod), NULL,
	  "get missing debug files from the servers of DEBUGINFOD_URLS" },
	{ "no-debuginfod", 0, OPTION_FLAG, IN(no_debuginfod), NULL, "do not (the default)" },
	{ "no-sandbox", 0, OPTION_FLAG, IN(no_sandbox), NULL,
	  "may open any file and make any system call" },
	{ "interval", 0, OPTION_COUNT, IN(interval), "N",
	  "operations between SPE samples (default: as recorded)" },
	{ "jobs", 'j', OPTION_NUMBER, IN(n_workers), "N", "threads (default: one for each CPU)" },
	{ "help", 'h', OPTION_FLAG, IN(wants_help), NULL, "this text" },
};

/* The first rows, of commands that read one capture. */
enum { OF_ONE_CAPTURE = 3 };

struct option_set input_option_set(struct input_options *into)
{
	return (struct option_set){ "Input:", input_list, COUNT(input_list), into };
}

struct option_set inputs_option_set(struct input_options *into)
{
	return (struct option_set){ "Input:", input_list + OF_ONE_CAPTURE,
				    COUNT(input_list) - OF_ONE_CAPTURE, into };
}

int check_capture_output(const char *path, struct err *err)
{
	if (strcmp(path, "-") != 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--output -: a capture cannot be piped, as its beginning is written last; "
		       "give --output FILE");
}

int choose_path(const char *input, const struct arguments *arguments, const char **out,
		struct err *err)
{
	static const char standard[] = "perf.data";

	if (input != NULL && arguments->n > 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "two captures given: '%s' by --input and '%s'", input,
			       arguments->items[0]);
	if (input == NULL && arguments->n == 0 && access(standard, F_OK) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "no capture given, and no %s in this folder; name a file, or make "
			       "one with `cyclops record`",
			       standard);
	*out = input != NULL ? input : arguments->n > 0 ? arguments->items[0] : standard;
	return 0;
}

static int check_path(const char *option, const char *path, bool is_folder, struct err *err)
{
	struct stat found;

	if (path == NULL)
		return 0;
	if (stat(path, &found) < 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: %s: %s", option, path,
			       strerror(errno));
	if ((S_ISDIR(found.st_mode) != 0) != is_folder)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: %s is %s folder", option, path,
			       is_folder ? "no" : "a");
	return 0;
}

/*
 * Checks that --symfs and such exist: otherwise the only sign of a mistake would be missing names.
 */
static int check_paths(const struct input_options *o, struct err *err)
{
	for (const char *const *dir = o->debug_dirs.items; dir != NULL && *dir != NULL; dir++)
		if (check_path("debug-dir", *dir, true, err) < 0)
			return -1;
	if (check_path("symfs", o->symfs, true, err) < 0 ||
	    check_path("vmlinux", o->vmlinux, false, err) < 0 ||
	    check_path("guestkallsyms", o->guest_kallsyms, false, err) < 0 ||
	    check_path("guestmount", o->guest_mount, true, err) < 0)
		return -1;
	return check_path("kallsyms", o->kallsyms, false, err);
}

int open_input(const struct input_options *input, const struct arguments *arguments,
	       struct session *session, struct select **out_select, struct err *err)
{
	struct session_options options = {
		.bytes = input->bytes,
		.n_bytes = input->n_bytes,
		.raw = input->raw,
		.cpu_name = input->cpu,
		.catalog_path = input->catalog,
		.n_workers = input->n_workers,
		.n_at_once = input->n_at_once,
		.select = input->select,
		.interval = input->interval,
		.symbols = {
			.symfs = input->symfs,
			.debug_dirs = input->debug_dirs.items,
			.use_debuginfod = input->use_debuginfod && !input->no_debuginfod,
			.kallsyms = input->kallsyms,
			.vmlinux = input->vmlinux,
			.guest_kallsyms = input->guest_kallsyms,
			.guest_mount = input->guest_mount,
		},
	};

	*session = (struct session){ 0 };
	*out_select = NULL;
	if (check_paths(input, err) < 0 ||
	    choose_path(input->path, arguments, &options.path, err) < 0)
		return -1;
	options.progress = input->is_quiet ? NULL : progress_show();
	if (session_open(session, &options, err) < 0 ||
	    lost_samples_find(session, input->counts, err) < 0)
		return -1;
	if (input->select != NULL && select_compile(session, input->select, out_select, err) < 0)
		return err_within(err, "--select");
	return 0;
}

bool capture_is_empty(const struct capture *capture)
{
	const struct capture_totals *totals = capture_totals(capture);

	return totals->n_samples == 0 && totals->aux_bytes == 0;
}

static void print_diag(const char *path, const struct diag *d)
{
	struct text text = { 0 };

	text_str(&text, d->text);
	if (d->n > 1)
		text_format(&text, " (%" PRIu64 " times)", d->n);
	if (d->first != ERR_NOWHERE)
		text_format(&text, " %s 0x%" PRIx64, d->n > 1 ? "first at" : "at", d->first);
	if (d->bytes > 0)
		text_format(&text, ", %" PRIu64 " byte%s%s", d->bytes, plural(d->bytes),
			    d->level == DIAG_NOTE ? "" : " not read");
	text_char(&text, '\0');
	message_print("%s: %s", path, text.bytes);
	text_release(&text);
}

/* What modules without names have in common: what would give them names. */
struct missing_names {
	const struct symbols_missing *first;
	bool is_one_reason;
	struct text modules; /* "chrome, libc.so.6, ld.so and 12 more" */
};

/* Of the first `n` modules those with the remedy of module `at`, unless one before has it. */
static bool find_missing(const struct session *s, size_t n, size_t at, struct missing_names *out)
{
	size_t n_alike = 0;

	*out = (struct missing_names){ symbols_missing_at(s->symbols, at), true, { 0 } };
	for (size_t i = 0; i < n; i++) {
		const struct symbols_missing *m = symbols_missing_at(s->symbols, i);

		if (strcmp(m->remedy, out->first->remedy) != 0)
			continue;
		if (i < at)
			break;
		out->is_one_reason &= strcmp(m->reason, out->first->reason) == 0;
		if (n_alike++ < SHOWN_MISSING)
			text_format(&out->modules, "%s%s", n_alike > 1 ? ", " : "",
				    names_module(s, m->module));
	}
	if (n_alike > SHOWN_MISSING)
		text_format(&out->modules, " and %zu more", n_alike - SHOWN_MISSING);
	text_char(&out->modules, '\0');
	return n_alike > 0;
}

/* Of several reasons only what they have in common: "build-id differs". */
static void print_missing_names(const struct missing_names *m)
{
	const char *reason = m->first->reason, *brief = m->first->brief, *remedy = m->first->remedy;

	message_print("no symbols for %s: %s%s%s", m->modules.bytes,
		      m->is_one_reason || brief == NULL ? reason : brief,
		      remedy[0] != '\0' ? "; " : "", remedy);
}

/*
 * Prints modules without names, a line for all that one remedy gives names. Modules that lack only lines
 * come last in the list; they are not worth a warning.
 */
static void print_missing(const struct session *s)
{
	size_t n = 0;

	while (n < symbols_n_missing(s->symbols) && symbols_missing_at(s->symbols, n)->n_places > 0)
		n++;
	for (size_t i = 0; i < n; i++) {
		struct missing_names m;

		if (find_missing(s, n, i, &m))
			print_missing_names(&m);
		text_release(&m.modules);
	}
}

void print_diagnostics(const struct session *s, int status)
{
	struct diags all = { 0 };

	if (s->capture == NULL)
		return;
	diags_merge(&all, capture_diags(s->capture));
	if (s->timeline != NULL)
		diags_merge(&all, timeline_diags(s->timeline));
	if (s->symbols != NULL)
		diags_merge(&all, symbols_diags(s->symbols));
	diags_sort(&all);
	for (size_t i = 0; i < all.list.n; i++)
		print_diag(capture_path(s->capture), &all.list.items[i]);
	if (s->symbols != NULL && status == EXIT_DONE)
		print_missing(s);
	diags_release(&all);
}

void release_input(struct session *session, struct select *select)
{
	struct progress *progress = session->progress;

	select_free(select);
	session_release(session);
	progress_close(progress);
}

int close_input(struct session *session, struct select *select, int status)
{
	print_diagnostics(session, status);
	release_input(session, select);
	return status;
}

/* Variables that name folders with binaries or debug files. */
static const char *const folders_by_variable[] = { "PERF_BUILDID_DIR", "DEBUGINFOD_CACHE_PATH" };

/* Options that say what is done outside of it, or not at all. */
struct sandbox_options {
	bool is_off;
	bool use_debuginfod, no_debuginfod, no_pager;
	const char *pager;
};

static void read_option(const struct option *o, const void *field, struct sandbox_options *out,
			struct sandbox_places *places)
{
	const bool *flag = field;
	const char *const *text = field;
	const struct option_list *list = field;
	bool is_folder = strcmp(o->name, "symfs") == 0 || strcmp(o->name, "guestmount") == 0;

	if (o->kind == OPTION_FLAG) {
		out->is_off |= strcmp(o->name, "no-sandbox") == 0 && *flag;
		out->use_debuginfod |= strcmp(o->name, "debuginfod") == 0 && *flag;
		out->no_debuginfod |= strcmp(o->name, "no-debuginfod") == 0 && *flag;
		out->no_pager |= strcmp(o->name, "no-pager") == 0 && *flag;
	} else if (o->kind == OPTION_TEXT && strcmp(o->name, "pager") == 0) {
		out->pager = *text;
	} else if ((o->kind == OPTION_INPUT || is_folder) && *text != NULL) {
		*vec_add(&places->reads) = *text;
	} else if ((o->kind == OPTION_OUTPUT || o->kind == OPTION_PLACE) && *text != NULL &&
		   strcmp(*text, "-") != 0) {
		*vec_add(&places->writes) = *text;
	} else if (o->kind == OPTION_FOLDER && *text != NULL) {
		*vec_add(&places->folders) = *text;
	} else if (o->kind == OPTION_INPUTS || strcmp(o->name, "debug-dir") == 0) {
		for (size_t i = 0; i < list->n; i++)
			*vec_add(&places->reads) = list->items[i];
	}
}

void enter_sandbox(const struct option_set *sets, size_t n_sets, const struct arguments *arguments)
{
	struct sandbox_places places = { 0 };
	struct sandbox_options options = { 0 };
	const char *cache = getenv("XDG_CACHE_HOME");
	struct text downloads = { 0 };

	for (size_t s = 0; s < n_sets; s++)
		for (size_t i = 0; i < sets[s].n; i++) {
			const struct option *o = &sets[s].options[i];

			read_option(o, (const char *)sets[s].into + o->offset, &options, &places);
		}
	*vec_add(&places.reads) = "perf.data"; /* the capture if none is given */
	for (size_t i = 0; i < arguments->n; i++)
		*vec_add(&places.reads) = arguments->items[i];
	for (size_t i = 0; i < COUNT(folders_by_variable); i++)
		if (getenv(folders_by_variable[i]) != NULL)
			*vec_add(&places.reads) = getenv(folders_by_variable[i]);
	if (cache != NULL) {
		text_format(&downloads, "%s/debuginfod_client%c", cache, 0);
		*vec_add(&places.reads) = downloads.bytes;
	}
	if (!options.is_off) {
		if (options.use_debuginfod && !options.no_debuginfod)
			debuginfod_prepare();
		if (isatty(STDOUT_FILENO) &&
		    !options.no_pager) /* has none of its pipes open then */
			pager_prepare(options.pager);
		(void)sandbox_start(&places);
	}
	text_release(&downloads);
	sandbox_places_release(&places);
}
