/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/captures.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/path.h"
#include "collect/dataset.h"
#include "elf/elf_file.h"

enum captures_column {
	CAPTURES_COL_PART,
	CAPTURES_COL_CAPTURE,
	CAPTURES_COL_SCHEMA,
	CAPTURES_COL_HOST,
	CAPTURES_COL_DAY,
	CAPTURES_COL_BOOT,
	CAPTURES_COL_START,
	CAPTURES_COL_BASIS,
	CAPTURES_COL_DURATION,
	CAPTURES_COL_COLLECTED,
	CAPTURES_COL_MACHINE,
	CAPTURES_COL_MIDR,
	CAPTURES_COL_CPUS,
	CAPTURES_COL_ARCH,
	CAPTURES_COL_KERNEL,
	CAPTURES_COL_RECORDER,
	CAPTURES_COL_COMMAND,
	CAPTURES_COL_FILE,
	CAPTURES_COL_FILE_BYTES,
	CAPTURES_COL_RECORDS,
	CAPTURES_COL_SPE,
	CAPTURES_COL_ROWS,
	CAPTURES_COL_INTERVAL,
	CAPTURES_COL_LOST_EVENTS,
	CAPTURES_COL_LOST_SAMPLES,
	CAPTURES_COL_TRUNCATED,
	CAPTURES_COL_DAMAGED,
	CAPTURES_COL_MODELLED,
	CAPTURES_COL_TOOL,
	CAPTURES_COL_BUILD_IDS,
	CAPTURES_COL_LOAD_CYCLES,
	CAPTURES_COL_LOAD_INTERVAL,
	CAPTURES_N_COLS,
};

static const struct parquet_column columns[CAPTURES_N_COLS] = {
	[CAPTURES_COL_PART] = { .name = "part", .type = PARQUET_INT64 },
	[CAPTURES_COL_CAPTURE] = { .name = "capture", .type = PARQUET_TEXT },
	[CAPTURES_COL_SCHEMA] = { .name = "schema_version", .type = PARQUET_INT64 },
	[CAPTURES_COL_HOST] = { .name = "host", .type = PARQUET_TEXT },
	[CAPTURES_COL_DAY] = { .name = "day", .type = PARQUET_TEXT },
	[CAPTURES_COL_BOOT] = { .name = "boot_ns", .type = PARQUET_INT64 },
	[CAPTURES_COL_START] = { .name = "start_ns", .type = PARQUET_INT64 },
	[CAPTURES_COL_BASIS] = { .name = "start_basis", .type = PARQUET_TEXT },
	[CAPTURES_COL_DURATION] = { .name = "duration_ns", .type = PARQUET_INT64 },
	[CAPTURES_COL_COLLECTED] = { .name = "collected_ns", .type = PARQUET_INT64 },
	[CAPTURES_COL_MACHINE] = { .name = "machine", .type = PARQUET_TEXT },
	[CAPTURES_COL_MIDR] = { .name = "midr", .type = PARQUET_TEXT },
	[CAPTURES_COL_CPUS] = { .name = "cpus", .type = PARQUET_INT64 },
	[CAPTURES_COL_ARCH] = { .name = "arch", .type = PARQUET_TEXT },
	[CAPTURES_COL_KERNEL] = { .name = "kernel", .type = PARQUET_TEXT },
	[CAPTURES_COL_RECORDER] = { .name = "recorder", .type = PARQUET_TEXT },
	[CAPTURES_COL_COMMAND] = { .name = "command", .type = PARQUET_TEXT },
	[CAPTURES_COL_FILE] = { .name = "file", .type = PARQUET_TEXT },
	[CAPTURES_COL_FILE_BYTES] = { .name = "file_bytes", .type = PARQUET_INT64 },
	[CAPTURES_COL_RECORDS] = { .name = "records", .type = PARQUET_INT64 },
	[CAPTURES_COL_SPE] = { .name = "spe_records", .type = PARQUET_INT64 },
	[CAPTURES_COL_ROWS] = { .name = "sample_rows", .type = PARQUET_INT64 },
	[CAPTURES_COL_INTERVAL] = { .name = "spe_interval", .type = PARQUET_INT64 },
	[CAPTURES_COL_LOST_EVENTS] = { .name = "lost_events", .type = PARQUET_INT64 },
	[CAPTURES_COL_LOST_SAMPLES] = { .name = "lost_samples", .type = PARQUET_INT64 },
	[CAPTURES_COL_TRUNCATED] = { .name = "truncated_buffers", .type = PARQUET_INT64 },
	[CAPTURES_COL_DAMAGED] = { .name = "damaged_bytes", .type = PARQUET_INT64 },
	[CAPTURES_COL_MODELLED] = { .name = "is_modelled", .type = PARQUET_BOOL },
	[CAPTURES_COL_TOOL] = { .name = "tool", .type = PARQUET_TEXT },
	[CAPTURES_COL_BUILD_IDS] = { .name = "build_ids", .type = PARQUET_TEXT_LIST },
	[CAPTURES_COL_LOAD_CYCLES] = { .name = "load_cycles", .type = PARQUET_INT64 },
	[CAPTURES_COL_LOAD_INTERVAL] = { .name = "load_interval", .type = PARQUET_DOUBLE },
};

/* When it was collected, by this machine's clock. */
static int64_t collected_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Absent, not empty, if it was not recorded. */
static void put_recorded(const struct session *s, struct parquet_values *v, struct str_id text)
{
	dataset_put_text(v, text.v != 0 ? strings_get(capture_strings(s->capture), text) : NULL);
}

static void put_machine(const struct session *s, struct parquet_values *v)
{
	const struct info *info = capture_info(s->capture);
	uint64_t midr = capture_midr(s->capture, UINT32_MAX);
	bool is_generic = s->cpu == NULL || strcmp(cpu_id(s->cpu), CPU_ANY) == 0 ||
			  strcmp(cpu_id(s->cpu), CPU_ANY_ARM) == 0;
	char words[64];

	if (!is_generic)
		dataset_put_text(&v[CAPTURES_COL_MACHINE], cpu_id(s->cpu));
	else if (midr != 0) {
		midr_describe(s->catalog, midr, words, sizeof(words));
		dataset_put_text(&v[CAPTURES_COL_MACHINE], words);
	} else
		put_recorded(s, &v[CAPTURES_COL_MACHINE], info->cpu_desc);
	snprintf(words, sizeof(words), "0x%llx", (unsigned long long)midr);
	dataset_put_text(&v[CAPTURES_COL_MIDR], midr != 0 ? words : NULL);
	parquet_put(&v[CAPTURES_COL_CPUS], info->n_cpus_online);
	put_recorded(s, &v[CAPTURES_COL_ARCH], info->arch);
	put_recorded(s, &v[CAPTURES_COL_KERNEL], info->os_release);
}

static void put_times(const struct session *s, const struct identity *who, struct parquet_values *v)
{
	const struct info *info = capture_info(s->capture);

	if (who->basis == START_RECORDED)
		parquet_put(&v[CAPTURES_COL_BOOT], info->wall_clock_ns - info->clock_time_ns);
	else
		parquet_put_null(&v[CAPTURES_COL_BOOT]);
	parquet_put(&v[CAPTURES_COL_START], (uint64_t)who->start_ns);
	dataset_put_text(&v[CAPTURES_COL_BASIS], start_basis_names[who->basis]);
	parquet_put(&v[CAPTURES_COL_DURATION], (uint64_t)who->duration_ns);
	parquet_put(&v[CAPTURES_COL_COLLECTED], (uint64_t)collected_now_ns());
}

/* The build-ids of modules with samples, each once. */
static void put_build_ids(const struct session *s, const bool *is_sampled, struct parquet_values *v)
{
	const struct modules *modules = timeline_modules(s->timeline);
	struct strings ids;
	char digits[BUILD_ID_TEXT];

	strings_init(&ids);
	for (size_t i = 1; i < modules->list.n; i++) {
		const struct build_id *id = &modules->list.items[i].build_id;

		if (is_sampled[i] && id->size > 0)
			strings_add(&ids, build_id_text(id, digits), 2u * id->size);
	}
	parquet_put_list(v, (uint32_t)ids.texts.n - 1);
	for (size_t i = 1; i < ids.texts.n; i++)
		parquet_put_item(v, ids.texts.items[i], strlen(ids.texts.items[i]));
	strings_release(&ids);
}

static void put_losses(const struct session *s, struct parquet_values *v)
{
	const struct capture_totals *totals = capture_totals(s->capture);

	parquet_put(&v[CAPTURES_COL_LOST_EVENTS], totals->n_lost_events);
	parquet_put(&v[CAPTURES_COL_LOST_SAMPLES],
		    capture_lost(totals) - totals->n_lost_events); /* each once */
	parquet_put(&v[CAPTURES_COL_TRUNCATED], totals->n_aux_truncated);
	parquet_put(&v[CAPTURES_COL_DAMAGED],
		    diags_bytes(capture_diags(s->capture), DIAG_DAMAGE) + totals->missing_bytes);
}

static void put_loads(const struct loads_total *loads, struct parquet_values *v)
{
	if (loads->cycles > 0)
		parquet_put(&v[CAPTURES_COL_LOAD_CYCLES], loads->cycles);
	else
		parquet_put_null(&v[CAPTURES_COL_LOAD_CYCLES]);
	if (loads->cycles > 0 && loads->interval > 0)
		parquet_put_double(&v[CAPTURES_COL_LOAD_INTERVAL], loads->interval);
	else
		parquet_put_null(&v[CAPTURES_COL_LOAD_INTERVAL]);
}

static void put_row(const struct session *s, const struct samples_totals *totals,
		    const struct loads_total *loads, const bool *is_sampled,
		    const struct identity *who, struct parquet_values *v)
{
	const struct info *info = capture_info(s->capture);
	const struct spe_interval interval = spe_interval_common(s);

	parquet_put(&v[CAPTURES_COL_PART], (uint64_t)who->part);
	dataset_put_text(&v[CAPTURES_COL_CAPTURE], who->capture);
	parquet_put(&v[CAPTURES_COL_SCHEMA], DATASET_SCHEMA);
	dataset_put_text(&v[CAPTURES_COL_HOST], who->host);
	dataset_put_text(&v[CAPTURES_COL_DAY], who->day);
	put_times(s, who, v);
	put_machine(s, v);
	put_recorded(s, &v[CAPTURES_COL_RECORDER], info->perf_version);
	put_recorded(s, &v[CAPTURES_COL_COMMAND], info->command_line);
	dataset_put_text(&v[CAPTURES_COL_FILE], path_base(s->path));
	parquet_put(&v[CAPTURES_COL_FILE_BYTES], capture_size(s->capture));
	parquet_put(&v[CAPTURES_COL_RECORDS], totals->n_records);
	parquet_put(&v[CAPTURES_COL_SPE], totals->n_spe);
	parquet_put(&v[CAPTURES_COL_ROWS], totals->n_rows);
	if (interval.mean > 0)
		parquet_put(&v[CAPTURES_COL_INTERVAL], interval.mean);
	else
		parquet_put_null(&v[CAPTURES_COL_INTERVAL]);
	put_losses(s, v);
	parquet_put(&v[CAPTURES_COL_MODELLED], capture_spe(s->capture)->is_modelled);
	dataset_put_text(&v[CAPTURES_COL_TOOL], "cyclops " CYCLOPS_VERSION);
	put_build_ids(s, is_sampled, &v[CAPTURES_COL_BUILD_IDS]);
	put_loads(loads, v);
}

int captures_write(const struct session *s, const struct samples_totals *totals,
		   const struct loads_total *loads, const bool *is_sampled, const char *root,
		   const struct identity *who, struct err *err)
{
	struct dataset_file file;
	int rc = dataset_begin(&file, root, "captures", who, columns, COUNT(columns), err);

	if (rc == 0) {
		put_row(s, totals, loads, is_sampled, who, parquet_values(file.writer));
		rc = parquet_end_row(file.writer);
	}
	return dataset_end(&file, rc, err);
}
