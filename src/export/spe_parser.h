/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three CSV files of Arm's spe-parser, column for column: loads and stores, branches, others.
 * Differences are in docs/differences.md.
 */
#ifndef CYCLOPS_EXPORT_SPE_PARSER_H
#define CYCLOPS_EXPORT_SPE_PARSER_H

#include "base/text.h"
#include "scan/select.h"
#include "session/session.h"

enum spe_parser_file {
	SPE_PARSER_LDST,
	SPE_PARSER_BR,
	SPE_PARSER_OTHER,
	SPE_PARSER_N_FILES,
};

/* "ldst", "br", "other": the file is PREFIX-ldst.csv. */
extern const char *const spe_parser_names[SPE_PARSER_N_FILES];

/*
 * Takes pieces of the files, in order. The header of a file comes with its first rows, so a
 * file without rows is never written to. -1 stops.
 */
typedef int spe_parser_sink(void *context, enum spe_parser_file, const struct text *);

/* Writes all selected records. Returns -1 if the sink stopped it. */
int spe_parser_run(struct session *, const struct select *, spe_parser_sink *, void *context);

#endif
