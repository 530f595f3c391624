/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/dwarf_file.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "dwarf/split.h"

enum {
	/* Ranges looked at for the index; a file also has one for each two of its bytes. */
	MIN_STEPS = 1 << 20,
};

static void handle_release(struct dwarf_handle *handle)
{
	if (handle->elf == NULL)
		return;
	if (handle->dwarf != NULL)
		dwarf_end(handle->dwarf);
	elf_end(handle->elf);
	close(handle->fd);
	*handle = (struct dwarf_handle){ 0 };
}

static bool handle_begin(struct dwarf_handle *handle)
{
	handle->dwarf = dwarf_begin_elf(handle->elf, DWARF_C_READ, NULL);
	/*
	 * Says that there is no file with common parts (dwz), unless one is given: libdw would look for it wherever
	 * the link says, also outside of --symfs.
	 */
	if (handle->dwarf != NULL)
		dwarf_setalt(handle->dwarf, (Dwarf *)(intptr_t)-1);
	return handle->dwarf != NULL;
}

/* By a descriptor rather than from memory: libdw finds .dwo files beside the open file. */
static int handle_open(struct dwarf_handle *out, const char *path, struct err *err)
{
	struct dwarf_handle handle = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	struct stat found;

	if (handle.fd < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno));
	if (fstat(handle.fd, &found) < 0 || !S_ISREG(found.st_mode)) {
		close(handle.fd);
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: is not a regular file", path);
	}
	elf_version(EV_CURRENT);
	handle.elf = elf_begin(handle.fd, ELF_C_READ_MMAP, NULL);
	if (handle.elf == NULL) {
		close(handle.fd);
		return err_set(err, ERR_FORMAT, 0, "%s: is not an ELF file", path);
	}
	if (!handle_begin(&handle)) {
		handle_release(&handle);
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "%s: DWARF cannot be read: %s", path,
			       dwarf_errmsg(-1));
	}
	*out = handle;
	return 0;
}

/*
 * Adds what the line table of unit `index` covers, up to the end of each sequence: perf inject -j
 * writes units that have nothing else.
 */
static void index_lines(struct dwarf_file *file, uint32_t index, uint64_t *steps)
{
	Dwarf_Lines *lines;
	size_t n;
	Dwarf_Addr start = 0, end;
	bool is_end = true, was_end = true;

	if (dwarf_getsrclines(&file->units.items[index].die, &lines, &n) != 0)
		return;
	for (size_t i = 0; i<n && * steps> 0; i++, was_end = is_end) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		--*steps;
		if (dwarf_lineaddr(row, &end) != 0 || dwarf_lineendsequence(row, &is_end) != 0)
			return;
		if (was_end)
			start = end;
		if (is_end && start > 0)
			ranges_add(&file->ranges, start, end, index);
	}
}

/* Adds the ranges of unit `index`; takes one of `steps` for each. */
static void index_unit(struct dwarf_file *file, uint32_t index, uint64_t *steps)
{
	Dwarf_Die *die = &file->units.items[index].die;
	uint64_t base, start, end;
	ptrdiff_t next = 0;

	if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges) &&
	    dwarf_hasattr(die, DW_AT_stmt_list))
		index_lines(file, index, steps);
	while (*steps > 0 && (next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		--*steps;
		/* What the linker threw away keeps a range that starts at 0. */
		if (start > 0)
			ranges_add(&file->ranges, start, end, index);
	}
}

static uint64_t file_size(const struct dwarf_handle *handle)
{
	struct stat st;

	return fstat(handle->fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* Lists the units with code, and how far each reaches: to the next unit. */
static int list_units(struct dwarf_file *file)
{
	uint64_t end = file_size(&file->main);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	int more;

	while ((more = dwarf_get_units(file->main.dwarf, unit, &unit, NULL, &type, &die, NULL)) ==
	       0) {
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			*vec_add(&file->units) =
				(struct dwarf_unit){ .die = die, .splits = file->splits };
	}
	for (size_t i = file->units.n; i-- > 0;) {
		uint64_t start = dwarf_dieoffset(&file->units.items[i].die);

		file->units.items[i].size_bytes = start < end ? end - start : 0;
		end = start;
	}
	return more < 0 ? -1 : 0;
}

/* Behind dwarf_begin_elf(), which gives compressed sections their contents. */
static void find_sections(struct dwarf_file *file)
{
	const struct {
		const char *name;
		struct cursor *bytes;
	} wanted[] = {
		{ ".debug_line", &file->sections.lines },
		{ ".debug_str", &file->sections.strings },
		{ ".debug_line_str", &file->sections.line_strings },
	};
	Elf *elf = file->main.elf;
	const char *ident = elf_getident(elf, NULL);
	Elf_Scn *section = NULL;
	size_t names;

	if (ident == NULL || ident[EI_DATA] != ELFDATA2LSB || elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) == NULL
					   ? NULL
					   : elf_strptr(elf, names, header.sh_name);

		for (size_t i = 0; i < COUNT(wanted) && name != NULL; i++) {
			Elf_Data *data;

			/* the first of that name, as libdw */
			if (strcmp(name, wanted[i].name) != 0 || wanted[i].bytes->pos != NULL ||
			    header.sh_type == SHT_NOBITS ||
			    (header.sh_flags & SHF_COMPRESSED) != 0 ||
			    (data = elf_getdata(section, NULL)) == NULL || data->d_buf == NULL)
				continue;
			*wanted[i].bytes = cur_of(data->d_buf, data->d_size);
		}
	}
}

static void note_damage(struct diags *diags, const char *path)
{
	struct text text = { 0 };

	text_format(&text, "%s: debug information is damaged, some units were not read", path);
	text_char(&text, '\0');
	diags_add(diags, DIAG_DAMAGE, ERR_NOWHERE, 0, text.bytes);
	text_release(&text);
}

int dwarf_file_open(struct dwarf_file *out, const char *path, const char *alt_path,
		    const char *root, struct diags *diags, struct err *err)
{
	struct dwarf_file file = { 0 };
	struct err alt_err;
	uint64_t steps;

	if (handle_open(&file.main, path, err) < 0)
		return -1;
	if (alt_path != NULL && handle_open(&file.alt, alt_path, &alt_err) == 0)
		dwarf_setalt(file.main.dwarf, file.alt.dwarf);
	find_sections(&file);
	file.splits = split_places_new(file.main.fd, root);
	if (list_units(&file) < 0)
		note_damage(diags, path);
	steps = MIN_STEPS + file_size(&file.main) / 2;
	for (size_t i = 0; i < file.units.n; i++)
		index_unit(&file, (uint32_t)i, &steps);
	ranges_build(&file.ranges);
	*out = file;
	return 0;
}

bool dwarf_file_forget(struct dwarf_file *file)
{
	size_t n = file->units.n;

	dwarf_end(file->main.dwarf);
	file->units.n = 0;
	if (!handle_begin(&file->main))
		return false;
	if (file->alt.dwarf != NULL)
		dwarf_setalt(file->main.dwarf, file->alt.dwarf);
	(void)list_units(file);
	if (file->units.n != n) /* it was changed meanwhile */
		file->units.n = 0;
	return n > 0 && file->units.n == n;
}

void dwarf_file_release(struct dwarf_file *file)
{
	handle_release(&file->main);
	handle_release(&file->alt);
	split_places_free(file->splits);
	vec_release(&file->units);
	ranges_release(&file->ranges);
}

bool dwarf_unit_tree(const struct dwarf_unit *unit, Dwarf_Die *out)
{
	Dwarf_Die die;
	uint8_t type;

	*out = unit->die;
	if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0)
		return false;
	if (type != DW_UT_skeleton)
		return true;
	if (!split_may_be_opened(unit->splits, out) ||
	    dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &die, NULL, NULL, NULL) != 0)
		return false;
	if (dwarf_tag(&die) == DW_TAG_invalid)
		return false;
	*out = die;
	return true;
}
