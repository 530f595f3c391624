/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

void fixture_hot(struct table *t)
{
	static const struct column columns[] = {
		{ "function", "", "", CELL_TEXT, COLUMN_GROW, "name of the function" },
		{ "line", "", "", CELL_TEXT, COLUMN_GROW | COLUMN_PATH, "source file and line" },
		{ "share", NULL, "", CELL_NUMBER, COLUMN_BAR | COLUMN_SHARE | COLUMN_TRUST,
		  "share of all latency" },
		{ "latency_cycles", "latency", "cycles", CELL_COUNT, 0, "sum of latencies" },
		{ "time_ns", "time", "ns", CELL_NUMBER, 0, "time spent" },
		{ "loads", NULL, "entries", CELL_COUNT, 0, "loads among them" },
		{ "ipc", "IPC", "", CELL_NUMBER, 0, "instructions per cycle" },
		{ "tid", NULL, "", CELL_COUNT, 0, "thread" },
		{ "pc", NULL, "", CELL_HEX, COLUMN_MACHINE_ONLY, "first address" },
		{ "hint", "", "", CELL_TEXT, COLUMN_TEXT_ONLY, "for people" },
		{ "change", NULL, "cycles", CELL_SIGNED, 0, "never recorded here" },
	};
	static const struct {
		const char *function, *line;
		double share;
		uint64_t cycles;
		double time_ns, ipc;
		enum cell_mark mark;
	} rows[] = {
		{ "chase", "walk.c:8", 0.719, 36800000000, 1240000, 0.22, MARK_EXACT },
		{ "main", "walk.c:15", 0.124, 1240000000, 93.9, 1.24, MARK_SCALED },
		{ "matmul_naive_with_a_rather_long_name", "/usr/src/numeric/matmul.c:10", 0.0875,
		  11245, 16.9e9, (double)NAN, MARK_SPARSE },
		{ "memcpy", NULL, 0.0002, 0, 0, 3, MARK_SATURATED },
	};

	table_init(t, "hot", "Where the time goes", columns, COUNT(columns));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cell *c = table_add_row(t);

		c[0] = cell_text(rows[i].function);
		c[1] = cell_text(rows[i].line);
		c[2] = cell_marked(cell_number(rows[i].share), rows[i].mark);
		c[3] = cell_count(rows[i].cycles);
		c[4] = cell_number(rows[i].time_ns);
		c[5] = i == 1 ? (struct cell){ 0 } : cell_count(1234 * i);
		c[6] = cell_number(rows[i].ipc);
		c[7] = cell_count(12345 + i);
		c[8] = cell_hex(0xffff800000001000 + i);
		c[9] = cell_text(i == 0 ? "!" : "");
	}
	table_note(t, "%d more functions, %.1f %%", 12, 3.8);
}

void fixture_calls(struct table *t)
{
	static const struct column columns[] = {
		{ "place", NULL, "", CELL_TEXT, COLUMN_TREE | COLUMN_GROW, "function" },
		{ "cycles", NULL, "cycles", CELL_COUNT, 0, "with callees" },
		{ "share", NULL, "", CELL_NUMBER, COLUMN_BAR | COLUMN_SHARE, "of all" },
	};
	static const struct {
		uint32_t parent;
		const char *place;
		uint64_t cycles;
	} rows[] = {
		{ ROW_NO_PARENT, "main", 1000 },
		{ ROW_NO_PARENT, "idle", 25 },
		{ 0, "parse", 600 },
		{ 0, "write", 300 },
		{ 2, "lex", 50 },
		{ 2, "read", 500 },
		{ 5, "memcpy", 400 },
	};

	table_init(t, "calls", NULL, columns, COUNT(columns));
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool is_top = rows[i].parent == ROW_NO_PARENT;
		struct cell *c = is_top ? table_add_row(t) : table_add_child(t, rows[i].parent);

		c[0] = cell_text(rows[i].place);
		c[1] = cell_marked(cell_count(rows[i].cycles),
				   i == COUNT(rows) - 1 ? MARK_SATURATED : MARK_EXACT);
		c[2] = cell_number((double)rows[i].cycles / 1000);
	}
}

void fixture_lines(struct table *lines, struct table *accesses)
{
	static const struct column line_columns[] = {
		{ "address", NULL, "", CELL_HEX, 0, "of the line" },
		{ "records", NULL, "records", CELL_COUNT, 0, "on it" },
	};
	static const struct column access_columns[] = {
		{ "address", NULL, "", CELL_HEX, 0, "of the line" },
		{ "offset", NULL, "bytes", CELL_COUNT, 0, "in the line" },
		{ "op", NULL, "", CELL_TEXT, 0, "load or store" },
	};
	struct cell *c;

	table_init(lines, "lines", "Lines", line_columns, COUNT(line_columns));
	table_init(accesses, "accesses", "Accesses", access_columns, COUNT(access_columns));
	for (uint64_t i = 0; i < 3; i++) {
		c = table_add_row(lines);
		c[0] = cell_hex(0x2000 - 64 * i);
		c[1] = cell_count(10 - i);
	}
	/* Of the first and the last line, mixed; none of the second. */
	for (uint64_t i = 0; i < 4; i++) {
		c = table_add_row(accesses);
		c[0] = cell_hex(i % 2 == 0 ? 0x1f80 : 0x2000);
		c[1] = cell_count(8 * i);
		c[2] = cell_text(i < 2 ? "load" : "store");
	}
	table_nest(lines, accesses);
}

void fixture_facts(struct table *t)
{
	static const struct column columns[] = {
		{ "name", NULL, "", CELL_TEXT, 0, "what it is" },
		{ "value", NULL, "", CELL_TEXT, 0, "the fact" },
		{ "bytes", NULL, "bytes", CELL_COUNT, 0, "how large" },
	};
	static const char *const rows[][2] = {
		{ "program", "walk  (pid 5000, 1 thread)   Neoverse N1" },
		{ "SPE", "11 245 records, every 2175 operations: loads, stores, branches, other" },
		{ "lost", "nothing" },
	};

	table_init(t, "summary", NULL, columns, COUNT(columns));
	t->style = TABLE_FACTS;
	t->is_keyed = true;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cell *c = table_add_row(t);

		c[0] = cell_text(rows[i][0]);
		c[1] = cell_text(rows[i][1]);
		if (i == 1)
			c[2] = cell_count(3 << 20);
	}
}

void fixture_findings(struct table *t)
{
	static const struct column columns[] = {
		{ "claim", NULL, "", CELL_TEXT, 0, "what was found" },
		{ "size", NULL, "", CELL_TEXT, 0, "how much it is" },
		{ "share", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY, "of all cycles" },
		{ "evidence", "", "", CELL_TEXT, 0, "why we think so" },
		{ "where", NULL, "", CELL_TEXT, 0, "place" },
		{ "try", NULL, "", CELL_TEXT, 0, "remedy" },
		{ "sure", NULL, "", CELL_TEXT, 0, "certainty" },
		{ "next", NULL, "", CELL_TEXT, COLUMN_COMMAND, "what would tell more" },
	};
	struct cell *c;

	table_init(t, "findings", "Findings", columns, COUNT(columns));
	t->style = TABLE_FINDINGS;
	c = table_add_row(t);
	c[0] = cell_text("83.9 % of cycles stalled in the back end");
	c[1] = cell_text("36.8 G of 43.8 G cycles");
	c[2] = cell_number(0.839);
	c[3] = cell_text("memory: 99.9 % of last-level reads miss (195 per 1000 instructions)");
	c[4] = cell_text("main+0x30  stride.c:38   ldrb w2, [x20, w19, sxtw]");
	c[5] = cell_text("the stride is regular (448 B): prefetch ahead, or shorten the stride");
	c[6] = cell_text("6 counters, no multiplexing; 41 213 samples");
	c[7] = cell_text("cyclops mem --by instruction --symfs ../root/of/others --select 'op=load "
			 "&& tot>100' --interval 2000 stride.data");
	c = table_add_row(t);
	c[0] = cell_text("one load in four walks the page tables");
	c[1] = cell_text("11 % ± 1 of all");
	c[5] = cell_text("huge pages");
	c[7] = cell_text(
		"sample what walks the page tables, with at least ten thousand samples, to "
		"find the code and the data");
}

char *fixture_render(const char *format, const struct document *d, struct table *const *list,
		     size_t n)
{
	struct tables tables = { 0 };
	struct text out = { 0 };

	for (size_t i = 0; i < n; i++)
		*vec_add(&tables.list) = list[i];
	format_document(format_find(format), d, &tables, &out);
	text_char(&out, '\0');
	vec_release(&tables.list);
	return out.bytes;
}

char *fixture_text(struct table *t, unsigned width, bool has_unicode)
{
	struct document d = { .command = "test", .version = "1" };

	d.width = width;
	d.has_unicode = has_unicode;
	return fixture_render("text", &d, &t, 1);
}
