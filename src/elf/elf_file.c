/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_file.h"

#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwelf.h>

#include "base/alloc.h"
#include "base/text.h"
#include "elf/regular_file.h"

static void read_build_id(struct elf_file *file)
{
	const void *bytes = NULL;
	ssize_t size = dwelf_elf_gnu_build_id(file->elf, &bytes);

	if (size <= 0)
		return;
	file->build_id.size = (uint8_t)(size < BUILD_ID_MAX ? size : BUILD_ID_MAX);
	memcpy(file->build_id.bytes, bytes, file->build_id.size);
}

static void read_thread_block(const GElf_Phdr *header, struct elf_thread_block *out)
{
	uint64_t align = header->p_align > 0 ? header->p_align : 1;

	if (header->p_memsz >= INT64_MAX || align > INT32_MAX || (align & (align - 1)) != 0)
		return;
	*out = (struct elf_thread_block){ header->p_vaddr, header->p_memsz, align };
}

static void read_segments(struct elf_file *file)
{
	size_t n = 0;

	if (elf_getphdrnum(file->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(file->elf, (int)i, &header) == NULL)
			return;
		if (header.p_type == PT_TLS)
			read_thread_block(&header, &file->thread_block);
		if (header.p_type != PT_LOAD)
			continue;
		*vec_add(&file->segments) = (struct elf_segment){
			.offset = header.p_offset,
			.size = header.p_filesz,
			.address = header.p_vaddr,
			.memory_size =
				header.p_memsz > header.p_filesz ? header.p_memsz : header.p_filesz,
			.is_code = (header.p_flags & PF_X) != 0,
		};
	}
}

/* Reads what every user of the file needs; `bytes` or `image` is set. */
static int elf_file_begin(struct elf_file *file, const uint8_t *bytes, size_t size, struct err *err)
{
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	/* libelf promises not to write to an image that is only read. */
	file->elf = size == 0 ? NULL : elf_memory((char *)(uintptr_t)bytes, size);
	if (file->elf == NULL || elf_kind(file->elf) != ELF_K_ELF ||
	    gelf_getehdr(file->elf, &header) == NULL)
		return err_set(err, ERR_FORMAT, 0, "%s: is not an ELF file", file->path);
	file->machine = header.e_machine;
	file->type = header.e_type;
	read_build_id(file);
	read_segments(file);
	return 0;
}

int elf_file_open(struct elf_file *out, const char *path, struct err *err)
{
	struct elf_file file = { 0 };

	if (regular_file_map(&file.bytes, path, err) < 0)
		return -1;
	file.path = mem_strndup(path, strlen(path));
	if (elf_file_begin(&file, file.bytes.bytes, file.bytes.size, err) < 0) {
		elf_file_release(&file);
		return -1;
	}
	*out = file;
	return 0;
}

int elf_file_open_image(struct elf_file *out, uint8_t *image, size_t size, const char *name,
			struct err *err)
{
	struct elf_file file = { .image = image, .image_size = size };

	file.path = mem_strndup(name, strlen(name));
	if (elf_file_begin(&file, image, size, err) < 0) {
		elf_file_release(&file);
		return -1;
	}
	*out = file;
	return 0;
}

void elf_file_release(struct elf_file *file)
{
	if (file->elf != NULL)
		elf_end(file->elf);
	mapped_release(&file->bytes);
	free(file->image);
	free(file->path);
	vec_release(&file->segments);
	*file = (struct elf_file){ 0 };
}

Elf_Scn *elf_file_find_section(const struct elf_file *file, const char *name, GElf_Shdr *out)
{
	size_t names = 0;
	Elf_Scn *section = NULL;

	if (file->elf == NULL || elf_getshdrstrndx(file->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;
		const char *found;

		if (gelf_getshdr(section, &header) == NULL)
			continue;
		found = elf_strptr(file->elf, names, header.sh_name);
		if (found != NULL && strcmp(found, name) == 0) {
			*out = header;
			return section;
		}
	}
	return NULL;
}

struct cursor elf_file_bytes(const struct elf_file *file, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_find_section(file, name, &header);
	Elf_Data *data;

	if (section == NULL || header.sh_type == SHT_NOBITS)
		return cur_of("", 0);
	if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0)
		return cur_of("", 0);
	data = elf_getdata(section, NULL);
	if (data == NULL || data->d_buf == NULL)
		return cur_of("", 0);
	return cur_of(data->d_buf, data->d_size);
}

bool elf_file_has(const struct elf_file *file, const char *name)
{
	GElf_Shdr header;

	return elf_file_find_section(file, name, &header) != NULL && header.sh_type != SHT_NOBITS &&
	       header.sh_size > 0;
}

bool elf_file_to_address(const struct elf_file *file, uint64_t offset, uint64_t *out)
{
	const struct elf_segment *found = NULL;

	for (size_t i = 0; i < file->segments.n; i++) {
		const struct elf_segment *s = &file->segments.items[i];

		if (offset < s->offset || offset - s->offset >= s->size)
			continue;
		if (found == NULL || (s->is_code && !found->is_code))
			found = s;
	}
	if (found == NULL)
		return false;
	*out = found->address + (offset - found->offset);
	return true;
}

bool elf_file_to_offset(const struct elf_file *file, uint64_t address, uint64_t *out)
{
	for (size_t i = 0; i < file->segments.n; i++) {
		const struct elf_segment *s = &file->segments.items[i];

		if (address >= s->address && address - s->address < s->size) {
			*out = s->offset + (address - s->address);
			return true;
		}
	}
	return false;
}

const char *elf_file_debuglink(const struct elf_file *file, uint32_t *out_crc)
{
	GElf_Word crc = 0;
	const char *name = file->elf == NULL ? NULL : dwelf_elf_gnu_debuglink(file->elf, &crc);

	if (name != NULL)
		*out_crc = crc;
	return name;
}

bool build_id_matches(const struct build_id *recorded, const struct build_id *found)
{
	static const uint8_t zeros[BUILD_ID_MAX];

	if (recorded->size == 0 || found->size == 0 || found->size > recorded->size)
		return false;
	return memcmp(recorded->bytes, found->bytes, found->size) == 0 &&
	       memcmp(recorded->bytes + found->size, zeros, recorded->size - found->size) == 0;
}

char *build_id_text(const struct build_id *id, char out[BUILD_ID_TEXT])
{
	for (size_t i = 0; i < id->size; i++)
		put_hex_digits(out + 2 * i, id->bytes[i], 2);
	out[2 * id->size] = '\0';
	return out;
}
