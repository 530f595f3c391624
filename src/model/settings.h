/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of the machine model: parameters of its file (catalog/model/), options of the user.
 */
#ifndef CYCLOPS_MODEL_SETTINGS_H
#define CYCLOPS_MODEL_SETTINGS_H

#include "base/err.h"
#include "base/text.h"
#include "model/run.h"

/* The fields of a model's file beside its parameters. */
struct model_facts {
	char name[64];	       /* "Neoverse N1" */
	char cpu[64];	       /* its id in the catalog */
	char emulator_cpu[64]; /* for the emulator's option -cpu */
};

/*
 * Appends the settings for the plugin: entries "key=value", each ended by a NUL. The plugin checks
 * the values of parameters. Fails if the model's file cannot be read, or an option has the wrong
 * form.
 */
int model_settings(const struct model_options *, struct text *, struct model_facts *out,
		   struct err *);

#endif
