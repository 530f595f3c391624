/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/binary.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "symbol/binary_load.h"

static void binary_load_file(struct loading *l)
{
	if (!load_jit_dump(l) && !load_elf(l))
		(void)load_stored(l);
}

/* BPF programs and the like: the kernel recorded their names. */
static void load_named(struct loading *l)
{
	l->binary->only_name = strings_get(l->sources->strings, l->module->name);
}

static void (*const loaders[])(struct loading *) = {
	[MODULE_FILE] = binary_load_file,
	[MODULE_KERNEL] = load_kernel,
	[MODULE_KERNEL_MODULE] = load_kernel_module,
	[MODULE_GUEST_KERNEL] = load_guest_kernel,
	[MODULE_GUEST_MODULE] = load_guest_module,
	[MODULE_VDSO] = load_vdso,
	[MODULE_JIT] = load_jit,
	[MODULE_BPF] = load_named,
	[MODULE_OTHER] = NULL, /* data */
};

void binary_load(struct binary *binary, const struct module *module,
		 const struct binary_sources *sources)
{
	struct loading l = {
		.binary = binary,
		.module = module,
		.sources = sources,
		.wanted = {
			.path = strings_get(sources->strings, module->path),
			.build_id = module->build_id,
			.is_deleted = module->is_deleted,
		},
	};

	binary->is_loaded = true;
	if (module->kind < COUNT(loaders) && loaders[module->kind] != NULL)
		loaders[module->kind](&l);
}

void binary_release(struct binary *b)
{
	elf_file_release(&b->code);
	elf_file_release(&b->debug);
	elf_file_release(&b->inner);
	mapped_release(&b->dump);
	jit_lines_release(&b->dump_lines);
	functions_release(&b->own);
	free(b->alt_path);
	shortage_release(&b->names);
	shortage_release(&b->lines);
	*b = (struct binary){ 0 };
}

bool binary_address(const struct binary *b, uint64_t offset, uint64_t *out)
{
	if (b->has_segments)
		return elf_file_to_address(&b->code, offset, out);
	*out = offset + b->to_file;
	return b->size == 0 || offset < b->size;
}

bool binary_offset(const struct binary *b, uint64_t address, uint64_t *out)
{
	if (b->has_segments)
		return elf_file_to_offset(&b->code, address, out);
	*out = address - b->to_file;
	return b->size == 0 || *out < b->size;
}

const struct function *binary_find(const struct binary *b, uint64_t address)
{
	return b->functions == NULL ? NULL : functions_find(b->functions, address + b->to_function);
}
