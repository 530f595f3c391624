/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/spe/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "base/alloc.h"
#include "estimate/latency.h"
#include "scan/scan.h"
#include "session/session.h"

enum { ROUNDS = 2 };

/* Of three in four records the source has to be right: a first round finds what was written before. */
static const double least_of_source = 0.75;
/* 95 of 100 times within this many standard deviations. */
static const double wide_95 = 1.96;

static const struct {
	const char *level;
	enum source_level source;
} sources[] = {
	{ "l1", SOURCE_L1 },
	{ "l2", SOURCE_L2 },
	{ "llc", SOURCE_SYSTEM_CACHE },
	{ "dram", SOURCE_DRAM },
};

bool spe_level_source(const char *level, enum source_level *out)
{
	for (size_t i = 0; i < COUNT(sources); i++) {
		if (strcmp(sources[i].level, level) != 0)
			continue;
		*out = sources[i].source;
		return true;
	}
	return false;
}

/* Records of loads at one instruction. */
struct load_site {
	uint64_t pc, n;
	struct {
		uint64_t n, n_full, n_usable, cycles;
	} of[N_SOURCE_LEVELS];
};

struct load_sites {
	const struct session *session;
	VEC_OF(struct load_site) list;
};

static void *sites_new(const struct session *session, const void *options)
{
	struct load_sites *s = mem_zalloc(1, sizeof(*s));

	(void)options;
	s->session = session;
	return s;
}

static void sites_free(void *partial)
{
	struct load_sites *s = partial;

	if (s != NULL)
		vec_release(&s->list);
	free(s);
}

static struct load_site *site_of(struct load_sites *s, uint64_t pc)
{
	struct load_site *site;

	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.items[i].pc == pc)
			return &s->list.items[i];
	site = vec_add(&s->list);
	site->pc = pc;
	return site;
}

static void sites_consume(void *partial, const struct batch *b)
{
	const struct access_sampling none = { .event = -1 };
	struct load_sites *s = partial;

	if (b->kind != BATCH_SPE)
		return;
	for (size_t row = 0; row < b->n; row++) {
		struct latencies latencies;
		struct load_site *site;
		struct access access;

		if ((b->has[row] & HAS_PC) == 0 ||
		    !access_read(s->session, &none, b, row, &access) || access.kind != MEMORY_LOAD)
			continue;
		site = site_of(s, b->pc[row]);
		site->n++;
		site->of[access.level].n++;
		latencies = latencies_of(b, row);
		if (latencies.state[LATENCY_ACCESS] == LATENCY_FULL) {
			site->of[access.level].n_full++;
		} else if (latencies.state[LATENCY_ACCESS] == LATENCY_USABLE) {
			site->of[access.level].n_usable++;
			site->of[access.level].cycles += latencies.cycles[LATENCY_ACCESS];
		}
	}
}

static void sites_merge(void *into, const void *from, const struct id_map *map)
{
	const struct load_sites *part = from;

	(void)map;
	for (size_t i = 0; i < part->list.n; i++) {
		const struct load_site *other = &part->list.items[i];
		struct load_site *site = site_of(into, other->pc);

		site->n += other->n;
		for (int level = 0; level < N_SOURCE_LEVELS; level++) {
			site->of[level].n += other->of[level].n;
			site->of[level].n_full += other->of[level].n_full;
			site->of[level].n_usable += other->of[level].n_usable;
			site->of[level].cycles += other->of[level].cycles;
		}
	}
}

static const struct analysis_class load_sites_class = {
	.new = sites_new,
	.free = sites_free,
	.consume = sites_consume,
	.merge = sites_merge,
};

/* The load of the chase; of equal ones that with the lower address, so that workers do not matter. */
static const struct load_site *most_records(const struct load_sites *s)
{
	const struct load_site *best = NULL;

	for (size_t i = 0; i < s->list.n; i++) {
		const struct load_site *site = &s->list.items[i];

		if (best == NULL || site->n > best->n ||
		    (site->n == best->n && site->pc < best->pc))
			best = site;
	}
	return best;
}

static void fill_level(struct spe_level *l, const struct load_site *site,
		       const struct spe_interval *interval)
{
	l->n = site->n;
	l->interval = interval->mean;
	l->estimate = (double)site->n * (double)interval->mean;
	l->error = wide_95 * sqrt((double)site->n) * (double)interval->mean;
	l->n_of_source = site->of[l->source].n;
	for (int level = 0; level < N_SOURCE_LEVELS; level++)
		if (site->of[level].n > site->of[l->mostly].n)
			l->mostly = (enum source_level)level;
	l->n_full = site->of[l->source].n_full;
	l->latency =
		site->of[l->source].n_usable == 0
			? NAN
			: (double)site->of[l->source].cycles / (double)site->of[l->source].n_usable;
}

int spe_level_read(struct spe_level *l, const char *capture, const char *catalog, struct err *err)
{
	const struct session_options options = { .path = capture, .catalog_path = catalog };
	struct analysis analysis = { .class = &load_sites_class };
	const struct scan_wish wish = { .without_places = true, .only_memory = true };
	const struct load_site *site;
	struct session s;
	int rc = session_open(&s, &options, err);

	if (rc == 0) {
		struct spe_interval interval = spe_interval_common(&s);

		scan_part(&s, NULL, &wish, &analysis, 1);
		site = most_records(analysis.result);
		if (site == NULL || interval.mean == 0)
			rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
				     "%s: the chase at level %s has no SPE records of loads",
				     capture, l->name);
		else
			fill_level(l, site, &interval);
		load_sites_class.free(analysis.result);
	}
	session_release(&s);
	return rc;
}

bool spe_level_is_right(const struct spe_level *l)
{
	return l->mostly == l->source && (double)l->n_of_source >= least_of_source * (double)l->n &&
	       fabs(l->estimate - (double)l->loads) <= ROUNDS * l->error;
}

enum spe_column {
	SPE_LEVEL,
	SPE_VERDICT,
	SPE_LOADS,
	SPE_ESTIMATE,
	SPE_ERROR,
	SPE_SAMPLES,
	SPE_INTERVAL,
	SPE_SHARE,
	SPE_SOURCE,
	SPE_CYCLES,
	SPE_LATENCY,
	SPE_SATURATED,
	N_SPE_COLUMNS,
};

static const struct column spe_columns[N_SPE_COLUMNS] = {
	[SPE_LEVEL] = { "level", NULL, "", CELL_TEXT, 0, "of the chase's data" },
	[SPE_VERDICT] = { "verdict", NULL, "", CELL_TEXT, 0,
			  "ok: the estimate is within twice its error, and three in four records "
			  "have "
			  "the level's data source; wrong" },
	[SPE_LOADS] = { "loads", NULL, "loads", CELL_COUNT, 0, "that the chase executes" },
	[SPE_ESTIMATE] = { "estimate", NULL, "loads", CELL_NUMBER, 0,
			   "that the samples represent" },
	[SPE_ERROR] = { "error", "\xc2\xb1", "loads", CELL_NUMBER, 0,
			"half of the 95 % interval of the estimate" },
	[SPE_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, COLUMN_MACHINE_ONLY,
			  "SPE records of the load" },
	[SPE_INTERVAL] = { "interval", NULL, "operations", CELL_COUNT, COLUMN_MACHINE_ONLY,
			   "from one sample to the next" },
	[SPE_SHARE] = { "source_share", "from this level", "", CELL_NUMBER, COLUMN_SHARE,
			"of the samples: their data source is that of the level" },
	[SPE_SOURCE] = { "source", "mostly from", "", CELL_TEXT, 0,
			 "level of the data source that most samples have" },
	[SPE_CYCLES] = { "load_cycles", "time", "cycles", CELL_NUMBER, 0,
			 "of a load, by counting: loads wait for each other" },
	[SPE_LATENCY] = { "latency_cycles", "latency", "cycles", CELL_NUMBER, 0,
			  "mean execution and translation latency of those from this level" },
	[SPE_SATURATED] = { "saturated_share", "saturated", "", CELL_NUMBER, COLUMN_SHARE,
			    "part of those with a saturated total latency, which the mean leaves "
			    "out" },
};

void spe_levels_table(const struct spe_levels *levels, struct table *out)
{
	table_init(out, "spe", "SPE records of chases", spe_columns, N_SPE_COLUMNS);
	for (size_t i = 0; i < levels->list.n; i++) {
		const struct spe_level *l = &levels->list.items[i];
		struct cell *row = table_add_row(out);

		row[SPE_LEVEL] = table_text_cell(out, l->name);
		row[SPE_VERDICT] = table_text_cell(out, spe_level_is_right(l) ? "ok" : "wrong");
		row[SPE_LOADS] = cell_count(l->loads);
		row[SPE_ESTIMATE] = cell_number(l->estimate);
		row[SPE_ERROR] = cell_number(l->error);
		row[SPE_SAMPLES] = cell_count(l->n);
		row[SPE_INTERVAL] = cell_count(l->interval);
		row[SPE_SHARE] = cell_number((double)l->n_of_source / (double)l->n);
		row[SPE_SOURCE] = table_text_cell(out, source_level_name(l->mostly));
		if (!isnan(l->cycles))
			row[SPE_CYCLES] = cell_number(l->cycles);
		if (!isnan(l->latency))
			row[SPE_LATENCY] = cell_number(l->latency);
		if (l->n_of_source > 0)
			row[SPE_SATURATED] =
				cell_number((double)l->n_full / (double)l->n_of_source);
	}
}
