/* SPDX-License-Identifier: Apache-2.0 */
/* The manual pages, as plain text inside the program. */
#ifndef CYCLOPS_MAIN_MANUAL_H
#define CYCLOPS_MAIN_MANUAL_H

/*
 * The page of a subcommand ("hot"), or that of cyclops itself for NULL or "". NULL if there is
 * no such page. At most 78 columns wide, ASCII, ends with a newline; not to be freed.
 */
const char *manual_page(const char *command);

#endif
