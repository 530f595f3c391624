/* SPDX-License-Identifier: Apache-2.0 */
#include "dump/packets.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"

enum {
	PART_BYTES = 128 << 10, /* dumps to some 2 MB of text */
	/* for parts that cannot be split: written whenever this much has gathered */
	TEXT_BYTES = 4 << 20,
	LARGE_PART = 4 * PART_BYTES,
};

/* A part of a chunk, cut between records. */
struct part {
	const struct aux_chunk *chunk;
	uint64_t from, to;
};

struct dump_job {
	const struct capture *capture;
	const struct catalog *catalog;
	enum spe_wording wording;
	VEC_OF(struct part) parts;
	size_t window;
	struct text *slots;
	packets_sink *sink;
	void *context;
	atomic_bool stopped;
};

static void add_parts(struct dump_job *job, const struct aux_chunk *chunk)
{
	uint64_t from = 0;

	do {
		uint64_t to = chunk->size;

		if (chunk->size - from > PART_BYTES)
			to = aux_chunk_split(chunk, from + PART_BYTES);
		*vec_add(&job->parts) = (struct part){ chunk, from, to };
		from = to;
	} while (from < chunk->size);
}

/* Large parts are left to dump_large(). */
static bool is_large(const struct part *p)
{
	return p->to - p->from > LARGE_PART;
}

static void put_header(const struct part *p, struct text *out)
{
	if (p->from > 0)
		return;
	text_str(out, ".\n. ... ARM SPE data: size ");
	text_hex(out, p->chunk->size);
	text_str(out, " bytes\n");
}

/* The CPU's names for IMPLEMENTATION DEFINED event bits. */
static struct spe_event_names dump_event_names(const struct dump_job *job,
					       const struct aux_chunk *chunk)
{
	uint64_t midr = capture_midr(job->capture, chunk->header.cpu);
	const struct cpu *cpu =
		job->catalog == NULL ? NULL : catalog_cpu_of_midr(job->catalog, midr);
	struct spe_event_names names;

	for (unsigned bit = 0; bit < COUNT(names.by_bit); bit++)
		names.by_bit[bit] = cpu_spe_event(cpu, bit);
	return names;
}

static uint64_t put_packets(const struct dump_job *job, const struct part *p, uint64_t from,
			    size_t limit, struct text *out)
{
	const struct spe_event_names names = dump_event_names(job, p->chunk);

	return spe_dump_some(p->chunk->bytes, p->to, p->chunk->position, from, limit, job->wording,
			     &names, out);
}

static void dump_part(void *context, size_t number, unsigned worker)
{
	struct dump_job *job = context;
	const struct part *p = &job->parts.items[number];
	struct text *out = &job->slots[number % job->window];

	(void)worker;
	if (is_large(p) || atomic_load_explicit(&job->stopped, memory_order_relaxed))
		return;
	put_header(p, out);
	put_packets(job, p, p->from, SIZE_MAX, out);
}

/*
 * Renders and writes a large part piece by piece, so that its text is never in memory as a whole.
 */
static int dump_large(struct dump_job *job, const struct part *p, struct text *out)
{
	put_header(p, out);
	for (uint64_t at = p->from; at < p->to;) {
		at = put_packets(job, p, at, TEXT_BYTES, out);
		if (job->sink(job->context, out) < 0)
			return -1;
		text_reset(out);
	}
	return 0;
}

static void write_part(void *context, size_t number, unsigned worker)
{
	struct dump_job *job = context;
	const struct part *p = &job->parts.items[number];
	struct text *out = &job->slots[number % job->window];
	int rc;

	(void)worker;
	if (atomic_load_explicit(&job->stopped, memory_order_relaxed))
		return;
	rc = is_large(p) ? dump_large(job, p, out) : job->sink(job->context, out);
	if (rc < 0)
		atomic_store_explicit(&job->stopped, true, memory_order_relaxed);
	text_reset(out);
}

int packets_dump(const struct capture *capture, const struct catalog *catalog, struct pool *pool,
		 enum spe_wording wording, packets_sink *sink, void *context)
{
	struct dump_job job = {
		.capture = capture,
		.catalog = catalog,
		.wording = wording,
		.window = 2 * (size_t)pool_size(pool),
		.sink = sink,
		.context = context,
	};

	job.slots = mem_zalloc(job.window, sizeof(*job.slots));
	for (size_t i = 0; i < capture_n_chunks(capture); i++)
		add_parts(&job, capture_chunk(capture, i));
	pool_run_ordered(pool, job.parts.n, job.window, dump_part, write_part, &job);
	for (size_t i = 0; i < job.window; i++)
		text_release(&job.slots[i]);
	free(job.slots);
	vec_release(&job.parts);
	return atomic_load(&job.stopped) ? -1 : 0;
}
