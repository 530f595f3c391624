/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three files of Arm's spe-parser, csv or Parquet, with the same columns: loads and stores, branches,
 * others. Differences: docs/differences.md.
 */
#ifndef CYCLOPS_EXPORT_SPE_PARSER_H
#define CYCLOPS_EXPORT_SPE_PARSER_H

#include <stdbool.h>

#include "base/text.h"
#include "scan/select.h"
#include "session/session.h"

enum spe_parser_file {
	SPE_PARSER_LDST,
	SPE_PARSER_BR,
	SPE_PARSER_OTHER,
	SPE_PARSER_N_FILES,
};

struct spe_parser_options {
	bool is_parquet;   /* not csv */
	bool with_symbols; /* a last column with the function of the PC: their -s */
};

/* Parts of file names, "ldst", "br", "other": PREFIX-ldst.csv. */
extern const char *const spe_parser_names[SPE_PARSER_N_FILES];

/*
 * Takes the next piece of a file; -1 stops. There is no piece of a file without rows.
 */
typedef int spe_parser_sink(void *context, enum spe_parser_file, const struct text *);

/* Writes all selected records. Returns -1 if the sink stopped it. */
int spe_parser_run(struct session *, const struct select *, const struct spe_parser_options *,
		   spe_parser_sink *, void *context);

#endif
