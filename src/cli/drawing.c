/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/drawing.h"

#include <math.h>
#include <string.h>

enum {
	N_COLOURS = 9,
	DARK = 7, /* text on this colour and those behind it is white */
	MAX_PEN = 10,
};

int drawing_check(const char *option, const char *form, struct err *err)
{
	if (form == NULL || drawing_is_dot(form) || strcmp(form, "text") == 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "%s: '%s' is neither dot nor text", option,
		       form);
}

bool drawing_is_dot(const char *form)
{
	return strcmp(form, "dot") == 0;
}

void drawing_begin(const struct printer *p, bool is_dot, struct text *out)
{
	if (p->document.is_modelled)
		text_format(out, "%smodelled: these numbers are simulated, not measured\n",
			    is_dot ? "// " : "");
}

void dot_text(struct text *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			text_char(out, '\\');
		text_char(out, *text);
	}
}

void dot_colour(struct text *out, double part)
{
	int colour = 1 + (int)(part * (N_COLOURS - 1) + 0.5);

	text_format(out, "fillcolor=%d%s", colour, colour >= DARK ? ", fontcolor=white" : "");
}

double dot_pen_width(uint64_t n)
{
	double width = n == 0 ? 1 : 1 + log10((double)n);

	return width < MAX_PEN ? width : MAX_PEN;
}
