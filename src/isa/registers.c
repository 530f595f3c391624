/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings: Arm Architecture Reference Manual, "A64 instruction set encoding". */
#include "isa/registers.h"

#include "base/alloc.h"

/* Register fields of the instruction word: Rd/Rt, Rn, Rm, Ra/Rt2. */
enum field { D = 1, N = 2, M = 4, A = 8, N_FIELDS = 4 };

enum form_flag {
	READS_FLAGS = 1 << 0,
	SETS_FLAGS = 1 << 1,
	ACCESS = 1 << 2,    /* a memory access, N is the base */
	INDEX = 1 << 3,	    /* … with index M */
	PAIR_BACK = 1 << 4, /* writes the base back if bit 23 is set */
	BACK = 1 << 5,	    /* writes the base back if bit 10 is set */
	STEP = 1 << 6,	    /* D = N + constant */
	CALL = 1 << 7,
	STRUCTURES = 1 << 8, /* a number of registers that the opcode gives */
	VECTOR = 1 << 9,
	FLOAT = 1 << 10,
};

/* Which register fields are read and written, general and vector. First match wins. */
static const struct form {
	uint32_t mask, match;
	uint8_t reads, writes, vector_reads, vector_writes;
	uint16_t flags;
} forms[] = {
	/* Data processing with an immediate. */
	{ 0x1f000000, 0x10000000, 0, D, 0, 0, 0 },
	{ 0x3f800000, 0x31000000, N, D, 0, 0, SETS_FLAGS | STEP },
	{ 0x1f800000, 0x11000000, N, D, 0, 0, STEP },
	{ 0x7f800000, 0x72000000, N, D, 0, 0, SETS_FLAGS },
	{ 0x1f800000, 0x12000000, N, D, 0, 0, 0 },
	{ 0x7f800000, 0x72800000, D, D, 0, 0, 0 }, /* MOVK */
	{ 0x1f800000, 0x12800000, 0, D, 0, 0, 0 },
	{ 0x7f800000, 0x33000000, N | D, D, 0, 0, 0 }, /* BFM */
	{ 0x1f800000, 0x13000000, N, D, 0, 0, 0 },
	{ 0x1f800000, 0x13800000, N | M, D, 0, 0, 0 }, /* EXTR */
	/* Branches, system instructions. */
	{ 0xfe000000, 0x54000000, 0, 0, 0, 0, READS_FLAGS },
	{ 0x7c000000, 0x34000000, D, 0, 0, 0, 0 },
	{ 0xfc000000, 0x94000000, 0, 0, 0, 0, CALL },
	{ 0xfc000000, 0x14000000, 0, 0, 0, 0, 0 },
	{ 0xfefff000, 0xd63f0000, N, 0, 0, 0, CALL },
	{ 0xfe000000, 0xd6000000, N, 0, 0, 0, 0 },
	{ 0xffffffe0, 0xd50b7420, D, 0, 0, 0, 0 }, /* DC ZVA */
	{ 0xfff00000, 0xd5300000, 0, D, 0, 0, 0 }, /* MRS */
	{ 0xfff00000, 0xd5100000, D, 0, 0, 0, 0 }, /* MSR */
	{ 0xff000000, 0xd5000000, 0, 0, 0, 0, 0 },
	{ 0xff000000, 0xd4000000, 0, 0, 0, 0, CALL }, /* SVC and such */
	/* Data processing with registers. */
	{ 0x7f000000, 0x6a000000, N | M, D, 0, 0, SETS_FLAGS },
	{ 0x1f000000, 0x0a000000, N | M, D, 0, 0, 0 },
	{ 0x3f000000, 0x2b000000, N | M, D, 0, 0, SETS_FLAGS },
	{ 0x1f000000, 0x0b000000, N | M, D, 0, 0, 0 },
	{ 0x3fe00000, 0x3a000000, N | M, D, 0, 0, READS_FLAGS | SETS_FLAGS },
	{ 0x1fe00000, 0x1a000000, N | M, D, 0, 0, READS_FLAGS },
	{ 0x1fe00800, 0x1a400800, N, 0, 0, 0, READS_FLAGS | SETS_FLAGS },
	{ 0x1fe00800, 0x1a400000, N | M, 0, 0, 0, READS_FLAGS | SETS_FLAGS },
	{ 0x1fe00000, 0x1a800000, N | M, D, 0, 0, READS_FLAGS },
	{ 0x5fe00000, 0x5ac00000, N, D, 0, 0, 0 },
	{ 0x5fe00000, 0x1ac00000, N | M, D, 0, 0, 0 },
	{ 0x1f000000, 0x1b000000, N | M | A, D, 0, 0, 0 },
	/* Loads and stores. */
	{ 0xff000000, 0xd8000000, 0, 0, 0, 0, 0 }, /* PRFM of a literal */
	{ 0x3f000000, 0x18000000, 0, D, 0, 0, ACCESS },
	{ 0x3f000000, 0x1c000000, 0, 0, 0, D, ACCESS },
	{ 0x3fa07c00, 0x08a07c00, N | M | D, M, 0, 0, ACCESS }, /* CAS */
	{ 0xbfa07c00, 0x08207c00, N | M | D, M, 0, 0, ACCESS }, /* CASP */
	{ 0x3fe00000, 0x08600000, N, D | A, 0, 0, ACCESS },	/* LDXP */
	{ 0x3fe00000, 0x08200000, N | D | A, M, 0, 0, ACCESS }, /* STXP */
	{ 0x3fe00000, 0x08400000, N, D, 0, 0, ACCESS },		/* LDXR */
	{ 0x3fe00000, 0x08000000, N | D, M, 0, 0, ACCESS },	/* STXR */
	{ 0x3f400000, 0x08400000, N, D, 0, 0, ACCESS },		/* LDAR */
	{ 0x3f400000, 0x08000000, N | D, 0, 0, 0, ACCESS },	/* STLR */
	{ 0xbe400000, 0x0c400000, N, 0, 0, D, ACCESS | PAIR_BACK | STRUCTURES | VECTOR },
	{ 0xbe400000, 0x0c000000, N, 0, D, 0, ACCESS | PAIR_BACK | STRUCTURES | VECTOR },
	{ 0x3f600c00, 0x19400000, N, D, 0, 0, ACCESS }, /* LDAPUR */
	{ 0x3f200c00, 0x19000000, N | D, 0, 0, 0, ACCESS },
	{ 0x3e400000, 0x28400000, N, D | A, 0, 0, ACCESS | PAIR_BACK },
	{ 0x3e400000, 0x28000000, N | D | A, 0, 0, 0, ACCESS | PAIR_BACK },
	{ 0xfe400000, 0xac400000, N, 0, 0, D | A, ACCESS | PAIR_BACK | VECTOR },
	{ 0xfe400000, 0xac000000, N, 0, D | A, 0, ACCESS | PAIR_BACK | VECTOR },
	{ 0x3e400000, 0x2c400000, N, 0, 0, D | A, ACCESS | PAIR_BACK },
	{ 0x3e400000, 0x2c000000, N, 0, D | A, 0, ACCESS | PAIR_BACK },
	{ 0xffc00000, 0xf9800000, N, 0, 0, 0, ACCESS }, /* PRFM */
	{ 0xffe00c00, 0xf8a00800, N | M, 0, 0, 0, ACCESS | INDEX },
	{ 0xffe00c00, 0xf8800000, N, 0, 0, 0, ACCESS },
	{ 0x3f200c00, 0x38200000, N | M, D, 0, 0, ACCESS }, /* LDADD, SWP, LDAPR and such */
	{ 0x3fe00c00, 0x38200800, N | M | D, 0, 0, 0, ACCESS | INDEX },
	{ 0x3f200c00, 0x38200800, N | M, D, 0, 0, ACCESS | INDEX },
	{ 0x3fe00000, 0x38000000, N | D, 0, 0, 0, ACCESS | BACK },
	{ 0x3f200000, 0x38000000, N, D, 0, 0, ACCESS | BACK },
	{ 0x3fc00000, 0x39000000, N | D, 0, 0, 0, ACCESS },
	{ 0x3f000000, 0x39000000, N, D, 0, 0, ACCESS },
	{ 0xffe00c00, 0x3ca00800, N | M, 0, D, 0, ACCESS | INDEX | VECTOR },
	{ 0xffe00c00, 0x3ce00800, N | M, 0, 0, D, ACCESS | INDEX | VECTOR },
	{ 0x3f600c00, 0x3c200800, N | M, 0, D, 0, ACCESS | INDEX },
	{ 0x3f600c00, 0x3c600800, N | M, 0, 0, D, ACCESS | INDEX },
	{ 0xffe00000, 0x3c800000, N, 0, D, 0, ACCESS | BACK | VECTOR },
	{ 0xffe00000, 0x3cc00000, N, 0, 0, D, ACCESS | BACK | VECTOR },
	{ 0x3f600000, 0x3c000000, N, 0, D, 0, ACCESS | BACK },
	{ 0x3f600000, 0x3c400000, N, 0, 0, D, ACCESS | BACK },
	{ 0xffc00000, 0x3d800000, N, 0, D, 0, ACCESS | VECTOR },
	{ 0xffc00000, 0x3dc00000, N, 0, 0, D, ACCESS | VECTOR },
	{ 0x3f400000, 0x3d000000, N, 0, D, 0, ACCESS },
	{ 0x3f400000, 0x3d400000, N, 0, 0, D, ACCESS },
	/* Scalar floating point. */
	{ 0x5f000000, 0x1f000000, 0, 0, N | M | A, D, FLOAT },
	{ 0x5f260000, 0x1e020000, N, 0, 0, D, FLOAT }, /* SCVTF, UCVTF of fixed point */
	{ 0x5f200000, 0x1e000000, 0, D, N, 0, FLOAT },
	{ 0x5f26fc00, 0x1e220000, N, 0, 0, D, FLOAT },
	{ 0x5f27fc00, 0x1e270000, N, 0, 0, D, 0 }, /* FMOV */
	{ 0x5f20fc00, 0x1e200000, 0, D, N, 0, FLOAT },
	{ 0x5f207c00, 0x1e204000, 0, 0, N, D, FLOAT },
	{ 0x5f203c08, 0x1e202008, 0, 0, N, 0, SETS_FLAGS | FLOAT }, /* FCMP with 0 */
	{ 0x5f203c00, 0x1e202000, 0, 0, N | M, 0, SETS_FLAGS | FLOAT },
	{ 0x5f201c00, 0x1e201000, 0, 0, 0, D, 0 },
	{ 0x5f200c00, 0x1e200400, 0, 0, N | M, 0, READS_FLAGS | SETS_FLAGS | FLOAT },
	{ 0x5f200c00, 0x1e200800, 0, 0, N | M, D, FLOAT },
	{ 0x5f200c00, 0x1e200c00, 0, 0, N | M, D, READS_FLAGS | FLOAT },
	/* Vectors. */
	{ 0xbfe0fc00, 0x0e000c00, N, 0, 0, D, VECTOR },	    /* DUP of a general register */
	{ 0xffe0fc00, 0x4e001c00, N, 0, D, D, VECTOR },	    /* INS of one */
	{ 0xbfe0ec00, 0x0e002c00, 0, D, N, 0, VECTOR },	    /* SMOV, UMOV */
	{ 0xffe08400, 0x6e000400, 0, 0, N | D, D, VECTOR }, /* INS of an element */
	{ 0x9fe0fc00, 0x0e000400, 0, 0, N, D, VECTOR },	    /* DUP of an element */
	{ 0xffe0fc00, 0x5e000400, 0, 0, N, D, 0 },
	{ 0x9ff81400, 0x0f001400, 0, 0, D, D, VECTOR }, /* ORR, BIC of a constant; FMOV */
	{ 0x9ff80400, 0x0f000400, 0, 0, 0, D, VECTOR },
	{ 0x9f80dc00, 0x0f001400, 0, 0, N | D, D, VECTOR | FLOAT }, /* SSRA and such */
	{ 0x8f800400, 0x0f000400, 0, 0, N, D, VECTOR | FLOAT },
	{ 0x8f008400, 0x0f000000, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* MLA, FMLA by element */
	{ 0x8f00f400, 0x0f00e000, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* SDOT */
	{ 0x8f000400, 0x0f000000, 0, 0, N | M, D, VECTOR | FLOAT },
	{ 0xff3e0c00, 0x4e280800, 0, 0, N | D, D, VECTOR | FLOAT }, /* AES */
	{ 0xff208c00, 0x5e000000, 0, 0, N | M | D, D, VECTOR | FLOAT },
	{ 0xff3e0c00, 0x5e280800, 0, 0, N | D, D, VECTOR | FLOAT },
	{ 0x8f20fc00, 0x0e209400, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* MLA, MLS */
	{ 0x8f20fc00, 0x0e207c00, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* SABA */
	{ 0xaf20fc00, 0x0e20cc00, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* FMLA, FMLS */
	{ 0xbf60fc00, 0x2e601c00, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* BSL, BIF */
	{ 0xbfe0fc00, 0x2ea01c00, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* BIT */
	{ 0x8f200400, 0x0e200400, 0, 0, N | M, D, VECTOR | FLOAT },
	{ 0x9f208400, 0x0e008400, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* SDOT, FCMLA */
	{ 0x8f20cc00, 0x0e208000, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* SMLAL and such */
	{ 0x8f20fc00, 0x0e205000, 0, 0, N | M | D, D, VECTOR | FLOAT }, /* SABAL */
	{ 0x8f200c00, 0x0e200000, 0, 0, N | M, D, VECTOR | FLOAT },
	{ 0x8f3e0c00, 0x0e200800, 0, 0, N, D, VECTOR | FLOAT },
	{ 0x8f3e0c00, 0x0e300800, 0, 0, N, D, VECTOR | FLOAT },
	{ 0xbf208400, 0x0e000000, 0, 0, N | M, D, VECTOR }, /* TBL, ZIP and such */
	{ 0xbf208400, 0x2e000000, 0, 0, N | M, D, VECTOR }, /* EXT */
	{ 0x0e000000, 0x0e000000, 0, 0, N | M | D, D, VECTOR | FLOAT },
};

static const uint8_t field_shifts[N_FIELDS] = { 0, 5, 16, 10 };

static bool registers_bit(uint32_t word, unsigned bit)
{
	return word >> bit & 1;
}

static void add_read(struct isa_registers *out, unsigned reg)
{
	if (out->n_reads < ISA_MOST_READ)
		out->reads[out->n_reads++] = (uint8_t)reg;
}

static void add_write(struct isa_registers *out, unsigned reg)
{
	if (out->n_writes < ISA_MOST_WRITTEN)
		out->writes[out->n_writes++] = (uint8_t)reg;
}

/* How many registers LD1 to LD4 and ST1 to ST4 load or store. */
static unsigned n_structures(uint32_t word)
{
	/* by opcode: LD4, LD1 of 4, LD3, LD1 of 3, LD1 of 1, LD2, LD1 of 2 */
	static const uint8_t by_opcode[16] = { 4, 1, 4, 1, 3, 1, 3, 1, 2, 1, 2, 1, 1, 1, 1, 1 };

	if (registers_bit(word, 24))
		return 1 + (registers_bit(word, 13) ? 2u : 0u) + registers_bit(word, 21);
	return by_opcode[word >> 12 & 15];
}

static void add_vectors(struct isa_registers *out, uint32_t word, const struct form *form)
{
	unsigned n = form->flags & STRUCTURES ? n_structures(word) : 1;

	for (unsigned f = 0; f < N_FIELDS; f++) {
		for (unsigned i = 0; i < n; i++) {
			unsigned reg = ISA_REG_VECTOR + ((word >> field_shifts[f]) + i) % 32;

			if (form->vector_reads >> f & 1)
				add_read(out, reg);
			if (form->vector_writes >> f & 1)
				add_write(out, reg);
		}
	}
}

/* Adds general registers, those of the address first. */
static void add_general(struct isa_registers *out, uint32_t word, const struct form *form)
{
	unsigned address = form->flags & ACCESS ? N : 0;

	address |= form->flags & INDEX ? M : 0;
	for (int is_rest = 0; is_rest < 2; is_rest++) {
		for (unsigned f = 0; f < N_FIELDS; f++) {
			unsigned reg = word >> field_shifts[f] & 31;
			bool is_address = address >> f & 1;

			if (!(form->reads >> f & 1) || is_address == is_rest ||
			    (reg == 31 && !(is_address && (1u << f) == N)))
				continue;
			add_read(out, reg);
			out->n_address += is_address;
		}
	}
	for (unsigned f = 0; f < N_FIELDS; f++)
		if (form->writes >> f & 1 && (word >> field_shifts[f] & 31) != 31)
			add_write(out, word >> field_shifts[f] & 31);
}

static int64_t signed_at(uint32_t word, unsigned from, unsigned bits)
{
	int64_t sign = (int64_t)1 << (bits - 1);

	return ((int64_t)(word >> from & ((1u << bits) - 1)) ^ sign) - sign;
}

static void move_base(struct isa_registers *out, uint32_t word, const struct form *form)
{
	unsigned scale = 2 + (registers_bit(word, 26) ? word >> 30 : word >> 31);
	bool moves = (form->flags & PAIR_BACK && registers_bit(word, 23)) ||
		     (form->flags & BACK && registers_bit(word, 10));

	out->moved = ISA_REG_NONE;
	if (!moves)
		return;
	out->moved = (uint8_t)(word >> 5 & 31);
	add_write(out, out->moved);
	if (form->flags & BACK)
		out->step = signed_at(word, 12, 9);
	else if (!(form->flags & STRUCTURES))
		out->step = signed_at(word, 15, 7) * ((int64_t)1 << scale);
	else if ((word >> 16 & 31) == 31)
		out->step = (int64_t)n_structures(word) * (registers_bit(word, 30) ? 16 : 8);
}

bool isa_registers_of(uint32_t word, struct isa_registers *out)
{
	const struct form *form = forms;

	while (form < forms + COUNT(forms) && (word & form->mask) != form->match)
		form++;
	if (form == forms + COUNT(forms))
		return false;
	*out = (struct isa_registers){
		.is_access = form->flags & ACCESS,
		.is_step = form->flags & STEP,
		.is_call = form->flags & CALL,
		.is_vector = form->flags & VECTOR,
		.is_float = form->flags & FLOAT,
	};
	add_general(out, word, form);
	add_vectors(out, word, form);
	if (form->flags & READS_FLAGS)
		add_read(out, ISA_REG_FLAGS);
	if (form->flags & SETS_FLAGS)
		add_write(out, ISA_REG_FLAGS);
	move_base(out, word, form);
	if (out->is_step)
		out->step = (int64_t)(word >> 10 & 0xfff) * (registers_bit(word, 22) ? 4096 : 1) *
			    (registers_bit(word, 30) ? -1 : 1);
	return true;
}

bool isa_registers_are_store(const struct isa_registers *r)
{
	return r->is_access && r->n_reads > r->n_address &&
	       r->n_writes == (r->moved != ISA_REG_NONE);
}

bool isa_writes_register(uint32_t word, unsigned reg)
{
	struct isa_registers r;

	if (!isa_registers_of(word, &r))
		return true;
	for (unsigned i = 0; i < r.n_writes; i++)
		if (r.writes[i] == reg)
			return true;
	return false;
}
