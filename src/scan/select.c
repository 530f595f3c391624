/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/select.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "scan/select_fields.h"
#include "scan/select_lex.h"

enum { MAX_DEPTH = 64 };

enum node_kind {
	NODE_TEST,
	NODE_NOT,
	NODE_AND,
	NODE_OR,
};

/* Children are nodes with smaller indexes, so a tree is evaluated from the left. */
struct node {
	enum node_kind kind;
	size_t left, right;
	struct test test;
};

struct select {
	struct session *session;
	VEC_OF(struct node) nodes;
	size_t root;
};

struct parser {
	struct session *session;
	struct select *select;
	const char *text;
	size_t pos;
	struct token token; /* the next one */
	unsigned depth;
	struct err *err;
};

static int advance(struct parser *p)
{
	return token_read(p->text, &p->pos, &p->token, p->err);
}

static int expected(struct parser *p, const char *what)
{
	if (p->token.kind == TOKEN_END)
		return err_set(p->err, ERR_USAGE, p->token.at, "ends where %s is expected", what);
	return err_set(p->err, ERR_USAGE, p->token.at, "expected %s at column %zu, found '%.*s'",
		       what, p->token.at + 1, (int)(p->pos - p->token.at), p->text + p->token.at);
}

static const struct field *find_field(const struct token *t)
{
	const struct field *f = select_fields;

	while (f->name != NULL && !token_is_name(t, f->name))
		f++;
	return f->name == NULL ? NULL : f;
}

static const char *field_name_at(const void *context, size_t i)
{
	(void)context;
	return select_fields[i].name;
}

static int unknown_field(struct parser *p)
{
	char names[256];

	return err_set(p->err, ERR_USAGE, p->token.at, "there is no field '%.*s'; there are %s",
		       (int)p->token.len, p->token.text,
		       list_words(field_name_at, NULL, names, sizeof(names)));
}

/* Turns "> 5" and the like into an inclusive interval; != is the negation of ==. */
static int set_interval(struct test *t, enum token_kind sign, uint64_t value)
{
	t->low = 0;
	t->high = UINT64_MAX;
	switch (sign) {
	case TOKEN_EQUAL:
	case TOKEN_NOT_EQUAL:
		t->low = t->high = value;
		break;
	case TOKEN_LESS:
		if (value == 0)
			t->low = 1; /* nothing is below zero: an empty interval */
		t->high = value == 0 ? 0 : value - 1;
		break;
	case TOKEN_LESS_EQUAL:
		t->high = value;
		break;
	case TOKEN_GREATER:
		t->low = value;
		if (value == UINT64_MAX)
			t->high = 0;
		else
			t->low++;
		break;
	case TOKEN_GREATER_EQUAL:
		t->low = value;
		break;
	default:
		return -1;
	}
	return 0;
}

static int parse_number(struct parser *p, uint64_t *out)
{
	if (p->token.kind != TOKEN_NUMBER)
		return expected(p, "a number (20, 0x14, 1.5ms)");
	*out = p->token.number;
	return advance(p);
}

static int parse_range(struct parser *p, struct test *t)
{
	size_t at = p->token.at;

	if (t->field->number == NULL)
		return err_set(p->err, ERR_USAGE, p->token.at,
			       "'%s' has no order, 'in' needs a number", t->field->name);
	if (advance(p) < 0 || parse_number(p, &t->low) < 0)
		return -1;
	if (p->token.kind != TOKEN_RANGE)
		return expected(p, "'..'");
	if (advance(p) < 0 || parse_number(p, &t->high) < 0)
		return -1;
	if (t->low > t->high)
		return err_set(p->err, ERR_USAGE, at, "the range of '%s' ends before it begins",
			       t->field->name);
	return 0;
}

/* Compiles the value of a test on names; a pattern lives only as long as this. */
static int parse_name(struct parser *p, struct test *t, bool is_pattern)
{
	struct token value = p->token;
	regex_t pattern;
	char *text;
	int rc;

	if (value.kind != TOKEN_WORD && value.kind != TOKEN_STRING && value.kind != TOKEN_NUMBER)
		return expected(p, "a word or a quoted text");
	if (!is_pattern) {
		rc = t->field->compile(p->session, t, &value, NULL, p->err);
		return rc < 0 ? rc : advance(p);
	}
	text = mem_strndup(value.text, value.len);
	rc = regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB);
	free(text);
	if (rc != 0) {
		char why[128];

		regerror(rc, &pattern, why, sizeof(why));
		return err_set(p->err, ERR_USAGE, value.at,
			       "'%.*s' is not a regular expression: %s", (int)value.len, value.text,
			       why);
	}
	rc = t->field->compile(p->session, t, &value, &pattern, p->err);
	regfree(&pattern);
	return rc < 0 ? rc : advance(p);
}

static bool select_is_word(const struct token *t, const char *word)
{
	return t->kind == TOKEN_WORD && t->len == strlen(word) &&
	       memcmp(t->text, word, t->len) == 0;
}

static int parse_comparison(struct parser *p, struct test *t)
{
	struct token sign = p->token;
	bool is_pattern = sign.kind == TOKEN_MATCH || sign.kind == TOKEN_NO_MATCH;

	if (select_is_word(&sign, "in"))
		return parse_range(p, t);
	if (sign.kind < TOKEN_EQUAL || sign.kind > TOKEN_NO_MATCH)
		return expected(p, "a comparison (== != < <= > >= =~ !~ in)");
	t->is_negated = sign.kind == TOKEN_NOT_EQUAL || sign.kind == TOKEN_NO_MATCH;
	if (advance(p) < 0)
		return -1;
	if (t->field->number != NULL && !is_pattern) {
		uint64_t value = 0;

		return parse_number(p, &value) < 0 ? -1 : set_interval(t, sign.kind, value);
	}
	if (is_pattern && !t->field->has_patterns)
		return err_set(p->err, ERR_USAGE, sign.at, "'%s' cannot be matched with a pattern",
			       t->field->name);
	if (!is_pattern && sign.kind != TOKEN_EQUAL && sign.kind != TOKEN_NOT_EQUAL)
		return err_set(p->err, ERR_USAGE, sign.at,
			       "'%s' has no order, use == or !=", t->field->name);
	return parse_name(p, t, is_pattern);
}

static size_t add_node(struct parser *p, struct node node)
{
	*vec_add(&p->select->nodes) = node;
	return p->select->nodes.n - 1;
}

static int parse_test(struct parser *p, size_t *out)
{
	struct node node = { .kind = NODE_TEST };

	if (p->token.kind != TOKEN_WORD)
		return expected(p, "a field");
	node.test.field = find_field(&p->token);
	if (node.test.field == NULL)
		return unknown_field(p);
	if (advance(p) < 0 || parse_comparison(p, &node.test) < 0) {
		test_release(&node.test);
		return -1;
	}
	*out = add_node(p, node);
	return 0;
}

static int parse_or(struct parser *p, size_t *out);

static int parse_term(struct parser *p, size_t *out)
{
	size_t inner;

	if (p->token.kind == TOKEN_NOT) {
		if (++p->depth > MAX_DEPTH)
			return err_set(p->err, ERR_USAGE, p->token.at, "nested too deeply");
		if (advance(p) < 0 || parse_term(p, &inner) < 0)
			return -1;
		p->depth--;
		*out = add_node(p, (struct node){ .kind = NODE_NOT, .left = inner });
		return 0;
	}
	if (p->token.kind != TOKEN_OPEN)
		return parse_test(p, out);
	if (++p->depth > MAX_DEPTH)
		return err_set(p->err, ERR_USAGE, p->token.at, "nested too deeply");
	if (advance(p) < 0 || parse_or(p, out) < 0)
		return -1;
	p->depth--;
	if (p->token.kind != TOKEN_CLOSE)
		return expected(p, "')'");
	return advance(p);
}

static int parse_and(struct parser *p, size_t *out)
{
	size_t right;

	if (parse_term(p, out) < 0)
		return -1;
	while (p->token.kind == TOKEN_AND) {
		if (advance(p) < 0 || parse_term(p, &right) < 0)
			return -1;
		*out = add_node(p, (struct node){ .kind = NODE_AND, .left = *out, .right = right });
	}
	return 0;
}

static int parse_or(struct parser *p, size_t *out)
{
	size_t right;

	if (parse_and(p, out) < 0)
		return -1;
	while (p->token.kind == TOKEN_OR) {
		if (advance(p) < 0 || parse_and(p, &right) < 0)
			return -1;
		*out = add_node(p, (struct node){ .kind = NODE_OR, .left = *out, .right = right });
	}
	return 0;
}

char *select_region(const char *text, const char *region)
{
	bool is_range = region[0] >= '0' && region[0] <= '9' && strstr(region, "..") != NULL;
	char quote = strchr(region, '"') != NULL ? '\'' : '"';
	struct text out = { 0 };
	char *copy;

	if (is_range)
		text_format(&out, "pc in %s", region);
	else
		text_format(&out, "sym == %c%s%c", quote, region, quote);
	if (text != NULL)
		text_format(&out, " && (%s)", text);
	copy = mem_strndup(out.bytes, out.n);
	text_release(&out);
	return copy;
}

int select_compile(struct session *s, const char *text, struct select **out, struct err *err)
{
	struct select *select = mem_zalloc(1, sizeof(*select));
	struct parser p = { .session = s, .select = select, .text = text, .err = err };

	select->session = s;
	if (advance(&p) < 0 || parse_or(&p, &select->root) < 0)
		goto fail;
	if (p.token.kind != TOKEN_END) {
		expected(&p, "&& or ||");
		goto fail;
	}
	*out = select;
	return 0;
fail:
	select_free(select);
	return -1;
}

void select_free(struct select *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->nodes.n; i++)
		test_release(&s->nodes.items[i].test);
	vec_release(&s->nodes);
	free(s);
}

static bool test_passes(const struct test *t, const struct rows *r, size_t row)
{
	uint64_t value;
	bool has, matches;

	if (t->field->run != NULL) {
		matches = t->field->run(t, r, row, &has);
	} else {
		has = t->field->number(r->session, r->batch, row, &value);
		matches = value >= t->low && value <= t->high;
	}
	return has && matches != t->is_negated;
}

static bool evaluate(const struct select *s, const struct rows *r, size_t index, size_t row)
{
	const struct node *n = &s->nodes.items[index];

	switch (n->kind) {
	case NODE_NOT:
		return !evaluate(s, r, n->left, row);
	case NODE_AND:
		return evaluate(s, r, n->left, row) && evaluate(s, r, n->right, row);
	case NODE_OR:
		return evaluate(s, r, n->left, row) || evaluate(s, r, n->right, row);
	case NODE_TEST:
		break;
	}
	return test_passes(&n->test, r, row);
}

static bool tests_any(const struct select *s, enum field_about about)
{
	for (size_t i = 0; s != NULL && i < s->nodes.n; i++)
		if (s->nodes.items[i].kind == NODE_TEST &&
		    s->nodes.items[i].test.field->about == about)
			return true;
	return false;
}

bool select_thins(const struct select *s)
{
	return tests_any(s, ABOUT_OUTCOME);
}

bool select_hides_kinds(const struct select *s)
{
	return tests_any(s, ABOUT_KIND);
}

bool select_matches(const struct select *s, const struct batch *b, size_t row)
{
	const struct rows rows = { .session = s->session, .batch = b };

	return evaluate(s, &rows, s->root, row);
}

void select_apply(const struct select *s, struct batch *b)
{
	const struct rows rows = { .session = s->session, .batch = b };
	bool keep[BATCH_ROWS];

	for (size_t row = 0; row < b->n; row++)
		keep[row] = evaluate(s, &rows, s->root, row);
	batch_keep(b, keep);
}
