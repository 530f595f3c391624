/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit-PID.dump: what a just-in-time compiler wrote down of its code, with its bytes, as it came and moved. The
 * format is that of the kernel's tools/perf/Documentation/jitdump-specification.txt, version 1.
 */
#ifndef CYCLOPS_CAPTURE_FORMAT_JITDUMP_H
#define CYCLOPS_CAPTURE_FORMAT_JITDUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/err.h"

struct jitdump {
	const uint8_t *bytes; /* of the file; borrowed */
	struct cursor rest;
	uint32_t machine; /* e_machine of ELF */
	uint32_t pid;
	bool has_ticks;	     /* times are ticks of the CPU's counter, else CLOCK_MONOTONIC */
	struct cursor lines; /* of the code at `lines_of`, which comes next */
	uint64_t lines_of;
	bool is_cut; /* jitdump_next() ended before the end of the file: the last record is not whole */
};

/* A function that was written to memory, or moved there. */
struct jitdump_code {
	bool is_move;
	uint64_t time; /* ns or ticks: has_ticks */
	uint32_t pid, tid;
	uint64_t address, size;
	uint64_t index;	     /* of the function: a move has that of what is moved */
	uint64_t file_at;    /* of its bytes in the file; of moves 0 */
	const char *name;    /* of moves NULL */
	struct cursor lines; /* of jitdump_lines_next(); empty: none were written */
};

/* Fails if it is no such file; the error begins with `name`. */
int jitdump_open(const void *bytes, size_t size, const char *name, struct jitdump *out,
		 struct err *);

/* The next function; false at the end. Other records are passed over. */
bool jitdump_next(struct jitdump *, struct jitdump_code *out);

/* The source lines of a function, in the order of the dump. */
struct jitdump_lines {
	struct jitdump_code code;
	struct cursor rest;
	uint64_t shift; /* jitdump_line_shift() */
	const char *file;
	size_t n_file;
};

struct jitdump_line {
	uint64_t offset; /* of the first instruction, in the function */
	uint32_t line;
	const char *file; /* not terminated; borrowed from the dump */
	size_t n_file;
};

/*
 * What is added to the addresses of lines: V8 adds the size of an ELF header, which older versions of perf inject needed.
 * `dump` is as jitdump_open() left it.
 */
uint64_t jitdump_line_shift(const struct jitdump *dump);

struct jitdump_lines jitdump_lines_of(const struct jitdump_code *, uint64_t shift);

/* The next line; false at the end. Those outside of the function, or whose file's name is damaged, are left out. */
bool jitdump_lines_next(struct jitdump_lines *, struct jitdump_line *out);

/* Is this the name of such a file: ".../jit-123.dump"? */
bool jitdump_is_path(const char *path);

#endif
