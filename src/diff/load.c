/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/load.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/pool.h"
#include "cli/command.h"
#include "cpu/event_name.h"
#include "estimate/stat_record.h"
#include "metrics/cpu_choice.h"
#include "run/command.h"

/* A capture that was read, until what is wrong with it is said. */
struct read_capture {
	struct mapped stream; /* what it is read from, if that is no file */
	struct session session;
	struct select *select;
	int status; /* for the diagnostics */
};

/* A run that is loaded, beside another one. */
struct run {
	const struct loader *loader;
	struct input_options input;
	const char *path; /* NULL: there is none */
	struct measures *measures;
	VEC_OF(struct read_capture *) captures;
	const atomic_bool *is_over; /* the run before failed, so nobody wants this one */
	struct err err;
	int rc;
};

/*
 * Sharing is compared if --by asks for it; by default only in SPE captures, which name data
 * sources.
 */
static bool wants_shared(const struct loader *l, const struct session *s)
{
	return l->kinds >> MEASURE_SHARED & 1 &&
	       (l->kinds_are_given || capture_spe(s->capture)->is_present);
}

/* Evaluates the metrics of the CPU that --cpu names, else of the CPU that the counts name. */
static int measure_counts(const struct loader *l, struct counts *counts, struct measures *out,
			  struct err *err)
{
	struct catalog *catalog = NULL;
	struct cpu_pmu *pmu = NULL;
	uint64_t midr = counts->midr;
	const struct cpu *cpu;
	int rc = catalog_open(l->input->catalog, &catalog, err);

	if (rc == 0) {
		cpu = l->input->cpu != NULL ? catalog_cpu_named(catalog, l->input->cpu, &midr, err)
					    : stat_cpu(catalog, counts);
		rc = cpu == NULL ? -1 : cpu_pmu_open(catalog, cpu, midr, &pmu, err);
	}
	if (rc == 0) {
		counts_name(counts, pmu);
		measures_of_counts(counts, pmu, out);
		if (l->kinds >> MEASURE_CYCLES & 1)
			rc = measures_add_cycles_of_counts(counts, pmu, l->accounting, out, err);
	}
	cpu_pmu_free(pmu);
	catalog_free(catalog);
	return rc;
}

static int load_counts(struct run *run, const char *path, const struct mapped *file)
{
	struct counts counts = { 0 };
	int rc = counts_read(file->bytes, file->size, path, &counts, &run->err);

	if (rc == 0)
		rc = measure_counts(run->loader, &counts, run->measures, &run->err);
	else
		err_within(&run->err, "%s: not a capture, a baseline or counts", path);
	counts_release(&counts);
	return rc;
}

/* Of a capture that has nothing else. */
static int load_recorded_counts(struct run *run, const char *path, const struct mapped *stream)
{
	struct mapped file = { 0 };
	int rc;

	if (stream->bytes != NULL)
		return load_counts(run, path, stream);
	rc = mapped_open(&file, path, &run->err);
	if (rc == 0)
		rc = load_counts(run, path, &file);
	mapped_release(&file);
	return rc;
}

/* A file of `perf stat record` alone: nothing was sampled. */
static bool is_of_counts(const struct session *s)
{
	const struct capture_totals *totals = capture_totals(s->capture);

	return totals->by_type[RECORD_STAT] > 0 && totals->n_samples + totals->n_auxtrace == 0;
}

static int measure_capture(struct run *run, struct session *s, const struct select *select)
{
	const struct loader *l = run->loader;
	struct shared_scan first = { 0 };
	struct c2c sharing = { 0 };
	bool with_shared = wants_shared(l, s);
	int rc = 0;

	if (with_shared)
		rc = c2c_begin(&sharing, s, &measures_shared_request, &first, &run->err);
	if (rc == 0)
		measures_of_session(s, select, l->kinds, &first, run->measures);
	if (rc == 0 && with_shared)
		rc = measures_add_shared(&sharing, select, run->measures, &run->err);
	if (rc == 0 && l->kinds >> MEASURE_CYCLES & 1)
		rc = measures_add_cycles(s, select, l->accounting, run->measures, &run->err);
	shared_scan_release(&first);
	c2c_release(&sharing);
	return rc;
}

/* `stream` is empty, or what was read from that path, which gives it once. It is released with the capture. */
static int load_capture(struct run *run, const char *path, struct mapped stream)
{
	const struct arguments arguments = { .items = (const char *[]){ path }, .n = 1 };
	struct read_capture *c = mem_zalloc(1, sizeof(*c));
	struct measures *out = run->measures;
	struct input_options input = run->input;
	bool has_counts;
	int rc;

	*vec_add(&run->captures) = c;
	c->stream = stream;
	c->status = EXIT_DONE;
	input.bytes = stream.bytes;
	input.n_bytes = stream.size;
	rc = open_input(&input, &arguments, &c->session, &c->select, &run->err);
	has_counts = rc == 0 && strcmp(path, "-") != 0 && is_of_counts(&c->session);
	if (rc == 0 && atomic_load(run->is_over))
		return 0;
	if (has_counts)
		return load_recorded_counts(run, path, &c->stream);
	if (rc == 0 && strcmp(path, "-") != 0 && stream.bytes == NULL)
		out->capture_path = arena_strndup(&out->memory, path, strlen(path));
	if (rc == 0)
		rc = measure_capture(run, &c->session, c->select);
	if (rc < 0)
		c->status = EXIT_FAILED;
	return rc;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int load_file(struct run *run, const char *path)
{
	struct mapped file = { 0 };
	int rc;

	if (mapped_open(&file, path, &run->err) < 0)
		return -1;
	if (measures_is_baseline((const char *)file.bytes, file.size)) {
		rc = measures_read((const char *)file.bytes, file.size, path, run->measures,
				   &run->err);
	} else if ((run->input.raw.is_raw && (file.size > 0 || is_file(path))) ||
		   capture_begins(file.bytes, file.size)) {
		if (is_file(path)) /* opened as one, what was read of it is forgotten on the way */
			mapped_release(&file);
		return load_capture(run, path, file);
	} else {
		rc = load_counts(run, path, &file);
	}
	mapped_release(&file);
	return rc;
}

/* Loads the counts and the capture of a folder that `cyclops run` wrote; either may be missing. */
static int load_folder(struct run *run, const char *counts, const char *capture)
{
	if (access(counts, F_OK) == 0 && load_file(run, counts) < 0)
		return -1;
	return access(capture, F_OK) == 0 ? load_capture(run, capture, (struct mapped){ 0 }) : 0;
}

static int load_measures(struct run *run)
{
	const char *path = run->path;
	char *counts, *capture;
	int rc;

	run->measures->origin = path;
	if (strcmp(path, "-") == 0)
		return load_capture(run, path, (struct mapped){ 0 });
	if (!is_folder(path))
		return load_file(run, path);
	counts = path_join(path, RUN_COUNTS);
	capture = path_join(path, RUN_CAPTURE);
	if (access(counts, F_OK) < 0 && access(capture, F_OK) < 0)
		rc = load_capture(run, path,
				  (struct mapped){ 0 }); /* a capture that is a directory */
	else
		rc = load_folder(run, counts, capture);
	free(counts);
	free(capture);
	return rc;
}

/* Both runs. */
struct runs {
	struct run list[2];
	bool are_at_once; /* then they are released at once, too: there is much to unmap */
	atomic_bool has_failed;
};

static void load_one(void *context, size_t i, unsigned worker)
{
	struct runs *runs = context;
	struct run *run = &runs->list[i];

	(void)worker;
	if (run->path != NULL && !atomic_load(&runs->has_failed))
		run->rc = load_measures(run);
}

static void release_captures(struct run *run)
{
	for (size_t k = 0; k < run->captures.n; k++) {
		struct read_capture *c = run->captures.items[k];

		release_input(&c->session, c->select);
		mapped_release(&c->stream);
		free(c);
	}
	vec_release(&run->captures);
}

static void release_one(void *context, size_t i, unsigned worker)
{
	struct runs *runs = context;

	(void)worker;
	release_captures(&runs->list[i]);
}

/* Says what is wrong with the captures, of A before B; of B nothing where A failed. */
static void close_one(void *context, size_t i, unsigned worker)
{
	struct runs *runs = context;
	struct run *run = &runs->list[i];

	(void)worker;
	for (size_t k = 0; k < run->captures.n && !atomic_load(&runs->has_failed); k++)
		print_diagnostics(&run->captures.items[k]->session, run->captures.items[k]->status);
	if (!runs->are_at_once)
		release_captures(run);
	if (run->rc < 0)
		atomic_store(&runs->has_failed, true);
}

/* How much there is to read; 0: not known. */
static uint64_t bytes_of_run(const char *path)
{
	struct stat st;
	char *capture;
	int rc;

	if (path == NULL || strcmp(path, "-") == 0)
		return 0;
	if (!is_folder(path)) {
		rc = stat(path, &st);
	} else {
		capture = path_join(path, RUN_CAPTURE);
		rc = stat(capture, &st);
		free(capture);
	}
	return rc == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/*
 * Runs of about the same size are loaded at the same time, by half of the threads each: then nobody waits where one of them
 * leaves work to one thread, and less is to be joined.
 */
static bool are_alike(const char *a, const char *b)
{
	uint64_t of_a = bytes_of_run(a), of_b = bytes_of_run(b);

	return of_a > 0 && of_b > 0 && of_a / 2 <= of_b && of_b / 2 <= of_a;
}

int load_runs(const struct loader *l, const char *a, const char *b, struct measures *from,
	      struct measures *to, struct err *err)
{
	bool at_once = l->input->n_workers != 1 && are_alike(a, b);
	struct run run = { .loader = l, .input = *l->input };
	struct pool *pool = pool_new(at_once ? 2 : 1);
	struct runs runs = { .are_at_once = at_once };
	int rc = 0;

	run.is_over = &runs.has_failed;
	run.input.n_at_once = at_once ? 2 : 1;
	for (size_t i = 0; i < COUNT(runs.list); i++) {
		runs.list[i] = run;
		runs.list[i].path = i == 0 ? a : b;
		runs.list[i].measures = i == 0 ? from : to;
	}
	runs.list[1].input.is_quiet |= at_once; /* progress is shown of one */
	pool_run_ordered(pool, COUNT(runs.list), COUNT(runs.list), load_one, close_one, &runs);
	if (at_once)
		pool_run(pool, COUNT(runs.list), release_one, &runs);
	pool_free(pool);
	for (size_t i = 0; i < COUNT(runs.list) && rc == 0; i++) {
		rc = runs.list[i].rc;
		if (rc < 0)
			*err = runs.list[i].err;
	}
	return rc;
}
