/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks all units once: DWARF has no index from data addresses to units (.debug_aranges has code
 * only). Types are read only of variables that may contain an address of the question.
 */
#include "variables/data_file.h"

#include <ctype.h>
#include <dwarf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/text.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/globals.h"
#include "dwarf/types_dwarf.h"
#include "elf/elf_symbols.h"

enum {
	MAX_DEPTH = 200,
};

struct job {
	const struct data_question *question;
	struct data_answer *answer;
	struct dwarf_file file;
	struct types_reader reader;
	struct text name;	/* scratch */
	struct str_id function; /* around the entry; 0 if none */
	uint64_t steps;
	bool is_cut;
};

/* A number as an operation of an expression; false if it is none. */
static bool data_file_is_number(const Dwarf_Op *op, uint64_t *out)
{
	*out = op->number;
	switch (op->atom) {
	case DW_OP_const1u:
	case DW_OP_const2u:
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_const4s:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_addr:
		return true;
	default:
		*out = (uint64_t)op->atom - DW_OP_lit0;
		return op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31;
	}
}

/* The offset that an expression yields in the block that each thread has a copy of. */
static bool thread_offset(Dwarf_Die *die, uint64_t *out)
{
	Dwarf_Attribute location;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr(die, DW_AT_location, &location) == NULL ||
	    dwarf_getlocation(&location, &ops, &n) != 0 || n != 2 ||
	    (ops[1].atom != DW_OP_GNU_push_tls_address && ops[1].atom != DW_OP_form_tls_address) ||
	    !data_file_is_number(&ops[0], out))
		return false;
	*out |= ELF_THREAD_LOCAL;
	return true;
}

/* The first address of the question that is not below `address`. */
static size_t first_at(const struct data_question *q, uint64_t address)
{
	return bisect(0, q->n, i, q->addresses[i] < address);
}

/* May a variable at `start` contain an address of the question? Not if the symbol table says no. */
static bool may_hold(const struct data_question *q, uint64_t start)
{
	size_t i = first_at(q, start);
	const struct function *object;

	if (i == q->n)
		return false;
	object = q->objects == NULL ? NULL : functions_find(q->objects, q->addresses[i]);
	return object == NULL || object->start <= start;
}

static void set_name(struct job *job, Dwarf_Die *die, struct data_variable *out)
{
	struct text *name = &job->name;

	text_reset(name);
	if (job->function.v != 0) {
		const char *own = dwarf_diename(die);

		text_str(name, strings_get(&job->answer->strings, job->function));
		if (own != NULL)
			types_scope_add(name, own);
	} else {
		types_reader_name(&job->reader, die, name);
	}
	out->name = strings_add(&job->answer->strings, name->bytes, name->n);
}

/* Not by dwarf_decl_file(), which ends the program if the line table of a .dwo is missing. */
static void set_line(struct job *job, Dwarf_Die *die, struct data_variable *out)
{
	uint64_t file = 0, line = 0;
	const char *path = NULL;
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t n;

	if (dwarf_number(die, DW_AT_decl_file, &file) &&
	    dwarf_diecu(die, &unit, NULL, NULL) != NULL &&
	    dwarf_getsrcfiles(&unit, &files, &n) == 0 && file < n)
		path = dwarf_filesrc(files, file, NULL, NULL);
	if (path != NULL)
		out->file = strings_add(&job->answer->strings, path, strnlen(path, PATH_MAX));
	if (dwarf_number(die, DW_AT_decl_line, &line) && line <= UINT32_MAX)
		out->line = (uint32_t)line;
}

/* The size: by the symbol if that is larger, for flexible array members and "extern int a[]". */
static uint64_t data_file_size_of(const struct job *job, const struct data_variable *v)
{
	uint64_t size = types_get(&job->answer->types, v->type)->size;
	const struct function *object =
		job->question->objects == NULL ? NULL
					       : functions_find(job->question->objects, v->address);

	if (object != NULL && object->start == v->address && object->size > size)
		return object->size;
	return size;
}

/* "counter", or with a number of the compiler's at its end: "counter.0" */
static bool is_symbol_of(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	return strncmp(symbol, name, n) == 0 &&
	       (symbol[n] == '\0' || (symbol[n] == '.' && isdigit((unsigned char)symbol[n + 1])));
}

static const char *linker_name(Dwarf_Die *die)
{
	Dwarf_Attribute name;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &name) != NULL)
		return dwarf_formstring(&name);
	return dwarf_diename(die);
}

/*
 * Compilers for AArch64 give no location for thread-local variables. Uses the symbol of the same
 * name and size, if there is exactly one.
 */
static bool thread_offset_by_name(struct job *job, Dwarf_Die *die, uint64_t *out)
{
	const struct functions *objects = job->question->objects;
	const struct function *found = NULL;
	const char *name;

	if (dwarf_hasattr(die, DW_AT_location) || dwarf_hasattr(die, DW_AT_const_value) ||
	    dwarf_hasattr(die, DW_AT_declaration))
		return false;
	name = linker_name(die);
	for (size_t i = objects->list.n; name != NULL && i-- > 0;) {
		const struct function *object = &objects->list.items[i];

		if (!(object->start & ELF_THREAD_LOCAL))
			break;
		if (!is_symbol_of(object->name, name))
			continue;
		if (found != NULL)
			return false;
		found = object;
	}
	if (found == NULL ||
	    types_get(&job->answer->types, types_read_of(&job->reader, die))->size != found->size)
		return false;
	*out = found->start;
	return true;
}

static bool asks_thread_locals(const struct data_question *q)
{
	return q->objects != NULL && q->n > 0 && q->addresses[q->n - 1] & ELF_THREAD_LOCAL;
}

static bool variable_address(struct job *job, Dwarf_Die *die, uint64_t *out)
{
	if (global_address(die, out))
		return true;
	return asks_thread_locals(job->question) &&
	       (thread_offset(die, out) || thread_offset_by_name(job, die, out));
}

/* Sets the answer of the addresses that the variable contains, if they have none yet. */
static void data_file_visit_variable(struct job *job, Dwarf_Die *die)
{
	const struct data_question *q = job->question;
	struct data_variable found = { 0 };
	uint64_t size;

	if (q->n == 0 || !variable_address(job, die, &found.address) || !may_hold(q, found.address))
		return;
	found.type = types_read_of(&job->reader, die);
	size = data_file_size_of(job, &found);
	found.size = size;
	for (size_t i = first_at(q, found.address);
	     i < q->n && q->addresses[i] - found.address < size; i++) {
		if (job->answer->variables[i].name.v != 0)
			continue;
		if (found.name.v == 0) {
			set_name(job, die, &found);
			set_line(job, die, &found);
		}
		job->answer->variables[i] = found;
	}
}

static bool is_name(const char *full, const char *wanted)
{
	static const char *const keywords[] = { "", "struct ", "union ", "enum " };

	for (size_t i = 0; i < COUNT(keywords); i++) {
		size_t n = strlen(keywords[i]);

		if (strncmp(full, keywords[i], n) == 0 && strcmp(full + n, wanted) == 0)
			return true;
	}
	return false;
}

/* Takes the first type of the name with a size: others are declarations. */
static void visit_type(struct job *job, Dwarf_Die *die)
{
	const char *wanted = job->question->type_name, *own = dwarf_diename(die);
	struct type_id id;

	if (wanted == NULL || own == NULL || job->answer->type.v != 0)
		return;
	if (strstr(wanted, own) == NULL)
		return;
	text_reset(&job->name);
	types_reader_name(&job->reader, die, &job->name);
	text_char(&job->name, '\0');
	if (!is_name(job->name.bytes, wanted))
		return;
	id = types_read(&job->reader, die);
	if (types_get(&job->answer->types, id)->size > 0)
		job->answer->type = id;
}

static void data_file_visit_children(struct job *job, Dwarf_Die *parent, unsigned depth);

static void data_file_visit_function(struct job *job, Dwarf_Die *die, unsigned depth)
{
	struct str_id outer = job->function;

	text_reset(&job->name);
	types_reader_name(&job->reader, die, &job->name);
	job->function = strings_add(&job->answer->strings, job->name.bytes, job->name.n);
	data_file_visit_children(job, die, depth + 1);
	job->function = outer;
}

static void data_file_visit(struct job *job, Dwarf_Die *die, unsigned depth)
{
	switch (global_role_of(dwarf_tag(die))) {
	case GLOBAL_SKIP:
		return;
	case GLOBAL_VARIABLE:
		data_file_visit_variable(job, die);
		return;
	case GLOBAL_FUNCTION:
		if (dwarf_haschildren(die))
			data_file_visit_function(job, die, depth);
		return;
	case GLOBAL_ENTER:
		data_file_visit_children(job, die, depth + 1);
		return;
	case GLOBAL_TYPE:
		visit_type(job, die);
		if (dwarf_haschildren(die))
			data_file_visit_children(job, die, depth + 1);
		return;
	}
}

static void data_file_visit_children(struct job *job, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int more = dwarf_child(parent, &die);

	if (depth > MAX_DEPTH) {
		job->is_cut = true;
		return;
	}
	while (more == 0 && job->steps > 0) {
		job->steps--;
		data_file_visit(job, &die, depth);
		more = dwarf_siblingof(&die, &die);
	}
	job->is_cut |= more < 0 || job->steps == 0;
}

static void data_file_note(struct job *job, const char *text)
{
	text_reset(&job->name);
	text_format(&job->name, "%s: %s", job->question->path, text);
	text_char(&job->name, '\0');
	diags_add(&job->answer->diags, DIAG_DAMAGE, ERR_NOWHERE, 0, job->name.bytes);
}

static void data_file_answer_all(struct job *job)
{
	job->steps = globals_steps(&job->file);
	types_reader_init(&job->reader, &job->answer->types, job->steps);
	for (size_t i = 0; i < job->file.units.n; i++) {
		Dwarf_Die tree;

		(void)dwarf_unit_tree(&job->file.units.items[i], &tree);
		data_file_visit_children(job, &tree, 0);
	}
	if (job->is_cut || job->reader.is_cut)
		data_file_note(job, "debug information is damaged: names of data may be missing");
	types_reader_release(&job->reader);
}

void data_ask(const struct data_question *question, struct data_answer *answer)
{
	struct job job = { .question = question, .answer = answer };
	struct err err;

	strings_init(&answer->strings);
	types_init(&answer->types, &answer->strings);
	answer->variables = mem_zalloc(question->n + 1, sizeof(*answer->variables));
	if (dwarf_file_open(&job.file, question->path, question->alt_path, question->root,
			    &answer->diags, &err) < 0) {
		diags_add(&answer->diags, DIAG_DAMAGE, ERR_NOWHERE, 0, err.text);
		return;
	}
	data_file_answer_all(&job);
	dwarf_file_release(&job.file);
	text_release(&job.name);
}

void data_answer_release(struct data_answer *answer)
{
	types_release(&answer->types);
	strings_release(&answer->strings);
	free(answer->variables);
	diags_release(&answer->diags);
	*answer = (struct data_answer){ 0 };
}
