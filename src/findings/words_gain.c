/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fix may gain, in words. Samples bound it: what the cause takes at most, as long as all of it would go. What a
 * fix leaves of a cause, and what it adds, they do not tell; the machine model predicts the first.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "data/short_name.h"
#include "findings/words_inside.h"
#include "session/tip.h"

/* A condition, in two parts: "if all loads", of which code, " hit the L1D". */
struct condition {
	const char *before, *after;
};

/*
 * A cause that is gone, and what `cyclops model --what-if` calls that; NULL: nothing does without it. Data that a fix
 * brings near or into order are on few pages, or come page by page, so that their walks go, too.
 */
static const struct ideal {
	struct condition without; /* the cause; no text: nothing is known of the fix */
	const char *what_if;
	struct condition simulated; /* what of that is simulated; no text: the same */
} ideals[N_FINDING_KINDS] = {
#define LOADS_HIT                                                                                  \
	{                                                                                          \
		{ "if all loads", " hit the L1D" }, "l1d+page-walks",                              \
		{                                                                                  \
			"if all loads", " hit the L1D, without page walks"                         \
		}                                                                                  \
	}
	[FINDING_L2_BOUND] = LOADS_HIT,
	[FINDING_LLC_BOUND] = LOADS_HIT,
	[FINDING_DRAM_LATENCY] = LOADS_HIT,
	[FINDING_DRAM_BANDWIDTH] = LOADS_HIT,
	[FINDING_MEMORY_BOUND] = LOADS_HIT,
	[FINDING_LATE_PREFETCH] = LOADS_HIT,
#undef LOADS_HIT
	[FINDING_STORE_BOUND] = { { "if all stores", " hit the L1D" },
				  "l1d+page-walks",
				  { "if all stores", " hit the L1D, without page walks" } },
	[FINDING_TLB_WALKS] = { { "if no access", " needed a page table walk" },
				"page-walks",
				{ 0 } },
	[FINDING_MISPREDICTIONS] = { { "if all branches", " were predicted" },
				     "branch-prediction",
				     { 0 } },
	[FINDING_DEPENDENCY_CHAIN] = { { "if nothing", " waited for the chain" },
				       "arithmetic-latency",
				       { "if all arithmetic", " took one cycle" } },
	[FINDING_STORE_FORWARDING] = { { "if the variable", " were in a register" },
				       "forwarding",
				       { 0 } },
	[FINDING_DIVISION] = { { "if divisions", " took no time" },
			       "division",
			       { "if divisions", " took as long as multiplications" } },
	[FINDING_SHARED_DATA] = { { "if no other core took the lines", "" }, "coherence", { 0 } },
	[FINDING_PAGE_FAULTS] = { { "if no page faulted", "" }, NULL, { 0 } },
	[FINDING_FRONT_END] = { { "if no fetch missed", "" }, "instruction-side", { 0 } },
};

/* Less is no gain. */
static const double least_prediction = 0.0005;

static struct ideal ideal_of(const struct finding *f)
{
	struct ideal ideal = ideals[f->kind];
	enum remedy_kind first = f->remedies.n > 0 ? f->remedies.items[0].kind : REMEDY_NONE;

	if (f->kind != FINDING_DEPENDENCY_CHAIN)
		return ideal;
	if (first == REMEDY_DIVISION) {
		ideal.what_if = ideals[FINDING_DIVISION].what_if;
		ideal.simulated = ideals[FINDING_DIVISION].simulated;
	} else if (first == REMEDY_POINTER_CHASE || first == REMEDY_SMALLER_TABLE)
		ideal.what_if = NULL; /* a chain of hits */
	return ideal;
}

/* Can it stand behind the @ of a list that commas divide? Otherwise the whole program is asked for. */
static bool is_plain(const char *name)
{
	for (; *name != '\0'; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != '.')
			return false;
	return true;
}

const char *finding_what_if(const struct finding *f)
{
	return f->loop != NULL || f->code != NULL ? ideal_of(f).what_if : NULL;
}

const char *finding_what_if_words(struct table *t, const struct finding *f)
{
	const char *name = finding_what_if(f);

	if (name == NULL || f->code != NULL || f->function == NULL || !is_plain(f->function) ||
	    f->subject == NULL || strcmp(f->function, f->subject) != 0)
		return name;
	return table_format(t, "%s@%s", name, f->function);
}

const char *finding_what_if_command(struct table *t, const struct session *s,
				    const struct finding *f)
{
	const char *what_if = finding_what_if_words(t, f);

	return what_if == NULL || f->has_prediction
		       ? NULL
		       : tip_of_program(t, s,
					table_format(t, "cyclops model --what-if %s", what_if));
}

/* Shares of latency and of branches are no time. */
static bool is_of_time(const struct finding *f)
{
	return f->loop != NULL && f->size.of == WHOLE_TIME;
}

/* An ideal is no fix: a program that is changed still has some of the cause, and what it does instead. */
static const char less_of_fix[] = "a fix that leaves some of the cause, or adds work, gains less";

/* Of all loops of the function: "71.6 % fewer cycles if all loads in chase hit the L1D (modelled)" */
static void put_prediction(const struct finding *f, struct text *out)
{
	const struct ideal ideal = ideal_of(f);
	const struct condition *c =
		ideal.simulated.before != NULL ? &ideal.simulated : &ideal.without;

	if (f->prediction < least_prediction)
		text_str(out, "no fewer cycles ");
	else
		text_format(out, "%.1f %% fewer cycles ", 100 * f->prediction);
	text_str(out, c->before);
	if (f->function != NULL && c->after[0] != '\0') {
		text_str(out, " in ");
		short_name(f->function, strlen(f->function), WORDS_NAME_WIDTH, out);
	}
	text_format(out, "%s (modelled)", c->after);
}

const char *finding_prediction_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (f->has_prediction)
		put_prediction(f, &text);
	return words_take(t, &text);
}

/* What stands above is the limit: "at most that share, if all loads in the loop hit the L1D" */
static void put_limit(const struct finding *f, struct text *out)
{
	const struct condition *c = &ideals[f->kind].without;

	text_format(out, "at most that share, %s", c->before);
	if (f->loop != NULL && c->after[0] != '\0')
		text_str(out, f->loop->is_loop ? " in the loop" : " there");
	text_str(out, c->after);
}

/* No number: of other code than this, or of no time. */
static const char *not_known(const struct finding *f)
{
	bool is_latency = f->size.of == WHOLE_LATENCY || f->size.of == WHOLE_LOAD_LATENCY;

	if (f->kind == FINDING_SCALAR_LOOP)
		return "not known: the loop with vectors is other code, which did not run";
	return is_latency ? "not known: operations overlap, so latency is no run time"
			  : "not known from this capture";
}

static void put_gain_of_sharing(struct table *t, const struct finding *f, struct text *out)
{
	const struct finding_sharing *s = f->sharing;
	bool is_false = f->kind == FINDING_FALSE_SHARING;

	if (!s->has_gain) {
		text_str(out, "not known: this capture does not tell how much of the run time the "
			      "waits take");
		return;
	}
	text_str(out, is_false && !s->gain_is_limit ? "about " : "at most ");
	put_sharing_time(t, s, out);
	text_format(out, " (by %s pace while no load waited)",
		    s->gain_threads == 1 ? "its" : "their");
	if (!is_false)
		text_str(out, ", if no thread waited for another");
	else if (s->gain_is_limit)
		text_format(out, ", for all lines that %s for together, not for this one alone",
			    s->gain_threads == 1 ? "it waits" : "they wait");
}

static void put_gain(struct table *t, const struct finding *f, struct text *out)
{
	if (f->sharing != NULL)
		put_gain_of_sharing(t, f, out);
	else if (f->has_prediction)
		put_prediction(f, out);
	else if ((is_of_time(f) || f->page_faults != NULL) &&
		 ideals[f->kind].without.before != NULL)
		put_limit(f, out);
	else
		text_str(out, not_known(f));
}

const char *finding_gain_brief(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (!finding_is_of_counts(f) && !finding_is_general(f->kind))
		put_gain(t, f, &text);
	return words_take(t, &text);
}

const char *finding_gain_words(struct table *t, const struct session *s, const struct finding *f,
			       const char *quote)
{
	const char *command = finding_what_if_command(t, s, f);
	struct text text = { 0 };

	if (finding_is_of_counts(f) || finding_is_general(f->kind))
		return NULL;
	put_gain(t, f, &text);
	if (f->has_prediction)
		text_format(&text, "; %s", less_of_fix);
	if (command != NULL)
		text_format(&text, "; to simulate that: %s%s%s", quote, command, quote);
	return words_take(t, &text);
}
