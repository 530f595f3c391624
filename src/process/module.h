/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: what is mapped: files, the kernel, kernel modules, anonymous memory. */
#ifndef CYCLOPS_PROCESS_MODULE_H
#define CYCLOPS_PROCESS_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/vec.h"
#include "capture/format/info.h"

struct module_id {
	uint32_t v; /* 0: unknown */
};

enum module_kind {
	MODULE_UNKNOWN,	      /* id 0 only */
	MODULE_FILE,	      /* an ELF file: offset in the file */
	MODULE_KERNEL,	      /* the kernel's image: offset is the address */
	MODULE_KERNEL_MODULE, /* a loadable module: offset from its start address */
	MODULE_VDSO,	      /* offset from its start */
	MODULE_JIT,	      /* anonymous or JIT code: offset is the address */
	MODULE_BPF,	      /* a BPF program or other ksymbol: offset from its start */
	MODULE_GUEST_KERNEL,  /* the kernel's image in a virtual machine: offset is the address */
	MODULE_GUEST_MODULE,  /* a loadable module of that kernel: offset is the address */
	MODULE_OTHER,	      /* [stack], [heap], data files: offset is the address */
};

struct module {
	enum module_kind kind;
	struct str_id path;	  /* as recorded: "/usr/lib/…", "[kernel.kallsyms]" */
	struct str_id name;	  /* for people: last path component without " (deleted)";
				     "[nf_tables]", "perf-PID.map" */
	struct build_id build_id; /* size 0: not recorded */
	bool is_deleted;
	uint32_t pid; /* of a MODULE_JIT: whose /tmp/perf-PID.map; of a guest: of the process
				     that it is, 0: of several; else 0 */
	uint64_t
		load_address; /* kernel, also that of a guest's module: address of ref_symbol at run time; 0
				     if hidden */
	struct str_id
		ref_symbol; /* of that kernel: the symbol whose address the recorder gave, "_text" */
};

/* A place: an offset in a module. What it counts from: enum module_kind. */
struct place {
	struct module_id module;
	uint64_t offset;
};

/* A piece of a module: offsets [from, to). */
struct code_span {
	struct module_id module;
	uint64_t from, to;
};

static inline bool code_span_has(const struct code_span *s, struct place p)
{
	return (p.module.v == s->module.v) & (p.offset - s->from < s->to - s->from);
}

/* Modules of a capture; index = id. Frozen with the timeline that owns it. */
struct modules {
	VEC_OF(struct module) list;
	const struct strings *strings;
};

static inline const struct module *modules_get(const struct modules *m, struct module_id id)
{
	return &m->list.items[id.v];
}

#endif
