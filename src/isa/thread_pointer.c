/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows what is known of registers through all paths of a function, from its start: constants,
 * the thread pointer and what is added to it, and what was loaded from a constant address. Where
 * paths meet, only what all of them agree on stays. Sequences for thread-local data are those of
 * "ELF for the Arm 64-bit Architecture", section "Thread Local Storage":
 *
 *	mrs x0, tpidr_el0;  add x0, x0, #high, lsl #12;  add x0, x0, #low		local exec
 *	adrp x1, slot;  ldr x1, [x1, slot];  mrs x0, tpidr_el0;  add x0, x0, x1	initial exec
 *	adrp x0, slot;  ldr x1, [x0, slot];  add x0, x0, slot;  blr x1;
 *	mrs x1, tpidr_el0;  add x0, x1, x0						descriptor
 *
 * Encodings: Arm Architecture Reference Manual, "A64 instruction set encoding". What is not known
 * leaves nothing known of any register that it may name.
 */
#include "isa/thread_pointer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "isa/flow.h"

enum {
	WORD = 4,
	MOST_WORDS = 4096,
	N_REGISTERS = 31,
	ZERO = 31, /* or the stack pointer */
	LINK = 30,
	LAST_LOST = 18, /* in calls */
};

/* mrs x0, tpidr_el0 */
#define READ_THREAD_POINTER UINT32_C(0xd53bd040)
#define FIRST_FIELD UINT32_C(0x1f)

enum kind {
	ANYTHING,
	CONSTANT,   /* offset */
	LOADED,	    /* what is at address `slot`, + offset */
	DESCRIBED,  /* what the descriptor at `slot` gave, + offset */
	THREAD,	    /* the thread pointer + offset */
	THREAD_AND, /* … + what is at `slot` */
	THREAD_BY,  /* … + what the descriptor at `slot` gave */
};

struct value {
	enum kind kind;
	uint64_t slot, offset;
};

struct state {
	struct value registers[N_REGISTERS];
};

struct following {
	const struct isa_function *function;
	uint32_t n;	      /* words */
	struct state *states; /* before each instruction */
	bool *is_reached;
	VEC_OF(uint32_t) open; /* numbers of instructions whose state is new */
	bool is_lost;	       /* it cannot be told where it goes */
};

static uint32_t word_at(const struct following *f, uint32_t number)
{
	struct cursor c = cur_of(f->function->code + (size_t)number * WORD, WORD);

	return cur_u32(&c);
}

static uint32_t field(uint32_t word, unsigned from, unsigned bits)
{
	return word >> from & ((1u << bits) - 1);
}

static struct value get(const struct state *s, uint32_t number)
{
	return number < N_REGISTERS ? s->registers[number] : (struct value){ ANYTHING, 0, 0 };
}

static void set(struct state *s, uint32_t number, struct value value)
{
	if (number < N_REGISTERS)
		s->registers[number] = value;
}

static void forget(struct state *s, uint32_t number)
{
	set(s, number, (struct value){ ANYTHING, 0, 0 });
}

static struct value constant(uint64_t value)
{
	return (struct value){ CONSTANT, 0, value };
}

static struct value moved(struct value v, uint64_t by)
{
	if (v.kind != ANYTHING)
		v.offset += by;
	return v;
}

static struct value sum_of(struct value a, struct value b)
{
	if (b.kind == CONSTANT)
		return moved(a, b.offset);
	if (a.kind == CONSTANT)
		return moved(b, a.offset);
	if (b.kind == THREAD)
		return sum_of(b, (struct value){ a.kind == THREAD ? ANYTHING : a.kind, a.slot,
						 a.offset });
	if (a.kind != THREAD || (b.kind != LOADED && b.kind != DESCRIBED))
		return (struct value){ ANYTHING, 0, 0 };
	return (struct value){ b.kind == LOADED ? THREAD_AND : THREAD_BY, b.slot,
			       a.offset + b.offset };
}

static void adr(struct state *s, uint32_t word, uint64_t address)
{
	uint64_t distance = (uint64_t)field(word, 5, 19) << 2 | field(word, 29, 2);

	distance = (distance ^ 1u << 20) - (1u << 20);
	set(s, field(word, 0, 5),
	    constant(word >> 31 ? (address & ~(uint64_t)0xfff) + (distance << 12)
				: address + distance));
}

static void add_immediate(struct state *s, uint32_t word, uint64_t address)
{
	uint64_t by = (uint64_t)field(word, 10, 12) << (field(word, 22, 1) ? 12 : 0);

	(void)address;
	set(s, field(word, 0, 5),
	    moved(get(s, field(word, 5, 5)), field(word, 30, 1) ? 0 - by : by));
}

static void add_register(struct state *s, uint32_t word, uint64_t address)
{
	(void)address;
	set(s, field(word, 0, 5), sum_of(get(s, field(word, 5, 5)), get(s, field(word, 16, 5))));
}

static void move_register(struct state *s, uint32_t word, uint64_t address)
{
	(void)address;
	set(s, field(word, 0, 5),
	    field(word, 16, 5) == ZERO ? constant(0) : get(s, field(word, 16, 5)));
}

static void move_wide(struct state *s, uint32_t word, uint64_t address)
{
	unsigned shift = field(word, 21, 2) * 16;
	uint64_t value = (uint64_t)field(word, 5, 16) << shift;
	struct value old = get(s, field(word, 0, 5));

	(void)address;
	switch (field(word, 29, 2)) {
	case 0:
		set(s, field(word, 0, 5), constant(word >> 31 ? ~value : (uint32_t)~value));
		return;
	case 2:
		set(s, field(word, 0, 5), constant(value));
		return;
	default:
		old.offset = (old.offset & ~((uint64_t)0xffff << shift)) | value;
		if (old.kind == CONSTANT)
			set(s, field(word, 0, 5), old);
		else
			forget(s, field(word, 0, 5));
	}
}

static void load(struct state *s, uint32_t word, uint64_t address)
{
	struct value from = moved(get(s, field(word, 5, 5)), (uint64_t)field(word, 10, 12) * 8);

	(void)address;
	if (from.kind == CONSTANT)
		set(s, field(word, 0, 5), (struct value){ LOADED, from.offset, 0 });
	else
		forget(s, field(word, 0, 5));
}

static void read_thread_pointer(struct state *s, uint32_t word, uint64_t address)
{
	(void)address;
	set(s, field(word, 0, 5), (struct value){ THREAD, 0, 0 });
}

static void lose_in_call(struct state *s)
{
	for (uint32_t i = 0; i <= LAST_LOST; i++)
		forget(s, i);
	forget(s, LINK);
}

/* A descriptor's function is called with its address, and keeps all other registers. */
static void call_register(struct state *s, uint32_t word, uint64_t address)
{
	struct value target = get(s, field(word, 5, 5)), argument = get(s, 0);

	(void)address;
	if (target.kind == LOADED && target.offset == 0 && argument.kind == CONSTANT &&
	    argument.offset == target.slot) {
		set(s, 0, (struct value){ DESCRIBED, target.slot, 0 });
		forget(s, LINK);
	} else {
		lose_in_call(s);
	}
}

static void call(struct state *s, uint32_t word, uint64_t address)
{
	(void)word;
	(void)address;
	lose_in_call(s);
}

static void keep(struct state *s, uint32_t word, uint64_t address)
{
	(void)s;
	(void)word;
	(void)address;
}

/* All that the word may name as a register, and those that pairs end with. */
static void forget_all(struct state *s, uint32_t word, uint64_t address)
{
	static const unsigned fields[] = { 0, 5, 10, 16 };

	(void)address;
	for (size_t i = 0; i < COUNT(fields); i++) {
		forget(s, field(word, fields[i], 5));
		forget(s, field(word, fields[i], 5) + 1);
	}
}

static void forget_first(struct state *s, uint32_t word, uint64_t address)
{
	(void)address;
	forget(s, field(word, 0, 5));
}

/* Loads of general registers; those that are stored keep their values. */
static void load_one(struct state *s, uint32_t word, uint64_t address)
{
	(void)address;
	if (!field(word, 26, 1) && (field(word, 22, 2) != 0 || (word & 0x3b000000) == 0x18000000))
		forget(s, field(word, 0, 5));
}

static void load_and_write_back(struct state *s, uint32_t word, uint64_t address)
{
	load_one(s, word, address);
	forget(s, field(word, 5, 5));
}

static void load_pair(struct state *s, uint32_t word, uint64_t address)
{
	(void)address;
	if (!field(word, 26, 1) && field(word, 22, 1)) {
		forget(s, field(word, 0, 5));
		forget(s, field(word, 10, 5));
	}
	if (field(word, 23, 1))
		forget(s, field(word, 5, 5));
}

/* First match wins. */
static const struct form {
	uint32_t mask, match;
	void (*follow)(struct state *, uint32_t word, uint64_t address);
} forms[] = {
	{ ~FIRST_FIELD, READ_THREAD_POINTER, read_thread_pointer },
	{ 0x1f000000, 0x10000000, adr },
	{ 0xff800000, 0x91000000, add_immediate }, /* of 64 bits */
	{ 0xff800000, 0xd1000000, add_immediate },
	{ 0xffe0fc00, 0x8b000000, add_register },
	{ 0xffe0ffe0, 0xaa0003e0, move_register },
	{ 0x7f800000, 0x12800000, move_wide }, /* MOVN */
	{ 0x7f800000, 0x52800000, move_wide }, /* MOVZ */
	{ 0xff800000, 0xf2800000, move_wide }, /* MOVK */
	{ 0xffc00000, 0xf9400000, load },
	{ 0x3b000000, 0x39000000, load_one },		 /* unsigned offset */
	{ 0x3b200400, 0x38000000, load_one },		 /* unscaled, unprivileged */
	{ 0x3b200400, 0x38000400, load_and_write_back }, /* before, after */
	{ 0x3b200c00, 0x38200800, load_one },		 /* register */
	{ 0x3b000000, 0x18000000, load_one },		 /* literal */
	{ 0x3a000000, 0x28000000, load_pair },
	{ 0x0a000000, 0x08000000, forget_all }, /* other loads and stores */
	{ 0xfc000000, 0x94000000, call },	/* BL */
	{ 0xfffffc1f, 0xd63f0000, call_register },
	{ 0xfefff000, 0xd63f0000, call }, /* … with authentication */
	{ 0xff000000, 0xd4000000, call }, /* SVC and such */
	{ 0x7c000000, 0x14000000, keep }, /* branches */
	{ 0x7c000000, 0x34000000, keep },
	{ 0xfe000000, 0x54000000, keep },
	{ 0xfe000000, 0xd6000000, keep },
	{ 0xfff00000, 0xd5000000, keep }, /* MSR, hints, barriers; SYS */
	{ 0, 0, forget_first },		  /* data processing */
};

static void follow_word(struct state *s, uint32_t word, uint64_t address)
{
	const struct form *form = forms;

	while ((word & form->mask) != form->match)
		form++;
	form->follow(s, word, address);
}

/* What holds at a place, if `s` is another way to get there. */
static void join(struct following *f, uint32_t number, const struct state *s)
{
	struct state *at = &f->states[number];
	bool is_new = !f->is_reached[number];

	if (is_new)
		*at = *s;
	f->is_reached[number] = true;
	for (uint32_t i = 0; i < N_REGISTERS && !is_new; i++) {
		const struct value *a = &at->registers[i], *b = &s->registers[i];

		if (a->kind == ANYTHING ||
		    (a->kind == b->kind && a->slot == b->slot && a->offset == b->offset))
			continue;
		forget(at, i);
		*vec_add(&f->open) = number;
	}
	if (is_new)
		*vec_add(&f->open) = number;
}

static void join_target(struct following *f, uint64_t target, bool is_conditional,
			const struct state *s)
{
	uint64_t distance = target - f->function->address;

	if (distance / WORD < f->n && distance % WORD == 0)
		join(f, (uint32_t)(distance / WORD), s);
	else
		f->is_lost |=
			is_conditional || f->function->may_return(f->function->context, target);
}

static void follow_from(struct following *f, uint32_t number)
{
	uint64_t address = f->function->address + (uint64_t)number * WORD;
	uint32_t word = word_at(f, number);
	struct flow flow =
		isa_flow(ISA_A64, f->function->code + (size_t)number * WORD, WORD, address);
	struct state s = f->states[number];

	follow_word(&s, word, address);
	if (flow.kind == FLOW_JUMP || flow.kind == FLOW_BRANCH) {
		f->is_lost |= !flow.has_target;
		if (flow.has_target)
			join_target(f, flow.target, flow.kind == FLOW_BRANCH, &s);
	}
	if (flow.kind != FLOW_JUMP && flow.kind != FLOW_RETURN && flow.kind != FLOW_STOP &&
	    number + 1 < f->n)
		join(f, number + 1, &s);
}

/* From the start, of which nothing is known; what is not reached stays unknown. */
static void follow_all(struct following *f)
{
	const struct state unknown = { 0 };

	f->states = mem_zalloc(f->n, sizeof(*f->states));
	f->is_reached = mem_zalloc(f->n, sizeof(*f->is_reached));
	join(f, 0, &unknown);
	while (f->open.n > 0 && !f->is_lost)
		follow_from(f, f->open.items[--f->open.n]);
}

/* "[x0, x1]", without an extension or a shift */
static bool has_plain_index(uint32_t word)
{
	return (word & 0x3b20fc00) == 0x38206800;
}

static bool address_of(const struct state *s, uint32_t word, const struct isa_operand *o,
		       struct isa_thread_address *out)
{
	struct value v = moved(get(s, o->base), (uint64_t)o->displacement);
	struct value sum = { ANYTHING, 0, 0 };

	if (o->has_index && has_plain_index(word))
		sum = sum_of(v, get(s, field(word, 16, 5)));
	if (sum.kind != ANYTHING)
		v = sum;
	*out = (struct isa_thread_address){
		.offset = v.offset,
		.has_index = o->has_index && sum.kind == ANYTHING,
		.has_slot = v.kind != THREAD,
		.is_descriptor = v.kind == THREAD_BY,
		.slot = v.slot,
	};
	return v.kind == THREAD || v.kind == THREAD_AND || v.kind == THREAD_BY;
}

static bool reads_thread_pointer(const struct following *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if ((word_at(f, i) & ~FIRST_FIELD) == READ_THREAD_POINTER)
			return true;
	return false;
}

bool isa_thread_address(const struct isa_function *function, uint64_t at,
			const struct isa_operand *operand, struct isa_thread_address *out)
{
	struct following f = { .function = function, .n = (uint32_t)(function->size / WORD) };
	uint64_t number = (at - function->address) / WORD;
	bool is_found = false;

	if (function->size / WORD > MOST_WORDS || number >= f.n || !reads_thread_pointer(&f))
		return false;
	follow_all(&f);
	if (!f.is_lost && f.is_reached[number])
		is_found =
			address_of(&f.states[number], word_at(&f, (uint32_t)number), operand, out);
	vec_release(&f.open);
	free(f.is_reached);
	free(f.states);
	return is_found;
}
