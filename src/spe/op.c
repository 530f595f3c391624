/* SPDX-License-Identifier: Apache-2.0 */
/* Operation packets: meaning and text. */
#include <stdbool.h>

#include "base/alloc.h"
#include "spe/names.h"
#include "spe/words.h"

/* Bits of the payload; their meaning depends on class and subclass. */
enum {
	OP_STORE = 1 << 0,
	OP_COND = 1 << 0, /* branch, other */
	OP_FP = 1 << 1,	  /* other, SVE, SME */
	OP_SIMD = 1 << 2, /* other */
	OP_INDIRECT = 1 << 1,
	OP_BRANCH_GCS = 1 << 2,
	OP_ATOMIC = 1 << 2,
	OP_EXCLUSIVE = 1 << 3,
	OP_ACQUIRE_RELEASE = 1 << 4,
	OP_PREDICATED = 1 << 2,
	OP_GATHER_SCATTER = 1 << 7,
	OP_GCS_COMMON = 1 << 2,
};

/* What follows the name of the subclass. */
enum detail { NOTHING, INSN, SVE_LENGTH, SME_TILE, ORDERING, GATHER, COMMON, RESERVED };

/* A subclass: the first row with (payload & mask) == match. */
struct row {
	uint8_t mask, match;
	bool in_perf_6_1;
	enum detail detail;
	const char *subclass; /* for struct spe_op, if it differs from the dump */
	struct spe_word word;
};

static const struct row other_rows[] = {
	{ 0xf8, 0x00, true, INSN, "OTHER", SPE_WORD("OTHER") },
	{ 0x89, 0x08, true, SVE_LENGTH, "SVE", SPE_WORD("SVE-OTHER") },
	{ 0x89, 0x88, false, SME_TILE, "SME", SPE_WORD("SME-OTHER") },
	{ 0x00, 0x00, false, RESERVED, "", SPE_WORD("") },
};

static const struct row ldst_rows[] = {
	{ 0xfe, 0x00, true, NOTHING, "GP-REG", SPE_WORD(" GP-REG") },
	{ 0xfe, 0x04, true, NOTHING, "SIMD-FP", SPE_WORD(" SIMD-FP") },
	{ 0xe2, 0x02, true, ORDERING, "", SPE_WORD("") },
	{ 0xfe, 0x10, true, NOTHING, "UNSPEC-REG", SPE_WORD(" UNSPEC-REG") },
	{ 0xfe, 0x30, true, NOTHING, "NV-SYSREG", SPE_WORD(" NV-SYSREG") },
	{ 0xfe, 0x14, false, NOTHING, "MTE-TAG", SPE_WORD(" MTE-TAG") },
	{ 0xfe, 0x20, false, NOTHING, "MEMCPY", SPE_WORD(" MEMCPY") },
	{ 0xff, 0x25, false, NOTHING, "MEMSET", SPE_WORD(" MEMSET") },
	{ 0x0a, 0x08, true, GATHER, "SVE", SPE_WORD(" SVE-SME-REG") },
	{ 0xfa, 0x40, false, COMMON, "GCS", SPE_WORD(" GCS") },
	{ 0x00, 0x00, true, NOTHING, "", SPE_WORD("") },
};

static const struct spe_word load_word = SPE_WORD("LD"), store_word = SPE_WORD("ST");
static const struct spe_word branch_word = SPE_WORD("B");
static const struct spe_word cond_select = SPE_WORD(" COND-SELECT");
static const struct spe_word insn_other = SPE_WORD(" INSN-OTHER");
static const struct spe_word other_word = SPE_WORD("OTHER");
static const struct spe_word evlen_word = SPE_WORD(" EVLEN "), ets_word = SPE_WORD(" ETS ");
static const struct spe_word op_type_word = SPE_WORD("OP-TYPE ");

/* A word for a set bit. */
struct flag {
	uint8_t bit;
	struct spe_word word;
};

/* The text of each kind of detail. */
static const struct form {
	/* words for the vector length, which comes first; NULL: none */
	const struct spe_word *length;
	struct flag flags[3];
} forms[] = {
	[NOTHING] = { NULL, { { 0 } } },
	[INSN] = { NULL, { { OP_SIMD, SPE_WORD(" ASE") }, { OP_FP, SPE_WORD(" FP") } } },
	[SVE_LENGTH] = { &evlen_word,
			 { { OP_FP, SPE_WORD(" FP") }, { OP_PREDICATED, SPE_WORD(" PRED") } } },
	[SME_TILE] = { &ets_word, { { OP_FP, SPE_WORD(" FP") } } },
	[ORDERING] = { NULL,
		       { { OP_ATOMIC, SPE_WORD(" AT") },
			 { OP_EXCLUSIVE, SPE_WORD(" EXCL") },
			 { OP_ACQUIRE_RELEASE, SPE_WORD(" AR") } } },
	[GATHER] = { &evlen_word,
		     { { OP_PREDICATED, SPE_WORD(" PRED") },
		       { OP_GATHER_SCATTER, SPE_WORD(" SG") } } },
	[COMMON] = { NULL, { { OP_GCS_COMMON, SPE_WORD(" COMM") } } },
	[RESERVED] = { NULL, { { 0 } } },
};

static const struct flag branch_flags[] = { { OP_COND, SPE_WORD(" COND") },
					    { OP_INDIRECT, SPE_WORD(" IND") },
					    { OP_BRANCH_GCS, SPE_WORD(" GCS") } };

/* Calls and returns: payload bits 4:3. */
enum { CR_CALL = 1, CR_RETURN = 2 };
static const struct spe_word call_return_words[] = { SPE_WORD(""), SPE_WORD(" CR-BL"),
						     SPE_WORD(" CR-RET"),
						     SPE_WORD(" CR-NON-BL-RET") };

static unsigned call_return(uint64_t payload)
{
	return (unsigned)(payload >> 3 & 3);
}

static const struct row *op_find_row(const struct row *row, uint64_t payload)
{
	while ((payload & row->mask) != row->match)
		row++;
	return row;
}

static uint32_t sve_bits(uint64_t payload)
{
	return 32u << (payload >> 4 & 7);
}

static uint32_t sme_bits(uint64_t payload)
{
	return 128u << ((payload >> 4 & 7) << 1 | (payload >> 2 & 1));
}

static char *put_flags(char *at, const struct flag *flags, size_t n, uint64_t payload)
{
	for (size_t i = 0; i < n; i++)
		if (payload & flags[i].bit)
			at = spe_word_put(at, &flags[i].word);
	return at;
}

static char *put_reserved(char *at, unsigned op_class, uint64_t payload)
{
	at = spe_word_put(at, &op_type_word);
	at += put_hex(at, payload);
	memcpy(at, " (0)", 4);
	at[2] = (char)('0' + op_class);
	return at + 4;
}

static char *put_detail(char *at, enum detail detail, uint64_t payload)
{
	const struct form *form = &forms[detail];

	if (detail == RESERVED)
		return put_reserved(at, SPE_OP_OTHER, payload);
	if (form->length != NULL) {
		at = spe_word_put(at, form->length);
		at += put_u64(at, detail == SME_TILE ? sme_bits(payload) : sve_bits(payload));
	}
	at = put_flags(at, form->flags, COUNT(form->flags), payload);
	if (detail == INSN)
		at = spe_word_put(at, payload & OP_COND ? &cond_select : &insn_other);
	return at;
}

static char *put_full(char *at, unsigned op_class, uint64_t payload)
{
	const struct row *row;

	switch (op_class) {
	case SPE_OP_OTHER:
		row = op_find_row(other_rows, payload);
		return put_detail(spe_word_put(at, &row->word), row->detail, payload);
	case SPE_OP_LDST:
		row = op_find_row(ldst_rows, payload);
		at = spe_word_put(at, payload & OP_STORE ? &store_word : &load_word);
		return put_detail(spe_word_put(at, &row->word), row->detail, payload);
	case SPE_OP_BRANCH:
		at = spe_word_put(at, &branch_word);
		at = put_flags(at, branch_flags, COUNT(branch_flags), payload);
		return spe_word_put(at, &call_return_words[call_return(payload)]);
	default:
		return put_reserved(at, op_class, payload);
	}
}

/*
 * The text of perf 6.1. It prints all of class 0 as OTHER except SVE, does not know newer loads and
 * stores, and prints IND only if no other bit of a branch is set.
 */
static char *put_perf_6_1(char *at, unsigned op_class, uint64_t payload)
{
	const struct row *row;

	switch (op_class) {
	case SPE_OP_OTHER:
		row = op_find_row(other_rows, payload);
		if (row->detail == SVE_LENGTH)
			return put_full(at, op_class, payload);
		at = spe_word_put(at, &other_word);
		return spe_word_put(at, payload & OP_COND ? &cond_select : &insn_other);
	case SPE_OP_LDST:
		row = op_find_row(ldst_rows, payload);
		at = spe_word_put(at, payload & OP_STORE ? &store_word : &load_word);
		if (!row->in_perf_6_1)
			return at;
		if (row->detail != GATHER)
			at = spe_word_put(at, &row->word);
		return put_detail(at, row->detail, payload);
	case SPE_OP_BRANCH:
		at = spe_word_put(at, &branch_word);
		if (payload & OP_COND)
			at = spe_word_put(at, &branch_flags[0].word);
		if ((payload & 0xfe) == OP_INDIRECT)
			at = spe_word_put(at, &branch_flags[1].word);
		return at;
	default:
		return put_reserved(at, op_class, payload);
	}
}

char *spe_put_op(char *at, enum spe_wording wording, unsigned op_class, uint64_t payload)
{
	if (wording == SPE_WORDING_PERF_6_1)
		return put_perf_6_1(at, op_class, payload);
	return put_full(at, op_class, payload);
}

void spe_op_text(uint8_t op_class, uint8_t payload, struct text *out)
{
	char *start = text_room(out, SPE_OP_ROOM);

	out->n += (size_t)(put_full(start, op_class & 3u, payload) - start);
}

static struct spe_op other_op(uint8_t p)
{
	const struct row *row = op_find_row(other_rows, p);
	bool is_insn = row->detail == INSN;
	bool is_sve = row->detail == SVE_LENGTH;
	bool is_sme = row->detail == SME_TILE;

	return (struct spe_op){
		.op = "OTHER",
		.subclass = row->subclass,
		.is_conditional = is_insn && (p & OP_COND),
		.is_simd = is_insn && (p & OP_SIMD),
		.is_fp = row->detail != RESERVED && (p & OP_FP),
		.is_sve = is_sve,
		.is_sme = is_sme,
		.is_predicated = is_sve && (p & OP_PREDICATED),
		.vector_bits = is_sve	? sve_bits(p)
			       : is_sme ? sme_bits(p)
					: 0,
	};
}

static struct spe_op ldst_op(uint8_t p)
{
	/* by the ordering bits, payload bits 4:2 */
	static const char *const orderings[] = { "",   "AT",	"EXCL",	   "AT EXCL",
						 "AR", "AT AR", "EXCL AR", "AT EXCL AR" };
	const struct row *row = op_find_row(ldst_rows, p);
	bool is_ordered = row->detail == ORDERING;
	bool is_sve = row->detail == GATHER;

	return (struct spe_op){
		.op = p & OP_STORE ? "ST" : "LD",
		.subclass = is_ordered ? orderings[p >> 2 & 7] : row->subclass,
		.is_load = !(p & OP_STORE),
		.is_store = p & OP_STORE,
		.is_atomic = is_ordered && (p & OP_ATOMIC),
		.is_exclusive = is_ordered && (p & OP_EXCLUSIVE),
		.is_acquire_release = is_ordered && (p & OP_ACQUIRE_RELEASE),
		.is_gcs = row->detail == COMMON,
		.is_simd = (p & 0xfe) == 0x04,
		.is_sve = is_sve,
		.is_predicated = is_sve && (p & OP_PREDICATED),
		.is_gather_scatter = is_sve && (p & OP_GATHER_SCATTER),
		.vector_bits = is_sve ? sve_bits(p) : 0,
	};
}

static struct spe_op branch_op(uint8_t p)
{
	static const char *const kinds[] = { "", "COND", "IND", "COND IND" };
	static const char *const branches[] = { NULL, "call", "return", "neither" };

	return (struct spe_op){
		.op = "B",
		.subclass = kinds[p & (OP_COND | OP_INDIRECT)],
		.branch = branches[call_return(p)],
		.is_branch = true,
		.is_conditional = p & OP_COND,
		.is_indirect = p & OP_INDIRECT,
		.is_gcs = p & OP_BRANCH_GCS,
		.is_call = call_return(p) == CR_CALL,
		.is_return = call_return(p) == CR_RETURN,
	};
}

struct spe_op spe_op_of(uint8_t op_class, uint8_t payload)
{
	switch (op_class) {
	case SPE_OP_OTHER:
		return other_op(payload);
	case SPE_OP_LDST:
		return ldst_op(payload);
	case SPE_OP_BRANCH:
		return branch_op(payload);
	default:
		return (struct spe_op){ .op = "OP-TYPE", .subclass = "" };
	}
}
