/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/select_fields.h"

#include <stdlib.h>
#include <string.h>

#include "access/data_src.h"
#include "base/alloc.h"
#include "base/nearest.h"
#include "capture/format/branches.h"
#include "scan/select_places.h"
#include "spe/names.h"
#include "spe/packet.h"

enum { N_OPS = 4 * 256 };

/* A column of the batch, by type. */
#define NUMBER_COLUMN(name, bit)                                                                   \
	static bool number_##name(const struct session *s, const struct batch *b, size_t row,      \
				  uint64_t *out)                                                   \
	{                                                                                          \
		(void)s;                                                                           \
		*out = b->name[row];                                                               \
		return b->has[row] & (bit);                                                        \
	}

NUMBER_COLUMN(pc, HAS_PC)
NUMBER_COLUMN(va, HAS_VA)
NUMBER_COLUMN(pa, HAS_PA)
NUMBER_COLUMN(target, HAS_TARGET)
NUMBER_COLUMN(issue, HAS_ISSUE)
NUMBER_COLUMN(xlat, HAS_XLAT)
NUMBER_COLUMN(cpu, HAS_CPU)
NUMBER_COLUMN(pid, HAS_PID)
NUMBER_COLUMN(tid, HAS_TID)
NUMBER_COLUMN(period, HAS_PERIOD)
NUMBER_COLUMN(weight, HAS_WEIGHT)

/* The first part of a memory sample's weight is its latency; 0 says that there was none. */
static bool number_total(const struct session *s, const struct batch *b, size_t row, uint64_t *out)
{
	(void)s;
	if (b->kind == BATCH_SAMPLES) {
		*out = b->weight[row];
		return b->has[row] & HAS_WEIGHT && b->has[row] & HAS_DATA_SRC &&
		       b->weight[row] != 0;
	}
	*out = b->total[row];
	return b->has[row] & HAS_TOTAL;
}

static bool number_execution(const struct session *s, const struct batch *b, size_t row,
			     uint64_t *out)
{
	uint32_t need = HAS_TOTAL | HAS_ISSUE;
	uint64_t waits = b->issue[row] + (b->has[row] & HAS_XLAT ? b->xlat[row] : 0u);

	(void)s;
	if ((b->has[row] & need) != need)
		return false;
	*out = b->total[row] > waits ? b->total[row] - waits : 0;
	return true;
}

static bool number_class(const struct session *s, const struct batch *b, size_t row, uint64_t *out)
{
	(void)s;
	*out = b->op_class[row];
	return b->has[row] & HAS_OP;
}

/* The exception level of SPE records; samples say kernel or user: 1 or 0. */
static bool number_level(const struct session *s, const struct batch *b, size_t row, uint64_t *out)
{
	(void)s;
	if (b->kind == BATCH_SPE)
		*out = batch_pc_level(b, row);
	else
		*out = b->mode[row] == 1;
	return b->has[row] & HAS_PC;
}

static bool number_time(const struct session *s, const struct batch *b, size_t row, uint64_t *out)
{
	uint64_t start = capture_totals(s->capture)->first_ns;

	*out = b->time_ns[row] > start ? b->time_ns[row] - start : 0;
	return b->has[row] & HAS_TIME;
}

bool token_is_name(const struct token *t, const char *name)
{
	if (strlen(name) != t->len)
		return false;
	for (size_t i = 0; i < t->len; i++) {
		int a = name[i] == '_' ? '-' : name[i] | 0x20;
		int b = t->text[i] == '_' ? '-' : t->text[i] | 0x20;

		if (a != b)
			return false;
	}
	return true;
}

bool select_text_matches(const char *text, const struct token *value, const regex_t *pattern)
{
	if (pattern != NULL)
		return regexec(pattern, text, 0, NULL, 0) == 0;
	return strlen(text) == value->len && memcmp(text, value->text, value->len) == 0;
}

static void make_flags(struct test *t, size_t n)
{
	t->flags = mem_zalloc(n + 1, sizeof(*t->flags));
	t->n_flags = n;
}

static bool flag_of(const struct test *t, uint64_t index)
{
	return index < t->n_flags && t->flags[index];
}

static bool op_is_other(const struct spe_op *op)
{
	return !op->is_load && !op->is_store && !op->is_branch;
}

static bool op_is_vector(const struct spe_op *op)
{
	return op->is_simd || op->is_sve || op->is_sme;
}

/* Words for operations. */
#define OP_FLAG(flag)                                                                              \
	static bool op_##flag(const struct spe_op *op)                                             \
	{                                                                                          \
		return op->flag;                                                                   \
	}
OP_FLAG(is_load)
OP_FLAG(is_store)
OP_FLAG(is_branch)
OP_FLAG(is_atomic)
OP_FLAG(is_exclusive)
OP_FLAG(is_acquire_release)
OP_FLAG(is_conditional)
OP_FLAG(is_indirect)
OP_FLAG(is_call)
OP_FLAG(is_return)
OP_FLAG(is_sve)
OP_FLAG(is_sme)
OP_FLAG(is_fp)
OP_FLAG(is_simd)
OP_FLAG(is_predicated)
OP_FLAG(is_gather_scatter)

static const struct op_word {
	const char *word;
	bool (*test)(const struct spe_op *);
	unsigned access; /* the same of samples with a data source: bits of enum data_access */
} op_words[] = {
	{ "load", op_is_load, DATA_LOAD },
	{ "store", op_is_store, DATA_STORE },
	{ "branch", op_is_branch },
	{ "other", op_is_other },
	{ "atomic", op_is_atomic, DATA_LOCKED },
	{ "exclusive", op_is_exclusive },
	{ "acquire-release", op_is_acquire_release },
	{ "conditional", op_is_conditional },
	{ "indirect", op_is_indirect },
	{ "call", op_is_call },
	{ "return", op_is_return },
	{ "simd", op_is_simd },
	{ "fp", op_is_fp },
	{ "sve", op_is_sve },
	{ "sme", op_is_sme },
	{ "vector", op_is_vector },
	{ "predicated", op_is_predicated },
	{ "gather-scatter", op_is_gather_scatter },
};

static const char *op_word_at(const void *context, size_t i)
{
	(void)context;
	return i < COUNT(op_words) ? op_words[i].word : NULL;
}

/* Do all kinds of branches give the same result? */
static bool is_same_for_branches(const struct test *t)
{
	const bool *branches = t->flags + (SPE_OP_BRANCH << 8);

	for (unsigned payload = 1; payload < 256; payload++)
		if (branches[payload] != branches[0])
			return false;
	return true;
}

static int compile_op(struct session *s, struct test *t, const struct token *value,
		      const regex_t *pattern, struct err *err)
{
	char names[256];

	(void)s;
	(void)pattern;
	for (size_t i = 0; i < COUNT(op_words); i++) {
		if (!token_is_name(value, op_words[i].word))
			continue;
		t->bits = op_words[i].access;
		make_flags(t, N_OPS);
		for (unsigned op = 0; op < N_OPS; op++) {
			struct spe_op decoded = spe_op_of((uint8_t)(op >> 8), (uint8_t)op);

			t->flags[op] = op_words[i].test(&decoded);
		}
		t->by_class = is_same_for_branches(t);
		return 0;
	}
	return err_set(err, ERR_USAGE, value->at, "no operation is called '%.*s'; there are %s",
		       (int)value->len, value->text,
		       list_words(op_word_at, NULL, names, sizeof(names)));
}

static bool run_op(const struct test *t, const struct rows *r, size_t row, bool *has)
{
	const struct batch *b = r->batch;

	if (b->kind == BATCH_SAMPLES) {
		unsigned access =
			b->has[row] & HAS_DATA_SRC ? data_src_access(b->data_src[row]) : 0;

		*has = access != 0;
		return (access & t->bits) != 0;
	}
	*has = b->has[row] & HAS_OP &&
	       (b->kind != BATCH_BRANCHES || b->has[row] & HAS_BRANCH_TYPE || t->by_class);
	return *has && flag_of(t, (uint64_t)b->op_class[row] << 8 | b->op[row]);
}

/* An event is a bit of SPE records and the name of what was counted in samples. */
static int compile_event(struct session *s, struct test *t, const struct token *value,
			 const regex_t *pattern, struct err *err)
{
	size_t n = capture_n_events(s->capture);
	char *name = mem_strndup(value->text, value->len);
	int bit = pattern == NULL ? spe_event_find(name) : -1;
	bool is_known = bit >= 0;

	free(name);
	if (bit >= 0)
		t->bits = 1ull << bit;
	make_flags(t, n);
	for (size_t i = 0; i < n; i++) {
		t->flags[i] =
			select_text_matches(capture_event_name(s->capture, i), value, pattern);
		is_known |= t->flags[i];
	}
	if (is_known || pattern != NULL)
		return 0;
	return err_set(err, ERR_USAGE, value->at,
		       "'%.*s' is neither an SPE event nor an event of this capture "
		       "(its first is '%s')",
		       (int)value->len, value->text,
		       n > 0 ? capture_event_name(s->capture, 0) : "");
}

static bool run_event(const struct test *t, const struct rows *r, size_t row, bool *has)
{
	const struct batch *b = r->batch;

	if (b->kind == BATCH_SPE) {
		*has = b->has[row] & HAS_EVENTS;
		return *has && (b->events[row] & t->bits) != 0;
	}
	if (b->kind == BATCH_BRANCHES && t->bits != 0) {
		*has = b->has[row] & HAS_EVENTS && (t->bits & BRANCH_EVENTS) != 0;
		return *has && (b->events[row] & t->bits) != 0;
	}
	*has = true;
	return flag_of(t, b->event[row]);
}

/* Names of levels, without SOURCE_UNKNOWN. */
static const char *level_name_at(const void *context, size_t i)
{
	(void)context;
	return i + 1 < N_SOURCE_LEVELS ? source_level_name((enum source_level)(i + 1)) : NULL;
}

/* Does a CPU of this capture have a source of this name? */
static bool is_source_name(const struct session *s, const char *word)
{
	enum { VALUES = 256 };

	for (uint32_t cpu = 0; cpu <= SESSION_CPUS; cpu++) {
		const struct cpu *model = session_cpu_of(s, cpu < SESSION_CPUS ? cpu : UINT32_MAX);

		if (cpu > 0 && cpu < SESSION_CPUS && model == s->cpus[cpu - 1])
			continue;
		for (unsigned value = 0; value < VALUES; value++) {
			const struct cpu_source *source = cpu_source(model, (uint16_t)value);

			if (source != NULL && strcasecmp(source->name, word) == 0)
				return true;
		}
	}
	return false;
}

/* Sources differ by CPU, so the name is kept and compared by level or by the CPU's own word. */
static int compile_source(struct session *s, struct test *t, const struct token *value,
			  const regex_t *pattern, struct err *err)
{
	char names[256];

	(void)pattern;
	make_flags(t, N_SOURCE_LEVELS);
	t->low = value->kind == TOKEN_NUMBER ? value->number : UINT64_MAX;
	for (unsigned level = 1; level < N_SOURCE_LEVELS; level++) {
		t->flags[level] = token_is_name(value, source_level_name((enum source_level)level));
		if (t->flags[level])
			return 0;
	}
	if (value->kind == TOKEN_NUMBER)
		return 0;
	t->word = mem_strndup(value->text, value->len);
	if (is_source_name(s, t->word) || data_src_is_name(t->word))
		return 0;
	return err_set(err, ERR_USAGE, value->at,
		       "no data source is called '%.*s'; there are %s, or the raw number",
		       (int)value->len, value->text,
		       list_words(level_name_at, NULL, names, sizeof(names)));
}

static bool run_source(const struct test *t, const struct rows *r, size_t row, bool *has)
{
	const struct batch *b = r->batch;
	const struct cpu_source *source;

	if (b->kind == BATCH_SAMPLES) {
		source = b->has[row] & HAS_DATA_SRC ? data_src_source(b->data_src[row]) : NULL;
		*has = source != NULL && (t->word != NULL || source->level != SOURCE_UNKNOWN);
		if (!*has)
			return false;
		return t->word != NULL ? strcasecmp(source->name, t->word) == 0
				       : flag_of(t, source->level);
	}
	*has = b->has[row] & HAS_SOURCE;
	if (!*has)
		return false;
	if (t->low != UINT64_MAX)
		return b->source[row] == t->low;
	source = session_source(r->session, batch_cpu(b, row), b->source[row]);
	if (source == NULL)
		return false;
	return t->word != NULL ? strcasecmp(source->name, t->word) == 0 : flag_of(t, source->level);
}

static int compile_comm(struct session *s, struct test *t, const struct token *value,
			const regex_t *pattern, struct err *err)
{
	size_t n = timeline_n_processes(s->timeline);

	(void)err;
	make_flags(t, n);
	for (size_t i = 1; i < n; i++) {
		struct str_id comm = timeline_process(s->timeline, (uint32_t)i)->comm;

		t->flags[i] = select_text_matches(strings_get(timeline_strings(s->timeline), comm),
						  value, pattern);
	}
	return 0;
}

static bool run_comm(const struct test *t, const struct rows *r, size_t row, bool *has)
{
	*has = r->batch->has[row] & HAS_PROCESS;
	return *has && flag_of(t, r->batch->process[row]);
}

static int compile_module(struct session *s, struct test *t, const struct token *value,
			  const regex_t *pattern, struct err *err)
{
	const struct modules *modules = timeline_modules(s->timeline);

	(void)err;
	make_flags(t, modules->list.n);
	for (size_t i = 1; i < modules->list.n; i++) {
		const struct module *m = &modules->list.items[i];

		t->flags[i] =
			select_text_matches(strings_get(modules->strings, m->name), value,
					    pattern) ||
			select_text_matches(strings_get(modules->strings, m->path), value, pattern);
	}
	return 0;
}

static bool run_module(const struct test *t, const struct rows *r, size_t row, bool *has)
{
	*has = r->batch->has[row] & HAS_PLACE;
	return *has && flag_of(t, session_place(r->session, r->batch->place[row]).module.v);
}

const struct field select_fields[] = {
	{ "op", "what the operation does: load, store, branch, atomic, simd …",
	  .compile = compile_op, .run = run_op, .about = ABOUT_KIND },
	{ "class", "class of the operation: 0 other, 1 load or store, 2 branch",
	  .number = number_class, .about = ABOUT_KIND },
	{ "event", "an SPE event that happened (l1d-refill, mispredicted …), or a sample's event",
	  .compile = compile_event, .run = run_event, .has_patterns = true,
	  .about = ABOUT_OUTCOME },
	{ "source", "where the data came from: L1, L2, DRAM …", .compile = compile_source,
	  .run = run_source, .about = ABOUT_OUTCOME },
	{ "tot", "total latency in cycles; of memory samples their weight", .number = number_total,
	  .about = ABOUT_OUTCOME },
	{ "issue", "issue latency in cycles", .number = number_issue, .about = ABOUT_OUTCOME },
	{ "xlat", "translation latency in cycles", .number = number_xlat, .about = ABOUT_OUTCOME },
	{ "exec", "execution latency in cycles: tot - issue - xlat", .number = number_execution,
	  .about = ABOUT_OUTCOME },
	{ "sym", "the function's name", .compile = select_compile_symbol, .run = select_run_ranges,
	  .has_patterns = true },
	{ "line", "the source line of the instruction: walk.c:8, or walk.c",
	  .compile = select_compile_line, .run = select_run_ranges, .has_patterns = true },
	{ "module", "the file's name or path", .compile = compile_module, .run = run_module,
	  .has_patterns = true },
	{ "comm", "the process's name", .compile = compile_comm, .run = run_comm,
	  .has_patterns = true },
	{ "pc", "address of the instruction", .number = number_pc },
	{ "va", "virtual address of the data", .number = number_va },
	{ "pa", "physical address of the data", .number = number_pa },
	{ "target", "where the branch went", .number = number_target },
	{ "pid", "process id", .number = number_pid },
	{ "tid", "thread id", .number = number_tid },
	{ "cpu", "number of the cpu", .number = number_cpu },
	{ "el", "exception level: 0 user, 1 or 2 kernel", .number = number_level },
	{ "time", "time since the start of the capture: 1.5s, 20ms", .number = number_time },
	{ "period", "events that a sample represents", .number = number_period },
	{ "weight", "a sample's weight, as the CPU gives it", .number = number_weight,
	  .about = ABOUT_OUTCOME },
	{ 0 },
};

void test_release(struct test *t)
{
	free(t->word);
	free(t->flags);
	vec_release(&t->ranges);
}
