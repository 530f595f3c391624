/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops dump: records and SPE packets as text. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "capture/describe.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/message.h"
#include "cli/printer.h"
#include "cpu/cpu.h"
#include "dump/packets.h"

static const struct usage usage = {
	"dump",
	"[--packets [--wording perf-6.1|full]] [-o PATH] [FILE]",
	"Prints what the file contains: a line for each record, or for each SPE packet.",
};

enum { WRITE_BYTES = 1 << 20 };

struct dump_command {
	const char *path, *output, *wording;
	struct raw_options raw;
	bool packets, no_sandbox, wants_help;
	unsigned n_workers;
};

static const struct option options[] = {
	{ "input", 'i', OPTION_INPUT, offsetof(struct dump_command, path), "FILE",
	  "the capture (default perf.data; - is a pipe)" },
	{ "raw", 0, OPTION_FLAG, offsetof(struct dump_command, raw.is_raw), NULL,
	  "it is a raw SPE buffer, such as WindowsPerf's spe.data" },
	{ "midr", 0, OPTION_TEXT, offsetof(struct dump_command, raw.midr), "X",
	  "MIDR_EL1 of the CPU that wrote that" },
	{ "packets", 0, OPTION_FLAG, offsetof(struct dump_command, packets), NULL,
	  "SPE packets, as perf script -D prints them" },
	{ "wording", 0, OPTION_TEXT, offsetof(struct dump_command, wording), "NAME",
	  "names of packets: perf-6.1 (the default), or full with newer ones" },
	{ "output", 'o', OPTION_OUTPUT, offsetof(struct dump_command, output), "PATH",
	  "write there instead of standard output" },
	{ "no-sandbox", 0, OPTION_FLAG, offsetof(struct dump_command, no_sandbox), NULL,
	  "may open any file and make any system call" },
	{ "jobs", 'j', OPTION_NUMBER, offsetof(struct dump_command, n_workers), "N",
	  "threads (default: one for each CPU)" },
	{ "help", 'h', OPTION_FLAG, offsetof(struct dump_command, wants_help), NULL, "this text" },
};

struct dump {
	const struct capture *capture;
	struct printer *out;
	struct text text;
	struct err *err;
	bool has_failed;
};

static void dump_flush(struct dump *d, size_t least)
{
	if (d->text.n < least || d->has_failed)
		return;
	d->has_failed = printer_write(d->out, &d->text, d->err) < 0;
	text_reset(&d->text);
}

static void dump_record(void *context, const struct record *record, const struct sample_id *id)
{
	struct dump *d = context;

	if (d->has_failed)
		return;
	record_describe(d->capture, record, id, &d->text);
	dump_flush(d, WRITE_BYTES);
}

static int write_packets(void *context, const struct text *text)
{
	struct dump *d = context;

	return printer_write(d->out, text, d->err);
}

static int find_wording(const char *name, enum spe_wording *out, struct err *err)
{
	*out = SPE_WORDING_PERF_6_1;
	if (name == NULL || strcmp(name, "perf-6.1") == 0)
		return 0;
	*out = SPE_WORDING_FULL;
	if (strcmp(name, "full") == 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--wording: there is no '%s'; there are perf-6.1, full", name);
}

static bool has_packets(const struct capture *capture)
{
	return capture_spe(capture)->is_present && capture_totals(capture)->aux_bytes > 0;
}

static int dump_all(struct capture *capture, const struct dump_command *command,
		    struct printer *out, struct err *err)
{
	struct dump d = { .capture = capture, .out = out, .err = err };
	struct catalog *catalog = NULL;
	enum spe_wording wording;
	struct pool *pool;
	int rc;

	if (find_wording(command->wording, &wording, err) < 0)
		return -1;
	if (capture_scan(capture, NULL, NULL, err) < 0)
		return -1;
	if (!command->packets) {
		capture_walk(capture, dump_record, &d);
		dump_flush(&d, 1);
		text_release(&d.text);
		return d.has_failed ? -1 : 0;
	}
	if (!has_packets(capture))
		message_print("%s: there are no SPE packets: %s", capture_path(capture),
			      capture_spe(capture)->is_present
				      ? "SPE was on, but left no data"
				      : "SPE was not recorded (cyclops record --spe does)");
	if (wording == SPE_WORDING_FULL && catalog_open(NULL, &catalog, err) < 0)
		return -1;
	pool = pool_new(command->n_workers);
	rc = packets_dump(capture, catalog, pool, wording, write_packets, &d);
	pool_free(pool);
	catalog_free(catalog);
	return rc;
}

static int dump_command(int argc, char **argv)
{
	struct dump_command command = { 0 };
	const struct option_set sets[] = { { "Options:", options, COUNT(options), &command } };
	struct output_options output_options = { 0 };
	struct session session = { 0 };
	struct printer out = { 0 };
	struct arguments arguments;
	const char *path;
	struct err err;
	int rc;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), 1, &command.wants_help,
				   &arguments);

	if (status >= 0)
		return status;
	enter_sandbox(sets, COUNT(sets), &arguments);
	command.packets |= command.raw.is_raw; /* there are no records around them */
	rc = choose_path(command.path, &arguments, &path, &err);
	if (rc == 0)
		rc = raw_options_open(&command.raw, path, &session.capture, &err);
	output_options.path = command.output;
	if (rc == 0)
		rc = printer_open(&out, &output_options, "text", usage.command, &session, &err);
	if (rc == 0)
		rc = printer_need_file(&out, &err);
	if (rc == 0)
		rc = dump_all(session.capture, &command, &out, &err);
	rc = printer_close(&out, rc, &err);
	status = rc < 0						    ? fail(&err)
		 : command.packets && !has_packets(session.capture) ? EXIT_NO_DATA
								    : EXIT_DONE;
	print_diagnostics(&session, status);
	session_release(&session);
	return status;
}

const struct command command_dump = {
	.usage = &usage,
	.purpose = "records and SPE packets as they are in the file",
	.reads = COMMAND_READS_CAPTURE,
	.run = dump_command,
};
