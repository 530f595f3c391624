/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Second look at sharing: which bytes of a few chosen lines were accessed by which
 * instruction, of which thread, on which cpu, when, and at what cost. The same of lines near them
 * (c2c/accesses/near.h), as long as it is not too much.
 */
#ifndef CYCLOPS_C2C_ACCESSES_ACCESSES_H
#define CYCLOPS_C2C_ACCESSES_ACCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/address_filter.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "c2c/lines/counts.h"
#include "c2c/lines/lines.h"
#include "scan/scan.h"
#include "session/analysis.h"

/* Is it one for c2c_choice_add_whole()? */
typedef bool c2c_is_whole_line(const void *context, uint32_t space, uint64_t address);

/* The lines that are looked at. */
struct c2c_choice {
	const struct c2c_options *options; /* borrowed */
	struct tuples keys;		   /* (space, address of the line), */
	uint32_t n_shown;		   /* … so many to be shown, and behind them those near */
	uint64_t first_ns;		   /* where slot 0 begins; at most 64 have accesses */
	unsigned slot_shift;		   /* they are 1 << slot_shift ns long */
	/*
	 * Touches of lines near by, of the first of these lines: so many are wanted, and so many are kept if the
	 * scan can, as others may turn out to be wanted, too.
	 */
	size_t most_near, most_kept;
	bool *is_whole;		      /* by line to be shown: see c2c_choice_add_whole() */
	struct address_filter filter; /* of all these lines */

	/* Other lines that are looked at once they are met, and then have numbers behind these: see c2c_choice_sieve(). NULL: none. */
	const struct c2c_sieve *sieve;
	c2c_is_whole_line *is_whole_line;
	const void *context;
};

/* `first_ns` and `last_ns` are of the rows that there are, if they have times. */
void c2c_choice_init(struct c2c_choice *, const struct c2c_options *, size_t n_lines,
		     uint64_t first_ns, uint64_t last_ns);
void c2c_choice_add(struct c2c_choice *, uint32_t space, uint64_t address);

/*
 * The same for a line of which nobody wants to know what was done to which of its bytes, by which code, on which CPU: its accesses are told apart
 * by thread, and by whether they write. Only reloads stay as they are, as each is judged on its own (c2c/accesses/cost.h).
 */
void c2c_choice_add_whole(struct c2c_choice *, uint32_t space, uint64_t address);

/* After the lines to be shown: one of which only touches are wanted, no slices and pages. */
void c2c_choice_add_near(struct c2c_choice *, uint32_t space, uint64_t address);

/*
 * Instead of lines near by: whatever lines the sieve lets through, of whose addresses the filter is. It is taken over. No slices are
 * counted.
 */
void c2c_choice_sieve(struct c2c_choice *, const struct c2c_sieve *, struct address_filter *,
		      c2c_is_whole_line *, const void *context);
void c2c_choice_release(struct c2c_choice *);

/* How an access was made, as far as the record says. */
enum c2c_kind {
	C2C_KIND_STORE = 1,
	C2C_KIND_ATOMIC = 2, /* reads and writes in one */
	C2C_KIND_EXCLUSIVE = 4,
	C2C_KIND_ORDERED = 8, /* acquires or releases */
	C2C_KIND_VECTOR = 16,
	C2C_KIND_PARTIAL = 32, /* some elements of the vector are left out, by its predicate */
};

/* Total latencies by what a load met; each load is in one of them, the first that fits. */
enum c2c_met {
	C2C_MET_REMOTE_HITM,
	C2C_MET_LOCAL_HITM,
	C2C_MET_REMOTE_PEER,
	C2C_MET_LOCAL_PEER,
	C2C_MET_NONE,
	C2C_N_MET,
};

struct c2c_mean {
	uint32_t n, n_saturated;
	uint64_t cycles;
};

/* What one instruction of one thread on one cpu did to one offset of one line. */
struct c2c_touch {
	uint64_t first_ns, last_ns;   /* UINT64_MAX, 0: no times were recorded */
	uint64_t slots;		      /* when: bit n is slot n of c2c_choice's */
	struct c2c_latency contended; /* of the loads that the mode is about */
	struct c2c_counts counts;
	struct c2c_latency reloads; /* … and others that found their line gone, too */
	uint64_t first_reload_ns, last_reload_ns;
	struct c2c_mean met[C2C_N_MET];
	uint64_t nodes; /* of the physical pages: bit n is node n */
};

void c2c_touch_merge(struct c2c_touch *, const struct c2c_touch *from);

/*
 * The same of a line that is whole, of which only this is asked: one line of ours. Either all of its loads that waited are reloads, or none is.
 */
struct c2c_whole_touch {
	uint64_t first_ns, last_ns;
	uint64_t slots, nodes;
	uint32_t n_records;
	uint32_t n_contended; /* counters of loads that the mode is about */
	struct c2c_latency waits;
};

static_assert(sizeof(struct c2c_whole_touch) == 64, "one line of ours");

/*
 * A touch as it is kept. Where much is done to a line most touches are one record; then that is here, in a
 * twelfth of the room.
 */
struct c2c_kept_touch {
	uint64_t time_ns, total; /* with C2C_KEPT_TIME, C2C_KEPT_LATENCY */
	union {
		uint32_t mask; /* the counters that the record counts in */
		uint32_t many; /* with C2C_KEPT_MANY: number in c2c_accesses.many, or .whole */
	};
	uint16_t issue; /* the part of the latency before issue */
	uint8_t flags;	/* C2C_KEPT_… */
	int8_t node;	/* of its physical page; -1: not known */
};

enum {
	C2C_KEPT_MANY = 1,
	C2C_KEPT_TIME = 2,
	C2C_KEPT_LATENCY = 4,
	C2C_KEPT_SATURATED = 8,
	C2C_KEPT_NO_RELOAD = 16, /* see c2c_touch_forget_reloads() */
	C2C_KEPT_WHOLE =
		32, /* of a whole line: nobody asks what it met, nor in what else it counts */
	C2C_KEPT_RELOAD = 64, /* … and a reload */
};

/* Parts of a touch's key, and what it is made of. */
struct c2c_touch_key {
	uint32_t line; /* number in the choice */
	uint16_t offset;
	uint8_t kind;	/* enum c2c_kind */
	uint8_t vector; /* effective vector length of SVE: 16 << vector bits; 0: not said */
	uint32_t place, tid, process, cpu;
	uint64_t pc;
};

enum { C2C_TOUCH_WORDS = 4 };

/* How an access of SPE is made, by the payload of its operation packet. */
struct c2c_payload {
	uint8_t kind;	/* enum c2c_kind */
	uint8_t vector; /* as in struct c2c_touch_key */
};

struct c2c_accesses {
	const struct session *session;
	const struct c2c_choice *choice;
	struct tuples
		keys; /* C2C_TOUCH_WORDS wide; until touches are in order some may be there several times */
	VEC_OF(struct c2c_kept_touch) kept; /* by number of the key */
	VEC_OF(struct c2c_touch) many;
	VEC_OF(struct c2c_whole_touch) whole; /* instead, with C2C_KEPT_WHOLE */
	uint32_t *first;   /* by line, and one more: its first touch, once they are in order */
	uint32_t n_lines;  /* that touches may be of: those of the choice, at first */
	size_t n_near;	   /* touches of lines near by */
	uint32_t *near;	   /* of these by line, from n_shown on; more than 0 if it was accessed */
	uint32_t near_end; /* from this line on there are too many: these lines are left out, … */
	uint32_t kept_end; /* … but what was done to those up to here is known */
	size_t n_forgotten;	  /* touches of lines that are left out, but take room */
	struct tuples found;	  /* (space, address) of lines that the sieve let through … */
	VEC_OF(bool) found_whole; /* … and whether they are whole */
	struct tuples pages;	  /* (line, physical page): those that were met */
	uint64_t *slices;	  /* records by line of the choice and slice, if time is sliced */
	struct tuples views;	  /* (line, process) of lines of physical memory, … */
	VEC_OF(uint64_t) viewed;  /* … and the lowest address of the line there */
	bool is_joined; /* of several workers, so the same touch may be there several times */
	struct c2c_classifier *classifier;
	struct c2c_payload of_payload[256];
};

/* Is a line of the choice, or whose number is behind them, one of which only threads are told apart? */
static inline bool c2c_is_whole(const struct c2c_choice *c, uint32_t line)
{
	return line < c->n_shown && c->is_whole[line];
}

/*
 * The words of a key.
 *
 *	0	line (32), vector length (8), offset (16), kind (8)
 *	1	place, tid
 *	2	process, cpu
 *	3	pc
 */
static inline struct c2c_touch_key c2c_touch_key(const struct c2c_accesses *a, uint32_t number)
{
	const uint64_t *words = tuples_get(&a->keys, number);

	return (struct c2c_touch_key){
		.line = (uint32_t)(words[0] >> 32),
		.offset = (uint16_t)(words[0] >> 8),
		.kind = (uint8_t)words[0],
		.vector = (uint8_t)(words[0] >> 24),
		.place = (uint32_t)(words[1] >> 32),
		.tid = (uint32_t)words[1],
		.process = (uint32_t)(words[2] >> 32),
		.cpu = (uint32_t)words[2],
		.pc = words[3],
	};
}

/* Adds to a touch of several records what another one with this key did, of `of`. */
void c2c_touch_add_kept(const struct c2c_accesses *of, const struct c2c_kept_touch *,
			struct c2c_touch *to);

/* How many touches a line has, which follow each other from `out_first` on. None: TUPLES_NONE, too. */
static inline uint32_t c2c_line_touches(const struct c2c_accesses *a, uint32_t line,
					uint32_t *out_first)
{
	if (line >= a->n_lines) {
		*out_first = 0;
		return 0;
	}
	*out_first = a->first[line];
	return a->first[line + 1] - a->first[line];
}

/* What it did. */
void c2c_touch_get(const struct c2c_accesses *, uint32_t number, struct c2c_touch *out);
uint32_t c2c_touch_records(const struct c2c_accesses *, uint32_t number);

/* Adds what it counted, and its loads that waited for others. */
void c2c_touch_add_waits(const struct c2c_accesses *, uint32_t number, struct c2c_counts *,
			 struct c2c_latency *contended, struct c2c_latency *reloads);

/* What a verdict asks of a touch. */
struct c2c_touch_part {
	uint32_t n_records, n_waited;	   /* loads that the mode is about, and reloads */
	uint64_t first_ns, last_ns, slots; /* as in struct c2c_touch */
};

struct c2c_touch_part c2c_touch_part(const struct c2c_accesses *, enum c2c_mode, uint32_t number);

/* When it was seen first; UINT64_MAX: no times were recorded. */
uint64_t c2c_touch_first_ns(const struct c2c_accesses *, uint32_t number);

/* Did any of its loads wait for what others wrote, but for those that the mode is about? */
bool c2c_touch_has_reloads(const struct c2c_accesses *, uint32_t number);

/* From now on none of its loads waited for what others wrote, but for those that the mode is about. */
void c2c_touch_forget_reloads(struct c2c_accesses *, uint32_t number);

/* How many lines near by are left out, of those that were accessed. */
size_t c2c_accesses_n_left_out(const struct c2c_accesses *);

/* The address of a line in a process, if the line is one of physical memory; 0: not known. */
uint64_t c2c_accesses_view(const struct c2c_accesses *, uint32_t line, uint32_t process);

/* Options: struct c2c_choice. Result: struct c2c_accesses, to be put in order by c2c_order_touches(). */
extern const struct analysis_class c2c_accesses_class;

/*
 * Adds what was done to the lines of another choice in a scan with the same places, but for those that are
 * left out. Their numbers here are n_lines, and so on. The touches of both are in order.
 */
void c2c_accesses_take(struct c2c_accesses *, const struct c2c_accesses *from);

/* What was done to a line. */
struct c2c_line_use {
	uint32_t n_records, n_reloads;
	uint64_t reload_cycles;
	uint32_t tid;	  /* one of those; C2C_NO_TID: none was known */
	bool has_threads; /* there are others */
	bool is_written;  /* by a thread that is known */
};

/* Of a choice with a sieve, before touches are put in order: how many lines there are, with those that were met, and each. */
size_t c2c_accesses_n_lines(const struct c2c_accesses *);
const uint64_t *c2c_accesses_line(const struct c2c_accesses *, uint32_t line);

/* Adds up what was done to them, by line. */
void c2c_accesses_sum(const struct c2c_accesses *, struct c2c_line_use *out);

/* Takes another choice, of some of these lines. What was done to others is forgotten. */
void c2c_accesses_choose(struct c2c_accesses *, const struct c2c_choice *);

/* Keeps the rows of the choice alone, or a few more. */
struct scan_wish c2c_accesses_wish(const struct c2c_choice *);

#endif
