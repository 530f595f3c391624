/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands out, as data: of which kind, about what, where, how much, what says so, what might
 * change it. findings/words.h makes sentences of it, last; nobody reads those back.
 */
#ifndef CYCLOPS_FINDINGS_FINDING_H
#define CYCLOPS_FINDINGS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "cpu/pmu.h"
#include "metrics/plausible.h"
#include "session/names.h"
#include "table/table.h"

enum finding_kind {
	/* Of samples, by function. Special before general: one that explains more comes first. */
	FINDING_MEMORY_BOUND,
	FINDING_SHARED_DATA,
	FINDING_TLB_WALKS,
	FINDING_MISPREDICTIONS,
	/* … and by loop (struct finding_loop). */
	FINDING_DEPENDENCY_CHAIN,
	FINDING_STORE_FORWARDING,
	FINDING_DIVISION,
	FINDING_L2_BOUND,
	FINDING_LLC_BOUND,
	FINDING_DRAM_LATENCY,
	FINDING_DRAM_BANDWIDTH,
	FINDING_STORE_BOUND,
	FINDING_LATE_PREFETCH,
	FINDING_SCALAR_LOOP,
	FINDING_FRONT_END, /* … and of all code (struct finding_code) */
	FINDING_SLOW_OPERATIONS,
	FINDING_PAGE_FAULTS, /* … of all samples (struct finding_page_faults) */
	FINDING_UNNAMED_CODE,
	FINDING_HOT_FUNCTION,
	/* Of samples, by cache line. */
	FINDING_FALSE_SHARING,
	FINDING_TRUE_SHARING,
	FINDING_CONTENDED, /* false or true is not known */
	/* Of counts. */
	FINDING_WAITING, /* threads did not run */
	FINDING_METRIC,	 /* a metric passes its threshold */
	FINDING_SCALAR,	 /* little is lost, and no work is of vectors */
	N_FINDING_KINDS,
};

/* "memory-bound" …; of a metric the metric's name instead. */
const char *finding_kind_name(enum finding_kind);

/* Does it say where, not why? Those are for functions that have no other finding. */
bool finding_is_general(enum finding_kind);

/* Which cycles it is about, as counts tell them apart: those without dispatch by who is to blame. */
enum finding_side {
	FINDING_SIDE_NONE,
	FINDING_SIDE_BACK_END,
	FINDING_SIDE_FRONT_END,
	FINDING_SIDE_BUSY
};

enum finding_side finding_side(enum finding_kind);

struct finding;

/*
 * Is it of code alone? What a loop's operations take one after the other limits it if an iteration takes no longer, and
 * how long one takes is not known.
 */
bool finding_is_unproven(const struct finding *);

/* Is it of shared lines, and do fewer than FINDING_FEW_WAITS loads show what that costs? */
bool finding_is_sparse(const struct finding *);

/* Where a finding is said to come from, if findings of several sources stand together. */
enum finding_origin { FINDING_FROM_HERE, FINDING_FROM_SAMPLES, FINDING_FROM_COUNTS };

/* What a share is of; its words are `finding_size.whole` and those of words_brief.c and words_answer.c. */
enum finding_whole {
	WHOLE_OTHER, /* an event's weight, slots, cycles: only its name is known */
	WHOLE_TIME,
	WHOLE_CPU_TIME, /* of a clock that was sampled */
	WHOLE_LATENCY,	/* of all operations */
	WHOLE_LOAD_LATENCY,
	WHOLE_BRANCHES,
};

/* How much of a whole it concerns. */
struct finding_size {
	double share; /* NAN: not known; of a loop the limit */
	double error; /* half of the 95 % interval of the share, or of the limit; NAN: not known */
	enum cell_mark mark; /* full counters of latencies make it a bound */
	enum finding_whole of;
	const char *whole; /* its name: "latency cycles" */
	/* The same as amounts: "36.8 G of 43.8 G cycles"; no unit: not known. */
	double part, all;
	const char *unit;
};

/* An instruction. */
struct finding_place {
	const char *name; /* "chase+0x4"; NULL: not known */
	const char *file; /* NULL: not known */
	uint32_t line;
	const char *inlined; /* the function whose code it is, if that is inlined there; NULL */
};

enum evidence_kind {
	EVIDENCE_WEIGHT,	/* part of all: what the function has */
	EVIDENCE_NODE,		/* a deeper node of the tree */
	EVIDENCE_RATE,		/* a rate above its threshold */
	EVIDENCE_THRESHOLD,	/* no more than that it passes it */
	EVIDENCE_MEMORY_STALLS, /* half of the stalls wait for a miss of the L2 */
	EVIDENCE_COST,		/* `share` of cycles at most: `value` per 1000 × its penalty */
	EVIDENCE_REST_CORE,	/* `share` of cycles is none of the counted misses */
	EVIDENCE_REST_COPY,	/* the same; a load for each store, `value` of both in a cycle */
	EVIDENCE_REST_UNITS,	/* the same, and samples saw no chain and no division */
	EVIDENCE_REST_FETCH,	/* the same of the front end */
	EVIDENCE_COLD_CODE,	/* `value` refills of the L1I, which holds more: `share` at most */
	EVIDENCE_STORES,	/* lines fetched for stores cost `share` of cycles at most */
	EVIDENCE_LINES,		/* `value` lines from DRAM at a time, `share` of what can be */
	EVIDENCE_ONE_MISS,	/* `value` misses at a time: each load waits for the one before */
	EVIDENCE_SCATTERED,	/* `value` misses at a time, `share` lines of each page */
	EVIDENCE_IN_ORDER,	/* `share` lines of each page */
	EVIDENCE_TAKEN_LINES,	/* `share` of L1D misses are of lines that other CPUs took */
	EVIDENCE_SHARING_NOT_COUNTED, /* on `value` CPUs; `unit`: the event, NULL: there is none */
	EVIDENCE_MIX,		      /* `value` per cent vector, `share` per cent scalar work */
	EVIDENCE_CACHES_NOT_COUNTED,  /* so memory or core is not known */
	EVIDENCE_BRANCH_STALLS,	      /* `value` stalled cycles for each mispredicted branch */
	EVIDENCE_LEFT_CPU,	      /* why threads did not run */
	EVIDENCE_FINDING,	      /* another finding, which says the same of another source */
};

struct evidence {
	enum evidence_kind kind;
	const struct cpu_metric *metric;
	const struct finding *finding;
	const char *unit; /* of part and all: an event, or "ns" */
	uint64_t part, all;
	double value;	  /* of the metric; of a weight: the function's share, NAN if not told */
	double threshold; /* of the metric */
	double share;	  /* 0 … 1; of EVIDENCE_MIX per cent */
	const struct cpu_penalty *penalty;
	uint32_t n_runs;
	bool is_known; /* EVIDENCE_LEFT_CPU: part times for something, all times for others */
};

enum remedy_kind {
	REMEDY_NONE,
	/* Of samples. */
	REMEDY_TOUCH_LESS,
	REMEDY_OWN_LINES,
	REMEDY_DENSER_PAGES,
	REMEDY_PREDICTABLE,
	REMEDY_POINTER_CHASE, /* `percent` of its operations walk the page tables */
	REMEDY_SMALLER_TABLE,
	REMEDY_BREAK_CHAIN,
	REMEDY_INTERLEAVE, /* a recurrence: accumulators do not help */
	REMEDY_SKIP_AHEAD, /* … that is linear */
	REMEDY_IN_REGISTER,
	REMEDY_DIVISION,
	REMEDY_INTERCHANGE,
	REMEDY_SHORTER_STRIDE,
	REMEDY_PREFETCH_AHEAD,
	REMEDY_PREFETCH_DISTANCE,
	REMEDY_FEWER_BYTES,
	REMEDY_BLOCK,
	REMEDY_STORE_IN_ORDER,
	REMEDY_REUSE_MEMORY,
	REMEDY_COPY_LESS,
	REMEDY_MAP_AHEAD,
	REMEDY_LESS_MEMORY,
	REMEDY_CALL_LESS,
	REMEDY_CALL_CHAINS,
	REMEDY_SYMBOLS, /* `text`: what gives names to the code */
	REMEDY_SEPARATE_THREADS,
	REMEDY_LOCK_LESS,
	REMEDY_WRITE_LESS,
	REMEDY_LAYOUT,	 /* `text`: how to change the data */
	REMEDY_ONE_NODE, /* `percent` of the contended loads cross sockets */
	/* Of counts. */
	REMEDY_BRANCH_FREE_SIZES,
	REMEDY_BRANCH_FREE,
	REMEDY_CODE_PAGES,
	REMEDY_CODE_ORDER,
	REMEDY_HUGE_PAGES,
	REMEDY_CACHE_L1,
	REMEDY_CACHE,
	REMEDY_CACHE_CHAIN,	/* one miss at a time */
	REMEDY_CACHE_SCATTERED, /* several, of lines that are not next to each other */
	REMEDY_LESS_SHARING,
	REMEDY_SPECULATION,
	REMEDY_FRONT_END,
	REMEDY_VECTORISE,
	REMEDY_LESS_WORK,
	REMEDY_CORE,
	REMEDY_NODES,
	REMEDY_IDLE_MACHINE,
	REMEDY_LONGER_RUN,
	REMEDY_IDLE_OR_WAITS,
	REMEDY_WAITS,
	N_REMEDIES,
};

/* "huge-pages" …: what programs know a remedy by. */
const char *finding_remedy_id(enum remedy_kind);

struct remedy {
	enum remedy_kind kind;
	double percent;
	const char *text; /* of any kind: words of its own; NULL: those of the kind */
};

/* What a side of the pipeline waits for, as far as counts tell. */
enum finding_cause {
	CAUSE_NOT_KNOWN,
	CAUSE_MEMORY,
	CAUSE_CORE,
	CAUSE_COUNTED,	 /* of the front end: the issue that costs most */
	CAUSE_FETCH,	 /* of the front end: none of what was counted */
	CAUSE_COLD_CODE, /* of the front end: code that runs for the first time */
};

/* Loads that waited: with fewer a share of theirs is known to its order of magnitude only. */
enum { FINDING_FEW_WAITS = 10 };

enum { FINDING_EVENTS = 4, FINDING_ACCESSES = 3, FINDING_LINES = 3 };

/* How sure it is: by how many samples it rests on. */
struct finding_samples {
	uint64_t n, n_all; /* 0: it rests on no samples */
	const char *of;	   /* "samples" */
	double error;	   /* of the share, half of the 95 % interval */
	bool no_jitter;	   /* code may be in step with the interval */
	double full_share; /* of all cycles, that full counters hold; below 0: of no matter */
};

/* … or by how much of the time it was counted. */
struct finding_coverage {
	bool is_set, is_imported; /* another tool counted, and does not say */
	enum cell_mark mark;
	double coverage, least_coverage; /* 0 … 1: of it, and of what explains it */
	double spread;			 /* between runs; 0: one run */
};

/* Some accesses of one instruction to shared lines. */
struct finding_access {
	const char *field; /* "account.limit", of any element "table[].lock"; NULL: not known */
	unsigned offset, size;
	struct finding_place place;
	const char *operation; /* "load" */
	uint64_t records;
	uint32_t n_threads, tid; /* UINT32_MAX: not one */
	uint32_t n_waited;
	double wait_cycles; /* mean */
	bool has_reloads;
};

/* Why a verdict on lines is not known. */
enum finding_doubt {
	DOUBT_NONE,
	DOUBT_FEW_SAMPLES,
	DOUBT_NO_STORES,
	DOUBT_STORES_FILTERED,
	DOUBT_STORES_UNSEEN,
	DOUBT_OTHER_TIMES,
	DOUBT_SIZES,
	DOUBT_VECTOR_LENGTH,
	DOUBT_PREDICATES,
	DOUBT_OTHER,
};

/* Loads that waited. */
struct finding_waits {
	uint32_t n, n_saturated;
	double mean_cycles;
};

/* What is known of lines that threads contend for. */
struct finding_sharing {
	const char *object;   /* "account (struct account, 64 bytes)", or NULL */
	const char *name;     /* "account", or NULL */
	const char *type;     /* "struct account", or NULL */
	uint64_t bytes;	      /* of the object; 0: not known */
	uint32_t n_objects;   /* of one type; 0: it is not about a type */
	uint32_t n_variables; /* of one type, the object among them; 0: it is not about variables */
	uint64_t lines[FINDING_LINES];
	size_t n_lines;
	bool is_physical;
	bool is_both; /* false and true sharing: … */
	double false_part;
	bool is_guarded, has_lock;
	bool is_common; /* with lines of their own bytes would be waited for nearly as often */
	enum finding_doubt doubt;
	bool has_latency; /* the share is of latency, not of contended loads */
	bool has_waited;  /* loads did, also if their latency is not known */
	bool is_by_hitm;  /* contended are loads of what another core had modified, no others */
	uint32_t n_contended, n_remote, n_modified; /* loads; from another socket; HITM */
	uint32_t n_stores, n_atomics, n_writers, n_threads, n_waited;
	struct finding_waits contended, reloads;
	double reload_share, reload_error;
	uint64_t local_cycles; /* of a hit in the own cache; 0: not known */
	struct finding_access writes[FINDING_ACCESSES], reads[FINDING_ACCESSES];
	size_t n_write_places, n_read_places; /* also those that are not among them */
	bool has_gain;			      /* what a fix would save is known: */
	double gain, gain_error; /* of the run time of gain_threads; half of the 95 % interval */
	double gain_of_all; /* the same of the run time of all threads; 0: these are nearly all */
	uint32_t gain_threads;
	bool gain_is_limit; /* of all lines that these wait for */
};

/* How an access of a loop walks through memory. */
enum finding_walk {
	WALK_UNKNOWN,
	WALK_CHASE,	 /* it loads the address that it loads from next */
	WALK_LOOKUP,	 /* the next address is calculated from what it loads */
	WALK_SEQUENTIAL, /* ascends or descends by less than a cache line */
	WALK_STRIDE,	 /* by a line or more, each line once */
	WALK_COLUMNS,	 /* by a line or more, and comes back for the rest of the lines */
	WALK_INDIRECT,	 /* its address is loaded elsewhere, and known ahead of time */
	WALK_COMPUTED,	 /* it is calculated, and known ahead of time */
	N_FINDING_WALKS,
};

/* Which data an instruction accesses. */
struct finding_data {
	struct place code;
	uint32_t process;   /* in the timeline; 0: not known, or several */
	uint64_t time_ns;   /* when it was there */
	uint64_t low, high; /* addresses of its records, the lowest and the highest */
	const char *
		name; /* "table[].key"; NULL: it is not known to be one object, or objects of one type */
};

/* What is known of a loop, or of code outside of loops. Cycles are means. */
struct finding_loop {
	bool is_loop;
	struct finding_place at; /* where it goes back */
	struct finding_place
		other; /* the prefetch; of silence.unexplained what orders other accesses */
	struct finding_data data; /* of the instruction that it is about */
	double share;		  /* of the run time, that it takes; 0: not known */
	double share_error;	  /* half of the 95 % interval of that */
	double n_insns;		  /* for each iteration; 1: not of a loop */
	double iteration_ns;	  /* NAN: not known */
	double ghz;		  /* that times are compared with latencies at */
	bool is_clock_assumed;
	double iteration_cycles,
		explained_cycles; /* of silence.unexplained: what an iteration takes, and of it is explained */
	double chain_cycles;	/* for each iteration; 0: there is no chain */
	double register_chain;	/* … if what the loop stores and loads again were in registers */
	double division_cycles; /* of divisions, for each iteration; 0: they do not limit it */
	double division_wait;	/* the longest wait of a division for its unit */
	double width;		/* instructions a cycle at most */
	double access_cycles;	/* of the instruction that it is about, from issue on */
	bool is_access_cut;	/* as long as full counters show: it is not known */
	bool is_chain_cut;	/* the same: a lower bound */
	double mispredicted,
		mispredicted_cycles; /* branches for each iteration, and what each takes; 0: not known */
	uint64_t n_here, n_of;	     /* its records that the cause is about, and all of it */
	double here_low, here_high; /* the 95 % interval of n_here / n_of */
	double level_cycles;	    /* mean of n_here, from issue on, without saturated ones; 0 */
	uint64_t n_saturated; /* of n_here: by their counters; how long they took is not known */
	double part;	      /* of the latency of the loop's accesses, from issue on; NAN */
	const char *level;    /* where its data come from: "DRAM" */
	enum finding_walk walk;
	int64_t stride; /* bytes; 0: not known */
	unsigned element_bytes;
	/*
	 * With a prefetch: cache lines on their way at a time, by how long the catalog has each of them, and so many as
	 * the core can wait for; 0: not known.
	 */
	double lines_in_flight, most_lines;
	double bytes_per_s,
		bytes_error; /* of sampled accesses that missed the LLC; 0: none, or its time is not known */
	int64_t distance, lacking; /* iterations that a prefetch is ahead, and more that it takes;
				      0: not known */
};

/* What is known of all code: for each operation, and how far it is spread. */
struct finding_code {
	double cycles, explained; /* what it takes; what its records can have of that at most */
	double ghz;
	bool is_clock_assumed;
	uint64_t n_lines, n_pages; /* of 64 bytes, of 4 KiB: of nine of ten records */
};

/* What page faults are for. */
enum finding_faults {
	FAULTS_OTHER,
	FAULTS_FRESH,	 /* memory that is touched for the first time */
	FAULTS_COPIED,	 /* pages that are copied on a write */
	FAULTS_OF_FILES, /* pages of files that are mapped */
	FAULTS_SWAPPED,
	FAULTS_MOVED, /* pages that the kernel looks for a better node for */
	N_FINDING_FAULTS,
};

/* What is known of the time in page faults. */
struct finding_page_faults {
	enum finding_faults faults; /* what most of the time is for */
	double part;		    /* and how much of it */
	double function_part;	    /* of the time in faults: that of the finding's function */
	double n_counted;	    /* faults of the run, by the kernel; 0: not counted */
};

struct finding {
	enum finding_kind kind;
	enum finding_origin origin;
	const struct cpu_metric *metric; /* of FINDING_METRIC; borrowed */
	double value, other;		 /* what the claim says: per cent, cycles, …, by kind */
	enum finding_cause cause;
	const char *issue;   /* of the catalog's penalties: what costs most; NULL: not known */
	bool is_probable;    /* FINDING_WAITING: what for is a conclusion */
	const char *subject; /* function, object; what it is called in the claim */
	const char *event;   /* it is hot by */
	struct finding_size size;
	VEC_OF(struct evidence) evidence;
	VEC_OF(struct remedy) remedies;
	struct finding_place where;
	struct finding_sharing *sharing;	 /* NULL: it is about no lines */
	struct finding_loop *loop;		 /* NULL: it is about no loop */
	struct finding_code *code;		 /* NULL: it is not about all code */
	struct finding_page_faults *page_faults; /* NULL: it is not about page faults */

	/* Of code of a library or the kernel: where the program calls it; and the part it has there. */
	struct finding_place caller;
	double caller_share;

	/* Of counts put to a place: that function's part of `where_of`, in per cent. */
	const char *where_of, *where_from;
	double where_percent;

	const char *function, *module; /* of its place; NULL: not known */
	const char *writer;	       /* of sharing: the function that writes most */
	const char *command;	       /* "mem --by instruction" would say more; or NULL */
	const char *counting;	       /* a whole command that counts what is missing; or NULL */
	const char *recorded;	       /* … of a capture with SPE, if counts are all there is */
	const char *events[FINDING_EVENTS]; /* … or sampling these */
	size_t n_events;
	struct finding_samples samples;
	struct finding_coverage coverage;

	/* Part of the cycles that the machine model saves where its idealisation (finding_what_if()) takes the cause away. */
	bool has_prediction;
	double prediction;
};

/* Why there is no finding, or what is missing beside those there are. */
enum silence_kind {
	SILENCE_FEW_SAMPLES, /* `n` of an event, `least` wanted */
	SILENCE_NOT_DECODED, /* traces of other kinds than SPE, `text`, and no samples */
	/*
	 * Of samples: all that takes time was seen, and nothing in a loop is `percent` (0: loops are not known). `largest`
	 * and `unexplained` are what may still be.
	 */
	SILENCE_NOTHING,
	SILENCE_NO_LATENCIES, /* samples tell where, not why */
	SILENCE_NO_TIMES, /* of SPE: what the records can have of the time is not known: `text` */
	SILENCE_UNEXPLAINED,   /* `percent` of the time is of nothing that was sampled */
	SILENCE_IMPLAUSIBLE,   /* counts contradict each other or the CPU: `contradictions` */
	SILENCE_NO_PMU,	       /* this machine has no counters of the CPU */
	SILENCE_NO_CPU_EVENTS, /* only times and the kernel's own events were counted */
	SILENCE_COVERAGE,      /* the tree was counted less than `percent` of the time */
	SILENCE_NO_ROOTS,      /* `text` were not counted: how much is lost is not known */
	SILENCE_REFUSED_ROOTS, /* the machine cannot count `text` */
	SILENCE_NO_STALLS,     /* the CPU `text` has no events of stalls */
	SILENCE_NOT_EXPLORED,  /* no root is above its threshold; `text` were not counted */
	SILENCE_NO_METRIC,     /* all was counted, nothing passes its threshold */
	SILENCE_TOO_SHORT,     /* a run of `n` samples */
	SILENCE_NO_FUNCTION,   /* none has a large part of the time; `text` has most */
	SILENCE_NO_COUNTERS,   /* neither counters nor SPE */
	SILENCE_NO_LIMIT,      /* of counts and samples */
	SILENCE_MOSTLY,	       /* most of the time is in `text` */
};

struct silence {
	enum silence_kind kind;
	uint64_t n;
	unsigned least;
	double percent;
	const char *text;
	const char *command;			    /* that counts what is missing; or NULL */
	const struct contradiction *contradictions; /* `n` of them */
	const char *cpu; /* that the counts were taken for; NULL: not told */
	const struct finding *
		unexplained; /* the loop with most time that nothing explains; NULL: none has much */
	const struct finding *
		largest; /* the cause with the largest limit of those that are no finding; NULL: none */
};

/* Zeroed is empty. Texts live in `memory`, unless they are constants. */
struct findings {
	struct arena memory;
	VEC_OF(struct finding *) owned; /* made here */
	VEC_OF(struct finding *) list;	/* to be told, in order; also of others */
	VEC_OF(struct silence) silences;
	bool has_accounting; /* the capture's events account for cycles: `cyclops cycles` says why */
};

void findings_release(struct findings *);

/* An empty finding, appended. */
struct finding *findings_add(struct findings *, enum finding_kind);

/* The same, but not to be told. */
struct finding *findings_make(struct findings *, enum finding_kind);

/* A copy of the text that lives as long; NULL of NULL. */
const char *findings_text(struct findings *, const char *text);

/* The instruction at a place, by its name and line as far as they are known. */
struct finding_place findings_place(struct findings *, const struct names *, uint32_t place);

struct evidence *finding_add_evidence(struct finding *, enum evidence_kind);

/* Adds a remedy, unless the finding has it already, or one that contains it. */
void finding_add_remedy(struct finding *, struct remedy);

/* Is it about code of this function, of this module? NULL is no function. */
bool finding_is_in(const struct finding *, const char *function, const char *module);

/* What `cyclops model --what-if` calls the program without the cause: "l1d"; NULL: nothing, or the cause is no code's. */
const char *finding_what_if(const struct finding *);

/*
 * The first finding of the same loop that has the same first remedy as the one at `i`, by its number from 1: one change
 * is the fix of both. 0: there is none before it.
 */
size_t findings_same_fix(const struct findings *, size_t i);

/*
 * That a function waits for other cores is what its line is about, and so is what a loop waits for
 * in an access to the line. Such findings are taken off the list, and become evidence for the
 * finding of the line.
 */
void findings_absorb(struct findings *, struct finding *line);

/*
 * Causes that records show, then those that may be (finding_is_unproven()), those that few records show
 * (finding_is_sparse()), then those that say where, not why; largest share first; of equals the first stays first.
 */
void findings_sort(struct findings *);

#endif
