/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of AArch64 Linux: their effect on scheduling, time and mappings of the guest. */
#ifndef CYCLOPS_MODEL_CALL_H
#define CYCLOPS_MODEL_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* What a call means for the scheduler. */
enum call_kind {
	CALL_PLAIN,  /* does not block */
	CALL_WAKES,  /* does not block, and may wake other threads */
	CALL_BLOCKS, /* may block for any time */
	CALL_SLEEPS, /* for sleep_ns */
	CALL_YIELDS,
	CALL_EXECUTES, /* executes another program, unless it fails */
};

struct call {
	enum call_kind kind;
	uint64_t sleep_ns;		 /* of CALL_SLEEPS */
	uint64_t unmapped, unmapped_end; /* guest addresses that are unmapped or mapped anew */
	uint64_t deadline; /* guest address of the timespec until which it waits; 0: none */
	int clock;	   /* clock id of the deadline */
	bool makes_thread, makes_process, ends_process;
};

enum { CALL_ARGUMENTS = 5 };

/*
 * Decodes a call by its number and first arguments. Guest address 0 is at `guest_base` in this
 * process; times to sleep are read from guest memory.
 */
struct call call_read(int64_t number, const uint64_t arguments[CALL_ARGUMENTS],
		      uint64_t guest_base);

/* The kind of a call when it returns: CALL_WAKES or CALL_PLAIN. */
enum call_kind call_returned(int64_t number);

#endif
