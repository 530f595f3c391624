/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events and features. In a file they are sections around the records, in a stream they are
 * records. Format: docs/reference/perf-data.md sections 1 and 2.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "capture/state.h"

/* An attr whose own size is wrong: its bytes are all that its entry has room for. */
static int meta_read_room(struct cursor attr_bytes, uint64_t at, struct attr *out, struct err *err)
{
	uint8_t room[ATTR_SIZE_MAX];
	uint32_t size = cur_left(&attr_bytes) < sizeof(room) ? (uint32_t)cur_left(&attr_bytes)
							     : sizeof(room);

	memcpy(room, attr_bytes.pos, size);
	for (unsigned i = 0; size >= ATTR_SIZE_MIN && i < sizeof(size); i++)
		room[4 + i] = (uint8_t)(size >> 8 * i);
	return attr_read(cur_of(room, size), at, out, err);
}

/* Adds an event. A damaged one is added, too, as events are found by position. */
static void meta_add_event(struct capture *c, struct cursor attr_bytes, uint64_t at,
			   struct cursor ids)
{
	struct attr attr = { 0 };
	struct err err;

	if (c->events.list.n == MAX_EVENTS) {
		capture_note(c, DIAG_DAMAGE, at, 0, "more than %d events; the others are ignored",
			     MAX_EVENTS);
		return;
	}
	if (attr_read(attr_bytes, at, &attr, &err) < 0) {
		bool is_read = meta_read_room(attr_bytes, at, &attr, &err) == 0;

		capture_note(c, DIAG_DAMAGE, at, 0, "the attr of an event %s",
			     is_read ? "says a wrong size; all of its bytes were read"
				     : "could not be read");
	}
	events_add(&c->events, &attr, ids);
}

/*
 * The ids of an attr, within a budget: sections of a damaged file may overlap, but all together are
 * no larger than the file.
 */
static struct cursor ids_of(struct capture *c, struct extent wanted, uint64_t at, uint64_t *budget)
{
	const struct segment *s = &c->segments.items[0];
	struct extent ids = extent_clamp(wanted, s->size);

	if (ids.size > *budget)
		ids.size = *budget;
	*budget -= ids.size;
	if (ids.size != wanted.size)
		capture_note(c, DIAG_DAMAGE, at, 0, "ids of an event lie outside the file");
	return cur_of(s->bytes + ids.offset, ids.size);
}

void meta_attrs(struct capture *c)
{
	const struct segment *s = &c->segments.items[0];
	struct extent attrs = extent_clamp(c->header.attrs, s->size);
	struct cursor entries = cur_of(s->bytes + attrs.offset, attrs.size);
	uint64_t id_budget = s->size;

	if (attrs.size != c->header.attrs.size)
		capture_note(c, DIAG_DAMAGE, attrs.offset, 0,
			     "the list of events says %" PRIu64 " bytes, the file has %" PRIu64,
			     c->header.attrs.size, attrs.size);
	while (cur_left(&entries) >= c->header.entry_size) {
		uint64_t at = (uint64_t)(entries.pos - s->bytes);
		struct cursor entry = cur_split(&entries, c->header.entry_size);
		struct cursor attr = cur_split(&entry, cur_left(&entry) - sizeof(struct extent));
		struct extent ids = { .offset = load_u64(entry.pos) };

		ids.size = load_u64(entry.pos + sizeof(uint64_t));
		meta_add_event(c, attr, at, ids_of(c, ids, at, &id_budget));
	}
}

/* Reads the feature sections listed in the table. */
static void read_features(struct capture *c, struct cursor table, uint64_t at, struct diags *diags)
{
	const struct segment *s = &c->segments.items[0];
	char text[64];

	for (unsigned feature = 0; feature < MAX_FEATURES; feature++) {
		struct extent wanted, there;

		if (!header_has_feature(&c->header, feature))
			continue;
		wanted.offset = cur_u64(&table);
		wanted.size = cur_u64(&table);
		if (!cur_ok(&table)) {
			diags_add(diags, DIAG_DAMAGE, at, 0,
				  "the table of header features is cut off");
			return;
		}
		there = extent_clamp(wanted, s->size);
		if (there.size == wanted.size) {
			(void)feature_read(&c->info, feature,
					   cur_of(s->bytes + there.offset, there.size),
					   there.offset, &c->strings, diags);
			continue;
		}
		snprintf(text, sizeof(text), "header feature %u lies outside the file", feature);
		diags_add(diags, DIAG_DAMAGE, there.offset, there.size, text);
	}
}

/*
 * Reads the features of a file. A killed recorder has not written their table, though the bits may
 * be set. Sections of a damaged file may overlap each other or records, so bytes are counted once.
 */
void meta_features(struct capture *c)
{
	const struct segment *s = &c->segments.items[0];
	uint64_t left = s->size - s->end;
	struct diags found = { 0 };

	if (c->header.data.size == 0 || s->missing > 0)
		return;
	read_features(c, cur_of(s->bytes + s->end, left), s->end, &found);
	for (size_t i = 0; i < found.list.n; i++) {
		const struct diag *d = &found.list.items[i];
		uint64_t bytes = d->bytes < left ? d->bytes : left;

		left -= bytes;
		diags_add_n(&c->diags, d->level, d->n, d->first, bytes, d->text);
	}
	c->totals.feature_bytes = left;
	diags_release(&found);
}

void meta_attr_record(struct capture *c, const struct record *r)
{
	struct cursor body = r->body;
	uint64_t size;

	if (!c->header.is_pipe)
		return;
	if (cur_left(&body) < ATTR_SIZE_MIN) {
		capture_unread(c, DIAG_DAMAGE, r,
			       "HEADER_ATTR record that is too small for an event");
		return;
	}
	size = load_u32(body.pos + 4);
	if (size == 0)
		size = ATTR_SIZE_MIN;
	if (size > cur_left(&body))
		size = cur_left(&body);
	struct cursor attr = cur_split(&body, size);
	meta_add_event(c, attr, r->position, body);
}

/* Only the name in an EVENT_UPDATE is used. */
void meta_update_record(struct capture *c, const struct record *r)
{
	enum { UPDATE_NAME = 2 };
	struct cursor body = r->body;
	uint64_t kind = cur_u64(&body);
	uint64_t id = cur_u64(&body);
	int event = events_of_id(&c->events, id);
	const char *name = cur_string(&body);

	if (kind == UPDATE_NAME && name != NULL && event >= 0)
		c->events.list.items[event].name = strings_addz(&c->strings, name);
}

/* The list ends with a record without data, whose number is the recorder's number of features. */
void meta_feature_record(struct capture *c, const struct record *r)
{
	struct cursor body = r->body;
	uint64_t feature = cur_u64(&body);
	uint64_t unread = diags_bytes(&c->diags, DIAG_NOTE);

	if (!c->header.is_pipe || cur_left(&body) == 0 || feature >= MAX_FEATURES)
		return;
	(void)feature_read(&c->info, (unsigned)feature, body, r->position, &c->strings, &c->diags);
	capture_move_unread(c, unread);
}

/* A string of a feature: its size, then as many bytes. */
static bool is_one_string(struct cursor body)
{
	uint32_t size = cur_u32(&body);

	return cur_ok(&body) && size > 0 && size == cur_left(&body);
}

bool meta_old_feature_record(struct capture *c, const struct record *r)
{
	uint64_t unread = diags_bytes(&c->diags, DIAG_NOTE);

	if (!c->header.is_pipe || r->type < RECORD_OLD_FEATURES ||
	    r->type >= RECORD_OLD_FEATURES_END || c->events.list.n > 0)
		return false;
	/* ID_INDEX has no such size, and comes when there are events */
	if (r->type == RECORD_OLD_FEATURES && is_one_string(r->body))
		c->has_old_features = true;
	if (!c->has_old_features)
		return false;
	(void)feature_read(&c->info, r->type - RECORD_OLD_FEATURES + FEATURE_HOSTNAME, r->body,
			   r->position, &c->strings, &c->diags);
	capture_move_unread(c, unread);
	return true;
}

/* The record is like an entry of the BUILD_ID feature, header included. */
void meta_build_id_record(struct capture *c, const struct record *r)
{
	struct cursor entry =
		cur_of(r->body.pos - RECORD_HEADER_BYTES, cur_left(&r->body) + RECORD_HEADER_BYTES);
	uint64_t unread = diags_bytes(&c->diags, DIAG_NOTE);
	struct info one = { 0 };

	if (feature_read(&one, FEATURE_BUILD_ID, entry, r->position, &c->strings, &c->diags))
		for (size_t i = 0; i < one.build_ids.n; i++)
			*vec_add(&c->info.build_ids) = one.build_ids.items[i];
	info_release(&one);
	capture_move_unread(c, unread);
}

/* The name of the PMU with this type, or NULL. */
static const char *pmu_name(const struct capture *c, uint32_t type)
{
	for (size_t i = 0; i < c->info.pmus.n; i++)
		if (c->info.pmus.items[i].type == type)
			return strings_get(&c->strings, c->info.pmus.items[i].name);
	return NULL;
}

/* The name that simpleperf gave a tracepoint; 0: none. */
static struct str_id tracepoint_name(const struct capture *c, const struct attr *a)
{
	for (size_t i = 0; i < c->info.event_names.n; i++) {
		const struct event_name_entry *e = &c->info.event_names.items[i];

		if (a->type == ATTR_TYPE_TRACEPOINT && e->type == a->type && e->config == a->config)
			return e->name;
	}
	return (struct str_id){ 0 };
}

/* EVENT_DESC names events by position, as in perf. An EVENT_UPDATE goes first. */
void meta_name_events(struct capture *c)
{
	struct text made_up = { 0 };

	for (size_t i = 0; i < c->events.list.n; i++) {
		struct event *e = &c->events.list.items[i];

		if (i < c->info.event_descs.n && c->info.event_descs.items[i].name.v != 0)
			e->name = c->info.event_descs.items[i].name;
		if (e->name.v == 0)
			e->name = tracepoint_name(c, &e->attr);
		if (e->name.v != 0)
			continue;
		text_reset(&made_up);
		attr_name(&e->attr, pmu_name(c, e->attr.type), &made_up);
		e->name = strings_add(&c->strings, made_up.bytes, made_up.n);
	}
	text_release(&made_up);
}
