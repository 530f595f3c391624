/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_builder.h"

#include <fcntl.h>
#include <ftw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

enum { MAX_STRINGS = 4096, MAX_SYMBOLS = 64 };

/* A string table being filled. */
struct string_table {
	char bytes[MAX_STRINGS];
	size_t n;
};

struct writing {
	Elf *elf;
	bool is_64;
	struct string_table names, symbol_names, dynamic_names;
	uint8_t symbols[2][MAX_SYMBOLS * sizeof(Elf64_Sym)];
	struct {
		uint32_t name_size, size, type;
		char name[4];
		uint8_t id[BUILD_ID_MAX];
	} note;
};

/* Unlike assert(), it stays in every build: what it checks is needed. */
static void must(bool is_done)
{
	if (!is_done)
		abort();
}

static size_t add_string(struct string_table *table, const char *text)
{
	size_t at = table->n;

	if (table->n == 0)
		table->n = at = 1;
	must(at + strlen(text) + 1 <= sizeof(table->bytes));
	memcpy(table->bytes + at, text, strlen(text) + 1);
	table->n += strlen(text) + 1;
	return at;
}

static Elf_Scn *add_section(struct writing *w, const struct built_section *s)
{
	static const uint8_t zeros[1 << 16];
	Elf_Scn *section = elf_newscn(w->elf);
	Elf_Data *data = elf_newdata(section);
	GElf_Shdr header;

	must(data != NULL && gelf_getshdr(section, &header) != NULL && s->size <= sizeof(zeros));
	data->d_buf = (void *)(uintptr_t)(s->bytes == NULL ? zeros : s->bytes);
	data->d_size = s->size;
	data->d_align = 16;
	data->d_type = ELF_T_BYTE;
	header.sh_name = (GElf_Word)add_string(&w->names, s->name);
	header.sh_type = s->type;
	header.sh_flags = s->flags;
	header.sh_addr = s->address;
	header.sh_addralign = 16;
	header.sh_link = s->link;
	must(gelf_update_shdr(section, &header) != 0);
	return section;
}

static void add_symbol_table(struct writing *w, const struct built_symbol *symbols, bool is_dynamic)
{
	struct string_table *names = is_dynamic ? &w->dynamic_names : &w->symbol_names;
	struct built_section section = {
		.name = is_dynamic ? ".dynsym" : ".symtab",
		.type = is_dynamic ? SHT_DYNSYM : SHT_SYMTAB,
		.bytes = w->symbols[is_dynamic],
	};
	struct built_section strings = {
		.name = is_dynamic ? ".dynstr" : ".strtab",
		.type = SHT_STRTAB,
		.bytes = names->bytes,
	};
	Elf_Data *data;
	size_t n = 1;

	while (symbols[n - 1].name != NULL)
		n++;
	must(n <= MAX_SYMBOLS);
	section.size = n * (w->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	for (size_t i = 1; i < n; i++)
		(void)add_string(names, symbols[i - 1].name);
	strings.size = names->n;
	section.link = (unsigned)elf_ndxscn(add_section(w, &strings));
	data = elf_getdata(add_section(w, &section), NULL);
	data->d_type = ELF_T_SYM;
	names->n = 0;
	for (size_t i = 1; i < n; i++) {
		const struct built_symbol *s = &symbols[i - 1];
		GElf_Sym symbol = {
			.st_name = (GElf_Word)add_string(names, s->name),
			.st_info = (unsigned char)GELF_ST_INFO(s->bind, s->type),
			.st_other = s->visibility,
			.st_shndx = s->section,
			.st_value = s->value,
			.st_size = s->size,
		};

		must(gelf_update_sym(data, (int)i, &symbol) != 0);
	}
}

static void set_entry_size(Elf_Scn *section, bool is_64)
{
	static const struct {
		uint32_t type;
		size_t size_64, size_32;
	} sizes[] = {
		{ SHT_SYMTAB, sizeof(Elf64_Sym), sizeof(Elf32_Sym) },
		{ SHT_DYNSYM, sizeof(Elf64_Sym), sizeof(Elf32_Sym) },
		{ SHT_RELA, sizeof(Elf64_Rela), sizeof(Elf32_Rela) },
		{ SHT_REL, sizeof(Elf64_Rel), sizeof(Elf32_Rel) },
	};
	GElf_Shdr header;

	must(gelf_getshdr(section, &header) != NULL);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		if (sizes[i].type == header.sh_type)
			header.sh_entsize = is_64 ? sizes[i].size_64 : sizes[i].size_32;
	}
	must(gelf_update_shdr(section, &header) != 0);
}

static void add_note(struct writing *w, const struct build_id *id)
{
	struct built_section section = {
		.name = ".note.gnu.build-id",
		.type = SHT_NOTE,
		.flags = SHF_ALLOC,
		.bytes = &w->note,
		.size = 16 + id->size,
	};

	w->note.name_size = 4;
	w->note.size = id->size;
	w->note.type = NT_GNU_BUILD_ID;
	memcpy(w->note.name, "GNU", 4);
	memcpy(w->note.id, id->bytes, id->size);
	elf_getdata(add_section(w, &section), NULL)->d_align = 4;
}

/* Relocations are written by their type, so that libelf gives them the file's class. */
static void add_sections(struct writing *w, const struct built_elf *elf)
{
	for (const struct built_section *s = elf->sections; s != NULL && s->name != NULL; s++)
		add_section(w, s);
	if (elf->build_id.size > 0)
		add_note(w, &elf->build_id);
	if (elf->symbols != NULL)
		add_symbol_table(w, elf->symbols, false);
	if (elf->dynamic != NULL)
		add_symbol_table(w, elf->dynamic, true);
}

/* Links relocations to .dynsym and finishes the headers of sections. */
static void link_sections(struct writing *w)
{
	Elf_Scn *section = NULL, *dynamic = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(w->elf, section)) != NULL) {
		set_entry_size(section, w->is_64);
		if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_DYNSYM)
			dynamic = section;
	}
	while ((section = elf_nextscn(w->elf, section)) != NULL) {
		must(gelf_getshdr(section, &header) != NULL);
		if (header.sh_type != SHT_RELA && header.sh_type != SHT_REL)
			continue;
		header.sh_link = dynamic == NULL ? 0 : (GElf_Word)elf_ndxscn(dynamic);
		must(gelf_update_shdr(section, &header) != 0);
	}
}

static void write_header(struct writing *w, const struct built_elf *elf)
{
	GElf_Ehdr header;
	struct built_section names = { .name = ".shstrtab",
				       .type = SHT_STRTAB,
				       .bytes = w->names.bytes };
	Elf_Scn *section = add_section(w, &names);

	elf_getdata(section, NULL)->d_size = w->names.n;
	must(gelf_getehdr(w->elf, &header) != NULL);
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_machine = elf->machine;
	header.e_type = elf->type == 0 ? ET_DYN : elf->type;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = (GElf_Half)elf_ndxscn(section);
	must(gelf_update_ehdr(w->elf, &header) != 0);
}

/* Gives the first section its PT_LOAD, now that its place in the file is known. */
static uint64_t write_segment(struct writing *w, const struct built_elf *elf)
{
	GElf_Shdr first;
	GElf_Phdr load = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = 4096 };

	must(gelf_getshdr(elf_getscn(w->elf, 1), &first) != NULL);
	if (elf->type == ET_REL)
		return first.sh_offset;
	load.p_offset = first.sh_offset;
	load.p_vaddr = load.p_paddr = first.sh_addr;
	load.p_filesz = load.p_memsz = first.sh_size;
	must(gelf_update_phdr(w->elf, 0, &load) != 0);
	return first.sh_offset;
}

uint64_t elf_build(const char *path, const struct built_elf *elf)
{
	struct writing w = { .is_64 = elf->elf_class != ELFCLASS32 };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	uint64_t offset;

	must(fd >= 0);
	elf_version(EV_CURRENT);
	w.elf = elf_begin(fd, ELF_C_WRITE, NULL);
	must(w.elf != NULL && gelf_newehdr(w.elf, w.is_64 ? ELFCLASS64 : ELFCLASS32) != NULL);
	if (elf->type != ET_REL)
		must(gelf_newphdr(w.elf, 1) != NULL);
	add_sections(&w, elf);
	link_sections(&w);
	write_header(&w, elf);
	must(elf_update(w.elf, ELF_C_NULL) > 0);
	offset = write_segment(&w, elf);
	must(elf_update(w.elf, ELF_C_WRITE) > 0);
	elf_end(w.elf);
	close(fd);
	return offset;
}

char *folder_make(void)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = mem_alloc(4096, 1);

	snprintf(folder, 4096, "%s/cyclops-symbol-XXXXXX", tmp == NULL ? "/tmp" : tmp);
	must(mkdtemp(folder) != NULL);
	return folder;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void folder_remove(char *folder)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
}

const char *in_folder(const char *folder, const char *name)
{
	static char paths[4][4096];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
	return path;
}

void file_write(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	must(file != NULL);
	must(fwrite(bytes, 1, size, file) == size);
	fclose(file);
}
