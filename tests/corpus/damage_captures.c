/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads captures that were cut or changed on purpose, with what the fuzz target checks:
 *
 *	damage_captures N PATH...	N cases, spread over all captures in files and folders
 *	damage_captures N-M PATH...	cases N to M-1 only, to find the one that failed
 *	damage_captures --hostile …	in the sandbox of commands; a case that takes more than 2 s of the CPU
 *					for each MiB (20 s in a build with sanitizers, which takes ten times
 *					as long), or 256 MiB more memory than those before, ends the program
 *
 * Built with ANY_FILES it takes files that are no captures, too: for the fuzz targets of ELF and DWARF.
 *
 * Even cases cut the file, odd ones change some of its bytes. Case and captures decide what
 * is done, so a case can be run again. A case that takes a minute of the CPU ends the program. The
 * folder named by the variable CYCLOPS_CAPTURES is taken, too.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/vec.h"
#include "sandbox/sandbox.h"
#include "sandbox/sanitized.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Of the CPU, for each MiB of input. */
#if IS_SANITIZED
#define MOST_SECONDS_A_MIB 20
#else
#define MOST_SECONDS_A_MIB 2
#endif

#ifdef ANY_FILES
#define IS_INPUT(file) ((file).size > 16)
#else
#define IS_INPUT(file) ((file).size > 16 && memcmp((file).bytes, "PERFILE2", 8) == 0)
#endif

enum { CASE_SECONDS = 60, PROGRESS = 100, MAX_CHANGES = 16, MOST_GROWTH_KIB = 256 << 10 };

typedef VEC_OF(struct mapped) captures;

/* splitmix64: good enough to scatter damage, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void add_path(captures *, const char *path);

static void add_folder(captures *all, const char *path)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char *inner = NULL;

		if (entries[i]->d_name[0] != '.' &&
		    asprintf(&inner, "%s/%s", path, entries[i]->d_name) >= 0)
			add_path(all, inner);
		free(inner);
		free(entries[i]);
	}
	free(entries);
}

static void add_path(captures *all, const char *path)
{
	struct mapped file = { 0 };
	struct stat st;
	struct err err;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		add_folder(all, path);
		return;
	}
	if (mapped_open(&file, path, &err) < 0)
		return;
	if (IS_INPUT(file))
		*vec_add(all) = file;
	else
		mapped_release(&file);
}

/* Single bytes, and numbers that parsers trip over. */
static void change_bytes(uint8_t *bytes, size_t size, uint64_t *random)
{
	static const uint32_t numbers[] = { 0, 1, 7, 8, 0x7fffffff, 0x80000000, UINT32_MAX };
	uint64_t n = 1 + next_random(random) % MAX_CHANGES;

	for (uint64_t i = 0; i < n; i++) {
		/* Half of them near the start, where the numbers are that matter most. */
		size_t range = next_random(random) % 2 == 0 && size > 512 ? 512 : size;
		size_t at = next_random(random) % range;
		uint64_t kind = next_random(random) % (2 * COUNT(numbers));

		if (kind < COUNT(numbers) && at + sizeof(numbers[0]) <= size)
			memcpy(bytes + at, &numbers[kind], sizeof(numbers[0]));
		else
			bytes[at] = (uint8_t)next_random(random);
	}
}

/* Time of the CPU: a busy machine is no reason to end. */
static void limit_time(long seconds)
{
	const struct itimerval timer = { .it_value = { .tv_sec = seconds } };

	setitimer(ITIMER_PROF, &timer, NULL);
}

static void run_case(const captures *all, uint64_t n)
{
	const struct mapped *file = &all->items[n / 2 % all->n];
	uint64_t random = n;
	size_t size = file->size;
	uint8_t *copy;

	if (n % 2 == 0)
		size = next_random(&random) % size;
	copy = mem_alloc(size, 1); /* of the exact size: a sanitizer sees reads behind it */
	memcpy(copy, file->bytes, size);
	if (n % 2 == 1)
		change_bytes(copy, size, &random);
	limit_time(CASE_SECONDS);
	LLVMFuzzerTestOneInput(copy, size);
	limit_time(0);
	free(copy);
}

/* What a process has used: seconds of the CPU, and its largest memory in KiB. */
static double used(long *out_kib)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	*out_kib = usage.ru_maxrss;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* What the worst case took. */
struct worst {
	double seconds;	 /* a MiB of input, or part of one */
	long growth_kib; /* of the largest memory, by one case */
};

/* Runs a case within limits. False, and it is said, if it needs more. */
static bool run_hostile_case(const captures *all, uint64_t n, struct worst *worst)
{
	double mib = 1.0 + (double)all->items[n / 2 % all->n].size / (1 << 20);
	long before_kib, after_kib;
	double before = used(&before_kib), seconds;

	run_case(all, n);
	seconds = (used(&after_kib) - before) / mib;
	if (seconds > worst->seconds)
		worst->seconds = seconds;
	if (after_kib - before_kib > worst->growth_kib)
		worst->growth_kib = after_kib - before_kib;
	if (seconds <= MOST_SECONDS_A_MIB && after_kib - before_kib <= MOST_GROWTH_KIB)
		return true;
	fprintf(stderr, "case %" PRIu64 ": %.1f s for each MiB, %ld KiB more memory\n", n, seconds,
		after_kib - before_kib);
	return false;
}

/* Starts what commands start before they read a capture. */
static void start_sandbox(void)
{
	const struct sandbox_places nothing = { 0 };
	struct sandbox_support got = sandbox_start(&nothing);

	printf("sandbox: Landlock %d, seccomp %s\n", got.landlock, got.has_filter ? "yes" : "no");
}

/* "N" means cases 0 to N-1. */
static bool parse_cases(const char *text, uint64_t *first, uint64_t *end)
{
	char *rest = NULL;

	*first = 0;
	*end = strtoull(text, &rest, 10);
	if (rest == text)
		return false;
	if (*rest == '-') {
		*first = *end;
		*end = strtoull(rest + 1, &rest, 10);
	}
	return *rest == '\0' && *first < *end;
}

int main(int argc, char **argv)
{
	const char *more = getenv("CYCLOPS_CAPTURES");
	captures all = { 0 };
	bool is_hostile = argc > 1 && strcmp(argv[1], "--hostile") == 0;
	struct worst worst = { 0 };
	bool is_fine = true;
	uint64_t first, end;

	argc -= is_hostile;
	argv += is_hostile;
	if (argc < 3 || !parse_cases(argv[1], &first, &end)) {
		fprintf(stderr, "usage: damage_captures [--hostile] N|N-M PATH...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		add_path(&all, argv[i]);
	if (more != NULL)
		add_path(&all, more);
	if (all.n == 0) {
		printf("skipped: no captures\n");
		return 0;
	}
	if (is_hostile)
		start_sandbox();
	for (uint64_t n = first; n < end && is_fine; n++) {
		if ((n - first) % PROGRESS == 0)
			fprintf(stderr, "case %" PRIu64 "\n", n);
		if (is_hostile)
			is_fine = run_hostile_case(&all, n, &worst);
		else
			run_case(&all, n);
	}
	printf("%" PRIu64 " cases on %zu files\n", end - first, all.n);
	if (is_hostile)
		printf("the worst: %.3f s of the CPU for each MiB, %ld KiB more memory\n",
		       worst.seconds, worst.growth_kib);
	for (size_t i = 0; i < all.n; i++)
		mapped_release(&all.items[i]);
	vec_release(&all);
	return is_fine ? 0 : 1;
}
