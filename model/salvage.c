/* SPDX-License-Identifier: Apache-2.0 */
#include "model/salvage.h"

#include "model/config.h"
#include "model/recorder.h"
#include "model/results.h"

static int finish(const struct config *c, struct journal *journal, struct err *err)
{
	struct recorder recorder;

	if (recorder_resume(&recorder, c, journal, err) < 0 || recorder_close(&recorder, err) < 0)
		return -1;
	return c->counts == NULL ? 0 : results_write_counts(c, journal->counts, NULL, err);
}

int salvage(struct text *settings, struct journal *journal, struct err *err)
{
	struct config config;
	int rc;

	rc = config_read(settings->bytes, settings->n, &config, err);
	*settings = (struct text){ 0 };
	if (rc < 0)
		return -1;
	atomic_store(&journal->is_over, true); /* for other processes of the program */
	rc = finish(&config, journal, err);
	config_release(&config);
	return rc;
}
