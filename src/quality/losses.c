/* SPDX-License-Identifier: Apache-2.0 */
/* Losses that the recorder noted: kind, cpu, time, amount. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/widen.h"
#include "quality/parts.h"

static const struct {
	const char *name;
	const char *unit; /* of the amount; NULL: there is none */
	const char *meaning;
} kinds[N_LOSSES] = {
	[LOSS_TRUNCATED] = { "truncated", NULL, "the SPE buffer was full, recording stopped" },
	[LOSS_COLLISION] = { "collision", NULL,
			     "samples were dropped because one before was not finished" },
	[LOSS_PARTIAL] = { "partial", NULL, "the buffer may begin or end inside a record" },
	[LOSS_EVENTS] = { "lost-records", "records", "events did not fit into the ring buffer" },
	[LOSS_SAMPLES] = { "lost-samples", "samples", "events dropped by the kernel" },
	[LOSS_THROTTLED] = { "throttled", NULL, "too many interrupts: sampling paused" },
};

static void quality_losses_add(struct losses *l, enum loss_kind kind, uint64_t amount,
			       const struct sample_id *id)
{
	uint32_t cpu = id->has & HAS_CPU ? id->cpu : UINT32_MAX;
	struct loss *loss = NULL;

	for (size_t i = 0; i < l->list.n && loss == NULL; i++)
		if (l->list.items[i].kind == kind && l->list.items[i].cpu == cpu)
			loss = &l->list.items[i];
	if (loss == NULL) {
		loss = vec_add(&l->list);
		*loss = (struct loss){ .kind = kind, .cpu = cpu, .first_ns = UINT64_MAX };
	}
	loss->n++;
	loss->amount += amount;
	l->n[kind]++;
	if (!(id->has & HAS_TIME) || id->time_ns == 0)
		return;
	widen_times(&loss->first_ns, &loss->last_ns, id->time_ns, id->time_ns);
}

static void add_aux(struct losses *l, const struct record *r, const struct sample_id *id)
{
	static const struct {
		uint64_t flag;
		enum loss_kind kind;
	} flags[] = {
		{ AUX_TRUNCATED, LOSS_TRUNCATED },
		{ AUX_COLLISION, LOSS_COLLISION },
		{ AUX_PARTIAL, LOSS_PARTIAL },
	};
	struct record_aux aux;
	struct err err;

	if (capture_is_other_trace(l->capture, capture_event_of_id(l->capture, id->id)))
		return;
	l->n_aux++;
	if (record_aux_read(r, &aux, &err) < 0)
		return;
	if (aux.flags & AUX_TRUNCATED && aux.size > l->most_truncated)
		l->most_truncated = aux.size;
	for (size_t i = 0; i < COUNT(flags); i++)
		if (aux.flags & flags[i].flag)
			quality_losses_add(l, flags[i].kind, 0, id);
}

static void add_lost(struct losses *l, const struct record *r, const struct sample_id *id)
{
	struct record_lost lost = { 0 };
	struct err err;

	if (record_lost_read(r, &lost, &err) == 0)
		quality_losses_add(l, r->type == RECORD_LOST ? LOSS_EVENTS : LOSS_SAMPLES, lost.n,
				   id);
}

static void visit(void *context, const struct record *r, const struct sample_id *id)
{
	struct losses *l = context;

	switch (r->type) {
	case RECORD_AUX:
		add_aux(l, r, id);
		break;
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
		add_lost(l, r, id);
		break;
	case RECORD_THROTTLE:
		quality_losses_add(l, LOSS_THROTTLED, 0, id);
		break;
	default:
		break;
	}
}

static int quality_losses_compare(const void *left, const void *right)
{
	const struct loss *a = left, *b = right;

	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

void losses_find(const struct capture *c, struct losses *out)
{
	*out = (struct losses){ .capture = c };
	capture_walk(c, visit, out);
	if (out->list.n > 1)
		qsort(out->list.items, out->list.n, sizeof(*out->list.items),
		      quality_losses_compare);
}

void losses_release(struct losses *l)
{
	vec_release(&l->list);
}

static const struct column columns[] = {
	{ "loss", NULL, "", CELL_TEXT, 0, "kind of loss" },
	{ "cpu", NULL, "", CELL_COUNT, 0, "number of the cpu" },
	{ "times", NULL, "times", CELL_COUNT, 0, "records of this loss" },
	{ "amount", NULL, "", CELL_COUNT, 0, "number of lost events, where recorded" },
	{ "first_ns", "first", "ns", CELL_COUNT, 0, "time from the start of the capture" },
	{ "last_ns", "last", "ns", CELL_COUNT, 0, "time from the start of the capture" },
	{ "meaning", NULL, "", CELL_TEXT, COLUMN_GROW, "text" },
};

void losses_table(const struct losses *l, const struct capture *c, struct table *out)
{
	uint64_t start = capture_totals(c)->first_ns;

	table_init(out, "losses", "Losses", columns, COUNT(columns));
	for (size_t i = 0; i < l->list.n; i++) {
		const struct loss *loss = &l->list.items[i];
		struct cell *row = table_add_row(out);

		row[0] = cell_text(kinds[loss->kind].name);
		if (loss->cpu != UINT32_MAX)
			row[1] = cell_count(loss->cpu);
		row[2] = cell_count(loss->n);
		if (kinds[loss->kind].unit != NULL)
			row[3] = cell_count(loss->amount);
		if (loss->last_ns > 0) {
			row[4] = cell_count(loss->first_ns > start ? loss->first_ns - start : 0);
			row[5] = cell_count(loss->last_ns > start ? loss->last_ns - start : 0);
		}
		row[6] = cell_text(kinds[loss->kind].meaning);
	}
}
