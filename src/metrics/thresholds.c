/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds as --threshold gives them, or else the catalog. */
#include "metrics/thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/nearest.h"

/* Words for messages: what has a threshold, then the metrics of the CPU. */
static const char *metrics_thresholds_name_at(const void *context, size_t i)
{
	const struct cpu_pmu *pmu = context;

	if (i < pmu->thresholds.n)
		return pmu->thresholds.items[i].name;
	i -= pmu->thresholds.n;
	return i < pmu->n_metrics ? pmu->metrics[i].name : NULL;
}

/* Splits "NAME=VALUE"; the value is a plain decimal number. */
static bool read_given(const char *text, size_t *name_len, double *out)
{
	const char *equals = strchr(text, '=');
	char *end;

	if (equals == NULL || equals == text || equals[1] == '\0')
		return false;
	*name_len = (size_t)(equals - text);
	*out = strtod(equals + 1, &end);
	return *end == '\0' && isfinite(*out);
}

static int check(const struct cpu_pmu *pmu, const char *text, struct err *err)
{
	size_t len;
	double value;
	char advice[256];
	char *name;
	int rc = 0;

	if (!read_given(text, &len, &value))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--threshold: found '%s', wanted NAME=VALUE such as "
			       "backend_bound=25",
			       text);
	name = mem_strndup(text, len);
	if (cpu_threshold_find(pmu, name) == NULL && cpu_metric_find(pmu, name) == NULL)
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE, "--threshold: %s has no metric '%s'%s",
			     cpu_name(pmu->cpu), name,
			     did_you_mean(name, metrics_thresholds_name_at, pmu, "", advice,
					  sizeof(advice)));
	free(name);
	return rc;
}

int stat_thresholds_check(const struct cpu_pmu *pmu, const char *const *given, struct err *err)
{
	for (; given != NULL && *given != NULL; given++)
		if (check(pmu, *given, err) < 0)
			return -1;
	return 0;
}

/* The last one given counts. */
static bool find_given(const char *const *given, const char *name, double *out)
{
	bool is_found = false;
	double value;
	size_t len;

	for (; given != NULL && *given != NULL; given++) {
		if (!read_given(*given, &len, &value) || strlen(name) != len ||
		    strncasecmp(*given, name, len) != 0)
			continue;
		*out = value;
		is_found = true;
	}
	return is_found;
}

bool stat_threshold(const struct cpu_pmu *pmu, const char *const *given, const char *name,
		    double *out)
{
	const struct cpu_threshold *known = cpu_threshold_find(pmu, name);

	if (find_given(given, name, out))
		return true;
	if (known != NULL)
		*out = known->value;
	return known != NULL;
}
