/* SPDX-License-Identifier: Apache-2.0 */
#include "code_places.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t anywhere = 0xaaaac0000000, page = 4096;

static int by_address(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Lays the ranges end to end. Of functions that overlap (other names) the first stays. */
static void lay_flat(struct code_places *places)
{
	uint64_t end = 0;
	size_t n = 0;

	if (places->ranges.n > 1)
		qsort(places->ranges.items, places->ranges.n, sizeof(*places->ranges.items),
		      by_address);
	for (size_t i = 0; i < places->ranges.n; i++) {
		struct code_range range = places->ranges.items[i];

		if (range.address < end)
			continue;
		end = range.address + range.size;
		range.flat = places->size;
		places->size += range.size;
		places->ranges.items[n++] = range;
	}
	places->ranges.n = n;
}

static void add_range(struct code_places *places, uint64_t address, uint64_t size)
{
	/* Instructions of AArch64: at multiples of four. */
	if (size >= 4)
		*vec_add(&places->ranges) = (struct code_range){ .address = (address + 3) & ~3ull,
								 .size = size & ~3ull };
}

static void read_segments(struct code_places *places, Elf *elf, uint64_t bias, bool add_code)
{
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr header;
		uint64_t skew;

		if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
		    (header.p_flags & PF_X) == 0)
			continue;
		skew = header.p_vaddr % page;
		*vec_add(&places->mappings) = (struct code_mapping){
			.address = bias + header.p_vaddr - skew,
			.size = (header.p_memsz + skew + page - 1) / page * page,
			.offset = header.p_offset - skew,
		};
		if (add_code)
			add_range(places, bias + header.p_vaddr, header.p_filesz);
	}
}

static void read_functions(struct code_places *places, Elf *elf, uint64_t bias)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
		GElf_Shdr header;
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Sym symbol;

		if (gelf_getshdr(section, &header) == NULL || data == NULL ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		for (int i = 0; gelf_getsym(data, i, &symbol) != NULL; i++) {
			if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
			    symbol.st_shndx != SHN_UNDEF)
				add_range(places, bias + symbol.st_value, symbol.st_size);
		}
	}
}

int code_places_read(struct code_places *places, const char *path, bool only_functions,
		     struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = NULL;
	GElf_Ehdr header;
	int rc = -1;

	if (fd < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf == NULL || gelf_getehdr(elf, &header) == NULL) {
		err_set(err, ERR_FORMAT, 0, "%s: not an ELF file", path);
		goto out;
	}
	uint64_t bias = header.e_type == ET_DYN ? anywhere : 0;
	read_segments(places, elf, bias, !only_functions);
	if (only_functions)
		read_functions(places, elf, bias);
	lay_flat(places);
	if (places->size == 0)
		err_set(err, ERR_FORMAT, ERR_NOWHERE, "%s: has no %s", path,
			only_functions ? "functions" : "code");
	else
		rc = 0;
out:
	elf_end(elf);
	close(fd);
	return rc;
}

void code_places_release(struct code_places *places)
{
	vec_release(&places->ranges);
	vec_release(&places->mappings);
	places->size = 0;
}

uint64_t code_places_address(const struct code_places *places, uint64_t flat)
{
	size_t low = 0, high = places->ranges.n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (places->ranges.items[middle].flat <= flat)
			low = middle;
		else
			high = middle;
	}
	return places->ranges.items[low].address + (flat - places->ranges.items[low].flat);
}
