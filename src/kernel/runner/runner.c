/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cyclops-kernel: one microbenchmark as a program of its own, which measures its run as a region.
 *
 *	cyclops-kernel NAME [PARAMETER=VALUE]... [peer=CPU] [repeat=N]
 *
 * With repeat= each run is a region of its own: "chase 1", "chase 2" … Region "nothing" has what counting
 * itself adds to each.
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

enum { FAILED = 1, USAGE = 2, NAME_MAX = 64, REPEATS_MAX = 100 };

/* What is no parameter of the microbenchmark. */
struct run_options {
	int peer_cpu;
	unsigned n_repeats;
};

static int read_value(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	return end == text || *end != '\0' || errno != 0 || text[0] == '-' ? -1 : 0;
}

/* "lines=256" into the values, "peer=1" into the CPU of the second thread, "repeat=5". */
static int read_argument(const struct microbenchmark *m, const char *argument,
			 uint64_t values[N_PARAMETERS], struct run_options *o, struct err *err)
{
	const char *equals = strchr(argument, '=');
	char name[NAME_MAX];
	uint64_t value;

	if (equals == NULL || equals - argument >= NAME_MAX || read_value(equals + 1, &value) < 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "'%s' is not PARAMETER=NUMBER",
			       argument);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - argument), argument);
	if (strcmp(name, "peer") == 0)
		o->peer_cpu = value > INT16_MAX ? ANY_CPU : (int)value;
	else if (strcmp(name, "repeat") == 0)
		o->n_repeats = value < 1 || value > REPEATS_MAX ? 1 : (unsigned)value;
	else
		return microbenchmark_set(m, name, value, values, err);
	return 0;
}

#ifdef CYCLOPS_MEASURE

/* The runs as regions. Where nothing can be counted they are regions all the same. */
static void measure(struct microbenchmark_run *r, unsigned n_repeats)
{
	struct cyclops *m;
	int nothing;

	cyclops_open(&m, NULL);
	nothing = cyclops_region(m, "nothing");
	cyclops_begin(m, nothing);
	cyclops_end(m, nothing);
	for (unsigned i = 0; i < n_repeats; i++) {
		char numbered[NAME_MAX];
		int region;

		snprintf(numbered, sizeof(numbered), "%s %u", r->what->name, i + 1);
		region = cyclops_region(m, n_repeats > 1 ? numbered : r->what->name);
		cyclops_begin(m, region);
		r->what->run(r);
		cyclops_end(m, region);
	}
	if (cyclops_close(m) < 0)
		fprintf(stderr, "cyclops-kernel: counts were not written\n");
}

#else

/* Without the library: it is for 64-bit machines. */
static void measure(struct microbenchmark_run *r, unsigned n_repeats)
{
	while (n_repeats-- > 0)
		r->what->run(r);
}

#endif

int main(int argc, char **argv)
{
	const struct microbenchmark *m = argc > 1 ? microbenchmark_find(argv[1]) : NULL;
	struct microbenchmark_run run = { 0 };
	uint64_t values[N_PARAMETERS];
	struct run_options options = { .peer_cpu = ANY_CPU, .n_repeats = 1 };
	struct err err;
	int rc = 0;

	if (m == NULL) {
		fprintf(stderr, "usage: cyclops-kernel NAME [PARAMETER=NUMBER]... "
				"[peer=CPU] [repeat=N]\n"
				"cyclops list kernels names them\n");
		return USAGE;
	}
	microbenchmark_set_usual(m, values);
	for (int i = 2; i < argc && rc == 0; i++)
		rc = read_argument(m, argv[i], values, &options, &err);
	if (rc == 0)
		rc = microbenchmark_prepare(m, values, options.peer_cpu, &run, &err);
	if (rc == 0)
		measure(&run, options.n_repeats);
	else
		fprintf(stderr, "cyclops-kernel: %s\n", err.text);
	microbenchmark_release(&run);
	return rc == 0 ? 0 : err.code == ERR_USAGE ? USAGE : FAILED;
}
