/* SPDX-License-Identifier: Apache-2.0 */
#include "model/results.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* An event of the PMU is a count, the sum of several, or none: what this machine never does. */
enum { MOST_PARTS = 4, N_PARTS_END = N_COUNTS };

#define NEVER                                                                                      \
	{                                                                                          \
		N_PARTS_END                                                                        \
	}

#define PARTS(...)                                                                                 \
	{                                                                                          \
		__VA_ARGS__, N_PARTS_END                                                           \
	}

static const struct pmu_event {
	const char *name;
	uint16_t parts[MOST_PARTS + 1]; /* enum count; N_PARTS_END ends them */
} pmu_events[] = {
	{ "CPU_CYCLES", PARTS(COUNT_CPU_CYCLES) },
	{ "INST_RETIRED", PARTS(COUNT_INST_RETIRED) },
	{ "INST_SPEC", PARTS(COUNT_INST_RETIRED) },
	{ "STALL_FRONTEND", PARTS(COUNT_STALL_FRONTEND) },
	{ "STALL_BACKEND", PARTS(COUNT_STALL_BACKEND) },
	{ "L1I_CACHE", PARTS(COUNT_L1I_CACHE) },
	{ "L1I_CACHE_REFILL", PARTS(COUNT_L1I_CACHE_REFILL) },
	{ "L1I_TLB", PARTS(COUNT_L1I_TLB) },
	{ "L1I_TLB_REFILL", PARTS(COUNT_L1I_TLB_REFILL) },
	{ "ITLB_WALK", PARTS(COUNT_ITLB_WALK) },
	{ "L1D_CACHE", PARTS(COUNT_L1D_CACHE_RD, COUNT_L1D_CACHE_WR) },
	{ "L1D_CACHE_RD", PARTS(COUNT_L1D_CACHE_RD) },
	{ "L1D_CACHE_WR", PARTS(COUNT_L1D_CACHE_WR) },
	{ "L1D_CACHE_REFILL", PARTS(COUNT_L1D_CACHE_REFILL_RD, COUNT_L1D_CACHE_REFILL_WR) },
	{ "L1D_CACHE_REFILL_RD", PARTS(COUNT_L1D_CACHE_REFILL_RD) },
	{ "L1D_CACHE_REFILL_WR", PARTS(COUNT_L1D_CACHE_REFILL_WR) },
	{ "L1D_CACHE_WB", PARTS(COUNT_L1D_CACHE_WB) },
	{ "L1D_CACHE_INVAL", PARTS(COUNT_L1D_CACHE_INVAL) },
	{ "L1D_TLB", PARTS(COUNT_L1D_TLB_RD, COUNT_L1D_TLB_WR) },
	{ "L1D_TLB_RD", PARTS(COUNT_L1D_TLB_RD) },
	{ "L1D_TLB_WR", PARTS(COUNT_L1D_TLB_WR) },
	{ "L1D_TLB_REFILL", PARTS(COUNT_L1D_TLB_REFILL_RD, COUNT_L1D_TLB_REFILL_WR) },
	{ "L1D_TLB_REFILL_RD", PARTS(COUNT_L1D_TLB_REFILL_RD) },
	{ "L1D_TLB_REFILL_WR", PARTS(COUNT_L1D_TLB_REFILL_WR) },
	{ "L2D_TLB", PARTS(COUNT_L2D_TLB) },
	{ "L2D_TLB_REFILL", PARTS(COUNT_L2D_TLB_REFILL) },
	{ "DTLB_WALK", PARTS(COUNT_DTLB_WALK) },
	{ "L2D_CACHE", PARTS(COUNT_L2D_CACHE_RD, COUNT_L2D_CACHE_WR) },
	{ "L2D_CACHE_RD", PARTS(COUNT_L2D_CACHE_RD) },
	{ "L2D_CACHE_WR", PARTS(COUNT_L2D_CACHE_WR) },
	{ "L2D_CACHE_REFILL", PARTS(COUNT_L2D_CACHE_REFILL_RD, COUNT_L2D_CACHE_REFILL_WR) },
	{ "L2D_CACHE_REFILL_RD", PARTS(COUNT_L2D_CACHE_REFILL_RD) },
	{ "L2D_CACHE_REFILL_WR", PARTS(COUNT_L2D_CACHE_REFILL_WR) },
	{ "L2D_CACHE_WB", PARTS(COUNT_L2D_CACHE_WB) },
	{ "L2D_CACHE_INVAL", PARTS(COUNT_L2D_CACHE_INVAL) },
	{ "L2D_CACHE_ALLOCATE", NEVER }, /* the L2 gets nothing that it did not ask for */
	{ "L3D_CACHE", NEVER },		 /* no cluster has a cache of its own */
	{ "L3D_CACHE_REFILL", NEVER },
	{ "L3D_CACHE_ALLOCATE", NEVER },
	{ "LL_CACHE_RD", PARTS(COUNT_LL_CACHE_RD) },
	{ "LL_CACHE_MISS_RD", PARTS(COUNT_LL_CACHE_MISS_RD) },
	{ "BUS_ACCESS", PARTS(COUNT_BUS_ACCESS_RD, COUNT_BUS_ACCESS_WR) },
	{ "BUS_ACCESS_RD", PARTS(COUNT_BUS_ACCESS_RD) },
	{ "BUS_ACCESS_WR", PARTS(COUNT_BUS_ACCESS_WR) },
	{ "MEM_ACCESS", PARTS(COUNT_L1D_CACHE_RD, COUNT_L1D_CACHE_WR) },
	{ "MEM_ACCESS_RD", PARTS(COUNT_L1D_CACHE_RD) },
	{ "MEM_ACCESS_WR", PARTS(COUNT_L1D_CACHE_WR) },
	{ "UNALIGNED_LD_SPEC", PARTS(COUNT_UNALIGNED_LD_SPEC) },
	{ "UNALIGNED_ST_SPEC", PARTS(COUNT_UNALIGNED_ST_SPEC) },
	{ "UNALIGNED_LDST_SPEC", PARTS(COUNT_UNALIGNED_LD_SPEC, COUNT_UNALIGNED_ST_SPEC) },
	{ "BR_RETIRED", PARTS(COUNT_BR_RETIRED) },
	{ "BR_PRED", PARTS(COUNT_BR_RETIRED) },
	{ "BR_MIS_PRED", PARTS(COUNT_BR_MIS_PRED_RETIRED) },
	{ "BR_MIS_PRED_RETIRED", PARTS(COUNT_BR_MIS_PRED_RETIRED) },
	{ "BR_IMMED_SPEC", PARTS(COUNT_BR_IMMED_SPEC) },
	{ "BR_RETURN_SPEC", PARTS(COUNT_BR_RETURN_SPEC) },
	{ "BR_INDIRECT_SPEC", PARTS(COUNT_BR_INDIRECT_SPEC) },
	{ "DP_SPEC", PARTS(COUNT_DP_SPEC) },
	{ "LD_SPEC", PARTS(COUNT_LD_SPEC) },
	{ "ST_SPEC", PARTS(COUNT_ST_SPEC) },
	{ "ASE_SPEC", PARTS(COUNT_ASE_SPEC) },
	{ "VFP_SPEC", PARTS(COUNT_VFP_SPEC) },
	{ "CRYPTO_SPEC", PARTS(COUNT_CRYPTO_SPEC) },
	{ "DMB_SPEC", PARTS(COUNT_DMB_SPEC) },
	{ "SAMPLE_POP", PARTS(COUNT_INST_RETIRED) },
	{ "SAMPLE_FEED", PARTS(COUNT_SAMPLE_FEED) },
	{ "SAMPLE_FILTRATE", PARTS(COUNT_SAMPLE_FILTRATE) },
	{ "SAMPLE_COLLISION", PARTS(COUNT_SAMPLE_COLLISION) },
};

static uint64_t sum_of(const struct counts *counts, const struct pmu_event *event)
{
	uint64_t sum = 0;

	for (const uint16_t *part = event->parts; *part != N_PARTS_END; part++)
		sum += counts->n[*part];
	return sum;
}

static void json_events(struct text *out, const struct counts *counts, uint64_t time_ns)
{
	for (size_t i = 0; i < COUNT(pmu_events); i++)
		text_format(out,
			    "%s\n\"%s\":{\"count\":%" PRIu64 ",\"enabled_ns\":%" PRIu64
			    ",\"running_ns\":%" PRIu64 "}",
			    i > 0 ? "," : "", pmu_events[i].name, sum_of(counts, &pmu_events[i]),
			    time_ns, time_ns);
}

/* A text of ours or a path: quotes, backslashes and control characters are escaped. */
static void json_text(struct text *out, const char *text)
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

/* What both files begin with: they say that this is a model, and of what. */
static void json_head(struct text *out, const struct config *c)
{
	text_str(out, "{\"schema\":1,\"modelled\":true,\"model\":");
	json_text(out, c->model);
	text_str(out, ",\"cyclops\":");
	json_text(out, c->version);
	text_str(out, ",\"program\":");
	json_text(out, c->name);
	text_format(out,
		    ",\"midr\":\"0x%08x\",\"seed\":%" PRIu64 ",\"interval\":%u,\"jitter\":%s,\n",
		    c->params.midr, c->seed, c->sampling.interval,
		    c->sampling.has_jitter ? "true" : "false");
}

static int write_text(const char *path, const struct text *text, struct err *err)
{
	FILE *file = fopen(path, "we");
	bool is_written;

	if (file == NULL)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", path,
			       strerror(errno));
	is_written = fwrite(text->bytes, 1, text->n, file) == text->n;
	if (fclose(file) == 0 && is_written)
		return 0;
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", path, strerror(errno));
}

/* Creates the file, or leaves it as it is. */
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

int results_write_counts(const struct config *c, const struct counts *counts, struct err *err)
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
	text_str(&out, "]}\n");
	rc = write_text(c->counts, &out, err);
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
	rc = write_text(c->truth, &out, err);
	text_release(&out);
	return rc;
}

static void json_run(struct text *out, const struct timed_run *run)
{
	text_str(out, "{\"name\":");
	json_text(out, run->ideal->name);
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
	rc = write_text(c->gains, &out, err);
	text_release(&out);
	return rc;
}
