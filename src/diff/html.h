/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CYCLOPS_DIFF_HTML_H
#define CYCLOPS_DIFF_HTML_H

#include "cli/input.h"
#include "cli/printer.h"
#include "diff/diff.h"

/* --html: writes pages about a comparison to a file, beside what is printed. `input`: how the captures were opened. */
int diff_html(const struct diff *, const struct diff_gate *gates, size_t n_gates,
	      const struct input_options *, const struct printer *, const char *path, struct err *);

#endif
