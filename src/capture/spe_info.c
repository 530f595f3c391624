/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPE data of a capture: which buffers, of which CPUs. Format: docs/reference/perf-data.md section
 * 5.
 */
#include <string.h>

#include "base/alloc.h"
#include "capture/state.h"

enum {
	V1_WORDS = 2, /* version 1 has no version field, but this size */
	CPU_BLOCK_WORDS = 3,
};

static const uint64_t cpu_block_magic = 0x1010101010101010;

static void read_version_1(struct cursor c, struct spe_info *spe)
{
	spe->version = 1;
	spe->pmu_type = (uint32_t)cur_u64(&c);
	spe->is_per_thread = cur_u64(&c) == 0; /* the word means "buffers are for each CPU" */
}

/* Magic, CPU, number of parameters, then the parameters. Newer recorders write more of them. */
static bool spe_info_read_cpu(struct cursor *c, struct spe_cpu *out)
{
	uint64_t magic = cur_u64(c);
	struct spe_cpu cpu = { .cpu = (uint32_t)cur_u64(c) };
	uint64_t n = cur_u64(c);

	if (magic != cpu_block_magic || !cur_holds(c, n, sizeof(uint64_t)))
		return false;
	struct cursor parameters = cur_split(c, n * sizeof(uint64_t));
	cpu.midr = cur_u64(&parameters);
	cpu.pmu_type = (uint32_t)cur_u64(&parameters);
	cpu.min_interval = cur_u64(&parameters);
	if (!cur_ok(&parameters))
		return false;
	cpu.event_filter = cur_u64(&parameters);
	*out = cpu;
	return true;
}

static bool read_version_2(struct cursor c, struct spe_info *spe)
{
	uint64_t version = cur_u64(&c);
	uint64_t header_words = cur_u64(&c);
	uint64_t pmu_type = cur_u64(&c);
	uint64_t n_cpus = cur_u64(&c);
	struct spe_cpu cpu;

	if (header_words < 4 || !cur_holds(&c, header_words - 4, sizeof(uint64_t)))
		return false;
	spe->version = (unsigned)version;
	spe->pmu_type = (uint32_t)pmu_type;
	cur_skip(&c, (header_words - 4) * sizeof(uint64_t));
	if (!cur_holds(&c, n_cpus, CPU_BLOCK_WORDS * sizeof(uint64_t)))
		return false;
	for (uint64_t i = 0; i < n_cpus; i++) {
		if (!spe_info_read_cpu(&c, &cpu))
			return false;
		*vec_add(&spe->cpus) = cpu;
	}
	return true;
}

bool spe_info_read(struct cursor body, struct spe_info *spe)
{
	if (cur_left(&body) != V1_WORDS * sizeof(uint64_t))
		return read_version_2(body, spe);
	read_version_1(body, spe);
	return true;
}

void spe_info_record(struct capture *c, const struct record *r)
{
	struct spe_info *spe = &c->spe;
	struct cursor body = r->body;
	uint32_t type = cur_u32(&body);

	cur_skip(&body, sizeof(uint32_t));
	c->traces_told |= 1u << (type < N_TRACE_KINDS ? type : 0);
	if (spe->is_present || type != TRACE_ARM_SPE)
		return;
	spe->is_present = true;
	if (!spe_info_read(body, spe))
		capture_unread(c, DIAG_DAMAGE, r,
			       "AUXTRACE_INFO record that could not be read to its end");
}

static int spe_event(const struct capture *c)
{
	for (size_t i = 0; i < c->events.list.n; i++)
		if (capture_is_spe_type(c, c->events.list.items[i].attr.type))
			return (int)i;
	return -1;
}

static bool all_buffers_are_threads(const struct capture *c)
{
	for (size_t i = 0; i < c->chunks.n; i++)
		if (c->chunks.items[i].header.cpu != UINT32_MAX)
			return false;
	return c->chunks.n > 0;
}

void spe_info_finish(struct capture *c)
{
	struct spe_info *spe = &c->spe;

	spe->event = spe_event(c);
	/* In a damaged capture the record may be lost, but the event is still known. */
	if (c->chunks.n > 0)
		spe->is_present = true;
	if (spe->version != 1)
		spe->is_per_thread = all_buffers_are_threads(c);
	spe->is_modelled = strstr(strings_get(&c->strings, c->info.hostname), "modelled") != NULL ||
			   strstr(strings_get(&c->strings, c->info.cpu_desc), "modelled") != NULL;
}

/* The MIDR of all CPUs with metadata, if they are equal; else 0. */
static uint64_t common_midr(const struct spe_info *spe)
{
	for (size_t i = 1; i < spe->cpus.n; i++)
		if (spe->cpus.items[i].midr != spe->cpus.items[0].midr)
			return 0;
	return spe->cpus.n > 0 ? spe->cpus.items[0].midr : 0;
}

uint64_t capture_midr(const struct capture *c, uint32_t cpu)
{
	if (c->spe.cpus.n == 0)
		return info_midr(&c->info, &c->strings);
	for (size_t i = 0; i < c->spe.cpus.n; i++)
		if (c->spe.cpus.items[i].cpu == cpu)
			return c->spe.cpus.items[i].midr;
	return common_midr(&c->spe);
}
