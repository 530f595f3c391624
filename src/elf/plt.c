/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stub jumps through a slot of the global offset table, and a relocation says which symbol
 * the slot is for. So the stub's instructions are read for the slot; counting stubs instead
 * would go wrong with each new layout a linker invents.
 */
#include "elf/plt.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/stub.h"

struct machine;

/* A slot and the symbol it is for. */
struct slot {
	uint64_t address;
	const char *name;
};

struct plt {
	const struct elf_file *file;
	const struct machine *machine;
	struct functions *functions;
	VEC_OF(struct slot) slots; /* by address */
	uint64_t got;		   /* what i386 code has in ebx */
};

/* Instructions at an address. */
struct code {
	struct cursor bytes;
	uint64_t address;
};

/*
 * Finds which slot a stub at the start of `code` jumps through. Returns how many bytes were
 * read for that, 0 if there is no stub.
 */
typedef size_t stub_reader(const struct plt *, struct code, uint64_t *out_slot);

static size_t plt_read_x86(const struct plt *plt, struct code code, uint64_t *out_slot)
{
	enum isa isa = plt->file->machine == EM_386 ? ISA_X86_32 : ISA_X86_64;

	return isa_x86_stub(isa, code.bytes.pos, cur_left(&code.bytes), code.address, plt->got,
			    out_slot);
}

/* [bti c] adrp x16, page; ldr x17, [x16, offset]; add x16, …; br x17 */
static size_t read_aarch64(const struct plt *plt, struct code code, uint64_t *out_slot)
{
	struct cursor c = code.bytes;
	uint64_t pc = code.address;
	uint32_t adrp = cur_u32(&c);
	uint32_t load;
	uint64_t page;

	(void)plt;
	if (adrp == 0xd503245f) {
		pc += 4;
		adrp = cur_u32(&c);
	}
	load = cur_u32(&c);
	if (!cur_ok(&c) || (adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (uint64_t)(adrp >> 5 & 0x7ffff) << 14 | (uint64_t)(adrp >> 29 & 3) << 12;
	if (page >> 32 != 0)
		page |= 0xffffffff00000000;
	*out_slot = (pc & ~(uint64_t)0xfff) + page + (uint64_t)(load >> 10 & 0xfff) * 8;
	return (size_t)(c.pos - code.bytes.pos);
}

/* The immediate of an A32 data-processing instruction: eight bits, rotated. */
static uint32_t arm_immediate(uint32_t instruction)
{
	uint32_t value = instruction & 0xff;
	uint32_t rotate = (instruction >> 8 & 15) * 2;

	return rotate == 0 ? value : value >> rotate | value << (32 - rotate);
}

/* [bx pc; nop] add ip, pc, …; add ip, ip, …; ldr pc, [ip, offset]! */
static size_t read_arm(const struct plt *plt, struct code code, uint64_t *out_slot)
{
	struct cursor c = code.bytes;
	uint32_t pc = (uint32_t)code.address;
	uint32_t instruction = cur_u32(&c);
	uint32_t ip;

	(void)plt;
	if (instruction == 0x46c04778) { /* from Thumb */
		pc += 4;
		instruction = cur_u32(&c);
	}
	if ((instruction & 0xfffff000) != 0xe28fc000)
		return 0;
	ip = pc + 8 + arm_immediate(instruction);
	for (instruction = cur_u32(&c); (instruction & 0xfffff000) == 0xe28cc000;
	     instruction = cur_u32(&c))
		ip += arm_immediate(instruction);
	if (!cur_ok(&c) || (instruction & 0xffdff000) != 0xe59cf000)
		return 0;
	*out_slot = ip + (instruction & 0xfff);
	return (size_t)(c.pos - code.bytes.pos);
}

/* How stubs are read, by machine. */
struct machine {
	uint16_t machine;   /* EM_… */
	uint8_t step;	    /* stubs start at multiples of it */
	uint8_t max;	    /* no stub is longer */
	uint32_t irelative; /* the relocation that calls a function for the address; 0: none */
	stub_reader *read;
};

static const struct machine machines[] = {
	{ EM_AARCH64, 4, 24, R_AARCH64_IRELATIVE, read_aarch64 },
	{ EM_ARM, 4, 20, 0, read_arm },
	{ EM_X86_64, 8, 16, R_X86_64_IRELATIVE, plt_read_x86 },
	{ EM_386, 8, 16, 0, plt_read_x86 },
};

static const char *const stub_sections[] = { ".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt" };

static const struct machine *plt_find_machine(const struct elf_file *file)
{
	const char *ident = elf_getident(file->elf, NULL);

	for (size_t i = 0; i < COUNT(machines); i++) {
		if (machines[i].machine == file->machine && ident != NULL &&
		    ident[EI_DATA] == ELFDATA2LSB)
			return &machines[i];
	}
	return NULL;
}

/* Reads entry `i` of a relocation section. */
static bool read_relocation(Elf_Data *data, uint32_t section_type, int i, GElf_Rela *out)
{
	GElf_Rel rel = { 0 };

	if (section_type == SHT_RELA)
		return gelf_getrela(data, i, out) != NULL;
	if (gelf_getrel(data, i, &rel) == NULL)
		return false;
	*out = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

/* The table that a relocation section takes its symbols from. */
struct symbol_table {
	Elf_Data *symbols; /* NULL if it is not .dynsym */
	size_t names;
};

/* The name of what a relocation puts into its slot, NULL if it is not a function by name. */
static const char *plt_target_of(const struct plt *plt, const struct symbol_table *table,
				 const GElf_Rela *relocation)
{
	uint64_t index = GELF_R_SYM(relocation->r_info);
	const struct function *function;
	GElf_Sym symbol;

	if (index > 0 && index <= INT32_MAX)
		return gelf_getsym(table->symbols, (int)index, &symbol) == NULL
			       ? NULL
			       : elf_strptr(plt->file->elf, table->names, symbol.st_name);
	if (GELF_R_TYPE(relocation->r_info) != plt->machine->irelative)
		return NULL;
	function = functions_find(plt->functions, (uint64_t)relocation->r_addend);
	return function == NULL || function->start != (uint64_t)relocation->r_addend
		       ? NULL
		       : function->name;
}

static void add_slots(struct plt *plt, Elf_Scn *section, uint32_t section_type,
		      const struct symbol_table *table)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Rela relocation;

	for (int i = 0; i < INT32_MAX && read_relocation(data, section_type, i, &relocation); i++) {
		const char *name = plt_target_of(plt, table, &relocation);

		if (name != NULL && name[0] != '\0')
			*vec_add(&plt->slots) =
				(struct slot){ .address = relocation.r_offset, .name = name };
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static struct symbol_table table_of(const struct plt *plt, const GElf_Shdr *relocations)
{
	Elf_Scn *section = elf_getscn(plt->file->elf, relocations->sh_link);
	GElf_Shdr header;

	if (section == NULL || gelf_getshdr(section, &header) == NULL ||
	    header.sh_type != SHT_DYNSYM)
		return (struct symbol_table){ 0 };
	return (struct symbol_table){ elf_getdata(section, NULL), header.sh_link };
}

static void read_slots(struct plt *plt)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(plt->file->elf, section)) != NULL) {
		struct symbol_table table;
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) == NULL ||
		    (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
			continue;
		table = table_of(plt, &header);
		add_slots(plt, section, header.sh_type, &table);
	}
	if (plt->slots.n > 0)
		qsort(plt->slots.items, plt->slots.n, sizeof(*plt->slots.items), compare_slots);
}

/* What a slot is for, NULL if no relocation tells. */
static const char *plt_find_target(const struct plt *plt, uint64_t slot)
{
	struct slot key = { .address = slot };
	const struct slot *found = bsearch(&key, plt->slots.items, plt->slots.n,
					   sizeof(*plt->slots.items), compare_slots);

	return found == NULL ? NULL : found->name;
}

static void add_stubs(struct plt *plt, struct code code)
{
	const struct machine *machine = plt->machine;
	uint64_t end = code.address + cur_left(&code.bytes);

	while (cur_left(&code.bytes) > 0) {
		uint64_t slot;
		size_t read = machine->read(plt, code, &slot);
		const char *name = read > 0 ? plt_find_target(plt, slot) : NULL;
		uint64_t limit = code.address + machine->max;
		size_t step = machine->step;

		if (name != NULL) {
			functions_add(plt->functions,
				      &(struct function){ .start = code.address,
							  .limit = limit < end ? limit : end,
							  .name = name,
							  .binding = FUNCTION_LOCAL,
							  .is_stub = true });
			step = (read + step - 1) / step * step;
		}
		cur_skip(&code.bytes, step);
		code.address += step;
	}
}

size_t plt_add(struct functions *functions, const struct elf_file *file)
{
	struct plt plt = { .file = file,
			   .functions = functions,
			   .machine = plt_find_machine(file) };
	size_t n_before = functions->list.n;
	GElf_Shdr header;

	if (plt.machine == NULL)
		return 0;
	if (elf_file_find_section(file, ".got.plt", &header) != NULL ||
	    elf_file_find_section(file, ".got", &header) != NULL)
		plt.got = header.sh_addr;
	read_slots(&plt);
	for (size_t i = 0; i < COUNT(stub_sections) && plt.slots.n > 0; i++) {
		if (elf_file_find_section(file, stub_sections[i], &header) == NULL)
			continue;
		add_stubs(&plt, (struct code){ .bytes = elf_file_bytes(file, stub_sections[i]),
					       .address = header.sh_addr });
	}
	vec_release(&plt.slots);
	return functions->list.n - n_before;
}
