/* SPDX-License-Identifier: Apache-2.0 */
/* Loads modules that are files, the vdso, or code made at run time. */
#include "symbol/binary_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "elf/elf_symbols.h"
#include "elf/jit_map.h"
#include "elf/plt.h"
#include "symbol/vdso.h"

static bool has_dwarf(const struct elf_file *file)
{
	return elf_file_has(file, ".debug_info") || elf_file_has(file, ".zdebug_info");
}

static bool has_compressed_dwarf(const struct elf_file *file)
{
	GElf_Shdr header;

	return elf_file_find_section(file, ".debug_info", &header) == NULL ||
	       (header.sh_flags & SHF_COMPRESSED) != 0;
}

static const struct elf_file *either(const struct elf_file *first, const struct elf_file *second,
				     bool (*has)(const struct elf_file *))
{
	if (has(first))
		return first;
	return has(second) ? second : NULL;
}

static bool has_symtab(const struct elf_file *file)
{
	return elf_file_has(file, ".symtab");
}

const struct elf_file *binary_symtab_file(const struct binary *b)
{
	return either(&b->code, &b->debug, has_symtab);
}

/* Exported names, and with luck the rest in .gnu_debugdata. */
static void read_stripped(struct loading *l)
{
	struct binary *b = l->binary;
	struct err err;
	size_t n = elf_symbols_add(&b->own, &b->code, SHT_DYNSYM);

	if (elf_file_has(&b->code, ".gnu_debugdata") &&
	    elf_symbols_open_debugdata(&b->inner, &b->code, &err) == 0)
		elf_symbols_add(&b->own, &b->inner, SHT_SYMTAB);
	else
		shortage_set(&b->names, n == 0 ? SHORT_OF_SYMBOLS : SHORT_OF_LOCAL_SYMBOLS);
}

void load_functions(struct loading *l)
{
	struct binary *b = l->binary;
	const struct elf_file *named = binary_symtab_file(b);

	if (named != NULL)
		elf_symbols_add(&b->own, named, SHT_SYMTAB);
	else
		read_stripped(l);
	functions_build(&b->own);
	if (plt_add(&b->own, &b->code) > 0)
		functions_build(&b->own);
	b->functions = &b->own;
}

void load_lines(struct loading *l)
{
	struct binary *b = l->binary;
	const struct elf_file *file = either(&b->debug, &b->code, has_dwarf);

	if (file == NULL || file->type == ET_REL || file->image != NULL)
		return;
	b->lines_path = file->path;
	b->is_compressed = has_compressed_dwarf(file);
	b->alt_path = locate_alt(l->sources->search, file);
	b->root = l->sources->search->options->symfs;
}

/* A debug file alone serves if its program headers still describe the original file. */
static bool is_self_sufficient(const struct elf_file *debug)
{
	for (size_t i = 0; i < debug->segments.n; i++) {
		if (debug->segments.items[i].is_code && debug->segments.items[i].size > 0)
			return true;
	}
	return false;
}

static bool find_code(struct loading *l)
{
	struct binary *b = l->binary;
	struct refusal why = { 0 };

	if (locate_code(l->sources->search, &l->wanted, &b->code, &why) == 0)
		return true;
	if (locate_debug(l->sources->search, &l->wanted, &b->code, &b->debug)) {
		if (is_self_sufficient(&b->debug)) {
			b->code = b->debug;
			b->debug = (struct elf_file){ 0 };
		} else {
			shortage_set(&b->names, SHORT_OF_SEGMENTS);
		}
	}
	shortage_set_refusal(&b->names, &why, &l->wanted);
	refusal_release(&why);
	if (!elf_file_is_open(&b->code))
		return false;
	shortage_release(&b->names);
	return true;
}

static void binary_read_code(struct loading *l)
{
	struct binary *b = l->binary;

	if (!elf_file_is_open(&b->debug) && (!has_symtab(&b->code) || !has_dwarf(&b->code)))
		(void)locate_debug(l->sources->search, &l->wanted, &b->code, &b->debug);
	b->has_segments = b->code.type != ET_REL;
	load_functions(l);
	load_lines(l);
}

bool load_elf(struct loading *l)
{
	if (!find_code(l))
		return false;
	binary_read_code(l);
	return true;
}

void load_vdso(struct loading *l)
{
	if (vdso_open(&l->binary->code, l->sources->search, &l->wanted.build_id) < 0) {
		shortage_set(&l->binary->names, SHORT_OF_VDSO);
		return;
	}
	binary_read_code(l);
}

/*
 * Is it a file or link in a folder that all may write, made by somebody else? Then it names what they want. The folder is
 * sticky, so nobody but its owner can exchange what was found.
 */
static bool is_of_others(const char *path)
{
	struct stat link, file;

	return lstat(path, &link) == 0 && stat(path, &file) == 0 &&
	       !((link.st_uid == 0 || path_owner_is_us(link.st_uid)) &&
		 (file.st_uid == 0 || path_owner_is_us(file.st_uid)));
}

/* A process of another machine must not get the names of one here with the same number. */
static char *jit_map_path(struct loading *l)
{
	const struct symbols_options *options = l->sources->search->options;
	char name[64];

	snprintf(name, sizeof(name), "%s/perf-%u.map", options->jit_map_dir != NULL ? "" : "/tmp",
		 l->module->pid);
	if (options->jit_map_dir != NULL)
		return path_in_root(options->jit_map_dir, name);
	if (options->symfs != NULL)
		return path_in_root(options->symfs, name);
	if (options->use_this_machine && is_of_others(name)) {
		const struct refusal why = { .kind = REFUSED_OWNER, .path = name };

		shortage_set_refusal(&l->binary->names, &why, &l->wanted);
		return NULL;
	}
	return options->use_this_machine ? path_in_root("", name) : NULL;
}

void load_jit(struct loading *l)
{
	struct binary *b = l->binary;
	char *path = jit_map_path(l);
	struct err err;

	if (path != NULL && jit_map_read(&b->own, path, &err) == 0) {
		functions_build(&b->own);
		b->functions = &b->own;
	} else if (!load_stored(l)) {
		shortage_set(&b->names, SHORT_OF_JIT_MAP);
	}
	free(path);
}
