/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cyclops-kernel: one microbenchmark as a program of its own, which measures its run as a region.
 *
 *	cyclops-kernel NAME [PARAMETER=VALUE]... [peer=CPU]
 *
 * The machine model and other machines run it. CYCLOPS_EVENTS and CYCLOPS_OUT say what is counted and
 * where it is written (cyclops_measure(3)).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cyclops/measure.h>

#include "kernel/loops/microbenchmark.h"

enum { FAILED = 1, USAGE = 2, NAME_MAX = 64 };

static int read_value(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	return end == text || *end != '\0' || errno != 0 || text[0] == '-' ? -1 : 0;
}

/* "lines=256" into the values, "peer=1" into the CPU of the second thread. */
static int read_argument(const struct microbenchmark *m, const char *argument,
			 uint64_t values[N_PARAMETERS], int *peer_cpu, struct err *err)
{
	const char *equals = strchr(argument, '=');
	char name[NAME_MAX];
	uint64_t value;

	if (equals == NULL || equals - argument >= NAME_MAX || read_value(equals + 1, &value) < 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "'%s' is not PARAMETER=NUMBER",
			       argument);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - argument), argument);
	if (strcmp(name, "peer") != 0)
		return microbenchmark_set(m, name, value, values, err);
	*peer_cpu = value > INT16_MAX ? ANY_CPU : (int)value;
	return 0;
}

#ifdef CYCLOPS_MEASURE

/* The run as a region. Where nothing can be counted it is a region all the same. */
static void measure(struct microbenchmark_run *r)
{
	struct cyclops *m;
	int region;

	cyclops_open(&m, NULL);
	region = cyclops_region(m, r->what->name);
	cyclops_begin(m, region);
	r->what->run(r);
	cyclops_end(m, region);
	if (cyclops_close(m) < 0)
		fprintf(stderr, "cyclops-kernel: counts were not written\n");
}

#else

/* Without the library: it is for 64-bit machines. */
static void measure(struct microbenchmark_run *r)
{
	r->what->run(r);
}

#endif

int main(int argc, char **argv)
{
	const struct microbenchmark *m = argc > 1 ? microbenchmark_find(argv[1]) : NULL;
	struct microbenchmark_run run = { 0 };
	uint64_t values[N_PARAMETERS];
	int peer_cpu = ANY_CPU;
	struct err err;
	int rc = 0;

	if (m == NULL) {
		fprintf(stderr, "usage: cyclops-kernel NAME [PARAMETER=NUMBER]... [peer=CPU]\n"
				"cyclops list kernels names them\n");
		return USAGE;
	}
	microbenchmark_set_usual(m, values);
	for (int i = 2; i < argc && rc == 0; i++)
		rc = read_argument(m, argv[i], values, &peer_cpu, &err);
	if (rc == 0)
		rc = microbenchmark_prepare(m, values, peer_cpu, &run, &err);
	if (rc == 0)
		measure(&run);
	else
		fprintf(stderr, "cyclops-kernel: %s\n", err.text);
	microbenchmark_release(&run);
	return rc == 0 ? 0 : err.code == ERR_USAGE ? USAGE : FAILED;
}
