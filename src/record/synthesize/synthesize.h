/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side-band records of what was there before recording began, made up from /proc: threads,
 * their names and mappings, the kernel and its modules. They carry time 0 and so come first.
 */
#ifndef CYCLOPS_RECORD_SYNTHESIZE_SYNTHESIZE_H
#define CYCLOPS_RECORD_SYNTHESIZE_SYNTHESIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/vec.h"
#include "capture/writer/writer.h"
#include "pmu/kernel.h"

struct synthesis {
	struct writer *writer;
	const char *root;    /* "" for this machine: where proc/ and sys/ are */
	bool with_data;	     /* mappings without code, too */
	bool with_build_ids; /* MMAP2 records tell build-ids instead of inodes, if they can */
	bool with_namespaces;
	struct diags *diags;
	const struct kernel *kernel; /* for synthesize_bpf() */
	/* Kept between calls; synthesis_release() frees them. */
	struct build_id_cache *build_ids;
	VEC_OF(uint32_t) pids; /* of processes that were written */
};

void synthesis_release(struct synthesis *);

/*
 * The kernel and its modules, with their build-ids as a header feature. If addresses are hidden
 * from this user, that is noted in the diagnostics and nothing is written.
 */
void synthesize_kernel(struct synthesis *);

/*
 * The functions of BPF programs that are loaded, as KSYMBOL records: the first of a program by
 * its name, which the kernel cuts to 15 characters. Nothing if this user may not ask.
 */
void synthesize_bpf(struct synthesis *);

/*
 * A process: all its threads and its mappings. What has ended meanwhile is left out in
 * silence, and so is one that was written before. `tid` of one of its threads, or the pid itself.
 */
void synthesize_process(struct synthesis *, uint32_t tid);

/* All processes. */
void synthesize_all(struct synthesis *);

/* Where the kernel's code is, by lines of /proc/kallsyms. Zeroed at the beginning. */
struct kernel_range {
	const char *mark; /* the symbol at its start, NULL: not seen yet */
	uint64_t start, end;
};

/* Takes note of a line "address type name" without its newline; true when both ends are known. */
bool synthesize_read_symbol(const char *line, struct kernel_range *);

/*
 * Reads one line of /proc/modules: the name, and start and length of the mapping. False, and
 * nothing is changed, if the line is damaged, its name too long, or the address hidden.
 */
enum { MODULE_NAME_SIZE = 64 };
bool synthesize_read_module(const char *line, char name[MODULE_NAME_SIZE], struct record_mmap *out);

/* Reads one line of /proc/PID/maps; the path is borrowed from the line and ended there. */
bool synthesize_read_map(char *line, struct record_mmap *out);

#endif
