/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effect of A64 instructions on registers. Sequences for thread-local data are those of "ELF
 * for the Arm 64-bit Architecture", section "Thread Local Storage":
 *
 *  mrs x0, tpidr_el0;  add x0, x0, #high, lsl #12;  add x0, x0, #low       local exec
 *  adrp x1, slot;  ldr x1, [x1, slot];  mrs x0, tpidr_el0;  add x0, x0, x1   initial exec
 *  adrp x0, slot;  ldr x1, [x0, slot];  add x0, x0, slot;  blr x1;
 *     mrs x1, tpidr_el0;  add x0, x1, x0                                    descriptor
 *
 * Encodings: Arm Architecture Reference Manual, "A64 instruction set encoding". An unknown
 * instruction makes all registers unknown that it may name.
 */
#include "base/alloc.h"
#include "isa/follow_inside.h"

enum {
	ZERO = 31, /* register 31: zero or the stack pointer */
	LINK = 30,
	LAST_LOST = 18, /* calls change x0 to x18 */
	WORD_BITS = 64,
};

/* mrs x0, tpidr_el0 */
#define READ_THREAD_POINTER UINT32_C(0xd53bd040)
#define FIRST_FIELD UINT32_C(0x1f)

static uint32_t a64_field(uint32_t word, unsigned from, unsigned bits)
{
	return word >> from & ((1u << bits) - 1);
}

/* The register fields: Rd or Rt, Rn, Rm, Ra or Rt2. */
static uint32_t rd(uint32_t word)
{
	return a64_field(word, 0, 5);
}

static uint32_t rn(uint32_t word)
{
	return a64_field(word, 5, 5);
}

static uint32_t rm(uint32_t word)
{
	return a64_field(word, 16, 5);
}

static uint32_t ra(uint32_t word)
{
	return a64_field(word, 10, 5);
}

/* A sign-extended field. */
static uint64_t signed_field(uint32_t word, unsigned from, unsigned bits)
{
	uint64_t sign = UINT64_C(1) << (bits - 1);

	return (a64_field(word, from, bits) ^ sign) - sign;
}

/* The register, or zero. */
static struct isa_value a64_value(const struct isa_state *s, uint32_t reg)
{
	return reg == ZERO ? isa_constant(0) : isa_get(s, reg);
}

static void adr(struct isa_state *s, uint32_t word, struct isa_here here)
{
	uint64_t distance = (uint64_t)a64_field(word, 5, 19) << 2 | a64_field(word, 29, 2);

	distance = (distance ^ 1u << 20) - (1u << 20);
	isa_set(s, rd(word),
		isa_constant(word >> 31 ? (here.address & ~(uint64_t)0xfff) + (distance << 12)
					: here.address + distance));
}

static void add_immediate(struct isa_state *s, uint32_t word, struct isa_here here)
{
	uint64_t by = (uint64_t)a64_field(word, 10, 12) << (a64_field(word, 22, 1) ? 12 : 0);

	(void)here;
	isa_set(s, rd(word),
		isa_value_moved(isa_get(s, rn(word)), a64_field(word, 30, 1) ? 0 - by : by));
}

/* The second register, shifted left. */
static struct isa_value shifted_value(const struct isa_state *s, uint32_t word)
{
	return isa_value_times(a64_value(s, rm(word)), UINT64_C(1) << a64_field(word, 10, 6));
}

static void add_register(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)here;
	if (rn(word) == rm(word))
		isa_set(s, rd(word),
			isa_value_times(a64_value(s, rn(word)),
					(UINT64_C(1) << a64_field(word, 10, 6)) + 1));
	else
		isa_set(s, rd(word), isa_value_sum(a64_value(s, rn(word)), shifted_value(s, word)));
}

static void subtract_register(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)here;
	isa_set(s, rd(word), isa_value_difference(a64_value(s, rn(word)), shifted_value(s, word)));
}

/* "add x0, x1, w2, sxtw #3": a 64-bit register, or a narrower one as a number. */
static void add_extended(struct isa_state *s, uint32_t word, struct isa_here here)
{
	struct isa_value by = a64_field(word, 13, 2) == 3 ? a64_value(s, rm(word)) : isa_number();

	(void)here;
	isa_set(s, rd(word),
		isa_value_sum(isa_get(s, rn(word)),
			      isa_value_times(by, UINT64_C(1) << a64_field(word, 10, 3))));
}

static void move_register(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)here;
	isa_set(s, rd(word), a64_value(s, rm(word)));
}

static void move_wide(struct isa_state *s, uint32_t word, struct isa_here here)
{
	unsigned shift = a64_field(word, 21, 2) * 16;
	uint64_t value = (uint64_t)a64_field(word, 5, 16) << shift;
	struct isa_value old = isa_get(s, rd(word));

	(void)here;
	switch (a64_field(word, 29, 2)) {
	case 0:
		isa_set(s, rd(word), isa_constant(word >> 31 ? ~value : (uint32_t)~value));
		return;
	case 2:
		isa_set(s, rd(word), isa_constant(value));
		return;
	default:
		old.offset = (old.offset & ~((uint64_t)0xffff << shift)) | value;
		if (old.root == ISA_CONSTANT && old.step == 0)
			isa_set(s, rd(word), old);
		else
			isa_forget(s, rd(word));
	}
}

/* LSL, SBFIZ and UBFIZ multiply. The others (SXTW, UBFX …) give an unknown number. */
static void move_bits(struct isa_state *s, uint32_t word, struct isa_here here)
{
	unsigned by = WORD_BITS - a64_field(word, 16, 6), last = a64_field(word, 10, 6);
	bool is_shift = a64_field(word, 16, 6) > last;
	struct isa_value from = a64_value(s, rn(word));

	(void)here;
	if (!is_shift)
		isa_set(s, rd(word), isa_number());
	else if (last + 1 + by == WORD_BITS && a64_field(word, 29, 2) == 2)
		isa_set(s, rd(word), isa_value_times(from, UINT64_C(1) << by));
	else
		isa_set(s, rd(word), isa_value_times(isa_number(), UINT64_C(1) << by));
}

/* Exact if one factor is constant, else an unknown number. */
static struct isa_value product_value(struct isa_value a, struct isa_value b)
{
	if (a.root == ISA_CONSTANT && a.step == 0)
		return isa_value_times(b, a.offset);
	if (b.root == ISA_CONSTANT && b.step == 0)
		return isa_value_times(a, b.offset);
	return isa_number();
}

static void multiply_add(struct isa_state *s, uint32_t word, struct isa_here here)
{
	struct isa_value by = product_value(a64_value(s, rn(word)), a64_value(s, rm(word)));

	(void)here;
	isa_set(s, rd(word), isa_value_sum(a64_value(s, ra(word)), by));
}

static void read_thread_pointer(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)here;
	isa_set(s, rd(word), (struct isa_value){ .root = ISA_THREAD });
}

static void lose_in_call(struct isa_state *s)
{
	for (uint32_t i = 0; i <= LAST_LOST; i++)
		isa_forget(s, i);
	isa_forget(s, LINK);
}

/*
 * The resolver of a TLS descriptor gets the address of the descriptor in x0 and changes only x0.
 * Other calls change the caller-saved registers.
 */
static void call_register(struct isa_state *s, uint32_t word, struct isa_here here)
{
	struct isa_value target = isa_get(s, rn(word)), argument = isa_get(s, 0);

	(void)here;
	if (target.root == ISA_CONTENT && (target.offset | target.step) == 0 &&
	    argument.root == ISA_CONSTANT && argument.step == 0 && argument.offset == target.slot) {
		isa_set(s, 0, (struct isa_value){ .root = ISA_DESCRIPTOR, .slot = target.slot });
		isa_forget(s, LINK);
	} else {
		lose_in_call(s);
	}
}

static void a64_call(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)word;
	(void)here;
	lose_in_call(s);
}

static void a64_keep(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)s;
	(void)word;
	(void)here;
}

/* Forgets all registers that the word may name, and the following ones for pairs. */
static void forget_all(struct isa_state *s, uint32_t word, struct isa_here here)
{
	static const unsigned fields[] = { 0, 5, 10, 16 };

	(void)here;
	for (size_t i = 0; i < COUNT(fields); i++) {
		isa_forget(s, a64_field(word, fields[i], 5));
		isa_forget(s, a64_field(word, fields[i], 5) + 1);
	}
}

/* Forgets the data and status registers, and the second registers of pairs. */
static void forget_data(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)here;
	isa_forget(s, rd(word));
	isa_forget(s, rm(word));
	if (!a64_field(word, 21, 1))
		return;
	isa_forget(s, ra(word));
	isa_forget(s, rd(word) + 1);
	isa_forget(s, rm(word) + 1);
}

static void forget_base(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)here;
	isa_forget(s, rn(word));
}

static void forget_first(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)here;
	isa_forget(s, rd(word));
}

/* The result has 32 bits, so it is not an address. */
static void leave_number(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)here;
	isa_set(s, rd(word), isa_number());
}

/* Sets the loaded general register. Stores and vector loads change none. */
static void load_from(struct isa_state *s, uint32_t word, struct isa_here here,
		      struct isa_value address)
{
	bool is_vector = a64_field(word, 26, 1), is_double = a64_field(word, 30, 2) == 3;

	if (is_vector || a64_field(word, 22, 2) == 0)
		return;
	if (!is_double)
		isa_set(s, rd(word), isa_number());
	else if (a64_field(word, 22, 2) == 1)
		isa_set(s, rd(word), isa_loaded(here, address, 0));
}

static void load_unsigned(struct isa_state *s, uint32_t word, struct isa_here here)
{
	uint64_t by = (uint64_t)a64_field(word, 10, 12) << a64_field(word, 30, 2);

	load_from(s, word, here, isa_value_moved(isa_get(s, rn(word)), by));
}

static void load_unscaled(struct isa_state *s, uint32_t word, struct isa_here here)
{
	load_from(s, word, here, isa_value_moved(isa_get(s, rn(word)), signed_field(word, 12, 9)));
}

/* Pre-index and post-index. */
static void load_and_write_back(struct isa_state *s, uint32_t word, struct isa_here here)
{
	struct isa_value base = isa_get(s, rn(word));
	struct isa_value moved = isa_value_moved(base, signed_field(word, 12, 9));

	isa_set(s, rn(word), moved);
	load_from(s, word, here, a64_field(word, 11, 1) ? moved : base);
}

static void load_by_register(struct isa_state *s, uint32_t word, struct isa_here here)
{
	struct isa_value by = a64_field(word, 13, 2) == 3 ? a64_value(s, rm(word)) : isa_number();
	unsigned shift = a64_field(word, 12, 1) ? a64_field(word, 30, 2) : 0;

	load_from(s, word, here,
		  isa_value_sum(isa_get(s, rn(word)), isa_value_times(by, UINT64_C(1) << shift)));
}

static void load_literal(struct isa_state *s, uint32_t word, struct isa_here here)
{
	(void)here;
	if (!a64_field(word, 26, 1))
		isa_forget(s, rd(word));
}

static void load_acquire(struct isa_state *s, uint32_t word, struct isa_here here)
{
	isa_set(s, rd(word), isa_loaded(here, isa_get(s, rn(word)), 0));
}

/* Pairs: post-index, offset, pre-index. */
static void load_pair(struct isa_state *s, uint32_t word, struct isa_here here)
{
	unsigned shift =
		a64_field(word, 26, 1) ? 2 + a64_field(word, 30, 2) : 2 + a64_field(word, 31, 1);
	struct isa_value base = isa_get(s, rn(word));
	struct isa_value moved = isa_value_moved(base, signed_field(word, 15, 7) << shift);
	struct isa_value address = a64_field(word, 23, 2) == 1 ? base : moved;
	bool is_double = a64_field(word, 30, 2) == 2;

	if (a64_field(word, 23, 1))
		isa_set(s, rn(word), a64_field(word, 30, 2) == 1 ? (struct isa_value){ 0 } : moved);
	if (a64_field(word, 26, 1) || !a64_field(word, 22, 1))
		return;
	isa_set(s, rd(word), is_double ? isa_loaded(here, address, 0) : isa_number());
	isa_set(s, ra(word), is_double ? isa_loaded(here, address, 8) : isa_number());
}

/* First match wins. */
static const struct form {
	uint32_t mask, match;
	void (*follow)(struct isa_state *, uint32_t word, struct isa_here);
} forms[] = {
	{ ~FIRST_FIELD, READ_THREAD_POINTER, read_thread_pointer },
	{ 0x1f000000, 0x10000000, adr },
	{ 0xff800000, 0x91000000, add_immediate }, /* of 64 bits */
	{ 0xff800000, 0xd1000000, add_immediate },
	{ 0xffe00000, 0x8b000000, add_register }, /* …, lsl */
	{ 0xffe00000, 0xcb000000, subtract_register },
	{ 0xffe00000, 0x8b200000, add_extended },
	{ 0xffe0ffe0, 0xaa0003e0, move_register },
	{ 0x7f800000, 0x12800000, move_wide }, /* MOVN */
	{ 0x7f800000, 0x52800000, move_wide }, /* MOVZ */
	{ 0xff800000, 0xf2800000, move_wide }, /* MOVK */
	{ 0xffc00000, 0x93400000, move_bits }, /* SBFM */
	{ 0xffc00000, 0xd3400000, move_bits }, /* UBFM */
	{ 0xffe08000, 0x9b000000, multiply_add },
	{ 0xffe08000, 0x9b200000, multiply_add }, /* SMADDL */
	{ 0xffe08000, 0x9ba00000, multiply_add }, /* UMADDL */
	{ 0x3b000000, 0x39000000, load_unsigned },
	{ 0x3b200c00, 0x38000000, load_unscaled },
	{ 0x3b200c00, 0x38000800, load_unscaled },	 /* unprivileged */
	{ 0x3b200400, 0x38000400, load_and_write_back }, /* after, before */
	{ 0x3b200c00, 0x38200800, load_by_register },
	{ 0x3b000000, 0x18000000, load_literal },
	{ 0x3a000000, 0x28000000, load_pair },
	{ 0xfffffc00, 0xc8dffc00, load_acquire }, /* LDAR */
	{ 0xfffffc00, 0xf8bfc000, load_acquire }, /* LDAPR */
	{ 0x3b208c00, 0x38200000, forget_first }, /* LDADD and such */
	{ 0x3b20fc00, 0x38208000, forget_first }, /* SWP */
	{ 0x3f000000, 0x08000000, forget_data },  /* exclusive, ordered, CAS */
	{ 0xbfbf0000, 0x0c000000, a64_keep },	  /* vectors side by side */
	{ 0xbf9f0000, 0x0d000000, a64_keep },
	{ 0xbe800000, 0x0c800000, forget_base }, /* … and the base moves on */
	{ 0x0a000000, 0x08000000, forget_all },	 /* other loads and stores */
	{ 0xfc000000, 0x94000000, a64_call },	 /* BL */
	{ 0xfffffc1f, 0xd63f0000, call_register },
	{ 0xfefff000, 0xd63f0000, a64_call }, /* … with authentication */
	{ 0xff000000, 0xd4000000, a64_call }, /* SVC and such */
	{ 0x7c000000, 0x14000000, a64_keep }, /* branches */
	{ 0x7c000000, 0x34000000, a64_keep },
	{ 0xfe000000, 0x54000000, a64_keep },
	{ 0xfe000000, 0xd6000000, a64_keep },
	{ 0xfff00000, 0xd5000000, a64_keep },	  /* MSR, hints, barriers; SYS */
	{ 0x5f20fc00, 0x1e200000, forget_first }, /* from vectors: FMOV, FCVTZS … */
	{ 0x5f200000, 0x1e000000, forget_first },
	{ 0xbfe0ec00, 0x0e002c00, forget_first }, /* SMOV, UMOV */
	{ 0x0e000000, 0x0e000000, a64_keep },	  /* other vectors */
	{ 0x3fe00000, 0x3a400000, a64_keep },	  /* conditional comparisons, flags */
	{ 0x3fe07c00, 0x3a000400, a64_keep },
	{ 0xffffbc1f, 0x3a00080d, a64_keep },
	{ 0x9c000000, 0x10000000, leave_number }, /* data processing of 32 bits */
	{ 0x8e000000, 0x0a000000, leave_number },
	{ 0, 0, forget_first },
};

void isa_step_a64(struct isa_state *s, uint32_t word, struct isa_here here)
{
	const struct form *form = forms;

	while ((word & form->mask) != form->match)
		form++;
	form->follow(s, word, here);
}
