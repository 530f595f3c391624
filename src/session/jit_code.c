/* SPDX-License-Identifier: Apache-2.0 */
#include "session/jit_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/path.h"
#include "base/tuples.h"
#include "capture/format/jitdump.h"
#include "process/jit_dumps.h"

/* The functions of a dump: where the bytes of each are, for moves. */
struct dump_functions {
	struct tuples indexes;	  /* index of the function → number … */
	VEC_OF(uint64_t) file_at; /* … → where its bytes are */
};

typedef VEC_OF(struct jit_code) codes;

/* Where a function's bytes are; false: of a move of what was never written. */
static bool find_bytes(struct dump_functions *f, const struct jitdump_code *code, uint64_t *out)
{
	uint32_t number;

	if (code->is_move) {
		number = tuples_find(&f->indexes, &code->index);
		if (number == TUPLES_NONE)
			return false;
		*out = f->file_at.items[number];
		return true;
	}
	number = tuples_add(&f->indexes, &code->index);
	if (number == f->file_at.n)
		vec_add(&f->file_at);
	f->file_at.items[number] = *out = code->file_at;
	return true;
}

static void read_codes(struct jitdump *dump, const struct capture *capture, codes *out)
{
	const struct record_time_conv *conv = &capture_spe(capture)->time;
	struct dump_functions functions = { 0 };
	struct jitdump_code code;

	tuples_init(&functions.indexes, 1);
	while (jitdump_next(dump, &code)) {
		uint64_t file_at;

		if (!find_bytes(&functions, &code, &file_at))
			continue;
		*vec_add(out) = (struct jit_code){
			.address = code.address,
			.size = code.size,
			.file_at = file_at,
			.time_ns = dump->has_ticks ? time_from_ticks(conv, code.time) : code.time,
		};
	}
	tuples_release(&functions.indexes);
	vec_release(&functions.file_at);
}

/* Are the dump's times of the clock that the capture's are of? */
static bool has_same_clock(const struct capture *c, const struct jitdump *dump)
{
	if (dump->has_ticks)
		return capture_spe(c)->has_time;
	for (size_t i = 0; i < capture_n_events(c); i++) {
		const struct attr *a = &capture_event(c, i)->attr;

		if (!attr_has(a, ATTR_USE_CLOCKID) || a->clockid != CLOCK_MONOTONIC)
			return false;
	}
	return capture_n_events(c) > 0;
}

static void jit_code_note(struct diags *diags, const char *name, const char *what)
{
	char text[640];

	snprintf(text, sizeof(text), "%s: %s", name, what);
	diags_add(diags, DIAG_NOTE, ERR_NOWHERE, 0, text);
}

static void add_dump(const struct capture *c, struct timeline *t, const struct jit_dump *dump,
		     const struct mapped *file, const char *name, struct diags *diags)
{
	struct jitdump reader;
	codes found = { 0 };
	struct err err;

	if (jitdump_open(file->bytes, file->size, name, &reader, &err) < 0) {
		jit_code_note(diags, "code made at run time has no names", err.text);
		return;
	}
	read_codes(&reader, c, &found);
	if (!has_same_clock(c, &reader)) {
		for (size_t i = 0; i < found.n; i++)
			found.items[i].time_ns = 0;
		jit_code_note(diags, name,
			      "its times are of another clock than the capture's: where code was "
			      "replaced, what "
			      "came last counts (perf record -k mono avoids that)");
	}
	if (reader.is_cut)
		jit_code_note(diags, name, "ends inside a record; read up to there");
	timeline_map_jit(t, dump, found.items, found.n);
	vec_release(&found);
}

void jit_code_add(const struct capture *c, struct timeline *t,
		  const struct symbols_options *options, struct diags *diags)
{
	size_t n;
	struct jit_dump *dumps = timeline_jit_dumps(t, &n);

	for (size_t i = 0; i < n; i++) {
		const char *path = strings_get(timeline_strings(t), dumps[i].path);
		struct mapped file = { 0 };
		struct err err;

		if (symbols_jit_dump(options, path, &file, &err) == 0)
			add_dump(c, t, &dumps[i], &file, path_base(path), diags);
		else
			jit_code_note(
				diags, path,
				"the dump of code made at run time is not here; give --symfs DIR");
		mapped_release(&file);
	}
	free(dumps);
}
