/* SPDX-License-Identifier: Apache-2.0 */
/* Readable names: C++ (Itanium) and Rust (legacy and v0), by libiberty. */
#ifndef CYCLOPS_ELF_DEMANGLE_H
#define CYCLOPS_ELF_DEMANGLE_H

#include <stdbool.h>

#include "base/text.h"

enum demangle_style {
	DEMANGLE_SHORT,	     /* "std::sort<…>": as perf shows names */
	DEMANGLE_PARAMETERS, /* C++ with parameter types: tells overloads apart */
	DEMANGLE_NOT,	     /* as in the symbol table, for other tools */
};

/*
 * Appends the readable form of an ELF symbol's name, or the name itself if it is not
 * mangled. A default version ("memcpy@@GLIBC_2.14") is left out: the plain name means it.
 * What else follows an '@' ("@plt", another version) is kept. "__dl__Z…" of Android's linker becomes
 * "[linker]…", as in simpleperf. Returns whether it was mangled.
 *
 * Any bytes may come in: time, memory and stack are bounded, and a name that would exceed
 * the bounds stays as it is, or is cut if it is longer than any real one.
 */
bool demangle(const char *name, enum demangle_style, struct text *out);

#endif
