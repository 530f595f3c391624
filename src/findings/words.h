/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in words: the only place that makes sentences of findings. */
#ifndef CYCLOPS_FINDINGS_WORDS_H
#define CYCLOPS_FINDINGS_WORDS_H

#include "findings/finding.h"
#include "session/session.h"
#include "table/table.h"

/*
 * All findings of the list as table "findings", with notes for the silences. `session` gives the
 * commands that tell more; NULL: there is no capture.
 */
void findings_table(const struct findings *, const struct session *, struct table *out);

/*
 * What they rest on, for programs: table "evidence"; what is known of the loops that they are about: table
 * "loops". Both by the number of the finding, from 1.
 */
void findings_evidence_table(const struct findings *, struct table *out);
void findings_loops_table(const struct findings *, struct table *out);

/* Of silences, for programs: the loop with most time that nothing explains. Table "unexplained". */
void findings_unexplained_table(const struct findings *, struct table *out);

/*
 * The same at a glance, for people: the answer in at most three sentences, or why there is none;
 * table "summary" with a row for each finding; table "next" with commands that show more. `lost`: what
 * the capture lacks; NULL: nothing.
 */
void findings_answer(const struct findings *, const char *lost, struct table *out);
void findings_brief_table(const struct findings *, const struct session *, struct table *out);
void findings_next_table(const struct findings *, const struct session *, struct table *out);

/* Do they have a share of the run time with its 95 % interval, to be shown with +-? */
bool findings_have_intervals_of_time(const struct findings *);

/* Appends what an answer says of its first finding: the cause, where it is, its cost; and the fix. */
void finding_answer(struct table *answer, const struct finding *);

/* Parts of it, for tables that show more. Texts belong to the table; NULL: nothing to say. */
const char *finding_claim_words(struct table *, const struct finding *);
const char *finding_size_words(struct table *, const struct finding *);
const char *finding_remedy_words(struct table *, const struct finding *);
const char *finding_confidence_words(struct table *, const struct finding *);
/* What a fix gains, in a clause. */
const char *finding_gain_brief(struct table *, const struct finding *);

/* What occurs in an issue of the catalog: "mispredicted branches"; else the name of its event. */
const char *issue_words(const struct cpu_penalty *);

/* Of findings about lines: what it costs, and up to FINDING_ACCESSES writers or readers. */
const char *sharing_cost_words(struct table *, const struct finding *);
const char *sharing_ruled_out_words(struct table *, const struct finding *);
void sharing_show_accesses(struct table *, const struct finding *, bool writers,
			   struct cell *cells);

#endif
