/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_symbols.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A section as far as symbols are concerned, by its index. */
struct code_section {
	uint64_t start, end; /* addresses */
	bool is_code;
};

/* One symbol table being read. */
struct table {
	const struct elf_file *file;
	VEC_OF(struct code_section) sections;
	Elf_Data *symbols;
	size_t names; /* index of its string table */
	size_t n;
	bool is_of_objects; /* data is wanted, not code */
};

/* What the module loader puts in the first, executable part of a module. */
static bool is_module_code(const GElf_Shdr *header, const char *name)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;

	return (header->sh_flags & code) == code && name != NULL && strncmp(name, ".init", 5) != 0;
}

/* Gives a section of a relocatable file the place it will have in memory. */
static struct code_section lay_out(const GElf_Shdr *header, const char *name, uint64_t *next)
{
	uint64_t align = header->sh_addralign > 0 ? header->sh_addralign : 1;
	uint64_t start = (*next + align - 1) / align * align;

	if (!is_module_code(header, name) || header->sh_size > UINT32_MAX || align > UINT32_MAX)
		return (struct code_section){ 0 };
	*next = start + header->sh_size;
	return (struct code_section){ .start = start, .end = *next, .is_code = true };
}

static struct code_section loaded_section(const GElf_Shdr *header)
{
	return (struct code_section){
		.start = header->sh_addr,
		.end = header->sh_size > UINT64_MAX - header->sh_addr
			       ? UINT64_MAX
			       : header->sh_addr + header->sh_size,
		.is_code = (header->sh_flags & SHF_EXECINSTR) != 0,
	};
}

static void read_sections(struct table *t)
{
	size_t names = 0;
	uint64_t next = 0;
	Elf_Scn *section = NULL;

	(void)elf_getshdrstrndx(t->file->elf, &names);
	vec_add(&t->sections); /* section 0 is none */
	while ((section = elf_nextscn(t->file->elf, section)) != NULL) {
		GElf_Shdr header = { 0 };

		(void)gelf_getshdr(section, &header);
		*vec_add(&t->sections) =
			t->file->type == ET_REL
				? lay_out(&header, elf_strptr(t->file->elf, names, header.sh_name),
					  &next)
				: loaded_section(&header);
	}
}

static bool find_table(struct table *t, uint32_t type)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(t->file->elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) == NULL || header.sh_type != type)
			continue;
		t->symbols = elf_getdata(section, NULL);
		if (t->symbols == NULL || header.sh_entsize == 0)
			return false;
		t->names = header.sh_link;
		t->n = t->symbols->d_size / gelf_fsize(t->file->elf, ELF_T_SYM, 1, EV_CURRENT);
		return true;
	}
	return false;
}

/* Names the assembler makes to tell code from data, and local labels. */
static bool is_marker(uint16_t machine, const char *name)
{
	if (name[0] == '.' && name[1] == 'L')
		return true;
	if (name[0] != '$' || name[1] == '\0')
		return false;
	switch (machine) {
	case EM_ARM:
	case EM_AARCH64:
		return strchr("adtx", name[1]) != NULL && (name[2] == '\0' || name[2] == '.');
	case EM_RISCV:
		return name[1] == 'x' || name[1] == 'd';
	default:
		return false;
	}
}

/* Without a size, what is inside is not known. */
static bool is_object(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_OBJECT || type == STT_COMMON) && symbol->st_size > 0;
}

static bool is_function(const GElf_Sym *symbol)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE: /* a label in assembly code; hidden ones mark ends of sections */
		return GELF_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT;
	default:
		return false;
	}
}

static enum function_binding binding_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_WEAK:
		return FUNCTION_WEAK;
	case STB_LOCAL:
		return FUNCTION_LOCAL;
	default:
		return FUNCTION_GLOBAL;
	}
}

static bool describe_thread_local(const struct table *t, const GElf_Sym *symbol,
				  struct function *out)
{
	const char *name = elf_strptr(t->file->elf, t->names, symbol->st_name);
	uint64_t size = t->file->thread_block.size;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_size == 0 || name == NULL ||
	    symbol->st_value >= size)
		return false;
	*out = (struct function){
		.start = symbol->st_value | ELF_THREAD_LOCAL,
		.size = symbol->st_size,
		.limit = size | ELF_THREAD_LOCAL,
		.name = name,
		.binding = binding_of(symbol),
	};
	return true;
}

/* Describes a symbol; false if it is not what is wanted. */
static bool elf_symbol_describe(const struct table *t, const GElf_Sym *symbol, struct function *out)
{
	const struct code_section *section;
	const char *name;

	if (t->is_of_objects && GELF_ST_TYPE(symbol->st_info) == STT_TLS)
		return describe_thread_local(t, symbol, out);
	if (!(t->is_of_objects ? is_object(symbol) : is_function(symbol)) ||
	    symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
	    symbol->st_shndx >= t->sections.n)
		return false;
	section = &t->sections.items[symbol->st_shndx];
	name = elf_strptr(t->file->elf, t->names, symbol->st_name);
	if (section->is_code == t->is_of_objects || name == NULL ||
	    is_marker(t->file->machine, name))
		return false;
	*out = (struct function){
		.start = symbol->st_value,
		.size = symbol->st_size,
		.limit = section->end,
		.name = name,
		.binding = binding_of(symbol),
	};
	if (t->file->type == ET_REL)
		out->start += section->start;
	if (t->file->machine == EM_ARM && is_function(symbol) &&
	    GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		out->start &= ~(uint64_t)1;
	return out->start >= section->start;
}

static size_t add_symbols(struct functions *functions, struct table *t, uint32_t type)
{
	size_t n_before = functions->list.n;

	if (!find_table(t, type))
		return 0;
	read_sections(t);
	for (size_t i = 1; i < t->n && i <= INT32_MAX; i++) {
		GElf_Sym symbol;
		struct function function;

		if (gelf_getsym(t->symbols, (int)i, &symbol) == NULL)
			break;
		if (elf_symbol_describe(t, &symbol, &function))
			functions_add(functions, &function);
	}
	vec_release(&t->sections);
	return functions->list.n - n_before;
}

size_t elf_symbols_add(struct functions *functions, const struct elf_file *file, uint32_t type)
{
	struct table t = { .file = file };

	return add_symbols(functions, &t, type);
}

size_t elf_symbols_add_objects(struct functions *objects, const struct elf_file *file,
			       uint32_t type)
{
	struct table t = { .file = file, .is_of_objects = true };

	/* The kernel's module loader puts data where nobody but it knows. */
	return file->type == ET_REL ? 0 : add_symbols(objects, &t, type);
}

bool elf_symbols_find(const struct elf_file *file, const char *wanted, uint64_t *out)
{
	struct table t = { .file = file };

	if (!find_table(&t, SHT_SYMTAB))
		return false;
	for (size_t i = 1; i < t.n && i <= INT32_MAX; i++) {
		GElf_Sym symbol;
		const char *name;

		if (gelf_getsym(t.symbols, (int)i, &symbol) == NULL)
			break;
		name = elf_strptr(file->elf, t.names, symbol.st_name);
		if (name != NULL && strcmp(name, wanted) == 0 && symbol.st_shndx != SHN_UNDEF) {
			*out = symbol.st_value;
			return true;
		}
	}
	return false;
}

bool elf_symbols_is_indirect(const struct elf_file *file, uint64_t address)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };

	for (size_t k = 0; k < COUNT(types); k++) {
		struct table t = { .file = file };

		if (!find_table(&t, types[k]))
			continue;
		for (size_t i = 1; i < t.n && i <= INT32_MAX; i++) {
			GElf_Sym symbol;

			if (gelf_getsym(t.symbols, (int)i, &symbol) == NULL)
				break;
			if (GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC &&
			    symbol.st_value == address)
				return true;
		}
	}
	return false;
}
