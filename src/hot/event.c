/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/event.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "capture/format/branches.h"
#include "hot/branches.h"
#include "scan/select_lex.h"
#include "spe/names.h"
#include "spe/packet.h"

/* Words of --event besides those of spe_event_find(), and the test of --select each stands for. */
static const struct {
	const char *word, *test;
	bool of_branches; /* entries of branch stacks can be tested for it … */
	bool needs_type;  /* … if their kind of branch was recorded */
} words[] = {
	{ "spe", "class <= 3" }, /* all SPE records, without the samples beside them */
	{ "taken", "(op == branch && !(op == conditional && event == not-taken))",
	  .of_branches = true },
	{ "dram", "(source == DRAM || source == remote-DRAM)" },
	{ "load", "op == load" },
	{ "store", "op == store" },
	{ "branch", "op == branch", .of_branches = true },
	{ "atomic", "op == atomic" },
	{ "conditional", "op == conditional", .of_branches = true, .needs_type = true },
	{ "indirect", "op == indirect", .of_branches = true, .needs_type = true },
	{ "call", "op == call", .of_branches = true, .needs_type = true },
	{ "return", "op == return", .of_branches = true, .needs_type = true },
	{ "vector", "op == vector" },
	{ "other", "op == other" },
};

/* PMU events that count the same as an SPE event; the best match first. */
static const struct {
	enum spe_event event;
	uint16_t code;	  /* of the Arm PMU */
	const char *name; /* in perf's words */
} counterparts[] = {
	{ SPE_EV_L1D_REFILL, 0x0003, "l1d_cache_refill" },
	{ SPE_EV_L1D_REFILL, 0x0042, "l1d_cache_refill_rd" },
	{ SPE_EV_L1D_ACCESS, 0x0004, "l1d_cache" },
	{ SPE_EV_MISPREDICTED, 0x0022, "br_mis_pred_retired" },
	{ SPE_EV_MISPREDICTED, 0x0010, "br_mis_pred" },
	{ SPE_EV_MISPREDICTED, 0xffff, "branch-misses" },
	{ SPE_EV_TLB_WALK, 0x0034, "dtlb_walk" },
	{ SPE_EV_TLB_ACCESS, 0x0025, "l1d_tlb" },
	{ SPE_EV_LLC_MISS, 0x0037, "ll_cache_miss_rd" },
	{ SPE_EV_LLC_MISS, 0xffff, "cache-misses" },
	{ SPE_EV_LLC_ACCESS, 0x0036, "ll_cache_rd" },
	{ SPE_EV_REMOTE, 0x0031, "remote_access" },
	{ SPE_EV_RETIRED, 0x0008, "inst_retired" },
};

static int find_sampled(const struct session *s, const char *name)
{
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if (strcmp(capture_event_name(s->capture, i), name) == 0)
			return (int)i;
	return -1;
}

static bool is_counterpart(const struct session *s, size_t event, size_t counterpart)
{
	const struct attr *a = &capture_event(s->capture, event)->attr;
	const char *name = capture_event_name(s->capture, event);
	size_t len = strlen(counterparts[counterpart].name);

	if (a->type == ATTR_TYPE_RAW && a->config == counterparts[counterpart].code)
		return true;
	return strncasecmp(name, counterparts[counterpart].name, len) == 0 &&
	       (name[len] == '\0' || name[len] == ':' || name[len] == '/');
}

/* The sampled event of the capture that counts what this bit says, or -1. */
static int counterpart_of(const struct session *s, int bit)
{
	for (size_t c = 0; c < COUNT(counterparts); c++)
		for (size_t i = 0;
		     (int)counterparts[c].event == bit && i < capture_n_events(s->capture); i++)
			if (is_counterpart(s, i, c))
				return (int)i;
	return -1;
}

static const char *event_name_at(const void *context, size_t i)
{
	const struct session *s = context;
	size_t n = capture_n_events(s->capture);

	if (i < n)
		return capture_event_name(s->capture, i);
	if (i - n < COUNT(words))
		return words[i - n].word;
	return i - n - COUNT(words) < 24 ? spe_event_name((unsigned)(i - n - COUNT(words))) : NULL;
}

static int hot_event_unknown(const struct session *s, const char *word, struct err *err)
{
	const char *nearest = nearest_word(word, event_name_at, s);

	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--event: '%s' is neither an event of this capture (its first is '%s') nor "
		       "an SPE event nor a kind of operation%s%s%s",
		       word,
		       capture_n_events(s->capture) > 0 ? capture_event_name(s->capture, 0) : "",
		       nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
		       nearest != NULL ? "?" : "");
}

const char *hot_event_word(size_t i)
{
	return i < COUNT(words) ? words[i].word : NULL;
}

/* Fails if the capture has branch stacks but no SPE, and branch stacks do not have this. */
static int check_branches(const struct session *s, const char *word, bool is_told, struct err *err)
{
	if (is_told || capture_spe(s->capture)->is_present || !session_has_branches(s))
		return 0;
	return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
		       "--event %s: this capture has no SPE records, and its branch stacks do not "
		       "record this; --event list shows the events",
		       word);
}

/* Appends the test that a single word stands for. */
static int event_add_word(const struct session *s, const char *word, struct text *out,
			  struct hot_event *e, int *bit, struct err *err)
{
	int found = spe_event_find(word);

	for (size_t i = 0; found < 0 && i < COUNT(words); i++) {
		if (strcasecmp(words[i].word, word) != 0)
			continue;
		text_str(out, words[i].test);
		e->needs_type |= words[i].needs_type;
		return check_branches(s, word, words[i].of_branches, err);
	}
	if (found < 0)
		return hot_event_unknown(s, word, err);
	*bit = found;
	e->needs_prediction |= found == SPE_EV_MISPREDICTED;
	text_format(out, "event == \"%s\"", word);
	return check_branches(s, word, BRANCH_EVENTS >> found & 1, err);
}

static bool is_comparison(const struct token *t)
{
	return (t->kind >= TOKEN_EQUAL && t->kind <= TOKEN_NO_MATCH) ||
	       (t->kind == TOKEN_WORD && t->len == 2 && memcmp(t->text, "in", 2) == 0);
}

/* Is it a name of the SPE event "mispredicted"? */
static bool is_prediction(const struct token *t)
{
	bool is_name = t->kind == TOKEN_WORD || t->kind == TOKEN_STRING;
	char *word = is_name ? mem_strndup(t->text, t->len) : NULL;
	bool found = is_name && spe_event_find(word) == SPE_EV_MISPREDICTED;

	free(word);
	return found;
}

/* An error of the language of --select, in a term of --event. */
static int term_fail(struct err *err)
{
	err->at = ERR_NOWHERE;
	return err_within(err, "--event");
}

/* Appends a term as an expression of --select. */
static int event_add_term(const struct session *s, const char *term, struct text *out,
			  struct hot_event *e, int *bit, struct err *err)
{
	struct token token, next;
	size_t pos = 0, start;

	for (;;) {
		size_t ahead;

		start = pos;
		if (token_read(term, &pos, &token, err) < 0)
			return term_fail(err);
		if (token.kind == TOKEN_END)
			return 0;
		ahead = pos;
		if (token_read(term, &ahead, &next, err) < 0)
			return term_fail(err);
		text_char(out, ' ');
		if (token.kind == TOKEN_WORD && !is_comparison(&token) && !is_comparison(&next)) {
			char *word = mem_strndup(token.text, token.len);
			int rc = event_add_word(s, word, out, e, bit, err);

			free(word);
			if (rc < 0)
				return rc;
			continue;
		}
		text_add(out, term + start, pos - start);
		if (is_comparison(&next)) {
			/* The comparison and its value stay as they are. */
			text_add(out, term + pos, ahead - pos);
			pos = ahead;
			if (token_read(term, &ahead, &token, err) < 0)
				return term_fail(err);
			e->needs_prediction |= is_prediction(&token);
			text_add(out, term + pos, ahead - pos);
			pos = ahead;
		}
	}
}

/* Adds one value of --event: terms with commas between them. */
static int hot_event_add_value(struct session *s, const char *value, struct text *out,
			       struct hot_event *e, int *bit, struct err *err)
{
	int rc = 0;

	if (find_sampled(s, value) >= 0) {
		e->sampled = find_sampled(s, value);
		return 0;
	}
	for (const char *at = value; rc == 0; at++) {
		char *term = mem_strndup(at, strcspn(at, ","));

		if (find_sampled(s, term) >= 0) {
			e->sampled = find_sampled(s, term);
		} else {
			text_str(out, out->n > 0 ? " && (" : "(");
			rc = event_add_term(s, term, out, e, bit, err);
			text_str(out, " )");
			e->is_spe = true;
		}
		free(term);
		at += strcspn(at, ",");
		if (*at == '\0')
			break;
	}
	return rc;
}

static int choose_against(const struct session *s, const char *against, int bit,
			  struct hot_event *e, struct err *err)
{
	if (against == NULL) {
		if (e->is_spe && e->sampled < 0 && bit >= 0 && capture_spe(s->capture)->is_present)
			e->sampled = counterpart_of(s, bit);
		return 0;
	}
	e->sampled = find_sampled(s, against);
	if (e->sampled >= 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--against: '%s' is not an event of this capture (its first is '%s')",
		       against,
		       capture_n_events(s->capture) > 0 ? capture_event_name(s->capture, 0) : "");
}

int hot_event_choose(struct session *s, const char *const *values, size_t n, const char *against,
		     struct hot_event *out, struct err *err)
{
	struct hot_event e = { .sampled = -1, .branches_of = -1 };
	struct text text = { 0 };
	int bit = -1, rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = hot_event_add_value(s, values[i], &text, &e, &bit, err);
	e.branches_of = e.sampled; /* what is only compared with does not choose them */
	if (rc == 0)
		rc = choose_against(s, against, bit, &e, err);
	e.with_branches = e.is_spe && session_has_branches(s);
	e.with_skid = e.is_spe && e.sampled >= 0 && capture_spe(s->capture)->is_present;
	if (rc == 0 && e.is_spe) {
		e.text = mem_strndup(text.bytes, text.n);
		rc = select_compile(s, e.text, &e.condition, err);
		if (rc < 0)
			rc = term_fail(err);
	}
	text_release(&text);
	*out = e;
	if (rc < 0)
		hot_event_release(out);
	return rc;
}

struct hot_options hot_event_options(const struct hot_event *e, uint32_t dimensions)
{
	return (struct hot_options){
		.dimensions = dimensions,
		.condition = e->condition,
		.branch_needs = (e->needs_prediction ? HAS_EVENTS : 0u) |
				(e->needs_type ? HAS_BRANCH_TYPE : 0u),
		.event = e->sampled,
		.branches_of = e->branches_of,
		.without_spe = e->sampled >= 0 && !e->is_spe,
		.without_samples = e->is_spe && !e->with_skid,
	};
}

void hot_event_release(struct hot_event *e)
{
	free(e->text);
	select_free(e->condition);
	*e = (struct hot_event){ .sampled = -1, .branches_of = -1 };
}
