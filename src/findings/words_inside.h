/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of words.h share: the words of findings of counts, and of shared lines. */
#ifndef CYCLOPS_FINDINGS_WORDS_INSIDE_H
#define CYCLOPS_FINDINGS_WORDS_INSIDE_H

#include "findings/words.h"
#include "table/answer.h"

/* A text that was put together, as one of the table; NULL if it is empty. Releases it. */
const char *words_take(struct table *, struct text *);

/* A text that lives as long as the table, as a cell; absent if it is NULL. */
static inline struct cell words_cell(const char *text)
{
	return text == NULL ? (struct cell){ 0 } : cell_text(text);
}

/* words.c */
bool finding_is_of_counts(const struct finding *);

/* The kind, or the metric that passes its threshold: what programs know it by. */
const char *finding_id(const struct finding *);
const char *finding_next_words(struct table *, const struct session *, const struct finding *);

/*
 * "cyclops annotate chase …": the code of a finding of a loop, where latencies show the cause; NULL: it
 * is of none, or has no name.
 */
const char *finding_code_words(struct table *, const struct session *, const struct finding *);

/* "annotate chase": without the function annotate shows the hottest. NULL: the finding's has no name. */
const char *finding_annotate_words(struct table *, const struct finding *);
void findings_note_silence(struct table *, const struct silence *);

/* "maps memory that is touched for the first time" */
const char *page_faults_words(const struct finding_page_faults *);

/* words_clauses.c: what cells and sentences are made of */
enum { WORDS_NAME_WIDTH = 40 };

/* What fewer samples of a cause show is said to be of few. */
enum { WORDS_FEW = 30 };

/* "DRAM latency"; "possible division" where code alone tells of it. */
const char *words_cause(const struct finding *);

/* The first thing to change; NULL: nothing is advised. */
const char *words_fix(const struct finding *);

/* "walk.c:8", between two texts; nothing if the line is not known. */
void words_put_line(const struct finding_place *, const char *before, const char *after,
		    struct text *out);

/* The object of a line, the function, or the code without names of a module. */
void words_put_subject(const struct finding *, struct text *out);

/* "copy, inlined into copy_all": whose code it is, where the subject is the function that has it. */
void words_put_code(const struct finding *, struct text *out);

/* "at most ", "at least " or "": before a cost. */
const char *words_bound(const struct finding *);

/* "68.2 % +- 3.7"; NULL: not known. */
const char *words_cost(struct table *, const struct finding *);

/* Does words_put_loop_cause() say how many lines are outstanding? */
bool words_tells_lines(const struct finding_loop *, enum finding_kind);

/* "25 % of accesses need a walk" */
void words_put_loop_cause(const struct finding_loop *, enum finding_kind, struct text *out);

/* The data of the loop behind a text; nothing if they have no name. */
void words_put_data_name(const struct finding_loop *, const char *before, struct text *out);

/* words_answer.c: "store misses in fill (stride.c:22): at most 3.1 % +- 0.4 of the time" */
const char *finding_cause_words(struct table *, const struct finding *);

/* words_gain.c: what a fix gains, in full; NULL: nothing is said of it. */
const char *finding_gain_words(struct table *, const struct session *, const struct finding *,
			       const char *quote);

/* "l1d@chase", and the command that predicts what is gained so; NULL: nothing does, or it has done so. */
const char *finding_what_if_words(struct table *, const struct finding *);
const char *finding_what_if_command(struct table *, const struct session *, const struct finding *);

/* "54.6 % fewer cycles if all branches were predicted (modelled)"; NULL: the model was not asked. */
const char *finding_prediction_words(struct table *, const struct finding *);

/* words_clauses.c: is the error of its share known? A saturated counter makes the share a bound, which has no interval. */
bool words_has_error(const struct finding *);

/* Is its share the most that the cause may cost? */
static inline bool words_is_limit(const struct finding *f)
{
	return f->loop != NULL;
}

/* words_counts.c */
const char *counts_claim(struct table *, const struct finding *, bool with_cause);
const char *counts_size(struct table *, const struct finding *);
const char *counts_confidence(struct table *, const struct finding_coverage *);
const char *counts_cause(const struct finding *);
void counts_evidence(const struct evidence *, bool is_alone, struct text *out);
void counts_note(struct table *, const struct silence *);

/* words_sharing.c */
/* How many accesses are filled in, of so many places. */
size_t sharing_shown(size_t n_places);

/*
 * The access that writes most of those with a source line, as those of a library have none; if none has, the
 * first. Ask where something writes.
 */
const struct finding_place *sharing_first_write(const struct finding_sharing *);

const char *sharing_claim(struct table *, const struct finding *);
const char *sharing_size(struct table *, const struct finding *);
const char *sharing_confidence(struct table *, const struct finding *);
/* What waited: "load" or "loads", or if there are atomics among them, "accesses". */
const char *sharing_waiters(const struct finding_sharing *, uint64_t n);
const char *sharing_where(struct table *, const struct finding *);

/* words_loops.c */
extern const char words_unproven[]; /* why a finding is (finding_is_unproven()) */
const char *loop_claim(struct table *, const struct finding *);
/* ", 9.8 +- 0.7 GB/s from DRAM" */
void put_bandwidth(const struct finding_loop *, struct text *out);
/* "about 24 of at most 26 lines outstanding, 9.8 +- 0.7 GB/s from DRAM" */
void put_lines_in_flight(const struct finding_loop *, struct text *out);
/* "49 of 178 loads (22 to 35 %)": of its samples those that the finding is about, and the 95 % interval of that. */
void put_loop_part(const struct finding_loop *, const char *words, struct text *);

/*
 * "the cause rests on only 10 sampled loads, the time on 146 samples (+-: 95 % interval)": of a finding of a
 * loop, which is as sure as the weaker of both.
 */
void put_loop_confidence(struct table *t, const struct finding *, struct text *out);
void put_loop_evidence(struct table *, const struct finding *, struct text *);
void put_code_evidence(struct table *, const struct finding_code *, struct text *);

/* "chase+0x4  walk.c:8" */
void put_place(const struct finding_place *, struct text *);

/* "26.5 % +- 0.4 of the time, in count_up: the loop at sharing.c:41 takes 17.1 cycles …": of silence.unexplained. */
void put_unexplained(const struct finding *, struct text *);

/* "42 stores and 24 atomics": the sampled writes to the lines. */
const char *sharing_writes(struct table *, const struct finding_sharing *);

/* "57.1 % +- 0.2 of the run time of the waiting thread"; needs has_gain. */
void put_sharing_time(struct table *, const struct finding_sharing *, struct text *out);

#endif
