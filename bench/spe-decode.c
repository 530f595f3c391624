/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The speed of decoding SPE bytes to batches, and to text: GB of SPE bytes a second, on one core.
 *
 *	spe-decode [MEGABYTES [REPEATS]]	(128 and 5)
 *
 * Each row is the best of the repeats. Records are generated in memory (spe/generate.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "spe/decode.h"
#include "spe/generate.h"

struct buffer {
	uint8_t *bytes;
	size_t size;
	uint64_t n_records;
};

/* CPU time, because other programs may run, too. */
static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct buffer make_records(size_t size, const struct spe_layout *layout)
{
	struct buffer b = { .bytes = mem_alloc(size + SPE_RECORD_MAX, 1) };
	struct spe_generator g;

	spe_generator_init(&g, &spe_generate_defaults);
	while (b.size < size) {
		struct spe_record r;

		spe_generator_next(&g, &r);
		b.size += spe_encode(&r, layout, b.bytes + b.size);
		b.n_records++;
	}
	return b;
}

static uint64_t decode_all(const struct buffer *b, bool use_shapes, struct batch *batch)
{
	struct spe_decoder *d = spe_decoder_new();
	uint64_t n_rows = 0;

	spe_decoder_use_shapes(d, use_shapes);
	for (size_t at = 0; at < b->size;) {
		batch_reset(batch, BATCH_SPE);
		at += spe_decode(d, b->bytes + at, b->size - at, at, at, batch);
		n_rows += batch->n;
	}
	spe_decoder_free(d);
	return n_rows;
}

static int bench_decode(const char *name, const struct buffer *b, bool use_shapes, int repeats)
{
	struct batch *batch = batch_new();
	double best = 0;
	uint64_t n_rows = 0;

	for (int i = 0; i < repeats; i++) {
		double start = now_s();
		double speed;

		n_rows = decode_all(b, use_shapes, batch);
		speed = (double)b->size / (now_s() - start) / 1e9;
		best = speed > best ? speed : best;
	}
	batch_free(batch);
	printf("decode %-30s %6.2f GB/s  %7.1f M records/s\n", name, best,
	       best * 1e3 / (double)b->size * (double)b->n_records);
	return n_rows == b->n_records ? 0 : -1;
}

static void bench_dump(const char *name, const struct buffer *b, int repeats)
{
	struct text text = { 0 };
	size_t size = b->size / 8;
	double best = 0, expansion = 0;

	for (int i = 0; i < repeats; i++) {
		double start = now_s();
		uint64_t n_chars = 0;
		double speed;

		for (size_t at = 0; at < size; n_chars += text.n) {
			text_reset(&text);
			at = spe_dump_some(b->bytes, size, 0, at, 1 << 16, SPE_WORDING_PERF_6_1,
					   NULL, &text);
		}
		speed = (double)size / (now_s() - start) / 1e9;
		best = speed > best ? speed : best;
		expansion = (double)n_chars / (double)size;
	}
	text_release(&text);
	printf("dump   %-30s %6.2f GB/s  %7.2f GB/s of text\n", name, best, best * expansion);
}

int main(int argc, char **argv)
{
	static const struct spe_layout packed = { .events_size = 2, .source_size = 1 };
	size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 128) << 20;
	int repeats = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5;
	struct spe_layout unpadded = packed;
	struct buffer b;
	int rc = 0;

	unpadded.order = spe_layout_n1.order;
	unpadded.n_order = spe_layout_n1.n_order;
	b = make_records(size, &spe_layout_n1);
	rc |= bench_decode("64-byte records, parsed", &b, false, repeats);
	rc |= bench_decode("64-byte records, by shape", &b, true, repeats);
	bench_dump("64-byte records", &b, repeats);
	free(b.bytes);
	b = make_records(size, &unpadded);
	rc |= bench_decode("packed records, parsed", &b, false, repeats);
	rc |= bench_decode("packed records, by shape", &b, true, repeats);
	bench_dump("packed records", &b, repeats);
	free(b.bytes);
	if (rc != 0)
		fprintf(stderr, "spe-decode: records were lost\n");
	return rc == 0 ? 0 : 1;
}
