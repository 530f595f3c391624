/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no analysis of a capture can be faster than, on one core: reading its bytes from memory, and decoding all of its
 * records to batches, with nothing done with them.
 *
 *	limits CAPTURE [REPEATS]	(3)
 *
 * Each row is the least of the repeats: seconds of CPU time, and GB of the file in a second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

#include "capture/capture.h"

/* CPU time, because other programs may run, too. */
static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_limit(const char *name, double seconds, uint64_t size)
{
	printf("%-8s %8.4f s %8.2f GB/s\n", name, seconds, (double)size / seconds / 1e9);
}

/* Eight bytes of each line are enough to bring it in; all are added up, as the compiler must not leave it out. */
static int limit_of_reading(const char *path, int repeats)
{
	int file = open(path, O_RDONLY);
	volatile uint64_t sink;
	struct stat st;
	double least = 0;
	const uint64_t *words;

	if (file < 0 || fstat(file, &st) < 0)
		return -1;
	words = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
	close(file);
	if (words == MAP_FAILED)
		return -1;
	for (int i = 0; i < repeats; i++) {
		double start = now_s(), seconds;
		uint64_t sum = 0;

		for (size_t k = 0; k < (size_t)st.st_size / sizeof(*words); k++)
			sum += words[k];
		sink = sum;
		seconds = now_s() - start;
		least = i == 0 || seconds < least ? seconds : least;
	}
	(void)sink;
	munmap((void *)(uintptr_t)words, (size_t)st.st_size);
	print_limit("read", least, (uint64_t)st.st_size);
	return 0;
}

static uint64_t decode_all(const struct capture *c, struct batch *batch)
{
	struct unit_reader *r = unit_reader_new(c);
	uint64_t n_rows = 0;

	unit_reader_want_branches(r);
	for (size_t unit = 0; unit < capture_n_units(c); unit++) {
		unit_reader_start(r, unit);
		while (unit_reader_next(r, batch))
			n_rows += batch->n;
	}
	unit_reader_free(r);
	return n_rows;
}

static int limit_of_decoding(const char *path, int repeats)
{
	struct err err = { 0 };
	struct capture *c = NULL;
	struct batch *batch = batch_new();
	double least = 0;
	uint64_t n_rows = 0;

	if (capture_open(path, &c, &err) < 0 || capture_scan(c, NULL, NULL, &err) < 0) {
		fprintf(stderr, "limits: %s\n", err.text);
		return -1;
	}
	for (int i = 0; i < repeats; i++) {
		double start = now_s(), seconds;

		n_rows = decode_all(c, batch);
		seconds = now_s() - start;
		least = i == 0 || seconds < least ? seconds : least;
	}
	print_limit("decode", least, capture_size(c));
	printf("records  %llu\n", (unsigned long long)n_rows);
	batch_free(batch);
	capture_free(c);
	return 0;
}

int main(int argc, char **argv)
{
	int repeats = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;

	if (argc < 2 || repeats < 1) {
		fprintf(stderr, "usage: limits CAPTURE [REPEATS]\n");
		return 2;
	}
	return limit_of_reading(argv[1], repeats) < 0 || limit_of_decoding(argv[1], repeats) < 0;
}
