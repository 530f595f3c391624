/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The curve as an SVG picture: latency by size with the levels, or by bandwidth. It has a title and a
 * description for who does not see it, a text for each point, and no script.
 */
#ifndef CYCLOPS_LATENCY_PLOT_H
#define CYCLOPS_LATENCY_PLOT_H

#include "base/err.h"
#include "latency/report.h"

/* Writes the file. `levels`: the report's table of them. */
int latency_plot_sweep(const char *path, const struct sweep *, const struct table *levels,
		       bool is_emulated, struct err *);
int latency_plot_loaded(const char *path, const struct loaded *, bool is_emulated, struct err *);

#endif
