/* SPDX-License-Identifier: Apache-2.0 */
/* What ran, where, when, what was recorded and what was lost: the facts of header.c for programs. */
#include <stdio.h>

#include "base/alloc.h"
#include "report/report.h"
#include "scan/spe_filters.h"

enum column_index {
	COMMAND,
	PROCESSES,
	PROCESS,
	PID,
	THREADS,
	HOST,
	CPU,
	CPU_IS_GIVEN,
	CPUS,
	ARCH,
	KERNEL,
	START,
	DURATION,
	SAMPLES,
	SPE_RECORDS,
	SPE_INTERVAL,
	SPE_INTERVALS_DIFFER,
	SPE_JITTER,
	SPE_IS_FILTERED,
	SPE_LEAST_CYCLES,
	LOST_RECORDS,
	LOST_SAMPLES,
	FULL_BUFFERS,
	COLLISIONS,
	THROTTLED,
	MISSING,
	UNREAD,
	OTHER_TRACE,
	OTHER_TRACE_BYTES,
	NO_THREAD,
	NO_PROCESS,
	NO_MODULE,
	N_COLUMNS,
};

#define FACT(name, unit, type, flags, meaning)                                                     \
	{                                                                                          \
		name, NULL, unit, type, flags, meaning                                             \
	}

static const struct column columns[N_COLUMNS] = {
	[COMMAND] = FACT("command", "", CELL_TEXT, 0, "that recorded"),
	[PROCESSES] = FACT("processes", "", CELL_COUNT, 0, "of programs, the kernel's left out"),
	[PROCESS] = FACT("process", "", CELL_TEXT, 0, "its name, if there is one"),
	[PID] = FACT("pid", "", CELL_COUNT, 0, "its number, if there is one"),
	[THREADS] = FACT("threads", "", CELL_COUNT, 0, "of that process"),
	[HOST] = FACT("host", "", CELL_TEXT, 0, "machine that recorded"),
	[CPU] = FACT("cpu", "", CELL_TEXT, 0, "what its CPU is called"),
	[CPU_IS_GIVEN] = FACT("cpu_is_given", "", CELL_BOOL, 0, "by --cpu, not by the capture"),
	[CPUS] = FACT("cpus", "", CELL_COUNT, 0, "that were online"),
	[ARCH] = FACT("arch", "", CELL_TEXT, 0, "architecture, as uname says it"),
	[KERNEL] = FACT("kernel", "", CELL_TEXT, 0, "release of the kernel"),
	[START] = FACT("start_ns", "ns", CELL_COUNT, 0,
		       "wall clock of the first event, since 1970 UTC"),
	[DURATION] = FACT("duration_ns", "ns", CELL_COUNT, 0, "from the first event to the last"),
	[SAMPLES] = FACT("samples", "samples", CELL_COUNT, 0, "of PMU and kernel events"),
	[SPE_RECORDS] = FACT("spe_records", "records", CELL_COUNT, 0,
			     "of SPE that were read; absent: SPE was not recorded"),
	[SPE_INTERVAL] = FACT("spe_interval", "operations", CELL_COUNT, 0,
			      "one record in so many; absent: not known, or CPUs differ"),
	[SPE_INTERVALS_DIFFER] =
		FACT("spe_intervals_differ", "", CELL_BOOL, 0, "between CPUs with SPE data"),
	[SPE_JITTER] = FACT("spe_has_jitter", "", CELL_BOOL, 0,
			    "without, code in step with the interval is sampled wrongly"),
	[SPE_IS_FILTERED] = FACT("spe_is_filtered", "", CELL_BOOL, 0,
				 "operations were dropped by kind, event or latency"),
	[SPE_LEAST_CYCLES] = FACT("spe_least_cycles", "cycles", CELL_COUNT, 0,
				  "latency below which operations were dropped; 0: none"),
	[LOST_RECORDS] =
		FACT("lost_records", "records", CELL_COUNT, 0, "did not fit into the ring buffer"),
	[LOST_SAMPLES] = FACT("lost_samples", "samples", CELL_COUNT, 0, "dropped by the kernel"),
	[FULL_BUFFERS] = FACT("full_buffers", "times", CELL_COUNT, 0, "the SPE buffer was full"),
	[COLLISIONS] =
		FACT("collisions", "times", CELL_COUNT, 0, "buffers in which SPE samples collided"),
	[THROTTLED] = FACT("throttled", "times", CELL_COUNT, 0, "sampling was throttled"),
	[MISSING] = FACT("missing_bytes", "bytes", CELL_COUNT, 0, "that the file was cut short by"),
	[UNREAD] = FACT("unread_bytes", "bytes", CELL_COUNT, 0, "that could not be read"),
	[OTHER_TRACE] = FACT("other_trace", "", CELL_TEXT, 0, "kind of trace that is not decoded"),
	[OTHER_TRACE_BYTES] = FACT("other_trace_bytes", "bytes", CELL_COUNT, 0, "of that trace"),
	[NO_THREAD] = FACT("unknown_thread_share", "", CELL_NUMBER, COLUMN_SHARE,
			   "of records and samples"),
	[NO_PROCESS] = FACT("unknown_process_share", "", CELL_NUMBER, COLUMN_SHARE,
			    "of records and samples"),
	[NO_MODULE] = FACT("unknown_module_share", "", CELL_NUMBER, COLUMN_SHARE,
			   "of records and samples"),
};

static const struct column sampled_columns[] = {
	FACT("event", "", CELL_TEXT, 0, "that was sampled"),
	FACT("period", "events", CELL_COUNT, 0, "from one sample to the next"),
	FACT("frequency_hz", "Hz", CELL_COUNT, 0, "of samples that the kernel aimed at"),
};

static struct cell recorded_text(struct table *t, const struct capture *c, struct str_id id)
{
	return id.v == 0 ? (struct cell){ 0 }
			 : table_text_cell(t, strings_get(capture_strings(c), id));
}

static void put_processes(const struct session *s, struct table *t, struct cell *row)
{
	const struct process *only;
	size_t n;

	only = facts_only_process(s->timeline, &n);
	row[PROCESSES] = cell_count(n);
	if (n != 1)
		return;
	row[PROCESS] = table_text_cell(t, strings_get(timeline_strings(s->timeline), only->comm));
	row[PID] = cell_count(only->pid);
	row[THREADS] = cell_count(only->n_threads);
}

static void put_machine(const struct session *s, struct table *t, struct cell *row)
{
	const struct info *info = capture_info(s->capture);
	char cpu[128];

	row[HOST] = recorded_text(t, s->capture, info->hostname);
	facts_cpu(s, cpu, sizeof(cpu));
	if (cpu[0] != '\0')
		row[CPU] = table_text_cell(t, cpu);
	row[CPU_IS_GIVEN] = cell_bool(s->cpu_is_given);
	if (info->n_cpus_online > 0)
		row[CPUS] = cell_count(info->n_cpus_online);
	row[ARCH] = recorded_text(t, s->capture, info->arch);
	row[KERNEL] = recorded_text(t, s->capture, info->os_release);
}

static void put_spe(const struct session *s, const struct hot *hot, struct cell *row)
{
	uint64_t mean = spe_interval_common(s).mean;

	if (!capture_spe(s->capture)->is_present)
		return;
	row[SPE_RECORDS] = cell_count(hot_n_spe_records(hot));
	if (mean > 0)
		row[SPE_INTERVAL] = cell_count(mean);
	row[SPE_INTERVALS_DIFFER] = cell_bool(spe_interval_varies(s));
	row[SPE_JITTER] = cell_bool(!spe_lacks_jitter(s->capture));
	row[SPE_IS_FILTERED] = cell_bool(spe_filters_hide(s));
	row[SPE_LEAST_CYCLES] = cell_count(spe_filters_least_cycles(s));
}

static struct cell other_trace_cell(const struct session *s, struct table *out)
{
	struct text names = { 0 };
	struct cell cell;

	capture_other_trace_names(s->capture, &names);
	text_char(&names, '\0');
	cell = table_text_cell(out, names.bytes);
	text_release(&names);
	return cell;
}

static void put_losses(const struct session *s, struct table *out, struct cell *row)
{
	const struct capture_totals *t = capture_totals(s->capture);
	uint64_t other = capture_other_trace_bytes(s->capture);

	row[LOST_RECORDS] = cell_count(t->n_lost_events);
	row[LOST_SAMPLES] = cell_count(t->n_lost_samples);
	row[FULL_BUFFERS] = cell_count(t->n_aux_truncated);
	row[COLLISIONS] = cell_count(t->n_aux_collision);
	row[THROTTLED] = cell_count(t->n_throttled);
	row[MISSING] = cell_count(t->missing_bytes);
	row[UNREAD] = cell_count(diags_bytes(capture_diags(s->capture), DIAG_LOSS));
	if (other > 0)
		row[OTHER_TRACE] = other_trace_cell(s, out);
	row[OTHER_TRACE_BYTES] = cell_count(other);
}

static struct cell capture_share_cell(uint64_t n, uint64_t all)
{
	return all == 0 ? (struct cell){ 0 } : cell_number((double)n / (double)all);
}

void capture_table(const struct session *s, const struct hot *hot, struct table *out)
{
	const struct info *info = capture_info(s->capture);
	const struct attribution_totals *a = &s->attribution;
	struct facts_span span = facts_span(s);
	struct cell *row;

	table_init(out, "capture", NULL, columns, COUNT(columns));
	out->readers = TABLE_FOR_PROGRAMS;
	row = table_add_row(out);
	row[COMMAND] = recorded_text(out, s->capture, info->command_line);
	put_processes(s, out, row);
	put_machine(s, out, row);
	if (info->wall_clock_ns != 0)
		row[START] =
			cell_count(info->wall_clock_ns + (span.first_ns - info->clock_time_ns));
	if (span.last_ns > span.first_ns)
		row[DURATION] = cell_count(span.last_ns - span.first_ns);
	row[SAMPLES] = cell_count(capture_totals(s->capture)->n_samples);
	put_spe(s, hot, row);
	put_losses(s, out, row);
	row[NO_THREAD] = capture_share_cell(a->n_without_tid, a->n_rows);
	row[NO_PROCESS] = capture_share_cell(a->n_without_process, a->n_rows);
	row[NO_MODULE] = capture_share_cell(a->n_without_place, a->n_rows);
}

void sampled_table(const struct session *s, struct table *out)
{
	size_t n = capture_n_events(s->capture);

	table_init(out, "sampled_events", NULL, sampled_columns, COUNT(sampled_columns));
	out->readers = TABLE_FOR_PROGRAMS;
	for (size_t i = 0; i < n; i++) {
		const struct attr *a = &capture_event(s->capture, i)->attr;
		struct cell *row;

		if (capture_is_trace(s->capture, i))
			continue;
		row = table_add_row(out);
		row[0] = table_text_cell(out, capture_event_name(s->capture, i));
		if (a->sample_period != 0)
			row[attr_has(a, ATTR_FREQ) ? 2 : 1] = cell_count(a->sample_period);
	}
}
