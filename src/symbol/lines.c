/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All addresses of a compilation unit are looked up together: its line table is decoded once, and
 * its tree of entries walked once (scopes.h).
 */
#include "symbol/lines.h"

#include <dwarf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/tuples.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/line_table.h"
#include "dwarf/scopes.h"
#include "elf/ranges.h"

/* Of an inlined call, which of those of its line it is. Not in dwarf.h of elfutils 0.188. */
enum { AT_GNU_DISCRIMINATOR = 0x2136 };

/*
 * libdw keeps all line tables and abbreviations that it read. Past so many rows, in all parts of a question, they are given
 * back; but not sooner than a part has read the least. A unit's abbreviations count as so many rows.
 */
enum { ROWS_KEPT = 1 << 19, LEAST_ROWS_KEPT = 1 << 16, ROWS_OF_UNIT = 1 << 8 };

/* The function of a scope. Many addresses have the same. */
struct scope_name {
	struct str_id function;
	bool is_known;
};

/* The work on one question. */
struct job {
	const struct lines_question *question;
	struct lines_answer *answer;
	struct dwarf_file file;
	struct scopes scopes;
	VEC_OF(struct scope_name) names; /* by scope of the unit */
	size_t n_rows;			 /* that libdw keeps */

	/* Strings of the file, by their address in memory: interned once each. */
	struct tuples texts;
	VEC_OF(struct str_id) text_ids;
	struct text buffer;
	struct arena paths; /* of files of line tables that libdw has not read */
};

/* An address of the question, and the unit it lies in. */
struct placed_address {
	uint32_t unit;
	uint32_t index; /* in the question's addresses */
};

/* The addresses of one unit. */
struct unit_work {
	const struct dwarf_unit *unit;
	Dwarf_Die tree;
	const char *folder; /* that it was compiled in, or NULL */
	size_t n;
	uint64_t *addresses;
	uint32_t *scopes;	 /* by address: the innermost scope */
	bool *is_named;		 /* by address, as in the question */
	struct line_table table; /* with `has_table`; else the next four are what libdw has */
	bool has_table;
	Dwarf_Lines *lines;
	size_t n_lines;
	Dwarf_Files *files; /* that call sites refer to */
	size_t n_files;
	bool is_of_clang;
};

/* Where the code of an address stands. */
struct code_line {
	const char *path; /* NULL: not known */
	uint32_t line, column, discriminator;
	bool is_known;
};

/* Where a source file was: compilers name it as on their command line. */
static void symbol_lines_path(const char *folder, const char *path, struct text *out)
{
	if (path[0] != '/' && folder != NULL) {
		text_add(out, folder, strnlen(folder, PATH_MAX));
		text_char(out, '/');
	}
	text_add(out, path, strnlen(path, PATH_MAX));
}

/* Is the string of the file new? Else its id is in `out`. Each string is looked at once only. */
static bool symbol_lines_is_new(struct job *job, const char *text, bool is_symbol,
				struct str_id *out)
{
	uint64_t key = (uint64_t)(uintptr_t)text << 1 | is_symbol;
	uint32_t n_before = job->texts.n;
	uint32_t number;

	if (text == NULL) {
		*out = (struct str_id){ 0 };
		return false;
	}
	number = tuples_add(&job->texts, &key);
	if (number < n_before) {
		*out = job->text_ids.items[number];
		return false;
	}
	text_reset(&job->buffer);
	return true;
}

/* Interns what is in the buffer. */
static struct str_id symbol_lines_add(struct job *job)
{
	struct str_id id = strings_add(&job->answer->strings, job->buffer.bytes, job->buffer.n);

	*vec_add(&job->text_ids) = id;
	return id;
}

/* The id of a name, demangled if `is_symbol`. */
static struct str_id symbol_lines_intern(struct job *job, const char *text, bool is_symbol)
{
	struct str_id id;

	if (!symbol_lines_is_new(job, text, is_symbol, &id))
		return id;
	if (is_symbol && job->question->style != DEMANGLE_NOT)
		demangle(text, job->question->style, &job->buffer);
	else
		text_add(&job->buffer, text, strnlen(text, PATH_MAX));
	return symbol_lines_add(job);
}

static struct str_id symbol_lines_intern_path(struct job *job, const struct unit_work *work,
					      const char *path)
{
	struct str_id id;

	if (!symbol_lines_is_new(job, path, false, &id))
		return id;
	symbol_lines_path(work->folder, path, &job->buffer);
	return symbol_lines_add(job);
}

static const char *symbol_lines_string_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute value;

	return dwarf_formstring(dwarf_attr_integrate(die, attribute, &value));
}

static uint64_t symbol_lines_number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute value;
	Dwarf_Word number = 0;

	return dwarf_formudata(dwarf_attr(die, attribute, &value), &number) == 0 ? number : 0;
}

/* The linkage name tells more than the plain one: namespaces and template arguments. */
static struct str_id symbol_lines_name_of(struct job *job, Dwarf_Die *die)
{
	const char *name = symbol_lines_string_of(die, DW_AT_linkage_name);

	if (name == NULL)
		name = symbol_lines_string_of(die, DW_AT_MIPS_linkage_name);
	if (name != NULL)
		return symbol_lines_intern(job, name, true);
	return symbol_lines_intern(job, symbol_lines_string_of(die, DW_AT_name), false);
}

/* The same of a scope of the unit, by its index: looked for once. */
static struct str_id symbol_lines_function(struct job *job, size_t scope)
{
	struct scope_name *name = &job->names.items[scope];

	if (!name->is_known) {
		name->function = symbol_lines_name_of(job, &job->scopes.list.items[scope].die);
		name->is_known = true;
	}
	return name->function;
}

static uint32_t to_u32(uint64_t number)
{
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static const char *path_of_file(struct job *job, struct unit_work *work, uint64_t file)
{
	if (work->has_table)
		return line_table_path(&work->table, file, &job->paths);
	return file < work->n_files ? dwarf_filesrc(work->files, file, NULL, NULL) : NULL;
}

/* Where the caller of an inlined function stands. */
static void set_call_site(struct job *job, struct unit_work *work, Dwarf_Die *inlined,
			  struct symbol_frame *out)
{
	uint64_t file = symbol_lines_number_of(inlined, DW_AT_call_file);

	if (dwarf_hasattr(inlined, DW_AT_call_file))
		out->file = symbol_lines_intern_path(job, work, path_of_file(job, work, file));
	out->line = to_u32(symbol_lines_number_of(inlined, DW_AT_call_line));
	out->column = to_u32(symbol_lines_number_of(inlined, DW_AT_call_column));
}

static Dwarf_Addr row_address(const struct unit_work *work, size_t row)
{
	Dwarf_Addr at = UINT64_MAX;

	(void)dwarf_lineaddr(dwarf_onesrcline(work->lines, row), &at);
	return at;
}

/* The row that covers an address: the last one at or below it, unless a sequence ends there. */
static Dwarf_Line *lines_find_row(const struct unit_work *work, uint64_t address)
{
	size_t behind = bisect(0, work->n_lines, i, row_address(work, i) <= address);
	Dwarf_Line *row = behind == 0 ? NULL : dwarf_onesrcline(work->lines, behind - 1);
	bool is_end = true;

	return row == NULL || dwarf_lineendsequence(row, &is_end) != 0 || is_end ? NULL : row;
}

/* What libdw has of the row that covers an address. */
static struct code_line line_by_libdw(const struct unit_work *work, uint64_t address)
{
	Dwarf_Line *row = lines_find_row(work, address);
	int line = 0, column = 0;
	unsigned discriminator = 0;

	if (row == NULL)
		return (struct code_line){ 0 };
	(void)dwarf_lineno(row, &line);
	(void)dwarf_linecol(row, &column);
	(void)dwarf_linediscriminator(row, &discriminator);
	return (struct code_line){
		.path = dwarf_linesrc(row, NULL, NULL),
		.line = line > 0 ? (uint32_t)line : 0,
		.column = column > 0 ? (uint32_t)column : 0,
		.discriminator = discriminator,
		.is_known = true,
	};
}

static struct code_line line_of_address(struct job *job, struct unit_work *work, size_t i)
{
	const struct line_row *row;

	if (!work->has_table)
		return line_by_libdw(work, work->addresses[i]);
	row = line_table_row(&work->table, i);
	if (row == NULL)
		return (struct code_line){ 0 };
	return (struct code_line){
		.path = line_table_path(&work->table, row->file, &job->paths),
		.line = row->line > 0 ? (uint32_t)row->line : 0,
		.column = row->column,
		.discriminator = row->discriminator,
		.is_known = true,
	};
}

/* Adds a frame; its discriminator is that of the call, or of the innermost line where there is none. */
static void add_frame(struct job *job, const struct unit_work *work,
		      const struct symbol_frame *frame, Dwarf_Die *function,
		      const struct code_line *line, Dwarf_Die *call)
{
	struct line_detail detail = { .is_of_clang = work->is_of_clang };
	int declared = 0;

	*vec_add(&job->answer->frames) = *frame;
	if (!job->question->with_details)
		return;
	detail.discriminator = call != NULL
				       ? to_u32(symbol_lines_number_of(call, AT_GNU_DISCRIMINATOR))
				       : line->discriminator;
	if (function != NULL && dwarf_decl_line(function, &declared) == 0 && declared > 0)
		detail.declared = (uint32_t)declared;
	*vec_add(&job->answer->details) = detail;
}

/* The frames of one address, from the row of the line table outwards. */
static struct line_chain build_chain(struct job *job, struct unit_work *work, size_t i)
{
	struct lines_answer *answer = job->answer;
	struct line_chain chain = { .first = (uint32_t)answer->frames.n };
	struct code_line line = line_of_address(job, work, i);
	struct symbol_frame frame = { 0 };
	struct scope *scopes = job->scopes.list.items, *scope = &scopes[work->scopes[i]];
	Dwarf_Die *call = NULL;

	if (line.is_known)
		frame.file = symbol_lines_intern_path(job, work, line.path);
	frame.line = line.line;
	frame.column = line.column;
	while (scope != scopes) {
		frame.is_inlined = scope->is_inlined && scope->parent != 0;
		if (frame.is_inlined || !work->is_named[i])
			frame.function = symbol_lines_function(job, (size_t)(scope - scopes));
		add_frame(job, work, &frame, &scope->die, &line, call);
		frame = (struct symbol_frame){ 0 };
		if (!scope->is_inlined)
			break;
		call = &scope->die;
		set_call_site(job, work, &scope->die, &frame);
		scope = &scopes[scope->parent];
	}
	if (work->scopes[i] == 0 && line.is_known)
		add_frame(job, work, &frame, NULL, &line, NULL);
	chain.n = (uint32_t)answer->frames.n - chain.first;
	return chain;
}

static void lines_note(struct job *job, enum diag_level level, const char *text)
{
	text_reset(&job->buffer);
	text_format(&job->buffer, "%s: %s", job->question->path, text);
	text_char(&job->buffer, '\0');
	diags_add(&job->answer->diags, level, ERR_NOWHERE, 0, job->buffer.bytes);
}

/* By libdw, which keeps all rows: a table of a form that is not read here. */
static void read_lines_by_libdw(struct job *job, struct unit_work *work)
{
	Dwarf_Die root = work->unit->die;

	if (dwarf_hasattr(&root, DW_AT_stmt_list) &&
	    dwarf_getsrclines(&root, &work->lines, &work->n_lines) != 0) {
		work->n_lines = 0;
		lines_note(job, DIAG_DAMAGE, "a line table is damaged: its lines are missing");
	}
	if (dwarf_getsrcfiles(&work->tree, &work->files, &work->n_files) != 0)
		work->n_files = 0;
}

/* The files of a split unit's call sites stand in a table of its own. */
static bool read_line_table(struct job *job, struct unit_work *work)
{
	struct line_source source;

	return work->tree.cu == work->unit->die.cu &&
	       line_source_find(&source, &job->file, work->unit) &&
	       line_table_read(&work->table, &source, work->addresses, work->n);
}

/* Is all that its scopes would tell in the symbol table and the line table, as nothing is inlined? */
static bool needs_no_scopes(struct unit_work *work)
{
	if (!work->has_table || scopes_may_be_inlined(&work->tree))
		return false;
	for (size_t i = 0; i < work->n; i++)
		if (!work->is_named[i] || line_table_row(&work->table, i) == NULL)
			return false;
	return true;
}

/* Decodes what the unit's addresses need. What is damaged stays empty. */
static void lines_read_unit(struct job *job, struct unit_work *work)
{
	Dwarf_Die root = work->unit->die;
	const char *producer = symbol_lines_string_of(&root, DW_AT_producer);

	work->is_of_clang = producer != NULL && strstr(producer, "clang") != NULL;
	work->folder = symbol_lines_string_of(&root, DW_AT_comp_dir);
	if (!dwarf_unit_tree(work->unit, &work->tree))
		lines_note(job, DIAG_NOTE,
			   "its .dwo files were not found (.dwp files are not read): no inlines");
	if (!job->question->without_lines) {
		work->has_table = read_line_table(job, work);
		if (!work->has_table)
			read_lines_by_libdw(job, work);
	}
	if (needs_no_scopes(work))
		scopes_find_none(&job->scopes, work->n, work->scopes);
	else if (!scopes_find(&job->scopes, &work->tree, work->addresses, work->n,
			      scopes_budget(work->unit, &work->tree, work->n), work->scopes))
		lines_note(job, DIAG_DAMAGE,
			   "debug information of a unit is damaged: inlines are missing");
}

/* Answers for the `n` addresses of one unit. */
static void lines_answer_unit(struct job *job, const struct placed_address *placed, size_t n)
{
	struct unit_work work = {
		.unit = &job->file.units.items[placed[0].unit],
		.n = n,
		.addresses = mem_alloc(n, sizeof(*work.addresses)),
		.scopes = mem_alloc(n, sizeof(*work.scopes)),
		.is_named = mem_zalloc(n, sizeof(*work.is_named)),
	};

	for (size_t i = 0; i < n; i++) {
		work.addresses[i] = job->question->addresses[placed[i].index];
		work.is_named[i] =
			job->question->is_named != NULL && job->question->is_named[placed[i].index];
	}
	lines_read_unit(job, &work);
	job->names.n = 0;
	vec_reserve(&job->names, job->scopes.list.n);
	for (size_t i = 0; i < n; i++)
		job->answer->chains[placed[i].index] = build_chain(job, &work, i);
	job->n_rows += work.n_lines + work.table.files.n + ROWS_OF_UNIT;
	line_table_release(&work.table);
	free(work.addresses);
	free(work.scopes);
	free(work.is_named);
}

/* By unit; within a unit, addresses stay in their order. */
static int compare_placed(const void *left, const void *right)
{
	const struct placed_address *a = left, *b = right;

	if (a->unit != b->unit)
		return (a->unit > b->unit) - (a->unit < b->unit);
	return (a->index > b->index) - (a->index < b->index);
}

/* Finds the units of the addresses; returns how many this part of the question has. */
static size_t place_addresses(const struct job *job, struct placed_address *out)
{
	const struct lines_question *q = job->question;
	size_t n = 0;

	for (size_t i = 0; i < q->n; i++) {
		const struct range *range = ranges_find(&job->file.ranges, q->addresses[i]);

		if (range != NULL && range->value % q->n_parts == q->part)
			out[n++] = (struct placed_address){ range->value, (uint32_t)i };
	}
	sort_unless_sorted(out, n, sizeof(*out), compare_placed);
	return n;
}

/* Gives back what libdw keeps, if that is much. Strings are known by their addresses, which are others then. */
static bool forget_much(struct job *job)
{
	size_t given = job->question->n_kept_rows, most = ROWS_KEPT / job->question->n_parts;

	if (most < LEAST_ROWS_KEPT)
		most = LEAST_ROWS_KEPT;
	if (job->n_rows < (given > 0 ? given : most))
		return true;
	job->n_rows = 0;
	tuples_release(&job->texts);
	tuples_init(&job->texts, 1);
	job->text_ids.n = 0;
	arena_release(&job->paths);
	if (dwarf_file_forget(&job->file))
		return true;
	lines_note(job, DIAG_DAMAGE, "cannot be read any more: lines are missing");
	return false;
}

static void symbol_lines_answer_all(struct job *job)
{
	struct placed_address *placed = mem_alloc(job->question->n, sizeof(*placed));
	size_t n = place_addresses(job, placed);
	size_t end;

	for (size_t i = 0; i < n && forget_much(job); i = end) {
		for (end = i + 1; end < n && placed[end].unit == placed[i].unit;)
			end++;
		lines_answer_unit(job, placed + i, end - i);
	}
	free(placed);
}

/* Opens the file. All parts do that; only the first one reports damage. */
static bool symbol_lines_open_file(struct job *job)
{
	const struct lines_question *q = job->question;
	struct diags others = { 0 };
	struct err err;
	int rc = dwarf_file_open(&job->file, q->path, q->alt_path, q->root,
				 q->part == 0 ? &job->answer->diags : &others, &err);

	if (rc < 0 && q->part == 0)
		diags_add(&job->answer->diags, DIAG_DAMAGE, ERR_NOWHERE, 0, err.text);
	diags_release(&others);
	return rc == 0;
}

void lines_ask(const struct lines_question *question, struct lines_answer *answer)
{
	struct job job = { .question = question, .answer = answer };

	strings_init(&answer->strings);
	answer->chains = mem_zalloc(question->n, sizeof(*answer->chains));
	if (!symbol_lines_open_file(&job))
		return;
	tuples_init(&job.texts, 1);
	symbol_lines_answer_all(&job);
	dwarf_file_release(&job.file);
	scopes_release(&job.scopes);
	vec_release(&job.names);
	tuples_release(&job.texts);
	vec_release(&job.text_ids);
	text_release(&job.buffer);
	arena_release(&job.paths);
}

/* The rows of one unit: each reaches to the next one, which has another address. Returns how many it has. */
static size_t visit_unit(const struct dwarf_unit *unit, struct strings *paths, lines_visit *visit,
			 void *context)
{
	Dwarf_Die root = unit->die;
	const char *folder = symbol_lines_string_of(&root, DW_AT_comp_dir);
	const char *last = NULL, *path = NULL;
	struct text joined = { 0 };
	Dwarf_Lines *lines;
	size_t n;

	if (!dwarf_hasattr(&root, DW_AT_stmt_list) || dwarf_getsrclines(&root, &lines, &n) != 0)
		return 0;
	for (size_t i = 0; i + 1 < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		Dwarf_Addr from = 0, to = 0;
		bool is_end = true;
		int line = 0;
		const char *file = dwarf_linesrc(row, NULL, NULL);

		(void)dwarf_lineaddr(row, &from);
		(void)dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &to);
		if (dwarf_lineendsequence(row, &is_end) != 0 || is_end || from >= to ||
		    dwarf_lineno(row, &line) != 0 || line <= 0 || file == NULL)
			continue;
		if (file != last) {
			text_reset(&joined);
			symbol_lines_path(folder, file, &joined);
			path = strings_get(paths, strings_add(paths, joined.bytes, joined.n));
			last = file;
		}
		visit(context, path, (uint32_t)line, from, to);
	}
	text_release(&joined);
	return n;
}

void lines_each(const char *path, const char *alt_path, const char *root, lines_visit *visit,
		void *context, struct diags *diags)
{
	struct dwarf_file file = { 0 };
	struct strings paths;
	size_t n_rows = 0;
	struct err err;

	if (dwarf_file_open(&file, path, alt_path, root, diags, &err) < 0) {
		diags_add(diags, DIAG_DAMAGE, ERR_NOWHERE, 0, err.text);
		return;
	}
	strings_init(&paths);
	for (size_t i = 0; i < file.units.n; i++) {
		n_rows += visit_unit(&file.units.items[i], &paths, visit, context) + ROWS_OF_UNIT;
		if (n_rows < ROWS_KEPT)
			continue;
		n_rows = 0;
		if (!dwarf_file_forget(&file))
			break;
	}
	strings_release(&paths);
	dwarf_file_release(&file);
}

void lines_answer_release(struct lines_answer *answer)
{
	strings_release(&answer->strings);
	vec_release(&answer->frames);
	vec_release(&answer->details);
	free(answer->chains);
	diags_release(&answer->diags);
	*answer = (struct lines_answer){ 0 };
}
