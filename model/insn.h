/* SPDX-License-Identifier: Apache-2.0 */
/* Decoded A64 instructions: registers, execution units, latency class, SPE operation. */
#ifndef CYCLOPS_MODEL_INSN_H
#define CYCLOPS_MODEL_INSN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Registers that carry dependences: x0 … x30, v0 … v31 and the flags. The stack pointer and the
 * zero register (31) carry none: they are REG_NONE as a source and REG_LOST as a result.
 */
enum {
	REG_VECTOR = 31, /* v0 */
	REG_FLAGS = 63,
	REG_NONE, /* a source that is always ready */
	REG_LOST, /* a result that nothing reads */
	N_REGS,
};

/* Bytes that DC ZVA sets to zero, on Neoverse N1 and in the emulator. */
enum { ZEROED_BYTES = 64 };

enum insn_kind {
	INSN_OTHER,
	INSN_LOAD,
	INSN_STORE,
	INSN_ATOMIC, /* reads and writes memory: needs the line as a store does */
	INSN_BRANCH,
};

/* Kinds of branches. Each has its own predictor. */
enum insn_branch {
	BRANCH_DIRECT,
	BRANCH_CONDITIONAL,
	BRANCH_INDIRECT,
	BRANCH_RETURN,
};

enum insn_flag {
	INSN_CALL = 1 << 0,	/* pushes its return address to the return stack */
	INSN_PREFETCH = 1 << 1, /* a load without a result */
	INSN_BARRIER = 1 << 2,	/* memory accesses are not reordered with it */
	INSN_FLUSH = 1 << 3,	/* flushes the pipeline: fetch restarts behind it */
	INSN_EXCLUSIVE = 1 << 4,
	INSN_ACQUIRE = 1 << 5,
	INSN_RELEASE = 1 << 6,
	INSN_UNSEEN = 1 << 7,	     /* the emulator does not report its access */
	INSN_READS_TIMER = 1 << 9,   /* CNTVCT_EL0 */
	INSN_MARK = 1 << 10,	     /* the load of a mark (measure/mark.h) */
	INSN_AFTER_RELEASE = 1 << 8, /* an acquire that earlier releases must precede: not LDAPR */
};

/* The PMU event that counts the instruction by type (LD_SPEC …). */
enum insn_class {
	CLASS_INTEGER,
	CLASS_LOAD,
	CLASS_STORE,
	CLASS_VECTOR,
	CLASS_FLOAT,
	CLASS_CRYPTO,
	CLASS_BRANCH,
	CLASS_DMB,
	CLASS_DSB,
	CLASS_ISB,
	CLASS_SYSTEM,
	N_INSN_CLASSES,
};

/* The latency class: an index into params.latency. */
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

/* The kind of execution unit: an index into units.kinds. */
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

/* The form of an address: base + offset, or base + extended index. */
enum address_form { ADDRESS_UNKNOWN, ADDRESS_OFFSET, ADDRESS_INDEX };

struct insn_address {
	uint8_t form;	/* enum address_form */
	uint8_t base;	/* x0 … x30; 31: the stack pointer */
	uint8_t index;	/* of ADDRESS_INDEX */
	uint8_t option; /* how it is extended: UXTW 2, LSL 3, SXTW 6, SXTX 7 */
	uint8_t shift;	/* left shift after that */
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

	uint8_t sources[4];   /* unused ones are REG_NONE */
	uint8_t results[3];   /* ready when it completes; unused ones are REG_LOST */
	uint8_t n_address;    /* the first sources are those of the address: their number */
	uint8_t early_result; /* a base register with writeback: needs the address only */
	uint8_t timing;	      /* enum insn_timing */
	uint8_t unit, n_uses; /* enum insn_unit; how many operations for such units */
	uint8_t second_unit, n_second_uses; /* the same for a second kind; 0 uses: none */
	uint8_t op_class, op; /* of the SPE operation packet: spe-packets.md section 6 */
	uint16_t index;	      /* in its block */
	uint16_t kept_until; /* in its block: the first one that writes a register of the address */
	/* Of an access: one behind it that is not reported, whose address is known from here on; 0: none */
	uint16_t unseen_behind;
	struct insn_address address;
};

/* The address of the access, by the values of x0 … x30 and SP before it. The form must be known. */
uint64_t insn_address_of(const struct insn *, const uint64_t registers[32]);

/* Where a branch goes that does not go on at the next instruction, but at `next`. */
uint64_t insn_target(const struct insn *, uint64_t next);

/* Decodes a word. Leaves `index` 0. An unknown word is an integer operation of one cycle. */
struct insn insn_decode(uint64_t pc, uint32_t word);

#endif
