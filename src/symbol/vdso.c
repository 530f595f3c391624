/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/vdso.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/alloc.h"

/* How long the image is that the kernel gave us: section headers stand at its end. */
static size_t image_size(const uint8_t *image)
{
	Elf64_Ehdr header;

	memcpy(&header, image, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
}

static int open_own(struct elf_file *out)
{
	const uint8_t *image = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	size_t size = image == NULL ? 0 : image_size(image);
	struct err err;
	uint8_t *copy;

	if (size == 0)
		return -1;
	copy = mem_alloc(size, 1);
	memcpy(copy, image, size);
	return elf_file_open_image(out, copy, size, "[vdso]", &err);
}

static bool vdso_fits(const struct elf_file *file, const struct search *search,
		      const struct build_id *recorded)
{
	if (recorded->size > 0)
		return build_id_matches(recorded, &file->build_id);
	return search->options->use_this_machine && machine_fits(search, file->machine);
}

int vdso_open(struct elf_file *out, const struct search *search, const struct build_id *recorded)
{
	char *cached = locate_cached(search, recorded, "vdso");
	struct elf_file file = { 0 };
	struct err err;
	int rc = cached == NULL ? open_own(&file) : elf_file_open(&file, cached, &err);

	free(cached);
	if (rc < 0 || !vdso_fits(&file, search, recorded)) {
		elf_file_release(&file);
		return -1;
	}
	*out = file;
	return 0;
}
