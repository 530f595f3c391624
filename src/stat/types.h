/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of a machine with cores of several types: events and formulas differ from type to type,
 * so each type is explained by itself.
 */
#ifndef CYCLOPS_STAT_TYPES_H
#define CYCLOPS_STAT_TYPES_H

#include "stat/stat.h"

/* The counts of one type of core. */
struct stat_type {
	const char *pmu; /* "armv8_cortex_a53"; NULL: there is only one type, or none is told */
	struct counts counts;
	struct cpu_pmu *facts;
	struct stat_answer answer;
};

/* Zeroed is empty. */
struct stat_types {
	VEC_OF(struct stat_type) list;
	struct tables shown; /* of all types; names of tables end in "@PMU" if there are several */
	struct arena memory;
};

/* The facts about a CPU by its name, or (NULL) about the one that the counts are of. */
int stat_facts(const struct catalog *, const char *cpu_name, const struct counts *,
	       struct cpu_pmu **out, struct err *);

/*
 * The counts of one type of core: its own, and what no core counts, such as times and faults.
 * Texts are borrowed from `all`; release the lists with counts_release().
 */
void stat_counts_of_pmu(const struct counts *all, const char *pmu, struct counts *out);

/* Finds the types, the counts of each if there are several, and the facts. Release it in any case. */
int stat_types_open(const struct catalog *, const char *cpu_name, const struct counts *,
		    struct stat_types *out, struct err *);

/*
 * Explains the counts, type by type. `cpu_name` is the CPU that they are taken to be of, NULL: what
 * they tell (metrics/cpu_choice.h). The counts must outlive the answer.
 *
 * A task is on a counter of one type only while it runs on that type, so the kernel's times look
 * like multiplexing: of several types the counts are taken as they were read, not scaled.
 * Counts with times of their own (`has_own_times`) stand as they are.
 */
int stat_types_make(const struct catalog *, const char *cpu_name, struct counts *,
		    const struct stat_options *, struct stat_types *out, struct err *);

/*
 * Compares two runs, type by type (stat_answer_compare()). Fails if they are not of the same
 * types of cores. `before` is filled, too, and lives as long as `out`; release both.
 */
int stat_types_compare(const struct catalog *, const char *cpu_name, struct counts *counts_before,
		       struct counts *counts_after, const struct stat_options *,
		       struct stat_types *before, struct stat_types *out, struct err *);

/*
 * Of the tables of events keeps what these lists name, as --events takes them ("a,{b,c:u}"), by the
 * names that the tables have or others of theirs; case does not matter. Fails if a name is in none of them.
 */
int stat_types_keep_events(struct stat_types *, const char *const *lists, struct err *);

void stat_types_release(struct stat_types *);

#endif
