/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the selection language that are about places of code: functions and source lines. */
#ifndef CYCLOPS_SCAN_SELECT_PLACES_H
#define CYCLOPS_SCAN_SELECT_PLACES_H

#include "scan/select_fields.h"

/* A function's name; the places of all that match. */
compile_test select_compile_symbol;

/*
 * "FILE:LINE", or "FILE" for all of its lines; FILE is the end of a path, from a "/" on. A
 * pattern is for the whole path with its line. The line is that of the instruction itself, not
 * one that it was inlined into.
 */
compile_test select_compile_line;

/* Is the row's instruction at one of these places? */
run_test select_run_ranges;

#endif
