/* SPDX-License-Identifier: Apache-2.0 */
/* Which files the model takes for programs that it can run. */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/program.h"

static const char loader_path[] = "/lib/ld-linux-aarch64.so.1";

/* A program of two segments, the second of which names a loader. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	char loader[sizeof(loader_path)];
};

static struct image good_image(void)
{
	struct image image = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
			.e_type = ET_DYN,
			.e_machine = EM_AARCH64,
			.e_phoff = offsetof(struct image, segments),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2,
		},
		.segments = {
			{ .p_type = PT_LOAD },
			{ .p_type = PT_INTERP,
			  .p_offset = offsetof(struct image, loader),
			  .p_filesz = sizeof(loader_path) },
		},
	};

	memcpy(image.loader, loader_path, sizeof(loader_path));
	return image;
}

/* Writes the bytes to a file and checks that. */
static int check(const void *bytes, size_t size, char loader[INTERPRETER_MAX], struct err *err)
{
	char path[] = "/tmp/cyclops-program-XXXXXX";
	int fd = mkstemp(path);
	int rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	rc = model_program_check(path, loader, err);
	unlink(path);
	return rc;
}

static void the_loader_is_found(void **state)
{
	struct image image = good_image();
	char loader[INTERPRETER_MAX];
	struct err err;

	(void)state;
	assert_int_equal(check(&image, sizeof(image), loader, &err), 0);
	assert_string_equal(loader, loader_path);
	image.segments[1].p_type = PT_NOTE;
	assert_int_equal(check(&image, sizeof(image), loader, &err), 0);
	assert_string_equal(loader, "");
}

static void cut_programs_are_refused(void **state)
{
	struct image image = good_image();
	char loader[INTERPRETER_MAX];
	size_t whole = offsetof(struct image, loader) + sizeof(loader_path);
	struct err err;

	(void)state;
	for (size_t size = 1; size < whole; size++)
		assert_int_equal(check(&image, size, loader, &err), -1);
	assert_int_equal(check(&image, whole, loader, &err), 0);
}

static void damaged_headers_are_refused(void **state)
{
	static const struct {
		size_t offset, size;
		uint64_t value;
		const char *said;
	} cases[] = {
		{ offsetof(struct image, header.e_ident), 1, 0, "no ELF file" },
		{ offsetof(struct image, header.e_ident[EI_CLASS]), 1, ELFCLASS32, "AArch64" },
		{ offsetof(struct image, header.e_ident[EI_DATA]), 1, ELFDATA2MSB, "AArch64" },
		{ offsetof(struct image, header.e_machine), 2, EM_X86_64,
		  "a program for x86-64, and the model runs AArch64 programs" },
		{ offsetof(struct image, header.e_machine), 2, EM_ARM, "32-bit Arm" },
		{ offsetof(struct image, header.e_machine), 2, 9999, "another machine" },
		{ offsetof(struct image, header.e_type), 2, ET_REL, "not a linked program" },
		{ offsetof(struct image, header.e_phentsize), 2, 1, "program headers" },
		{ offsetof(struct image, header.e_phnum), 2, 60000, "program headers" },
		{ offsetof(struct image, header.e_phoff), 8, UINT64_MAX, "program headers" },
		{ offsetof(struct image, header.e_phoff), 8, UINT64_MAX - 100, "program headers" },
		{ offsetof(struct image, segments[1].p_offset), 8, UINT64_MAX, "its loader" },
		{ offsetof(struct image, segments[1].p_filesz), 8, 0, "its loader" },
		{ offsetof(struct image, segments[1].p_filesz), 8, 10, "its loader" },
		{ offsetof(struct image, segments[1].p_filesz), 8, UINT64_MAX, "its loader" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct image image = good_image();
		char loader[INTERPRETER_MAX];
		struct err err;

		memcpy((char *)&image + cases[i].offset, &cases[i].value, cases[i].size);
		assert_int_equal(check(&image, sizeof(image), loader, &err), -1);
		if (strstr(err.text, cases[i].said) == NULL)
			fail_msg("case %zu: said '%s'", i, err.text);
	}
}

static void scripts_and_texts_are_refused(void **state)
{
	char loader[INTERPRETER_MAX];
	struct err err;

	(void)state;
	assert_int_equal(check("#!/bin/sh\n", 10, loader, &err), -1);
	assert_non_null(strstr(err.text, "script"));
	assert_int_equal(check("hello\n", 6, loader, &err), -1);
	assert_non_null(strstr(err.text, "not a program"));
	assert_int_equal(model_program_check("/nonexistent", loader, &err), -1);
	assert_int_equal(model_program_check("/", loader, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_loader_is_found),
		cmocka_unit_test(cut_programs_are_refused),
		cmocka_unit_test(damaged_headers_are_refused),
		cmocka_unit_test(scripts_and_texts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
