/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a capture: for each check, captures where it finds something and where not. */
#include "quality/quality.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../elf/elf_builder.h"
#include "../session/fixture.h"
#include "base/alloc.h"
#include "capture/writer/writer.h"
#include "estimate/estimate.h"
#include "session/interval.h"
#include "spe/packet.h"

#define EV(bit) (UINT64_C(1) << SPE_EV_##bit)

enum {
	N_RECORDS = 1200,
	N_OF_CPU = N_RECORDS / 2,
	STEP_NS = 66,
	LENGTH_NS = 40000, /* 40 slices of 1001 ns */
	JITTER = 1 << 16,
	MAX_SAMPLES = 400,
};

#define ONLY_LOADS (UINT64_C(1) << 33)

/* The i-th of N_RECORDS records, which lacks nothing; changes make others of them. */
static struct spe_record good_record(size_t i)
{
	struct spe_record r = spe_of(TEXT_START + 0x10 + i % 16 * 4, ALPHA, SPE_OP_LDST,
				     EV(RETIRED), 1000, START_NS + i % N_OF_CPU * STEP_NS);

	r.has |= HAS_VA;
	r.va = 0x10000 + i * 8;
	return r;
}

static void full_3(struct spe_record *r, size_t i)
{
	r->total = i < 3 ? 4095 : r->total;
}

static void full_2(struct spe_record *r, size_t i)
{
	r->total = i < 2 ? 4095 : r->total;
}

static void full_half(struct spe_record *r, size_t i)
{
	r->total = i % 2 == 0 ? 4095 : r->total;
}

static void no_context_12(struct spe_record *r, size_t i)
{
	r->has &= ~(i < 12 ? (uint32_t)HAS_CONTEXT : 0);
}

static void no_context_1(struct spe_record *r, size_t i)
{
	r->has &= ~(i < 1 ? (uint32_t)HAS_CONTEXT : 0);
}

static void no_context(struct spe_record *r, size_t i)
{
	(void)i;
	r->has &= ~(uint32_t)HAS_CONTEXT;
}

/* On cpu 1: of cpu 0 another record tells which thread it runs. */
static void no_thread_12(struct spe_record *r, size_t i)
{
	r->has &= ~(i >= N_RECORDS - 12 ? (uint32_t)HAS_CONTEXT : 0);
}

static void no_address_12(struct spe_record *r, size_t i)
{
	r->has &= ~(i < 12 ? (uint32_t)HAS_VA : 0);
}

static void no_address_24(struct spe_record *r, size_t i)
{
	r->has &= ~(i < 24 ? (uint32_t)HAS_VA : 0);
}

static void half_others(struct spe_record *r, size_t i)
{
	if (i % 2 == 0)
		return;
	r->op_class = SPE_OP_OTHER;
	r->has &= ~(uint32_t)HAS_VA;
}

static void no_memory(struct spe_record *r, size_t i)
{
	(void)i;
	half_others(r, 1);
}

static void no_time_12(struct spe_record *r, size_t i)
{
	r->has &= ~(i < 12 ? (uint32_t)HAS_TICKS : 0);
}

static void no_time_24(struct spe_record *r, size_t i)
{
	r->has &= ~(i < 24 ? (uint32_t)HAS_TICKS : 0);
}

static void elsewhere_12(struct spe_record *r, size_t i)
{
	r->pc = i < 12 ? 0x10 : r->pc;
}

static void elsewhere_60(struct spe_record *r, size_t i)
{
	r->pc = i < 60 ? 0x10 : r->pc;
}

static void branches_12(struct spe_record *r, size_t i)
{
	r->op_class = i < 12 ? SPE_OP_BRANCH : SPE_OP_LDST;
}

/* What would be at these times comes earlier; slices 18, 19 and 20 of both CPUs are empty. */
static void short_pause(struct spe_record *r, size_t i)
{
	size_t at = i % N_OF_CPU;

	r->ticks -= at >= 270 && at <= 330 ? 100 * STEP_NS : 0;
}

/* … 14 to 25 */
static void long_pause(struct spe_record *r, size_t i)
{
	size_t at = i % N_OF_CPU;

	r->ticks -= at >= 200 && at < 400 ? 200 * STEP_NS : 0;
}

/* Before its first record a CPU has no pause. */
static void late_start(struct spe_record *r, size_t i)
{
	size_t at = i % N_OF_CPU;

	r->ticks += at < 200 ? 200 * STEP_NS : 0;
}

static void write_aux(struct writer *w, uint64_t flags, size_t n)
{
	const struct sample_id id = { .has = HAS_TIME | HAS_CPU, .time_ns = 2000 };

	for (size_t i = 0; i < n; i++)
		writer_aux(w, &(struct record_aux){ .flags = flags }, &id);
}

static void whole_buffers(struct writer *w)
{
	write_aux(w, 0, 4);
}

static void truncated_buffer(struct writer *w)
{
	write_aux(w, 0, 3);
	write_aux(w, AUX_TRUNCATED, 1);
}

static void a_collision(struct writer *w)
{
	write_aux(w, 0, 3);
	write_aux(w, AUX_COLLISION, 1);
}

static void collisions(struct writer *w)
{
	write_aux(w, 0, 3);
	write_aux(w, AUX_COLLISION, 3);
}

static void rare_collision(struct writer *w)
{
	write_aux(w, 0, 1999);
	write_aux(w, AUX_COLLISION, 1);
}

static void lost_5(struct writer *w)
{
	writer_lost(w, &(struct record_lost){ .n = 5 }, NULL);
}

static void lost_1_of_many(struct writer *w)
{
	write_aux(w, 0, 1999);
	writer_lost(w, &(struct record_lost){ .n = 1 }, NULL);
}

static void throttled_2(struct writer *w)
{
	const uint64_t body[7] = { 2000 }; /* time, id, stream id; then the trailer */

	for (int i = 0; i < 2; i++)
		writer_record(w, RECORD_THROTTLE, 0, body, sizeof(body));
}

static void by_model(struct writer *w)
{
	writer_feature_string(w, FEATURE_HOSTNAME, "modelled");
}

#define ABSENT NULL

/* A verdict of NULL: there is no such row. Values are compared to 1e-6; below 0: not at all. */
static const struct {
	const char *name, *check, *verdict;
	double value;
	void (*change)(struct spe_record *, size_t i);
	void (*write_more)(struct writer *);
	uint64_t config[5];
	uint64_t flags;
	size_t n_records; /* the first ones; 0: all */
	size_t n_first;	  /* on cpu 0; 0: half */
	size_t n_samples; /* more than two; SIZE_MAX: no SPE records, but samples */
	uint64_t period;  /* of SPE; 0: 1024 */
} cases[] = {
	{ "good", "records", "ok", 1200 },
	{ "a thousand", "records", "ok", 1000, .n_records = 1000 },
	{ "fewer", "records", "warning", 999, .n_records = 999 },
	{ "none", "records", "note", 0, .n_samples = SIZE_MAX },

	{ "good", "modelled", ABSENT },
	{ "a model", "modelled", "note", 1, .write_more = by_model },

	{ "good", "interval", "ok", 1025 },
	{ "a frequency", "interval", "warning", 0, .flags = UINT64_C(1) << ATTR_FREQ },
	{ "another header", "interval", "warning", 1025, branches_12, .config = { ONLY_LOADS } },
	{ "none", "interval", ABSENT, .n_samples = SIZE_MAX },
	{ "short, collisions", "interval", "note", 1025, .write_more = a_collision },
	{ "short, cut", "interval", "note", 1025, .write_more = truncated_buffer },
	{ "3072, collisions", "interval", "ok", 3073, .write_more = a_collision, .period = 3072 },
	{ "long", "interval", "ok", 8193, .period = 8192 },
	{ "4096, few records", "interval", "ok", 4097, .period = 4096, .n_records = 999 },
	{ "long, few records", "interval", "note", 8193, .period = 8192, .n_records = 999 },

	{ "good", "filters", "ok", 0 },
	{ "kinds", "filters", "note", 1, .config = { ONLY_LOADS } },
	{ "events", "filters", "warning", 1, .config = { 0, EV(RETIRED) } },
	{ "latency", "filters", "warning", 1, .config = { 0, 0, 1000 } },
	{ "another header", "filters", "warning", 0.01, branches_12, .config = { ONLY_LOADS } },
	{ "another header", "filters", "warning", 1, .config = { 0, 0, 1001 } },

	{ "good", "truncated", "ok", 0, .write_more = whole_buffers },
	{ "full", "truncated", "warning", 0.25, .write_more = truncated_buffer },
	{ "collisions are none", "truncated", "ok", 0, .write_more = a_collision },
	{ "good", "collisions", "ok", 0, .write_more = whole_buffers },
	{ "full ones are none", "collisions", "ok", 0, .write_more = truncated_buffer },
	{ "rare", "collisions", "ok", 0.0005, .write_more = rare_collision },
	{ "some", "collisions", "note", 0.25, .write_more = a_collision },
	{ "many", "collisions", "warning", 0.5, .write_more = collisions },

	{ "good", "lost", "ok", 0 },
	{ "few of many", "lost", "note", -1, .write_more = lost_5, .n_samples = 300 },
	{ "many", "lost", "warning", -1, .write_more = lost_5 },
	{ "one of thousands", "lost", "note", -1, .write_more = lost_1_of_many },
	{ "good", "throttled", "ok", 0 },
	{ "throttled", "throttled", "warning", 2, .write_more = throttled_2 },
	{ "good", "damage", ABSENT },
	{ "good", "not-decoded", ABSENT },

	{ "good", "saturated", "ok", 0 },
	{ "a few", "saturated", "ok", 8190. / (1198000 + 8190), full_2 },
	{ "more", "saturated", "note", 12285. / (1197000 + 12285), full_3 },
	{ "half", "saturated", "warning", 4095. / 5095, full_half },

	/* There is no code to be seen: the interval may beat with a loop or not. */
	{ "no jitter", "bias", "note", 0 },
	{ "jitter", "bias", "ok", 0, .config = { JITTER } },
	{ "no jitter, filtered", "bias", "note", 0, .config = { ONLY_LOADS } },
	{ "jitter, filtered", "bias", "ok", 0, .config = { JITTER | ONLY_LOADS } },

	{ "good", "context", "ok", 0 },
	{ "hardly", "context", "ok", 1. / 1200, no_context_1 },
	{ "some", "context", "note", 0.01, no_context_12 },
	{ "all", "context", "note", 1, no_context },
	{ "good", "thread", "ok", 0 },
	{ "those that another record tells", "thread", "ok", 0, no_context_12 },
	{ "some", "thread", "note", 12. / 1202, no_thread_12 },
	{ "all of a cpu", "thread", "warning", 600. / 1202, no_context },
	{ "good", "address", "ok", 0 },
	{ "some", "address", "note", 0.01, no_address_12 },
	{ "more", "address", "warning", 0.02, no_address_24 },
	{ "of what is no access", "address", "ok", 0, half_others },
	{ "no accesses", "address", "n/a", -1, no_memory },
	{ "good", "time", "ok", 0 },
	{ "some", "time", "note", 0.01, no_time_12 },
	{ "more", "time", "warning", 0.02, no_time_24 },
	{ "no records", "time", "n/a", -1, .n_samples = SIZE_MAX },
	{ "good", "place", "ok", 0 },
	{ "some", "place", "note", 12. / 1202, elsewhere_12 },
	{ "more", "place", "warning", 60. / 1202, elsewhere_60 },

	{ "good", "coverage", "ok", 1 },
	{ "a pause", "coverage", "note", 37. / 40, short_pause },
	{ "a long pause", "coverage", "warning", 28. / 40, long_pause },
	{ "a late start", "coverage", "ok", 1, late_start },
	{ "good", "balance", "ok", 1 },
	{ "four to one", "balance", "ok", 0.25, .n_first = 960 },
	{ "more than that", "balance", "note", 239. / 961, .n_first = 961 },
	{ "one cpu", "balance", "ok", 1, .n_first = N_RECORDS },
	{ "none", "balance", ABSENT, .n_samples = SIZE_MAX },
};

/* One at the beginning, one at the end, the rest between them. */
static size_t make_samples(struct sample *out, size_t n)
{
	n = n == SIZE_MAX ? 2 : n + 2;
	for (size_t i = 0; i < n; i++) {
		out[i] = sample_of(EVENT_CYCLES, TEXT_START + 0x10, ALPHA, 1, NULL, 0);
		out[i].time_ns = START_NS + LENGTH_NS * i / (n - 1);
	}
	return n;
}

static void open_case(size_t i, unsigned n_workers, struct session *out)
{
	struct spe_record *records = mem_alloc(N_RECORDS, sizeof(*records));
	struct sample *samples = mem_alloc(MAX_SAMPLES, sizeof(*samples));
	struct contents contents = {
		.records = records,
		.n_records = cases[i].n_records > 0 ? cases[i].n_records : N_RECORDS,
		.n_first = cases[i].n_first,
		.samples = samples,
		.n_samples = make_samples(samples, cases[i].n_samples),
		.spe_flags = cases[i].flags,
		.spe_interval = cases[i].period,
		.write_more = cases[i].write_more,
	};

	memcpy(contents.spe_config, cases[i].config, sizeof(contents.spe_config));
	if (cases[i].n_samples == SIZE_MAX)
		contents.n_records = 0;
	for (size_t r = 0; r < contents.n_records; r++) {
		records[r] = good_record(r);
		if (cases[i].change != NULL)
			cases[i].change(&records[r], r);
	}
	open_fixture(&contents, n_workers, out);
	free(samples);
	free(records);
}

/* The row of a check, or NULL. */
static const struct cell *find_check(const struct table *t, const char *check)
{
	for (size_t row = 0; row < table_n_rows(t); row++)
		if (strcmp(table_cell(t, row, 0)->text, check) == 0)
			return table_cell(t, row, 0);
	return NULL;
}

static bool is_close(double a, double b)
{
	return a > b - 1e-6 && a < b + 1e-6;
}

static void expect_row(const struct table *t, size_t i)
{
	const struct cell *row = find_check(t, cases[i].check);

	if (cases[i].verdict == ABSENT) {
		assert_null(row);
		return;
	}
	assert_non_null(row);
	assert_string_equal(row[1].text, cases[i].verdict);
	if (strcmp(cases[i].verdict, "n/a") == 0)
		assert_int_equal(row[2].type, CELL_NONE);
	else if (cases[i].value >= 0)
		assert_true(is_close(row[2].number, cases[i].value));
}

static void each_check_has_its_verdict(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2) {
			struct quality quality = { 0 };
			struct session s;
			struct err err;

			print_message("%s: %s\n", cases[i].check, cases[i].name);
			open_case(i, n_workers, &s);
			assert_int_equal(quality_make(&s, NULL, 0, &quality, &err), 0);
			expect_row(&quality.checks, i);
			quality_release(&quality);
			close_damaged_fixture(&s);
		}
}

/* What is lost is counted by kind and CPU, and what was not is not in the table. */
static void losses_are_counted(void **state)
{
	static const struct {
		void (*write_more)(struct writer *);
		const char *kind;	/* NULL: none is there */
		uint64_t times, amount; /* UINT64_MAX: no amount is known */
	} list[] = {
		{ whole_buffers, NULL, 0, 0 },
		{ truncated_buffer, "truncated", 1, UINT64_MAX },
		{ collisions, "collision", 3, UINT64_MAX },
		{ lost_5, "lost-records", 1, 5 },
		{ throttled_2, "throttled", 2, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		const struct spe_record record = good_record(0);
		struct quality quality = { 0 };
		const struct cell *row;
		struct session s;
		struct err err;

		open_fixture(&(struct contents){ .records = &record,
						 .n_records = 1,
						 .write_more = list[i].write_more },
			     1, &s);
		assert_int_equal(quality_make(&s, NULL, 0, &quality, &err), 0);
		assert_int_equal(table_n_rows(&quality.losses), list[i].kind != NULL);
		assert_int_equal(tables_find(&quality.shown, "losses") != NULL,
				 list[i].kind != NULL);
		if (list[i].kind != NULL) {
			row = table_cell(&quality.losses, 0, 0);
			assert_string_equal(row[0].text, list[i].kind);
			assert_int_equal(row[2].count, list[i].times);
			assert_int_equal(row[3].type == CELL_NONE, list[i].amount == UINT64_MAX);
			if (list[i].amount != UINT64_MAX)
				assert_int_equal(row[3].count, list[i].amount);
		}
		quality_release(&quality);
		close_damaged_fixture(&s);
	}
}

static void small_full_buffer(struct writer *w)
{
	writer_aux(w, &(struct record_aux){ .flags = AUX_TRUNCATED, .size = 4096 },
		   &(struct sample_id){ 0 });
}

static void write_losses(struct writer *w)
{
	static const struct {
		uint64_t flags, size, time_ns;
		uint32_t cpu;
	} buffers[] = {
		{ AUX_TRUNCATED, 4096, 3000, 1 },
		{ AUX_TRUNCATED, 2 << 20, 5000, 0 },
		{ AUX_COLLISION, 8192, 2500, 1 },
		{ AUX_TRUNCATED | AUX_COLLISION, 4096, 2000, 1 },
	};

	for (size_t i = 0; i < COUNT(buffers); i++) {
		const struct sample_id id = { .has = HAS_TIME | HAS_CPU,
					      .time_ns = buffers[i].time_ns,
					      .cpu = buffers[i].cpu };

		writer_aux(
			w,
			&(struct record_aux){ .flags = buffers[i].flags, .size = buffers[i].size },
			&id);
	}
}

/* Losses of CPUs stand apart, by kind and CPU, each with its times; the largest full buffer counts for advice. */
static void losses_are_of_cpus(void **state)
{
	static const struct {
		const char *kind;
		uint64_t cpu, n, first_ns, last_ns;
	} wanted[] = {
		{ "truncated", 0, 1, 5000, 5000 },
		{ "truncated", 1, 2, 2000, 3000 },
		{ "collision", 1, 2, 2000, 2500 },
	};
	const struct spe_record record = good_record(0);
	struct quality quality = { 0 };
	struct session s;
	struct err err;

	(void)state;
	open_fixture(&(struct contents){ .records = &record,
					 .n_records = 1,
					 .write_more = write_losses },
		     1, &s);
	assert_int_equal(quality_make(&s, NULL, 0, &quality, &err), 0);
	assert_int_equal(table_n_rows(&quality.losses), COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct cell *row = table_cell(&quality.losses, i, 0);

		assert_string_equal(row[0].text, wanted[i].kind);
		assert_int_equal(row[1].count, wanted[i].cpu);
		assert_int_equal(row[2].count, wanted[i].n);
		assert_int_equal(row[4].count, wanted[i].first_ns - START_NS);
		assert_int_equal(row[5].count, wanted[i].last_ns - START_NS);
	}
	assert_null(strstr(find_check(&quality.checks, "truncated")[5].text, "less than 1 MiB"));
	quality_release(&quality);
	close_damaged_fixture(&s);
	quality = (struct quality){ 0 };
	open_fixture(&(struct contents){ .records = &record,
					 .n_records = 1,
					 .write_more = small_full_buffer },
		     1, &s);
	assert_int_equal(quality_make(&s, NULL, 0, &quality, &err), 0);
	assert_non_null(
		strstr(find_check(&quality.checks, "truncated")[5].text, "less than 1 MiB"));
	quality_release(&quality);
	close_damaged_fixture(&s);
}

/* A sample that belongs to no event cannot be read. */
static void damage_is_told(void **state)
{
	const struct sample samples[] = {
		sample_of(EVENT_CYCLES, TEXT_START, ALPHA, 1, NULL, 0),
		{ .id = NO_EVENT, .time_ns = 2000 },
	};
	const struct cell *row;
	struct quality quality = { 0 };
	struct session s;
	struct err err;

	(void)state;
	open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) }, 1, &s);
	assert_int_equal(quality_make(&s, NULL, 0, &quality, &err), 0);
	row = find_check(&quality.checks, "damage");
	assert_non_null(row);
	assert_string_equal(row[1].text, "warning");
	assert_true(row[2].number > 0 && row[2].number < 1);
	quality_release(&quality);
	close_damaged_fixture(&s);
}

/* What follows an instruction that is no branch is sampled as often, or a part as often. */
static void bias_is_found_in_code(void **state)
{
	enum { NOP = 0xd503201f, N_FIRST = 600, BYTES = 4 };
	static const uint32_t code[] = { NOP, NOP, NOP };
	static const struct {
		size_t n_next; /* of so many at the one before, 5 sigma of a quarter are 88.8 */
		uint8_t op_class;
		const char *verdict;
		double value;
		size_t n_rows;
		size_t n_branches; /* records of the first one that are of a branch all the same */
	} list[] = {
		{ 100, SPE_OP_OTHER, "ok", 0, 0 },
		{ 89, SPE_OP_OTHER, "ok", 0, 0 },
		{ 88, SPE_OP_OTHER, "warning", 600. / 688, 1 },
		{ 0, SPE_OP_OTHER, "warning", 1, 1 },
		{ 0, SPE_OP_BRANCH, "note", 0, 0 }, /* cannot be tested */
		{ 0, SPE_OP_OTHER, "note", 0, 0, 1 },
	};
	const struct built_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x10000, code, sizeof(code) },
		{ NULL },
	};
	const struct built_elf elf = { .machine = EM_AARCH64, .sections = sections };

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		struct spe_record *records = mem_alloc(2 * N_FIRST, sizeof(*records));
		char *folder = folder_make();
		uint64_t start = TEXT_START + elf_build(in_folder(folder, "bin/alpha"), &elf);
		struct quality quality = { 0 };
		const struct cell *row;
		struct session s;
		struct err err;

		for (size_t r = 0; r < N_FIRST + list[i].n_next; r++)
			records[r] =
				spe_of(start + (r < N_FIRST ? 0 : BYTES), ALPHA,
				       r < list[i].n_branches ? SPE_OP_BRANCH : list[i].op_class,
				       EV(RETIRED), 10, START_NS + r);
		open_fixture(&(struct contents){ .records = records,
						 .n_records = N_FIRST + list[i].n_next,
						 .symfs = folder },
			     2, &s);
		assert_int_equal(quality_make(&s, NULL, 0, &quality, &err), 0);
		row = find_check(&quality.checks, "bias");
		assert_string_equal(row[1].text, list[i].verdict);
		assert_true(is_close(row[2].number, list[i].value));
		assert_int_equal(table_n_rows(&quality.bias), list[i].n_rows);
		if (list[i].n_rows > 0) {
			assert_int_equal(table_cell(&quality.bias, 0, 1)->count, N_FIRST);
			assert_int_equal(table_cell(&quality.bias, 0, 2)->count, list[i].n_next);
		}
		quality_release(&quality);
		close_fixture(&s);
		folder_remove(folder);
		free(records);
	}
}

/* CPUs with their records, and functions with the limits of their shares. */
static void rows_and_cpus_have_numbers(void **state)
{
	struct spe_record records[20];
	struct quality quality = { 0 };
	const struct cell *row;
	struct session s;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++) {
		records[i] = good_record(i);
		records[i].pc = i % 4 == 0 ? FIRST : SECOND; /* 5 and 15 */
	}
	open_fixture(
		&(struct contents){ .records = records, .n_records = COUNT(records), .n_first = 4 },
		2, &s);
	assert_int_equal(quality_make(&s, NULL, 0, &quality, &err), 0);
	assert_int_equal(table_n_rows(&quality.cpus), 2);
	for (size_t cpu = 0; cpu < 2; cpu++) {
		row = table_cell(&quality.cpus, cpu, 0);
		assert_int_equal(row[0].count, cpu);
		assert_int_equal(row[1].count, cpu == 0 ? 4 : 16);
		assert_true(is_close(row[2].number, cpu == 0 ? 0.2 : 0.8));
		assert_int_equal(row[3].count, 0);
		assert_int_equal(row[4].count, START_NS + (cpu == 0 ? 0 : 4) * STEP_NS);
		assert_int_equal(row[5].count, START_NS + (cpu == 0 ? 3 : 19) * STEP_NS);
	}
	assert_int_equal(table_n_rows(&quality.rows), 2);
	for (size_t i = 0; i < 2; i++) {
		/* By Wilson, of 15 and of 5 in 20. */
		static const double low[] = { 0.531299, 0.111862 }, high[] = { 0.888138, 0.468701 };

		row = table_cell(&quality.rows, i, 0);
		assert_string_equal(row[0].text, i == 0 ? "second" : "first");
		assert_int_equal(row[2].count, i == 0 ? 15 : 5);
		assert_true(is_close(row[3].number, i == 0 ? 0.75 : 0.25));
		assert_true(is_close(row[4].number, low[i]));
		assert_true(is_close(row[5].number, high[i]));
	}
	quality_release(&quality);
	close_fixture(&s);
}

/* Any of the lost records may be of a function or not; PMU samples were not lost with them. */
static void lost_samples_widen_shares_of_records(void **state)
{
	const struct lost_samples lost = { .is_counted = true, .n = 20, .most = 20, .share = 0.5 };
	static const struct lost_samples none = { 0 };
	struct spe_record records[20];
	struct sample samples[20];
	struct quality quality = { 0 };
	struct session s;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++) {
		records[i] = good_record(i);
		records[i].pc = i % 4 == 0 ? FIRST : SECOND; /* 5 and 15 */
		samples[i] = sample_of(EVENT_CYCLES, records[i].pc, ALPHA, 1, NULL, 0);
		samples[i].time_ns = START_NS + i;
	}
	open_fixture(&(struct contents){ .records = records,
					 .n_records = COUNT(records),
					 .samples = samples,
					 .n_samples = COUNT(samples) },
		     2, &s);
	s.lost = lost;
	assert_int_equal(quality_make(&s, NULL, 0, &quality, &err), 0);
	assert_int_equal(table_n_rows(&quality.rows), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct cell *row = table_cell(&quality.rows, i, 0);
		bool is_spe = strcmp(row[6].text, "arm_spe") == 0;
		struct estimate e = estimate_share(row[2].count, 20, is_spe ? &lost : &none);

		assert_true(is_close(row[4].number, e.low));
		assert_true(is_close(row[5].number, e.high));
		assert_true(is_spe == (row[5].number - row[4].number > 0.5));
	}
	quality_release(&quality);
	close_fixture(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_check_has_its_verdict),
		cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(losses_are_of_cpus),
		cmocka_unit_test(damage_is_told),
		cmocka_unit_test(bias_is_found_in_code),
		cmocka_unit_test(rows_and_cpus_have_numbers),
		cmocka_unit_test(lost_samples_widen_shares_of_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
