/* SPDX-License-Identifier: Apache-2.0 */
/* Makes up a whole capture. */
#ifndef CYCLOPS_TESTS_MAKER_H
#define CYCLOPS_TESTS_MAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "capture/writer/writer.h"

struct make_options {
	uint64_t seed;
	uint64_t n_records;	 /* of SPE, over all CPUs */
	uint64_t n_samples;	 /* of a PMU event, over all CPUs */
	uint64_t n_memory;	 /* memory samples, with a data source, over all CPUs */
	uint64_t n_cpus;	 /* at least 1 */
	uint64_t chunk_bytes;	 /* of trace data in one AUXTRACE record */
	uint64_t kernel_percent; /* of the SPE records */
	uint64_t data_bytes;	 /* of the data that each process works on */
	bool branches;		 /* samples have branch stacks */
	uint64_t branch_entries; /* in each, at most 32; 0: 0 to 16 at random */
	bool sharing;		 /* threads take most of it out of each other's caches */
	bool no_context;	 /* no context packets: threads are known by their switches */
	bool only_perf61;	 /* no operations that perf 6.1 has no words for */
	bool kernel_map;	 /* say where the kernel is; perf then names its addresses by
				    the symbols of the machine it runs on */
	bool info_v2;		 /* AUXTRACE_INFO of perf 6.14, which perf 6.1 cannot use */
	bool two_pmus;	     /* odd CPUs are of another kind, and have an SPE PMU of their own */
	bool only_functions; /* code lies in functions of the binary, not just in its code */
	const char *binary;  /* what the processes run; NULL: a file that does not exist */
	const char *output;
};

enum {
	MAKE_CPUS_MAX = 256,
	MAKE_SPE_TYPE = 10, /* number of the PMU; the second one has the next */
};

/* Bytes of trace data in a record. */
enum { MAKE_RECORD_BYTES = 64 };

/* The same options make the same file. */
int make_capture(const struct make_options *, struct err *);

/* The header features of the machine it says it was made on (maker_machine.c). */
void make_machine(struct writer *, uint64_t n_cpus);

#endif
