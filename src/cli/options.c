/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/output_file.h"
#include "cli/habits.h"
#include "cli/message.h"

enum { HELP_COLUMN = 26 };

struct all_sets {
	const struct option_set *sets;
	size_t n;
};

/* Option number `i` of all sets, or NULL. */
static const struct option *option_at(const struct all_sets *all, size_t i, void **out_into)
{
	for (size_t s = 0; s < all->n; s++) {
		if (i < all->sets[s].n) {
			*out_into = all->sets[s].into;
			return &all->sets[s].options[i];
		}
		i -= all->sets[s].n;
	}
	return NULL;
}

static const char *option_name_at(const void *context, size_t i)
{
	void *into;
	const struct option *o = option_at(context, i, &into);

	return o == NULL ? NULL : o->name;
}

static const struct option *find_option(const struct all_sets *all, const char *name, size_t len,
					char letter, void **out_into)
{
	const struct option *o;

	for (size_t i = 0; (o = option_at(all, i, out_into)) != NULL; i++) {
		if (letter != 0 && o->letter == letter)
			return o;
		if (letter == 0 && strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			return o;
	}
	return NULL;
}

static int unknown_option(const struct all_sets *all, const char *argument, struct err *err)
{
	char *word = mem_strndup(argument, strcspn(argument, "="));
	const char *nearest =
		argument[1] == '-' ? nearest_word(word + 2, option_name_at, all) : NULL;

	err_set(err, ERR_USAGE, ERR_NOWHERE, "there is no option %s%s%s%s", word,
		nearest != NULL ? "; did you mean --" : "", nearest != NULL ? nearest : "",
		nearest != NULL ? "?" : " (--help lists them)");
	free(word);
	return -1;
}

static int set_number(const struct option *o, void *field, const char *value, unsigned least,
		      struct err *err)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end != '\0' || errno != 0 || number > UINT_MAX)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: found '%s', wanted a number",
			       o->name, value);
	if (number < least)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: found %s, wanted at least %u",
			       o->name, value, least);
	*(unsigned *)field = (unsigned)number;
	return 0;
}

static int add_to_list(const struct option *o, struct option_list *list, const char *value,
		       struct err *err)
{
	if (list->n == OPTION_LIST_MAX)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: at most %d times", o->name,
			       OPTION_LIST_MAX);
	list->items[list->n++] = value;
	return 0;
}

static int set_option(const struct option *o, void *into, const char *value, struct err *err)
{
	void *field = (char *)into + o->offset;

	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_TEXT:
	case OPTION_INPUT:
	case OPTION_OUTPUT:
	case OPTION_PLACE:
	case OPTION_FOLDER:
		*(const char **)field = value;
		return 0;
	case OPTION_OPTIONAL:
	case OPTION_OPTIONAL_WORD:
		*(const char **)field = value != NULL ? value : "";
		return 0;
	case OPTION_NUMBER:
		return set_number(o, field, value, 0, err);
	case OPTION_COUNT:
		return set_number(o, field, value, 1, err);
	case OPTION_LIST:
	case OPTION_INPUTS:
		break;
	}
	return add_to_list(o, field, value, err);
}

static bool may_be_alone(const struct option *o)
{
	return o->kind == OPTION_OPTIONAL || o->kind == OPTION_OPTIONAL_WORD;
}

/* Must the value be the next argument, if it is not given as "--name=VALUE"? */
static bool takes_argument(const struct option *o)
{
	return o->kind != OPTION_FLAG && !may_be_alone(o);
}

/* Is the next argument the value of an option whose value is optional? */
static bool has_word_behind(const struct option *o, int argc, char **argv, int at)
{
	return o->kind == OPTION_OPTIONAL_WORD && at + 1 < argc && argv[at + 1][0] != '-';
}

/* The free part of the room for values. */
static char *free_room(struct arguments *a, size_t *out_size)
{
	*out_size = sizeof(a->room) - a->n_room;
	return a->room + a->n_room;
}

/* The free part, where a text was just written, becomes the value of an option. */
static const char *keep_text(struct arguments *a)
{
	const char *text = a->room + a->n_room;

	a->n_room += strlen(text) + 1;
	return text;
}

/* Narrows --select down by what an option of perf's selects. */
static int add_selection(const struct all_sets *all, const struct habit *habit, const char *value,
			 struct arguments *a, struct err *err)
{
	char condition[ARGUMENTS_ROOM / 4];
	void *into;
	const struct option *o = find_option(all, "select", strlen("select"), 0, &into);
	const char **field = o == NULL ? NULL : (void *)((char *)into + o->offset);
	size_t size;
	char *text = free_room(a, &size);
	int n;

	if (field == NULL)
		return habit_advise(habit, value, err);
	if (habit_translate(habit, value, condition, sizeof(condition), err) < 0)
		return -1;
	n = *field == NULL ? snprintf(text, size, "(%s)", condition)
			   : snprintf(text, size, "(%s) && (%s)", *field, condition);
	if (n < 0 || (size_t)n >= size)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "'%s' is too long", value);
	*field = keep_text(a);
	return 0;
}

/* Does what an option of perf's means here. */
static int apply_habit(const struct all_sets *all, const struct habit *habit, const char *argument,
		       const char *value, struct arguments *a, struct err *err)
{
	const struct option *o;
	size_t size;
	char *text;
	void *into;

	if (habit->kind == HABIT_NOTHING)
		return 0;
	if (habit->kind == HABIT_SELECT)
		return add_selection(all, habit, value, a, err);
	o = find_option(all, habit->ours, strlen(habit->ours), 0, &into);
	if (habit->kind != HABIT_OPTION || o == NULL)
		return habit_advise(habit, argument, err);
	text = free_room(a, &size);
	if (habit_translate(habit, value != NULL ? value : "", text, size, err) < 0)
		return -1;
	return set_option(o, into, keep_text(a), err);
}

/* An option that is not ours, at argv[*at], with the value that is attached to it. */
static int parse_habit(const struct all_sets *all, const struct habit *habit, int argc, char **argv,
		       int *at, const char *value, struct arguments *a, struct err *err)
{
	const char *argument = argv[*at];

	if (habit->value == HABIT_VALUE && value == NULL) {
		if (*at + 1 >= argc)
			return err_set(err, ERR_USAGE, ERR_NOWHERE, "%s needs a value", argument);
		value = argv[++*at];
	}
	return apply_habit(all, habit, argument, value, a, err);
}

/* Parses the option at argv[*at] and moves on, over its value, too. */
static int parse_option(const struct all_sets *all, int argc, char **argv, int *at,
			struct arguments *a, struct err *err)
{
	const char *argument = argv[*at];
	bool is_long = argument[1] == '-';
	size_t len = is_long ? strcspn(argument + 2, "=") : 1;
	const char *name = argument + (is_long ? 2 : 1);
	const char *value = name[len] == '\0' ? NULL : name + len + (is_long ? 1 : 0);
	void *into;
	const struct option *o = find_option(all, name, len, is_long ? 0 : *name, &into);
	const struct habit *habit;

	if (o == NULL) {
		habit = habit_find(argv[0], name, len, is_long ? 0 : *name);
		return habit != NULL ? parse_habit(all, habit, argc, argv, at, value, a, err)
				     : unknown_option(all, argument, err);
	}
	if (o->kind == OPTION_FLAG && value != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s takes no value, found '%s'",
			       o->name, value);
	if (takes_argument(o) && value == NULL) {
		if (*at + 1 >= argc)
			return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s needs %s", o->name,
				       o->value);
		value = argv[++*at];
	}
	if (value == NULL && has_word_behind(o, argc, argv, *at))
		value = argv[++*at];
	habit = value != NULL ? habit_of_value(argv[0], o->name, value) : NULL;
	if (habit != NULL)
		return apply_habit(all, habit, argument, value, a, err);
	return set_option(o, into, value, err);
}

/* There are no more than `argc` of them. */
static void add_argument(struct arguments *a, int argc, const char *value)
{
	if (a->n == ARGUMENTS_MAX) {
		a->items = mem_alloc((size_t)argc, sizeof(*a->items));
		memcpy(a->items, a->few, sizeof(a->few));
	}
	a->items[a->n++] = value;
}

void arguments_release(struct arguments *a)
{
	if (a->items != a->few)
		free(a->items);
	a->items = a->few;
	a->n = 0;
}

int options_parse(int argc, char **argv, const struct option_set *sets, size_t n_sets,
		  struct arguments *out, struct err *err)
{
	struct all_sets all = { .sets = sets, .n = n_sets };
	bool has_ended = false;

	out->n = out->n_room = 0;
	out->items = out->few;
	for (int i = 1; i < argc; i++) {
		if (!has_ended && strcmp(argv[i], "--") == 0) {
			has_ended = true;
			continue;
		}
		if (!has_ended && argv[i][0] == '-' && argv[i][1] != '\0') {
			if (parse_option(&all, argc, argv, &i, out, err) < 0)
				return -1;
			continue;
		}
		add_argument(out, argc, argv[i]);
	}
	return 0;
}

/* Sets an option that was not given. */
static int set_default(const struct option *o, void *into, const char *value, struct arguments *a,
		       struct err *err)
{
	void *field = (char *)into + o->offset;
	size_t size;
	char *text = free_room(a, &size);

	if (o->kind == OPTION_FLAG) {
		*(bool *)field |= strcmp(value, "yes") == 0;
		return 0;
	}
	if (o->kind == OPTION_COUNT)
		return *(unsigned *)field != 0 ? 0 : set_number(o, field, value, 1, err);
	if (*(const char **)field != NULL)
		return 0;
	if (strlen(value) >= size)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "%s of the configuration is too long",
			       o->name);
	memcpy(text, value, strlen(value) + 1);
	return set_option(o, into, keep_text(a), err);
}

int options_set_defaults(const struct option_set *sets, size_t n_sets,
			 const struct user_config *config, struct arguments *a, struct err *err)
{
	struct all_sets all = { .sets = sets, .n = n_sets };
	void *into;
	bool reads_capture = find_option(&all, "symfs", strlen("symfs"), 0, &into) != NULL;

	for (int key = 0; key < N_CONFIG_KEYS; key++) {
		const char *name = user_config_key_name((enum config_key)key);
		const struct option *o = find_option(&all, name, strlen(name), 0, &into);

		if (o == NULL || config->values[key] == NULL)
			continue;
		/* What is counted here is of this machine's CPU. */
		if (key == CONFIG_CPU && !reads_capture)
			continue;
		if (set_default(o, into, config->values[key], a, err) < 0)
			return -1;
	}
	return 0;
}

int arguments_spare(const struct arguments *a, const char *option, const char *path,
		    struct err *err)
{
	for (size_t i = 0; i < a->n && a->are_files; i++)
		if (output_file_replaces(path, a->items[i]))
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--%s: '%s' is the capture itself", option, path);
	return 0;
}

int arguments_spare_inputs(const struct arguments *a, const char *option, const char *path,
			   struct err *err)
{
	for (size_t i = 0; i < a->n_inputs; i++)
		if (output_file_replaces(path, a->inputs[i].path))
			return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: '%s' is what --%s reads",
				       option, path, a->inputs[i].option);
	return arguments_spare(a, option, path, err);
}

static void add_input(struct arguments *a, const char *option, const char *path)
{
	if (path != NULL && a->n_inputs < INPUTS_MAX)
		a->inputs[a->n_inputs++] = (struct named_input){ option, path };
}

/* Takes down what an option reads. */
static void add_inputs_of(struct arguments *a, const struct option *o, const void *into)
{
	const void *field = (const char *)into + o->offset;
	const struct option_list *list = field;

	if (o->kind == OPTION_INPUT)
		add_input(a, o->name, *(const char *const *)field);
	for (size_t i = 0; o->kind == OPTION_INPUTS && i < list->n; i++)
		add_input(a, o->name, list->items[i]);
}

int options_protect_inputs(const struct option_set *sets, size_t n_sets, struct arguments *a,
			   struct err *err)
{
	struct all_sets all = { .sets = sets, .n = n_sets };
	const struct option *o;
	void *into;

	a->n_inputs = 0;
	a->are_files = find_option(&all, "input", strlen("input"), 0, &into) != NULL ||
		       find_option(&all, "symfs", strlen("symfs"), 0, &into) != NULL;
	for (size_t i = 0; (o = option_at(&all, i, &into)) != NULL; i++)
		add_inputs_of(a, o, into);
	for (size_t i = 0; (o = option_at(&all, i, &into)) != NULL; i++) {
		const void *field = (const char *)into + o->offset;
		const char *path = o->kind == OPTION_OUTPUT ? *(const char *const *)field : NULL;

		if (path != NULL && arguments_spare_inputs(a, o->name, path, err) < 0)
			return -1;
	}
	return 0;
}

int options_find_end(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

int options_find_program(int argc, char **argv, const struct option_set *sets, size_t n_sets)
{
	struct all_sets all = { .sets = sets, .n = n_sets };

	for (int i = 1; i < argc; i++) {
		const char *argument = argv[i];
		bool is_long = argument[0] == '-' && argument[1] == '-';
		size_t len = is_long ? strcspn(argument + 2, "=") : 1;
		const char *name = argument + (is_long ? 2 : 1);
		const struct habit *habit;
		const struct option *o;
		void *into;

		if (strcmp(argument, "--") == 0)
			return i + 1;
		if (argument[0] != '-' || argument[1] == '\0')
			return i;
		o = find_option(&all, name, len, is_long ? 0 : *name, &into);
		if (o != NULL && name[len] == '\0' &&
		    (takes_argument(o) || has_word_behind(o, argc, argv, i)))
			i++;
		habit = o == NULL ? habit_find(argv[0], name, len, is_long ? 0 : *name) : NULL;
		if (habit != NULL && habit->value == HABIT_VALUE && name[len] == '\0')
			i++;
	}
	return argc;
}

static void help_line(const struct option *o, size_t width, struct text *out)
{
	size_t start = out->n;

	if (o->letter != 0)
		text_format(out, "  -%c, --%s", o->letter, o->name);
	else
		text_format(out, "      --%s", o->name);
	if (o->value != NULL)
		text_format(out, "%s%s", may_be_alone(o) ? "" : " ", o->value);
	if (out->n - start + 2 > HELP_COLUMN) {
		text_char(out, '\n');
		start = out->n;
	}
	put_words(out, o->help, out->n - start, HELP_COLUMN, width);
}

/* One line of words, whatever blanks and newlines are between them. */
static void put_one_line(const char *words, struct text *out)
{
	for (const char *at = words; *at != '\0'; at++)
		if ((*at != ' ' && *at != '\n') || (at[1] != ' ' && at[1] != '\n'))
			text_char(out, *at == '\n' ? ' ' : *at);
}

void options_list(const struct option_set *sets, size_t n_sets, struct text *out)
{
	struct all_sets all = { .sets = sets, .n = n_sets };
	const struct option *o;
	void *into;

	for (size_t i = 0; (o = option_at(&all, i, &into)) != NULL; i++) {
		char letter[2] = { o->letter, '\0' };

		text_format(out, "%s\t%s\t%s\t", o->name, letter, o->value != NULL ? o->value : "");
		put_one_line(o->help, out);
		text_char(out, '\n');
	}
}

void options_help(const struct option_set *sets, size_t n_sets, size_t width, struct text *out)
{
	for (size_t s = 0; s < n_sets; s++) {
		text_format(out, "\n%s\n", sets[s].title);
		for (size_t i = 0; i < sets[s].n; i++)
			help_line(&sets[s].options[i], width, out);
	}
}
