/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the capture library reads, for scripts that compare or damage captures:
 *
 *	dump_samples FILE	one line for each sample, then for each SPE record
 *	dump_samples -r FILE	one line for each record
 *	dump_samples -t FILE	totals and findings only
 *
 * Exit status 2: a byte of the file is neither read nor accounted for.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"
#include "capture/capture.h"

static int64_t signed_if(const struct batch *b, size_t row, uint32_t has, uint32_t value)
{
	return b->has[row] & has ? (int64_t)(int32_t)value : -1;
}

static uint64_t value_if(const struct batch *b, size_t row, uint32_t has, uint64_t value)
{
	return b->has[row] & has ? value : 0;
}

static void add_words(struct text *out, const struct batch *b, struct batch_slice slice)
{
	for (uint32_t i = 0; i < slice.n; i++)
		text_format(out, "%s%" PRIx64, i == 0 ? "" : " ", b->words.items[slice.first + i]);
}

/* What was not recorded is printed as perf prints it: -1 for ids, 0 for everything else. */
static void add_sample(struct text *out, const struct capture *c, const struct batch *b, size_t row)
{
	text_format(out, "sample|%" PRIx64 "|%s|%" PRId64 "|%" PRId64 "|%" PRId64, b->position[row],
		    capture_event_name(c, b->event[row]), signed_if(b, row, HAS_PID, b->pid[row]),
		    signed_if(b, row, HAS_TID, b->tid[row]),
		    signed_if(b, row, HAS_CPU, b->cpu[row]));
	text_format(out, "|%" PRIu64 "|%" PRIu64 "|%" PRIx64 "|%" PRIx64,
		    value_if(b, row, HAS_TIME, b->time_ns[row]),
		    value_if(b, row, HAS_PERIOD, b->period[row]),
		    value_if(b, row, HAS_PC, b->pc[row]), value_if(b, row, HAS_VA, b->va[row]));
	text_format(out, "|%" PRIu64 "|%" PRIx64 "|%" PRIx64 "|",
		    value_if(b, row, HAS_WEIGHT, b->weight[row]),
		    value_if(b, row, HAS_DATA_SRC, b->data_src[row]),
		    value_if(b, row, HAS_PA, b->pa[row]));
	if (b->has[row] & HAS_STACK)
		add_words(out, b, b->stack[row]);
	text_char(out, '|');
	if (b->has[row] & HAS_BRANCHES)
		add_words(out, b, b->branches[row]);
	text_char(out, '\n');
}

static void add_spe(struct text *out, const struct batch *b, size_t row)
{
	text_format(out,
		    "spe|%" PRId64 "|%" PRId64 "|%" PRIu64 "|%" PRIx64 "|%" PRIx64 "|%" PRIx64
		    "|%u|%u\n",
		    signed_if(b, row, HAS_CPU, b->cpu[row]),
		    signed_if(b, row, HAS_TID, b->tid[row]),
		    b->has[row] & HAS_TIME ? b->time_ns[row] : 0,
		    b->has[row] & HAS_PC ? b->pc[row] : 0, b->has[row] & HAS_VA ? b->va[row] : 0,
		    b->has[row] & HAS_EVENTS ? b->events[row] : 0,
		    b->has[row] & HAS_TOTAL ? b->total[row] : 0u,
		    b->has[row] & HAS_CONTEXT ? b->context[row] : 0u);
}

/* Reads all units, and prints the rows if `out` is there. Returns their number. */
static uint64_t read_units(struct capture *c, struct text *out)
{
	struct unit_reader *reader = unit_reader_new(c);
	struct batch *batch = batch_new();
	uint64_t n_rows = 0;

	unit_reader_want_branches(reader);
	for (size_t unit = 0; unit < capture_n_units(c); unit++) {
		unit_reader_start(reader, unit);
		while (unit_reader_next(reader, batch)) {
			n_rows += batch->n;
			for (size_t row = 0; out != NULL && row < batch->n; row++) {
				if (batch->kind == BATCH_SAMPLES)
					add_sample(out, c, batch, row);
				else
					add_spe(out, batch, row);
			}
			if (out != NULL) {
				fwrite(out->bytes, 1, out->n, stdout);
				text_reset(out);
			}
		}
	}
	capture_add_diags(c, unit_reader_diags(reader));
	batch_free(batch);
	unit_reader_free(reader);
	return n_rows;
}

static void count_record(void *context, const struct record *r, const struct sample_id *id)
{
	(void)r;
	(void)id;
	++*(uint64_t *)context;
}

static void print_record(void *context, const struct record *r, const struct sample_id *id)
{
	const char *name = record_type_name(r->type);

	(void)context;
	printf("record|%" PRIx64 "|%" PRIx64 "|%s|", r->position, r->size, name ? name : "?");
	if (id->has & HAS_CPU)
		printf("%" PRIu32, id->cpu);
	putchar('|');
	if (id->has & HAS_TIME)
		printf("%" PRIu64, id->time_ns);
	putchar('\n');
}

static void print_totals(const struct capture *c, uint64_t n_rows, uint64_t n_walked)
{
	static const char *const levels[] = { "note", "loss", "damage" };
	const struct capture_totals *t = capture_totals(c);
	const struct diags *d = capture_diags(c);

	printf("bytes|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "\n", capture_size(c),
	       t->header_bytes, t->record_bytes, t->feature_bytes);
	printf("records|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "\n",
	       t->n_records, n_walked, t->n_samples, n_rows, t->aux_bytes);
	for (uint32_t type = 0; type < N_RECORD_TYPES; type++)
		if (t->by_type[type] > 0)
			printf("type|%s|%" PRIu64 "\n",
			       record_type_name(type) ? record_type_name(type) : "?",
			       t->by_type[type]);
	for (size_t i = 0; i < capture_n_events(c); i++)
		printf("event|%s\n", capture_event_name(c, i));
	printf("units|%zu|%zu\n", capture_n_units(c), capture_n_chunks(c));
	for (size_t i = 0; i < d->list.n; i++)
		printf("%s|%" PRIu64 "|%" PRIu64 "|0x%" PRIx64 "|%s\n",
		       levels[d->list.items[i].level], d->list.items[i].n, d->list.items[i].bytes,
		       d->list.items[i].first, d->list.items[i].text);
}

/* The letter of an option in front of FILE, 0 if there is none, -1 if it makes no sense. */
static int parse_mode(int argc, char **argv)
{
	if (argc == 2)
		return 0;
	if (argc != 3 || argv[1][0] != '-' || argv[1][1] == '\0' || argv[1][2] != '\0')
		return -1;
	return argv[1][1];
}

/* Returns whether all bytes are accounted for. */
static bool print_capture(struct capture *c, int mode)
{
	const struct capture_totals *t = capture_totals(c);
	uint64_t accounted = t->header_bytes + t->record_bytes + t->feature_bytes +
			     diags_bytes(capture_diags(c), DIAG_NOTE);
	uint64_t n_rows, n_walked = 0;
	struct text out = { 0 };

	if (mode == 'r') {
		capture_walk(c, print_record, NULL);
	} else {
		capture_walk(c, count_record, &n_walked);
		n_rows = read_units(c, mode == 't' ? NULL : &out);
		if (mode == 't')
			print_totals(c, n_rows, n_walked);
	}
	text_release(&out);
	if (accounted != capture_size(c))
		fprintf(stderr, "%" PRIu64 " bytes accounted for, the file has %" PRIu64 "\n",
			accounted, capture_size(c));
	return accounted == capture_size(c);
}

int main(int argc, char **argv)
{
	int mode = parse_mode(argc, argv);
	struct capture *c = NULL;
	struct err err = { 0 };
	int rc = 1;

	if (mode < 0) {
		fprintf(stderr, "usage: dump_samples [-r|-t] FILE\n");
		return 1;
	}
	if (capture_open(argv[argc - 1], &c, &err) < 0 || capture_scan(c, NULL, NULL, &err) < 0)
		printf("error|%s\n", err.text);
	else
		rc = print_capture(c, mode) ? 0 : 2;
	capture_free(c);
	return rc;
}
