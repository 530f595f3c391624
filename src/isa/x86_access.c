/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What x86 instructions do to memory, by their prefixes, opcode and ModRM byte (Intel's manual,
 * volume 2, opcode maps). How long an instruction is does not matter here.
 */
#include "isa/x86_access.h"

#include "base/alloc.h"
#include "isa/x86_forms.h"

/* An instruction up to its ModRM byte. */
struct x86_code {
	enum x86_map map;
	uint8_t encoding; /* X86_LEGACY, X86_VEX or X86_EVEX */
	uint8_t prefix;	  /* X86_NONE, X86_66, X86_F3 or X86_F2: the one that tells opcodes apart */
	uint8_t opcode;
	bool is_64;
	bool has_66, has_lock, has_rep;
	bool is_wide;	   /* the W bit */
	bool is_broadcast; /* EVEX: one element is read, for all */
	uint32_t vector;   /* bytes of a vector */
	bool has_modrm;	   /* there is a byte that may be one … */
	bool has_memory;   /* … and it names an address … */
	uint8_t reg;	   /* … and has this in its middle */
};

/* By the two bits that VEX and EVEX have for it. */
static const uint8_t prefix_of_bits[] = { X86_NONE, X86_66, X86_F3, X86_F2 };

static bool is_segment(uint8_t byte)
{
	return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 ||
	       byte == 0x65 ||
	       byte == 0x67; /* and the size of addresses, which matters as little */
}

/* Reads prefixes; returns the byte behind them. */
static uint8_t read_prefixes(struct cursor *c, struct x86_code *x)
{
	for (;;) {
		uint8_t byte = cur_u8(c);

		if (byte == 0x66)
			x->has_66 = true;
		else if (byte == 0xf0)
			x->has_lock = true;
		else if (byte == 0xf2 || byte == 0xf3)
			x->prefix = byte == 0xf2 ? X86_F2 : X86_F3;
		else if (!is_segment(byte))
			return byte;
	}
}

/* Opcodes behind 0x0f, 0x0f38 and 0x0f3a. */
static void read_legacy(struct cursor *c, uint8_t byte, struct x86_code *x)
{
	x->encoding = X86_LEGACY;
	x->vector = 16;
	x->has_rep = x->prefix != 0;
	if (x->prefix == 0)
		x->prefix = x->has_66 ? X86_66 : X86_NONE;
	if (x->is_64 && (byte & 0xf0) == 0x40) {
		x->is_wide = byte & 8;
		byte = cur_u8(c);
	}
	x->opcode = byte;
	if (byte != 0x0f)
		return;
	x->opcode = cur_u8(c);
	x->map = X86_0F;
	if (x->opcode != 0x38 && x->opcode != 0x3a)
		return;
	x->map = x->opcode == 0x38 ? X86_0F38 : X86_0F3A;
	x->opcode = cur_u8(c);
}

/* In 32-bit code LES, LDS and BOUND begin as VEX and EVEX do; they have an address behind. */
static bool is_vex(struct cursor next, const struct x86_code *x)
{
	return x->is_64 || cur_u8(&next) >= 0xc0;
}

static void read_vex(struct cursor *c, uint8_t byte, struct x86_code *x)
{
	uint8_t first = cur_u8(c), second = first;

	x->encoding = X86_VEX;
	x->map = X86_0F;
	if (byte == 0xc4) {
		x->map = (enum x86_map)(first & 31);
		second = cur_u8(c);
		x->is_wide = second & 0x80;
	}
	x->vector = second & 4 ? 32 : 16;
	x->prefix = prefix_of_bits[second & 3];
	x->opcode = cur_u8(c);
}

static void read_evex(struct cursor *c, struct x86_code *x)
{
	uint8_t first = cur_u8(c), second = cur_u8(c), third = cur_u8(c);

	x->encoding = X86_EVEX;
	x->map = (enum x86_map)(first & 7);
	x->is_wide = second & 0x80;
	x->prefix = prefix_of_bits[second & 3];
	x->is_broadcast = third & 0x10;
	x->vector = (third >> 5 & 3) < 3 ? 16u << (third >> 5 & 3) : 0;
	x->opcode = cur_u8(c);
}

static bool read_code(struct cursor *c, bool is_64, struct x86_code *x)
{
	uint8_t byte, modrm;

	*x = (struct x86_code){ .is_64 = is_64 };
	byte = read_prefixes(c, x);
	if ((byte == 0xc4 || byte == 0xc5) && is_vex(*c, x))
		read_vex(c, byte, x);
	else if (byte == 0x62 && is_vex(*c, x))
		read_evex(c, x);
	else
		read_legacy(c, byte, x);
	if (!cur_ok(c))
		return false;
	modrm = cur_u8(c); /* if the instruction has one, which its form tells */
	x->has_modrm = cur_ok(c);
	x->has_memory = x->has_modrm && modrm < 0xc0;
	x->reg = modrm >> 3 & 7;
	return true;
}

static bool fits(const struct x86_form *f, const struct x86_code *x)
{
	if (f->map != x->map || x->opcode < f->first || x->opcode > f->last ||
	    !(f->encodings & x->encoding) || !(f->prefixes & x->prefix))
		return false;
	if (!x->has_modrm)
		return true;
	return (x->has_memory || f->is_implicit) && f->regs >> x->reg & 1;
}

static const struct x86_form *find_form(const struct x86_code *x)
{
	for (size_t i = 0; i < x86_n_forms; i++) {
		if (fits(&x86_forms[i], x))
			return &x86_forms[i];
	}
	return NULL;
}

/* A general register; 0x66 makes it short, W long. */
static uint32_t register_bytes(const struct x86_code *x)
{
	if (x->is_wide)
		return 8;
	return x->has_66 ? 2 : 4;
}

/* What a push or pop moves. */
static uint32_t stack_bytes(const struct x86_code *x)
{
	if (x->has_66 && !x->is_wide)
		return 2;
	return x->is_64 ? 8 : 4;
}

static uint32_t bytes_of(const struct x86_code *x, enum x86_size size)
{
	switch (size) {
	case X86_REGISTER:
		return register_bytes(x);
	case X86_REGISTER_4_8:
	case X86_SCALAR:
		return x->is_wide ? 8 : 4;
	case X86_REGISTER_16_8:
		return x->is_wide ? 16 : 8;
	case X86_POINTER:
		return x->is_64 ? 8 : 4;
	case X86_STACK:
		return stack_bytes(x);
	case X86_FAR:
		return 2 + register_bytes(x);
	case X86_TWO:
		return 2 * register_bytes(x);
	case X86_TABLE:
		return 2 + (x->is_64 ? 8 : 4);
	case X86_PORT:
		return x->has_66 && !x->is_wide ? 2 : 4;
	case X86_VECTOR:
		return x->vector;
	case X86_HALF:
		return x->vector / 2;
	case X86_QUARTER:
		return x->vector / 4;
	case X86_EIGHTH:
		return x->vector / 8;
	case X86_DOUBLED:
		return x->vector == 16 ? 8 : x->vector;
	case X86_HALF_UNLESS_WIDE:
		return x->is_wide ? x->vector : x->vector / 2;
	case X86_MASK:
		return x->prefix == X86_66 ? (x->is_wide ? 4 : 1) : (x->is_wide ? 8 : 2);
	default:
		return (uint32_t)size;
	}
}

/* Elements that a broadcast may repeat are as long as W says; of half precision 2 bytes. */
static uint32_t element_bytes(const struct x86_code *x)
{
	bool is_half = x->map == X86_0F3A && x->prefix == X86_NONE;

	if (is_half || x->map == X86_MAP5 || x->map == X86_MAP6)
		return 2;
	return x->is_wide ? 8 : 4;
}

static bool is_packed(enum x86_size size)
{
	return size == X86_VECTOR || size == X86_HALF || size == X86_QUARTER ||
	       size == X86_EIGHTH || size == X86_HALF_UNLESS_WIDE;
}

static bool is_string(const struct x86_form *f)
{
	return f->map == X86_ONE_BYTE &&
	       ((f->first >= 0x6c && f->last <= 0x6f) || (f->first >= 0xa4 && f->last <= 0xaf));
}

static struct isa_access access_of(const struct x86_code *x, const struct x86_form *f)
{
	enum x86_size size = (enum x86_size)f->size;
	struct isa_access a = { .bytes = bytes_of(x, size), .flags = f->flags };

	if (x->is_broadcast && is_packed(size))
		a.bytes = element_bytes(x);
	if (x->has_lock)
		a.flags |= ACCESS_ATOMIC;
	/* How often it repeats stands in a register. */
	if (x->has_rep && is_string(f))
		a.bytes = 0;
	return a;
}

/* Are opcodes of this map followed by a ModRM byte? All are but VZEROUPPER. */
static bool map_has_modrm(const struct x86_code *x)
{
	if (x->map == X86_0F && x->opcode == 0x77)
		return false;
	return x->encoding != X86_LEGACY || x->map == X86_0F38 || x->map == X86_0F3A;
}

bool x86_access(struct cursor code, bool is_64, struct isa_access *out)
{
	const struct x86_form *form;
	struct x86_code x;

	if (!read_code(&code, is_64, &x))
		return false;
	form = find_form(&x);
	if (!x.has_modrm && (form == NULL ? map_has_modrm(&x) : !form->is_implicit))
		return false; /* cut short */
	if (form == NULL && map_has_modrm(&x) && x.has_memory)
		return false;
	*out = form == NULL ? (struct isa_access){ 0 } : access_of(&x, form);
	return true;
}
