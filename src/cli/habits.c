/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/habits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* Commands that read one capture, and all that show an answer. */
#define CAPTURES "report hot annotate mem c2c addr quality"
#define VIEWS CAPTURES " diff"
#define ROWS "hot mem"

/* Keys of perf's --sort, and of --coalesce. */
static const struct habit_word keys[] = {
	{ "comm", "process" },
	{ "pid", "process", .is_ours = true },
	{ "tid", "thread", .is_ours = true },
	{ "cpu", "cpu", .is_ours = true },
	{ "dso", "module" },
	{ "symbol", "function" },
	{ "sym", "function" },
	{ "srcline", "line" },
	{ "srcfile", "line" },
	{ "mem", "source" },
	{ NULL, NULL },
};

static const struct habit_word coalesce[] = {
	{ "iaddr", "place" }, { "pid", "process" }, { "tid", "thread" },
	{ "dso", "module" },  { NULL, NULL },
};

static const struct habit_word syntaxes[] = {
	{ "intel", "intel" },
	{ "att", "att" },
	{ NULL, NULL },
};

static const struct habit habits[] = {
	/* How it is shown. */
	{ VIEWS, 0, "stdio", HABIT_ALONE, HABIT_OPTION, "no-pager" },
	{ VIEWS, 0, "stdio2", HABIT_ALONE, HABIT_OPTION, "no-pager" },
	{ VIEWS, 0, "tui", HABIT_ALONE, HABIT_NOTHING },
	{ VIEWS, 0, "gtk", HABIT_ALONE, HABIT_ADVICE, "there is text only, csv and json" },
	{ VIEWS " dump", 'f', "force", HABIT_ALONE, HABIT_NOTHING },
	{ VIEWS " stat record", 'v', "verbose", HABIT_ALONE, HABIT_NOTHING },
	{ VIEWS, 'q', "quiet", HABIT_ALONE, HABIT_NOTHING },
	{ VIEWS, 0, "header", HABIT_ALONE, HABIT_NOTHING },
	{ "report", 0, "header-only", HABIT_ALONE, HABIT_OPTION, "table", "capture" },
	{ "hot mem annotate c2c addr", 0, "header-only", HABIT_ALONE, HABIT_ADVICE,
	  "type 'cyclops report --table capture'" },
	{ "report", 0, "stats", HABIT_ALONE, HABIT_OPTION, "table", "capture" },
	{ "c2c", 0, "stats", HABIT_ALONE, HABIT_OPTION, "table", "sharing" },
	{ "report", 0, "tasks", HABIT_ALONE, HABIT_ADVICE,
	  "type 'cyclops hot --by process,thread', or 'cyclops dump' for the records" },
	{ "report", 0, "mmaps", HABIT_ALONE, HABIT_ADVICE, "type 'cyclops dump'" },
	{ "report hot", 't', "field-separator", HABIT_VALUE, HABIT_OPTION, "format", "csv", "," },
	{ "stat mem", 'x', "field-separator", HABIT_VALUE, HABIT_OPTION, "format", "csv", "," },
	{ "stat list", 'j', "json-output", HABIT_ALONE, HABIT_OPTION, "format", "json" },
	{ "list", 0, "json", HABIT_ALONE, HABIT_OPTION, "format", "json" },
	{ "list", 'd', "desc", HABIT_ALONE, HABIT_NOTHING },
	{ "list", 'v', "long-desc", HABIT_ALONE, HABIT_NOTHING },
	{ "list", 0, "details", HABIT_ALONE, HABIT_NOTHING },
	{ "report hot mem", 0, "percent-limit", HABIT_VALUE, HABIT_ADVICE,
	  "type --top N for the number of rows" },
	{ "report hot mem", 'F', "fields", HABIT_VALUE, HABIT_ADVICE,
	  "type --columns NAMES; the names are those of --format csv" },
	{ "report hot mem c2c", 'w', "column-widths", HABIT_VALUE, HABIT_ADVICE,
	  "type --width N for all of the line" },

	{ "report annotate addr quality", 0, "fail-if", HABIT_VALUE, HABIT_ADVICE,
	  "'cyclops diff A B', hot, mem and c2c have it", .is_elsewhere = true },

	{ "diff", 0, "fleet", HABIT_VALUE, HABIT_ADVICE,
	  "type 'cyclops fleet changed DATASET --from BUILD --to BUILD'; it has --fail-if, too",
	  .is_elsewhere = true },

	/* Rows and their order. */
	{ "report", 's', "sort", HABIT_VALUE, HABIT_COMMAND, "hot" },
	{ "report", 'g', "call-graph", HABIT_OPTIONAL_VALUE, HABIT_COMMAND, "hot" },
	{ "report", 'G', "inverted", HABIT_ALONE, HABIT_COMMAND, "hot" },
	{ "report", 0, "children", HABIT_ALONE, HABIT_COMMAND, "hot" },
	{ "report", 0, "no-children", HABIT_ALONE, HABIT_COMMAND, "hot" },
	{ ROWS, 's', "sort", HABIT_VALUE, HABIT_OPTION, "by", .words = keys },
	{ "hot", 'g', "call-graph", HABIT_OPTIONAL_VALUE, HABIT_OPTION, "callers" },
	{ "hot", 'G', "inverted", HABIT_ALONE, HABIT_OPTION, "call-tree" },
	{ "mem c2c annotate addr", 'g', "call-graph", HABIT_OPTIONAL_VALUE, HABIT_ADVICE,
	  "type 'cyclops hot --callers'" },
	{ "hot", 0, "children", HABIT_ALONE, HABIT_NOTHING },
	{ "hot", 0, "no-children", HABIT_ALONE, HABIT_NOTHING },
	{ "report " ROWS, 'n', "show-nr-samples", HABIT_ALONE, HABIT_NOTHING },
	{ "c2c", 'c', "coalesce", HABIT_VALUE, HABIT_OPTION, "coalesce", .words = coalesce },

	/* Which records. */
	{ CAPTURES, 0, "guestmodules", HABIT_VALUE, HABIT_ADVICE,
	  "put it beside the file of --guestkallsyms, as 'modules'" },
	{ CAPTURES, 'c', "comms", HABIT_VALUE, HABIT_SELECT, "comm" },
	{ CAPTURES, 0, "comm", HABIT_VALUE, HABIT_SELECT, "comm" },
	{ CAPTURES, 'd', "dsos", HABIT_VALUE, HABIT_SELECT, "module" },
	{ CAPTURES, 0, "dso", HABIT_VALUE, HABIT_SELECT, "module" },
	{ CAPTURES, 'S', "symbols", HABIT_VALUE, HABIT_SELECT, "sym" },
	{ "report hot mem c2c addr", 0, "symbol", HABIT_VALUE, HABIT_SELECT, "sym" },
	{ CAPTURES, 0, "pid", HABIT_VALUE, HABIT_SELECT, "pid", .is_number = true },
	{ CAPTURES, 0, "tid", HABIT_VALUE, HABIT_SELECT, "tid", .is_number = true },
	{ CAPTURES, 'C', NULL, HABIT_VALUE, HABIT_SELECT, "cpu", .is_number = true },
	{ "mem", 't', "type", HABIT_VALUE, HABIT_SELECT, "op" },
	{ VIEWS, 0, "time", HABIT_VALUE, HABIT_ADVICE, "type --select 'time in 1.2s..1.4s'" },

	/* Annotated code. */
	{ "annotate", 'M', "disassembler-style", HABIT_VALUE, HABIT_OPTION, "syntax",
	  .words = syntaxes },
	{ "annotate", 0, "source", HABIT_ALONE, HABIT_NOTHING },
	{ "annotate", 'l', "print-line", HABIT_ALONE, HABIT_NOTHING },
	{ "annotate", 0, "objdump", HABIT_VALUE, HABIT_NOTHING },

	/* Counting. */
	{ "stat", 'M', NULL, HABIT_VALUE, HABIT_OPTION, "metrics" },
	{ "stat", 0, "event", HABIT_VALUE, HABIT_OPTION, "events" },
	{ "stat", 'd', "detailed", HABIT_ALONE, HABIT_OPTION, "all" },
	{ "stat", 0, "topdown", HABIT_ALONE, HABIT_NOTHING },
	{ "stat", 0, "td-level", HABIT_VALUE, HABIT_OPTION, "level" },
	{ "stat", 0, "per-thread", HABIT_ALONE, HABIT_OPTION, "by-thread" },
	{ "stat", 0, "no-aggr", HABIT_ALONE, HABIT_OPTION, "by-cpu" },
	{ "stat", 0, "interval-print", HABIT_VALUE, HABIT_OPTION, "interval" },
	{ "stat", 'B', "big-num", HABIT_ALONE, HABIT_NOTHING },

	/* Recording. */
	{ "record", 'j', "branch-filter", HABIT_VALUE, HABIT_OPTION, "branches" },
	{ "record", 'I', "intr-regs", HABIT_OPTIONAL_VALUE, HABIT_OPTION, "regs" },
	{ "record", 0, "user-regs", HABIT_OPTIONAL_VALUE, HABIT_OPTION, "regs" },
	{ "record", 'R', "raw-samples", HABIT_ALONE, HABIT_NOTHING },
	{ "record", 's', "stat", HABIT_ALONE, HABIT_NOTHING },
	{ "record", 'T', "timestamp", HABIT_ALONE, HABIT_NOTHING },
	{ "record", 'P', "period", HABIT_ALONE, HABIT_NOTHING },
	{ "record", 'N', "no-buildid-cache", HABIT_ALONE, HABIT_NOTHING },
	{ "record", 'B', "no-buildid", HABIT_ALONE, HABIT_NOTHING },
	{ "record", 0, "buildid-all", HABIT_ALONE, HABIT_NOTHING },
	{ "record", 0, "sample-cpu", HABIT_ALONE, HABIT_NOTHING },
	{ "record", 0, "strict-freq", HABIT_ALONE, HABIT_NOTHING },
	{ "record", 0, "all-user", HABIT_ALONE, HABIT_ADVICE, "type -e EVENT:u, or --spe=user" },
	{ "record", 0, "all-kernel", HABIT_ALONE, HABIT_ADVICE,
	  "type -e EVENT:k, or --spe=kernel" },
	{ "record", 0, "mmap-pages", HABIT_VALUE, HABIT_ADVICE, "type --ring BYTES" },
	{ "record", 0, "overwrite", HABIT_ALONE, HABIT_ADVICE, "type --snapshot, with --spe" },
	{ "record", 'u', "uid", HABIT_VALUE, HABIT_ADVICE, "type --pid PID,PID" },
};

/* The first words of perf's command lines, and ours. */
static const struct {
	const char *command, *second; /* second NULL: any */
	const char *words[3];	      /* instead of both; ends with NULL; none: `advice` */
	const char *advice;
} lines[] = {
	{ "c2c", "record", { "record", "--data" } },
	{ "c2c", "report", { "c2c" } },
	{ "mem", "record", { "record", "--data" } },
	{ "mem", "report", { "mem" } },
	{ "list", "hw", { "list", "events" } },
	{ "list", "cache", { "list", "events" } },
	{ "list", "pmu", { "list", "events" } },
	{ "list", "metric", { "list", "metrics" } },
	{ "list", "metricgroup", { "list", "groups" } },
	{ "stat", "record", { NULL }, "type 'cyclops stat --format json -o FILE -- PROGRAM'" },
	{ "stat", "report", { NULL }, "type 'cyclops stat --import FILE'" },
	{ "version", NULL, { "--version" } },
	{ "evlist", NULL, { NULL }, "type 'cyclops report --table capture'" },
	{ "script", NULL, { NULL }, "type 'cyclops export', or 'cyclops dump'" },
	{ "top", NULL, { NULL }, "type 'cyclops record -a --duration 10s', then 'cyclops hot'" },
};

/* Is it one of the words, which have `between` between them? */
static bool has_word(const char *words, char between, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)) != NULL; at += len)
		if ((at == words || at[-1] == between) && (at[len] == between || at[len] == '\0'))
			return true;
	return false;
}

const struct habit *habit_at(size_t i)
{
	return i < COUNT(habits) ? &habits[i] : NULL;
}

const struct habit *habit_find(const char *command, const char *name, size_t len, char letter)
{
	for (size_t i = 0; i < COUNT(habits); i++) {
		const struct habit *h = &habits[i];
		bool is_it = letter != 0 ? h->letter == letter
					 : h->name != NULL && strlen(h->name) == len &&
						   strncmp(h->name, name, len) == 0;

		if (is_it && has_word(h->commands, ' ', command))
			return h;
	}
	return NULL;
}

static const struct habit_word *find_word(const struct habit_word *words, const char *text,
					  size_t len)
{
	for (const struct habit_word *w = words; w->theirs != NULL; w++)
		if (strlen(w->theirs) == len && strncmp(w->theirs, text, len) == 0)
			return w;
	return NULL;
}

const struct habit *habit_of_value(const char *command, const char *name, const char *value)
{
	const struct habit *h = habit_find(command, name, strlen(name), 0);
	bool is_theirs = false;

	if (h == NULL || h->kind != HABIT_OPTION || h->words == NULL)
		return NULL;
	for (const char *at = value;; at++) {
		size_t len = strcspn(at, ",");
		const struct habit_word *w = find_word(h->words, at, len);

		if (w == NULL)
			return NULL;
		is_theirs |= !w->is_ours;
		at += len;
		if (*at == '\0')
			return is_theirs ? h : NULL;
	}
}

/* Appends a comparison for a word. */
static void put_comparison(const struct habit *h, const char *word, size_t len, struct text *out)
{
	const char *quote = h->is_number ? "" : "\"";

	text_format(out, "%s == %s%.*s%s", h->ours, quote, (int)len, word, quote);
}

/* Appends a word of perf's in ours; each once, as several may mean the same. */
static int habit_put_word(const struct habit *h, const char *word, size_t len, struct text *out,
			  struct err *err)
{
	const struct habit_word *w = find_word(h->words, word, len);
	struct text known = { 0 };

	if (w == NULL) {
		for (w = h->words; w->theirs != NULL; w++)
			text_format(&known, "%s%s", w == h->words ? "" : ", ", w->theirs);
		err_set(err, ERR_USAGE, ERR_NOWHERE,
			"perf's --%s: '%.*s' is not known here; --%s knows %.*s", h->name, (int)len,
			word, h->ours, (int)known.n, known.bytes);
		text_release(&known);
		return -1;
	}
	if (!has_word(out->n > 0 ? out->bytes : "", ',', w->ours))
		text_format(out, "%s%s", out->n > 0 ? "," : "", w->ours);
	text_char(out, '\0');
	out->n--;
	return 0;
}

int habit_translate(const struct habit *h, const char *value, char *out, size_t size,
		    struct err *err)
{
	struct text text = { 0 };
	int rc = 0;

	if (h->only != NULL && strcmp(value, h->only) != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "perf's --%s: found '%s', but %s here has '%s' only", h->name, value,
			       h->fixed, h->only);
	if (h->fixed != NULL)
		text_str(&text, h->fixed);
	for (const char *at = value; h->fixed == NULL && rc == 0; at++) {
		size_t len = strcspn(at, ",");

		if (at != value && h->words == NULL)
			text_str(&text, h->kind == HABIT_SELECT ? " || " : ",");
		if (h->kind == HABIT_SELECT)
			put_comparison(h, at, len, &text);
		else if (h->words == NULL)
			text_add(&text, at, len);
		else
			rc = habit_put_word(h, at, len, &text, err);
		at += len;
		if (*at == '\0')
			break;
	}
	if (rc == 0 && text.n >= size)
		rc = err_set(err, ERR_LIMIT, ERR_NOWHERE, "'%s' is too long", value);
	if (rc == 0) {
		if (text.n > 0)
			memcpy(out, text.bytes, text.n);
		out[text.n] = '\0';
	}
	text_release(&text);
	return rc;
}

int habit_advise(const struct habit *h, const char *argument, struct err *err)
{
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       h->is_elsewhere ? "there is no %s here; %s"
				       : "%s is an option of perf; here %s",
		       argument, h->ours);
}

/* The command that knows one of these options of perf's; NULL: that of the line. */
static const char *command_of_options(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		bool is_long = strncmp(argv[i], "--", 2) == 0;
		const struct habit *h;

		if (argv[i][0] != '-' || argv[i][1] == '\0')
			continue;
		h = habit_find(argv[0], argv[i] + 2, strcspn(argv[i] + 2, "="),
			       is_long ? 0 : argv[i][1]);
		if (h != NULL && h->kind == HABIT_COMMAND)
			return h->ours;
	}
	return NULL;
}

int habit_line_read(int argc, char **argv, struct habit_line *out, struct err *err)
{
	const char *const *words = NULL;
	const char *command;
	int n_theirs = 0;

	*out = (struct habit_line){ 0 };
	out->argv = mem_zalloc((size_t)argc + COUNT(lines[0].words) + 1, sizeof(*out->argv));
	for (size_t i = 0; i < COUNT(lines) && words == NULL; i++) {
		bool has_second = lines[i].second != NULL;

		if (strcmp(lines[i].command, argv[0]) != 0 ||
		    (has_second && (argc < 2 || strcmp(lines[i].second, argv[1]) != 0)))
			continue;
		if (lines[i].words[0] == NULL)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "'%s%s%s' is a command of perf; here %s", argv[0],
				       has_second ? " " : "", has_second ? argv[1] : "",
				       lines[i].advice);
		words = lines[i].words;
		n_theirs = has_second ? 2 : 1;
	}
	for (; words != NULL && *words != NULL; words++)
		out->argv[out->argc++] = arena_strndup(&out->memory, *words, strlen(*words));
	for (int i = n_theirs; i < argc; i++)
		out->argv[out->argc++] = argv[i];
	command = command_of_options(out->argc, out->argv);
	if (command != NULL) {
		out->argv[0] = arena_strndup(&out->memory, command, strlen(command));
		n_theirs = 1;
	}
	out->has_changed = n_theirs > 0;
	return 0;
}

void habit_line_release(struct habit_line *line)
{
	arena_release(&line->memory);
	free(line->argv);
	*line = (struct habit_line){ 0 };
}
