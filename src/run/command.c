/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cyclops run: the whole method. Each step is a run of this program with another command, which
 * --verbose says before it is done, so that everything can be done again by hand. The files stay in a folder.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/mapped.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/printer.h"
#include "estimate/stat_record.h"
#include "metrics/cpu_choice.h"
#include "model/gains.h"
#include "model/what_if.h"
#include "pmu/launch.h"
#include "pmu/pmu.h"
#include "run/command.h"
#include "run/html.h"
#include "run/method.h"
#include "run/sampling.h"
#include "run/steps.h"
#include "run/what_if.h"
#include "stat/gates.h"

static const struct usage usage = {
	"run",
	"[OPTIONS] -- PROGRAM [ARGUMENTS]",
	"What to change in a program: counts, samples and reports in one command.",
	.has_dashes = true,
};

enum { DEFAULT_RUNS = 2, WORDS_MAX = 512, FOLDERS_MAX = 1000, FUNCTIONS_SHOWN = 8 };

#define AT(field) offsetof(struct run_command, field)

static const struct option options[] = {
	{ "runs", 0, OPTION_COUNT, AT(runs), "N",
	  "runs of the program (default 2: count, sample);\n                          1: sample "
	  "only; more: repeat the counting" },
	{ "folder", 'd', OPTION_TEXT, AT(folder), "DIR",
	  "keep the files here (default PROGRAM.cyclops)" },
	{ "model", 0, OPTION_FLAG, AT(model), NULL,
	  "on the machine model: one run, of an AArch64 program" },
	{ "what-if", 0, OPTION_OPTIONAL_WORD, AT(what_if), "[=LIST]",
	  "with --model: simulate these what-ifs (default: those that the\n"
	  "                          findings name; none: no second run); see cyclops model\n"
	  "                          --what-if=list" },
	{ "sysroot", 'L', OPTION_TEXT, AT(sysroot), "DIR",
	  "with --model: folder of the program's loader and libraries" },
	{ "interval", 0, OPTION_COUNT, AT(interval), "N", "operations between SPE samples" },
	{ "sweep", 0, OPTION_TEXT, AT(sweep), "NAME=V1,V2",
	  "one counted run for each value, given as NAME in the environment\n                      "
	  "    and {NAME} in the arguments" },
	{ "seed", 0, OPTION_NUMBER, AT(seed), "N", "with --model: another choice of samples" },
	{ "html", 0, OPTION_OUTPUT, AT(html), "FILE", HTML_HELP },
	{ "verbose", 'v', OPTION_FLAG, AT(verbose), NULL,
	  "show each step as a command, confidence and all facts" },
	{ "help", 'h', OPTION_FLAG, AT(wants_help), NULL, "this text" },
};

char *path_join(const char *folder, const char *name)
{
	size_t size = strlen(folder) + strlen(name) + 2;
	char *path = mem_alloc(size, 1);

	snprintf(path, size, "%s/%s", folder, name);
	return path;
}

static int make_folder_named(struct run *r, const char *path, struct err *err)
{
	if (mkdir(path, 0777) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot make the folder: %s", path,
			       strerror(errno));
	r->folder = path;
	return 0;
}

/* "app.cyclops", or "app.cyclops.2" if that is there: nothing is written over. */
static int make_folder(struct run *r, struct err *err)
{
	const char *name = path_base(r->program[0]);
	size_t size = strlen(name) + 32;
	char *path = arena_alloc(&r->memory, size);

	if (r->command->folder != NULL)
		return make_folder_named(r, r->command->folder, err);
	for (int i = 1; i < FOLDERS_MAX; i++) {
		if (i == 1)
			snprintf(path, size, "%s.cyclops", name);
		else
			snprintf(path, size, "%s.cyclops.%d", name, i);
		if (access(path, F_OK) < 0)
			return make_folder_named(r, path, err);
	}
	return err_set(err, ERR_LIMIT, ERR_NOWHERE,
		       "%d folders of earlier runs exist; remove some, or give --folder",
		       FOLDERS_MAX);
}

/* A command line being put together. */
struct words {
	const char *items[WORDS_MAX + 1];
	size_t n;
};

static void words_add(struct words *w, const char *word)
{
	if (w->n < WORDS_MAX)
		w->items[w->n++] = word;
}

static void add_number(struct run *r, struct words *w, const char *option, unsigned value)
{
	char *text;

	if (value == 0)
		return;
	text = arena_alloc(&r->memory, 16);
	snprintf(text, 16, "%u", value);
	words_add(w, option);
	words_add(w, text);
}

static void add_program(struct run *r, struct words *w)
{
	words_add(w, "--");
	for (char *const *word = r->program; *word != NULL; word++)
		words_add(w, *word);
}

/* Who reads what the program prints is told why it is there again, and with --verbose how to do it by hand. */
static void announce(const struct run *r, const struct words *w, const char *doing, unsigned n_runs)
{
	struct text line = { 0 };
	bool is_repeated = r->n_wanted > 1 && r->command->sweep == NULL;

	if (is_repeated || r->command->verbose || isatty(STDERR_FILENO)) {
		fprintf(stderr, n_runs > 1 ? "Runs %u" : "Run %u", r->n_done + 1);
		if (n_runs > 1)
			fprintf(stderr, " to %u", r->n_done + n_runs);
		fprintf(stderr, " of %u: %s\n",
			r->n_done + n_runs > r->n_wanted ? r->n_done + n_runs : r->n_wanted, doing);
	}
	if (!r->command->verbose)
		return;
	if (r->environment != NULL)
		text_shell_word(&line, r->environment);
	for (size_t i = 0; i < w->n; i++)
		text_shell_word(&line, i == 0 ? "cyclops" : w->items[i]);
	text_char(&line, '\0');
	fprintf(stderr, "  %s\n", line.bytes);
	text_release(&line);
}

/* Did the step leave what it is for? It says itself why not. */
static int check_result(const struct run *r, const char *path, int status, struct err *err)
{
	struct stat st;

	if (r->is_interrupted)
		return err_set(err, ERR_IO, ERR_NOWHERE, "interrupted; what was written is in %s",
			       r->folder);
	if (stat(path, &st) == 0 && st.st_size > 0)
		return 0;
	if (status == LAUNCH_NOT_FOUND || status == LAUNCH_NOT_EXECUTABLE)
		return err_set(err, ERR_IO, ERR_NOWHERE, "'%s' did not run: nothing was measured",
			       r->program[0]);
	if (r->command->model)
		return err_set(err, ERR_IO, ERR_NOWHERE, "the model measured nothing");
	return err_set(err, ERR_IO, ERR_NOWHERE,
		       "that step wrote no %s (exit status %d); `cyclops doctor` says what this "
		       "machine can measure",
		       path, status);
}

static int run_words(struct run *r, struct words *w, struct err *err)
{
	struct launch l;
	int rc;

	w->items[w->n] = NULL;
	if (launch_init(&l, (char *const *)(uintptr_t)w->items, err) < 0)
		return -1;
	rc = launch_go(&l, err);
	while (rc == 0 && !launch_is_over(&l))
		rc = launch_wait(&l, LAUNCH_FOREVER, err);
	r->program_status = launch_status(&l);
	r->is_interrupted |= l.is_interrupted;
	launch_release(&l);
	return rc;
}

/* The command runs the program so many times. */
static int step(struct run *r, struct words *w, const char *doing, unsigned n_runs,
		const char *result, struct err *err)
{
	int rc;

	announce(r, w, doing, n_runs);
	rc = run_words(r, w, err);
	r->n_done += n_runs;
	return rc < 0 ? -1 : check_result(r, result, r->program_status, err);
}

static void begin(struct words *w, const char *command)
{
	*w = (struct words){ 0 };
	words_add(w, "/proc/self/exe");
	words_add(w, command);
}

/*
 * Samples on the model: cycles, as programs run for some milliseconds; what executes and what misses, for the
 * callers of SPE records; and operations of SPE.
 */
static const char *const modelled_samples[] = { "cycles:10007", "inst_retired:20011",
						"l1d_cache_refill:1009" };
enum { MODELLED_INTERVAL = 1024 };

/* Did somebody say what to ask the model? */
static bool has_own_what_ifs(const struct run_command *c)
{
	return c->what_if != NULL && strcmp(c->what_if, what_if_none) != 0;
}

static void add_sysroot(const struct run *r, struct words *w)
{
	if (r->command->sysroot == NULL)
		return;
	words_add(w, "--sysroot");
	words_add(w, r->command->sysroot);
}

/* The model counts and samples at once. */
int run_model(struct run *r, struct err *err)
{
	struct words w;

	begin(&w, "model");
	words_add(&w, "--counts");
	words_add(&w, r->counts_path);
	words_add(&w, "--output");
	words_add(&w, r->capture_path);
	if (has_own_what_ifs(r->command)) {
		words_add(&w, "--what-if");
		if (r->command->what_if[0] != '\0')
			words_add(&w, r->command->what_if);
		words_add(&w, "--gains");
		words_add(&w, r->gains_path);
	}
	add_sysroot(r, &w);
	for (size_t i = 0; i < COUNT(modelled_samples); i++) {
		words_add(&w, "--sample");
		words_add(&w, modelled_samples[i]);
	}
	words_add(&w, "--stacks");
	add_number(r, &w, "--interval",
		   r->command->interval > 0 ? r->command->interval : MODELLED_INTERVAL);
	add_number(r, &w, "--seed", r->command->seed);
	add_program(r, &w);
	return step(r, &w, "counting and sampling on the machine model", 1, r->capture_path, err);
}

/* The same program without the causes that were found. It writes gains.json, as of a capture that is of no use. */
static int run_what_ifs(struct run *r, const char *list, struct err *err)
{
	char *capture = path_join(r->folder, "what-if.data");
	int status = r->program_status, rc;
	struct quiet quiet;
	struct words w;

	begin(&w, "model");
	words_add(&w, "--what-if");
	words_add(&w, list);
	words_add(&w, "--gains");
	words_add(&w, r->gains_path);
	words_add(&w, "--output");
	words_add(&w, capture);
	add_sysroot(r, &w);
	add_number(r, &w, "--seed", r->command->seed);
	add_program(r, &w);
	announce(r, &w, "simulating what the findings would gain", 1);
	quiet_begin(&quiet, r->input_start);
	rc = run_words(r, &w, err);
	quiet_end(&quiet);
	unlink(capture);
	free(capture);
	r->program_status = status;
	return rc < 0 ? -1 : check_result(r, r->gains_path, 0, err);
}

int run_counting(struct run *r, unsigned n_times, struct err *err)
{
	struct words w;

	begin(&w, "stat");
	words_add(&w, "--format");
	words_add(&w, "json");
	words_add(&w, "--output");
	words_add(&w, r->counts_path);
	if (n_times > 1)
		add_number(r, &w, "--repeat", n_times);
	add_program(r, &w);
	return step(r, &w, "counting", n_times, r->counts_path, err);
}

/* Can call chains be made of copied stacks of this machine's programs? */
#if defined(__x86_64__) || defined(__aarch64__)
#define HAS_UNWINDER true
#else
#define HAS_UNWINDER false
#endif

static int run_sampling(struct run *r, const struct cpu_metric *first, struct err *err)
{
	struct pmus pmus = { 0 };
	struct sampling sampling;
	struct words w;

	pmus_read(&pmus, "");
	sampling = sampling_choose(&pmus, first, r->command->interval, &r->memory);
	pmus_release(&pmus);
	begin(&w, "record");
	words_add(&w, "--output");
	words_add(&w, r->capture_path);
	if (HAS_UNWINDER) { /* optimised code has no frame pointers */
		words_add(&w, "--call-graph");
		words_add(&w, "dwarf,4096");
		words_add(&w, "--compress");
	} else {
		words_add(&w, "-g");
	}
	if (sampling.spe != NULL)
		words_add(&w, sampling.spe);
	words_add(&w, "--event");
	words_add(&w, sampling.events);
	add_program(r, &w);
	return step(r, &w, "sampling", 1, r->capture_path, err);
}

int run_read_counts(struct run *r, struct err *err)
{
	struct mapped file = { 0 };
	int rc;

	if (mapped_open(&file, r->counts_path, err) < 0)
		return -1;
	rc = counts_read(file.bytes, file.size, r->counts_path, &r->counts, err);
	mapped_release(&file);
	if (rc < 0)
		return err_within(err, "%s", r->counts_path);
	return cpu_pmu_open(r->catalog, stat_cpu(r->catalog, &r->counts), r->counts.midr, &r->pmu,
			    err);
}

/* What the counts say first, to decide what is to be sampled. */
static int run_decide(struct run *r, const struct cpu_metric **out, struct err *err)
{
	const struct stat_options stat_options = { 0 };
	struct stat_answer stat = { 0 };
	int rc = stat_answer_make(r->pmu, &r->counts, &stat_options, &stat, err);

	*out = rc == 0 ? method_first(&stat) : NULL;
	if (*out != NULL && r->command->verbose)
		fprintf(stderr, "cyclops run: largest count finding: %s\n", (*out)->label);
	stat_answer_release(&stat);
	return rc;
}

static int do_steps(struct run *r, struct err *err)
{
	const struct cpu_metric *first = NULL;

	if (r->command->model) {
		if (run_model(r, err) < 0)
			return -1;
		return run_read_counts(r, err);
	}
	if (r->n_wanted > 1)
		if (run_counting(r, r->n_wanted - 1, err) < 0 || run_read_counts(r, err) < 0 ||
		    run_decide(r, &first, err) < 0)
			return -1;
	return run_sampling(r, first, err);
}

/* What the model said to --what-if, as more tables. */
static void add_what_if(const struct gains *gains, struct session *s, struct what_if *out,
			struct tables *shown)
{
	what_if_make(gains, s, FUNCTIONS_SHOWN, out);
	for (size_t i = 0; i < out->shown.list.n; i++)
		*vec_add(&shown->list) = out->shown.list.items[i];
}

/* Judges the conditions by the counts. */
static int run_judge(struct run *r, struct err *err)
{
	const struct stat_options all = { 0 };
	struct stat_types types = { 0 };
	int rc = 0;

	if (r->command->gates.conditions.n > 0) {
		rc = stat_types_open(r->catalog, NULL, &r->counts, &types, err);
		if (rc == 0)
			rc = stat_judge(&r->command->gates, &types, &r->counts, &all, &r->results,
					err);
		stat_types_release(&types);
	}
	return rc;
}

static int run_print(struct run *r, struct printer *out, const struct output_options *output,
		     const struct tables *answer, struct err *err)
{
	struct tables shown = gates_shown(&r->results, answer);
	int rc = printer_finish(out, output, &shown, 0, err);

	r->results.is_modelled = out->document.is_modelled;

	vec_release(&shown.list);
	return rc == 0 ? gate_options_report(&r->command->gates, &r->results, output, usage.command,
					     err)
		       : rc;
}

static int open_answer(struct run *r, struct session *session, struct method *method,
		       struct err *err)
{
	const struct session_options session_options = {
		.path = r->capture_path,
		.symbols = { .use_this_machine = true },
	};
	int rc = session_open(session, &session_options, err);

	if (rc == 0)
		rc = method_find(session, r->pmu, r->pmu != NULL ? &r->counts : NULL, method, err);
	return rc;
}

/*
 * What the findings name, as a list of --what-if. The session is closed again: its threads must not be there when the
 * program is started.
 */
static int find_questions(struct run *r, struct text *out, struct err *err)
{
	struct session session = { 0 };
	struct method method = { 0 };
	int rc = open_answer(r, &session, &method, err);

	if (rc == 0)
		run_questions(&method.found, out);
	method_release(&method);
	session_release(&session);
	return rc;
}

/* Asks the model what the findings would gain. That it cannot say is no failure: the answer has limits then. */
static void ask_for_findings(struct run *r)
{
	struct text list = { 0 };
	struct gains gains;
	struct err err;

	gains_init(&gains);
	if (find_questions(r, &list, &err) == 0 && list.n > 0) {
		text_char(&list, '\0');
		r->has_gains = run_what_ifs(r, list.bytes, &err) == 0 &&
			       gains_read(&gains, r->gains_path, &err) == 0 &&
			       run_is_same_program(&gains, &r->counts, r->pmu) &&
			       gains_write(&gains, r->gains_path, r->capture_path, &err) == 0;
		if (!r->has_gains && !r->is_interrupted)
			fprintf(stderr,
				"cyclops run: the second run was not as the first: what the "
				"findings would gain is not known\n");
	}
	if (!r->has_gains)
		unlink(r->gains_path);
	gains_release(&gains);
	text_release(&list);
}

static int run_answer(struct run *r, const struct output_options *output, struct err *err)
{
	struct session session = { 0 };
	struct method method = { 0 };
	struct what_if what_if = { 0 };
	struct tables more = { 0 };
	struct printer out = { 0 };
	struct gains gains;
	int rc = open_answer(r, &session, &method, err);

	gains_init(&gains);
	if (rc == 0 && r->has_gains)
		rc = gains_read(&gains, r->gains_path, err);
	if (rc == 0)
		method_make_tables(&session, &method);
	if (rc == 0 && r->has_gains)
		add_what_if(&gains, &session, &what_if, &method.shown);
	if (has_own_what_ifs(r->command)) /* else the findings say it */
		more = what_if.shown;
	if (rc == 0)
		rc = run_judge(r, err);
	if (rc == 0)
		rc = printer_open(&out, output, "text", usage.command, &session, err);
	if (rc == 0 && printer_shows_screen(&out, output)) {
		method_screen(&session, &more, r->command->verbose, &method);
		rc = run_print(r, &out, output, &method.screen, err);
	} else if (rc == 0) {
		rc = run_print(r, &out, output, &method.shown, err);
	}
	if (rc == 0 && r->command->html != NULL)
		rc = run_html(&session, &method, &more, &out, r->command->html, err);
	print_diagnostics(&session, rc < 0 ? EXIT_FAILED : EXIT_DONE);
	what_if_release(&what_if);
	gains_release(&gains);
	method_release(&method);
	session_release(&session);
	return rc;
}

/* A run that came to nothing leaves no folder; one with anything in it stays. */
static void remove_empty_folder(const struct run *r)
{
	if (r->folder != NULL)
		rmdir(r->folder);
}

static int run(struct run *r, const struct output_options *output, struct err *err)
{
	if (catalog_open(NULL, &r->catalog, err) < 0 || make_folder(r, err) < 0)
		return -1;
	if (r->command->sweep != NULL) {
		int rc = run_sweep(r, output, err);

		r->program_status = 0; /* that of each run is in the table */
		remove_empty_folder(r);
		return rc;
	}
	r->counts_path = path_join(r->folder, RUN_COUNTS);
	r->capture_path = path_join(r->folder, RUN_CAPTURE);
	r->gains_path = path_join(r->folder, GAINS_FILE);
	r->input_start = run_input_position();
	if (do_steps(r, err) < 0) {
		remove_empty_folder(r);
		return -1;
	}
	r->has_gains = has_own_what_ifs(r->command);
	if (run_asks_for_findings(r->command) && r->program_status < LAUNCH_SIGNAL)
		ask_for_findings(r);
	if (run_answer(r, output, err) < 0)
		return -1;
	if (r->program_status != 0)
		fprintf(stderr, "cyclops run: the program ended with status %d\n",
			r->program_status);
	fprintf(stderr, "cyclops run: the files are in %s; more: cyclops report %s\n", r->folder,
		r->capture_path);
	return 0;
}

/* Gates are about counts, and judged once. */
static int check_gates(const struct run *r, struct err *err)
{
	const struct gate_options *o = &r->command->gates;
	struct condition c;

	if (gate_options_check(o, err) < 0)
		return -1;
	if (o->conditions.n > 0 && (r->command->sweep != NULL || r->command->runs == 1))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if is about what the program was counted to: not with "
			       "--sweep or --runs 1");
	for (size_t i = 0; i < o->conditions.n; i++)
		if (condition_parse(o->conditions.items[i], &c, err) < 0)
			return -1;
	return 0;
}

static int run_command(int argc, char **argv)
{
	struct run_command command = { 0 };
	struct output_options output = { 0 };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &command },
		gate_option_set(&command.gates),
		output_option_set(&output),
	};
	int program = options_find_end(argc, argv);
	struct arguments arguments;
	struct run r = { .command = &command };
	struct err err;
	int status = start_command(&usage, program, argv, sets, COUNT(sets), 0, &command.wants_help,
				   &arguments);

	if (status >= 0)
		return status;
	if (need_program(&usage, argc, program, &err) < 0)
		return fail(&err);
	if (command.what_if != NULL && !command.model) {
		err_set(&err, ERR_USAGE, ERR_NOWHERE,
			"--what-if asks the machine model: add --model");
		return fail(&err);
	}
	if (command.html != NULL && command.sweep != NULL) {
		err_set(&err, ERR_USAGE, ERR_NOWHERE,
			"--html: not with --sweep, which has no capture");
		return fail(&err);
	}
	if (command.html != NULL && html_check(&err) < 0)
		return fail(&err);
	if ((command.sweep != NULL && run_sweep_check(command.sweep, &err) < 0) ||
	    check_gates(&r, &err) < 0)
		return fail(&err);
	r.program = &argv[program + 1];
	r.n_wanted = command.model ? 1 : command.runs > 0 ? command.runs : DEFAULT_RUNS;
	gates_init(&r.results);
	status = run(&r, &output, &err) < 0
			 ? gate_options_fail(&command.gates, &r.results, usage.command, &err)
			 : gate_options_status(&command.gates, &r.results, r.program_status);
	gates_release(&r.results);
	cpu_pmu_free(r.pmu);
	counts_release(&r.counts);
	catalog_free(r.catalog);
	arena_release(&r.memory);
	free(r.counts_path);
	free(r.capture_path);
	free(r.gains_path);
	return status;
}

const struct command command_run = {
	.usage = &usage,
	.purpose = "what to change in a program: count, sample and report in one",
	.reads = COMMAND_READS_PROGRAM,
	.run = run_command,
};
