/* SPDX-License-Identifier: Apache-2.0 */
/* Functions from the tables of an ELF file. */
#ifndef CYCLOPS_ELF_ELF_SYMBOLS_H
#define CYCLOPS_ELF_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "elf/functions.h"

/*
 * Adds the functions and code labels of the symbol table of this type (SHT_SYMTAB or
 * SHT_DYNSYM), at the addresses of the file. Names are borrowed from the file. Mapping
 * symbols ("$x", "$d" …) are left out; Thumb functions start at an even address.
 *
 * A relocatable file has no addresses: its code sections are laid out as the kernel's module
 * loader does it, from 0. Returns how many were added.
 */
size_t elf_symbols_add(struct functions *, const struct elf_file *, uint32_t table_type);

/*
 * A bit in an "address" of data: the rest is an offset in the TLS block (struct elf_thread_block).
 * No real address has it.
 */
#define ELF_THREAD_LOCAL (UINT64_C(1) << 63)

/*
 * The same for variables and other data with a size, thread-local ones (see ELF_THREAD_LOCAL)
 * included; none of relocatable files.
 */
size_t elf_symbols_add_objects(struct functions *objects, const struct elf_file *,
			       uint32_t table_type);

/* Is a function at this address that only chooses another one when the program starts (STT_GNU_IFUNC)? */
bool elf_symbols_is_indirect(const struct elf_file *, uint64_t address);

/* The value of the symbol of this name in .symtab; false if there is none. */
bool elf_symbols_find(const struct elf_file *, const char *name, uint64_t *out);

/*
 * Opens the ELF file inside .gnu_debugdata ("MiniDebugInfo", compressed with xz): it holds
 * the symbols that .dynsym does not. Ask elf_file_has() first.
 */
int elf_symbols_open_debugdata(struct elf_file *inner, const struct elf_file *, struct err *);

#endif
