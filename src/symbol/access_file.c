/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locations are expressions (section 2.6 of the DWARF standard). Of the many that there can be,
 * those that compilers write for what is in a register or in the frame are understood:
 *
 *	reg5				a pointer in the register: what it points to is accessed
 *	breg5 -8, stack_value		the same; the pointer is the register's value - 8
 *	breg31 16			a variable in memory, 16 from the register
 *	fbreg -24			a variable in the frame, whose base is the function's affair:
 *					reg29, breg31 0, or the CFA of the unwind tables
 */
#include "symbol/access_file.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "symbol/dwarf_file.h"
#include "symbol/scopes.h"
#include "symbol/types_dwarf.h"
#include "symbol/types_inside.h"

enum {
	MAX_DEPTH = 100,
	/* As in lines.c: sound units need about one step for each entry. */
	STEPS_FOR_UNIT = 1 << 16,
	STEPS_FOR_BYTE = 4,
	STEPS_FOR_SPLIT_UNIT = 1 << 24,
};

/* A register and a distance from its value. */
struct based {
	bool is_known;
	uint64_t base;
	int64_t offset;
};

/* How good an answer is; a better one replaces it. */
enum quality { NOTHING, SCALAR, STRUCTURE };

struct job {
	const struct access_question *question;
	struct access_answer *answer;
	struct dwarf_file file;
	struct scopes scopes;
	struct types_reader reader;
	Dwarf_CFI *unwind, *debug_unwind; /* of .eh_frame, which is ours to free; of .debug_frame */
	struct text name;		  /* scratch */
	uint64_t steps;
	bool is_cut;
};

/* One query, while it is answered. */
struct asked {
	const struct access_query *query;
	struct access_found *found;
	struct based frame; /* where fbreg counts from */
	enum quality quality;
};

/* A query and the unit that its address lies in. */
struct placed_query {
	uint32_t unit, number;
};

static bool is_breg(const Dwarf_Op *op, struct based *out)
{
	out->is_known = true;
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		out->base = op->atom - DW_OP_breg0;
		out->offset = (int64_t)op->number;
		return true;
	}
	out->base = op->number;
	out->offset = (int64_t)op->number2;
	return op->atom == DW_OP_bregx;
}

static bool is_reg(const Dwarf_Op *op, struct based *out)
{
	out->is_known = true;
	out->offset = 0;
	out->base = op->atom == DW_OP_regx ? op->number : (uint64_t)op->atom - DW_OP_reg0;
	return op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31);
}

/* The expression of a location at an address; false if there is none, or more than one. */
static bool location_at(Dwarf_Die *die, unsigned attribute, uint64_t address, Dwarf_Op **ops,
			size_t *n)
{
	Dwarf_Attribute location;

	return dwarf_attr_integrate(die, attribute, &location) != NULL &&
	       dwarf_getlocation_addr(&location, address, ops, n, 1) == 1 && *n > 0;
}

static bool cfa_by(Dwarf_CFI *cfi, uint64_t address, struct based *out)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;
	bool is_found = cfi != NULL && dwarf_cfi_addrframe(cfi, address, &frame) == 0 &&
			dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && is_breg(&ops[0], out);

	free(frame);
	return is_found;
}

/* What fbreg counts from in a function. */
static struct based frame_base(struct job *job, Dwarf_Die *function, uint64_t address)
{
	struct based out = { 0 };
	Dwarf_Op *ops;
	size_t n;

	if (!location_at(function, DW_AT_frame_base, address, &ops, &n) || n != 1)
		return out;
	if (is_breg(&ops[0], &out) || is_reg(&ops[0], &out))
		return out;
	if (ops[0].atom == DW_OP_call_frame_cfa &&
	    (cfa_by(job->unwind, address, &out) || cfa_by(job->debug_unwind, address, &out)))
		return out;
	return (struct based){ 0 };
}

static struct str_id name_of(struct job *job, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name == NULL
		       ? (struct str_id){ 0 }
		       : strings_add(&job->answer->strings, name, strnlen(name, TYPES_MAX_NAME));
}

static enum quality quality_of(const struct types *types, struct type_id id)
{
	const struct type *plain = types_get(types, types_plain(types, id));

	if (plain->size == 0)
		return NOTHING;
	return plain->kind == TYPE_STRUCT || plain->kind == TYPE_UNION ? STRUCTURE : SCALAR;
}

/* Takes what begins `offset` bytes before the access, if that is in it. */
static void take(struct job *job, struct asked *a, Dwarf_Die *variable, struct type_id type,
		 uint64_t offset, bool is_pointed)
{
	const struct types *types = &job->answer->types;
	enum quality quality = quality_of(types, type);

	if (quality <= a->quality || offset >= types_get(types, types_plain(types, type))->size)
		return;
	a->quality = quality;
	a->found->variable = name_of(job, variable);
	a->found->is_pointed = is_pointed;
	a->found->type = type;
	a->found->offset = offset;
}

/* With an index, the access is in an element; all elements are alike if the step is their size. */
static bool fits_index(const struct job *job, const struct isa_operand *o, struct type_id type)
{
	const struct types *types = &job->answer->types;

	return !o->has_index || o->scale == types_get(types, types_plain(types, type))->size;
}

/* The variable's value is that of the register + `offset`. */
static void take_pointer(struct job *job, struct asked *a, Dwarf_Die *variable,
			 const struct based *value)
{
	const struct isa_operand *o = &a->query->operand;
	struct type_id target;
	Dwarf_Die type;

	if (value->base != o->base || !types_type_of(variable, &type))
		return;
	target = types_read_target(&job->reader, &type);
	if (fits_index(job, o, target))
		take(job, a, variable, target, (uint64_t)o->displacement - (uint64_t)value->offset,
		     true);
}

/*
 * Is that register where the frame is? A variable may stand in memory elsewhere, for as long as
 * nothing is written to what it was loaded from.
 */
static bool is_of_frame(const struct asked *a, const struct based *place)
{
	return (a->frame.is_known && place->base == a->frame.base) ||
	       (a->query->operand.is_stack && place->base == a->query->operand.base);
}

/* The variable is in memory, at the register's value + `offset`. */
static void take_memory(struct job *job, struct asked *a, Dwarf_Die *variable,
			const struct based *place)
{
	const struct isa_operand *o = &a->query->operand;

	if (!place->is_known || place->base != o->base || o->has_index || !is_of_frame(a, place))
		return;
	take(job, a, variable, types_read_of(&job->reader, variable),
	     (uint64_t)o->displacement - (uint64_t)place->offset, false);
}

static void visit_variable(struct job *job, struct asked *a, Dwarf_Die *die)
{
	struct based at;
	Dwarf_Op *ops;
	size_t n;

	if (!location_at(die, DW_AT_location, a->query->address, &ops, &n))
		return;
	if (n == 1 && is_reg(&ops[0], &at)) {
		take_pointer(job, a, die, &at);
	} else if (n == 2 && is_breg(&ops[0], &at) && ops[1].atom == DW_OP_stack_value) {
		take_pointer(job, a, die, &at);
	} else if (n == 1 && is_breg(&ops[0], &at)) {
		take_memory(job, a, die, &at);
	} else if (n == 1 && ops[0].atom == DW_OP_fbreg) {
		at = a->frame;
		at.offset = (int64_t)((uint64_t)at.offset + ops[0].number);
		take_memory(job, a, die, &at);
	}
}

/* Variables of a scope, and of the blocks in it that hold the address: these first. */
static void visit_scope(struct job *job, struct asked *a, Dwarf_Die *scope, unsigned depth)
{
	VEC_OF(Dwarf_Die) variables = { 0 };
	Dwarf_Die die;
	int more = dwarf_child(scope, &die);

	for (; more == 0 && job->steps > 0; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		job->steps--;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			*vec_add(&variables) = die;
		else if (tag == DW_TAG_lexical_block && depth < MAX_DEPTH &&
			 dwarf_haspc(&die, a->query->address) == 1)
			visit_scope(job, a, &die, depth + 1);
	}
	job->is_cut |= more < 0 || job->steps == 0;
	for (size_t i = 0; i < variables.n; i++)
		visit_variable(job, a, &variables.items[i]);
	vec_release(&variables);
}

/* The function that the frame is of: inlined ones have none of their own. */
static uint32_t frame_scope(const struct scopes *scopes, uint32_t scope)
{
	while (scope != 0 && scopes->list.items[scope].is_inlined)
		scope = scopes->list.items[scope].parent;
	return scope;
}

static void answer_query(struct job *job, uint32_t number, uint32_t scope)
{
	struct asked a = {
		.query = &job->question->queries[number],
		.found = &job->answer->found[number],
	};
	uint32_t own = frame_scope(&job->scopes, scope);

	if (own == 0)
		return;
	a.frame = frame_base(job, &job->scopes.list.items[own].die, a.query->address);
	a.found->function = name_of(job, &job->scopes.list.items[own].die);
	for (;; scope = job->scopes.list.items[scope].parent) {
		visit_scope(job, &a, &job->scopes.list.items[scope].die, 0);
		if (scope == own)
			break;
	}
}

static uint64_t count_steps(const struct dwarf_unit *unit, const Dwarf_Die *tree)
{
	return STEPS_FOR_UNIT + STEPS_FOR_BYTE * unit->size_bytes +
	       (tree->cu != unit->die.cu ? STEPS_FOR_SPLIT_UNIT : 0);
}

/* Answers `n` queries of one unit, which are in order of their addresses. */
static void answer_unit(struct job *job, const struct placed_query *placed, size_t n)
{
	const struct dwarf_unit *unit = &job->file.units.items[placed[0].unit];
	uint64_t *addresses = mem_alloc(n, sizeof(*addresses));
	uint32_t *scopes = mem_zalloc(n, sizeof(*scopes));
	Dwarf_Die tree;

	for (size_t i = 0; i < n; i++)
		addresses[i] = job->question->queries[placed[i].number].address;
	if (dwarf_unit_tree(unit, &tree)) {
		job->steps = count_steps(unit, &tree);
		job->is_cut |= !scopes_find(&job->scopes, &tree, addresses, n, job->steps, scopes);
		for (size_t i = 0; i < n; i++)
			if (scopes[i] != 0)
				answer_query(job, placed[i].number, scopes[i]);
	}
	free(scopes);
	free(addresses);
}

/* The queries whose units are known, by unit and address. Returns how many there are. */
static size_t place_queries(const struct job *job, struct placed_query *out)
{
	const struct access_question *q = job->question;
	uint32_t *order = mem_alloc(q->n, sizeof(*order));
	uint64_t *keys = mem_zalloc(q->n, sizeof(*keys));
	size_t n = 0;

	for (size_t i = 0; i < q->n; i++) {
		order[i] = (uint32_t)i;
		keys[i] = q->queries[i].address;
	}
	radix_sort(order, q->n, keys);
	for (size_t i = 0; i < q->n; i++) {
		const struct range *r = ranges_find(&job->file.ranges, q->queries[i].address);

		keys[i] = r == NULL ? UINT64_MAX : r->value;
	}
	radix_sort(order, q->n, keys);
	for (size_t i = 0; i < q->n && keys[order[i]] != UINT64_MAX; i++)
		out[n++] = (struct placed_query){ (uint32_t)keys[order[i]], order[i] };
	free(keys);
	free(order);
	return n;
}

static void answer_all(struct job *job)
{
	struct placed_query *placed = mem_alloc(job->question->n, sizeof(*placed));
	size_t n = place_queries(job, placed);

	job->unwind = dwarf_getcfi_elf(job->file.main.elf);
	job->debug_unwind = dwarf_getcfi(job->file.main.dwarf);
	types_reader_init(&job->reader, &job->answer->types, STEPS_FOR_SPLIT_UNIT);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && placed[end].unit == placed[i].unit;)
			end++;
		answer_unit(job, placed + i, end - i);
	}
	if (job->is_cut || job->reader.is_cut)
		diags_add(&job->answer->diags, DIAG_DAMAGE, ERR_NOWHERE, 0,
			  "debug information is damaged: types of accesses may be missing");
	types_reader_release(&job->reader);
	if (job->unwind != NULL)
		dwarf_cfi_end(job->unwind);
	free(placed);
}

void access_ask(const struct access_question *question, struct access_answer *answer)
{
	struct job job = { .question = question, .answer = answer };
	struct err err;

	strings_init(&answer->strings);
	types_init(&answer->types, &answer->strings);
	answer->found = mem_zalloc(question->n + 1, sizeof(*answer->found));
	if (dwarf_file_open(&job.file, question->path, question->alt_path, &answer->diags, &err) <
	    0) {
		diags_add(&answer->diags, DIAG_DAMAGE, ERR_NOWHERE, 0, err.text);
		return;
	}
	answer_all(&job);
	scopes_release(&job.scopes);
	dwarf_file_release(&job.file);
	text_release(&job.name);
}

void access_answer_release(struct access_answer *answer)
{
	types_release(&answer->types);
	strings_release(&answer->strings);
	free(answer->found);
	diags_release(&answer->diags);
	*answer = (struct access_answer){ 0 };
}
