/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "system/system.h"

enum { VALUE_MAX = 256 };

/* The value of a line "name : value" of /proc/cpuinfo, in the block of this CPU. */
static bool cpuinfo_value_of_cpu(const struct text *info, uint32_t cpu, const char *name,
				 char out[VALUE_MAX])
{
	const char *at = info->bytes, *end = info->bytes + info->n;
	bool is_block = false;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline == NULL ? end : newline;
		const char *colon = memchr(at, ':', (size_t)(line_end - at));
		size_t length = colon == NULL ? 0 : (size_t)(colon - at);
		const char *value = colon == NULL ? line_end : colon + 1;

		while (length > 0 && (at[length - 1] == '\t' || at[length - 1] == ' '))
			length--;
		while (value < line_end && *value == ' ')
			value++;
		if (length == strlen("processor") && memcmp(at, "processor", length) == 0)
			is_block = strtoul(value, NULL, 10) == cpu;
		if (is_block && length == strlen(name) && memcmp(at, name, length) == 0) {
			snprintf(out, VALUE_MAX, "%.*s", (int)(line_end - value), value);
			return true;
		}
		at = line_end + 1;
	}
	return false;
}

/* Builds MIDR_EL1 from the fields that /proc/cpuinfo has on Arm. */
static uint64_t midr_of_cpuinfo(const struct text *info, uint32_t cpu)
{
	static const struct {
		const char *name;
		unsigned shift, bits;
	} fields[] = {
		{ "CPU implementer", 24, 8 },
		{ "CPU variant", 20, 4 },
		{ "CPU part", 4, 12 },
		{ "CPU revision", 0, 4 },
	};
	uint64_t midr = 0xfull << 16; /* architecture field 0xf: "see the ID registers" */
	char value[VALUE_MAX];

	for (size_t i = 0; i < COUNT(fields); i++) {
		if (!cpuinfo_value_of_cpu(info, cpu, fields[i].name, value))
			return 0;
		midr |= (strtoull(value, NULL, 0) & ((1ull << fields[i].bits) - 1))
			<< fields[i].shift;
	}
	return midr;
}

static uint64_t midr_of(const char *root, const struct text *info, uint32_t cpu)
{
	int64_t midr;

	if (system_number(root, &midr, "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1",
			  cpu))
		return (uint64_t)midr & UINT32_MAX;
	return midr_of_cpuinfo(info, cpu);
}

uint64_t machine_midr(const char *root, uint32_t cpu)
{
	struct text info = { 0 };
	uint64_t midr;

	text_char(&info, '\n');
	system_text(root, &info, "/proc/cpuinfo");
	midr = midr_of(root, &info, cpu);
	text_release(&info);
	return midr;
}

static const char *machine_keep(struct machine *m, const char *text)
{
	return arena_strndup(&m->memory, text, strlen(text));
}

static void count_core(struct machine *m, uint64_t midr, const char *name)
{
	for (size_t i = 0; i < m->cores.n; i++) {
		struct machine_core *core = &m->cores.items[i];

		if (core->midr != midr || strcmp(core->name != NULL ? core->name : "", name) != 0)
			continue;
		core->n++;
		return;
	}
	*vec_add(&m->cores) = (struct machine_core){
		.midr = midr,
		.name = name[0] != '\0' ? machine_keep(m, name) : NULL,
		.n = 1,
	};
}

static void read_cores(struct machine *m, const char *root, const struct text *info)
{
	struct cpu_list online = { 0 };
	char line[SYSTEM_LINE_MAX];
	struct err ignored;

	if (!system_line(root, line, sizeof(line), "/sys/devices/system/cpu/online") ||
	    cpu_list_parse(line, &m->memory, &online, &ignored) < 0)
		return;
	m->n_cpus = (uint32_t)cpu_list_n(&online);
	for (size_t i = 0; i < m->n_cpus; i++) {
		uint32_t cpu = cpu_list_at(&online, i);
		uint64_t midr = midr_of(root, info, cpu);
		char name[VALUE_MAX] = "";

		if (midr == 0)
			cpuinfo_value_of_cpu(info, cpu, "model name", name);
		m->is_arm |= midr != 0;
		count_core(m, midr, name);
	}
}

/* Vendors of virtual machines, by the vendor that the firmware gives. */
static const struct {
	const char *vendor;
	const char *bare; /* a product whose name contains this is bare metal; NULL: none is */
} virtual_vendors[] = {
	{ "QEMU", NULL },
	{ "Amazon EC2", ".metal" },
	{ "Google", "metal" },
	{ "VMware", NULL },
	{ "Xen", NULL },
	{ "innotek", NULL },
	{ "Parallels", NULL },
	{ "Red Hat", NULL },
	{ "OpenStack", NULL },
	{ "Alibaba Cloud", "bmg" },
	{ "Apple Virtualization", NULL },
};

static void read_host(struct machine *m, const char *root, const struct text *info)
{
	char vendor[SYSTEM_LINE_MAX], product[SYSTEM_LINE_MAX], both[VALUE_MAX];
	struct text tree = { 0 };

	system_line(root, vendor, sizeof(vendor), "/sys/class/dmi/id/sys_vendor");
	system_line(root, product, sizeof(product), "/sys/class/dmi/id/product_name");
	for (size_t i = 0; i < COUNT(virtual_vendors); i++)
		if (strncmp(vendor, virtual_vendors[i].vendor, strlen(virtual_vendors[i].vendor)) ==
		    0)
			m->is_virtual |= virtual_vendors[i].bare == NULL ||
					 strstr(product, virtual_vendors[i].bare) == NULL;
	m->is_virtual |= strstr(product, "Virtual Machine") != NULL;
	snprintf(both, sizeof(both), "%.120s%s%.120s", vendor, product[0] != '\0' ? " " : "",
		 product);
	if (vendor[0] != '\0')
		m->host = machine_keep(m, both);
	m->has_device_tree = system_text(root, &tree, "/sys/firmware/devicetree/base/compatible");
	m->is_virtual |= system_has(root, "/sys/firmware/devicetree/base/hypervisor") ||
			 text_has(&tree, "dummy-virt");
	m->is_virtual |= !m->is_arm && text_has(info, " hypervisor");
	text_release(&tree);
}

void machine_read(struct machine *m, const char *root)
{
	struct text info = { 0 };

	text_char(&info, '\n');
	system_text(root, &info, "/proc/cpuinfo");
	read_cores(m, root, &info);
	read_host(m, root, &info);
	m->is_container = system_has(root, "/.dockerenv") ||
			  system_has(root, "/run/.containerenv") ||
			  system_has(root, "/run/systemd/container");
	text_release(&info);
}

void machine_release(struct machine *m)
{
	vec_release(&m->cores);
	arena_release(&m->memory);
}
