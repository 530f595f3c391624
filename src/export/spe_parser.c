/* SPDX-License-Identifier: Apache-2.0 */
#include "export/spe_parser.h"

#include <string.h>

#include "base/alloc.h"
#include "scan/scan.h"
#include "spe/names.h"
#include "spe/packet.h"

const char *const spe_parser_names[SPE_PARSER_N_FILES] = { "ldst", "br", "other" };

/* clang-format off */
static const char *const headers[SPE_PARSER_N_FILES] = {
	[SPE_PARSER_LDST] =
		"\"cpu\",\"op\",\"pc\",\"el\",\"atomic\",\"excl\",\"ar\",\"subclass\",\"sve_evl\","
		"\"sve_pred\",\"sve_sg\",\"event\",\"issue_lat\",\"total_lat\",\"vaddr\","
		"\"xlat_lat\",\"paddr\",\"data_source\",\"context\",\"ts\"\n",
	[SPE_PARSER_BR] =
		"\"cpu\",\"op\",\"pc\",\"el\",\"condition\",\"indirect\",\"event\",\"issue_lat\","
		"\"total_lat\",\"br_tgt\",\"br_tgt_lvl\",\"pbt\",\"pbt_lvl\",\"context\",\"ts\"\n",
	[SPE_PARSER_OTHER] =
		"\"cpu\",\"op\",\"pc\",\"el\",\"subclass\",\"sve_evl\",\"sve_pred\",\"sve_fp\","
		"\"condition\",\"event\",\"issue_lat\",\"total_lat\",\"context\",\"ts\"\n",
};
/* clang-format on */

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

struct job {
	spe_parser_sink *sink;
	void *context;
	bool has_header[SPE_PARSER_N_FILES];
	bool is_raw; /* of a raw buffer: its records have no CPU */
};

/* A row being written. */
struct line {
	const struct batch *b;
	size_t row;
	struct text *out;
	bool is_raw;
};

static bool line_has(const struct line *l, uint32_t bits)
{
	return (l->b->has[l->row] & bits) != 0;
}

static void put_comma(const struct line *l)
{
	text_char(l->out, ',');
}

static void put_number(const struct line *l, bool is_there, uint64_t value)
{
	text_u64(l->out, is_there ? value : 0);
	put_comma(l);
}

static void put_bool(const struct line *l, bool value)
{
	text_str(l->out, value ? "true," : "false,");
}

static void spe_parser_put_word(const struct line *l, const char *word)
{
	text_str(l->out, word);
	put_comma(l);
}

/* Writes an address as spe-parser does: 56 bits as recorded, after "ff" at EL2 and nowhere else. */
static void spe_parser_put_address(const struct line *l, bool is_there, uint64_t address,
				   unsigned level)
{
	if (is_there) {
		text_str(l->out, level == 2 ? "0xff" : "0x");
		text_hex_padded(l->out, address & 0xffffffffffffff, 1);
	}
	put_comma(l);
}

/* Writes a data address with its tag. The exception level is that of the PC. */
static void put_data_address(const struct line *l, unsigned level)
{
	uint64_t address = (l->b->va[l->row] & 0xffffffffffffff) | (uint64_t)l->b->va_tag[l->row]
									   << 56;

	if (line_has(l, HAS_VA)) {
		text_str(l->out, level == 2 ? "0xff" : "0x");
		text_hex_padded(l->out, address, 1);
	}
	put_comma(l);
}

static void spe_parser_put_events(const struct line *l)
{
	if (line_has(l, HAS_EVENTS))
		spe_events_text(l->b->events[l->row] & KNOWN_EVENTS, ':', l->out);
	put_comma(l);
}

static void put_other_events(const struct line *l)
{
	uint64_t events = line_has(l, HAS_EVENTS) ? l->b->events[l->row] : 0;
	bool is_first = true;

	for (size_t i = 0; i < COUNT(other_events_by_name); i++) {
		if (!(events >> other_events_by_name[i] & 1))
			continue;
		if (!is_first)
			text_char(l->out, ':');
		text_str(l->out, spe_event_name(other_events_by_name[i]));
		is_first = false;
	}
	put_comma(l);
}

/* cpu, op, pc, el */
static unsigned put_start(const struct line *l, const struct spe_op *op)
{
	unsigned level = line_has(l, HAS_PC) ? batch_pc_level(l->b, l->row) : 0;

	if (l->is_raw)
		text_char(l->out, '0'); /* so does spe-parser --raw-buffer */
	else
		text_u64(l->out, line_has(l, HAS_CPU) ? l->b->cpu[l->row] : UINT32_MAX);
	put_comma(l);
	spe_parser_put_word(l, op->op);
	spe_parser_put_address(l, line_has(l, HAS_PC), l->b->pc[l->row], level);
	put_number(l, true, level);
	return level;
}

static void put_latencies(const struct line *l)
{
	put_number(l, line_has(l, HAS_ISSUE), l->b->issue[l->row]);
	put_number(l, line_has(l, HAS_TOTAL), l->b->total[l->row]);
}

/* context, ts */
static void put_end(const struct line *l)
{
	if (line_has(l, HAS_CONTEXT))
		text_hex(l->out, l->b->context[l->row]);
	put_comma(l);
	text_u64(l->out, line_has(l, HAS_TICKS) ? l->b->ticks[l->row] : 0);
	text_char(l->out, '\n');
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

static void put_ldst(const struct line *l, const struct spe_op *op)
{
	unsigned level = put_start(l, op);
	bool is_plain = !(op->is_atomic || op->is_exclusive || op->is_acquire_release);

	put_bool(l, op->is_atomic);
	put_bool(l, op->is_exclusive);
	put_bool(l, op->is_acquire_release);
	spe_parser_put_word(l, is_plain ? op->subclass : "");
	put_number(l, true, op->is_sve ? op->vector_bits : 0);
	put_bool(l, op->is_predicated);
	put_bool(l, op->is_gather_scatter);
	spe_parser_put_events(l);
	put_latencies(l);
	put_data_address(l, level);
	put_number(l, line_has(l, HAS_XLAT), l->b->xlat[l->row]);
	spe_parser_put_address(l, line_has(l, HAS_PA), l->b->pa[l->row], 0);
	spe_parser_put_word(
		l, line_has(l, HAS_SOURCE) ? spe_parser_source_name(l->b->source[l->row]) : "");
	put_end(l);
}

static void put_branch(const struct line *l, const struct spe_op *op)
{
	unsigned target_level = line_has(l, HAS_TARGET) ? batch_target_level(l->b, l->row) : 0;
	unsigned prev_level =
		line_has(l, HAS_PREV_TARGET) ? batch_prev_target_level(l->b, l->row) : 0;

	put_start(l, op);
	put_bool(l, op->is_conditional);
	put_bool(l, op->is_indirect);
	spe_parser_put_events(l);
	put_latencies(l);
	spe_parser_put_address(l, line_has(l, HAS_TARGET), l->b->target[l->row], target_level);
	put_number(l, true, target_level);
	spe_parser_put_address(l, line_has(l, HAS_PREV_TARGET), l->b->prev_target[l->row],
			       prev_level);
	put_number(l, true, prev_level);
	put_end(l);
}

static void put_other(const struct line *l, const struct spe_op *op)
{
	put_start(l, op);
	spe_parser_put_word(l, op->is_sve ? "SVE" : "OTHER");
	put_number(l, true, op->is_sve ? op->vector_bits : 0);
	put_bool(l, op->is_sve && op->is_predicated);
	put_bool(l, op->is_sve && op->is_fp);
	put_bool(l, op->is_conditional);
	put_other_events(l);
	put_latencies(l);
	put_end(l);
}

/* The file and writer for each operation class. */
static const struct {
	enum spe_parser_file file;
	void (*put)(const struct line *, const struct spe_op *);
} files_by_class[] = {
	[SPE_OP_OTHER] = { SPE_PARSER_OTHER, put_other },
	[SPE_OP_LDST] = { SPE_PARSER_LDST, put_ldst },
	[SPE_OP_BRANCH] = { SPE_PARSER_BR, put_branch },
};

/* Records without an operation are in none of the files. */
static void spe_parser_render(void *context, unsigned worker, const struct batch *b,
			      struct text *texts)
{
	const struct job *job = context;

	(void)worker;
	if (b->kind != BATCH_SPE)
		return;
	for (size_t row = 0; row < b->n; row++) {
		uint8_t class = b->op_class[row];
		struct line line = { .b = b, .row = row, .is_raw = job->is_raw };
		struct spe_op op;

		if (!(b->has[row] & HAS_OP) || class >= COUNT(files_by_class))
			continue;
		op = spe_op_of(class, b->op[row]);
		line.out = &texts[files_by_class[class].file];
		files_by_class[class].put(&line, &op);
	}
}

static int spe_parser_write_header(struct job *job, enum spe_parser_file file)
{
	struct text header = { 0 };
	int rc;

	text_str(&header, headers[file]);
	rc = job->sink(job->context, file, &header);
	text_release(&header);
	job->has_header[file] = true;
	return rc;
}

static int write_pieces(void *context, const struct text *texts)
{
	struct job *job = context;

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

int spe_parser_run(struct session *s, const struct select *select, spe_parser_sink *sink,
		   void *context)
{
	struct job job = {
		.sink = sink,
		.context = context,
		.is_raw = capture_is_raw(s->capture),
	};
	const struct scan_output output = {
		.n_texts = SPE_PARSER_N_FILES,
		.render = spe_parser_render,
		.write = write_pieces,
		.context = &job,
		.without_place = true,
	};

	return scan_ordered(s, select, &output);
}
