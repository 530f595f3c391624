/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The usual thresholds and who gave them (docs/reference/methodology.md, step 2). TMA: public
 * Intel models; GR: AWS Graviton guide; N1: Neoverse N1 methodology; the others are judgement.
 */
#include "metrics/thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/nearest.h"

static const struct usual {
	const char *name;
	double value; /* in the unit of the metric */
} usual[] = {
	{ "frontend_bound", 15 },	/* TMA */
	{ "bad_speculation", 15 },	/* TMA */
	{ "backend_bound", 20 },	/* TMA */
	{ "backend_mem_bound", 20 },	/* TMA */
	{ "backend_bound_memory", 20 }, /* TMA */
	{ "retiring", 70 },		/* TMA */
	{ "frontend_stalled_cycles", 10 },
	{ "backend_stalled_cycles", 20 },
	{ "cme_frontend_bound", 15 },
	{ "cme_backend_bound", 20 },
	{ "cme_retiring", 70 },
	{ "branch_mpki", 10 },	      /* GR */
	{ "branch_mpki_spec", 10 },   /* GR */
	{ "l1i_cache_mpki", 20 },     /* GR */
	{ "l1d_cache_mpki", 20 },     /* GR */
	{ "l2_cache_mpki", 10 },      /* GR */
	{ "l3_cache_mpki", 10 },      /* GR */
	{ "ll_cache_mpki", 10 },      /* GR */
	{ "ll_cache_read_mpki", 10 }, /* GR */
	{ "itlb_mpki", 1 },	      /* GR has 0 */
	{ "dtlb_mpki", 1 },	      /* GR has 0 */
	{ "spec_overhead", 10 },
	{ THRESHOLD_COVERAGE, 20 },
	{ THRESHOLD_BUSY, 50 },
	{ THRESHOLD_TIE, 5 },
	{ THRESHOLD_SUM, 3 },
	{ THRESHOLD_LEAF, 10 },
	{ THRESHOLD_LOADS, 20 }, /* N1: a fifth was enough */
};

static bool find_usual(const char *name, double *out)
{
	for (size_t i = 0; i < COUNT(usual); i++) {
		if (strcasecmp(usual[i].name, name) == 0) {
			*out = usual[i].value;
			return true;
		}
	}
	return false;
}

/* Words for messages: what has a threshold, then the metrics of the CPU. */
static const char *name_at(const void *context, size_t i)
{
	const struct cpu_pmu *pmu = context;

	if (i < COUNT(usual))
		return usual[i].name;
	i -= COUNT(usual);
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
	const char *nearest;
	char *name;
	int rc = 0;

	if (!read_given(text, &len, &value))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--threshold: found '%s', wanted NAME=VALUE such as "
			       "backend_bound=25",
			       text);
	name = mem_strndup(text, len);
	nearest = nearest_word(name, name_at, pmu);
	if (!find_usual(name, &value) && cpu_metric_find(pmu, name) == NULL)
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
			     "--threshold: %s has no metric '%s'%s%s%s", cpu_name(pmu->cpu), name,
			     nearest != NULL ? "; did you mean '" : "",
			     nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
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
	if (find_given(given, name, out))
		return true;
	for (size_t i = 0; i < pmu->n_thresholds; i++) {
		if (strcasecmp(pmu->thresholds[i].name, name) == 0) {
			*out = pmu->thresholds[i].value;
			return true;
		}
	}
	return find_usual(name, out);
}
