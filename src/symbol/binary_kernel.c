/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the kernel and its modules. */
#include "symbol/binary_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "elf/elf_symbols.h"

static bool open_given_vmlinux(struct loading *l)
{
	const char *path = l->sources->search->options->vmlinux;
	struct elf_file *code = &l->binary->code;
	struct refusal why = { .kind = REFUSED_BUILD_ID };
	struct err err;

	if (elf_file_open(code, path, &err) == 0 &&
	    (l->wanted.build_id.size == 0 || code->build_id.size == 0 ||
	     build_id_matches(&l->wanted.build_id, &code->build_id)))
		return true;
	why.path = mem_strndup(path, strlen(path));
	why.found = code->build_id;
	if (!elf_file_is_open(code))
		why.kind = err.code == ERR_IO ? REFUSED_ABSENT : REFUSED_NOT_ELF;
	shortage_set_refusal(&l->binary->names, &why, &l->wanted);
	refusal_release(&why);
	elf_file_release(code);
	return false;
}

static bool open_vmlinux(struct loading *l)
{
	struct refusal why = { 0 };
	bool is_found;

	if (l->sources->search->options->vmlinux != NULL)
		return open_given_vmlinux(l);
	if (l->wanted.build_id.size == 0)
		return false;
	l->wanted.path = ""; /* by build-id only */
	is_found = locate_code(l->sources->search, &l->wanted, &l->binary->code, &why) == 0 ||
		   locate_debug(l->sources->search, &l->wanted, &l->binary->code, &l->binary->code);
	refusal_release(&why);
	return is_found;
}

/*
 * What to add to an address of the running kernel to get the one in vmlinux (KASLR). The recorded
 * address of one symbol tells it.
 */
static bool kernel_find_relocation(const struct loading *l, uint64_t *out)
{
	const char *mark = strings_get(l->sources->strings, l->module->ref_symbol);
	uint64_t running = l->module->load_address, linked;

	if (mark[0] == '\0')
		mark = "_text";
	if (!elf_symbols_find(&l->binary->code, mark, &linked))
		return false;
	if (running == 0 && !kallsyms_find_mark(&l->sources->kernel->kallsyms, mark, &running))
		return false;
	*out = linked - running;
	return true;
}

static void use_kallsyms(struct loading *l, uint64_t to_function)
{
	const struct kernel_names *kernel = l->sources->kernel;

	if (kernel->source == NULL)
		shortage_set(&l->binary->names,
			     kernel->is_other_boot ? SHORT_OF_BOOT : SHORT_OF_KERNEL);
	else if (kernel->kallsyms.is_hidden)
		shortage_set(&l->binary->names, SHORT_OF_ADDRESSES);
	else
		l->binary->functions = &kernel->kallsyms.functions;
	l->binary->to_function = to_function;
}

/* The same for kallsyms, which may be of another boot of this kernel. */
static uint64_t kallsyms_relocation(const struct loading *l)
{
	const char *mark = strings_get(l->sources->strings, l->module->ref_symbol);
	uint64_t address;

	if (l->module->load_address == 0 ||
	    !kallsyms_find_mark(&l->sources->kernel->kallsyms, mark, &address))
		return 0;
	return address - l->module->load_address;
}

void load_kernel(struct loading *l)
{
	struct binary *b = l->binary;

	bool is_open = open_vmlinux(l);

	if (is_open && kernel_find_relocation(l, &b->to_file)) {
		load_functions(l);
		load_lines(l);
		return;
	}
	use_kallsyms(l, kallsyms_relocation(l));
	if (b->functions == NULL && load_stored(l)) {
		elf_file_release(&b->code);
		return;
	}
	if (is_open && b->functions == NULL) {
		shortage_release(&b->names);
		shortage_set(&b->names, SHORT_OF_RELOCATION);
	}
	elf_file_release(&b->code);
}

/* Do names of the guest's kernel stand where they stood in the guest, or is its kallsyms of another boot? */
static void use_guest(struct loading *l, bool may_move)
{
	const struct kernel_names *guest = l->sources->kernel;
	uint64_t moved;

	if (guest->source == NULL) {
		shortage_set(&l->binary->names, SHORT_OF_GUEST);
		return;
	}
	if (guest->kallsyms.is_hidden) {
		shortage_set(&l->binary->names, SHORT_OF_GUEST_ADDRESSES);
		return;
	}
	moved = kallsyms_relocation(l);
	if (moved != 0 && !may_move) {
		shortage_set(&l->binary->names, SHORT_OF_GUEST_BOOT);
		return;
	}
	l->binary->functions = &guest->kallsyms.functions;
	l->binary->to_function = moved;
}

void load_guest_kernel(struct loading *l)
{
	use_guest(l, true);
}

/* With each boot, modules are elsewhere. */
void load_guest_module(struct loading *l)
{
	use_guest(l, false);
}

/* kallsyms has the addresses of a loaded module; its .ko file is relocatable and has none. */
void load_kernel_module(struct loading *l)
{
	const struct kernel_names *kernel = l->sources->kernel;
	const struct kernel_module_base *base =
		kernel_names_find_base(kernel, strings_get(l->sources->strings, l->module->name));

	if (kernel->source != NULL && !kernel->kallsyms.is_hidden && base != NULL) {
		use_kallsyms(l, base->address);
		l->binary->size = base->size;
		return;
	}
	if ((l->wanted.path[0] == '/' && load_elf(l)) || load_stored(l))
		return;
	if (kernel->source != NULL && !kernel->kallsyms.is_hidden)
		shortage_set(&l->binary->names, SHORT_OF_MODULE_BASE);
	use_kallsyms(l, 0);
	l->binary->functions = NULL;
}
