/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file held in memory: what it is, its sections, and where its bytes are loaded. */
#ifndef CYCLOPS_ELF_ELF_FILE_H
#define CYCLOPS_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gelf.h>

#include "base/cursor.h"
#include "base/err.h"
#include "base/mapped.h"
#include "base/vec.h"
#include "capture/format/info.h"

/* A PT_LOAD program header. */
struct elf_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;
	uint64_t memory_size; /* at least `size`: zeros follow what is in the file */
	bool is_code;
};

/* The TLS block (PT_TLS): each thread has a copy. */
struct elf_thread_block {
	uint64_t address; /* of the initial values */
	uint64_t size;	  /* in memory; 0: there is none */
	uint64_t align;	  /* a power of two */
};

/* Zeroed is empty: `elf` is NULL. */
struct elf_file {
	char *path; /* owned; for an image in memory, what to call it */
	struct mapped bytes;
	uint8_t *image; /* owned; instead of `bytes` */
	size_t image_size;
	Elf *elf;
	uint16_t machine; /* EM_… */
	uint16_t type;	  /* ET_… */
	struct build_id build_id;
	VEC_OF(struct elf_segment) segments;
	struct elf_thread_block thread_block;
};

/* Opens a regular file; what is not ELF is an error. Bytes are read when they are asked for. */
int elf_file_open(struct elf_file *, const char *path, struct err *);

/* The same for a file that is in memory. Takes `image` (from malloc), also on failure. */
int elf_file_open_image(struct elf_file *, uint8_t *image, size_t size, const char *name,
			struct err *);

void elf_file_release(struct elf_file *);

static inline bool elf_file_is_open(const struct elf_file *file)
{
	return file->elf != NULL;
}

/* The first section of this name, with its header in `out`; NULL if there is none. */
Elf_Scn *elf_file_find_section(const struct elf_file *, const char *name, GElf_Shdr *out);

/* The bytes of a section, decompressed if need be; empty if it has none in this file. */
struct cursor elf_file_bytes(const struct elf_file *, const char *section);

/* Has this section, with bytes in this file. */
bool elf_file_has(const struct elf_file *, const char *section);

/* Where the byte at `offset` of the file is loaded; false if it is not. */
bool elf_file_to_address(const struct elf_file *, uint64_t offset, uint64_t *out_address);

/* The other way round. */
bool elf_file_to_offset(const struct elf_file *, uint64_t address, uint64_t *out_offset);

/* File and checksum that .gnu_debuglink names; NULL if there is none. Borrowed. */
const char *elf_file_debuglink(const struct elf_file *, uint32_t *out_crc);

/*
 * Whether a file's build-id is the recorded one. Recorders pad short build-ids with zeros;
 * nothing matches an id that is not known.
 */
bool build_id_matches(const struct build_id *recorded, const struct build_id *found);

enum { BUILD_ID_TEXT = 2 * BUILD_ID_MAX + 1 };

/* Lower-case digits, NUL-terminated. Returns `out`. */
char *build_id_text(const struct build_id *, char out[BUILD_ID_TEXT]);

#endif
