/* SPDX-License-Identifier: Apache-2.0 */
#include "export/spe_parser.h"

#include <string.h>

#include "base/alloc.h"
#include "export/export_tables.h"
#include "scan/scan.h"
#include "spe/names.h"
#include "spe/packet.h"
#include "table/format_csv.h"

const char *const spe_parser_names[SPE_PARSER_N_FILES] = { "ldst", "br", "other" };

/* The event bits that spe-parser knows; it drops others. */
enum { KNOWN_EVENTS = 0x60fff };

/*
 * Some CAS instructions of the Neoverse N1 are recorded as "other", with memory events. In such
 * rows spe-parser leaves out the memory events and sorts the rest by name.
 */
static const unsigned other_events_by_name[] = {
	SPE_EV_ALIGNMENT,	  /* ALIGNMENT */
	SPE_EV_EXCEPTION,	  /* EXCEPTION-GEN */
	SPE_EV_MISPREDICTED,	  /* MISPRED */
	SPE_EV_NOT_TAKEN,	  /* NOT-TAKEN */
	SPE_EV_RETIRED,		  /* RETIRED */
	SPE_EV_EMPTY_PREDICATE,	  /* SVE-EMPTY-PRED */
	SPE_EV_PARTIAL_PREDICATE, /* SVE-PARTIAL-PRED */
};

struct parser_job {
	struct spe_parser_options options;
	struct function_names *names; /* with symbols */
	spe_parser_sink *sink;
	void *context;
	uint32_t no_cpu; /* what stands for none: as in spe-parser, 0 in raw buffers */
	bool has_header[SPE_PARSER_N_FILES];
	/* Parquet: a writer for each file, and where its sink gets the context from. */
	struct parquet_writer *writers[SPE_PARSER_N_FILES];
	struct parser_output {
		struct parser_job *job;
		enum spe_parser_file file;
	} outputs[SPE_PARSER_N_FILES];
};

/* Texts of codes, whose context is the job. An operation's code is its class and payload. */
static struct spe_op parser_op_of(uint64_t code)
{
	return spe_op_of((uint8_t)(code >> 8), (uint8_t)code);
}

static void parser_spell_op(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_str(out, parser_op_of(code).op);
}

static void spell_ldst_subclass(const void *context, uint64_t code, struct text *out)
{
	struct spe_op op = parser_op_of(code);

	(void)context;
	if (!(op.is_atomic || op.is_exclusive || op.is_acquire_release))
		text_str(out, op.subclass);
}

static void spell_other_subclass(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_str(out, parser_op_of(code).is_sve ? "SVE" : "OTHER");
}

static void parser_spell_events(const void *context, uint64_t events, struct text *out)
{
	(void)context;
	spe_events_text(events, ':', out);
}

static void spell_other_events(const void *context, uint64_t events, struct text *out)
{
	size_t begin = out->n;

	(void)context;
	for (size_t i = 0; i < COUNT(other_events_by_name); i++) {
		if (!(events >> other_events_by_name[i] & 1))
			continue;
		if (out->n > begin)
			text_char(out, ':');
		text_str(out, spe_event_name(other_events_by_name[i]));
	}
}

/* An address has 56 bits, as recorded; above them it says that it is there, and of EL2. */
#define ADDRESS_IS_THERE (UINT64_C(1) << 63)
#define ADDRESS_OF_EL2 (UINT64_C(1) << 62)
#define ADDRESS_BITS UINT64_C(0xffffffffffffff)

static uint64_t address_code(bool is_there, uint64_t address, unsigned level)
{
	return is_there ? (address & ADDRESS_BITS) | ADDRESS_IS_THERE |
				  (level == 2 ? ADDRESS_OF_EL2 : 0)
			: 0;
}

/* "0x", "ff" at EL2 and nowhere else, and the digits. */
static size_t put_parser_hex(char out[24], uint64_t address, bool is_of_el2)
{
	size_t prefix = is_of_el2 ? 4 : 2;

	memcpy(out, "0xff", 4);
	return prefix + put_hex_digits(out + prefix, address, 1);
}

static void spell_address(const void *context, uint64_t code, struct text *out)
{
	char digits[24];

	(void)context;
	if (code & ADDRESS_IS_THERE)
		text_add(out, digits,
			 put_parser_hex(digits, code & ADDRESS_BITS, code & ADDRESS_OF_EL2));
}

/* spe-parser decodes every data source with Arm's common encoding, whatever the CPU. */
static const char *spe_parser_source_name(uint16_t value)
{
	static const char *const names[] = {
		[0x0] = "L1D",		 [0x8] = "L2D",	     [0x9] = "PEER-CPU",
		[0xa] = "LOCAL-CLUSTER", [0xb] = "LL-CACHE", [0xc] = "PEER-CLUSTER",
		[0xd] = "REMOTE",	 [0xe] = "DRAM",
	};

	return value < COUNT(names) && names[value] != NULL ? names[value] : "";
}

/* One more than a data source; 0: there is none. */
static void parser_spell_source(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	if (code > 0)
		text_str(out, spe_parser_source_name((uint16_t)(code - 1)));
}

/* The name itself; 0: it is not known. */
static void spell_symbol(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	if (code > 0)
		text_str(out, (const char *)(uintptr_t)code);
}

/* A column of their files. Csv has it under its name; Parquet with its type, and never absent. */
struct parser_column {
	const char *name;
	enum parquet_type type;
	unsigned width; /* of its values; 0: texts */
	void (*spell)(const void *job, uint64_t code, struct text *out); /* values are codes */
};

static const struct parser_column ldst_columns[] = {
	{ "cpu", PARQUET_INT64, 8 },
	{ "op", PARQUET_TEXT, 2, parser_spell_op },
	{ "pc", PARQUET_TEXT, 8, spell_address },
	{ "el", PARQUET_INT64, 4 },
	{ "atomic", PARQUET_BOOL, 1 },
	{ "excl", PARQUET_BOOL, 1 },
	{ "ar", PARQUET_BOOL, 1 },
	{ "subclass", PARQUET_TEXT, 2, spell_ldst_subclass },
	{ "sve_evl", PARQUET_INT64, 4 },
	{ "sve_pred", PARQUET_BOOL, 1 },
	{ "sve_sg", PARQUET_BOOL, 1 },
	{ "event", PARQUET_TEXT, 4, parser_spell_events },
	{ "issue_lat", PARQUET_INT64, 4 },
	{ "total_lat", PARQUET_INT64, 4 },
	{ "vaddr", PARQUET_TEXT },
	{ "xlat_lat", PARQUET_INT64, 4 },
	{ "paddr", PARQUET_TEXT, 8, spell_address },
	{ "data_source", PARQUET_TEXT, 4, parser_spell_source },
	{ "context", PARQUET_TEXT, 8, spell_address },
	{ "ts", PARQUET_INT64, 8 },
	{ "symbol", PARQUET_TEXT, 8, spell_symbol },
};

static const struct parser_column br_columns[] = {
	{ "cpu", PARQUET_INT64, 8 },
	{ "op", PARQUET_TEXT, 2, parser_spell_op },
	{ "pc", PARQUET_TEXT, 8, spell_address },
	{ "el", PARQUET_INT64, 4 },
	{ "condition", PARQUET_BOOL, 1 },
	{ "indirect", PARQUET_BOOL, 1 },
	{ "event", PARQUET_TEXT, 4, parser_spell_events },
	{ "issue_lat", PARQUET_INT64, 4 },
	{ "total_lat", PARQUET_INT64, 4 },
	{ "br_tgt", PARQUET_TEXT, 8, spell_address },
	{ "br_tgt_lvl", PARQUET_INT64, 4 },
	{ "pbt", PARQUET_TEXT, 8, spell_address },
	{ "pbt_lvl", PARQUET_INT64, 4 },
	{ "context", PARQUET_TEXT, 8, spell_address },
	{ "ts", PARQUET_INT64, 8 },
	{ "symbol", PARQUET_TEXT, 8, spell_symbol },
};

static const struct parser_column other_columns[] = {
	{ "cpu", PARQUET_INT64, 8 },
	{ "op", PARQUET_TEXT, 2, parser_spell_op },
	{ "pc", PARQUET_TEXT, 8, spell_address },
	{ "el", PARQUET_INT64, 4 },
	{ "subclass", PARQUET_TEXT, 2, spell_other_subclass },
	{ "sve_evl", PARQUET_INT64, 4 },
	{ "sve_pred", PARQUET_BOOL, 1 },
	{ "sve_fp", PARQUET_BOOL, 1 },
	{ "condition", PARQUET_BOOL, 1 },
	{ "event", PARQUET_TEXT, 4, spell_other_events },
	{ "issue_lat", PARQUET_INT64, 4 },
	{ "total_lat", PARQUET_INT64, 4 },
	{ "context", PARQUET_TEXT, 8, spell_address },
	{ "ts", PARQUET_INT64, 8 },
	{ "symbol", PARQUET_TEXT, 8, spell_symbol },
};

enum { MAX_COLUMNS = COUNT(ldst_columns) };

/* By file: the columns, of which the last is there with symbols only. */
static const struct {
	const struct parser_column *columns;
	size_t n;
} files[SPE_PARSER_N_FILES] = {
	[SPE_PARSER_LDST] = { ldst_columns, COUNT(ldst_columns) },
	[SPE_PARSER_BR] = { br_columns, COUNT(br_columns) },
	[SPE_PARSER_OTHER] = { other_columns, COUNT(other_columns) },
};

/* A row being written: the next value goes behind `out`, or to `values` of Parquet. */
struct line {
	const struct parser_job *job;
	const struct batch *b;
	size_t row;
	bool is_first;
	const struct parser_column *column; /* of the next value */
	struct text *out;
	struct parquet_values *values;
};

static bool line_has(const struct line *l, uint32_t bits)
{
	return (l->b->has[l->row] & bits) != 0;
}

static struct text *next_field(struct line *l)
{
	if (!l->is_first)
		text_char(l->out, ',');
	l->is_first = false;
	l->column++;
	return l->out;
}

/* A number, truth value or code. */
static void put_value(struct line *l, uint64_t value)
{
	const struct parser_column *c = l->column;

	if (l->values != NULL) {
		parquet_put_narrow(l->values++, value, c->width);
		l->column++;
	} else if (c->spell != NULL) {
		c->spell(l->job, value, next_field(l));
	} else if (c->type == PARQUET_BOOL) {
		text_str(next_field(l), value ? "true" : "false");
	} else {
		text_u64(next_field(l), value);
	}
}

static void spe_parser_put_address(struct line *l, bool is_there, uint64_t address, unsigned level)
{
	put_value(l, address_code(is_there, address, level));
}

/* Writes a data address with its tag, which no code has room for. The exception level is that of the PC. */
static void put_data_address(struct line *l, unsigned level)
{
	uint64_t tag = l->b->va_tag[l->row];
	char digits[24];
	size_t size = 0;

	if (line_has(l, HAS_VA))
		size = put_parser_hex(digits, (l->b->va[l->row] & ADDRESS_BITS) | tag << 56,
				      level == 2);
	if (l->values == NULL) {
		text_add(next_field(l), digits, size);
		return;
	}
	parquet_put_text(l->values++, digits, size);
	l->column++;
}

static uint64_t events_of(const struct line *l)
{
	return line_has(l, HAS_EVENTS) ? l->b->events[l->row] & KNOWN_EVENTS : 0;
}

static uint64_t op_code_of(const struct line *l)
{
	return (uint64_t)l->b->op_class[l->row] << 8 | l->b->op[l->row];
}

/* cpu, op, pc, el */
static unsigned put_start(struct line *l)
{
	unsigned level = line_has(l, HAS_PC) ? batch_pc_level(l->b, l->row) : 0;

	put_value(l, line_has(l, HAS_CPU) ? l->b->cpu[l->row] : l->job->no_cpu);
	put_value(l, op_code_of(l));
	spe_parser_put_address(l, line_has(l, HAS_PC), l->b->pc[l->row], level);
	put_value(l, level);
	return level;
}

static void put_latencies(struct line *l)
{
	put_value(l, line_has(l, HAS_ISSUE) ? l->b->issue[l->row] : 0);
	put_value(l, line_has(l, HAS_TOTAL) ? l->b->total[l->row] : 0);
}

/* The function of the PC: empty where it is not known. In csv quoted, if it needs that: nothing else has commas. */
static void put_symbol(struct line *l)
{
	const char *name = line_has(l, HAS_PLACE)
				   ? function_names_find(l->job->names, l->b->place[l->row])
				   : NULL;

	if (l->values == NULL)
		csv_put_text(next_field(l), name == NULL ? "" : name);
	else
		put_value(l, (uintptr_t)name);
}

/* context, ts, symbol */
static void put_end(struct line *l)
{
	put_value(l, address_code(line_has(l, HAS_CONTEXT), l->b->context[l->row], 0));
	put_value(l, line_has(l, HAS_TICKS) ? l->b->ticks[l->row] : 0);
	if (l->job->options.with_symbols)
		put_symbol(l);
	if (l->values == NULL)
		text_char(l->out, '\n');
}

static void put_ldst(struct line *l, const struct spe_op *op)
{
	unsigned level = put_start(l);

	put_value(l, op->is_atomic);
	put_value(l, op->is_exclusive);
	put_value(l, op->is_acquire_release);
	put_value(l, op_code_of(l));
	put_value(l, op->is_sve ? op->vector_bits : 0);
	put_value(l, op->is_predicated);
	put_value(l, op->is_gather_scatter);
	put_value(l, events_of(l));
	put_latencies(l);
	put_data_address(l, level);
	put_value(l, line_has(l, HAS_XLAT) ? l->b->xlat[l->row] : 0);
	spe_parser_put_address(l, line_has(l, HAS_PA), l->b->pa[l->row], 0);
	put_value(l, line_has(l, HAS_SOURCE) ? (uint64_t)l->b->source[l->row] + 1 : 0);
	put_end(l);
}

static void put_branch(struct line *l, const struct spe_op *op)
{
	unsigned target_level = line_has(l, HAS_TARGET) ? batch_target_level(l->b, l->row) : 0;
	unsigned prev_level =
		line_has(l, HAS_PREV_TARGET) ? batch_prev_target_level(l->b, l->row) : 0;

	put_start(l);
	put_value(l, op->is_conditional);
	put_value(l, op->is_indirect);
	put_value(l, events_of(l));
	put_latencies(l);
	spe_parser_put_address(l, line_has(l, HAS_TARGET), l->b->target[l->row], target_level);
	put_value(l, target_level);
	spe_parser_put_address(l, line_has(l, HAS_PREV_TARGET), l->b->prev_target[l->row],
			       prev_level);
	put_value(l, prev_level);
	put_end(l);
}

static void put_other(struct line *l, const struct spe_op *op)
{
	put_start(l);
	put_value(l, op_code_of(l));
	put_value(l, op->is_sve ? op->vector_bits : 0);
	put_value(l, op->is_sve && op->is_predicated);
	put_value(l, op->is_sve && op->is_fp);
	put_value(l, op->is_conditional);
	put_value(l, events_of(l));
	put_latencies(l);
	put_end(l);
}

/* The file and writer for each operation class. */
static const struct {
	enum spe_parser_file file;
	void (*put)(struct line *, const struct spe_op *);
} files_by_class[] = {
	[SPE_OP_OTHER] = { SPE_PARSER_OTHER, put_other },
	[SPE_OP_LDST] = { SPE_PARSER_LDST, put_ldst },
	[SPE_OP_BRANCH] = { SPE_PARSER_BR, put_branch },
};

static size_t n_columns_of(const struct parser_job *job, int file)
{
	return files[file].n - !job->options.with_symbols;
}

/* The texts of a unit: of csv one for each file, of Parquet two for each column of each file. */
static struct text *texts_of_file(const struct parser_job *job, int file, struct text *texts)
{
	if (!job->options.is_parquet)
		return texts + file;
	for (int i = 0; i < file; i++)
		texts += 2 * n_columns_of(job, i);
	return texts;
}

/* Records without an operation are in none of the files. */
static void spe_parser_render(void *context, unsigned worker, const struct batch *b,
			      struct text *texts)
{
	const struct parser_job *job = context;

	(void)worker;
	if (b->kind != BATCH_SPE)
		return;
	for (size_t row = 0; row < b->n; row++) {
		uint8_t class = b->op_class[row];
		struct line line = { .job = job, .b = b, .row = row, .is_first = true };
		struct spe_op op;

		if (!(b->has[row] & HAS_OP) || class >= COUNT(files_by_class))
			continue;
		op = spe_op_of(class, b->op[row]);
		line.out = texts_of_file(job, files_by_class[class].file, texts);
		line.column = files[files_by_class[class].file].columns;
		if (job->options.is_parquet)
			line.values = parquet_values_in(line.out);
		files_by_class[class].put(&line, &op);
	}
}

/* A symbol may hold anything; spe-parser quotes nothing but the names of its columns. */
static int spe_parser_write_header(struct parser_job *job, enum spe_parser_file file)
{
	struct text header = { 0 };
	int rc;

	for (size_t i = 0; i < n_columns_of(job, file); i++)
		text_format(&header, "%s\"%s\"", i > 0 ? "," : "", files[file].columns[i].name);
	text_char(&header, '\n');
	rc = job->sink(job->context, file, &header);
	text_release(&header);
	job->has_header[file] = true;
	return rc;
}

static int write_pieces(void *context, const struct text *texts)
{
	struct parser_job *job = context;

	for (int file = 0; file < SPE_PARSER_N_FILES; file++) {
		if (texts[file].n == 0)
			continue;
		if (!job->has_header[file] &&
		    spe_parser_write_header(job, (enum spe_parser_file)file) < 0)
			return -1;
		if (job->sink(job->context, (enum spe_parser_file)file, &texts[file]) < 0)
			return -1;
	}
	return 0;
}

static int write_parquet_bytes(void *context, const struct text *bytes)
{
	const struct parser_output *output = context;

	return output->job->sink(output->job->context, output->file, bytes);
}

static void open_writers(struct parser_job *job, struct pool *pool)
{
	for (int file = 0; file < SPE_PARSER_N_FILES; file++) {
		struct parquet_column columns[MAX_COLUMNS] = { 0 };

		for (size_t i = 0; i < files[file].n; i++) {
			columns[i].name = files[file].columns[i].name;
			columns[i].type = files[file].columns[i].type;
			columns[i].width = files[file].columns[i].width;
			columns[i].spell = files[file].columns[i].spell;
			columns[i].context = job;
		}
		job->outputs[file] = (struct parser_output){ job, (enum spe_parser_file)file };
		job->writers[file] = parquet_new(columns, n_columns_of(job, file), pool,
						 write_parquet_bytes, &job->outputs[file]);
		if (file > 0)
			parquet_share_memory(job->writers[file], job->writers[0]);
	}
}

static int append_columns(void *context, const struct text *texts)
{
	struct parser_job *job = context;

	for (int file = 0; file < SPE_PARSER_N_FILES; file++) {
		const struct parquet_values *values = (const struct parquet_values *)texts;

		job->has_header[file] |= values->present.n > 0;
		parquet_append(job->writers[file], values);
		texts += 2 * n_columns_of(job, file);
	}
	return 0;
}

static int write_full_groups(void *context)
{
	struct parser_job *job = context;

	for (int file = 0; file < SPE_PARSER_N_FILES; file++)
		if (parquet_write_full(job->writers[file]) < 0)
			return -1;
	return 0;
}

/* Files without rows are not written. */
static int finish_writers(struct parser_job *job, int rc)
{
	for (int file = 0; file < SPE_PARSER_N_FILES; file++) {
		if (rc == 0 && job->has_header[file])
			rc = parquet_finish(job->writers[file]);
	}
	for (int file = SPE_PARSER_N_FILES; file-- > 0;) /* the first lends its memory */
		parquet_free(job->writers[file]);
	return rc;
}

static size_t n_parquet_texts(const struct parser_job *job)
{
	size_t n = 0;

	for (int file = 0; file < SPE_PARSER_N_FILES; file++)
		n += 2 * n_columns_of(job, file);
	return n;
}

int spe_parser_run(struct session *s, const struct select *select,
		   const struct spe_parser_options *options, spe_parser_sink *sink, void *context)
{
	struct parser_job job = {
		.options = *options,
		.sink = sink,
		.context = context,
		.no_cpu = capture_is_raw(s->capture) ? 0 : UINT32_MAX,
	};
	struct scan_output output = {
		.n_texts = SPE_PARSER_N_FILES,
		.render = spe_parser_render,
		.write = write_pieces,
		.context = &job,
		.without_place = !options->with_symbols,
	};
	int rc;

	if (options->with_symbols)
		job.names = function_names_new(s);
	if (options->is_parquet) {
		open_writers(&job, s->pool);
		output.n_texts = n_parquet_texts(&job);
		output.write = append_columns;
		output.pause = write_full_groups;
		output.pause_bytes = export_pause_bytes(s);
	}
	rc = scan_ordered(s, select, &output);
	if (options->is_parquet)
		rc = finish_writers(&job, rc);
	function_names_free(job.names);
	return rc;
}
