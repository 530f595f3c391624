/* SPDX-License-Identifier: Apache-2.0 */
/* Pass 2: decodes the samples and SPE records of a unit to batches. */
#include <stdlib.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "capture/state.h"
#include "spe/decode.h"

/* PERF_SAMPLE_REGS_ABI_64, and a value of misc. */
enum { ABI_64 = 2 };

/* What the samples of an event have. */
struct event_samples {
	uint32_t columns; /* HAS_x bits */
	uint64_t period;  /* of samples that do not record theirs */
	struct sample_layout layout;
	bool has_memory; /* a weight, a data source or a physical address */
};

struct unit_reader {
	const struct capture *capture;
	struct diags diags;
	const struct unit *unit;
	struct event_cache events;
	struct event_samples *of_events; /* by event */
	bool is_done;			 /* the unit has ended and its damage is counted */
	bool wants_registers, wants_stacks, wants_branches;

	/* Samples: the next record, in the same unit as unit.from. */
	uint64_t at;
	size_t chunk; /* its COMPRESSED record, if any */

	/* SPE: the next bytes. */
	size_t piece;	/* of the unit */
	uint64_t place; /* offset in the chunk */
	struct spe_decoder *decoder;
	struct spe_wanted wanted;
	const struct address_index *index; /* NULL: all records are looked at */
	struct address_cursor cursor;
};

/* Columns for bits of sample_type. */
static const struct {
	uint8_t sample_bit;
	uint32_t has;
} sample_columns[] = {
	{ SAMPLE_IP, HAS_PC },
	{ SAMPLE_TID, HAS_PID | HAS_TID },
	{ SAMPLE_TIME, HAS_TIME },
	{ SAMPLE_ADDR, HAS_VA },
	{ SAMPLE_CPU, HAS_CPU },
	{ SAMPLE_WEIGHT, HAS_WEIGHT },
	{ SAMPLE_WEIGHT_STRUCT, HAS_WEIGHT | HAS_WEIGHT_PARTS },
	{ SAMPLE_DATA_SRC, HAS_DATA_SRC },
};

static uint32_t columns_of_event(const struct attr *attr)
{
	uint32_t has = HAS_PERIOD;

	for (size_t i = 0; i < COUNT(sample_columns); i++)
		if (attr->sample_type >> sample_columns[i].sample_bit & 1)
			has |= sample_columns[i].has;
	return has;
}

static struct event_samples samples_of_event(const struct attr *attr)
{
	uint32_t columns = columns_of_event(attr);

	return (struct event_samples){
		.columns = columns,
		.period = attr->sample_period,
		.layout = sample_layout_of(attr),
		.has_memory = (columns & (HAS_WEIGHT | HAS_DATA_SRC)) != 0 ||
			      (attr->sample_type >> SAMPLE_PHYS_ADDR & 1) != 0,
	};
}

struct unit_reader *unit_reader_new(const struct capture *c)
{
	struct unit_reader *r = mem_zalloc(1, sizeof(*r));

	r->capture = c;
	r->decoder = spe_decoder_new();
	r->is_done = true;
	r->of_events = mem_alloc(c->events.list.n + 1, sizeof(*r->of_events));
	for (size_t i = 0; i < c->events.list.n; i++)
		r->of_events[i] = samples_of_event(&c->events.list.items[i].attr);
	return r;
}

void unit_reader_free(struct unit_reader *r)
{
	if (r == NULL)
		return;
	spe_decoder_free(r->decoder);
	diags_release(&r->diags);
	free(r->of_events);
	free(r);
}

void unit_reader_want_spe(struct unit_reader *r, struct spe_wanted wanted)
{
	r->wanted = wanted;
	spe_decoder_want(r->decoder, wanted);
}

void unit_reader_want_records(struct unit_reader *r, const struct address_index *index)
{
	r->index = index;
}

static void want_records_of(struct unit_reader *r, size_t unit)
{
	bool is_indexed = address_cursor_start(&r->cursor, r->index, unit, r->wanted.addresses);

	r->wanted.records = is_indexed ? &r->cursor : NULL;
	spe_decoder_want(r->decoder, r->wanted);
}

void unit_reader_want_registers(struct unit_reader *r)
{
	r->wants_registers = true;
}

void unit_reader_want_stacks(struct unit_reader *r)
{
	r->wants_stacks = true;
}

void unit_reader_want_branches(struct unit_reader *r)
{
	r->wants_branches = true;
}

static const struct aux_piece *piece_of(const struct unit_reader *r)
{
	return &r->capture->pieces.items[r->unit->first_piece + r->piece];
}

static void count_spe_damage(struct unit_reader *r)
{
	struct spe_damage d;

	spe_decoder_finish(r->decoder);
	d = spe_decoder_damage(r->decoder);
	diags_add_n(&r->diags, DIAG_DAMAGE, d.n_bad_runs, d.first_bad, d.bad_bytes,
		    "bytes in SPE data that are no packet");
	diags_add_n(&r->diags, DIAG_DAMAGE, d.n_dropped, d.first_dropped, d.dropped_bytes,
		    "SPE records that are cut or damaged");
}

static void begin_piece(struct unit_reader *r)
{
	r->place = piece_of(r)->from;
	if (!piece_of(r)->begins_stream)
		return;
	if (r->piece > 0)
		count_spe_damage(r);
	spe_decoder_reset(r->decoder);
}

void unit_reader_start(struct unit_reader *r, size_t unit)
{
	r->unit = &r->capture->units.items[unit];
	r->is_done = false;
	r->at = r->unit->from;
	r->chunk = 0;
	r->piece = 0;
	if (r->unit->kind == BATCH_SPE) {
		begin_piece(r);
		if (r->index != NULL)
			want_records_of(r, unit);
	}
}

const struct diags *unit_reader_diags(const struct unit_reader *r)
{
	return &r->diags;
}

/* Fills cpu or tid, and time, of the rows from `first` on, from their buffer. */
static void describe_rows(const struct unit_reader *r, const struct aux_chunk *chunk,
			  struct batch *b, size_t first)
{
	const struct spe_info *spe = &r->capture->spe;
	uint32_t cpu = chunk->header.cpu, tid = chunk->header.tid;
	uint32_t has = (cpu != UINT32_MAX ? HAS_CPU : 0) | (tid != UINT32_MAX ? HAS_TID : 0);

	for (size_t row = first; row < b->n; row++) {
		b->has[row] |= has;
		b->cpu[row] = cpu;
		b->tid[row] = tid;
	}
	if (!spe->has_time)
		return;
	for (size_t row = first; row < b->n; row++) {
		if (!(b->has[row] & HAS_TICKS))
			continue;
		b->time_ns[row] = time_from_ticks(&spe->time, b->ticks[row]);
		b->has[row] |= HAS_TIME;
	}
}

static void next_spe(struct unit_reader *r, struct batch *b)
{
	batch_reset(b, BATCH_SPE);
	while (!batch_is_full(b) && r->piece < r->unit->n_pieces) {
		const struct aux_piece *piece = piece_of(r);
		const struct aux_chunk *chunk = &r->capture->chunks.items[piece->chunk];
		size_t first = b->n;

		r->place +=
			spe_decode(r->decoder, chunk->bytes + r->place, piece->to - r->place,
				   chunk->position + r->place, chunk->header.offset + r->place, b);
		describe_rows(r, chunk, b, first);
		if (r->place == piece->to && ++r->piece < r->unit->n_pieces)
			begin_piece(r);
	}
}

/* Fills the addresses. A physical address of 0 means that there is none. */
static void add_addresses(struct batch *b, size_t row, const struct sample *s)
{
	b->pc[row] = s->ip;
	b->va[row] = s->addr;
	b->pa[row] = s->phys_addr;
	if (s->phys_addr != 0)
		b->has[row] |= HAS_PA;
}

static struct batch_slice unit_add_words(struct batch *b, const uint8_t *bytes, uint64_t n)
{
	struct batch_slice slice = { .first = (uint32_t)b->words.n, .n = (uint32_t)n };
	uint64_t *restrict out;

	vec_reserve(&b->words, n);
	out = b->words.items;
	for (uint64_t i = 0; i < n; i++)
		out[slice.first + i] = load_u64(bytes + i * sizeof(uint64_t));
	b->words.n += n;
	return slice;
}

static void add_slices(const struct unit_reader *r, struct batch *b, size_t row,
		       const struct sample *s)
{
	if (s->callchain.bytes != NULL) {
		b->stack[row] = unit_add_words(b, s->callchain.bytes, s->callchain.n);
		b->has[row] |= HAS_STACK;
	}
	if (r->wants_branches && s->branches.bytes != NULL) {
		b->branches[row] = unit_add_words(b, s->branches.bytes, 3 * s->branches.n);
		b->has[row] |= HAS_BRANCHES;
	}
}

/*
 * Adds the registers at the pc. In 32-bit code registers have other numbers, so they are left out.
 */
static void unit_add_registers(struct batch *b, size_t row, const struct attr *attr,
			       const struct sample *s)
{
	bool is_user = b->mode[row] == CPUMODE_USER;
	const struct sample_words *from = NULL;
	uint64_t mask = attr->sample_regs_intr;

	if (s->intr_regs_abi == ABI_64)
		from = &s->intr_regs;
	else if (is_user && s->user_regs_abi == ABI_64)
		from = &s->user_regs;
	if (from == NULL || from->bytes == NULL)
		return;
	if (from == &s->user_regs)
		mask = attr->sample_regs_user;
	b->registers[row] = unit_add_words(b, from->bytes, from->n);
	b->has[row] |= HAS_REGISTERS;
	b->register_mask[row] = mask;
}

static void add_user_stack(struct batch *b, size_t row, const struct attr *attr,
			   const struct sample *s)
{
	uint64_t used =
		s->user_stack_used < s->user_stack_size ? s->user_stack_used : s->user_stack_size;

	if (s->user_stack == NULL || s->user_regs_abi != ABI_64 || s->user_regs.bytes == NULL)
		return;
	b->user_stacks[row] = (struct batch_stack){
		.mask = attr->sample_regs_user,
		.registers = unit_add_words(b, s->user_regs.bytes, s->user_regs.n),
		.bytes = s->user_stack,
		.n_bytes = used,
	};
	b->has[row] |= HAS_USER_STACK;
}

/* The kernel writes pid and tid -1 for an exiting thread. */
static inline uint32_t columns_of_sample(uint32_t has, uint32_t pid, uint32_t tid)
{
	if (pid != UINT32_MAX && tid != UINT32_MAX)
		return has;
	return has & ~(pid == UINT32_MAX ? HAS_PID : 0u) & ~(tid == UINT32_MAX ? HAS_TID : 0u);
}

static void unit_add_sample(const struct unit_reader *r, struct batch *b,
			    const struct record *record, const struct event *event,
			    size_t event_index, const struct sample *s)
{
	size_t row = b->n++;
	bool has_period = s->sample_type >> SAMPLE_PERIOD & 1;

	b->has[row] = columns_of_sample(r->of_events[event_index].columns, s->pid, s->tid);
	b->position[row] = record->position;
	b->time_ns[row] = s->time_ns;
	b->cpu[row] = s->cpu;
	b->pid[row] = s->pid;
	b->tid[row] = s->tid;
	b->event[row] = (uint16_t)event_index;
	b->mode[row] = record->misc & MISC_CPUMODE;
	b->period[row] = has_period ? s->period : event->attr.sample_period;
	b->weight[row] = s->weight;
	b->data_src[row] = s->data_src;
	b->weight2[row] = s->weight2;
	b->weight3[row] = s->weight3;
	add_addresses(b, row, s);
	add_slices(r, b, row, s);
	if (r->wants_registers)
		unit_add_registers(b, row, &event->attr, s);
	if (r->wants_stacks)
		add_user_stack(b, row, &event->attr, s);
}

static void unit_read_sample(struct unit_reader *r, const struct record *record, struct batch *b)
{
	const struct events *events = &r->capture->events;
	int index = events_of_next_sample(events, &r->events, record->body.pos,
					  cur_left(&record->body));
	struct sample s;
	struct err err;

	if (index < 0) {
		diags_add(&r->diags, DIAG_DAMAGE, record->position, record->size,
			  "samples with an id that no event has");
		return;
	}
	const struct event *event = &events->list.items[index];
	if (sample_read(record, &event->attr, &s, &err) < 0) {
		diags_add(&r->diags, DIAG_DAMAGE, record->position, record->size,
			  "samples that do not have the layout of their event");
		return;
	}
	unit_add_sample(r, b, record, event, (size_t)index, &s);
}

/* Reads the record at `at` and moves on; false if it is no sample. */
static bool take_record(struct unit_reader *r, struct record *out)
{
	const struct segment *s = &r->capture->segments.items[r->unit->segment];
	bool is_plain = r->unit->is_plain;
	const uint8_t *bytes = is_plain ? s->plain.bytes + r->at : segment_at(s, r->at);
	struct frame f;

	if (frame_read(bytes, r->unit->to - r->at, &f) != FRAME_OK) {
		r->at = r->unit->to; /* the file has changed since pass 1 */
		return false;
	}
	frame_fetch_ahead(bytes, f.size);
	frame_fill(&f, bytes, out);
	out->position = r->at;
	out->was_compressed = is_plain;
	if (is_plain && f.type == RECORD_SAMPLE) {
		r->chunk = segment_chunk_of(s, r->at, r->chunk);
		out->position = s->chunks.items[r->chunk].position;
	}
	r->at += f.size + (is_plain ? 0 : f.payload);
	return f.type == RECORD_SAMPLE;
}

/* The weight, data source and physical address of a row. */
static void add_memory_words(const struct event_samples *e, const uint8_t *record, struct batch *b,
			     size_t row)
{
	const struct sample_layout *l = &e->layout;
	uint64_t parts = sample_word(l, record, SAMPLE_WEIGHT_STRUCT);

	b->weight[row] = sample_word(l, record, SAMPLE_WEIGHT) | (uint32_t)parts;
	b->weight2[row] = (uint16_t)(parts >> 32);
	b->weight3[row] = (uint16_t)(parts >> 48);
	b->data_src[row] = sample_word(l, record, SAMPLE_DATA_SRC);
	b->pa[row] = sample_word(l, record, SAMPLE_PHYS_ADDR);
	if (b->pa[row] != 0)
		b->has[row] |= HAS_PA;
}

/* The call chain of a row, or its branch stack where that is wanted: `bytes` of them. */
static void add_list(const struct unit_reader *r, const struct sample_layout *l,
		     const uint8_t *record, uint64_t bytes, struct batch *b, size_t row)
{
	bool is_chain = l->entry_bytes == sizeof(uint64_t);
	struct batch_slice *slices = is_chain ? b->stack : b->branches;

	if (!is_chain && !r->wants_branches)
		return;
	slices[row] = unit_add_words(b, record + l->entries, bytes / sizeof(uint64_t));
	b->has[row] |= is_chain ? HAS_STACK : HAS_BRANCHES;
}

/* Fills a row with a record with a list of so many bytes. */
static inline void add_words(const struct unit_reader *r, const struct event_samples *e,
			     const uint8_t *record, uint64_t list_bytes, struct batch *b,
			     size_t row)
{
	const struct sample_layout *l = &e->layout;
	uint64_t thread = sample_word(l, record, SAMPLE_TID);
	uint32_t pid = (uint32_t)thread, tid = (uint32_t)(thread >> 32);

	b->has[row] = columns_of_sample(e->columns, pid, tid);
	b->time_ns[row] = sample_word(l, record, SAMPLE_TIME);
	b->cpu[row] = (uint32_t)sample_word(l, record, SAMPLE_CPU);
	b->pid[row] = pid;
	b->tid[row] = tid;
	b->mode[row] = load_u16(record + sizeof(uint32_t)) & MISC_CPUMODE;
	b->period[row] =
		sample_word(l, record, SAMPLE_PERIOD) | (e->period & ~l->mask[SAMPLE_PERIOD]);
	b->pc[row] = sample_word(l, record, SAMPLE_IP);
	b->va[row] = sample_word(l, record, SAMPLE_ADDR);
	if (l->entry_bytes != 0)
		add_list(r, l, record, list_bytes, b, row);
	if (e->has_memory)
		add_memory_words(e, record + list_bytes, b, row);
}

/* Samples of words and a list, up to the first record that is none: to be read in general. */
static void take_words_samples(struct unit_reader *r, struct batch *b)
{
	const struct events *events = &r->capture->events;
	const uint8_t *first = segment_at(&r->capture->segments.items[r->unit->segment], r->at);
	const uint8_t *record = first;
	uint64_t left = r->unit->to - r->at;
	size_t row = b->n;

	while (row < BATCH_ROWS && frame_is_of_kernel(record, left)) {
		const struct frame f = frame_of_kernel(record);
		const struct event_samples *e;
		int event;

		if (f.type != RECORD_SAMPLE)
			break;
		frame_fetch_ahead(record, f.size);
		event = events_of_next_sample(events, &r->events, record + RECORD_HEADER_BYTES,
					      f.size - RECORD_HEADER_BYTES);
		if (event < 0)
			break;
		e = &r->of_events[event];
		if (!sample_has_layout(&e->layout, record, f.size))
			break;
		b->position[row] = r->at + (uint64_t)(record - first);
		b->event[row] = (uint16_t)event;
		add_words(r, e, record, f.size - e->layout.size, b, row++);
		record += f.size;
		left -= f.size;
	}
	r->at += (uint64_t)(record - first);
	b->n = row;
}

static void next_samples(struct unit_reader *r, struct batch *b)
{
	struct record record;

	batch_reset(b, BATCH_SAMPLES);
	while (!batch_is_full(b) && r->at < r->unit->to) {
		if (!r->unit->is_plain)
			take_words_samples(r, b);
		if (!batch_is_full(b) && r->at < r->unit->to && take_record(r, &record))
			unit_read_sample(r, &record, b);
	}
}

/* Gives back the pages of this unit. */
static void forget_unit(const struct unit_reader *r)
{
	const struct capture *c = r->capture;
	const struct unit *u = r->unit;

	if (u->is_plain)
		mapped_forget(&c->segments.items[u->segment].plain, u->from, u->to);
	else if (u->kind == BATCH_SAMPLES)
		capture_forget(c, u->from, u->to);
	for (size_t i = 0; i < u->n_pieces; i++) {
		const struct aux_piece *p = &c->pieces.items[u->first_piece + i];
		uint64_t position = c->chunks.items[p->chunk].position;

		capture_forget(c, position + p->from, position + p->to);
	}
}

bool unit_reader_next(struct unit_reader *r, struct batch *b)
{
	bool is_spe = r->unit != NULL && r->unit->kind == BATCH_SPE;

	if (r->is_done)
		return false;
	if (is_spe)
		next_spe(r, b);
	else
		next_samples(r, b);
	if (b->n > 0)
		return true;
	r->is_done = true;
	if (is_spe)
		count_spe_damage(r);
	forget_unit(r);
	return false;
}
