/* SPDX-License-Identifier: Apache-2.0 */
/* An A64 instruction as the model sees it: what it reads and writes, how long it takes. */
#ifndef CYCLOPS_MODEL_INSN_H
#define CYCLOPS_MODEL_INSN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Places that instructions read and write: x0 … x30, v0 … v31 and the flags. The stack
 * pointer and the zero register (31) make no one wait: they are REG_NONE and REG_LOST.
 */
enum {
	REG_VECTOR = 31, /* v0 */
	REG_FLAGS = 63,
	REG_NONE, /* reading it: always ready */
	REG_LOST, /* writing it: no one will read */
	N_REGS,
};

/* What DC ZVA sets to zero: the size that Neoverse N1 and the emulator have. */
enum { ZEROED_BYTES = 64 };

enum insn_kind {
	INSN_OTHER,
	INSN_LOAD,
	INSN_STORE,
	INSN_ATOMIC, /* reads and writes memory: needs the line as a store does */
	INSN_BRANCH,
};

/* How a branch finds its target: each kind has its own predictor. */
enum insn_branch {
	BRANCH_DIRECT,
	BRANCH_CONDITIONAL,
	BRANCH_INDIRECT,
	BRANCH_RETURN,
};

enum insn_flag {
	INSN_CALL = 1 << 0,	/* a branch that pushes its return address */
	INSN_PREFETCH = 1 << 1, /* a load whose data no one waits for */
	INSN_BARRIER = 1 << 2,	/* memory accesses do not pass it */
	INSN_FLUSH = 1 << 3,	/* the fetch starts again behind it */
	INSN_EXCLUSIVE = 1 << 4,
	INSN_ACQUIRE = 1 << 5,
	INSN_RELEASE = 1 << 6,
	INSN_UNSEEN = 1 << 7,	     /* the emulator does not show its access */
	INSN_READS_TIMER = 1 << 9,   /* CNTVCT_EL0 */
	INSN_AFTER_RELEASE = 1 << 8, /* an acquire that earlier releases must precede: not LDAPR */
};

/* The speculative event of the PMU that counts it (LD_SPEC …): one of them each. */
enum insn_class {
	CLASS_INTEGER,
	CLASS_LOAD,
	CLASS_STORE,
	CLASS_VECTOR,
	CLASS_FLOAT,
	CLASS_CRYPTO,
	CLASS_BRANCH,
	CLASS_BARRIER,
	CLASS_SYSTEM,
	N_INSN_CLASSES,
};

/* What it costs: an index into params.latency. */
enum insn_timing {
	TIMING_ALU,
	TIMING_ALU_SHIFTED,
	TIMING_EXTRACT, /* EXTR of two registers */
	TIMING_MULTIPLY,
	TIMING_MULTIPLY_LONG, /* 64 bits */
	TIMING_MULTIPLY_HIGH, /* the high half */
	TIMING_DIVIDE,
	TIMING_DIVIDE_LONG,
	TIMING_CRC,
	TIMING_FLOAT_ADD,
	TIMING_FLOAT_MULTIPLY,
	TIMING_FLOAT_FUSED,
	TIMING_FLOAT_DIVIDE,
	TIMING_FLOAT_ROOT,
	TIMING_CONVERT,
	TIMING_CONVERT_TO_VECTOR, /* between general and vector registers */
	TIMING_CONVERT_TO_GENERAL,
	TIMING_MOVE_TO_VECTOR,
	TIMING_MOVE_TO_GENERAL,
	TIMING_VECTOR,
	TIMING_VECTOR_MULTIPLY,
	TIMING_CRYPTO,
	TIMING_LOAD,
	TIMING_LOAD_VECTOR,
	TIMING_STORE,
	TIMING_BRANCH,
	TIMING_SYSTEM,
	N_TIMINGS,
};

/* Which execution units it needs: struct units. */
enum insn_unit {
	UNIT_NONE,
	UNIT_BRANCH,
	UNIT_INTEGER, /* any of the integer units */
	UNIT_MULTICYCLE,
	UNIT_MEMORY,
	UNIT_VECTOR, /* floating point and vectors: any */
	UNIT_VECTOR_FIRST,
	UNIT_VECTOR_LAST,
	N_INSN_UNITS,
};

/* How the address of an access is made: base + offset, or base + extended index. */
enum address_form { ADDRESS_UNKNOWN, ADDRESS_OFFSET, ADDRESS_INDEX };

struct insn_address {
	uint8_t form;	/* enum address_form */
	uint8_t base;	/* x0 … x30; 31: the stack pointer */
	uint8_t index;	/* of ADDRESS_INDEX */
	uint8_t option; /* how it is extended: UXTW 2, LSL 3, SXTW 6, SXTX 7 */
	uint8_t shift;	/* by which it is then shifted */
	int32_t offset; /* of ADDRESS_OFFSET */
	uint32_t mask;	/* low bits of the address that are cleared */
};

struct insn {
	uint64_t pc;
	uint32_t word;
	uint8_t kind;	/* enum insn_kind */
	uint8_t branch; /* enum insn_branch, of branches */
	uint8_t class;	/* enum insn_class */
	uint16_t flags; /* enum insn_flag */

	uint8_t sources[4];   /* REG_NONE if fewer */
	uint8_t results[3];   /* ready when it completes; REG_LOST if fewer */
	uint8_t n_address;    /* of the sources, the first so many make the address */
	uint8_t early_result; /* a written-back base register: waits for the address alone */
	uint8_t timing;	      /* enum insn_timing */
	uint8_t unit, n_uses; /* enum insn_unit; of how many of it, or for how many cycles */
	uint8_t second_unit, n_second_uses; /* the same; 0 uses: none */
	uint8_t op_class, op; /* of the SPE operation packet: spe-packets.md section 6 */
	uint16_t index;	      /* in its block */
	uint16_t kept_until;  /* of its block: the first to change a register of its address */
	struct insn_address address;
};

/*
 * The address that the instruction accesses, by the values of x0 … x30 and the stack pointer
 * before it. Its form must be known.
 */
uint64_t insn_address_of(const struct insn *, const uint64_t registers[32]);

/* Where a branch goes that does not go on at the next instruction, but at `next`. */
uint64_t insn_target(const struct insn *, uint64_t next);

/* Decodes one word. `index` is left 0. Anything unknown is an integer operation of one cycle. */
struct insn insn_decode(uint64_t pc, uint32_t word);

#endif
