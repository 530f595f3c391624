/* SPDX-License-Identifier: Apache-2.0 */
/* The manual pages as plain text, embedded in the program. */
#ifndef CYCLOPS_MAIN_MANUAL_H
#define CYCLOPS_MAIN_MANUAL_H

/*
 * The page of a subcommand ("hot"), or of cyclops itself for NULL or "". NULL if there is none.
 * ASCII, at most 78 columns, ends with a newline. Not to be freed.
 */
const char *manual_page(const char *command);

#endif
