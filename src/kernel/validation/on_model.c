/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cyclops-kernel for AArch64 runs on the machine model, which counts its region: one run for all events
 * and repeats.
 */
#include "kernel/validation/on_model.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/text.h"
#include "count/import.h"
#include "model/settings.h"

enum { INTERVAL = 4096, SETS_MAX = 64 };

#define RUNNER "cyclops-kernel-aarch64"

/* The runner is below the program's folder in a build, and in the library folder if installed. */
static int find_runner(const char *given, char out[PATH_MAX], struct err *err)
{
	static const char *const places[] = { "/src/kernel/runner/" RUNNER,
					      CYCLOPS_LIB_FROM_BIN "/cyclops/" RUNNER };

	if (given != NULL) {
		snprintf(out, PATH_MAX, "%s", given);
		return access(out, R_OK) == 0
			       ? 0
			       : err_set(err, ERR_USAGE, ERR_NOWHERE,
					 "--runner: cannot read '%s': %s", given, strerror(errno));
	}
	if (beside_program(places, COUNT(places), out))
		return 0;
	return err_set(
		err, ERR_UNSUPPORTED, ERR_NOWHERE,
		"%s, which the model runs, is not beside cyclops nor in its library folder; it "
		"is built where aarch64-linux-gnu-gcc is (apt install gcc-aarch64-linux-gnu)",
		RUNNER);
}

/* A parameter of the model, the last one of its name in the settings; 0: it has none. */
static uint64_t parameter_of(const struct text *settings, const char *name)
{
	size_t length = strlen(name);
	uint64_t value = 0;

	for (size_t at = 0; at < settings->n; at += strlen(settings->bytes + at) + 1) {
		const char *entry = settings->bytes + at;

		if (strncmp(entry, "param.", 6) == 0 && strncmp(entry + 6, name, length) == 0 &&
		    entry[6 + length] == '=')
			value = strtoull(entry + 6 + length + 1, NULL, 0);
	}
	return value;
}

static struct model_options options_of(const struct on_model *m, const char *const *program)
{
	return (struct model_options){
		.program = program,
		.command = program,
		.output = "",
		.model = m->model,
		.sets = m->sets,
		.emulator = m->emulator,
		.plugin = m->plugin,
		.version = CYCLOPS_VERSION,
		.interval = m->interval > 0 ? m->interval : INTERVAL,
	};
}

int on_model_init(struct on_model *m, struct err *err)
{
	const char *const program[] = { RUNNER, NULL };
	const struct model_options options = options_of(m, program);
	struct model_facts facts;
	struct text settings = { 0 };
	int rc = find_runner(m->runner, m->runner_path, err);

	if (rc == 0)
		rc = model_settings(&options, &settings, &facts, err);
	if (rc == 0) {
		snprintf(m->name, sizeof(m->name), "%s", facts.name);
		snprintf(m->cpu, sizeof(m->cpu), "%s", facts.cpu);
		m->ghz = (double)parameter_of(&settings, "core_mhz") / 1000;
		m->sizes = (struct cache_sizes){
			.l1d_bytes = parameter_of(&settings, "l1d_bytes"),
			.l2_bytes = parameter_of(&settings, "l2_bytes"),
			.llc_bytes = parameter_of(&settings, "system_cache_bytes"),
			.dtlb_pages = parameter_of(&settings, "dtlb_entries"),
			.l2tlb_pages = parameter_of(&settings, "l2tlb_entries"),
		};
	}
	text_release(&settings);
	return rc;
}

/* The files of a run. */
struct files {
	char folder[64], capture[96], counts[96];
};

static int files_make(struct files *f, struct err *err)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(f->folder, sizeof(f->folder), "%.40s/cyclops-kernel-XXXXXX",
		 temporary != NULL && strlen(temporary) <= 40 ? temporary : "/tmp");
	if (mkdtemp(f->folder) == NULL)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot make the folder: %s",
			       f->folder, strerror(errno));
	snprintf(f->capture, sizeof(f->capture), "%s/perf.data", f->folder);
	snprintf(f->counts, sizeof(f->counts), "%s/counts.json", f->folder);
	return 0;
}

static void files_remove(const struct files *f)
{
	unlink(f->capture);
	unlink(f->counts);
	rmdir(f->folder);
}

/* The name of a repeat's region, as the runner has it. */
static const char *region_of(const struct microbenchmark *what, unsigned n_repeats, unsigned repeat,
			     char *out, size_t size)
{
	if (n_repeats == 1)
		snprintf(out, size, "%s", what->name);
	else
		snprintf(out, size, "%s %u", what->name, repeat + 1);
	return out;
}

/* Counts of a region. */
static int read_region(const struct mapped *file, const char *path, const char *region,
		       const char *const *events, size_t n_events, struct kernel_count *out,
		       struct err *err)
{
	struct counts counts = { 0 };
	int rc = counts_import((const char *)file->bytes, file->size, path, &counts, err);

	if (rc == 0)
		rc = counts_take_region(&counts, region, err);
	for (size_t i = 0; i < n_events && rc == 0; i++) {
		const struct count *count = counts_find(&counts, events[i]);

		out[i].is_counted = count != NULL && count->state == COUNT_COUNTED;
		out[i].count = out[i].is_counted ? count->value : 0;
	}
	counts_release(&counts);
	return rc;
}

/* Counts of all repeats, less what counting itself adds. */
static int read_counts(const char *path, const struct kernel_setting *setting,
		       const char *const *events, size_t n_events, unsigned n_repeats,
		       struct kernel_count *out, struct err *err)
{
	struct kernel_count *nothing = mem_zalloc(n_events, sizeof(*nothing));
	struct mapped file = { 0 };
	char region[80];
	int rc = mapped_open(&file, path, err);

	if (rc == 0)
		rc = read_region(&file, path, "nothing", events, n_events, nothing, err);
	for (unsigned repeat = 0; repeat < n_repeats && rc == 0; repeat++) {
		struct kernel_count *to = &out[repeat * n_events];

		rc = read_region(
			&file, path,
			region_of(setting->what, n_repeats, repeat, region, sizeof(region)), events,
			n_events, to, err);
		for (size_t i = 0; i < n_events; i++)
			kernel_count_subtract(&to[i], &nothing[i]);
	}
	free(nothing);
	mapped_release(&file);
	return rc;
}

/* Runs the program; what it cannot do is an error. */
static int run_kernel_on_model(const struct on_model *m, const struct kernel_setting *setting,
			       const char *const *program, const struct files *f, struct err *err)
{
	const char *const environment[] = { NULL }; /* it would move the program's stack */
	const char *sets[SETS_MAX + 2] = { NULL };
	struct model_options options = options_of(m, program);
	struct model_end end;
	size_t n = 0;

	for (; m->sets != NULL && m->sets[n] != NULL && n < SETS_MAX; n++)
		sets[n] = m->sets[n];
	if (setting->values[HUGE_PAGES] != 0)
		sets[n++] = "huge_pages=1"; /* the model knows no madvise() */
	options.environment = environment;
	options.sets = sets;
	options.output = m->capture != NULL ? m->capture : f->capture;
	options.counts = f->counts;
	if (model_run(&options, &end, err) < 0)
		return -1;
	return end.status == 0 ? 0
			       : err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
					 "kernel %s: the model's run ended with status %d",
					 setting->what->name, end.status);
}

static int count_on_model(void *context, const struct kernel_setting *setting,
			  const char *const *events, size_t n_events, unsigned n_repeats,
			  struct kernel_count *out, struct err *err)
{
	const struct on_model *m = context;
	const char *program[N_PARAMETERS + 4];
	char texts[N_PARAMETERS + 1][48];
	struct files f;
	size_t n = 0, n_texts = 0;
	int rc;

	program[n++] = m->runner_path;
	program[n++] = setting->what->name;
	for (enum parameter p = 0; p < N_PARAMETERS; p++) {
		if (!microbenchmark_takes(setting->what, (enum parameter)p))
			continue;
		snprintf(texts[n_texts], sizeof(texts[0]), "%s=%" PRIu64,
			 microbenchmark_parameters[p].name, setting->values[p]);
		program[n++] = texts[n_texts++];
	}
	snprintf(texts[n_texts], sizeof(texts[0]), "repeat=%u", n_repeats);
	program[n++] = texts[n_texts++];
	program[n] = NULL;
	if (files_make(&f, err) < 0)
		return -1;
	rc = run_kernel_on_model(m, setting, program, &f, err);
	if (rc == 0)
		rc = read_counts(f.counts, setting, events, n_events, n_repeats, out, err);
	files_remove(&f);
	return rc;
}

static double ghz_of_model(void *context)
{
	const struct on_model *m = context;

	return m->ghz;
}

struct measurer on_model_measurer(struct on_model *m)
{
	return (struct measurer){ .context = m, .count = count_on_model, .ghz = ghz_of_model };
}
