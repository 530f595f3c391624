/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph as SVG, without a script: what a frame is stands in its <title>, which browsers show. Frames
 * that would be narrower than half a pixel are left out, with what is above them, and it is said how many.
 */
#include <string.h>

#include "base/hash.h"
#include "export/formats/profile.h"
#include "stacks/tree.h"
#include "table/xml.h"

enum { WIDTH = 1200, MARGIN = 10, ROW = 17, FONT = 12, TITLE_ROWS = 2, LETTERS_LEAST = 3 };
enum { NOTE_LETTERS = 156 }; /* in a row of notes: fonts differ, so there is room left */

static const double least_width = 0.5, letter_width = 7.0;

struct drawing {
	struct profile *profile;
	struct stack_tree tree;
	double scale; /* pixels for a unit of weight */
	int height;
	struct text notes;
	VEC_OF(size_t) note_ends; /* of rows: where they end in the notes */
};

static const char style[] =
	"<style>\n"
	"svg{background:#fff;font:12px ui-monospace,monospace}\n"
	"text{fill:#111;pointer-events:none}\n"
	".note{fill:#444}\n"
	"rect{stroke:#fff;stroke-width:.5}\n"
	"g:hover rect{stroke:#000;stroke-width:1.5}\n"
	"@media (prefers-color-scheme:dark){svg{background:#181a1b}.head{fill:#eee}.note{fill:#bbb}"
	"rect{stroke:#181a1b}g:hover rect{stroke:#fff}}\n"
	"</style>\n";

/* A colour by kind and name, light enough for dark letters: kernel blue, inlined green, others warm. */
static void put_colour(const struct stack_label *label, struct text *out)
{
	uint64_t hash = hash_bytes(label->name, strlen(label->name), 0);
	unsigned hue = label->kind != STACK_LABEL_FUNCTION ? 0
		       : label->is_kernel		   ? 205
		       : label->is_inlined		   ? 110
							   : 20 + (unsigned)(hash % 35);
	unsigned saturation = label->kind != STACK_LABEL_FUNCTION ? 0 : 75;

	text_format(out, "hsl(%u,%u%%,%u%%)", hue, saturation, 68 + (unsigned)(hash / 64 % 12));
}

/* The name of a node, valid UTF-8 without control characters. */
static void put_label(const struct drawing *d, const struct stack_label *label, struct text *out)
{
	const struct stack_frame frame = {
		.function = label->name,
		.function_id = { label->function },
		.module = label->module,
	};

	struct text raw = { 0 };

	if (label->kind == STACK_LABEL_FUNCTION)
		profile_put_frame_name(d->profile, &frame, &raw);
	else
		text_str(&raw, label->name);
	text_char(&raw, '\0');
	put_printable(out, raw.bytes);
	text_char(out, '\0');
	text_release(&raw);
}

static bool begins_letter(char byte)
{
	return ((uint8_t)byte & 0xc0) != 0x80;
}

/* The start of a name, valid UTF-8, that fits; with two dots if that is not all. */
static void put_fitting(struct text *out, char *name, double width)
{
	size_t most = (size_t)(width / letter_width), n = 0, cut = 0, at;

	for (at = 0; name[at] != '\0' && n <= most; at++) {
		n += begins_letter(name[at]);
		if (begins_letter(name[at]) && n + 1 == most)
			cut = at;
	}
	if (n > most)
		name[cut] = '\0';
	xml_put(out, name);
	if (n > most)
		text_str(out, "..");
}

static void put_title(const struct drawing *d, const struct stack_label *label, uint64_t weight,
		      const char *name, struct text *out)
{
	const struct profile *p = d->profile;
	char grouped[GROUPED_BYTES];

	text_str(out, "<title>");
	xml_put(out, name);
	if (label->kind == STACK_LABEL_PROCESS && label->id >= 0)
		text_format(out, " (pid %d)", label->id);
	if (label->module.v != 0 && label->function != 0) {
		text_str(out, " (");
		xml_put(out, names_module(p->session, label->module));
		text_str(out, label->is_inlined ? ", inlined)" : ")");
	}
	text_format(out, ": %s %s, %.2f %%</title>", grouped_u64(weight, grouped),
		    stacks_unit(p->stacks, p->event, p->value),
		    100 * (double)weight / (double)d->tree.nodes.items[0].total);
}

static void draw_node(struct drawing *d, uint32_t node, uint64_t start)
{
	const struct stack_node *n = &d->tree.nodes.items[node];
	const struct stack_label *label = stack_tree_label(&d->tree, node);
	double x = MARGIN + (double)start * d->scale, width = (double)n->total * d->scale;
	int y = d->height - MARGIN - (int)(n->depth + 1) * ROW;
	struct text *out = &d->profile->out->text, name = { 0 };

	put_label(d, label, &name);
	text_str(out, "<g>");
	put_title(d, label, n->total, name.bytes, out);
	text_format(out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"", x, y,
		    width, ROW - 1);
	put_colour(label, out);
	text_str(out, "\"/>");
	if (width >= LETTERS_LEAST * letter_width) {
		text_format(out, "<text x=\"%.2f\" y=\"%d\">", x + 3, y + FONT);
		put_fitting(out, name.bytes, width - 6);
		text_str(out, "</text>");
	}
	text_str(out, "</g>\n");
	text_release(&name);
	profile_writer_step(d->profile->out);
}

static void draw_nodes(struct drawing *d)
{
	VEC_OF(uint64_t) ends = { 0 }; /* by depth: where the next node of that depth begins */

	vec_reserve(&ends, (size_t)d->tree.depth + 2);
	for (uint32_t node = 0; node != STACK_TREE_END; node = stack_tree_next(&d->tree, node)) {
		const struct stack_node *n = &d->tree.nodes.items[node];
		uint64_t start = ends.items[n->depth];

		ends.items[n->depth + 1] = start;
		ends.items[n->depth] = start + n->total;
		draw_node(d, node, start);
	}
	vec_release(&ends);
}

/* The weight of the narrowest node that is drawn. */
static uint64_t least_weight(double scale)
{
	uint64_t least = (uint64_t)(least_width / scale);

	while ((double)least * scale < least_width)
		least++;
	return least;
}

static void add_note(struct profile *p, const char *note)
{
	struct drawing *d = p->format_state;

	text_str(&d->notes, d->notes.n > 0 ? ". " : "");
	put_printable(&d->notes, note);
}

/* Rows end between words. A word that is longer than a row is a row. */
static void break_notes(struct drawing *d)
{
	const char *bytes = d->notes.bytes;
	size_t letters = 0, space = 0;

	for (size_t at = 0, start = 0; at < d->notes.n; at++) {
		letters += begins_letter(bytes[at]);
		if (bytes[at] == ' ')
			space = at;
		if (letters <= NOTE_LETTERS || space <= start)
			continue;
		*vec_add(&d->note_ends) = start = space;
		letters = 0;
		for (size_t i = start + 1; i <= at; i++)
			letters += begins_letter(bytes[i]);
	}
	if (d->notes.n > 0)
		*vec_add(&d->note_ends) = d->notes.n;
}

/* What has to be said about the numbers, and what is not drawn, in rows. */
static void make_notes(struct drawing *d)
{
	struct profile *p = d->profile;
	struct text sentence = { 0 };
	char grouped[GROUPED_BYTES];

	p->format_state = d;
	profile_each_caveat(p, add_note);
	if (d->tree.n_lighter > 0) {
		text_format(&sentence, "%s frames narrower than half a pixel are left out",
			    grouped_u64(d->tree.n_lighter, grouped));
		text_char(&sentence, '\0');
		add_note(p, sentence.bytes);
		text_reset(&sentence);
	}
	if (profile_others_sentence(p, &sentence)) {
		text_char(&sentence, '\0');
		add_note(p, sentence.bytes);
	}
	text_release(&sentence);
	break_notes(d);
}

static void put_notes(const struct drawing *d)
{
	struct text *out = &d->profile->out->text, row = { 0 };
	size_t start = 0;

	for (size_t i = 0; i < d->note_ends.n; i++) {
		text_add(&row, d->notes.bytes + start, d->note_ends.items[i] - start);
		text_char(&row, '\0');
		text_format(out, "<text class=\"note\" x=\"%d\" y=\"%d\">", MARGIN,
			    (int)(i + 2) * ROW);
		xml_put(out, row.bytes);
		text_str(out, "</text>\n");
		text_reset(&row);
		start = d->note_ends.items[i] + 1;
	}
	text_release(&row);
}

static void put_head(struct drawing *d)
{
	struct profile *p = d->profile;
	struct text *out = &p->out->text, name = { 0 };
	char grouped[GROUPED_BYTES];

	profile_put_value_name(p, p->event, p->value, &name);
	text_char(&name, '\0');
	text_format(
		out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n<title>Flame graph: ",
		WIDTH, d->height, WIDTH, d->height);
	xml_put(out, name.bytes);
	text_format(out, "</title>\n%s<text class=\"head\" x=\"%d\" y=\"%d\">", style, MARGIN, ROW);
	xml_put(out, name.bytes);
	text_format(out, ", %s %s%s</text>\n", grouped_u64(d->tree.nodes.items[0].total, grouped),
		    stacks_unit(p->stacks, p->event, p->value),
		    p->options->is_inverted ? "; callers above the functions that were sampled"
					    : "");
	put_notes(d);
	text_release(&name);
}

static int svg_write(struct profile *p, struct err *err)
{
	const struct stack_paths_wish wish = {
		.event = p->event,
		.value = p->value,
		.is_inverted = p->options->is_inverted,
		.by_process = true,
	};
	struct drawing d = { .profile = p };
	struct stack_paths paths;

	if (stack_paths_init(&paths, p->stacks, &wish, err) < 0)
		return -1;
	d.scale = paths.total > 0 ? (double)(WIDTH - 2 * MARGIN) / (double)paths.total : 0;
	stack_tree_init(&d.tree, &paths, d.scale > 0 ? least_weight(d.scale) : 0);
	make_notes(&d);
	d.height = (int)(d.tree.depth + 1 + TITLE_ROWS + d.note_ends.n) * ROW + 2 * MARGIN;
	put_head(&d);
	if (paths.total > 0)
		draw_nodes(&d);
	text_str(&p->out->text, "</svg>\n");
	if (d.tree.n_lighter > 0)
		profile_writer_note(p->out,
				    "%llu frames narrower than half a pixel are left out, "
				    "with what is above them",
				    (unsigned long long)d.tree.n_lighter);
	vec_release(&d.note_ends);
	text_release(&d.notes);
	stack_tree_release(&d.tree);
	stack_paths_release(&paths);
	return 0;
}

const struct profile_format profile_svg = {
	.name = "svg",
	.meaning = "a flame graph, without a script",
	.can_invert = true,
	.depth = SYMBOLS_INLINED,
	.write = svg_write,
};
