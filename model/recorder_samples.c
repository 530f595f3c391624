/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of the PMU, as the kernel writes them for events that are opened on each CPU. */
#include <ctype.h>
#include <stdatomic.h>
#include <string.h>

#include "capture/writer/emit.h"
#include "model/recorder.h"

#define BIT(n) ((uint64_t)1 << (n))

enum { MODE_USER = 2, EXACT_IP = 1 << 14 }; /* in misc */

/* Bits of attr.branch_sample_type. */
enum {
	BRANCH_USER,
	BRANCH_KERNEL,
	BRANCH_ANY = 3,
	BRANCH_ANY_CALL,
	BRANCH_ANY_RETURN,
	BRANCH_TYPE_SAVE = 16,
	BRANCH_PRIV_SAVE = 18
};

enum { PRECISE_IP = 2 }; /* no skid is asked for */

static uint64_t branch_sample_type(const struct config *c)
{
	const struct branch_recording *b = &c->samples.branches;
	bool has_kernel = c->params.interrupt_cycles > 0 && !c->params.interrupt_signals;
	static const uint8_t filters[N_BRANCH_FILTERS] = {
		[BRANCHES_ANY] = BRANCH_ANY,
		[BRANCHES_RETURN] = BRANCH_ANY_RETURN,
		[BRANCHES_CALL] = BRANCH_ANY_CALL,
	};

	if (b->depth == 0)
		return 0;
	return BIT(BRANCH_USER) | BIT(BRANCH_TYPE_SAVE) | BIT(filters[b->filter]) |
	       (has_kernel ? BIT(BRANCH_KERNEL) | BIT(BRANCH_PRIV_SAVE) : 0);
}

struct attr recorder_sample_attr(const struct config *c, const struct sample_event *e)
{
	return (struct attr){
		.type = PMU_TYPE,
		.config = e->code,
		.sample_period = e->period,
		.sample_type = RECORDER_SAMPLE | BIT(SAMPLE_PERIOD) | BIT(SAMPLE_READ) |
			       (c->samples.has_chains ? BIT(SAMPLE_CALLCHAIN) : 0) |
			       (c->samples.branches.depth > 0 ? BIT(SAMPLE_BRANCH_STACK) : 0),
		.read_format = BIT(READ_TIME_ENABLED) | BIT(READ_TIME_RUNNING) | BIT(READ_ID),
		.flags = BIT(ATTR_DISABLED) | BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_EXCLUDE_KERNEL) |
			 BIT(ATTR_EXCLUDE_HV) |
			 (e->is_precise ? (uint64_t)PRECISE_IP << ATTR_PRECISE_IP : 0),
		.branch_sample_type = branch_sample_type(c),
	};
}

/* As a user of perf would have typed it. */
void recorder_sample_name(const struct sample_event *e, struct text *name)
{
	for (const char *c = e->event->name; *c != '\0'; c++)
		text_char(name, (char)tolower((unsigned char)*c));
	text_str(name, e->is_precise ? ":ppu" : ":u");
	text_char(name, '\0');
}

static void forget(struct journal_samples *kept)
{
	atomic_store(&kept->n, 0);
	atomic_store(&kept->file_end, 0);
}

/* If the process ends in here, the file's end says whether the records got there. */
void recorder_flush_samples(struct recorder *r)
{
	struct journal_samples *kept = &r->journal->samples;

	if (kept->n == 0)
		return;
	writer_records(r->writer, kept->bytes, kept->n);
	atomic_store(&kept->file_end, writer_size(r->writer));
	writer_flush(r->writer);
	forget(kept);
}

void recorder_drop_samples(struct recorder *r)
{
	struct journal_samples *kept = &r->journal->samples;

	if (kept->file_end != 0 && writer_size(r->writer) >= kept->file_end)
		forget(kept);
}

static void keep(struct recorder *r)
{
	struct journal_samples *kept = &r->journal->samples;

	if (r->sample.n > sizeof(kept->bytes) - kept->n)
		recorder_flush_samples(r);
	memcpy(kept->bytes + kept->n, r->sample.bytes, r->sample.n);
	atomic_store(&kept->n, kept->n + r->sample.n);
}

static uint64_t nanoseconds(const struct recorder *r, uint64_t cycles)
{
	return cycles * 1000 / r->config->params.core_mhz;
}

void recorder_sample(struct recorder *r, const struct pmu_sample *s, const struct moment *at)
{
	const struct pmu_sampling *sampling = &r->config->samples;
	uint64_t first_id = RECORDER_SAMPLE_IDS + (uint64_t)s->event * MAX_CPUS;
	struct sample_id id = recorder_trailer(r, at, first_id);
	size_t event = s->event + (r->config->without_spe ? 1 : 2);
	uint8_t read[4 * sizeof(uint64_t)], chain[(CALL_CHAIN_MOST + 1) * sizeof(uint64_t)];
	const struct sample sample = {
		.id = id.id,
		.ip = s->pc,
		.pid = id.pid,
		.tid = id.tid,
		.time_ns = id.time_ns,
		.cpu = id.cpu,
		.period = sampling->events.items[s->event].period,
		.read = { read, sizeof(read) / sizeof(uint64_t) },
		.callchain = { chain, s->n_chain },
		.branches = { (const uint8_t *)s->branches, s->n_branches },
	};

	store_u64(read, s->value);
	store_u64(read + 8, nanoseconds(r, s->enabled));
	store_u64(read + 16, nanoseconds(r, s->running));
	store_u64(read + 24, id.id);
	for (size_t i = 0; i < s->n_chain; i++)
		store_u64(chain + i * sizeof(uint64_t), s->chain[i]);
	text_reset(&r->sample);
	writer_make_sample(r->writer, event, MODE_USER | (s->is_precise ? EXACT_IP : 0), &sample,
			   &r->sample);
	keep(r);
}
