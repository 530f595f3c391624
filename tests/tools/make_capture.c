/* SPDX-License-Identifier: Apache-2.0 */
/* Makes up captures for comparisons with perf, for benchmarks and for demonstrations. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "maker.h"
#include "number.h"

/* As much as fits above the data's start. */
#define DATA_MAX ((uint64_t)2 << 30)

/* The number an option sets is a member of this. */
struct arguments {
	struct make_options make;
	uint64_t n_bytes; /* of trace data; instead of n_records */
};

enum kind { NUMBER, FLAG, TEXT, HELP };

#define MEMBER(name) offsetof(struct arguments, name)
static const struct argument {
	const char *name, *operand;
	enum kind kind;
	size_t member;
	const char *help;
} arguments[] = {
	{ "output", "FILE", TEXT, MEMBER(make.output), "where to write it (also -o)" },
	{ "seed", "N", NUMBER, MEMBER(make.seed), "another number, another capture" },
	{ "records", "N", NUMBER, MEMBER(make.n_records), "SPE records, over all CPUs" },
	{ "bytes", "N", NUMBER, MEMBER(n_bytes), "bytes of SPE records instead" },
	{ "samples", "N", NUMBER, MEMBER(make.n_samples), "PMU samples beside them" },
	{ "memory-samples", "N", NUMBER, MEMBER(make.n_memory), "with data sources, beside them" },
	{ "cpus", "N", NUMBER, MEMBER(make.n_cpus), "CPUs (4)" },
	{ "chunk", "BYTES", NUMBER, MEMBER(make.chunk_bytes), "trace data in a piece (1M)" },
	{ "kernel-share", "PERCENT", NUMBER, MEMBER(make.kernel_percent), "records in the kernel" },
	{ "data", "BYTES", NUMBER, MEMBER(make.data_bytes), "that each process works on (64M)" },
	{ "branches", NULL, FLAG, MEMBER(make.branches), "samples have branch stacks" },
	{ "branch-entries", "N", NUMBER, MEMBER(make.branch_entries), "in each of them (0 to 16)" },
	{ "sharing", NULL, FLAG, MEMBER(make.sharing), "threads take data from each other" },
	{ "no-context", NULL, FLAG, MEMBER(make.no_context), "records do not say their thread" },
	{ "only-perf61", NULL, FLAG, MEMBER(make.only_perf61), "operations perf 6.1 knows" },
	{ "kernel-map", NULL, FLAG, MEMBER(make.kernel_map), "a mapping of the kernel, too" },
	{ "info-v2", NULL, FLAG, MEMBER(make.info_v2), "AUXTRACE_INFO with CPU blocks" },
	{ "two-pmus", NULL, FLAG, MEMBER(make.two_pmus), "odd CPUs have an SPE PMU of their own" },
	{ "binary", "FILE", TEXT, MEMBER(make.binary), "an ELF file that the processes run" },
	{ "symbols", NULL, FLAG, MEMBER(make.only_functions), "take code from its functions only" },
	{ "help", NULL, HELP, 0, "this" },
};

static void print_help(FILE *out)
{
	fprintf(out, "usage: make-capture --output FILE [OPTION]...\n");
	for (size_t i = 0; i < COUNT(arguments); i++)
		fprintf(out, "  --%-15s%-9s %s\n", arguments[i].name,
			arguments[i].operand != NULL ? arguments[i].operand : "",
			arguments[i].help);
	fprintf(out, "Numbers may end in K, M or G: powers of 1024.\n");
}

static int take_argument(struct arguments *out, const struct argument *argument, const char *text)
{
	void *member = (char *)out + argument->member;

	switch (argument->kind) {
	case NUMBER:
		return make_number(text, member);
	case TEXT:
		memcpy(member, &text, sizeof(text));
		return 0;
	case FLAG:
		*(bool *)member = true;
		return 0;
	case HELP:
		print_help(stdout);
		exit(0);
	}
	return -1;
}

static bool can_be_made(const struct make_options *o)
{
	return o->output != NULL && o->n_cpus > 0 && o->n_cpus <= MAKE_CPUS_MAX &&
	       o->chunk_bytes >= MAKE_RECORD_BYTES && o->kernel_percent <= 100 &&
	       o->data_bytes > 0 && o->data_bytes <= DATA_MAX &&
	       (o->binary != NULL || !o->only_functions);
}

static int parse_arguments(int argc, char **argv, struct arguments *out)
{
	struct option options[COUNT(arguments) + 1] = { 0 };
	int got, index = 0;

	for (size_t i = 0; i < COUNT(arguments); i++) {
		options[i].name = arguments[i].name;
		options[i].has_arg = arguments[i].operand != NULL;
	}
	while ((got = getopt_long(argc, argv, "o:", options, &index)) != -1) {
		if (got == 'o')
			index = 0;
		if (got == '?')
			return -1;
		if (take_argument(out, &arguments[index], optarg) < 0) {
			fprintf(stderr, "make-capture: '%s' is not a number\n", optarg);
			return -1;
		}
	}
	if (out->n_bytes > 0)
		out->make.n_records = out->n_bytes / MAKE_RECORD_BYTES;
	return optind == argc && can_be_made(&out->make) ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct arguments arguments_of_run = {
		.make = { .seed = 1,
			  .n_cpus = 4,
			  .chunk_bytes = 1 << 20,
			  .kernel_percent = 15,
			  .data_bytes = 64 << 20 },
	};
	struct err err;

	if (parse_arguments(argc, argv, &arguments_of_run) < 0) {
		print_help(stderr);
		return 2;
	}
	if (make_capture(&arguments_of_run.make, &err) < 0) {
		fprintf(stderr, "make-capture: %s\n", err.text);
		return 1;
	}
	return 0;
}
