/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles for other tools: each format is a file of this folder. What they write are the weighted call
 * stacks of stacks/stacks.h, or, of formats that are rows, each sample.
 */
#ifndef CYCLOPS_EXPORT_FORMATS_PROFILE_H
#define CYCLOPS_EXPORT_FORMATS_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "export/formats/writer.h"
#include "scan/select.h"
#include "stacks/stacks.h"

/* The formats there are, for help. */
#define PROFILE_FORMATS                                                                            \
	"folded, svg, pprof,\n"                                                                    \
	"                          speedscope, perf-script, firefox, callgrind,\n"                 \
	"                          chrome-trace, otlp"

/* What was asked for. All borrowed. */
struct profile_options {
	struct hot_options records; /* which records count: hot_event_options() */
	const char *value;	    /* --value; NULL: what `hot` weighs records by */
	bool is_inverted;	    /* --inverted: callers above callees */
	const char *fields;	    /* --fields of perf-script; NULL: as `perf script` by itself */
	unsigned n_slices;	    /* --time-slices; 0: as many as the format shows by itself */
	size_t memory_bytes;	    /* see struct stacks_wish; 0: as much as usual */
};

/* What a format writes. */
struct profile {
	struct session *session;
	const struct select *select;
	const struct profile_options *options;
	struct profile_writer *out;
	struct stacks *stacks; /* NULL: the format is rows */

	/* Of formats with one value: the first event with records, and its weight. */
	uint64_t event;
	enum stack_value value;

	void *format_state; /* the format's own, while it writes */
};

struct profile_format {
	const char *name;
	const char *meaning; /* for help */
	bool is_binary;	     /* not for terminals */
	bool is_gzip;	     /* compressed as a whole */
	bool has_events;     /* all events are in it; else one */
	bool has_values;     /* all values of an event are in it; else one */
	bool can_invert;     /* --inverted */
	bool by_thread, by_source, by_slice;
	enum symbols_depth depth;
	unsigned n_slices; /* by itself; 0: time is not cut */

	/* Writes all. -1 and an error if what it sorts cannot be written to a temporary file. */
	int (*write)(struct profile *, struct err *);
	bool is_rows;	 /* scans by itself, and gets no stacks */
	bool has_fields; /* --fields */
};

/* The format of that name; NULL if there is none. */
const struct profile_format *profile_format_find(const char *name);

/* The i-th one, NULL behind the last. */
const struct profile_format *profile_format_at(size_t i);

/* Fails if options do not go together with the format. Before the capture is opened. */
int profile_check(const struct profile_format *, const struct profile_options *, struct err *);

/*
 * Writes a profile. Scans once, twice for slices of time. `out_has_data`: was there any record? What the
 * format leaves out is among the notes of the writer.
 */
int profile_write(const struct profile_format *, struct session *, const struct select *,
		  const struct profile_options *, struct profile_writer *, bool *out_has_data,
		  struct err *);

/* Of formats with all values: is this one to be written? */
bool profile_has_value(const struct profile *, uint64_t event, enum stack_value);

/* "cycles samples", "cycles", "spe l1d-misses": appends what a value of an event is called. */
void profile_put_value_name(const struct profile *, uint64_t event, enum stack_value,
			    struct text *);

/* Sentences about the numbers: modelled, lower bounds, estimates. `each` is called for each of them. */
void profile_each_caveat(const struct profile *, void (*each)(struct profile *, const char *));

/* Appends which event a format with one value has, and which others it leaves out. False: there are none. */
bool profile_others_sentence(const struct profile *, struct text *);

/* The name of a frame: its function, or its module in brackets where it has no name. */
void profile_put_frame_name(const struct profile *, const struct stack_frame *, struct text *);

/* Fails if --fields of perf-script names one that does not exist. */
int perf_script_check_fields(const char *fields, struct err *);

extern const struct profile_format profile_perf_script, profile_firefox, profile_callgrind;
extern const struct profile_format profile_chrome_trace, profile_otlp;
extern const struct profile_format profile_folded, profile_pprof, profile_speedscope, profile_svg;

#endif
