/* SPDX-License-Identifier: Apache-2.0 */
/* What engines are asked, and what is read of their answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fleet/dialect.h"
#include "fleet/gates.h"
#include "fleet/result.h"
#include "table/answer.h"

static const struct dialect *const dialects[] = { &dialect_duckdb, &dialect_spark,
						  &dialect_clickhouse };

static const char *script_of(const struct dialect *d, const struct fleet_query *q,
			     const struct fleet_scope *scope, const char *dataset, struct text *out)
{
	text_reset(out);
	dialect_script(d, q, scope, dataset, out);
	text_char(out, '\0');
	return out->bytes;
}

static void literals_end_where_the_text_does(void **state)
{
	static const struct {
		const char *text, *doubled, *escaped;
	} cases[] = {
		{ "plain", "'plain'", "'plain'" },
		{ "", "''", "''" },
		{ NULL, "''", "''" },
		{ "it's", "'it''s'", "'it\\'s'" },
		{ "'; DROP TABLE x; --", "'''; DROP TABLE x; --'", "'\\'; DROP TABLE x; --'" },
		{ "a\\", "'a\\'", "'a\\\\'" },
		{ "\\' OR 1", "'\\'' OR 1'", "'\\\\\\' OR 1'" },
	};
	struct text out = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (size_t d = 0; d < COUNT(dialects); d++) {
			text_reset(&out);
			dialect_literal(dialects[d], cases[i].text, &out);
			text_char(&out, '\0');
			assert_string_equal(out.bytes, dialects[d]->escapes_backslash
							       ? cases[i].escaped
							       : cases[i].doubled);
		}
	text_release(&out);
}

/* No parameter and no comment is left, and no word of another dialect. */
static void each_question_is_written_in_each_dialect(void **state)
{
	const struct fleet_scope scope = { .function = "f", .from = "a", .to = "b", .top = 3 };
	struct text out = { 0 };

	(void)state;
	for (const struct fleet_query *q = fleet_queries; q->name != NULL; q++)
		for (size_t d = 0; d < COUNT(dialects); d++) {
			const char *script = script_of(dialects[d], q, &scope, "data", &out);

			assert_null(strchr(script, '$'));
			assert_null(strstr(script, "--"));
			assert_non_null(strstr(script, "data/captures/*/*/part-*.parquet"));
			if (dialects[d] != &dialect_duckdb)
				assert_null(strstr(script, "list_contains("));
			if (dialects[d] == &dialect_spark)
				assert_null(strstr(script, "CREATE TABLE"));
		}
	text_release(&out);
}

/* What is asked for stands in the script as a literal, whatever it is. */
static void values_do_not_leave_their_quotes(void **state)
{
	const struct fleet_scope scope = { .function = "a' OR '1'='1", .host = "$function" };
	struct text out = { 0 };
	struct err err;
	const struct fleet_query *q = fleet_query_find("history", &err);
	const char *script = script_of(&dialect_duckdb, q, &scope, "it's", &out);

	(void)state;
	assert_non_null(strstr(script, "function = 'a'' OR ''1''=''1'"));
	assert_non_null(strstr(script, "'it''s/captures/"));
	assert_non_null(strstr(script, "host = '$function'")); /* values are not replaced again */
	text_release(&out);
}

static void questions_need_what_they_are_about(void **state)
{
	struct err err;
	const struct fleet_scope nothing = { 0 };

	(void)state;
	assert_null(fleet_query_find("tops", &err));
	assert_int_equal(err.code, ERR_USAGE);
	assert_int_equal(fleet_query_check(fleet_query_find("history", &err), &nothing, &err), -1);
	assert_int_equal(fleet_query_check(fleet_query_find("changed", &err), &nothing, &err), -1);
	assert_int_equal(fleet_query_check(fleet_query_find("top", &err), &nothing, &err), 0);
}

#define FACTS                                                                                      \
	"captures,hosts,first_day,last_day,records,modelled,with_losses,unscaled\n"                \
	"3,2,2026-11-01,2026-11-02,70,0,0,0\n"
#define HOSTS "event,host,machine,function,module,share,peers_share,deviations,peers\n"

static int read_answer(const char *engine, const char *text, size_t size, struct fleet_facts *facts,
		       struct table *t, struct err *err)
{
	struct err none;
	const struct fleet_query *q = fleet_query_find("hosts", &none);
	struct text answer = { 0 };
	int rc;

	text_add(&answer, text, size);
	table_init(t, "hosts", NULL, q->columns, q->n_columns);
	rc = result_read(engine_find(engine, &none), &answer, facts, t, err);
	text_release(&answer);
	return rc;
}

static void answers_become_tables(void **state)
{
	static const struct {
		const char *engine, *text;
	} cases[] = {
		{ "duckdb", FACTS HOSTS "cycles,\"a,\"\"b\",,f,m,0.5,0.25,1e1,4\n" },
		{ "clickhouse",
		  FACTS "\n" HOSTS "\"cycles\",\"a,\"\"b\",,\"f\",\"m\",0.5,0.25,10,4.0\r\n" },
		{ "spark",
		  "Response code\nResponse code\n"
		  "captures\thosts\tfirst_day\tlast_day\trecords\tmodelled\twith_losses\tunscaled\n"
		  "3\t2\t2026-11-01\t2026-11-02\t70\t0\t0\t0\n"
		  "event\thost\tmachine\tfunction\tmodule\tshare\tpeers_share\tdeviations\tpeers\n"
		  "cycles\ta,\"b\tNULL\tf\tm\t0.5\t0.25\t10.0\t4\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fleet_facts facts;
		struct table t;
		struct err err;

		assert_int_equal(read_answer(cases[i].engine, cases[i].text, strlen(cases[i].text),
					     &facts, &t, &err),
				 0);
		assert_int_equal(facts.captures, 3);
		assert_string_equal(facts.last_day, "2026-11-02");
		assert_int_equal(table_n_rows(&t), 1);
		assert_string_equal(table_cell(&t, 0, 1)->text, "a,\"b");
		assert_int_equal(table_cell(&t, 0, 2)->type, CELL_NONE);
		assert_true(table_cell(&t, 0, 7)->number == 10);
		assert_int_equal(table_cell(&t, 0, 8)->count, 4);
		table_release(&t);
	}
}

/* What stands above the table, of the rows of an engine. */
static void answers_begin_with_a_sentence(void **state)
{
	static const char latency[] =
		"machine,operation,source,records,p50,p90,p99,most,saturated_records\n";
	static const char counts[] = "machine,host,day,event,events,ipc,ipc_error,pki,pki_error,"
				     "per_cycle,per_cycle_error,running,hosts,captures\n";
	static const char coverage[] =
		"day,machine,hosts,captures,sampled_ns,sampled_share,records,lost,"
		"captures_with_losses,captures_damaged,captures_modelled,days_of_file,twice,oldest_"
		"schema,"
		"newest_schema\n";
	static const struct {
		const char *question, *head, *rows, *sentence;
	} cases[] = {
		/* few records, no source: not of these */
		{ "latency", latency,
		  "n1,OTHER,,900,500,900,900,900,0\nn1,LD,L1D,60,4,5,6,7,0\n"
		  "n1,LD,DRAM,40,300,900,4095,4095,2\nn1,LD,HITM,29,800,900,900,900,0\n"
		  "v2,LD,L2,40,20,30,40,50,0\n",
		  "LD from DRAM on n1 takes longest: median 300 cycles, 99th percentile "
		  "\xe2\x89\xa5 4 095 "
		  "cycles, 40 of 1 029 records." },
		{ "latency", latency, "n1,B,,3,5,6,7,8,0\n",
		  "B on n1 takes longest: median 5 cycles, 99th percentile 7 cycles, 3 of 3 "
		  "records." },
		{ "counts", counts, "n1,,,cycles,100,,,,,,,1,2,2\n",
		  "No IPC is known: no capture counted cycles and instructions." },
		{ "counts", counts, "n1,,,instructions,100,0.5,,,,,,1,2,2\n",
		  "IPC is 0.50 on n1." },
		{ "counts", counts,
		  "n1,a,,instructions,100,1.5,0.1,,,,,1,2,2\nn1,b,,instructions,100,0.5,,,,,,1,2,"
		  "2\n",
		  "IPC is lowest at 0.50 on b (n1), highest at 1.50 \xc2\xb1 0.10 on a (n1)." },
		{ "coverage", coverage, "2026-11-01,n1,1,1,2000000,0.0001,5,0,0,0,0,0,0,1,1\n",
		  "Sampled on 2026-11-01 (n1): 2.00 ms, less than 0.1 % of the day of its host." },
		{ "coverage", coverage,
		  "2026-11-01,n1,2,1,9000000000,0.05,5,0,0,0,0,0,0,1,1\n"
		  "2026-11-02,n1,2,1,4000000000,0.02,5,0,0,0,0,0,0,1,1\n",
		  "Least was sampled on 2026-11-02 (n1): 4.00 s, 2.0 % of the day of its hosts." },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct table t, answer;
		struct text text = { 0 };
		struct err err;
		const struct fleet_query *q = fleet_query_find(cases[i].question, &err);

		text_str(&text, cases[i].head);
		text_str(&text, cases[i].rows);
		table_init(&t, q->name, NULL, q->columns, q->n_columns);
		answer_init(&answer);
		assert_int_equal(result_read_rows(engine_find("duckdb", &err), &text, &t, &err), 0);
		q->say(&t, &answer);
		assert_string_equal(table_cell(&answer, 0, 0)->text, cases[i].sentence);
		table_release(&answer);
		table_release(&t);
		text_release(&text);
	}
}

/* An answer may end anywhere: it is read or an error, and no byte behind it is looked at. */
static void an_answer_may_be_cut_anywhere(void **state)
{
	static const char whole[] = FACTS HOSTS "cycles,\"a\"\"b\",,f,m,0.5,0.25,10,4\n";

	(void)state;
	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		struct fleet_facts facts;
		struct table t;
		struct err err;
		char *copy = mem_strndup(whole, n);

		if (read_answer("duckdb", copy, n, &facts, &t, &err) < 0)
			assert_int_equal(err.code, ERR_FORMAT);
		table_release(&t);
		free(copy);
	}
}

static void gates_are_about_one_event(void **state)
{
	static const char rows[] =
		FACTS HOSTS "cycles,a,x,f,m,0.5,0.25,10,4\ncycles,b,x,g,m,0.5,0.25,10,4\n"
			    "cycles,a,x,h,m,0.5,0.25,10,4\n";
	static const char mixed[] =
		FACTS HOSTS "cycles,a,x,f,m,0.5,0.25,10,4\nspe,b,x,g,m,0.5,0.25,10,4\n";
	struct fleet_facts facts;
	struct table t;
	struct err err;
	struct gate g;
	struct measured m;
	const struct fleet_query *hosts = fleet_query_find("hosts", &err);

	(void)state;
	assert_int_equal(gate_parse("hosts > 1", fleet_quantities, FLEET_N_QUANTITIES, &g, &err),
			 0);
	assert_int_equal(fleet_gate_check(fleet_query_find("top", &err), &g, &err), -1);
	assert_int_equal(read_answer("duckdb", rows, sizeof(rows) - 1, &facts, &t, &err), 0);
	assert_int_equal(fleet_measure(hosts, &t, &g, &m, &err), 0);
	assert_true(m.value == 2);
	table_release(&t);
	assert_int_equal(read_answer("duckdb", mixed, sizeof(mixed) - 1, &facts, &t, &err), 0);
	assert_int_equal(fleet_measure(hosts, &t, &g, &m, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_end_where_the_text_does),
		cmocka_unit_test(each_question_is_written_in_each_dialect),
		cmocka_unit_test(values_do_not_leave_their_quotes),
		cmocka_unit_test(questions_need_what_they_are_about),
		cmocka_unit_test(answers_become_tables),
		cmocka_unit_test(answers_begin_with_a_sentence),
		cmocka_unit_test(an_answer_may_be_cut_anywhere),
		cmocka_unit_test(gates_are_about_one_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
