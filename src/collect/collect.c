/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "collect/captures.h"
#include "collect/counts.h"
#include "collect/dataset.h"
#include "collect/places.h"
#include "collect/samples.h"
#include "collect/shared_lines.h"
#include "estimate/readings.h"

/* All tables of an opened capture; captures is the last. */
static int write_tables(const struct collection *c, struct known_places *known, struct session *s,
			const struct identity *who, struct collected *out, struct err *err)
{
	const struct modules *modules = timeline_modules(s->timeline);
	bool *is_sampled = mem_zalloc(modules->list.n + 1, sizeof(*is_sampled));
	struct samples_totals totals = { 0 };
	struct loads_total loads = { 0 };
	struct place_keys keys;
	int rc;

	place_keys_init(&keys, s, who);
	rc = samples_write(s, &keys, c->root, who, &totals, is_sampled, err);
	if (rc == 0)
		rc = places_write(s, &keys, known, c->root, who, &out->n_places, &out->n_unnamed,
				  err);
	if (rc == 0)
		rc = counts_write(s, c->root, who, err);
	/* it numbers the session's places anew */
	if (rc == 0)
		rc = shared_lines_write(s, c->root, who, &loads, err);
	if (rc == 0)
		rc = captures_write(s, &totals, &loads, is_sampled, c->root, who, err);
	out->n_records = totals.n_records;
	out->n_rows = totals.n_rows;
	place_keys_release(&keys);
	free(is_sampled);
	return rc;
}

static int collect_session(const struct collection *c, struct known_places *known,
			   struct session *s, struct collected *out, struct err *err)
{
	struct identity who = { 0 };
	int rc;

	memcpy(who.capture, out->capture, sizeof(who.capture));
	if (identity_find(&who, s, &c->given, err) < 0)
		return -1;
	memcpy(out->day, who.day, sizeof(out->day));
	out->start_basis = start_basis_names[who.basis];
	out->host = mem_strndup(who.host, strlen(who.host));
	out->is_modelled = capture_spe(s->capture)->is_modelled;
	if (capture_is_empty(s->capture) && !readings_are_there(s->capture)) {
		out->state = COLLECT_EMPTY;
		return 0;
	}
	if (!c->again && dataset_has(c->root, &who)) {
		out->state = COLLECT_THERE;
		return 0;
	}
	rc = write_tables(c, known, s, &who, out, err);
	out->is_damaged = diags_bytes(capture_diags(s->capture), DIAG_DAMAGE) > 0 ||
			  capture_totals(s->capture)->missing_bytes > 0;
	return rc;
}

static void collect_one(const struct collection *c, struct known_places *known, const char *path,
			struct collected *out)
{
	const struct arguments arguments = { .items = (const char *[]){ path }, .n = 1 };
	struct session session = { 0 };
	struct select *select = NULL;
	struct err err;
	int rc = identity_hash(path, out->capture, &err);

	if (rc == 0) {
		rc = open_input(c->opening, &arguments, &session, &select, &err);
		if (rc == 0)
			rc = collect_session(c, known, &session, out, &err);
		close_input(&session, select, EXIT_FAILED);
	}
	if (rc < 0) {
		out->state = COLLECT_FAILED;
		out->failed = mem_strndup(err.text, strlen(err.text));
	}
}

struct collect_job {
	const struct collection *collection;
	struct known_places known;
	struct collected *out;
};

static void run_job(void *context, size_t i, unsigned worker)
{
	struct collect_job *job = context;

	(void)worker;
	collect_one(job->collection, &job->known, job->collection->inputs->paths.items[i],
		    &job->out[i]);
}

struct collected *collect_all(const struct collection *c, struct pool *pool)
{
	struct collect_job job = { .collection = c };

	job.out = mem_zalloc(c->inputs->paths.n + 1, sizeof(*job.out));
	known_places_init(&job.known);
	pool_run(pool, c->inputs->paths.n, run_job, &job);
	known_places_release(&job.known);
	return job.out;
}

void collected_free(struct collected *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].host);
		free(list[i].failed);
	}
	free(list);
}
