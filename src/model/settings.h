/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of the machine model: those of its file (catalog/model/), and of the user. */
#ifndef CYCLOPS_MODEL_SETTINGS_H
#define CYCLOPS_MODEL_SETTINGS_H

#include "base/err.h"
#include "base/text.h"
#include "model/run.h"

/* A model's file, as far as it is not a list of parameters. */
struct model_facts {
	char name[64];	       /* "Neoverse N1" */
	char emulator_cpu[64]; /* what -cpu of the emulator is to be */
};

/*
 * Appends the settings for the plugin: entries "key=value", each ended by a NUL. The values of
 * parameters are not checked here: the model does that.
 */
int model_settings(const struct model_options *, struct text *, struct model_facts *out,
		   struct err *);

#endif
