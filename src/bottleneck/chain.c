/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body is executed in thought ITERATIONS times, on a machine that never runs out of anything:
 * an instruction begins when what it reads is there. After a while each iteration ends as many
 * cycles after the one before as the longest chain takes around the loop.
 */
#include "bottleneck/chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/registers.h"

enum { ITERATIONS = 24, MOST_FORWARDED = 32, NO_NODE = -1 };

/* An instruction in an iteration. */
struct node {
	double begin, end;
	int before; /* the node that it waited for longest */
};

/* A store that later loads of the same address wait for. */
struct forwarded {
	uint8_t base;
	int64_t offset;
	int node;
};

struct execution {
	const struct loop_insn *code;
	struct isa_registers *registers;
	struct loop_address *addresses;
	size_t n;
	struct node *nodes;
	int writer[ISA_N_REGS];	  /* node of the last write */
	double ready[ISA_N_REGS]; /* when that is there */
	bool changes[ISA_N_REGS]; /* is it written in the loop? */
	struct forwarded stores[MOST_FORWARDED];
	size_t n_stores;
	bool *is_slot;	   /* by instruction: it loads what the loop stored there, or stores that */
	bool has_no_slots; /* what they hold is in registers: they take no time */
};

/* An address of one register that does not change, and a number: the offset, by the encoding. */
static void read_offset(uint32_t word, const struct isa_registers *r, struct loop_address *out)
{
	bool is_single = (word >> 27 & 7) == 7, is_pair = (word >> 27 & 7) == 5;
	bool is_vector = word >> 26 & 1;
	unsigned scale = (word >> 30) + (is_vector && word >> 23 & 1 && word >> 30 == 0 ? 4 : 0);
	unsigned pair_scale = 2 + (is_vector ? word >> 30 : word >> 31);

	out->base = r->n_address > 0 ? r->reads[0] : ISA_REG_NONE;
	out->has_offset = r->n_address == 1 && (is_single || is_pair) && r->moved == ISA_REG_NONE;
	if (!out->has_offset)
		return;
	if (is_pair)
		out->offset =
			(((int64_t)(word >> 15 & 127) ^ 64) - 64) * ((int64_t)1 << pair_scale);
	else if (word >> 24 & 1)
		out->offset = (int64_t)(word >> 10 & 0xfff) << scale;
	else if (word >> 21 & 1)
		out->offset = 0; /* atomic */
	else
		out->offset = ((int64_t)(word >> 12 & 511) ^ 256) - 256;
}

static bool is_store(uint32_t word, const struct isa_registers *r)
{
	return isa_registers_are_store(r) && (word & 0xffc00000) != 0xf9800000;
}

/* False if it is not known what the loop does. */
static bool read_loop(struct execution *e)
{
	if (e->n == 0 || e->n > CHAIN_MOST_INSNS)
		return false;
	for (size_t i = 0; i < e->n; i++) {
		struct isa_registers *r = &e->registers[i];

		if (!isa_registers_of(e->code[i].word, r) || (r->is_call && !e->code[i].is_rare))
			return false;
		for (unsigned k = 0; k < r->n_writes && !e->code[i].is_rare; k++)
			e->changes[r->writes[k]] = true;
		if (r->is_access)
			read_offset(e->code[i].word, r, &e->addresses[i]);
	}
	return true;
}

static bool is_fixed_place(const struct execution *e, const struct loop_address *a)
{
	return a->has_offset && a->base != ISA_REG_NONE && !e->changes[a->base];
}

static struct forwarded *find_store(struct execution *e, const struct loop_address *a)
{
	for (size_t i = 0; i < e->n_stores; i++)
		if (e->stores[i].base == a->base && e->stores[i].offset == a->offset)
			return &e->stores[i];
	return NULL;
}

static void chain_wait(struct node *node, int before, double ready)
{
	if (before != NO_NODE && (node->before == NO_NODE || ready > node->begin)) {
		node->begin = ready;
		node->before = before;
	}
}

static void remember_store(struct execution *e, const struct loop_address *a, int number)
{
	struct forwarded *s = find_store(e, a);

	if (s == NULL && e->n_stores < MOST_FORWARDED)
		s = &e->stores[e->n_stores++];
	if (s != NULL)
		*s = (struct forwarded){ a->base, a->offset, number };
}

/* A load that hits the L1D: its record has the wait for the data of the store as well. */
static double forwarded_latency(const struct loop_insn *insn)
{
	return insn->latency < CHAIN_LATENCY_LOAD ? insn->latency : CHAIN_LATENCY_LOAD;
}

static void chain_execute(struct execution *e, size_t i, int number)
{
	const struct isa_registers *r = &e->registers[i];
	const struct loop_address *address = &e->addresses[i];
	struct node *node = &e->nodes[number];
	double latency = e->code[i].latency;

	*node = (struct node){ .before = NO_NODE };
	for (unsigned k = 0; k < r->n_reads; k++)
		chain_wait(node, e->writer[r->reads[k]], e->ready[r->reads[k]]);
	if (r->is_access && is_fixed_place(e, address)) {
		struct forwarded *s = find_store(e, address);

		if (is_store(e->code[i].word, r)) {
			remember_store(e, address, number);
		} else if (s != NULL) {
			chain_wait(node, s->node, e->nodes[s->node].end);
			latency = forwarded_latency(&e->code[i]);
			e->is_slot[i] = e->is_slot[s->node % (int)e->n] = true;
		}
	}
	node->end = node->begin + (e->has_no_slots && e->is_slot[i] ? 0 : latency);
	for (unsigned k = 0; k < r->n_writes; k++) {
		bool is_early = r->writes[k] == r->moved; /* the base is there at once */

		e->writer[r->writes[k]] = number;
		e->ready[r->writes[k]] = is_early ? node->begin + 1 : node->end;
	}
}

/* The instruction whose result is the farthest behind that of half the iterations before. */
static size_t slowest_of(const struct execution *e)
{
	double most = 0;
	size_t slowest = 0;

	for (size_t i = 0; i < e->n; i++) {
		double later = e->nodes[(ITERATIONS - 1) * e->n + i].end -
			       e->nodes[ITERATIONS / 2 * e->n + i].end;

		if (later > most) {
			most = later;
			slowest = i;
		}
	}
	return slowest;
}

/* As many whole rounds back as the first quarter of the iterations leaves; the same node if that is none. */
static int rounds_back(const struct execution *e, int from)
{
	int n = (int)e->n, end = from;

	for (int at = from; at >= ITERATIONS / 4 * n; at = e->nodes[at].before)
		if (at % n == from % n)
			end = at;
	return end;
}

/*
 * From the slowest result of the last iteration back to one in the middle, in whole rounds: from one
 * instruction back to the same. Gives what each has of that way. What only hangs on the chain is in
 * the last iterations: a result may be used an iteration after the chain has passed it, or later.
 */
static double walk_back(const struct execution *e, double *parts)
{
	int n = (int)e->n, last = (ITERATIONS - 1) * n, first = last + (int)slowest_of(e);
	int end = first;
	double around;

	for (; end == first && last >= ITERATIONS / 2 * n; last -= n) {
		while (first >= last)
			first = e->nodes[first].before;
		end = rounds_back(e, first);
	}
	if (end == first)
		return 0;
	around = first / n - end / n;
	for (int at = first; at != end;) {
		int before = e->nodes[at].before;

		parts[before % n] += (e->nodes[at].begin - e->nodes[before].begin) / around;
		at = before;
	}
	return (e->nodes[first].begin - e->nodes[end].begin) / around;
}

static bool execution_init(struct execution *e, const struct loop_insn *code, size_t n)
{
	*e = (struct execution){ .code = code, .n = n };
	e->registers = mem_zalloc(n + 1, sizeof(*e->registers));
	e->addresses = mem_zalloc(n + 1, sizeof(*e->addresses));
	e->is_slot = mem_zalloc(n + 1, sizeof(*e->is_slot));
	return read_loop(e);
}

static void execution_release(struct execution *e)
{
	free(e->registers);
	free(e->addresses);
	free(e->is_slot);
	free(e->nodes);
}

static void chain_iterate(struct execution *e)
{
	for (int i = 0; i < ISA_N_REGS; i++)
		e->writer[i] = NO_NODE;
	e->n_stores = 0;
	for (int k = 0; k < ITERATIONS * (int)e->n; k++) {
		e->nodes[k].before = NO_NODE;
		if (!e->code[k % (int)e->n].is_rare)
			chain_execute(e, (size_t)k % e->n, k);
	}
}

double chain_find(const struct loop_insn *code, size_t n, double *parts)
{
	struct execution e;
	double cycles = 0;

	memset(parts, 0, n * sizeof(*parts));
	if (execution_init(&e, code, n)) {
		e.nodes = mem_zalloc(ITERATIONS * n + 1, sizeof(*e.nodes));
		chain_iterate(&e);
		cycles = walk_back(&e, parts);
	}
	execution_release(&e);
	return cycles;
}

double chain_find_in_registers(const struct loop_insn *code, size_t n, bool *is_slot)
{
	double *parts = mem_zalloc(n + 1, sizeof(*parts)), cycles = 0;
	struct execution e;

	memset(is_slot, 0, n * sizeof(*is_slot));
	if (execution_init(&e, code, n)) {
		e.nodes = mem_zalloc(ITERATIONS * n + 1, sizeof(*e.nodes));
		chain_iterate(&e);
		e.has_no_slots = true;
		chain_iterate(&e);
		cycles = walk_back(&e, parts);
		memcpy(is_slot, e.is_slot, n * sizeof(*is_slot));
	}
	execution_release(&e);
	free(parts);
	return cycles;
}

/* What a register has, from iteration to iteration. Worse ones have higher numbers. */
struct value {
	enum address_move move;
	bool knows_step; /* it is `step` + `times` * a register that the loop does not change */
	int64_t step, times;
	uint8_t step_reg; /* of no matter if times is 0 */
	enum link_kind
		link; /* of ADDRESS_LOADED: and of what the instruction `loaded_by` has loaded */
	size_t loaded_by;
	uint64_t inputs; /* registers that the loop leaves as they are, and that are added to it */
};

static const struct value fixed = { .move = ADDRESS_FIXED, .knows_step = true };

static enum link_kind weaker_link(enum link_kind a, enum link_kind b)
{
	return a < b ? a : b;
}

/* The sum of a link and a value that does not change is a link, and "x + (x << 1)" is one scaled. */
static enum link_kind link_of_sum(const struct value *a, const struct value *b)
{
	bool is_scaled = a->move == ADDRESS_LOADED && b->move == ADDRESS_LOADED &&
			 a->loaded_by == b->loaded_by;
	const struct value *link = a->move == ADDRESS_LOADED ? a : b, *other = link == a ? b : a;

	if (is_scaled)
		return weaker_link(weaker_link(a->link, b->link), LINK_SCALED);
	return other->move == ADDRESS_FIXED ? weaker_link(link->link, LINK_SCALED) : LINK_NONE;
}

static struct value worse_value(struct value a, struct value b)
{
	a.inputs |= b.inputs;
	b.inputs = a.inputs;
	if (a.move != b.move)
		return a.move > b.move ? a : b;
	a.link = weaker_link(a.link, b.link);
	a.knows_step &= b.knows_step && a.step == b.step && a.times == b.times &&
			(a.times == 0 || a.step_reg == b.step_reg);
	return a;
}

static bool is_linear(const struct value *v)
{
	return v->move == ADDRESS_FIXED || v->move == ADDRESS_STEPS;
}

/* a + b * factor */
static struct value linear_sum(struct value a, struct value b, int64_t factor)
{
	if (!is_linear(&a) || !is_linear(&b)) {
		struct value sum = worse_value(a, b);

		sum.link = link_of_sum(&a, &b);
		return sum;
	}
	return (struct value){
		.inputs = a.inputs | b.inputs,
		.move = worse_value(a, b).move,
		.knows_step = a.knows_step && b.knows_step &&
			      (a.times == 0 || b.times == 0 || a.step_reg == b.step_reg),
		.step = (int64_t)((uint64_t)a.step + (uint64_t)b.step * (uint64_t)factor),
		.times = (int64_t)((uint64_t)a.times + (uint64_t)b.times * (uint64_t)factor),
		.step_reg = a.times != 0 ? a.step_reg : b.step_reg,
	};
}

static struct value register_value(const struct value *values, unsigned reg)
{
	return reg == 31 ? fixed : values[reg];
}

bool chain_is_copy(uint32_t word)
{
	return (word & 0x7fe0ffe0) == 0x2a0003e0 && (word >> 16 & 31) != 31; /* MOV */
}

/* Does it take some bits of its operand: AND with a constant, a bit field? */
static bool takes_bits(uint32_t word)
{
	return (word & 0x1f800000) == 0x12000000 ? (word >> 29 & 3) == 0 || (word >> 29 & 3) == 3
						 : (word & 0x1f800000) == 0x13000000;
}

static bool is_multiplication(uint32_t word)
{
	return (word & 0x7fe00000) == 0x1b000000 || (word & 0xff600000) == 0x9b200000;
}

static bool is_selection(uint32_t word)
{
	return (word & 0x3fe00c00) == 0x1a800000;
}

/*
 * What is left of a link by an instruction that is no sum. A product is one as long as nothing but
 * additions follow: what takes bits of a product is a hash.
 */
static enum link_kind link_of_calculation(uint32_t word, const struct isa_registers *r,
					  const struct value *values)
{
	enum link_kind link = LINK_PLAIN;
	unsigned n_loaded = 0;

	if (!takes_bits(word) && !is_multiplication(word) && !is_selection(word))
		return LINK_NONE;
	for (unsigned i = 0; i < r->n_reads; i++) {
		const struct value *v = &values[r->reads[i]];

		if (r->reads[i] == ISA_REG_FLAGS || v->move == ADDRESS_FIXED)
			continue;
		link = v->move == ADDRESS_LOADED ? weaker_link(link, v->link) : LINK_NONE;
		n_loaded++;
	}
	if (is_selection(word))
		return link;
	if (n_loaded != 1 || (takes_bits(word) && link != LINK_PLAIN))
		return LINK_NONE;
	return takes_bits(word) ? LINK_PLAIN : weaker_link(link, LINK_SCALED);
}

/* What an instruction of general registers makes of what it reads. */
static struct value computed_value(uint32_t word, const struct isa_registers *r,
				   const struct value *values)
{
	struct value a = register_value(values, word >> 5 & 31),
		     b = register_value(values, word >> 16 & 31);
	unsigned shift = word >> 10 & 63, immr = word >> 16 & 63, imms = word >> 10 & 63;
	struct value all = fixed;

	if (r->is_step)
		return a;
	if ((word & 0x1f200000) == 0x0b000000 && (word >> 22 & 3) == 0) /* ADD, SUB, LSL */
		return linear_sum(a, b, (word >> 30 & 1 ? -1 : 1) * ((int64_t)1 << (shift & 31)));
	if ((word & 0x1fe00000) == 0x0b200000) /* extended */
		return linear_sum(a, b,
				  (word >> 30 & 1 ? -1 : 1) * ((int64_t)1 << (word >> 10 & 7)));
	if (chain_is_copy(word))
		return b;
	if ((word & 0x1f800000) == 0x13000000 && (word >> 29 & 3) != 1) {
		if (immr == 0 && imms >= 31)
			return a; /* SXTW and such */
		if (imms < immr)  /* LSL, SBFIZ, UBFIZ */
			return linear_sum(fixed, a, (int64_t)1 << ((word >> 31 ? 64 : 32) - immr));
	}
	for (unsigned i = 0; i < r->n_reads; i++)
		all = worse_value(all, values[r->reads[i]]);
	all.inputs = is_multiplication(word) ? register_value(values, word >> 10 & 31).inputs : 0;
	if (all.move == ADDRESS_STEPS)
		all.move = ADDRESS_COMPUTED;
	if (all.move == ADDRESS_LOADED)
		all.link = link_of_calculation(word, r, values);
	return all;
}

/* "add x0, x0, x5" of what the loop does not change: a step. */
static bool adds_same(const struct execution *e, size_t i)
{
	uint32_t word = e->code[i].word;
	unsigned by = word >> 16 & 31;

	return (word & 0x1fe00000) == 0x0b000000 && (word & 31) == (word >> 5 & 31) && by != 31 &&
	       !e->changes[by];
}

/* A register as one of those before the iteration and a constant. */
struct origin {
	uint8_t reg; /* ISA_REG_NONE: it is something else */
	int64_t offset;
};

/*
 * The origin of each register after an iteration. "mov x4, x5; add x5, x4, #1" leaves x5 as x5 + 1:
 * both step.
 */
static void find_origins(const struct execution *e, struct origin *out)
{
	for (int i = 0; i < ISA_N_REGS; i++)
		out[i] = (struct origin){ (uint8_t)i, 0 };
	for (size_t i = 0; i < e->n; i++) {
		const struct isa_registers *r = &e->registers[i];
		uint32_t word = e->code[i].word;
		struct origin result = { ISA_REG_NONE, 0 };

		if (e->code[i].is_rare)
			continue;
		if (chain_is_copy(word))
			result = out[word >> 16 & 31];
		else if (r->is_step && r->n_reads > 0)
			result = (struct origin){ out[r->reads[0]].reg,
						  out[r->reads[0]].offset + r->step };
		for (unsigned k = 0; k < r->n_writes; k++) {
			if (r->writes[k] == r->moved)
				out[r->moved].offset += r->step;
			else
				out[r->writes[k]] = result;
		}
	}
}

/*
 * Registers that the loop only adds constants to step by their sum; others that one iteration leaves
 * for the next are a calculation, until a load makes them more.
 */
static void begin_values(const struct execution *e, struct value *values)
{
	bool is_other[ISA_N_REGS] = { false };
	struct origin origins[ISA_N_REGS];

	for (int i = 0; i < ISA_N_REGS; i++) {
		values[i] = fixed;
		values[i].inputs = i < 64 && !e->changes[i] ? (uint64_t)1 << i : 0;
	}
	for (size_t i = 0; i < e->n; i++) {
		const struct isa_registers *r = &e->registers[i];
		uint32_t word = e->code[i].word;
		bool is_sum = adds_same(e, i);

		for (unsigned k = 0; k < r->n_writes && !e->code[i].is_rare; k++) {
			unsigned reg = r->writes[k];
			bool steps = is_sum || reg == r->moved ||
				     (r->is_step && r->n_reads > 0 && r->reads[0] == reg);

			is_other[reg] |= !steps;
			values[reg].move = ADDRESS_STEPS;
			values[reg].step += r->step;
			if (!is_sum)
				continue;
			values[reg].knows_step &= values[reg].times == 0;
			values[reg].step_reg = word >> 16 & 31;
			values[reg].times =
				(word >> 30 & 1 ? -1 : 1) * ((int64_t)1 << (word >> 10 & 31));
		}
	}
	find_origins(e, origins);
	for (int i = 0; i < ISA_N_REGS; i++) {
		struct origin from = origins[i];

		if (!is_other[i])
			continue;
		values[i] = (struct value){ .move = ADDRESS_COMPUTED };
		if (from.reg != ISA_REG_NONE && origins[from.reg].reg == from.reg &&
		    e->changes[from.reg])
			values[i] = (struct value){ .move = ADDRESS_STEPS,
						    .knows_step = true,
						    .step = origins[from.reg].offset };
	}
}

static void set_address(const struct execution *e, size_t i, const struct value *values,
			struct loop_address *out)
{
	const struct isa_registers *r = &e->registers[i];
	uint32_t word = e->code[i].word;
	unsigned shift =
		word >> 12 & 1 ? (word >> 30) + (word >> 26 & 1 && word >> 23 & 1 ? 4 : 0) : 0;
	struct value v = r->n_address > 0 ? values[r->reads[0]] : fixed;

	bool has_link_base = v.move == ADDRESS_LOADED && v.link != LINK_NONE;

	if (r->n_address > 1)
		v = linear_sum(v, values[r->reads[1]], (int64_t)1 << shift);
	*out = e->addresses[i];
	out->move = v.move;
	out->is_link = v.move == ADDRESS_LOADED && (has_link_base || v.link != LINK_NONE);
	out->inputs = v.inputs;
	out->knows_step = v.knows_step && v.times == 0;
	out->step = v.step;
	out->times = v.knows_step ? v.times : 0;
	out->step_reg = v.step_reg;
}

static void step_values(const struct execution *e, size_t i, struct value *values)
{
	const struct isa_registers *r = &e->registers[i];
	bool is_load = r->is_access && !is_store(e->code[i].word, r), is_sum = adds_same(e, i);
	struct value v = is_load ? (struct value){ .move = ADDRESS_LOADED,
						   .link = LINK_PLAIN,
						   .loaded_by = i }
				 : computed_value(e->code[i].word, r, values);

	for (unsigned k = 0; k < r->n_writes; k++) {
		unsigned reg = r->writes[k];
		bool steps = reg == r->moved ||
			     (values[reg].move == ADDRESS_STEPS &&
			      (is_sum || (r->is_step && r->n_reads > 0 && r->reads[0] == reg)));

		if (!steps)
			values[reg] = v;
	}
}

bool chain_register_step(const struct loop_insn *code, size_t n, size_t at, unsigned reg,
			 int64_t *out_step)
{
	struct value values[ISA_N_REGS];
	struct execution e;
	bool is_known = false;

	if (execution_init(&e, code, n)) {
		begin_values(&e, values);
		for (size_t k = 0; k < n + at; k++)
			if (!code[k % n].is_rare)
				step_values(&e, k % n, values);
		is_known = values[reg].move == ADDRESS_STEPS && values[reg].knows_step &&
			   values[reg].times == 0;
		*out_step = values[reg].step;
	}
	execution_release(&e);
	return is_known;
}

/* Twice: what an iteration leaves, the next one begins with. */
void chain_addresses(const struct loop_insn *code, size_t n, struct loop_address *out)
{
	struct value values[ISA_N_REGS];
	struct execution e;

	memset(out, 0, n * sizeof(*out));
	if (execution_init(&e, code, n)) {
		begin_values(&e, values);
		for (size_t k = 0; k < 2 * n; k++) {
			size_t i = k % n;

			if (code[i].is_rare)
				continue;
			if (e.registers[i].is_access)
				set_address(&e, i, values, &out[i]);
			step_values(&e, i, values);
		}
	}
	execution_release(&e);
}
