/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of the program and of the libraries that are loaded with it are at fixed distances
 * from the thread pointer; of the program's the linker knows it ("ELF Handling For Thread-Local
 * Storage", variants I and II): AArch64 has it behind two words of the C library's, x86-64 right
 * below. All else comes from a slot of the global offset table, whose relocation names it.
 */
#include "variables/thread_local.h"

#include "isa/thread_pointer.h"
#include "symbol/symbols_state.h"

enum { A64_HEAD_BYTES = 16 };

static uint64_t aligned(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

/* Is it the program itself, whatever its type? The loader's flag says so. */
static bool is_program(const struct elf_file *file)
{
	struct cursor dynamic = elf_file_bytes(file, ".dynamic");

	if (file->type == ET_EXEC)
		return true;
	while (cur_left(&dynamic) >= 2 * sizeof(uint64_t)) {
		uint64_t tag = cur_u64(&dynamic);
		uint64_t value = cur_u64(&dynamic);

		if (tag == DT_FLAGS_1)
			return value & DF_1_PIE;
	}
	return false;
}

/* Of a distance from the thread pointer that the linker put in the code. */
static bool by_distance(const struct elf_file *file, uint64_t distance, struct thread_place *out)
{
	const struct elf_thread_block *block = &file->thread_block;

	if (block->address % block->align != 0 || !is_program(file))
		return false;
	out->offset = file->machine == EM_AARCH64 ? distance - aligned(A64_HEAD_BYTES, block->align)
						  : distance + aligned(block->size, block->align);
	out->is_own = true;
	return out->offset < block->size;
}

/* What a relocation adds to the start of the module's own block; false if it is another's. */
static bool is_own_symbol(const struct elf_file *file, size_t table, const GElf_Rela *relocation,
			  struct thread_place *out)
{
	Elf_Data *symbols = elf_getdata(elf_getscn(file->elf, table), NULL);
	uint64_t number = GELF_R_SYM(relocation->r_info);
	GElf_Sym symbol;

	out->offset = (uint64_t)relocation->r_addend;
	out->is_own = true;
	if (number == 0)
		return true;
	if (number > INT32_MAX || symbols == NULL ||
	    gelf_getsym(symbols, (int)number, &symbol) == NULL || symbol.st_shndx == SHN_UNDEF)
		return false;
	out->offset += symbol.st_value;
	out->is_own = is_program(file) || GELF_ST_BIND(symbol.st_info) == STB_LOCAL ||
		      GELF_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT;
	return true;
}

static bool thread_local_find_relocation(const struct elf_file *file, uint64_t slot, uint32_t type,
					 size_t *out_table, GElf_Rela *out)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;

		if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_RELA ||
		    header.sh_entsize == 0 || (data = elf_getdata(section, NULL)) == NULL)
			continue;
		*out_table = header.sh_link;
		for (int i = 0; gelf_getrela(data, i, out) != NULL; i++)
			if (out->r_offset == slot && GELF_R_TYPE(out->r_info) == type)
				return true;
	}
	return false;
}

static bool by_slot(const struct elf_file *file, const struct isa_thread_address *a,
		    struct thread_place *out)
{
	GElf_Rela relocation;
	size_t table;

	if (!thread_local_find_relocation(
		    file, a->slot, a->is_descriptor ? R_AARCH64_TLSDESC : R_AARCH64_TLS_TPREL,
		    &table, &relocation) ||
	    !is_own_symbol(file, table, &relocation, out))
		return false;
	out->offset += a->offset;
	return out->offset < file->thread_block.size;
}

bool thread_local_find(struct symbols *s, struct module_id module,
		       const struct isa_followed *followed, uint64_t address, enum isa isa,
		       const struct isa_operand *operand, struct thread_place *out)
{
	const struct elf_file *file = &s->states[module.v].binary.code;
	struct isa_thread_address found;

	if (!elf_file_is_open(file) || file->thread_block.size == 0)
		return false;
	if (isa == ISA_A64) {
		if (followed == NULL || !isa_thread_address(followed, address, operand, &found))
			return false;
		out->is_element = found.has_index;
		return found.has_slot ? by_slot(file, &found, out)
				      : by_distance(file, found.offset, out);
	}
	if (!operand->is_thread || isa != ISA_X86_64)
		return false;
	out->is_element = operand->has_index;
	return out->is_element || by_distance(file, (uint64_t)operand->displacement, out);
}
