/* SPDX-License-Identifier: Apache-2.0 */
#include "record/spe_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "capture/format/sample.h"
#include "pmu/event_spec.h"
#include "pmu/machine.h"
#include "spe/names.h"

enum {
	INTERVAL_STEP = 256,
	/* if the PMU does not give its minimum; no known PMU has a larger one */
	UNKNOWN_MINIMUM = 4096,
	DEFAULT_INTERVAL = 4096, /* published studies: samples are most accurate at 3000 to 4096 */
};
#define INTERVAL_MAX UINT64_C(0xffffff00)

const struct pmu *spe_pmu(struct pmus *pmus, size_t index)
{
	for (size_t i = 0; i < pmus->list.n; i++)
		if (strncmp(pmus->list.items[i].name, "arm_spe_", 8) == 0 && index-- == 0)
			return pmus_at(pmus, i);
	return NULL;
}

uint64_t spe_real_interval(const struct pmu *pmu, uint64_t wanted)
{
	uint64_t minimum = pmu_cap_number(pmu, "min_interval", UNKNOWN_MINIMUM);

	if (wanted < minimum)
		wanted = minimum;
	if (wanted > INTERVAL_MAX)
		wanted = INTERVAL_MAX;
	return wanted / INTERVAL_STEP * INTERVAL_STEP;
}

/* Words that set a format of the PMU to 1; with "no-" before them to 0. */
static const struct {
	const char *word, *format;
} switches[] = {
	{ "loads", "load_filter" }, { "stores", "store_filter" }, { "branches", "branch_filter" },
	{ "simd", "simd_filter" },  { "float", "float_filter" },  { "jitter", "jitter" },
	{ "ts", "ts_enable" },	    { "pa", "pa_enable" },	  { "pct", "pct_enable" },
	{ "discard", "discard" },
};

/* Words with an operator and a value. */
enum value_kind { VALUE_NUMBER, VALUE_EVENT, VALUE_BIT, VALUE_INTERVAL };

static const struct {
	const char *word, *format;
	enum value_kind kind;
} values[] = {
	{ "latency>=", "min_latency", VALUE_NUMBER },
	{ "event=", "event_filter", VALUE_EVENT },
	{ "event!=", "inv_event_filter", VALUE_EVENT },
	{ "source!=", "inv_data_src_filter", VALUE_BIT },
	{ "interval=", NULL, VALUE_INTERVAL },
};

static const char *word_name_at(const void *unused, size_t i)
{
	(void)unused;
	if (i < COUNT(switches))
		return switches[i].word;
	i -= COUNT(switches);
	return i < COUNT(values) ? values[i].word : NULL;
}

struct request {
	struct record_event *event;
	const struct pmu *pmu;
	struct err *err;
};

static uint64_t *spe_request_word_of(struct attr *attr, const struct pmu_format *format)
{
	uint64_t *const words[] = { &attr->config, &attr->config1, &attr->config2, &attr->config3,
				    &attr->config4 };

	return words[format->word];
}

/* Sets bits of a format: added to those already set, or replacing them. */
static int set_format(struct request *r, const char *name, uint64_t value, bool is_added,
		      const char *word)
{
	const struct pmu_format *format = pmu_format_find(r->pmu, name);
	uint64_t *config;

	if (format == NULL)
		return err_set(r->err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "--spe '%s': %s has no %s: not supported by this hardware or kernel",
			       word, r->pmu->name, name);
	if (value > pmu_format_max(format))
		return err_set(r->err, ERR_USAGE, ERR_NOWHERE, "--spe '%s': %s is at most %" PRIu64,
			       word, name, pmu_format_max(format));
	config = spe_request_word_of(&r->event->attr, format);
	if (!is_added)
		*config &= ~format->bits;
	*config |= pmu_format_place(format, value);
	return 0;
}

static int spe_request_read_number(struct request *r, const char *text, const char *word,
				   uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	if (end == text || *end != '\0' || errno != 0 || *text == '-')
		return err_set(r->err, ERR_USAGE, ERR_NOWHERE,
			       "--spe '%s': found '%s', wanted a number", word, text);
	return 0;
}

/* Newer PMUs list the event bits that they can filter by. */
static int check_event_filter(struct request *r, int bit, const char *word)
{
	uint64_t known = pmu_cap_number(r->pmu, "event_filter", UINT64_MAX);

	if (known >> bit & 1)
		return 0;
	return err_set(
		r->err, ERR_UNSUPPORTED, ERR_NOWHERE,
		"--spe '%s': %s cannot filter by this event (filters: caps/event_filter, 0x%" PRIx64
		")",
		word, r->pmu->name, known);
}

static int apply_value(struct request *r, size_t i, const char *text, const char *word)
{
	uint64_t number;
	int bit;

	switch (values[i].kind) {
	case VALUE_EVENT:
		bit = spe_event_find(text);
		if (bit < 0)
			return err_set(r->err, ERR_USAGE, ERR_NOWHERE,
				       "--spe '%s': '%s' is not an SPE event; some are l1d-refill, "
				       "tlb-walk, mispredicted",
				       word, text);
		if (check_event_filter(r, bit, word) < 0)
			return -1;
		return set_format(r, values[i].format, (uint64_t)1 << bit, true, word);
	case VALUE_BIT:
		if (spe_request_read_number(r, text, word, &number) < 0)
			return -1;
		if (number > 63)
			return err_set(r->err, ERR_USAGE, ERR_NOWHERE,
				       "--spe '%s': wanted a data source, a number up to 63", word);
		return set_format(r, values[i].format, (uint64_t)1 << number, true, word);
	case VALUE_INTERVAL:
		if (spe_request_read_number(r, text, word, &number) < 0)
			return -1;
		r->event->attr.sample_period = spe_real_interval(r->pmu, number);
		return 0;
	case VALUE_NUMBER:
		break;
	}
	return spe_request_read_number(r, text, word, &number) < 0
		       ? -1
		       : set_format(r, values[i].format, number, false, word);
}

static int unknown_word(struct request *r, const char *word)
{
	const char *nearest = nearest_word(word, word_name_at, NULL);
	char known[256];

	if (nearest != NULL)
		return err_set(r->err, ERR_USAGE, ERR_NOWHERE,
			       "--spe: there is no filter '%s'; did you mean %s?", word, nearest);
	return err_set(r->err, ERR_USAGE, ERR_NOWHERE,
		       "--spe: there is no filter '%s'; there are %s, and NAME=VALUE for options "
		       "of the PMU's format",
		       word, list_words(word_name_at, NULL, known, sizeof(known)));
}

/* A format of the PMU by its own name, as "NAME=VALUE" or "NAME". */
static int apply_format(struct request *r, const char *word)
{
	size_t len = strcspn(word, "=");
	char *name = mem_strndup(word, len);
	uint64_t value = 1;
	int rc;

	if (pmu_format_find(r->pmu, name) == NULL)
		rc = unknown_word(r, word);
	else if (word[len] == '=' && spe_request_read_number(r, word + len + 1, word, &value) < 0)
		rc = -1;
	else
		rc = set_format(r, name, value, false, word);
	free(name);
	return rc;
}

/* "user" or "kernel" */
static bool apply_mode(struct request *r, const char *word)
{
	if (strcmp(word, "user") == 0)
		attr_set(&r->event->attr, ATTR_EXCLUDE_KERNEL);
	else if (strcmp(word, "kernel") == 0)
		attr_set(&r->event->attr, ATTR_EXCLUDE_USER);
	else
		return false;
	r->event->names_modes = true;
	return true;
}

static int apply_word(struct request *r, const char *word)
{
	bool is_off = strncmp(word, "no-", 3) == 0;
	const char *name = is_off ? word + 3 : word;

	if (apply_mode(r, word))
		return 0;
	for (size_t i = 0; i < COUNT(switches); i++)
		if (strcmp(switches[i].word, name) == 0)
			return set_format(r, switches[i].format, is_off ? 0 : 1, false, word);
	for (size_t i = 0; i < COUNT(values); i++) {
		size_t len = strlen(values[i].word);

		if (strncmp(values[i].word, word, len) == 0)
			return apply_value(r, i, word + len, word);
	}
	return apply_format(r, word);
}

static int apply_words(struct request *r, const char *filters)
{
	char *copy = mem_strndup(filters, strlen(filters)), *rest;
	int rc = 0;

	for (char *word = strtok_r(copy, ",", &rest); word != NULL && rc == 0;
	     word = strtok_r(NULL, ",", &rest))
		rc = apply_word(r, word);
	free(copy);
	return rc;
}

/* Sets a format to 1, if the PMU has it. Filters come later and may clear it. */
static void set_default(struct request *r, const char *format)
{
	struct err ignored;
	struct request quiet = { r->event, r->pmu, &ignored };

	set_format(&quiet, format, 1, false, format);
}

static int add_pmu(struct record_events *events, const struct pmu *pmu, const char *filters,
		   uint64_t period, bool is_privileged, struct err *err)
{
	const uint64_t fields = (uint64_t)1 << SAMPLE_ADDR | (uint64_t)1 << SAMPLE_WEIGHT |
				(uint64_t)1 << SAMPLE_DATA_SRC;
	struct record_event *e = vec_add(&events->list);
	struct request r = { e, pmu, err };
	struct text name = { 0 };

	text_format(&name, "%s/%s/", pmu->name, filters);
	e->name = arena_strndup(&events->names, name.bytes, name.n);
	text_release(&name);
	e->pmu = pmu;
	e->leader = events->list.n - 1;
	e->is_spe = e->has_period = true;
	e->attr.type = pmu->type;
	e->attr.sample_period = spe_real_interval(pmu, period != 0 ? period : DEFAULT_INTERVAL);
	e->attr.sample_type = fields; /* perf 6.1 shows them only if the attr asks for them */
	set_default(&r, "ts_enable");
	set_default(&r, "jitter");
	if (is_privileged)
		set_default(&r, "pa_enable");
	if (apply_words(&r, filters) < 0)
		return -1;
	if (pmu_format_find(pmu, "pa_enable") != NULL &&
	    (e->attr.config & pmu_format_find(pmu, "pa_enable")->bits) != 0)
		e->attr.sample_type |= (uint64_t)1 << SAMPLE_PHYS_ADDR;
	return 0;
}

int spe_request_add(struct record_events *events, const char *filters, struct pmus *pmus,
		    uint64_t period, bool is_privileged, struct err *err)
{
	const struct pmu *pmu;

	if (spe_pmu(pmus, 0) == NULL)
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "--spe: no SPE on this machine (no arm_spe_0 in "
			       "/sys/bus/event_source/devices); cyclops doctor says why");
	for (size_t i = 0; (pmu = spe_pmu(pmus, i)) != NULL; i++)
		if (add_pmu(events, pmu, filters, period, is_privileged, err) < 0)
			return -1;
	return 0;
}

static void add_filter(struct text *filters, const char *word, size_t len)
{
	if (len > 0)
		text_format(filters, "%s%.*s", filters->n > 0 ? "," : "", (int)len, word);
}

/* "/load_filter=1,period=4096/u", what stands behind the PMU's name, as filters. */
static void add_terms(struct text *filters, const char *terms, size_t len)
{
	static const char period[] = "period=";
	const char *end = memchr(terms + 1, '/', len - 1), *modifiers;
	bool is_user, is_kernel;

	if (end == NULL)
		end = terms + len;
	for (const char *at = terms + 1; at < end; at++) {
		size_t n = strcspn(at, ",/");

		if (strncmp(at, period, sizeof(period) - 1) == 0) {
			add_filter(filters, "interval=", sizeof("interval=") - 1);
			at += sizeof(period) - 1;
			n -= sizeof(period) - 1;
			text_add(filters, at, n);
		} else {
			add_filter(filters, at, n);
		}
		at += n;
	}
	modifiers = end < terms + len ? end + 1 : end;
	is_user = memchr(modifiers, 'u', (size_t)(terms + len - modifiers)) != NULL;
	is_kernel = memchr(modifiers, 'k', (size_t)(terms + len - modifiers)) != NULL;
	if (is_user != is_kernel)
		add_filter(filters, is_user ? "user" : "kernel",
			   strlen(is_user ? "user" : "kernel"));
}

bool spe_request_split(const char *events, struct text *filters, struct text *others)
{
	bool found = false;

	for (const char *at = events; *at != '\0';) {
		size_t len = event_text_length(at), name = strcspn(at, "/,");
		bool is_spe = strncmp(at, "arm_spe_", 8) == 0 && at[name] == '/' && name < len;

		if (is_spe)
			add_terms(filters, at + name, len - name);
		else
			text_format(others, "%s%.*s", others->n > 0 ? "," : "", (int)len, at);
		found |= is_spe;
		at += len;
		/* What is no event here is for the parser of events to say. */
		if (*at != '\0' && *at != ',') {
			text_str(others, at);
			break;
		}
		at += *at == ',';
	}
	return found;
}

/* The SPE PMU of a CPU, or NULL. */
static const struct pmu *pmu_of_cpu(struct pmus *pmus, uint32_t cpu)
{
	const struct pmu *pmu;

	for (size_t i = 0; (pmu = spe_pmu(pmus, i)) != NULL; i++)
		if (pmu->cpus.n == 0 || cpu_list_has(&pmu->cpus, cpu))
			return pmu;
	return NULL;
}

struct spe_cpus {
	VEC_OF(struct writer_spe_cpu) list;
};

static void spe_request_read_cpus(struct spe_cpus *out, struct pmus *pmus,
				  const struct cpu_list *cpus, const char *root)
{
	for (size_t i = 0; i < cpu_list_n(cpus); i++) {
		uint32_t number = cpu_list_at(cpus, i);
		const struct pmu *pmu = pmu_of_cpu(pmus, number);
		struct writer_spe_cpu *cpu = vec_add(&out->list);

		*cpu = (struct writer_spe_cpu){
			.cpu = number,
			.midr = machine_midr(root, number),
			.pmu_type = pmu != NULL ? pmu->type : UINT64_MAX,
		};
		if (pmu == NULL)
			continue;
		cpu->min_interval = spe_real_interval(pmu, 0);
		cpu->event_filter = pmu_cap_number(pmu, "event_filter", 0);
	}
}

/*
 * Does version 1 say enough? It takes the same SPE on all CPUs, which have the MIDR of the CPUID
 * feature.
 */
static bool are_alike(const struct spe_cpus *cpus)
{
	for (size_t i = 0; i < cpus->list.n; i++)
		if (cpus->list.items[i].midr != cpus->list.items[0].midr ||
		    cpus->list.items[i].pmu_type != cpus->list.items[0].pmu_type)
			return false;
	return true;
}

void spe_info_write(struct writer *w, struct pmus *pmus, const struct cpu_list *list,
		    const char *root, enum spe_info_version version)
{
	struct spe_cpus cpus = { 0 };
	uint32_t type = spe_pmu(pmus, 0)->type;

	spe_request_read_cpus(&cpus, pmus, list, root);
	if (version == SPE_INFO_AUTO)
		version = are_alike(&cpus) ? SPE_INFO_1 : SPE_INFO_2;
	if (version == SPE_INFO_1)
		writer_spe_info_v1(w, type, true);
	else
		writer_spe_info_v2(w, type, cpus.list.items, cpus.list.n);
	vec_release(&cpus.list);
}
