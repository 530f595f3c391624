/* SPDX-License-Identifier: Apache-2.0 */
#include "model/event_code.h"

#include <stdio.h>

#include "cpu/cpu.h"
#include "cpu/event_name.h"
#include "cpu/pmu.h"

static int find_event(const char *text, const struct cpu_pmu *pmu, struct event_code *out,
		      struct err *err)
{
	const struct cpu_event *event = cpu_event_of_name(pmu, text);

	if (event == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "the %s has no event '%s'; 'cyclops list events --cpu %s' names "
			       "them",
			       cpu_name(pmu->cpu), text, cpu_id(pmu->cpu));
	snprintf(out->name, sizeof(out->name), "%s", event->name);
	out->code = event->code;
	return 0;
}

int event_code_find(const char *text, const char *cpu, struct event_code *out, struct err *err)
{
	struct catalog *catalog;
	const struct cpu *found;
	struct cpu_pmu *pmu;
	int rc = -1;

	if (catalog_open(NULL, &catalog, err) < 0)
		return -1;
	found = catalog_cpu_named(catalog, cpu, NULL, err);
	if (found != NULL && cpu_pmu_open(catalog, found, 0, &pmu, err) == 0) {
		rc = find_event(text, pmu, out, err);
		cpu_pmu_free(pmu);
	}
	catalog_free(catalog);
	return rc;
}
