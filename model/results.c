/* SPDX-License-Identifier: Apache-2.0 */
#include "model/results.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/events.h"

static void json_events(struct text *out, const struct counts *counts, uint64_t time_ns)
{
	for (size_t i = 0; i < n_modelled_events; i++)
		text_format(out,
			    "%s\n\"%s\":{\"count\":%" PRIu64 ",\"enabled_ns\":%" PRIu64
			    ",\"running_ns\":%" PRIu64 "}",
			    i > 0 ? "," : "", modelled_events[i].name,
			    modelled_event_sum(&modelled_events[i], counts), time_ns, time_ns);
}

void results_string(struct text *out, const char *text)
{
	text_char(out, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			text_char(out, '\\');
		if ((unsigned char)*text < 0x20)
			text_format(out, "\\u%04x", (unsigned char)*text);
		else
			text_char(out, *text);
	}
	text_char(out, '"');
}

/* The head of all files: that this is a model, of which CPU, with which settings. */
static void json_head(struct text *out, const struct config *c)
{
	text_str(out, "{\"schema\":1,\"modelled\":true,\"model\":");
	results_string(out, c->model);
	text_str(out, ",\"cyclops\":");
	results_string(out, c->version);
	text_str(out, ",\"program\":");
	results_string(out, c->name);
	text_format(out,
		    ",\"midr\":\"0x%08x\",\"seed\":%" PRIu64 ",\"interval\":%u,\"jitter\":%s,\n",
		    c->params.midr, c->seed, c->sampling.interval,
		    c->sampling.has_jitter ? "true" : "false");
}

/* Fails if the file cannot be written. Creates it if it does not exist. */
static int check_path(const char *path, struct err *err)
{
	FILE *file = path != NULL ? fopen(path, "ae") : NULL;

	if (path == NULL || (file != NULL && fclose(file) == 0))
		return 0;
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", path, strerror(errno));
}

int results_check(const struct config *c, struct err *err)
{
	const char *const paths[] = { c->counts, c->truth, c->gains };

	for (size_t i = 0; i < COUNT(paths); i++)
		if (check_path(paths[i], err) < 0)
			return -1;
	return 0;
}

uint64_t results_last_cycle(const struct config *c, const struct counts *counts)
{
	uint64_t last = 0;

	for (uint32_t cpu = 0; cpu < c->params.n_cpus; cpu++) {
		const uint64_t *n = counts[cpu].n;

		if (n[COUNT_CPU_CYCLES] + n[COUNT_IDLE_CYCLES] > last)
			last = n[COUNT_CPU_CYCLES] + n[COUNT_IDLE_CYCLES];
	}
	return last;
}

int results_write_counts(const struct config *c, const struct counts *counts,
			 const struct regions *regions, struct err *err)
{
	uint64_t time_ns = results_last_cycle(c, counts) * 1000 / c->params.core_mhz;
	struct counts all = { 0 };
	struct text out = { 0 };
	const char *comma = "";
	int rc;

	for (uint32_t cpu = 0; cpu < c->params.n_cpus; cpu++)
		for (size_t i = 0; i < N_COUNTS; i++)
			all.n[i] += counts[cpu].n[i];
	json_head(&out, c);
	text_format(&out, "\"time_ns\":%" PRIu64 ",\n\"events\":{", time_ns);
	json_events(&out, &all, time_ns);
	text_str(&out, "},\n\"cpus\":[");
	for (uint32_t cpu = 0; cpu < c->params.n_cpus; cpu++) {
		if (counts[cpu].n[COUNT_INST_RETIRED] == 0)
			continue;
		text_format(&out, "%s\n{\"cpu\":%u,\"events\":{", comma, cpu);
		json_events(&out, &counts[cpu], time_ns);
		text_str(&out, "}}");
		comma = ",";
	}
	text_char(&out, ']');
	if (regions != NULL)
		regions_json(regions, &c->params, &out);
	text_str(&out, "}\n");
	rc = text_save(&out, c->counts, err);
	text_release(&out);
	return rc;
}

int results_write_truth(const struct config *c, const struct truth *t, struct err *err)
{
	struct text out = { 0 };
	int rc;

	json_head(&out, c);
	truth_json(t, &out);
	text_str(&out, "}\n");
	rc = text_save(&out, c->truth, err);
	text_release(&out);
	return rc;
}

static void json_run(struct text *out, const struct timed_run *run)
{
	text_str(out, "{\"name\":");
	results_string(out, run->ideal->name);
	text_format(out, ",\"bits\":%" PRIu32 ",\"cycles\":%" PRIu64 ",\"cpu_cycles\":%" PRIu64 "}",
		    run->ideal->bits, run->cycles, run->cpu_cycles);
}

int results_write_gains(const struct config *c, const struct timed_run *runs, size_t n,
			bool is_parallel, const struct tuples *pcs, struct err *err)
{
	struct text out = { 0 };
	int rc;

	json_head(&out, c);
	text_format(&out, "\"parallel\":%s,\"runs\":[", is_parallel ? "true" : "false");
	for (size_t i = 0; i < n; i++) {
		text_str(&out, i > 0 ? ",\n" : "\n");
		json_run(&out, &runs[i]);
	}
	text_str(&out, "],\n\"blocks\":[");
	for (uint32_t block = 0; block < pcs->n; block++) {
		text_format(&out, "%s\n[\"0x%" PRIx64 "\"", block > 0 ? "," : "",
			    *tuples_get(pcs, block));
		for (size_t i = 0; i < n; i++)
			text_format(&out, ",%" PRIu64, tally_cycles(runs[i].tally, block));
		text_char(&out, ']');
	}
	text_str(&out, "]}\n");
	rc = text_save(&out, c->gains, err);
	text_release(&out);
	return rc;
}
