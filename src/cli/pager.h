/* SPDX-License-Identifier: Apache-2.0 */
/* A program that lets a person scroll what we write. */
#ifndef CYCLOPS_CLI_PAGER_H
#define CYCLOPS_CLI_PAGER_H

#include <stdio.h>
#include <sys/types.h>

/*
 * Makes a process wait to become the pager: before the sandbox, in which no program can be started. `command`, or if it
 * is NULL $PAGER, is for the shell; without both it is `less` with the options FRX, unless LESS has others.
 */
void pager_prepare(const char *command);

/*
 * Starts the pager that waits, or if none does that of `command`. What is written to *stream, which changes, goes
 * to it. Returns its process, or 0 if there is no pager: nothing has changed then.
 */
pid_t pager_start(const char *command, FILE **stream);

/* Closes the stream and waits until the person leaves the pager. Returns `rc`: to leave early is no error. */
int pager_end(FILE *stream, pid_t pager, int rc);

#endif
