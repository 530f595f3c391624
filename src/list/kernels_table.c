/* SPDX-License-Identifier: Apache-2.0 */
#include "list/kernels_table.h"

#include "base/alloc.h"
#include "base/text.h"
#include "kernel/loops/microbenchmark.h"

enum { KERNEL, PROVES, ITERATION, PARAMETERS, THREADS, ARCHITECTURES, HERE, N_KERNEL };

static const struct column kernel_columns[N_KERNEL] = {
	[KERNEL] = { "kernel", NULL, "", CELL_TEXT, COLUMN_WHOLE, "its name" },
	[PROVES] = { "proves", NULL, "", CELL_TEXT, COLUMN_GROW, "what its counts show" },
	[ITERATION] = { "iteration", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			"what one iteration does" },
	[PARAMETERS] = { "parameters", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_YIELD,
			 "what can be chosen" },
	[THREADS] = { "threads", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
		      "threads that it needs, one of which is measured" },
	[ARCHITECTURES] = { "architectures", NULL, "", CELL_TEXT, COLUMN_WHOLE,
			    "instruction sets that have it" },
	[HERE] = { "here", NULL, "", CELL_BOOL, COLUMN_MACHINE_ONLY, "this machine can run it" },
};

enum { OF, PARAMETER, USUAL, LEAST, MOST, MEANING, N_PARAMETER };

static const struct column parameter_columns[N_PARAMETER] = {
	[OF] = { "kernel", NULL, "", CELL_TEXT, COLUMN_WHOLE, "its name" },
	[PARAMETER] = { "parameter", NULL, "", CELL_TEXT, COLUMN_WHOLE, "the option's name" },
	[USUAL] = { "default", NULL, "", CELL_COUNT, 0, "if nothing is said" },
	[LEAST] = { "least", NULL, "", CELL_COUNT, 0, "smallest value" },
	[MOST] = { "most", NULL, "", CELL_COUNT, 0, "largest value" },
	[MEANING] = { "meaning", NULL, "", CELL_TEXT, COLUMN_GROW, "what it is" },
};

static const char *taken_parameters(struct table *t, const struct microbenchmark *m)
{
	struct text words = { 0 };
	const char *kept;

	for (enum parameter p = 0; p < N_PARAMETERS; p++)
		if (microbenchmark_takes(m, p))
			text_format(&words, "%s%s", words.n > 0 ? " " : "",
				    microbenchmark_parameters[p].name);
	if (m->n_arrays > 0)
		text_str(&words, " level");
	kept = table_format(t, "%.*s", (int)words.n, words.bytes);
	text_release(&words);
	return kept;
}

static const char *architectures_of(struct table *t, const struct microbenchmark *m)
{
	return table_format(t, "%s%s%s", m->architectures & ON_AARCH64 ? "aarch64" : "",
			    m->architectures & ON_X86_64 ? " x86_64" : "",
			    m->architectures & ON_ARM ? " arm" : "");
}

void kernels_table(struct table *out)
{
	const struct microbenchmark *m;

	table_init(out, "kernels", NULL, kernel_columns, COUNT(kernel_columns));
	for (size_t i = 0; (m = microbenchmark_at(i)) != NULL; i++) {
		struct cell *row = table_add_row(out);

		row[KERNEL] = cell_text(m->name);
		row[PROVES] = cell_text(m->proves);
		row[ITERATION] = cell_text(m->iteration);
		row[PARAMETERS] = cell_text(taken_parameters(out, m));
		row[THREADS] = cell_count(m->n_threads > 0 ? m->n_threads : 1);
		row[ARCHITECTURES] = cell_text(architectures_of(out, m));
		row[HERE] = cell_bool(microbenchmark_is_here(m));
	}
}

void parameters_table(const struct table *kernels, struct table *out)
{
	table_init(out, "parameters", "Parameters", parameter_columns, COUNT(parameter_columns));
	for (size_t i = 0; i < table_n_rows(kernels); i++) {
		const char *name = table_cell(kernels, i, KERNEL)->text;
		const struct microbenchmark *m = microbenchmark_find(name);

		for (enum parameter p = 0; p < N_PARAMETERS; p++) {
			const struct parameter_range *range = &m->parameters[p];
			struct cell *row;

			if (!microbenchmark_takes(m, p))
				continue;
			row = table_add_row(out);
			row[OF] = cell_text(m->name);
			row[PARAMETER] = cell_text(microbenchmark_parameters[p].name);
			row[USUAL] = cell_count(range->usual);
			row[LEAST] = cell_count(range->least);
			row[MOST] = cell_count(range->most);
			row[MEANING] = cell_text(microbenchmark_parameters[p].help);
		}
	}
}
