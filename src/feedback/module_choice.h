/* SPDX-License-Identifier: Apache-2.0 */
/* The module that a profile is of. */
#ifndef CYCLOPS_FEEDBACK_MODULE_CHOICE_H
#define CYCLOPS_FEEDBACK_MODULE_CHOICE_H

#include "base/text.h"
#include "session/session.h"

struct binary;

/*
 * A program or library by its name for people or its path; NULL: the one with most. `counts`: how much was recorded of
 * each module, by its number; `what` is the word for it ("branches").
 */
int feedback_choose_module(const struct session *, const uint64_t *counts, const char *what,
			   const char *name, struct module_id *out, struct err *);

/* Appends what is not in a profile of some modules' branches, loads …: so many of them, and all samples but these. */
void feedback_note_left_out(const struct session *, const char *what, uint64_t n_elsewhere,
			    uint64_t n_samples_used, struct text *note);

/* The files of a module. */
const struct binary *feedback_binary(struct session *, struct module_id);

#endif
