/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up accesses in three ways: by the register at the instruction, by the frame, by the root.
 */
#include "variables/access_file.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>
#include <gelf.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/globals.h"
#include "dwarf/location.h"
#include "dwarf/scopes.h"
#include "dwarf/types_dwarf.h"

enum {
	MAX_DEPTH = 100,
	A64_STACK_POINTER = 31,
	X86_STACK_POINTER = 7,
	/*
	 * Limit of entries visited in a unit; undamaged units need about one step for each entry.
	 */
	STEPS_FOR_UNIT = 1 << 16,
	STEPS_FOR_BYTE = 4,
	STEPS_FOR_SPLIT_UNIT = 1 << 24,
};

struct job {
	const struct access_question *question;
	struct access_answer *answer;
	struct dwarf_file file;
	struct scopes scopes;
	struct globals globals;
	struct types_reader reader;
	Dwarf_CFI *unwind, *debug_unwind; /* of .eh_frame, which is ours to free; of .debug_frame */
	struct text name;		  /* scratch */
	uint64_t stack_pointer;		  /* DWARF's number of it */
	uint64_t steps, unit_steps;
	bool is_cut;
};

/* Quality of an answer: a better one replaces it. */
enum quality { NOTHING, SCALAR, STRUCTURE };

/* The accessed object: its type, and the offset in it. */
struct reached {
	enum quality quality;
	bool is_pointed;
	bool is_element; /* of several that are alike */
	Dwarf_Die type;
	uint64_t offset;
	struct text path; /* of the variable, or of what points there */
};

/*
 * An access to register + offset + n * step, where the register's value is that before `address`.
 */
struct asked {
	uint64_t address;
	uint64_t reg;
	uint64_t offset, step;
	uint32_t bytes;
	bool is_vector;
	bool has_frame;	       /* the register is that of the instruction's operand */
	struct location frame; /* where fbreg counts from */
	struct reached *out;
};

/* A query and the unit that its address lies in. */
struct placed_query {
	uint32_t unit, number;
};

static struct str_id access_file_name_of(struct job *job, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name == NULL
		       ? (struct str_id){ 0 }
		       : strings_add(&job->answer->strings, name, strnlen(name, DWARF_MAX_NAME));
}

static bool is_structure(enum type_kind kind)
{
	return kind == TYPE_STRUCT || kind == TYPE_UNION;
}

static bool access_file_is_number(const struct type *plain)
{
	return !is_structure(plain->kind) && plain->kind != TYPE_ARRAY;
}

/*
 * Is an address of this type plus n * step an element of the same array? For structs the step must
 * be their size. For numbers it may be a multiple: unrolled or vectorized loops.
 */
static bool fits_step(const struct type *plain, uint64_t step, uint32_t bytes)
{
	if (step == 0 || step == plain->size)
		return true;
	return access_file_is_number(plain) && bytes > 0 && bytes % plain->size == 0 &&
	       step % plain->size == 0;
}

/*
 * Is the access inside the object that begins `*offset` bytes before it, or inside an array
 * element?
 */
static bool access_file_fits(const struct type *plain, const struct asked *a, uint64_t *offset)
{
	int64_t rest;

	if (plain->size == 0 || plain->size > INT64_MAX || !fits_step(plain, a->step, a->bytes))
		return false;
	rest = (int64_t)*offset % (int64_t)plain->size;
	if (a->step != 0)
		*offset = (uint64_t)(rest < 0 ? rest + (int64_t)plain->size : rest);
	/* char * and such point to anything */
	if (access_file_is_number(plain) && a->bytes > plain->size)
		return *offset == 0 && a->bytes % plain->size == 0 &&
		       (plain->size > 1 || a->is_vector);
	return *offset < plain->size &&
	       (is_structure(plain->kind) || a->bytes <= plain->size - *offset);
}

/* Sets the answer: an object of this type that begins `offset` bytes before the access. */
static bool access_file_take(struct job *job, const struct asked *a, Dwarf_Die *type,
			     uint64_t offset, bool is_pointed)
{
	const struct types *types = &job->answer->types;
	const struct type *plain =
		types_get(types, types_plain(types, types_read(&job->reader, type)));
	enum quality quality = is_structure(plain->kind) ? STRUCTURE : SCALAR;

	if (quality <= a->out->quality || !access_file_fits(plain, a, &offset))
		return false;
	a->out->quality = quality;
	a->out->is_pointed = is_pointed;
	a->out->is_element = a->step != 0;
	a->out->type = *type;
	a->out->offset = offset;
	text_reset(&a->out->path);
	return true;
}

static void take_name(const struct asked *a, Dwarf_Die *variable)
{
	const char *name = dwarf_name_of(variable);

	text_str(&a->out->path, name == NULL ? "?" : name);
}

/* The variable's value is that of the register + `offset`. */
static void take_pointer(struct job *job, struct asked *a, Dwarf_Die *variable,
			 const struct location *value)
{
	Dwarf_Die type, target;

	if (value->base == a->reg && dwarf_type_of(variable, &type) &&
	    types_target(&job->reader, &type, &target) &&
	    access_file_take(job, a, &target, a->offset - (uint64_t)value->offset, true))
		take_name(a, variable);
}

/* The variable is in memory, at the register's value + `offset`. */
static void take_memory(struct job *job, struct asked *a, Dwarf_Die *variable,
			const struct location *place)
{
	Dwarf_Die type;

	if (a->has_frame && place->is_known && place->base == a->reg && a->step == 0 &&
	    dwarf_type_of(variable, &type) &&
	    access_file_take(job, a, &type, a->offset - (uint64_t)place->offset, false))
		take_name(a, variable);
}

/*
 * Is the location in the stack frame? DWARF may also say that a variable is in other memory, from
 * which it was loaded, as long as that is unchanged.
 */
static bool is_of_frame(const struct job *job, const struct asked *a, const struct location *at)
{
	return at->base == job->stack_pointer || (a->frame.is_known && at->base == a->frame.base);
}

static void access_visit_variable(struct job *job, struct asked *a, Dwarf_Die *die)
{
	struct location at;
	Dwarf_Op *ops;
	size_t n;

	if (!location_find(die, DW_AT_location, a->address, &ops, &n))
		return;
	if (n == 1 && location_is_register(&ops[0], &at)) {
		take_pointer(job, a, die, &at);
	} else if (n == 2 && location_is_memory(&ops[0], &at) && ops[1].atom == DW_OP_stack_value) {
		take_pointer(job, a, die, &at);
	} else if (n == 1 && location_is_memory(&ops[0], &at)) {
		if (is_of_frame(job, a, &at))
			take_memory(job, a, die, &at);
	} else if (n == 1 && ops[0].atom == DW_OP_fbreg) {
		at = a->frame;
		at.offset = (int64_t)((uint64_t)at.offset + ops[0].number);
		take_memory(job, a, die, &at);
	}
}

/* Visits the variables of a scope; those of the innermost block with the address first. */
static void visit_scope(struct job *job, struct asked *a, Dwarf_Die *scope, bool with_inlined,
			unsigned depth)
{
	VEC_OF(Dwarf_Die) variables = { 0 };
	Dwarf_Die die;
	int more = dwarf_child(scope, &die);

	for (; more == 0 && job->steps > 0; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		job->steps--;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			*vec_add(&variables) = die;
		else if ((tag == DW_TAG_lexical_block ||
			  (with_inlined && tag == DW_TAG_inlined_subroutine)) &&
			 depth < MAX_DEPTH && dwarf_haspc(&die, a->address) == 1)
			visit_scope(job, a, &die, with_inlined, depth + 1);
	}
	job->is_cut |= more < 0 || job->steps == 0;
	for (size_t i = 0; i < variables.n; i++)
		access_visit_variable(job, a, &variables.items[i]);
	vec_release(&variables);
}

/* The function that the stack frame belongs to: the one that others are inlined into. */
static uint32_t frame_scope(const struct scopes *scopes, uint32_t scope)
{
	while (scope != 0 && scopes->list.items[scope].is_inlined)
		scope = scopes->list.items[scope].parent;
	return scope;
}

/* The pointer at an offset of an object: its path in the source, and the type it points to. */
static bool pointer_in(struct job *job, const struct reached *whole, uint64_t offset,
		       struct text *path, Dwarf_Die *out_target)
{
	Dwarf_Die type = whole->type;
	struct text member = { 0 };
	bool is_found = types_pointer_at(&job->reader, &type, offset, &member, out_target);
	const char *between = whole->is_pointed && !whole->is_element ? "->" : ".";

	if (whole->is_pointed && !whole->is_element && member.n == 0)
		text_char(path, '*');
	text_add(path, whole->path.bytes, whole->path.n);
	text_str(path, whole->is_element ? "[]" : "");
	if (member.n > 0)
		text_str(path, member.bytes[0] == '[' && !whole->is_pointed ? "" : between);
	text_add(path, member.bytes, member.n);
	text_release(&member);
	return is_found;
}

/* If the root of an access is a pointer in an object: the answer is what it points to. */
static void take_root(struct job *job, struct asked *a, const struct reached *whole,
		      uint64_t offset)
{
	struct text path = { 0 };
	Dwarf_Die target;

	if (pointer_in(job, whole, offset, &path, &target) &&
	    access_file_take(job, a, &target, a->offset, true))
		text_add(&a->out->path, path.bytes, path.n);
	text_release(&path);
}

/* An access by way of a variable that has an address. */
struct by_global {
	struct job *job;
	struct asked *asked;
	uint64_t slot;
};

static bool take_global(void *context, struct global *global)
{
	struct by_global *by = context;
	struct reached whole = { 0 };
	const char *name = dwarf_name_of(&global->die);

	text_str(&whole.path, name == NULL ? "?" : name);
	if (dwarf_type_of(&global->die, &whole.type))
		take_root(by->job, by->asked, &whole, by->slot - global->address);
	text_release(&whole.path);
	return by->asked->out->quality != NOTHING;
}

static void access_reach(struct job *job, Dwarf_Die *own, const struct access_query *,
			 unsigned depth, struct reached *out);

static void by_load(struct job *job, Dwarf_Die *own, const struct access_source *source,
		    unsigned depth, struct asked *a)
{
	struct reached whole = { 0 };

	if (!source->is_loaded || depth == ACCESS_MAX_LOADS)
		return;
	access_reach(job, own, &job->question->loads[source->load], depth + 1, &whole);
	if (whole.quality != NOTHING)
		take_root(job, a, &whole, whole.offset + source->displacement);
	text_release(&whole.path);
}

/* Tries the other registers that hold the root: one of them may have a variable. */
static void by_holders(struct job *job, Dwarf_Die *own, const struct access_query *q,
		       struct reached *out)
{
	const struct access_source *source = &q->source;
	const struct isa_value *v = &source->value;

	for (uint32_t i = 0; i < source->n_holders && out->quality != STRUCTURE; i++) {
		const struct isa_holder *h = &job->question->holders[source->first_holder + i];
		struct isa_value held = { .offset = v->offset, .step = h->step };
		struct asked a = {
			.address = h->address,
			.reg = h->reg,
			.offset = v->offset - h->offset,
			.step = isa_value_either(*v, held).step,
			.bytes = q->bytes,
			.is_vector = q->is_vector,
			.out = out,
		};

		visit_scope(job, &a, own, true, 0);
	}
}

static void by_source(struct job *job, Dwarf_Die *own, const struct access_query *q, unsigned depth,
		      struct reached *out)
{
	const struct isa_value *v = &q->source.value;
	struct asked a = {
		.offset = v->offset,
		.step = v->step,
		.bytes = q->bytes,
		.is_vector = q->is_vector,
		.out = out,
	};
	struct by_global by = { .job = job, .asked = &a, .slot = v->slot };

	by_holders(job, own, q, out);
	if (out->quality == STRUCTURE)
		return;
	if (v->root == ISA_CONTENT)
		(void)globals_find(&job->globals, &job->file, v->slot, take_global, &by);
	else if (v->root == ISA_LOADED)
		by_load(job, own, &q->source, depth, &a);
}

/*
 * The access by the base register at the instruction. With an index of step 1 the base may be any
 * pointer plus a byte distance: then it says nothing about the type.
 */
static struct asked asked_of(struct job *job, Dwarf_Die *own, const struct access_query *q,
			     struct reached *out)
{
	const struct isa_operand *o = &q->operand;
	bool is_unsure = o->has_index && o->scale == 1;

	return (struct asked){
		.address = q->address,
		.reg = is_unsure ? UINT64_MAX : o->base,
		.offset = (uint64_t)o->displacement,
		.step = o->has_index ? o->scale : 0,
		.bytes = q->bytes,
		.is_vector = q->is_vector,
		.has_frame = true,
		.frame = location_frame_base(own, q->address, job->unwind, job->debug_unwind),
		.out = out,
	};
}

/* What a load of a pointer accesses: the object that has the pointer. Recursive, up to `depth`. */
static void access_reach(struct job *job, Dwarf_Die *own, const struct access_query *q,
			 unsigned depth, struct reached *out)
{
	struct asked a = asked_of(job, own, q, out);

	visit_scope(job, &a, own, true, 0);
	if (out->quality != STRUCTURE)
		by_source(job, own, q, depth, out);
}

static void answer_query(struct job *job, uint32_t number, uint32_t scope)
{
	const struct access_query *q = &job->question->queries[number];
	struct access_found *found = &job->answer->found[number];
	uint32_t own = frame_scope(&job->scopes, scope);
	struct reached reached = { 0 };
	struct asked a;
	Dwarf_Die die;

	if (own == 0)
		return;
	job->steps = job->unit_steps;
	die = job->scopes.list.items[own].die;
	a = asked_of(job, &die, q, &reached);
	found->function = access_file_name_of(job, &die);
	for (;; scope = job->scopes.list.items[scope].parent) {
		visit_scope(job, &a, &job->scopes.list.items[scope].die, false, 0);
		if (scope == own)
			break;
	}
	if (reached.quality != STRUCTURE)
		by_source(job, &die, q, 0, &reached);
	if (reached.quality != NOTHING) {
		found->variable =
			strings_add(&job->answer->strings, reached.path.bytes, reached.path.n);
		found->is_pointed = reached.is_pointed;
		found->type = types_read(&job->reader, &reached.type);
		found->offset = reached.offset;
	}
	text_release(&reached.path);
}

static uint64_t count_steps(const struct dwarf_unit *unit, const Dwarf_Die *tree)
{
	return STEPS_FOR_UNIT + STEPS_FOR_BYTE * unit->size_bytes +
	       (tree->cu != unit->die.cu ? STEPS_FOR_SPLIT_UNIT : 0);
}

/* Answers `n` queries of one unit, which are in order of their addresses. */
static void access_answer_unit(struct job *job, const struct placed_query *placed, size_t n)
{
	const struct dwarf_unit *unit = &job->file.units.items[placed[0].unit];
	uint64_t *addresses = mem_alloc(n, sizeof(*addresses));
	uint32_t *scopes = mem_zalloc(n, sizeof(*scopes));
	Dwarf_Die tree;

	for (size_t i = 0; i < n; i++)
		addresses[i] = job->question->queries[placed[i].number].address;
	if (dwarf_unit_tree(unit, &tree)) {
		job->unit_steps = count_steps(unit, &tree);
		job->is_cut |=
			!scopes_find(&job->scopes, &tree, addresses, n, job->unit_steps, scopes);
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

static bool is_a64(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) != NULL && header.e_machine == EM_AARCH64;
}

static void access_file_answer_all(struct job *job)
{
	struct placed_query *placed = mem_alloc(job->question->n, sizeof(*placed));
	size_t n = place_queries(job, placed);

	job->stack_pointer = is_a64(job->file.main.elf) ? A64_STACK_POINTER : X86_STACK_POINTER;
	job->unwind = dwarf_getcfi_elf(job->file.main.elf);
	job->debug_unwind = dwarf_getcfi(job->file.main.dwarf);
	types_reader_init(&job->reader, &job->answer->types, STEPS_FOR_SPLIT_UNIT);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && placed[end].unit == placed[i].unit;)
			end++;
		access_answer_unit(job, placed + i, end - i);
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
	if (dwarf_file_open(&job.file, question->path, question->alt_path, question->root,
			    &answer->diags, &err) < 0) {
		diags_add(&answer->diags, DIAG_DAMAGE, ERR_NOWHERE, 0, err.text);
		return;
	}
	access_file_answer_all(&job);
	globals_release(&job.globals);
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
