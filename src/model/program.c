/* SPDX-License-Identifier: Apache-2.0 */
/* Format: System V ABI, "Object Files". Machine numbers are those of elf.h. */
#include "model/program.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/mapped.h"

enum { HEADER_SIZE = 64, SEGMENT_SIZE = 56 };

static const struct {
	uint16_t machine;
	const char *name;
} machines[] = {
	{ EM_X86_64, "x86-64" },       { EM_386, "32-bit x86" }, { EM_ARM, "32-bit Arm" },
	{ EM_RISCV, "RISC-V" },	       { EM_PPC64, "POWER" },	 { EM_S390, "s390" },
	{ EM_LOONGARCH, "LoongArch" },
};

static const char *machine_name(uint16_t machine)
{
	for (size_t i = 0; i < COUNT(machines); i++)
		if (machines[i].machine == machine)
			return machines[i].name;
	return "another machine";
}

static int check_header(const char *path, const uint8_t *bytes, size_t size, struct err *err)
{
	uint16_t type, machine;

	if (size >= 2 && memcmp(bytes, "#!", 2) == 0)
		return err_set(err, ERR_UNSUPPORTED, 0,
			       "%s: a script; name its interpreter, an AArch64 program, instead",
			       path);
	if (size < HEADER_SIZE || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_UNSUPPORTED, 0, "%s: not a program (no ELF file)", path);
	type = load_u16(bytes + 16);
	machine = load_u16(bytes + 18);
	if (machine != EM_AARCH64 || bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB)
		return err_set(err, ERR_UNSUPPORTED, 18,
			       "%s: a program for %s, and the model runs AArch64 programs; "
			       "aarch64-linux-gnu-gcc builds them (apt install "
			       "gcc-aarch64-linux-gnu libc6-dev-arm64-cross)",
			       path, machine_name(machine));
	if (type != ET_EXEC && type != ET_DYN)
		return err_set(err, ERR_UNSUPPORTED, 16, "%s: not a linked program", path);
	return 0;
}

/* Reads the name of the loader out of segment PT_INTERP; "" if there is none. */
static int find_loader(const char *path, const uint8_t *bytes, size_t size,
		       char loader[INTERPRETER_MAX], struct err *err)
{
	uint64_t at = load_u64(bytes + 32);
	size_t n = load_u16(bytes + 56);

	if (load_u16(bytes + 54) != SEGMENT_SIZE || at > size || n > (size - at) / SEGMENT_SIZE)
		return err_set(err, ERR_FORMAT, 32, "%s: its program headers are not in the file",
			       path);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *segment = bytes + at + i * SEGMENT_SIZE;
		uint64_t offset = load_u64(segment + 8), length = load_u64(segment + 32);

		if (load_u32(segment) != PT_INTERP)
			continue;
		if (offset > size || length > size - offset || length == 0 ||
		    length > INTERPRETER_MAX || bytes[offset + length - 1] != '\0')
			return err_set(err, ERR_FORMAT, offset,
				       "%s: the name of its loader is not in the file", path);
		memcpy(loader, bytes + offset, (size_t)length);
		return 0;
	}
	loader[0] = '\0';
	return 0;
}

int model_program_check(const char *path, char loader[INTERPRETER_MAX], struct err *err)
{
	struct mapped file = { 0 };
	int rc;

	if (mapped_open(&file, path, err) < 0)
		return -1;
	rc = check_header(path, file.bytes, file.size, err);
	if (rc == 0 && access(path, X_OK) != 0)
		rc = err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			     "%s: not executable (%s); chmod +x makes it so", path,
			     strerror(errno));
	if (rc == 0)
		rc = find_loader(path, file.bytes, file.size, loader, err);
	mapped_release(&file);
	return rc;
}
