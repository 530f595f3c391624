/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/line_table.h"

#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>

#include "base/bisect.h"

enum {
	OLDEST = 2,
	NEWEST = 5,
	LEAST_OPCODE_BASE = DW_LNS_fixed_advance_pc + 1,
	MOST_OPCODE_BASE = DW_LNS_set_isa + 1,
	MOST_FORMS = 8,
	MD5_BYTES = 16,
};

/* What libdw has room for in a row; with more it takes a table for damaged. */
enum { MOST_COLUMN = UINT16_MAX, MOST_DISCRIMINATOR = (1 << 24) - 1, MOST_ISA = UINT8_MAX };

/* How many numbers follow each of the standard opcodes. */
static const uint8_t n_operands[MOST_OPCODE_BASE] = {
	[DW_LNS_advance_pc] = 1, [DW_LNS_advance_line] = 1,	[DW_LNS_set_file] = 1,
	[DW_LNS_set_column] = 1, [DW_LNS_fixed_advance_pc] = 1, [DW_LNS_set_isa] = 1,
};

/* One table being read. */
struct line_reader {
	struct line_table *out;
	const struct line_source *source;
	const uint64_t *addresses;
	size_t n_addresses;
	struct cursor at;
	unsigned version;
	uint32_t step; /* bytes of the shortest instruction */
	int base;      /* of the line advance of special opcodes */
	unsigned range, opcode_base;

	struct line_row row; /* the state of the program */
	struct line_row
		last; /* the row behind all others, by address; no more of it than is_later() compares */
	size_t behind;	 /* the first address that is not before the last row's */
	bool is_unknown; /* a form that is not read here */
};

static uint64_t read_number(struct line_reader *r, struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cur_u8(c);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return value;
	}
	r->is_unknown = true;
	return 0;
}

/* Larger ones libdw cuts off. */
static uint32_t read_u32(struct line_reader *r, struct cursor *c)
{
	uint64_t value = read_number(r, c);

	r->is_unknown |= value > UINT32_MAX;
	return (uint32_t)value;
}

static int64_t read_signed(struct line_reader *r, struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		uint8_t byte = cur_u8(c);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return (int64_t)(value << (57 - shift)) >> (57 - shift);
	}
	r->is_unknown = true;
	return 0;
}

/* Folders and files up to version 4: lists that end with an empty name. */
static void read_old_names(struct line_reader *r, struct cursor *c)
{
	const char *name;

	*vec_add(&r->out->folders) = r->source->folder;
	while ((name = cur_string(c)) != NULL && name[0] != '\0')
		*vec_add(&r->out->folders) = name;
	*vec_add(&r->out->files) = (struct line_file){ .name = "???" }; /* number 0 is none */
	while ((name = cur_string(c)) != NULL && name[0] != '\0') {
		uint32_t folder = read_u32(r, c);

		(void)read_number(r, c); /* when it was changed */
		(void)read_number(r, c); /* its size */
		*vec_add(&r->out->files) = (struct line_file){ name, folder };
	}
}

/* What is known of each folder or file, and how it is written. */
struct line_forms {
	struct line_form {
		uint64_t what, form;
	} list[MOST_FORMS];
	unsigned n;
};

static void read_forms(struct line_reader *r, struct cursor *c, struct line_forms *out)
{
	bool has_path = false;

	out->n = cur_u8(c);
	if (out->n > MOST_FORMS)
		r->is_unknown = true;
	for (unsigned i = 0; i < out->n && !r->is_unknown; i++) {
		out->list[i].what = read_number(r, c);
		out->list[i].form = read_number(r, c);
		r->is_unknown |= out->list[i].what > UINT16_MAX ||
				 (has_path && out->list[i].what == DW_LNCT_path);
		has_path |= out->list[i].what == DW_LNCT_path;
	}
	r->is_unknown |= !has_path;
}

static const char *string_at(struct cursor strings, uint64_t offset)
{
	cur_skip(&strings, offset);
	return cur_string(&strings);
}

/* A text, or else a number. */
static const char *read_form(struct line_reader *r, struct cursor *c, uint64_t form,
			     uint64_t *out_number)
{
	switch (form) {
	case DW_FORM_string:
		return cur_string(c);
	case DW_FORM_line_strp:
		return string_at(r->source->line_strings, cur_u32(c));
	case DW_FORM_strp:
		return string_at(r->source->strings, cur_u32(c));
	case DW_FORM_udata:
		*out_number = read_number(r, c);
		return NULL;
	case DW_FORM_data1:
		*out_number = cur_u8(c);
		return NULL;
	case DW_FORM_data2:
		*out_number = cur_u16(c);
		return NULL;
	case DW_FORM_data16:
		cur_skip(c, MD5_BYTES);
		return NULL;
	default:
		r->is_unknown = true;
		return NULL;
	}
}

static void read_new_names(struct line_reader *r, struct cursor *c, bool are_files)
{
	struct line_forms forms;
	uint64_t n;

	read_forms(r, c, &forms);
	n = read_number(r, c);
	r->is_unknown |= !cur_holds(c, n, 1);
	for (uint64_t i = 0; i < n && !r->is_unknown && cur_ok(c); i++) {
		struct line_file file = { .folder = are_files ? UINT32_MAX : 0 };

		for (unsigned f = 0; f < forms.n; f++) {
			uint64_t number = UINT64_MAX;
			const char *text = read_form(r, c, forms.list[f].form, &number);

			if (forms.list[f].what == DW_LNCT_path)
				file.name = text;
			else if (forms.list[f].what == DW_LNCT_directory_index)
				file.folder = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
		}
		r->is_unknown |= file.name == NULL;
		if (are_files)
			*vec_add(&r->out->files) = file;
		else
			*vec_add(&r->out->folders) = file.name;
	}
}

static void read_names(struct line_reader *r, struct cursor *c)
{
	if (r->version < NEWEST) {
		read_old_names(r, c);
	} else {
		read_new_names(r, c, false);
		read_new_names(r, c, true);
		if (r->out->files.n == 0)
			*vec_add(&r->out->files) = (struct line_file){ .name = "???" };
	}
	r->is_unknown |= cur_left(c) > 0 || !cur_ok(c);
	for (size_t i = 0; i < r->out->files.n; i++)
		r->is_unknown |= r->out->files.items[i].folder >= r->out->folders.n;
}

/* The header; leaves the cursor at the program. */
static bool read_header(struct line_reader *r)
{
	struct cursor rest = r->source->table, names;
	uint64_t size = cur_u32(&rest);

	r->at = cur_split(&rest, size); /* 64 bit have no such size */
	r->version = cur_u16(&r->at);
	if (r->version < OLDEST || r->version > NEWEST)
		return false;
	if (r->version >= 5 && (cur_u8(&r->at) != r->source->address_size || cur_u8(&r->at) != 0))
		return false;
	size = cur_u32(&r->at);
	names = cur_split(&r->at, size);
	r->step = cur_u8(&names);
	if (r->version >= 4 && cur_u8(&names) != 1) /* operations of an instruction */
		return false;
	cur_skip(&names, 1); /* where statements begin */
	r->base = (int8_t)cur_u8(&names);
	r->range = cur_u8(&names);
	r->opcode_base = cur_u8(&names);
	if (r->range == 0 || r->opcode_base < LEAST_OPCODE_BASE ||
	    r->opcode_base > MOST_OPCODE_BASE)
		return false;
	for (unsigned opcode = 1; opcode < r->opcode_base; opcode++)
		r->is_unknown |= cur_u8(&names) != n_operands[opcode];
	if (!r->is_unknown)
		read_names(r, &names);
	return !r->is_unknown && cur_ok(&r->at);
}

/* Ends of sequences come before other rows at their address; else the order is that of the table. */
static bool is_later(const struct line_row *a, const struct line_row *b)
{
	if (a->address != b->address)
		return a->address > b->address;
	if (a->is_end != b->is_end)
		return b->is_end;
	return a->number > b->number;
}

static void find_behind(struct line_reader *r)
{
	const uint64_t *addresses = r->addresses;
	size_t from = r->behind;

	if (from > 0 && addresses[from - 1] >= r->row.address)
		from = 0;
	r->behind = bisect_near(from, r->n_addresses, i, addresses[i] < r->row.address);
}

static void add_row(struct line_reader *r, bool is_end)
{
	struct line_row *first;

	r->row.is_end = is_end;
	r->row.number++;
	r->is_unknown |= r->row.number == 0 || r->row.column > MOST_COLUMN ||
			 r->row.discriminator > MOST_DISCRIMINATOR;
	if (r->row.number == 1 || is_later(&r->row, &r->last))
		r->last = (struct line_row){ .address = r->row.address,
					     .number = r->row.number,
					     .is_end = is_end };
	find_behind(r);
	if (r->behind == r->n_addresses)
		return;
	first = &r->out->rows.items[r->behind];
	if (first->number == 0 || is_later(&r->row, first))
		*first = r->row;
}

static void reset_row(struct line_reader *r)
{
	r->row = (struct line_row){ .number = r->row.number, .file = 1, .line = 1 };
}

static void advance_line(struct line_reader *r, int64_t by)
{
	int64_t line = r->row.line + by;

	r->is_unknown |= by < INT32_MIN || by > INT32_MAX || line < INT32_MIN || line > INT32_MAX;
	r->row.line = (int32_t)line;
}

static void advance_pc(struct line_reader *r, uint32_t by)
{
	r->row.address += (uint32_t)(r->step * by);
}

static void run_extended(struct line_reader *r)
{
	uint8_t size = cur_u8(&r->at);
	struct cursor c = cur_split(&r->at, size);
	uint8_t opcode = cur_u8(&c);

	switch (opcode) {
	case DW_LNE_end_sequence:
		add_row(r, true);
		reset_row(r);
		break;
	case DW_LNE_set_address:
		r->row.address = r->source->address_size == 8 ? cur_u64(&c) : cur_u32(&c);
		break;
	case DW_LNE_set_discriminator:
		r->row.discriminator = read_u32(r, &c);
		break;
	default:
		r->is_unknown = true;
	}
	r->is_unknown |= !cur_ok(&c) || cur_left(&c) > 0;
}

static void run_standard(struct line_reader *r, unsigned opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		add_row(r, false);
		r->row.discriminator = 0;
		break;
	case DW_LNS_advance_pc:
		advance_pc(r, read_u32(r, &r->at));
		break;
	case DW_LNS_advance_line:
		advance_line(r, read_signed(r, &r->at));
		break;
	case DW_LNS_set_file:
		r->row.file = read_u32(r, &r->at);
		break;
	case DW_LNS_set_column:
		r->row.column = read_u32(r, &r->at);
		break;
	case DW_LNS_const_add_pc:
		advance_pc(r, (UINT8_MAX - r->opcode_base) / r->range);
		break;
	case DW_LNS_fixed_advance_pc:
		r->row.address += cur_u16(&r->at);
		break;
	case DW_LNS_set_isa:
		r->is_unknown |= read_u32(r, &r->at) > MOST_ISA;
		break;
	default: /* flags that nothing asks for */
		break;
	}
}

static void run_program(struct line_reader *r)
{
	reset_row(r);
	while (cur_left(&r->at) > 0 && !r->is_unknown) {
		unsigned opcode = cur_u8(&r->at);

		if (opcode >= r->opcode_base) {
			unsigned special = opcode - r->opcode_base;

			advance_line(r, r->base + (int)(special % r->range));
			advance_pc(r, special / r->range);
			add_row(r, false);
			r->row.discriminator = 0;
		} else if (opcode == 0) {
			run_extended(r);
		} else {
			run_standard(r, opcode);
		}
	}
	r->is_unknown |= !cur_ok(&r->at);
}

/* Each address has the last row at or below it: its own, or that of the address before. */
static void spread_rows(struct line_reader *r)
{
	struct line_row *rows = r->out->rows.items;

	for (size_t i = 1; i < r->n_addresses; i++)
		if (rows[i].number == 0 ||
		    (rows[i - 1].number > 0 && is_later(&rows[i - 1], &rows[i])))
			rows[i] = rows[i - 1];
	for (size_t i = 0; i < r->n_addresses; i++)
		rows[i].is_end |= rows[i].number ==
				  r->last.number; /* the last row ends a sequence in any case */
}

bool line_table_read(struct line_table *out, const struct line_source *source,
		     const uint64_t *addresses, size_t n)
{
	struct line_reader r = {
		.out = out,
		.source = source,
		.addresses = addresses,
		.n_addresses = n,
	};

	vec_reserve(&out->rows, n);
	out->rows.n = n;
	if (read_header(&r))
		run_program(&r);
	else
		r.is_unknown = true;
	if (!r.is_unknown)
		spread_rows(&r);
	else
		line_table_release(out);
	return !r.is_unknown;
}

const struct line_row *line_table_row(const struct line_table *t, size_t address)
{
	const struct line_row *row = &t->rows.items[address];

	return row->number == 0 || row->is_end ? NULL : row;
}

const char *line_table_path(struct line_table *t, uint64_t file, struct arena *memory)
{
	const struct line_file *found;
	const char *folder;
	size_t n, n_folder;
	char *path;

	if (file >= t->files.n)
		return NULL;
	found = &t->files.items[file];
	folder = t->folders.n > 0 ? t->folders.items[found->folder] : NULL;
	if (found->name[0] == '/' || folder == NULL)
		return found->name;
	if (t->paths.n == 0) {
		vec_reserve(&t->paths, t->files.n);
		t->paths.n = t->files.n;
	}
	if (t->paths.items[file] == NULL) {
		n = strlen(found->name), n_folder = strlen(folder);
		path = arena_alloc(memory, n_folder + 1 + n + 1);
		memcpy(path, folder, n_folder);
		path[n_folder] = '/';
		memcpy(path + n_folder + 1, found->name, n + 1);
		t->paths.items[file] = path;
	}
	return t->paths.items[file];
}

void line_table_release(struct line_table *t)
{
	vec_release(&t->rows);
	vec_release(&t->files);
	vec_release(&t->folders);
	vec_release(&t->paths);
}

bool line_source_find(struct line_source *out, const struct dwarf_file *file,
		      const struct dwarf_unit *unit)
{
	Dwarf_Die die = unit->die;
	Dwarf_Attribute value;
	Dwarf_Word offset;
	uint8_t address_size = 0;

	if (dwarf_formudata(dwarf_attr(&die, DW_AT_stmt_list, &value), &offset) != 0 ||
	    dwarf_diecu(&die, &(Dwarf_Die){ 0 }, &address_size, NULL) == NULL ||
	    (address_size != 4 && address_size != 8))
		return false;
	*out = (struct line_source){
		.table = file->sections.lines,
		.strings = file->sections.strings,
		.line_strings = file->sections.line_strings,
		.address_size = address_size,
		.folder = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &value)),
	};
	cur_skip(&out->table, offset);
	return cur_ok(&out->table) && cur_left(&out->table) > 0;
}
