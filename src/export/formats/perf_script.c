/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines as `perf script` prints them, so that scripts made for it read our captures: each sample in file order,
 * its call chain below it. An SPE record is one sample of the event "spe", whose period is its total latency.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "export/formats/profile.h"
#include "process/chains.h"
#include "scan/scan.h"
#include "session/function_names.h"

enum script_field {
	FIELD_COMM,
	FIELD_PID,
	FIELD_TID,
	FIELD_CPU,
	FIELD_TIME,
	FIELD_PERIOD,
	FIELD_EVENT,
	FIELD_ADDR,
	FIELD_IP,
	FIELD_SYM,
	FIELD_SYMOFF,
	FIELD_DSO,
	N_FIELDS,
};

static const char *const field_names[N_FIELDS] = {
	"comm",	 "pid",	 "tid", "cpu", "time",	 "period",
	"event", "addr", "ip",	"sym", "symoff", "dso",
};

/* What `perf script` prints by itself; the thread's id alone. */
enum { DEFAULT_FIELDS = ((1 << N_FIELDS) - 1) & ~(1 << FIELD_ADDR) & ~(1 << FIELD_PID) };

enum { COMM_WIDTH = 16, ID_WIDTH = 5, PERIOD_WIDTH = 10, HEX_WIDTH = 16, NS_IN_US = 1000 };

static const char spe_event[] = "spe";

struct script_worker {
	struct place_cache cache;
};

struct perf_script {
	struct profile *profile;
	struct function_names *names;
	uint32_t fields; /* bits by enum script_field */
	size_t event_width;
	bool is_by_position;
	struct script_worker *workers;
};

static bool has_field(const struct perf_script *s, enum script_field field)
{
	return s->fields >> field & 1;
}

static const char *field_name_at(const void *context, size_t i)
{
	(void)context;
	return i < N_FIELDS ? field_names[i] : NULL;
}

/* Reads "ip,addr,sym". -1 and an error, if one of them is no field. */
static int parse_fields(const char *text, uint32_t *out, struct err *err)
{
	uint32_t fields = 0;
	char names[128];

	while (*text != '\0') {
		size_t n = strcspn(text, ","), i = 0;

		while (i < N_FIELDS &&
		       (strlen(field_names[i]) != n || memcmp(field_names[i], text, n) != 0))
			i++;
		if (i == N_FIELDS)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--fields: there is no field '%.*s'; there are %s", (int)n,
				       text, list_words(field_name_at, NULL, names, sizeof(names)));
		fields |= 1u << i;
		text += n + (text[n] == ',');
	}
	*out = fields;
	return 0;
}

int perf_script_check_fields(const char *fields, struct err *err)
{
	uint32_t bits;

	return parse_fields(fields, &bits, err);
}

/* Appends blanks so that what comes next ends at this width. */
static void pad(struct text *out, size_t used, size_t width)
{
	if (used < width)
		text_repeat(out, ' ', width - used);
}

static void put_right(struct text *out, uint64_t value, size_t width)
{
	char digits[24];
	size_t n = put_u64(digits, value);

	pad(out, n, width);
	text_add(out, digits, n);
}

static void put_right_hex(struct text *out, uint64_t value)
{
	char digits[24];
	size_t n = put_hex_digits(digits, value, 1);

	pad(out, n, HEX_WIDTH);
	text_add(out, digits, n);
}

static void put_thread(const struct perf_script *s, const struct batch *b, size_t row,
		       bool has_chain, struct text *out)
{
	const struct timeline *timeline = s->profile->session->timeline;
	uint32_t tid = b->has[row] & HAS_TID ? b->tid[row] : UINT32_MAX;
	const char *comm = "";

	if (has_field(s, FIELD_COMM)) {
		if (b->has[row] & HAS_TID)
			comm = strings_get(
				timeline_strings(timeline),
				timeline_comm(timeline, tid,
					      attribution_row_time(s->is_by_position, b, row)));
		if (comm[0] == '\0')
			comm = ":-1";
		if (!has_chain)
			pad(out, strlen(comm), COMM_WIDTH);
		put_printable(out, comm);
		text_char(out, ' ');
	}
	if (has_field(s, FIELD_PID)) {
		text_format(out, "%*d", ID_WIDTH,
			    b->has[row] & HAS_PID ? (int32_t)b->pid[row] : -1);
		text_char(out, has_field(s, FIELD_TID) ? '/' : ' ');
	}
	if (has_field(s, FIELD_TID))
		text_format(out, has_field(s, FIELD_PID) ? "%-*d " : "%*d ", ID_WIDTH,
			    (int32_t)tid);
}

static void put_head(const struct perf_script *s, const struct batch *b, size_t row, bool has_chain,
		     struct text *out)
{
	const char *event = b->kind == BATCH_SPE ? spe_event
						 : capture_event_name(s->profile->session->capture,
								      b->event[row]);
	uint64_t period = b->kind != BATCH_SPE	    ? b->period[row]
			  : b->has[row] & HAS_TOTAL ? b->total[row]
						    : 1;

	put_thread(s, b, row, has_chain, out);
	if (has_field(s, FIELD_CPU) && b->has[row] & HAS_CPU)
		text_format(out, "[%03u] ", b->cpu[row]);
	if (has_field(s, FIELD_TIME) && b->has[row] & HAS_TIME)
		text_format(out,
			    "%5llu.%06llu: ", (unsigned long long)(b->time_ns[row] / 1000000000),
			    (unsigned long long)(b->time_ns[row] % 1000000000 / NS_IN_US));
	if (has_field(s, FIELD_PERIOD)) {
		put_right(out, period, PERIOD_WIDTH);
		text_char(out, ' ');
	}
	if (has_field(s, FIELD_EVENT)) {
		pad(out, strlen(event), s->event_width);
		put_printable(out, event);
		text_str(out, ": ");
	}
	if (has_field(s, FIELD_ADDR)) {
		put_right_hex(out, b->has[row] & HAS_VA ? b->va[row] : 0);
		text_char(out, ' ');
	}
}

/* Appends what the code is in, as perf calls it. */
static void put_file(const struct perf_script *s, struct module_id id, struct text *out)
{
	const struct modules *modules = timeline_modules(s->profile->session->timeline);
	const struct module *module = modules_get(modules, id);

	if (module->kind == MODULE_JIT && module->pid != 0)
		text_format(out, "/tmp/perf-%u.map", module->pid);
	else if (id.v == 0 || module->kind == MODULE_KERNEL_MODULE)
		put_printable(out, names_module(s->profile->session, id));
	else
		put_printable(out, strings_get(modules->strings, module->path));
}

/* The same as "ffff81054fbf name+0x1f (file)". `behind`: bytes from the place to what was recorded. */
static void put_address(const struct perf_script *s, uint64_t shown, uint64_t behind,
			uint32_t place, struct text *out)
{
	const char *function;

	if (has_field(s, FIELD_IP))
		put_right_hex(out, shown);
	if (has_field(s, FIELD_SYM)) {
		text_char(out, ' ');
		function = function_names_find(s->names, place);
		put_printable(out, function == NULL ? "[unknown]" : function);
		if (has_field(s, FIELD_SYMOFF) && function != NULL) {
			text_char(out, '+');
			text_hex(out, function_names_offset(s->names, place) + behind);
		}
	}
	if (has_field(s, FIELD_DSO)) {
		text_str(out, " (");
		put_file(s, session_place(s->profile->session, place).module, out);
		text_char(out, ')');
	}
}

/* Callers in user code are shown by their offset in the file, as perf does since 5.10. */
static void put_link(const struct perf_script *s, const struct chain_link *link, uint32_t place,
		     struct text *out)
{
	const struct modules *modules = timeline_modules(s->profile->session->timeline);
	struct place where = session_place(s->profile->session, place);
	enum module_kind kind = modules_get(modules, where.module)->kind;
	uint64_t behind = link->recorded - link->address;
	bool is_offset = kind == MODULE_FILE || kind == MODULE_VDSO;

	text_char(out, '\t');
	put_address(s, is_offset ? where.offset + behind : link->recorded, behind, place, out);
	text_char(out, '\n');
}

static void put_chain(const struct perf_script *s, struct script_worker *w, const struct batch *b,
		      size_t row, struct text *out)
{
	const struct chain_sample sample = {
		.process = b->process[row] == 0 ? PLACE_OF_NOBODY : b->process[row],
		.whose = attribution_whose_pc(b, row),
		.time_ns = attribution_row_time(s->is_by_position, b, row),
	};
	struct chain_link links[CHAIN_MAX];
	size_t n =
		chains_read(&sample, b->words.items + b->stack[row].first, b->stack[row].n, links);

	for (size_t i = 0; i < n; i++)
		put_link(s, &links[i],
			 place_cache_find(&w->cache, links[i].whose, links[i].address,
					  sample.time_ns),
			 out);
}

static bool is_place(enum script_field field)
{
	return field == FIELD_IP || field == FIELD_SYM || field == FIELD_DSO;
}

/* Is this a record that was asked for by --event? */
static bool is_chosen(const struct perf_script *s, const struct batch *b, size_t row)
{
	const struct hot_options *o = &s->profile->options->records;

	if (b->kind == BATCH_SPE)
		return !o->without_spe &&
		       (o->condition == NULL || select_matches(o->condition, b, row));
	return b->kind == BATCH_SAMPLES && !o->without_samples &&
	       (o->event < 0 || b->event[row] == (unsigned)o->event);
}

static void render_samples(void *context, unsigned worker, const struct batch *b,
			   struct text *texts)
{
	struct perf_script *s = context;
	struct script_worker *w = &s->workers[worker];
	bool has_places = false;

	for (int field = 0; field < N_FIELDS; field++)
		has_places |= is_place(field) && has_field(s, field);
	for (size_t row = 0; row < b->n; row++) {
		bool has_chain = b->kind == BATCH_SAMPLES && b->has[row] & HAS_STACK &&
				 has_field(s, FIELD_IP);

		if (!is_chosen(s, b, row))
			continue;
		put_head(s, b, row, has_chain, &texts[0]);
		if (has_chain) {
			text_char(&texts[0], '\n');
			put_chain(s, w, b, row, &texts[0]);
		} else if (has_places && b->has[row] & HAS_PC) {
			text_char(&texts[0], ' ');
			put_address(s, b->pc[row], 0, b->place[row], &texts[0]);
		}
		text_char(&texts[0], '\n');
	}
}

static int write_samples(void *context, const struct text *texts)
{
	struct perf_script *s = context;
	struct profile_writer *out = s->profile->out;

	text_add(&out->text, texts[0].bytes, texts[0].n);
	profile_writer_step(out);
	return out->rc;
}

static void find_event_width(struct perf_script *s)
{
	const struct capture *c = s->profile->session->capture;

	for (size_t i = 0; i < capture_n_events(c); i++) {
		size_t n = strlen(capture_event_name(c, i));

		s->event_width = n > s->event_width ? n : s->event_width;
	}
}

static int perf_script_write(struct profile *profile, struct err *err)
{
	const struct profile_options *o = profile->options;
	struct session *session = profile->session;
	struct perf_script s = {
		.profile = profile,
		.fields = DEFAULT_FIELDS,
		.is_by_position = timeline_is_by_position(session->timeline),
	};
	const struct scan_output output = {
		.n_texts = 1,
		.render = render_samples,
		.write = write_samples,
		.context = &s,
		.keeps_places = true,
		.with_chains = true,
	};
	unsigned n = pool_size(session->pool);

	if (o->fields != NULL)
		parse_fields(o->fields, &s.fields, err); /* was checked */
	find_event_width(&s);
	s.names = function_names_new(session);
	s.workers = mem_zalloc(n, sizeof(*s.workers));
	for (unsigned i = 0; i < n; i++)
		place_cache_init(&s.workers[i].cache, session->timeline, session->places);
	scan_ordered(session, profile->select, &output);
	for (unsigned i = 0; i < n; i++)
		place_cache_release(&s.workers[i].cache);
	free(s.workers);
	function_names_free(s.names);
	return 0;
}

const struct profile_format profile_perf_script = {
	.name = "perf-script",
	.meaning = "lines of perf script, for scripts that read these",
	.is_rows = true,
	.has_fields = true,
	.write = perf_script_write,
};
