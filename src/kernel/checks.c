/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/checks.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "cli/command.h"
#include "cli/message.h"
#include "counting/event_checks.h"
#include "cycles/tree/template_write.h"
#include "kernel/spe_run.h"
#include "kernel/subject.h"
#include "kernel/validation/calibrate.h"
#include "kernel/validation/validate.h"
#include "table/answer.h"

enum { REPEATS = 5, TIMES_ON_HARDWARE = 25 };

/* What penalties may vary by in the repeats, unless they are written all the same. */
static const double largest_spread = 0.05;

static const char command_name[] = "kernel";

#define AT(field) offsetof(struct kernel_checks, field)

static const struct option options[] = {
	{ "validate", 0, OPTION_FLAG, AT(validates), NULL,
	  "compare what events count with what kernels make them count; NAMEs are\n"
	  "                          events or kernels. The result is stored for this machine" },
	{ "calibrate", 0, OPTION_FLAG, AT(calibrates), NULL,
	  "measure what events cost; -o FILE is a tree for cycles --template" },
	{ "model", 0, OPTION_OPTIONAL, AT(model), "[=NAME]",
	  "of the machine model instead of this machine: neoverse-n1, or a file" },
	{ "set", 0, OPTION_LIST, AT(sets), "NAME=N", "another value of a parameter of the model" },
	{ "repeats", 0, OPTION_COUNT, AT(n_repeats), "N",
	  "runs of each kernel of --calibrate (default 5)" },
	{ "force", 0, OPTION_FLAG, AT(is_forced), NULL,
	  "write penalties whose repeats differ by more than 5 %, too" },
	{ "expected", 0, OPTION_INPUT, AT(expected), "FILE",
	  "other expected counts (catalog/schema.md)" },
	{ "catalog", 0, OPTION_INPUT, AT(catalog), "FILE", "more facts about CPUs" },
	{ "l1-tlb", 0, OPTION_COUNT, AT(l1_tlb), "N",
	  "pages that the first-level TLB for data holds, if the catalog does not say" },
	{ "l2-tlb", 0, OPTION_COUNT, AT(l2_tlb), "N", "the same of the second-level TLB" },
	{ "emulator", 0, OPTION_TEXT, AT(emulator), "PATH", "path of qemu-aarch64" },
	{ "plugin", 0, OPTION_TEXT, AT(plugin), "PATH", "path of cyclops-model.so" },
	{ "runner", 0, OPTION_TEXT, AT(runner), "PATH", "path of cyclops-kernel-aarch64" },
};

struct option_set kernel_check_option_set(struct kernel_checks *into)
{
	return (struct option_set){ "Checks of this machine:", options, COUNT(options), into };
}

struct subject_options kernel_checks_subject(const struct kernel_checks *c)
{
	return (struct subject_options){ c->model,  &c->sets,  c->catalog, c->emulator,
					 c->plugin, c->runner, c->l1_tlb,  c->l2_tlb };
}

int kernel_checks_check(const struct kernel_checks *c, const struct gate_options *gates,
			struct err *err)
{
	const char *without = c->validates || c->calibrates ? NULL
			      : c->expected != NULL	    ? "--expected"
			      : gates->conditions.n > 0	    ? "--fail-if"
							    : NULL;

	if (c->model != NULL && c->l1_tlb + c->l2_tlb > 0)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--%s is about this machine; --set dtlb_entries=N and l2tlb_entries=N are "
			"those of the model",
			c->l1_tlb > 0 ? "l1-tlb" : "l2-tlb");
	if (c->validates && c->calibrates)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--validate and --calibrate are two answers; ask for one");
	if (without != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "%s is about --validate and --calibrate", without);
	if (!c->calibrates && (c->n_repeats > 0 || c->is_forced))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "%s is about --calibrate",
			       c->is_forced ? "--force" : "--repeats");
	if (c->sets.n > 0 && c->model == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--set is about --model");
	return 0;
}

static int read_expected(const char *path, struct expected *out, struct err *err)
{
	struct mapped file = { 0 };
	int rc;

	if (path == NULL) {
		expected_open(out);
		return 0;
	}
	if (mapped_open(&file, path, err) < 0)
		return -1;
	rc = expected_read((const char *)file.bytes, file.size, out, err);
	mapped_release(&file);
	return rc < 0 ? err_within(err, "%s", path) : 0;
}

/* Prints tables, with those of gates. */
static int show(const struct subject *s, const struct tables *tables,
		const struct output_options *output, struct gates *gates,
		const struct gate_options *gate_options, struct err *err)
{
	struct tables shown = gates_shown(gates, tables);
	struct printer out = { 0 };
	int rc = printer_open(&out, output, "text", command_name, NULL, err);

	if (rc == 0) {
		out.document.is_modelled = gates->is_modelled = s->is_modelled;
		printer_page(&out, output);
		rc = printer_finish(&out, output, &shown, 0, err);
	}
	if (rc == 0)
		rc = gate_options_report(gate_options, gates, output, command_name, err);
	vec_release(&shown.list);
	return rc;
}

enum validation_quantity {
	VALIDATION_WRONG,
	VALIDATION_N_NOT_COUNTED,
	VALIDATION_N_ELSEWHERE,
	VALIDATION_N_OVER,
	VALIDATION_N_UNDER,
	VALIDATION_FACTOR,
	N_VALIDATION_QUANTITIES,
};

static const struct quantity validation_quantities[N_VALIDATION_QUANTITIES] = {
	[VALIDATION_WRONG] = { "wrong", NULL, "events", false, "events whose verdict is not ok" },
	[VALIDATION_N_NOT_COUNTED] = { "not_counted", NULL, "events", false, "not counted here" },
	[VALIDATION_N_ELSEWHERE] = { "elsewhere", NULL, "events", false, "fires elsewhere" },
	[VALIDATION_N_OVER] = { "over", NULL, "events", false, "over" },
	[VALIDATION_N_UNDER] = { "under", NULL, "events", false, "under" },
	[VALIDATION_FACTOR] = { "factor", "EVENT", "", false,
				"counted / nearest right count; 1: right" },
};

static int measure_validation(void *context, const struct gate *g, struct measured *out,
			      struct err *err)
{
	static const enum validation_verdict of[N_VALIDATION_QUANTITIES] = {
		[VALIDATION_N_NOT_COUNTED] = VALIDATION_NOT_COUNTED,
		[VALIDATION_N_ELSEWHERE] = VALIDATION_FIRES_ELSEWHERE,
		[VALIDATION_N_OVER] = VALIDATION_OVER,
		[VALIDATION_N_UNDER] = VALIDATION_UNDER,
	};
	const struct validation *v = context;

	if (g->quantity == VALIDATION_WRONG) {
		*out = measured_exactly((double)(v->events.n - v->n_of[VALIDATION_OK]));
		return 0;
	}
	if (g->quantity != VALIDATION_FACTOR) {
		*out = measured_exactly((double)v->n_of[of[g->quantity]]);
		return 0;
	}
	for (size_t i = 0; i < v->events.n; i++) {
		const struct validated_event *e = &v->events.items[i];

		if (strlen(e->name) == g->argument_size &&
		    strncasecmp(e->name, g->argument, g->argument_size) == 0) {
			*out = measured_exactly(e->result.factor);
			return e->result.n_runs > 0 ? 0
						    : err_set(err, ERR_NO_DATA, ERR_NOWHERE,
							      "%s cannot be counted here", e->name);
		}
	}
	return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "'%.*s' was not validated",
		       (int)g->argument_size, g->argument);
}

/* The verdicts are used by doctor, stat and cycles from now on. */
static void remember(const struct subject *s, const struct validation *v)
{
	struct event_checks checks = { 0 };
	const char *name = s->machine.cores.n > 0 ? s->machine.cores.items[0].name : NULL;
	struct err err;

	validation_remember(v, &checks);
	if (s->facts != NULL &&
	    event_checks_save(event_checks_key(&checks.memory, s->midr, name), &checks, &err) < 0)
		message_print("result not stored: %s", err.text);
	event_checks_release(&checks);
}

static int show_validation(const struct subject *s, struct validation *v,
			   const struct output_options *output, struct gates *gates,
			   const struct gate_options *gate_options, struct err *err)
{
	struct table answer, events, checks;
	struct tables tables = { 0 };
	int rc;

	validation_answer(v, &answer);
	if (subject_why_not(s) != NULL)
		answer_say(&answer,
			   "Hardware events cannot be counted on this machine (cyclops doctor "
			   "says why): only software events were checked.");
	validation_events_table(v, &events);
	validation_checks_table(v, &checks);
	*vec_add(&tables.list) = &answer;
	*vec_add(&tables.list) = &events;
	*vec_add(&tables.list) = &checks;
	rc = gate_options_judge(gate_options, validation_quantities, N_VALIDATION_QUANTITIES,
				measure_validation, v, gates, err);
	if (rc == 0)
		rc = show(s, &tables, output, gates, gate_options, err);
	vec_release(&tables.list);
	table_release(&answer);
	table_release(&events);
	table_release(&checks);
	return rc;
}

static int run_validation(struct subject *s, const struct kernel_checks *c,
			  const struct arguments *names, const struct output_options *output,
			  struct gates *gates, const struct gate_options *gate_options,
			  struct err *err)
{
	struct expected expected = { 0 };
	const struct validation_request request = {
		.expected = &expected,
		.measurer = &s->measurer,
		.facts = s->facts,
		.has_software = !s->is_modelled,
		.sizes = &s->sizes,
		.architecture = s->architecture,
		.names = names->items,
		.n_names = names->n,
	};
	struct validation v = { 0 };
	int rc = read_expected(c->expected, &expected, err);

	if (rc == 0)
		rc = validate(&request, &v, err);
	if (rc == 0 && v.events.n == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			     "no event of these can be counted here%s%s",
			     subject_why_not(s) != NULL ? ": " : "",
			     subject_why_not(s) != NULL ? subject_why_not(s) : "");
	if (rc == 0)
		rc = show_validation(s, &v, output, gates, gate_options, err);
	if (rc == 0 && !s->is_modelled)
		remember(s, &v);
	validation_release(&v);
	expected_release(&expected);
	if (rc < 0)
		return -1;
	return subject_why_not(s) != NULL ? EXIT_FAILED : EXIT_DONE;
}

/* Today, or the day of SOURCE_DATE_EPOCH, so that a file can be made again. */
static void date_text(char out[16])
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = epoch != NULL ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
	struct tm day;

	if (gmtime_r(&now, &day) == NULL || strftime(out, 16, "%Y-%m-%d", &day) == 0)
		snprintf(out, 16, "1970-01-01");
}

/* Writes the tree with the penalties that were measured. */
static int write_penalties(const struct subject *s, const struct cycle_template *tree,
			   const struct calibration *found, unsigned n_repeats, const char *path,
			   struct err *err)
{
	struct measured_penalties penalties = {
		.machine = s->is_modelled ? s->model.name : cpu_name(s->cpu),
		.ghz = found->ghz,
		.is_modelled = s->is_modelled,
	};
	VEC_OF(struct measured_penalty) list = { 0 };
	struct arena memory = { 0 };
	struct text text = { 0 };
	char date[16];
	int rc;

	date_text(date);
	penalties.date = date;
	for (size_t i = 0; i < found->list.n; i++) {
		const struct calibrated *of = &found->list.items[i];

		if (!of->is_written)
			continue;
		text_reset(&text);
		text_format(&text, "%s %s at %.2f GHz: %s less %s, %u repeats, spread %.1f %%",
			    s->is_modelled ? "measured on the machine model" : "measured", date,
			    found->ghz, of->with, of->without, n_repeats, 100 * of->cycles.spread);
		*vec_add(&list) = (struct measured_penalty){
			of->event,
			of->cycles.median,
			arena_strndup(&memory, text.bytes, text.n),
		};
	}
	penalties.list = list.items;
	penalties.n = list.n;
	text_reset(&text);
	rc = cycle_template_write(tree->id, &penalties, &text, err);
	if (rc == 0)
		rc = text_save(&text, path, err);
	vec_release(&list);
	arena_release(&memory);
	text_release(&text);
	return rc;
}

enum calibration_quantity { CALIBRATION_SPREAD, CALIBRATION_PENALTY, N_CALIBRATION_QUANTITIES };

static const struct quantity calibration_quantities[N_CALIBRATION_QUANTITIES] = {
	[CALIBRATION_SPREAD] = { "spread", NULL, "", true,
				 "the widest spread of the repeats of a penalty" },
	[CALIBRATION_PENALTY] = { "penalty", "EVENT", "cycles", false, "cycles of one event" },
};

static int measure_calibration(void *context, const struct gate *g, struct measured *out,
			       struct err *err)
{
	const struct calibration *c = context;

	if (g->quantity == CALIBRATION_SPREAD) {
		*out = measured_exactly(c->widest);
		return 0;
	}
	for (size_t i = 0; i < c->list.n; i++) {
		const struct calibrated *of = &c->list.items[i];

		if (strlen(of->event) == g->argument_size && !isnan(of->cycles.median) &&
		    strncasecmp(of->event, g->argument, g->argument_size) == 0) {
			*out = measured_between(of->cycles.median, of->cycles.least,
						of->cycles.most);
			return 0;
		}
	}
	return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "the penalty of '%.*s' was not measured",
		       (int)g->argument_size, g->argument);
}

static void say_calibration(const struct subject *s, const struct calibration *c, const char *path,
			    struct table *t)
{
	answer_init(t);
	answer_say(
		t,
		"%zu penalties of %s measured at %.2f GHz; the repeats differ by %.1f %% at most.",
		c->n_measured - c->n_unsteady, s->is_modelled ? s->model.name : cpu_name(s->cpu),
		c->ghz, 100 * c->widest);
	if (path != NULL)
		answer_say(t, "%s has them; use it: cyclops cycles --template %s", path, path);
	else
		answer_say(t, "-o FILE writes them as a tree for cyclops cycles --template FILE.");
}

/* What is wrong with the records, or that they are right. */
static void say_spe(const struct spe_levels *spe, struct table *t)
{
	size_t n_right = 0;

	for (size_t i = 0; i < spe->list.n; i++)
		n_right += spe_level_is_right(&spe->list.items[i]);
	if (spe->list.n > 0 && n_right == spe->list.n)
		answer_say(t, "SPE records agree with what the chases of %zu levels did.", n_right);
	else if (spe->list.n > 0)
		answer_say(t, "SPE records are wrong at %zu of %zu levels.", spe->list.n - n_right,
			   spe->list.n);
}

static int show_calibration(const struct subject *s, struct calibration *found,
			    const struct spe_levels *spe, const char *path,
			    const struct output_options *output, struct gates *gates,
			    const struct gate_options *gate_options, struct err *err)
{
	struct table answer, penalties, records;
	struct tables tables = { 0 };
	int rc;

	say_calibration(s, found, path, &answer);
	say_spe(spe, &answer);
	calibration_table(found, &penalties);
	spe_levels_table(spe, &records);
	*vec_add(&tables.list) = &answer;
	*vec_add(&tables.list) = &penalties;
	if (spe->list.n > 0)
		*vec_add(&tables.list) = &records;
	rc = gate_options_judge(gate_options, calibration_quantities, N_CALIBRATION_QUANTITIES,
				measure_calibration, found, gates, err);
	if (rc == 0)
		rc = show(s, &tables, output, gates, gate_options, err);
	vec_release(&tables.list);
	table_release(&answer);
	table_release(&penalties);
	table_release(&records);
	return rc;
}

/* Refuses the file if repeats differ too much, unless it was forced. */
static int finish_calibration(const struct subject *s, const struct kernel_checks *c,
			      const struct cycle_template *tree, const struct calibration *found,
			      unsigned n_repeats, const char *path, struct err *err)
{
	if (path == NULL)
		return 0;
	if (found->n_unsteady > 0 && !c->is_forced)
		return err_set(
			err, ERR_UNSUPPORTED, ERR_NOWHERE,
			"%s is not written: %zu penalt%s not steady (see the table); quieten "
			"the machine, or write the others with --force",
			path, found->n_unsteady, found->n_unsteady == 1 ? "y is" : "ies are");
	return write_penalties(s, tree, found, n_repeats, path, err);
}

static int run_calibration(struct subject *s, const struct kernel_checks *c,
			   const struct output_options *output, struct gates *gates,
			   const struct gate_options *gate_options, struct err *err)
{
	struct output_options tables_to = *output;
	struct cycle_template *tree = NULL;
	struct calibration_request request = {
		.measurer = &s->measurer,
		.sizes = &s->sizes,
		.n_repeats = c->n_repeats > 0 ? c->n_repeats : REPEATS,
		.n_times = s->is_modelled ? 1 : TIMES_ON_HARDWARE,
		.largest_spread = c->is_forced ? INFINITY : largest_spread,
	};
	struct calibration found = { 0 };
	struct spe_levels spe = { 0 };
	int rc;

	if (subject_why_not(s) != NULL)
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "cycles cannot be counted here: %s; --model calibrates the machine "
			       "model",
			       subject_why_not(s));
	tables_to.path = NULL; /* it is that of the tree */
	if (cycle_template_of_cpu(s->cpu != NULL ? cpu_id(s->cpu) : "", "", &tree, err) < 0)
		return -1;
	request.tree = tree;
	rc = calibrate(&request, &found, err);
	if (rc == 0 && spe_run_is_possible(s) && spe_run(s, c->catalog, &spe, err) < 0) {
		/* the penalties are there, whatever the records are worth */
		message_print("SPE records were not compared: %s", err->text);
		spe.list.n = 0;
	}
	if (rc == 0)
		rc = show_calibration(s, &found, &spe, output->path, &tables_to, gates,
				      gate_options, err);
	if (rc == 0)
		rc = finish_calibration(s, c, tree, &found, request.n_repeats, output->path, err);
	calibration_release(&found);
	vec_release(&spe.list);
	cycle_template_free(tree);
	return rc < 0 ? -1 : EXIT_DONE;
}

int kernel_checks_run(const struct kernel_checks *c, const struct arguments *names,
		      const struct output_options *output, const struct gate_options *gate_options,
		      struct err *err)
{
	struct subject s;
	struct gates gates;
	const struct subject_options options_of_subject = kernel_checks_subject(c);
	int rc = subject_open(&s, &options_of_subject, err);

	gates_init(&gates);
	if (rc == 0)
		rc = c->validates ? run_validation(&s, c, names, output, &gates, gate_options, err)
				  : run_calibration(&s, c, output, &gates, gate_options, err);
	if (rc < 0)
		gate_options_report_failure(gate_options, &gates, command_name, err->text);
	else if (gates.n_failed > 0)
		rc = EXIT_GATE;
	gates_release(&gates);
	subject_release(&s);
	return rc;
}
