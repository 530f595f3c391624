/* SPDX-License-Identifier: Apache-2.0 */
/* False or true sharing, or none: what threads do to a line, and what that is called. */
#include "c2c/verdict/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { MAX_ACCESSES = 8, SLOT_NS = 10, LAST_SLOT = 63, STORES_ELSEWHERE = 1 };

/* How a thread accesses the line. */
enum what {
	LOAD = 1, /* of 8 bytes */
	LOAD4,
	STORE,
	ATOMIC,
	EXCLUSIVE,	/* a store of 8 bytes that ends a pair */
	UNKNOWN_STORE,	/* its instruction is not known */
	SCALABLE_STORE, /* of a whole vector, which nothing says the length of */
	VECTOR256_STORE,
	PARTIAL_STORE, /* of some elements of 16 bytes */
	SCATTER,
	N_WHATS,
};

static const struct {
	unsigned kind; /* as recorded */
	unsigned vector;
	struct c2c_instruction instruction;
} whats[N_WHATS] = {
	[LOAD] = { 0, 0, { .bytes = 8, .is_load = true } },
	[LOAD4] = { 0, 0, { .bytes = 4, .is_load = true } },
	[STORE] = { C2C_KIND_STORE, 0, { .bytes = 8, .is_store = true } },
	[ATOMIC] = { C2C_KIND_STORE | C2C_KIND_ATOMIC, 0, { .bytes = 8, .is_store = true } },
	[EXCLUSIVE] = { C2C_KIND_STORE,
			0,
			{ .bytes = 8, .is_store = true, .kind = C2C_KIND_EXCLUSIVE } },
	[UNKNOWN_STORE] = { C2C_KIND_STORE, 0, { 0 } },
	[SCALABLE_STORE] = { C2C_KIND_STORE | C2C_KIND_VECTOR,
			     0,
			     { .scalable = 16, .is_store = true } },
	[VECTOR256_STORE] = { C2C_KIND_STORE | C2C_KIND_VECTOR,
			      4,
			      { .scalable = 16, .is_store = true } },
	[PARTIAL_STORE] = { C2C_KIND_STORE | C2C_KIND_VECTOR | C2C_KIND_PARTIAL,
			    0,
			    { .bytes = 16, .is_store = true } },
	[SCATTER] = { C2C_KIND_STORE | C2C_KIND_VECTOR,
		      0,
		      { .is_scattered = true, .is_store = true } },
};

struct access {
	enum what what;
	uint32_t tid;
	uint16_t offset;
	uint32_t n, n_waited; /* of these so many were contended */
	uint8_t from, to;     /* slots of time that it fills; 0, 0: all */
	uint32_t n_reloads;   /* … so many were reloads */
	uint32_t n_hitm;      /* … so many found it modified; the mode is not about these */
	uint32_t process;
};

/* What else the capture is like. */
enum circumstance { NO_STORES = 1, STORES_LEFT_OUT = 2, VECTORS_128 = 4, VECTORS_512 = 8 };

static const struct {
	const char *name;
	struct access accesses[MAX_ACCESSES]; /* ends with what 0 */
	struct c2c_judgement expected;	      /* of which `false_part` in hundredths: */
	unsigned false_part;
	unsigned circumstances;
} cases[] = {
	{ "different bytes",
	  { { STORE, 1, 0, 10, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  100 },
	{ "the same bytes",
	  { { STORE, 1, 8, 10, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0 },
	{ "the last byte of a wider store",
	  { { STORE, 1, 0, 10, 0 }, { LOAD4, 2, 4, 20, 10 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0 },
	{ "the first byte behind it",
	  { { STORE, 1, 0, 10, 0 }, { LOAD4, 2, 8, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  100 },
	{ "both, more of one",
	  { { STORE, 1, 0, 16, 0 }, { STORE, 1, 8, 4, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, true, 0, 2, 1, 1, 20, 10, 10, false, false },
	  80 },
	{ "both, more of the other",
	  { { STORE, 1, 0, 4, 0 }, { STORE, 1, 8, 16, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 1, 1, 20, 10, 10, false, false, true },
	  20 },
	{ "a little of the other",
	  { { STORE, 1, 0, 19, 0 }, { STORE, 1, 8, 1, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 20, 10, 10, false, false },
	  95 },
	{ "nobody waits for own stores",
	  { { STORE, 1, 0, 10, 0 }, { STORE, 2, 8, 1000, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 2, 1, 1010, 10, 10, false, false },
	  100 },
	{ "those that waited count, not those that did not",
	  { { STORE, 1, 0, 10, 0 }, { LOAD, 2, 0, 100, 0 }, { LOAD, 2, 8, 10, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  100 },
	{ "a thread that reaches for many bytes, with stores of its own",
	  { { STORE, 1, 0, 10, 0 },
	    { LOAD4, 2, 0, 10, 2 },
	    { LOAD4, 2, 4, 10, 2 },
	    { LOAD4, 2, 8, 10, 2 },
	    { LOAD4, 2, 12, 10, 2 },
	    { LOAD4, 2, 16, 10, 2 },
	    { STORE, 2, 16, 5, 0 } },
	  { C2C_FALSE, C2C_SURE, true, 0, 2, 2, 1, 15, 10, 10, false, false },
	  60 },
	{ "all count if four waited",
	  { { STORE, 1, 0, 10, 0 }, { LOAD, 2, 0, 96, 0 }, { LOAD, 2, 8, 4, 4 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 1, 1, 10, 4, 100, false, false },
	  4 },
	{ "reloads waited, too",
	  { { STORE, 1, 0, 10, 0 }, { LOAD, 2, 0, 100, 0 }, { LOAD, 2, 8, 10, .n_reloads = 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  100 },
	{ "five stores",
	  { { STORE, 1, 0, 5, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 5, 10, 10, false, false },
	  100 },
	{ "four stores",
	  { { STORE, 1, 0, 4, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_UNKNOWN, C2C_FEW_SAMPLES, false, 0, 2, 1, 1, 4, 10, 10, false, false },
	  0 },
	{ "four victims",
	  { { STORE, 1, 0, 50, 0 }, { LOAD, 2, 8, 4, 0 } },
	  { C2C_UNKNOWN, C2C_FEW_SAMPLES, false, 0, 2, 1, 1, 50, 0, 4, false, false },
	  0 },
	{ "contended, and stores may be left out",
	  { { STORE, 1, 0, 10, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_UNKNOWN, C2C_STORES_LEFT_OUT, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0,
	  STORES_LEFT_OUT },
	{ "the same tid in two processes",
	  { { STORE, 1, 0, 10, 0, .process = 1 }, { LOAD, 1, 0, 20, 10, .process = 2 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 1, 2, 10, 10, 10, false, false },
	  0 },
	{ "four threads, two write",
	  { { STORE, 1, 0, 10, 0 },
	    { STORE, 2, 8, 10, 0 },
	    { LOAD, 3, 16, 10, 5 },
	    { LOAD, 4, 24, 10, 5 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 4, 2, 1, 20, 10, 10, false, false },
	  100 },

	/* Nobody was seen writing. */
	{ "read only",
	  { { LOAD, 1, 0, 10, 0 }, { LOAD, 2, 8, 10, 0 } },
	  { C2C_READ_ONLY, C2C_SURE, false, 0, 2, 0, 1, 0, 0, 0, false, false },
	  0 },
	{ "read only, one record less",
	  { { LOAD, 1, 0, 10, 0 }, { LOAD, 2, 8, 9, 0 } },
	  { C2C_UNKNOWN, C2C_FEW_SAMPLES, false, 0, 2, 0, 1, 0, 0, 0, false, false },
	  0 },
	{ "no store in the capture",
	  { { LOAD, 1, 0, 30, 0 }, { LOAD, 2, 8, 30, 9 } },
	  { C2C_UNKNOWN, C2C_NO_STORES, false, 0, 2, 0, 1, 0, 9, 0, false, false },
	  0,
	  NO_STORES },
	{ "stores may be left out, and loads waited",
	  { { LOAD, 1, 0, 30, 0 }, { LOAD, 2, 8, 30, 1 } },
	  { C2C_UNKNOWN, C2C_STORES_LEFT_OUT, false, 0, 2, 0, 1, 0, 1, 0, false, false },
	  0,
	  STORES_LEFT_OUT },
	{ "stores may be left out, and no load waited",
	  { { LOAD, 1, 0, 30, 0 }, { LOAD, 2, 8, 30, 0 } },
	  { C2C_READ_ONLY, C2C_SURE, false, 0, 2, 0, 1, 0, 0, 0, false, false },
	  0,
	  STORES_LEFT_OUT },
	{ "loads found it modified",
	  { { LOAD, 1, 0, 30, 0 }, { LOAD, 2, 8, 30, 0, .n_hitm = 1 } },
	  { C2C_UNKNOWN, C2C_UNSEEN_STORES, false, 0, 2, 0, 1, 0, 0, 0, false, false },
	  0 },

	/* One thread was seen. */
	{ "single thread",
	  { { STORE, 1, 0, 10, 0 }, { LOAD, 1, 0, 10, 3 } },
	  { C2C_SINGLE_THREAD, C2C_SURE, false, 0, 1, 1, 1, 10, 3, 0, false, false },
	  0 },
	{ "single thread, few, and another core had it",
	  { { STORE, 1, 0, 10, 0 }, { LOAD, 1, 0, 9, 1 } },
	  { C2C_UNKNOWN, C2C_FEW_SAMPLES, false, 0, 1, 1, 1, 10, 1, 0, false, false },
	  0 },
	{ "single thread, few, and nobody had it",
	  { { STORE, 1, 0, 3, 0 } },
	  { C2C_SINGLE_THREAD, C2C_SURE, false, 0, 1, 1, 1, 3, 0, 0, false, false },
	  0 },
	{ "single thread, stores may be left out",
	  { { LOAD, 1, 0, 40, 1 } },
	  { C2C_UNKNOWN, C2C_STORES_LEFT_OUT, false, 0, 1, 0, 1, 0, 1, 0, false, false },
	  0,
	  STORES_LEFT_OUT },

	/* When threads were there. */
	{ "one by one",
	  { { STORE, 1, 0, 8, 0, 0, 20 }, { LOAD, 2, 0, 8, 2, 30, 60 } },
	  { C2C_SINGLE_THREAD, C2C_ONE_BY_ONE, false, 0, 2, 1, 1, 8, 2, 0, false, false },
	  0 },
	{ "one by one, few of one",
	  { { STORE, 1, 0, 80, 0, 0, 20 }, { LOAD, 2, 0, 7, 2, 30, 60 } },
	  { C2C_UNKNOWN, C2C_FEW_SAMPLES, false, 0, 2, 1, 1, 80, 2, 0, false, false },
	  0 },
	{ "written, then read by several at once",
	  { { STORE, 1, 0, 80, 0, 0, 20 },
	    { LOAD, 2, 0, 40, 2, 30, 60 },
	    { LOAD, 3, 0, 40, 2, 31, 61 } },
	  { C2C_READ_ONLY, C2C_IN_PHASES, false, 0, 3, 1, 1, 80, 4, 0, false, false },
	  0 },
	{ "the same, few of one",
	  { { STORE, 1, 0, 80, 0, 0, 20 },
	    { LOAD, 2, 0, 40, 2, 30, 60 },
	    { LOAD, 3, 0, 7, 2, 31, 61 } },
	  { C2C_UNKNOWN, C2C_FEW_SAMPLES, false, 0, 3, 1, 1, 80, 4, 0, false, false },
	  0 },
	{ "loads waited when nobody wrote",
	  { { STORE, 1, 0, 80, 0, 0, 20 },
	    { LOAD, 2, 0, 40, 3, 30, 60 },
	    { LOAD, 3, 0, 40, 2, 31, 61 } },
	  { C2C_UNKNOWN, C2C_OTHER_TIMES, false, 0, 3, 1, 1, 80, 5, 0, false, false },
	  0 },
	{ "who set it up before does not make others wait",
	  { { STORE, 3, 8, 1000, 0, 0, 9 },
	    { STORE, 1, 0, 10, 0, 20, 63 },
	    { LOAD, 2, 8, 40, 10, 20, 63 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 3, 2, 1, 1010, 10, 10, false, false },
	  100 },
	{ "… but does if it was there all the time",
	  { { STORE, 3, 8, 1000, 0, 0, 63 },
	    { STORE, 1, 0, 10, 0, 20, 63 },
	    { LOAD, 2, 8, 40, 10, 20, 63 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 3, 2, 1, 1010, 10, 10, false, false },
	  1 },

	/* Bytes that are not known. */
	{ "sizes unknown",
	  { { UNKNOWN_STORE, 1, 0, 10, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_UNKNOWN, C2C_SIZES_UNKNOWN, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0 },
	{ "sizes unknown, and too far away to matter",
	  { { UNKNOWN_STORE, 1, 0, 10, 0 }, { LOAD, 2, 16, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  100 },
	{ "sizes unknown, and the first byte is the same",
	  { { UNKNOWN_STORE, 1, 8, 10, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0 },
	{ "sizes unknown of a few",
	  { { UNKNOWN_STORE, 1, 0, 2, 0 }, { STORE, 1, 32, 18, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 20, 10, 10, false, false },
	  100 },
	{ "vectors of unknown length",
	  { { SCALABLE_STORE, 1, 0, 10, 0 }, { LOAD, 2, 32, 20, 10 } },
	  { C2C_UNKNOWN, C2C_VECTORS_UNKNOWN, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0 },
	{ "vectors, short ones as the user says",
	  { { SCALABLE_STORE, 1, 0, 10, 0 }, { LOAD, 2, 32, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  100,
	  VECTORS_128 },
	{ "vectors, long ones as the user says",
	  { { SCALABLE_STORE, 1, 0, 10, 0 }, { LOAD, 2, 32, 20, 10 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0,
	  VECTORS_512 },
	{ "vectors as the record says, within",
	  { { VECTOR256_STORE, 1, 0, 10, 0 }, { LOAD, 2, 24, 20, 10 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0,
	  VECTORS_128 },
	{ "vectors as the record says, behind",
	  { { VECTOR256_STORE, 1, 0, 10, 0 }, { LOAD, 2, 32, 20, 10 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  100,
	  VECTORS_512 },
	{ "some elements",
	  { { PARTIAL_STORE, 1, 0, 10, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_UNKNOWN, C2C_PARTS_UNKNOWN, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0 },
	{ "elements anywhere",
	  { { SCATTER, 1, 48, 10, 0 }, { LOAD, 2, 8, 20, 10 } },
	  { C2C_UNKNOWN, C2C_SIZES_UNKNOWN, false, 0, 2, 1, 1, 10, 10, 10, false, false },
	  0 },

	/* Locks. */
	{ "a lock, and what it guards",
	  { { ATOMIC, 1, 0, 10, 5 },
	    { ATOMIC, 2, 0, 10, 5 },
	    { STORE, 1, 8, 10, 0 },
	    { STORE, 2, 8, 10, 0 },
	    { LOAD, 1, 8, 10, 5 },
	    { LOAD, 2, 8, 10, 5 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 2, 1, 40, 20, 20, true, true, .n_atomics = 20 },
	  0 },
	{ "exclusives are locks, too",
	  { { EXCLUSIVE, 1, 0, 10, 0 },
	    { EXCLUSIVE, 2, 0, 10, 0 },
	    { STORE, 1, 8, 10, 0 },
	    { STORE, 2, 8, 10, 0 },
	    { LOAD, 1, 8, 10, 5 },
	    { LOAD, 2, 8, 10, 5 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 2, 1, 40, 10, 10, true, true },
	  0 },
	{ "not a lock, though the same",
	  { { STORE, 1, 0, 10, 5 },
	    { STORE, 2, 0, 10, 5 },
	    { STORE, 1, 8, 10, 0 },
	    { STORE, 2, 8, 10, 0 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 2, 1, 40, 10, 10, false, false, true },
	  50 },
	{ "atomics that all update",
	  { { ATOMIC, 1, 0, 10, 5 },
	    { ATOMIC, 2, 0, 10, 5 },
	    { ATOMIC, 3, 0, 10, 5 },
	    { ATOMIC, 1, 8, 12, 6 },
	    { ATOMIC, 2, 8, 12, 6 },
	    { ATOMIC, 3, 8, 12, 6 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 3, 3, 1, 66, 33, 33, true, false, true, .n_atomics = 66 },
	  50 },
	{ "the same, and one thread has the second for itself",
	  { { ATOMIC, 1, 0, 10, 5 },
	    { ATOMIC, 2, 0, 10, 5 },
	    { ATOMIC, 3, 0, 10, 5 },
	    { ATOMIC, 1, 8, 36, 6 } },
	  { C2C_FALSE, C2C_SURE, true, 0, 3, 3, 1, 66, 21, 21, true, false, .n_atomics = 66 },
	  59 },
	{ "what one alone wrote before is not what all use alike",
	  { { STORE, 3, 8, 1000, 0, 0, 9 },
	    { STORE, 1, 0, 10, 0, 20, 63 },
	    { LOAD, 1, 8, 40, 10, 20, 63 },
	    { LOAD, 2, 8, 40, 10, 20, 63 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 3, 2, 1, 1010, 20, 10, false, false },
	  100 },
	{ "a lock, and what each has for itself",
	  { { ATOMIC, 1, 0, 20, 0 },
	    { ATOMIC, 2, 0, 20, 0 },
	    { STORE, 1, 8, 20, 0 },
	    { STORE, 2, 16, 20, 0 } },
	  { C2C_FALSE, C2C_SURE, true, 0, 2, 2, 1, 80, 0, 80, true, false, .n_atomics = 40 },
	  75 },
	{ "a lock, what it guards, and more that each has for itself",
	  { { ATOMIC, 1, 0, 10, 0 },
	    { ATOMIC, 2, 0, 10, 0 },
	    { STORE, 1, 8, 5, 0 },
	    { STORE, 2, 8, 5, 0 },
	    { STORE, 1, 16, 20, 0 },
	    { STORE, 2, 24, 20, 0 } },
	  { C2C_FALSE, C2C_SURE, true, 0, 2, 2, 1, 70, 0, 70, true, false, .n_atomics = 20 },
	  90 },
	{ "a lock and what each has for itself, of few samples",
	  { { ATOMIC, 1, 0, 4, 0 },
	    { ATOMIC, 2, 0, 4, 0 },
	    { STORE, 1, 8, 4, 0 },
	    { STORE, 2, 16, 4, 0 } },
	  { C2C_UNKNOWN, C2C_FEW_SAMPLES, false, 0, 2, 2, 1, 16, 0, 16, true, false,
	    .n_atomics = 8 },
	  0 },
	{ "who looks at a lock does not take it: what it writes is not guarded",
	  { { ATOMIC, 1, 0, 20, 0 },
	    { ATOMIC, 2, 0, 20, 0 },
	    { STORE, 1, 8, 20, 0 },
	    { STORE, 3, 8, 20, 0 },
	    { LOAD, 3, 0, 20, 20 } },
	  { C2C_TRUE, C2C_SURE, false, 0, 3, 3, 1, 80, 20, 20, true, false, true, .n_atomics = 40 },
	  33 },
	{ "who takes a lock of its own does not take that of the others",
	  { { ATOMIC, 1, 0, 20, 0 },
	    { ATOMIC, 2, 0, 20, 0 },
	    { STORE, 1, 8, 20, 0 },
	    { ATOMIC, 3, 16, 2, 0 },
	    { STORE, 3, 8, 20, 20 } },
	  { C2C_FALSE, C2C_SURE, true, 0, 3, 3, 1, 82, 20, 20, true, false, .n_atomics = 42 },
	  67 },
	{ "a third thread reads beside a lock without taking it",
	  { { ATOMIC, 1, 0, 20, 0 },
	    { ATOMIC, 2, 0, 20, 0 },
	    { STORE, 1, 8, 20, 0 },
	    { STORE, 2, 8, 20, 0 },
	    { LOAD, 3, 16, 20, 20 } },
	  { C2C_FALSE, C2C_SURE, false, 0, 3, 2, 1, 80, 20, 20, true, false, .n_atomics = 40 },
	  100 },
};

struct world {
	struct session session; /* without a heap map */
	struct c2c sharing;
	struct c2c_accesses seen;
	struct c2c_instruction instructions[N_WHATS];
};

static void world_init(struct world *w, unsigned circumstances)
{
	*w = (struct world){ 0 };
	tuples_init(&w->seen.keys, C2C_TOUCH_WORDS);
	for (size_t i = 0; i < N_WHATS; i++)
		w->instructions[i] = whats[i].instruction;
	w->sharing.session = &w->session;
	w->sharing.options.mode = C2C_BY_PEER;
	w->sharing.accesses_seen = &w->seen;
	w->sharing.instructions = w->instructions;
	w->sharing.total.n[C2C_STORES] = circumstances & NO_STORES ? 0 : STORES_ELSEWHERE;
	w->sharing.lacks_stores = circumstances & STORES_LEFT_OUT;
	w->sharing.request.vector_bits = circumstances & VECTORS_128   ? 128
					 : circumstances & VECTORS_512 ? 512
								       : 0;
}

static void world_release(struct world *w)
{
	tuples_release(&w->seen.keys);
	vec_release(&w->seen.kept);
	vec_release(&w->seen.many);
	vec_release(&w->sharing.subjects);
}

static uint64_t slots_of(unsigned from, unsigned to)
{
	return (~UINT64_C(0) >> (LAST_SLOT - to)) & (~UINT64_C(0) << from);
}

static struct c2c_touch touch_of(const struct access *a)
{
	uint8_t to = a->to > 0 ? a->to : LAST_SLOT;
	bool is_store = c2c_kind_writes(whats[a->what].kind);
	struct c2c_touch t = {
		.reloads.n = a->n_reloads,
		.first_ns = (uint64_t)a->from * SLOT_NS,
		.last_ns = (uint64_t)to * SLOT_NS + SLOT_NS - 1,
		.slots = slots_of(a->from, to),
	};

	t.counts.n[C2C_RECORDS] = a->n;
	t.counts.n[is_store ? C2C_STORES : C2C_LOADS] = a->n;
	t.counts.n[C2C_LOCAL_PEER] = a->n_waited;
	t.counts.n[C2C_LOCAL_HITM] = a->n_hitm;
	return t;
}

/* Adds a line with these accesses; the place of each is its `what`. */
static void add_line(struct world *w, const struct access *accesses)
{
	struct c2c_subject *line = vec_add(&w->sharing.subjects);

	line->first_touch = w->seen.keys.n;
	for (const struct access *a = accesses; a < accesses + MAX_ACCESSES && a->what != 0; a++) {
		const uint64_t key[C2C_TOUCH_WORDS] = {
			(uint64_t)(w->sharing.subjects.n - 1) << 32 |
				(uint64_t)whats[a->what].vector << 24 | (uint64_t)a->offset << 8 |
				whats[a->what].kind,
			(uint64_t)a->what << 32 | a->tid,
			(uint64_t)a->process << 32,
		};
		struct c2c_touch touch = touch_of(a);
		uint32_t number = tuples_add(&w->seen.keys, key);

		assert_int_equal(number, w->seen.kept.n);
		*vec_add(&w->seen.kept) = (struct c2c_kept_touch){ .many = (uint32_t)w->seen.many.n,
								   .flags = C2C_KEPT_MANY };
		*vec_add(&w->seen.many) = touch;
		c2c_counts_add(&line->counts, &touch.counts);
		line->reloads.n += touch.reloads.n;
		line->n_touches++;
	}
}

static void expect(const struct c2c_judgement *is, const struct c2c_judgement *wanted,
		   unsigned false_part)
{
	assert_string_equal(c2c_verdict_name(is->verdict), c2c_verdict_name(wanted->verdict));
	assert_int_equal(is->reason, wanted->reason);
	assert_int_equal(is->is_both, wanted->is_both);
	assert_true(is->false_part > false_part / 100.0 - 0.006 &&
		    is->false_part < false_part / 100.0 + 0.006);
	assert_int_equal(is->n_threads, wanted->n_threads);
	assert_int_equal(is->n_writers, wanted->n_writers);
	assert_int_equal(is->n_processes, wanted->n_processes);
	assert_int_equal(is->n_writes, wanted->n_writes);
	assert_int_equal(is->n_atomics, wanted->n_atomics);
	assert_int_equal(is->n_waited, wanted->n_waited);
	assert_int_equal(is->n_victims, wanted->n_victims);
	assert_int_equal(is->has_lock, wanted->has_lock);
	assert_int_equal(is->is_guarded, wanted->is_guarded);
	assert_int_equal(is->is_common, wanted->is_common);
}

static void a_line_has_its_verdict(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;
		struct c2c_judgement judgement;

		print_message("%s\n", cases[i].name);
		world_init(&w, cases[i].circumstances);
		add_line(&w, cases[i].accesses);
		judgement = c2c_judge(&w.sharing, (const uint32_t[]){ 0 }, 1);
		expect(&judgement, &cases[i].expected, cases[i].false_part);
		world_release(&w);
	}
}

/* What each thread did is looked at line by line, and added up. */
static const struct {
	const char *name;
	struct access lines[2][MAX_ACCESSES];
	struct c2c_judgement expected;
	unsigned false_part;
} pairs[] = {
	{ "few on each, enough on both",
	  { { { STORE, 1, 0, 3, 0 }, { LOAD, 2, 8, 3, 3 } },
	    { { STORE, 1, 0, 2, 0 }, { LOAD, 3, 8, 2, 2 } } },
	  { C2C_FALSE, C2C_SURE, false, 0, 3, 1, 1, 5, 5, 5, false, false },
	  100 },
	{ "stores to the other line are not waited for",
	  { { { STORE, 1, 0, 10, 0 }, { LOAD, 2, 8, 10, 10 } },
	    { { STORE, 1, 8, 100, 0 }, { STORE, 3, 8, 5, 0 } } },
	  { C2C_FALSE, C2C_SURE, false, 0, 3, 2, 1, 115, 10, 10, false, false },
	  100 },
	{ "a thread for each line",
	  { { { STORE, 1, 0, 20, 0 } }, { { STORE, 2, 0, 20, 0 } } },
	  { C2C_SINGLE_THREAD, C2C_SURE, false, 0, 2, 2, 1, 40, 0, 0, false, false },
	  0 },
	{ "one is contended, the other read",
	  { { { LOAD, 1, 0, 50, 0 }, { LOAD, 2, 8, 50, 0 } },
	    { { STORE, 1, 0, 5, 0 }, { LOAD, 2, 0, 5, 5 } } },
	  { C2C_TRUE, C2C_SURE, false, 0, 2, 1, 1, 5, 5, 5, false, false },
	  0 },
};

static void lines_are_judged_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct world w;
		struct c2c_judgement judgement;

		print_message("%s\n", pairs[i].name);
		world_init(&w, 0);
		add_line(&w, pairs[i].lines[0]);
		add_line(&w, pairs[i].lines[1]);
		judgement = c2c_judge(&w.sharing, (const uint32_t[]){ 0, 1 }, 2);
		expect(&judgement, &pairs[i].expected, pairs[i].false_part);
		world_release(&w);
	}
}

/* Without times all were there at once: order tells nothing. */
static void no_times_means_at_once(void **state)
{
	static const struct access accesses[MAX_ACCESSES] = { { STORE, 1, 0, 8, 0, 0, 20 },
							      { LOAD, 2, 0, 8, 5, 30, 60 } };
	struct world w;
	struct c2c_judgement judgement;

	(void)state;
	world_init(&w, 0);
	add_line(&w, accesses);
	for (size_t i = 0; i < w.seen.kept.n; i++) {
		w.seen.many.items[i].first_ns = UINT64_MAX;
		w.seen.many.items[i].last_ns = 0;
		w.seen.many.items[i].slots = 0;
	}
	judgement = c2c_judge(&w.sharing, (const uint32_t[]){ 0 }, 1);
	assert_int_equal(judgement.verdict, C2C_TRUE);
	assert_int_equal(judgement.reason, C2C_SURE);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_its_verdict),
		cmocka_unit_test(lines_are_judged_together),
		cmocka_unit_test(no_times_means_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
