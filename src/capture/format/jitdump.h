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
	bool has_ticks; /* times are ticks of the CPU's counter, else CLOCK_MONOTONIC */
	bool is_cut; /* jitdump_next() ended before the end of the file: the last record is not whole */
};

/* A function that was written to memory, or moved there. */
struct jitdump_code {
	bool is_move;
	uint64_t time; /* ns or ticks: has_ticks */
	uint32_t pid, tid;
	uint64_t address, size;
	uint64_t index;	  /* of the function: a move has that of what is moved */
	uint64_t file_at; /* of its bytes in the file; of moves 0 */
	const char *name; /* of moves NULL */
};

/* Fails if it is no such file; the error begins with `name`. */
int jitdump_open(const void *bytes, size_t size, const char *name, struct jitdump *out,
		 struct err *);

/* The next function; false at the end. Other records are passed over. */
bool jitdump_next(struct jitdump *, struct jitdump_code *out);

/* Is this the name of such a file: ".../jit-123.dump"? */
bool jitdump_is_path(const char *path);

#endif
