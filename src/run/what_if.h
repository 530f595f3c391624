/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `cyclops run --model` asks the model after it has found something: what the program would gain without the
 * causes. Inside this folder only.
 */
#ifndef CYCLOPS_RUN_WHAT_IF_H
#define CYCLOPS_RUN_WHAT_IF_H

#include "base/text.h"
#include "model/gains.h"
#include "run/method.h"
#include "run/steps.h"

/* The word of --what-if that asks nothing. */
extern const char what_if_none[];

/* Is the model asked what the findings name: on the model, where nobody has said what to ask? */
bool run_asks_for_findings(const struct run_command *);

/* Appends the idealisations of the findings as a list of --what-if, each once; nothing if they name none. */
void run_questions(const struct findings *, struct text *out);

/*
 * Is the answer that of the program that was counted? The program ran again, and one that reads other input or the
 * clock may do something else.
 */
bool run_is_same_program(const struct gains *, const struct counts *, const struct cpu_pmu *);

/*
 * For a run whose output nobody wants: this process's standard output and errors go nowhere, and its input, where
 * that is a file, is read from `input_start` again, else nothing is read. quiet_end() undoes it.
 */
struct quiet {
	int saved[3]; /* copies of the three descriptors */
};

void quiet_begin(struct quiet *, int64_t input_start);
void quiet_end(struct quiet *);

/* Where the standard input stands; -1: it is no file. */
int64_t run_input_position(void);

#endif
