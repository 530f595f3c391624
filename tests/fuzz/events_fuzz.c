/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What users type for events and CPUs, and what sysfs says of formats and events: the first
 * line is a format, the second an event's terms, the rest is parsed with a PMU of these.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pmu/event_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Cuts the text at its first newline; returns what is behind. */
static char *cut_line(char *text)
{
	char *end = strchr(text, '\n');

	if (end == NULL)
		return text + strlen(text);
	*end = '\0';
	return end + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *format_text = mem_strndup((const char *)bytes, size);
	char *terms = cut_line(format_text);
	char *list = cut_line(terms);
	struct pmu_format formats[] = { { .name = "event", .word = 0, .bits = 0xff },
					{ .name = "odd", .word = 1, .bits = 1 } };
	struct pmu_alias aliases[] = { { .name = "alias", .terms = terms, .scale = 1 } };
	struct pmus pmus = { .root = "/nonexistent" };
	struct event_specs specs = { 0 };
	struct cpu_list cpus;
	struct err err;

	pmu_format_parse(format_text, &formats[1]);
	formats[1].name = "odd";
	for (int i = 0; i < 2; i++)
		*vec_add(&pmus.list) = (struct pmu){
			.name = i == 0 ? "cpu" : "box_0",
			.type = (uint32_t)(4 + i),
			.is_core = i == 0,
			.is_loaded = true,
			.formats = formats,
			.n_formats = COUNT(formats),
			.aliases = aliases,
			.n_aliases = COUNT(aliases),
		};
	if (event_specs_parse(&specs, list, &pmus, NULL, &err) == 0 && specs.list.n == 0)
		abort();
	if (cpu_list_parse(list, &specs.memory, &cpus, &err) == 0 && cpus.n > 0 &&
	    !cpu_list_has(&cpus, cpu_list_at(&cpus, cpu_list_n(&cpus) - 1)))
		abort();
	event_specs_release(&specs);
	pmus_release(&pmus);
	free(format_text);
	return 0;
}
