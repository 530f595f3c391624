/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include <string.h>
#include <sys/utsname.h>

#include "session/guest_modules.h"
#include "session/jit_code.h"

/* The capture's architecture and machine decide which binaries may give names. */
static void set_symbols_options(struct session *s, const struct symbols_options *wanted)
{
	const struct info *info = capture_info(s->capture);
	const struct strings *strings = capture_strings(s->capture);
	const char *arch = strings_get(strings, info->arch);
	const char *host = strings_get(strings, info->hostname);
	struct utsname here;

	s->symbols_options = *wanted;
	s->symbols_options.info = info;
	s->symbols_options.info_strings = strings;
	if (arch[0] != '\0')
		s->symbols_options.arch = arch;
	if (uname(&here) == 0 && host[0] != '\0' && strcmp(here.nodename, host) == 0 &&
	    strcmp(here.machine, arch) == 0)
		s->symbols_options.use_this_machine = true;
}

const struct cpu *session_look_up_cpu_(const struct session *s, uint32_t number)
{
	uint64_t midr = capture_midr(s->capture, number);

	if (s->cpu_is_given || midr == 0)
		return s->cpu;
	return catalog_cpu_of_midr(s->catalog, midr);
}

static int session_find_cpu(struct session *s, const struct session_options *options,
			    struct err *err)
{
	if (options->cpu_name == NULL) {
		s->cpu = catalog_cpu_of_midr(s->catalog, capture_midr(s->capture, UINT32_MAX));
		return 0;
	}
	s->cpu = catalog_cpu_named(s->catalog, options->cpu_name, NULL, err);
	s->cpu_is_given = true;
	return s->cpu != NULL ? 0 : -1;
}

static int find_midr(const struct raw_options *raw, uint64_t *out, struct err *err)
{
	*out = 0;
	if (raw->midr == NULL)
		return 0;
	if (!raw->is_raw)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--midr %s: only a raw SPE buffer (--raw) lacks it; --cpu takes the "
			       "CPU of any "
			       "capture to be another",
			       raw->midr);
	if (midr_of_text(raw->midr, out) && *out != 0)
		return 0;
	return err_set(
		err, ERR_USAGE, ERR_NOWHERE,
		"--midr %s: no MIDR_EL1 in hexadecimal, such as 0x410fd0c1 (Neoverse N1 r0p1)",
		raw->midr);
}

int raw_options_open(const struct raw_options *raw, const char *path, struct capture **out,
		     struct err *err)
{
	uint64_t midr;

	if (find_midr(raw, &midr, err) < 0)
		return -1;
	return raw->is_raw ? capture_open_raw(path, midr, out, err) : capture_open(path, out, err);
}

static int open_capture(struct session *s, const struct session_options *options, struct err *err)
{
	uint64_t midr;

	if (options->bytes == NULL)
		return raw_options_open(&options->raw, options->path, &s->capture, err);
	if (find_midr(&options->raw, &midr, err) < 0)
		return -1;
	if (options->raw.is_raw)
		return capture_open_raw_bytes(options->path, options->bytes, options->n_bytes, midr,
					      &s->capture, err);
	return capture_open_bytes(options->path, options->bytes, options->n_bytes, &s->capture,
				  err);
}

static void find_intervals(struct session *s, uint64_t given)
{
	for (uint32_t i = 0; i <= SESSION_CPUS; i++) {
		uint32_t cpu = i < SESSION_CPUS ? i : UINT32_MAX;

		s->intervals[i] = spe_interval_recorded(s->capture, cpu, session_cpu_of(s, cpu));
		if (given != 0)
			s->intervals[i] = (struct spe_interval){ INTERVAL_GIVEN, false, given,
								 given,		 given, given };
	}
}

static void add_jit_code(struct session *s)
{
	struct diags diags = { 0 };

	jit_code_add(s->capture, s->timeline, &s->symbols_options, &diags);
	capture_add_diags(s->capture, &diags);
	diags_release(&diags);
}

/* Of a capture below that, what another worker saves is less than its tables take, and joining them. */
enum { SMALL_BYTES = 2 << 20 };

static bool is_small(const struct capture *c)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < capture_n_units(c) && bytes < SMALL_BYTES; i++)
		bytes += capture_unit_bytes(c, i);
	return bytes < SMALL_BYTES;
}

/* The part of the workers that this session has. */
static unsigned own_workers(const struct session_options *o)
{
	unsigned n_all = o->n_workers != 0 ? o->n_workers : pool_usual_size();

	return o->n_at_once > 1 ? (n_all + o->n_at_once - 1) / o->n_at_once : n_all;
}

int session_open(struct session *out, const struct session_options *options, struct err *err)
{
	struct session *s = out;

	*s = (struct session){
		.catalog_path = options->catalog_path,
		.raw = options->raw,
		.select = options->select,
		.interval_given = options->interval,
		.progress = options->progress,
	};
	if (catalog_open(options->catalog_path, &s->catalog, err) < 0)
		return -1;
	if (open_capture(s, options, err) < 0)
		return -1;
	s->path = options->bytes == NULL && strcmp(options->path, "-") == 0
			  ? "-"
			  : capture_path(s->capture);
	s->timeline = timeline_new();
	s->places = place_numbers_new();
	s->pool = pool_new(own_workers(options));
	capture_set_progress(s->capture, s->progress);
	capture_set_pool(s->capture, s->pool);
	if (capture_scan(s->capture, timeline_visit, s->timeline, err) < 0)
		return -1;
	set_symbols_options(s, &options->symbols);
	add_jit_code(s);
	if (capture_totals(s->capture)->n_guest_samples > 0 &&
	    guest_modules_add(s->timeline, &s->symbols_options, err) < 0)
		return -1;
	timeline_freeze(s->timeline, capture_info(s->capture), capture_strings(s->capture),
			s->pool);
	if (session_find_cpu(s, options, err) < 0)
		return -1;
	for (uint32_t i = 0; i < SESSION_CPUS; i++)
		s->cpus[i] = session_look_up_cpu_(s, i);
	find_intervals(s, options->interval);
	s->lost.is_unknown = capture_totals(s->capture)->n_aux_collision +
				     capture_totals(s->capture)->n_aux_truncated >
			     0;
	s->symbols = symbols_new(timeline_modules(s->timeline), &s->symbols_options);
	s->n_scanners = options->n_workers == 0 && is_small(s->capture) ? 1 : pool_size(s->pool);
	return 0;
}

void session_release(struct session *s)
{
	symbols_free(s->symbols);
	timeline_free(s->timeline);
	capture_free(s->capture);
	pool_free(s->pool);
	catalog_free(s->catalog);
	place_numbers_free(s->places);
	tuples_release(&s->frames);
	if (s->callers.free != NULL)
		s->callers.free(s->callers.of.context);
	*s = (struct session){ 0 };
}
