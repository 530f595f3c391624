/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CYCLOPS_RUN_HTML_H
#define CYCLOPS_RUN_HTML_H

#include "cli/printer.h"
#include "run/method.h"

/* --html: writes pages about a run to a file, beside what is printed. `what_if`: what the model said to --what-if. */
int run_html(struct session *, struct method *, const struct tables *what_if,
	     const struct printer *, const char *path, struct err *);

#endif
