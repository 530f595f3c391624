/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of AArch64 Linux, as far as the model has to know what they do. */
#ifndef CYCLOPS_MODEL_CALL_H
#define CYCLOPS_MODEL_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* What a call means for the threads that take turns. */
enum call_kind {
	CALL_PLAIN,  /* returns soon */
	CALL_WAKES,  /* the same, but others may be woken by it */
	CALL_BLOCKS, /* may take as long as it likes */
	CALL_SLEEPS, /* for a given time */
	CALL_YIELDS,
	CALL_EXECUTES, /* another program, unless it fails */
};

struct call {
	enum call_kind kind;
	uint64_t sleep_ns;		 /* of CALL_SLEEPS */
	uint64_t unmapped, unmapped_end; /* guest addresses that no longer are what they were */
	uint64_t deadline; /* guest address of a time of `clock` until which it waits; 0: none */
	int clock;
	bool makes_thread, makes_process, ends_process;
};

enum { CALL_ARGUMENTS = 5 };

/*
 * Reads the number and the first arguments of a call. Guest memory lies in ours,
 * `guest_base` further up; a sleeping time is read from there.
 */
struct call call_read(int64_t number, const uint64_t arguments[CALL_ARGUMENTS],
		      uint64_t guest_base);

/* What a call is when it returns: CALL_WAKES or CALL_PLAIN. */
enum call_kind call_returned(int64_t number);

#endif
