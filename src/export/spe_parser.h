/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three CSV files of Arm's spe-parser, with the same columns: loads and stores, branches,
 * others. Differences: docs/differences.md.
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

/* Parts of file names, "ldst", "br", "other": PREFIX-ldst.csv. */
extern const char *const spe_parser_names[SPE_PARSER_N_FILES];

/*
 * Takes the next piece of a file; -1 stops. The header comes with the first rows, so there is no
 * piece of a file without rows.
 */
typedef int spe_parser_sink(void *context, enum spe_parser_file, const struct text *);

/* Writes all selected records. Returns -1 if the sink stopped it. */
int spe_parser_run(struct session *, const struct select *, spe_parser_sink *, void *context);

#endif
