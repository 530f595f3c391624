/* SPDX-License-Identifier: Apache-2.0 */
#include "model/what_if_list.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "model/ideal.h"

/* With a number behind it, which no list of names has. */
static const char instructions_name[] = "instructions-";
static const char instructions_title[] = "other instructions (F times as many)";

static const char *idealisation_name_at(const void *context, size_t i)
{
	(void)context;
	return i < n_idealisations ? idealisations[i].name : NULL;
}

/* Reads "instructions-0.25". */
static int read_instructions(const char *name, struct what_if_item *out, struct err *err)
{
	char *end;
	const char *number = name + strlen(instructions_name);
	double n = strtod(number, &end) * IDEAL_THOUSAND;

	if (!isdigit((unsigned char)number[0]) || *end != '\0' || n < IDEAL_INSTRUCTIONS_LEAST ||
	    n > IDEAL_INSTRUCTIONS_MOST)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--what-if: '%s' wants a number from 0.01 to 16, such as %s0.25",
			       name, instructions_name);
	if (out->bits & IDEAL_INSTRUCTIONS)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--what-if: '%s' is a second number of instructions", name);
	out->bits |= IDEAL_INSTRUCTIONS;
	out->instructions = (uint32_t)(n + 0.5);
	return 0;
}

static int read_idealisation(const char *name, struct what_if_item *out, struct err *err)
{
	char advice[NAME_MAX];

	if (strncmp(name, instructions_name, strlen(instructions_name)) == 0)
		return read_instructions(name, out, err);
	for (size_t i = 0; i < n_idealisations; i++)
		if (strcmp(idealisations[i].name, name) == 0) {
			out->bits |= idealisations[i].bit;
			return 0;
		}
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--what-if: there is no idealisation '%s'%s",
		       name,
		       did_you_mean(name, idealisation_name_at, NULL,
				    " (--what-if=list lists them)", advice, sizeof(advice)));
}

/* Reads names joined by "+". */
static int read_idealisations(const char *names, size_t length, struct what_if_item *out,
			      struct err *err)
{
	for (const char *end = names + length; names <= end;) {
		size_t n = strcspn(names, "+@,");
		char *name = mem_strndup(names, n);
		int rc = read_idealisation(name, out, err);

		free(name);
		if (rc < 0)
			return -1;
		names += n + 1;
	}
	return 0;
}

static bool has_what_if_item(const struct what_if_list *list, const char *name)
{
	for (size_t i = 0; i < list->items.n; i++)
		if (strcmp(list->items.items[i].name, name) == 0)
			return true;
	return false;
}

/* Adds an item such as "dram+l2@function"; one that is in the list is not added again. */
static int add_what_if_item(const char *text, size_t length, struct what_if_list *out,
			    struct err *err)
{
	char *name = mem_strndup(text, length);
	const char *at = strchr(name, '@');
	struct what_if_item item = { .name = name };
	int rc = read_idealisations(name, at != NULL ? (size_t)(at - name) : length, &item, err);

	if (rc == 0 && at != NULL && at[1] == '\0')
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
			     "--what-if: '%s' wants a function behind the @", name);
	if (rc < 0 || has_what_if_item(out, name)) {
		free(name);
		return rc;
	}
	item.function = at != NULL ? mem_strndup(at + 1, strlen(at + 1)) : NULL;
	*vec_add(&out->items) = item;
	return 0;
}

/* The length up to the next comma. Commas between the angle brackets of a C++ name do not count. */
static size_t item_length(const char *text)
{
	size_t n = 0;

	for (int depth = 0; text[n] != '\0' && (text[n] != ',' || depth > 0); n++)
		depth += (text[n] == '<') - (text[n] == '>');
	return n;
}

/* Adds every idealisation, each followed by what is behind "all": nothing, or "@function". */
static int add_all_idealisations(const char *behind, size_t length, struct what_if_list *out,
				 struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n_idealisations && rc == 0; i++) {
		struct text item = { 0 };

		text_str(&item, idealisations[i].name);
		text_add(&item, behind, length);
		rc = add_what_if_item(item.bytes, item.n, out, err);
		text_release(&item);
	}
	return rc;
}

int what_if_list_read(const char *text, struct what_if_list *out, struct err *err)
{
	static const char all[] = "all";
	const size_t n_all = sizeof(all) - 1;

	*out = (struct what_if_list){ 0 };
	for (const char *at = text[0] != '\0' ? text : all;; at++) {
		size_t n = item_length(at);
		bool is_all = n >= n_all && memcmp(at, all, n_all) == 0 &&
			      (n == n_all || at[n_all] == '@');
		int rc = is_all ? add_all_idealisations(at + n_all, n - n_all, out, err)
				: add_what_if_item(at, n, out, err);

		if (rc < 0) {
			what_if_list_release(out);
			return -1;
		}
		at += n;
		if (*at == '\0')
			return 0;
	}
}

void what_if_list_release(struct what_if_list *list)
{
	for (size_t i = 0; i < list->items.n; i++) {
		free(list->items.items[i].name);
		free(list->items.items[i].function);
	}
	vec_release(&list->items);
}

void what_if_title(uint32_t bits, struct text *out)
{
	const char *joint = "";

	for (size_t i = 0; i < n_idealisations; i++) {
		if (!(bits & idealisations[i].bit))
			continue;
		text_format(out, "%s%s", joint, idealisations[i].title);
		joint = "; ";
	}
	if (bits & IDEAL_INSTRUCTIONS)
		text_format(out, "%s%s", joint, instructions_title);
}

bool what_if_is_core_limit(uint32_t bits)
{
	for (size_t i = 0; i < n_idealisations; i++)
		if (idealisations[i].is_core_limit)
			bits &= ~idealisations[i].bit;
	return (bits & ~(uint32_t)IDEAL_INSTRUCTIONS) == 0;
}

void what_if_names(struct text *out)
{
	for (size_t i = 0; i < n_idealisations; i++)
		text_format(out, "%-18s  %s\n", idealisations[i].name, idealisations[i].title);
	text_format(out, "%-18s  %s\n", "instructions-F", instructions_title);
}
