/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes side-band records of what existed before recording began, from /proc: threads, their names
 * and mappings, the kernel and its modules. Their time is 0, so they come first.
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
	const char *root;    /* "" for this machine: the directory of proc/ and sys/ */
	bool with_data;	     /* mappings of data, too */
	bool with_build_ids; /* MMAP2 records with build-ids instead of inodes, where known */
	bool with_namespaces;
	struct diags *diags;
	const struct kernel *kernel; /* for synthesize_bpf() */
	/* Kept between calls, freed by synthesis_release(). */
	struct build_id_cache *build_ids;
	VEC_OF(uint32_t) pids; /* processes already written */
};

void synthesis_release(struct synthesis *);

/*
 * Writes the kernel and its modules, with their build-ids as a header feature. Writes nothing, and
 * notes it in the diagnostics, if addresses are hidden from this user.
 */
void synthesize_kernel(struct synthesis *);

/*
 * Writes the functions of loaded BPF programs as KSYMBOL records. The first function has the
 * program's name, which the kernel cuts to 15 characters. Writes nothing without the permission.
 */
void synthesize_bpf(struct synthesis *);

/*
 * Writes a process with all its threads and mappings. `tid`: any of its threads. A process that has
 * ended, or was written before, is skipped.
 */
void synthesize_process(struct synthesis *, uint32_t tid);

/* All processes. */
void synthesize_all(struct synthesis *);

/* The range of kernel code, from lines of /proc/kallsyms. Zeroed at the beginning, but for code_bytes. */
struct kernel_range {
	const char *mark; /* the symbol at its start; NULL until seen */
	uint64_t start, end;
	uint64_t code, code_bytes; /* from _stext on; 0: not known */
};

/* Reads a line "address type name" without its newline. True once both ends are known. */
bool synthesize_read_symbol(const char *line, struct kernel_range *);

/*
 * Reads a line of /proc/modules: the name, start and length of the module. False, and nothing is
 * changed, if the line is damaged, the name too long or the address hidden.
 */
enum { MODULE_NAME_SIZE = 64 };
bool synthesize_read_module(const char *line, char name[MODULE_NAME_SIZE], struct record_mmap *out);

/* Reads a line of /proc/PID/maps. The path is borrowed from the line, which is changed. */
bool synthesize_read_map(char *line, struct record_mmap *out);

#endif
