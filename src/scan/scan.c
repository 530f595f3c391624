/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/scan.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/widen.h"
#include "capture/format/branches.h"
#include "capture/format/registers.h"
#include "capture/format/sample.h"
#include "scan/spe_filters.h"
#include "spe/packet.h"
#include "unwind/unwind.h"

/* more than most machines have workers, so that these finish at about the same time */
enum { MERGE_PARTS = 16 };

/* A job ends with the unit that makes it as large. */
enum { JOB_BYTES = 256 << 10 };

struct time_span {
	uint64_t first_ns, last_ns; /* UINT64_MAX, 0: none */
};

/* What one worker owns. */
struct worker {
	struct unit_reader *reader;
	struct attribution *attribution;
	struct unwinder *unwinder; /* NULL: nobody looks at call chains, or no stacks were copied */
	struct batch *batch;
	struct batch *samples;	      /* with_branches: whose branches are turned into rows */
	struct branch_rows entries;   /* how far that is */
	void **partials;	      /* one for each analysis */
	struct address_list noted;    /* records of the unit, for the wish's index */
	struct time_span decoded;     /* times of all rows that were decoded */
	struct time_span passed;      /* … of those that analyses get */
	uint64_t n_spe, n_unfiltered; /* SPE records; those that no filter lets pass */
};

static const struct time_span no_times = { UINT64_MAX, 0 };

struct scan_job {
	struct session *session;
	const struct select *select;
	struct analysis *analyses;
	size_t n_analyses;
	struct worker *workers;
	unsigned n_workers;
	struct scan_wish wish;
	bool is_for_times; /* nobody asks more than when records were taken, so not whose they are */
	unsigned chains;   /* bits of enum chains_wanted */
	bool unwinds;
	struct spe_filters filters; /* of SPE, says the header: records are held to them */
	bool *without_branches;	    /* by event; NULL: nobody wants them */
	VEC_OF(size_t) first_units; /* of the jobs of scan_part(), and behind the last one */

	/* scan_ordered() only. */
	const struct scan_output *output;
	size_t window;
	size_t first_unit;		     /* of the jobs of the pool */
	struct text *slots;		     /* window * n_texts */
	uint64_t rendered_bytes, text_bytes; /* of the units so far, and of their texts */
	atomic_bool stopped;
};

static bool has_copied_stacks(const struct capture *c)
{
	for (size_t i = 0; i < capture_n_events(c); i++)
		if (capture_event(c, i)->attr.sample_type >> SAMPLE_STACK_USER & 1)
			return true;
	return false;
}

static unsigned chains_wanted_by(const struct analysis *a)
{
	return a->class->wants_chains == NULL ? 0 : a->class->wants_chains(a->options);
}

/* Whose call chains are wanted: bits of enum chains_wanted. */
static unsigned chains_wanted(const struct scan_job *job)
{
	bool of_all = job->output != NULL && job->output->with_chains;
	unsigned wanted = of_all ? CHAINS_OF_SAMPLES | CHAINS_OF_SPE : 0;

	for (size_t i = 0; i < job->n_analyses && !job->wish.without_places; i++)
		wanted |= chains_wanted_by(&job->analyses[i]);
	return wanted;
}

static bool reads_branches(const struct scan_job *job)
{
	bool reads = job->output != NULL || job->wish.with_branches;

	for (size_t i = 0; i < job->n_analyses; i++)
		reads |= job->analyses[i].class->reads_branches;
	return reads;
}

static size_t unwind(void *context, struct place_cache *cache, const struct batch *b, size_t row,
		     uint32_t process, uint64_t time_ns, uint64_t *out, size_t max)
{
	return unwinder_chain(context, cache, b, row, process, time_ns, out, max);
}

static void unwinder_init(struct worker *w, const struct session *s)
{
	const char *arch = s->symbols_options.arch;

	w->unwinder = unwinder_new(s->symbols, arch == NULL ? NULL : registers_of(arch));
	attribution_set_unwind(w->attribution, unwind, w->unwinder);
	unit_reader_want_stacks(w->reader);
}

/*
 * What the SPE decoder may drop for this wish. It cannot test physical addresses; and if the event
 * had filters it must not drop records, because all are compared with these; nor if slices depend on all times.
 */
static struct spe_wanted spe_wanted(const struct scan_job *job)
{
	const struct scan_wish *wish = &job->wish;

	return (struct spe_wanted){
		.addresses = wish->with_physical ? NULL : wish->addresses,
		.only_memory = wish->only_memory && job->filters.events.n == 0 &&
			       !job->session->slices.is_provisional,
		.without_addresses =
			wish->without_addresses && wish->addresses == NULL && job->select == NULL,
		.without_targets = wish->without_targets && job->select == NULL,
		.without_translation = wish->without_translation && job->select == NULL,
	};
}

static void worker_init(struct worker *w, const struct scan_job *job)
{
	const struct session *s = job->session;

	w->reader = unit_reader_new(s->capture);
	unit_reader_want_spe(w->reader, spe_wanted(job));
	if (spe_wanted(job).addresses != NULL)
		unit_reader_want_records(w->reader, job->wish.index);
	w->attribution = attribution_new(s->timeline, s->places);
	if (job->wish.without_places && job->select == NULL)
		attribution_skip_places(w->attribution);
	else if (s->callers.of.find != NULL)
		attribution_set_callers(w->attribution, &s->callers.of);
	attribution_number_only(w->attribution, job->wish.only_code);
	attribution_skip_frames(w->attribution, !(job->chains & CHAINS_OF_SAMPLES),
				!(job->chains & CHAINS_OF_SPE));
	if (job->wish.with_registers)
		unit_reader_want_registers(w->reader);
	if (reads_branches(job))
		unit_reader_want_branches(w->reader);
	if (job->unwinds)
		unwinder_init(w, s);
	w->batch = batch_new();
	if (job->without_branches != NULL)
		w->samples = batch_new();
	w->entries.with_wrong_path = job->wish.with_wrong_path;
	w->decoded = w->passed = no_times;
	w->partials = mem_zalloc(job->n_analyses, sizeof(*w->partials));
	for (size_t i = 0; i < job->n_analyses; i++) {
		const struct analysis_class *class = job->analyses[i].class;

		w->partials[i] = class->new (s, job->analyses[i].options);
	}
}

static void worker_release(struct worker *w, const struct scan_job *job)
{
	for (size_t i = 0; i < job->n_analyses; i++)
		job->analyses[i].class->free(w->partials[i]);
	free(w->partials);
	address_list_release(&w->noted);
	batch_free(w->batch);
	batch_free(w->samples);
	attribution_free(w->attribution);
	unwinder_free(w->unwinder);
	unit_reader_free(w->reader);
}

/* Events whose branch stacks are call chains. */
static bool *events_without_branches(const struct capture *c)
{
	bool *out = mem_zalloc(capture_n_events(c) + 1, sizeof(*out));

	for (size_t i = 0; i < capture_n_events(c); i++)
		out[i] = branches_are_calls(&capture_event(c, i)->attr);
	return out;
}

static void workers_start(struct scan_job *job)
{
	struct session *s = job->session;
	unsigned n = job->n_workers;

	s->n_scans++;
	job->chains = chains_wanted(job);
	job->unwinds = job->chains & CHAINS_OF_SAMPLES && has_copied_stacks(s->capture);
	spe_filters_init(&job->filters, s);
	if (job->wish.with_branches)
		job->without_branches = events_without_branches(s->capture);
	if (!job->wish.keeps_places &&
	    s->callers.of.find == NULL) { /* callers are of these places */
		place_numbers_free(s->places);
		s->places = place_numbers_new();
	}
	place_numbers_restore_index(s->places);
	job->workers = mem_zalloc(n, sizeof(*job->workers));
	for (unsigned i = 0; i < n; i++)
		worker_init(&job->workers[i], job);
}

static void add_times(struct time_span *to, const struct time_span *from)
{
	widen_times(&to->first_ns, &to->last_ns, from->first_ns, from->last_ns);
}

static struct time_span times_of(const struct batch *b)
{
	struct time_span span = no_times;

	for (size_t row = 0; row < b->n; row++)
		if (b->has[row] & HAS_TIME)
			widen_times(&span.first_ns, &span.last_ns, b->time_ns[row],
				    b->time_ns[row]);
	return span;
}

static bool is_wanted(const struct scan_wish *wish, const struct batch *b, size_t row)
{
	if (wish->only_memory && b->kind == BATCH_SPE &&
	    (!(b->has[row] & HAS_OP) || b->op_class[row] != SPE_OP_LDST))
		return false;
	return wish->addresses == NULL ||
	       (b->has[row] & HAS_VA && address_filter_may_have(wish->addresses, b->va[row])) ||
	       (wish->with_physical && b->has[row] & HAS_PA &&
		address_filter_may_have(wish->addresses, b->pa[row]));
}

/* Has the decoder dropped all that is not memory? Of records that it had to parse some may have come. */
static bool are_all_memory(const struct batch *b)
{
	return b->kind != BATCH_SPE || batch_all_are(b, HAS_OP, SPE_OP_LDST);
}

/* Drops rows that the wish leaves out, and that the decoder could not drop. */
static void drop_unwanted(const struct scan_wish *wish, struct batch *b)
{
	bool keep[BATCH_ROWS];
	size_t n = 0;

	if (wish->addresses == NULL && (!wish->only_memory || are_all_memory(b)))
		return;
	for (size_t row = 0; row < b->n; row++)
		n += keep[row] = is_wanted(wish, b, row);
	if (n < b->n)
		batch_keep(b, keep);
}

static void swap_batches(struct batch **a, struct batch **b)
{
	struct batch *old = *a;

	*a = *b;
	*b = old;
}

/*
 * The next rows of the unit. The branch entries of samples come before the samples themselves:
 * --select then tests each entry on its own.
 */
static bool read_rows(const struct scan_job *job, struct worker *w)
{
	if (w->samples == NULL)
		return unit_reader_next(w->reader, w->batch);
	for (;;) {
		if (branch_rows_next(&w->entries, w->samples, job->without_branches, w->batch))
			return true;
		if (w->samples->n > 0) {
			swap_batches(&w->samples, &w->batch);
			batch_reset(w->samples, BATCH_SPE);
			return true;
		}
		branch_rows_restart(&w->entries);
		if (!unit_reader_next(w->reader, w->samples))
			return false;
	}
}

static void hold_to_filters(const struct scan_job *job, struct worker *w)
{
	if (job->filters.events.n == 0 || w->batch->kind != BATCH_SPE)
		return;
	w->n_spe += w->batch->n;
	for (size_t row = 0; row < w->batch->n; row++)
		w->n_unfiltered += !spe_filters_let_pass(&job->filters, w->batch, row);
}

/* The next rows that passed the selection; false at the end of the unit. */
static bool next_rows(const struct scan_job *job, struct worker *w)
{
	while (read_rows(job, w)) {
		size_t n = w->batch->n;
		struct time_span span = times_of(w->batch);

		hold_to_filters(job, w);
		add_times(&w->decoded, &span);
		drop_unwanted(&job->wish, w->batch);
		if (!job->is_for_times)
			attribution_apply(w->attribution, w->batch);
		if (job->select != NULL)
			select_apply(job->select, w->batch);
		if (w->batch->n < n)
			span = times_of(w->batch);
		add_times(&w->passed, &span);
		if (w->batch->n > 0)
			return true;
	}
	return false;
}

/* Forgets the frames, if they are many and no analysis needs them; at the end of all units, if they are loose. */
static void let_go_of_frames(const struct scan_job *job, struct worker *w, bool is_end)
{
	const struct tuples *frames = attribution_frames(w->attribution);
	bool is_free = true;

	for (size_t i = 0; i < job->n_analyses; i++) {
		const struct analysis *a = &job->analyses[i];

		is_free &= chains_wanted_by(a) == 0 ||
			   (a->class->let_go != NULL &&
			    a->class->let_go(w->partials[i], frames, is_end));
	}
	if (is_free && (is_end || frames->n >= MANY_FRAMES))
		attribution_forget_frames(w->attribution);
}

/* Which rows have an address comes as it likes, so there is no decision. */
static void note_records(const struct scan_job *job, struct worker *w)
{
	const struct batch *b = w->batch;
	uint16_t rows[BATCH_ROWS];
	size_t n = 0;

	if (b->kind != BATCH_SPE)
		return;
	for (size_t row = 0; row < b->n; row++) {
		rows[n] = (uint16_t)row;
		n += (b->has[row] & HAS_VA) != 0;
	}
	address_list_add(&w->noted, job->wish.index, b->position, b->va, rows, n);
}

static void scan_unit(struct scan_job *job, size_t unit, struct worker *w)
{
	bool notes = job->wish.index != NULL && job->wish.addresses == NULL;

	unit_reader_start(w->reader, unit);
	while (next_rows(job, w)) {
		if (notes)
			note_records(job, w);
		for (size_t i = 0; i < job->n_analyses; i++)
			job->analyses[i].class->consume(w->partials[i], w->batch);
		let_go_of_frames(job, w, false);
	}
	if (notes)
		address_index_keep(job->wish.index, unit, &w->noted);
	progress_add(job->session->progress, 1);
}

/*
 * Small units that follow each other are one job: if two threads read what is near to each other, they wait for each
 * other's page faults.
 */
static void cut_jobs(struct scan_job *job)
{
	const struct capture *c = job->session->capture;
	uint64_t bytes = JOB_BYTES;

	for (size_t unit = 0; unit < capture_n_units(c); unit++) {
		if (bytes >= JOB_BYTES) {
			*vec_add(&job->first_units) = unit;
			bytes = 0;
		}
		bytes += capture_unit_bytes(c, unit);
	}
	*vec_add(&job->first_units) = capture_n_units(c);
}

static void scan_some(void *context, size_t turn, unsigned worker)
{
	struct scan_job *job = context;
	const size_t *first = &job->first_units.items[pool_apart(turn, job->first_units.n - 1)];

	for (size_t unit = first[0]; unit < first[1]; unit++)
		scan_unit(job, unit, &job->workers[worker]);
}

static void finish_partials(void *context, size_t i, unsigned worker)
{
	const struct scan_job *job = context;
	struct worker *w = &job->workers[i];

	(void)worker;
	if (attribution_has_loose_frames(w->attribution))
		let_go_of_frames(job, w, true);
	for (size_t k = 0; k < job->n_analyses; k++)
		if (job->analyses[k].class->finish != NULL)
			job->analyses[k].class->finish(w->partials[k]);
}

/* Adds a worker's frames to the session's; returns the map of ids. Callers have lower ids. */
static uint32_t *map_frames(struct session *s, const struct tuples *frames)
{
	uint32_t *map = mem_alloc(frames->n + 1, sizeof(*map));

	map[0] = 0;
	for (uint32_t i = 1; i < frames->n; i++) {
		const uint64_t *frame = tuples_get(frames, i);
		uint64_t mapped[2] = { map[frame[0]], frame[1] };

		map[i] = tuples_add(&s->frames, mapped);
	}
	return map;
}

static void scan_add_totals(struct attribution_totals *to, const struct attribution_totals *from)
{
	to->n_rows += from->n_rows;
	to->n_by_context += from->n_by_context;
	to->n_by_switch += from->n_by_switch;
	to->n_by_buffer += from->n_by_buffer;
	to->n_by_record += from->n_by_record;
	to->n_without_tid += from->n_without_tid;
	to->n_without_process += from->n_without_process;
	to->n_without_place += from->n_without_place;
	to->n_without_time += from->n_without_time;
}

/* The first worker's frames become the session's as they are, so its partials need no mapping. */
static void take_worker(struct scan_job *job, struct worker *w)
{
	struct session *s = job->session;

	tuples_release(&s->frames);
	attribution_take(w->attribution, &s->frames);
	for (size_t i = 0; i < job->n_analyses; i++) {
		job->analyses[i].result = w->partials[i];
		w->partials[i] = NULL;
	}
}

static void merge_worker(struct scan_job *job, struct worker *w)
{
	struct session *s = job->session;
	uint32_t *frames = map_frames(s, attribution_frames(w->attribution));
	struct id_map map = { .frames = frames };

	for (size_t i = 0; i < job->n_analyses; i++)
		job->analyses[i].class->merge(job->analyses[i].result, w->partials[i], &map);
	free(frames);
}

static void merge_part(void *context, size_t part, unsigned worker)
{
	struct scan_job *job = context;

	(void)worker;
	for (size_t i = 0; i < job->n_analyses; i++) {
		const struct analysis *a = &job->analyses[i];

		for (unsigned w = 1; w < job->n_workers; w++)
			if (a->class->merge_part != NULL)
				a->class->merge_part(a->result, job->workers[w].partials[i], part,
						     MERGE_PARTS);
	}
}

static void release_worker(void *context, size_t i, unsigned worker)
{
	struct scan_job *job = context;

	(void)worker;
	worker_release(&job->workers[i], job);
}

static void workers_release(struct scan_job *job)
{
	pool_run(job->session->pool, job->n_workers, release_worker, job);
	free(job->workers);
	free(job->without_branches);
	spe_filters_release(&job->filters);
}

/* Adds diagnostics of incomplete call chains, in the first scan that unwinds. */
static void add_unwind_totals(struct session *s, const struct worker *w)
{
	struct diags diags = { 0 };

	if (w->unwinder == NULL || s->has_unwind_notes)
		return;
	for (int end = UNWIND_COMPLETE + 1; end < N_UNWIND_ENDS; end++) {
		const struct unwind_totals *t = unwinder_totals(w->unwinder);

		if (t->n[end] > 0)
			diags_add_n(&diags, DIAG_NOTE, t->n[end], t->first_position[end], 0,
				    unwind_end_text((enum unwind_end)end));
	}
	capture_add_diags(s->capture, &diags);
	diags_release(&diags);
}

/* Adds a diagnostic of branch entries that were left out, in the first scan that does so. */
static void add_branch_totals(struct session *s, const struct worker *w)
{
	struct diags diags = { 0 };

	if (w->entries.n_wrong_path == 0 || s->has_branch_notes)
		return;
	diags_add_n(&diags, DIAG_NOTE, w->entries.n_wrong_path, w->entries.first_wrong_path, 0,
		    BRANCHES_OF_WRONG_PATH);
	capture_add_diags(s->capture, &diags);
	diags_release(&diags);
}

static void add_worker_totals(struct session *s, const struct worker *w)
{
	scan_add_totals(&s->attribution, attribution_totals(w->attribution));
	add_unwind_totals(s, w);
	add_branch_totals(s, w);
	if (!s->has_unit_damage)
		capture_add_diags(s->capture, unit_reader_diags(w->reader));
}

static struct time_span times_of_all(const struct scan_job *job, bool of_passed)
{
	struct time_span all = no_times;

	for (unsigned i = 0; i < job->n_workers; i++) {
		const struct worker *w = &job->workers[i];

		add_times(&all, of_passed ? &w->passed : &w->decoded);
	}
	return all;
}

static void take_unfiltered(const struct scan_job *job)
{
	uint64_t n = 0, n_records = 0;

	for (unsigned i = 0; i < job->n_workers; i++) {
		n += job->workers[i].n_unfiltered;
		n_records += job->workers[i].n_spe;
	}
	if (n <= job->session->unfiltered.n)
		return;
	job->session->unfiltered.n = n;
	job->session->unfiltered.n_records = n_records;
}

static void workers_finish(struct scan_job *job)
{
	struct session *s = job->session;
	struct time_span times = times_of_all(job, true);
	unsigned n = job->n_workers;

	s->attribution = (struct attribution_totals){ 0 };
	s->first_ns = times.first_ns > times.last_ns ? 0 : times.first_ns;
	s->last_ns = times.last_ns;
	pool_run(s->pool, n, finish_partials, job);
	take_worker(job, &job->workers[0]);
	for (unsigned i = 1; i < n; i++)
		merge_worker(job, &job->workers[i]);
	pool_run(s->pool, n > 1 ? MERGE_PARTS : 0, merge_part, job);
	for (unsigned i = 0; i < n; i++)
		add_worker_totals(s, &job->workers[i]);
	take_unfiltered(job);
	s->has_unwind_notes |= job->unwinds;
	s->has_branch_notes |= job->wish.with_branches && !job->wish.with_wrong_path;
	s->has_unit_damage = true; /* every scan finds the same */
	workers_release(job);
}

/* Were times put into the right slices? Now all times are known. */
static bool slices_were_right(const struct scan_job *job)
{
	struct session *s = job->session;
	struct time_span times = times_of_all(job, false);

	return slices_settle(
		&s->slices, &(struct slices_span){ .start_ns = capture_totals(s->capture)->first_ns,
						   .first_ns = times.first_ns,
						   .last_ns = times.last_ns });
}

/* Decodes the capture for its times, if slices depend on them and the scan that follows does not see all. */
static void scan_for_slices(struct session *s)
{
	if (s->slices.is_provisional)
		scan_part(s, NULL,
			  &(struct scan_wish){ .without_places = true, .keeps_places = true }, NULL,
			  0);
}

static void scan_units(struct scan_job *job)
{
	size_t n = job->first_units.n - 1;

	if (job->n_workers > 1) {
		pool_run(job->session->pool, n, scan_some, job);
		return;
	}
	for (size_t i = 0; i < n; i++)
		scan_some(job, i, 0);
}

/* Of a scan that is to be done again. */
static void forget_all(struct scan_job *job)
{
	workers_release(job);
	for (size_t i = 0; i < job->n_analyses; i++)
		if (job->analyses[i].class->restart != NULL)
			job->analyses[i].class->restart(job->analyses[i].options);
}

void scan_part(struct session *s, const struct select *select, const struct scan_wish *wish,
	       struct analysis *analyses, size_t n)
{
	struct scan_job job = {
		.session = s,
		.select = select,
		.analyses = analyses,
		.n_analyses = n,
		.wish = *wish,
		.is_for_times = n == 0 && select == NULL,
		.n_workers = s->n_scanners,
	};

	if (wish->addresses != NULL)
		scan_for_slices(s);
	cut_jobs(&job);
	for (bool is_done = false; !is_done;) {
		progress_begin(s->progress, "decoding", capture_n_units(s->capture));
		workers_start(&job);
		scan_units(&job);
		is_done = slices_were_right(&job) || n == 0;
		if (is_done)
			workers_finish(&job);
		else
			forget_all(&job);
		progress_end(s->progress);
	}
	vec_release(&job.first_units);
}

void scan(struct session *s, const struct select *select, struct analysis *analyses, size_t n)
{
	scan_part(s, select, &(struct scan_wish){ 0 }, analyses, n);
}

static struct text *texts_of(const struct scan_job *job, size_t i)
{
	return &job->slots[i % job->window * job->output->n_texts];
}

static void render_unit(void *context, size_t i, unsigned worker)
{
	struct scan_job *job = context;
	struct worker *w = &job->workers[worker];

	if (atomic_load_explicit(&job->stopped, memory_order_relaxed))
		return;
	unit_reader_start(w->reader, job->first_unit + i);
	while (next_rows(job, w)) {
		job->output->render(job->output->context, worker, w->batch, texts_of(job, i));
		let_go_of_frames(job, w, false);
	}
}

static void write_unit(void *context, size_t i, unsigned worker)
{
	struct scan_job *job = context;
	struct text *texts = texts_of(job, i);

	(void)worker;
	if (!atomic_load_explicit(&job->stopped, memory_order_relaxed) &&
	    job->output->write(job->output->context, texts) < 0)
		atomic_store_explicit(&job->stopped, true, memory_order_relaxed);
	job->rendered_bytes += capture_unit_bytes(job->session->capture, job->first_unit + i);
	for (size_t text = 0; text < job->output->n_texts; text++) {
		job->text_bytes += texts[text].n;
		text_reset(&texts[text]);
	}
}

/*
 * How many units there are before the next pause: fewer where their texts are long, as those so far were. Of the first
 * ones that is not known.
 */
static size_t units_until_pause(const struct scan_job *job)
{
	enum { FIRST_UNITS = 2, MOST_TEXT_BYTES = 16 << 20 };
	const struct capture *c = job->session->capture;
	bool is_known = job->rendered_bytes > 0;
	size_t n_left = capture_n_units(c) - job->first_unit, n = 0;

	if (job->output->pause == NULL)
		return n_left;
	for (uint64_t bytes = 0; n < n_left && bytes < job->output->pause_bytes; n++) {
		bytes += capture_unit_bytes(c, job->first_unit + n);
		if (n > 0 &&
		    (is_known ? (double)bytes * (double)job->text_bytes >
					(double)MOST_TEXT_BYTES * (double)job->rendered_bytes
			      : n == FIRST_UNITS))
			break;
	}
	return n;
}

/* All units, with pauses. */
static void render_units(struct scan_job *job)
{
	size_t n_units = capture_n_units(job->session->capture), n;

	for (; job->first_unit < n_units; job->first_unit += n) {
		n = units_until_pause(job);
		pool_run_ordered(job->session->pool, n, job->window, render_unit, write_unit, job);
		if (job->output->pause == NULL || atomic_load(&job->stopped))
			continue;
		if (job->output->pause(job->output->context) < 0)
			atomic_store(&job->stopped, true);
	}
}

int scan_ordered(struct session *s, const struct select *select, const struct scan_output *output)
{
	struct scan_job job = {
		.session = s,
		.select = select,
		.output = output,
		.n_workers = pool_size(s->pool),
		.window = 2 * (size_t)pool_size(s->pool),
		.wish.without_places = output->without_place,
		.wish.keeps_places = output->keeps_places,
		.wish.with_branches = output->with_branches,
		.wish.with_wrong_path = output->with_branches,
	};

	scan_for_slices(s);
	job.slots = mem_zalloc(job.window * output->n_texts, sizeof(*job.slots));
	workers_start(&job);
	render_units(&job);
	workers_finish(&job);
	for (size_t i = 0; i < job.window * output->n_texts; i++)
		text_release(&job.slots[i]);
	free(job.slots);
	return atomic_load(&job.stopped) ? -1 : 0;
}
