/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/bolt.h"

#include <math.h>
#include <string.h>

#include "base/bisect.h"
#include "elf/elf_file.h"
#include "session/names.h"

enum { PIECE = 64 << 10 };

struct bolt {
	const struct edge_profile *profile;
	feedback_sink *sink;
	void *context;
	struct text text;
	struct feedback_written *written;
};

/* A number of executions as an integer; 0: too few to be written. */
static uint64_t whole(double executions)
{
	return executions > 0 && executions < 9e18 ? (uint64_t)(executions + 0.5) : 0;
}

static int flush(struct bolt *b, size_t more_than)
{
	int rc = 0;

	if (b->text.n > more_than) {
		rc = b->sink(b->context, &b->text);
		text_reset(&b->text);
		edge_profile_let_go(b->profile);
	}
	return rc;
}

/* Blanks end a name, so they are escaped, and so are backslashes. A line cannot hold a newline. */
static void put_name(struct text *t, const char *name)
{
	for (; *name != '\0'; name++) {
		if (*name == ' ' || *name == '\\')
			text_char(t, '\\');
		text_char(t, *name == '\n' ? '?' : *name);
	}
}

static void put_offset(struct text *t, uint64_t offset)
{
	text_hex_padded(t, offset, 1);
}

/* "1 main 2c": in a function of the module; "0 [libc.so.6] 0": elsewhere. */
static void put_location(struct bolt *b, struct place place)
{
	struct feedback_function f;

	if (place.module.v != b->profile->module.v || !edge_profile_symbol(b->profile, place, &f)) {
		text_str(&b->text, "0 [");
		put_name(&b->text, place.module.v == 0 ? "unknown"
						       : names_module(b->profile->evidence->session,
								      place.module));
		text_str(&b->text, "] 0");
		return;
	}
	text_str(&b->text, "1 ");
	put_name(&b->text, f.name);
	if (f.is_stub)
		text_str(&b->text, "@PLT");
	if (f.number > 0)
		text_format(&b->text, "/%u", f.number);
	text_char(&b->text, ' ');
	put_offset(&b->text, place.offset - f.from);
}

static void put_branch(struct bolt *b, struct place from, struct place to, double executions,
		       double mispredicted)
{
	uint64_t n = whole(executions),
		 n_mispredicted = isnan(mispredicted) ? 0 : whole(mispredicted);

	if (n == 0)
		return;
	put_location(b, from);
	text_char(&b->text, ' ');
	put_location(b, to);
	text_char(&b->text, ' ');
	text_u64(&b->text, n_mispredicted < n ? n_mispredicted : n);
	text_char(&b->text, ' ');
	text_u64(&b->text, n);
	text_char(&b->text, '\n');
	b->written->n_lines++;
}

/* By function: what its callers and jumps in the profile come to; to be freed by vec_release(). */
typedef VEC_OF(double) call_sums;

static void add_up_calls(const struct edge_profile *p, call_sums *out)
{
	for (size_t i = 0; i < p->functions.n; i++)
		vec_add(out);
	for (size_t i = 0; i < p->functions.n; i++) {
		const struct feedback_function *f = &p->functions.items[i];

		for (size_t k = 0; k < f->edges.n; k++) {
			const struct feedback_edge *e = &f->edges.items[k];
			const struct feedback_function *to =
				e->to.module.v == p->module.v ? edge_profile_find(p, e->to.offset)
							      : NULL;
			bool is_of_graph = to == f && e->kind != FEEDBACK_CALL;

			if (to != NULL && e->to.offset == to->from && !is_of_graph)
				out->items[to - p->functions.items] += e->executions;
		}
	}
	edge_profile_let_go(p);
}

/* Without branches: samples of each instruction. */
static int write_samples(struct bolt *b)
{
	const struct flow_evidence *e = b->profile->evidence;
	int rc = 0;

	text_str(&b->text, "no_lbr ");
	put_name(&b->text, flow_evidence_event_name(e));
	text_char(&b->text, '\n');
	for (size_t i = 0; i < b->profile->functions.n && rc == 0; i++) {
		const struct feedback_function *f = &b->profile->functions.items[i];
		size_t k =
			flow_evidence_first_other(e, (struct place){ b->profile->module, f->from });

		if (f->is_stub)
			continue;
		for (; k < e->others.n; k++) {
			const struct evidence_record *r = &e->others.items[k];

			if (r->place.module.v != b->profile->module.v || r->place.offset >= f->to)
				break;
			put_location(b, r->place);
			text_char(&b->text, ' ');
			text_u64(&b->text, r->n);
			text_char(&b->text, '\n');
			b->written->n_lines++;
		}
		b->written->n_functions++;
		rc = flush(b, PIECE);
	}
	return rc == 0 ? flush(b, 0) : rc;
}

int bolt_write_fdata(const struct edge_profile *p, feedback_sink *sink, void *context,
		     struct feedback_written *written)
{
	struct bolt b = { .profile = p, .sink = sink, .context = context, .written = written };
	call_sums from_inside = { 0 };
	int rc = 0;

	if (p->evidence->source == EVIDENCE_SAMPLES) {
		rc = write_samples(&b);
		text_release(&b.text);
		return rc;
	}
	add_up_calls(p, &from_inside);
	for (size_t i = 0; i < p->functions.n && rc == 0; i++) {
		const struct feedback_function *f = &p->functions.items[i];
		double others = f->entries - from_inside.items[i];
		size_t n_before = written->n_lines;

		if (f->is_stub)
			continue;
		put_branch(&b, (struct place){ 0 }, (struct place){ p->module, f->from }, others,
			   0);
		for (size_t k = 0; k < f->edges.n; k++)
			put_branch(&b, (struct place){ p->module, f->edges.items[k].from },
				   f->edges.items[k].to, f->edges.items[k].executions,
				   f->edges.items[k].mispredicted);
		written->n_functions += written->n_lines > n_before;
		rc = flush(&b, PIECE);
	}
	if (rc == 0)
		rc = flush(&b, 0);
	vec_release(&from_inside);
	text_release(&b.text);
	return rc;
}

/* An address of the module; of other modules their build-id, without an address. */
static void put_address(struct bolt *b, struct place place)
{
	const struct modules *modules = timeline_modules(b->profile->evidence->session->timeline);
	const struct build_id *id = &modules_get(modules, place.module)->build_id;
	char text[BUILD_ID_TEXT];

	if (place.module.v == b->profile->module.v) {
		put_offset(&b->text, edge_profile_address(b->profile, place.offset));
		return;
	}
	text_str(&b->text, place.module.v != 0 && id->size > 0 ? build_id_text(id, text) : "X");
	text_str(&b->text, ":0");
}

static void put_aggregated(struct bolt *b, const char *kind, struct place from, struct place to,
			   double executions, double mispredicted)
{
	uint64_t n = whole(executions);

	if (n == 0)
		return;
	text_str(&b->text, kind);
	text_char(&b->text, ' ');
	put_address(b, from);
	text_char(&b->text, ' ');
	put_address(b, to);
	text_char(&b->text, ' ');
	text_u64(&b->text, n);
	if (kind[0] == 'B') {
		uint64_t m = isnan(mispredicted) ? 0 : whole(mispredicted);

		text_char(&b->text, ' ');
		text_u64(&b->text, m < n ? m : n);
	}
	text_char(&b->text, '\n');
	b->written->n_lines++;
}

/* Is what begins at an offset behind a call? Then a return may have led there. */
static bool is_behind_call(const struct edge_profile *p, uint64_t offset)
{
	const struct feedback_function *f = edge_profile_find(p, offset);
	const struct code_function *code;
	size_t i;

	if (f == NULL)
		return false;
	code = flow_evidence_code(p->evidence, p->module, f->from, f->to);
	i = code_instruction_at(code, offset);
	return i > 0 && i < code->list.n && code->list.items[i - 1].flow.kind == FLOW_CALL;
}

static int write_recorded(struct bolt *b)
{
	const struct flow_evidence *e = b->profile->evidence;
	uint32_t module = b->profile->module.v;
	struct good_segment good;
	uint64_t at = 0;
	int rc = 0;

	for (size_t i = 0; i < e->branches.n && rc == 0; i++) {
		const struct evidence_branch *x = &e->branches.items[i];
		double wrong = x->n_told > 0 ? x->executions * (double)x->n_mispredicted /
						       (double)x->n_told
					     : 0;

		if (x->from.module.v != module && x->to.module.v != module)
			continue;
		put_aggregated(b, "B", x->from, x->to, x->executions, wrong);
		rc = flush(b, PIECE);
		if (i % EVIDENCE_AT_ONCE == 0)
			flow_evidence_let_go(e);
	}
	while (rc == 0 && segments_next_good(&e->stacks.segments, &at, &good)) {
		const struct segment *s = &good.segment;

		if (s->module.v != module)
			continue;
		put_aggregated(b, is_behind_call(b->profile, s->start) ? "f" : "F",
			       (struct place){ s->module, s->start },
			       (struct place){ s->module, s->end },
			       flow_evidence_executions(e, good.weight), 0);
		rc = flush(b, PIECE);
	}
	return rc;
}

/* The first instruction of the block that has an offset. */
static uint64_t block_of(const struct feedback_function *f, uint64_t offset)
{
	size_t at = bisect(0, f->blocks.n, i, f->blocks.items[i].last < offset);

	return at < f->blocks.n ? f->blocks.items[at].first : offset;
}

static int write_fitted(struct bolt *b)
{
	const struct edge_profile *p = b->profile;
	call_sums from_inside = { 0 };
	int rc = 0;

	add_up_calls(p, &from_inside);
	for (size_t i = 0; i < p->functions.n && rc == 0; i++) {
		const struct feedback_function *f = &p->functions.items[i];

		put_aggregated(b, "B", (struct place){ 0 }, (struct place){ p->module, f->from },
			       f->entries - from_inside.items[i], 0);
		for (size_t k = 0; k < f->edges.n; k++) {
			const struct feedback_edge *e = &f->edges.items[k];

			if (e->kind == FEEDBACK_NEXT)
				put_aggregated(b, "F",
					       (struct place){ p->module, block_of(f, e->from) },
					       e->to, e->executions, 0);
			else
				put_aggregated(b, "B", (struct place){ p->module, e->from }, e->to,
					       e->executions, e->mispredicted);
		}
		rc = flush(b, PIECE);
	}
	vec_release(&from_inside);
	return rc;
}

int bolt_write_aggregated(const struct edge_profile *p, feedback_sink *sink, void *context,
			  struct feedback_written *written)
{
	struct bolt b = { .profile = p, .sink = sink, .context = context, .written = written };
	int rc = p->evidence->source == EVIDENCE_STACKS ? write_recorded(&b) : write_fitted(&b);

	if (rc == 0)
		rc = flush(&b, 0);
	written->n_functions = p->functions.n;
	text_release(&b.text);
	return rc;
}
