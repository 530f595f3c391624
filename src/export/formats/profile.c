/* SPDX-License-Identifier: Apache-2.0 */
#include "export/formats/profile.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "callers/callers.h"
#include "scan/time_slices.h"

static const struct profile_format *const formats[] = {
	&profile_folded,     &profile_svg,	    &profile_pprof,
	&profile_speedscope, &profile_perf_script,  &profile_firefox,
	&profile_callgrind,  &profile_chrome_trace, &profile_otlp,
};

const struct profile_format *profile_format_at(size_t i)
{
	return i < COUNT(formats) ? formats[i] : NULL;
}

const struct profile_format *profile_format_find(const char *name)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

static const char *value_name_at(const void *context, size_t i)
{
	(void)context;
	return i < N_STACK_VALUES ? stack_value_name((enum stack_value)i) : NULL;
}

static const char *inverted_name_at(const void *context, size_t i)
{
	(void)context;
	for (size_t k = 0; k < COUNT(formats); k++)
		if (formats[k]->can_invert && i-- == 0)
			return formats[k]->name;
	return NULL;
}

int profile_check(const struct profile_format *f, const struct profile_options *o, struct err *err)
{
	char names[256];

	if (o->value != NULL && stack_value_find(o->value) == N_STACK_VALUES)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--value: there is no value '%s'; there are %s", o->value,
			       list_words(value_name_at, NULL, names, sizeof(names)));
	if (o->value != NULL && f->is_rows)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--value: %s has each sample as it is",
			       f->name);
	if (o->is_inverted && !f->can_invert)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--inverted needs one of --format %s",
			       list_words(inverted_name_at, NULL, names, sizeof(names)));
	if (o->fields != NULL && !f->has_fields)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--fields needs --format perf-script");
	if (o->fields != NULL && perf_script_check_fields(o->fields, err) < 0)
		return -1;
	if (o->n_slices > 0 && !f->by_slice)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--time-slices: %s shows no time",
			       f->name);
	return 0;
}

bool profile_has_value(const struct profile *p, uint64_t event, enum stack_value value)
{
	if (p->options->value != NULL)
		return value == stack_value_find(p->options->value);
	return value != STACK_SATURATED && p->stacks->totals[event][value] > 0;
}

void profile_put_value_name(const struct profile *p, uint64_t event, enum stack_value value,
			    struct text *out)
{
	stacks_event_name(p->stacks, event, out);
	if (value == STACK_PERIOD)
		return;
	text_char(out, ' ');
	text_str(out, stack_value_name(value));
}

void profile_put_frame_name(const struct profile *p, const struct stack_frame *f, struct text *out)
{
	if (f->function_id.v != 0 || f->module.v == 0) {
		text_str(out, f->function);
		return;
	}
	text_char(out, '[');
	text_str(out, names_module(p->session, f->module));
	text_char(out, ']');
}

void profile_each_caveat(const struct profile *p, void (*each)(struct profile *, const char *))
{
	struct profile *profile = (struct profile *)(uintptr_t)p;
	uint64_t spe = capture_n_events(p->session->capture);
	struct text callers = { 0 };

	if (stacks_are_modelled(p->stacks))
		each(profile, "modelled: recorded by a machine model, not by hardware");
	if (stacks_are_lower_bound(p->stacks, spe, STACK_CYCLES))
		each(profile, "latency counters were saturated: cycles are a lower bound");
	if (p->stacks->totals[spe][STACK_OPERATIONS] > 0)
		each(profile, "operations are an estimate: records times the sampling interval");
	if (p->stacks->totals[spe][STACK_RECORDS] > 0 && callers_sentence(p->session, &callers)) {
		text_char(&callers, '\0');
		each(profile, callers.bytes);
	}
	text_release(&callers);
}

/* The first event with records, and what it is weighed by. False if there is none. */
static bool choose_event(struct profile *p)
{
	const struct stacks *s = p->stacks;

	while (p->event < s->totals_end && s->totals[p->event][STACK_RECORDS] == 0)
		p->event++;
	if (p->event == s->totals_end) {
		p->event = 0;
		return false;
	}
	p->value = p->options->value != NULL ? stack_value_find(p->options->value)
					     : stacks_weight(s, p->event);
	return true;
}

bool profile_others_sentence(const struct profile *p, struct text *out)
{
	const struct stacks *s = p->stacks;
	struct text names = { 0 };
	bool has_others;

	for (uint64_t event = p->event + 1; event < s->totals_end; event++) {
		if (s->totals[event][STACK_RECORDS] == 0)
			continue;
		text_part(&names);
		stacks_event_name(s, event, &names);
		text_format(&names, " (%" PRIu64 " %s)", s->totals[event][STACK_RECORDS],
			    hot_is_spe(s->hot, event) ? "records" : "samples");
	}
	has_others = names.n > 0;
	if (has_others) {
		text_str(out, "of ");
		stacks_event_name(s, p->event, out);
		text_str(out, "; other events are left out; --event chooses: ");
		text_add(out, names.bytes, names.n);
	}
	text_release(&names);
	return has_others;
}

/* Says which event a format with one has, and which it leaves out. */
static void note_other_events(const struct profile *p)
{
	struct text sentence = { 0 };

	if (profile_others_sentence(p, &sentence))
		profile_writer_note(p->out, "%.*s", (int)sentence.n, sentence.bytes);
	text_release(&sentence);
}

/* Says that call chains of SPE records are no recorded ones. */
static void note_callers(const struct profile *p)
{
	struct text callers = { 0 };

	if (callers_sentence(p->session, &callers))
		profile_writer_note(p->out, "%.*s", (int)callers.n, callers.bytes);
	text_release(&callers);
}

static int write_stacks(const struct profile_format *f, struct profile *p, bool *out_has_data,
			struct err *err)
{
	const struct profile_options *o = p->options;
	const struct stacks_wish wish = {
		.records = o->records,
		.by_thread = f->by_thread,
		.by_source = f->by_source,
		.by_slice = f->by_slice,
		.depth = f->depth,
		.memory_bytes = o->memory_bytes,
	};
	unsigned n_slices = o->n_slices > 0 ? o->n_slices : f->n_slices;
	struct stacks stacks;
	int rc = 0;

	if (o->n_slices > 0)
		rc = scan_choose_slices(p->session, n_slices, false, err);
	else if (n_slices > 0) /* without times there are none */
		(void)scan_choose_slices(p->session, n_slices, false, &(struct err){ 0 });
	if (rc < 0)
		return rc;
	if (stacks_collect(&stacks, p->session, p->select, &wish, err) < 0)
		return -1;
	p->stacks = &stacks;
	*out_has_data = choose_event(p);
	if (*out_has_data && o->value != NULL && !f->has_events &&
	    stacks.totals[p->event][p->value] == 0) {
		profile_writer_note(p->out, "nothing was counted of --value %s", o->value);
		*out_has_data = false;
	}
	if (!f->has_events)
		note_other_events(p);
	if (*out_has_data && (f->has_events || hot_is_spe(stacks.hot, p->event)))
		note_callers(p);
	rc = f->write(p, err);
	p->stacks = NULL;
	stacks_release(&stacks);
	return rc;
}

int profile_write(const struct profile_format *f, struct session *s, const struct select *select,
		  const struct profile_options *o, struct profile_writer *out, bool *out_has_data,
		  struct err *err)
{
	struct profile p = { .session = s, .select = select, .options = o, .out = out };

	if (f->is_rows) {
		*out_has_data = capture_n_chunks(s->capture) > 0 ||
				capture_totals(s->capture)->n_samples > 0;
		return f->write(&p, err) < 0 ? -1 : profile_writer_finish(out);
	}
	if (write_stacks(f, &p, out_has_data, err) < 0)
		return -1;
	return profile_writer_finish(out);
}
