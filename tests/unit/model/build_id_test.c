/* SPDX-License-Identifier: Apache-2.0 */
/* Build-ids of ELF files built by code. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/build_id.h"

struct note {
	Elf64_Nhdr header;
	char name[4];
	uint8_t id[20];
};

/* A file whose second segment holds two notes, the second of which is the build-id. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	struct note other, wanted;
};

static struct image good_image(void)
{
	struct image image = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
			.e_phoff = offsetof(struct image, segments),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2,
		},
		.segments = {
			{ .p_type = PT_LOAD },
			{ .p_type = PT_NOTE,
			  .p_offset = offsetof(struct image, other),
			  .p_filesz = 2 * sizeof(struct note) },
		},
		.other = { { 4, 20, NT_GNU_ABI_TAG }, "GNU", { 0 } },
		.wanted = { { 4, 20, NT_GNU_BUILD_ID }, "GNU", { 0xde, 0xad, [19] = 0xff } },
	};

	return image;
}

/* From memory of exactly that size, so that a read beyond is noticed. */
static bool find(const struct image *image, size_t size, struct build_id *out)
{
	void *copy = mem_alloc(size + 1, 1);
	bool found;

	memcpy(copy, image, size);
	copy = mem_resize(copy, size > 0 ? size : 1, 1);
	found = build_id_find(copy, size, out);
	free(copy);
	return found;
}

static void the_id_is_found(void **state)
{
	struct image image = good_image();
	struct build_id id;

	(void)state;
	assert_true(find(&image, sizeof(image), &id));
	assert_int_equal(id.size, 20);
	assert_memory_equal(id.bytes, image.wanted.id, 20);
}

static void cut_files_have_none(void **state)
{
	struct image image = good_image();
	struct build_id id;

	(void)state;
	for (size_t size = 0; size < sizeof(image); size++)
		assert_false(find(&image, size, &id));
}

static void damaged_files_have_none(void **state)
{
	static const struct {
		size_t offset, size;
		uint64_t value;
	} cases[] = {
		{ offsetof(struct image, header.e_ident), 1, 0 },
		{ offsetof(struct image, header.e_ident[EI_CLASS]), 1, ELFCLASS32 },
		{ offsetof(struct image, header.e_phoff), 8, UINT64_MAX },
		{ offsetof(struct image, segments[1].p_type), 4, PT_LOAD },
		{ offsetof(struct image, segments[1].p_offset), 8, UINT64_MAX },
		{ offsetof(struct image, segments[1].p_filesz), 8, UINT64_MAX },
		{ offsetof(struct image, other.header.n_namesz), 4, UINT32_MAX },
		{ offsetof(struct image, other.header.n_descsz), 4, UINT32_MAX },
		{ offsetof(struct image, wanted.header.n_type), 4, NT_GNU_ABI_TAG },
		{ offsetof(struct image, wanted.header.n_namesz), 4, 3 },
		{ offsetof(struct image, wanted.header.n_descsz), 4, 0 },
		{ offsetof(struct image, wanted.header.n_descsz), 4, 21 },
		{ offsetof(struct image, wanted.name), 1, 'X' },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct image image = good_image();
		struct build_id id;

		memcpy((char *)&image + cases[i].offset, &cases[i].value, cases[i].size);
		if (find(&image, sizeof(image), &id))
			fail_msg("case %zu", i);
	}
}

static void own_program_has_one_or_not(void **state)
{
	struct build_id id = { 0 };

	(void)state;
	if (build_id_read("/proc/self/exe", &id))
		assert_in_range(id.size, 8, BUILD_ID_MAX);
	assert_false(build_id_read("/nonexistent", &id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_id_is_found),
		cmocka_unit_test(cut_files_have_none),
		cmocka_unit_test(damaged_files_have_none),
		cmocka_unit_test(own_program_has_one_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
