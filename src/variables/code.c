/* SPDX-License-Identifier: Apache-2.0 */
#include "variables/code.h"

#include <string.h>

#include "base/alloc.h"
#include "symbol/symbols_state.h"

static const struct {
	uint16_t machine;
	enum isa isa;
} machines[] = {
	{ EM_AARCH64, ISA_A64 },
	{ EM_ARM, ISA_A32 },
	{ EM_X86_64, ISA_X86_64 },
	{ EM_386, ISA_X86_32 },
};

/* What uname() calls them; the first that the name begins with. */
static const struct {
	const char *prefix;
	enum isa isa;
} architectures[] = {
	{ "aarch64", ISA_A64 },	  { "arm64", ISA_A64 }, { "arm", ISA_A32 },
	{ "x86_64", ISA_X86_64 }, { "i", ISA_X86_32 },
};

static enum isa isa_of_machine(uint16_t machine)
{
	for (size_t i = 0; i < COUNT(machines); i++) {
		if (machines[i].machine == machine)
			return machines[i].isa;
	}
	return ISA_UNKNOWN;
}

static enum isa isa_of_architecture(const char *name)
{
	for (size_t i = 0; name != NULL && i < COUNT(architectures); i++) {
		if (strncmp(name, architectures[i].prefix, strlen(architectures[i].prefix)) == 0)
			return architectures[i].isa;
	}
	return ISA_UNKNOWN;
}

/* The bytes of the file; both kinds of it are held in memory. */
static struct cursor variables_code_bytes_of(const struct elf_file *file)
{
	if (file->image != NULL)
		return cur_of(file->image, file->image_size);
	return cur_of(file->bytes.bytes, file->bytes.size);
}

/* The bytes of a section from an address in it; bad if the file is cut short. */
static struct cursor section_from(const struct elf_file *file, const GElf_Shdr *header,
				  uint64_t address)
{
	struct cursor all = variables_code_bytes_of(file);
	struct cursor section;

	cur_skip(&all, header->sh_offset);
	section = cur_split(&all, header->sh_size);
	cur_skip(&section, address - header->sh_addr);
	return section;
}

/*
 * The section of code with an address of the file. Sections tell more than segments: in a debug
 * file the segments are those of the original, and the sections say that their bytes are not there.
 */
static bool find_section(const struct elf_file *file, uint64_t address, GElf_Shdr *out)
{
	Elf_Scn *section = NULL;
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		if (gelf_getshdr(section, out) == NULL)
			break;
		if ((out->sh_flags & flags) == flags && address >= out->sh_addr &&
		    address - out->sh_addr < out->sh_size)
			return out->sh_type != SHT_NOBITS;
	}
	return false;
}

/* The section with the code of a place, and the address of that. */
static bool section_of(struct symbols *s, struct place place, GElf_Shdr *out, uint64_t *address)
{
	const struct binary *binary = &s->states[place.module.v].binary;

	symbols_prepare(s, place.module);
	symbols_load(s, place.module);
	/* The sections of a relocatable file (a kernel module) have no addresses. */
	return elf_file_is_open(&binary->code) && binary->code.type != ET_REL &&
	       binary_address(binary, place.offset, address) &&
	       find_section(&binary->code, *address, out);
}

/* The function of a JIT compiler's dump that has the place; NULL: the module is none, or it has none there. */
static const struct function *dumped_function(struct symbols *s, struct place place)
{
	const struct binary *binary = &s->states[place.module.v].binary;

	symbols_prepare(s, place.module);
	symbols_load(s, place.module);
	return binary->dump.size > 0 ? binary_find(binary, place.offset) : NULL;
}

bool symbols_code_around(struct symbols *s, struct place place, uint64_t *before, uint64_t *after)
{
	const struct function *dumped = dumped_function(s, place);
	GElf_Shdr section;
	uint64_t address;

	if (dumped != NULL) {
		*before = place.offset - dumped->start;
		*after = dumped->size - *before;
		return true;
	}
	if (!section_of(s, place, &section, &address))
		return false;
	*before = address - section.sh_addr;
	*after = section.sh_size - *before;
	return true;
}

bool symbols_code(struct symbols *s, struct place place, uint64_t max, struct code *out)
{
	const struct binary *binary = &s->states[place.module.v].binary;
	GElf_Shdr section;
	uint64_t address;
	const struct function *dumped = dumped_function(s, place);
	struct cursor code;

	if (dumped != NULL) {
		uint64_t left = dumped->start + dumped->size - place.offset;

		*out = (struct code){
			.bytes = binary->dump.bytes + place.offset,
			.size = (size_t)(left < max ? left : max),
			.isa = isa_of_machine(binary->dump_machine),
		};
		return max > 0;
	}
	if (!section_of(s, place, &section, &address))
		return false;
	code = section_from(&binary->code, &section, address);
	if (!cur_ok(&code) || cur_left(&code) == 0 || max == 0)
		return false;
	*out = (struct code){
		.bytes = code.pos,
		.size = cur_left(&code) < max ? cur_left(&code) : (size_t)max,
		.isa = isa_of_machine(binary->code.machine),
	};
	return true;
}

bool symbols_access(struct symbols *s, struct place place, struct isa_access *out)
{
	struct code code;

	return symbols_code(s, place, ISA_LONGEST_INSTRUCTION, &code) &&
	       isa_access(code.isa, code.bytes, code.size, out);
}

bool symbols_has_code(struct symbols *s, struct module_id module)
{
	const struct binary *binary = &s->states[module.v].binary;

	symbols_prepare(s, module);
	symbols_load(s, module);
	return elf_file_is_open(&binary->code) || binary->dump.size > 0;
}

enum isa symbols_isa(struct symbols *s, struct module_id module)
{
	const struct binary *binary = &s->states[module.v].binary;

	symbols_prepare(s, module);
	symbols_load(s, module);
	if (elf_file_is_open(&binary->code))
		return isa_of_machine(binary->code.machine);
	if (binary->dump.size > 0)
		return isa_of_machine(binary->dump_machine);
	return isa_of_architecture(s->options.arch);
}
