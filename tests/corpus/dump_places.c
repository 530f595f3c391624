/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints where the samples of a capture were taken: thread, name, module. For scripts that
 * compare with perf.
 *
 *	dump_places FILE	one line for each sample or SPE record
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "process/attribution.h"

struct dump {
	struct capture *capture;
	struct timeline *timeline;
	struct place_numbers *places;
	struct attribution *attribution;
	struct text out;
};

/* The name perf prints: kernel modules and JIT code by their short one. */
static const char *module_name(const struct dump *d, const struct batch *b, size_t row)
{
	const struct modules *modules = timeline_modules(d->timeline);
	struct place place = place_numbers_get(d->places, b->place[row]);
	const struct module *m = modules_get(modules, place.module);

	if (m->kind == MODULE_UNKNOWN)
		return "[unknown]";
	if (m->kind == MODULE_KERNEL_MODULE || m->kind == MODULE_JIT)
		return strings_get(modules->strings, m->name);
	return strings_get(modules->strings, m->path);
}

static uint64_t row_time(const struct dump *d, const struct batch *b, size_t row)
{
	if (timeline_is_by_position(d->timeline))
		return b->position[row];
	return b->has[row] & HAS_TIME ? b->time_ns[row] : TIMELINE_NO_TIME;
}

/* The thread's name, or what perf prints for want of one: ":" and the thread's number. */
static void add_comm(struct dump *d, const struct batch *b, size_t row)
{
	uint64_t time_ns = row_time(d, b, row);
	int64_t tid = b->has[row] & HAS_TID ? (int64_t)(int32_t)b->tid[row] : -1;
	struct str_id name = timeline_comm(d->timeline, (uint32_t)tid, time_ns);

	if (name.v == 0)
		text_format(&d->out, ":%" PRId64, tid);
	else
		text_str(&d->out, strings_get(timeline_strings(d->timeline), name));
}

static void add_row(struct dump *d, const struct batch *b, size_t row)
{
	text_format(&d->out, "%" PRId64 "|%" PRId64 "|%" PRIu64 "|%" PRIx64 "|",
		    b->has[row] & HAS_PID ? (int64_t)(int32_t)b->pid[row] : -1,
		    b->has[row] & HAS_TID ? (int64_t)(int32_t)b->tid[row] : -1,
		    b->has[row] & HAS_TIME ? b->time_ns[row] : 0,
		    b->has[row] & HAS_PC ? b->pc[row] : 0);
	add_comm(d, b, row);
	text_format(&d->out, "|%s\n", module_name(d, b, row));
}

static void dump_units(struct dump *d)
{
	struct unit_reader *reader = unit_reader_new(d->capture);
	struct batch *b = batch_new();

	for (size_t unit = 0; unit < capture_n_units(d->capture); unit++) {
		unit_reader_start(reader, unit);
		while (unit_reader_next(reader, b)) {
			attribution_apply(d->attribution, b);
			for (size_t row = 0; row < b->n; row++)
				add_row(d, b, row);
			fwrite(d->out.bytes, 1, d->out.n, stdout);
			text_reset(&d->out);
		}
	}
	batch_free(b);
	unit_reader_free(reader);
}

static void print_totals(const struct dump *d)
{
	const struct attribution_totals *n = attribution_totals(d->attribution);

	fprintf(stderr, "rows %" PRIu64 ", by context %" PRIu64 ", switch %" PRIu64, n->n_rows,
		n->n_by_context, n->n_by_switch);
	fprintf(stderr, ", buffer %" PRIu64 ", record %" PRIu64, n->n_by_buffer, n->n_by_record);
	fprintf(stderr, "; without tid %" PRIu64 ", process %" PRIu64, n->n_without_tid,
		n->n_without_process);
	fprintf(stderr, ", place %" PRIu64 ", time %" PRIu64 "\n", n->n_without_place,
		n->n_without_time);
}

int main(int argc, char **argv)
{
	struct dump d = { .timeline = timeline_new(), .places = place_numbers_new() };
	struct err err = { 0 };
	int rc = 1;

	if (argc != 2) {
		fprintf(stderr, "usage: dump_places FILE\n");
		goto out;
	}
	if (capture_open(argv[1], &d.capture, &err) < 0 ||
	    capture_scan(d.capture, timeline_visit, d.timeline, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		goto out;
	}
	timeline_freeze(d.timeline, capture_info(d.capture), capture_strings(d.capture), NULL);
	d.attribution = attribution_new(d.timeline, d.places);
	dump_units(&d);
	print_totals(&d);
	rc = 0;
out:
	attribution_free(d.attribution);
	place_numbers_free(d.places);
	timeline_free(d.timeline);
	capture_free(d.capture);
	text_release(&d.out);
	return rc;
}
