/* SPDX-License-Identifier: Apache-2.0 */
/* What `cyclops run` leaves in its folder. */
#ifndef CYCLOPS_RUN_COMMAND_H
#define CYCLOPS_RUN_COMMAND_H

#define RUN_COUNTS "counts.json"
#define RUN_CAPTURE "perf.data"

/* "FOLDER/NAME", to be freed with free(). */
char *path_join(const char *folder, const char *name);

#endif
