/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass 1: walks all records once. Passes side-band records on; counts samples and trace data and
 * puts them into units for pass 2. Accounts for all bytes that cannot be read.
 */
#include <inttypes.h>

#include "capture/format/sample.h"
#include "capture/state.h"

/* The size of a unit of samples. */
enum { RUN_BYTES = 1 << 20 };

/* The walk gives pages back in steps of this size. */
enum { FORGET_BYTES = 4 << 20 };

struct scan {
	struct capture *capture;
	struct walk walk;
	size_t segment;
	capture_visit *visit;
	void *context;
	bool has_run; /* the last unit is a run of samples that may grow */
	struct ahead ahead;
};

/* Counts a sample. Reads only its time, which is in the cache line of the header. */
static void count_sample(struct scan *s, const struct record *r)
{
	struct capture *c = s->capture;
	const struct walk *w = &s->walk;
	uint64_t from = w->is_plain ? w->plain_start : r->position;
	struct unit *run = s->has_run ? &c->units.items[c->units.n - 1] : NULL;

	c->totals.n_samples++;
	c->totals.n_guest_samples += misc_is_of_guest(r->misc);
	see_time(events_sample_time(&c->events, r->body.pos, cur_left(&r->body)),
		 &c->totals.first_sample_ns, &c->totals.last_sample_ns);
	if (run == NULL || run->is_plain != w->is_plain || run->to - run->from >= RUN_BYTES) {
		run = vec_add(&c->units);
		run->kind = BATCH_SAMPLES;
		run->segment = s->segment;
		run->is_plain = w->is_plain;
		run->position = r->position;
		run->from = from;
		s->has_run = true;
	}
	run->to = from + r->size;
}

static void count_chunk(struct scan *s, const struct record *r)
{
	struct capture *c = s->capture;
	struct record_auxtrace header;
	struct err err;

	if (record_auxtrace_read(r, &header, &err) < 0) {
		side_band_damaged(c, r);
		return;
	}
	*vec_add(&c->chunks) = (struct aux_chunk){
		.header = header,
		.position = r->position + r->size,
		.bytes = r->body.end,
		.size = s->walk.payload,
	};
	s->has_run = false;
	c->totals.n_auxtrace++;
	c->totals.aux_bytes += s->walk.payload;
}

static struct sample_id id_of(const struct capture *c, const struct record *r)
{
	bool is_sample = r->type == RECORD_SAMPLE;
	int event;

	if (r->type >= RECORD_HEADER_ATTR)
		return (struct sample_id){ 0 };
	event = is_sample ? events_of_sample(&c->events, r->body.pos, cur_left(&r->body))
			  : events_of_trailer(&c->events, r);
	if (event < 0)
		return (struct sample_id){ 0 };
	const struct attr *attr = &c->events.list.items[event].attr;

	return is_sample ? sample_read_id(r, attr) : sample_id_read(r, attr);
}

static void scan_side_band(struct scan *s, const struct record *r)
{
	struct sample_id id = id_of(s->capture, r);

	if (id.has & HAS_TIME)
		see_time(id.time_ns, &s->capture->totals.first_ns, &s->capture->totals.last_ns);
	if (r->type == RECORD_AUXTRACE && r->size == AUXTRACE_RECORD_SIZE && !r->was_compressed)
		count_chunk(s, r);
	else
		side_band_read(s->capture, r);
	if (s->visit != NULL)
		s->visit(s->context, r, &id);
}

/* The walk continues with its contents, if they could be decompressed. */
static int scan_compressed(struct scan *s, const struct record *r, struct err *err)
{
	struct capture *c = s->capture;
	struct segment *segment = &c->segments.items[s->segment];

	if (!segment->is_inflated && segment_inflate(segment, r->position, err) < 0)
		return -1;
	if (walk_chunk_is_readable(&s->walk))
		return 0;
	if (s->walk.n_chunks == segment->chunks.n + 1 && segment->inflate_error[0] != '\0')
		capture_note(c, DIAG_DAMAGE, r->position, 0, "cannot decompress: %s",
			     segment->inflate_error);
	capture_unread(c, DIAG_DAMAGE, r, "compressed records that could not be read");
	return 0;
}

static int scan_record(struct scan *s, const struct record *r, struct err *err)
{
	struct capture_totals *t = &s->capture->totals;

	t->n_records++;
	if (r->type < N_RECORD_TYPES)
		t->by_type[r->type]++;
	if (!r->was_compressed)
		t->record_bytes += r->size + s->walk.payload;
	if (s->walk.missing > 0)
		capture_note(s->capture, DIAG_DAMAGE, r->position, 0,
			     "the data behind the last record is cut off: %" PRIu64
			     " bytes of it are not there",
			     s->walk.missing);
	if (r->type == RECORD_SAMPLE)
		count_sample(s, r);
	else if (!r->was_compressed && is_compressed(r->type))
		return scan_compressed(s, r, err);
	else
		scan_side_band(s, r);
	return 0;
}

/* The walk is at the start of the stretch, and then at its end. */
static int take_stretch(struct scan *s, const struct stretch *st, struct err *err)
{
	struct capture_totals *t = &s->capture->totals;
	struct record r;

	t->n_records += st->n_samples;
	t->by_type[RECORD_SAMPLE] += st->n_samples;
	t->record_bytes += st->sample_bytes;
	t->n_samples += st->n_samples;
	t->n_guest_samples += st->n_guest_samples;
	see_time(st->first_ns, &t->first_sample_ns, &t->last_sample_ns);
	see_time(st->last_ns, &t->first_sample_ns, &t->last_sample_ns);
	for (size_t i = 0; i < st->units.n; i++)
		*vec_add(&s->capture->units) = st->units.items[i];
	for (size_t i = 0; i < st->others.n; i++) {
		s->walk.at = st->others.items[i];
		if (walk_next(&s->walk, &r) && scan_record(s, &r, err) < 0)
			return -1;
	}
	s->walk.at = st->to;
	s->walk.payload = 0;
	s->has_run = false;
	return 0;
}

/* Takes what was walked ahead from here on. Decompressed records are between others, so not there. */
static int take_stretches(struct scan *s, struct err *err)
{
	const struct stretch *st;

	if (s->walk.n_chunks > 0) {
		s->ahead.due = UINT64_MAX;
		return 0;
	}
	while ((st = ahead_take(&s->ahead, s->walk.at, s->walk.payload,
				s->capture->totals.n_records)) != NULL)
		if (take_stretch(s, st, err) < 0)
			return -1;
	return 0;
}

/* Diagnostics for bytes that are no record and reach to the end. */
static const char *const bad_frames[] = {
	[FRAME_CUT] = "the last record is cut off",
	[FRAME_BAD_SIZE] = "a record smaller than its header; no other is found behind it",
	[FRAME_BAD_TYPE] = "bytes that are no record; none is found behind them",
};

/* Diagnostics for bytes that are no record, with records behind them. */
static const char *const skipped_frames[] = {
	[FRAME_CUT] = "a record larger than what is left of the file; read on behind it",
	[FRAME_BAD_SIZE] = "a record smaller than its header; read on behind it",
	[FRAME_BAD_TYPE] = "bytes that are no record; read on behind them",
};

/* Is it text that the recorder printed while standard output was the capture? */
static bool is_printed_text(const uint8_t *at, uint64_t size)
{
	for (uint64_t i = 0; i < size && i < 64; i++)
		if ((at[i] < ' ' || at[i] > '~') && at[i] != '\n')
			return false;
	return true;
}

/*
 * Counts the bytes behind the place where the walk ended. A truncated record is normal in a stream,
 * or if the recorder was killed.
 */
static void account_for_rest(struct capture *c, const struct segment *s, const struct walk *w)
{
	bool is_file = !c->header.is_pipe && s->base == 0;
	uint64_t rest = s->end - w->at;

	if (w->stop == FRAME_OK || rest == 0)
		return;
	if (w->stop == FRAME_BAD_TYPE && is_printed_text(segment_at(s, w->at), rest))
		diags_add(&c->diags, DIAG_NOTE, w->at, rest,
			  "text behind the last record, printed by the recorder; ignored");
	else if (is_file && c->header.data.size == 0)
		diags_add(&c->diags, DIAG_LOSS, w->at, rest,
			  "the recorder did not finish the file; read up to here");
	else if (!is_file && w->stop == FRAME_CUT)
		diags_add(&c->diags, DIAG_LOSS, w->at, rest,
			  "the stream ends inside a record; read up to there");
	else
		diags_add(&c->diags, DIAG_DAMAGE, w->at, rest, bad_frames[w->stop]);
}

/* The same for decompressed records. Their bytes are not in the file, so 0 bytes are counted. */
static void account_for_plain(struct capture *c, const struct segment *s, const struct walk *w)
{
	uint64_t at = s->chunks.n == 0 ? s->start : s->chunks.items[w->chunk].position;

	if (w->plain_at == w->plain_end)
		return;
	capture_note(c, DIAG_DAMAGE, at, 0, "decompressed: %s",
		     bad_frames[w->plain_stop == FRAME_OK ? FRAME_CUT : w->plain_stop]);
}

/* Gives back pages before `position`. `forgotten`: where the last call ended; returns the same. */
static uint64_t forget_behind(const struct capture *c, uint64_t forgotten, uint64_t position)
{
	if (position < forgotten + FORGET_BYTES)
		return forgotten;
	capture_forget(c, forgotten, position);
	return position;
}

/* Counts bytes between two records that are no record. */
static void account_for_skipped(struct scan *s, const struct record *r)
{
	const struct segment *segment = &s->capture->segments.items[s->segment];
	uint64_t size = s->walk.skipped, at = r->position - size;

	if (s->walk.skipped_for == FRAME_BAD_TYPE && is_printed_text(segment_at(segment, at), size))
		diags_add(&s->capture->diags, DIAG_NOTE, at, size,
			  "text between records, printed by the recorder; ignored");
	else
		diags_add(&s->capture->diags, DIAG_DAMAGE, at, size,
			  skipped_frames[s->walk.skipped_for]);
	s->has_run = false;
}

static int scan_segment(struct scan *s, struct err *err)
{
	struct capture *c = s->capture;
	const struct segment *segment = &c->segments.items[s->segment];
	struct record r;

	uint64_t forgotten = segment->start, behind;

	s->has_run = false;
	walk_start(&s->walk, segment);
	ahead_start(&s->ahead, c, s->segment);
	while (walk_next(&s->walk, &r)) {
		if (s->walk.skipped > 0)
			account_for_skipped(s, &r);
		if (scan_record(s, &r, err) < 0)
			return -1;
		if (s->walk.at >= s->ahead.due && take_stretches(s, err) < 0)
			return -1;
		behind = forget_behind(c, forgotten, r.position);
		if (behind == forgotten)
			continue;
		progress_add(c->progress, behind - forgotten);
		forgotten = behind;
	}
	/* data missing in a file that should be larger, or in the last record */
	c->totals.missing_bytes += segment->missing > 0 ? segment->missing : s->walk.missing;
	if (segment->missing > 0)
		capture_note(c, DIAG_DAMAGE, segment->end, 0,
			     "the file is cut off: its records take %" PRIu64 " bytes, %" PRIu64
			     " of them are there",
			     segment->end - segment->start + segment->missing,
			     segment->end - segment->start);
	account_for_rest(c, segment, &s->walk);
	account_for_plain(c, segment, &s->walk);
	return 0;
}

/* Fails if there are bytes of records, but none could be read. */
static int check_something_was_read(const struct capture *c, struct err *err)
{
	const struct segment *s = &c->segments.items[0];

	if (c->totals.n_records > 0)
		return 0;
	if (!c->header.is_pipe && c->header.data.offset > s->size)
		return err_set(err, ERR_FORMAT, s->size,
			       "%s: cut off at %" PRIu64
			       " bytes, in front of the records at 0x%" PRIx64,
			       c->path, s->size, c->header.data.offset);
	if (s->end == s->start && s->missing == 0)
		return 0;
	return err_set(err, ERR_FORMAT, s->start,
		       "%s: no record could be read: %" PRIu64 " bytes at 0x%" PRIx64
		       " are not what they should be",
		       c->path, s->end - s->start, s->start);
}

void capture_set_progress(struct capture *c, struct progress *p)
{
	c->progress = p;
}

void capture_set_pool(struct capture *c, struct pool *p)
{
	c->pool = p;
}

static uint64_t bytes_to_walk(const struct capture *c)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->segments.n; i++)
		bytes += c->segments.items[i].end - c->segments.items[i].start;
	return bytes;
}

int capture_scan(struct capture *c, capture_visit *visit, void *context, struct err *err)
{
	struct scan s = { .capture = c, .visit = visit, .context = context };
	int rc = 0;

	capture_choose_kept(c);
	if (c->is_raw) {
		raw_scan(c);
		return 0;
	}
	c->totals.header_bytes = c->segments.items[0].start;
	if (!c->header.is_pipe) {
		meta_attrs(c);
		meta_features(c);
	}
	progress_begin(c->progress, "reading", bytes_to_walk(c));
	for (s.segment = 0; s.segment < c->segments.n && rc == 0; s.segment++)
		rc = scan_segment(&s, err);
	progress_end(c->progress);
	ahead_release(&s.ahead);
	if (rc < 0)
		return err_within(err, "%s", c->path);
	see_time(c->totals.first_sample_ns, &c->totals.first_ns, &c->totals.last_ns);
	see_time(c->totals.last_sample_ns, &c->totals.first_ns, &c->totals.last_ns);
	meta_name_events(c);
	if (c->events.has_mixed_layout)
		diags_add(&c->diags, DIAG_DAMAGE, ERR_NOWHERE, 0,
			  "the events do not agree on where records carry their id");
	traces_finish(c);
	spe_info_finish(c);
	units_finish(c);
	return check_something_was_read(c, err);
}

static void walk_segment(const struct capture *c, const struct segment *segment,
			 capture_visit *visit, void *context)
{
	uint64_t forgotten = segment->start;
	struct walk w;
	struct record r;

	walk_start(&w, segment);
	while (walk_next(&w, &r)) {
		forgotten = forget_behind(c, forgotten, r.position);
		if (!r.was_compressed && is_compressed(r.type))
			continue;
		struct sample_id id = id_of(c, &r);

		visit(context, &r, &id);
	}
}

void capture_walk(const struct capture *c, capture_visit *visit, void *context)
{
	for (size_t i = 0; i < c->segments.n && !c->is_raw; i++)
		walk_segment(c, &c->segments.items[i], visit, context);
}
