/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files with known contents, and folders to put them in. */
#ifndef CYCLOPS_TESTS_SYMBOL_ELF_BUILDER_H
#define CYCLOPS_TESTS_SYMBOL_ELF_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include <elf.h>

#include "capture/format/info.h"

struct built_section {
	const char *name;
	uint32_t type;
	uint64_t flags, address;
	const void *bytes; /* NULL: zeros */
	size_t size;
	unsigned link; /* of relocations: 1 for .dynsym */
};

struct built_symbol {
	const char *name;
	uint64_t value, size;
	unsigned char bind, type, visibility;
	uint16_t section; /* 1 is the first of built_elf.sections */
};

/* What a file holds; lists end with an entry without a name. */
struct built_elf {
	unsigned char elf_class; /* ELFCLASS64 if 0 */
	uint16_t machine, type;	 /* ET_DYN if 0 */
	struct build_id build_id;
	const struct built_section *sections; /* the first one gets a PT_LOAD if it is code */
	const struct built_symbol *symbols;   /* .symtab */
	const struct built_symbol *dynamic;   /* .dynsym */
};

/* Writes the file. Returns where the first section stands in it. */
uint64_t elf_build(const char *path, const struct built_elf *);

/* A folder of its own under the temporary one; free with folder_remove(). */
char *folder_make(void);
void folder_remove(char *folder);

/* "folder/name", with the folders in between made; valid until the next but three calls. */
const char *in_folder(const char *folder, const char *name);

void file_write(const char *path, const void *bytes, size_t size);

#endif
