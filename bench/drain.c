/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast one thread takes SPE's data out of AUX buffers to a file, on the kernel of the recorder's tests, which is made of
 * memory: the data are there whenever they are asked for.
 *
 *	drain FILE [MIB]	(1024)
 *
 * Each row is the least of some repeats: bytes by CPU time. "write" is the limit: the same pieces written to a file by
 * nothing but pwrite().
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "record/recording.h"
#include "../tests/unit/record/fake_kernel.h"

enum { REPEATS = 5, RING_BYTES = 1 << 20, AUX_BYTES = 4 << 20, N_CPUS = 2 };

/* What a buffer has when its reader is woken, but the first: so pieces wrap, and records have padding. */
enum { WOKEN_BYTES = AUX_BYTES / 2, ODD_BYTES = 1000 };

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct attr spe_attr(void)
{
	return (struct attr){ .type = 9,
			      .sample_period = 1000,
			      .sample_type = (uint64_t)1 << SAMPLE_IP | (uint64_t)1 << SAMPLE_TIME,
			      .read_format = (uint64_t)1 << READ_ID };
}

/* Drains as often as it takes to move so many bytes. Returns CPU seconds. */
static double drain_all(struct recording *r, struct fake_kernel *k, struct writer *w,
			uint64_t bytes)
{
	double start = cpu_s();
	uint64_t size = ODD_BYTES;

	for (uint64_t moved = 0; moved < bytes; size = WOKEN_BYTES) {
		for (int i = 0; i < k->n_events; i++)
			k->events[i].page->aux_head += size;
		moved += recording_drain(r, w);
	}
	writer_checkpoint(w);
	return cpu_s() - start;
}

static int drained_s(const char *path, uint64_t bytes, double *out, struct err *err)
{
	const int32_t threads[] = { RECORDING_ALL_THREADS };
	const struct cpu_list cpus = { .items = (struct cpu_range[]){ { 0, N_CPUS - 1 } }, .n = 1 };
	const struct writer_event event = { .attr = spe_attr(), .name = "arm_spe_0//" };
	const struct record_options options = { .ring_bytes = RING_BYTES, .aux_bytes = AUX_BYTES };
	struct record_events events = { 0 };
	struct diags diags = { 0 };
	struct fake_kernel k;
	struct writer *w = NULL;
	struct recording r;
	int rc;

	*vec_add(&events.list) =
		(struct record_event){ .name = event.name, .attr = spe_attr(), .is_spe = true };
	fake_kernel_init(&k);
	r = (struct recording){ .kernel = &k.kernel,
				.options = &options,
				.root = "",
				.diags = &diags,
				.events = &events };
	rc = recording_open(&r, threads, COUNT(threads), &cpus, &cpus, err);
	if (rc == 0)
		rc = writer_open(path, &event, 1, &w, err);
	if (rc == 0) {
		for (int i = 0; i < k.n_events; i++)
			memset(k.events[i].aux, 0x5a, AUX_BYTES);
		*out = drain_all(&r, &k, w, bytes);
		rc = writer_close(w, err);
	}
	recording_release(&r);
	fake_kernel_release(&k);
	vec_release(&events.list);
	diags_release(&diags);
	return rc;
}

static int written_s(const char *path, uint64_t bytes, double *out)
{
	uint8_t *piece = mem_alloc(WOKEN_BYTES, 1);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), rc = fd < 0 ? -1 : 0;
	double start;

	memset(piece, 0x5a, WOKEN_BYTES);
	start = cpu_s();
	for (uint64_t at = 0; at < bytes && rc == 0; at += WOKEN_BYTES)
		if (pwrite(fd, piece, WOKEN_BYTES, (off_t)(at + ODD_BYTES)) != WOKEN_BYTES)
			rc = -1;
	*out = cpu_s() - start;
	if (fd >= 0)
		close(fd);
	free(piece);
	return rc;
}

int main(int argc, char **argv)
{
	uint64_t bytes = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1024) << 20;
	double drained = 0, written = 0, s;
	struct err err;

	if (argc < 2) {
		fprintf(stderr, "usage: drain FILE [MIB]\n");
		return 2;
	}
	for (int i = 0; i < REPEATS; i++) {
		if (drained_s(argv[1], bytes, &s, &err) < 0) {
			fprintf(stderr, "drain: %s\n", err.text);
			return 1;
		}
		drained = i == 0 || s < drained ? s : drained;
		if (written_s(argv[1], bytes, &s) < 0) {
			perror(argv[1]);
			return 1;
		}
		written = i == 0 || s < written ? s : written;
	}
	unlink(argv[1]);
	printf("drain %8.2f GB/s\nwrite %8.2f GB/s\n", (double)bytes / drained / 1e9,
	       (double)bytes / written / 1e9);
	return 0;
}
