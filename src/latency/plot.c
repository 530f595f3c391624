/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/output_file.h"
#include "base/text.h"
#include "table/xml.h"

/* In pixels. */
enum { WIDTH = 900, HEIGHT = 480, LEFT = 70, RIGHT = 30, TOP = 60, BOTTOM = 60 };

struct axis {
	double from, to;
	bool is_log;
	int start, end; /* in the picture */
};

static const char style[] =
	"<style>\n"
	"svg{background:#fff;font:13px system-ui,sans-serif}\n"
	"text{fill:#111}.note{fill:#444}\n"
	".grid{stroke:#ccc;stroke-width:1}.curve{fill:none;stroke:#0b5394;stroke-width:2}\n"
	".point{fill:#0b5394}.span{stroke:#0b5394;stroke-width:1}\n"
	".level{stroke:#a64d00;stroke-width:2;stroke-dasharray:6 "
	"4}.name{fill:#8a3f00;font-weight:bold}\n"
	"@media (prefers-color-scheme:dark){svg{background:#181a1b}text{fill:#eee}.note{fill:#bbb}"
	".grid{stroke:#444}.curve,.span{stroke:#7fb2e5}.point{fill:#7fb2e5}.level{stroke:#e0a060}"
	".name{fill:#f0b878}}\n"
	"</style>\n";

static double axis_at(const struct axis *a, double value)
{
	double part = a->is_log ? log(value / a->from) / log(a->to / a->from)
				: (value - a->from) / (a->to - a->from);

	return a->start + part * (a->end - a->start);
}

/* "16K", "4M" */
static void put_size(struct text *out, uint64_t bytes)
{
	static const char units[] = " KMGT";
	size_t unit = 0;

	while (bytes >= 1024 && bytes % 1024 == 0 && units[unit + 1] != '\0') {
		bytes /= 1024;
		unit++;
	}
	text_format(out, "%" PRIu64, bytes);
	if (unit > 0)
		text_char(out, units[unit]);
}

static void put_start(struct text *out, const char *title, const char *description)
{
	text_format(
		out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		"aria-labelledby=\"title description\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n<title id=\"title\">%s</title>\n<desc id=\"description\">",
		WIDTH, HEIGHT, WIDTH, HEIGHT, title);
	xml_put(out, description);
	text_format(out, "</desc>\n%s<text x=\"%d\" y=\"24\" font-size=\"16\">%s</text>\n", style,
		    LEFT, title);
}

/* Lines and labels at 1, 2 and 5 times powers of ten. */
static void put_heights(struct text *out, const struct axis *y)
{
	static const double steps[] = { 1, 2, 5 };

	for (int power = -2; power < 7; power++) {
		for (size_t i = 0; i < 3; i++) {
			double value = steps[i] * pow(10, power);
			double at;

			if (value < y->from || value > y->to || (!y->is_log && value * 12 < y->to))
				continue;
			at = axis_at(y, value);
			text_format(
				out,
				"<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
				"<text class=\"note\" x=\"%d\" y=\"%.1f\" "
				"text-anchor=\"end\">%g</text>\n",
				LEFT, at, WIDTH - RIGHT, at, LEFT - 8, at + 4, value);
		}
	}
	text_format(out,
		    "<text class=\"note\" x=\"16\" y=\"%d\" transform=\"rotate(-90 16 %d)\" "
		    "text-anchor=\"middle\">ns for a load</text>\n",
		    HEIGHT / 2, HEIGHT / 2);
}

static void put_below(struct text *out, const char *words)
{
	text_format(out,
		    "<text class=\"note\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
		    (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, words);
}

static void put_width(struct text *out, const struct axis *x, double value, struct text *label)
{
	double at = axis_at(x, value);

	text_char(label, '\0');
	text_format(out,
		    "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
		    "<text class=\"note\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
		    at, TOP, at, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 18, label->bytes);
	text_reset(label);
}

/* A point with the range of what was measured, and its text. */
static void put_point(struct text *out, double x, const struct axis *y, double ns, double least,
		      double most, struct text *words)
{
	text_char(words, '\0');
	text_format(out,
		    "<g><title>%s</title><line class=\"span\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
		    "y2=\"%.1f\"/><circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></g>\n",
		    words->bytes, x, axis_at(y, fmax(least, y->from)), x,
		    axis_at(y, fmin(most, y->to)), x, axis_at(y, ns));
	text_reset(words);
}

static int write_file(const char *path, struct text *out, struct err *err)
{
	struct output_file file = { 0 };
	int rc = output_file_open(&file, path, err);

	if (rc < 0)
		return -1;
	text_str(out, "</svg>\n");
	fwrite(out->bytes, 1, out->n, file.stream);
	return output_file_close(&file, 0, err);
}

/* Text of a cell of the row. */
static const char *words_of(const struct table *t, size_t row, const char *column)
{
	const struct cell *cell = table_cell(t, row, (size_t)table_column(t, column));

	return cell->type == CELL_TEXT ? cell->text : "";
}

static void describe_levels(const struct sweep *s, const struct table *levels, struct text *out)
{
	for (size_t i = 0; i < s->levels.n; i++) {
		const struct level *l = &s->levels.items[i];

		text_format(out, "%s%s ", i > 0 ? "; " : "", words_of(levels, i, "level"));
		put_size(out, s->points.items[l->first].size_bytes);
		text_str(out, " to ");
		put_size(out, s->points.items[l->last].size_bytes);
		text_format(out, ": %.2f ns, %s", l->latency, words_of(levels, i, "condition"));
	}
	text_char(out, '\0');
}

static void put_levels(const struct sweep *s, const struct table *levels, const struct axis *x,
		       const struct axis *y, struct text *out)
{
	for (size_t i = 0; i < s->levels.n; i++) {
		const struct level *l = &s->levels.items[i];
		double from = axis_at(x, (double)s->points.items[l->first].size_bytes);
		double to = axis_at(x, (double)s->points.items[l->last].size_bytes);
		double at = axis_at(y, l->latency);

		text_format(
			out,
			"<line class=\"level\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
			from, at, to, at, (from + to) / 2, at - 12);
		xml_put(out, words_of(levels, i, "level"));
		text_format(out, " %.3g ns</text>\n", l->latency);
	}
}

int latency_plot_sweep(const char *path, const struct sweep *s, const struct table *levels,
		       bool is_emulated, struct err *err)
{
	const struct sweep_point *first = &s->points.items[0],
				 *last = &s->points.items[s->points.n - 1];
	struct axis x = { (double)first->size_bytes, (double)last->size_bytes * 1.001, true, LEFT,
			  WIDTH - RIGHT };
	struct axis y = { INFINITY, 0, true, HEIGHT - BOTTOM, TOP };
	struct text out = { 0 }, words = { 0 };
	int rc;

	for (size_t i = 0; i < s->points.n; i++) {
		y.from = fmin(y.from, s->points.items[i].ns / 1.6);
		y.to = fmax(y.to, s->points.items[i].ns * 1.6);
	}
	describe_levels(s, levels, &words);
	put_start(&out,
		  is_emulated
			  ? "Latency of a load by the size of what it is from (emulated: modelled)"
			  : "Latency of a load by the size of what it is from",
		  words.bytes);
	text_reset(&words);
	put_heights(&out, &y);
	for (uint64_t size = 1024; size <= last->size_bytes && size > 0; size *= 4) {
		if (size < first->size_bytes)
			continue;
		put_size(&words, size);
		put_width(&out, &x, (double)size, &words);
	}
	put_below(&out, "bytes of the list");
	put_levels(s, levels, &x, &y, &out);
	text_str(&out, "<polyline class=\"curve\" points=\"");
	for (size_t i = 0; i < s->points.n; i++)
		text_format(&out, "%.1f,%.1f ", axis_at(&x, (double)s->points.items[i].size_bytes),
			    axis_at(&y, s->points.items[i].ns));
	text_str(&out, "\"/>\n");
	for (size_t i = 0; i < s->points.n; i++) {
		const struct sweep_point *p = &s->points.items[i];

		put_size(&words, p->size_bytes);
		text_format(&words, ": %.2f ns, %.1f cycles; %.2f to %.2f ns", p->ns, p->cycles,
			    p->least_ns, p->most_ns);
		put_point(&out, axis_at(&x, (double)p->size_bytes), &y, p->ns, p->least_ns,
			  p->most_ns, &words);
	}
	rc = write_file(path, &out, err);
	text_release(&out);
	text_release(&words);
	return rc;
}

int latency_plot_loaded(const char *path, const struct loaded *l, bool is_emulated, struct err *err)
{
	enum { STEPS = 6 };
	struct axis x = { 0, 0, false, LEFT, WIDTH - RIGHT };
	struct axis y = { 0, 0, false, HEIGHT - BOTTOM, TOP };
	struct text out = { 0 }, words = { 0 };
	int rc;

	for (size_t i = 0; i < l->points.n; i++) {
		x.to = fmax(x.to, l->points.items[i].bytes_per_s / 1e9 * 1.05);
		y.to = fmax(y.to, l->points.items[i].ns * 1.1);
	}
	for (size_t i = 0; i < l->points.n; i++)
		text_format(&words, "%s%.2f GB/s: %.0f ns", i > 0 ? "; " : "",
			    l->points.items[i].bytes_per_s / 1e9, l->points.items[i].ns);
	text_char(&words, '\0');
	put_start(&out,
		  is_emulated ? "Latency of a load by bandwidth (emulated: modelled)"
			      : "Latency of a load by bandwidth",
		  words.bytes);
	text_reset(&words);
	put_heights(&out, &y);
	for (int i = 0; i <= STEPS; i++) {
		double value = x.to * i / STEPS;

		text_format(&words, "%.3g", value);
		put_width(&out, &x, value, &words);
	}
	put_below(&out, "GB/s that all threads read");
	text_str(&out, "<polyline class=\"curve\" points=\"");
	for (size_t i = 0; i < l->points.n; i++)
		text_format(&out, "%.1f,%.1f ", axis_at(&x, l->points.items[i].bytes_per_s / 1e9),
			    axis_at(&y, l->points.items[i].ns));
	text_str(&out, "\"/>\n");
	for (size_t i = 0; i < l->points.n; i++) {
		const struct loaded_point *p = &l->points.items[i];

		text_format(&words, "%s%.2f GB/s: %.0f ns; %.0f to %.0f ns",
			    p->is_idle ? "idle, " : "", p->bytes_per_s / 1e9, p->ns, p->least_ns,
			    p->most_ns);
		put_point(&out, axis_at(&x, p->bytes_per_s / 1e9), &y, p->ns, p->least_ns,
			  p->most_ns, &words);
	}
	rc = write_file(path, &out, err);
	text_release(&out);
	text_release(&words);
	return rc;
}
