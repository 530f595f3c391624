/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that a writer makes:
 *
 *   header (104 bytes) | ids of all events | attrs | records … | feature table | sections
 */
#include "capture/writer/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/mapped.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "capture/writer/emit.h"
#include "capture/writer/output.h"
#include "capture/writer/writer_inside.h"

enum { HEADER_SIZE = 104 };

struct stored_event {
	struct attr attr;
	VEC_OF(uint64_t) ids;
	char *name;
};

struct writer {
	struct output file;
	VEC_OF(struct stored_event) events;
	struct tuples ids;	    /* ids of all events */
	VEC_OF(uint32_t) id_events; /* event by number in `ids` */
	uint32_t attr_size;	    /* size of each attr */
	uint64_t attrs_at;	    /* position in the file */
	struct text scratch;
	VEC_OF(uint64_t) aux_positions; /* positions of AUXTRACE records */
	struct compressor *compressor;	/* NULL: no compression */
	struct text features[N_FEATURES];
	uint64_t feature_bits;
};

void writer_records(struct writer *w, const void *records, size_t size)
{
	output_records(&w->file, records, size);
}

void writer_ring(struct writer *w, const void *bytes, size_t size, const void *rest, size_t n_rest)
{
	const struct piece pieces[] = { { bytes, size }, { rest, n_rest } };

	if (w->compressor == NULL) {
		output_record(&w->file, pieces, COUNT(pieces));
		return;
	}
	compressor_write(w->compressor, w, bytes, size, rest, n_rest);
}

int writer_compress(struct writer *w, int level, struct err *err)
{
	assert(w->compressor == NULL);
	if (compressor_new(level, &w->compressor, err) < 0)
		return -1;
	compressor_begin(w->compressor, w);
	return 0;
}

static void store_header(uint8_t *out, uint32_t type, uint16_t misc, size_t size)
{
	store_u32(out, type);
	store_u16(out + 4, misc);
	store_u16(out + 6, (uint16_t)size);
}

void writer_record(struct writer *w, uint32_t type, uint16_t misc, const void *body, size_t size)
{
	uint8_t header[RECORD_HEADER_SIZE];
	const struct piece pieces[] = { { header, sizeof(header) }, { body, size } };

	if (size > RECORD_SIZE_MAX - RECORD_HEADER_SIZE) {
		output_fail(&w->file, ERR_LIMIT, "a record of more than 65535 bytes");
		return;
	}
	store_header(header, type, misc, RECORD_HEADER_SIZE + size);
	output_record(&w->file, pieces, COUNT(pieces));
}

void writer_auxtrace(struct writer *w, const struct record_auxtrace *header, const void *data)
{
	writer_auxtrace_pieces(w, header, data, (size_t)header->size, NULL);
}

void writer_auxtrace_pieces(struct writer *w, const struct record_auxtrace *header,
			    const void *data, size_t size, const void *rest)
{
	static const uint8_t zeros[8];
	size_t padding = -(size_t)header->size & 7;
	uint8_t record[AUXTRACE_RECORD_SIZE] = { 0 };
	const struct piece pieces[] = {
		{ record, sizeof(record) },
		{ data, size },
		{ rest, (size_t)header->size - size },
		{ zeros, padding },
	};

	assert(size <= header->size);
	store_header(record, RECORD_AUXTRACE, 0, sizeof(record));
	store_u64(record + 8, header->size + padding);
	store_u64(record + 16, header->offset);
	store_u64(record + 24, header->reference);
	store_u32(record + 32, header->idx);
	store_u32(record + 36, header->tid);
	store_u32(record + 40, header->cpu);
	*vec_add(&w->aux_positions) = writer_size(w);
	output_record(&w->file, pieces, COUNT(pieces));
}

uint64_t writer_size(const struct writer *w)
{
	return w->file.end + w->file.used;
}

bool writer_has_failed(const struct writer *w)
{
	return w->file.has_failed;
}

void writer_fail(struct writer *w, const char *what)
{
	output_fail(&w->file, ERR_LIMIT, what);
}

const struct attr *writer_attr(const struct writer *w, size_t event)
{
	assert(event < w->events.n);
	return &w->events.items[event].attr;
}

const struct attr *writer_attr_of_id(const struct writer *w, uint64_t id)
{
	uint32_t number = tuples_find(&w->ids, &id);

	return writer_attr(w, number == TUPLES_NONE ? 0 : w->id_events.items[number]);
}

struct text *writer_scratch(struct writer *w)
{
	text_reset(&w->scratch);
	return &w->scratch;
}

struct text *writer_build_id_section(struct writer *w)
{
	w->feature_bits |= (uint64_t)1 << FEATURE_BUILD_ID;
	return &w->features[FEATURE_BUILD_ID];
}

void writer_feature(struct writer *w, unsigned feature, const void *bytes, size_t size)
{
	assert(feature < N_FEATURES);
	w->feature_bits |= (uint64_t)1 << feature;
	text_reset(&w->features[feature]);
	emit_bytes(&w->features[feature], bytes, size);
}

static char *made_up_name(const struct attr *attr)
{
	struct text name = { 0 };
	char *copy;

	attr_name(attr, NULL, &name);
	copy = mem_strndup(name.bytes, name.n);
	text_release(&name);
	return copy;
}

static void store_event(struct writer *w, const struct writer_event *event)
{
	struct stored_event *stored = vec_add(&w->events);

	stored->attr = event->attr;
	stored->attr.size = w->attr_size;
	stored->name = event->name != NULL ? mem_strndup(event->name, strlen(event->name))
					   : made_up_name(&event->attr);
	for (size_t i = 0; i < event->n_ids; i++) {
		*vec_add(&stored->ids) = event->ids[i];
		if (tuples_add(&w->ids, &event->ids[i]) == w->id_events.n)
			*vec_add(&w->id_events) = (uint32_t)w->events.n - 1;
	}
}

/* The size of all attrs, or 0 if the events cannot have a common one. */
static uint32_t common_attr_size(const struct writer_event *events, size_t n_events)
{
	uint32_t common = 0;

	for (size_t i = 0; i < n_events; i++) {
		uint32_t size = events[i].attr.size;

		if (size == 0)
			size = ATTR_SIZE_PERF;
		if (size < ATTR_SIZE_MIN || size > ATTR_SIZE_MAX || size % 8 != 0)
			return 0;
		common = size > common ? size : common;
	}
	return common;
}

static void emit_attr(struct text *out, const struct attr *attr)
{
	uint8_t bytes[ATTR_SIZE_MAX];

	attr_write(attr, bytes);
	emit_bytes(out, bytes, attr->size);
}

static void emit_ids(struct text *out, const struct stored_event *event)
{
	for (size_t i = 0; i < event->ids.n; i++)
		emit_u64(out, event->ids.items[i]);
}

/* The header for the current state of the file. */
static void emit_header(struct text *out, const struct writer *w, uint64_t feature_bits)
{
	emit_bytes(out, "PERFILE2", 8);
	emit_u64(out, HEADER_SIZE);
	emit_u64(out, w->attr_size + 16);
	emit_u64(out, w->attrs_at);
	emit_u64(out, w->file.data_at - w->attrs_at);
	emit_u64(out, w->file.data_at);
	emit_u64(out, w->file.end - w->file.data_at);
	emit_zeros(out, 16); /* event types, used until perf 3.8 */
	emit_u64(out, feature_bits);
	emit_zeros(out, 24); /* features above 63 */
}

/* Header, ids and attrs of a file that has no records yet. */
static struct text *make_front(struct writer *w)
{
	struct text *out = writer_scratch(w);
	uint64_t ids_at = HEADER_SIZE;

	emit_zeros(out, HEADER_SIZE);
	for (size_t i = 0; i < w->events.n; i++)
		emit_ids(out, &w->events.items[i]);
	w->attrs_at = out->n;
	for (size_t i = 0; i < w->events.n; i++) {
		uint64_t ids_size = w->events.items[i].ids.n * sizeof(uint64_t);

		emit_attr(out, &w->events.items[i].attr);
		emit_u64(out, ids_at);
		emit_u64(out, ids_size);
		ids_at += ids_size;
	}
	w->file.data_at = w->file.end = out->n;
	return out;
}

static void writer_put_header(struct writer *w, uint64_t feature_bits)
{
	struct text *out = writer_scratch(w);

	emit_header(out, w, feature_bits);
	output_write_at(&w->file, out->bytes, out->n, 0);
	w->file.has_tail = feature_bits != 0;
}

static void write_front(struct writer *w)
{
	const struct text *front = make_front(w);

	output_write_at(&w->file, front->bytes, front->n, 0);
	writer_put_header(w, 0);
}

static void writer_free(struct writer *w)
{
	for (size_t i = 0; i < w->events.n; i++) {
		vec_release(&w->events.items[i].ids);
		free(w->events.items[i].name);
	}
	for (size_t i = 0; i < COUNT(w->features); i++)
		text_release(&w->features[i]);
	vec_release(&w->events);
	vec_release(&w->id_events);
	vec_release(&w->aux_positions);
	tuples_release(&w->ids);
	text_release(&w->scratch);
	compressor_free(w->compressor);
	free(w);
}

static int writer_new(int (*open_file)(struct output *, const char *, struct err *),
		      const char *path, const struct writer_event *events, size_t n_events,
		      struct writer **out, struct err *err)
{
	uint32_t attr_size = common_attr_size(events, n_events);
	struct output file;
	struct writer *w;

	assert(n_events > 0);
	if (attr_size == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "%s: an attr size is not a multiple of 8 between %d and %d", path,
			       ATTR_SIZE_MIN, ATTR_SIZE_MAX);
	if (open_file(&file, path, err) < 0)
		return -1;
	w = mem_zalloc(1, sizeof(*w));
	w->file = file;
	w->attr_size = attr_size;
	tuples_init(&w->ids, 1);
	for (size_t i = 0; i < n_events; i++)
		store_event(w, &events[i]);
	*out = w;
	return 0;
}

int writer_open(const char *path, const struct writer_event *events, size_t n_events,
		struct writer **out, struct err *err)
{
	if (writer_new(output_open, path, events, n_events, out, err) < 0)
		return -1;
	write_front(*out);
	return 0;
}

static bool is_trace(const uint8_t *record)
{
	return load_u32(record) == RECORD_AUXTRACE;
}

/* The size of a record with its trace data; 0 if it is longer than `left` bytes. */
static uint64_t record_size(const uint8_t *record, uint64_t left)
{
	uint64_t size = left >= RECORD_HEADER_SIZE ? load_u16(record + 6) : 0;

	if (size < RECORD_HEADER_SIZE || size > left)
		return 0;
	if (!is_trace(record))
		return size;
	if (size < AUXTRACE_RECORD_SIZE || load_u64(record + RECORD_HEADER_SIZE) > left - size)
		return 0;
	return size + load_u64(record + RECORD_HEADER_SIZE);
}

/* Finds the end of the last whole record, and the AUXTRACE records before it. */
static void resume_at(struct writer *w, const struct mapped *file)
{
	uint64_t at = w->file.data_at, size = load_u64(file->bytes + DATA_SIZE_AT), next;
	uint64_t end = size < file->size - at ? at + size : file->size;

	for (; (next = record_size(file->bytes + at, end - at)) != 0; at += next)
		if (is_trace(file->bytes + at))
			*vec_add(&w->aux_positions) = at;
	w->file.end = at;
}

/* Does the file begin as this writer would begin it? */
static bool has_front(const struct mapped *file, const struct text *front)
{
	return file->size >= front->n && memcmp(file->bytes, "PERFILE2", 8) == 0 &&
	       memcmp(file->bytes + HEADER_SIZE, front->bytes + HEADER_SIZE,
		      front->n - HEADER_SIZE) == 0;
}

int writer_resume(const char *path, const struct writer_event *events, size_t n_events,
		  struct writer **out, struct err *err)
{
	struct mapped file = { 0 };
	struct writer *w;

	if (writer_new(output_reopen, path, events, n_events, &w, err) < 0)
		return -1;
	if (mapped_open(&file, path, err) < 0)
		goto fail;
	if (!has_front(&file, make_front(w))) {
		err_set(err, ERR_FORMAT, 0, "%s: not the capture that was begun there", path);
		goto fail;
	}
	resume_at(w, &file);
	mapped_release(&file);
	writer_put_header(w, 0);
	output_cut(&w->file);
	*out = w;
	return 0;
fail:
	mapped_release(&file);
	output_close(&w->file);
	writer_free(w);
	return -1;
}

static void make_event_desc(struct writer *w)
{
	struct text *out = writer_scratch(w);

	emit_u32(out, (uint32_t)w->events.n);
	emit_u32(out, w->attr_size);
	for (size_t i = 0; i < w->events.n; i++) {
		emit_attr(out, &w->events.items[i].attr);
		emit_u32(out, (uint32_t)w->events.items[i].ids.n);
		emit_string(out, w->events.items[i].name);
		emit_ids(out, &w->events.items[i]);
	}
	writer_feature(w, FEATURE_EVENT_DESC, out->bytes, out->n);
}

/*
 * Makes the index of AUX data that is in the file: after an error the last records may be missing.
 */
static void make_aux_index(struct writer *w)
{
	struct text *out = writer_scratch(w);
	size_t n = w->aux_positions.n;

	while (n > 0 && w->aux_positions.items[n - 1] >= w->file.end)
		n--;
	w->feature_bits &= ~((uint64_t)1 << FEATURE_AUXTRACE);
	if (n == 0)
		return;
	emit_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		emit_u64(out, w->aux_positions.items[i]);
		emit_u64(out, AUXTRACE_RECORD_SIZE);
	}
	writer_feature(w, FEATURE_AUXTRACE, out->bytes, out->n);
}

/* Writes the table of sections and the sections. Returns false if there was no room. */
static bool write_features(struct writer *w)
{
	uint64_t at = w->file.end + 16 * (uint64_t)__builtin_popcountll(w->feature_bits);
	struct text *out = writer_scratch(w);

	for (size_t i = 0; i < COUNT(w->features); i++) {
		if ((w->feature_bits >> i & 1) == 0)
			continue;
		emit_u64(out, at);
		emit_u64(out, w->features[i].n);
		at += w->features[i].n;
	}
	for (size_t i = 0; i < COUNT(w->features); i++)
		if (w->feature_bits >> i & 1)
			emit_bytes(out, w->features[i].bytes, w->features[i].n);
	return output_write_at(&w->file, out->bytes, out->n, w->file.end) == out->n;
}

/*
 * The disk is full: removes the last records to make room for the features. perf cannot read
 * compressed records without them. False if no record would be left.
 */
static bool give_up_last_records(struct writer *w)
{
	uint64_t at = w->file.data_at, next, limit = w->file.end;
	uint64_t room = w->scratch.n; /* the size of the features that did not fit */
	struct mapped file;
	struct err ignored;

	if (room >= limit - at || mapped_open(&file, w->file.path, &ignored) < 0)
		return false;
	limit = file.size < limit - room ? file.size : limit - room;
	while ((next = record_size(file.bytes + at, limit - at)) != 0)
		at += next;
	mapped_release(&file);
	if (at == w->file.data_at)
		return false;
	w->file.end = at;
	output_cut(&w->file);
	make_aux_index(w);
	return true;
}

/* Writes features and header for the records on disk. */
static void finish_file(struct writer *w)
{
	bool has_features;

	make_event_desc(w);
	make_aux_index(w);
	if (w->compressor != NULL)
		compressor_describe(w->compressor, w);
	has_features = write_features(w) || (give_up_last_records(w) && write_features(w));
	if (!has_features)
		output_cut(&w->file);
	writer_put_header(w, has_features ? w->feature_bits : 0);
}

void writer_flush(struct writer *w)
{
	output_flush(&w->file);
}

void writer_checkpoint(struct writer *w)
{
	output_flush(&w->file);
	if (!w->file.has_failed && w->file.end > w->file.data_at)
		finish_file(w);
}

int writer_close(struct writer *w, struct err *err)
{
	int rc = 0;

	/* A size of 0 marks a file that was not finished, so there must be a record. */
	if (writer_size(w) == w->file.data_at)
		writer_finished_round(w);
	output_flush(&w->file);
	if (w->file.has_failed)
		output_cut(&w->file);
	finish_file(w);
	output_close(&w->file);
	if (w->file.has_failed) {
		*err = w->file.err;
		rc = -1;
	}
	writer_free(w);
	return rc;
}

void writer_abandon(struct writer *w)
{
	if (w == NULL)
		return;
	unlink(w->file.path);
	output_close(&w->file);
	writer_free(w);
}
