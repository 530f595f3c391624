/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops latency: how long a load takes, by the size of what it is from. */
#include <inttypes.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/printer.h"
#include "cli/progress.h"
#include "cpu/cpu.h"
#include "latency/plot.h"
#include "latency/report.h"
#include "latency/sizes.h"
#include "pmu/machine.h"
#include "system/system.h"

static const struct usage usage = {
	"latency",
	"[--sizes FROM..TO | --loaded | --import FILE] [OPTIONS]",
	"How long a load takes from each level of the memory hierarchy of this machine: chases\n"
	"pointers through lists of many sizes.",
};

struct latency_command {
	const char *sizes, *pages, *order, *cpu, *catalog, *svg;
	struct option_list import;
	unsigned samples, threads;
	bool histogram, loaded, verbose, wants_help;
};

enum { USUAL_SAMPLES = 1000, MOST_SAMPLES = 1000000, MS_OF_LOAD = 60 };

#define AT(field) offsetof(struct latency_command, field)
static const struct option options[] = {
	{ "sizes", 0, OPTION_TEXT, AT(sizes), "FROM..TO",
	  "sizes of the lists, two for each doubling, or a list of them: 16K,1M (default:\n"
	  "                          4K..128M, or to eight times the last-level cache if that is "
	  "more)" },
	{ "pages", 0, OPTION_TEXT, AT(pages), "4K|huge",
	  "pages of the memory (default: the kernel's small ones)" },
	{ "order", 0, OPTION_TEXT, AT(order), "WHICH",
	  "random (the default), page: page by page, random within each; line: one line\n"
	  "                          after the other" },
	{ "samples", 0, OPTION_NUMBER, AT(samples), "N",
	  "single loads that are timed for each size (default: 1000), where the clock is\n"
	  "                          fine enough" },
	{ "cpu", 0, OPTION_TEXT, AT(cpu), "N",
	  "run on this CPU (default: where it is); with --import: NAME of the CPU that the\n"
	  "                          times are of" },
	{ "histogram", 0, OPTION_FLAG, AT(histogram), NULL,
	  "also the times of single loads, and how many took each" },
	{ "verbose", 'v', OPTION_FLAG, AT(verbose), NULL,
	  "that, and what translations cost by the number of pages" },
	{ "loaded", 0, OPTION_FLAG, AT(loaded), NULL,
	  "latency while other CPUs read memory: by bandwidth" },
	{ "threads", 0, OPTION_COUNT, AT(threads), "N",
	  "threads that read, with --loaded (default: one on each other CPU)" },
	{ "import", 0, OPTION_INPUTS, AT(import), "FILE",
	  "times of single loads that were measured elsewhere, in cycles; may be repeated" },
	{ "svg", 0, OPTION_OUTPUT, AT(svg), "FILE", "also draw the curve, as a picture (SVG)" },
	{ "catalog", 0, OPTION_INPUT, AT(catalog), "FILE", "more facts about CPUs" },
	{ "help", 'h', OPTION_FLAG, AT(wants_help), NULL, "this text" },
};

/* What is decided before anything is measured. */
struct plan {
	struct sizes sizes;
	enum ring_order order;
	bool is_huge;
	unsigned cpu;
	cpu_set_t allowed;
	struct caches caches;
	const char *name; /* "--sizes", if that asks for the memory */
};

/* "0-3,8" */
static void allowed_text(const cpu_set_t *set, struct text *out)
{
	for (unsigned first = 0; first < CPU_SETSIZE; first++) {
		unsigned last = first;

		if (!CPU_ISSET(first, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		text_format(out, last > first ? "%s%u-%u" : "%s%u", out->n > 0 ? "," : "", first,
			    last);
		first = last;
	}
}

/* The CPU of --cpu, to which the calling thread is bound, or the one it is on. */
static int bind_to_cpu(const char *wanted, struct plan *plan, struct err *err)
{
	struct text allowed = { 0 };
	cpu_set_t one;
	int here = sched_getcpu();

	CPU_ZERO(&plan->allowed);
	if (sched_getaffinity(0, sizeof(plan->allowed), &plan->allowed) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "sched_getaffinity: %m");
	plan->cpu = here < 0 ? 0 : (unsigned)here;
	if (wanted != NULL) {
		char *end;
		unsigned long number = strtoul(wanted, &end, 10);

		if (*wanted < '0' || *wanted > '9' || *end != '\0')
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--cpu: found '%s', wanted the number of a CPU (a name "
				       "belongs to --import)",
				       wanted);
		if (number >= CPU_SETSIZE || !CPU_ISSET(number, &plan->allowed)) {
			allowed_text(&plan->allowed, &allowed);
			(void)err_set(err, ERR_USAGE, ERR_NOWHERE,
				      "--cpu %s: this process may run on CPUs %.*s only", wanted,
				      (int)allowed.n, allowed.bytes);
			text_release(&allowed);
			return -1;
		}
		plan->cpu = (unsigned)number;
	}
	CPU_ZERO(&one);
	CPU_SET(plan->cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "--cpu %u: %m", plan->cpu);
	return 0;
}

static int plan_pages(const char *pages, struct plan *plan, struct err *err)
{
	const char *at = pages;
	uint64_t bytes;
	long base = sysconf(_SC_PAGESIZE);

	if (pages == NULL || strcmp(pages, "base") == 0)
		return 0;
	plan->is_huge = strcmp(pages, "huge") == 0;
	if (plan->is_huge)
		return 0;
	if (size_parse(&at, &bytes) < 0 || *at != '\0')
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--pages: found '%s', wanted 4K or huge", pages);
	if (bytes != (uint64_t)base)
		return err_set(
			err, ERR_UNSUPPORTED, ERR_NOWHERE,
			"--pages %s: the pages of this kernel have %ld bytes, huge ones are 'huge'",
			pages, base);
	return 0;
}

/* Up to where levels are looked for, if nobody says. */
static void usual_sizes(struct plan *plan, uint64_t line)
{
	uint64_t last = (uint64_t)128 << 20, cache = caches_last(&plan->caches);
	uint64_t available = ring_memory_available("");

	if (8 * cache > last)
		last = 8 * cache;
	/* not in the way of others, if it need not be */
	while (last > (uint64_t)64 << 10 && last > available / 4)
		last /= 2;
	sizes_between(&plan->sizes, (uint64_t)4 << 10, last, line);
}

static int make_plan(const struct latency_command *command, struct plan *plan, bool is_emulated,
		     struct err *err)
{
	uint64_t line = ring_line_bytes();
	int order = command->order == NULL ? RING_RANDOM : ring_order_find(command->order);

	if (order < 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--order: found '%s', wanted random, page or line", command->order);
	plan->order = (enum ring_order)order;
	if (command->samples > MOST_SAMPLES)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--samples: found %u, wanted at most %d", command->samples,
			       MOST_SAMPLES);
	if (command->threads > 0 && !command->loaded)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--threads is for --loaded");
	if (plan_pages(command->pages, plan, err) < 0 || bind_to_cpu(command->cpu, plan, err) < 0)
		return -1;
	/* an emulator's caches are not those of the machine below it */
	if (!is_emulated)
		caches_read(&plan->caches, "", plan->cpu);
	plan->name = command->sizes != NULL ? "--sizes" : "latency";
	if (command->sizes != NULL)
		return sizes_parse(command->sizes, line, &plan->sizes, err);
	usual_sizes(plan, line);
	return 0;
}

/* Does qemu-user run this program? Then /proc is that of another kind of machine. */
static bool runs_in_emulator(void)
{
#if defined(__aarch64__) || defined(__arm__)
	struct machine machine = { 0 };
	bool is_arm;

	machine_read(&machine, "");
	is_arm = machine.is_arm;
	machine_release(&machine);
	return !is_arm;
#else
	return false;
#endif
}

static void know_load_to_use(const struct cpu *cpu, struct load_to_use *out)
{
	if (cpu == NULL)
		return;
	out->cpu = cpu_name(cpu);
	out->cycles = cpu_load_to_use(cpu);
	out->is_catalog = out->cycles > 0;
}

/* Prints the report, or ends after an error. */
static int latency_print(struct latency_report *report, struct printer *out,
			 const struct output_options *output, int rc, struct err *err)
{
	if (rc == 0)
		printer_page(out, output);
	rc = printer_finish(out, output, &report->shown, rc, err);
	latency_report_release(report);
	return rc;
}

static int measure_sweep(const struct latency_command *command, const struct plan *plan,
			 struct latency_setting *setting, const struct ring_memory *memory,
			 struct progress *progress, struct latency_report *report, struct err *err)
{
	const struct sweep_request request = {
		.sizes = plan->sizes.items,
		.n_sizes = plan->sizes.n,
		.order = plan->order,
		.n_samples = command->samples,
		.progress = progress,
	};
	struct sweep sweep;
	int rc = 0;

	sweep_run(&request, memory, setting->timer, &sweep);
	/* loads that wait for each other take as long as the core takes to use what one has read */
	if (setting->load_to_use.cycles <= 0)
		setting->load_to_use.cycles = sweep.points.items[0].cycles;
	latency_report_sweep(report, &sweep, setting, command->histogram, command->verbose);
	if (command->svg != NULL)
		rc = latency_plot_sweep(command->svg, &sweep, &report->levels, setting->is_emulated,
					err);
	sweep_release(&sweep);
	return rc;
}

/* The CPUs on which threads read: all that are allowed but that of the chase, in turn. */
static int choose_cpus(const struct latency_command *command, const struct plan *plan,
		       unsigned **out, size_t *out_n, struct err *err)
{
	unsigned others[CPU_SETSIZE];
	size_t n = 0, wanted;

	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (i != plan->cpu && CPU_ISSET(i, &plan->allowed))
			others[n++] = i;
	if (n == 0)
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "--loaded: this process may run on CPU %u only; the threads that "
			       "read need others",
			       plan->cpu);
	wanted = command->threads > 0 ? command->threads : n;
	if (wanted > n)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--threads %zu: there %s %zu other CPU%s, and each thread needs one",
			       wanted, n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
	*out = mem_alloc(wanted, sizeof(**out));
	memcpy(*out, others, wanted * sizeof(**out));
	*out_n = wanted;
	return 0;
}

/* What each thread reads: more than the caches hold, and not more than there is. */
static size_t bytes_of_thread(const struct plan *plan, size_t n_threads)
{
	uint64_t bytes = (uint64_t)64 << 20, cache = caches_last(&plan->caches);
	uint64_t most = ring_memory_available("") / 4 / n_threads;

	if (2 * cache > bytes)
		bytes = 2 * cache;
	return (size_t)(bytes < most ? bytes : most) / 4096 * 4096;
}

static int measure_loaded(const struct latency_command *command, const struct plan *plan,
			  const struct latency_setting *setting, const struct ring_memory *memory,
			  struct progress *progress, struct latency_report *report, struct err *err)
{
	struct loaded_request request = {
		.ring_bytes = plan->sizes.items[plan->sizes.n - 1],
		.order = plan->order,
		.ms_each = MS_OF_LOAD,
		.progress = progress,
	};
	struct loaded loaded = { 0 };
	unsigned *cpus = NULL;
	int rc;

	if (choose_cpus(command, plan, &cpus, &request.n_cpus, err) < 0)
		return -1;
	request.cpus = cpus;
	request.bytes_each = bytes_of_thread(plan, request.n_cpus);
	rc = loaded_run(&request, memory, setting->timer, &loaded, err);
	if (rc == 0)
		latency_report_loaded(report, &loaded, setting);
	if (rc == 0 && command->svg != NULL)
		rc = latency_plot_loaded(command->svg, &loaded, setting->is_emulated, err);
	loaded_release(&loaded);
	free(cpus);
	return rc;
}

/* Measures on this machine. */
static int measure_here(const struct latency_command *command, const struct catalog *catalog,
			const struct output_options *output, struct err *err)
{
	struct progress *progress = progress_show(); /* its thread goes where it likes */
	struct latency_report report = { 0 };
	struct ring_memory memory = { 0 };
	struct printer out = { 0 };
	struct plan plan = { 0 };
	struct latency_setting setting = { .is_emulated = runs_in_emulator() };
	struct timer timer;
	int rc = -1;

	if (make_plan(command, &plan, setting.is_emulated, err) < 0 ||
	    printer_open(&out, output, "text", usage.command, NULL, err) < 0 ||
	    ring_memory_init(&memory, plan.sizes.items[plan.sizes.n - 1], plan.is_huge, plan.name,
			     err) < 0)
		goto out;
	out.document.is_modelled = setting.is_emulated;
	timer_open(&timer);
	setting.timer = &timer;
	setting.caches = &plan.caches;
	setting.order = plan.order;
	setting.page_bytes = memory.page;
	setting.cpu = plan.cpu;
	setting.has_unicode = out.document.has_unicode;
	know_load_to_use(catalog_cpu_of_midr(catalog, machine_midr("", plan.cpu)),
			 &setting.load_to_use);
	if (command->loaded)
		rc = measure_loaded(command, &plan, &setting, &memory, progress, &report, err);
	else
		rc = measure_sweep(command, &plan, &setting, &memory, progress, &report, err);
	timer_close(&timer);
out:
	progress_close(progress);
	ring_memory_release(&memory);
	return latency_print(&report, &out, output, rc, err);
}

static int import_files(const struct latency_command *command, const struct catalog *catalog,
			const struct output_options *output, struct err *err)
{
	struct latency_report report = { 0 };
	struct load_to_use known = { 0 };
	struct imported times = { 0 };
	struct printer out = { 0 };
	const struct cpu *cpu = NULL;
	int rc = 0;

	for (size_t i = 0; i < command->import.n && rc == 0; i++) {
		struct mapped file = { 0 };

		rc = mapped_open(&file, command->import.items[i], err);
		if (rc == 0 && imported_read(&times, (const char *)file.bytes, file.size, err) < 0)
			rc = err_within(err, "%s", command->import.items[i]);
		mapped_release(&file);
	}
	if (rc == 0 && command->cpu != NULL) {
		cpu = catalog_cpu_named(catalog, command->cpu, NULL, err);
		rc = cpu == NULL ? -1 : 0;
	} else if (rc == 0 && times.cpu[0] != '\0') {
		cpu = catalog_cpu_find(catalog, times.cpu);
		if (cpu == NULL)
			rc = err_set(err, ERR_FORMAT, ERR_NOWHERE,
				     "%s: CPU '%s' is not one of the catalog: --cpu NAME says "
				     "which it is",
				     command->import.items[0], times.cpu);
	}
	know_load_to_use(cpu, &known);
	if (rc == 0)
		rc = printer_open(&out, output, "text", usage.command, NULL, err);
	if (rc == 0)
		latency_report_imported(&report, &times, &known);
	rc = latency_print(&report, &out, output, rc, err);
	imported_release(&times);
	return rc;
}

static int check_import(const struct latency_command *command, struct err *err)
{
	const struct {
		const char *name;
		bool is_given;
	} others[] = {
		{ "--sizes", command->sizes != NULL }, { "--pages", command->pages != NULL },
		{ "--order", command->order != NULL }, { "--loaded", command->loaded },
		{ "--threads", command->threads > 0 }, { "--svg", command->svg != NULL },
	};

	for (size_t i = 0; i < COUNT(others); i++)
		if (command->import.n > 0 && others[i].is_given)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "%s: with --import nothing is measured", others[i].name);
	return 0;
}

static int latency_command(int argc, char **argv)
{
	struct latency_command command = { .samples = USUAL_SAMPLES };
	struct output_options output = { 0 };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &command },
		output_option_set(&output),
	};
	struct arguments arguments;
	struct catalog *catalog = NULL;
	struct err err;
	int rc, status = start_command(&usage, argc, argv, sets, COUNT(sets), 0,
				       &command.wants_help, &arguments);

	output.inputs = &arguments;
	if (status >= 0)
		return status;
	if (check_import(&command, &err) < 0 || catalog_open(command.catalog, &catalog, &err) < 0)
		return fail(&err);
	rc = command.import.n > 0 ? import_files(&command, catalog, &output, &err)
				  : measure_here(&command, catalog, &output, &err);
	status = rc == 0 ? EXIT_DONE : fail(&err);
	catalog_free(catalog);
	return status;
}

const struct command command_latency = {
	.usage = &usage,
	.purpose = "how long loads take from each cache and from memory, measured here",
	.reads = COMMAND_READS_MACHINE,
	.run = latency_command,
};
