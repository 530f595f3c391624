/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of cycle accounting: which events of a CPU cost how many cycles, and in which branch of the
 * tree they stand. Files of catalog/cycles/ (catalog/schema.md, "Cycles"). The method is that of
 * Levinthal's "Cycle Accounting and Gooda".
 */
#ifndef CYCLOPS_CYCLES_TREE_TEMPLATE_H
#define CYCLOPS_CYCLES_TREE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A template has at most so many nodes. */
enum { NO_NODE = -1, CYCLE_MOST_NODES = 512 };

enum node_kind {
	NODE_EVENT,   /* a leaf: something that the PMU counts */
	NODE_BRANCH,  /* the sum of those children that add to it */
	NODE_FORMULA, /* computed of other nodes */
};

/* What a formula computes; W: slots of a cycle. All but FORMULA_SUM are differences or ratios. */
enum formula_kind {
	FORMULA_SUM,	     /* of all operands */
	FORMULA_WRONG_PATH,  /* cycles: (issued - retired) / (issued in an issuing cycle, else W) */
	FORMULA_AVERAGE,     /* total / number: the mean length of a period */
	FORMULA_BUSIEST,     /* cycles of the busiest port, if it is busy for most cycles */
	FORMULA_UNDERUSE,    /* cycles: (W x (cycles - stalled) - retired) / W */
	FORMULA_EMPTY_SLOTS, /* cycles: empty slots / W - stalled */
	FORMULA_REMAINDER,   /* total, less what others explain of it */
	/* of counts only: */
	FORMULA_COLLISIONS, /* cycles: issuing² / (cycles - stalled): both threads of the core issue */
	FORMULA_HALTED, /* cycles that the wall time has beyond those that `reference` counted */
	N_FORMULA_KINDS,
};

/* Operands of formulas, by kind. FORMULA_SUM has any number, in their order. */
enum {
	WRONG_PATH_ISSUED = 0,
	WRONG_PATH_RETIRED,
	WRONG_PATH_ISSUING, /* cycles that issue; NO_NODE: W slots are issued in a cycle */
	AVERAGE_TOTAL = 0,
	AVERAGE_NUMBER,
	BUSIEST_CYCLES = 0, /* the others are in `ports` */
	UNDERUSE_CYCLES = 0,
	UNDERUSE_STALLED,
	UNDERUSE_RETIRED,
	EMPTY_SLOTS_EMPTY = 0,
	EMPTY_SLOTS_STALLED,
	REMAINDER_TOTAL = 0,
	REMAINDER_LESS, /* the first of those that are subtracted */
	COLLISIONS_ISSUING = 0,
	COLLISIONS_CYCLES,
	COLLISIONS_STALLED,
	HALTED_REFERENCE = 0, /* ticks at a fixed rate while the core is not halted */
	HALTED_CYCLES,
	FORMULA_OPERANDS = 4,
};

/* A port of the back end, or all pipes that operations of one kind can use. */
struct cycle_port {
	const char *name;
	int events[FORMULA_OPERANDS]; /* nodes; operations that used it */
	size_t n_events;
	double pipes;
};

struct cycle_node {
	const char *name;  /* "DTLB_WALK", "load_latency" */
	const char *title; /* head of its column for people; NULL: it has no column */
	int parent;	   /* NO_NODE: at the top */
	unsigned depth;	   /* 0: at the top */
	enum node_kind kind;
	bool adds;	  /* to its parent's sum */
	bool is_stall;	  /* at the top: a branch of the stalled cycles */
	bool is_cycles;	  /* an event without penalty that counts cycles */
	int cap;	  /* node whose cycles this branch cannot exceed; NO_NODE: none */
	const char *note; /* NULL: none */

	/* NODE_EVENT */
	uint64_t code; /* Arm: the event number. x86: event, umask, edge, inv, cmask as in config */
	uint64_t period;    /* proposed for sampling; 0: none */
	unsigned precise;   /* proposed precise_ip */
	double penalty;	    /* cycles or ns of one event; 0: it costs nothing by itself */
	bool is_unpriced;   /* it costs something, and nobody says what: `penalty` is 0 */
	bool is_in_ns;	    /* the penalty: it is off the core, whose clock does not change it */
	bool is_estimate;   /* the penalty: nobody published or measured it for this core */
	const char *source; /* of the penalty; NULL: that of the template */

	/* NODE_FORMULA */
	enum formula_kind formula;
	int operands[FORMULA_OPERANDS];
	size_t n_operands;
	struct cycle_port *ports;
	size_t n_ports;
	double tick_ns; /* FORMULA_HALTED: of the reference */
};

struct cycle_template {
	const char *id, *name, *source;
	const char **cpus; /* ids of the catalog's CPUs that it is for */
	size_t n_cpus;
	const char *vendor; /* x86: as in CPUID; NULL: not x86 */
	unsigned family;
	unsigned *models;
	size_t n_models;
	double slots;	      /* of a cycle */
	double reference_ghz; /* the clock at which penalties in ns are shown; 0: none is in ns */
	int cycles, stalled, instructions; /* nodes */
	struct cycle_node *nodes;	   /* parents before children */
	size_t n_nodes;
	struct cycle_template_memory *memory;
};

/*
 * Reads a template out of JSON. `name` is for messages. Fails if names stand twice, a parent, cap or
 * operand does not exist, an event without a code costs something, or sums go in a circle.
 */
int cycle_template_read(const char *name, const char *bytes, size_t size,
			struct cycle_template **out, struct err *);
void cycle_template_free(struct cycle_template *);

/* The same of a file: --template. */
int cycle_template_open(const char *path, struct cycle_template **out, struct err *);

/* An embedded template, in the order of their ids; NULL behind the last. Free it. */
struct cycle_template *cycle_template_at(size_t index);

/* An embedded template by its id. Fails if there is none; the error lists them. */
int cycle_template_find(const char *id, struct cycle_template **out, struct err *);

/*
 * The embedded template for a CPU, by the catalog's id ("" : not known) and the header's text of
 * CPUID ("GenuineIntel,6,44,2", or ""). Fails with ERR_NO_DATA if there is none.
 */
int cycle_template_of_cpu(const char *cpu, const char *cpuid, struct cycle_template **out,
			  struct err *);

/*
 * The template that a user chooses: NULL or "": that of the CPU, as above; else an embedded one of that name,
 * else a file.
 */
int cycle_template_choose(const char *name, const char *cpu, const char *cpuid,
			  struct cycle_template **out, struct err *err);

/* The node of that name, ignoring case; NO_NODE if there is none. */
int cycle_template_node(const struct cycle_template *, const char *name);

/* Is a node below another one, at any depth? */
bool cycle_node_is_below(const struct cycle_template *, int node, int above);

/*
 * Is the event needed to account samples: does it cost or count cycles, is it a cap, or does a formula that
 * is computed of samples use it?
 */
bool cycle_node_is_needed(const struct cycle_template *, int node);

/* Cycles of one event, at a clock in GHz (0: the template's). */
double cycle_node_penalty(const struct cycle_template *, int node, double ghz);

#endif
