/* SPDX-License-Identifier: Apache-2.0 */
/* The head of the report: what ran, where, when, what was recorded and what was lost. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "report/report.h"
#include "scan/spe_filters.h"
#include "spe/names.h"

enum {
	SHOWN_EVENTS = 6,
	LITTLE_TIMES = 100, /* longer than the records: what they are of is little of the time */
};

static const struct column columns[] = {
	{ "name", NULL, "", CELL_TEXT, 0, "name of the fact" },
	{ "value", NULL, "", CELL_TEXT, COLUMN_GROW, "in words" },
};

/* A fact being put together. */
struct facts {
	const struct session *s;
	const struct hot *hot;
	const struct info *info;
	const struct strings *strings;
	const struct capture_totals *totals;
	struct table *out;
	struct text text;
};

static const char *string_of(const struct facts *f, struct str_id id)
{
	return strings_get(f->strings, id);
}

static void facts_counted(struct facts *f, uint64_t n, const char *unit)
{
	text_str(&f->text, table_human(f->out, cell_count(n), unit));
}

const struct process *facts_only_process(const struct timeline *timeline, size_t *out_n)
{
	const struct process *only = NULL;

	*out_n = 0;
	for (uint32_t i = 1; i < timeline_n_processes(timeline); i++) {
		const struct process *p = timeline_process(timeline, i);

		if (p->is_kernel)
			continue;
		only = p;
		++*out_n;
	}
	return only;
}

static void ran(struct facts *f)
{
	const struct timeline *timeline = f->s->timeline;
	size_t n;
	const struct process *only = facts_only_process(timeline, &n);

	if (f->info->command_line.v != 0)
		text_str(&f->text, string_of(f, f->info->command_line));
	table_fact(f->out, "command", &f->text);
	if (n == 1)
		text_format(&f->text, "%s (pid %" PRIu32 ", %" PRIu32 " thread%s)",
			    strings_get(timeline_strings(timeline), only->comm), only->pid,
			    only->n_threads, plural(only->n_threads));
	else if (n > 1)
		text_format(&f->text, "%zu processes", n);
	table_fact(f->out, "ran", &f->text);
}

void facts_cpu(const struct session *s, char *out, size_t size)
{
	uint64_t midr = capture_midr(s->capture, UINT32_MAX);

	if (s->cpu != NULL)
		snprintf(out, size, "%s", cpu_name(s->cpu));
	else if (midr != 0)
		midr_describe(s->catalog, midr, out, size);
	else
		snprintf(out, size, "%s",
			 strings_get(capture_strings(s->capture),
				     capture_info(s->capture)->cpu_desc));
}

static void machine(struct facts *f)
{
	char cpu[128];

	if (f->info->hostname.v != 0)
		text_str(&f->text, string_of(f, f->info->hostname));
	facts_cpu(f->s, cpu, sizeof(cpu));
	if (cpu[0] != '\0') {
		text_part(&f->text);
		text_str(&f->text, cpu);
		text_str(&f->text, f->s->cpu_is_given ? " (given by --cpu)" : "");
	}
	if (f->info->n_cpus_online > 0) {
		text_part(&f->text);
		text_format(&f->text, "%" PRIu32 " cpu%s", f->info->n_cpus_online,
			    plural(f->info->n_cpus_online));
	}
	if (f->info->arch.v != 0) {
		text_part(&f->text);
		text_str(&f->text, string_of(f, f->info->arch));
	}
	if (f->info->os_release.v != 0) {
		text_part(&f->text);
		text_format(&f->text, "Linux %s", string_of(f, f->info->os_release));
	}
	table_fact(f->out, "machine", &f->text);
}

struct facts_span facts_span(const struct session *s)
{
	const struct capture_totals *t = capture_totals(s->capture);
	struct facts_span span = { s->first_ns, s->last_ns };

	if (s->select != NULL)
		return span;
	if (t->first_ns != 0 && (span.first_ns == 0 || t->first_ns < span.first_ns))
		span.first_ns = t->first_ns;
	if (t->last_ns > span.last_ns)
		span.last_ns = t->last_ns;
	return span;
}

bool facts_are_of_little(const struct session *s)
{
	struct facts_span span = facts_span(s);

	return s->select == NULL && capture_spe(s->capture)->is_present &&
	       s->last_ns > s->first_ns &&
	       (s->last_ns - s->first_ns) * LITTLE_TIMES < span.last_ns - span.first_ns;
}

/* The wall clock is known only where the capture ties it to the events' clock. */
static void recorded(struct facts *f)
{
	struct facts_span span = facts_span(f->s);
	char date[64];
	struct tm tm;

	if (f->info->wall_clock_ns != 0) {
		uint64_t start = f->info->wall_clock_ns + (span.first_ns - f->info->clock_time_ns);
		time_t seconds = (time_t)(start / 1000000000);

		if (gmtime_r(&seconds, &tm) != NULL &&
		    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
			text_str(&f->text, date);
	}
	if (span.last_ns > span.first_ns) {
		text_part(&f->text);
		facts_counted(f, span.last_ns - span.first_ns, "ns");
	}
	table_fact(f->out, "recorded", &f->text);
}

static void samples(struct facts *f)
{
	size_t n = capture_n_events(f->s->capture);
	size_t shown = 0;

	if (f->totals->n_samples == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct attr *a = &capture_event(f->s->capture, i)->attr;

		if (capture_is_trace(f->s->capture, i))
			continue;
		if (shown++ == SHOWN_EVENTS)
			break;
		text_part(&f->text);
		text_str(&f->text, capture_event_name(f->s->capture, i));
		if (a->sample_period == 0)
			continue;
		text_format(&f->text,
			    attr_has(a, ATTR_FREQ) ? " at %" PRIu64 " Hz" : " every %" PRIu64,
			    a->sample_period);
	}
	if (shown > SHOWN_EVENTS)
		text_format(&f->text, " and more (%zu events)", n);
	text_str(&f->text, ": ");
	facts_counted(f, f->totals->n_samples, "samples");
	table_fact(f->out, "samples", &f->text);
}

static void spe(struct facts *f)
{
	const struct spe_info *spe_info = capture_spe(f->s->capture);

	if (!spe_info->is_present)
		return;
	if (f->totals->n_auxtrace == 0) {
		text_str(&f->text, "requested, but the capture has no trace data");
		table_fact(f->out, "SPE", &f->text);
		return;
	}
	facts_counted(f, hot_n_spe_records(f->hot), "records");
	if (spe_interval_common(f->s).mean > 0 || spe_interval_varies(f->s)) {
		text_part(&f->text);
		spe_intervals_text(f->s, &f->text);
	}
	if (spe_info->event >= 0)
		spe_filters_text(f->s, &f->text);
	table_fact(f->out, "SPE", &f->text);
}

/* Without jitter a loop that is in step with the interval shows the same few instructions. */
static void jitter(struct facts *f)
{
	if (f->totals->n_auxtrace == 0 || !spe_lacks_jitter(f->s->capture))
		return;
	text_str(&f->text, "none: loops in step with the interval are over- or undercounted "
			   "(cyclops quality)");
	table_fact(f->out, "jitter", &f->text);
}

static void loss(struct facts *f, uint64_t n, const char *unit, const char *what)
{
	if (n == 0)
		return;
	text_part(&f->text);
	facts_counted(f, n, unit);
	text_char(&f->text, ' ');
	text_str(&f->text, what);
}

static void put_losses(struct facts *f)
{
	const struct capture_totals *t = f->totals;
	uint64_t unread = diags_bytes(capture_diags(f->s->capture), DIAG_LOSS);

	loss(f, t->n_lost_events, "records", "did not fit into the ring buffer");
	loss(f, t->n_lost_samples, "samples", "lost");
	loss(f, t->n_aux_truncated, "times", "the SPE buffer was full");
	loss(f, t->n_aux_collision, "times", "SPE samples collided (interval too short)");
	loss(f, t->n_throttled, "times", "sampling was throttled");
	loss(f, t->missing_bytes, "bytes", "are missing, the file was cut off");
	loss(f, unread, "bytes", "of the file could not be read");
}

static void lost(struct facts *f)
{
	put_losses(f);
	if (f->text.n == 0)
		text_str(&f->text, "nothing");
	table_fact(f->out, "lost", &f->text);
}

/* Traces of other kinds are whole, but not for us. */
static void not_decoded(struct facts *f)
{
	uint64_t bytes = capture_other_trace_bytes(f->s->capture);

	if (bytes == 0)
		return;
	text_part(&f->text);
	capture_other_trace_names(f->s->capture, &f->text);
	text_str(&f->text, ", ");
	facts_counted(f, bytes, "bytes");
	table_fact(f->out, "not decoded", &f->text);
}

static void share_unknown(struct facts *f, uint64_t n, const char *what)
{
	uint64_t all = f->s->attribution.n_rows;

	if (n == 0 || all == 0)
		return;
	text_part(&f->text);
	text_format(&f->text, "%.1f %% %s", 100.0 * (double)n / (double)all, what);
}

static void unknown(struct facts *f)
{
	const struct attribution_totals *a = &f->s->attribution;

	share_unknown(f, a->n_without_tid, "without thread");
	share_unknown(f, a->n_without_process, "without process");
	share_unknown(f, a->n_without_place, "outside known modules");
	table_fact(f->out, "unknown", &f->text);
}

static struct facts facts_of(const struct session *s, const struct hot *hot, struct table *out)
{
	return (struct facts){
		.s = s,
		.hot = hot,
		.info = capture_info(s->capture),
		.strings = capture_strings(s->capture),
		.totals = capture_totals(s->capture),
		.out = out,
	};
}

const char *facts_lost(const struct session *s, struct table *t)
{
	struct facts f = facts_of(s, NULL, t);
	const char *words = NULL;

	put_losses(&f);
	if (f.text.n > 0) {
		text_char(&f.text, '\0');
		words = table_text(t, f.text.bytes);
	}
	text_release(&f.text);
	return words;
}

/* "demo, 1 thread", "3 processes" */
static void put_processes(struct facts *f)
{
	size_t n;
	const struct process *only = facts_only_process(f->s->timeline, &n);

	if (n == 0)
		return;
	text_part(&f->text);
	if (n == 1)
		text_format(&f->text, "%s, %" PRIu32 " thread%s",
			    strings_get(timeline_strings(f->s->timeline), only->comm),
			    only->n_threads, plural(only->n_threads));
	else
		text_format(&f->text, "%zu processes", n);
}

void facts_brief_table(const struct session *s, const struct hot *hot, struct table *out)
{
	struct facts f = facts_of(s, hot, out);
	struct facts_span span = facts_span(s);
	const char *lost_words;

	table_init(out, "about", NULL, columns, COUNT(columns));
	if (capture_spe(s->capture)->is_present && f.totals->n_auxtrace > 0) {
		facts_counted(&f, hot_n_spe_records(hot), "SPE records");
		if (spe_interval_varies(s))
			text_str(&f.text, " (intervals differ between CPUs)");
		else if (spe_interval_common(s).mean > 0)
			text_format(&f.text, " (1 in %s)",
				    table_human(out,
						cell_count((uint64_t)spe_interval_common(s).mean),
						"operations"));
	}
	if (f.totals->n_samples > 0) {
		text_part(&f.text);
		facts_counted(&f, f.totals->n_samples, "samples");
	}
	text_part(&f.text);
	lost_words = facts_lost(s, out);
	text_str(&f.text, lost_words == NULL ? "nothing lost" : "lost: ");
	text_str(&f.text, lost_words == NULL ? "" : lost_words);
	if (span.last_ns > span.first_ns) {
		text_part(&f.text);
		if (facts_are_of_little(s))
			text_format(&f.text, "records of %s in ",
				    table_human(out, cell_count(s->last_ns - s->first_ns), "ns"));
		facts_counted(&f, span.last_ns - span.first_ns, "ns");
	}
	put_processes(&f);
	if (s->cpu != NULL)
		text_format(&f.text, ", %s", cpu_name(s->cpu));
	text_char(&f.text, '\0');
	table_note(out, "%s", f.text.bytes);
	text_release(&f.text);
}

void facts_table(const struct session *s, const struct hot *hot, struct table *out)
{
	struct facts f = facts_of(s, hot, out);

	table_init(out, "capture", NULL, columns, COUNT(columns));
	out->style = TABLE_FACTS;
	out->readers = TABLE_FOR_PEOPLE;
	ran(&f);
	machine(&f);
	recorded(&f);
	samples(&f);
	spe(&f);
	jitter(&f);
	lost(&f);
	not_decoded(&f);
	unknown(&f);
	text_release(&f.text);
}
