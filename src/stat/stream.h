/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops stat --interval: what was counted is written as each interval ends, the whole at last. */
#ifndef CYCLOPS_STAT_STREAM_H
#define CYCLOPS_STAT_STREAM_H

#include "cli/printer.h"
#include "stat/ticks.h"

/* What it is to do, and how far it is. The first five are the caller's and stay. */
struct stat_stream {
	const struct catalog *catalog;
	const char *cpu_name; /* NULL: as counted */
	const struct stat_options *options;
	const struct output_options *output; /* a format of tables */
	const char *command;		     /* "stat" */

	const struct counts *head; /* what is known of machine and command */
	bool is_open;		   /* something is written */
	bool has_head;		   /* rows of a table go out as they come */
	bool has_rows;
	struct printer printer;
	struct stat_ticks ticks;
	struct table kept; /* metrics of all intervals, if they come behind the counts */
};

/* For struct live_ticks; the context is the stream. */
void stat_stream_begin(void *stream, const struct counts *head);
int stat_stream_tick(void *stream, const struct counts *, struct err *);

/* Writes the rest: what all intervals come to. */
int stat_stream_end(struct stat_stream *, struct counts *all, struct err *);

void stat_stream_release(struct stat_stream *);

#endif
