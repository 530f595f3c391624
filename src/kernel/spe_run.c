/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/spe_run.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "record/record.h"

enum { ITERATIONS_OF_LEVEL = 1000000, SHORT_INTERVAL = 1024 };

#define RUNNER_HERE "cyclops-kernel"

bool spe_run_is_possible(const struct subject *s)
{
	struct pmus *pmus = (struct pmus *)(uintptr_t)&s->here.pmus;

	return s->is_modelled || pmus_find(pmus, "arm_spe_0") != NULL;
}

/* What a chase executes before it is counted: a round through all of its lines, or a tenth. */
static uint64_t loads_of_warm_up(const struct kernel_setting *setting)
{
	uint64_t tenth = setting->values[ITERATIONS] / 10 + 1, some = tenth < 1000 ? tenth : 1000;

	return setting->values[LINES] > some ? setting->values[LINES] : some;
}

/* Runs the chase on this machine, recorded. */
static int record_here(const struct kernel_setting *setting, const char *capture, struct err *err)
{
	static const char *const places[] = { "/src/kernel/runner/" RUNNER_HERE, "/" RUNNER_HERE };
	char runner[PATH_MAX], lines[48], stride[48], iterations[48], huge[] = "huge=1",
								      name[] = "chase";
	char *const program[] = { runner, name, lines, stride, iterations, huge, NULL };
	const char *const command_line[] = { "cyclops", "kernel", "--calibrate", NULL };
	const struct record_options options = {
		.program = program,
		.command_line = command_line,
		.version = CYCLOPS_VERSION,
		.output = capture,
		.spe = "",
		.period = SHORT_INTERVAL,
	};
	struct record_summary summary;
	struct diags diags = { 0 };
	int rc;

	if (!beside_program(places, COUNT(places), runner))
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       RUNNER_HERE ", which is recorded, is not beside cyclops");
	snprintf(lines, sizeof(lines), "lines=%" PRIu64, setting->values[LINES]);
	snprintf(stride, sizeof(stride), "stride=%" PRIu64, setting->values[STRIDE]);
	snprintf(iterations, sizeof(iterations), "iterations=%" PRIu64,
		 setting->values[ITERATIONS]);
	rc = record(&options, &kernel_linux, &summary, &diags, err);
	diags_release(&diags);
	return rc;
}

/* Counts the chase, and has its SPE records in the file. */
static int run_level(struct subject *s, const struct kernel_setting *setting, const char *capture,
		     double *out_cycles, struct err *err)
{
	static const char *const events[] = { "CPU_CYCLES" };
	struct on_model model = s->model;
	struct measurer measurer = s->measurer;
	struct kernel_count count = { 0 };

	model.capture = capture;
	model.interval = SHORT_INTERVAL;
	if (s->is_modelled)
		measurer = on_model_measurer(&model);
	if (measurer.count(measurer.context, setting, events, COUNT(events), 1, &count, err) < 0)
		return -1;
	*out_cycles = count.is_counted ? count.count / (double)setting->values[ITERATIONS] : NAN;
	return s->is_modelled ? 0 : record_here(setting, capture, err);
}

static int read_level(struct subject *s, const char *name, enum source_level source,
		      const char *capture, const char *catalog, struct spe_levels *out,
		      struct err *err)
{
	struct kernel_setting setting = { .what = microbenchmark_find("chase") };
	struct spe_level level = { .name = name, .source = source };
	struct err unknown;

	microbenchmark_set_usual(setting.what, setting.values);
	setting.values[HUGE_PAGES] = 1;
	setting.values[ITERATIONS] = ITERATIONS_OF_LEVEL;
	if (microbenchmark_set_level(setting.what, name, &s->sizes, setting.values, &unknown) < 0)
		return 0;
	if (run_level(s, &setting, capture, &level.cycles, err) < 0)
		return -1;
	level.loads = setting.values[ITERATIONS] + loads_of_warm_up(&setting);
	if (spe_level_read(&level, capture, catalog, err) < 0)
		return -1;
	*vec_add(&out->list) = level;
	return 0;
}

int spe_run(struct subject *s, const char *catalog, struct spe_levels *out, struct err *err)
{
	const char *temporary = getenv("TMPDIR"), *name;
	enum source_level source;
	char folder[PATH_MAX], capture[PATH_MAX + 16];
	int rc = 0;

	snprintf(folder, sizeof(folder), "%s/cyclops-spe-XXXXXX",
		 temporary != NULL ? temporary : "/tmp");
	if (mkdtemp(folder) == NULL)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot make the folder: %m", folder);
	snprintf(capture, sizeof(capture), "%s/perf.data", folder);
	for (size_t i = 0; (name = microbenchmark_level_name(i)) != NULL && rc == 0; i++)
		if (spe_level_source(name, &source))
			rc = read_level(s, name, source, capture, catalog, out, err);
	unlink(capture);
	rmdir(folder);
	return rc;
}
