/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/feedback.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "feedback/autofdo.h"
#include "feedback/module_choice.h"
#include "feedback/prefetch.h"
#include "session/names.h"

struct feedback_format {
	const char *name;
	int (*write)(const struct edge_profile *, feedback_sink *, void *context,
		     struct feedback_written *);
	bool is_recorded; /* from branch stacks it has no fit */
	bool samples_do;  /* it has a form for samples, where there are no branches */
	bool is_of_loads; /* not of executions */
};

static const struct feedback_format formats[] = {
	{ "bolt", bolt_write_fdata, .samples_do = true },
	{ "bolt-pre-aggregated", bolt_write_aggregated, .is_recorded = true },
	{ "autofdo", autofdo_write },
	{ "prefetch", .is_of_loads = true },
};

const struct feedback_format *feedback_format_find(const char *name)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

const char *feedback_format_name(size_t index)
{
	return index < COUNT(formats) ? formats[index].name : NULL;
}

bool feedback_is_of_loads(const struct feedback_format *format)
{
	return format->is_of_loads;
}

static uint64_t n_samples_of(const struct flow_evidence *e)
{
	if (e->source == EVIDENCE_SPE)
		return 0;
	return e->source == EVIDENCE_SAMPLES ? e->n_samples : e->stacks.counts->n_samples;
}

static void note_written(const struct edge_profile *p, const struct feedback_format *format,
			 const struct feedback_written *w, struct text *note)
{
	const struct flow_evidence *e = p->evidence;
	size_t n_unfitted = 0;

	text_format(note, "%s of %s: %zu function%s, %zu line%s\nmade of ", format->name,
		    names_module(e->session, p->module), w->n_functions, plural(w->n_functions),
		    w->n_lines, plural(w->n_lines));
	flow_evidence_text(e, note);
	text_char(note, '\n');
	feedback_note_left_out(e->session, e->source == EVIDENCE_SAMPLES ? "samples" : "branches",
			       p->n_elsewhere, n_samples_of(e), note);
	if (e->source == EVIDENCE_SPE)
		text_str(note,
			 "SPE does not record fall-throughs: they are derived from the control "
			 "flow graph\n");
	if (e->source == EVIDENCE_SAMPLES)
		text_str(note,
			 "no branches were recorded, so this is a poorer profile: see cyclops "
			 "record --spe, --branches\n");
	if (e->source == EVIDENCE_SPE && !e->has_all_operations)
		text_str(note, "only records of branches count: other operations were filtered\n");
	if (e->is_relative)
		text_str(note,
			 "the numbers are executions but for a factor: what a sample represents "
			 "is not known\n");
	if (e->is_biased)
		text_str(note, "the branch stacks are biased (see cyclops blocks): the numbers are "
			       "only shares\n");
	for (size_t i = 0; i < p->functions.n; i++)
		n_unfitted +=
			p->functions.items[i].blocks.n > 0 && !p->functions.items[i].is_fitted;
	if (n_unfitted > 0 && !(format->is_recorded && e->source == EVIDENCE_STACKS))
		text_format(note, "%zu function%s too large for a fit: only what was recorded\n",
			    n_unfitted, n_unfitted == 1 ? " is" : "s are");
	if (w->n_without_lines > 0)
		text_format(note,
			    "%zu function%s without debug information left out (compile with -g)\n",
			    w->n_without_lines, plural(w->n_without_lines));
}

int feedback_write(struct session *s, const struct select *select,
		   const struct feedback_request *request, feedback_sink *sink, void *context,
		   struct text *note, struct err *err)
{
	struct flow_evidence evidence = { 0 };
	struct edge_profile profile = { 0 };
	struct feedback_written written = { 0 };
	int event = -1, rc = 0;

	if (request->format->is_of_loads)
		return prefetch_write(s, select, request->module, &request->clock, sink, context,
				      note, err);
	if (request->event != NULL) {
		event = branch_stacks_event(s, request->event, err);
		rc = event < 0 ? -1 : 0;
	}
	if (rc == 0)
		rc = flow_evidence_read(&evidence, s, select, event, request->format->samples_do,
					request->memory_bytes, err);
	if (rc == 0)
		rc = edge_profile_read(&profile, &evidence, request->module, err);
	if (rc == 0)
		rc = request->format->write(&profile, sink, context, &written);
	if (rc == 0 && written.n_lines == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE, "%s: nothing to write of %s%s",
			     request->format->name, names_module(s, profile.module),
			     written.n_without_lines > 0
				     ? ": it has no debug information (compile with -g)"
				     : "");
	if (rc == 0)
		note_written(&profile, request->format, &written, note);
	edge_profile_release(&profile);
	flow_evidence_release(&evidence);
	return rc;
}
