/* SPDX-License-Identifier: Apache-2.0 */
#include "html/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/embedded.h"

extern const struct embedded_file viewer_files[];

const char html_blocks[] = "<!-- blocks of data -->";

void html_release(struct html *h)
{
	for (size_t i = 0; i < h->blocks.n; i++) {
		free(h->blocks.items[i].label);
		text_release(&h->blocks.items[i].data);
	}
	vec_release(&h->blocks);
}

void html_add_of_run(struct html *h, const char *page, const char *run, const char *label,
		     const struct tables *tables)
{
	struct html_block *block = vec_add(&h->blocks);
	struct text json = { 0 };

	block->page = page;
	block->run = run;
	block->label = label != NULL ? mem_strndup(label, strlen(label)) : NULL;
	html_put_tables(tables, &json);
	html_put_compressed(&block->data, json.bytes, json.n);
	text_release(&json);
}

void html_add(struct html *h, const char *page, const char *label, const struct tables *tables)
{
	html_add_of_run(h, page, NULL, label, tables);
}

const char *html_viewer(void)
{
	const struct embedded_file *file = embedded_find(viewer_files, "viewer.html");

	return file != NULL && file->size > 0 ? file->bytes : NULL;
}

int html_check(struct err *err)
{
	if (html_viewer() != NULL)
		return 0;
	return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
		       "--html: this cyclops was built without its viewer: install nodejs and npm, "
		       "and build again where npm reaches its registry");
}

/* What the viewer reads first: what the file is about, and which blocks follow. */
static void put_about(const struct html *h, const struct html_about *about, struct text *out)
{
	text_str(out, "{\"command\":");
	html_put_string(out, about->command);
	text_str(out, ",\"version\":");
	html_put_string(out, about->version);
	text_str(out, ",\"subject\":");
	html_put_string(out, about->subject);
	text_format(out, ",\"modelled\":%s,\"blocks\":[", about->is_modelled ? "true" : "false");
	for (size_t i = 0; i < h->blocks.n; i++) {
		const struct html_block *block = &h->blocks.items[i];

		text_str(out, i == 0 ? "{\"page\":" : ",{\"page\":");
		html_put_string(out, block->page);
		if (block->run != NULL)
			html_put_member(out, "run", block->run);
		if (block->label != NULL)
			html_put_member(out, "label", block->label);
		text_char(out, '}');
	}
	text_str(out, "]}");
}

static void put_element(struct text *out, const char *id, const struct text *data)
{
	text_format(out, "<script type=\"application/gzip\" id=\"%s\">", id);
	text_add(out, data->bytes, data->n);
	text_str(out, "</script>\n");
}

int html_write(const struct html *h, const char *viewer, const struct html_about *about,
	       struct text *out, struct err *err)
{
	const char *at = strstr(viewer, html_blocks);
	struct text json = { 0 }, data = { 0 };

	if (at == NULL)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "the viewer has no place for data");
	text_add(out, viewer, (size_t)(at - viewer));
	put_about(h, about, &json);
	html_put_compressed(&data, json.bytes, json.n);
	put_element(out, "about", &data);
	for (size_t i = 0; i < h->blocks.n; i++) {
		char id[32];

		snprintf(id, sizeof(id), "block-%zu", i);
		put_element(out, id, &h->blocks.items[i].data);
	}
	text_str(out, at + strlen(html_blocks));
	text_release(&json);
	text_release(&data);
	return 0;
}
