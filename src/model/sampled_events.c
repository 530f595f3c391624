/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sampled_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/event_code.h"

enum {
	NAME_MOST = 128,
	SKID_DEFAULT = 1, /* the interrupt comes before the next instruction */
	SKID_MOST = 512,
	DEPTH_DEFAULT = 32,
};

/* A decimal number that ends at one of `ends`, or -1. */
static int64_t number_at(const char *text, const char *ends, const char **out_end)
{
	char *end;
	long long n;

	errno = 0;
	if (text[0] < '0' || text[0] > '9')
		return -1;
	n = strtoll(text, &end, 10);
	*out_end = end;
	return errno == 0 && strchr(ends, *end) != NULL ? n : -1;
}

static int read_options(const char *text, const char *options, struct sample_event *out,
			struct err *err)
{
	const char *end = options;
	int64_t skid = -1;

	out->skid = SKID_DEFAULT;
	if (*options == '\0')
		return 0;
	if (strcmp(options, ":precise") == 0) {
		out->is_precise = true;
		out->skid = 0;
		return 0;
	}
	if (strncmp(options, ":skid=", 6) == 0)
		skid = number_at(options + 6, "", &end);
	if (skid < 0 || skid > SKID_MOST)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--sample %s: behind the period comes precise, or skid=N up to %d",
			       text, SKID_MOST);
	out->skid = (uint32_t)skid;
	return 0;
}

int sampled_event_read(const char *text, const char *cpu, struct pmu_sampling *sampling,
		       struct err *err)
{
	size_t length = strcspn(text, ":");
	struct sample_event event = { 0 };
	struct event_code code;
	char name[NAME_MOST];
	const char *end = text;
	int64_t period = text[length] == ':' ? number_at(text + length + 1, ":", &end) : -1;

	if (length == 0 || length >= sizeof(name) || period <= 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--sample: found '%s', wanted EVENT:PERIOD, such as "
			       "cpu_cycles:10007",
			       text);
	memcpy(name, text, length);
	name[length] = '\0';
	event.period = (uint64_t)period;
	if (read_options(text, end, &event, err) < 0)
		return -1;
	if (event_code_find(name, cpu, &code, err) < 0)
		return err_within(err, "--sample");
	event.event = modelled_event_find(code.name);
	event.code = code.code;
	if (event.event == NULL)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--sample: the model does not count %s; the file of --counts has all "
			"that it counts",
			code.name);
	if (sampling->events.n == PMU_EVENTS_MOST)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--sample: more than %d events",
			       PMU_EVENTS_MOST);
	*vec_add(&sampling->events) = event;
	return 0;
}

int branch_recording_read(const char *text, struct branch_recording *out, struct err *err)
{
	static const char *const filters[N_BRANCH_FILTERS] = {
		[BRANCHES_ANY] = "any",
		[BRANCHES_RETURN] = "ret",
		[BRANCHES_CALL] = "call",
	};
	const char *filter = text;
	int64_t depth = DEPTH_DEFAULT;

	if (text[0] >= '0' && text[0] <= '9') {
		depth = number_at(text, ",", &filter);
		filter += *filter == ',' && filter[1] != '\0';
	}
	*out = (struct branch_recording){ .depth = (uint32_t)depth };
	if (depth < 1 || depth > BRANCH_STACK_MOST)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--branch-stack: found '%s', wanted 1 to %d entries", text,
			       BRANCH_STACK_MOST);
	for (uint32_t i = 0; i < N_BRANCH_FILTERS; i++) {
		if (*filter != '\0' && strcmp(filter, filters[i]) != 0)
			continue;
		out->filter = i;
		return 0;
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--branch-stack: found '%s', wanted [N][,any|ret|call]", text);
}
