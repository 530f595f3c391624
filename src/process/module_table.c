/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of mappings: the kernel's perf_event_mmap_event() and fs/proc/task_mmu.c for user
 * space, perf's synthetic records for the kernel and its modules. Executable memory without
 * a file is taken for JIT code, as perf does.
 */
#include "process/module_table.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "capture/format/record.h"

enum {
	MAP_HUGETLB_FLAG = 0x40000, /* of mmap(), on all but a few old machines */
};

static const char deleted[] = " (deleted)";
static const char kernel_name[] = "[kernel.kallsyms]";

/* What a user mapping is, by the beginning of its name. First match wins. */
static const struct name_rule {
	const char *prefix;
	enum module_kind code, data;
} name_rules[] = {
	{ "[vdso", MODULE_VDSO, MODULE_VDSO },
	{ "//anon", MODULE_JIT, MODULE_OTHER },
	{ "/anon_hugepage", MODULE_JIT, MODULE_OTHER },
	{ "/dev/zero", MODULE_JIT, MODULE_OTHER },
	{ "/SYSV", MODULE_JIT, MODULE_OTHER },
	{ "anon_inode:", MODULE_JIT, MODULE_OTHER },
	{ "[anon", MODULE_JIT, MODULE_OTHER },
	{ "[heap", MODULE_JIT, MODULE_OTHER },
	{ "[stack", MODULE_JIT, MODULE_OTHER },
	{ "[", MODULE_OTHER, MODULE_OTHER },
	{ "//", MODULE_OTHER, MODULE_OTHER }, /* "//toolong", "//enomem" */
	{ "", MODULE_FILE, MODULE_FILE },
};

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t len = strlen(text), suffix_len = strlen(suffix);

	return len >= suffix_len && strcmp(text + len - suffix_len, suffix) == 0;
}

void module_table_init(struct module_table *t, struct strings *strings)
{
	*t = (struct module_table){ .strings = strings, .modules.strings = strings };
	tuples_init(&t->keys, 5);
	tuples_init(&t->code_paths, 1);
	tuples_init(&t->id_paths, 1);
	vec_add(&t->modules.list);
}

void module_table_release(struct module_table *t)
{
	vec_release(&t->modules.list);
	vec_release(&t->build_ids);
	tuples_release(&t->keys);
	tuples_release(&t->code_paths);
	tuples_release(&t->id_paths);
	*t = (struct module_table){ 0 };
}

void module_table_build_id(struct module_table *t, struct str_id path, const struct build_id *id)
{
	if (id->size > 0 && tuples_add(&t->id_paths, &(uint64_t){ path.v }) == t->build_ids.n)
		*vec_add(&t->build_ids) = *id;
}

void module_table_build_ids(struct module_table *t, const struct info *info,
			    const struct strings *strings)
{
	for (size_t i = 0; i < info->build_ids.n; i++) {
		const struct build_id_entry *e = &info->build_ids.items[i];
		const char *path = strings_get(strings, e->path);
		unsigned mode = e->misc & MISC_CPUMODE;

		if (mode != CPUMODE_KERNEL && mode != CPUMODE_USER)
			continue; /* of a guest */
		module_table_build_id(t, strings_addz(t->strings, path), &e->id);
		/* perf writes the file's name if it had found the kernel's image. */
		if (mode == CPUMODE_KERNEL && starts_with(path_base(path), "vmlinux"))
			module_table_build_id(t, strings_addz(t->strings, kernel_name), &e->id);
	}
}

void module_table_code_path(struct module_table *t, struct str_id path)
{
	tuples_add(&t->code_paths, &(uint64_t){ path.v });
}

static bool is_known_path(const struct module_table *t, struct str_id path)
{
	uint64_t key = path.v;

	return tuples_find(&t->code_paths, &key) != TUPLES_NONE ||
	       tuples_find(&t->id_paths, &key) != TUPLES_NONE;
}

static enum module_kind kind_of_kernel(const char *path)
{
	return starts_with(path, "[kernel.") || starts_with(path, "[kernel]")
		       ? MODULE_KERNEL
		       : MODULE_KERNEL_MODULE;
}

static enum module_kind kind_of_user(const struct module_table *t, const struct mapped_name *m,
				     const char *path)
{
	const struct name_rule *rule = name_rules;
	enum module_kind kind;

	if (m->map_flags & MAP_HUGETLB_FLAG)
		return m->is_data ? MODULE_OTHER : MODULE_JIT;
	while (!starts_with(path, rule->prefix))
		rule++;
	kind = m->is_data ? rule->data : rule->code;
	/* a file that was mapped as data only is no ELF file to look symbols up in */
	if (kind == MODULE_FILE && m->is_data && !is_known_path(t, m->path))
		return MODULE_OTHER;
	return kind;
}

static enum module_kind module_table_kind_of(const struct module_table *t,
					     const struct mapped_name *m)
{
	const char *path = strings_get(t->strings, m->path);

	if (m->is_ksymbol)
		return MODULE_BPF;
	return m->is_kernel ? kind_of_kernel(path) : kind_of_user(t, m, path);
}

/* "[nf_tables]" for "/lib/modules/6.1/kernel/net/nf-tables.ko.xz", as lsmod has it. */
static struct str_id kernel_module_name(struct strings *strings, const char *path)
{
	char name[256] = "[";
	const char *base = path_base(path), *end = strstr(base, ".ko");
	size_t len = end == NULL ? strlen(base) : (size_t)(end - base);

	if (base[0] == '[' || len + 3 > sizeof(name))
		return strings_addz(strings, base);
	for (size_t i = 0; i < len; i++)
		name[1 + i] = base[i] == '-' ? '_' : base[i];
	name[1 + len] = ']';
	return strings_add(strings, name, len + 2);
}

/* "[guest.virtio_net]": as a module of the kernel, but not to be taken for one of the host's. */
static struct str_id guest_module_name(struct strings *strings, const char *path)
{
	const char *name = strings_get(strings, kernel_module_name(strings, path));
	char out[256 + sizeof("[guest.")];

	snprintf(out, sizeof(out), "[guest.%s", name + (name[0] == '['));
	return strings_addz(strings, out);
}

static struct str_id file_name(struct strings *strings, const char *path)
{
	const char *base = path[0] == '[' || starts_with(path, "//") ? path : path_base(path);
	size_t len = strlen(base);

	return strings_add(strings, base, ends_with(base, deleted) ? len - strlen(deleted) : len);
}

static struct str_id module_table_name_of(struct strings *strings, const struct module *m)
{
	const char *path = strings_get(strings, m->path);
	char jit[32];

	switch (m->kind) {
	case MODULE_KERNEL_MODULE:
		return kernel_module_name(strings, path);
	case MODULE_GUEST_MODULE:
		return guest_module_name(strings, path);
	case MODULE_JIT:
		snprintf(jit, sizeof(jit), "perf-%u.map", m->pid);
		return strings_addz(strings, jit);
	default:
		return file_name(strings, path);
	}
}

/* "[kernel.kallsyms]_text" is the kernel, and the symbol whose address was recorded. */
static void split_kernel_path(struct module_table *t, struct module *m)
{
	const char *path = strings_get(t->strings, m->path);
	const char *bracket = strchr(path, ']');

	if (bracket == NULL)
		return;
	m->ref_symbol = strings_addz(t->strings, bracket + 1);
	m->path = strings_add(t->strings, path, (size_t)(bracket + 1 - path));
}

static void find_build_id(const struct module_table *t, struct module *m)
{
	uint32_t found = tuples_find(&t->id_paths, &(uint64_t){ m->path.v });

	if (m->build_id.size == 0 && found != TUPLES_NONE)
		m->build_id = t->build_ids.items[found];
}

static uint32_t module_table_key_of(struct module_table *t, const struct module *m)
{
	uint64_t key[5] = { m->path.v | (uint64_t)m->kind << 32,
			    m->pid | (uint64_t)m->build_id.size << 32 };

	memcpy(key + 2, m->build_id.bytes, BUILD_ID_MAX);
	return tuples_add(&t->keys, key);
}

static struct module_id add_once(struct module_table *t, const struct module *m)
{
	uint32_t number = module_table_key_of(t, m);

	if (number + 1 == t->modules.list.n) {
		struct module *added = vec_add(&t->modules.list);

		*added = *m;
		added->name = module_table_name_of(t->strings, m);
	}
	return (struct module_id){ number + 1 };
}

struct module_id module_table_add(struct module_table *t, const struct mapped_name *name)
{
	struct module m = {
		.kind = module_table_kind_of(t, name),
		.path = name->path,
		.build_id = name->build_id,
		.is_deleted = ends_with(strings_get(t->strings, name->path), deleted),
	};

	if (m.kind == MODULE_JIT)
		m.pid = name->pid;
	if (m.kind == MODULE_KERNEL) {
		m.load_address = name->ref_address;
		split_kernel_path(t, &m);
	}
	find_build_id(t, &m);
	return add_once(t, &m);
}

struct module_id module_table_add_guest(struct module_table *t, const struct module *m)
{
	return add_once(t, m);
}

uint64_t module_offset(enum module_kind kind, uint64_t start, uint64_t page_offset,
		       uint64_t address)
{
	switch (kind) {
	case MODULE_FILE:
		return address - start + page_offset;
	case MODULE_KERNEL_MODULE:
	case MODULE_VDSO:
	case MODULE_BPF:
		return address - start;
	default:
		return address;
	}
}
