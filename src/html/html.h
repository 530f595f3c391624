/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of pages for a browser: the viewer (viewer/, made by the build) and, in front of it, blocks of data.
 * A block has the tables of a page as json, compressed and in base64, so that no name of the program that was
 * looked at can be taken for markup. The file needs no network.
 */
#ifndef CYCLOPS_HTML_HTML_H
#define CYCLOPS_HTML_HTML_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"
#include "table/table.h"

/* The data of a page. */
struct html_block {
	const char *page; /* which page of the viewer shows it; borrowed */
	char *label;	  /* what it is about, where a page has several; NULL */
	const char *
		run; /* of a comparison: "a" or "b" where labels are the same in both; borrowed; NULL */
	struct text data; /* base64 of gzip of json */
};

/* What the file is about; all borrowed. */
struct html_about {
	const char *command; /* "report" */
	const char *version; /* of cyclops */
	const char *subject; /* the capture's path */
	bool is_modelled;    /* simulated numbers: each page says so */
};

/* Zeroed is empty. */
struct html {
	VEC_OF(struct html_block) blocks;
};

void html_release(struct html *);

/* Adds tables for a page, all of them and all columns. Nothing is borrowed afterwards but `page` and `run`. */
void html_add(struct html *, const char *page, const char *label, const struct tables *);
void html_add_of_run(struct html *, const char *page, const char *run, const char *label,
		     const struct tables *);

/* The viewer that the build made; NULL: it was built without. */
const char *html_viewer(void);

/* An error that says what to do if there is no viewer. */
int html_check(struct err *);

/*
 * Appends the file. `viewer` has a line with HTML_BLOCKS, where the blocks go. Returns -1 and an error if
 * there is none.
 */
int html_write(const struct html *, const char *viewer, const struct html_about *, struct text *out,
	       struct err *);

extern const char html_blocks[];

/* html/json.c: appends the tables as an object. */
void html_put_tables(const struct tables *, struct text *out);

/* html/json.c: appends a string; control characters and bytes that are not UTF-8 become \xNN. */
void html_put_string(struct text *out, const char *);

/* html/json.c: appends a comma, the name and a string: a member of an object that is not its first. */
void html_put_member(struct text *out, const char *name, const char *value);

/* html/gzip.c: appends base64 of the compressed bytes. */
void html_put_compressed(struct text *out, const char *bytes, size_t size);

#endif
