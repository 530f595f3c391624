/* SPDX-License-Identifier: Apache-2.0 */
/* Generates SPE records. Shares and latencies are as seen on server cores. */
#include "spe/generate.h"

#include "base/alloc.h"
#include "base/random.h"
#include "spe/names.h"

/* Event bits as masks. */
enum {
	EXCEPTION = 1 << SPE_EV_EXCEPTION,
	RETIRED = 1 << SPE_EV_RETIRED,
	L1D_ACCESS = 1 << SPE_EV_L1D_ACCESS,
	L1D_REFILL = 1 << SPE_EV_L1D_REFILL,
	TLB_ACCESS = 1 << SPE_EV_TLB_ACCESS,
	TLB_WALK = 1 << SPE_EV_TLB_WALK,
	NOT_TAKEN = 1 << SPE_EV_NOT_TAKEN,
	MISPREDICTED = 1 << SPE_EV_MISPREDICTED,
	LLC_ACCESS = 1 << SPE_EV_LLC_ACCESS,
	LLC_MISS = 1 << SPE_EV_LLC_MISS,
	REMOTE = 1 << SPE_EV_REMOTE,
	ALIGNMENT = 1 << SPE_EV_ALIGNMENT,
	PARTIAL_PREDICATE = 1 << SPE_EV_PARTIAL_PREDICATE,
};

const struct spe_generate_options spe_generate_defaults = {
	.seed = 1,
	.user_text = { 0xaaaac0000000, 1 << 20 },
	.kernel_text = { 0xffff800008000000, 8 << 20 },
	.user_data = { 0xffff80000000, 64 << 20 },
	.kernel_data = { 0xffff000800000000, 256 << 20 },
	.kernel_permille = 150,
	.kernel_level = 2,
	.with_context = true,
	.first_context = 4000,
	.n_contexts = 8,
	.with_pa = true,
	.with_ticks = true,
	.first_ticks = 1000000000,
	.mean_gap_ticks = 40,
	.saturation = 4095,
};

/* So many rows at the start of the table are plain loads and stores. */
enum { N_PLAIN_ACCESSES = 4 };

/* Operations and their share of all records, per mille. */
static const struct mix {
	uint16_t share;
	uint8_t op_class, op;
} known_mix[] = {
	{ 270, SPE_OP_LDST, 0x00 },   /* LD GP-REG */
	{ 40, SPE_OP_LDST, 0x04 },    /* LD SIMD-FP */
	{ 120, SPE_OP_LDST, 0x01 },   /* ST GP-REG */
	{ 20, SPE_OP_LDST, 0x05 },    /* ST SIMD-FP */
	{ 8, SPE_OP_LDST, 0x16 },     /* LD AT AR */
	{ 8, SPE_OP_LDST, 0x12 },     /* LD AR */
	{ 4, SPE_OP_LDST, 0x0a },     /* LD EXCL */
	{ 4, SPE_OP_LDST, 0x0b },     /* ST EXCL */
	{ 4, SPE_OP_LDST, 0x10 },     /* LD UNSPEC-REG */
	{ 12, SPE_OP_LDST, 0x2c },    /* LD EVLEN 128 PRED */
	{ 4, SPE_OP_LDST, 0xac },     /* LD EVLEN 128 PRED SG */
	{ 6, SPE_OP_LDST, 0x2d },     /* ST EVLEN 128 PRED */
	{ 140, SPE_OP_BRANCH, 0x01 }, /* B COND */
	{ 30, SPE_OP_BRANCH, 0x00 },  /* B */
	{ 30, SPE_OP_BRANCH, 0x02 },  /* B IND */
	{ 250, SPE_OP_OTHER, 0x00 },  /* OTHER INSN-OTHER */
	{ 35, SPE_OP_OTHER, 0x01 },   /* OTHER COND-SELECT */
	{ 15, SPE_OP_OTHER, 0x2e },   /* SVE-OTHER EVLEN 128 FP PRED */
};
static const struct mix newer_mix[] = {
	{ 3, SPE_OP_OTHER, 0x06 },  /* OTHER ASE FP INSN-OTHER */
	{ 2, SPE_OP_OTHER, 0x88 },  /* SME-OTHER ETS 128 */
	{ 1, SPE_OP_LDST, 0x14 },   /* LD MTE-TAG */
	{ 1, SPE_OP_LDST, 0x20 },   /* LD MEMCPY */
	{ 1, SPE_OP_LDST, 0x21 },   /* ST MEMCPY */
	{ 1, SPE_OP_LDST, 0x25 },   /* ST MEMSET */
	{ 1, SPE_OP_LDST, 0x44 },   /* LD GCS COMM */
	{ 2, SPE_OP_BRANCH, 0x08 }, /* B CR-BL */
	{ 2, SPE_OP_BRANCH, 0x12 }, /* B IND CR-RET */
	{ 1, SPE_OP_BRANCH, 0x1a }, /* B IND CR-NON-BL-RET */
};

/*
 * Where loads find their data: shares without and with sharing, data source on Neoverse, latency.
 */
static const struct level {
	uint16_t shares[2]; /* per mille */
	uint16_t source;
	uint32_t events;
	uint16_t least, most; /* cycles */
} levels[] = {
	{ { 870, 400 }, 0x0, 0, 4, 20 },
	{ { 80, 100 }, 0x8, L1D_REFILL, 11, 40 },
	{ { 4, 130 }, 0x9, L1D_REFILL, 40, 120 },
	{ { 4, 100 }, 0xa, L1D_REFILL | LLC_ACCESS, 30, 90 },
	{ { 22, 50 }, 0xb, L1D_REFILL | LLC_ACCESS, 60, 160 },
	{ { 5, 120 }, 0xc, L1D_REFILL | LLC_ACCESS | LLC_MISS, 90, 300 },
	{ { 3, 60 }, 0xd, L1D_REFILL | LLC_ACCESS | LLC_MISS | REMOTE, 200, 900 },
	{ { 12, 40 }, 0xe, L1D_REFILL | LLC_ACCESS | LLC_MISS, 150, 600 },
};

uint64_t spe_random_next(struct spe_random *r)
{
	return random_next(&r->state);
}

uint64_t spe_random_below(struct spe_random *r, uint64_t n)
{
	return spe_random_next(r) % n;
}

bool spe_random_chance(struct spe_random *r, unsigned permille)
{
	return spe_random_below(r, 1000) < permille;
}

static uint16_t random_between(struct spe_random *r, uint16_t least, uint16_t most)
{
	return (uint16_t)(least + spe_random_below(r, most - least + 1u));
}

/* Addresses near the start of the region are more frequent, as some functions are hotter. */
static uint64_t place_in(struct spe_random *r, struct spe_region region, uint64_t alignment)
{
	uint64_t hot = 1 + spe_random_below(r, (region.size + alignment - 1) / alignment);

	return region.start + alignment * spe_random_below(r, hot);
}

static void pick_op(struct spe_generator *g, struct spe_record *out)
{
	const struct mix *mix = known_mix;
	size_t n = COUNT(known_mix);
	unsigned total = 0;
	uint64_t pick;
	size_t i = 0;

	if (g->options.with_newer_ops && spe_random_chance(&g->random, 30)) {
		mix = newer_mix;
		n = COUNT(newer_mix);
	}
	for (size_t k = 0; k < n; k++)
		total += mix[k].share;
	pick = spe_random_below(&g->random, total);
	while (pick >= mix[i].share)
		pick -= mix[i++].share;
	if (g->options.with_sharing && mix[i].op_class != SPE_OP_LDST)
		i = spe_random_below(&g->random, N_PLAIN_ACCESSES);
	out->has |= HAS_OP;
	out->op_class = mix[i].op_class;
	out->op = mix[i].op;
}

static const struct level *pick_level(struct spe_random *r, bool with_sharing)
{
	uint64_t pick = spe_random_below(r, 1000);
	size_t i = 0;

	while (pick >= levels[i].shares[with_sharing])
		pick -= levels[i++].shares[with_sharing];
	return &levels[i];
}

/* A physical address: pages are permuted. */
static uint64_t physical_of(uint64_t va)
{
	uint64_t frame = (va >> 12) * 0x9e3779b1 & 0xffffff;

	return 0x80000000 + (frame << 12 | (va & 0xfff));
}

static void make_memory_access(struct spe_generator *g, struct spe_record *out)
{
	struct spe_random *r = &g->random;
	const struct spe_generate_options *o = &g->options;
	const struct level *level = pick_level(r, o->with_sharing);
	uint64_t va = place_in(r, out->pc_level > 0 ? o->kernel_data : o->user_data, 8);

	out->has |= HAS_VA | HAS_XLAT;
	out->events |= level->events | L1D_ACCESS | TLB_ACCESS;
	out->xlat = random_between(r, 1, 4);
	if (spe_random_chance(r, 15)) {
		out->events |= TLB_WALK;
		out->xlat = random_between(r, 20, 200);
	}
	if (spe_random_chance(r, 5)) {
		out->events |= ALIGNMENT;
		va += 3;
	}
	out->total =
		(uint16_t)(out->issue + out->xlat + random_between(r, level->least, level->most));
	out->va = va;
	if (o->with_tags && out->pc_level == 0)
		out->va |= spe_random_below(r, 256) << 56;
	if (!(out->op & 1)) {
		out->has |= HAS_SOURCE;
		out->source = level->source;
	}
	if (o->with_pa) {
		out->has |= HAS_PA;
		out->pa = physical_of(va);
	}
}

static void make_branch(struct spe_generator *g, struct spe_record *out)
{
	struct spe_random *r = &g->random;
	const struct spe_generate_options *o = &g->options;
	bool is_kernel = out->pc_level > 0;

	out->has |= HAS_TARGET;
	out->target_level = out->pc_level;
	if ((out->op & 1) && spe_random_chance(r, 350)) {
		out->events |= NOT_TAKEN;
		out->target = out->pc + 4;
	} else {
		out->target = place_in(r, is_kernel ? o->kernel_text : o->user_text, 4);
	}
	if (spe_random_chance(r, 40))
		out->events |= MISPREDICTED;
}

static uint16_t saturate(uint16_t cycles, uint16_t most)
{
	return cycles < most ? cycles : most;
}

static void make_context(struct spe_generator *g, struct spe_record *out)
{
	const struct spe_generate_options *o = &g->options;

	out->has |= HAS_CONTEXT;
	out->context_level = o->kernel_level;
	out->context =
		o->first_context +
		(o->n_contexts > 0 ? (uint32_t)spe_random_below(&g->random, o->n_contexts) : 0);
}

static void make_code_addresses(struct spe_generator *g, struct spe_record *out)
{
	const struct spe_generate_options *o = &g->options;
	bool is_kernel = spe_random_chance(&g->random, o->kernel_permille);
	struct spe_region text = is_kernel ? o->kernel_text : o->user_text;

	out->has |= HAS_PC;
	out->pc = place_in(&g->random, text, 4);
	out->pc_level = is_kernel ? o->kernel_level : 0;
	if (o->with_prev_target) {
		out->has |= HAS_PREV_TARGET;
		out->prev_target = place_in(&g->random, text, 4);
		out->prev_target_level = out->pc_level;
	}
}

void spe_generator_init(struct spe_generator *g, const struct spe_generate_options *options)
{
	*g = (struct spe_generator){ .options = *options,
				     .random = { options->seed },
				     .ticks = options->first_ticks };
}

void spe_generator_next(struct spe_generator *g, struct spe_record *out)
{
	struct spe_random *r = &g->random;
	const struct spe_generate_options *o = &g->options;

	*out = (struct spe_record){ .has = HAS_EVENTS | HAS_ISSUE | HAS_TOTAL, .events = RETIRED };
	make_code_addresses(g, out);
	if (o->with_context)
		make_context(g, out);
	pick_op(g, out);
	out->issue = random_between(r, 2, spe_random_chance(r, 100) ? 400 : 30);
	out->total = (uint16_t)(out->issue + random_between(r, 1, 6));
	if (out->op_class == SPE_OP_LDST)
		make_memory_access(g, out);
	if (out->op_class == SPE_OP_BRANCH)
		make_branch(g, out);
	if (spe_random_chance(r, 2))
		out->events = (out->events & ~(uint64_t)RETIRED) | EXCEPTION;
	if (spe_op_of(out->op_class, out->op).is_predicated && spe_random_chance(r, 200))
		out->events |= PARTIAL_PREDICATE;
	if (spe_random_chance(r, 1))
		out->total = UINT16_MAX; /* a page fault */
	out->total = saturate(out->total, o->saturation);
	out->issue = saturate(out->issue, o->saturation);
	g->ticks += spe_random_below(r, 2 * o->mean_gap_ticks + 1);
	out->ticks = g->ticks;
	if (o->with_ticks)
		out->has |= HAS_TICKS;
}
