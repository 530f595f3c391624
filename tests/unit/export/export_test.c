/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: every record as a row, in every format, whatever the number of workers. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/writer/writer.h"
#include "export/export.h"
#include "export/export_tables.h"
#include "../session/fixture.h"
#include "spe/packet.h"

#define EV(bit) (1ull << SPE_EV_##bit)

#define SPE_HEADER                                                                                 \
	"cpu,pid,tid,time_ns,ts,pc,el,op,subclass,events,total_lat,issue_lat,xlat_lat,vaddr,"      \
	"paddr,source,target,taken,context,branch,prev_target\n"

#define SAMPLES_HEADER                                                                             \
	"cpu,pid,tid,time_ns,event,period,ip,module,offset,symbol,addr,weight,data_src,"           \
	"callchain,branches,weight2,weight3,paddr\n"

/* What a sink got, and after how many pieces it refuses more. */
struct taken {
	struct text text;
	size_t n_pieces, limit;
};

static int take(void *context, const struct text *piece)
{
	struct taken *taken = context;

	if (taken->n_pieces == taken->limit)
		return -1;
	taken->n_pieces++;
	text_add(&taken->text, piece->bytes, piece->n);
	return 0;
}

/* The table as text, to be freed. */
static char *export(struct session *s, const char *table, const struct format *format,
		    const char *expression)
{
	const struct document document = { .command = "export", .version = "0" };
	struct taken taken = { .limit = SIZE_MAX };
	struct select *select = NULL;
	struct err err;

	if (expression != NULL)
		assert_int_equal(select_compile(s, expression, &select, &err), 0);
	assert_int_equal(export_run(s, select, export_table_find(table, &err), format, &document,
				    take, &taken),
			 0);
	select_free(select);
	text_char(&taken.text, '\0');
	return taken.text.bytes;
}

static void expect(struct session *s, const char *table, const struct format *format,
		   const char *expression, const char *expected)
{
	char *text = export(s, table, format, expression);

	assert_string_equal(text, expected);
	free(text);
}

/* Every column of SPE records, present and absent. */
static void test_spe(void **state)
{
	struct spe_record r[] = {
		spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED) | EV(L1D_REFILL), 300, 2000),
		spe_of(FIRST, ALPHA_THREAD, SPE_OP_BRANCH, EV(RETIRED) | EV(NOT_TAKEN), 9, 2001),
		{ .has = HAS_OP, .op_class = SPE_OP_OTHER },
		spe_of(0x400020, BETA, SPE_OP_BRANCH, EV(RETIRED), 65, 2002),
		/* It jumps always, whatever the hardware says. */
		spe_of(0x400024, BETA, SPE_OP_BRANCH, EV(RETIRED) | EV(NOT_TAKEN), 5, 2003),
	};
	struct session s;

	(void)state;
	r[0].has |= HAS_SOURCE | HAS_VA | HAS_PA | HAS_XLAT | HAS_ISSUE;
	r[0].source = 0xe;
	r[0].va = 0x1234;
	r[0].pa = 0x80001234;
	r[0].xlat = 5;
	r[0].issue = 6;
	r[1].op = 1;
	r[3].has |= HAS_TARGET | HAS_SOURCE | HAS_PREV_TARGET;
	r[3].op = 0x12; /* indirect, return */
	r[3].prev_target = 0x400018;
	r[4].op = 0x08; /* call */
	r[3].target = 0x400100;
	r[3].source = 0x1; /* means nothing on this CPU */
	open_fixture(&(struct contents){ .records = r, .n_records = COUNT(r) }, 2, &s);
	assert_ptr_equal(export_table_default(&s), export_table_find("spe", NULL));
	expect(&s, "spe", &format_csv, NULL,
	       SPE_HEADER
	       "0,100,100,2000,2000,0x400010,0,LD,GP-REG,RETIRED:L1D-REFILL,300,6,5,"
	       "0x1234,0x80001234,DRAM,,,0x64,,\n"
	       "0,100,101,2001,2001,0x700000,0,B,COND,RETIRED:NOT-TAKEN,9,,,,,,,false,0x65,,\n"
	       "1,,,,,,,OTHER,OTHER,,,,,,,,,,,,\n"
	       "1,200,200,2002,2002,0x400020,0,B,IND,RETIRED,65,,,,,0x1,0x400100,true,0xc8,"
	       "return,0x400018\n"
	       "1,200,200,2003,2003,0x400024,0,B,,RETIRED:NOT-TAKEN,5,,,,,,,true,0xc8,call,\n");
	expect(&s, "spe", &format_csv, "op=branch && tot>10",
	       SPE_HEADER
	       "1,200,200,2002,2002,0x400020,0,B,IND,RETIRED,65,,,,,0x1,0x400100,true,0xc8,"
	       "return,0x400018\n");
	expect(&s, "spe", &format_csv, "tot>10000", SPE_HEADER);
	expect(&s, "samples", &format_csv, NULL, SAMPLES_HEADER);
	close_fixture(&s);
}

static void test_samples(void **state)
{
	static const uint64_t chain[] = { (uint64_t)-512, FIRST + 4, TEXT_START + 0x20 };
	const struct sample samples[] = {
		sample_of(EVENT_CYCLES, FIRST + 4, ALPHA, 900, chain, COUNT(chain)),
		sample_of(EVENT_MISSES, TEXT_START + 8, BETA, 7, NULL, 0),
		sample_of(EVENT_MISSES, 0x10, ALPHA, 7, NULL, 0),
	};
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) }, 2, &s);
	assert_ptr_equal(export_table_default(&s), export_table_find("samples", NULL));
	expect(&s, "samples", &format_csv, NULL,
	       SAMPLES_HEADER "0,100,100,1000,cycles,900,0x700004,//anon,0x700004,first,,,,"
			      "0x700004:0x400020,,,,\n"
			      "0,200,200,1000,cache-misses,7,0x400008,/bin/beta,0x8,,,,,,,,,\n"
			      "0,100,100,1000,cache-misses,7,0x10,,,,,,,,,,,\n");
	assert_int_equal(s.n_scans, 1);
	expect(&s, "samples", &format_csv, "sym==second", SAMPLES_HEADER);
	close_fixture(&s);
}

/* Json describes the columns, and pieces without rows do not break the list. */
static void test_json(void **state)
{
	const struct spe_record r[] = {
		spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED), 3, 2000),
		spe_of(0x400020, BETA, SPE_OP_LDST, EV(RETIRED), 3, 2001),
	};
	static const char *const parts[] = {
		"\"pc\":{\"type\":\"hex\",\"unit\":\"\",\"meaning\":\"address of",
		"\"spe\":[\n{\"cpu\":1,\"pid\":200,",
		"\"context\":\"0xc8\"}\n],\n\"notes\":{}}",
	};
	struct session s;
	char *text;

	(void)state;
	open_fixture(&(struct contents){ .records = r, .n_records = COUNT(r) }, 2, &s);
	text = export(&s, "spe", &format_json, "pid==200");
	for (size_t i = 0; i < COUNT(parts); i++)
		assert_non_null(strstr(text, parts[i]));
	free(text);
	text = export(&s, "spe", &format_json, "pid==1");
	assert_non_null(strstr(text, "\"spe\":[\n],\n"));
	free(text);
	close_fixture(&s);
}

/* Names take a pass of their own: what is damaged counts once. */
static void test_damage_counts_once(void **state)
{
	struct sample samples[] = {
		sample_of(EVENT_CYCLES, FIRST, ALPHA, 1, NULL, 0),
		sample_of(EVENT_CYCLES, FIRST, ALPHA, 1, NULL, 0),
	};
	const struct diags *diags;
	struct session s;
	char *text;

	(void)state;
	samples[1].id = NO_EVENT;
	open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) }, 2, &s);
	diags = capture_diags(s.capture);
	for (int i = 0; i < 2; i++) {
		text = export(&s, "samples", &format_csv, NULL);
		free(text);
		assert_int_equal(diags->list.n, 1);
		assert_int_equal(diags->list.items[0].n, 1);
	}
	close_damaged_fixture(&s);
}

/* A buffer that is not joined to the others, as it is long: padding, and a record. */
static void write_long_buffer(struct writer *w)
{
	enum { LONG = 300 << 10 };
	const struct spe_record r = spe_of(0x400030, BETA, SPE_OP_LDST, EV(RETIRED), 3, 2002);
	uint8_t *bytes = mem_zalloc(LONG + SPE_RECORD_MAX, 1);
	struct record_auxtrace header = { .idx = 2, .tid = UINT32_MAX };

	header.size = LONG + spe_encode(&r, &spe_layout_n1, bytes + LONG);
	writer_auxtrace(w, &header, bytes);
	free(bytes);
}

/* A sink that refuses ends the export, wherever it does. */
static void test_refusal(void **state)
{
	const struct document document = { .command = "export", .version = "0" };
	const struct spe_record r[] = {
		spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED), 3, 2000),
		spe_of(0x400020, BETA, SPE_OP_LDST, EV(RETIRED), 3, 2001),
	};
	const struct export_table *table = export_table_find("spe", NULL);
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ .records = r,
					 .n_records = COUNT(r),
					 .write_more = write_long_buffer },
		     2, &s);
	for (size_t limit = 0; limit <= 4; limit++) {
		struct taken taken = { .limit = limit };
		int rc = export_run(&s, NULL, table, &format_csv, &document, take, &taken);

		assert_int_equal(rc, limit < 4 ? -1 : 0); /* head, two units, tail */
		assert_int_equal(taken.n_pieces, limit);
		text_release(&taken.text);
	}
	close_fixture(&s);
}

static void test_unknown_table(void **state)
{
	struct err err;

	(void)state;
	assert_null(export_table_find("spes", &err));
	assert_string_equal(
		err.text,
		"--table: there is no table 'spes'; there are spe, samples, branches, counts");
}

/* Names of all lengths, more of them than are kept, some with what csv quotes. */
static void spell_any(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_repeat(out, code % 3 == 0 ? '"' : 'n', code % 150);
	text_u64(out, code);
}

/* How many entries of two numbers each a row has. */
static uint32_t list_length(const struct batch *b, size_t row)
{
	return (uint32_t)(b->events[row] % 30);
}

static void put_any(const struct export_context *c, const struct batch *b,
		    const struct export_put *out)
{
	(void)c;
	uint32_t in_some = 0;

	out->rows(out->to, 4, b->events, sizeof(*b->events), b->has, HAS_EVENTS, b->n);
	for (size_t row = 0; row < b->n; row++)
		in_some |= b->has[row];
	if (!(in_some & HAS_EVENTS)) {
		out->absent(out->to, 5, b->n);
		return;
	}
	for (size_t row = 0; row < b->n; row++) {
		const struct export_list list = { b->pc, list_length(b, row), 2,
						  b->has[row] & HAS_EVENTS };

		out->list(out->to, 5, &list);
	}
}

static const struct column any_columns[] = {
	{ "count", NULL, "", CELL_COUNT, 0, "" }, { "id", NULL, "", CELL_SIGNED, 0, "" },
	{ "hex", NULL, "", CELL_HEX, 0, "" },	  { "small", NULL, "", CELL_COUNT, 0, "" },
	{ "code", NULL, "", CELL_TEXT, 0, "" },	  { "list", NULL, "", CELL_TEXT, 0, "" },
};

static const struct export_field any_fields[] = {
	EXPORT_FIELD(0, HAS_TIME, time_ns, cell_count),
	EXPORT_FIELD(1, HAS_PID, pid, export_id),
	EXPORT_FIELD(2, HAS_PC, pc, cell_hex),
	EXPORT_FIELD(3, HAS_TOTAL, total, cell_count),
};

static const struct export_code any_codes[] = {
	{ 4, PARQUET_TEXT, sizeof(uint64_t), spell_any },
	{ 5, PARQUET_UINT64_LIST, 0, NULL },
};

static const struct export_table any_table = {
	.columns = any_columns,
	.n_columns = COUNT(any_columns),
	.fields = any_fields,
	.n_fields = COUNT(any_fields),
	.codes = any_codes,
	.n_codes = COUNT(any_codes),
	.put = put_any,
};

/* Columns that no row has, by round; in an even one all other columns are in all rows. */
static const uint32_t never[] = { HAS_PID,
				  HAS_TIME | HAS_EVENTS,
				  HAS_TOTAL | HAS_EVENTS,
				  0,
				  0,
				  HAS_TIME | HAS_PID | HAS_PC | HAS_TOTAL | HAS_EVENTS };

/* Where numbers get one digit more. */
static uint64_t any_number(uint64_t i)
{
	static const uint64_t edges[] = { 99999999,   100000000,  9999999999,
					  4294967295, 4294967296, UINT64_MAX };

	return i % 13 < COUNT(edges) ? edges[i % 13] : i * i * i * 1000003;
}

static void fill_any(struct batch *b, unsigned round)
{
	batch_reset(b, BATCH_SPE);
	for (; b->n < BATCH_ROWS; b->n++) {
		size_t row = b->n;
		uint64_t i = row + (uint64_t)round * BATCH_ROWS;

		b->has[row] = i % 7 == 0 && round % 2 != 0
				      ? 0
				      : HAS_TIME | HAS_PID | HAS_PC | HAS_TOTAL | HAS_EVENTS;
		b->has[row] &= ~never[round % COUNT(never)];
		b->time_ns[row] = i % 5 == 0 ? 0 : any_number(i);
		b->pid[row] = i % 11 < 6 ? UINT32_MAX - (uint32_t)(i / 64) : (uint32_t)(i / 32);
		b->pc[row] = i % 3 == 0 ? i : i % 3 == 1 ? i << 40 : any_number(i);
		b->total[row] = (uint16_t)(i % 1200);
		b->events[row] = i % 1000;
	}
}

/* As the format writes the same cells. */
static void add_cells(struct table *t, const struct batch *b)
{
	for (size_t row = 0; row < b->n; row++) {
		struct cell *cells = table_add_row(t);
		struct text word = { 0 };

		if (b->has[row] & HAS_TIME)
			cells[0] = cell_count(b->time_ns[row]);
		if (b->has[row] & HAS_PID)
			cells[1] = export_id(b->pid[row]);
		if (b->has[row] & HAS_PC)
			cells[2] = cell_hex(b->pc[row]);
		if (b->has[row] & HAS_TOTAL)
			cells[3] = cell_count(b->total[row]);
		if (!(b->has[row] & HAS_EVENTS))
			continue;
		spell_any(NULL, b->events[row], &word);
		text_char(&word, '\0');
		cells[4] = cell_text(table_text(t, word.bytes));
		text_reset(&word);
		for (uint32_t i = 0; i < list_length(b, row); i++)
			text_format(&word, "%s0x%" PRIx64 "/0x%" PRIx64, i > 0 ? ":" : "",
				    b->pc[2 * i], b->pc[2 * i + 1]);
		text_char(&word, '\0');
		if (word.n > 1)
			cells[5] = cell_text(table_text(t, word.bytes));
		text_release(&word);
	}
}

static void test_csv_of_columns(void **state)
{
	(void)state;
	for (int is_modelled = 0; is_modelled <= 1; is_modelled++) {
		const struct document document = { .is_modelled = is_modelled != 0 };
		const struct export_context context = { 0 };
		struct csv_rows *rows = csv_rows_new(&any_table, is_modelled != 0);
		struct batch *b = batch_new();

		for (unsigned round = 0; round < 2 * COUNT(never); round++) {
			struct text direct = { 0 }, by_cells = { 0 };
			struct table t;

			fill_any(b, round);
			table_init(&t, "any", NULL, any_columns, COUNT(any_columns));
			add_cells(&t, b);
			format_csv.rows(&document, &t, true, &by_cells);
			csv_rows_add(rows, &context, b, &direct);
			assert_int_equal(direct.n, by_cells.n);
			assert_memory_equal(direct.bytes, by_cells.bytes, direct.n);
			table_release(&t);
			text_release(&direct);
			text_release(&by_cells);
		}
		batch_free(b);
		csv_rows_free(rows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spe),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_damage_counts_once),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_unknown_table),
		cmocka_unit_test(test_csv_of_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
